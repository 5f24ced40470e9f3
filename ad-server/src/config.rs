//! The settings: from flags, environment, a file, and `config.default.toml`, in this order of precedence.
//!
//! A [`Layer`] is what one of these sources says; [`Settings`] is the result. That a setting makes sense together with
//! the machine (a free port, a folder that can be written) is found out by what uses it.

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    path::{Path, PathBuf},
    time::Duration,
};

use ad_core::{pipeline::RetryPolicy, quotas::DealerQuotas, request::Market};
use serde::Deserialize;

pub use self::marketplaces::{
    InvalidMarketplace, MarketplaceAddress, MarketplaceSetting, MarketplaceSettings, Secret, TokenSource,
    TokenSourceError, token_variable,
};
pub use self::values::{
    AddressRange, ByteSize, InvalidAddressRange, InvalidByteSize, InvalidEndpoint, InvalidPeriod, InvalidPublicUrl,
    InvalidRate, OtlpEndpoint, Period, PublicUrl, Rate,
};
use crate::{
    auth::KeySource,
    http_server::{Proxies, TlsFiles},
    marketplace::BreakerOptions,
    media::Place,
    store::Options,
    telemetry::LogFormat,
    toml_file::{self, TomlFileError},
};

mod marketplaces;
mod values;

/// The commented file of all settings; the defaults are read from it.
pub const DEFAULTS: &str = include_str!("../config.default.toml");

/// What the service is run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where the API is served.
    pub listen: SocketAddr,
    /// The database.
    pub database_url: String,
    /// Where images are kept.
    pub media: Place,
    /// Address under which clients reach the service; `None`: the host that a request names.
    pub public_url: Option<PublicUrl>,
    /// Dealers to import at start.
    pub dealers: Option<PathBuf>,
    /// Folder with lists that replace built-in ones.
    pub catalogue: Option<PathBuf>,
    /// The keys of tokens.
    pub token_keys: KeySource,
    /// How old the last known revocations of tokens may be while the database cannot be read.
    pub revocation_max_age: Duration,
    /// How many ads are worked on at the same time; 0: only the API is served.
    pub workers: usize,
    /// How many of them may be of one dealer.
    pub dealer_workers: usize,
    /// Most connections to a PostgreSQL database; at least 6 are used.
    pub database_connections: u32,
    /// Most time that a read may take that a client asked for.
    pub read_timeout: Duration,
    /// Sites of `video_url`.
    pub video_hosts: Vec<String>,
    /// Whether images may come over http and from private networks.
    pub allow_private_images: bool,
    /// How often images are fetched.
    pub image_retry: RetryPolicy,
    /// How often marketplaces are called.
    pub marketplace_retry: RetryPolicy,
    /// The marketplaces.
    pub marketplaces: MarketplaceSettings,
    /// How log lines are written.
    pub log_format: LogFormat,
    /// Where metrics are served; `None`: on the address of the API, if that is a loopback address.
    pub metrics_listen: Option<SocketAddr>,
    /// Where traces are sent; `None`: where the environment says, if it does.
    pub otlp_endpoint: Option<OtlpEndpoint>,
    /// Time in which the body of a request must have come.
    pub request_timeout: Duration,
    /// How long a connection may be silent between requests.
    pub idle_timeout: Duration,
    /// Most connections at the same time.
    pub max_connections: usize,
    /// Most connections of one client address at the same time.
    pub connections_per_address: usize,
    /// Proxies that tell how a client reached them, and whose connections are those of many clients.
    pub trusted_proxies: Proxies,
    /// Memory for the bodies of requests, in bytes.
    pub body_memory: usize,
    /// Certificate and key; `None`: plain HTTP.
    pub tls: Option<TlsFiles>,
    /// How many requests a dealer may make; `None`: any number.
    pub rate_limit: Option<Rate>,
    /// Address under which others show the stored images; `None`: this service does.
    pub media_url: Option<PublicUrl>,
    /// What each dealer may have at most.
    pub dealer_quotas: DealerQuotas,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is missing or wrong.
    #[error("invalid settings: {0}")]
    File(#[from] TomlFileError),
    /// Two places for the token keys, and neither counts more.
    #[error("two sources of token keys: set either {variable} or --token-key (AD_SERVER_TOKEN_KEY), not both", variable = KeySource::VARIABLE)]
    TwoKeySources,
    /// Two tokens for one marketplace in one place.
    #[error("two tokens for the {market} marketplace: set either {variable} or the token file, not both", variable = token_variable(*.market))]
    TwoTokenSources {
        /// Whose.
        market: Market,
    },
    /// A certificate without its key, or a key without certificate.
    #[error("TLS needs a certificate and a key: set both tls_cert and tls_key, or neither")]
    HalfTls,
}

