//! One endpoint that this process owns: turns events into deliveries, and makes the attempts that are due, a few at a time.

use std::{
    collections::VecDeque,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use ad_core::{
    model::{DeliveryState, DisabledReason, EventPosition, EventQuery, Timestamp},
    ports::{EventWatch, Store, StoreError},
};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, sleep, timeout_at},
};
use uuid::Uuid;

use ad_server_base::{
    limits::{
        FairSemaphore,
        table::{ATTEMPTS_OF_FAILING_WEBHOOK, ATTEMPTS_OF_WEBHOOK, PENDING_DELIVERIES},
    },
    telemetry::{FaultLog, Metrics},
};
use ad_server_outside::webhooks::{
    Dealers, Webhooks, message,
    schedule::Schedule,
    secret::WrongVaultKey,
    send::{AttemptOutcome, Message, Sender},
};
use ad_server_store::{
    DatabaseStore,
    webhooks::{Attempt, DeliveryUpdate, DueDelivery, EndpointHealth, Webhook},
};

static NOT_PREPARED: FaultLog = FaultLog::new("cannot prepare deliveries to webhooks; will be retried");
static NOT_RECORDED: FaultLog = FaultLog::new("cannot record deliveries to webhooks; will be retried");

/// Events that become deliveries in one commit.
const BATCH: u32 = 100;

/// Time between two reads of new events, at least: those of a busy dealer share commits.
const READ_INTERVAL: Duration = Duration::from_millis(250);

/// Due deliveries that are in memory with their events, at most.
const READ: u32 = 64;

/// How long the result of an attempt waits for those of other attempts, to be recorded in one commit with them.
const RECORD_WITHIN: Duration = Duration::from_millis(50);

/// Latest attempts of a delivery that are kept.
const ATTEMPTS: usize = 20;

/// Pause after an error of the database.
const PAUSE: Duration = Duration::from_secs(1);

/// Maximum pause before the clock is read again, because it may have been set.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Number of pages without matching events after which the position is stored by itself.
const EMPTY_PAGES: u32 = 100;

/// The error of an attempt whose secret was encrypted with a key that this process lacks.
const UNDECRYPTED: &str = "the service cannot read the secret of the webhook";

/// What the endpoints of a process share.
pub(super) struct EndpointContext {
    pub(super) webhooks: Webhooks,
    pub(super) store: Arc<DatabaseStore>,
    pub(super) metrics: Metrics,
    pub(super) sender: Sender,
    pub(super) schedule: Schedule,
    pub(super) disable_after: Duration,
    pub(super) attempts: FairSemaphore,
    pub(super) readers: Semaphore,
    /// The id of this process as an owner.
    pub(super) owner: Uuid,
    pub(super) stop: watch::Receiver<bool>,
    /// Until when this process owns its endpoints, in milliseconds.
    pub(super) owned_until: AtomicI64,
}

impl EndpointContext {
    pub(super) fn owned_until(&self) -> Timestamp {
        Timestamp::from_millis(self.owned_until.load(Ordering::Relaxed))
    }
}

/// What is known about an endpoint.
pub(super) struct Config {
    pub(super) webhook: Webhook,
    pub(super) dealers: Dealers,
}

type Sending = FuturesUnordered<BoxFuture<'static, (DueDelivery, Attempt, AttemptOutcome)>>;

/// An endpoint with its state in memory.
pub(super) struct Endpoint {
    shared: Arc<EndpointContext>,
    configs: watch::Receiver<Arc<Config>>,
    config: Arc<Config>,
    events: EventWatch,
    /// Events up to here have been read; the matching ones have become deliveries.
    position: EventPosition,
    /// Pages that were read since a position was stored.
    empty_pages: u32,
    failing_since: Option<Timestamp>,
    chance: fastrand::Rng,
    /// Whether there may be events after the position.
    has_news: bool,
    /// When new events may be read.
    next_read: Instant,
    /// Pending deliveries; `None`: not counted yet.
    pending: Option<u64>,
    /// Due deliveries that have been read.
    queue: VecDeque<DueDelivery>,
    /// Those that are being sent, with their ads.
    in_flight: Vec<(i64, Option<i64>)>,
    /// When more deliveries may be due; `None`: not before an event or a change.
    due_at: Option<Timestamp>,
}

