//! The worker: claims accepted requests and runs them through the [`Pipeline`], many ads concurrently.
//!
//! The store hands out only the oldest unfinished request of an ad, which keeps the order. [`Notify`] wakes the worker for new
//! requests, and it polls every `POLL` for those that were missed or left by a dead worker. The worker limits the requests of one
//! dealer, and handles a clock that is set back, which would otherwise prolong leases and pauses.

use std::{sync::Arc, time::Duration};

use ad_core::{
    model::Timestamp,
    pipeline::Pipeline,
    ports::{Capacity, Claimed, Claims, StoreError},
};
use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    sync::{Notify, watch},
    task::{JoinError, JoinSet},
    time::{Instant, interval_at, sleep, timeout},
};

use ad_server_base::{
    limits::ConcurrencyLimit,
    telemetry::{FaultLog, in_request},
};

/// Time between two polls of the queue when nothing wakes the worker.
const POLL: Duration = Duration::from_millis(500);

/// How long running requests may go on during shutdown.
const GRACE: Duration = Duration::from_secs(20);

/// A clock that is this much behind was set back; smaller steps are normal synchronization.
const SET_BACK: Duration = Duration::from_secs(2);

/// Time after which all writes that were in progress when the clock was set back have ended.
const SECOND_RELEASE: Duration = Duration::from_secs(10);

/// Time between two looks at which processes have ended.
const TAKE_OVER: Duration = Duration::from_millis(300);

/// Time between two searches for requests that wait longer than any pause.
const LOOK: Duration = Duration::from_mins(1);

static NOT_CLAIMED: FaultLog = FaultLog::new("cannot claim requests; will be retried");
static NOT_EXTENDED: FaultLog = FaultLog::new("cannot extend the leases of requests");
static NOT_TAKEN_OVER: FaultLog =
    FaultLog::new("cannot find out which processes have ended; their requests wait until the leases end");
static INTERRUPTED: FaultLog = FaultLog::new("requests were interrupted; they will be retried");

/// Claims accepted requests and runs them concurrently.
#[derive(Debug)]
pub struct Worker {
    pub pipeline: Pipeline,
    /// Notified when a request is accepted.
    pub queued: Arc<Notify>,
    /// Maximum number of concurrent requests.
    pub concurrency: usize,
    /// Maximum number of concurrent requests of one dealer.
    pub per_dealer: usize,
    /// Counts the requests that are running.
    pub busy: Gauge,
}

/// What was last seen of the clock.
struct Time {
    then: Timestamp,
    since: Instant,
    second_release: Option<Instant>,
    look: Instant,
    take_over: Instant,
}

impl Time {
    fn new(then: Timestamp) -> Self {
        let since = Instant::now();
        Self { then, since, second_release: None, look: since, take_over: since }
    }
}

struct RunningRequests {
    tasks: JoinSet<()>,
    of_dealers: ConcurrencyLimit<String>,
    /// The dealers at their maximum when no other dealer had due requests. There is nothing to claim until one of them has fewer, or a
    /// new request arrives.
    nothing_but: Vec<String>,
}

impl RunningRequests {
    fn start(&mut self, pipeline: &Pipeline, claimed: Claimed) {
        // The store does not hand out more than a dealer may have.
        let slot = self.of_dealers.try_take(Some(claimed.stored.ad.dealer_code.clone()));
        let accepted_in = claimed.request.progress.origin.trace.clone();
        let run = in_request(claimed.request.id, accepted_in, run(pipeline.clone(), claimed));
        self.tasks.spawn(async move {
            let _slot = slot;
            run.await;
        });
    }

    /// Dealers for which this number of further requests would exceed the maximum.
    fn full(&self, more: usize) -> Vec<String> {
        let mut full = self.of_dealers.nearly_full(more);
        full.sort_unstable();
        full
    }
}

fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "request task panicked; will be retried");
    }
}

impl Worker {
    /// Runs until `stop`, then finishes the running requests. Those that take too long are claimed by another worker when their leases
    /// end.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let of_dealers = ConcurrencyLimit::new(usize::MAX, self.per_dealer);
        let mut running = RunningRequests { tasks: JoinSet::new(), of_dealers, nothing_but: Vec::new() };
        let mut time = Time::new(self.pipeline.ports().clock.now());
        let mut woken = false;
        while !*stop.borrow() {
            self.detect_clock_change(&mut time).await;
            self.take_over(&mut time).await;
            let pause = self.claim(&mut running, woken).await;
            woken = false;
            self.busy.set(i64::try_from(running.tasks.len()).unwrap_or(i64::MAX));
            let is_free = running.tasks.len() < self.concurrency;
            tokio::select! {
                _ = stop.changed() => break,
                () = self.queued.notified(), if is_free => {
                    running.nothing_but.clear();
                    woken = true;
                }
                () = sleep(pause), if is_free => running.nothing_but.clear(),
                Some(ended) = running.tasks.join_next() => {
                    log_panic(ended);
                    // One claim for several free slots costs less than one for each.
                    while running.tasks.len() > self.concurrency * 3 / 4 {
                        let Some(ended) = running.tasks.join_next().await else { break };
                        log_panic(ended);
                    }
                }
            }
            while let Some(ended) = running.tasks.try_join_next() {
                log_panic(ended);
            }
        }
        self.busy.set(0);
        let ended = timeout(GRACE, async { while running.tasks.join_next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::warn!(requests = running.tasks.len(), "shutdown timeout; unfinished requests will be retried");
        }
    }

