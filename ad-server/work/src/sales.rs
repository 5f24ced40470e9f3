//! Deletes ads that were marked as sold, when their time has come.
//!
//! It runs in processes that have an API, which have the rules by which deletions are accepted. Workers then execute them as any others.

use std::{sync::Arc, time::Duration};

use ad_core::{
    ports::{Clock, Ids, StoreError},
    service::{Access, Incoming, Service, ServiceError, Target},
};
use tokio::{sync::watch, time::sleep};

use ad_server_base::telemetry::FaultLog;
use ad_server_store::Database;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(5);

/// How long a plan of sold ads is looked at after it was made, and longer while it is under way: a cancelled one learns late what it has
/// hidden.
const SETTLED_AFTER: Duration = Duration::from_hours(1);

/// Ads that are deleted before the next look.
const BATCH: u32 = 20;

static FAILED: FaultLog = FaultLog::new("cannot delete ads that were sold; will be retried");

pub struct SaleWorker {
    pub service: Service,
    pub database: Database,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    /// How long sold ads are hidden before they are deleted; `None`: for ever.
    pub kept: Option<Duration>,
}

ad_server_base::debug_by_name!(SaleWorker);

impl SaleWorker {
    /// Works until `stop`, and finishes what it does then.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            for worked in [self.note_sold_plans().await, self.delete_due().await] {
                if let Err(error) = worked {
                    FAILED.report(&error);
                }
            }
            tokio::select! {
                () = sleep(PAUSE) => {}
                _ = stop.changed() => {}
            }
        }
    }

    /// Notes when the ads are to be deleted that stock plans have hidden because they are sold.
    async fn note_sold_plans(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        self.database.note_sold_plans(self.kept.map(|kept| now + kept), now - SETTLED_AFTER).await.map(drop)
    }

    /// Deletes the ads that are due, unless they are shown again. Done twice, as after a crash, it deletes once.
    async fn delete_due(&self) -> Result<(), StoreError> {
        loop {
            let due = self.database.due_sales(self.clock.now(), BATCH).await?;
            let mut over = 0;
            for (dealer_code, source_id) in &due {
                let is_over = match self.delete(dealer_code, source_id).await {
                    Ok(()) | Err(ServiceError::NotFound | ServiceError::Refused(_)) => true,
                    Err(ServiceError::Store(error)) => return Err(error),
                    // It was changed at this moment, or has too many requests: later.
                    Err(_) => false,
                };
                if is_over {
                    self.database.remove_sale(dealer_code, source_id).await?;
                    over += 1;
                }
            }
            // Those that have to wait are read again after the pause.
            if due.len() < BATCH as usize || over == 0 {
                return Ok(());
            }
        }
    }

    async fn delete(&self, dealer_code: &str, source_id: &str) -> Result<(), ServiceError> {
        let access = Access::Dealer(dealer_code.to_owned());
        let target = Target::from(source_id).of_dealer(Some(dealer_code));
        let stored = self.service.read_without_log(&access, target).await?;
        if stored.ad.content.visible() {
            return Ok(());
        }
        let revisions = [stored.tag.revision];
        let target = Target { revisions: Some(&revisions), ..target };
        let incoming = Incoming { id: self.ids.next(), keep: None, origin: None };
        self.service.delete(&access, incoming, target).await.map(drop)
    }
}
