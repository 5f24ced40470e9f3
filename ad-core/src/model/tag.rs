/// The state of an ad that an answer shows (extensions E3.1). Two answers about an ad with the same tag show the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, derive_more::Display)]
#[display("{revision}.{n}")]
pub struct AdTag {
    /// Number of accepted changes of the content.
    pub revision: i64,
    /// Moves with every other visible change: log entries, state, listing ids, images, `updated`.
    pub n: i64,
}
