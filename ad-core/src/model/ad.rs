//! The ad: the normalised content that the client sent, and the fields that the service adds.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;
use uuid::Uuid;

use super::{
    content::Content,
    log::LogEntry,
    market::Market,
    names::names,
    photo::{ImageView, Photo},
    quality::{Quality, QualitySummary},
    time::Timestamp,
};
use crate::violation::Warning;

names! {
    /// `created` or `deleted` ('States and transitions').
    pub enum AdState {
        /// It exists, though it may be hidden.
        Created = "created",
        /// It is unpublished everywhere; its data can still be read.
        Deleted = "deleted",
    }

    /// The status of an ad in one word.
    pub enum AdStatus {
        /// Every channel shows it as it is.
        Live = "live",
        /// Only some of its channels show it as it is.
        PartlyLive = "partly_live",
        /// Its dealer has hidden it.
        Hidden = "hidden",
        /// A request of it is being executed or is in the queue.
        Processing = "processing",
        /// An attempt has failed, and the next one is due or under way.
        Waiting = "waiting",
        /// No channel shows it, and nothing is under way.
        Failed = "failed",
        /// Taken off all marketplaces by DELETE; its source id stays in use.
        Deleted = "deleted",
    }

    /// The API version that created or last converted an ad.
    pub enum ApiVersion {
        /// `/v3`, the older release of the API.
        V3 = "v3",
        /// `/v4`, the current release of the API.
        V4 = "v4",
    }
}

impl AdStatus {
    /// Whether a request of the ad is unfinished, unless the ad [waits for a slot](super::StatusWords::waits_for_slot).
    pub const fn is_under_way(self) -> bool {
        matches!(self, Self::Processing | Self::Waiting)
    }
}

/// An image of an ad as the service stored it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRef {
    /// The address from which it was fetched.
    pub url: String,
    /// The address at which it is served.
    pub cdn_url: String,
    /// Its id. The same bytes keep the same id within an ad.
    pub id: Uuid,
    /// SHA-256 of the bytes, in hex.
    pub checksum: String,
    /// What its pixels say, once it was examined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub photo: Option<Photo>,
}

/// The validators of an image, by which its host tells whether it has changed (RFC 9110, 8.8).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Validators {
    /// Value of the `ETag` header, quotes included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Value of the `Last-Modified` header, as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether the host sent none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the service stores about an image and does not show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSource {
    /// Size of the stored image, in bytes.
    pub bytes: u64,
    /// The validators that its host sent.
    #[serde(flatten)]
    pub validators: Validators,
}

/// The sources of an ad's images by address. Images that were stored by early versions have none.
pub type ImageSources = BTreeMap<String, ImageSource>;

/// An ad of a dealer ('Ad').
#[derive(Debug, Clone, PartialEq)]
pub struct Ad {
    /// Id that the service generated; answers show it as `id`.
    pub id: Uuid,
    /// The client's reference, unique per dealer, also after deletion.
    pub source_id: String,
    /// Code of the dealer that owns the ad.
    pub dealer_code: String,
    /// The category; it fixes the vehicle type.
    pub category_id: u16,
    /// `created`, or `deleted` once its DELETE has ended.
    pub state: AdState,
    /// Version that created or last converted it.
    pub api_version: ApiVersion,
    /// The payload, normalised, with derived fields.
    pub content: Content,
    /// The stored images, in display order.
    pub image_refs: Vec<ImageRef>,
    /// Id of the listing on the primary marketplace, once published.
    pub marketplace_ad_id: Option<String>,
    /// Id of the listing on the secondary marketplace, once published there.
    pub offer_id: Option<String>,
    /// Time of its creation; of an imported ad, the time that the import names, if any.
    pub created: Timestamp,
    /// Time of the latest change, by a write or by a worker.
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

    /// Whether a marketplace has ever listed it.
    pub const fn was_listed(&self) -> bool {
        self.marketplace_ad_id.is_some() || self.offer_id.is_some()
    }

    /// Sets the id of its listing on a marketplace.
    pub fn set_listing(&mut self, market: Market, id: String) {
        match market {
            Market::Primary => self.marketplace_ad_id = Some(id),
            Market::Secondary => self.offer_id = Some(id),
        }
    }