impl Endpoint {
    pub(super) fn new(shared: Arc<EndpointContext>, configs: watch::Receiver<Arc<Config>>) -> Self {
        let config = Arc::clone(&configs.borrow());
        let Config { webhook, dealers } = &*config;
        let (high, low) = webhook.id.as_u64_pair();
        Self {
            events: shared.store.watch_events(dealers.scope()),
            position: webhook.position,
            empty_pages: 0,
            failing_since: webhook.failing_since,
            chance: fastrand::Rng::with_seed(high ^ low ^ shared.owner.as_u64_pair().1),
            has_news: true,
            next_read: Instant::now(),
            pending: None,
            queue: VecDeque::new(),
            in_flight: Vec::new(),
            due_at: None,
            config,
            configs,
            shared,
        }
    }

    fn id(&self) -> Uuid {
        self.config.webhook.id
    }

    /// Runs until the endpoint is disabled, belongs to another process, or the process stops.
    pub(super) async fn run(mut self) {
        let mut sending = Sending::new();
        let mut stop = self.shared.stop.clone();
        while !*stop.borrow() {
            let pause = match self.work(&mut sending).await {
                Ok(ControlFlow::Break(())) => break,
                Ok(ControlFlow::Continue(())) => self.pause(),
                Err(error) => {
                    NOT_PREPARED.report(&error);
                    Some(PAUSE)
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
                () = sleep(pause.unwrap_or_default()), if pause.is_some() => {}
            }
        }
        // No more attempts begin.
        self.queue.clear();
        while let Some(first) = sending.next().await {
            if self.record_ready(first, &mut sending).await.is_break() {
                return;
            }
        }
    }

    /// Time until there may be more work; `None`: not before an event or a change.
    fn pause(&self) -> Option<Duration> {
        let until_read = self.may_read_events().then(|| self.next_read.saturating_duration_since(Instant::now()));
        // What is queued waits for the end of an attempt.
        let begins = self.queue.is_empty() && self.in_flight.len() < self.at_once();
        let until_due = self.due_at.filter(|_| begins).map(|at| {
            let now = self.shared.webhooks.clock.now();
            (at - now).clamp(Duration::from_millis(1), LONGEST_PAUSE)
        });
        [until_read, until_due].into_iter().flatten().min()
    }

    /// How many attempts may be made at the same time.
    fn at_once(&self) -> usize {
        if self.failing_since.is_some() { ATTEMPTS_OF_FAILING_WEBHOOK } else { ATTEMPTS_OF_WEBHOOK }
    }

    /// Takes over what a client has changed, or other dealers of the group.
    fn refresh(&mut self) {
        let config = Arc::clone(&self.configs.borrow_and_update());
        if config.webhook.moves != self.config.webhook.moves {
            self.position = config.webhook.position;
            self.queue.clear();
            self.has_news = true;
        }
        if config.dealers != self.config.dealers {
            self.events = self.shared.store.watch_events(config.dealers.scope());
            self.has_news = true;
        }
        // A delivery may have been added, or be due again.
        self.pending = None;
        self.config = config;
    }

    /// Queues new events, and begins the attempts that are due. Breaks when the process does not own the endpoint any more.
    async fn work(&mut self, sending: &mut Sending) -> Result<ControlFlow<()>, StoreError> {
        let shared = Arc::clone(&self.shared);
        let _turn = shared.readers.acquire().await;
        if self.pending.is_none() {
            let now = shared.webhooks.clock.now();
            let (pending, _) = shared.webhooks.database.pending_of(self.id(), now).await?;
            self.pending = Some(pending);
            self.due_at = (pending > 0).then_some(now);
        }
        if self.next_read <= Instant::now() {
            while self.may_read_events() {
                if self.enqueue().await?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                self.next_read = Instant::now() + READ_INTERVAL;
            }
        }
        self.begin(sending).await?;
        Ok(ControlFlow::Continue(()))
    }

    /// Whether there may be new events, and one more batch of deliveries may be pending.
    fn may_read_events(&self) -> bool {
        self.has_news && self.pending.unwrap_or_default() + u64::from(BATCH) <= u64::from(PENDING_DELIVERIES)
    }

    /// Turns the next events into deliveries, and moves the position in the same commit. Breaks when a client has moved the position, or
    /// disabled the endpoint, or another process owns it: the worker reads it again.
    async fn enqueue(&mut self) -> Result<ControlFlow<()>, StoreError> {
        let EndpointContext { webhooks: Webhooks { database, clock, .. }, store, owner, .. } = &*self.shared;
        let Config { webhook, dealers } = &*self.config;
        let query = EventQuery { after: self.position, types: webhook.types.clone(), source_id: None, limit: BATCH };
        let page = store.events(dealers.scope(), &query).await?;
        self.empty_pages += 1;
        // Reading a few entries again costs less than a commit.
        if !page.events.is_empty() || page.has_more || self.empty_pages >= EMPTY_PAGES {
            let now = clock.now();
            let Some(mut due) = database.add_deliveries(webhook, *owner, page.events, page.position, now).await? else {
                return Ok(ControlFlow::Break(()));
            };
            self.empty_pages = 0;
            self.pending = self.pending.map(|pending| pending + due.len() as u64);
            if self.has_none_due(now) {
                let rest = due.split_off(due.len().min(READ as usize));
                // What is replayed may be in flight.
                due.retain(|due| self.in_flight.iter().all(|(seq, _)| *seq != due.seq));
                self.queue.extend(due);
                due = rest;
            }
            if !due.is_empty() {
                self.due_by(now);
            }
        }
        self.position = page.position;
        self.has_news = page.has_more;
        Ok(ControlFlow::Continue(()))
    }

    /// Whether no delivery is due but those in flight.
    fn has_none_due(&self, now: Timestamp) -> bool {
        self.queue.is_empty() && self.due_at.is_none_or(|at| at > now)
    }

    /// There may be more due deliveries then.
    fn due_by(&mut self, at: Timestamp) {
        self.due_at = Some(self.due_at.map_or(at, |known| known.min(at)));
    }

    /// Begins attempts, as many as may run at the same time, and reads what is due when none is queued any more.
    async fn begin(&mut self, sending: &mut Sending) -> Result<(), StoreError> {
        self.begin_queued(sending);
        while self.queue.is_empty() && self.in_flight.len() < self.at_once() {
            let now = self.shared.webhooks.clock.now();
            if self.has_none_due(now) {
                return Ok(());
            }
            let in_flight = self.in_flight.iter().map(|(seq, _)| *seq).collect();
            let due = self.shared.webhooks.database.due_deliveries(self.id(), now, in_flight, READ).await?;
            let is_more = due.len() == READ as usize;
            self.queue.extend(due);
            self.due_at = if is_more { Some(now) } else { self.next_attempt(now).await? };
            self.begin_queued(sending);
        }
        Ok(())
    }

    /// Begins attempts of queued deliveries, as many as may run at the same time.
    fn begin_queued(&mut self, sending: &mut Sending) {
        let now = self.shared.webhooks.clock.now();
        if now >= self.shared.owned_until() {
            // Another process may own it by now. The worker finds out.
            self.queue.clear();
            self.due_at = Some(now + PAUSE);
        }
        while self.in_flight.len() < self.at_once()
            && let Some(due) = self.next_due()
        {
            self.in_flight.push((due.seq, due.ad()));
            sending.push(attempt(Arc::clone(&self.shared), Arc::clone(&self.config), due).boxed());
        }
    }

    /// The first due delivery of an ad of which none is being sent, so that the events of an ad arrive in order unless they fail.
    fn next_due(&mut self) -> Option<DueDelivery> {
        let is_free =
            |due: &DueDelivery| due.ad().is_none_or(|own| self.in_flight.iter().all(|(_, ad)| *ad != Some(own)));
        let place = self.queue.iter().position(is_free)?;
        self.queue.remove(place)
    }

    /// When the next delivery is due that is neither read nor being sent.
    async fn next_attempt(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let known = self.queue.len() + self.in_flight.len();
        if self.pending.is_some_and(|pending| pending <= known as u64) {
            return Ok(None);
        }
        let (pending, next_attempt) = self.shared.webhooks.database.pending_of(self.id(), now).await?;
        self.pending = Some(pending);
        Ok(next_attempt)
    }

    /// Records an attempt, and others that end within a short time, until they have been recorded. Breaks when the endpoint was disabled,
    /// or belongs to another process.
    async fn record_ready(
        &mut self,
        first: (DueDelivery, Attempt, AttemptOutcome),
        sending: &mut Sending,
    ) -> ControlFlow<()> {
        let until = Instant::now() + RECORD_WITHIN;
        let (mut ended, mut next, mut all_delivered) = (Vec::new(), Some(first), true);
        while let Some((due, attempt, outcome)) = next {
            self.in_flight.retain(|(seq, _)| *seq != due.seq);
            ended.push((due, attempt, outcome));
            all_delivered &= outcome == AttemptOutcome::Delivered;
            // A failure may disable the endpoint, or slow it down.
            if all_delivered {
                self.begin_queued(sending);
            }
            next = timeout_at(until, sending.next()).await.ok().flatten();
        }
        let mut health = EndpointHealth { failing_since: self.failing_since, ..EndpointHealth::default() };
        let attempted: Vec<_> = ended
            .into_iter()
            .map(|(due, attempt, outcome)| self.classify_attempt(due, attempt, outcome, &mut health))
            .collect();
        self.failing_since = health.failing_since;
        let finished = attempted.iter().filter(|attempted| attempted.state != DeliveryState::Pending).count();
        self.pending = self.pending.map(|pending| pending.saturating_sub(finished as u64));
        let (id, owner) = (self.id(), self.shared.owner);
        let is_owned = loop {
            match self.shared.webhooks.database.record_attempts(id, owner, &attempted, &health).await {
                Ok(is_owned) => break is_owned,
                Err(error) => NOT_RECORDED.report(&error),
            }
            sleep(PAUSE).await;
        };
        if let Some(reason) = health.disabled.filter(|_| is_owned) {
            let access = &self.config.webhook.access;
            tracing::warn!(webhook = %id, scope = access.name(), reason = reason.name(), "webhook disabled");
        }
        if is_owned && health.disabled.is_none() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// What an attempt changes about its delivery, and about the endpoint.
    fn classify_attempt(
        &mut self,
        due: DueDelivery,
        attempt: Attempt,
        outcome: AttemptOutcome,
        health: &mut EndpointHealth,
    ) -> DeliveryUpdate {
        let DueDelivery { seq, tries, mut attempts, .. } = due;
        let (at, now) = (attempt.at, self.shared.webhooks.clock.now());
        attempts.push(attempt);
        let surplus = attempts.len().saturating_sub(ATTEMPTS);
        attempts.drain(..surplus);
        let (state, next_attempt) = match outcome {
            AttemptOutcome::Delivered => {
                health.last_success = Some(at);
                health.failing_since = None;
                (DeliveryState::Delivered, now)
            }
            AttemptOutcome::Gone => {
                health.last_failure = Some(at);
                health.failing_since.get_or_insert(at);
                health.disabled = Some(DisabledReason::Gone);
                // The delivery is repeated when the endpoint is enabled again.
                (DeliveryState::Pending, now)
            }
            AttemptOutcome::Failed(asked) => {
                health.last_failure = Some(at);
                let since = *health.failing_since.get_or_insert(at);
                if now - since >= self.shared.disable_after {
                    health.disabled.get_or_insert(DisabledReason::Failing);
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
            self.due_by(next_attempt);
        }
        DeliveryUpdate { seq, state, next_attempt, attempts }
    }
}

/// Waits for a slot and makes an attempt.
async fn attempt(
    shared: Arc<EndpointContext>,
    config: Arc<Config>,
    due: DueDelivery,
) -> (DueDelivery, Attempt, AttemptOutcome) {
    let webhook = &config.webhook;
    let _turn = shared.attempts.take(&webhook.id.to_string(), 1).await;
    let at = shared.webhooks.clock.now();
    let secrets = match shared.webhooks.vault.open_all(webhook.id, &webhook.secrets, at) {
        Ok(secrets) => secrets,
        Err(WrongVaultKey) => return (due, Attempt::unsent(at, UNDECRYPTED), AttemptOutcome::Failed(None)),
    };
    let body = match &due.event {
        Some(event) => message::of_event(&webhook.access, event),
        None => message::of_test(webhook.id, due.created),
    };
    let message = Message { url: &webhook.url, id: &due.event_id, body, secrets: &secrets };
    let (attempt, outcome) = shared.sender.send(message).await;
    (due, attempt, outcome)
}
