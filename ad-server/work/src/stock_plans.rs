//! Applies stock plans, and ends those that nobody ends (extensions E8.5).
//!
//! It runs in processes that have an API: the changes of a plan are requests, and these processes have the rules by which requests are
//! accepted. Workers then run them as any others.

use std::{sync::Arc, time::Duration};

use ad_core::service::StockPlans;
use futures_util::future::join_all;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep},
};

use ad_server_base::telemetry::FaultLog;

/// Plans that a process works on at the same time.
const AT_ONCE: usize = 2;

/// Pause when nothing is due, soon after something was and later.
const SOON: Duration = Duration::from_millis(20);
const IDLE: Duration = Duration::from_millis(500);

/// How long after the latest work more of it is expected.
const EXPECTED: Duration = Duration::from_secs(2);

/// Pause after the database has failed.
const AGAIN: Duration = Duration::from_secs(2);

static FAILED: FaultLog = FaultLog::new("cannot work on stock plans; will be retried");

pub struct PlanWorker {
    pub plans: StockPlans,
    /// Notified when a plan is to be applied.
    pub due: Arc<Notify>,
}

ad_server_base::debug_by_name!(PlanWorker);

impl PlanWorker {
    /// Works until `stop`, and finishes what it does then.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        join_all((0..AT_ONCE).map(|_| self.follow(stop.clone()))).await;
    }

    async fn follow(&self, mut stop: watch::Receiver<bool>) {
        let mut latest: Option<Instant> = None;
        while !*stop.borrow() {
            let pause = match self.plans.work().await {
                Ok(true) => {
                    latest = Some(Instant::now());
                    continue;
                }
                Ok(false) if latest.is_some_and(|latest| latest.elapsed() < EXPECTED) => SOON,
                Ok(false) => IDLE,
                Err(error) => {
                    FAILED.report(&error);
                    AGAIN
                }
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = self.due.notified() => {}
                _ = stop.changed() => {}
            }
        }
    }
}
