//! Wires the parts together: starts the service that the settings describe.
//!
//! `parts` opens what every process has, and starts workers and periodic tasks; `serving` makes what answers requests; `stop` has the
//! signals that end a process.

mod parts;
mod serving;
mod stop;

use std::{net::SocketAddr, sync::Arc};

use ad_core::{
    ports::{Clock, Ids},
    service::{Promotions, Service, StockPlans},
};
use tokio::{
    sync::{Notify, watch},
    task::{JoinError, JoinHandle},
};

use self::{
    parts::{Background, CommonParts},
    serving::Tokens,
    stop::{exit_on_second_signal, until},
};
pub(crate) use self::{
    parts::{operator_media, operator_photos, operator_pipeline},
    stop::stop_signal,
};
use crate::{
    config::Settings,
    readings,
    rules::{self, RulesError},
    sandbox::Sandbox,
};
use ad_server_access::{
    auth::{KeySet, KeysError},
    dealers_file::DealersFileError,
    directory::Directory,
};
use ad_server_base::{
    http_server::{HttpServer, ServerError},
    processor::Processor,
    values::{Period, PublicUrl},
};
use ad_server_http::{
    api::{self, ApiFaults, Context, PromotionApi, StockApi, Stopping},
    console::{self, SignInLinks},
};
use ad_server_outside::{
    marketplace::ConnectError,
    media::{ClientError, MediaError, ServeMedia},
    registry::RegistryError,
    webhooks::{SenderError, WebhookKeyError},
};
use ad_server_store::{Database, OpenError};
use ad_server_work::{promotions::PromotionWorker, sales::SaleWorker, stock_plans::PlanWorker};

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
    Dealers(#[from] DealersFileError),
    #[error("cannot create the HTTP client for images: {0}")]
    Fetcher(#[from] ClientError),
    #[error(transparent)]
    Marketplace(#[from] ConnectError),
    #[error("a worker needs at least one worker slot, but --workers is 0; use `ad-server serve` to run the API only")]
    NoWorkers,
    #[error("the server stopped unexpectedly: {0}")]
    Server(JoinError),
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
    background: Background,
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
    async fn wait(mut self) -> Result<(), AppError> {
        let ended = self.server.await;
        self.stop.send_replace(true);
        self.background.workers_ended().await;
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
    let server = HttpServer::bind(&serving::options(settings), "listen").await?;
    let (address, base_url) = (server.address(), server.base_url());
    if settings.sandbox {
        let base_url = settings.public_url.as_ref().map_or(base_url.as_str(), PublicUrl::as_str);
        rulebook.settings.sample_images = Some(format!("{base_url}{}", ad_server_http::sandbox::IMAGES));
    }
    let serves_metrics = serving::serves_metrics(settings, address);
    let metrics_server = if serves_metrics { None } else { serving::metrics_server(settings).await? };

    let common = CommonParts::open(settings, settings.schema(), &base_url).await?;
    let keys = settings.key_source().load()?;
    let (webhooks, registry) = (common.webhooks(settings)?, settings.registry()?);
    let (stop, stopped) = watch::channel(false);
    let tokens = Arc::new(Tokens::new(settings, &keys, &common.directory, &common.clock));
    let mut background = common.start_background(settings, &webhooks, &stopped, Some(&tokens))?;
    let quotas = common.quotas(settings);

    let CommonParts { database, directory, store, media, clock, ids, metrics, sandbox, circuits } = common;
    let (watch, keys_in_use) = (server.watch(), Arc::clone(&tokens.verifier));
    metrics.read(move || readings::server(&watch));
    metrics.read(move || readings::token_keys(&keys_in_use));
    let (links, stopping, processor) = (SignInLinks::default(), Stopping::default(), Processor::default());
    let console = settings.console.then(|| serving::console_parts(settings, &webhooks, &media, &links, circuits));
    let service =
        Service::new(store.clone(), directory.clone(), Arc::new(rulebook), Arc::clone(&clock), Arc::clone(&ids))
            .with_quotas(quotas)
            .with_compute(Arc::new(processor.clone()))
            .with_registry(registry);
    let due = Arc::new(Notify::new());
    let plans = StockPlans::new(service.clone(), store.clone(), settings.plan_limits());
    let worker = PlanWorker { plans: plans.clone(), due: Arc::clone(&due) };
    background.workers.push(tokio::spawn(worker.run(stopped.clone())));
    let promotions = Promotions::new(service.clone(), store.clone(), api::selected, &api::EmptyAnswer);
    let promotions_due = Arc::new(Notify::new());
    let worker = PromotionWorker { promotions: promotions.clone(), due: Arc::clone(&promotions_due) };
    background.workers.push(tokio::spawn(worker.run(stopped.clone())));
    let sales = SaleWorker {
        service: service.clone(),
        database: database.clone(),
        clock: Arc::clone(&clock),
        ids: Arc::clone(&ids),
        kept: settings.sold_kept.duration(),
    };
    background.workers.push(tokio::spawn(sales.run(stopped.clone())));
    let context = Context {
        service,
        store,
        authenticator: tokens,
        ids: Arc::clone(&ids),
        public_url: settings.public_url.as_ref().map(|url| url.as_str().to_owned()),
        trusted_proxies: settings.proxies(),
        cors_origins: settings.cors_origins.clone().unwrap_or_default().into(),
        limits: serving::limits(settings, &database, processor, &stopped, &metrics),
        metrics: Some(metrics.clone()),
        stopping: stopping.clone(),
        serves_metrics,
        faults: sandbox.is_some().then(ApiFaults::default),
        record_keys: Arc::clone(webhooks.vault.record_keys()),
        stock: Some(StockApi::new(plans, due, settings.stock_bytes.bytes() as u64)),
        promotions: Some(PromotionApi { promotions, due: promotions_due }),
        webhooks: Some(webhooks),
        strict_transport: settings.strict_transport_security,
    };
    let health = (Arc::clone(&context.store), stopping.clone());
    let images = ServeMedia::new(media).with_renditions(background.renditions.clone());
    let router = api::router_with(context, images, move |routes, context| match &console {
        Some(console) => console::mount(routes, context, console),
        None => routes,
    });
    let server = tokio::spawn(server.run(router, until(stopped)));
    let metrics_url =
        if serves_metrics { Some(base_url.clone()) } else { metrics_server.as_ref().map(HttpServer::base_url) };
    let metrics = metrics_server.map(|server| serving::serve_metrics(server, metrics, health));
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
        background,
        _sandbox: sandbox,
    })
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

/// Runs a worker without the API until a stop signal, then finishes the running requests.
///
/// # Errors
/// As [`start`].
pub async fn work(settings: Settings) -> Result<(), AppError> {
    let metrics_server = serving::metrics_server(&settings).await?;
    let common = CommonParts::open(&settings, settings.schema(), &format!("http://{}", settings.listen)).await?;
    let (stop, stopped) = watch::channel(false);
    if settings.workers == 0 {
        return Err(AppError::NoWorkers);
    }
    let webhooks = common.webhooks(&settings)?;
    let mut background = common.start_background(&settings, &webhooks, &stopped, None)?;
    tracing::info!(workers = settings.workers, database = Database::name_of(&settings.database_url), "working");
    warn(&settings, None);
    let stopping = Stopping::default();
    if let Some(server) = metrics_server {
        tracing::info!("metrics at {}/metrics", server.base_url());
        serving::serve_metrics(server, common.metrics, (common.store.clone(), stopping.clone()));
    }
    stop_signal().await;
    stopping.begin();
    tracing::info!("stopping");
    stop.send_replace(true);
    tokio::spawn(exit_on_second_signal());
    background.workers_ended().await;
    common.database.close().await;
    Ok(())
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
