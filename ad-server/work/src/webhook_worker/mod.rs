//! Decides which process sends to which endpoints. Each process owns endpoints for a limited time, which it renews. When a process is
//! killed, others claim its endpoints after that time.
//!
//! Each poll reads only the endpoints that can be claimed and those that a client has changed, so it costs the same however many there
//! are. What happens at an endpoint otherwise wakes its own task.

mod endpoint;

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use ad_core::{model::Timestamp, ports::StoreError, service::Access};
use tokio::{
    sync::{Semaphore, watch},
    task::{Id, JoinError, JoinSet},
    time::{sleep, timeout},
};
use uuid::Uuid;

use self::endpoint::{Config, Endpoint, EndpointContext};
use ad_server_base::{
    limits::{
        FairSemaphore,
        table::{ATTEMPTS, ATTEMPTS_RESERVED, WEBHOOKS_OF_PROCESS},
    },
    telemetry::{FaultLog, Metrics},
};
use ad_server_outside::webhooks::{
    Dealers, Webhooks,
    schedule::Schedule,
    send::{Sender, SenderError},
};
use ad_server_store::{
    DatabaseStore,
    webhooks::{ChangedWebhook, Ownership, Webhook},
};

static NOT_READ: FaultLog = FaultLog::new("cannot read webhooks; will be retried");

/// Longest pause between polls: what clients of other processes change.
const POLL: Duration = Duration::from_secs(1);

/// For how long endpoints are owned.
const OWNED: Duration = Duration::from_secs(10);

/// Interval at which ownership of endpoints is renewed.
const RENEWED: Duration = Duration::from_secs(3);

/// How many endpoints read the database at the same time, so that requests of clients find it free.
const READERS: usize = 4;

/// How long attempts may go on during shutdown: a little longer than one takes at most.
const GRACE: Duration = Duration::from_secs(17);

/// Sends events to the endpoints that this process owns.
pub struct WebhookWorker {
    shared: Arc<EndpointContext>,
    tasks: JoinSet<()>,
    /// The enabled endpoints that are owned, by id.
    endpoints: HashMap<Uuid, RunningEndpoint>,
    /// Endpoints whose tasks have ended. They are read again, and started unless they were disabled or belong to another process.
    ended: Vec<Uuid>,
    renewed: Option<Timestamp>,
    /// Endpoints whose secrets this process cannot decrypt; it does not claim them again.
    undecrypted: HashSet<Uuid>,
}

ad_server_base::debug_by_name!(WebhookWorker);

struct RunningEndpoint {
    task: tokio::task::AbortHandle,
    config: watch::Sender<Arc<Config>>,
}

impl WebhookWorker {
    /// A worker with this id as an owner, which runs until `stop` says so.
    ///
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub fn new(
        webhooks: Webhooks,
        store: Arc<DatabaseStore>,
        metrics: Metrics,
        owner: Uuid,
        schedule: Schedule,
        disable_after: Duration,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, SenderError> {
        let shared = EndpointContext {
            sender: Sender::new(webhooks.guard(), Arc::clone(&webhooks.clock))?,
            webhooks,
            store,
            metrics,
            schedule,
            disable_after,
            attempts: FairSemaphore::with_reserve(ATTEMPTS, ATTEMPTS_RESERVED),
            readers: Semaphore::new(READERS),
            owner,
            stop,
            owned_until: AtomicI64::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            tasks: JoinSet::new(),
            endpoints: HashMap::new(),
            ended: Vec::new(),
            renewed: None,
            undecrypted: HashSet::new(),
        })
    }

