//! Quotas of a dealer, which an operator may set.
//!
//! A quota keeps one dealer from filling the queue or the disks; it is not exact. The usage of a dealer is counted at most once a
//! second, and what this process adds in between is added to the count. So a quota costs next to nothing, and may be exceeded by
//! concurrent requests, and by what other processes add within a second. A request is refused only by a count that is younger
//! than 100 ms.
//!
//! The bytes of kept answers are bounded otherwise: no request is refused, the oldest answers go.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::{
    lock::locked,
    model::Timestamp,
    ports::{Clock, Image, Store, StoreError, Usage},
};

/// How long a count is used while it is below the quota.
const RECOUNT: Duration = Duration::from_secs(1);

/// Maximum age of a count by which a request is refused.
const FRESH: Duration = Duration::from_millis(100);

/// Part of the quota of bytes of kept answers that a process adds before it removes the oldest: one in so many.
const PARTS: u64 = 4;

/// Number of counts in memory above which outdated ones are removed.
const MOST_KEPT: usize = 10_000;

/// Quotas of each dealer; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DealerQuotas {
    /// Most unfinished requests, over all ads of the dealer.
    pub requests: Option<u64>,
    /// Ads that are not deleted.
    pub ads: Option<u64>,
    /// Bytes of stored images; an image counts once.
    pub image_bytes: Option<u64>,
    /// Kept answers of requests with an idempotency key.
    pub answers: Option<u64>,
    /// Bytes of kept answers; the oldest make room for the newest.
    pub answer_bytes: Option<u64>,
}

/// Enforces the quotas of dealers.
#[derive(derive_more::Debug)]
#[debug("Quotas {{ limits: {limits:?}, .. }}")]
pub struct Quotas {
    limits: DealerQuotas,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    counts: Mutex<HashMap<(String, Usage), UsageCount>>,
    /// Bytes of answers that this process has added since it last removed the oldest, by the holder of the keys.
    answers: Mutex<HashMap<String, u64>>,
}

/// The usage of a dealer when it was counted, and what was added since.
#[derive(Debug, Clone, Copy)]
struct UsageCount {
    at: Timestamp,
    counted: u64,
    added: u64,
}

/// A quota is used up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct QuotaExceeded {
    /// The resource that is used up.
    pub of: Usage,
    /// Code of the dealer, or the holder of the keys for [`Usage::Answers`].
    pub dealer_code: String,
    /// The value of the quota, in the unit of [`Usage`].
    pub limit: u64,
    /// What the dealer has; counting stops just above the quota.
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
            Usage::Answers => write!(
                formatter,
                "{used} idempotency keys are in use with the token's {dealer_code}, and at most {limit} are allowed \
                 (dealer_idempotency_keys). Each is removed after idempotency_keys_kept, or earlier when the answers exceed \
                 dealer_idempotency_bytes; until then send requests without a key."
            ),
            Usage::ImageBytes => write!(
                formatter,
                "dealer \"{dealer_code}\" has {used} bytes of stored images, and with this one there would be more than the \
                 {limit} bytes that are allowed (dealer_image_bytes); ask the operator for a larger quota, then retry the ad"
            ),
        }
    }
}