    /// The ad as the API shows it, with its latest log entries where they are wanted.
    pub fn view<'a>(&'a self, log: Option<&'a [LogEntry]>) -> AdView<'a> {
        AdView { ad: self, log, status: None, quality: None, warnings: None, fields: None, revision: None }
    }
}

/// The fields of an ad in an answer, in the order of the ad table.
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

/// Fields of an answer that are not part of the content: what identifies an ad, and what the service adds.
const NO_CONTENT: [&[&str]; 2] = [
    &["id", "source_id", "dealer_code", "category_id", "api_version"],
    &["state", "image_refs", "marketplace_ad_id", "offer_id", "created", "updated", "log"],
];

/// Whether a field of an answer is part of the content, which the client wrote.
pub(super) fn is_content(field: &str) -> bool {
    !NO_CONTENT.iter().any(|fields| fields.contains(&field))
}

/// The quality of an ad in an answer: whole where the answer is about the ad, and in short in a list.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum QualityView<'a> {
    Whole(&'a Quality),
    Summary(QualitySummary),
}

/// An ad as the API answers it. It serialises with every field of the contract, `null` where there is no value.
#[derive(Clone, Copy)]
pub struct AdView<'a> {
    ad: &'a Ad,
    log: Option<&'a [LogEntry]>,
    status: Option<AdStatus>,
    quality: Option<QualityView<'a>>,
    warnings: Option<&'a [Warning]>,
    fields: Option<&'a [&'static str]>,
    /// The revision, of an ad as it was.
    revision: Option<i64>,
}

impl fmt::Debug for AdView<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("View").field("ad", &self.ad.id).finish_non_exhaustive()
    }
}

impl<'a> AdView<'a> {
    /// Only these fields (list parameter `fields`); `log` comes by its own parameter.
    #[must_use]
    pub fn only(self, fields: Option<&'a [&'static str]>) -> Self {
        Self { fields, ..self }
    }

    /// As the ad was in a revision: with its number, and the addresses of the images that it had.
    #[must_use]
    pub fn of_revision(self, revision: i64) -> Self {
        Self { revision: Some(revision), ..self }
    }

    /// With the ad's status, if there is one (parameter `include`).
    #[must_use]
    pub fn with_status(self, status: Option<AdStatus>) -> Self {
        Self { status, ..self }
    }

    /// With the ad's quality, if it is given.
    #[must_use]
    pub fn with_quality(self, quality: Option<&'a Quality>) -> Self {
        Self { quality: quality.map(QualityView::Whole), ..self }
    }

    /// With what is probably a mistake in a write, if it is given.
    #[must_use]
    pub fn with_warnings(self, warnings: Option<&'a [Warning]>) -> Self {
        Self { warnings, ..self }
    }

    /// With the ad's quality as lists show it, if it is given.
    #[must_use]
    pub fn with_quality_summary(self, summary: Option<QualitySummary>) -> Self {
        Self { quality: summary.map(QualityView::Summary), ..self }
    }
}

impl Serialize for AdView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ad = self.ad;
        let written = ad.content.members();
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
                "image_refs" => {
                    let images: Vec<_> = ad.image_refs.iter().map(ImageView::from).collect();
                    map.serialize_entry(name, &images)?;
                }
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
        if let Some(revision) = self.revision {
            map.serialize_entry("revision", &revision)?;
            if self.fields.is_none() {
                map.serialize_entry("image_urls", &ad.content.image_urls().collect::<Vec<_>>())?;
            }
        }
        if let Some(status) = self.status {
            map.serialize_entry("status", &status)?;
        }
        if let Some(quality) = self.quality {
            map.serialize_entry("quality", &quality)?;
        }
        if let Some(warnings) = self.warnings {
            map.serialize_entry("warnings", warnings)?;
        }
        map.end()
    }
}

/// The value in an answer of a field that the client did not send.
pub(crate) fn absent(name: &str) -> Value {
    match name {
        "visible" => Value::Bool(true),
        "dont_publish_on_failed_images" => Value::Bool(false),
        "price" | "image_urls" => Value::Array(Vec::new()),
        "category_fields" => Value::Object(serde_json::Map::new()),
        _ => Value::Null,
    }
}
