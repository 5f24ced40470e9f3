//! The settings, one row each: name, type, default, flag, help, and the reason that stands above the setting in the file
//! that `ad-server config` prints. Everything else that names a setting is generated from these rows.
//!
//! ```text
//! /// Reason.
//! name: Type = default VALUE, flag("VALUE NAME"), "Help";    // Settings::name is a Type
//! name: Type = example VALUE, flag("VALUE NAME"), "Help";    // has no default: Settings::name is an Option<Type>
//! ```
//!
//! Values are written as in TOML. The variable of a flag is its name in upper case behind `AD_SERVER_`. `no_flag(skip)`
//! marks what has no flag among those of `serve`; a row without reason belongs to the reason above it.

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    path::PathBuf,
};

use serde::Deserialize;

use crate::{
    marketplace::MarketplaceAddress,
    media::Place,
    secret::Secret,
    telemetry::LogFormat,
    values::{AddressRange, ByteSize, OtlpEndpoint, Period, PublicUrl, Rate},
};

/// A row of the table, as texts.
struct Setting {
    name: &'static str,
    /// Lines, each with a space before it.
    reason: &'static [&'static str],
    /// The default or an example, in TOML.
    value: &'static str,
    has_default: bool,
    help: &'static str,
}

/// The beginning of [`default_file`].
const HEADER: &str = "\
# Settings of ad-server, with their defaults.
#
# Copy what you change into a file of your own and name it with --config or AD_SERVER_CONFIG.
# Each setting is also a flag of `ad-server serve` (--database-url) and an environment variable
# (AD_SERVER_DATABASE_URL). A flag counts more than the environment, and that more than the file.
# Paths are relative to the directory in which ad-server is started.
";

/// The commented file of all settings with their defaults.
pub fn default_file() -> String {
    let mut file = HEADER.to_owned();
    for Setting { name, reason, value, has_default, .. } in SETTINGS {
        if !reason.is_empty() {
            file.push('\n');
        }
        for line in *reason {
            file.extend(["#", line, "\n"]);
        }
        file.extend([if *has_default { "" } else { "# " }, name, " = ", value, "\n"]);
    }
    file
}

/// The help of a setting, with its default.
pub fn help(name: &str) -> String {
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else { return String::new() };
    let Setting { help, value, has_default, .. } = setting;
    if !has_default || *value == "false" {
        return (*help).to_owned();
    }
    format!("{help} [default: {}]", value.replace(['"', '[', ']', ' '], ""))
}

/// The environment variable of a setting.
fn variable(name: &str) -> String {
    format!("AD_SERVER_{}", name.to_uppercase())
}

macro_rules! required_or_optional {
    (default $type:ty) => { $type };
    (example $type:ty) => { Option<$type> };
}

macro_rules! settings {
    ($(
        $(#[doc = $reason:literal])*
        $name:ident: $type:ty = $kind:ident $value:tt,
        $(flag($value_name:literal $($clap:tt)*))? $(no_flag($skip:ident))?,
        $help:literal;
    )*) => {
        /// The table.
        const SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            reason: &[$($reason),*],
            value: stringify!($value),
            has_default: matches!(stringify!($kind).as_bytes(), b"default"),
            help: $help,
        }),*];

        /// What one source says about the settings; `None`: ask the next.
        #[derive(Debug, Clone, Default, clap::Args, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Layer {$(
            #[doc = $help]
            #[arg(
                $(
                    long,
                    env = variable(stringify!($name)),
                    value_name = $value_name,
                    help = help(stringify!($name))
                    $($clap)*
                )?
                $($skip)?
            )]
            pub $name: Option<$type>,
        )*}

        /// What the service is run with.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Settings {
            /// Token keys from the environment (a JWK Set), which count more than the file `token_key`.
            pub token_keys: Option<Secret>,
            $(
                #[doc = $help]
                pub $name: required_or_optional!($kind $type),
            )*
        }

        impl Layer {
            /// This layer, and below it another.
            pub(super) fn or(self, below: Self) -> Self {
                Self { $($name: self.$name.or(below.$name)),* }
            }

            /// The settings of a layer that has the defaults at its bottom.
            pub(super) fn complete(self, token_keys: Option<Secret>) -> Settings {
                Settings { token_keys, $($name: complete!($kind self.$name)),* }
            }
        }
    };
}

macro_rules! complete {
    (default $value:expr) => {
        $value.expect("the table has its default")
    };
    (example $value:expr) => {
        $value
    };
}

