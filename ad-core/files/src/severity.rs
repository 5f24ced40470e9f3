//! How severe a finding is.

/// Whether a record with it can be sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A record with it is rejected.
    #[default]
    Error,
    /// A record with it is accepted; it is probably a mistake.
    Warning,
}
