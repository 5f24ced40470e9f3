//! All ports in memory, connected.

use std::sync::Arc;

use super::{
    clock::CountingIds,
    directory::MemoryDirectory,
    marketplace::MemoryMarketplace,
    media::{MemoryImages, MemoryMedia},
    store::MemoryStore,
};
use crate::{
    model::{Dealer, Market},
    pipeline::{DealerSlots, Pipeline, PipelinePorts, SlotKeeper},
    ports::Clock,
    rulebook::Rulebook,
    service::Service,
};

/// A service and a pipeline over ports in memory. To use a port of your own, make another [`Pipeline`] with
/// it; [`Service::new`] also takes a store, directory or ids of your own.
#[derive(Debug, Clone)]
pub struct Kit {
    /// Ads, logs, requests and kept answers.
    pub store: Arc<MemoryStore>,
    /// The dealers that the service knows; more can be added.
    pub directory: Arc<MemoryDirectory>,
    /// Add the answers of image hosts here.
    pub images: Arc<MemoryImages>,
    /// Images that the pipeline has stored.
    pub media: Arc<MemoryMedia>,
    /// Listings and calls of the primary marketplace.
    pub primary: Arc<MemoryMarketplace>,
    /// Listings and calls of the secondary marketplace.
    pub secondary: Arc<MemoryMarketplace>,
    /// Ids of ads and images, and of requests if the program has no other.
    pub ids: Arc<CountingIds>,
    /// The use cases, over these ports.
    pub service: Service,
    /// Executes accepted requests, over these ports.
    pub pipeline: Pipeline,
    /// Publishes ads that wait for a slot, when it is called.
    pub slot_keeper: SlotKeeper,
}

impl Kit {
    /// Connects all ports, with these dealers and the embedded catalogue.
    pub fn new(clock: Arc<dyn Clock>, dealers: impl IntoIterator<Item = Dealer>) -> Self {
        let store = Arc::new(MemoryStore::default());
        let directory: Arc<MemoryDirectory> = Arc::new(dealers.into_iter().collect());
        let images = Arc::new(MemoryImages::default());
        let media = Arc::new(MemoryMedia::default());
        let primary = Arc::new(MemoryMarketplace::new(Market::Primary));
        let secondary = Arc::new(MemoryMarketplace::new(Market::Secondary));
        let ids = Arc::new(CountingIds::default());
        let rulebook = Arc::new(Rulebook::default());
        let service = Service::new(store.clone(), directory.clone(), rulebook, clock.clone(), ids.clone());
        let pipeline = Pipeline::new(PipelinePorts {
            store: store.clone(),
            fetcher: images.clone(),
            media: media.clone(),
            primary: primary.clone(),
            secondary: secondary.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
        });
        let slots = DealerSlots { dealers: directory.clone(), store: store.clone() };
        let pipeline = pipeline.with_slots(slots.clone());
        let slot_keeper = SlotKeeper { slots, store: store.clone(), clock, ids: ids.clone() };
        Self { store, directory, images, media, primary, secondary, ids, service, pipeline, slot_keeper }
    }
}
