//! Gauges that are read when metrics are requested, from parts that do not know that they are observed.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use ad_core::{
    lock::locked,
    model::{Market, Timestamp},
};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, MetricEncoder},
    metrics::{MetricType, exemplar::Exemplar},
};

pub const MARKETS: [Market; 2] = [Market::Primary, Market::Secondary];

pub type ReadingLabels = Vec<(&'static str, String)>;

/// A metric as it is now.
pub struct Reading {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    values: Vec<(ReadingLabels, f64)>,
}

crate::debug_by_name!(Reading);

impl Reading {
    /// A gauge, which has no labels.
    pub fn gauge(name: &'static str, help: &'static str, value: f64) -> Self {
        Self::gauges(name, help, [(ReadingLabels::new(), value)])
    }

    /// A gauge for each of these labels.
    pub fn gauges(
        name: &'static str,
        help: &'static str,
        values: impl IntoIterator<Item = (ReadingLabels, f64)>,
    ) -> Self {
        Self { name, help, kind: MetricType::Gauge, values: values.into_iter().collect() }
    }

    /// A counter for each of these labels; its name gets the end `_total`.
    pub fn counters(
        name: &'static str,
        help: &'static str,
        values: impl IntoIterator<Item = (ReadingLabels, f64)>,
    ) -> Self {
        Self { kind: MetricType::Counter, ..Self::gauges(name, help, values) }
    }

    /// A counter without labels; its name gets the end `_total`.
    pub fn counter(name: &'static str, help: &'static str, value: f64) -> Self {
        Self { kind: MetricType::Counter, ..Self::gauge(name, help, value) }
    }

    fn encode(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let Self { name, help, kind, values } = self;
        if values.is_empty() {
            return Ok(());
        }
        let mut encoder = encoder.encode_descriptor(name, help, None, *kind)?;
        let encode = |encoder: &mut MetricEncoder, value: &f64| match kind {
            MetricType::Counter => encoder.encode_counter(value, None::<&Exemplar<ReadingLabels, f64>>),
            _ => encoder.encode_gauge(value),
        };
        values.iter().try_for_each(|(labels, value)| {
            if labels.is_empty() {
                encode(&mut encoder, value)
            } else {
                encode(&mut encoder.encode_family(labels)?, value)
            }
        })
    }
}

type ReadingSource = Box<dyn Fn() -> Vec<Reading> + Send + Sync>;

/// What is read when metrics are requested. Clones share it.
#[derive(Clone, Default)]
pub struct Readings(Arc<Mutex<Vec<ReadingSource>>>);

crate::debug_by_name!(Readings);

impl Readings {
    pub fn add(&self, read: ReadingSource) {
        locked(&self.0).push(read);
    }
}

impl Collector for Readings {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let readings: Vec<_> = locked(&self.0).iter().flat_map(|read| read()).collect();
        readings.iter().try_for_each(|reading| reading.encode(&mut encoder))
    }
}

/// A time as metrics show it.
#[expect(clippy::cast_precision_loss, reason = "exact to the millisecond for 285,000 years")]
pub fn seconds_of(at: Timestamp) -> f64 {
    at.as_millis() as f64 / 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub fn number(count: usize) -> f64 {
    count as f64
}
