//! Wakes workers and waiters of other processes by `NOTIFY`.
//! It is not sent in the transactions of requests: PostgreSQL would commit such transactions one by one. It is sent a moment later,
//! once for everything that happened meanwhile. If a notification is lost, or where `LISTEN` does not work, others find changes by
//! polling: workers twice a second, waiters for requests and events ten times.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{
    Executor, PgPool,
    postgres::{PgListener, PgPoolOptions},
};
use tokio::{
    sync::{Notify, mpsc, watch},
    time::{sleep, timeout},
};
use uuid::Uuid;

use super::lease::{CHECK, Lease};
use crate::{
    event_poller::EventPoller,
    exchange::{EXCHANGE, within},
    failure::plain_text,
    finished::FinishedRequests,
    holders::{Holders, Presence},
};
use ad_server_base::telemetry::FaultLog;

const CHANNEL: &str = "ad_server_queue";
/// The channel of finished requests: their ids, separated by spaces.
const FINISHED: &str = "ad_server_finished";
/// The channel of log entries.
const LOGGED: &str = "ad_server_logged";
/// Most ids of one notification, which has less than 8,000 bytes.
const MOST_FINISHED: usize = 200;
/// Maximum number of finished requests that wait for a notification.
const WAITING: usize = 10_000;
/// Delay of a notification, in which more is collected.
const GATHER: Duration = Duration::from_millis(20);
/// Pause between two notifications of log entries.
const LOGGED_PAUSE: Duration = Duration::from_millis(10);
/// Silence after which the server is asked whether it still answers.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Has the server release a lock of this process as soon as the process ends.
pub(super) const HOLD: &str = "SELECT pg_advisory_lock(hashtext('ad-server process ' || current_schema()), $1)";
/// Pause before listening is tried again.
const AGAIN: Duration = Duration::from_millis(500);

static NOT_LISTENING: FaultLog =
    FaultLog::new("cannot listen for notifications of other processes; polling for their changes");

/// Sends notifications to other processes and receives theirs.
#[derive(Debug)]
pub(crate) struct Wake {
    queued: mpsc::Sender<()>,
    finished: mpsc::Sender<Uuid>,
    logged: mpsc::Sender<()>,
    stop: watch::Sender<bool>,
    listening: AtomicBool,
    pool: PgPool,
    woken: NotificationTargets,
    holders: Holders,
}

/// What a notification of PostgreSQL wakes.
#[derive(Debug, Clone)]
pub(crate) struct NotificationTargets {
    pub(crate) queued: Arc<Notify>,
    pub(crate) finished: FinishedRequests,
    pub(crate) event_poller: EventPoller,
}

impl Wake {
    pub(super) fn start(pool: &PgPool, woken: NotificationTargets, holders: Holders) -> Self {
        let (queued, of_queued) = mpsc::channel(1);
        let (finished, of_finished) = mpsc::channel(WAITING);
        let (logged, of_logged) = mpsc::channel(1);
        let (stop, _) = watch::channel(false);
        tokio::spawn(send_queued(pool.clone(), of_queued));
        tokio::spawn(send_finished(pool.clone(), of_finished));
        tokio::spawn(send_logged(pool.clone(), of_logged));
        Self { queued, finished, logged, stop, listening: AtomicBool::new(false), pool: pool.clone(), woken, holders }
    }

    /// Notifies others of a new request.
    pub(crate) fn notify_queued(&self) {
        // A notification that is due already is enough.
        let _sent = self.queued.try_send(());
    }

    pub(crate) fn notify_finished(&self, request: Uuid) {
        // Waiters find a lost one by polling.
        let _sent = self.finished.try_send(request);
    }

    /// Notifies others of new log entries.
    pub(crate) fn notify_logged(&self) {
        let _sent = self.logged.try_send(());
    }

    /// Starts to send and receive notifications.
    pub(crate) fn listen(&self) {
        if !self.listening.swap(true, Ordering::Relaxed) {
            let (woken, holders) = (self.woken.clone(), self.holders.clone());
            holders.set(Presence::Coming);
            tokio::spawn(listen(self.pool.clone(), woken, holders, self.stop.subscribe()));
        }
    }

    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }
}

