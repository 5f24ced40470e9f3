//! What promotions cost, how much of the budget is left, and the limit that a dealer sets itself (extensions E9).

use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, Value};

use super::{Access, Denial, MOST_UNKNOWN, Service, ServiceError};
use crate::{
    fields::FieldErrors,
    model::{Account, Amount, Charge, ChargeQuery, Month, Plan, PromotionKind, Request},
    ports::{PageOf, Reservation},
    violation::{Code, Cure, Expected, Violation, nearest},
};

/// Accounts that are read at once for a group.
const AT_ONCE: usize = 16;

/// The member of the body that sets the limit.
const OWN: &str = "own";

/// Reads `{"own": 1500}` or `{"own": null}`: the limit that a dealer sets itself.
///
/// # Errors
/// All errors, by field.
pub fn parse_own_budget(body: &Map<String, Value>) -> Result<Option<Amount>, FieldErrors> {
    let mut errors = FieldErrors::default();
    for name in body.keys().filter(|name| *name != OWN).take(MOST_UNKNOWN) {
        let meant = nearest::similar_paths(name, [OWN].into_iter()).into_iter().map(str::to_owned).collect();
        errors.push(name, Violation::UnknownField { meant, of_ad: false });
    }
    let own = match body.get(OWN) {
        Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => Amount::of_number(number).map(Some).map_err(|_| {
            let text = "Must be from 0 to 1000000000 with at most two decimals, such as 1500.";
            Violation::stated(Code::OutOfRange, text)
        }),
        Some(_) => {
            let cure = Cure::Example { expected: Expected::Number, value: "1500".to_owned() };
            Err(Violation::WrongType(Expected::Number).cured(cure))
        }
        None => {
            Err(Violation::stated(Code::Required, "Send the limit for each month, such as 1500, or null for none."))
        }
    };
    match own {
        Ok(own) if errors.is_empty() => return Ok(own),
        Ok(_) => {}
        Err(wrong) => errors.push(OWN, wrong),
    }
    Err(errors)
}

impl Service {
    /// The accounts of a token's dealers in the present month, in the order of their codes.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn accounts(&self, access: &Access) -> Result<Vec<Account>, ServiceError> {
        let mut codes = self.dealer_codes(access).to_vec();
        codes.sort_unstable();
        let accounts = stream::iter(codes).map(|code| async move { self.account(&code).await });
        accounts.buffered(AT_ONCE).try_collect().await
    }

    /// The account of a dealer in the present month.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn account(&self, dealer_code: &str) -> Result<Account, ServiceError> {
        let month = Month::of(self.clock.now(), &self.dealer(dealer_code).time_zone());
        self.account_in(dealer_code, month).await
    }

    /// The account of a dealer in a month, with the prices, the limits and the slots of now.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn account_in(&self, dealer_code: &str, month: Month) -> Result<Account, ServiceError> {
        let dealer = self.dealer(dealer_code);
        let charges = self.store.monthly_charges(dealer_code, month, &dealer.currency).await?;
        let mut account = Account::new(&dealer, month, &charges);
        if account.slots.most.is_some() {
            account.slots.used = Some(self.store.slots_used(dealer_code).await?);
        }
        Ok(account)
    }

    /// A page of the charges of a token's scope, newest first.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn charges(&self, access: &Access, query: &ChargeQuery) -> Result<PageOf<Charge>, ServiceError> {
        let scoped = self.scoped(access);
        Ok(self.store.charges(scoped.narrowed(query.dealer_code.as_deref()), query).await?)
    }

    /// Sets the limit that a dealer sets itself for each month, or removes it, and returns the account.
    ///
    /// # Errors
    /// [`ServiceError::InvalidQuery`] when a group's token does not name one of its dealers.
    pub async fn set_own_budget(
        &self,
        access: &Access,
        dealer_code: Option<&str>,
        own: Option<Amount>,
    ) -> Result<Account, ServiceError> {
        let code = self.one_dealer(access, dealer_code)?;
        self.store.set_own_budget(&code, own, self.clock.now()).await?;
        self.account(&code).await
    }

    /// The dealer of a token, or the one of its group that is named.
    fn one_dealer(&self, access: &Access, dealer_code: Option<&str>) -> Result<String, ServiceError> {
        let codes = self.dealer_codes(access);
        let text = match (dealer_code, &*codes) {
            (None, [only]) => return Ok(only.clone()),
            (Some(code), _) if codes.iter().any(|known| known == code) => return Ok(code.to_owned()),
            (None, []) => "The token's scope has no dealer.".to_owned(),
            (None, _) => {
                let dealers = nearest::quoted(codes.iter().map(String::as_str));
                format!("The token's group has several dealers; set dealer_code to one of: {dealers}.")
            }
            (Some(code), _) => format!("\"{code}\" is not a dealer of the token's scope."),
        };
        let mut errors = FieldErrors::default();
        let code = if dealer_code.is_some() { Code::InvalidChoice } else { Code::Required };
        errors.push("dealer_code", Violation::stated(code, text));
        Err(ServiceError::InvalidQuery(errors))
    }

    /// What a request costs a dealer; `None` if it promotes nothing, or its promotion is free.
    pub(super) fn reservation(&self, dealer_code: &str, request: &Request) -> Option<Reservation> {
        let promotion = request.plan.as_ref().or(request.progress.paid.as_ref())?;
        let kind = promotion.actions.iter().find_map(|action| PromotionKind::of(*action))?;
        let dealer = self.dealer(dealer_code);
        let tariff = dealer.tariff.as_ref()?;
        Some(Reservation {
            kind,
            markets: promotion.markets.clone(),
            price: tariff.price(kind)?,
            currency: dealer.currency.clone(),
            month: Month::of(request.accepted, &dealer.time_zone()),
            budget: tariff.budget,
        })
    }

    /// The promotion that a retry may repeat, an empty plan for none; `None` if promotions are free.
    pub(super) fn paid_by_retry(&self, dealer_code: &str, left: Option<&Plan>) -> Option<Plan> {
        let dealer = self.dealer(dealer_code);
        let tariff = dealer.tariff.as_ref()?;
        (tariff.bump.is_some() || tariff.pole_position.is_some()).then(|| {
            let nothing = || Plan { actions: Vec::new(), markets: Vec::new() };
            left.cloned().unwrap_or_else(nothing)
        })
    }
}

/// The error of a promotion that costs more than what is left.
pub(super) fn budget_exceeded(reservation: Option<&Reservation>, left: Amount) -> ServiceError {
    let text = match reservation {
        Some(it) => {
            let what = match it.kind {
                PromotionKind::Bump => "Bump",
                PromotionKind::PolePosition => "Pole position",
            };
            let (total, currency, month) = (it.total(), &it.currency, it.month);
            format!("{what} costs {total} {currency}, and {left} {currency} of the budget for {month} are left")
        }
        None => format!("{left} of the budget are left"),
    };
    Denial::new(Code::BudgetExceeded, text).into()
}
