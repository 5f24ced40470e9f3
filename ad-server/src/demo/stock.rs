//! The stock that the demo posts: ads of two dealers, one with a damaged picture, one that the marketplaces refuse and
//! one with many common mistakes, and listings that the dealers had before. The data is in JSON files beside this one.

use ad_core::model::Dealer;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What becomes of an ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// It is published with all of its images.
    Published,
    /// It is published, and its log says which image failed.
    PublishedWithoutOneImage,
    /// It is accepted, and the marketplaces refuse it: its source id selects that failure of the sandbox.
    RefusedByMarketplace,
    /// It is refused with the errors of its payload.
    Refused,
}

#[derive(Debug, Clone)]
pub struct DemoAd {
    pub vehicle_type: &'static str,
    /// The dealer, in the payload too.
    pub dealer_code: String,
    /// The body of the request.
    pub payload: Value,
    /// The outcome that the demo shows.
    pub expects: Expected,
}

/// An ad as the data has it: its images are file names at the image host.
#[derive(Deserialize)]
struct BundledAd {
    vehicle_type: &'static str,
    dealer_code: String,
    images: Vec<String>,
    payload: Map<String, Value>,
    expects: Expected,
}

/// The stock, with its images at an image host such as `http://127.0.0.1:4711`.
pub fn stock(image_base: &str) -> Vec<DemoAd> {
    let bundled: Vec<BundledAd> = read(include_str!("data/stock.json"));
    bundled
        .into_iter()
        .map(|BundledAd { vehicle_type, dealer_code, images, mut payload, expects }| {
            let folder = folder(payload.get("source_id").and_then(Value::as_str).unwrap_or_default());
            let urls: Vec<_> = images.iter().map(|file| format!("{image_base}/{folder}/{file}")).collect();
            payload.insert("dealer_code".to_owned(), Value::from(dealer_code.as_str()));
            payload.insert("image_urls".to_owned(), Value::from(urls));
            DemoAd { vehicle_type, dealer_code, payload: Value::Object(payload), expects }
        })
        .collect()
}

/// The two dealers, both of the group `north`.
pub fn dealers() -> Vec<Dealer> {
    read(include_str!("data/dealers.json"))
}

/// What the primary marketplace listed before, as lines for [`import_listings`](ad_server_outside::marketplace::import_listings). The
/// plates are those of two of the cars, so that these are linked instead of listed anew.
pub fn listings() -> &'static str {
    include_str!("data/listings.ndjson")
}

fn read<T: Deserialize<'static>>(data: &'static str) -> T {
    serde_json::from_str(data).expect("the bundled data is read by a test")
}

/// Where the image host has the pictures of a source id: a slash in it would make a path of its own.
fn folder(source_id: &str) -> String {
    source_id.replace('/', "-")
}

impl DemoAd {
    pub fn source_id(&self) -> &str {
        self.payload["source_id"].as_str().unwrap_or_default()
    }

    pub fn images(&self) -> usize {
        self.payload["image_urls"].as_array().map_or(0, Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use ad_core::{
        categories,
        model::ApiVersion,
        rulebook::{Rulebook, SourceId, WriteContext},
    };
    use serde_json::json;

    use super::*;

    /// Checks an ad as the service would.
    fn check(ad: &DemoAd) -> Result<ad_core::rulebook::CheckedPayload, Value> {
        let dealers = dealers();
        let dealer = dealers.iter().find(|dealer| dealer.code == ad.dealer_code).unwrap();
        let category = categories::by_vehicle_type(ad.vehicle_type).unwrap();
        let write = WriteContext { category, version: ApiVersion::V4, dealer: Some(dealer) };
        let payload = ad.payload.as_object().unwrap().clone();
        Rulebook::default().create(write, payload, SourceId::Required).map_err(|errors| json!(errors))
    }

    #[test]
    fn the_service_accepts_every_ad_but_the_one_with_mistakes() {
        let stock = stock("https://images.example");
        assert!(stock.len() >= 14);
        for ad in &stock {
            let checked = check(ad);
            assert_eq!(checked.is_err(), ad.expects == Expected::Refused, "{}: {checked:#?}", ad.source_id());
            if let Ok(checked) = checked {
                assert_eq!(checked.warnings, [], "{}", ad.source_id());
                assert!((2..=4).contains(&ad.images()), "{}", ad.source_id());
            }
        }
        let all = |outcome| stock.iter().filter(|ad| ad.expects == outcome).count();
        let wrong = [Expected::PublishedWithoutOneImage, Expected::RefusedByMarketplace, Expected::Refused];
        assert_eq!(wrong.map(all), [1, 1, 1]);
        for vehicle_type in ["car", "boat"] {
            assert!(stock.iter().filter(|ad| ad.vehicle_type == vehicle_type).count() >= 5);
        }
    }

    #[test]
    fn every_mistake_of_the_refused_ad_is_told() {
        let stock = stock("https://images.example");
        let refused = stock.iter().find(|ad| ad.expects == Expected::Refused).unwrap();
        let errors = check(refused).unwrap_err();
        assert!(errors["title"].is_array(), "{errors}");
        for field in ["brand", "year", "mileage", "fuel", "gearbox", "model_year"] {
            assert!(errors["category_fields"][field].is_array(), "{field}: {errors}");
        }
        assert_eq!(errors["category_fields"]["brand"][1], "Did you mean \"volvo\"?");
    }

    #[test]
    fn listings_are_those_of_cars_in_the_stock() {
        let stock: Vec<_> = stock("https://images.example")
            .into_iter()
            .filter_map(|ad| {
                Some((ad.dealer_code.clone(), check(&ad).ok()?.content.registration_number()?.into_owned()))
            })
            .collect();
        assert_eq!(listings().lines().count(), 2);
        for line in listings().lines() {
            let listing: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| listing[name].as_str().unwrap().to_owned();
            assert!(stock.contains(&(text("dealer_code"), text("registration_number"))), "{line}");
        }
    }
}
