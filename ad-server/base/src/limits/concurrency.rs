//! How many there may be at the same time.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex},
};

use ad_core::lock::locked;

/// Counts what exists at the same time: altogether, and of each key, such as a dealer or an address. Clones share the counts.
#[derive(Debug)]
pub struct ConcurrencyLimit<K>(Arc<Counted<K>>);

#[derive(Debug)]
struct Counted<K> {
    total: usize,
    per_key: usize,
    counts: Mutex<SlotCounts<K>>,
}

#[derive(Debug)]
struct SlotCounts<K> {
    all: usize,
    /// Counts of keys that hold slots; a count of zero is removed.
    of_keys: HashMap<K, usize>,
}

/// One of what is counted; dropping it frees its slot.
#[derive(Debug)]
pub struct Slot<K: Eq + Hash> {
    limit: ConcurrencyLimit<K>,
    key: Option<K>,
}

/// The maximum that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// This maximum of all keys together.
    Total(usize),
    /// This maximum of one key.
    Key(usize),
}

impl<K> Clone for ConcurrencyLimit<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash> ConcurrencyLimit<K> {
    /// So many in all, and so many of each key.
    pub fn new(total: usize, per_key: usize) -> Self {
        let counts = Mutex::new(SlotCounts { all: 0, of_keys: HashMap::new() });
        Self(Arc::new(Counted { total, per_key, counts }))
    }

    /// The maximum of all together.
    pub fn total(&self) -> usize {
        self.0.total
    }

    /// Slots that are taken now, of all keys.
    pub fn count(&self) -> usize {
        locked(&self.0.counts).all
    }
}

impl<K: Eq + Hash + Clone> ConcurrencyLimit<K> {
    /// A slot for one more of a key; without a key, only the total counts.
    ///
    /// # Errors
    /// The maximum that is reached, first that of the key.
    pub fn try_take(&self, key: Option<K>) -> Result<Slot<K>, Exceeded> {
        let Counted { total, per_key, counts } = &*self.0;
        let mut counts = locked(counts);
        let of_key = key.as_ref().and_then(|key| counts.of_keys.get(key)).copied().unwrap_or_default();
        if key.is_some() && of_key >= *per_key {
            return Err(Exceeded::Key(*per_key));
        }
        if counts.all >= *total {
            return Err(Exceeded::Total(*total));
        }
        counts.all += 1;
        if let Some(key) = &key {
            counts.of_keys.insert(key.clone(), of_key + 1);
        }
        Ok(Slot { limit: self.clone(), key })
    }

    /// The keys that have room for fewer than so many more.
    pub fn nearly_full(&self, more: usize) -> Vec<K> {
        let has_room = |count: usize| count + more <= self.0.per_key;
        let counts = locked(&self.0.counts);
        counts.of_keys.iter().filter(|(_, count)| !has_room(**count)).map(|(key, _)| key.clone()).collect()
    }
}

impl<K: Eq + Hash> Drop for Slot<K> {
    fn drop(&mut self) {
        let mut counts = locked(&self.limit.0.counts);
        counts.all -= 1;
        let Some(key) = &self.key else { return };
        if let Some(count) = counts.of_keys.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                counts.of_keys.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_and_all_together_have_a_limit() {
        let limit = ConcurrencyLimit::new(3, 2);
        let first = [limit.try_take(Some("a")).unwrap(), limit.try_take(Some("a")).unwrap()];
        assert_eq!(limit.try_take(Some("a")).unwrap_err(), Exceeded::Key(2));
        let other = limit.try_take(Some("b")).unwrap();
        for key in [Some("b"), None] {
            assert_eq!(limit.try_take(key).unwrap_err(), Exceeded::Total(3));
        }
        assert_eq!((limit.count(), limit.nearly_full(1), limit.nearly_full(0).len()), (3, vec!["a"], 0));
        drop((first, other));
        assert!(limit.count() == 0 && locked(&limit.0.counts).of_keys.is_empty());
        assert!(limit.try_take(None).is_ok());
    }
}
