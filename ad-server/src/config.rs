//! The settings, in this order of precedence: flags, environment, file, and the defaults of the table.
//!
//! A [`Layer`] holds the settings of one source, [`Settings`] the result. Whether a setting works on this machine (a free port, a
//! writable directory) is checked by the code that uses it.

#[cfg(test)]
mod limits_page;
mod table;
#[cfg(test)]
mod tests;

use std::{num::NonZero, path::Path, sync::Arc};

use ad_core::{
    model::Market, pipeline::RetryPolicy, ports::VehicleRegistry, quotas::DealerQuotas, service::PlanLimits,
};

pub use self::table::{Layer, Settings, default_file, help};
use ad_server_access::auth::KeySource;
use ad_server_base::{
    breaker::BreakerOptions,
    http_server::{Proxies, TlsFiles},
    secret::{Secret, TokenSource},
    toml_file::{self, TomlFileError},
    values::{AddressRange, Period},
};
use ad_server_outside::{
    marketplace::{MarketplaceSetting, MarketplaceSettings, token_variable},
    registry::{self, RegistryError},
    webhooks::WebhookKeySource,
};
use ad_server_store::{Database, Options, SchemaPolicy};
use ad_server_work::{cleanup::Kept, retention::RetentionTimes};

/// Defaults of a sandbox. Failures end within seconds, and those of one integrator do not stop calls for others.
const SANDBOX: &str = "
image_tries = 2
image_within = '10s'
marketplace_tries = 3
marketplace_within = '10s'
marketplace_timeout = '2s'
marketplace_failures = 4294967295
";

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("invalid settings: {0}")]
    File(#[from] TomlFileError),
    #[error("two sources of token keys: set either {variable} or --token-key (AD_SERVER_TOKEN_KEY), not both", variable = KeySource::VARIABLE)]
    TwoKeySources,
    #[error("two tokens for the {market} marketplace: set either {variable} or the token file, not both", variable = token_variable(*.market))]
    TwoTokenSources { market: Market },
    #[error("TLS needs a certificate and a key: set both tls_cert and tls_key, or neither")]
    HalfTls,
    #[error(
        "read_database_url needs PostgreSQL: it is the address of a standby of the server of database_url, and both begin with postgres://"
    )]
    NoPrimary,
}

impl Layer {
    /// These settings, with those of another layer where they are absent.
    fn with_fallback(self, mut below: Self) -> Self {
        // A token hides what is below it, also when that stands in a file.
        if self.primary_marketplace_token.is_some() || self.primary_marketplace_token_file.is_some() {
            (below.primary_marketplace_token, below.primary_marketplace_token_file) = (None, None);
        }
        if self.secondary_marketplace_token.is_some() || self.secondary_marketplace_token_file.is_some() {
            (below.secondary_marketplace_token, below.secondary_marketplace_token_file) = (None, None);
        }
        self.or(below)
    }

    fn two_tokens(&self) -> impl Iterator<Item = ConfigError> + use<> {
        let primary = self.primary_marketplace_token.is_some() && self.primary_marketplace_token_file.is_some();
        let secondary = self.secondary_marketplace_token.is_some() && self.secondary_marketplace_token_file.is_some();
        let mistake = |is_one: bool, market| is_one.then_some(ConfigError::TwoTokenSources { market });
        [mistake(primary, Market::Primary), mistake(secondary, Market::Secondary)].into_iter().flatten()
    }

    /// The settings of this layer over the defaults.
    fn complete(self, token_keys: Option<Secret>) -> Settings {
        let defaults: Self = toml_file::parse(&default_file()).expect("the table is read by a test");
        let defaults = match self.sandbox {
            Some(true) => toml_file::parse::<Self>(SANDBOX).expect("a test reads it").with_fallback(defaults),
            _ => defaults,
        };
        self.with_fallback(defaults).filled(token_keys)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Layer::default().complete(None)
    }
}

impl Settings {
    pub fn of_sandbox() -> Self {
        Layer { sandbox: Some(true), ..Layer::default() }.complete(None)
    }

    /// The settings of flags and environment (both are in `given`), over those of a file, over the defaults. Token keys
    /// that are themselves in the environment count more than the file.
    ///
    /// # Errors
    /// The first mistake.
    pub fn load(given: Layer, file: Option<&Path>, token_keys: Option<Secret>) -> Result<Self, ConfigError> {
        let (settings, mistakes) = Self::load_with_mistakes(given, file, token_keys);
        mistakes.into_iter().next().map_or(Ok(settings), Err)
    }

    /// The same with all mistakes. Settings that are mistakes are as if they were not set.
    pub(crate) fn load_with_mistakes(
        given: Layer,
        file: Option<&Path>,
        token_keys: Option<Secret>,
    ) -> (Self, Vec<ConfigError>) {
        let mut mistakes = Vec::new();
        if given.token_key.is_some() && token_keys.is_some() {
            mistakes.push(ConfigError::TwoKeySources);
        }
        let file = match file.map(toml_file::read::<Layer>).transpose() {
            Ok(read) => read.map_or_else(Layer::default, |(layer, _)| layer),
            Err(error) => {
                mistakes.push(error.into());
                Layer::default()
            }
        };
        mistakes.extend(given.two_tokens().chain(file.two_tokens()));
        let mut settings = given.with_fallback(file).complete(token_keys);
        if settings.tls_cert.is_some() != settings.tls_key.is_some() {
            mistakes.push(ConfigError::HalfTls);
        }
        let is_postgres = Database::is_postgres(&settings.database_url);
        if settings.read_database_url.as_deref().is_some_and(|standby| !is_postgres || !Database::is_postgres(standby))
        {
            mistakes.push(ConfigError::NoPrimary);
            settings.read_database_url = None;
        }
        (settings, mistakes)
    }

