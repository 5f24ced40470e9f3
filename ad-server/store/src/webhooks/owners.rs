//! Which process sends to which endpoints. A process owns endpoints until a time in one row, which it renews.

use std::time::Duration;

use ad_core::{model::Timestamp, ports::StoreError};
use uuid::Uuid;

use super::{Ownership, Webhook, sql};
use crate::{Columns, Database, Statement, from_columns, rows::json};

/// The owner of new endpoints, whose ownership has always expired.
pub(super) const NOBODY: Uuid = Uuid::nil();

/// How long owners are kept after their ownership has expired.
const REMEMBERED: Duration = Duration::from_hours(24);

#[derive(Debug)]
pub struct ChangedWebhook {
    pub webhook: Webhook,
    pub is_deleted: bool,
    /// How often it has changed since its owner read it.
    pub changes: i64,
}

from_columns! { ChangedWebhook { webhook, is_deleted, changes } }

impl Database {
    /// Owns endpoints until a time.
    pub async fn renew_owner(&self, owner: Uuid, until: Timestamp) -> Result<(), StoreError> {
        self.run(sql::RenewOwner { owner, until }).await.map(drop)
    }

    /// Claims at most this number of endpoints whose ownership has expired.
    pub async fn claim_webhooks(
        &self,
        Ownership { owner, now, latest }: Ownership,
        except: impl Iterator<Item = &Uuid>,
        at_most: usize,
    ) -> Result<(), StoreError> {
        let except = except.map(Uuid::to_string).collect();
        let rows = self.read(sql::ClaimableWebhooks { now, latest, except, at_most }).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let ids = Columns::all::<Uuid>(&rows)?.iter().map(Uuid::to_string).collect();
        self.run(sql::ClaimWebhooks { ids, owner, now, latest }).await.map(drop)
    }

    /// The endpoints that have changed since their owner read them.
    pub async fn changed_webhooks(&self, owner: Uuid) -> Result<Vec<ChangedWebhook>, StoreError> {
        Columns::all(&self.read(sql::ChangedWebhooks { owner }).await?)
    }

    /// The owner has read so many changes of endpoints.
    pub async fn changes_read(&self, owner: Uuid, read: &[(Uuid, i64)]) -> Result<(), StoreError> {
        self.run(sql::ChangesRead { owner, read: json(&read)? }).await.map(drop)
    }

    /// Makes the owners of endpoints read them again.
    pub async fn touch_webhooks(&self, ids: &[Uuid]) -> Result<(), StoreError> {
        self.run(notify_owners(ids)).await.map(drop)
    }

    /// Makes a process read all its endpoints again.
    pub async fn touch_owned(&self, owner: Uuid) -> Result<(), StoreError> {
        self.run(sql::TouchOwned { owner }).await.map(drop)
    }

    /// Lets other processes claim an endpoint.
    pub async fn release_webhook(&self, id: Uuid, owner: Uuid) -> Result<(), StoreError> {
        self.run(sql::PassOn { id, owner, to: NOBODY }).await.map(drop)
    }

    /// Removes owners that ended long ago.
    pub async fn forget_owners(&self, now: Timestamp) -> Result<(), StoreError> {
        self.run(sql::ForgetOwners { nobody: NOBODY, before: now - REMEMBERED }).await.map(drop)
    }
}

/// Makes the owners of endpoints read them again.
pub(super) fn notify_owners(ids: &[Uuid]) -> Statement {
    sql::TouchWebhooks { ids: ids.iter().map(Uuid::to_string).collect() }.into()
}
