//! Accounts: what promotions have cost, and the limits that dealers set themselves.

use async_trait::async_trait;

use super::{PageOf, Scope, StoreError};
use crate::model::{Amount, Charge, ChargeQuery, Market, Month, MonthlyCharges, PromotionKind, Timestamp};

/// The price of a promotion, which is reserved in the commit that accepts it, unless it exceeds the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// What is ordered.
    pub kind: PromotionKind,
    /// Where: each marketplace has a charge of its own.
    pub markets: Vec<Market>,
    /// Price on one marketplace.
    pub price: Amount,
    /// ISO 4217 code of the dealer's currency. Each currency has sums of its own.
    pub currency: String,
    /// The month whose budget it belongs to.
    pub month: Month,
    /// The operator's budget for the month. The dealer's [own limit](AccountStore::set_own_budget) holds as well.
    pub budget: Option<Amount>,
}

impl Reservation {
    /// The price on all marketplaces.
    pub fn total(&self) -> Amount {
        self.price.times(u32::try_from(self.markets.len()).unwrap_or(u32::MAX))
    }
}

/// Stores what promotions cost (extensions E9). [`Store::revise`](super::Store::revise) adds charges, and
/// [`Store::record`](super::Store::record) settles them.
///
/// # Errors
/// Every method fails with [`StoreError::Unavailable`] when the store cannot be reached, and with [`StoreError::Faulty`] when what it
/// holds cannot be read.
#[async_trait]
pub trait AccountStore: Send + Sync {
    /// What the promotions of a month cost, in one currency, and the dealer's own limit. It costs the same however many charges there are.
    async fn monthly_charges(
        &self,
        dealer_code: &str,
        month: Month,
        currency: &str,
    ) -> Result<MonthlyCharges, StoreError>;

    /// A page of the charges within a scope, newest first.
    async fn charges(&self, scope: Scope<'_>, query: &ChargeQuery) -> Result<PageOf<Charge>, StoreError>;

    /// Sets the limit that a dealer sets itself for each month; `None` removes it.
    async fn set_own_budget(&self, dealer_code: &str, own: Option<Amount>, at: Timestamp) -> Result<(), StoreError>;
}
