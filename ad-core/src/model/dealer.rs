//! Dealers, as an operator enters them.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::{account::Tariff, market::Market};

/// Currency of a dealer without one.
pub const DEFAULT_CURRENCY: &str = "SEK";

/// Time zone of a dealer without one.
pub const DEFAULT_ZONE: &str = "Europe/Stockholm";

/// A dealer, whose ads tokens give access to (decision 17).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dealer {
    /// Its code in tokens and ads.
    pub code: String,
    /// Name that people see, such as "Bilar AB".
    pub name: String,
    /// The dealer group, if it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// ISO 4217 currency code for prices without one.
    #[serde(default = "default_currency")]
    pub currency: String,
    /// IANA time zone in which its months begin.
    #[serde(default = "default_zone", skip_serializing_if = "is_default_zone")]
    pub zone: String,
    /// E-mail addresses of its salespersons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub salespersons: Vec<String>,
    /// Activated products, such as `online_purchase`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<String>,
    /// Marketplaces on which the dealer may bump ads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bump: Vec<Market>,
    /// Its address, which is the location of ads without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// What promotions cost, and how many ads may be live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tariff: Option<Tariff>,
}

/// The postal address of a dealer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// Street and house number.
    #[serde(default)]
    pub street: String,
    /// Postal code, as the operator wrote it.
    #[serde(default)]
    pub zipcode: String,
    /// City of the postal code.
    #[serde(default)]
    pub city: String,
}

fn default_currency() -> String {
    DEFAULT_CURRENCY.to_owned()
}

fn default_zone() -> String {
    DEFAULT_ZONE.to_owned()
}

/// It is left out then, so that processes of before it can read the dealer.
fn is_default_zone(zone: &str) -> bool {
    zone == DEFAULT_ZONE
}

impl Dealer {
    /// A dealer of whom only the code is known: no salespersons, no products, no bump permission.
    pub fn named(code: impl Into<String>) -> Self {
        let code = code.into();
        Self {
            name: code.clone(),
            code,
            group: None,
            currency: default_currency(),
            zone: default_zone(),
            salespersons: Vec::new(),
            products: Vec::new(),
            bump: Vec::new(),
            address: None,
            tariff: None,
        }
    }

    /// Its time zone; UTC if the zone database does not have it.
    pub fn time_zone(&self) -> TimeZone {
        TimeZone::get(&self.zone).unwrap_or(TimeZone::UTC)
    }

    /// Whether a product is activated.
    pub fn has_product(&self, product: &str) -> bool {
        self.products.iter().any(|known| known == product)
    }
}
