//! The parts that processes of the service have in common, and what runs in the background.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use ad_core::{
    model::Market,
    pipeline::{DealerSlots, Pipeline, PipelinePorts, PipelineSettings, SlotKeeper},
    ports::{Clock, Ids, ImageFetcher, MediaStore},
    quotas::Quotas,
};
use tokio::{
    sync::{Notify, watch},
    task::{JoinHandle, JoinSet},
    time::Instant,
};

use super::{AppError, serving::Tokens, stop::until};
use crate::{
    config::Settings,
    readings::{self, DatabaseQueue},
    sandbox::Sandbox,
};
use ad_server_access::{dealers_file, directory::Directory};
use ad_server_base::{
    system::{RandomIds, SystemClock},
    telemetry::{MarketplaceCalls, Metrics, ObservedPort},
    values::PublicUrl,
};
use ad_server_outside::{
    marketplace::{self, Circuits, PausableMarketplace},
    media::{FetchOptions, HttpFetcher, Media, MediaBase, MediaError, OwnImages, Renditions},
    webhooks::{Webhooks, schedule::Schedule},
};
use ad_server_store::{Database, DatabaseStore, OpenError, SchemaPolicy};
use ad_server_work::{
    periodic::{self, PeriodicRunner, ServiceParts},
    photos::PhotoWorker,
    retention::Retention,
    webhook_worker::WebhookWorker,
    worker::Worker,
};

/// Pause between attempts to open what a process waits for at its start.
const OPEN_AGAIN: Duration = Duration::from_millis(500);

/// Opens something. While it cannot be reached, retries for at most this time.
async fn retry_until_ready<T, E: std::fmt::Display, F: Future<Output = Result<T, E>>>(
    longest: Duration,
    what: &'static str,
    mut open: impl FnMut() -> F,
    is_unreachable: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let (begun, mut is_logged) = (Instant::now(), false);
    loop {
        match open().await {
            Err(error) if is_unreachable(&error) && begun.elapsed() + OPEN_AGAIN < longest => {
                if !is_logged {
                    tracing::warn!(%error, "waiting for the {what}, for {} s at most", longest.as_secs());
                    is_logged = true;
                }
                tokio::time::sleep(OPEN_AGAIN).await;
            }
            opened => return opened,
        }
    }
}

/// The parts that every process of the service has.
pub(super) struct CommonParts {
    pub(super) database: Database,
    pub(super) directory: Arc<Directory>,
    pub(super) store: Arc<DatabaseStore>,
    pub(super) media: Media,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) metrics: Metrics,
    pub(super) sandbox: Option<Arc<Sandbox>>,
    /// The circuit breakers of marketplaces; empty in a process that calls none.
    pub(super) circuits: Arc<OnceLock<Circuits>>,
}

impl CommonParts {
    /// `own_address` is what images are served from when no other address is set.
    pub(super) async fn open(settings: &Settings, schema: SchemaPolicy, own_address: &str) -> Result<Self, AppError> {
        let dealers = settings.dealers.as_deref().map(dealers_file::read).transpose()?;
        let longest = settings.startup_timeout.duration();
        let options = settings.database_options(schema);
        let open = || Database::open_with(&settings.database_url, &options);
        let database = retry_until_ready(longest, "database", open, OpenError::is_unreachable).await?;
        let media_base = match (&settings.media_url, &settings.public_url) {
            (Some(url), _) => MediaBase::Elsewhere(url.as_str().to_owned()),
            (None, Some(url)) => MediaBase::Service(url.as_str().to_owned()),
            (None, None) => MediaBase::Service(own_address.to_owned()),
        };
        let open = || Media::open(settings.media.clone(), media_base.clone());
        let media = retry_until_ready(longest, "image store", open, MediaError::is_unreachable).await?;
        if let Some(dealers) = dealers {
            database.import_dealers(&dealers).await?;
        }
        let directory = Arc::new(Directory::load(database.clone()).await?);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids: Arc<dyn Ids> = Arc::new(RandomIds::new(Arc::clone(&clock)));
        let store = Arc::new(DatabaseStore::new(database.clone()));
        let metrics = Metrics::new(
            Arc::new(DatabaseQueue { database: database.clone(), clock: Arc::clone(&clock) }),
            clock.now(),
        );
        let sandbox = if settings.sandbox {
            let addresses: Vec<_> = settings.public_url.iter().map(PublicUrl::as_str).chain([own_address]).collect();
            Some(Arc::new(Sandbox::start(&database, &clock, &ids, &addresses).await?))
        } else {
            None
        };
        let circuits = Arc::default();
        let common = Self { database, directory, store, media, clock, ids, metrics, sandbox, circuits };
        common.observe();
        Ok(common)
    }

