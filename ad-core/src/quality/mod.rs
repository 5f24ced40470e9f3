//! The quality of an ad (extensions E7): goals that make it better, with a score, and findings about values that are probably wrong.
//! Nothing here refuses an ad.
//!
//! | Module | What it is for |
//! |---|---|
//! | `goals` | the table of goals |
//! | `findings` | the table of findings |
//! | `vehicle` | ranges of prices and mileages, VINs and plates, as data and as functions of a text |
//! | `words` | what a description should not contain |
//! | `page` | [quality.md](https://github.com/vehicle-ads/ad-import/blob/main/docs/quality.md), made from the tables |

mod findings;
mod goals;
mod page;
mod vehicle;
mod words;

use jiff::{Timestamp as Instant, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    categories::Category,
    model::{Timestamp, get},
    violation::Code,
};
pub use page::markdown;

/// The quality of an ad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// The weight of the goals that are met, of that of all goals, in percent.
    pub score: u8,
    /// What the score means.
    pub level: Level,
    /// The goals of its category, in the order of their weight.
    pub goals: Vec<GoalStatus>,
    /// What is probably wrong.
    pub findings: Vec<Finding>,
}

/// What a score means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Below 50.
    Basic,
    /// From 50.
    Good,
    /// From 80.
    Excellent,
}

impl From<u8> for Level {
    fn from(score: u8) -> Self {
        match score {
            80.. => Self::Excellent,
            50.. => Self::Good,
            _ => Self::Basic,
        }
    }
}

/// A goal, and whether an ad meets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalStatus {
    /// Its code.
    pub code: String,
    /// The field by which it is met.
    pub field: String,
    /// Whether the ad meets it.
    pub met: bool,
    /// Its share of the score.
    pub weight: u8,
    /// The goal.
    pub text: String,
    /// How to meet it.
    pub how: String,
}

/// What is probably wrong with an ad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its code.
    pub code: Code,
    /// How sure it is.
    pub severity: Severity,
    /// The field.
    pub field: String,
    /// What was found, with the value.
    pub text: String,
    /// What to send instead, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The ad could be better.
    Info,
    /// A value is probably wrong.
    Warning,
}

/// An ad whose quality is measured.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    category: &'static Category,
    ad: &'a Map<String, Value>,
    today: Date,
}

impl<'a> Measured<'a> {
    /// A valid ad of a category, as it would be stored.
    pub fn new(category: &'static Category, ad: &'a Map<String, Value>, now: Timestamp) -> Self {
        let now = Instant::from_millisecond(now.as_millis()).unwrap_or_default();
        Self { category, ad, today: now.to_zoned(TimeZone::UTC).date() }
    }

    /// Its quality.
    pub fn quality(self) -> Quality {
        let goals: Vec<_> = goals::of(self).collect();
        let weight =
            |goals: &mut dyn Iterator<Item = &GoalStatus>| goals.map(|goal| u32::from(goal.weight)).sum::<u32>();
        let (met, all) = (weight(&mut goals.iter().filter(|goal| goal.met)), weight(&mut goals.iter()));
        let score = u8::try_from((met * 100).checked_div(all).unwrap_or(0)).unwrap_or(100);
        Quality { score, level: score.into(), goals, findings: findings::of(self) }
    }

    /// The category field at a path.
    fn field(self, path: &str) -> Option<&'a Value> {
        get(self.ad.get("category_fields")?.as_object()?, path).filter(|value| !value.is_null())
    }

    fn text(self, path: &str) -> Option<&'a str> {
        self.field(path)?.as_str()
    }

    /// The value of a measure, in the unit that it was sent in.
    fn measure(self, path: &str) -> Option<(f64, &'a str)> {
        let measure = self.field(path)?;
        Some((measure.get("value")?.as_f64()?, measure.get("unit")?.as_str()?))
    }

    fn body(self) -> &'a str {
        self.ad.get("body").and_then(Value::as_str).unwrap_or_default()
    }

    fn images(self) -> usize {
        self.ad.get("image_urls").and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// Amount and currency of the price of a type.
    fn price(self, kind: &str) -> Option<(f64, &'a str)> {
        let prices = self.ad.get("price")?.as_array()?;
        let price = prices.iter().find(|price| price.get("type").and_then(Value::as_str) == Some(kind))?;
        Some((price.get("amount")?.as_f64()?, price.get("currency").and_then(Value::as_str).unwrap_or_default()))
    }

    /// Whether the vehicle is new; `None` if the ad does not say so.
    fn is_new(self) -> Option<bool> {
        crate::categories::rules::is_new(self.field("condition")?.as_object()?)
    }

    /// Whether it runs on electricity alone.
    fn is_electric(self) -> bool {
        let is_electric = |fuel: &Value| fuel.as_str() == Some("electric");
        match self.field("powertrain.fuels") {
            Some(Value::Array(fuels)) => !fuels.is_empty() && fuels.iter().all(is_electric),
            _ => self.field("powertrain.fuel").is_some_and(is_electric),
        }
    }
}
