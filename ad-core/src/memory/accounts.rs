//! Charges and budgets in memory.

use std::collections::HashMap;

use async_trait::async_trait;
use uuid::Uuid;

use super::store::{MemoryStore, Tables, page_of};
use crate::{
    lock::locked,
    model::{
        ActionState, Amount, Charge, ChargeQuery, ChargeState, LogEntry, Market, Month, MonthlyCharges, PromotionCost,
        PromotionKind, Request, Timestamp,
    },
    ports::{AccountStore, IdempotencyKey, PageOf, Reservation, Scope, StoreError},
};

/// Charges with their months, oldest first, and the limits that dealers have set themselves.
#[derive(Debug, Default)]
pub(super) struct AccountRows {
    charges: Vec<(Month, Charge)>,
    own: HashMap<String, Amount>,
}

impl AccountRows {
    fn monthly(&self, dealer_code: &str, month: Month, currency: &str) -> MonthlyCharges {
        let mut sums = MonthlyCharges { own: self.own.get(dealer_code).copied(), ..MonthlyCharges::default() };
        for (of, charge) in &self.charges {
            if *of != month || charge.dealer_code != dealer_code || charge.currency != currency {
                continue;
            }
            match charge.state {
                ChargeState::Reserved => sums.reserved = sums.reserved + charge.amount,
                ChargeState::Charged => {
                    sums.spent = sums.spent + charge.amount;
                    match charge.kind {
                        PromotionKind::Bump => sums.bumps += 1,
                        PromotionKind::PolePosition => sums.pole_positions += 1,
                    }
                }
                ChargeState::Released => {}
            }
        }
        sums
    }

    /// Checks that a reservation does not exceed the budget.
    pub(super) fn check(&self, dealer_code: &str, wanted: Option<&Reservation>) -> Result<(), StoreError> {
        let Some(wanted) = wanted else { return Ok(()) };
        let left = self.monthly(dealer_code, wanted.month, &wanted.currency).left(wanted.budget);
        match left {
            Some(left) if wanted.total() > left => Err(StoreError::BudgetExceeded(left)),
            _ => Ok(()),
        }
    }

    pub(super) fn reserve(&mut self, dealer_code: &str, source_id: &str, request: &Request, wanted: &Reservation) {
        for market in &wanted.markets {
            let key = IdempotencyKey { request: request.id, action: wanted.kind.action(), market: *market };
            let charge = Charge {
                id: key.to_string(),
                at: request.accepted,
                source_id: Some(source_id.to_owned()),
                dealer_code: dealer_code.to_owned(),
                request_id: request.id,
                kind: wanted.kind,
                marketplace: *market,
                amount: wanted.price,
                currency: wanted.currency.clone(),
                state: ChargeState::Reserved,
                asked_by: request.progress.origin.asked_by.clone(),
            };
            self.charges.push((wanted.month, charge));
        }
    }

    /// What the promotion cost whose end an entry reports.
    pub(super) fn cost_of(&self, entry: &LogEntry) -> Option<PromotionCost> {
        if entry.state != ActionState::Done || PromotionKind::of(entry.action).is_none() {
            return None;
        }
        let paid = |charge: &&Charge| charge.request_id == entry.request_id && charge.state == ChargeState::Charged;
        let mut charges = self.charges.iter().map(|(_, charge)| charge).filter(paid);
        let first = charges.next()?;
        let amount = charges.fold(first.amount, |sum, charge| sum + charge.amount);
        Some(PromotionCost { amount, currency: first.currency.clone() })
    }

    /// Ends the reservations of a request.
    pub(super) fn settle(&mut self, request: Uuid, confirmed: &[Market]) {
        let open = |charge: &&mut Charge| charge.request_id == request && charge.state == ChargeState::Reserved;
        for charge in self.charges.iter_mut().map(|(_, charge)| charge).filter(open) {
            let is_confirmed = confirmed.contains(&charge.marketplace);
            charge.state = if is_confirmed { ChargeState::Charged } else { ChargeState::Released };
        }
    }
}

impl Tables {
    fn charges(&self) -> impl Iterator<Item = &Charge> {
        self.accounts.charges.iter().map(|(_, charge)| charge)
    }
}

#[async_trait]
impl AccountStore for MemoryStore {
    async fn monthly_charges(
        &self,
        dealer_code: &str,
        month: Month,
        currency: &str,
    ) -> Result<MonthlyCharges, StoreError> {
        Ok(locked(&self.0).accounts.monthly(dealer_code, month, currency))
    }

    async fn charges(&self, scope: Scope<'_>, query: &ChargeQuery) -> Result<PageOf<Charge>, StoreError> {
        let passes = |charge: &&Charge| {
            scope.covers(&charge.dealer_code)
                && query.from.is_none_or(|from| charge.at >= from)
                && query.before.is_none_or(|before| charge.at < before)
                && query.kind.is_none_or(|kind| charge.kind == kind)
                && query.state.is_none_or(|state| charge.state == state)
                && query.source_id.as_ref().is_none_or(|id| charge.source_id.as_ref() == Some(id))
        };
        let mut rows: Vec<_> = locked(&self.0).charges().filter(passes).cloned().collect();
        rows.sort_by_key(|charge| charge.at);
        Ok(page_of(rows, query.page, true, |_| 0))
    }

    async fn set_own_budget(&self, dealer_code: &str, own: Option<Amount>, _: Timestamp) -> Result<(), StoreError> {
        let limits = &mut locked(&self.0).accounts.own;
        match own {
            Some(own) => limits.insert(dealer_code.to_owned(), own),
            None => limits.remove(dealer_code),
        };
        Ok(())
    }
}
