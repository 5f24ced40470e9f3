//! Response bodies: an ad, a page of a list, the result of a validation (decisions 1 and 7).

use ad_core::{model::Page, service::Validated};
use poem::{Request, Response, http::StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::{
    ApiError, Context,
    errors::{json_bytes, json_response},
    links,
};

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

/// One page of a list, in its envelope, as JSON.
pub(super) fn page<T: Serialize>(
    context: &Context,
    request: &Request,
    query: &[(String, String)],
    page: Page,
    count: u64,
    results: Vec<T>,
) -> Result<Vec<u8>, ApiError> {
    #[derive(Serialize)]
    struct Envelope<T> {
        count: u64,
        next: Option<String>,
        previous: Option<String>,
        results: Vec<T>,
    }
    let link = |offset: u64| address(context, request, query, page.limit, offset);
    // The page may have ended before its limit, at its most bytes.
    let after = page.offset.saturating_add(results.len() as u64);
    json_bytes(&Envelope {
        count,
        next: (after < count).then(|| link(after)),
        previous: (page.offset > 0).then(|| link(page.offset.saturating_sub(u64::from(page.limit)))),
        results,
    })
}

/// The absolute address of another page of the same list.
fn address(context: &Context, request: &Request, query: &[(String, String)], limit: u32, offset: u64) -> String {
    let base = links::base(context, request);
    let others = query.iter().filter(|(name, _)| name != "limit" && name != "offset");
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(others)
        .append_pair("limit", &limit.to_string())
        .append_pair("offset", &offset.to_string())
        .finish();
    format!("{base}{}?{query}", request.original_uri().path())
}
