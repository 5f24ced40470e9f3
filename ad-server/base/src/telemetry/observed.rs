//! Counts, times and traces calls of ports.

use std::{future::Future, sync::Arc, time::Instant};

use ad_core::{
    model::{Market, Timestamp},
    ports::{
        Clock, Fetched, IdempotencyKey, Image, ImageError, ImageFetcher, ImageRequest, ImageStoreError,
        MarketplaceError, MediaStore,
    },
    violation::Code,
};
use async_trait::async_trait;
use tracing::{Instrument, field::Empty};
use uuid::Uuid;

use super::{Metrics, traces::SPANS};

/// Counts, times and traces the calls of a marketplace.
pub struct MarketplaceCalls {
    pub market: Market,
    pub metrics: Metrics,
    pub clock: Arc<dyn Clock>,
}

crate::debug_by_name!(MarketplaceCalls);

impl MarketplaceCalls {
    /// Makes a call, and records its duration and result.
    pub async fn observe<T>(
        &self,
        action: &'static str,
        key: Option<IdempotencyKey>,
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
            Err(MarketplaceError::Transient { code: Code::MarketplaceCredentials, .. }) => "credentials",
            Err(MarketplaceError::Transient { .. }) => "transient",
            Err(MarketplaceError::NotAsked { .. }) => "not_asked",
            Err(MarketplaceError::Refused { .. }) => "refused",
            Err(MarketplaceError::Gone { .. } | MarketplaceError::NotListed) => "gone",
        };
        span.record("outcome", outcome);
        if let Err(error) = &result {
            span.record("otel.status_code", "error");
            tracing::debug!(marketplace = market, action, outcome, %error, "marketplace call failed");
        }
        self.metrics.marketplace_called(market, action, outcome, begun.elapsed());
        if let (Ok(_), "publish" | "update", Some(key)) = (&result, action, key)
            && let Some(asked) = time_of(key.request)
        {
            self.metrics.published(market, self.clock.now() - asked);
        }
        result
    }
}

/// When a request came in: ids are made then, and contain the time.
fn time_of(request: Uuid) -> Option<Timestamp> {
    let (seconds, nanos) = request.get_timestamp()?.to_unix();
    let millis = i64::try_from(seconds).ok()?.checked_mul(1000)?.checked_add(i64::from(nanos / 1_000_000))?;
    Some(Timestamp::from_millis(millis))
}

/// An observed fetcher of images or image store.
#[expect(missing_debug_implementations, reason = "ports have none")]
pub struct ObservedPort<T: ?Sized> {
    /// The port that does the work.
    pub inner: Arc<T>,
    /// Receives the counts and durations.
    pub metrics: Metrics,
}

#[async_trait]
impl ImageFetcher for ObservedPort<dyn ImageFetcher> {
    async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError> {
        // Not the address: it may contain credentials.
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
            Err(ImageError::Unusable(..)) => "unusable",
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

#[async_trait]
impl MediaStore for ObservedPort<dyn MediaStore> {
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
                _ => ImageError::Unusable(ad_core::model::ImageFlaw::NotAPhoto, "a page".to_owned()),
            })
        }
    }

    #[tokio::test]
    async fn fetches_are_counted_by_outcome() {
        let metrics = Metrics::new(Arc::new(NoQueue), Timestamp::default());
        let fetcher: ObservedPort<dyn ImageFetcher> = ObservedPort { inner: Arc::new(Hosts), metrics: metrics.clone() };
        for url in ["busy", "page", "busy"] {
            assert!(fetcher.fetch(ImageRequest { url, dealer_code: "north-cars", known: None }).await.is_err());
        }
        let text = metrics.text().await;
        assert_eq!(
            lines(&text, "ad_image_fetches_total"),
            [
                "ad_image_fetches_total{outcome=\"done\"} 0",
                "ad_image_fetches_total{outcome=\"not_asked\"} 0",
                "ad_image_fetches_total{outcome=\"transient\"} 2",
                "ad_image_fetches_total{outcome=\"unchanged\"} 0",
                "ad_image_fetches_total{outcome=\"unusable\"} 1"
            ]
        );
        assert_eq!(lines(&text, "ad_image_fetch_duration_seconds_count"), ["ad_image_fetch_duration_seconds_count 3"]);
    }

    #[tokio::test]
    async fn failures_of_the_image_store_are_counted() {
        let (metrics, media) = (Metrics::new(Arc::new(NoQueue), Timestamp::default()), MemoryMedia::default());
        media.fail_next(ImageStoreError::Unavailable);
        let store: ObservedPort<dyn MediaStore> = ObservedPort { inner: Arc::new(media), metrics: metrics.clone() };
        for is_stored in [false, true] {
            assert_eq!(store.put(&one_pixel(1)).await.is_ok(), is_stored);
        }
        let text = metrics.text().await;
        assert_eq!(
            lines(&text, "ad_image_store_writes_total"),
            [
                "ad_image_store_writes_total{outcome=\"done\"} 1",
                "ad_image_store_writes_total{outcome=\"full\"} 0",
                "ad_image_store_writes_total{outcome=\"unavailable\"} 1"
            ]
        );
    }
}
