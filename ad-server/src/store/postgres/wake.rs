//! Waking the workers of other processes, and those who wait there for requests to be finished and for events, by `NOTIFY`.
//!
//! Not in the transaction that brings a request in, ends it or logs something: the database would let such transactions commit one by
//! one. It is told a moment later, once for all that happened meanwhile. When that is lost, or where the database does not know
//! `LISTEN`, the others look by themselves: workers twice a second, and who waits for a request or for events ten times.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{PgPool, postgres::PgListener};
use tokio::{
    sync::{Notify, mpsc, watch},
    time::sleep,
};
use uuid::Uuid;

use crate::store::{event_poller::EventPoller, finished::FinishedRequests};

/// The channel of requests that are queued.
const CHANNEL: &str = "ad_server_queue";
/// The channel of finished requests: their ids, separated by spaces.
const FINISHED: &str = "ad_server_finished";
/// The channel of log entries.
const LOGGED: &str = "ad_server_logged";
/// Most ids of one notification, which has less than 8,000 bytes.
const MOST_FINISHED: usize = 200;
/// Finished requests that may wait to be told.
const WAITING: usize = 10_000;
/// How long telling waits for more to tell.
const GATHER: Duration = Duration::from_millis(20);
/// How long telling of log entries pauses after it has told of some.
const LOGGED_PAUSE: Duration = Duration::from_millis(10);
/// Before it is tried again to listen.
const AGAIN: Duration = Duration::from_secs(1);

/// What wakes others and is woken by them.
#[derive(Debug)]
pub(super) struct Wake {
    tell: mpsc::Sender<()>,
    tell_finished: mpsc::Sender<Uuid>,
    tell_logged: mpsc::Sender<()>,
    stop: watch::Sender<bool>,
    listening: AtomicBool,
    pool: PgPool,
    woken: Woken,
}

/// What notifications of others wake.
#[derive(Debug, Clone)]
pub(in crate::store) struct Woken {
    pub(in crate::store) queued: Arc<Notify>,
    pub(in crate::store) finished: FinishedRequests,
    pub(in crate::store) event_poller: EventPoller,
}

impl Wake {
    pub(super) fn start(pool: &PgPool, woken: Woken) -> Self {
        let (tell, told) = mpsc::channel(1);
        let (tell_finished, finished_here) = mpsc::channel(WAITING);
        let (tell_logged, logged) = mpsc::channel(1);
        let (stop, _) = watch::channel(false);
        tokio::spawn(tell_others(pool.clone(), told));
        tokio::spawn(tell_others_of_finished(pool.clone(), finished_here));
        tokio::spawn(tell_others_of_logged(pool.clone(), logged));
        Self { tell, tell_finished, tell_logged, stop, listening: AtomicBool::new(false), pool: pool.clone(), woken }
    }

    /// Has others look into the queue soon.
    pub(super) fn others(&self) {
        // When it is to be told already, that serves for this as well.
        let _told = self.tell.try_send(());
    }

    /// Has others know soon that a request is finished.
    pub(super) fn tell_finished(&self, request: Uuid) {
        // One that is lost is found by those who wait for it.
        let _told = self.tell_finished.try_send(request);
    }

    /// Has others know soon that there are new log entries.
    pub(super) fn tell_logged(&self) {
        let _told = self.tell_logged.try_send(());
    }

    /// From now on others wake this process too.
    pub(super) fn listen(&self) {
        if !self.listening.swap(true, Ordering::Relaxed) {
            tokio::spawn(listen(self.pool.clone(), self.woken.clone(), self.stop.subscribe()));
        }
    }

    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }
}

async fn tell_others(pool: PgPool, mut told: mpsc::Receiver<()>) {
    while told.recv().await.is_some() {
        sleep(GATHER).await;
        // What came in while it waited is told with this.
        let _more = told.try_recv();
        notify(&pool, CHANNEL, "").await;
    }
}

async fn tell_others_of_finished(pool: PgPool, mut finished: mpsc::Receiver<Uuid>) {
    let mut ids = Vec::with_capacity(MOST_FINISHED);
    while finished.recv_many(&mut ids, 1).await > 0 {
        sleep(GATHER).await;
        let more = std::iter::from_fn(|| finished.try_recv().ok());
        ids.extend(more.take(MOST_FINISHED - 1));
        let payload = ids.drain(..).map(|id| id.to_string()).collect::<Vec<_>>().join(" ");
        notify(&pool, FINISHED, &payload).await;
    }
}

async fn tell_others_of_logged(pool: PgPool, mut logged: mpsc::Receiver<()>) {
    while logged.recv().await.is_some() {
        notify(&pool, LOGGED, "").await;
        sleep(LOGGED_PAUSE).await;
    }
}

/// Nothing is lost with a notification that is, so none waits for the disk.
async fn notify(pool: &PgPool, channel: &str, payload: &str) {
    let sql = "SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true)";
    if let Err(error) = sqlx::query(sql).bind(channel).bind(payload).execute(pool).await {
        tracing::debug!(%error, channel, "cannot notify other processes; they poll");
    }
}

/// Listens until it is stopped, or nobody is left who could stop it.
async fn listen(pool: PgPool, woken: Woken, mut stop: watch::Receiver<bool>) {
    let mut warned = false;
    loop {
        tokio::select! {
            biased;
            _ = stop.changed() => return,
            Err(error) = hear(&pool, &woken) => {
                if !warned {
                    tracing::warn!(%error, "cannot listen for notifications; polling the queue");
                }
                warned = true;
            }
        }
        tokio::select! {
            _ = stop.changed() => return,
            () = sleep(AGAIN) => {}
        }
    }
}

/// Passes on what it hears, for ever.
async fn hear(pool: &PgPool, woken: &Woken) -> sqlx::Result<std::convert::Infallible> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.ignore_pool_close_event(false);
    listener.listen_all([CHANNEL, FINISHED, LOGGED]).await?;
    loop {
        match listener.try_recv().await? {
            Some(heard) if heard.channel() == FINISHED => {
                let ids = heard.payload().split(' ').filter_map(|id| id.parse().ok());
                ids.for_each(|id| woken.finished.end(id));
            }
            Some(heard) if heard.channel() == LOGGED => woken.event_poller.notify(),
            // Nothing heard means that the connection was lost for a while: there may have been something.
            Some(_) | None => woken.queued.notify_one(),
        }
    }
}
