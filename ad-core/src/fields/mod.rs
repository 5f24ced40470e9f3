//! The rule engine: a category is a table of [`Field`]s, and checking a payload against the table yields either the
//! normalised object or all of its errors.
//!
//! A row says everything about one field; validation, the `OpenAPI` document, the lookup endpoints and the reference all
//! read the same rows. What concerns several fields at once is a named rule beside the table
//! ([`Rule`](crate::categories::Rule)), not a special case of the engine.

mod check;
mod errors;
mod field;
mod open;
pub mod row;
mod tree;
mod values;
mod words;

pub use check::{CategoryTable, Check, Mode};
pub use errors::FieldErrors;
pub use field::{
    ChoiceValue, DISPLACEMENT, Direction, Field, GREATEST_COUNT, Kind, LENGTH, MILEAGE, MOST_CHARACTERS, MOST_MEASURED,
    POWER, Since, VOLUME, WEIGHT, usual_unit,
};
pub use open::{MOST_LEVELS, MOST_MEMBERS};
pub use tree::{Node, Tree};
pub(crate) use values::{as_integer, plain_host};
pub use values::{not_a_choice, shown};
pub(crate) use words::grouped;
