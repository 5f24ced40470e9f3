use std::fmt;

/// The state of an ad that an answer shows (extensions E3.1). Two answers about an ad with the same tag show the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AdTag {
    /// Number of accepted changes of the content.
    pub revision: i64,
    /// Moves with every other visible change: log entries, state, listing ids, images, `updated`.
    pub n: i64,
}

impl fmt::Display for AdTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.revision, self.n)
    }
}
