//! What is to be said of a row: why it cannot go, or what is odd about it.

use serde::{Deserialize, Serialize};

/// Whether a row can go all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can, and somebody should look at it.
    Warning,
}

/// One thing to be said of a row. Its members are what programs read, so their names stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Whether the row can go.
    pub severity: Severity,
    /// What rows with the same trouble have in common, without anything of this row: `image address is not https`.
    pub reason: String,
    /// The columns or paths of the file that it came from.
    pub columns: Vec<String>,
    /// The value in the file, shortened where it is long.
    pub value: Option<String>,
    /// The field of the ad, as a dotted path, such as `category_fields.brand`.
    pub field: Option<String>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}
