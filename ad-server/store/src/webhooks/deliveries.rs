//! Deliveries: queued by clients and workers, read, recorded, and removed.

use std::collections::{BTreeMap, HashMap};

use ad_core::{
    model::{DeliveryState, DisabledReason, Event, EventPosition, Page, Timestamp},
    ports::StoreError,
};
use uuid::Uuid;

use super::{
    Delivery, DeliveryUpdate, DueDelivery, EndpointHealth, StatementGroup, Webhook, model::NewDelivery, notify_owners,
    sql,
};
use crate::{Columns, Database, Statement, from_columns, rows::json};

impl Database {
    /// Adds the delivery of a test event, and returns whether fewer than so many deliveries were pending.
    pub async fn add_test(
        &self,
        webhook: Uuid,
        event_id: &str,
        event_type: &str,
        now: Timestamp,
        at_most: u32,
    ) -> Result<bool, StoreError> {
        let add = sql::AddTest { webhook, event_id, event_type, now, at_most };
        Ok(self.write(StatementGroup(vec![notify_owners(&[webhook]), add.into()])).await? > 0)
    }

    /// Makes a delivery pending again, and returns whether there is one.
    pub async fn resend(&self, webhook: Uuid, event_id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let resend = sql::Resend { webhook, event_id, now };
        Ok(self.write(StatementGroup(vec![notify_owners(&[webhook]), resend.into()])).await? > 0)
    }

    pub async fn find_delivery(&self, webhook: Uuid, event_id: &str) -> Result<Option<Delivery>, StoreError> {
        let rows = self.look_up(sql::FindDelivery { webhook, event_id }).await?;
        let Some(mut columns) = rows.first().map(Columns::of) else { return Ok(None) };
        delivery(columns.string()?, &mut columns).map(Some)
    }

    /// A page of the deliveries to an endpoint, newest first, and the number of all.
    pub async fn deliveries(
        &self,
        webhook: Uuid,
        state: Option<DeliveryState>,
        page: Page,
    ) -> Result<(Vec<Delivery>, u64), StoreError> {
        let Page { limit, offset } = page;
        let list: Statement = match state.map(DeliveryState::name) {
            Some(state) => sql::ListDeliveriesIn { webhook, state, limit, offset }.into(),
            None => sql::ListDeliveries { webhook, limit, offset }.into(),
        };
        let (mut deliveries, mut count) = (Vec::new(), 0);
        for row in &self.look_up(list).await? {
            let mut columns = Columns::of(row);
            count = columns.number()?;
            if let Some(event_id) = columns.maybe_string()? {
                deliveries.push(delivery(event_id, &mut columns)?);
            }
        }
        Ok((deliveries, count))
    }

    /// How many deliveries of all endpoints are pending.
    pub async fn pending_deliveries(&self) -> Result<u64, StoreError> {
        self.read_number(sql::CountPending {}).await
    }

    /// How many deliveries of an endpoint are pending, and when the next one of those is due that are not due yet.
    pub async fn pending_of(&self, webhook: Uuid, now: Timestamp) -> Result<(u64, Option<Timestamp>), StoreError> {
        Columns::first(&self.read(sql::PendingDeliveries { webhook, now }).await?).map(Option::unwrap_or_default)
    }

    /// Adds the deliveries of events, which are due then, and moves the position behind the events. `None` if the process does not own
    /// the endpoint, or a client has moved its position.
    pub async fn add_deliveries(
        &self,
        webhook: &Webhook,
        owner: Uuid,
        events: Vec<Event>,
        position: EventPosition,
        now: Timestamp,
    ) -> Result<Option<Vec<DueDelivery>>, StoreError> {
        let add = sql::AddDeliveries {
            webhook: webhook.id,
            owner,
            moves: webhook.moves,
            now,
            deliveries: json(&events.iter().map(NewDelivery::of).collect::<Vec<_>>())?,
            transaction_id: position.transaction,
            ad: position.ad,
            n: position.sequence,
        };
        let (mut is_owned, mut added) = (false, HashMap::new());
        for row in &self.run(add).await?.rows {
            let mut columns = Columns::of(row);
            match columns.maybe_string()? {
                Some(event_id) => drop(added.insert(event_id, (columns.read()?, columns.time()?, columns.json()?))),
                None => is_owned = true,
            }
        }
        let due = events.into_iter().filter_map(|event| {
            let (event_id, (seq, created, attempts)) = added.remove_entry(&event.id().to_string())?;
            Some(DueDelivery { seq, event_id, created, tries: 0, attempts, event: Some(event) })
        });
        Ok(is_owned.then(|| due.collect()))
    }

    /// Deliveries of an endpoint that are due and not in flight, the longest first.
    pub async fn due_deliveries(
        &self,
        webhook: Uuid,
        now: Timestamp,
        in_flight: Vec<i64>,
        limit: u32,
    ) -> Result<Vec<DueDelivery>, StoreError> {
        Columns::all(&self.read(sql::DueDeliveries { webhook, now, in_flight, limit }).await?)
    }

    /// Records attempts. Returns whether the process still owns the endpoint; if not, nothing is recorded.
    pub async fn record_attempts(
        &self,
        webhook: Uuid,
        owner: Uuid,
        attempts: &[DeliveryUpdate],
        health: &EndpointHealth,
    ) -> Result<bool, StoreError> {
        let rows = attempts.iter().map(|attempted| {
            let DeliveryUpdate { seq, state, next_attempt, attempts } = attempted;
            Ok((seq, (state.name(), next_attempt.as_millis(), json(attempts)?)))
        });
        let rows = rows.collect::<Result<BTreeMap<_, _>, StoreError>>()?;
        let record = sql::RecordAttempts {
            webhook,
            owner,
            attempts: json(&rows)?,
            last_success: health.last_success,
            last_failure: health.last_failure,
            failing_since: health.failing_since,
            disabled: health.disabled.map(DisabledReason::name),
        };
        Ok(!self.run(record).await?.rows.is_empty())
    }

    /// Removes deliveries that ended and were created before a time, at most so many, and returns how many.
    pub async fn remove_deliveries(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        Ok(self.run(sql::RemoveDeliveries { before, at_most }).await?.changed)
    }

    /// Removes deliveries of deleted endpoints, at most so many, and then the endpoints; returns how many deliveries.
    pub async fn remove_deleted_webhooks(&self, at_most: u32) -> Result<u64, StoreError> {
        let removed = self.run(sql::RemoveDeliveriesOfDeleted { at_most }).await?.changed;
        if removed == 0 {
            self.run(sql::RemoveDeleted {}).await?;
        }
        Ok(removed)
    }
}

/// A delivery by the columns after the id of its event.
fn delivery(event_id: String, columns: &mut Columns<'_>) -> Result<Delivery, StoreError> {
    let event_type = columns.string()?;
    let state = columns.named(DeliveryState::from_name)?;
    let (created, next_attempt) = (columns.time()?, columns.time()?);
    let next_attempt = (state == DeliveryState::Pending).then_some(next_attempt);
    Ok(Delivery { event_id, event_type, state, created, next_attempt, attempts: columns.json()? })
}

from_columns! { DueDelivery { seq, event_id, created, tries, attempts: json, event: event } }

impl Columns<'_> {
    /// The event behind a number that is absent without one.
    fn event(&mut self) -> Result<Option<Event>, StoreError> {
        self.read::<Option<i64>>()?.map(|_| self.read()).transpose()
    }
}
