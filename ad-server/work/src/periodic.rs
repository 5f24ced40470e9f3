//! What a process does every so often: one table of tasks, and what runs them.
//!
//! All tasks behave alike. A pause is up to `jitter` percent shorter than the period, so that processes that start together do not work at
//! the same moment. An error is logged when it first occurs, counted, and tried again after the period. Loops that wait for events, such as
//! the workers, are not here.

use std::{error::Error, sync::Arc, time::Duration};

use ad_core::{
    pipeline::SlotKeeper,
    ports::{Clock, Ids},
};
use futures_util::future::BoxFuture;
use tokio::{sync::watch, task::JoinSet, time::sleep};

use ad_server_access::{
    auth::{KeyFile, UsedTokens},
    directory::Directory,
};
use ad_server_base::telemetry::Metrics;
use ad_server_outside::marketplace;
use ad_server_store::{Database, statement::Dialect};

use crate::{
    cleanup::{self, Kept},
    retention::Retention,
};

/// Most ads whose scores one statement computes.
const SCORED: u32 = 200;

#[derive(Debug)]
pub struct PeriodicTask<P> {
    name: &'static str,
    /// `None`: not in this process.
    period: fn(&P) -> Option<Duration>,
    /// In percent of the period.
    jitter: u32,
    /// Whether its first run comes at the start of the process and not after a period.
    at_once: bool,
    /// Goes on while the process stops, for the workers that finish.
    while_stopping: bool,
    work: for<'p> fn(&'p P) -> BoxFuture<'p, Result<Next, TaskError>>,
    /// The message when it fails.
    failure: &'static str,
}

/// When a task goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Period,
    After(Duration),
    Never,
}

pub type TaskError = Box<dyn Error + Send + Sync>;

/// What the tasks of the service work on.
pub struct ServiceParts {
    pub database: Database,
    pub directory: Arc<Directory>,
    pub slot_keeper: SlotKeeper,
    pub clock: Arc<dyn Clock>,
    pub kept: Kept,
    pub retention: Retention,
    /// Of a process that has an API.
    pub key_file: Option<KeyFile>,
    pub used_tokens: Option<Arc<UsedTokens>>,
}

/// What a server of local marketplaces works on.
pub struct MarketplaceParts {
    pub database: Database,
    pub clock: Arc<dyn Clock>,
}

ad_server_base::debug_by_name!(ServiceParts, MarketplaceParts, PeriodicRunner);

const MINUTE: Duration = Duration::from_mins(1);
/// Within a second, a change of dealers, tokens and keys is seen (decision 17).
const FRESHNESS: Duration = Duration::from_millis(500);

