//! Webhook endpoints and the deliveries to them.

use ad_core::{
    model::{Event, EventPosition, EventTypes, Page, Timestamp},
    ports::StoreError,
    service::Access,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Columns, Database, Link, Row, Statement, Work, events::event, rows::json, sql::webhooks as sql, work::Isolation,
};

/// An address that events are sent to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Webhook {
    /// Its id.
    pub(crate) id: Uuid,
    /// The scope of the token that created it: events of its dealers are sent, and its tokens may manage it.
    pub(crate) access: Access,
    /// Where events are sent.
    pub(crate) url: String,
    /// Which events are sent.
    pub(crate) types: Vec<EventTypes>,
    /// Only events of this dealer are sent.
    pub(crate) dealer_code: Option<String>,
    /// The client's note.
    pub(crate) description: Option<String>,
    /// What signs, newest first.
    pub(crate) secrets: Vec<StoredSecret>,
    /// When it was created.
    pub(crate) created: Timestamp,
    /// When a client changed it.
    pub(crate) updated: Timestamp,
    /// Why it is disabled; `None` if it is enabled.
    pub(crate) disabled: Option<Disabled>,
    /// The last attempt that succeeded.
    pub(crate) last_success: Option<Timestamp>,
    /// The last attempt that failed.
    pub(crate) last_failure: Option<Timestamp>,
    /// The first failure after the last success.
    pub(crate) failing_since: Option<Timestamp>,
    /// Events up to here have become deliveries.
    pub(crate) position: EventPosition,
    /// How often a client has moved the position.
    pub(crate) moves: i64,
    /// The process that sends to it.
    pub(crate) owner: Uuid,
}

/// An encrypted secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredSecret {
    /// The secret, encrypted, in base64.
    pub(crate) sealed: String,
    /// It signs until then; `None`: until it is replaced.
    pub(crate) until: Option<Timestamp>,
}

/// Why an endpoint is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disabled {
    /// By a client.
    Requested,
    /// The receiver answered 410.
    Gone,
    /// No attempt succeeded for too long.
    Failing,
}

impl Disabled {
    /// Every reason.
    pub(crate) const ALL: [Self; 3] = [Self::Requested, Self::Gone, Self::Failing];

    /// Its name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Gone => "gone",
            Self::Failing => "failing",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// What has become of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeliveryState {
    /// It will be attempted, or attempted again.
    Pending,
    /// The receiver has it.
    Delivered,
    /// All attempts failed.
    Failed,
}

impl DeliveryState {
    const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Failed];
    /// Their names on the wire.
    pub(crate) const NAMES: &'static [&'static str] = ad_core::parameters::DELIVERY_STATES;

    /// Its name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// By its name on the wire.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// One attempt to deliver an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// When it began.
    pub(crate) at: Timestamp,
    /// The status of the answer, if there was one.
    pub(crate) status: Option<u16>,
    /// How long it took, in milliseconds.
    pub(crate) latency_ms: u64,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
    /// The beginning of the answer's body.
    pub(crate) response: Option<String>,
}

/// An event that is or was sent to an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Delivery {
    /// The event's id.
    pub(crate) event_id: String,
    /// The event's type.
    pub(crate) event_type: String,
    /// What has become of it.
    pub(crate) state: DeliveryState,
    /// When it was queued.
    pub(crate) created: Timestamp,
    /// When it is attempted next, if it is pending.
    pub(crate) next_attempt: Option<Timestamp>,
    /// The latest attempts, oldest first.
    pub(crate) attempts: Vec<Attempt>,
}

/// A new endpoint.
#[derive(Debug, Clone)]
pub(crate) struct NewWebhook {
    pub(crate) id: Uuid,
    pub(crate) access: Access,
    pub(crate) url: String,
    pub(crate) types: Vec<EventTypes>,
    pub(crate) dealer_code: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) secret: StoredSecret,
    pub(crate) created: Timestamp,
    pub(crate) position: EventPosition,
}

/// A change of an endpoint by a client.
#[derive(Debug, Clone, Default)]
pub(crate) struct WebhookChange {
    pub(crate) url: Option<String>,
    pub(crate) types: Option<Vec<EventTypes>>,
    /// Removed if it is empty.
    pub(crate) description: Option<String>,
    pub(crate) enabled: Option<bool>,
    /// Goes on behind this position, without what is pending.
    pub(crate) resume_at: Option<EventPosition>,
}

