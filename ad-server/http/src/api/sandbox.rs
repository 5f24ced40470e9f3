//! Failures of the API itself that source ids select: `fault-api-<status>`, then `-<n>x`, then anything. In a sandbox only.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::{lock::locked, ports::StoreError, service::Access};

use super::ApiError;
use crate::sandbox::{FaultCounts, PREFIX, times};
use ad_server_access::auth::TokenError;
use ad_server_base::values::Rate;

/// A rate limit that every request exceeds.
const RATE: Rate =
    Rate { requests: NonZeroU32::new(1).unwrap(), per: Duration::from_secs(1), burst: NonZeroU32::new(1).unwrap() };

/// Fails requests about ads whose source ids ask for it.
#[derive(Debug, Clone, Default)]
pub struct ApiFaults {
    /// By dealer or group, and source id.
    counts: Arc<Mutex<FaultCounts<(String, String)>>>,
}

impl ApiFaults {
    /// Whether a request about this ad succeeds.
    ///
    /// # Errors
    /// The failure that its source id selects.
    pub(super) fn check(&self, access: &Access, source_id: &str) -> Result<(), ApiError> {
        let Some(words) = source_id.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix("api-")) else {
            return Ok(());
        };
        let mut words = words.split('-');
        let error = match words.next() {
            Some("401") => ApiError::InvalidToken(TokenError::Expired),
            Some("429") => ApiError::TooMany { rate: RATE, seconds: 1 },
            Some("503") => StoreError::Unavailable("fault injected".into()).into(),
            _ => return Ok(()),
        };
        if let Some(times) = words.next().and_then(times) {
            let key = (access.name().to_owned(), source_id.to_owned());
            let mut counts = locked(&self.counts);
            if !counts.is_among_first(times, key) {
                return Ok(());
            }
        }
        tracing::info!(source_id, %error, "fault injected");
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use ad_core::violation::Code;

    use super::*;

    #[test]
    fn a_source_id_selects_a_failure_for_some_or_all_requests() {
        let faults = ApiFaults::default();
        let check = |dealer: &str, source_id: &str| {
            faults.check(&Access::Dealer(dealer.to_owned()), source_id).err().map(|error| error.code())
        };
        for (source_id, code) in [
            ("fault-api-401-car1", Some(Code::TokenInvalid)),
            ("fault-api-429", Some(Code::RateLimited)),
            ("fault-api-503-car1", Some(Code::Unavailable)),
            ("fault-api-500-car1", None),
            ("fault-api-", None),
            ("fault-503-car1", None),
            ("api-503-car1", None),
        ] {
            assert_eq!([check("a", source_id), check("a", source_id)], [code, code], "{source_id}");
        }
        let twice = [(); 3].map(|()| check("a", "fault-api-503-2x-car1"));
        assert_eq!(twice, [Some(Code::Unavailable), Some(Code::Unavailable), None]);
        assert_eq!(check("b", "fault-api-503-2x-car1"), Some(Code::Unavailable), "each dealer by itself");
    }
}
