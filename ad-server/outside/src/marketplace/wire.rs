//! The messages of the contract with a marketplace, for both sides. `docs/marketplace-adapter.md` describes them.

use std::collections::BTreeMap;

use ad_core::{
    model::{Ad, ApiVersion, Content, ImageRef, Timestamp},
    ports::{PlateListing, PublishedByPlate},
};
use poem_openapi::{Enum, Object};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// Code of a response for a listing that does not exist. A 404 without it may come from a proxy.
pub const NO_SUCH_LISTING: &str = "no_such_listing";

/// Content of a listing.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(example, rename = "Listing")]
pub struct ListingBody {
    /// Id of the ad. An ad has at most one listing.
    pub reference: Uuid,
    /// The dealer's own identifier of the ad, for support.
    #[oai(validator(min_length = 1, max_length = 255))]
    pub source_id: String,
    /// Code of the dealer that owns the ad.
    #[oai(validator(min_length = 1, max_length = 255))]
    pub dealer_code: String,
    /// Category of the ad, which determines the fields of `category_fields`.
    pub category_id: u16,
    /// Version of the field tables of the content: `v4` or `v3`.
    #[oai(validator(pattern = "^v[34]$"))]
    pub api_version: String,
    /// The dealer's payload, validated and normalised: `title`, `body`, `price`, `contact`, `location`, `url`,
    /// `video_url`, `category_fields`, … Omitted fields are absent. `category_fields.registration_number` is in upper
    /// case without spaces. Fetch the images from `images`, not from the dealer's own `image_urls`.
    pub content: BTreeMap<String, Value>,
    /// The stored images, in display order.
    pub images: Vec<ImageBody>,
}

/// An image of a listing.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename = "Image")]
pub struct ImageBody {
    /// Id of the image; stable for the same bytes of the same ad.
    pub id: Uuid,
    /// Address of its bytes, served by the ad service. They never change.
    pub url: String,
    /// SHA-256 of the bytes, in hex.
    pub checksum: String,
}

impl ListingBody {
    /// The ad that it shows, as far as a marketplace knows it.
    pub fn into_ad(self, now: Timestamp) -> Ad {
        let image = |image: ImageBody| ImageRef {
            url: String::new(),
            cdn_url: image.url,
            id: image.id,
            checksum: image.checksum,
            photo: None,
        };
        Ad {
            id: self.reference,
            source_id: self.source_id,
            dealer_code: self.dealer_code,
            category_id: self.category_id,
            state: ad_core::model::AdState::Created,
            api_version: ApiVersion::from_name(&self.api_version).unwrap_or(ApiVersion::V4),
            content: Content::from(self.content.into_iter().collect::<Map<_, _>>()),
            image_refs: self.images.into_iter().map(image).collect(),
            marketplace_ad_id: None,
            offer_id: None,
            created: now,
            updated: now,
        }
    }
}

impl poem_openapi::types::Example for ListingBody {
    fn example() -> Self {
        let content = json!({
            "title": "Volvo V60 2019",
            "price": [{"type": "list", "amount": 189_000, "currency": "SEK"}],
            "category_fields": {"registration_number": "ABC123", "model_year": 2019, "brand": "volvo", "model": "v60"},
        });
        Self {
            reference: example_id(1),
            source_id: "car-1001".to_owned(),
            dealer_code: "north-cars".to_owned(),
            category_id: 1020,
            api_version: ApiVersion::V4.name().to_owned(),
            content: content.as_object().cloned().into_iter().flatten().collect(),
            images: vec![ImageBody {
                id: example_id(2),
                url:
                    "https://ads.example.com/media/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.jpg"
                        .to_owned(),
                checksum: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
            }],
        }
    }
}

pub fn example_id(number: u128) -> Uuid {
    Uuid::from_u128(0x01a1_fa93_5971_7147_bce3_60bc_a733_d9f0 + number)
}

/// The listing that was published or updated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Object)]
pub struct Listed {
    /// Id on the marketplace: 1 to 255 characters. It never changes while the listing exists and is never reused.
    pub id: String,
}

/// What became of an ad that was published by its plate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Object)]
pub struct ListedByPlate {
    /// Id of the listing that shows the ad, or of the one that is taken.
    pub id: String,
    pub result: ByPlate,
    /// Only with `taken`: id of the ad that the listing shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Uuid>,
}

/// `published`: the listing is the ad's own. `linked`: it had shown no ad, and is linked to this one now. `taken`: it
/// shows another ad, and nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Enum)]
#[serde(rename_all = "snake_case")]
#[oai(rename_all = "snake_case")]
pub enum ByPlate {
    Published,
    Linked,
    Taken,
}

impl From<PublishedByPlate> for ListedByPlate {
    fn from(published: PublishedByPlate) -> Self {
        match published {
            PublishedByPlate::Shown { id, linked: false } => Self { id, result: ByPlate::Published, reference: None },
            PublishedByPlate::Shown { id, linked: true } => Self { id, result: ByPlate::Linked, reference: None },
            PublishedByPlate::Taken(PlateListing { id, reference }) => Self { id, result: ByPlate::Taken, reference },
        }
    }
}

impl From<ListedByPlate> for PublishedByPlate {
    fn from(ListedByPlate { id, result, reference }: ListedByPlate) -> Self {
        match result {
            ByPlate::Published => Self::Shown { id, linked: false },
            ByPlate::Linked => Self::Shown { id, linked: true },
            ByPlate::Taken => Self::Taken(PlateListing { id, reference }),
        }
    }
}

/// Duration of a pole position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Object)]
pub struct Boost {
    /// End of pole position: UTC, RFC 3339.
    pub until: String,
}

/// Result of a find.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Object)]
pub struct FoundListings {
    /// Visible listings of this dealer with this registration number; one without an ad comes first. Only the first is used.
    pub results: Vec<FoundListing>,
}

/// A found listing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Object)]
pub struct FoundListing {
    /// Its id.
    pub id: String,
    /// Id of the ad that it shows; `null` if it was not created by the ad service.
    pub reference: Option<Uuid>,
}

impl From<PlateListing> for FoundListing {
    fn from(PlateListing { id, reference }: PlateListing) -> Self {
        Self { id, reference }
    }
}

impl From<FoundListing> for PlateListing {
    fn from(FoundListing { id, reference }: FoundListing) -> Self {
        Self { id, reference }
    }
}

/// Reason of a failed call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, Object)]
#[serde(default)]
#[oai(rename = "Problem")]
pub struct ErrorBody {
    /// For programs: `refused`, `no_such_listing`, `unauthorized`, …
    pub code: String,
    /// For people: the reason, and what to do instead. The dealer sees the reason of a rejection.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use ad_core::ports::Listing;
    use poem_openapi::types::{Example, ParseFromJSON, ToJSON};

    use super::*;

    #[test]
    fn what_is_sent_is_what_the_other_end_reads() {
        let body = ListingBody::example();
        let ad = body.clone().into_ad(Timestamp::default());
        let sent = Listing { ad: &ad, images: &ad.image_refs }.json().unwrap();
        let sent: Value = serde_json::from_slice(&sent).unwrap();
        assert_eq!(Some(&sent), body.to_json().as_ref());
        let Ok(read) = ListingBody::parse_from_json(Some(sent)) else { panic!("it can be read") };
        assert_eq!(read, body);
    }
}
