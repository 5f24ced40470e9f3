//! How severe a finding is.

/// Whether a record with it can be sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It is rejected.
    #[default]
    Error,
    /// It is allowed but probably a mistake.
    Warning,
}