settings! {
    /// Where the API is served.
    listen: SocketAddr = default "127.0.0.1:8080", flag("ADDR"),
        "Address on which the API is served";

    /// The database: a SQLite file, which is made when it is not there, or postgres://user:password@host:5432/database.
    database_url: String = default "sqlite://data/ads.db", no_flag(skip),
        "The database";

    /// Where images are kept: a folder, or a bucket of an S3-compatible store as "s3://bucket/prefix". For a bucket set
    /// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, if it is not at Amazon, AWS_ENDPOINT_URL.
    media: Place = default "./data/media", flag("DIR|URL"),
        "Folder or bucket (`s3://bucket/prefix`) in which images are kept";

    /// Address under which clients reach the service: links in answers begin with it. Without one they begin with the host
    /// that the request named, and the addresses of images with http:// and `listen`.
    public_url: PublicUrl = example "https://ads.example.com", flag("URL"),
        "Address under which clients reach the service, such as `https://ads.example.com`";

    /// Dealers to import on every start.
    dealers: PathBuf = example "./dealers.toml", flag("FILE.toml"),
        "File of dealers to import at start";

    /// Folder with lists of allowed values that replace the built-in ones of the same name.
    catalogue: PathBuf = example "./catalogue", flag("DIR"),
        "Folder with lists of allowed values that replace the built-in ones of the same name";

    /// The keys that sign and check tokens, as a JWK Set; made on first start, and read again when the file changes. The set
    /// itself can be given in the environment instead, as AD_SERVER_TOKEN_KEYS.
    token_key: PathBuf = default "./data/token-keys.json", no_flag(skip),
        "File of the keys that sign tokens, made when it is not there; or put the keys themselves (a JWK Set) into \
         `AD_SERVER_TOKEN_KEYS`";

    /// How long tokens are accepted while the database cannot be read: by the revocations that were read last. After this time
    /// requests are answered with 503, because a token may have been revoked since.
    revocation_max_age: Period = default "10m", flag("TIME"),
        "How long tokens are accepted while the database, and with it revocations, cannot be read";

    /// How many ads are worked on at the same time. 0 serves the API only. Many at once share commits, which is what makes
    /// publishing fast; how many images are in memory at once is limited on its own.
    workers: usize = default 512, flag("N"),
        "How many ads are worked on at the same time; 0 serves the API only";

    /// How many of them may be of one dealer, so that nobody's thousands of ads keep the others waiting. Three quarters of
    /// `workers` if not set.
    dealer_workers: NonZeroUsize = example 384, flag("N"),
        "How many of them may be of one dealer [default: three quarters of `workers`]";

    /// Most connections of a process to a PostgreSQL database. They are divided between reads of single ads, lists, writes, and the
    /// service's own needs, so that none of these waits for the others; at least 6 are used.
    database_connections: NonZeroU32 = default 16, flag("N"),
        "Most connections to a PostgreSQL database, at least 6";

    /// Most time that a read of the database may take that a client asked for. A list that takes longer is stopped and answered
    /// with 503.
    read_timeout: Period = default "2s", flag("TIME"),
        "Most time that a read of the database may take that a client asked for";

    /// Sites of `video_url`; their subdomains count too.
    video_hosts: Vec<String> = default ["youtube.com", "youtu.be", "vimeo.com"], flag("HOST,…", value_delimiter = ','),
        "Sites of `video_url`";

    /// Accept image addresses with http and on private networks. For development and tests only.
    allow_private_images: bool = default false,
        flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true"),
        "Accept image addresses with http and on private networks; for development and tests only";

    /// How often an image, or a call to a marketplace, is tried when it fails for a passing reason, and within which time.
    image_tries: NonZeroU32 = default 5, flag("N"),
        "How often an image is tried";
    image_within: Period = default "60s", flag("TIME"),
        "Within which time an image is tried again";
    marketplace_tries: NonZeroU32 = default 10, flag("N"),
        "How often a call to a marketplace is tried";
    marketplace_within: Period = default "1h", flag("TIME"),
        "Within which time a call to a marketplace is tried again";

    /// The marketplaces: "local" keeps one in the database above, and an http(s) address calls one that keeps to
    /// docs/marketplace-adapter.md.
    primary_marketplace: MarketplaceAddress = default "local", flag("local|URL"),
        "The primary marketplace: `local`, or its http(s) address";
    secondary_marketplace: MarketplaceAddress = default "local", flag("local|URL"),
        "The secondary marketplace: `local`, or its http(s) address";

    /// The bearer tokens of marketplaces over HTTP: in the environment (AD_SERVER_PRIMARY_MARKETPLACE_TOKEN,
    /// AD_SERVER_SECONDARY_MARKETPLACE_TOKEN), in files of their own, or here, if nobody else may read this file.
    primary_marketplace_token_file: PathBuf = example "/run/secrets/primary", flag("FILE"),
        "File that holds the bearer token of the primary marketplace; or put the token itself into \
         `AD_SERVER_PRIMARY_MARKETPLACE_TOKEN`";
    secondary_marketplace_token_file: PathBuf = example "/run/secrets/secondary", flag("FILE"),
        "File that holds the bearer token of the secondary marketplace; or put the token itself into \
         `AD_SERVER_SECONDARY_MARKETPLACE_TOKEN`";
    primary_marketplace_token: Secret = example "secret", no_flag(skip),
        "Bearer token of the primary marketplace; not a flag, because others can read command lines";
    secondary_marketplace_token: Secret = example "secret", no_flag(skip),
        "Bearer token of the secondary marketplace; not a flag, because others can read command lines";

    /// How long one call to a marketplace over HTTP may take. When so many in a row fail for a passing reason, the marketplace
    /// is left alone for the pause; ads wait meanwhile, and no tries are spent on it.
    marketplace_timeout: Period = default "10s", flag("TIME"),
        "How long one call to a marketplace over HTTP may take";
    marketplace_failures: NonZeroU32 = default 10, flag("N"),
        "After how many failures in a row a marketplace is left alone for a while";
    marketplace_pause: Period = default "10s", flag("TIME"),
        "For how long a marketplace that fails is left alone";

    /// How log lines are written: "text" for people, "json" for programs (one object a line). RUST_LOG says what is logged.
    log_format: LogFormat = default "text", flag("FORMAT"),
        "How log lines are written";

    /// Address on which metrics (/metrics) and /healthz are served. Without one, metrics are served on the address of the API
    /// if that is a loopback address and there are no trusted_proxies, else nowhere. Set it to the same address as `listen` to
    /// serve them to everyone who reaches the API.
    metrics_listen: SocketAddr = example "127.0.0.1:9464", flag("ADDR"),
        "Address on which metrics are served; without one, on that of the API if it is a loopback address";

    /// OpenTelemetry collector (OTLP over HTTP) that traces are sent to. Without one, and without OTEL_EXPORTER_OTLP_ENDPOINT in
    /// the environment, there are no traces.
    otlp_endpoint: OtlpEndpoint = example "http://127.0.0.1:4318", flag("URL"),
        "OpenTelemetry collector that traces are sent to, such as `http://127.0.0.1:4318`";

    /// Time in which the body of a request must have come. A connection whose request is not answered within twice this time
    /// is closed.
    request_timeout: Period = default "30s", flag("TIME"),
        "Time in which the body of a request must have come";

    /// How long a connection may be silent between requests. Longer than the proxy in front keeps its connections.
    idle_timeout: Period = default "75s", flag("TIME"),
        "How long a connection may be silent between requests";

    /// Most connections at the same time, in all and of one client address (IPv6: of one /64 network); a quarter of
    /// max_connections if not set. Connections beyond them are answered 503 or 429, except for /healthz, /readyz and /metrics.
    /// Stay a hundred below the limit of open files.
    max_connections: NonZeroUsize = default 900, flag("N"),
        "Most connections at the same time";
    connections_per_address: NonZeroUsize = example 225, flag("N"),
        "Most connections of one client address at the same time [default: a quarter of `max_connections`]";

    /// Addresses and networks of the proxies in front of the service. What they send as X-Forwarded-Proto and X-Forwarded-Host
    /// begins the links in answers where public_url is not set, and connections_per_address is not for them.
    trusted_proxies: Vec<AddressRange> = example ["127.0.0.1", "10.0.0.0/8"], flag("ADDR,…", value_delimiter = ','),
        "Addresses and networks of proxies whose X-Forwarded-Proto and X-Forwarded-Host count";

    /// Memory for the bodies of requests that are being received and processed. Dealers share it; a request for whose body there
    /// is no memory waits, and is answered 503 after request_timeout.
    body_memory: ByteSize = default "64MiB", flag("SIZE"),
        "Memory for the bodies of requests that are being received and processed";

    /// Serve HTTPS with this certificate (PEM, with those of the authorities in between) and private key (PEM). The files are
    /// read again when they change.
    tls_cert: PathBuf = example "./tls/cert.pem", flag("FILE"),
        "PEM file of the certificate, to serve HTTPS";
    tls_key: PathBuf = example "./tls/key.pem", flag("FILE"),
        "PEM file of the certificate's private key";

    /// How many requests each dealer (or group) may make to this process with all its tokens: a number per s, m or h, and how
    /// many at once.
    rate_limit: Rate = example "20/s burst 100", flag("RATE"),
        "How many requests a dealer may make with all its tokens, such as `600/m` or `20/s burst 100`";

    /// Address under which others show the stored images, such as a CDN in front of the bucket: `cdn_url` of an image begins
    /// with it. Without one this service shows them, below `public_url`.
    media_url: PublicUrl = example "https://cdn.example.com/ads", flag("URL"),
        "Address under which a CDN shows the stored images, such as `https://cdn.example.com/ads`";

    /// The most of each that a dealer may have, whatever tokens it has. Any number if not set.
    ///
    /// Unfinished requests: a further write is a 429, except for a DELETE. An ad has at most 100 of them in any case.
    dealer_requests: NonZeroU64 = example 10000, flag("N"),
        "Most unfinished requests of a dealer; a further one is a 429 [default: any number]";
    /// Ads that are not deleted: a further one is a 400.
    dealer_ads: NonZeroU64 = example 5000, flag("N"),
        "Most ads of a dealer that are not deleted; a further one is a 400 [default: any number]";
    /// Bytes of different stored images. Images are counted from when this is first set. A further image fails, and the ad is
    /// published without it.
    dealer_image_bytes: NonZeroU64 = example 10000000000, flag("BYTES"),
        "Most bytes of the stored images of a dealer; a further image fails [default: any number]";
}
