//! What one dealer may have at most, where an operator sets it.
//!
//! A quota keeps one dealer from filling the queue or the disks; it is no exact account. What a dealer has is counted at most
//! once a second, and what this process adds in between is added to it. So a quota costs next to nothing, and may be exceeded by
//! what is on its way at the same moment, and by what other processes add within a second. Nothing is refused by a count that is
//! not fresh (100 ms).

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::{
    model::Timestamp,
    ports::{Clock, Image, Store, StoreError, Usage},
};

/// How long a count serves as long as it leaves room.
const RECOUNT: Duration = Duration::from_secs(1);

/// How old a count may be by which something is refused.
const FRESH: Duration = Duration::from_millis(100);

/// Dealers whose counts are kept; beyond that those are dropped that are too old to serve.
const MOST_KEPT: usize = 10_000;

/// The most of each that a dealer may have; `None`: any amount.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DealerQuotas {
    /// Unfinished requests.
    pub requests: Option<u64>,
    /// Ads that are not deleted.
    pub ads: Option<u64>,
    /// Bytes of stored images; the same image counts once.
    pub image_bytes: Option<u64>,
}

/// Holds dealers to their quotas.
pub struct Quotas {
    limits: DealerQuotas,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    counts: Mutex<HashMap<(String, Usage), Count>>,
}

/// What a dealer had when it was counted, and what was added since.
#[derive(Debug, Clone, Copy)]
struct Count {
    at: Timestamp,
    counted: u64,
    added: u64,
}

/// A quota is used up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct QuotaExceeded {
    /// Of what.
    pub of: Usage,
    /// The dealer.
    pub dealer_code: String,
    /// The quota.
    pub limit: u64,
    /// What the dealer has; counting ends a little above the quota.
    pub used: u64,
}

impl fmt::Display for QuotaExceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, dealer_code, limit, used } = self;
        match of {
            Usage::Requests => write!(
                formatter,
                "Dealer \"{dealer_code}\" has {used} unfinished requests, and at most {limit} are accepted (dealer_requests). \
                 Wait until some of them are finished, then send this one again."
            ),
            Usage::Ads => write!(
                formatter,
                "Dealer \"{dealer_code}\" has {used} ads that are not deleted, and at most {limit} are allowed (dealer_ads). \
                 Delete ads that are not needed any more, or ask the operator for a larger quota."
            ),
            Usage::ImageBytes => write!(
                formatter,
                "dealer \"{dealer_code}\" has {used} bytes of stored images, and with this one there would be more than the \
                 {limit} bytes that are allowed (dealer_image_bytes); ask the operator for a larger quota, then retry the ad"
            ),
        }
    }
}

/// Why something is not admitted.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// The quota.
    #[error(transparent)]
    Exceeded(#[from] QuotaExceeded),
    /// It could not be counted.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl fmt::Debug for Quotas {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Quotas").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Quotas {
    /// Holds dealers to these, by what a store has of them.
    pub fn new(quotas: DealerQuotas, store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { limits: quotas, store, clock, counts: Mutex::default() }
    }

    /// The quota of something.
    fn limit(&self, of: Usage) -> Option<u64> {
        match of {
            Usage::Requests => self.limits.requests,
            Usage::Ads => self.limits.ads,
            Usage::ImageBytes => self.limits.image_bytes,
        }
    }

    /// Whether so much more is within a dealer's quota.
    ///
    /// # Errors
    /// [`NotAdmitted`] when it is not, or cannot be counted.
    pub async fn admit(&self, dealer_code: &str, of: Usage, more: u64) -> Result<(), NotAdmitted> {
        let Some(limit) = self.limit(of) else { return Ok(()) };
        let now = self.clock.now();
        let within = |used: u64| used.saturating_add(more) <= limit;
        let exceeded = |used| Err(QuotaExceeded { of, dealer_code: dealer_code.to_owned(), limit, used }.into());
        let known = self.counts().get(&(dealer_code.to_owned(), of)).copied();
        // One from the future was made by a clock that has been set back.
        if let Some(Count { at, counted, added }) = known.filter(|count| count.at <= now) {
            let age = now - at;
            if age < RECOUNT && within(counted.saturating_add(added)) {
                return Ok(());
            }
            if age < FRESH && added == 0 && !within(counted) {
                return exceeded(counted);
            }
        }
        let counted = self.store.usage(dealer_code, of, limit.saturating_add(1)).await?;
        let mut counts = self.counts();
        if counts.len() >= MOST_KEPT {
            counts.retain(|_, count| count.at <= now && now - count.at < RECOUNT);
        }
        counts.insert((dealer_code.to_owned(), of), Count { at: now, counted, added: 0 });
        drop(counts);
        if within(counted) { Ok(()) } else { exceeded(counted) }
    }

    /// So much was added to what a dealer has.
    pub fn added(&self, dealer_code: &str, of: Usage, more: u64) {
        if self.limit(of).is_some()
            && let Some(count) = self.counts().get_mut(&(dealer_code.to_owned(), of))
        {
            count.added = count.added.saturating_add(more);
        }
    }

    /// Whether an image is within a dealer's quota. One that the dealer has stored before always is.
    ///
    /// # Errors
    /// [`NotAdmitted`] when it is not, or cannot be counted.
    pub async fn admit_image(&self, dealer_code: &str, image: &Image) -> Result<(), NotAdmitted> {
        let admitted = self.admit(dealer_code, Usage::ImageBytes, image.bytes.len() as u64).await;
        if matches!(admitted, Err(NotAdmitted::Exceeded(_)))
            && self.store.has_dealer_image(dealer_code, &image.checksum.to_string()).await?
        {
            return Ok(());
        }
        admitted
    }

    /// An image of a dealer was stored.
    ///
    /// # Errors
    /// [`StoreError`] when that cannot be remembered.
    pub async fn image_stored(&self, dealer_code: &str, image: &Image) -> Result<(), StoreError> {
        if self.limits.image_bytes.is_none() {
            return Ok(());
        }
        let bytes = image.bytes.len() as u64;
        if self.store.add_dealer_image(dealer_code, &image.checksum.to_string(), bytes).await? {
            self.added(dealer_code, Usage::ImageBytes, bytes);
        }
        Ok(())
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, HashMap<(String, Usage), Count>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