async fn send_queued(pool: PgPool, mut queued: mpsc::Receiver<()>) {
    while queued.recv().await.is_some() {
        sleep(GATHER).await;
        // This notification includes what came in during the delay.
        let _more = queued.try_recv();
        notify(&pool, CHANNEL, "").await;
    }
}

async fn send_finished(pool: PgPool, mut finished: mpsc::Receiver<Uuid>) {
    let mut ids = Vec::with_capacity(MOST_FINISHED);
    while finished.recv_many(&mut ids, 1).await > 0 {
        sleep(GATHER).await;
        let more = std::iter::from_fn(|| finished.try_recv().ok());
        ids.extend(more.take(MOST_FINISHED - 1));
        let payload = ids.drain(..).map(|id| id.to_string()).collect::<Vec<_>>().join(" ");
        notify(&pool, FINISHED, &payload).await;
    }
}

async fn send_logged(pool: PgPool, mut logged: mpsc::Receiver<()>) {
    while logged.recv().await.is_some() {
        notify(&pool, LOGGED, "").await;
        sleep(LOGGED_PAUSE).await;
    }
}

/// A lost notification does no harm, so its commit does not wait for the disk.
async fn notify(pool: &PgPool, channel: &str, payload: &str) {
    let sql = "SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true)";
    let sent = async {
        let mut lease = Lease::of(pool).await?;
        let sent = within(EXCHANGE, sqlx::query(sql).bind(channel).bind(payload).execute(&mut **lease)).await;
        lease.end(sent)
    };
    if let Err(error) = sent.await {
        tracing::debug!(%error, channel, "cannot notify other processes; they poll");
    }
}

/// Listens until it is stopped or its last handle is dropped.
async fn listen(pool: PgPool, woken: NotificationTargets, holders: Holders, mut stop: watch::Receiver<bool>) {
    loop {
        let ended = tokio::select! {
            biased;
            _ = stop.changed() => None,
            Err(error) = forward_notifications(&pool, &woken, &holders) => Some(error),
        };
        holders.set(Presence::Absent);
        let Some(error) = ended else { return };
        NOT_LISTENING.report(&plain_text(&error));
        tokio::select! {
            _ = stop.changed() => return,
            () = sleep(AGAIN) => {}
        }
    }
}

/// Passes on received notifications, for ever.
async fn forward_notifications(
    pool: &PgPool,
    woken: &NotificationTargets,
    holders: &Holders,
) -> sqlx::Result<std::convert::Infallible> {
    // A pool of its own: a listener that is dropped holds its connection until the server answers.
    let alone = PgPoolOptions::new().max_connections(1).acquire_timeout(EXCHANGE);
    let alone = alone.connect_lazy_with(pool.connect_options().as_ref().clone());
    let mut listener = PgListener::connect_with(&alone).await?;
    within(EXCHANGE, listener.listen_all([CHANNEL, FINISHED, LOGGED])).await?;
    within(EXCHANGE, sqlx::query(HOLD).bind(holders.own()).execute(&mut listener)).await?;
    holders.set(Presence::Present);
    loop {
        let Ok(heard) = timeout(HEARTBEAT, listener.try_recv()).await else {
            within(CHECK, listener.execute("SELECT 1")).await?;
            continue;
        };
        match heard? {
            Some(heard) if heard.channel() == FINISHED => {
                let ids = heard.payload().split(' ').filter_map(|id| id.parse().ok());
                ids.for_each(|id| woken.finished.end(id));
            }
            Some(heard) if heard.channel() == LOGGED => woken.event_poller.notify(),
            Some(_) => woken.queued.notify_one(),
            // The connection was lost, and the lock with it. Notifications may have been missed.
            None => {
                woken.queued.notify_one();
                return Err(sqlx::Error::Protocol("the connection was lost".to_owned()));
            }
        }
    }
}
