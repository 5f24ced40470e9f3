//! The limits that clients have met since the process started, for operators. They are in memory and bounded: the process forgets
//! those that were met the longest time ago.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use ad_core::{lock::locked, service::Access, violation::Code};
use tokio::time::Instant;

use super::ApiError;
use ad_server_base::limits::table::is_too_much;

/// Maximum number of pairs of scope and code.
const MOST: usize = 200;

/// The limits that clients have met. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct LimitsMet(Arc<Mutex<HashMap<(Access, Code), LimitMet>>>);

/// A limit that the requests of a scope have met.
#[derive(Debug, Clone)]
pub struct LimitMet {
    /// Number of requests that were refused.
    pub times: u64,
    /// Time of the latest refusal.
    pub last: Instant,
    /// The message of the answer.
    pub detail: String,
}

impl LimitsMet {
    /// Records an error if it is one of a limit.
    pub(super) fn note(&self, scope: &Access, error: &ApiError, now: Instant) {
        let code = error.code();
        if !is_too_much(code) && !matches!(error, ApiError::Crowded(_) | ApiError::NoMemory(_)) {
            return;
        }
        let mut met = locked(&self.0);
        let key = (scope.clone(), code);
        if met.len() >= MOST && !met.contains_key(&key) {
            let oldest = met.iter().min_by_key(|(_, met)| met.last).map(|(key, _)| key.clone());
            oldest.map(|key| met.remove(&key));
        }
        let times = met.get(&key).map_or(0, |met| met.times) + 1;
        met.insert(key, LimitMet { times, last: now, detail: error.detail() });
    }

    /// All limits that were met, the latest first.
    pub fn latest(&self) -> Vec<(Access, Code, LimitMet)> {
        let met = locked(&self.0).clone();
        let mut met: Vec<_> = met.into_iter().map(|((scope, code), met)| (scope, code, met)).collect();
        met.sort_by_key(|(.., met)| std::cmp::Reverse(met.last));
        met
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn refusals_by_limits_are_counted_and_the_oldest_forgotten() {
        let (met, start) = (LimitsMet::default(), Instant::now());
        let dealer = |number: usize| Access::Dealer(number.to_string());
        let refusal = || ApiError::TooMany { rate: "30/m".parse().unwrap(), seconds: 2 };
        for number in 0..=MOST {
            met.note(&dealer(number), &refusal(), start + Duration::from_secs(number as u64));
        }
        met.note(&dealer(MOST), &refusal(), start + Duration::from_secs(1000));
        met.note(&dealer(MOST), &ApiError::not_found("none".to_owned()), start);
        let latest = met.latest();
        assert_eq!(latest.len(), MOST);
        let (scope, code, first) = &latest[0];
        assert_eq!((scope, *code, first.times), (&dealer(MOST), Code::RateLimited, 2));
        assert!(latest.iter().all(|(scope, ..)| *scope != dealer(0)));
    }
}