/// What one source says about the settings; `None`: ask the next.
#[derive(Debug, Clone, Default, clap::Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    /// Address on which the API is served [default: 127.0.0.1:8080]
    #[arg(long, env = "AD_SERVER_LISTEN", value_name = "ADDR")]
    pub listen: Option<SocketAddr>,

    /// Set by the commands: they all have this flag.
    #[arg(skip)]
    pub database_url: Option<String>,

    /// Folder or bucket (`s3://bucket/prefix`) in which images are kept [default: ./data/media]
    #[arg(long, env = "AD_SERVER_MEDIA", value_name = "DIR|URL")]
    pub media: Option<Place>,

    /// Address under which clients reach the service, such as `https://ads.example.com`
    #[arg(long, env = "AD_SERVER_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<PublicUrl>,

    /// File of dealers to import at start
    #[arg(long, env = "AD_SERVER_DEALERS", value_name = "FILE.toml")]
    pub dealers: Option<PathBuf>,

    /// Folder with lists of allowed values that replace the built-in ones of the same name
    #[arg(long, env = "AD_SERVER_CATALOGUE", value_name = "DIR")]
    pub catalogue: Option<PathBuf>,

    /// Set by the commands: several have this flag.
    #[arg(skip)]
    pub token_key: Option<PathBuf>,

    /// How long tokens are accepted while the database, and with it revocations, cannot be read [default: 10m]
    #[arg(long, env = "AD_SERVER_REVOCATION_MAX_AGE", value_name = "TIME")]
    pub revocation_max_age: Option<Period>,

    /// How many ads are worked on at the same time; 0 serves the API only [default: 512]
    #[arg(long, env = "AD_SERVER_WORKERS", value_name = "N")]
    pub workers: Option<usize>,

    /// How many of them may be of one dealer [default: three quarters of `workers`]
    #[arg(long, env = "AD_SERVER_DEALER_WORKERS", value_name = "N")]
    pub dealer_workers: Option<NonZeroUsize>,

    /// Most connections to a PostgreSQL database, at least 6 [default: 16]
    #[arg(long, env = "AD_SERVER_DATABASE_CONNECTIONS", value_name = "N")]
    pub database_connections: Option<NonZeroU32>,

    /// Most time that a read of the database may take that a client asked for [default: 2s]
    #[arg(long, env = "AD_SERVER_READ_TIMEOUT", value_name = "TIME")]
    pub read_timeout: Option<Period>,

    /// Sites of `video_url` [default: youtube.com,youtu.be,vimeo.com]
    #[arg(long, env = "AD_SERVER_VIDEO_HOSTS", value_name = "HOST,…", value_delimiter = ',')]
    pub video_hosts: Option<Vec<String>>,

    /// Accept image addresses with http and on private networks; for development and tests only
    #[arg(
        long,
        env = "AD_SERVER_ALLOW_PRIVATE_IMAGES",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
    )]
    pub allow_private_images: Option<bool>,

    /// How often an image is tried [default: 5]
    #[arg(long, env = "AD_SERVER_IMAGE_TRIES", value_name = "N")]
    pub image_tries: Option<NonZeroU32>,

    /// Within which time an image is tried again [default: 60s]
    #[arg(long, env = "AD_SERVER_IMAGE_WITHIN", value_name = "TIME")]
    pub image_within: Option<Period>,

    /// How often a call to a marketplace is tried [default: 10]
    #[arg(long, env = "AD_SERVER_MARKETPLACE_TRIES", value_name = "N")]
    pub marketplace_tries: Option<NonZeroU32>,

    /// Within which time a call to a marketplace is tried again [default: 1h]
    #[arg(long, env = "AD_SERVER_MARKETPLACE_WITHIN", value_name = "TIME")]
    pub marketplace_within: Option<Period>,

    /// The primary marketplace: `local`, or its http(s) address [default: local]
    #[arg(long, env = "AD_SERVER_PRIMARY_MARKETPLACE", value_name = "local|URL")]
    pub primary_marketplace: Option<MarketplaceAddress>,

    /// The secondary marketplace: `local`, or its http(s) address [default: local]
    #[arg(long, env = "AD_SERVER_SECONDARY_MARKETPLACE", value_name = "local|URL")]
    pub secondary_marketplace: Option<MarketplaceAddress>,

    /// From the environment or the file: what stands on a command line is read by others.
    #[arg(skip)]
    pub primary_marketplace_token: Option<Secret>,

    /// The same.
    #[arg(skip)]
    pub secondary_marketplace_token: Option<Secret>,

    /// File that holds the bearer token of the primary marketplace; or put the token itself into
    /// `AD_SERVER_PRIMARY_MARKETPLACE_TOKEN`
    #[arg(long, env = "AD_SERVER_PRIMARY_MARKETPLACE_TOKEN_FILE", value_name = "FILE")]
    pub primary_marketplace_token_file: Option<PathBuf>,

    /// File that holds the bearer token of the secondary marketplace; or put the token itself into
    /// `AD_SERVER_SECONDARY_MARKETPLACE_TOKEN`
    #[arg(long, env = "AD_SERVER_SECONDARY_MARKETPLACE_TOKEN_FILE", value_name = "FILE")]
    pub secondary_marketplace_token_file: Option<PathBuf>,

    /// How long one call to a marketplace over HTTP may take [default: 10s]
    #[arg(long, env = "AD_SERVER_MARKETPLACE_TIMEOUT", value_name = "TIME")]
    pub marketplace_timeout: Option<Period>,

    /// After how many failures in a row a marketplace is left alone for a while [default: 10]
    #[arg(long, env = "AD_SERVER_MARKETPLACE_FAILURES", value_name = "N")]
    pub marketplace_failures: Option<NonZeroU32>,

    /// For how long a marketplace that fails is left alone [default: 10s]
    #[arg(long, env = "AD_SERVER_MARKETPLACE_PAUSE", value_name = "TIME")]
    pub marketplace_pause: Option<Period>,

    /// How log lines are written [default: text]
    #[arg(long, env = "AD_SERVER_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    /// Address on which metrics are served; without one, on that of the API if it is a loopback address
    #[arg(long, env = "AD_SERVER_METRICS_LISTEN", value_name = "ADDR")]
    pub metrics_listen: Option<SocketAddr>,

    /// OpenTelemetry collector that traces are sent to, such as `http://127.0.0.1:4318`
    #[arg(long, env = "AD_SERVER_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp_endpoint: Option<OtlpEndpoint>,

    /// Time in which the body of a request must have come [default: 30s]
    #[arg(long, env = "AD_SERVER_REQUEST_TIMEOUT", value_name = "TIME")]
    pub request_timeout: Option<Period>,

    /// How long a connection may be silent between requests [default: 75s]
    #[arg(long, env = "AD_SERVER_IDLE_TIMEOUT", value_name = "TIME")]
    pub idle_timeout: Option<Period>,

    /// Most connections at the same time [default: 900]
    #[arg(long, env = "AD_SERVER_MAX_CONNECTIONS", value_name = "N")]
    pub max_connections: Option<NonZeroUsize>,

    /// Most connections of one client address at the same time [default: a quarter of `max_connections`]
    #[arg(long, env = "AD_SERVER_CONNECTIONS_PER_ADDRESS", value_name = "N")]
    pub connections_per_address: Option<NonZeroUsize>,

    /// Addresses and networks of proxies whose X-Forwarded-Proto and X-Forwarded-Host count
    #[arg(long, env = "AD_SERVER_TRUSTED_PROXIES", value_name = "ADDR,…", value_delimiter = ',')]
    pub trusted_proxies: Option<Vec<AddressRange>>,

    /// Memory for the bodies of requests that are being received and processed [default: 64MiB]
    #[arg(long, env = "AD_SERVER_BODY_MEMORY", value_name = "SIZE")]
    pub body_memory: Option<ByteSize>,

    /// PEM file of the certificate, to serve HTTPS
    #[arg(long, env = "AD_SERVER_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// PEM file of the certificate's private key
    #[arg(long, env = "AD_SERVER_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// How many requests a dealer may make with all its tokens, such as `600/m` or `20/s burst 100`
    #[arg(long, env = "AD_SERVER_RATE_LIMIT", value_name = "RATE")]
    pub rate_limit: Option<Rate>,

    /// Address under which a CDN shows the stored images, such as `https://cdn.example.com/ads`
    #[arg(long, env = "AD_SERVER_MEDIA_URL", value_name = "URL")]
    pub media_url: Option<PublicUrl>,

    /// Most unfinished requests of a dealer; a further one is a 429 [default: any number]
    #[arg(long, env = "AD_SERVER_DEALER_REQUESTS", value_name = "N")]
    pub dealer_requests: Option<NonZeroU64>,

    /// Most ads of a dealer that are not deleted; a further one is a 400 [default: any number]
    #[arg(long, env = "AD_SERVER_DEALER_ADS", value_name = "N")]
    pub dealer_ads: Option<NonZeroU64>,

    /// Most bytes of the stored images of a dealer; a further image fails [default: any number]
    #[arg(long, env = "AD_SERVER_DEALER_IMAGE_BYTES", value_name = "BYTES")]
    pub dealer_image_bytes: Option<NonZeroU64>,
}

