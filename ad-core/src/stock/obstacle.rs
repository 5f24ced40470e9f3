//! Why no request can make an ad equal to its payload.

use serde_json::{Map, Value};

use crate::{
    categories::TRAILER,
    fields::FieldErrors,
    model::get,
    rulebook::payload::PayloadError,
    violation::{Code, Violation},
};

/// Why no request can make an ad equal to its payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Obstacle {
    /// Fields of the payload are wrong, cannot be changed, or are left out and cannot be cleared.
    Fields(FieldErrors),
    /// The ad is new, and trailers cannot be created ('Endpoints' rule 6).
    TrailerCreateDisabled,
    /// The ad is deleted and cannot be revived.
    Deleted {
        /// Whether that is because its category is one of registered vehicles, and not because it is a V3 ad that must migrate.
        is_registered: bool,
    },
    /// The ad is a V3 ad that must migrate before V4 can update it.
    MustMigrate {
        /// Whether it can migrate to the category of the payload.
        into_category: bool,
    },
    /// The payload has another category than the ad.
    OtherCategory {
        /// `category_id` of the ad.
        id: u16,
    },
}

impl From<FieldErrors> for Obstacle {
    fn from(errors: FieldErrors) -> Self {
        Self::Fields(errors)
    }
}

impl From<PayloadError> for Obstacle {
    fn from(error: PayloadError) -> Self {
        match error {
            PayloadError::Fields(errors) => Self::Fields(errors),
            PayloadError::TrailerCreateDisabled => Self::TrailerCreateDisabled,
        }
    }
}

impl Obstacle {
    /// The same as errors of fields, as plans list them.
    pub fn errors(&self) -> FieldErrors {
        let stated = |field, code, text: String, cure: &str| {
            let mut errors = FieldErrors::default();
            errors.push(field, Violation::stated(code, text).with_note(Some(cure.to_owned())));
            errors
        };
        match self {
            Self::Fields(errors) => errors.clone(),
            Self::TrailerCreateDisabled => {
                let text = format!("Trailers (category {TRAILER}) cannot be created, only updated and deleted.");
                stated("category_id", Code::TrailerCreateDisabled, text, "Leave the ad out.")
            }
            Self::Deleted { is_registered } => {
                let what = if *is_registered { "a registered vehicle" } else { "a V3 ad that must migrate" };
                let text = format!("The ad is deleted; {what} cannot be revived, and its source_id cannot be reused.");
                stated("source_id", Code::AdDeleted, text, "Send another source_id.")
            }
            Self::MustMigrate { into_category } => {
                let text = "The ad is a V3 ad, which an update cannot convert to V4.".to_owned();
                let migrate = if *into_category { "Migrate the ad first, or send" } else { "Send" };
                let cure = format!("{migrate} another source_id; then the V3 ad is one that the stock does not name.");
                stated("source_id", Code::IncompatibleApiVersion, text, &cure)
            }
            Self::OtherCategory { id } => {
                let text = format!("Cannot be changed (it is {id}).");
                stated("category_id", Code::Immutable, text, "For another vehicle, send another source_id.")
            }
        }
    }
}

/// The errors of a patch. Where the patch clears a field because the payload leaves it out, they say so, and how to keep the field.
pub(super) fn of_patch(errors: &FieldErrors, patch: &Map<String, Value>, stored: &Map<String, Value>) -> Obstacle {
    let mut explained = FieldErrors::default();
    for (path, violation) in errors.violations() {
        let is_cleared = get(patch, &path).is_some_and(Value::is_null);
        let violation = match (is_cleared, get(stored, &path)) {
            (true, Some(value)) => uncleared(violation, value),
            _ => violation.clone(),
        };
        explained.add(&path, violation);
    }
    Obstacle::Fields(explained)
}

fn uncleared(violation: &Violation, value: &Value) -> Violation {
    let reason = violation.texts().into_iter().next().unwrap_or_default();
    let text = format!("Left out, but cannot be cleared: {reason}");
    let stated = match (violation.rule(), violation.code().unwrap_or(Code::Conflict)) {
        (Some(rule), code) => Violation::of_rule(rule, code, text),
        (None, code) => Violation::stated(code, text),
    };
    stated.with_note(Some(format!("To keep it, send {value}.")))
}
