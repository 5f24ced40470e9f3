//! From an ad to a payload: what `import`, `sync` and an editor take.

use ad_client::Ad;
use ad_core::categories::{self, Heading, ad_fields};
use serde_json::{Map, Value, json};

/// The payload that would create this ad: its references, and the fields that a client writes. Images have the addresses from which
/// they were fetched, and a generated title is left out.
pub fn payload_of(ad: &Ad) -> Map<String, Value> {
    let mut shown = as_written(ad);
    let heading = categories::by_id(ad.category_id).map(|category| category.heading);
    if heading == Some(Heading::Forbidden) {
        shown.remove("title");
        shown.remove("contact");
    }
    let names =
        ad_fields::IDENTITY.iter().chain(ad_fields::WRITTEN).map(|row| row.path.split('.').next().unwrap_or(row.path));
    names.filter_map(|name| Some((name.to_owned(), shown.remove(name).filter(is_there)?))).collect()
}

/// An ad as a request writes it: the service shows where images came from, and takes that for what they are.
pub fn as_written(ad: &Ad) -> Map<String, Value> {
    let Value::Object(mut now) = json!(ad) else { return Map::new() };
    now.insert("image_urls".to_owned(), ad.image_refs.iter().map(|image| image.url.as_str()).collect());
    now
}

fn is_there(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}