macro_rules! each_or {
    ($above:ident, $below:ident: $($field:ident)*) => {
        Layer { $($field: $above.$field.or($below.$field)),* }
    };
}

impl Layer {
    /// This layer, and below it another.
    fn over(self, mut below: Self) -> Self {
        // A token hides what is below it, also when that stands in a file.
        if self.primary_marketplace_token.is_some() || self.primary_marketplace_token_file.is_some() {
            (below.primary_marketplace_token, below.primary_marketplace_token_file) = (None, None);
        }
        if self.secondary_marketplace_token.is_some() || self.secondary_marketplace_token_file.is_some() {
            (below.secondary_marketplace_token, below.secondary_marketplace_token_file) = (None, None);
        }
        each_or!(self, below:
            listen database_url media public_url dealers catalogue token_key revocation_max_age workers dealer_workers
            database_connections read_timeout video_hosts allow_private_images
            image_tries image_within marketplace_tries marketplace_within
            primary_marketplace secondary_marketplace primary_marketplace_token secondary_marketplace_token
            primary_marketplace_token_file secondary_marketplace_token_file marketplace_timeout marketplace_failures
            marketplace_pause log_format metrics_listen otlp_endpoint
            request_timeout idle_timeout max_connections connections_per_address trusted_proxies body_memory tls_cert tls_key rate_limit media_url
            dealer_requests dealer_ads dealer_image_bytes)
    }

