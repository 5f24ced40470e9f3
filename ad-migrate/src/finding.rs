//! Findings about a row: why it is invalid, or what is probably unintended.

pub use ad_files::Severity;
use serde::{Deserialize, Serialize};

/// A finding about a row. Programs read its members, so their names are stable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Whether the row is valid.
    pub severity: Severity,
    /// What rows with the same problem have in common, without any data of this row: `image address is not https`.
    pub reason: String,
    /// The columns or paths of the file.
    pub columns: Vec<String>,
    /// The value in the file, shortened if it is long.
    pub value: Option<String>,
    /// The field of the ad, as a dotted path, such as `category_fields.brand`.
    pub field: Option<String>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl Finding {
    /// A finding without columns, value, field and advice.
    pub fn new(severity: Severity, reason: impl Into<String>, message: impl Into<String>) -> Self {
        let (reason, message) = (reason.into(), message.into());
        Self { severity, reason, columns: Vec::new(), value: None, field: None, message, advice: None }
    }
}
