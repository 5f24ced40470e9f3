//! Locks whose values are whole at any moment.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value that every change leaves whole, so that it is consistent even after a panic under the lock.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
