//! What promotions cost, before they are ordered.

use ad_core::{
    categories,
    model::{Account, Amount, PromotionKind},
};

use crate::{Ad, Client, terminal::Context};

/// What is ordered for each ad.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Promoted {
    pub(in crate::cli) kind: PromotionKind,
    /// Whether a marketplace is excluded.
    pub(in crate::cli) excludes: bool,
}

impl Promoted {
    /// Number of marketplaces that may charge it, of an ad that has so many; the service leaves out those that the dealer may not use.
    fn charged_by(self, marketplaces: usize) -> u32 {
        match (self.kind, marketplaces) {
            (PromotionKind::Bump, 2..) if !self.excludes => 2,
            _ => 1,
        }
    }

    /// The most that promoting so many ads may cost; `None`: it has no price.
    pub(in crate::cli) fn most(self, account: &Account, ads: u32) -> Option<Amount> {
        Some(account.prices.of(self.kind)?.times(ads.saturating_mul(self.charged_by(2))))
    }

    /// What promoting ads costs a dealer at most, and what is left.
    fn said(self, account: &Account, ads: &[&Ad]) -> String {
        let Account { currency, month, budget, .. } = account;
        let Some(price) = account.prices.of(self.kind) else {
            return "no price is set for this: the service charges nothing".to_owned();
        };
        let marketplaces = |ad: &Ad| categories::by_id(ad.category_id).map_or(1, |category| category.markets().len());
        let charges = ads.iter().map(|ad| self.charged_by(marketplaces(ad))).sum();
        let left = budget.left.map(|left| format!("; {left} {currency} of the budget for {month} are left"));
        let of_each = if charges == 1 { String::new() } else { format!(" ({charges} × {price})") };
        format!("costs at most {} {currency}{of_each}{}", price.times(charges), left.unwrap_or_default())
    }
}

/// Says what promoting ads costs each of their dealers. Returns whether the service may charge for it.
pub(in crate::cli) async fn note(context: &Context, client: &Client, ads: &[&Ad], promoted: Promoted) -> bool {
    let Ok(accounts) = client.accounts().await else { return true };
    let several = accounts.body.len() > 1;
    let mut is_charged = false;
    for account in &accounts.body {
        let own: Vec<_> = ads.iter().filter(|ad| ad.dealer_code == account.dealer_code).copied().collect();
        if !own.is_empty() {
            let dealer = if several { format!("{}: ", account.dealer_code) } else { String::new() };
            context.out.note(&format!("{dealer}{}", promoted.said(account, &own)));
            is_charged |= account.prices.of(promoted.kind).is_some();
        }
    }
    is_charged
}