    /// Registers the readings of these parts with the metrics.
    fn observe(&self) {
        let database = self.database.clone();
        self.metrics.read(move || readings::database(&database));
        let (directory, circuits) = (Arc::clone(&self.directory), Arc::clone(&self.circuits));
        self.metrics.read(move || readings::marketplaces(&directory, &circuits));
    }

    pub(super) fn quotas(&self, settings: &Settings) -> Arc<Quotas> {
        Arc::new(Quotas::new(settings.dealer_quotas(), self.store.clone(), Arc::clone(&self.clock)))
    }

    /// The pipeline of accepted requests.
    fn pipeline(&self, settings: &Settings) -> Result<Pipeline, AppError> {
        let options = FetchOptions { allow_private: settings.allow_private_images, ..FetchOptions::default() };
        let fetcher = HttpFetcher::new(options, Arc::clone(&self.clock))?;
        let (fetcher, markets): (Arc<dyn ImageFetcher>, _) = match &self.sandbox {
            Some(sandbox) => (
                Arc::new(sandbox.fetcher(fetcher, Arc::clone(&self.clock))?),
                sandbox.marketplaces(settings.marketplaces()),
            ),
            None => (Arc::new(fetcher), settings.marketplaces()),
        };
        let fetcher = Arc::new(OwnImages::new(self.media.clone(), fetcher));
        let markets = marketplace::connect(&markets, &self.database, &self.clock)?;
        self.circuits.get_or_init(|| markets.circuits);
        let observed = |inner, market| {
            let calls = MarketplaceCalls { market, metrics: self.metrics.clone(), clock: Arc::clone(&self.clock) };
            Arc::new(PausableMarketplace { inner, calls, directory: Arc::clone(&self.directory) })
        };
        let ports = PipelinePorts {
            store: self.store.clone(),
            fetcher: Arc::new(ObservedPort::<dyn ImageFetcher> { inner: fetcher, metrics: self.metrics.clone() }),
            media: Arc::new(ObservedPort::<dyn MediaStore> {
                inner: Arc::new(self.media.clone()),
                metrics: self.metrics.clone(),
            }),
            primary: observed(markets.primary, Market::Primary),
            secondary: observed(markets.secondary, Market::Secondary),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
        };
        let retries = PipelineSettings {
            images: settings.image_retry(),
            marketplaces: settings.marketplace_retry(),
            ..PipelineSettings::default()
        };
        let pipeline = Pipeline::new(ports).with_settings(retries).with_quotas(self.quotas(settings));
        Ok(pipeline.with_slots(self.slots()))
    }

    fn slots(&self) -> DealerSlots {
        DealerSlots { dealers: self.directory.clone(), store: self.store.clone() }
    }

