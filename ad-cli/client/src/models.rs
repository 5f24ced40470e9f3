//! What the service answers with, as types ('Resources and their fields', decisions 1 and 7).

use ad_core::{
    model::{AdState, ApiVersion, LogEntry, Market, Timestamp},
    quality::{Quality, QualitySummary},
    rulebook::Warning,
    service::Target,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use uuid::Uuid;

/// A stored image of an ad (extensions E7.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Image {
    /// The address from which it was fetched.
    pub url: String,
    /// The address at which it is served as it came.
    pub cdn_url: String,
    /// Id that the service generated for the image.
    pub id: Uuid,
    /// SHA-256 of the bytes, in hex.
    pub checksum: String,
    /// Width in pixels when upright; `None` until it was examined, and if it cannot be decoded.
    pub width: Option<u32>,
    /// Height in pixels when upright; `None` as the width.
    pub height: Option<u32>,
    /// Other sizes, the smallest first; `None` until they are made, empty if it cannot be decoded.
    pub renditions: Option<Vec<Rendition>>,
}

/// An image in another size: a JPEG, upright, without metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rendition {
    /// Width in pixels, at most that of the image.
    pub width: u32,
    /// Height in pixels, in the same ratio.
    pub height: u32,
    /// The address at which it is served.
    pub url: String,
}

/// An ad, as the service shows it. Serialises as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ad {
    /// Id that the service generated for the ad.
    pub id: Uuid,
    /// The client's reference, unique per dealer.
    pub source_id: String,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// Number of the category ('Category identifiers').
    pub category_id: u16,
    /// `created`, or `deleted` after a DELETE.
    pub state: AdState,
    /// The title: sent, or generated from the fields.
    pub title: Option<String>,
    /// The description that buyers read.
    pub body: Option<String>,
    /// Whether it is to be published.
    pub visible: bool,
    /// Prices, at most one of each type.
    pub price: Vec<Price>,
    /// The stored images, in display order.
    pub image_refs: Vec<Image>,
    /// A page at the seller's site.
    pub url: Option<String>,
    /// Address of a video about the vehicle.
    pub video_url: Option<String>,
    /// Where it is, unless at the dealer's.
    pub location: Option<Location>,
    /// Whom to ask, unless the dealer.
    pub contact: Option<Contact>,
    /// The vehicle: the fields of its category.
    pub category_fields: Map<String, Value>,
    /// Whether a failed image holds it back.
    pub dont_publish_on_failed_images: bool,
    /// The product declaration, as text.
    pub product_declaration: Option<String>,
    /// Id of the listing on the primary marketplace, once published.
    pub marketplace_ad_id: Option<String>,
    /// Id of the listing on the secondary marketplace, once published there.
    pub offer_id: Option<String>,
    /// Version that created or last converted it.
    pub api_version: ApiVersion,
    /// When the service accepted the create.
    pub created: Timestamp,
    /// When the ad last changed.
    pub updated: Timestamp,
    /// Its latest log entries, oldest first, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Vec<LogEntry>>,
    /// How good it is, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality: Option<AdQuality>,
    /// What a later version of the service has added.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl<'a> From<&'a Ad> for Target<'a> {
    /// The ad for a request.
    fn from(ad: &'a Ad) -> Self {
        Self::from(&ad.source_id).of_dealer(Some(&ad.dealer_code))
    }
}

/// How good an ad is: the whole of it where the answer is about one ad, the summary in lists (extensions E7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AdQuality {
    /// With goals and findings, in answers about one ad.
    Whole(Quality),
    /// With the number of findings.
    Summary(QualitySummary),
}

impl AdQuality {
    /// The score, 0 to 100.
    pub fn score(&self) -> u8 {
        match self {
            Self::Whole(quality) => quality.score,
            Self::Summary(summary) => summary.score,
        }
    }
}

/// A price of an ad ('Price object').
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Price {
    /// `list`, `reduced`, `leasing`, `monthly` or `call`.
    #[serde(rename = "type")]
    pub kind: String,
    /// In whole units of the currency.
    pub amount: Number,
    /// ISO 4217 currency code.
    pub currency: String,
    /// What a later version of the service has added.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Where an ad is: one of three ways to say it ('Location object').
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Location {
    /// Latitude in decimal degrees, WGS 84.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latitude: Option<Number>,
    /// Longitude in decimal degrees, WGS 84.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longitude: Option<Number>,
    /// Postal code in Sweden: 5 digits without spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zipcode: Option<String>,
    /// Swedish area code, of 4 or 6 digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lkf: Option<String>,
}

/// Whom to ask ('Contact object').
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Contact {
    /// The person or department to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Digits, with a plus before them or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// E-mail address that buyers write to.
    pub email: String,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Page<T> {
    /// Number of rows on all pages together.
    pub count: u64,
    /// Address of the page behind it.
    pub next: Option<String>,
    /// Address of the page before it.
    pub previous: Option<String>,
    /// The rows of this page.
    pub results: Vec<T>,
}

/// What a payload would become.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Validation {
    /// True; what is not valid is an error.
    pub valid: bool,
    /// The content as it would be stored.
    pub ad: Map<String, Value>,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Warning>,
    /// How good the ad would be; `None` from a service of an earlier version.
    pub quality: Option<Quality>,
}

/// What a token is, and what it gives access to (extensions E3.14).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Me {
    /// The dealers whose ads the token gives access to.
    pub scope: Scope,
    /// The dealers of the scope.
    pub dealers: Vec<DealerAccess>,
    /// Names of what the token may do.
    pub permissions: Vec<String>,
    /// Id, label and times of the token.
    pub token: TokenInfo,
    /// The limit of requests, where there is one.
    pub rate_limit: Option<RateLimit>,
    /// The versions of the API.
    pub versions: Vec<ApiVersion>,
    /// Address of the service's documentation.
    pub documentation: String,
    /// Whether images may have http addresses, as in a sandbox.
    #[serde(default)]
    pub http_images: bool,
    /// What a later version of the service has added.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Whose ads a token gives access to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// The ads of the dealer with this code.
    #[serde(rename = "dealer_code")]
    Dealer(String),
    /// Those of all dealers of a group.
    #[serde(rename = "dealer_group")]
    Group(String),
}

/// A dealer, as far as a token gives access to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DealerAccess {
    /// Its code in tokens and ads.
    pub code: String,
    /// Display name of the dealer.
    pub name: String,
    /// ISO 4217 code of the currency of prices without one.
    pub currency: String,
    /// Activated products, such as `online_purchase`.
    pub products: Vec<String>,
    /// Marketplaces on which it may bump ads.
    pub bump: Vec<Market>,
    /// Number of e-mail addresses of salespersons.
    pub salespersons: u64,
    /// Number of ads that are not deleted.
    pub ads: u64,
}

/// What a token says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenInfo {
    /// Its id, by which it is revoked.
    pub jti: Option<String>,
    /// What the operator calls it.
    pub label: Option<String>,
    /// Issue time (`iat`), if the token has one.
    pub issued: Option<Timestamp>,
    /// Expiry time (`exp`), if the token has one.
    pub expires: Option<Timestamp>,
}

/// The rate of requests that the token is limited to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RateLimit {
    /// Number of requests per [`seconds`](Self::seconds).
    pub requests: u64,
    /// Length of the period, in seconds.
    pub seconds: u64,
    /// Most requests at once, before the rate applies.
    pub burst: u64,
}
