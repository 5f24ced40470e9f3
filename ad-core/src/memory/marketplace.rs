//! A marketplace in memory, for tests and embedding.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    sync::Mutex,
};

use async_trait::async_trait;
use uuid::Uuid;

use crate::{
    lock::locked,
    model::{Market, Timestamp},
    ports::{Answered, IdempotencyKey, Listing, Marketplace, MarketplaceError, PlateListing, PublishedByPlate},
};

/// A listing of a marketplace in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryListing {
    /// Its id, such as `primary-1`.
    pub id: String,
    /// Code of the listing's dealer.
    pub dealer_code: String,
    /// The licence plate, in upper case without spaces.
    pub plate: Option<String>,
    /// Title of the ad; empty if it has none.
    pub title: String,
    /// Addresses of its images, in display order.
    pub images: Vec<String>,
    /// The ad that it shows; `None` for a listing that this service did not publish.
    pub reference: Option<Uuid>,
    /// Whether buyers see it; `false` once it is unpublished.
    pub shown: bool,
    /// End of its pole position.
    pub pole_position_until: Option<Timestamp>,
    /// Its rank in the order; the greatest comes first.
    rank: u64,
}

/// The kind of a call that changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Publishes a listing, or updates that of the same ad.
    Publish,
    /// Updates the data of a listing.
    Update,
    /// Removes a listing from sight.
    Unpublish,
    /// Moves a listing to the first place.
    Bump,
    /// Gives a listing pole position.
    Boost,
}

/// A call that changed something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The idempotency key of the call.
    pub key: IdempotencyKey,
    /// The kind of the call.
    pub operation: Operation,
    /// Id of the listing, such as `primary-1`.
    pub listing: String,
}

/// A marketplace that records all calls, and fails on demand.
#[derive(Debug)]
pub struct MemoryMarketplace {
    market: Market,
    state: Mutex<MarketplaceState>,
}

#[derive(Debug, Default)]
struct MarketplaceState {
    listings: Vec<MemoryListing>,
    last_rank: u64,
    calls: Vec<Call>,
    answers: HashMap<String, String>,
    faults: VecDeque<Fault>,
}

#[derive(Debug)]
struct Fault {
    error: MarketplaceError,
    /// Whether the call is applied and only its answer is lost.
    applied: bool,
}

impl MemoryMarketplace {
    /// A marketplace without listings.
    pub fn new(market: Market) -> Self {
        Self { market, state: Mutex::default() }
    }

    /// Adds a listing that this service did not publish, and returns its id.
    pub fn preset(&self, dealer_code: &str, plate: &str, title: &str) -> String {
        let mut state = locked(&self.state);
        let listing = state.add(self.market);
        dealer_code.clone_into(&mut listing.dealer_code);
        title.clone_into(&mut listing.title);
        listing.plate = Some(crate::model::plate(plate));
        listing.id.clone()
    }

    /// Makes the next write fail without effect. Several calls apply to successive writes.
    pub fn fail_next(&self, error: MarketplaceError) {
        locked(&self.state).faults.push_back(Fault { error, applied: false });
    }

    /// Makes the next write take effect and return an error, as if its answer was lost. Several calls apply to successive writes.
    pub fn lose_next_answer(&self, error: MarketplaceError) {
        locked(&self.state).faults.push_back(Fault { error, applied: true });
    }

    /// The visible listings in display order: those with pole position first, then the latest published or bumped.
    pub fn shown(&self, now: Timestamp) -> Vec<MemoryListing> {
        let state = locked(&self.state);
        let mut shown: Vec<_> = state.listings.iter().filter(|listing| listing.shown).cloned().collect();
        let has_pole = |listing: &MemoryListing| listing.pole_position_until.is_some_and(|until| until > now);
        shown.sort_by_key(|listing| std::cmp::Reverse((has_pole(listing), listing.rank)));
        shown
    }

    /// A listing by its id, visible or not.
    pub fn listing(&self, id: &str) -> Option<MemoryListing> {
        locked(&self.state).get(id).map(|listing| listing.clone())
    }

    /// Every call that changed something, in order.
    pub fn calls(&self) -> Vec<Call> {
        locked(&self.state).calls.clone()
    }

    /// Applies a write once per key. Only applied calls are recorded: a refused call may be repeated with other content.
    fn apply(
        &self,
        key: IdempotencyKey,
        operation: Operation,
        act: impl FnOnce(&mut MarketplaceState) -> Result<String, MarketplaceError>,
    ) -> Result<String, MarketplaceError> {
        let mut state = locked(&self.state);
        if let Some(answer) = state.answers.get(&key.to_string()) {
            return Ok(answer.clone());
        }
        let fault = state.faults.pop_front();
        if let Some(Fault { error, applied: false }) = fault {
            return Err(error);
        }
        let listing = act(&mut state)?;
        state.answers.insert(key.to_string(), listing.clone());
        state.calls.push(Call { key, operation, listing: listing.clone() });
        fault.map_or(Ok(listing), |fault| Err(fault.error))
    }
}