    /// Starts the workers if the settings want them, and the periodic tasks. `tokens` are those that this process verifies.
    pub(super) fn start_background(
        &self,
        settings: &Settings,
        webhooks: &Webhooks,
        stopped: &watch::Receiver<bool>,
        tokens: Option<&Tokens>,
    ) -> Result<Background, AppError> {
        if settings.workers == 0 {
            let periodic = self.start_periodic(settings, stopped, tokens);
            return Ok(Background { workers: Vec::new(), renditions: None, _periodic: periodic });
        }
        let (store, metrics, owner) = (Arc::clone(&self.store), self.metrics.clone(), self.ids.next());
        let (schedule, disable_after) =
            (Schedule::new(&settings.webhook_retries), settings.webhook_disabled_after.duration());
        let webhooks = webhooks.clone();
        let sender = WebhookWorker::new(webhooks, store, metrics, owner, schedule, disable_after, stopped.clone())?;
        let worker = Worker {
            pipeline: self.pipeline(settings)?,
            queued: self.store.queued(),
            concurrency: settings.workers,
            per_dealer: settings.dealer_workers(),
            busy: self.metrics.busy_workers(settings.workers),
        };
        let workers = vec![tokio::spawn(worker.run(stopped.clone())), tokio::spawn(sender.run())];
        let renditions = settings.renditions.then(|| self.renditions(settings));
        if let Some(renditions) = &renditions {
            let (photos, stopped) = (self.photo_worker(renditions.clone()), stopped.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = photos.run() => {}
                    () = until(stopped) => {}
                }
            });
        }
        Ok(Background { workers, renditions, _periodic: self.start_periodic(settings, stopped, tokens) })
    }

    fn start_periodic(
        &self,
        settings: &Settings,
        stopped: &watch::Receiver<bool>,
        tokens: Option<&Tokens>,
    ) -> JoinSet<()> {
        let retention = Retention {
            times: settings.retention_times(),
            database: self.database.clone(),
            media: self.media.clone(),
            metrics: self.metrics.clone(),
            clock: Arc::clone(&self.clock),
        };
        let parts = ServiceParts {
            database: self.database.clone(),
            directory: Arc::clone(&self.directory),
            slot_keeper: SlotKeeper {
                slots: self.slots(),
                store: self.store.clone(),
                clock: Arc::clone(&self.clock),
                ids: Arc::clone(&self.ids),
            },
            clock: Arc::clone(&self.clock),
            kept: settings.kept(),
            retention,
            key_file: tokens.and_then(|tokens| tokens.key_file(settings)),
            used_tokens: tokens.map(|tokens| Arc::clone(&tokens.used)),
        };
        let (ids, metrics) = (Arc::clone(&self.ids), Some(self.metrics.clone()));
        PeriodicRunner { ids, metrics, stopped: stopped.clone() }.start(&periodic::TASKS, parts)
    }

    fn renditions(&self, settings: &Settings) -> Renditions {
        Renditions::new(self.media.clone(), self.store.clone(), settings.photo_memory.bytes())
    }

    fn photo_worker(&self, renditions: Renditions) -> PhotoWorker {
        PhotoWorker { store: self.store.clone(), renditions, clock: Arc::clone(&self.clock) }
    }

    pub(super) fn webhooks(&self, settings: &Settings) -> Result<Webhooks, AppError> {
        Ok(Webhooks {
            database: self.database.clone(),
            directory: self.directory.clone(),
            vault: Arc::new(settings.webhook_keys().load()?),
            clock: Arc::clone(&self.clock),
            per_scope: settings.webhooks_per_scope.get(),
            allow_private: settings.allow_private_webhooks,
            changed: Arc::new(Notify::new()),
        })
    }
}

/// What runs in the background. The periodic tasks end when it is dropped: directory and token keys stay up to date until the workers
/// have ended.
pub(super) struct Background {
    pub(super) workers: Vec<JoinHandle<()>>,
    /// What makes renditions of photos; `None` in a process that only reads images.
    pub(super) renditions: Option<Renditions>,
    pub(super) _periodic: JoinSet<()>,
}

impl Background {
    /// Waits until the workers have finished what they do.
    pub(super) async fn workers_ended(&mut self) {
        for worker in self.workers.drain(..) {
            let _ended = worker.await;
        }
    }
}

pub(crate) async fn operator_pipeline(settings: &Settings) -> Result<(Database, Pipeline), AppError> {
    let settings = Settings { dealers: None, ..settings.clone() };
    let common = CommonParts::open(&settings, SchemaPolicy::Require, &format!("http://{}", settings.listen)).await?;
    let pipeline = common.pipeline(&settings)?;
    Ok((common.database, pipeline))
}

/// The image store, for commands of operators.
pub(crate) async fn operator_media(settings: &Settings) -> Result<Media, AppError> {
    Ok(Media::open(settings.media.clone(), MediaBase::Elsewhere(String::new())).await?)
}

/// The database and what examines images, for commands of operators.
pub(crate) async fn operator_photos(settings: &Settings) -> Result<(Database, PhotoWorker), AppError> {
    let settings = Settings { dealers: None, ..settings.clone() };
    let common = CommonParts::open(&settings, SchemaPolicy::Require, &format!("http://{}", settings.listen)).await?;
    let worker = common.photo_worker(common.renditions(&settings));
    Ok((common.database, worker))
}
