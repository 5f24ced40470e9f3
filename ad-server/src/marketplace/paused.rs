//! A marketplace that operators can pause.

use std::{sync::Arc, time::Duration};

use ad_core::{
    model::{Market, Timestamp},
    ports::{IdempotencyKey, Listing, Marketplace, MarketplaceError, PlateListing},
    violation::Code,
};
use async_trait::async_trait;

use crate::directory::Directory;

/// When a request that meets a pause asks again. The end of a pause makes such requests due at once.
const ASK_AGAIN: Duration = Duration::from_secs(30);

/// Calls a marketplace unless an operator has paused it.
pub(crate) struct PausableMarketplace {
    /// What is called.
    pub(crate) inner: Arc<dyn Marketplace>,
    /// Which marketplace it is.
    pub(crate) market: Market,
    /// Knows whether it is paused.
    pub(crate) directory: Arc<Directory>,
}

impl PausableMarketplace {
    fn check(&self) -> Result<(), MarketplaceError> {
        let Some(reason) = self.directory.paused(self.market) else { return Ok(()) };
        let reason = format!("paused by the operator of the service: {reason}");
        Err(MarketplaceError::NotAsked { code: Code::MarketplacePaused, reason, retry_after: ASK_AGAIN })
    }
}

#[async_trait]
impl Marketplace for PausableMarketplace {
    async fn publish(&self, key: IdempotencyKey, listing: Listing<'_>) -> Result<String, MarketplaceError> {
        self.check()?;
        self.inner.publish(key, listing).await
    }

    async fn update(&self, key: IdempotencyKey, id: &str, listing: Listing<'_>) -> Result<(), MarketplaceError> {
        self.check()?;
        self.inner.update(key, id, listing).await
    }

    async fn unpublish(&self, key: IdempotencyKey, id: &str) -> Result<(), MarketplaceError> {
        self.check()?;
        self.inner.unpublish(key, id).await
    }

    async fn bump(&self, key: IdempotencyKey, id: &str) -> Result<(), MarketplaceError> {
        self.check()?;
        self.inner.bump(key, id).await
    }

    async fn boost(&self, key: IdempotencyKey, id: &str, until: Timestamp) -> Result<(), MarketplaceError> {
        self.check()?;
        self.inner.boost(key, id, until).await
    }

    async fn find_by_plate(&self, dealer_code: &str, plate: &str) -> Result<Option<PlateListing>, MarketplaceError> {
        self.check()?;
        self.inner.find_by_plate(dealer_code, plate).await
    }
}
