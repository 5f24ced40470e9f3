//! Wiring: settings in, a running service out.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use ad_core::{
    catalogue::{Catalogue, CatalogueError},
    pipeline::{Patience, Pipeline},
    ports::{Clock, Ids},
    request::Market,
    rulebook::{self, Rulebook},
    service::Service,
};
use poem::{
    Server,
    listener::{Acceptor, Listener, TcpListener},
};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinHandle,
};

use crate::{
    api::{self, Authenticator, Context},
    auth::{Caller, KeySet, KeysError, TokenError, Verifier},
    config::Settings,
    directory::Directory,
    marketplace::Local,
    media::{ClientError, FetchOptions, Folder, FolderError, HttpFetcher},
    store::{Database, OpenError, SqliteStore},
    system::{RandomIds, SystemClock},
    worker::Worker,
};

/// How often the directory looks for changes: within a second, a change is seen (decision 17).
const FRESHNESS: Duration = Duration::from_millis(500);

/// Images in memory at the same time: at 15 MB each, at most a quarter of a gigabyte.
const IMAGES_AT_ONCE: usize = 16;

/// How long answers under way may take after a stop was asked for.
const DRAIN: Duration = Duration::from_secs(10);

/// Why the service cannot start. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The database.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The store, right after it was opened.
    #[error("cannot read the database: {0}")]
    Store(#[from] ad_core::ports::StoreError),
    /// The token keys.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The media folder.
    #[error(transparent)]
    Media(#[from] FolderError),
    /// The catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// A file of the catalogue.
    #[error("cannot read the catalogue {path}: {source}; give a folder of catalogue files with --catalogue")]
    CatalogueFile {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The address.
    #[error("cannot listen on {address}: {source}; stop what is using it, or choose another with --listen")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The dealers file.
    #[error(transparent)]
    Dealers(#[from] crate::dealers_file::DealersFileError),
    /// Fetching images cannot be set up.
    #[error("cannot set up fetching of images: {0}")]
    Fetcher(#[from] ClientError),
    /// The server ended by itself.
    #[error("the server ended: {0}")]
    Server(std::io::Error),
}

/// A running service.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its database, for whoever runs it in-process.
    pub database: Database,
    /// Its token keys.
    pub keys: KeySet,
    /// Its dealers.
    pub directory: Arc<Directory>,
    /// Its time.
    pub clock: Arc<dyn Clock>,
    /// Its ids.
    pub ids: Arc<dyn Ids>,
    stop: watch::Sender<bool>,
    server: JoinHandle<std::io::Result<()>>,
    worker: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Running {
    /// Stops it: no more requests are taken, and those under way come to their end.
    ///
    /// # Errors
    /// When the server had ended by itself.
    pub async fn stop(self) -> Result<(), AppError> {
        self.stop.send_replace(true);
        self.wait().await
    }

    /// Waits until it ends.
    async fn wait(self) -> Result<(), AppError> {
        let ended = self.server.await;
        self.stop.send_replace(true);
        if let Some(worker) = self.worker {
            let _ended = worker.await;
        }
        match ended {
            Ok(result) => result.map_err(AppError::Server),
            Err(error) => Err(AppError::Server(std::io::Error::other(error))),
        }
    }
}

/// Starts everything that the settings ask for. Nothing is started when anything is wrong.
///
/// # Errors
/// The first thing that is wrong, in a line that says what to do.
pub async fn start(settings: &Settings) -> Result<Running, AppError> {
    let rulebook = Arc::new(rules(settings)?);
    let dealers = settings.dealers.as_deref().map(crate::dealers_file::read).transpose()?;
    let acceptor = TcpListener::bind(settings.listen).into_acceptor().await;
    let acceptor = acceptor.map_err(|source| AppError::Listen { address: settings.listen, source })?;
    let address = acceptor.local_addr().first().and_then(|local| local.as_socket_addr().copied());
    let address = address.unwrap_or(settings.listen);

    let database = Database::open(&settings.database_url).await?;
    let keys = settings.token_keys.load()?;
    let public_url = settings.public_url.as_ref().map(|url| url.as_str().to_owned());
    let media_base = public_url.clone().unwrap_or_else(|| format!("http://{address}"));
    let media = Folder::new(&settings.media, &media_base)?;
    if let Some(dealers) = dealers {
        database.import_dealers(&dealers).await?;
    }
    let directory = Arc::new(Directory::load(database.clone()).await?);
    tokio::spawn(Arc::clone(&directory).keep_fresh(FRESHNESS));

    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids: Arc<dyn Ids> = Arc::new(RandomIds::new(Arc::clone(&clock)));
    let store = Arc::new(SqliteStore::new(database.clone()));
    let service = Service::new(store.clone(), directory.clone(), rulebook, Arc::clone(&clock), Arc::clone(&ids));
    let (stop, stopped) = watch::channel(false);
    let worker = if settings.workers > 0 {
        let options = FetchOptions { allow_private: settings.allow_private_images, ..FetchOptions::default() };
        let fetcher = HttpFetcher::new(options, Arc::clone(&clock))?;
        let pipeline = Pipeline {
            store: store.clone(),
            fetcher: Arc::new(fetcher),
            media: Arc::new(media.clone()),
            primary: Arc::new(Local::new(database.clone(), Market::Primary, Arc::clone(&clock))),
            secondary: Arc::new(Local::new(database.clone(), Market::Secondary, Arc::clone(&clock))),
            clock: Arc::clone(&clock),
            ids: Arc::clone(&ids),
            patience: Patience {
                images: settings.image_retry,
                marketplaces: settings.marketplace_retry,
                ..Patience::default()
            },
            images_at_once: Arc::new(Semaphore::new(IMAGES_AT_ONCE)),
        };
        let worker = Worker { pipeline, queued: store.queued(), concurrency: settings.workers };
        Some(tokio::spawn(worker.run(stopped.clone())))
    } else {
        None
    };
    let verifier = Verifier::new(&keys, Arc::clone(&clock));
    let authenticator = Arc::new(Tokens { verifier, directory: Arc::clone(&directory) });
    let router = api::router(Context { service, store, authenticator, ids: Arc::clone(&ids), media, public_url });
    let server = Server::new_with_acceptor(acceptor).run_with_graceful_shutdown(router, until(stopped), Some(DRAIN));
    Ok(Running { address, database, keys, directory, clock, ids, stop, server: tokio::spawn(server), worker })
}

/// Serves until the process is told to stop (Ctrl-C or SIGTERM), then drains.
///
/// # Errors
/// As [`start`], and when the server ends by itself.
pub async fn serve(settings: Settings) -> Result<(), AppError> {
    let running = start(&settings).await?;
    tracing::info!(address = %running.address, workers = settings.workers, "serving; documentation at http://{}/docs/swagger-ui/", running.address);
    let stop = running.stop.clone();
    tokio::spawn(async move {
        asked_to_stop().await;
        tracing::info!("stopping");
        stop.send_replace(true);
    });
    running.wait().await
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // An error means that nobody is left who could ask.
    let _gone = stopped.wait_for(|stop| *stop).await;
}

/// Ctrl-C, or SIGTERM where there is one.
pub(crate) async fn asked_to_stop() {
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

/// The rules as the settings have them.
///
/// # Errors
/// When a file of the catalogue cannot be read or used.
pub(crate) fn rules(settings: &Settings) -> Result<Rulebook, AppError> {
    Ok(Rulebook {
        catalogue: catalogue(settings)?,
        settings: rulebook::Settings {
            video_hosts: settings.video_hosts.clone(),
            http_images: settings.allow_private_images,
        },
    })
}

/// The catalogue, with the operator's files in the place of the embedded ones of their names.
fn catalogue(settings: &Settings) -> Result<Catalogue, AppError> {
    let Some(folder) = &settings.catalogue else { return Ok(Catalogue::embedded()) };
    let unreadable = |path: PathBuf| move |source| AppError::CatalogueFile { path, source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable(folder.clone()))? {
        let path = entry.map_err(unreadable(folder.clone()))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, std::fs::read_to_string(&path).map_err(unreadable(path.clone()))?));
        }
    }
    Ok(Catalogue::with_files(files.iter().map(|(name, content)| (name.as_str(), content.as_str())))?)
}

/// Tokens that are verified by their keys and not revoked.
struct Tokens {
    verifier: Verifier,
    directory: Arc<Directory>,
}

impl Authenticator for Tokens {
    fn authenticate(&self, token: &str) -> Result<Caller, TokenError> {
        let caller = self.verifier.verify(token)?;
        if self.directory.is_revoked(&caller.jti) {
            return Err(TokenError::Revoked);
        }
        Ok(caller)
    }
}
