//! Decides which process sends to which endpoints. Each process owns endpoints for a while, and goes on to own them; those of a
//! process that was killed are claimed by another when that time is over.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use ad_core::{
    model::Timestamp,
    ports::{Clock, DealerDirectory, Ids, StoreError},
};
use tokio::{
    sync::{Notify, watch},
    task::{Id, JoinSet},
    time::{sleep, timeout},
};
use uuid::Uuid;

use super::{
    Vault,
    endpoint::{Config, Endpoint},
    guard,
    schedule::Schedule,
    secret::OtherKey,
    send::{Sender, SenderError},
};
use crate::{
    config::Settings,
    shares::Shares,
    store::{
        Database, DatabaseStore,
        webhooks::{Ownership, Webhook},
    },
    telemetry::Metrics,
};

/// How often endpoints are looked at when nothing else wakes the worker.
const POLL: Duration = Duration::from_secs(1);

/// For how long endpoints are owned.
const OWNED: Duration = Duration::from_secs(15);

/// When ownership is renewed.
const RENEWED: Duration = Duration::from_secs(5);

/// Most endpoints of one process: each takes some memory, and all are looked at every second.
const MOST_ENDPOINTS: u32 = 10_000;

/// Attempts at the same time, of all endpoints together, and how many of them are for endpoints that have none.
const AT_ONCE: usize = 128;
const FOR_OTHERS: usize = 96;

/// How long attempts may go on during shutdown: a little longer than one takes at most.
const GRACE: Duration = Duration::from_secs(17);

/// What the endpoints of a process share.
pub(super) struct Shared {
    pub(super) database: Database,
    pub(super) store: Arc<DatabaseStore>,
    pub(super) directory: Arc<dyn DealerDirectory>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Metrics,
    pub(super) sender: Sender,
    pub(super) schedule: Schedule,
    pub(super) disable_after: Duration,
    pub(super) attempts: Shares,
    /// The id of this process as an owner.
    pub(super) owner: Uuid,
    pub(super) stop: watch::Receiver<bool>,
}

/// Sends events to the endpoints that this process owns.
pub(crate) struct WebhookWorker {
    shared: Arc<Shared>,
    vault: Arc<Vault>,
    changed: Arc<Notify>,
    tasks: JoinSet<()>,
    /// The endpoints that are owned, by id.
    endpoints: HashMap<Uuid, Running>,
    renewed: Option<Timestamp>,
    /// Endpoints whose secrets this process cannot decrypt, which was logged.
    undecrypted: HashSet<Uuid>,
}

/// The task of an endpoint.
struct Running {
    task: tokio::task::AbortHandle,
    config: watch::Sender<Arc<Config>>,
}

/// What a worker is made of.
pub(crate) struct WorkerParts {
    pub(crate) database: Database,
    pub(crate) store: Arc<DatabaseStore>,
    pub(crate) directory: Arc<dyn DealerDirectory>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) metrics: Metrics,
    pub(crate) vault: Arc<Vault>,
    pub(crate) changed: Arc<Notify>,
}

impl WebhookWorker {
    /// A worker, which runs until `stop` says so.
    ///
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub(crate) fn new(
        parts: WorkerParts,
        settings: &Settings,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, SenderError> {
        let WorkerParts { database, store, directory, clock, ids, metrics, vault, changed } = parts;
        let sender = Sender::new(guard(settings.private_webhooks()), Arc::clone(&clock))?;
        let shared = Shared {
            database,
            store,
            directory,
            clock,
            metrics,
            sender,
            schedule: Schedule::new(&settings.webhook_retries),
            disable_after: settings.webhook_disabled_after.duration(),
            attempts: Shares::with_reserve(AT_ONCE, FOR_OTHERS),
            owner: ids.next(),
            stop,
        };
        Ok(Self {
            shared: Arc::new(shared),
            vault,
            changed,
            tasks: JoinSet::new(),
            endpoints: HashMap::new(),
            renewed: None,
            undecrypted: HashSet::new(),
        })
    }

    /// Runs until it is to stop, then waits for the attempts under way and lets other processes have the endpoints.
    pub(crate) async fn run(mut self) {
        let mut stop = self.shared.stop.clone();
        while !*stop.borrow() {
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "cannot read webhooks; will be retried");
            }
            tokio::select! {
                _ = stop.changed() => break,
                () = self.changed.notified() => {}
                () = sleep(POLL) => {}
                Some(ended) = self.tasks.join_next_with_id() => {
                    let id = match ended {
                        Ok((id, ())) => id,
                        Err(error) => {
                            if error.is_panic() {
                                tracing::error!(%error, "webhook task panicked; will be restarted");
                                // Not at once and again and again.
                                sleep(POLL).await;
                            }
                            error.id()
                        }
                    };
                    self.forget(id);
                }
            }
        }
        let ended = timeout(GRACE, async { while self.tasks.join_next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::warn!(endpoints = self.tasks.len(), "shutdown timeout; unfinished deliveries will be retried");
        }
        if let Err(error) = self.shared.database.release_webhooks(self.shared.owner).await {
            tracing::warn!(%error, "cannot release webhooks; other processes wait until their lease ends");
        }
    }