    /// Whether each marketplace has one token at most.
    fn check_tokens(self) -> Result<Self, ConfigError> {
        for (market, two) in [
            (
                Market::Primary,
                self.primary_marketplace_token.is_some() && self.primary_marketplace_token_file.is_some(),
            ),
            (
                Market::Secondary,
                self.secondary_marketplace_token.is_some() && self.secondary_marketplace_token_file.is_some(),
            ),
        ] {
            if two {
                return Err(ConfigError::TwoTokenSources { market });
            }
        }
        Ok(self)
    }

    fn defaults() -> Self {
        toml_file::parse(DEFAULTS).expect("the embedded file is read by a test")
    }

    /// The settings of a layer that has the defaults at its bottom.
    fn complete(self, token_keys: Option<String>) -> Result<Settings, ConfigError> {
        const SET: &str = "config.default.toml sets it";
        let workers = self.workers.expect(SET);
        let max_connections = self.max_connections.expect(SET).get();
        let trusted_proxies = self.trusted_proxies.unwrap_or_default().into_iter().map(AddressRange::network);
        let tls = match (self.tls_cert, self.tls_key) {
            (Some(cert), Some(key)) => Some(TlsFiles { cert, key }),
            (None, None) => None,
            _ => return Err(ConfigError::HalfTls),
        };
        Ok(Settings {
            listen: self.listen.expect(SET),
            database_url: self.database_url.expect(SET),
            media: self.media.expect(SET),
            public_url: self.public_url,
            dealers: self.dealers,
            catalogue: self.catalogue,
            token_keys: token_keys.map_or_else(|| KeySource::File(self.token_key.expect(SET)), KeySource::Text),
            revocation_max_age: self.revocation_max_age.expect(SET).duration(),
            workers,
            dealer_workers: self.dealer_workers.map_or((workers * 3).div_ceil(4), NonZeroUsize::get),
            database_connections: self.database_connections.expect(SET).get(),
            read_timeout: self.read_timeout.expect(SET).duration(),
            video_hosts: self.video_hosts.expect(SET),
            allow_private_images: self.allow_private_images.expect(SET),
            image_retry: RetryPolicy::over(
                self.image_tries.expect(SET).get(),
                self.image_within.expect(SET).duration(),
            ),
            marketplace_retry: RetryPolicy::over(
                self.marketplace_tries.expect(SET).get(),
                self.marketplace_within.expect(SET).duration(),
            ),
            marketplaces: MarketplaceSettings {
                primary: marketplace(
                    self.primary_marketplace.expect(SET),
                    self.primary_marketplace_token,
                    self.primary_marketplace_token_file,
                ),
                secondary: marketplace(
                    self.secondary_marketplace.expect(SET),
                    self.secondary_marketplace_token,
                    self.secondary_marketplace_token_file,
                ),
                timeout: self.marketplace_timeout.expect(SET).duration(),
                breaker: BreakerOptions {
                    failures: self.marketplace_failures.expect(SET).get(),
                    pause: self.marketplace_pause.expect(SET).duration(),
                },
            },
            log_format: self.log_format.expect(SET),
            metrics_listen: self.metrics_listen,
            otlp_endpoint: self.otlp_endpoint,
            request_timeout: self.request_timeout.expect(SET).duration(),
            idle_timeout: self.idle_timeout.expect(SET).duration(),
            max_connections,
            connections_per_address: self
                .connections_per_address
                .map_or(max_connections.div_ceil(4), NonZeroUsize::get),
            trusted_proxies: Proxies::new(trusted_proxies),
            body_memory: self.body_memory.expect(SET).bytes(),
            tls,
            rate_limit: self.rate_limit,
            media_url: self.media_url,
            dealer_quotas: DealerQuotas {
                requests: self.dealer_requests.map(NonZeroU64::get),
                ads: self.dealer_ads.map(NonZeroU64::get),
                image_bytes: self.dealer_image_bytes.map(NonZeroU64::get),
            },
        })
    }
}

