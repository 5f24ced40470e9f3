//! Answers: an ad, a page of a list, the result of a validation (decisions 1 and 7).

use ad_core::{ad::Ad, log::LogEntry, ports::Page, service::Validated};
use poem::{
    Request, Response,
    http::{StatusCode, uri::Authority},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::{Context, errors::json_response};

/// One ad.
pub(super) fn ad(status: StatusCode, ad: &Ad, log: Option<&[LogEntry]>) -> Response {
    json_response(status, &ad.view(log))
}

/// What a payload would become.
pub(super) fn validated(validated: &Validated) -> Response {
    json_response(StatusCode::OK, &validation(validated))
}

/// The same as a body.
pub(super) fn validation(validated: &Validated) -> Value {
    let mut ad = Map::new();
    ad.insert("source_id".to_owned(), json!(validated.source_id));
    ad.insert("dealer_code".to_owned(), json!(validated.dealer_code));
    ad.insert("category_id".to_owned(), json!(validated.category_id));
    ad.extend(validated.content.fields().clone());
    json!({"valid": true, "ad": Value::Object(ad), "warnings": validated.warnings})
}

/// One page of a list, in its envelope.
pub(super) fn page<T: Serialize>(
    context: &Context,
    request: &Request,
    query: &[(String, String)],
    page: Page,
    count: u64,
    results: Vec<T>,
) -> Response {
    #[derive(Serialize)]
    struct Envelope<T> {
        count: u64,
        next: Option<String>,
        previous: Option<String>,
        results: Vec<T>,
    }
    let limit = u64::from(page.limit);
    let link = |offset: u64| address(context, request, query, page.limit, offset);
    let after = page.offset.saturating_add(limit);
    json_response(
        StatusCode::OK,
        &Envelope {
            count,
            next: (after < count).then(|| link(after)),
            previous: (page.offset > 0).then(|| link(page.offset.saturating_sub(limit))),
            results,
        },
    )
}

/// The absolute address of another page of the same list.
fn address(context: &Context, request: &Request, query: &[(String, String)], limit: u32, offset: u64) -> String {
    let base = context.public_url.clone().unwrap_or_else(|| {
        // HTTP/2 has the host in the address and not in a header.
        let authority = request.original_uri().authority().map(Authority::as_str);
        let host = request.header("host").or(authority).map_or_else(|| request.local_addr().to_string(), str::to_owned);
        format!("{}://{host}", request.scheme())
    });
    let others = query.iter().filter(|(name, _)| name != "limit" && name != "offset");
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(others)
        .append_pair("limit", &limit.to_string())
        .append_pair("offset", &offset.to_string())
        .finish();
    format!("{}{}?{query}", base.trim_end_matches('/'), request.original_uri().path())
}