    /// Claims requests for the free slots and starts them; returns the time until there may be more.
    async fn claim(&self, running: &mut RunningRequests, woken: bool) -> Duration {
        let free = self.concurrency.saturating_sub(running.tasks.len());
        if free == 0 {
            return POLL;
        }
        let now = self.pipeline.ports().clock.now();
        // Only a part of a dealer's maximum at once, so that other dealers have their turn in between.
        let per_dealer = self.per_dealer.div_ceil(3);
        let full = running.full(per_dealer);
        if !full.is_empty() && full == running.nothing_but {
            return POLL;
        }
        let capacity = Capacity { limit: free, per_dealer, full: &full, woken };
        let pipeline = self.pipeline.clone();
        let begin = Arc::new(move |claimed| pipeline.begin(claimed));
        let until = now + self.pipeline.settings().lease;
        match self.pipeline.ports().store.claim_and_begin(now, until, capacity, begin).await {
            Ok(Claims { claimed, next_due }) => {
                let more = claimed.len() >= per_dealer;
                running.nothing_but = if claimed.is_empty() { full } else { Vec::new() };
                for claimed in claimed {
                    running.start(&self.pipeline, claimed);
                }
                if more {
                    return Duration::ZERO;
                }
                next_due.map_or(POLL, |due| (due - now).clamp(Duration::from_millis(1), POLL))
            }
            Err(error) => {
                NOT_CLAIMED.report(&error);
                POLL
            }
        }
    }

    /// Detects that the clock was set back, and then releases all waiting requests, whose times are too far ahead: at once, and
    /// again after [`SECOND_RELEASE`] for those that were being recorded meanwhile. Every [`LOOK`] it also releases requests
    /// that would wait longer than any lease or pause: the clock was set back while no worker ran.
    async fn detect_clock_change(&self, time: &mut Time) {
        let now = self.pipeline.ports().clock.now();
        let behind = (time.then + time.since.elapsed()) - now;
        (time.then, time.since) = (now, Instant::now());
        if behind > SET_BACK {
            tracing::warn!(seconds = behind.as_secs(), "clock was set back; all waiting requests are due now");
            self.release(now, now).await;
            time.second_release = Some(time.since + SECOND_RELEASE);
        } else if time.second_release.is_some_and(|due| due <= time.since) {
            self.release(now, now).await;
            time.second_release = None;
        } else if time.look <= time.since {
            let settings = self.pipeline.settings();
            let longest = settings.lease.max(settings.images.within).max(settings.marketplaces.within);
            self.release(now, now + longest).await;
            time.look = time.since + LOOK;
        }
    }

    /// Takes back what processes have claimed that have ended.
    async fn take_over(&self, time: &mut Time) {
        if time.take_over > time.since {
            return;
        }
        time.take_over = time.since + TAKE_OVER;
        if let Err(error) = self.pipeline.ports().store.release_left(time.then).await {
            NOT_TAKEN_OVER.report(&error);
        }
    }

    async fn release(&self, now: Timestamp, after: Timestamp) {
        if let Err(error) = self.pipeline.ports().store.release(now, after).await {
            tracing::warn!(%error, "cannot release requests after the clock was set back; some may wait too long");
        }
    }
}

/// Runs one request and extends its lease meanwhile.
async fn run(pipeline: Pipeline, claimed: Claimed) {
    let (request, lease) = (claimed.request.id, claimed.lease);
    let length = pipeline.settings().lease;
    let mut beat = interval_at(Instant::now() + length / 3, length / 3);
    let run = pipeline.run(claimed);
    tokio::pin!(run);
    let result = loop {
        tokio::select! {
            result = &mut run => break result,
            _ = beat.tick() => {
                let until = pipeline.ports().clock.now() + length;
                match pipeline.ports().store.extend(request, lease, until).await {
                    // The request is about to end, or another worker has claimed it, and then nothing more can be recorded.
                    Ok(()) | Err(StoreError::LeaseLost) => {}
                    Err(error) => NOT_EXTENDED.report(&error),
                }
            }
        }
    };
    match result {
        Ok(()) => tracing::debug!(%request, "ran"),
        Err(StoreError::LeaseLost) => tracing::warn!(%request, "lease lost to another worker"),
        Err(error) => INTERRUPTED.report(&error),
    }
}
