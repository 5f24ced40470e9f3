//! The desired stock of a dealer compared with the stored ads (extensions E8): which changes make them equal. Without I/O, and one ad at a
//! time: of a whole stock, only ids and counts are in memory.
//!
//! | Module | What it is for |
//! |---|---|
//! | `compare` | a payload and a stored ad in, the change out |
//! | `completed` | a payload with what it leaves out of an ad |
//! | `differences` | the fields in which two contents differ, and the patch from one to the other |
//! | `obstacle` | why no request can make an ad equal to its payload |
//! | `whole` | the stock as a whole: ids, counts, ads that it does not name, the limit of removals |
//!
//! ```
//! use ad_core::{rulebook::Rulebook, stock::{ChangeKind, StockComparison}};
//! use serde_json::json;
//!
//! let rulebook = Rulebook::default();
//! let stock = StockComparison { rulebook: &rulebook, dealer: None };
//! let payload = json!({"source_id": "car-1", "category_id": 1020,
//!     "category_fields": {"registration_number": "abc 123", "model_year": 2019}});
//! let change = stock.change(payload.as_object().unwrap().clone(), None);
//! assert_eq!(change.kind, ChangeKind::Create);
//! assert_eq!(change.body, payload.as_object().cloned());
//! ```
//!
//! [`StockComparison::change`] has an example of an update.

mod compare;
mod completed;
mod differences;
mod obstacle;
mod whole;

use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::{Map, Value};

pub use compare::{ExistingAd, StockComparison};
pub use completed::completed;
pub use differences::{FieldDifference, ListOrder, differences, put, same, shown};
pub use obstacle::Obstacle;
pub use whole::{AbsentAd, MissingPolicy, NamedAds, RepeatedAd, StockRefusal, is_nameable, most_removals};

pub use crate::model::{ChangeCounts, ChangeKind, Guard, MissingAds, ScoreChange};
use crate::violation::Warning;

/// What makes an ad equal to its payload.
#[derive(Debug, Clone, PartialEq)]
pub struct StockChange {
    /// What has to be done.
    pub kind: ChangeKind,
    /// The fields of an existing ad that change, with those that the service derives.
    pub fields: Vec<FieldDifference>,
    /// Why no request makes it equal, if `kind` is [`ChangeKind::Invalid`]; otherwise `None`.
    pub obstacle: Option<Obstacle>,
    /// What is probably a mistake in a create or update.
    pub warnings: Vec<Warning>,
    /// The score of the ad before and after a create or update.
    pub quality: ScoreChange,
    /// The title of the ad after a create or update.
    pub title: Option<String>,
    /// The body of the request: the payload of a POST as it came, or a PATCH with the fields that differ. Neither an unchanged or invalid ad
    /// nor a DELETE has one.
    pub body: Option<Map<String, Value>>,
}

impl StockChange {
    pub(crate) const fn of(kind: ChangeKind) -> Self {
        let quality = ScoreChange { from: None, to: None };
        Self { kind, fields: Vec::new(), obstacle: None, warnings: Vec::new(), quality, title: None, body: None }
    }

    pub(crate) fn invalid(obstacle: impl Into<Obstacle>) -> Self {
        Self { obstacle: Some(obstacle.into()), ..Self::of(ChangeKind::Invalid) }
    }
}

impl Serialize for FieldDifference {
    /// `{"pointer", "from", "to"}`, as the [record](crate::model::ValueChange) has it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("FieldDifference", 3)?;
        // Names of fields need no escapes: the tables have none with `~` or `/`.
        members.serialize_field("pointer", &format!("/{}", self.path.replace('.', "/")))?;
        members.serialize_field("from", &self.from)?;
        members.serialize_field("to", &self.to)?;
        members.end()
    }
}
