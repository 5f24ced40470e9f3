//! The prices of an ad over time. `prices` computes what they say about a reduction.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::Timestamp;

/// Maximum number of earlier prices of an ad that a store keeps; the oldest ones are removed.
pub const MOST_EARLIER_PRICES: usize = 500;

/// A price of an ad ('Price object').
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// `list`, `reduced`, `leasing`, `monthly` or `call`.
    #[serde(rename = "type")]
    pub kind: String,
    /// In whole units of the currency.
    pub amount: Number,
    /// ISO 4217 currency code, such as `SEK`.
    #[serde(default)]
    pub currency: String,
}

/// The prices that an ad had before they were changed, as stores keep them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierPrices {
    /// When the change was accepted.
    pub until: Timestamp,
    /// The prices; `None` if they are unknown, because the service did not record prices then, or did not have the ad.
    pub prices: Option<Vec<Price>>,
}

/// The prices of an ad over time, as the API shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceHistory {
    /// The client's reference of the ad.
    pub source_id: String,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// Since when its prices are known without gaps.
    pub recorded_since: Timestamp,
    /// The lowest price of the last 30 days, the present one included; `None` if there was none.
    pub lowest_30_days: Option<AppliedPrice>,
    /// The present reduction; `None` without a price of type `reduced`.
    pub reduction: Option<Reduction>,
    /// All known prices, oldest first. The last ones are the present ones.
    pub history: Vec<PricePeriod>,
}

/// The prices of an ad between two changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PricePeriod {
    /// When the write that set them was accepted.
    pub since: Timestamp,
    /// When they were replaced; `None` for the present ones.
    pub until: Option<Timestamp>,
    /// The prices, at most one of each type; none if the ad had no price.
    pub price: Vec<Price>,
}

/// The price at which a vehicle was offered for some time: that of type `reduced`, or else that of type `list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedPrice {
    /// In whole units of the currency.
    pub amount: Number,
    /// ISO 4217 currency code, such as `SEK`.
    pub currency: String,
    /// When the write that set it was accepted.
    pub since: Timestamp,
    /// When it was replaced; `None` for the present one.
    pub until: Option<Timestamp>,
}

/// A present price of type `reduced`, and what it is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduction {
    /// In whole units of the currency.
    pub amount: Number,
    /// ISO 4217 currency code, such as `SEK`.
    pub currency: String,
    /// When the series of reductions began that it belongs to.
    pub since: Timestamp,
    /// The lowest price of the 30 days before that, or of the known part of them; `None` if no earlier price is known.
    pub reference: Option<AppliedPrice>,
    /// Whether the reduced price is less than the reference; `None` without one.
    pub below_reference: Option<bool>,
}
