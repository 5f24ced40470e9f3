//! What operators do and see, by commands and in the console: `dealer.rs`, what a dealer has and uses; `retry.rs`, retries of many ads;
//! `erase.rs`, erasure. Every act is in the audit log before it is done.

mod dealer;
mod erase;
mod retry;

use ad_core::{
    model::{Market, Timestamp},
    ports::StoreError,
};

pub use self::{
    dealer::{DealerFacts, DealerUsage},
    erase::{Erasure, ErasureError, remove_erased_images},
    retry::{RetryResult, retry_all},
};
use ad_server_store::{AuditEntry, Database, Hold, HoldTarget};

#[derive(Debug)]
pub struct Operator<'a> {
    pub database: &'a Database,
    /// The name for the audit log.
    pub name: String,
    pub now: Timestamp,
}

impl Operator<'_> {
    /// Records what the operator is about to do.
    pub async fn record(&self, act: &str, subject: &str, details: &str) -> Result<(), StoreError> {
        let entry = AuditEntry {
            at: self.now,
            operator: self.name.clone(),
            act: act.to_owned(),
            subject: subject.to_owned(),
            details: details.to_owned(),
        };
        self.database.audit(&entry).await
    }

    /// Stops calls to a marketplace. Servers obey within a second.
    pub async fn pause(&self, market: Market, reason: String) -> Result<(), StoreError> {
        self.record("marketplaces pause", market.name(), &reason).await?;
        self.database.hold(&HoldTarget::Marketplace(market), &Hold { since: self.now, reason }).await
    }

    /// Resumes calls to a marketplace; returns whether it was paused.
    pub async fn resume(&self, market: Market) -> Result<bool, StoreError> {
        self.record("marketplaces resume", market.name(), "").await?;
        self.database.end_hold(&HoldTarget::Marketplace(market)).await
    }

    /// Refuses writes of a dealer. Servers obey within a second.
    pub async fn suspend(&self, dealer_code: &str, reason: String) -> Result<(), StoreError> {
        self.record("dealers suspend", dealer_code, &reason).await?;
        self.database.hold(&HoldTarget::Dealer(dealer_code.to_owned()), &Hold { since: self.now, reason }).await
    }

    /// Ends the suspension of a dealer; returns whether there was one.
    pub async fn end_suspension(&self, dealer_code: &str) -> Result<bool, StoreError> {
        self.record("dealers resume", dealer_code, "").await?;
        self.database.end_hold(&HoldTarget::Dealer(dealer_code.to_owned())).await
    }

    /// Revokes a token; returns whether it was issued here.
    pub async fn revoke(&self, jti: &str, details: &str) -> Result<bool, StoreError> {
        self.record("token revoke", jti, details).await?;
        self.database.revoke_token(jti, self.now).await
    }
}