    /// Where the keys of tokens are read from.
    pub fn key_source(&self) -> KeySource {
        self.token_keys.clone().map_or_else(|| KeySource::File(self.token_key.clone()), KeySource::Text)
    }

    /// The keys that encrypt secrets of webhooks.
    pub fn webhook_keys(&self) -> WebhookKeySource {
        let file = || WebhookKeySource::File(self.webhook_key.clone());
        self.webhook_keys.clone().map_or_else(file, WebhookKeySource::Text)
    }

    /// What a service does about the schema of its database: on PostgreSQL, other processes may depend on it.
    pub fn schema(&self) -> SchemaPolicy {
        if self.migrate || !Database::is_postgres(&self.database_url) {
            SchemaPolicy::Migrate
        } else {
            SchemaPolicy::Require
        }
    }

    pub fn database_options(&self, schema: SchemaPolicy) -> Options {
        Options {
            schema,
            connections: self.database_connections.get(),
            replica: self.read_database_url.clone(),
            read_timeout: self.read_timeout.duration(),
            ..Options::default()
        }
    }

    /// How many ads of one dealer are worked on at the same time.
    pub fn dealer_workers(&self) -> usize {
        self.dealer_workers.map_or((self.workers * 3).div_ceil(4), NonZero::get)
    }

    /// Most connections of one client address at the same time.
    pub fn connections_per_address(&self) -> usize {
        self.connections_per_address.map_or(self.max_connections.get().div_ceil(4), NonZero::get)
    }

    /// Most requests that wait at the same time until they are finished.
    pub fn waiting_requests(&self) -> usize {
        self.waiting_requests.map_or(self.max_connections.get().div_ceil(2), NonZero::get)
    }

    /// Whether images may have http addresses: in a sandbox if its own have, which clients reach by http.
    pub fn http_images(&self) -> bool {
        let is_https = match &self.public_url {
            Some(url) => url.as_str().starts_with("https:"),
            None => self.tls_cert.is_some(),
        };
        self.allow_private_images || (self.sandbox && !is_https)
    }

    /// Proxies that say how a client reached them, and whose connections are those of many clients.
    pub fn proxies(&self) -> Proxies {
        Proxies::new(self.trusted_proxies.iter().flatten().copied().map(AddressRange::network))
    }

    /// Certificate and key; `None`: plain HTTP.
    pub fn tls(&self) -> Option<TlsFiles> {
        let (cert, key) = self.tls_cert.clone().zip(self.tls_key.clone())?;
        Some(TlsFiles { cert, key })
    }

    /// How often images are fetched.
    pub fn image_retry(&self) -> RetryPolicy {
        RetryPolicy::for_window(self.image_tries.get(), self.image_within.duration())
    }

    /// How often marketplaces are called.
    pub fn marketplace_retry(&self) -> RetryPolicy {
        RetryPolicy::for_window(self.marketplace_tries.get(), self.marketplace_within.duration())
    }

    /// Address, token and time limits of both marketplaces.
    pub fn marketplaces(&self) -> MarketplaceSettings {
        let token = |text: &Option<Secret>, file: &Option<_>| {
            text.clone().map(TokenSource::Text).or(file.clone().map(TokenSource::File))
        };
        MarketplaceSettings {
            primary: MarketplaceSetting {
                address: self.primary_marketplace.clone(),
                token: token(&self.primary_marketplace_token, &self.primary_marketplace_token_file),
            },
            secondary: MarketplaceSetting {
                address: self.secondary_marketplace.clone(),
                token: token(&self.secondary_marketplace_token, &self.secondary_marketplace_token_file),
            },
            timeout: self.marketplace_timeout.duration(),
            breaker: BreakerOptions {
                failures: self.marketplace_failures.get(),
                pause: self.marketplace_pause.duration(),
            },
        }
    }

    /// The register of vehicles, if there is one.
    ///
    /// # Errors
    /// When its file or its token cannot be read.
    pub(crate) fn registry(&self) -> Result<Option<Arc<dyn VehicleRegistry>>, RegistryError> {
        let timeout = self.vehicle_registry_timeout.duration();
        let connect = |address| registry::connect(address, self.vehicle_registry_token_file.clone(), timeout);
        self.vehicle_registry.as_ref().map(connect).transpose()
    }

    pub fn retention_times(&self) -> RetentionTimes {
        RetentionTimes {
            deleted_ads: self.deleted_ads_kept.map(Period::duration),
            deleted_photos: self.deleted_photos_kept.duration(),
            record: self.record_kept.duration(),
            log_messages: self.log_messages_kept.map(Period::duration),
            audit_log: self.audit_log_kept.map(Period::duration),
        }
    }

    pub fn plan_limits(&self) -> PlanLimits {
        PlanLimits {
            most_ads: self.stock_ads.get(),
            ready: self.stock_plans_ready.duration(),
            kept: self.stock_plans_kept.duration(),
        }
    }

    pub fn kept(&self) -> Kept {
        Kept { answers: self.idempotency_keys_kept.duration(), deliveries: self.webhook_deliveries_kept.duration() }
    }

    pub fn dealer_quotas(&self) -> DealerQuotas {
        DealerQuotas {
            requests: self.dealer_requests.map(NonZero::get),
            ads: self.dealer_ads.map(NonZero::get),
            image_bytes: self.dealer_image_bytes.map(NonZero::get),
            answers: self.dealer_idempotency_keys.map(NonZero::get),
            answer_bytes: Some(self.dealer_idempotency_bytes.bytes() as u64),
        }
    }
}
