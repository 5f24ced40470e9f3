//! Slots: how many ads of a dealer are live at once (extensions E9).

use async_trait::async_trait;
use uuid::Uuid;

use super::StoreError;
use crate::model::Timestamp;

/// An ad that is to be published, and is not listed on any marketplace.
#[derive(Debug, Clone, Copy)]
pub struct SlotRequest<'a> {
    /// Internal id of the ad.
    pub ad: Uuid,
    /// Code of the ad's dealer.
    pub dealer_code: &'a str,
    /// The request that publishes it, which is unfinished.
    pub request: Uuid,
    /// Number of the dealer's slots.
    pub most: u32,
    /// When the request was accepted: ads wait in this order.
    pub accepted: Timestamp,
    /// Whether the ad waits for a slot already. Then it keeps its place.
    pub waits: bool,
    /// The present time, in UTC.
    pub now: Timestamp,
}

/// Counts the slots of dealers, and stores which ads wait for one.
///
/// An ad uses a slot while a marketplace lists it, and while the request that took the slot is unfinished. So the end of a request
/// frees the slot in its own commit unless the ad is live then, and a request that nobody executes any more loses none: it takes
/// the same slot again when it is claimed again. Slots are counted only for dealers for whom one is taken.
///
/// # Errors
/// Every method fails with [`StoreError::Unavailable`] when the store cannot be reached.
#[async_trait]
pub trait SlotStore: Send + Sync {
    /// Takes a slot for an ad, and returns whether it has one. Without a free one, or if the free ones go to ads that wait longer, the
    /// ad waits for one from now on. Of several at the same moment, in any processes, no more get one than are free.
    async fn take_slot(&self, wanted: SlotRequest<'_>) -> Result<bool, StoreError>;

    /// How many slots a dealer uses. There may be more than it has, if it had more before.
    async fn slots_used(&self, dealer_code: &str) -> Result<u64, StoreError>;

    /// The dealers with ads that wait for a slot, or have waited lately.
    async fn dealers_waiting_for_slots(&self) -> Result<Vec<String>, StoreError>;

    /// The source ids of those ads of a dealer that have waited longest, at most `at_most` and as many as there are free slots; without
    /// `most`, there is no limit of slots. Ads with an unfinished request count, and are not among them.
    async fn next_for_slots(
        &self,
        dealer_code: &str,
        most: Option<u32>,
        at_most: u32,
    ) -> Result<Vec<String>, StoreError>;
}
