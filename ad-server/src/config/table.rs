//! The settings, one row each: name, type, default, flag, help, and the reason that stands above the setting in the file
//! that `ad-server config` prints. Everything else that names a setting is generated from these rows.
//!
//! ```text
//! /// Help
//! /// Reason.
//! name: Type = default VALUE, flag("VALUE NAME");    // Settings::name is a Type
//! name: Type = example VALUE, flag("VALUE NAME");    // has no default: Settings::name is an Option<Type>
//! ```
//!
//! Values are written as in TOML. The variable of a flag is its name in upper case behind `AD_SERVER_`. `no_flag(skip)`
//! marks what has no flag among those of `serve`.

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    path::PathBuf,
};

use serde::Deserialize;

use crate::{
    marketplace::MarketplaceAddress,
    media::MediaLocation,
    secret::Secret,
    telemetry::LogFormat,
    values::{AddressRange, ByteSize, OtlpEndpoint, Period, PublicUrl, Rate},
};

/// A row of the table, as texts.
struct Setting {
    name: &'static str,
    /// A line with a space before it, as those of the reason.
    help: &'static str,
    reason: &'static [&'static str],
    /// The default or an example, in TOML.
    value: &'static str,
    has_default: bool,
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
    for Setting { name, help, reason, value, has_default } in SETTINGS {
        let help = help.split(" [default").next().unwrap_or_default();
        file.extend(["\n#", help, ".\n"]);
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
        return help.trim_start().to_owned();
    }
    format!("{} [default: {}]", help.trim_start(), value.replace(['"', '[', ']', ' '], ""))
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
        #[doc = $help:literal]
        $(#[doc = $reason:literal])*
        $name:ident: $type:ty = $kind:ident $value:tt,
        $(flag($value_name:literal $($clap:tt)*))? $(no_flag($skip:ident))?;
    )*) => {
        /// The table.
        const SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            help: $help,
            reason: &[$($reason),*],
            value: stringify!($value),
            has_default: matches!(stringify!($kind).as_bytes(), b"default"),
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
    /// Address on which the API is served
    listen: SocketAddr = default "127.0.0.1:8080", flag("ADDR");

    /// The database
    /// A SQLite file, which is made when it is not there, or postgres://user:password@host:5432/database.
    database_url: String = default "sqlite://data/ads.db", no_flag(skip);

    /// Folder or bucket (`s3://bucket/prefix`) in which images are kept
    /// For a bucket of an S3-compatible store set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, if it is not at
    /// Amazon, AWS_ENDPOINT_URL.
    media: MediaLocation = default "./data/media", flag("DIR|URL");

    /// Address under which clients reach the service, such as `https://ads.example.com`
    /// Links in answers begin with it. Without one they begin with the host that the request named, and the addresses of
    /// images with http:// and `listen`.
    public_url: PublicUrl = example "https://ads.example.com", flag("URL");

    /// File of dealers to import at start
    dealers: PathBuf = example "./dealers.toml", flag("FILE.toml");

    /// Folder with lists of allowed values that replace the built-in ones of the same name
    catalogue: PathBuf = example "./catalogue", flag("DIR");

    /// File of the keys that sign tokens, made when it is not there; or put the keys themselves (a JWK Set) into `AD_SERVER_TOKEN_KEYS`
    /// It is read again when it changes.
    token_key: PathBuf = default "./data/token-keys.json", no_flag(skip);

    /// How long tokens are accepted while the database, and with it revocations, cannot be read
    /// The revocations that were read last count until then. After this time requests are answered with 503, because a token
    /// may have been revoked since.
    revocation_max_age: Period = default "10m", flag("TIME");

    /// How many ads are worked on at the same time; 0 serves the API only
    /// Many at once share commits, which is what makes publishing fast; how many images are in memory at once is limited on
    /// its own.
    workers: usize = default 512, flag("N");

    /// How many of them may be of one dealer [default: three quarters of `workers`]
    /// So nobody's thousands of ads keep the others waiting. Three quarters of `workers` if not set.
    dealer_workers: NonZeroUsize = example 384, flag("N");

    /// Most connections to a PostgreSQL database, at least 6
    /// They are divided between reads of single ads, lists, writes, and the service's own needs, so that none of these waits
    /// for the others.
    database_connections: NonZeroU32 = default 16, flag("N");

    /// Most time that a read of the database may take that a client asked for
    /// A list that takes longer is stopped and answered with 503.
    read_timeout: Period = default "2s", flag("TIME");

    /// Sites of `video_url`
    /// Their subdomains count too.
    video_hosts: Vec<String> = default ["youtube.com", "youtu.be", "vimeo.com"], flag("HOST,…", value_delimiter = ',');

    /// Accept image addresses with http and on private networks; for development and tests only
    allow_private_images: bool = default false, flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");

    /// How often an image is tried
    /// Only failures that may pass are tried again: timeouts, 429, 5xx.
    image_tries: NonZeroU32 = default 5, flag("N");

    /// Within which time an image is tried again
    image_within: Period = default "60s", flag("TIME");

    /// How often a call to a marketplace is tried
    marketplace_tries: NonZeroU32 = default 10, flag("N");

    /// Within which time a call to a marketplace is tried again
    marketplace_within: Period = default "1h", flag("TIME");

    /// The primary marketplace: `local`, or its http(s) address
    /// `local` keeps it in the database above; an address calls one that implements docs/marketplace-adapter.md.
    primary_marketplace: MarketplaceAddress = default "local", flag("local|URL");

    /// The secondary marketplace: `local`, or its http(s) address
    secondary_marketplace: MarketplaceAddress = default "local", flag("local|URL");

    /// File that holds the bearer token of the primary marketplace; or put the token itself into `AD_SERVER_PRIMARY_MARKETPLACE_TOKEN`
    primary_marketplace_token_file: PathBuf = example "/run/secrets/primary", flag("FILE");

    /// File that holds the bearer token of the secondary marketplace; or put the token itself into `AD_SERVER_SECONDARY_MARKETPLACE_TOKEN`
    secondary_marketplace_token_file: PathBuf = example "/run/secrets/secondary", flag("FILE");

    /// Bearer token of the primary marketplace; not a flag, because others can read command lines
    /// Set it here only if nobody else may read this file.
    primary_marketplace_token: Secret = example "secret", no_flag(skip);

    /// Bearer token of the secondary marketplace; not a flag, because others can read command lines
    secondary_marketplace_token: Secret = example "secret", no_flag(skip);

    /// How long one call to a marketplace over HTTP may take
    marketplace_timeout: Period = default "10s", flag("TIME");

    /// After how many failures in a row a marketplace is left alone for a while
    /// Ads wait meanwhile, and no tries are spent on it.
    marketplace_failures: NonZeroU32 = default 10, flag("N");

    /// For how long a marketplace that fails is left alone
    marketplace_pause: Period = default "10s", flag("TIME");

    /// How log lines are written
    /// `text` for people, `json` for programs (one object a line). RUST_LOG says what is logged.
    log_format: LogFormat = default "text", flag("FORMAT");

    /// Address on which metrics are served; without one, on that of the API if it is a loopback address
    /// Without an address, and with trusted_proxies, /metrics is not served. Set it to the same address as `listen` to serve
    /// metrics to everyone who reaches the API.
    metrics_listen: SocketAddr = example "127.0.0.1:9464", flag("ADDR");

    /// OpenTelemetry collector that traces are sent to, such as `http://127.0.0.1:4318`
    /// OTLP over HTTP. Without one, and without OTEL_EXPORTER_OTLP_ENDPOINT in the environment, there are no traces.
    otlp_endpoint: OtlpEndpoint = example "http://127.0.0.1:4318", flag("URL");

    /// Time in which the body of a request must have come
    /// A connection whose request is not answered within twice this time is closed.
    request_timeout: Period = default "30s", flag("TIME");

    /// How long a connection may be silent between requests
    /// Longer than the proxy in front keeps its connections.
    idle_timeout: Period = default "75s", flag("TIME");

    /// Most connections at the same time
    /// Connections beyond it are answered 503, except for /healthz, /readyz and /metrics. Stay a hundred below the limit of
    /// open files.
    max_connections: NonZeroUsize = default 900, flag("N");

    /// Most connections of one client address at the same time [default: a quarter of `max_connections`]
    /// IPv6: of one /64 network. Connections beyond it are answered 429. A quarter of `max_connections` if not set.
    connections_per_address: NonZeroUsize = example 225, flag("N");

    /// Addresses and networks of proxies whose X-Forwarded-Proto and X-Forwarded-Host count
    /// They begin the links in answers where public_url is not set. connections_per_address is not for proxies.
    trusted_proxies: Vec<AddressRange> = example ["127.0.0.1", "10.0.0.0/8"], flag("ADDR,…", value_delimiter = ',');

    /// Memory for the bodies of requests that are being received and processed
    /// Dealers share it; a request for whose body there is no memory waits, and is answered 503 after request_timeout.
    body_memory: ByteSize = default "64MiB", flag("SIZE");

    /// PEM file of the certificate, to serve HTTPS
    /// With the certificates of the authorities in between. Certificate and key are read again when they change.
    tls_cert: PathBuf = example "./tls/cert.pem", flag("FILE");

    /// PEM file of the certificate's private key
    tls_key: PathBuf = example "./tls/key.pem", flag("FILE");

    /// How many requests a dealer may make with all its tokens, such as `600/m` or `20/s burst 100`
    /// A group counts as a dealer. Each process counts for itself.
    rate_limit: Rate = example "20/s burst 100", flag("RATE");

    /// Address under which a CDN shows the stored images, such as `https://cdn.example.com/ads`
    /// `cdn_url` of an image begins with it. Without one this service shows them, below `public_url`.
    media_url: PublicUrl = example "https://cdn.example.com/ads", flag("URL");

    /// Most unfinished requests of a dealer; a further one is a 429 [default: any number]
    /// A DELETE is accepted all the same. An ad has at most 100 of them in any case.
    dealer_requests: NonZeroU64 = example 10000, flag("N");

    /// Most ads of a dealer that are not deleted; a further one is a 400 [default: any number]
    dealer_ads: NonZeroU64 = example 5000, flag("N");

    /// Most bytes of the stored images of a dealer; a further image fails [default: any number]
    /// Images are counted from when this is first set. The ad is published without the image that fails.
    dealer_image_bytes: NonZeroU64 = example 10000000000, flag("BYTES");
}
