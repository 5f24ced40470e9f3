//! Locking of mutexes, also of those that a panic has poisoned.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also a poisoned one: each lock is held for one change that is made completely or not at all.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