/// A delivery to be queued.
#[derive(Debug, Serialize)]
pub(crate) struct NewDelivery(String, String, i64, i64);

impl NewDelivery {
    /// That of an event.
    pub(crate) fn of(event: &Event) -> Self {
        Self(event.id().to_string(), event.event_type(), event.position.ad, event.position.sequence)
    }
}

/// A delivery that is due.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) seq: i64,
    pub(crate) event_id: String,
    pub(crate) created: Timestamp,
    /// Attempts since it became pending.
    pub(crate) tries: usize,
    pub(crate) attempts: Vec<Attempt>,
    /// The event; `None`: a test.
    pub(crate) event: Option<Event>,
}

/// What an attempt changes about its delivery.
#[derive(Debug)]
pub(crate) struct Attempted {
    pub(crate) seq: i64,
    pub(crate) state: DeliveryState,
    pub(crate) next_attempt: Timestamp,
    pub(crate) attempts: Vec<Attempt>,
}

/// What attempts change about their endpoint.
#[derive(Debug, Default)]
pub(crate) struct Health {
    pub(crate) last_success: Option<Timestamp>,
    pub(crate) last_failure: Option<Timestamp>,
    pub(crate) failing_since: Option<Timestamp>,
    pub(crate) disabled: Option<Disabled>,
}

/// For how long a process owns endpoints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ownership {
    pub(crate) owner: Uuid,
    pub(crate) now: Timestamp,
    /// A later end of ownership is of a clock that was ahead.
    pub(crate) latest: Timestamp,
}

/// Statements that are committed together.
struct Together(Vec<Statement>);

