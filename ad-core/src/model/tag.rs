use super::epoch::counted_in;

/// The state of an ad that an answer shows (extensions E3.1). Two answers about an ad with the same tag show the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, derive_more::Display)]
#[display("{revision}.{n}")]
pub struct AdTag {
    /// Number of accepted changes of the content.
    pub revision: i64,
    /// Moves with every other visible change: log entries, state, listing ids, images, `updated`.
    pub n: i64,
}

impl AdTag {
    /// The tag after a change of the content, or another one, in an [epoch](crate::ports::Store::epoch).
    pub(crate) fn after_change(self, epoch: i64, is_of_content: bool) -> Self {
        let Self { revision, n } = self;
        if is_of_content {
            Self { revision: counted_in(epoch, revision) + 1, n }
        } else {
            Self { revision, n: counted_in(epoch, n) + 1 }
        }
    }

    /// The tag of a new ad, with its first log entry.
    pub(crate) fn of_new_ad(epoch: i64) -> Self {
        Self { revision: counted_in(epoch, 0), n: counted_in(epoch, 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_later_epoch_no_tag_comes_again() {
        let tag = AdTag { revision: 5, n: 12 };
        assert_eq!(tag.after_change(0, true).to_string(), "6.12");
        assert_eq!(tag.after_change(0, false).to_string(), "5.13");
        let later = tag.after_change(3, true);
        assert_eq!(later, AdTag { revision: (3 << 40) + 6, n: 12 });
        assert_eq!(later.after_change(3, true).revision, (3 << 40) + 7);
        assert_eq!(later.after_change(4, false), AdTag { revision: (3 << 40) + 6, n: (4 << 40) + 13 });
    }
}
