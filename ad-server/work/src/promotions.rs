//! Runs the schedules of promotions that are due (extensions E9.4).
//!
//! It runs in processes that have an API, which have the rules by which promotions are accepted. Workers then execute them as any others.

use std::{sync::Arc, time::Duration};

use ad_core::service::Promotions;
use tokio::{
    sync::{Notify, watch},
    time::sleep,
};

use ad_server_base::telemetry::FaultLog;

/// Pause when nothing is due.
const IDLE: Duration = Duration::from_millis(500);

/// Pause after the database has failed.
const AGAIN: Duration = Duration::from_secs(2);

static FAILED: FaultLog = FaultLog::new("cannot run promotion schedules; will be retried");

pub struct PromotionWorker {
    pub promotions: Promotions,
    /// Notified when a schedule may be due.
    pub due: Arc<Notify>,
}

ad_server_base::debug_by_name!(PromotionWorker);

impl PromotionWorker {
    /// Works until `stop`, and finishes what it does then.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let pause = match self.promotions.work().await {
                Ok(true) => continue,
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
