//! One at a time of each key.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use ad_core::lock::locked;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Locks by key, such as an ad. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct KeyedLocks(Arc<Mutex<HashMap<String, Arc<AsyncMutex<()>>>>>);

/// The lock of a key; dropping it releases it.
#[derive(Debug)]
pub struct KeyedLock {
    locks: KeyedLocks,
    key: String,
    guard: Option<OwnedMutexGuard<()>>,
}

impl KeyedLocks {
    /// Waits until nobody else has the lock of this key.
    pub async fn lock(&self, key: String) -> KeyedLock {
        let lock = Arc::clone(locked(&self.0).entry(key.clone()).or_default());
        let mut held = KeyedLock { locks: self.clone(), key, guard: None };
        held.guard = Some(lock.lock_owned().await);
        held
    }
}

impl Drop for KeyedLock {
    fn drop(&mut self) {
        self.guard = None;
        let mut all = locked(&self.locks.0);
        if all.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            all.remove(&self.key);
        }
    }
}
