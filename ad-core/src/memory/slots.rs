//! `ports::SlotStore` in memory.

use async_trait::async_trait;
use uuid::Uuid;

use super::store::{MemoryStore, Tables};
use crate::{
    lock::locked,
    model::{AdState, Timestamp},
    ports::{SlotRequest, SlotStore, StoreError, StoredAd},
};

/// What is stored about the slot of an ad.
#[derive(Debug)]
pub(super) struct SlotRow {
    /// The request that has taken it; `None`: the ad waits for one.
    request: Option<Uuid>,
    /// The request that waits, or has waited: when it was accepted.
    since: Timestamp,
}

impl Tables {
    /// Whether an ad uses a slot.
    fn uses_slot(&self, stored: &StoredAd) -> bool {
        let taken_by = self.slots.get(&stored.ad.id).and_then(|slot| slot.request);
        stored.publication.is_listed() || taken_by.is_some_and(|request| self.is_unfinished(request))
    }

    fn slots_used(&self, dealer_code: &str) -> usize {
        let of_dealer = self.stored_ads().filter(|stored| stored.ad.dealer_code == dealer_code);
        of_dealer.filter(|stored| self.uses_slot(stored)).count()
    }

    /// The ads of a dealer that wait for a slot, those that have waited longest first.
    fn waiting_for_slots(&self, dealer_code: &str) -> Vec<(Timestamp, &StoredAd)> {
        let mut waiting = Vec::new();
        for stored in self.stored_ads().filter(|stored| stored.ad.dealer_code == dealer_code) {
            let Some(slot) = self.slots.get(&stored.ad.id) else { continue };
            let is_to_be_live = stored.ad.state == AdState::Created && stored.intent == AdState::Created;
            let may_wait = stored.words.status.is_under_way() && !stored.publication.is_listed();
            if slot.request.is_none() && is_to_be_live && may_wait {
                waiting.push((slot.since, stored));
            }
        }
        // Stable: ads of the same time stay in the order of creation.
        waiting.sort_by_key(|(since, _)| *since);
        waiting
    }
}

#[async_trait]
impl SlotStore for MemoryStore {
    async fn take_slot(&self, wanted: SlotRequest<'_>) -> Result<bool, StoreError> {
        let mut tables = locked(&self.0);
        let SlotRequest { ad, dealer_code, request, most, accepted, waits, .. } = wanted;
        let (taken, waits_since) = match tables.slots.get(&ad) {
            Some(SlotRow { request: None, since }) if waits => (false, Some(*since)),
            slot => (slot.is_some_and(|slot| slot.request == Some(request)), None),
        };
        if taken {
            return Ok(true);
        }
        let since = waits_since.unwrap_or(accepted);
        tables.slots.insert(ad, SlotRow { request: None, since });
        let free = (most as usize).saturating_sub(tables.slots_used(dealer_code));
        let first = tables.waiting_for_slots(dealer_code).into_iter().take(free).any(|(_, stored)| stored.ad.id == ad);
        if first {
            tables.slots.insert(ad, SlotRow { request: Some(request), since });
        }
        Ok(first)
    }

    async fn slots_used(&self, dealer_code: &str) -> Result<u64, StoreError> {
        Ok(locked(&self.0).slots_used(dealer_code) as u64)
    }

    async fn dealers_waiting_for_slots(&self) -> Result<Vec<String>, StoreError> {
        let tables = locked(&self.0);
        let waiting = tables.slots.iter().filter(|(_, slot)| slot.request.is_none());
        let dealers = waiting.filter_map(|(ad, _)| Some(tables.stored_by_id(*ad)?.ad.dealer_code.clone()));
        let mut dealers: Vec<_> = dealers.collect();
        dealers.sort_unstable();
        dealers.dedup();
        Ok(dealers)
    }

    async fn next_for_slots(
        &self,
        dealer_code: &str,
        most: Option<u32>,
        at_most: u32,
    ) -> Result<Vec<String>, StoreError> {
        let tables = locked(&self.0);
        let free = most.map_or(usize::MAX, |most| (most as usize).saturating_sub(tables.slots_used(dealer_code)));
        let waiting = tables.waiting_for_slots(dealer_code).into_iter().take(free.min(at_most as usize));
        let settled = waiting.filter(|(_, stored)| stored.words.waits_for_slot());
        Ok(settled.map(|(_, stored)| stored.ad.source_id.clone()).collect())
    }
}
