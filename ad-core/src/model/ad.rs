//! The ad: what the client wrote, normalised, and what the service added to it.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;
use uuid::Uuid;

use super::{content::Content, log::LogEntry, market::Market, names::names, time::Timestamp};

/// `created` or `deleted` ('States and transitions').
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdState {
    /// There, though not necessarily visible.
    Created,
    /// Unpublished everywhere; its data is kept and readable.
    Deleted,
}
names!(AdState { "created" => Created, "deleted" => Deleted });

/// The API version that created or last converted an ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiVersion {
    /// Legacy.
    V3,
    /// Current.
    V4,
}
names!(ApiVersion { "v3" => V3, "v4" => V4 });

/// An image of an ad as the service stored it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRef {
    /// Where it was fetched.
    pub url: String,
    /// Where it is served.
    pub cdn_url: String,
    /// Its id; the same bytes keep it.
    pub id: Uuid,
    /// SHA-256 of the bytes, in hex.
    pub checksum: String,
}

/// What an image host says about the version of an image (RFC 9110, 8.8).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Validators {
    /// The `ETag` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The `Last-Modified` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there is nothing to ask by.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the service keeps about a stored image and never shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSource {
    /// Its size.
    pub bytes: u64,
    /// By what its host knows whether it has changed.
    #[serde(flatten)]
    pub validators: Validators,
}

/// The sources of an ad's images by their addresses. An image that was stored before these were kept has none.
pub type ImageSources = BTreeMap<String, ImageSource>;

/// An ad of a dealer ('Ad').
#[derive(Debug, Clone, PartialEq)]
pub struct Ad {
    /// Internal id.
    pub id: Uuid,
    /// The client's reference, unique per dealer for ever.
    pub source_id: String,
    /// The dealer.
    pub dealer_code: String,
    /// The category; it fixes the vehicle type.
    pub category_id: u16,
    /// `created` or `deleted`.
    pub state: AdState,
    /// Version that created or last converted it.
    pub api_version: ApiVersion,
    /// What the client wrote.
    pub content: Content,
    /// The stored images.
    pub image_refs: Vec<ImageRef>,
    /// Id of the listing on the primary marketplace, once published.
    pub marketplace_ad_id: Option<String>,
    /// Id of the listing on the secondary marketplace, once published there.
    pub offer_id: Option<String>,
    /// When it was created.
    pub created: Timestamp,
    /// When it last changed.
    pub updated: Timestamp,
}

impl Ad {
    /// The id of its listing on a marketplace, once it was published there.
    pub fn listing(&self, market: Market) -> Option<&str> {
        match market {
            Market::Primary => self.marketplace_ad_id.as_deref(),
            Market::Secondary => self.offer_id.as_deref(),
        }
    }

    /// Sets the id of its listing on a marketplace.
    pub fn set_listing(&mut self, market: Market, id: String) {
        match market {
            Market::Primary => self.marketplace_ad_id = Some(id),
            Market::Secondary => self.offer_id = Some(id),
        }
    }

    /// The ad as the API shows it, with its latest log entries where they are wanted.
    pub fn view<'a>(&'a self, log: Option<&'a [LogEntry]>) -> View<'a> {
        View { ad: self, log, fields: None }
    }
}

/// The names of an ad in an answer, in the order of the ad table.
pub const VIEW_FIELDS: &[&str] = &[
    "id",
    "source_id",
    "dealer_code",
    "category_id",
    "state",
    "title",
    "body",
    "visible",
    "price",
    "image_refs",
    "url",
    "video_url",
    "location",
    "contact",
    "category_fields",
    "dont_publish_on_failed_images",
    "product_declaration",
    "marketplace_ad_id",
    "offer_id",
    "api_version",
    "created",
    "updated",
    "log",
];

/// Whether a field of an answer is content, that is what the client wrote.
pub(super) fn is_content(field: &str) -> bool {
    !matches!(
        field,
        "id" | "source_id"
            | "dealer_code"
            | "category_id"
            | "state"
            | "image_refs"
            | "marketplace_ad_id"
            | "offer_id"
            | "api_version"
            | "created"
            | "updated"
            | "log"
    )
}

/// An ad on its way out: serialises as the response of the contract, every field there, `null` where it has no value.
#[derive(Clone, Copy)]
pub struct View<'a> {
    ad: &'a Ad,
    log: Option<&'a [LogEntry]>,
    fields: Option<&'a [&'static str]>,
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("View").field("ad", &self.ad.id).finish_non_exhaustive()
    }
}

impl<'a> View<'a> {
    /// Only these fields (list parameter `fields`); `log` comes by its own parameter.
    #[must_use]
    pub fn only(self, fields: Option<&'a [&'static str]>) -> Self {
        Self { fields, ..self }
    }
}

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ad = self.ad;
        let written = ad.content.members().map_err(serde::ser::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        for name in VIEW_FIELDS {
            if self.fields.is_some_and(|fields| *name != "log" && !fields.contains(name)) {
                continue;
            }
            match *name {
                "id" => map.serialize_entry(name, &ad.id)?,
                "source_id" => map.serialize_entry(name, &ad.source_id)?,
                "dealer_code" => map.serialize_entry(name, &ad.dealer_code)?,
                "category_id" => map.serialize_entry(name, &ad.category_id)?,
                "state" => map.serialize_entry(name, &ad.state)?,
                "image_refs" => map.serialize_entry(name, &ad.image_refs)?,
                "marketplace_ad_id" => map.serialize_entry(name, &ad.marketplace_ad_id)?,
                "offer_id" => map.serialize_entry(name, &ad.offer_id)?,
                "api_version" => map.serialize_entry(name, &ad.api_version)?,
                "created" => map.serialize_entry(name, &ad.created)?,
                "updated" => map.serialize_entry(name, &ad.updated)?,
                "log" => {
                    if let Some(log) = self.log {
                        map.serialize_entry(name, log)?;
                    }
                }
                name => match written.get(name) {
                    Some(value) => map.serialize_entry(name, &value)?,
                    None => map.serialize_entry(name, &absent(name))?,
                },
            }
        }
        map.end()
    }
}

/// What an answer shows for a field that was not written.
fn absent(name: &str) -> Value {
    match name {
        "visible" => Value::Bool(true),
        "dont_publish_on_failed_images" => Value::Bool(false),
        "price" => Value::Array(Vec::new()),
        "category_fields" => Value::Object(serde_json::Map::new()),
        _ => Value::Null,
    }
}
