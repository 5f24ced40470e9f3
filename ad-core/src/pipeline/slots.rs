//! Slots: an ad of a dealer that has a tariff with `slots` is published only while fewer of its ads are live (extensions E9).
//!
//! An ad without a slot ends its request with [`Code::SlotsExceeded`](crate::violation::Code::SlotsExceeded) and waits. When a slot is free, a [`SlotKeeper`] accepts a retry
//! of the ad that has waited longest, which takes the slot like any other request.

use std::sync::Arc;

use super::{Pipeline, RequestRun};
use crate::{
    model::{AdState, Dealer, Plan, Request},
    ports::{
        Clock, DealerDirectory, Ids, LogEntries, Revision, Scope, SlotRequest, SlotStore, Store, StoreError, StoredAd,
    },
    status,
};

/// Most retries that a keeper accepts for one dealer in a row.
const AT_ONCE: u32 = 100;

/// The slots of dealers, by what their operator has set.
#[derive(Clone, derive_more::Debug)]
#[debug("DealerSlots {{ .. }}")]
pub struct DealerSlots {
    /// The dealers with their tariffs.
    pub dealers: Arc<dyn DealerDirectory>,
    /// Counts the slots.
    pub store: Arc<dyn SlotStore>,
}

/// The number of slots of a dealer; `None`: any number of its ads may be live.
fn slots_of(dealer: Option<Arc<Dealer>>) -> Option<u32> {
    dealer?.tariff.as_ref()?.slots
}

impl Pipeline {
    /// Whether a dealer has slots, so that publishing begins with taking one.
    pub(super) fn has_slots(&self, dealer_code: &str) -> bool {
        self.slots.as_ref().is_some_and(|slots| slots_of(slots.dealers.dealer(dealer_code)).is_some())
    }
}

impl RequestRun<'_> {
    /// Takes a slot for an ad that is about to be published and is not listed anywhere. Returns why there is none. Once publishing has
    /// started, the ad has its slot, or a marketplace may have it without one.
    pub(super) async fn missing_slot(&self) -> Result<Option<String>, StoreError> {
        let Some(slots) = &self.pipeline.slots else { return Ok(None) };
        let StoredAd { ad, publication, .. } = &self.claimed.stored;
        let publication = self.publication.as_ref().unwrap_or(publication);
        let Some(most) = slots_of(slots.dealers.dealer(&ad.dealer_code)).filter(|_| !publication.is_listed()) else {
            return Ok(None);
        };
        let request = &self.claimed.request;
        let wanted = SlotRequest {
            ad: ad.id,
            dealer_code: &ad.dealer_code,
            request: request.id,
            most,
            accepted: request.accepted,
            waits: publication.waits_for_slot(),
            now: self.pipeline.ports.clock.now(),
        };
        if slots.store.take_slot(wanted).await? {
            return Ok(None);
        }
        let slots = if most == 1 { "slot" } else { "slots" };
        Ok(Some(format!(
            "The dealer has {most} {slots} for live ads, and none is free for this ad; the service publishes it when one is"
        )))
    }
}

/// Publishes ads that wait for a slot, once one is free. Several processes may have one.
#[derive(Clone, derive_more::Debug)]
#[debug("SlotKeeper {{ .. }}")]
pub struct SlotKeeper {
    /// What the pipeline takes slots from.
    pub slots: DealerSlots,
    /// Accepts the retries.
    pub store: Arc<dyn Store>,
    /// When they are accepted.
    pub clock: Arc<dyn Clock>,
    /// Their ids.
    pub ids: Arc<dyn Ids>,
}

impl SlotKeeper {
    /// Accepts a retry of ads for which a slot is free, those that have waited longest first. Ads of suspended dealers wait on. Returns
    /// whether there may be more.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn publish_waiting(&self) -> Result<bool, StoreError> {
        let DealerSlots { dealers, store } = &self.slots;
        let mut more = false;
        for dealer_code in store.dealers_waiting_for_slots().await? {
            if dealers.suspended(&dealer_code).is_some() {
                continue;
            }
            let most = slots_of(dealers.dealer(&dealer_code));
            let next = store.next_for_slots(&dealer_code, most, AT_ONCE).await?;
            more |= next.len() == AT_ONCE as usize;
            for source_id in next {
                self.retry(&dealer_code, &source_id).await?;
            }
        }
        Ok(more)
    }

    /// Accepts a retry of an ad, unless the ad does not wait any more.
    async fn retry(&self, dealer_code: &str, source_id: &str) -> Result<(), StoreError> {
        let found = self.store.find(Scope::Dealer(dealer_code), source_id, LogEntries::Omitted).await?;
        let Some((StoredAd { ad, revision, intent, words, .. }, _)) = found.into_iter().next() else { return Ok(()) };
        if !words.waits_for_slot() || intent == AdState::Deleted {
            return Ok(());
        }
        let mut request = Request::new(self.ids.next(), None, self.clock.now());
        // It publishes, and repeats no failed promotion, which would cost something.
        request.progress.paid = Some(Plan { actions: Vec::new(), markets: Vec::new() });
        let retry = Revision {
            ad: ad.id,
            dealer_code,
            revision,
            content: None,
            quality_score: None,
            price_before: None,
            replaced: None,
            version: None,
            intent: None,
            pole_position_until: None,
            words: status::accepted(&ad),
            updated: request.accepted,
            request: &request,
            coalesces: true,
            reservation: None,
            answer: None,
        };
        match self.store.revise(retry).await {
            // Another process, or a client, was first.
            Ok(()) | Err(StoreError::Conflict | StoreError::Underway(_) | StoreError::QueueFull(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
