//! The content of an ad as the service shows it, and its changes as programs read them.

use ad_client::Ad;
use ad_core::{
    categories::Category,
    model::{self, Content},
    stock::{self, FieldDifference, ListOrder},
};
use ad_files::text::{readable, shortened};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::conversion;

/// The field that only requests have: answers show the stored images instead.
pub const IMAGES: &str = "image_urls";

/// Longest value that people see.
const LONGEST: usize = 59;

/// A field that changes. Programs read its members, so their names are stable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Dotted path from the ad.
    pub field: String,
    /// The value before the change.
    pub old: Value,
    /// The value after the change.
    pub new: Value,
}

impl From<FieldDifference> for Change {
    fn from(FieldDifference { path, from, to }: FieldDifference) -> Self {
        Self { field: path, old: from, new: to }
    }
}

/// The fields of a comparison that change.
pub fn changes(fields: Vec<FieldDifference>) -> Vec<Change> {
    fields.into_iter().map(Change::from).collect()
}

/// The fields in which two contents differ, also by the order of a list.
pub fn differences(category: &Category, old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Change> {
    changes(stock::differences(category, old, new, ListOrder::Counts))
}

/// The content of an ad of the service, with the source addresses of its stored images.
pub fn stored(shown: &Ad) -> model::Ad {
    let images: Vec<_> = shown.image_refs.iter().map(|image| image.url.clone()).collect();
    with_images(conversion::stored(shown), &images)
}

/// The same with other images.
pub(super) fn with_images(mut stored: model::Ad, images: &[String]) -> model::Ad {
    let mut content = std::mem::take(&mut stored.content).into_fields();
    if images.is_empty() {
        content.remove(IMAGES);
    } else {
        content.insert(IMAGES.to_owned(), json!(images));
    }
    model::Ad { content: Content::from(content), ..stored }
}

/// A value as people write it, shortened.
pub fn shorten_value(value: &Value) -> String {
    shortened(&readable(value), LONGEST).into_owned()
}
