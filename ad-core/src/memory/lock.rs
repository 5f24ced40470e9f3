//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Every lock here is held for one change that either happens or does not, so a panic elsewhere leaves nothing half done.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
