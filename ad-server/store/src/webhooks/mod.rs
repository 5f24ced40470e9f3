//! Webhook endpoints and the deliveries to them.
//!
//! | Module | Purpose |
//! |---|---|
//! | `model` | endpoints and deliveries as they are stored |
//! | this one | what clients do with endpoints |
//! | `deliveries` | deliveries: queued, read, recorded, removed |
//! | `owners` | which process sends to which endpoints |

mod deliveries;
mod model;
mod owners;

use ad_core::{
    model::{DisabledReason, EventPosition, EventTypes, Timestamp},
    ports::StoreError,
    service::Access,
};
use uuid::Uuid;

use self::owners::{NOBODY, notify_owners};
pub use self::{
    model::{
        Attempt, Delivery, DeliveryUpdate, DueDelivery, EndpointHealth, EndpointSecrets, NewWebhook, Ownership,
        ScopeWebhook, StoredSecret, Webhook, WebhookChange,
    },
    owners::ChangedWebhook,
};
use super::{
    Columns, Database, Link, Statement, Work, from_columns, rows::json, sql::webhooks as sql, work::Isolation,
};

/// Statements that are committed together.
struct StatementGroup(Vec<Statement>);

impl Work for StatementGroup {
    type Answer = u64;

    /// Each statement sees what was committed before it.
    const ISOLATION: Isolation = Isolation::ReadCommitted;

    /// Returns the number of rows that the last one changed.
    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<u64> {
        let mut changed = 0;
        for statement in &self.0 {
            changed = link.run(statement).await?.changed;
        }
        Ok(changed)
    }
}

impl Database {
    /// Adds an endpoint, and returns whether its scope had fewer than so many.
    pub async fn add_webhook(&self, new: &NewWebhook, at_most: u32) -> Result<bool, StoreError> {
        let scope = new.access.name();
        let add = sql::AddWebhook {
            id: new.id,
            scope_type: new.access.claim(),
            scope,
            url: &new.url,
            types: json(&types_text(&new.types))?,
            dealer_code: new.dealer_code.as_deref(),
            description: new.description.as_deref(),
            secrets: json(&[&new.secret])?,
            now: new.created,
            transaction_id: new.position.transaction,
            ad: new.position.ad,
            n: new.position.sequence,
            owner: NOBODY,
            at_most,
        };
        Ok(self.write(StatementGroup(vec![sql::LockScope { scope }.into(), add.into()])).await? > 0)
    }

    /// The endpoints of a scope, oldest first.
    pub async fn webhooks(&self, access: &Access, now: Timestamp) -> Result<Vec<ScopeWebhook>, StoreError> {
        let statement = sql::WebhooksOfScope { scope_type: access.claim(), scope: access.name(), now };
        let rows = self.look_up(Statement::from(statement).for_client_of(access.name())).await?;
        Columns::all(&rows)
    }

    /// The secrets of the newest endpoints that are enabled, each with the id of its endpoint.
    pub async fn newest_secrets(&self, limit: u32) -> Result<Vec<EndpointSecrets>, StoreError> {
        Columns::all(&self.read(sql::NewestSecrets { limit }).await?)
    }

    pub async fn change_webhook(&self, id: Uuid, change: &WebhookChange, now: Timestamp) -> Result<(), StoreError> {
        let mut statements = Vec::new();
        if let Some(position) = change.resume_at {
            statements.push(sql::DropPending { id }.into());
            statements.push(move_to(id, position));
        }
        match change.enabled {
            Some(true) => statements.push(sql::EnableWebhook { id, now }.into()),
            Some(false) => statements.push(sql::DisableWebhook { id, reason: DisabledReason::Requested.name() }.into()),
            None => {}
        }
        let changed = sql::ChangeWebhook {
            id,
            url: change.url.as_deref(),
            types: change.types.as_deref().map(|types| json(&types_text(types))).transpose()?,
            sets_description: change.description.is_some(),
            description: change.description.as_deref().filter(|text| !text.is_empty()),
            now,
        };
        statements.push(changed.into());
        self.write(StatementGroup(statements)).await.map(drop)
    }

    /// Goes on behind this position, as before or after it was passed.
    pub async fn replay_webhook(&self, id: Uuid, position: EventPosition) -> Result<(), StoreError> {
        self.run(move_to(id, position)).await.map(drop)
    }

    /// Replaces the secrets of an endpoint, and returns whether they were still these.
    pub async fn replace_secrets(
        &self,
        webhook: &Webhook,
        secrets: &[StoredSecret],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let before = json(&webhook.secrets)?;
        let replace = sql::ReplaceSecrets { id: webhook.id, before: &before, secrets: json(&secrets)?, now };
        Ok(self.run(replace).await?.changed > 0)
    }

    /// Deletes an endpoint. Its deliveries are removed in the background.
    pub async fn delete_webhook(&self, id: Uuid, now: Timestamp) -> Result<(), StoreError> {
        self.run(sql::DeleteWebhook { id, now }).await.map(drop)
    }
}

fn move_to(id: Uuid, EventPosition { transaction, ad, sequence }: EventPosition) -> Statement {
    sql::MoveWebhook { id, transaction_id: transaction, ad, n: sequence }.into()
}

fn types_text(types: &[EventTypes]) -> Vec<String> {
    types.iter().map(EventTypes::to_string).collect()
}

// The columns from `id` to `moves`.
from_columns! {
    Webhook {
        id, access: access, url, types: event_types, dealer_code, description, secrets: json, created, updated,
        disabled: disabled_reason, last_success, last_failure, failing_since, position, moves
    }
}

from_columns! {
    ScopeWebhook { webhook, pending, is_owned }
    EndpointSecrets { id, secrets: json }
}

impl Columns<'_> {
    fn access(&mut self) -> Result<Access, StoreError> {
        let (scope_type, scope) = (self.string()?, self.string()?);
        Ok(if scope_type == "dealer_group" { Access::Group(scope) } else { Access::Dealer(scope) })
    }

    fn event_types(&mut self) -> Result<Vec<EventTypes>, StoreError> {
        let types: Vec<String> = self.json()?;
        types.iter().map(|text| text.parse().map_err(|error| StoreError::Faulty(Box::new(error)))).collect()
    }

    fn disabled_reason(&mut self) -> Result<Option<DisabledReason>, StoreError> {
        Ok(self.maybe_text()?.as_deref().and_then(DisabledReason::from_name))
    }
}
