//! Wires the parts together: starts the service that the settings describe.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use ad_core::{
    model::Market,
    pipeline::{Pipeline, PipelinePorts, PipelineSettings},
    ports::{Clock, Ids, ImageFetcher, MediaStore, Store},
    quotas::Quotas,
    service::Service,
};
use tokio::{
    sync::{Notify, watch},
    task::{JoinError, JoinHandle, JoinSet},
    time::Instant,
};

use crate::{
    config::Settings,
    readings::{self, DatabaseQueue},
    rules::{self, RulesError},
    sandbox::Sandbox,
};
use ad_server_access::{
    auth::{Caller, KeyFile, KeySet, KeySource, KeysError, TokenError, UsedTokens, Verifier},
    directory::Directory,
};
use ad_server_base::{
    http_server::{ConnectionLimits, HttpServer, Proxies, ServerError, ServerOptions},
    limits::RateLimiter,
    processor::Processor,
    system::{RandomIds, SystemClock},
    telemetry::{MarketplaceCalls, Metrics, ObservedPort},
    values::{Period, PublicUrl},
};
use ad_server_http::{
    api::{self, ApiFaults, Authenticator, BodyMemory, Context, EventStreams, Limits, Lists, Stopping, Waits},
    console::{self, Console, SignInLinks},
};
use ad_server_outside::{
    marketplace::{self, Circuits, ConnectError, PausableMarketplace},
    media::{ClientError, FetchOptions, HttpFetcher, Media, MediaBase, MediaError, Renditions, ServeMedia},
    registry::RegistryError,
    webhooks::{SenderError, WebhookKeyError, Webhooks, schedule::Schedule},
};
use ad_server_store::{Database, DatabaseStore, OpenError, SchemaPolicy};
use ad_server_work::{
    cleanup::Kept,
    periodic::{self, PeriodicRunner, ServiceParts},
    photos::PhotoWorker,
    retention::{Retention, RetentionTimes},
    webhook_worker::WebhookWorker,
    worker::Worker,
};

/// Exit code after a second stop signal.
const STOPPED_AT_ONCE: i32 = 1;

/// Pause between attempts to open what a process waits for at its start.
const OPEN_AGAIN: Duration = Duration::from_millis(500);

/// Connections that ask for metrics: a few programs at most.
const METRICS_CONNECTIONS: usize = 32;