impl Work for Together {
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
    pub(crate) async fn add_webhook(&self, new: &NewWebhook, at_most: u32) -> Result<bool, StoreError> {
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
            at_most,
        };
        Ok(self.write(Together(vec![sql::LockScope { scope }.into(), add.into()])).await? > 0)
    }

    /// The endpoints of a scope, oldest first, each with the number of its pending deliveries.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is of one lifetime")]
    pub(crate) async fn webhooks(&self, access: &Access) -> Result<Vec<(Webhook, u64)>, StoreError> {
        let statement = sql::WebhooksOfScope { scope_type: access.claim(), scope: access.name() };
        let rows = self.look_up(Statement::from(statement).for_client_of(access.name())).await?;
        rows.iter().map(|row| webhook(row, |columns| columns.number())).collect()
    }

    /// Changes an endpoint.
    pub(crate) async fn change_webhook(
        &self,
        id: Uuid,
        change: &WebhookChange,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut statements = Vec::new();
        if let Some(position) = change.resume_at {
            statements.push(sql::DropPending { id }.into());
            statements.push(move_to(id, position));
        }
        match change.enabled {
            Some(true) => statements.push(sql::EnableWebhook { id, now }.into()),
            Some(false) => statements.push(sql::DisableWebhook { id, reason: Disabled::Requested.name() }.into()),
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
        self.write(Together(statements)).await.map(drop)
    }

    /// Goes on behind this position, as before or after it was passed.
    pub(crate) async fn replay_webhook(&self, id: Uuid, position: EventPosition) -> Result<(), StoreError> {
        self.run(move_to(id, position)).await.map(drop)
    }

    /// Replaces the secrets of an endpoint, and returns whether they were still these.
    pub(crate) async fn replace_secrets(
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
    pub(crate) async fn delete_webhook(&self, id: Uuid, now: Timestamp) -> Result<(), StoreError> {
        self.run(sql::DeleteWebhook { id, now }).await.map(drop)
    }

    /// Adds the delivery of a test event, and returns whether fewer than so many deliveries were pending.
    pub(crate) async fn add_test(
        &self,
        webhook: Uuid,
        event_id: &str,
        event_type: &str,
        now: Timestamp,
        at_most: u32,
    ) -> Result<bool, StoreError> {
        Ok(self.run(sql::AddTest { webhook, event_id, event_type, now, at_most }).await?.changed > 0)
    }

    /// Makes a delivery pending again, and returns whether there is one.
    pub(crate) async fn resend(&self, webhook: Uuid, event_id: &str, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.run(sql::Resend { webhook, event_id, now }).await?.changed > 0)
    }

    /// The delivery of an event to an endpoint.
    pub(crate) async fn find_delivery(&self, webhook: Uuid, event_id: &str) -> Result<Option<Delivery>, StoreError> {
        self.look_up(sql::FindDelivery { webhook, event_id }).await?.first().map(delivery).transpose()
    }

    /// A page of the deliveries to an endpoint, newest first, and the number of all.
    pub(crate) async fn deliveries(
        &self,
        webhook: Uuid,
        state: Option<DeliveryState>,
        page: Page,
    ) -> Result<(Vec<Delivery>, u64), StoreError> {
        let Page { limit, offset } = page;
        let (list, count): (Statement, Statement) = match state.map(DeliveryState::name) {
            Some(state) => (
                sql::ListDeliveriesIn { webhook, state, limit, offset }.into(),
                sql::CountDeliveriesIn { webhook, state }.into(),
            ),
            None => (sql::ListDeliveries { webhook, limit, offset }.into(), sql::CountDeliveries { webhook }.into()),
        };
        let rows = self.look_up(list).await?;
        let count = self.look_up(count).await?;
        let count = count.first().map_or(Ok(0), |row| Columns::of(row).number())?;
        Ok((rows.iter().map(delivery).collect::<Result<_, _>>()?, count))
    }

    /// How many deliveries of all endpoints are pending.
    pub(crate) async fn pending_deliveries(&self) -> Result<u64, StoreError> {
        self.read_number(sql::CountPending {}).await
    }

    /// How many deliveries of an endpoint are pending.
    pub(crate) async fn pending_of(&self, webhook: Uuid) -> Result<u64, StoreError> {
        self.read_number(sql::CountDeliveriesIn { webhook, state: DeliveryState::Pending.name() }).await
    }

    /// The enabled endpoints that a process owns, and others that it may claim; each with the time of its next attempt.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is of one lifetime")]
    pub(crate) async fn webhooks_to_run(
        &self,
        Ownership { owner, now, latest }: Ownership,
        at_most: u32,
    ) -> Result<Vec<(Webhook, Option<Timestamp>)>, StoreError> {
        let rows = self.read(sql::WebhooksToRun { owner, now, latest, at_most }).await?;
        rows.iter().map(|row| webhook(row, |columns| columns.maybe_time())).collect()
    }

    /// Claims endpoints, or goes on to own them, until a time.
    pub(crate) async fn own_webhooks(
        &self,
        ids: &[Uuid],
        Ownership { owner, now, latest }: Ownership,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let ids = ids.iter().map(Uuid::to_string).collect();
        self.run(sql::OwnWebhooks { ids, owner, now, latest, until }).await.map(drop)
    }

    /// Lets other processes own the endpoints of this one.
    pub(crate) async fn release_webhooks(&self, owner: Uuid) -> Result<(), StoreError> {
        self.run(sql::ReleaseWebhooks { owner }).await.map(drop)
    }

    /// Adds deliveries and moves the position behind their events. Returns whether the process owns the endpoint, and its position was
    /// not moved by a client.
    pub(crate) async fn add_deliveries(
        &self,
        webhook: &Webhook,
        owner: Uuid,
        new: &[NewDelivery],
        position: EventPosition,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let add = sql::AddDeliveries {
            webhook: webhook.id,
            owner,
            moves: webhook.moves,
            now,
            deliveries: json(&new)?,
            transaction_id: position.transaction,
            ad: position.ad,
            n: position.sequence,
        };
        Ok(!self.run(add).await?.rows.is_empty())
    }

    /// Deliveries of an endpoint that are due and not in flight, the longest first.
    pub(crate) async fn due_deliveries(
        &self,
        webhook: Uuid,
        now: Timestamp,
        in_flight: &[i64],
        limit: u32,
    ) -> Result<Vec<Due>, StoreError> {
        let due = sql::DueDeliveries { webhook, now, in_flight: in_flight.to_vec(), limit };
        self.read(due).await?.iter().map(due_delivery).collect()
    }

    /// Records attempts, if the process still owns the endpoint.
    pub(crate) async fn record_attempts(
        &self,
        webhook: Uuid,
        owner: Uuid,
        attempts: &[Attempted],
        health: &Health,
    ) -> Result<(), StoreError> {
        let rows = attempts.iter().map(|attempted| {
            let Attempted { seq, state, next_attempt, attempts } = attempted;
            Ok((seq, state.name(), next_attempt.as_millis(), json(attempts)?))
        });
        let rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
        let record = sql::RecordAttempts {
            webhook,
            owner,
            attempts: json(&rows)?,
            last_success: health.last_success,
            last_failure: health.last_failure,
            failing_since: health.failing_since,
            disabled: health.disabled.map(Disabled::name),
        };
        self.run(record).await.map(drop)
    }

    /// Removes deliveries that ended and were created before a time, at most so many, and returns how many.
    pub(crate) async fn remove_deliveries(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        Ok(self.run(sql::RemoveDeliveries { before, at_most }).await?.changed)
    }

    /// Removes deliveries of deleted endpoints, at most so many, and then the endpoints; returns how many deliveries.
    pub(crate) async fn remove_deleted_webhooks(&self, at_most: u32) -> Result<u64, StoreError> {
        let removed = self.run(sql::RemoveDeliveriesOfDeleted { at_most }).await?.changed;
        if removed == 0 {
            self.run(sql::RemoveDeleted {}).await?;
        }
        Ok(removed)
    }
}