fn marketplace(address: MarketplaceAddress, text: Option<Secret>, file: Option<PathBuf>) -> MarketplaceSetting {
    MarketplaceSetting { address, token: text.map(TokenSource::Text).or(file.map(TokenSource::File)) }
}

impl Default for Settings {
    /// `config.default.toml`.
    fn default() -> Self {
        Layer::defaults().complete(None).expect("the embedded file is read by a test")
    }
}

impl Settings {
    /// How the database is used.
    pub fn database_options(&self) -> Options {
        Options { connections: self.database_connections, read_timeout: self.read_timeout, ..Options::default() }
    }

    /// The settings of flags and environment (both are in `given`), over those of a file, over the defaults. Token keys
    /// that are themselves in the environment count more than the file.
    pub fn load(given: Layer, file: Option<&Path>, token_keys: Option<String>) -> Result<Self, ConfigError> {
        if given.token_key.is_some() && token_keys.is_some() {
            return Err(ConfigError::TwoKeySources);
        }
        let file = file.map(toml_file::read).transpose()?.map_or_else(Layer::default, |(layer, _)| layer);
        let (given, file) = (given.check_tokens()?, file.check_tokens()?);
        given.over(file).over(Layer::defaults()).complete(token_keys)
    }
}

#[cfg(test)]
mod tests;
