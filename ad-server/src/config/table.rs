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

use ad_server_base::{
    secret::Secret,
    telemetry::LogFormat,
    values::{AddressRange, ByteSize, Origin, OtlpEndpoint, Period, PublicUrl, Rate, RetentionTime},
};
use ad_server_outside::{marketplace::MarketplaceAddress, media::MediaLocation, registry::RegistryAddress};

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

/// The comment at the beginning of [`default_file`].
const HEADER: &str = "\
# Settings of ad-server, with their defaults.
#
# Copy the settings that you change into a file, and pass it with --config or AD_SERVER_CONFIG.
# Each setting is also a flag of `ad-server serve` (--database-url) and an environment variable
# (AD_SERVER_DATABASE_URL). Flags override the environment, and the environment overrides the file.
# Paths are relative to the working directory of ad-server.
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

/// The default of a setting, in TOML.
#[cfg(test)]
pub(super) fn default_of(name: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|setting| setting.name == name && setting.has_default).map(|setting| setting.value)
}

#[cfg(test)]
pub(super) fn exists(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.name == name)
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
        /// Name, help, default and flag of each setting.
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
            pub(super) fn filled(self, token_keys: Option<Secret>) -> Settings {
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
    /// Listening address of the API
    listen: SocketAddr = default "127.0.0.1:8080", flag("ADDR");

    /// The database
    /// A SQLite file, created if missing, or postgres://user:password@host:5432/database.
    database_url: String = default "sqlite://data/ads.db", no_flag(skip);

    /// Folder or bucket (`s3://bucket/prefix`) for images
    /// For a bucket of an S3-compatible store set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, if it is not at
    /// Amazon, AWS_ENDPOINT_URL.
    media: MediaLocation = default "./data/media", flag("DIR|URL");

    /// Address by which clients reach the service, such as `https://ads.example.com`
    /// Links in responses begin with it. If it is not set, they begin with the host of the request, and addresses of images
    /// with http:// and `listen`.
    public_url: PublicUrl = example "https://ads.example.com", flag("URL");

    /// File of dealers to import at every start
    dealers: PathBuf = example "./dealers.toml", flag("FILE.toml");

    /// Folder with lists of allowed values, which replace built-in lists of the same name
    catalogue: PathBuf = example "./catalogue", flag("DIR");

    /// File of further names of fields and query parameters, which hints in error messages know
    /// TOML: in the sections `fields` and `parameters`, lists of names by what they stand for.
    synonyms: PathBuf = example "./synonyms.toml", flag("FILE.toml");

    /// File of the token keys, created if missing; or set `AD_SERVER_TOKEN_KEYS` to the keys themselves (a JWK Set)
    /// It is reloaded when it changes.
    token_key: PathBuf = default "./data/token-keys.json", no_flag(skip);

    /// How long to accept tokens by the last known revocations while the database cannot be read
    /// After this time requests are answered with 503, because a token may have been revoked since.
    revocation_max_age: Period = default "10m", flag("TIME");

    /// Number of ads that are processed concurrently; 0 serves the API only
    /// Concurrent ads share commits, which makes publishing fast. Images in memory have a limit of their own.
    workers: usize = default 512, flag("N");

    /// Maximum of `workers` for one dealer [default: three quarters of `workers`]
    /// It keeps one dealer's many ads from delaying those of others. Three quarters of `workers` if not set.
    dealer_workers: NonZeroUsize = example 384, flag("N");

    /// Maximum number of connections to a PostgreSQL database, at least 7
    /// Reads of single ads, lists, writes and internal tasks have connections of their own, so that none waits for the others.
    database_connections: NonZeroU32 = default 16, flag("N");

    /// Hot standby of a PostgreSQL database, from which lists, logs and counts are read
    /// They are never older than what was written before: while the standby is behind, they are read from the database itself. It gets as
    /// many connections as the database has for lists.
    read_database_url: String = example "postgres://user:password@standby:5432/database", flag("URL");

    /// Time to wait at start for an unreachable database or image store
    /// Other errors, such as a wrong password, end the start at once.
    startup_timeout: Period = default "60s", flag("TIME");

    /// Time to keep serving after a stop signal, while /readyz answers 503
    /// Set it longer than load balancers take to notice, such as three of their checks. Without it, the process stops at once.
    shutdown_delay: Period = example "10s", flag("TIME");

    /// Migrate the schema of a PostgreSQL database at start; that of SQLite is always migrated
    /// Without it, a process refuses to start on an old schema: run `ad-server migrate` before an upgrade.
    migrate: bool = default false, flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");

    /// Time limit of a client's read from the database
    /// A list that takes longer is cancelled and answered with 503.
    read_timeout: Period = default "2s", flag("TIME");

    /// Allowed sites of `video_url`
    /// Their subdomains are allowed too.
    video_hosts: Vec<String> = default ["youtube.com", "youtu.be", "vimeo.com"], flag("HOST,…", value_delimiter = ',');

    /// Accept image addresses with http and on private networks; for development and tests only
    allow_private_images: bool = default false, flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");

    /// Send webhooks to http addresses and private networks too; for development and tests only
    /// Always on in a sandbox.
    allow_private_webhooks: bool = default false, flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");

    /// Serve sample images, and fail when source ids or image names ask for it; for tests of integrators only
    /// docs/sandbox.md lists the failures. Other defaults apply in a sandbox: image_tries 2, image_within 10s,
    /// marketplace_tries 3, marketplace_within 10s, marketplace_timeout 2s, and no circuit breakers of marketplaces.
    sandbox: bool = default false, flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");

    /// Maximum number of attempts to fetch an image
    /// Only transient failures are retried: timeouts, 429, 5xx.
    image_tries: NonZeroU32 = default 5, flag("N");

    /// Time within which an image is retried
    image_within: Period = default "60s", flag("TIME");

    /// Maximum number of attempts of a call to a marketplace
    marketplace_tries: NonZeroU32 = default 10, flag("N");

    /// Time within which a call to a marketplace is retried
    marketplace_within: Period = default "1h", flag("TIME");

    /// The primary marketplace: `local`, or its http(s) address
    /// `local` is stored in the database above; the server at an address implements docs/marketplace-adapter.md.
    primary_marketplace: MarketplaceAddress = default "local", flag("local|URL");

    /// The secondary marketplace: `local`, or its http(s) address
    secondary_marketplace: MarketplaceAddress = default "local", flag("local|URL");

    /// File with the bearer token of the primary marketplace; or set `AD_SERVER_PRIMARY_MARKETPLACE_TOKEN` to the token
    primary_marketplace_token_file: PathBuf = example "/run/secrets/primary", flag("FILE");

    /// File with the bearer token of the secondary marketplace; or set `AD_SERVER_SECONDARY_MARKETPLACE_TOKEN` to the token
    secondary_marketplace_token_file: PathBuf = example "/run/secrets/secondary", flag("FILE");

    /// Bearer token of the primary marketplace; not a flag, because others can read command lines
    /// Set it here only if no one else can read this file.
    primary_marketplace_token: Secret = example "secret", no_flag(skip);

    /// Bearer token of the secondary marketplace; not a flag, because others can read command lines
    secondary_marketplace_token: Secret = example "secret", no_flag(skip);

    /// Timeout of one call to a marketplace over HTTP
    marketplace_timeout: Period = default "10s", flag("TIME");

    /// Consecutive failures that open the circuit breaker of a marketplace
    /// While it is open, ads wait and use up no attempts.
    marketplace_failures: NonZeroU32 = default 10, flag("N");

    /// How long the circuit breaker of a marketplace stays open
    marketplace_pause: Period = default "10s", flag("TIME");

    /// Register of vehicles that `validate` compares ads with: a file, or the http(s) address of a server
    /// docs/vehicle-registry.md describes both. If it is not set, ads are not compared. No write waits for it.
    vehicle_registry: RegistryAddress = example "https://registry.example/v1", flag("FILE|URL");

    /// File with the bearer token of the vehicle registry, if its server wants one
    vehicle_registry_token_file: PathBuf = example "/run/secrets/registry", flag("FILE");

    /// Timeout of one call to the vehicle registry
    /// `validate` answers without the findings of the registry when the time is over.
    vehicle_registry_timeout: Period = default "1s", flag("TIME");

    /// Format of log lines
    /// `text` for people, `json` for programs (one object per line). RUST_LOG sets the level.
    log_format: LogFormat = default "text", flag("FORMAT");

    /// Listening address of metrics; if not set, that of the API if it is a loopback address
    /// If it is not set and trusted_proxies is, /metrics is not served. Set it to the same address as `listen` to serve metrics
    /// to everyone who can reach the API.
    metrics_listen: SocketAddr = example "127.0.0.1:9464", flag("ADDR");

    /// OpenTelemetry collector to send traces to, such as `http://127.0.0.1:4318`
    /// OTLP over HTTP. If neither it nor OTEL_EXPORTER_OTLP_ENDPOINT in the environment is set, there are no traces.
    otlp_endpoint: OtlpEndpoint = example "http://127.0.0.1:4318", flag("URL");

    /// Time limit for receiving the body of a request
    /// A connection whose request is not answered within twice this time is closed.
    request_timeout: Period = default "30s", flag("TIME");

    /// Time limit of silence between two requests of a connection
    /// It must be longer than the proxy in front keeps idle connections.
    idle_timeout: Period = default "75s", flag("TIME");

    /// Maximum number of connections
    /// Further connections are answered with 503, except for /healthz, /readyz and /metrics. Stay a hundred below the limit of
    /// open files.
    max_connections: NonZeroUsize = default 900, flag("N");

    /// Maximum number of connections of one client address [default: a quarter of `max_connections`]
    /// For IPv6, of one /64 network. Further connections are answered with 429. A quarter of `max_connections` if not set.
    connections_per_address: NonZeroUsize = example 225, flag("N");

    /// Addresses and networks of proxies whose X-Forwarded-Proto and X-Forwarded-Host are trusted
    /// Links in responses use these headers if public_url is not set. connections_per_address does not apply to proxies.
    trusted_proxies: Vec<AddressRange> = example ["127.0.0.1", "10.0.0.0/8"], flag("ADDR,…", value_delimiter = ',');

    /// Origins of web pages whose scripts may use the API (CORS), such as `https://shop.example.com`
    /// If it is not set, browsers let no page of another origin read answers. Tokens in web pages can be read by everyone who opens
    /// them, so set it only for pages of your own staff.
    cors_origins: Vec<Origin> = example ["https://shop.example.com"], flag("ORIGIN,…", value_delimiter = ',');

    /// Memory for bodies of requests in progress
    /// Dealers share it. A request waits for memory, and is answered with 503 after request_timeout.
    body_memory: ByteSize = default "64MiB", flag("SIZE");

    /// Make renditions of photos, in processes that have workers
    /// Findings about photos come from them too. Turn it off where other processes make them.
    renditions: bool = default true, flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");

    /// Memory for decoding photos, to make their renditions
    /// A photo that needs more is not decoded. The default is enough for 30 megapixels, or 18 of a progressive JPEG.
    photo_memory: ByteSize = default "128MiB", flag("SIZE");

    /// PEM file of the certificate, to serve HTTPS
    /// It includes the intermediate certificates. Certificate and key are reloaded when they change.
    tls_cert: PathBuf = example "./tls/cert.pem", flag("FILE");

    /// PEM file of the certificate's private key
    tls_key: PathBuf = example "./tls/key.pem", flag("FILE");

    /// Tell browsers to use nothing but HTTPS for this host, for a year after each answer; only with `tls_cert`
    /// Turn it off if something else on this host is served by plain HTTP.
    strict_transport_security: bool = default true, flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");

    /// Maximum request rate of a dealer with all its tokens, such as `600/m` or `20/s burst 100`
    /// A group counts like a dealer. Each process counts separately.
    rate_limit: Rate = example "20/s burst 100", flag("RATE");

    /// Maximum number of ads in a stock plan
    stock_ads: NonZeroU64 = default 100000, flag("N");

    /// Maximum size of the body of a stock plan, unpacked
    stock_bytes: ByteSize = default "256MiB", flag("SIZE");

    /// How long a stock plan can be applied after it has become ready
    stock_plans_ready: Period = default "24h", flag("TIME");

    /// How long a stock plan is kept after its end
    stock_plans_kept: Period = default "24h", flag("TIME");

    /// Address at which a CDN serves the stored images, such as `https://cdn.example.com/ads`
    /// `cdn_url` of an image begins with it. If it is not set, this service serves them below `public_url`.
    media_url: PublicUrl = example "https://cdn.example.com/ads", flag("URL");

    /// Maximum number of unfinished requests of a dealer; further ones are answered with 429 [default: unlimited]
    /// DELETE is always accepted. An ad has at most 100 unfinished requests in any case.
    dealer_requests: NonZeroU64 = example 10000, flag("N");

    /// Maximum number of ads of a dealer that are not deleted; further ones are answered with 400 [default: unlimited]
    dealer_ads: NonZeroU64 = example 5000, flag("N");

    /// Maximum size in bytes of all stored images of a dealer; further images fail [default: unlimited]
    /// Images are counted from the first start with this setting. An ad is published without images that fail.
    dealer_image_bytes: NonZeroU64 = example 10000000000, flag("BYTES");

    /// How long deleted ads keep their content and images [default: for ever]
    /// Then they are erased as by `ad-server erase`; docs/data-protection.md says what stays. An update still revives an erased ad, with the
    /// content that it brings.
    deleted_ads_kept: Period = example "90d", flag("TIME");

    /// How long photos of deleted ads are kept; `forever` keeps them until the ads are erased
    /// Then the image store forgets those that no other ad shows. The ads keep their content, and an update that revives one fetches its
    /// images again.
    deleted_photos_kept: RetentionTime = default "730d", flag("TIME");

    /// How long ads that were marked as sold in the console stay hidden before they are deleted; `forever` never deletes them
    /// Until then, the sale can be undone.
    sold_kept: RetentionTime = default "7d", flag("TIME");

    /// How long the record has what ads said before, and calls of marketplaces; `forever` keeps it until the ads are erased
    /// Of each ad, the 500 latest changes are kept at most. docs/record.md describes the record.
    record_kept: RetentionTime = default "730d", flag("TIME");

    /// How long messages, and what updates have changed, are kept in the logs of ads [default: for ever]
    /// Entries stay, because events and requests are read from them; their message is "Erased" then.
    log_messages_kept: Period = example "365d", flag("TIME");

    /// How long entries of the audit log are kept [default: for ever]
    audit_log_kept: Period = example "730d", flag("TIME");

    /// How long the answer to a request with an Idempotency-Key is kept
    /// Within this time, the same request with the same key gets the same answer and does nothing.
    idempotency_keys_kept: Period = default "7d", flag("TIME");

    /// Maximum number of idempotency keys in use with the tokens of one dealer or group; further ones are answered with 429 [default: unlimited]
    dealer_idempotency_keys: NonZeroU64 = example 1000000, flag("N");

    /// Maximum size of the answers kept for idempotency keys with the tokens of one dealer or group; the oldest make room for new ones
    /// A key whose answer was removed is no longer known. The newest three quarters of this size are always kept. Each further process may
    /// exceed it by a quarter.
    dealer_idempotency_bytes: ByteSize = default "256MiB", flag("SIZE");

    /// Longest time for which a request waits that prefers to (`Prefer: wait=N`)
    longest_wait: Period = default "30s", flag("TIME");

    /// Maximum number of requests that wait at the same time; further ones are answered with 429 [default: half of `max_connections`]
    /// Dealers share them. Each holds its connection. Half of `max_connections` if not set.
    waiting_requests: NonZeroUsize = example 450, flag("N");

    /// File of the keys that encrypt webhook secrets, created if missing; or set `AD_SERVER_WEBHOOK_KEYS` to the keys themselves
    /// All processes need the same file. Each line is a key, base64 of 32 bytes: the first one encrypts, all of them decrypt. The keys that
    /// sign records of ads are derived from them.
    webhook_key: PathBuf = default "./data/webhook-key", flag("FILE");

    /// Keys that encrypt webhook secrets; not a flag, because others can read command lines
    /// Set them here only if no one else can read this file.
    webhook_keys: Secret = example "secret", no_flag(skip);

    /// Maximum number of webhooks of a dealer or group
    webhooks_per_scope: NonZeroU32 = default 10, flag("N");

    /// Pauses between the attempts to deliver an event to a webhook
    /// Each is up to 10 % shorter or longer. After the last attempt, the delivery has failed.
    webhook_retries: Vec<Period> = default ["5s", "5m", "30m", "2h", "5h", "10h", "14h", "20h", "24h"], flag("TIME,…", value_delimiter = ',');

    /// Time without a successful delivery after which a failing webhook is disabled
    webhook_disabled_after: Period = default "5d", flag("TIME");

    /// How long finished deliveries to webhooks are kept
    webhook_deliveries_kept: Period = default "30d", flag("TIME");

    /// Serve the console, pages at /console/ on which dealers see and change their ads
    /// Visitors sign in with a token. Sessions are encrypted with `webhook_key`.
    console: bool = default true, flag("BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true");

    /// Maximum number of event streams and long polls at the same time; further ones are answered with 429
    /// Each holds its connection, of HTTP/2 one of 16 streams of a connection: `max_connections` and the limit of open files apply as well.
    event_streams: NonZeroUsize = default 5000, flag("N");

    /// Maximum number of event streams and long polls of one token at the same time; further ones are answered with 429
    token_event_streams: NonZeroUsize = default 20, flag("N");
}