impl MarketplaceState {
    fn add(&mut self, market: Market) -> &mut MemoryListing {
        let index = self.listings.len();
        self.last_rank += 1;
        self.listings.push(MemoryListing {
            id: format!("{market}-{}", index + 1),
            dealer_code: String::new(),
            plate: None,
            title: String::new(),
            images: Vec::new(),
            reference: None,
            shown: true,
            pole_position_until: None,
            rank: self.last_rank,
        });
        &mut self.listings[index]
    }

    fn publish(&mut self, market: Market, listing: Listing<'_>) -> String {
        let own = self.listings.iter().position(|known| known.reference == Some(listing.ad.id));
        let place = match own {
            Some(index) => &mut self.listings[index],
            None => self.add(market),
        };
        place.show(listing)
    }

    fn get(&mut self, id: &str) -> Option<&mut MemoryListing> {
        self.listings.iter_mut().find(|listing| listing.id == id)
    }

    /// The visible listing of a dealer with a plate: first one that shows no ad, then that of this ad.
    fn by_plate(&self, dealer_code: &str, plate: &str, ad: Option<Uuid>) -> Option<PlateListing> {
        let of_plate = self.listings.iter().filter(|listing| {
            listing.shown && listing.dealer_code == dealer_code && listing.plate.as_deref() == Some(plate)
        });
        let found = of_plate.min_by_key(|listing| (listing.reference.is_some(), listing.reference != ad));
        found.map(|listing| PlateListing { id: listing.id.clone(), reference: listing.reference })
    }

    fn get_shown(&mut self, id: &str) -> Result<&mut MemoryListing, MarketplaceError> {
        self.get(id).filter(|listing| listing.shown).ok_or(MarketplaceError::GONE)
    }
}

impl MemoryListing {
    fn show(&mut self, listing: Listing<'_>) -> String {
        let Listing { ad, images } = listing;
        ad.dealer_code.clone_into(&mut self.dealer_code);
        self.plate = ad.content.registration_number().map(Cow::into_owned);
        ad.content.title().unwrap_or_default().clone_into(&mut self.title);
        self.images = images.iter().map(|image| image.cdn_url.clone()).collect();
        self.reference = Some(ad.id);
        self.shown = true;
        self.id.clone()
    }
}

#[async_trait]
impl Marketplace for MemoryMarketplace {
    async fn publish(&self, key: IdempotencyKey, listing: Listing<'_>) -> Result<Answered<String>, MarketplaceError> {
        self.apply(key, Operation::Publish, |state| Ok(state.publish(self.market, listing))).map(Answered::ok)
    }

    async fn publish_by_plate(
        &self,
        key: IdempotencyKey,
        listing: Listing<'_>,
        plate: &str,
    ) -> Result<Answered<Option<PublishedByPlate>>, MarketplaceError> {
        let (found, known) = {
            let state = locked(&self.state);
            let found = state.by_plate(&listing.ad.dealer_code, plate, Some(listing.ad.id));
            (found, state.calls.iter().find(|call| call.key == key).cloned())
        };
        if let Some(Call { operation, listing: id, .. }) = known {
            let linked = operation == Operation::Update;
            return Ok(Answered::ok(Some(PublishedByPlate::Shown { id, linked })));
        }
        let (id, linked) = match found {
            Some(PlateListing { id, reference: None }) => {
                self.update(key, &id, listing).await?;
                (id, true)
            }
            Some(found) if found.reference != Some(listing.ad.id) => {
                return Ok(Answered::ok(Some(PublishedByPlate::Taken(found))));
            }
            _ => (self.publish(key, listing).await?.value, false),
        };
        Ok(Answered::ok(Some(PublishedByPlate::Shown { id, linked })))
    }

    async fn update(
        &self,
        key: IdempotencyKey,
        id: &str,
        listing: Listing<'_>,
    ) -> Result<Answered<()>, MarketplaceError> {
        let update = |state: &mut MarketplaceState| Ok(state.get(id).ok_or(MarketplaceError::GONE)?.show(listing));
        self.apply(key, Operation::Update, update).map(|_| Answered::ok(()))
    }

    async fn unpublish(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError> {
        self.apply(key, Operation::Unpublish, |state| {
            if let Some(listing) = state.get(id) {
                listing.shown = false;
            }
            Ok(id.to_owned())
        })
        .map(|_| Answered::DONE)
    }

    async fn bump(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError> {
        self.apply(key, Operation::Bump, |state| {
            let rank = state.last_rank + 1;
            state.get_shown(id)?.rank = rank;
            state.last_rank = rank;
            Ok(id.to_owned())
        })
        .map(|_| Answered::DONE)
    }

    async fn boost(&self, key: IdempotencyKey, id: &str, until: Timestamp) -> Result<Answered<()>, MarketplaceError> {
        self.apply(key, Operation::Boost, |state| {
            state.get_shown(id)?.pole_position_until = Some(until);
            Ok(id.to_owned())
        })
        .map(|_| Answered::DONE)
    }

    async fn find_by_plate(
        &self,
        dealer_code: &str,
        plate: &str,
    ) -> Result<Answered<Option<PlateListing>>, MarketplaceError> {
        Ok(Answered::ok(locked(&self.state).by_plate(dealer_code, plate, None)))
    }
}
