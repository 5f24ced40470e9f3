//! Response bodies: an ad, a page of a list, the result of a validation (decisions 1 and 7).

use ad_core::{model::Page, service::Validated};
use percent_encoding::utf8_percent_encode;
use poem::{
    Response,
    http::{HeaderValue, StatusCode},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::{
    ApiError,
    call::Call,
    errors::{json_bytes, json_response},
    links,
    versions::SEGMENT,
};

/// The address of an ad: `base` is followed by the source id. `dealer_code` is given where several dealers may have the same
/// source id.
pub(super) fn address_of(base: &str, source_id: &str, dealer_code: Option<&str>) -> Option<HeaderValue> {
    let encoded = |text| utf8_percent_encode(text, SEGMENT);
    let mut address = format!("{base}/{}", encoded(source_id));
    if let Some(code) = dealer_code {
        address.push_str("?dealer_code=");
        address.extend(encoded(code));
    }
    HeaderValue::try_from(address).ok()
}

/// The result of a validation.
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
    json!({"valid": true, "ad": Value::Object(ad), "warnings": validated.warnings, "quality": validated.quality})
}

/// One page of a list, in its envelope.
pub(super) struct PageBody {
    /// The envelope with its rows, as JSON.
    pub(super) bytes: Vec<u8>,
    pub(super) links: Option<HeaderValue>,
}

impl PageBody {
    /// The page with these rows.
    pub(super) fn new<T: Serialize>(
        call: &Call<'_>,
        page: Page,
        count: u64,
        results: Vec<T>,
    ) -> Result<Self, ApiError> {
        #[derive(Serialize)]
        struct Envelope<'a, T> {
            count: u64,
            next: Option<&'a str>,
            previous: Option<&'a str>,
            results: Vec<T>,
        }
        let link = |offset: u64| address(call, page.limit, offset);
        let limit = u64::from(page.limit);
        // The page may have ended before its limit, at its most bytes.
        let after = page.offset.saturating_add(results.len() as u64);
        let next = (after < count).then(|| link(after));
        let previous = (page.offset > 0).then(|| link(page.offset.saturating_sub(limit)));
        let (first, last) = (link(0), link(count.saturating_sub(1) / limit * limit));
        let (next, previous) = (next.as_deref(), previous.as_deref());
        let pages = [("first", Some(&*first)), ("prev", previous), ("next", next), ("last", Some(&*last))];
        let links = links::between_pages(pages.into_iter().filter_map(|(relation, page)| Some((relation, page?))));
        Ok(Self { bytes: json_bytes(&Envelope { count, next, previous, results })?, links })
    }
}

/// The absolute address of another page of the same list.
fn address(call: &Call<'_>, limit: u32, offset: u64) -> String {
    let base = links::base(call.context(), call.request);
    let others = call.query.iter().filter(|(name, _)| name != "limit" && name != "offset");
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(others)
        .append_pair("limit", &limit.to_string())
        .append_pair("offset", &offset.to_string())
        .finish();
    format!("{base}{}?{query}", call.request.original_uri().path())
}
