//! The quality of an ad (extensions E7): goals that make it better, with a score, and findings about values that are probably wrong.
//! Nothing here refuses an ad.
//!
//! | Module | What it is for |
//! |---|---|
//! | `goals` | the table of goals |
//! | `findings` | the table of findings |
//! | `images` | addresses that are accepted and can never lead to an image |
//! | `registry` | comparison with what a register has about the vehicle |
//! | `vehicle` | ranges of prices, mileages, model years and power, VINs and plates, as data and as functions of a text |
//! | `words` | what a description should not contain |
//! | `page` | [quality.md](https://github.com/vehicle-ads/ad-import/blob/main/docs/quality.md), made from the tables |

mod findings;
mod goals;
mod images;
mod page;
mod registry;
mod vehicle;
mod words;

use std::collections::BTreeMap;

use jiff::{Timestamp as Instant, civil::Date, tz::TimeZone};
use serde_json::{Map, Value};

pub use crate::model::{
    ContentScore, Finding, GoalStatus, Level, Quality, QualitySummary, RegisteredVehicle, SameVehicle, Severity,
};
use crate::{
    categories::{AdFacts, Category, rules::is_new},
    model::{Ad, FailedImage, ImageRef, PriceHistory, Timestamp, get, split_path},
};
pub use goals::goal_in_swedish;
pub use page::markdown;

/// The score of a stored ad, given the images that the latest `handle_media` could not store. It depends on the ad alone, not on the
/// time, so that stores can keep it for lists.
pub fn score(ad: &Ad, failed_images: &[FailedImage]) -> u8 {
    // Only findings depend on the time.
    ad.category().map_or(0, |category| Measured::stored(category, ad, failed_images, ad.created).score())
}

/// An ad whose quality is measured.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    category: &'static Category,
    ad: &'a Map<String, Value>,
    facts: AdFacts<'a>,
    /// Whether the vehicle is new; `None` if the ad does not say so.
    is_new: Option<bool>,
    /// Whether it runs on electricity alone.
    is_electric: bool,
    today: Date,
    image_refs: &'a [ImageRef],
    failed_images: &'a [FailedImage],
    same_vehicle: Option<&'a SameVehicle>,
    same_photos: Option<&'a BTreeMap<String, String>>,
    prices: Option<&'a PriceHistory>,
    registered: Option<&'a RegisteredVehicle>,
    private_images: bool,
    /// Whether the vehicle has no mileage at all although its model year is some years ago, and nobody says that it is new.
    lacks_mileage: bool,
}

impl<'a> Measured<'a> {
    /// A valid ad of a category, as it would be stored.
    pub fn new(category: &'static Category, ad: &'a Map<String, Value>, now: Timestamp) -> Self {
        let now = Instant::from_millisecond(now.as_millis()).unwrap_or_default();
        let today = now.to_zoned(TimeZone::UTC).date();
        let facts = AdFacts::from(ad);
        Self {
            category,
            ad,
            facts,
            is_new: facts.fields.condition.and_then(is_new),
            is_electric: facts.fields.powertrain.is_some_and(is_electric),
            today,
            image_refs: &[],
            failed_images: &[],
            same_vehicle: None,
            same_photos: None,
            prices: None,
            registered: None,
            private_images: false,
            lacks_mileage: false,
        }
    }

    /// The same where a vehicle counts as new only because its mileage is 0: if it is old, that is the mistake, and not what new vehicles
    /// need.
    #[must_use]
    pub fn with_derived_newness(self) -> Self {
        let is_old = self.years().is_some_and(|years| years > vehicle::MOST_YEARS_OF_NEW);
        let lacks_mileage = is_old && self.measure("condition.mileage").is_some_and(|(value, _)| value == 0.0);
        if lacks_mileage { Self { is_new: None, lacks_mileage, ..self } } else { self }
    }

    /// A stored ad of a category, given the images that the latest `handle_media` could not store.
    pub fn stored(category: &'static Category, ad: &'a Ad, failed_images: &'a [FailedImage], now: Timestamp) -> Self {
        Self::new(category, ad.content.fields(), now).with_images(&ad.image_refs, failed_images)
    }

    /// The same, given its stored images, and those that the latest `handle_media` could not store.
    #[must_use]
    pub fn with_images(self, image_refs: &'a [ImageRef], failed_images: &'a [FailedImage]) -> Self {
        Self { image_refs, failed_images, ..self }
    }

    /// The same, given other ads of the dealer that seem to be of the same vehicle.
    #[must_use]
    pub fn with_same_vehicle(self, same: &'a SameVehicle) -> Self {
        Self { same_vehicle: Some(same), ..self }
    }

    /// The same, given other ads of the dealer with a photo that looks the same: their source ids by the checksum of the photo.
    #[must_use]
    pub fn with_same_photos(self, same: &'a BTreeMap<String, String>) -> Self {
        Self { same_photos: Some(same), ..self }
    }

