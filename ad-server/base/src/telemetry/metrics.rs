//! Counters, and their text for Prometheus (`OpenMetrics`).

use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::{lock::locked, model::Timestamp};
use poem::http::{Method, StatusCode};
use prometheus_client::{
    encoding::text,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::{ConstGauge, Gauge},
        histogram::Histogram,
        info::Info,
    },
    registry::{Metric, Registry},
};

use super::{
    process,
    readings::{MARKETS, Reading, Readings, seconds_of},
    state::{self, QueueLoad, QueueSource},
};

/// Type of the text, for the header of its answer.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How long reading the queue may take: requests for metrics wait for it, also when the database is down.
const LOOK: Duration = Duration::from_secs(2);

/// Upper ends, in seconds, of the classes into which answers of the API fall.
const ANSWERS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// The same for calls to others.
const CALLS: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

/// The same for the time from a request to the moment when a marketplace shows the ad.
const PUBLISHING: [f64; 13] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0, 86400.0];

/// Classes of answers by their status; the last one is for clients that did not wait.
const CLASSES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", "disconnected"];

const MARKETPLACE_ACTIONS: [&str; 6] = ["publish", "update", "unpublish", "bump", "boost", "find_by_plate"];
/// How calls to marketplaces, fetches of images, writes to the image store, and deliveries to webhooks end.
const MARKETPLACE_OUTCOMES: [&str; 6] = ["done", "transient", "credentials", "not_asked", "refused", "gone"];
const FETCH_OUTCOMES: [&str; 5] = ["done", "unchanged", "transient", "not_asked", "unusable"];
const STORE_OUTCOMES: [&str; 3] = ["done", "unavailable", "full"];
const WEBHOOK_OUTCOMES: [&str; 3] = ["delivered", "retried", "failed"];

/// What is erased or removed when its retention time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expired {
    Ads,
    Images,
    Revisions,
    Calls,
    LogMessages,
    AuditEntries,
}

impl Expired {
    const ALL: [Self; 6] =
        [Self::Ads, Self::Images, Self::Revisions, Self::Calls, Self::LogMessages, Self::AuditEntries];

    fn labels(self) -> MetricLabels<1> {
        let kind = match self {
            Self::Ads => "ads",
            Self::Images => "images",
            Self::Revisions => "revisions",
            Self::Calls => "calls",
            Self::LogMessages => "log_messages",
            Self::AuditEntries => "audit_entries",
        };
        [("kind", kind.into())]
    }
}

type MetricLabels<const N: usize> = [(&'static str, Cow<'static, str>); N];
type Histograms<const N: usize> = Family<MetricLabels<N>, Histogram, fn() -> Histogram>;

