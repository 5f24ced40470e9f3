//! The quality of an ad as the API shows it (extensions E7): its score, the goals behind it, and findings.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{names::names, status::AdPromotions};
use crate::violation::{Code, Warning};

/// Codes of findings that are warnings too: what was sent is certainly not what was meant.
const CERTAIN: [Code; 3] = [Code::TextDamaged, Code::ImageUnreachable, Code::DateUnlikely];

/// The quality of an ad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// The weight of the goals that are met, of that of all goals, in percent.
    pub score: u8,
    /// The score as one of three levels.
    pub level: Level,
    /// The goals of its category, in the order of their weight.
    pub goals: Vec<GoalStatus>,
    /// Probable mistakes, which do not change the score.
    pub findings: Vec<Finding>,
    /// The promotions of the ad, which do not change the score either; `None` unless one ad is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promotions: Option<AdPromotions>,
}

impl Quality {
    /// The findings that are certain, as warnings.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        let certain = self.findings.iter().filter(|finding| CERTAIN.contains(&finding.code));
        certain.map(|Finding { field, code, text, .. }| Warning {
            field: field.clone(),
            code: *code,
            message: text.clone(),
        })
    }

    /// The points that a goal adds to the score, rounded; at least 1, because a light goal is not nothing.
    pub fn points(&self, goal: &GoalStatus) -> u32 {
        let all: u32 = self.goals.iter().map(|goal| u32::from(goal.weight)).sum();
        ((u32::from(goal.weight) * 200 + all) / (2 * all.max(1))).max(1)
    }
}

names! {
    /// A level of the quality score.
    pub enum Level {
        /// A score below [`GOOD`](Self::GOOD).
        Basic = "basic",
        /// A score from [`GOOD`](Self::GOOD) to below [`EXCELLENT`](Self::EXCELLENT).
        Good = "good",
        /// A score of [`EXCELLENT`](Self::EXCELLENT) or more.
        Excellent = "excellent",
    }
}

impl Level {
    /// The least score that is good.
    pub const GOOD: u8 = 50;
    /// The least score that is excellent.
    pub const EXCELLENT: u8 = 80;
}

impl From<u8> for Level {
    fn from(score: u8) -> Self {
        match score {
            Self::EXCELLENT.. => Self::Excellent,
            Self::GOOD.. => Self::Good,
            _ => Self::Basic,
        }
    }
}

/// A goal, and whether an ad meets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalStatus {
    /// Identifier for programs, listed in `docs/quality.md`.
    pub code: Cow<'static, str>,
    /// The field by which it is met.
    pub field: Cow<'static, str>,
    /// Whether the ad meets it.
    pub met: bool,
    /// Its share of the score.
    pub weight: u8,
    /// The goal in a sentence.
    pub text: Cow<'static, str>,
    /// How the client meets it, in a sentence.
    pub how: Cow<'static, str>,
}

/// What is probably wrong with an ad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Identifier for programs, listed in `docs/errors.md`.
    pub code: Code,
    /// How certain it is that the value is wrong.
    pub severity: Severity,
    /// Dotted path of the field, from the ad.
    pub field: String,
    /// What was found, with the value.
    pub text: String,
    /// The same in Swedish, which the API does not show.
    #[serde(skip)]
    pub swedish: String,
    /// What to send instead, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

names! {
    /// How sure a finding is.
    pub enum Severity {
        /// The ad could be better.
        Info = "info",
        /// A value is probably wrong.
        Warning = "warning",
    }
}

/// The quality of an ad in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QualitySummary {
    /// Score of 0 to 100, as in [`Quality`].
    pub score: u8,
    /// The score as one of three levels.
    pub level: Level,
    /// Number of findings about the ad itself; those that compare it with other ads are not among them.
    pub findings: usize,
}

/// Source ids of other ads of a dealer that are not deleted and seem to be of the same vehicle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SameVehicle {
    /// One with the same registration number.
    pub plate: Option<String>,
    /// One with the same VIN.
    pub vin: Option<String>,
}

/// What a register has about a vehicle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredVehicle {
    /// Values of category fields, in the shape that a payload has them. Fields that the category of an ad does not have are ignored.
    pub category_fields: Map<String, Value>,
}

/// A score with the content that it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentScore {
    /// The [revision](super::AdTag::revision) of the content.
    pub revision: i64,
    /// The score of the ad with it, in percent.
    pub score: u8,
}
