//! Ports that count, time and trace what goes through them, around any implementation.

use std::{future::Future, sync::Arc, time::Instant};

use ad_core::{
    ports::{
        Fetched, Found, Image, ImageError, ImageFetcher, ImageRequest, ImageStoreError, Key, Listing, Marketplace,
        MarketplaceError, MediaStore,
    },
    request::Market,
    time::Timestamp,
};
use async_trait::async_trait;
use tracing::{Instrument, field::Empty};

use super::{Metrics, traces::SPANS};

/// A marketplace that is watched.
pub struct ObservedMarketplace {
    inner: Arc<dyn Marketplace>,
    market: Market,
    metrics: Metrics,
}

impl std::fmt::Debug for ObservedMarketplace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ObservedMarketplace").field("market", &self.market).finish_non_exhaustive()
    }
}

impl ObservedMarketplace {
    /// Watches a marketplace.
    pub fn new(inner: Arc<dyn Marketplace>, market: Market, metrics: Metrics) -> Self {
        Self { inner, market, metrics }
    }

    async fn call<T>(
        &self,
        action: &'static str,
        key: Option<Key>,
        call: impl Future<Output = Result<T, MarketplaceError>>,
    ) -> Result<T, MarketplaceError> {
        let market = self.market.name();
        let span = tracing::debug_span!(
            target: SPANS,
            "marketplace",
            otel.name = format!("{action} {market}"),
            otel.kind = "client",
            otel.status_code = Empty,
            marketplace = market,
            action,
            outcome = Empty,
            request_id = key.map(|key| tracing::field::display(key.request)),
        );
        let begun = Instant::now();
        let result = call.instrument(span.clone()).await;
        let outcome = match &result {
            Ok(_) => "done",
            Err(MarketplaceError::Transient { .. }) => "transient",
            Err(MarketplaceError::NotAsked { .. }) => "not_asked",
            Err(MarketplaceError::Refused(_)) => "refused",
            Err(MarketplaceError::Gone | MarketplaceError::NotListed) => "gone",
        };
        span.record("outcome", outcome);
        if let Err(error) = &result {
            span.record("otel.status_code", "error");
            tracing::debug!(marketplace = market, action, outcome, %error, "marketplace call failed");
        }
        self.metrics.marketplace_called(market, action, outcome, begun.elapsed());
        result
    }
}

#[async_trait]
impl Marketplace for ObservedMarketplace {
    async fn publish(&self, key: Key, listing: Listing<'_>) -> Result<String, MarketplaceError> {
        self.call("publish", Some(key), self.inner.publish(key, listing)).await
    }

    async fn update(&self, key: Key, id: &str, listing: Listing<'_>) -> Result<(), MarketplaceError> {
        self.call("update", Some(key), self.inner.update(key, id, listing)).await
    }

    async fn unpublish(&self, key: Key, id: &str) -> Result<(), MarketplaceError> {
        self.call("unpublish", Some(key), self.inner.unpublish(key, id)).await
    }

    async fn bump(&self, key: Key, id: &str) -> Result<(), MarketplaceError> {
        self.call("bump", Some(key), self.inner.bump(key, id)).await
    }

    async fn boost(&self, key: Key, id: &str, until: Timestamp) -> Result<(), MarketplaceError> {
        self.call("boost", Some(key), self.inner.boost(key, id, until)).await
    }

    async fn find_by_plate(&self, dealer_code: &str, plate: &str) -> Result<Option<Found>, MarketplaceError> {
        self.call("find_by_plate", None, self.inner.find_by_plate(dealer_code, plate)).await
    }
}

/// A fetcher of images that is watched.
pub struct ObservedFetcher {
    inner: Arc<dyn ImageFetcher>,
    metrics: Metrics,
}

impl std::fmt::Debug for ObservedFetcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ObservedFetcher")
    }
}

impl ObservedFetcher {
    /// Watches a fetcher.
    pub fn new(inner: Arc<dyn ImageFetcher>, metrics: Metrics) -> Self {
        Self { inner, metrics }
    }
}