    fn forget(&mut self, task: Id) {
        self.endpoints.retain(|_, running| running.task.id() != task);
    }

    /// Looks which endpoints there are, claims those that no process owns, and brings the tasks up to date.
    async fn look(&mut self) -> Result<(), StoreError> {
        let now = self.shared.clock.now();
        let ownership = Ownership { owner: self.shared.owner, now, latest: now + OWNED };
        let database = &self.shared.database;
        let mut found = database.webhooks_to_run(ownership, MOST_ENDPOINTS).await?;
        found.retain(|(webhook, _)| self.can_decrypt(webhook));
        let has_new = found.iter().any(|(webhook, _)| webhook.owner != self.shared.owner);
        let is_due = self.renewed.is_none_or(|renewed| now < renewed || now - renewed >= RENEWED);
        let database = &self.shared.database;
        if !found.is_empty() && (has_new || is_due) {
            let ids: Vec<Uuid> = found.iter().map(|(webhook, _)| webhook.id).collect();
            database.own_webhooks(&ids, ownership, now + OWNED).await?;
            self.renewed = Some(now);
            if has_new {
                found = database.webhooks_to_run(ownership, MOST_ENDPOINTS).await?;
            }
        }
        let owner = self.shared.owner;
        found.retain(|(webhook, _)| webhook.owner == owner);
        let owned_until = self.renewed.map_or(now, |renewed| renewed + OWNED);
        let ids: HashSet<Uuid> = found.iter().map(|(webhook, _)| webhook.id).collect();
        self.endpoints.retain(|id, running| {
            let keeps = ids.contains(id);
            if !keeps {
                running.task.abort();
            }
            keeps
        });
        for (webhook, next_attempt) in found {
            self.bring_up_to_date(webhook, next_attempt, owned_until);
        }
        Ok(())
    }

    /// Whether this process has the key of an endpoint's secrets. Others may have it.
    fn can_decrypt(&mut self, webhook: &Webhook) -> bool {
        match self.secrets(webhook) {
            Ok(_) => {
                self.undecrypted.remove(&webhook.id);
                true
            }
            Err(error) => {
                if self.undecrypted.insert(webhook.id) {
                    tracing::error!(webhook = %webhook.id, "cannot send to webhook: {error}");
                }
                false
            }
        }
    }

    fn secrets(&self, webhook: &Webhook) -> Result<Vec<super::SigningSecret>, OtherKey> {
        let now = self.shared.clock.now();
        let valid = webhook.secrets.iter().filter(|secret| secret.until.is_none_or(|until| until > now));
        valid.map(|secret| self.vault.open(webhook.id, &secret.sealed)).collect()
    }

    fn bring_up_to_date(&mut self, webhook: Webhook, next_attempt: Option<Timestamp>, owned_until: Timestamp) {
        // Checked before it was claimed.
        let Ok(secrets) = self.secrets(&webhook) else { return };
        let id = webhook.id;
        let config = Arc::new(Config { webhook, secrets, next_attempt, owned_until });
        if let Some(running) = self.endpoints.get(&id) {
            running.config.send_replace(config);
            return;
        }
        let (sender, receiver) = watch::channel(config);
        let task = self.tasks.spawn(Endpoint::new(Arc::clone(&self.shared), receiver).run());
        self.endpoints.insert(id, Running { task, config: sender });
    }
}
