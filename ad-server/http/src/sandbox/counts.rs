//! Failures that source ids select: `fault-` and what fails, and after how many times it succeeds.

use std::collections::HashMap;

/// Maximum number of ads whose calls are counted by rule. Beyond it, all counts are cleared.
const MOST_COUNTED: usize = 100_000;

/// What source ids begin with that select faults.
pub const PREFIX: &str = "fault-";

/// The number in a word such as `2x`: only so many calls fail.
pub fn times(word: &str) -> Option<u32> {
    word.strip_suffix('x')?.parse().ok()
}

/// How often faults that end after some calls were injected.
#[derive(Debug)]
pub struct FaultCounts<K>(HashMap<K, u32>);

impl<K> Default for FaultCounts<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + std::hash::Hash> FaultCounts<K> {
    /// Whether this call is within the limit. Then it is counted.
    pub fn is_among_first(&mut self, times: u32, key: K) -> bool {
        if self.0.len() >= MOST_COUNTED {
            self.0.clear();
        }
        let count = self.0.entry(key).or_default();
        let is_among_first = *count < times;
        *count += u32::from(is_among_first);
        is_among_first
    }
}
