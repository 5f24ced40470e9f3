//! Epochs: histories of a database without a loss.
//!
//! When a database is restored, or a standby is promoted that lacks the last commits, the numbers of what was lost come again: those of
//! transactions, of log entries, of revisions. A reader's position, the id of an event or the tag of an ad would then mean something
//! else. So a new epoch begins, and from then on all these numbers begin with that of the epoch. The database knows where it is (in
//! PostgreSQL: server, timeline and table; in SQLite: the file), and a process compares that before it uses a new connection.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use ad_core::{lock::locked, model::EventPosition};

/// The epochs of a database, as this process knows them. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Epochs(Arc<Mutex<KnownEpochs>>);

#[derive(Debug, Default)]
struct KnownEpochs {
    current: i64,
    /// The last transaction of earlier ones.
    past: BTreeMap<i64, i64>,
}

impl Epochs {
    /// Sets them from rows of [`ALL`]: the number of each epoch with its last transaction, which the present one does not have.
    pub(crate) fn set(&self, rows: impl IntoIterator<Item = (i64, Option<i64>)>) {
        let mut known = KnownEpochs::default();
        for (number, last) in rows {
            match last {
                Some(last) => drop(known.past.insert(number, last)),
                None => known.current = number,
            }
        }
        *locked(&self.0) = known;
    }

    pub(crate) fn current(&self) -> i64 {
        locked(&self.0).current
    }

    pub(crate) fn log_beginning(&self) {
        let epoch = self.current();
        tracing::warn!(
            epoch,
            "the database was restored, or a standby promoted; a new epoch of events and tags begins"
        );
    }

    /// Whether a position is of a history that is not this one's.
    pub(crate) fn has_lost(&self, position: EventPosition) -> bool {
        let known = locked(&self.0);
        let epoch = position.epoch();
        epoch != known.current && known.past.get(&epoch).is_none_or(|last| position.transaction > *last)
    }
}

/// Selects the rows for [`Epochs::set`]: all epochs, the present one without a last transaction.
pub(crate) const ALL: &str =
    "SELECT number, last_transaction FROM past_epochs UNION ALL SELECT number, CAST(NULL AS BIGINT) FROM epoch";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_epoch_has_kept_is_known_and_everything_else_is_lost() {
        let at = |epoch: i64, number: i64| EventPosition { transaction: (epoch << 40) + number, ad: 1, sequence: 1 };
        let epochs = Epochs::default();
        assert!(!epochs.has_lost(at(0, 500)) && epochs.has_lost(at(7, 1)));
        epochs.set([(0, Some(100)), (7, Some((7 << 40) + 10)), (9, None)]);
        assert_eq!(epochs.current(), 9);
        for (position, is_lost) in [
            (EventPosition::default(), false),
            (at(0, 100), false),
            (at(0, 101), true),
            (EventPosition::end_of(100), false),
            (at(7, 10), false),
            (at(7, 11), true),
            // Of a history that was lost as a whole.
            (at(8, 1), true),
            (at(9, 1_000_000), false),
            (at(10, 1), true),
        ] {
            assert_eq!(epochs.has_lost(position), is_lost, "{position:?}");
        }
    }
}