#[rustfmt::skip]
pub static TASKS: [PeriodicTask<ServiceParts>; 9] = [
    PeriodicTask {
        name: "directory", period: |_| Some(FRESHNESS), jitter: 0, at_once: false, while_stopping: true,
        work: |parts| Box::pin(async { parts.directory.refresh().await?; Ok(Next::Period) }),
        failure: "cannot read dealers and revoked tokens; keeping the last known state",
    },
    // Autovacuum does it a minute later, or not at all.
    PeriodicTask {
        name: "analysis", period: |parts| (parts.database.dialect() == Dialect::Postgres).then_some(MINUTE / 6), jitter: 10, at_once: false, while_stopping: false,
        work: |parts| Box::pin(async { parts.database.analyze_grown().await?; Ok(Next::Period) }),
        failure: "cannot have PostgreSQL analyse tables that have grown; lists may be slow",
    },
    // Otherwise each of them occupies a connection of the server for as long as a standby is away.
    PeriodicTask {
        name: "waiting_commits", period: |parts| (parts.database.dialect() == Dialect::Postgres).then_some(MINUTE / 30), jitter: 10, at_once: false, while_stopping: true,
        work: |parts| Box::pin(async {
            match parts.database.cancel_waiting_commits().await? {
                0 => Ok(Next::Period),
                _ => Err("the standby of synchronous_standby_names does not answer".into()),
            }
        }),
        failure: "commits wait for a synchronous standby; clients get 503, although what they sent is stored on the primary",
    },
    PeriodicTask {
        name: "token_keys", period: |parts| parts.key_file.as_ref().map(|_| FRESHNESS), jitter: 0, at_once: true, while_stopping: true,
        work: |parts| Box::pin(async {
            if let Some(file) = &parts.key_file { file.reload().await?; }
            Ok(Next::Period)
        }),
        failure: "cannot reload token keys; keeping the previous ones",
    },
    PeriodicTask {
        name: "used_tokens", period: |parts| parts.used_tokens.as_ref().map(|_| MINUTE / 6), jitter: 10, at_once: false, while_stopping: false,
        work: |parts| Box::pin(async {
            if let Some(used) = &parts.used_tokens { used.record(&parts.database, parts.clock.now()).await?; }
            Ok(Next::Period)
        }),
        failure: "cannot record the use of tokens",
    },
    // A slot is free when an ad is not live any more, and when an operator adds slots.
    PeriodicTask {
        name: "slots", period: |_| Some(MINUTE / 60), jitter: 10, at_once: false, while_stopping: false,
        work: |parts| Box::pin(async {
            let more = parts.slot_keeper.publish_waiting().await?;
            Ok(if more { Next::After(cleanup::PAUSE) } else { Next::Period })
        }),
        failure: "cannot publish ads that wait for a free slot; will be retried",
    },
    PeriodicTask {
        name: "cleanup", period: |parts| Some(MINUTE.min(parts.kept.shortest())), jitter: 10, at_once: false, while_stopping: false,
        work: |parts| Box::pin(async { cleanup::run(&parts.database, &*parts.clock, parts.kept).await?; Ok(Next::Period) }),
        failure: "cannot remove expired rows; will be retried",
    },
    PeriodicTask {
        name: "retention", period: |parts| Some((10 * MINUTE).min(parts.retention.times.shortest())), jitter: 10, at_once: false, while_stopping: false,
        work: |parts| Box::pin(async { parts.retention.erase().await?; Ok(Next::Period) }),
        failure: "cannot erase what is older than its retention time; will be retried",
    },
    // The ads that an earlier version has stored without scores, with pauses for the writes of others.
    PeriodicTask {
        name: "scoring", period: |_| Some(MINUTE), jitter: 10, at_once: true, while_stopping: false,
        work: |parts| Box::pin(async {
            let scored = parts.database.score_ads(SCORED).await?;
            Ok(if scored == 0 { Next::Never } else { Next::After(cleanup::PAUSE) })
        }),
        failure: "cannot compute quality scores of stored ads; will be retried",
    },
];

/// The tasks of a server of local marketplaces.
#[rustfmt::skip]
pub static MARKETPLACE_TASKS: [PeriodicTask<MarketplaceParts>; 1] = [
    PeriodicTask {
        name: "cleanup", period: |_| Some(MINUTE), jitter: 10, at_once: false, while_stopping: false,
        work: |parts| Box::pin(async {
            let more = marketplace::forget_calls(&parts.database, parts.clock.now(), cleanup::BATCH).await?;
            Ok(if more { Next::After(cleanup::PAUSE) } else { Next::Period })
        }),
        failure: "cannot remove expired rows; will be retried",
    },
];

/// Runs the tasks of a process.
#[derive(Clone)]
pub struct PeriodicRunner {
    pub ids: Arc<dyn Ids>,
    pub metrics: Option<Metrics>,
    pub stopped: watch::Receiver<bool>,
}

