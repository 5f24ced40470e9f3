//! The worker: claims accepted requests and runs them through the [`Pipeline`], many ads side by side.
//!
//! It knows nothing of what a request does. Order within an ad is the store's business (it hands out the oldest
//! unfinished request of an ad only), and so is waking up: [`Notify`] for what this process accepted, a look every
//! `POLL` for what others did or what a dead worker left behind.

use std::{sync::Arc, time::Duration};

use ad_core::{
    pipeline::Pipeline,
    ports::{Claimed, Claims, StoreError},
};
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
    time::{Instant, interval_at, sleep, timeout},
};

/// How often the queue is looked at when nothing else wakes the worker.
const POLL: Duration = Duration::from_millis(500);

/// How long running requests may go on after the worker was told to stop.
const GRACE: Duration = Duration::from_secs(20);

/// Runs accepted requests.
#[derive(Debug)]
pub struct Worker {
    /// What is done with each.
    pub pipeline: Pipeline,
    /// Wakes it when a request was accepted.
    pub queued: Arc<Notify>,
    /// Requests that run side by side.
    pub concurrency: usize,
}

impl Worker {
    /// Runs until `stop` says so, then lets what is running come to its end. What does not is claimed by another worker
    /// when its lease ends.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut running = JoinSet::new();
        while !*stop.borrow() {
            let pause = self.claim(&mut running).await;
            tokio::select! {
                _ = stop.changed() => break,
                () = self.queued.notified(), if running.len() < self.concurrency => {}
                () = sleep(pause), if running.len() < self.concurrency => {}
                Some(ended) = running.join_next() => {
                    report(ended);
                    // Claiming once for several that ended costs less than claiming for each.
                    while running.len() > self.concurrency * 3 / 4 {
                        let Some(ended) = running.join_next().await else { break };
                        report(ended);
                    }
                }
            }
            while let Some(ended) = running.try_join_next() {
                report(ended);
            }
        }
        let ended = timeout(GRACE, async { while running.join_next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::warn!(
                requests = running.len(),
                "stopped before all running requests ended; they will be taken up again"
            );
        }
    }

    /// Claims for the free places and starts what it got; returns how long there is nothing more to do.
    async fn claim(&self, running: &mut JoinSet<()>) -> Duration {
        let free = self.concurrency.saturating_sub(running.len());
        if free == 0 {
            return POLL;
        }
        let now = self.pipeline.clock.now();
        match self.pipeline.store.claim(now, now + self.pipeline.patience.lease, free).await {
            Ok(Claims { claimed, next_due }) => {
                for claimed in claimed {
                    running.spawn(run(self.pipeline.clone(), claimed));
                }
                next_due.map_or(POLL, |due| (due - now).clamp(Duration::from_millis(1), POLL))
            }
            Err(error) => {
                tracing::warn!(%error, "the queue cannot be read");
                POLL
            }
        }
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a request came to a sudden end; it will be taken up again");
    }
}

/// Runs one request, and keeps its lease while that takes.
async fn run(pipeline: Pipeline, claimed: Claimed) {
    let (request, lease) = (claimed.request.id, claimed.lease);
    let length = pipeline.patience.lease;
    let mut beat = interval_at(Instant::now() + length / 3, length / 3);
    let run = pipeline.run(claimed);
    tokio::pin!(run);
    let result = loop {
        tokio::select! {
            result = &mut run => break result,
            _ = beat.tick() => {
                let until = pipeline.clock.now() + length;
                match pipeline.store.extend(request, lease, until).await {
                    // Either it is just ending, or somebody else has it: then nothing more of it can be recorded.
                    Ok(()) | Err(StoreError::LeaseLost) => {}
                    Err(error) => tracing::warn!(%request, %error, "the lease could not be extended"),
                }
            }
        }
    };
    match result {
        Ok(()) => tracing::debug!(%request, "ran"),
        Err(StoreError::LeaseLost) => tracing::warn!(%request, "another worker has taken it over"),
        Err(error) => tracing::warn!(%request, %error, "interrupted; it will be taken up again"),
    }
}
