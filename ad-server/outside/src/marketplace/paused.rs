//! A marketplace that operators can pause.

use std::{sync::Arc, time::Duration};

use ad_core::{
    model::Timestamp,
    ports::{Answered, IdempotencyKey, Listing, Marketplace, MarketplaceError, PlateListing, PublishedByPlate},
    violation::Code,
};
use async_trait::async_trait;

use ad_server_access::directory::Directory;
use ad_server_base::telemetry::MarketplaceCalls;

/// When a request that meets a pause asks again. The end of a pause makes such requests due at once.
const ASK_AGAIN: Duration = Duration::from_secs(30);

/// Calls a marketplace unless an operator has paused it. The calls are observed.
pub struct PausableMarketplace {
    pub inner: Arc<dyn Marketplace>,
    pub calls: MarketplaceCalls,
    /// Knows whether it is paused.
    pub directory: Arc<Directory>,
}

ad_server_base::debug_by_name!(PausableMarketplace);

impl PausableMarketplace {
    async fn call<T>(
        &self,
        action: &'static str,
        key: Option<IdempotencyKey>,
        call: impl Future<Output = Result<T, MarketplaceError>>,
    ) -> Result<T, MarketplaceError> {
        let Some(reason) = self.directory.paused(self.calls.market) else {
            return self.calls.observe(action, key, call).await;
        };
        let reason = format!("paused by the operator of the service: {reason}");
        Err(MarketplaceError::NotAsked { code: Code::MarketplacePaused, reason, retry_after: ASK_AGAIN })
    }
}

#[async_trait]
impl Marketplace for PausableMarketplace {
    async fn publish(&self, key: IdempotencyKey, listing: Listing<'_>) -> Result<Answered<String>, MarketplaceError> {
        self.call("publish", Some(key), self.inner.publish(key, listing)).await
    }

    async fn publish_by_plate(
        &self,
        key: IdempotencyKey,
        listing: Listing<'_>,
        plate: &str,
    ) -> Result<Answered<Option<PublishedByPlate>>, MarketplaceError> {
        self.call("publish", Some(key), self.inner.publish_by_plate(key, listing, plate)).await
    }

    async fn update(
        &self,
        key: IdempotencyKey,
        id: &str,
        listing: Listing<'_>,
    ) -> Result<Answered<()>, MarketplaceError> {
        self.call("update", Some(key), self.inner.update(key, id, listing)).await
    }

    async fn unpublish(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError> {
        self.call("unpublish", Some(key), self.inner.unpublish(key, id)).await
    }

    async fn bump(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError> {
        self.call("bump", Some(key), self.inner.bump(key, id)).await
    }

    async fn boost(&self, key: IdempotencyKey, id: &str, until: Timestamp) -> Result<Answered<()>, MarketplaceError> {
        self.call("boost", Some(key), self.inner.boost(key, id, until)).await
    }

    async fn find_by_plate(
        &self,
        dealer_code: &str,
        plate: &str,
    ) -> Result<Answered<Option<PlateListing>>, MarketplaceError> {
        self.call("find_by_plate", None, self.inner.find_by_plate(dealer_code, plate)).await
    }
}
