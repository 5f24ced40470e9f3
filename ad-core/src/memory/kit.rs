//! All ports in memory, wired.

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
    pipeline::{Patience, Pipeline},
    ports::Clock,
    rulebook::Rulebook,
    service::Service,
};

/// A service and a pipeline over ports in memory. To bring a port of your own, put it in the pipeline's place of the
/// same name; a store, directory or ids of your own also go to [`Service::new`].
#[derive(Debug, Clone)]
pub struct Kit {
    /// Ads, logs and requests.
    pub store: Arc<MemoryStore>,
    /// The dealers.
    pub directory: Arc<MemoryDirectory>,
    /// Addresses of images.
    pub images: Arc<MemoryImages>,
    /// Stored images.
    pub media: Arc<MemoryMedia>,
    /// The primary marketplace.
    pub primary: Arc<MemoryMarketplace>,
    /// The secondary marketplace.
    pub secondary: Arc<MemoryMarketplace>,
    /// Ids of ads, images and, if you like, requests.
    pub ids: Arc<CountingIds>,
    /// The use cases.
    pub service: Service,
    /// What a worker does.
    pub pipeline: Pipeline,
}

impl Kit {
    /// Wires everything, with these dealers and the embedded catalogue.
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
        let pipeline = Pipeline {
            store: store.clone(),
            fetcher: images.clone(),
            media: media.clone(),
            primary: primary.clone(),
            secondary: secondary.clone(),
            clock,
            ids: ids.clone(),
            patience: Patience::default(),
            quotas: None,
        };
        Self { store, directory, images, media, primary, secondary, ids, service, pipeline }
    }
}
