//! The primary and the secondary marketplace: local, in the database of the ads ([`Local`]), or called over HTTP
//! ([`HttpMarketplace`]); [`connect`] chooses.
//!
//! Local marketplaces assign ids, keep the listing order and pole positions, and hold listings that were not published by this
//! service, so that publishing can be run and inspected without an external marketplace. Only operators read their listings
//! ([`list_listings`]).

mod address;
mod http;
mod local;
mod operators;
mod paused;
#[cfg(test)]
mod tests;
pub mod wire;

use std::sync::Arc;

use ad_core::{
    model::Market,
    ports::{Clock, Marketplace},
    violation::Code,
};
use tokio::time::Instant;
use url::Url;

use ad_server_base::{
    breaker::{Breaker, Open},
    secret::TokenSourceError,
};
use ad_server_store::Database;
pub use address::{InvalidMarketplace, MarketplaceAddress, MarketplaceSetting, MarketplaceSettings, token_variable};
pub use http::{HttpMarketplace, HttpOptions};
pub use local::Local;
pub use local::forget_calls;
pub use operators::{ListingFilter, ListingRow, ListingState, import_listings, list_listings};
pub use paused::PausableMarketplace;

/// Ids of the secondary marketplace begin so; those of the primary one are numbers of 8 digits.
const SECONDARY: &str = "VM";
/// Offset of the ids to the numbers in the table, so that all ids have the same length.
const FIRST: i64 = 20_000_000;

fn listing_id(market: Market, seq: i64) -> String {
    match market {
        Market::Primary => (FIRST + seq).to_string(),
        Market::Secondary => format!("{SECONDARY}{}", FIRST + seq),
    }
}

/// The number of the listing with this id, if it can be one.
fn listing_seq(market: Market, id: &str) -> Option<i64> {
    let digits = match market {
        Market::Primary => id,
        Market::Secondary => id.strip_prefix(SECONDARY)?,
    };
    digits.parse::<i64>().ok()?.checked_sub(FIRST)
}

/// Why a marketplace cannot be called: one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error(
        "no token for the {market} marketplace over HTTP: set {variable}, or pass a file with the token by \
         --{market}-marketplace-token-file", variable = token_variable(*.market)
    )]
    NoToken { market: Market },
    #[error("{market} marketplace: {source}")]
    Token { market: Market, source: TokenSourceError },
    #[error("cannot create the HTTP client of the {market} marketplace: {source}")]
    Client { market: Market, source: reqwest::Error },
}

/// The marketplaces of a service.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "of ports, which have none")]
pub struct Markets {
    pub primary: Arc<dyn Marketplace>,
    pub secondary: Arc<dyn Marketplace>,
    /// The circuit breakers of those that are called over HTTP.
    pub circuits: Circuits,
}

/// The circuit breakers of marketplaces over HTTP.
#[derive(Debug, Clone, Default)]
pub struct Circuits(Vec<(Market, MarketBreaker)>);

/// A circuit breaker; its reason is the kind and the text of the last failure.
type MarketBreaker = Breaker<(Code, String)>;

impl Circuits {
    /// Of each marketplace, whether a call would be let through.
    pub fn states(&self, now: Instant) -> impl Iterator<Item = (Market, Result<(), Open<(Code, String)>>)> {
        self.0.iter().map(move |(market, breaker)| (*market, breaker.check(now)))
    }

    /// Of each marketplace, whether its circuit is open, or half open.
    pub fn open(&self) -> impl Iterator<Item = (Market, bool)> {
        self.0.iter().map(|(market, breaker)| (*market, !breaker.is_closed()))
    }
}

/// The marketplaces that the settings name. They are not called yet: one that is down does not keep the service from
/// starting.
///
/// # Errors
/// What the settings lack.
pub fn connect(
    settings: &MarketplaceSettings,
    database: &Database,
    clock: &Arc<dyn Clock>,
) -> Result<Markets, ConnectError> {
    let mut circuits = Vec::new();
    let mut one = |market, setting: &MarketplaceSetting| -> Result<Arc<dyn Marketplace>, ConnectError> {
        let MarketplaceAddress::Http(address) = &setting.address else {
            return Ok(Arc::new(Local::new(database.clone(), market, Arc::clone(clock))));
        };
        let token = setting.token.as_ref().ok_or(ConnectError::NoToken { market })?;
        let token = token.load().map_err(|source| ConnectError::Token { market, source })?;
        let base = Url::parse(address.as_str()).expect("it was read as an address");
        let options = HttpOptions { base, token, timeout: settings.timeout, breaker: settings.breaker };
        let marketplace = HttpMarketplace::new(market, options, Arc::clone(clock));
        let marketplace = marketplace.map_err(|source| ConnectError::Client { market, source })?;
        circuits.push((market, marketplace.breaker().clone()));
        Ok(Arc::new(marketplace))
    };
    let (primary, secondary) = (one(Market::Primary, &settings.primary)?, one(Market::Secondary, &settings.secondary)?);
    Ok(Markets { primary, secondary, circuits: Circuits(circuits) })
}