impl PeriodicRunner {
    /// Starts tasks, which end when the answer is dropped, and most of them when the process is to stop.
    pub fn start<P: Send + Sync + 'static>(&self, tasks: &'static [PeriodicTask<P>], parts: P) -> JoinSet<()> {
        let parts = Arc::new(parts);
        let mut running = JoinSet::new();
        for task in tasks {
            let (runner, parts, mut stopped) = (self.clone(), Arc::clone(&parts), self.stopped.clone());
            running.spawn(async move {
                tokio::select! {
                    () = runner.run(task, &parts) => {}
                    // An error means that the sender is gone.
                    _ = stopped.wait_for(|stopped| *stopped), if !task.while_stopping => {}
                }
            });
        }
        running
    }

    async fn run<P>(&self, task: &PeriodicTask<P>, parts: &P) {
        let Some(period) = (task.period)(parts) else { return };
        let mut pause = if task.at_once { Duration::ZERO } else { self.pause(period, task.jitter) };
        let mut failed = None;
        loop {
            sleep(pause).await;
            let outcome = (task.work)(parts).await;
            if let Some(metrics) = &self.metrics {
                metrics.periodic_task_ran(task.name, outcome.is_ok());
            }
            pause = match outcome {
                Ok(next) => {
                    if failed.take().is_some() {
                        tracing::info!(task = task.name, "periodic task succeeds again");
                    }
                    match next {
                        Next::Period => self.pause(period, task.jitter),
                        Next::After(pause) => pause,
                        Next::Never => return,
                    }
                }
                Err(error) => {
                    let error = error.to_string();
                    if failed.as_ref() != Some(&error) {
                        tracing::error!(task = task.name, error, "{}", task.failure);
                        failed = Some(error);
                    }
                    self.pause(period, task.jitter)
                }
            };
        }
    }

    /// A pause of this period, up to so many percent shorter.
    fn pause(&self, period: Duration, jitter: u32) -> Duration {
        let random = self.ids.next().as_u128() % 1000;
        period.saturating_sub(period * jitter / 100 * u32::try_from(random).unwrap_or_default() / 1000)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    };

    use ad_core::lock::locked;
    use tokio::time::Instant;

    use super::*;
    use ad_server_base::system::{RandomIds, SystemClock};

    #[derive(Default)]
    struct Parts {
        outcomes: Mutex<Vec<Result<Next, &'static str>>>,
        runs: AtomicU32,
    }

    static TASKS: [PeriodicTask<Parts>; 3] = [
        PeriodicTask { name: "ends", period: |_| Some(MINUTE), jitter: 0, while_stopping: true, ..SAMPLE },
        PeriodicTask { name: "elsewhere", period: |_| None, ..SAMPLE },
        PeriodicTask {
            name: "stops",
            period: |_| Some(Duration::from_hours(1)),
            work: |_| panic!("too early"),
            ..SAMPLE
        },
    ];

    const SAMPLE: PeriodicTask<Parts> = PeriodicTask {
        name: "",
        period: |_| None,
        jitter: 0,
        at_once: false,
        while_stopping: false,
        work: |parts| {
            Box::pin(async {
                parts.runs.fetch_add(1, Ordering::Relaxed);
                Ok(locked(&parts.outcomes).pop().unwrap_or(Ok(Next::Never))?)
            })
        },
        failure: "",
    };

    fn runner() -> (PeriodicRunner, watch::Sender<bool>) {
        let (stop, stopped) = watch::channel(false);
        let ids = Arc::new(RandomIds::new(Arc::new(SystemClock)));
        (PeriodicRunner { ids, metrics: None, stopped }, stop)
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_goes_on_after_errors_and_stops_with_the_process_unless_others_need_it() {
        let (runner, stop) = runner();
        let begun = Instant::now();
        let outcomes = vec![Ok(Next::Never), Ok(Next::After(MINUTE / 2)), Ok(Next::Period), Err("away"), Err("away")];
        let mut running = runner.start(&TASKS, Parts { outcomes: outcomes.into(), ..Parts::default() });
        stop.send_replace(true);
        while let Some(ended) = running.join_next().await {
            ended.unwrap();
        }
        assert_eq!(begun.elapsed().as_secs(), 60 * 4 + 30);
    }

    #[test]
    fn a_pause_is_at_most_the_period_and_at_least_what_jitter_leaves() {
        let (runner, _stop) = runner();
        let pauses: Vec<_> = (0..100).map(|_| runner.pause(MINUTE, 10)).collect();
        assert!(pauses.iter().all(|pause| (MINUTE * 9 / 10..=MINUTE).contains(pause)));
        assert!(pauses.iter().any(|pause| *pause != pauses[0]));
        assert_eq!(runner.pause(MINUTE, 0), MINUTE);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = super::TASKS.iter().map(|task| task.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), super::TASKS.len());
    }
}
