//! Stored ads of another system as they are taken over (decision 28).

use ad_core::{
    memory::MemoryDirectory,
    model::{AdState, AdStatus, ApiVersion, ChannelStatus, Leftover, Market, Timestamp},
    rulebook::Rulebook,
    service::import::{self, ImportedAd},
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{dealer, object, with};

fn read(ad: Value) -> Result<ImportedAd, Value> {
    let directory = MemoryDirectory::default();
    directory.put(dealer());
    let now = "2026-01-15T10:00:00Z".parse().unwrap();
    import::read(&Rulebook::default(), &directory, object(ad), Uuid::nil(), now).map_err(|errors| json!(errors))
}

/// A trailer of V3 as GET shows it.
fn trailer() -> Value {
    json!({"id": "01a1fb01-a196-747d-8ea6-05037ac31aa7", "source_id": "t1", "dealer_code": "north-cars",
        "category_id": 1045, "state": "created", "title": "Brenderup 2015", "body": null, "visible": true,
        "price": [{"type": "list", "amount": 1000, "currency": "SEK"}, {"type": "reduced", "amount": 900, "currency": "SEK"}],
        "image_refs": [{"url": "https://cdn.example.com/1.jpg", "cdn_url": "http://x", "id": "i", "checksum": "c"}],
        "url": null, "video_url": null, "location": null, "contact": null,
        "category_fields": {"brand": "brenderup", "model_year": 2015, "registration_number": "ABC123"},
        "dont_publish_on_failed_images": false, "product_declaration": null, "marketplace_ad_id": "777",
        "offer_id": null, "api_version": "v3", "created": "2020-02-03T04:05:06.789Z",
        "updated": "2021-02-03T04:05:06.789Z", "log": []})
}

#[test]
fn an_ad_is_taken_over_as_get_shows_it() {
    let import = read(trailer()).unwrap();
    let words = import.words();
    let ImportedAd { ad, leftover, .. } = import;
    assert_eq!(ad.id.to_string(), "01a1fb01-a196-747d-8ea6-05037ac31aa7");
    assert_eq!((ad.api_version, ad.category_id, ad.state), (ApiVersion::V3, 1045, AdState::Created));
    assert_eq!(ad.marketplace_ad_id.as_deref(), Some("777"));
    assert_eq!(ad.created.to_string(), "2020-02-03T04:05:06.789Z");
    assert_eq!(ad.updated.to_string(), "2021-02-03T04:05:06.789Z");
    assert_eq!(ad.content.title(), Some("Brenderup 2015"), "generated anew");
    assert_eq!(ad.content.image_urls().collect::<Vec<_>>(), ["https://cdn.example.com/1.jpg"]);
    assert_eq!(
        leftover,
        Leftover::publishing(vec![Market::Primary, Market::Secondary]),
        "and the image, which has no reference"
    );
    assert!(ad.image_refs.is_empty());
    let channels = (words.primary, words.secondary);
    assert_eq!(words.status, AdStatus::PartlyLive, "its listing is believed to be shown");
    assert_eq!(channels, (Some(ChannelStatus::Live), Some(ChannelStatus::NotListed)));
}

#[test]
fn what_it_does_not_say_is_as_of_now_and_the_newest_version_that_has_the_category() {
    let bare = json!({"source_id": "c", "dealer_code": "south", "category_id": "1020", "visible": false,
        "category_fields": {"vin": "12345678901234567", "model_year": 2015}});
    let ImportedAd { ad, leftover, .. } = read(bare.clone()).unwrap();
    assert_eq!((ad.id, ad.api_version), (Uuid::nil(), ApiVersion::V4));
    let now: Timestamp = "2026-01-15T10:00:00Z".parse().unwrap();
    assert_eq!((ad.created, ad.updated, leftover), (now, now, Leftover::default()));
    let open = json!({"source_id": "b", "dealer_code": "south", "category_id": 1122, "state": "deleted"});
    let ImportedAd { ad, leftover, .. } = read(open).unwrap();
    assert_eq!((ad.api_version, ad.state, leftover), (ApiVersion::V3, AdState::Deleted, Leftover::default()));
}

#[test]
fn everything_wrong_is_told_at_its_path() {
    let wrong = json!({"id": "1", "state": "gone", "created": "yesterday", "offer_id": 5, "api_version": "v4",
        "category_fields": {"physics": {"seats": 1}}});
    assert_eq!(
        read(with(&trailer(), wrong)).unwrap_err(),
        json!({
            "id": ["Must be a valid UUID."],
            "state": ["\"gone\" is not a valid choice.", "Valid choices: \"created\", \"deleted\"."],
            "created": [ad_core::model::NotATime.to_string()],
            "offer_id": ["Not a valid string."],
            "category_fields": {"physics": {"seats": ["Unknown field."]}},
        })
    );
    let v4 = json!({"category_id": 1061, "api_version": "v4"});
    assert_eq!(read(with(&trailer(), v4)).unwrap_err(), json!({"api_version": ["Category 1061 is not in v4."]}));
    let v3 = json!({"category_fields": {"condition": {"number_of_owners": 1}}});
    assert_eq!(
        read(with(&trailer(), v3)).unwrap_err()["category_fields"]["condition"]["number_of_owners"],
        json!(["This field is not supported by V3."])
    );
    assert_eq!(
        read(json!({})).unwrap_err(),
        json!({"dealer_code": ["This field is required."], "source_id": ["This field is required."],
            "category_id": ["This field is required."], "category_fields": ["This field is required."]})
    );
}