    /// The same, given its prices over time.
    #[must_use]
    pub fn with_prices(self, prices: Option<&'a PriceHistory>) -> Self {
        Self { prices, ..self }
    }

    /// The same where an operator permits images in private networks, or does not.
    #[must_use]
    pub fn with_private_images(self, private_images: bool) -> Self {
        Self { private_images, ..self }
    }

    /// The same, given what a register has about its vehicle.
    #[must_use]
    pub fn with_registered(self, registered: Option<&'a RegisteredVehicle>) -> Self {
        Self { registered, ..self }
    }

    /// Score, goals and findings of the ad.
    pub fn quality(self) -> Quality {
        let goals: Vec<_> = goals::of(&self).map(|(goal, met)| goal.status(met)).collect();
        let score = percentage(goals.iter().map(|goal| (goal.weight, goal.met)));
        Quality { score, level: score.into(), goals, findings: findings::of(&self), promotions: None }
    }

    /// The findings, without computing goals and score.
    pub fn findings(self) -> Vec<Finding> {
        findings::of(&self)
    }

    /// The score of 0 to 100, without goals and findings.
    pub fn score(self) -> u8 {
        percentage(goals::of(&self).map(|(goal, met)| (goal.weight, met)))
    }

    /// Its quality as lists show it.
    pub fn summary(self) -> QualitySummary {
        let score = self.score();
        QualitySummary { score, level: score.into(), findings: findings::of(&self).len() }
    }

    fn field(&self, path: &str) -> Option<&'a Value> {
        let value = match split_path(path) {
            ("condition", Some(below)) => get(self.facts.fields.condition?, below),
            ("powertrain", Some(below)) => get(self.facts.fields.powertrain?, below),
            _ => get(self.facts.category_fields?, path),
        };
        value.filter(|value| !value.is_null())
    }

    fn text(&self, path: &str) -> Option<&'a str> {
        self.field(path)?.as_str()
    }

    /// The value of a measure, in the unit that it was sent in.
    fn measure(&self, path: &str) -> Option<(f64, &'a str)> {
        let measure = self.field(path)?;
        Some((measure.get("value")?.as_f64()?, measure.get("unit")?.as_str()?))
    }

    fn model_year(&self) -> Option<i64> {
        self.facts.fields.model_year?.as_i64()
    }

    /// The number of years in which it may have been used, by its model year.
    fn years(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a number of years")]
        let years = i64::from(self.today.year()).saturating_sub(self.model_year()?).max(0).saturating_add(1) as f64;
        Some(years)
    }

    /// Why a photo could not be stored, if that is so and the ad has no image from an earlier attempt.
    fn missing_image(&self, url: &Value) -> Option<&'a FailedImage> {
        let failed = self.failed_images.iter().find(|image| Some(image.url.as_str()) == url.as_str())?;
        (!self.image_refs.iter().any(|stored| stored.url == failed.url)).then_some(failed)
    }

    /// The stored photos with their places in `image_urls`.
    fn photos(&self) -> impl Iterator<Item = (usize, &'a ImageRef)> {
        let stored = move |url: &Value| self.image_refs.iter().find(|image| Some(image.url.as_str()) == url.as_str());
        self.facts.images.iter().enumerate().filter_map(move |(place, url)| Some((place, stored(url)?)))
    }

    /// The number of photos, as far as they are stored or may still be.
    fn images(&self) -> usize {
        self.facts.images.iter().filter(|url| self.missing_image(url).is_none()).count()
    }

    /// Amount and currency of the price of a type.
    fn price(&self, kind: &str) -> Option<(f64, &'a str)> {
        let price = self.facts.price.iter().find(|price| price.get("type").and_then(Value::as_str) == Some(kind))?;
        Some((price.get("amount")?.as_f64()?, price.get("currency").and_then(Value::as_str).unwrap_or_default()))
    }
}

fn is_electric(powertrain: &Map<String, Value>) -> bool {
    let is_electric = |fuel: &Value| fuel.as_str() == Some("electric");
    match powertrain.get("fuels") {
        Some(Value::Array(fuels)) => !fuels.is_empty() && fuels.iter().all(is_electric),
        _ => powertrain.get("fuel").is_some_and(is_electric),
    }
}

/// The weight of the goals that are met, of that of all goals, in percent.
fn percentage(goals: impl Iterator<Item = (u8, bool)>) -> u8 {
    let (met, all) = goals.fold((0, 0), |(met, all), (weight, is_met)| {
        (met + u32::from(weight) * u32::from(is_met), all + u32::from(weight))
    });
    u8::try_from((met * 100).checked_div(all).unwrap_or(0)).unwrap_or(100)
}
