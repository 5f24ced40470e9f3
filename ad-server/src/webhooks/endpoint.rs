//! One endpoint that this process owns: turns events into deliveries, and makes the attempts that are due, a few at a time.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use ad_core::{
    model::{EventPosition, EventQuery, Timestamp},
    ports::{EventWatch, Store, StoreError},
};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{sync::watch, time::sleep};
use uuid::Uuid;

use super::{
    Dealers, MOST_PENDING, SigningSecret, message,
    send::{Message, Outcome},
    worker::Shared,
};
use crate::store::webhooks::{Attempt, Attempted, DeliveryState, Disabled, Due, Health, NewDelivery, Webhook};

/// Attempts at the same time: fewer while the endpoint fails.
const AT_ONCE: usize = 8;
const AT_ONCE_FAILING: usize = 2;

/// Events that become deliveries in one commit.
const BATCH: u32 = 100;

/// Due deliveries that are read at once, with their events.
const READ: u32 = 32;

/// Latest attempts of a delivery that are kept.
const ATTEMPTS: usize = 20;

/// Pause after an error of the database.
const PAUSE: Duration = Duration::from_secs(1);

/// Longest pause until it is looked what to do.
const LOOK: Duration = Duration::from_mins(1);

/// What is known about an endpoint.
pub(super) struct Config {
    pub(super) webhook: Webhook,
    pub(super) secrets: Vec<SigningSecret>,
    pub(super) next_attempt: Option<Timestamp>,
    pub(super) owned_until: Timestamp,
}

type Sending = FuturesUnordered<BoxFuture<'static, (Due, Attempt, Outcome)>>;

/// An endpoint with its state in memory.
pub(super) struct Endpoint {
    shared: Arc<Shared>,
    configs: watch::Receiver<Arc<Config>>,
    config: Arc<Config>,
    dealers: Dealers,
    events: EventWatch,
    /// Events up to here have been read; those that are wanted have become deliveries.
    position: EventPosition,
    failing_since: Option<Timestamp>,
    chance: fastrand::Rng,
    /// Whether there may be events after the position.
    has_news: bool,
    /// Pending deliveries; `None`: not counted yet.
    pending: Option<u64>,
    /// Due deliveries that have been read.
    queue: VecDeque<Due>,
    /// Those that are being sent.
    in_flight: Vec<i64>,
    /// When there may be more due deliveries.
    look_at: Timestamp,
}

impl Endpoint {
    pub(super) fn new(shared: Arc<Shared>, configs: watch::Receiver<Arc<Config>>) -> Self {
        let config = Arc::clone(&configs.borrow());
        let webhook = &config.webhook;
        let dealers = Dealers::of(&*shared.directory, &webhook.access, webhook.dealer_code.as_deref());
        let (high, low) = webhook.id.as_u64_pair();
        Self {
            events: shared.store.watch_events(dealers.scope()),
            dealers,
            position: webhook.position,
            failing_since: webhook.failing_since,
            chance: fastrand::Rng::with_seed(high ^ low ^ shared.owner.as_u64_pair().1),
            has_news: true,
            pending: None,
            queue: VecDeque::new(),
            in_flight: Vec::new(),
            look_at: Timestamp::default(),
            config,
            configs,
            shared,
        }
    }

    fn id(&self) -> Uuid {
        self.config.webhook.id
    }

    /// Runs until the endpoint is disabled or the process stops. The worker ends it when another process owns the endpoint.
    pub(super) async fn run(mut self) {
        let mut sending = Sending::new();
        let mut stop = self.shared.stop.clone();
        while !*stop.borrow() {
            let pause = match self.work(&mut sending).await {
                Ok(()) => (self.look_at - self.shared.clock.now()).clamp(Duration::from_millis(1), LOOK),
                Err(error) => {
                    tracing::warn!(webhook = %self.id(), %error, "cannot prepare deliveries; will be retried");
                    PAUSE
                }
            };
            tokio::select! {
                Some(first) = sending.next() => {
                    if self.record_ready(first, &mut sending).await.is_break() {
                        return;
                    }
                }
                () = self.events.changed() => self.has_news = true,
                changed = self.configs.changed() => match changed {
                    Ok(()) => self.refresh(),
                    // The worker has ended.
                    Err(_) => return,
                },
                _ = stop.changed() => {}
                () = sleep(pause) => {}
            }
        }
        while let Some(first) = sending.next().await {
            if self.record_ready(first, &mut sending).await.is_break() {
                return;
            }
        }
    }