fn move_to(id: Uuid, EventPosition { transaction, ad, sequence }: EventPosition) -> Statement {
    sql::MoveWebhook { id, transaction_id: transaction, ad, n: sequence }.into()
}

fn types_text(types: &[EventTypes]) -> Vec<String> {
    types.iter().map(EventTypes::to_string).collect()
}

/// An endpoint by its columns, and what the last column has.
fn webhook<T>(
    row: &Row,
    last: impl FnOnce(&mut Columns<'_>) -> Result<T, StoreError>,
) -> Result<(Webhook, T), StoreError> {
    let mut columns = Columns::of(row);
    let id = columns.id()?;
    let (scope_type, scope) = (columns.string()?, columns.string()?);
    let access = if scope_type == "dealer_group" { Access::Group(scope) } else { Access::Dealer(scope) };
    let url = columns.string()?;
    let types: Vec<String> = columns.json()?;
    let types = types.iter().map(|text| text.parse()).collect::<Result<_, _>>();
    let webhook = Webhook {
        id,
        access,
        url,
        types: types.map_err(|error| StoreError::Faulty(Box::new(error)))?,
        dealer_code: columns.maybe_string()?,
        description: columns.maybe_string()?,
        secrets: columns.json()?,
        created: columns.time()?,
        updated: columns.time()?,
        disabled: columns.maybe_text()?.as_deref().and_then(Disabled::from_name),
        last_success: columns.maybe_time()?,
        last_failure: columns.maybe_time()?,
        failing_since: columns.maybe_time()?,
        position: EventPosition { transaction: columns.value()?, ad: columns.value()?, sequence: columns.value()? },
        moves: columns.value()?,
        owner: columns.id()?,
    };
    Ok((webhook, last(&mut columns)?))
}

fn delivery(row: &Row) -> Result<Delivery, StoreError> {
    let mut columns = Columns::of(row);
    let (event_id, event_type) = (columns.string()?, columns.string()?);
    let state = columns.named(DeliveryState::from_name)?;
    let (created, next_attempt) = (columns.time()?, columns.time()?);
    let next_attempt = (state == DeliveryState::Pending).then_some(next_attempt);
    Ok(Delivery { event_id, event_type, state, created, next_attempt, attempts: columns.json()? })
}

fn due_delivery(row: &Row) -> Result<Due, StoreError> {
    let mut columns = Columns::of(row);
    Ok(Due {
        seq: columns.value()?,
        event_id: columns.string()?,
        created: columns.time()?,
        tries: columns.number()?,
        attempts: columns.json()?,
        event: match columns.value::<Option<i64>>()? {
            Some(_) => Some(event(&mut columns)?),
            None => None,
        },
    })
}