/// Why an addition is refused.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// With this addition, the usage would exceed the quota.
    #[error(transparent)]
    Exceeded(#[from] QuotaExceeded),
    /// The usage could not be counted.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Quotas {
    /// Quotas, by what a store counts.
    pub fn new(quotas: DealerQuotas, store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { limits: quotas, store, clock, counts: Mutex::default(), answers: Mutex::default() }
    }

    fn limit(&self, of: Usage) -> Option<u64> {
        match of {
            Usage::Requests => self.limits.requests,
            Usage::Ads => self.limits.ads,
            Usage::ImageBytes => self.limits.image_bytes,
            Usage::Answers => self.limits.answers,
        }
    }

    /// Checks that an addition is within a dealer's quota.
    ///
    /// # Errors
    /// [`NotAdmitted`] when it is not, or when the usage cannot be counted.
    pub async fn admit(&self, dealer_code: &str, of: Usage, more: u64) -> Result<(), NotAdmitted> {
        let Some(limit) = self.limit(of) else { return Ok(()) };
        let now = self.clock.now();
        let within = |used: u64| used.saturating_add(more) <= limit;
        let exceeded = |used| Err(QuotaExceeded { of, dealer_code: dealer_code.to_owned(), limit, used }.into());
        let known = locked(&self.counts).get(&(dealer_code.to_owned(), of)).copied();
        // A count from the future was made before the clock was set back.
        if let Some(UsageCount { at, counted, added }) = known.filter(|count| count.at <= now) {
            let age = now - at;
            if age < RECOUNT && within(counted.saturating_add(added)) {
                return Ok(());
            }
            if age < FRESH && added == 0 && !within(counted) {
                return exceeded(counted);
            }
        }
        let counted = self.store.usage(dealer_code, of, limit.saturating_add(1)).await?;
        let mut counts = locked(&self.counts);
        if counts.len() >= MOST_KEPT {
            counts.retain(|_, count| count.at <= now && now - count.at < RECOUNT);
        }
        counts.insert((dealer_code.to_owned(), of), UsageCount { at: now, counted, added: 0 });
        drop(counts);
        if within(counted) { Ok(()) } else { exceeded(counted) }
    }

    /// Adds to the count of what a dealer uses, after the store has committed it.
    pub fn added(&self, dealer_code: &str, of: Usage, more: u64) {
        if self.limit(of).is_some()
            && let Some(count) = locked(&self.counts).get_mut(&(dealer_code.to_owned(), of))
        {
            count.added = count.added.saturating_add(more);
        }
    }

    /// Makes room for an answer of a holder of keys: removes the oldest, if this process would otherwise have added more than a part of the
    /// quota since it last did, or if it never did. So one process keeps the answers within the quota, and each further one may exceed it
    /// by a part. The newest three quarters stay.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot remove them.
    pub async fn make_room_for_answer(&self, holder: &str, bytes: u64) -> Result<(), StoreError> {
        let Some(limit) = self.limits.answer_bytes else { return Ok(()) };
        let part = limit / PARTS;
        {
            let mut added = locked(&self.answers);
            if let Some(added) = added.get_mut(holder).filter(|added| **added + bytes <= part) {
                *added += bytes;
                return Ok(());
            }
            if added.len() >= MOST_KEPT {
                added.clear();
            }
            added.insert(holder.to_owned(), bytes);
        }
        // Whoever comes next does it again, if this fails or its client leaves.
        let unless_done = ForgetAnswers { quotas: self, holder };
        self.store.trim_answers(holder, limit - part).await?;
        std::mem::forget(unless_done);
        Ok(())
    }

    /// Checks that an image is within a dealer's quota. An image that the dealer has stored before always is.
    ///
    /// # Errors
    /// [`NotAdmitted`] when it is not, or when the usage cannot be counted.
    pub async fn admit_image(&self, dealer_code: &str, image: &Image) -> Result<(), NotAdmitted> {
        let admitted = self.admit(dealer_code, Usage::ImageBytes, image.bytes.len() as u64).await;
        if matches!(admitted, Err(NotAdmitted::Exceeded(_)))
            && self.store.has_dealer_image(dealer_code, &image.checksum.to_string()).await?
        {
            return Ok(());
        }
        admitted
    }

    /// Records that an image of a dealer was stored.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot record it.
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
}

/// Forgets, when dropped, what a process has added to the answers of a holder.
struct ForgetAnswers<'a> {
    quotas: &'a Quotas,
    holder: &'a str,
}

impl Drop for ForgetAnswers<'_> {
    fn drop(&mut self) {
        locked(&self.quotas.answers).remove(self.holder);
    }
}