    /// Takes over what was read of the endpoint meanwhile.
    fn refresh(&mut self) {
        let config = Arc::clone(&self.configs.borrow_and_update());
        if config.webhook.moves != self.config.webhook.moves {
            self.position = config.webhook.position;
            self.queue.clear();
            self.pending = None;
            self.has_news = true;
        }
        let webhook = &config.webhook;
        let dealers = Dealers::of(&*self.shared.directory, &webhook.access, webhook.dealer_code.as_deref());
        if dealers != self.dealers {
            self.events = self.shared.store.watch_events(dealers.scope());
            self.dealers = dealers;
            self.has_news = true;
        }
        if let Some(next_attempt) = config.next_attempt {
            self.look_at = self.look_at.min(next_attempt);
        }
        self.config = config;
    }

    /// Queues new events, and begins the attempts that are due.
    async fn work(&mut self, sending: &mut Sending) -> Result<(), StoreError> {
        if self.pending.is_none() {
            self.pending = Some(self.shared.database.pending_of(self.id()).await?);
        }
        while self.has_news && self.free() > 0 {
            self.enqueue().await?;
        }
        self.begin(sending).await
    }

    /// How many more deliveries may be pending.
    fn free(&self) -> u32 {
        let pending = u32::try_from(self.pending.unwrap_or_default()).unwrap_or(u32::MAX);
        MOST_PENDING.saturating_sub(pending)
    }

    /// Turns the next events into deliveries, and moves the position in the same commit.
    async fn enqueue(&mut self) -> Result<(), StoreError> {
        let Shared { database, store, clock, owner, .. } = &*self.shared;
        let webhook = &self.config.webhook;
        let query = EventQuery {
            after: self.position,
            types: webhook.types.clone(),
            source_id: None,
            limit: BATCH.min(self.free()),
        };
        let page = store.events(self.dealers.scope(), &query).await?;
        // A position alone is stored now and then: reading a few entries again costs less than a commit.
        if !page.events.is_empty() || page.has_more {
            let now = clock.now();
            let new: Vec<NewDelivery> = page.events.iter().map(NewDelivery::of).collect();
            if !database.add_deliveries(webhook, *owner, &new, page.position, now).await? {
                // A client has moved the position, or another process owns the endpoint: the worker will say.
                self.has_news = false;
                return Ok(());
            }
            self.pending = self.pending.map(|pending| pending + new.len() as u64);
            if !new.is_empty() {
                self.look_at = self.look_at.min(now);
            }
        }
        self.position = page.position;
        self.has_news = page.has_more;
        Ok(())
    }

    /// Begins attempts, as many as may run at the same time.
    async fn begin(&mut self, sending: &mut Sending) -> Result<(), StoreError> {
        let at_once = if self.failing_since.is_some() { AT_ONCE_FAILING } else { AT_ONCE };
        while self.in_flight.len() < at_once {
            let now = self.shared.clock.now();
            if now >= self.config.owned_until {
                // Another process may own it by now. The worker will say.
                self.queue.clear();
                self.look_at = now + PAUSE;
                return Ok(());
            }
            if self.queue.is_empty() {
                if self.look_at > now {
                    return Ok(());
                }
                let due = self.shared.database.due_deliveries(self.id(), now, &self.in_flight, READ).await?;
                // Those that become due later are known from the latest look of the worker, or were scheduled here.
                self.look_at = if due.len() < READ as usize { now + LOOK } else { now };
                self.queue.extend(due);
            }
            let Some(due) = self.queue.pop_front() else { return Ok(()) };
            self.in_flight.push(due.seq);
            sending.push(attempt(Arc::clone(&self.shared), Arc::clone(&self.config), due).boxed());
        }
        Ok(())
    }