/// Why the service cannot start. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error(transparent)]
    Database(#[from] OpenError),
    #[error("cannot read the database: {0}")]
    Store(#[from] ad_core::ports::StoreError),
    #[error(transparent)]
    Keys(#[from] KeysError),
    #[error(transparent)]
    WebhookKeys(#[from] WebhookKeyError),
    #[error(transparent)]
    Webhooks(#[from] SenderError),
    #[error(transparent)]
    Media(#[from] MediaError),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Listen(#[from] ServerError),
    #[error(transparent)]
    Dealers(#[from] ad_server_access::dealers_file::DealersFileError),
    #[error("cannot create the HTTP client for images: {0}")]
    Fetcher(#[from] ClientError),
    #[error(transparent)]
    Marketplace(#[from] ConnectError),
    #[error("a worker needs at least one worker slot, but --workers is 0; use `ad-server serve` to run the API only")]
    NoWorkers,
    #[error("the server stopped unexpectedly: {0}")]
    Server(JoinError),
}

/// Opens something. While it cannot be reached, retries for at most this time.
async fn retry_until_ready<T, E: std::fmt::Display, F: Future<Output = Result<T, E>>>(
    patience: Duration,
    what: &'static str,
    mut open: impl FnMut() -> F,
    is_unreachable: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let (begun, mut told) = (Instant::now(), false);
    loop {
        match open().await {
            Err(error) if is_unreachable(&error) && begun.elapsed() + OPEN_AGAIN < patience => {
                if !told {
                    tracing::warn!(%error, "waiting for the {what}, for {} s at most", patience.as_secs());
                    told = true;
                }
                tokio::time::sleep(OPEN_AGAIN).await;
            }
            opened => return opened,
        }
    }
}

/// The parts that every process of the service has.
struct CommonParts {
    database: Database,
    directory: Arc<Directory>,
    store: Arc<DatabaseStore>,
    media: Media,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    metrics: Metrics,
    sandbox: Option<Arc<Sandbox>>,
    /// The circuit breakers of marketplaces; empty in a process that calls none.
    circuits: Arc<OnceLock<Circuits>>,
}

impl CommonParts {
    /// `own_address` is what images are served from when no other address is set.
    async fn open(settings: &Settings, schema: SchemaPolicy, own_address: &str) -> Result<Self, AppError> {
        let dealers = settings.dealers.as_deref().map(ad_server_access::dealers_file::read).transpose()?;
        let patience = settings.startup_timeout.duration();
        let options = settings.database_options(schema);
        let open = || Database::open_with(&settings.database_url, &options);
        let database = retry_until_ready(patience, "database", open, OpenError::is_unreachable).await?;
        let media_base = match (&settings.media_url, &settings.public_url) {
            (Some(url), _) => MediaBase::Elsewhere(url.as_str().to_owned()),
            (None, Some(url)) => MediaBase::Service(url.as_str().to_owned()),
            (None, None) => MediaBase::Service(own_address.to_owned()),
        };
        let open = || Media::open(settings.media.clone(), media_base.clone());
        let media = retry_until_ready(patience, "image store", open, MediaError::is_unreachable).await?;
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

    fn quotas(&self, settings: &Settings) -> Arc<Quotas> {
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
        Ok(Pipeline::new(ports).with_settings(retries).with_quotas(self.quotas(settings)))
    }

    /// Starts to examine images, if the settings want workers. Returns what makes renditions, if anything does.
    fn start_photos(&self, settings: &Settings, stopped: watch::Receiver<bool>) -> Option<Renditions> {
        // A process without workers only reads images.
        let renditions = (settings.renditions && settings.workers > 0).then(|| self.renditions(settings))?;
        spawn_until(stopped, self.photo_worker(renditions.clone()).run());
        Some(renditions)
    }

    /// Starts the periodic tasks, which end when the answer is dropped.
    fn start_periodic(
        &self,
        settings: &Settings,
        stopped: &watch::Receiver<bool>,
        (key_file, used_tokens): (Option<KeyFile>, Option<Arc<UsedTokens>>),
    ) -> JoinSet<()> {
        let retention = Retention {
            times: RetentionTimes {
                deleted_ads: settings.deleted_ads_kept.map(Period::duration),
                log_messages: settings.log_messages_kept.map(Period::duration),
                audit_log: settings.audit_log_kept.map(Period::duration),
            },
            database: self.database.clone(),
            media: self.media.clone(),
            metrics: self.metrics.clone(),
            clock: Arc::clone(&self.clock),
        };
        let kept = Kept {
            answers: settings.idempotency_keys_kept.duration(),
            deliveries: settings.webhook_deliveries_kept.duration(),
        };
        let parts = ServiceParts {
            database: self.database.clone(),
            directory: Arc::clone(&self.directory),
            clock: Arc::clone(&self.clock),
            kept,
            retention,
            key_file,
            used_tokens,
        };
        let (ids, metrics) = (Arc::clone(&self.ids), Some(self.metrics.clone()));
        PeriodicRunner { ids, metrics, stopped: stopped.clone() }.start(&periodic::TASKS, parts)
    }

    /// Starts the workers if the settings want them: one for accepted requests, one for webhooks.
    fn start_workers(
        &self,
        settings: &Settings,
        webhooks: &Webhooks,
        stopped: &watch::Receiver<bool>,
    ) -> Result<Vec<JoinHandle<()>>, AppError> {
        if settings.workers == 0 {
            return Ok(Vec::new());
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
        Ok(vec![tokio::spawn(worker.run(stopped.clone())), tokio::spawn(sender.run())])
    }

    fn renditions(&self, settings: &Settings) -> Renditions {
        Renditions::new(self.media.clone(), self.store.clone(), settings.photo_memory.bytes())
    }

    fn photo_worker(&self, renditions: Renditions) -> PhotoWorker {
        PhotoWorker { store: self.store.clone(), renditions, clock: Arc::clone(&self.clock) }
    }

    fn webhooks(&self, settings: &Settings) -> Result<Webhooks, AppError> {
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

pub struct RunningService {
    /// The address on which the API listens.
    pub address: SocketAddr,
    /// The beginning of links to the API, such as `http://127.0.0.1:8080`.
    pub base_url: String,
    /// Where metrics are served, if they are.
    pub metrics_url: Option<String>,
    /// Its database, for programs that run it in-process.
    pub database: Database,
    /// Its token keys, as they were at the start.
    pub keys: KeySet,
    pub directory: Arc<Directory>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub links: SignInLinks,
    stop: watch::Sender<bool>,
    stopping: Stopping,
    server: JoinHandle<()>,
    metrics: Option<JoinHandle<()>>,
    workers: Vec<JoinHandle<()>>,
    /// Directory and token keys stay up to date until the workers have ended.
    _periodic: JoinSet<()>,
    _sandbox: Option<Arc<Sandbox>>,
}

ad_server_base::debug_by_name!(RunningService);

impl RunningService {
    /// Stops it: accepts no more requests and finishes those in progress.
    ///
    /// # Errors
    /// When the server had ended by itself.
    pub async fn stop(self) -> Result<(), AppError> {
        self.stop.send_replace(true);
        self.wait().await
    }

    /// Waits until server and workers have ended.
    async fn wait(self) -> Result<(), AppError> {
        let ended = self.server.await;
        self.stop.send_replace(true);
        for worker in self.workers {
            let _ended = worker.await;
        }
        // Metrics are served until the end, so that they show how the process stops.
        if let Some(metrics) = self.metrics {
            metrics.abort();
        }
        self.database.close().await;
        ended.map_err(AppError::Server)
    }
}

/// Starts everything that the settings ask for: the API, and the worker unless there are to be none. Nothing is started
/// when anything is wrong.
///
/// # Errors
/// The first thing that is wrong, in a line that says what to do.
pub async fn start(settings: &Settings) -> Result<RunningService, AppError> {
    let mut rulebook = rules::of(settings)?;
    let server = HttpServer::bind(&serving(settings), "listen").await?;
    let (address, base_url) = (server.address(), server.base_url());
    if settings.sandbox {
        let base_url = settings.public_url.as_ref().map_or(base_url.as_str(), PublicUrl::as_str);
        rulebook.settings.sample_images = Some(format!("{base_url}{}", ad_server_http::sandbox::IMAGES));
    }
    let rulebook = Arc::new(rulebook);
    let serves_metrics = serves_metrics(settings, address);
    let metrics_server = if serves_metrics { None } else { metrics_server(settings).await? };

    let common = CommonParts::open(settings, settings.schema(), &base_url).await?;
    let keys = settings.key_source().load()?;
    let (stop, stopped) = watch::channel(false);
    let stopping = Stopping::default();
    let webhooks = common.webhooks(settings)?;
    let workers = common.start_workers(settings, &webhooks, &stopped)?;
    let renditions = common.start_photos(settings, stopped.clone());
    let quotas = common.quotas(settings);
    let processor = Processor::default();
    let registry = settings.registry()?;
    let verifier = Arc::new(Verifier::new(&keys, Arc::clone(&common.clock)));
    let key_file = match settings.key_source() {
        KeySource::File(path) => Some(KeyFile::new(path, Arc::clone(&verifier))),
        KeySource::Text(_) => None,
    };
    let used = Arc::new(UsedTokens::default());
    let periodic = common.start_periodic(settings, &stopped, (key_file, Some(Arc::clone(&used))));
    let CommonParts { database, directory, store, media, clock, ids, metrics, sandbox, circuits } = common;
    let service = Service::new(store.clone(), directory.clone(), rulebook, Arc::clone(&clock), Arc::clone(&ids))
        .with_quotas(quotas)
        .with_compute(Arc::new(processor.clone()))
        .with_registry(registry);
    let (watch, keys_in_use) = (server.watch(), Arc::clone(&verifier));
    metrics.read(move || readings::server(&watch));
    metrics.read(move || readings::token_keys(&keys_in_use));
    let links = SignInLinks::default();
    let revocation_max_age = settings.revocation_max_age.duration();
    let authenticator = Arc::new(Tokens { verifier, directory: Arc::clone(&directory), revocation_max_age, used });
    let console = settings.console.then(|| console_parts(settings, &webhooks, &media, &links, circuits));
    let context = Context {
        service,
        store,
        authenticator,
        ids: Arc::clone(&ids),
        public_url: settings.public_url.as_ref().map(|url| url.as_str().to_owned()),
        trusted_proxies: settings.proxies(),
        cors_origins: settings.cors_origins.clone().unwrap_or_default().into(),
        limits: limits(settings, &database, processor, &stopped, &metrics),
        metrics: Some(metrics.clone()),
        stopping: stopping.clone(),
        serves_metrics,
        faults: sandbox.is_some().then(ApiFaults::default),
        webhooks: Some(webhooks),
    };
    let health = (Arc::clone(&context.store), stopping.clone());
    let images = ServeMedia::new(media).with_renditions(renditions);
    let router = api::router_with(context, images, move |routes, context| match &console {
        Some(console) => console::mount(routes, context, console),
        None => routes,
    });
    let server = tokio::spawn(server.run(router, until(stopped)));
    let metrics_url =
        if serves_metrics { Some(base_url.clone()) } else { metrics_server.as_ref().map(HttpServer::base_url) };
    let metrics = metrics_server.map(|server| serve_metrics(server, metrics, health));
    Ok(RunningService {
        address,
        base_url,
        metrics_url,
        database,
        keys,
        directory,
        clock,
        ids,
        links,
        stop,
        stopping,
        server,
        metrics,
        workers,
        _periodic: periodic,
        _sandbox: sandbox,
    })
}

/// Limits of what clients may use, from the settings.
fn limits(
    settings: &Settings,
    database: &Database,
    processor: Processor,
    stopped: &watch::Receiver<bool>,
    metrics: &Metrics,
) -> Limits {
    let streams = EventStreams::new(settings.event_streams.get(), settings.token_event_streams.get());
    Limits {
        body_within: settings.request_timeout.duration(),
        body_memory: BodyMemory::new(settings.body_memory.bytes()),
        rate: settings.rate_limit.map(RateLimiter::new),
        lists: Lists::new(database.list_connections()),
        processor,
        waits: Waits::new(settings.waiting_requests(), settings.longest_wait.duration()).until(stopped.clone()),
        event_streams: streams.until(stopped.clone()).counted_by(metrics),
        ..Limits::default()
    }
}

fn console_parts(
    settings: &Settings,
    webhooks: &Webhooks,
    media: &Media,
    links: &SignInLinks,
    circuits: Arc<OnceLock<Circuits>>,
) -> Console {
    let media_url = settings.media_url.as_ref().and_then(|url| url::Url::parse(url.as_str()).ok());
    Console {
        vault: Arc::clone(&webhooks.vault),
        database: webhooks.database.clone(),
        clock: Arc::clone(&webhooks.clock),
        media_origin: media_url.map(|url| url.origin().ascii_serialization()),
        links: links.clone(),
        circuits,
        quotas: settings.dealer_quotas(),
        media: media.clone(),
    }
}

fn serving(settings: &Settings) -> ServerOptions {
    ServerOptions {
        listen: settings.listen,
        tls: settings.tls(),
        // Headers and the response take time too; a late body is refused before.
        answer_within: settings.request_timeout.duration() * 2 + settings.longest_wait.duration(),
        idle: settings.idle_timeout.duration(),
        connections: ConnectionLimits {
            total: settings.max_connections.get(),
            per_address: settings.connections_per_address(),
            proxies: settings.proxies(),
        },
    }
}

/// Whether the API serves metrics too: to this machine only, unless the settings ask for more. A proxy would pass them on to
/// everyone.
fn serves_metrics(settings: &Settings, address: SocketAddr) -> bool {
    match settings.metrics_listen {
        Some(metrics) => metrics == address,
        None => address.ip().is_loopback() && settings.proxies().is_empty(),
    }
}

/// The server of metrics, if they have an address of their own.
async fn metrics_server(settings: &Settings) -> Result<Option<HttpServer>, AppError> {
    let Some(listen) = settings.metrics_listen else { return Ok(None) };
    let connections =
        ConnectionLimits { total: METRICS_CONNECTIONS, per_address: METRICS_CONNECTIONS, proxies: Proxies::default() };
    let options = ServerOptions { listen, tls: None, connections, ..serving(settings) };
    Ok(Some(HttpServer::bind(&options, "metrics-listen").await?))
}

fn serve_metrics(
    server: HttpServer,
    metrics: Metrics,
    (store, stopping): (Arc<dyn Store>, Stopping),
) -> JoinHandle<()> {
    tokio::spawn(server.run(api::metrics_router(metrics, store, stopping), std::future::pending()))
}

/// Serves until a stop signal (Ctrl-C or SIGTERM), then drains.
///
/// # Errors
/// As [`start`], and when the server ends by itself.
pub async fn serve(settings: Settings) -> Result<(), AppError> {
    let running = start(&settings).await?;
    let base_url = &running.base_url;
    tracing::info!(address = %running.address, workers = settings.workers, "serving; documentation at {base_url}/docs/swagger-ui/");
    if let Some(metrics_url) = &running.metrics_url {
        tracing::info!("metrics at {metrics_url}/metrics");
    } else {
        tracing::info!("metrics are not served: others can reach the API; set metrics_listen to serve them");
    }
    warn(&settings, Some(running.address));
    let (stop, stopping) = (running.stop.clone(), running.stopping.clone());
    let delay = settings.shutdown_delay.map(Period::duration);
    tokio::spawn(async move {
        stop_signal().await;
        tokio::spawn(exit_on_second_signal());
        stopping.begin();
        if let Some(delay) = delay {
            tracing::info!(
                seconds = delay.as_secs_f64(),
                "going to stop; serving until then, while /readyz answers 503"
            );
            tokio::time::sleep(delay).await;
        }
        tracing::info!("stopping");
        stop.send_replace(true);
    });
    running.wait().await
}

/// Warns of risky settings. `address` is the one of the API, if it is served.
fn warn(settings: &Settings, address: Option<SocketAddr>) {
    let is_public = address.is_some_and(|address| !address.ip().is_loopback());
    let insecure = settings.tls().is_none() && settings.proxies().is_empty();
    let warnings = [
        (
            is_public && settings.public_url.is_none(),
            "public_url is not set: links in answers begin with whatever host a request names, and those of images with the \
             address that the service listens on; set it to the address that clients use",
        ),
        (
            is_public && insecure,
            "the API is served without TLS beyond this machine: everyone on the network path can read tokens; set tls_cert \
             and tls_key, or trusted_proxies if a proxy in front adds TLS",
        ),
        (
            settings.allow_private_images,
            "allow_private_images is on: everyone with a token can make the service fetch from private networks; turn it off \
             in production",
        ),
        (
            settings.allow_private_webhooks,
            "allow_private_webhooks is on: everyone with a token can make the service send to private networks; turn it off \
             in production",
        ),
        (
            settings.sandbox,
            "sandbox is on: source ids and image names make requests fail (docs/sandbox.md); turn it off in production",
        ),
    ];
    for (_, warning) in warnings.into_iter().filter(|(applies, _)| *applies) {
        tracing::warn!("{warning}");
    }
}

/// Runs a worker without the API until a stop signal, then finishes the running requests.
///
/// # Errors
/// As [`start`].
pub async fn work(settings: Settings) -> Result<(), AppError> {
    let metrics_server = metrics_server(&settings).await?;
    let common = CommonParts::open(&settings, settings.schema(), &format!("http://{}", settings.listen)).await?;
    let (stop, stopped) = watch::channel(false);
    if settings.workers == 0 {
        return Err(AppError::NoWorkers);
    }
    let webhooks = common.webhooks(&settings)?;
    let workers = common.start_workers(&settings, &webhooks, &stopped)?;
    let _periodic = common.start_periodic(&settings, &stopped, (None, None));
    common.start_photos(&settings, stopped);
    tracing::info!(workers = settings.workers, database = Database::name_of(&settings.database_url), "working");
    warn(&settings, None);
    let stopping = Stopping::default();
    if let Some(server) = metrics_server {
        tracing::info!("metrics at {}/metrics", server.base_url());
        serve_metrics(server, common.metrics, (common.store.clone(), stopping.clone()));
    }
    stop_signal().await;
    stopping.begin();
    tracing::info!("stopping");
    stop.send_replace(true);
    tokio::spawn(exit_on_second_signal());
    for worker in workers {
        let _ended = worker.await;
    }
    common.database.close().await;
    Ok(())
}

async fn exit_on_second_signal() {
    stop_signal().await;
    tracing::warn!("second stop signal: stopping at once; unfinished requests continue at the next start");
    std::process::exit(STOPPED_AT_ONCE);
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

/// Runs something in the background, until `stopped` says so.
fn spawn_until(stopped: watch::Receiver<bool>, run: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(async move {
        tokio::select! {
            () = run => {}
            () = until(stopped) => {}
        }
    });
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // An error means that the sender is gone.
    let _gone = stopped.wait_for(|stop| *stop).await;
}

/// Ctrl-C, or SIGTERM where there is one.
pub(crate) async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _asked = tokio::signal::ctrl_c().await;
}

/// Tokens that are verified by their keys and not revoked.
struct Tokens {
    verifier: Arc<Verifier>,
    directory: Arc<Directory>,
    revocation_max_age: Duration,
    used: Arc<UsedTokens>,
}

impl Authenticator for Tokens {
    fn authenticate(&self, token: &str) -> Result<Caller, TokenError> {
        let caller = self.verifier.verify(token)?;
        self.check(&caller)?;
        self.used.add(&caller.jti);
        Ok(caller)
    }

    fn check(&self, caller: &Caller) -> Result<(), TokenError> {
        if self.verifier.has_expired(caller) {
            return Err(TokenError::Expired);
        }
        if self.directory.is_revoked(&caller.jti) {
            return Err(TokenError::Revoked);
        }
        if self.directory.age() > self.revocation_max_age {
            return Err(TokenError::RevocationUnknown);
        }
        Ok(())
    }
}