#[async_trait]
impl ImageFetcher for ObservedFetcher {
    async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError> {
        // Not the address: it may carry what only its host should know.
        let span = tracing::debug_span!(
            target: SPANS,
            "fetch image",
            otel.kind = "client",
            otel.status_code = Empty,
            outcome = Empty,
        );
        let begun = Instant::now();
        let result = self.inner.fetch(request).instrument(span.clone()).await;
        let outcome = match &result {
            Ok(Fetched::Image(..)) => "done",
            Ok(Fetched::Unchanged) => "unchanged",
            Err(ImageError::Transient { .. }) => "transient",
            Err(ImageError::NotAsked { .. }) => "not_asked",
            Err(ImageError::Unusable(_)) => "unusable",
        };
        span.record("outcome", outcome);
        if let Err(error) = &result {
            span.record("otel.status_code", "error");
            tracing::debug!(outcome, %error, "image fetch failed");
        }
        self.metrics.image_fetched(outcome, begun.elapsed());
        result
    }
}

/// An image store that is watched.
pub struct ObservedImageStore {
    inner: Arc<dyn MediaStore>,
    metrics: Metrics,
}

impl std::fmt::Debug for ObservedImageStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ObservedImageStore")
    }
}

impl ObservedImageStore {
    /// Watches an image store.
    pub fn new(inner: Arc<dyn MediaStore>, metrics: Metrics) -> Self {
        Self { inner, metrics }
    }
}

#[async_trait]
impl MediaStore for ObservedImageStore {
    async fn put(&self, image: &Image) -> Result<String, ImageStoreError> {
        let result = self.inner.put(image).await;
        self.metrics.image_stored(match &result {
            Ok(_) => "done",
            Err(ImageStoreError::Unavailable) => "unavailable",
            Err(ImageStoreError::Full) => "full",
        });
        result
    }
}

#[cfg(test)]
mod tests {
    use ad_core::memory::{MemoryMedia, one_pixel};

    use super::*;
    use crate::telemetry::metrics::tests::{NoQueue, lines};

    struct Hosts;

    #[async_trait]
    impl ImageFetcher for Hosts {
        async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError> {
            Err(match request.url {
                "busy" => ImageError::Transient { reason: "busy".to_owned(), retry_after: None },
                _ => ImageError::Unusable("a page".to_owned()),
            })
        }
    }

    #[tokio::test]
    async fn fetches_are_counted_by_outcome() {
        let metrics = Metrics::new(Arc::new(NoQueue), Timestamp::default());
        let fetcher = ObservedFetcher::new(Arc::new(Hosts), metrics.clone());
        for url in ["busy", "page", "busy"] {
            assert!(fetcher.fetch(ImageRequest { url, dealer_code: "north-cars", known: None }).await.is_err());
        }
        let text = metrics.text().await;
        assert_eq!(
            lines(&text, "ad_image_fetches_total"),
            ["ad_image_fetches_total{outcome=\"transient\"} 2", "ad_image_fetches_total{outcome=\"unusable\"} 1"]
        );
        assert_eq!(lines(&text, "ad_image_fetch_duration_seconds_count"), ["ad_image_fetch_duration_seconds_count 3"]);
    }

    #[tokio::test]
    async fn failures_of_the_image_store_are_counted() {
        let (metrics, media) = (Metrics::new(Arc::new(NoQueue), Timestamp::default()), MemoryMedia::default());
        media.fail_next(ImageStoreError::Unavailable);
        let store = ObservedImageStore::new(Arc::new(media), metrics.clone());
        for is_stored in [false, true] {
            assert_eq!(store.put(&one_pixel(1)).await.is_ok(), is_stored);
        }
        let text = metrics.text().await;
        assert_eq!(
            lines(&text, "ad_image_store_writes_total"),
            [
                "ad_image_store_writes_total{outcome=\"done\"} 1",
                "ad_image_store_writes_total{outcome=\"unavailable\"} 1"
            ]
        );
    }
}
