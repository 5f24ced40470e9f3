//! Gauges that are read when metrics are requested: the queue, whether the store answers, memory.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ad_core::ports::{Clock, StoreError};
use async_trait::async_trait;
use prometheus_client::{collector::Collector, encoding::DescriptorEncoder, metrics::MetricType};

use crate::store::Database;

/// How the queue of accepted requests stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLoad {
    /// Requests that are not finished.
    pub depth: u64,
    /// For how long the oldest one that could be worked on has waited; `None` when it is not known.
    pub oldest_due: Option<Duration>,
    /// Deliveries to webhooks that are pending.
    pub pending_deliveries: u64,
}

/// Where the queue can be looked at.
#[async_trait]
pub trait QueueSource: Send + Sync {
    /// How it stands now.
    ///
    /// # Errors
    /// When the store cannot be read.
    async fn queue_state(&self) -> Result<QueueLoad, StoreError>;
}

/// The queue in a database.
#[derive(Clone)]
pub struct DatabaseQueue {
    /// The database.
    pub database: Database,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

debug_by_name!(DatabaseQueue);

#[async_trait]
impl QueueSource for DatabaseQueue {
    async fn queue_state(&self) -> Result<QueueLoad, StoreError> {
        let now = self.clock.now();
        let state = self.database.queue_state(now).await?;
        let pending_deliveries = self.database.pending_deliveries().await?;
        let oldest_due = state.oldest_due.map(|oldest| now - oldest);
        Ok(QueueLoad { depth: state.depth, oldest_due, pending_deliveries })
    }
}

/// What was seen of the queue when it was looked at last; `None` when it could not be read.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen(Arc<Mutex<Option<QueueLoad>>>);

impl Seen {
    pub(super) fn set(&self, state: Option<QueueLoad>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

impl Collector for Seen {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let state = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gauge = |name, help, value: f64| {
            encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
        };
        if let Some(bytes) = resident_memory() {
            gauge("process_resident_memory_bytes", "Memory that the process has", bytes)?;
        }
        gauge(
            "ad_store_up",
            "Whether the database could be read when this was asked",
            f64::from(u8::from(state.is_some())),
        )?;
        let Some(QueueLoad { depth, oldest_due, pending_deliveries }) = state else { return Ok(()) };
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
        let (depth, pending) = (depth as f64, pending_deliveries as f64);
        gauge("ad_queue_depth", "Accepted requests that are not finished, in the whole database", depth)?;
        gauge(
            "ad_webhook_pending_deliveries",
            "Deliveries to webhooks that are pending, in the whole database",
            pending,
        )?;
        if let Some(age) = oldest_due {
            let help = "For how long the oldest request that could be worked on has waited";
            gauge("ad_queue_oldest_due_seconds", help, age.as_secs_f64())?;
        }
        Ok(())
    }
}

/// Resident memory of the process in bytes, on Linux.
fn resident_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?;
    kibibytes.parse::<f64>().ok().map(|kibibytes| kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use ad_core::model::Timestamp;

    use super::*;
    use crate::telemetry::{
        Metrics,
        metrics::tests::{NoQueue, lines},
    };

    struct Known;

    #[async_trait]
    impl QueueSource for Known {
        async fn queue_state(&self) -> Result<QueueLoad, StoreError> {
            Ok(QueueLoad { depth: 7, oldest_due: Some(Duration::from_millis(1500)), pending_deliveries: 3 })
        }
    }

    #[tokio::test]
    async fn the_queue_is_looked_at_when_somebody_asks() {
        let text = Metrics::new(Arc::new(Known), Timestamp::default()).text().await;
        assert_eq!(lines(&text, "ad_queue"), ["ad_queue_depth 7.0", "ad_queue_oldest_due_seconds 1.5"]);
        assert_eq!(lines(&text, "ad_webhook_pending"), ["ad_webhook_pending_deliveries 3.0"]);
        assert_eq!(lines(&text, "ad_store_up"), ["ad_store_up 1.0"]);
        let text = Metrics::new(Arc::new(NoQueue), Timestamp::default()).text().await;
        assert_eq!(lines(&text, "ad_queue"), Vec::<&str>::new());
        assert_eq!(lines(&text, "ad_store_up"), ["ad_store_up 0.0"]);
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn the_memory_is_told() {
        let text = Metrics::new(Arc::new(NoQueue), Timestamp::default()).text().await;
        let bytes = lines(&text, "process_resident_memory_bytes")[0].split_once(' ').unwrap().1;
        assert!((1e6..1e12).contains(&bytes.parse::<f64>().unwrap()), "{bytes}");
    }
}