    /// Runs until the stop, then waits for running attempts and releases the endpoints to other processes.
    pub async fn run(mut self) {
        let mut stop = self.shared.stop.clone();
        while !*stop.borrow() {
            if let Err(error) = self.poll().await {
                NOT_READ.report(&error);
            }
            tokio::select! {
                _ = stop.changed() => break,
                () = self.shared.webhooks.changed.notified() => {}
                () = sleep(POLL) => {}
                Some(ended) = self.tasks.join_next_with_id() => self.forget(ended).await,
            }
            while let Some(ended) = self.tasks.try_join_next_with_id() {
                self.forget(ended).await;
            }
        }
        let ended = timeout(GRACE, async { while self.tasks.join_next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::warn!(endpoints = self.tasks.len(), "shutdown timeout; unfinished deliveries will be retried");
        }
        if let Err(error) = self.shared.webhooks.database.renew_owner(self.shared.owner, Timestamp::default()).await {
            tracing::warn!(%error, "cannot release webhooks; other processes wait until their lease ends");
        }
    }

    async fn forget(&mut self, ended: Result<(Id, ()), JoinError>) {
        let task = match &ended {
            Ok((task, ())) => *task,
            Err(error) => error.id(),
        };
        if let Err(error) = ended
            && error.is_panic()
        {
            tracing::error!(%error, "webhook task panicked; will be restarted");
            // Delayed, so that a failing task is not restarted in a loop.
            sleep(POLL).await;
        }
        self.ended.extend(self.endpoints.extract_if(|_, running| running.task.id() == task).map(|(id, _)| id));
    }

    /// Renews ownership, claims endpoints that no process owns, and reads those that have changed.
    async fn poll(&mut self) -> Result<(), StoreError> {
        let now = self.shared.webhooks.clock.now();
        self.renew(now).await?;
        let EndpointContext { webhooks: Webhooks { database, .. }, owner, .. } = &*self.shared;
        if !self.ended.is_empty() {
            database.touch_webhooks(&self.ended).await?;
            self.ended.clear();
        }
        let ownership = Ownership { owner: *owner, now, latest: now + OWNED };
        let free = WEBHOOKS_OF_PROCESS.saturating_sub(self.endpoints.len());
        database.claim_webhooks(ownership, self.undecrypted.iter(), free).await?;
        let changed = database.changed_webhooks(*owner).await?;
        let mut read = Vec::new();
        for ChangedWebhook { webhook, is_deleted, changes } in changed {
            read.push((webhook.id, changes));
            if is_deleted || webhook.disabled.is_some() {
                self.stop(webhook.id);
            } else if self.can_decrypt(&webhook, now) {
                self.start(webhook);
            } else {
                self.stop(webhook.id);
                self.shared.webhooks.database.release_webhook(webhook.id, self.shared.owner).await?;
            }
        }
        if !read.is_empty() {
            self.shared.webhooks.database.changes_read(self.shared.owner, &read).await?;
        }
        self.update_groups();
        Ok(())
    }

    /// Renews ownership when it is time.
    async fn renew(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let age = |renewed| if now < renewed { OWNED } else { now - renewed };
        if self.renewed.is_some_and(|renewed| age(renewed) < RENEWED) {
            return Ok(());
        }
        let EndpointContext { webhooks: Webhooks { database, .. }, owner, .. } = &*self.shared;
        let until = now + OWNED;
        database.renew_owner(*owner, until).await?;
        if self.renewed.is_some_and(|renewed| age(renewed) >= OWNED) {
            // Other processes may have claimed some of them in the meantime.
            for (_, running) in self.endpoints.drain() {
                running.task.abort();
            }
            database.touch_owned(*owner).await?;
        }
        self.renewed = Some(now);
        self.shared.owned_until.store(until.as_millis(), Ordering::Relaxed);
        Ok(())
    }

    /// Whether this process has the key of an endpoint's secrets. Others may have it.
    fn can_decrypt(&mut self, webhook: &Webhook, now: Timestamp) -> bool {
        let secrets = self.shared.webhooks.vault.open_all(webhook.id, &webhook.secrets, now);
        if let Err(error) = &secrets
            && self.undecrypted.insert(webhook.id)
        {
            tracing::error!(webhook = %webhook.id, "cannot send to webhook: {error}");
        }
        secrets.is_ok()
    }

    fn stop(&mut self, id: Uuid) {
        if let Some(running) = self.endpoints.remove(&id) {
            running.task.abort();
        }
    }

    /// Starts the task of an endpoint, or gives it what has changed.
    fn start(&mut self, webhook: Webhook) {
        let id = webhook.id;
        let dealers = Dealers::of(&*self.shared.webhooks.directory, &webhook.access, webhook.dealer_code.as_deref());
        let config = Arc::new(Config { webhook, dealers });
        if let Some(running) = self.endpoints.get(&id) {
            running.config.send_replace(config);
            return;
        }
        let (sender, receiver) = watch::channel(config);
        let task = self.tasks.spawn(Endpoint::new(Arc::clone(&self.shared), receiver).run());
        self.endpoints.insert(id, RunningEndpoint { task, config: sender });
    }

    /// Gives endpoints of groups the dealers that the groups have now.
    fn update_groups(&self) {
        for running in self.endpoints.values() {
            let config = Arc::clone(&running.config.borrow());
            let webhook = &config.webhook;
            if matches!(webhook.access, Access::Dealer(_)) {
                continue;
            }
            let dealers =
                Dealers::of(&*self.shared.webhooks.directory, &webhook.access, webhook.dealer_code.as_deref());
            if dealers != config.dealers {
                running.config.send_replace(Arc::new(Config { webhook: webhook.clone(), dealers }));
            }
        }
    }
}