    /// Records an attempt, and others that have ended meanwhile, until it has been recorded. Breaks when the endpoint was disabled.
    async fn record_ready(
        &mut self,
        first: (Due, Attempt, Outcome),
        sending: &mut Sending,
    ) -> std::ops::ControlFlow<()> {
        let mut ended = vec![first];
        while let Some(Some(more)) = sending.next().now_or_never() {
            ended.push(more);
        }
        self.in_flight.retain(|seq| ended.iter().all(|(due, ..)| due.seq != *seq));
        let mut health = Health { failing_since: self.failing_since, ..Health::default() };
        let attempted: Vec<_> =
            ended.into_iter().map(|(due, attempt, outcome)| self.judge(due, attempt, outcome, &mut health)).collect();
        self.failing_since = health.failing_since;
        let finished = attempted.iter().filter(|attempted| attempted.state != DeliveryState::Pending).count();
        self.pending = self.pending.map(|pending| pending.saturating_sub(finished as u64));
        let (id, owner) = (self.id(), self.shared.owner);
        while let Err(error) = self.shared.database.record_attempts(id, owner, &attempted, &health).await {
            tracing::warn!(webhook = %id, %error, "cannot record deliveries; will be retried");
            sleep(PAUSE).await;
        }
        let Some(reason) = health.disabled else { return std::ops::ControlFlow::Continue(()) };
        let access = &self.config.webhook.access;
        tracing::warn!(webhook = %id, scope = access.name(), reason = reason.name(), "webhook disabled");
        std::ops::ControlFlow::Break(())
    }

    /// What an attempt changes about its delivery, and about the endpoint.
    fn judge(&mut self, due: Due, attempt: Attempt, outcome: Outcome, health: &mut Health) -> Attempted {
        let Due { seq, tries, mut attempts, .. } = due;
        let (at, now) = (attempt.at, self.shared.clock.now());
        attempts.push(attempt);
        let surplus = attempts.len().saturating_sub(ATTEMPTS);
        attempts.drain(..surplus);
        let (state, next_attempt) = match outcome {
            Outcome::Delivered => {
                health.last_success = Some(at);
                health.failing_since = None;
                (DeliveryState::Delivered, now)
            }
            Outcome::Gone => {
                health.last_failure = Some(at);
                health.failing_since.get_or_insert(at);
                health.disabled = Some(Disabled::Gone);
                // It comes again when the endpoint is enabled.
                (DeliveryState::Pending, now)
            }
            Outcome::Failed(asked) => {
                health.last_failure = Some(at);
                let since = *health.failing_since.get_or_insert(at);
                if now - since >= self.shared.disable_after {
                    health.disabled.get_or_insert(Disabled::Failing);
                }
                match self.shared.schedule.pause(tries + 1, asked, self.chance.f64()) {
                    Some(pause) => (DeliveryState::Pending, now + pause),
                    None => (DeliveryState::Failed, now),
                }
            }
        };
        let label = match state {
            DeliveryState::Delivered => "delivered",
            DeliveryState::Pending => "retried",
            DeliveryState::Failed => "failed",
        };
        self.shared.metrics.webhook_attempted(label);
        if state == DeliveryState::Pending {
            self.look_at = self.look_at.min(next_attempt);
        }
        Attempted { seq, state, next_attempt, attempts }
    }
}

/// Makes an attempt when it is its turn.
async fn attempt(shared: Arc<Shared>, config: Arc<Config>, due: Due) -> (Due, Attempt, Outcome) {
    let webhook = &config.webhook;
    let _turn = shared.attempts.take(&webhook.id.to_string(), 1).await;
    let body = match &due.event {
        Some(event) => message::of_event(&webhook.access, event),
        None => message::of_test(webhook.id, due.created),
    };
    let message = Message { url: &webhook.url, id: &due.event_id, body, secrets: &config.secrets };
    let (attempt, outcome) = shared.sender.send(message).await;
    (due, attempt, outcome)
}