/// Counters by outcome, each at zero.
fn counters(outcomes: &[&'static str]) -> Family<MetricLabels<1>, Counter> {
    let family = Family::<MetricLabels<1>, Counter>::default();
    for outcome in outcomes {
        drop(family.get_or_create(&[("outcome", (*outcome).into())]));
    }
    family
}

/// Registers a metric under a name and with a help text.
fn add<M: Metric + Clone>(to: &mut Registry, name: &str, help: &str, metric: M) -> M {
    to.register(name, help, metric.clone());
    metric
}

/// The counters of a process.
#[derive(Clone)]
pub struct Metrics(Arc<MetricsInner>);

struct MetricsInner {
    registry: Registry,
    requests: Family<MetricLabels<3>, Counter>,
    classes: [Counter; CLASSES.len()],
    under_way: Gauge,
    answers: Histograms<2>,
    marketplace_calls: Family<MetricLabels<3>, Counter>,
    marketplace_times: Histograms<2>,
    publishing: Histograms<1>,
    images: Family<MetricLabels<1>, Counter>,
    image_times: Histogram,
    image_store: Family<MetricLabels<1>, Counter>,
    webhook_attempts: Family<MetricLabels<1>, Counter>,
    expired: Family<MetricLabels<1>, Counter>,
    periodic_tasks: Family<MetricLabels<2>, Counter>,
    event_streams: Gauge,
    workers: Gauge,
    busy_workers: Gauge,
    readings: Readings,
    queue: Arc<dyn QueueSource>,
    /// The latest state of the queue; `None` if it could not be read.
    seen: Arc<Mutex<Option<QueueLoad>>>,
}

crate::debug_by_name!(Metrics);

impl Metrics {
    /// Counters at zero, of a process that has started now.
    pub fn new(queue: Arc<dyn QueueSource>, started: Timestamp) -> Self {
        let mut registry = Registry::default();
        let to = &mut registry;
        to.register("ad_build", "The version that runs", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
        let started = ConstGauge::new(seconds_of(started));
        to.register("process_start_time_seconds", "When the process started, in seconds since 1970", started);
        let (seen, readings) = <(Arc<Mutex<Option<QueueLoad>>>, Readings)>::default();
        let latest = Arc::clone(&seen);
        readings.add(Box::new(move || state::readings(*locked(&latest))));
        to.register_collector(Box::new(readings.clone()));
        let of_process = Readings::default();
        of_process.add(Box::new(process::readings));
        to.register_collector(Box::new(of_process));
        let of_answers = Histograms::new_with_constructor(|| Histogram::new(ANSWERS));
        let of_calls = Histograms::new_with_constructor(|| Histogram::new(CALLS));
        let of_publishing = Histograms::new_with_constructor(|| Histogram::new(PUBLISHING));
        let requests = add(to, "ad_http_requests", "Requests of the API that were answered", Family::default());
        let by_class = Family::<MetricLabels<1>, Counter>::default();
        let by_class = add(to, "ad_http_answers", "Answered requests by the class of their status", by_class);
        let published = "Time from the request of a client until a marketplace shows the ad";
        let attempts = "Attempts to deliver an event to a webhook: delivered, retried or failed";
        let erased = "What was erased or removed because its retention time was over";
        let running = "Requests that the workers of the process run side by side";
        let stored = "Images handed to the image store";
        let called = "Time that calls to marketplaces took";
        let inner = MetricsInner {
            requests,
            // Counters exist from the start, because the rate of a new counter misses its first increment.
            classes: CLASSES.map(|class| by_class.get_or_create_owned(&[("class", class.into())])),
            under_way: add(to, "ad_http_requests_under_way", "Requests that are being answered", Gauge::default()),
            answers: add(to, "ad_http_request_duration_seconds", "Time from a request to its answer", of_answers),
            marketplace_calls: add(to, "ad_marketplace_calls", "Calls to marketplaces", Family::default()),
            marketplace_times: add(to, "ad_marketplace_call_duration_seconds", called, of_calls),
            publishing: add(to, "ad_publish_duration_seconds", published, of_publishing),
            images: add(to, "ad_image_fetches", "Tries to fetch an image", counters(&FETCH_OUTCOMES)),
            image_times: add(to, "ad_image_fetch_duration_seconds", "Time that fetching took", Histogram::new(CALLS)),
            image_store: add(to, "ad_image_store_writes", stored, counters(&STORE_OUTCOMES)),
            webhook_attempts: add(to, "ad_webhook_attempts", attempts, counters(&WEBHOOK_OUTCOMES)),
            expired: add(to, "ad_retention_erased", erased, Family::default()),
            periodic_tasks: add(to, "ad_periodic_task_runs", "Runs of periodic tasks", Family::default()),
            event_streams: add(to, "ad_event_streams", "Open event streams and long polls", Gauge::default()),
            workers: add(to, "ad_workers", running, Gauge::default()),
            busy_workers: add(to, "ad_workers_busy", "Requests that the workers are running", Gauge::default()),
            readings,
            registry,
            queue,
            seen,
        };
        for market in MARKETS {
            let market = ("marketplace", Cow::from(market.name()));
            drop(inner.publishing.get_or_create(std::array::from_ref(&market)));
            for action in MARKETPLACE_ACTIONS {
                let action = ("action", Cow::from(action));
                drop(inner.marketplace_times.get_or_create(&[market.clone(), action.clone()]));
                for outcome in MARKETPLACE_OUTCOMES {
                    let labels = [market.clone(), action.clone(), ("outcome", outcome.into())];
                    drop(inner.marketplace_calls.get_or_create(&labels));
                }
            }
        }
        for kind in Expired::ALL {
            drop(inner.expired.get_or_create(&kind.labels()));
        }
        Self(Arc::new(inner))
    }

    /// All metrics, as the text that scrapers read.
    pub async fn text(&self) -> String {
        let looked = tokio::time::timeout(LOOK, self.0.queue.queue_state()).await;
        let state = match looked {
            Ok(Ok(state)) => Some(state),
            Ok(Err(error)) => {
                tracing::debug!(%error, "cannot read queue state");
                None
            }
            Err(_) => None,
        };
        *locked(&self.0.seen) = state;
        let mut written = String::new();
        if let Err(error) = text::encode(&mut written, &self.0.registry) {
            tracing::error!(%error, "cannot encode metrics");
        }
        written
    }

    /// The number of open event streams and long polls.
    pub fn event_streams(&self) -> &Gauge {
        &self.0.event_streams
    }

    /// The number of requests that workers run, which can be `slots` at most.
    pub fn busy_workers(&self, slots: usize) -> Gauge {
        self.0.workers.set(i64::try_from(slots).unwrap_or(i64::MAX));
        self.0.busy_workers.clone()
    }

    /// Registers readings that are taken whenever metrics are requested.
    pub fn read(&self, read: impl Fn() -> Vec<Reading> + Send + Sync + 'static) {
        self.0.readings.add(Box::new(read));
    }

    /// A marketplace shows an ad, so long after the request that asked for it.
    pub(super) fn published(&self, market: &'static str, after: Duration) {
        self.0.publishing.get_or_create(&[("marketplace", market.into())]).observe(after.as_secs_f64());
    }

    pub(super) fn marketplace_called(
        &self,
        market: &'static str,
        action: &'static str,
        outcome: &'static str,
        took: Duration,
    ) {
        let (market, action) = (("marketplace", market.into()), ("action", action.into()));
        let labels = [market.clone(), action.clone(), ("outcome", outcome.into())];
        self.0.marketplace_calls.get_or_create(&labels).inc();
        self.0.marketplace_times.get_or_create(&[market, action]).observe(took.as_secs_f64());
    }

    pub(super) fn image_fetched(&self, outcome: &'static str, took: Duration) {
        self.0.images.get_or_create(&[("outcome", outcome.into())]).inc();
        self.0.image_times.observe(took.as_secs_f64());
    }

    pub(super) fn image_stored(&self, outcome: &'static str) {
        self.0.image_store.get_or_create(&[("outcome", outcome.into())]).inc();
    }

    /// So many were erased or removed because their retention time was over.
    pub fn expired(&self, kind: Expired, count: u64) {
        self.0.expired.get_or_create(&kind.labels()).inc_by(count);
    }

    pub fn periodic_task_ran(&self, task: &'static str, is_done: bool) {
        let outcome = if is_done { "done" } else { "failed" };
        self.0.periodic_tasks.get_or_create(&[("task", task.into()), ("outcome", outcome.into())]).inc();
    }

    /// An event was sent to a webhook, or not.
    pub fn webhook_attempted(&self, outcome: &'static str) {
        self.0.webhook_attempts.get_or_create(&[("outcome", outcome.into())]).inc();
    }
}

/// Methods with counters of their own.
static METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// The label of all other methods: clients may invent any number of them.
const OTHER: &str = "other";

/// The status of requests whose client disconnected before the answer.
const GONE_AWAY: u16 = 499;

/// The counters of one path, if there are metrics.
pub struct RouteMetrics {
    metrics: Option<Metrics>,
    path: Cow<'static, str>,
}

crate::debug_by_name!(RouteMetrics);

impl RouteMetrics {
    pub fn new(metrics: Option<Metrics>, path: impl Into<Cow<'static, str>>) -> Self {
        Self { metrics, path: path.into() }
    }

    /// Counts the begin of a request, until it is [`answered`](Self::answered).
    pub fn began(&self) {
        if let Some(Metrics(inner)) = &self.metrics {
            inner.under_way.inc();
        }
    }

    /// Counts an answer; `None` if the client disconnected before.
    pub fn answered(&self, method: &Method, status: Option<StatusCode>, took: Duration) {
        let Some(Metrics(inner)) = &self.metrics else { return };
        inner.under_way.dec();
        let method = METHODS.iter().find(|known| *known == method).map_or(OTHER, Method::as_str);
        let status = status.map_or(GONE_AWAY, |status| status.as_u16());
        // The last class, after 5xx, is for clients that disconnected.
        let class = if status == GONE_AWAY { CLASSES.len() - 1 } else { usize::from(status.clamp(200, 599) / 100 - 2) };
        inner.classes[class].inc();
        let (method, path) = (("method", Cow::from(method)), ("path", self.path.clone()));
        let labels = [method.clone(), path.clone(), ("status", status.to_string().into())];
        inner.requests.get_or_create(&labels).inc();
        inner.answers.get_or_create(&[method, path]).observe(took.as_secs_f64());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use ad_core::ports::StoreError;
    use async_trait::async_trait;

    use super::*;
    use crate::telemetry::QueueLoad;

    /// A queue that cannot be read.
    pub(in crate::telemetry) struct NoQueue;

    #[async_trait]
    impl QueueSource for NoQueue {
        async fn queue_state(&self) -> Result<QueueLoad, StoreError> {
            Err(StoreError::Unavailable("gone".into()))
        }
    }

    /// The samples of a metric, sorted.
    pub(in crate::telemetry) fn lines<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
        let mut lines: Vec<_> = text.lines().filter(|line| line.starts_with(name)).collect();
        lines.sort_unstable();
        lines
    }

    #[tokio::test]
    async fn requests_are_counted_by_method_path_and_status() {
        let metrics = Metrics::new(Arc::new(NoQueue), Timestamp::from_millis(1_500));
        let route = RouteMetrics::new(Some(metrics.clone()), "/v4/car/{source_id}");
        let took = Duration::from_millis(2);
        for (method, status) in [
            (Method::GET, Some(StatusCode::OK)),
            (Method::GET, Some(StatusCode::OK)),
            (Method::GET, Some(StatusCode::IM_A_TEAPOT)),
            (Method::GET, None),
            (Method::from_bytes(b"BREW").unwrap(), Some(StatusCode::METHOD_NOT_ALLOWED)),
        ] {
            route.began();
            route.answered(&method, status, took);
        }
        let text = metrics.text().await;
        let path = "path=\"/v4/car/{source_id}\"";
        assert_eq!(
            lines(&text, "ad_http_requests_total"),
            [
                format!("ad_http_requests_total{{method=\"GET\",{path},status=\"200\"}} 2"),
                format!("ad_http_requests_total{{method=\"GET\",{path},status=\"418\"}} 1"),
                format!("ad_http_requests_total{{method=\"GET\",{path},status=\"499\"}} 1"),
                format!("ad_http_requests_total{{method=\"other\",{path},status=\"405\"}} 1"),
            ]
        );
        let bucket = format!("ad_http_request_duration_seconds_bucket{{le=\"0.001\",method=\"GET\",{path}}} 0");
        assert!(text.contains(&bucket), "{text}");
        let bucket = format!("ad_http_request_duration_seconds_bucket{{le=\"0.0025\",method=\"GET\",{path}}} 4");
        assert!(text.contains(&bucket), "{text}");
        assert_eq!(lines(&text, "ad_http_requests_under_way"), ["ad_http_requests_under_way 0"]);
        assert_eq!(lines(&text, "process_start_time_seconds"), ["process_start_time_seconds 1.5"]);
        assert!(text.ends_with("# EOF\n"));
    }
}
