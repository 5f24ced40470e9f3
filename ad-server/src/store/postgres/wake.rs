//! Waking the workers of other processes, by `NOTIFY`.
//!
//! Not in the transaction that brings a request in: the database would let such transactions commit one by one. It is
//! told a moment later, once for all that came in meanwhile. When that is lost, or where the database does not know
//! `LISTEN`, the workers look into the queue by themselves: they do so twice a second.

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

/// The channel of `NOTIFY`.
const CHANNEL: &str = "ad_server_queue";
/// How long telling waits for more to tell.
const GATHER: Duration = Duration::from_millis(20);
/// Before it is tried again to listen.
const AGAIN: Duration = Duration::from_secs(1);

/// What wakes others and is woken by them.
#[derive(Debug)]
pub(super) struct Wake {
    tell: mpsc::Sender<()>,
    stop: watch::Sender<bool>,
    listening: AtomicBool,
    pool: PgPool,
    queued: Arc<Notify>,
}

impl Wake {
    pub(super) fn start(pool: &PgPool, queued: Arc<Notify>) -> Self {
        let (tell, told) = mpsc::channel(1);
        let (stop, _) = watch::channel(false);
        tokio::spawn(tell_others(pool.clone(), told));
        Self { tell, stop, listening: AtomicBool::new(false), pool: pool.clone(), queued }
    }

    /// Has others look into the queue soon.
    pub(super) fn others(&self) {
        // When it is to be told already, that serves for this as well.
        let _told = self.tell.try_send(());
    }

    /// From now on others wake this process too.
    pub(super) fn listen(&self) {
        if !self.listening.swap(true, Ordering::Relaxed) {
            tokio::spawn(listen(self.pool.clone(), Arc::clone(&self.queued), self.stop.subscribe()));
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
        if let Err(error) = sqlx::query("SELECT pg_notify($1, '')").bind(CHANNEL).execute(&pool).await {
            tracing::debug!(%error, "cannot notify other processes; they poll the queue");
        }
    }
}

/// Listens until it is stopped, or nobody is left who could stop it.
async fn listen(pool: PgPool, queued: Arc<Notify>, mut stop: watch::Receiver<bool>) {
    let mut warned = false;
    loop {
        tokio::select! {
            biased;
            _ = stop.changed() => return,
            Err(error) = hear(&pool, &queued) => {
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
async fn hear(pool: &PgPool, queued: &Notify) -> sqlx::Result<std::convert::Infallible> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.ignore_pool_close_event(false);
    listener.listen(CHANNEL).await?;
    loop {
        // Nothing heard means that the connection was lost for a while: there may have been something.
        listener.try_recv().await?;
        queued.notify_one();
    }
}
