//! `ad_core::ports::AccountStore` over the database.

use std::hash::{BuildHasher, RandomState};

use ad_core::{
    model::{Amount, Charge, ChargeQuery, ChargeState, Month, MonthlyCharges, Page, PromotionKind, Timestamp},
    ports::{AccountStore, IdempotencyKey, PageOf, Scope, StoreError},
};
use async_trait::async_trait;
use tokio::sync::{Mutex, MutexGuard};

use super::{
    Columns, Database, DatabaseStore, Statement, from_columns,
    lists::{codes, dealer_to_charge},
    rows::FromColumns,
    sql::accounts as sql,
};

impl FromColumns for Amount {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        columns.read().map(Self::from_hundredths)
    }
}

from_columns! {
    MonthlyCharges { reserved, spent, bumps, pole_positions, own: maybe_amount }
}

impl Columns<'_> {
    fn maybe_amount(&mut self) -> Result<Option<Amount>, StoreError> {
        let hundredths: Option<i64> = self.read()?;
        Ok(hundredths.map(Amount::from_hundredths))
    }
}

impl FromColumns for Charge {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let (at, source_id, dealer_code, request) =
            (columns.read()?, columns.read()?, columns.read()?, columns.read()?);
        let (kind, market) = (columns.named(PromotionKind::from_name)?, columns.read()?);
        Ok(Self {
            id: IdempotencyKey { request, action: kind.action(), market }.to_string(),
            at,
            source_id,
            dealer_code,
            request_id: request,
            kind,
            marketplace: market,
            amount: columns.read()?,
            currency: columns.read()?,
            state: columns.named(ChargeState::from_name)?,
            asked_by: columns.read()?,
        })
    }
}

/// Number of [`AccountLocks`].
const LOCKS: usize = 64;

/// Let the writes of this process that reserve money within the budget of the same dealer wait for each other. Each changes the sum of the
/// dealer, and of several at once PostgreSQL would have all but one run again. Of two processes it does so.
#[derive(Debug)]
pub(super) struct AccountLocks([Mutex<()>; LOCKS], RandomState);

impl Default for AccountLocks {
    fn default() -> Self {
        Self([const { Mutex::const_new(()) }; LOCKS], RandomState::new())
    }
}

impl AccountLocks {
    pub(super) async fn of(&self, dealer_code: &str) -> MutexGuard<'_, ()> {
        let place = self.1.hash_one(dealer_code) % LOCKS as u64;
        self.0[usize::try_from(place).unwrap_or_default()].lock().await
    }
}

#[async_trait]
impl AccountStore for DatabaseStore {
    async fn monthly_charges(
        &self,
        dealer_code: &str,
        month: Month,
        currency: &str,
    ) -> Result<MonthlyCharges, StoreError> {
        let statement = Statement::from(sql::MonthlyCharges { dealer_code, month: month.to_string(), currency });
        let charges = Columns::first(&self.database().look_up(statement.for_client_of(dealer_code)).await?)?;
        charges.ok_or_else(|| StoreError::Faulty("the account is missing".into()))
    }

    async fn charges(&self, scope: Scope<'_>, query: &ChargeQuery) -> Result<PageOf<Charge>, StoreError> {
        let charges = Statement::from(sql::ChargesOfDealers {
            dealers: codes(scope),
            from: query.from,
            before: query.before,
            kind: query.kind.map(PromotionKind::name),
            source_id: query.source_id.as_deref(),
            state: query.state.map(ChargeState::name),
            limit: query.page.limit,
            offset: query.page.offset,
        });
        self.database().page(charges.for_client_of(dealer_to_charge(scope))).await
    }

    async fn set_own_budget(
        &self,
        dealer_code: &str,
        own: Option<Amount>,
        changed: Timestamp,
    ) -> Result<(), StoreError> {
        let statement = match own {
            Some(own) => Statement::from(sql::SetOwnBudget { dealer_code, own: own.hundredths(), changed }),
            None => sql::RemoveOwnBudget { dealer_code }.into(),
        };
        self.database().run(statement).await.map(drop)
    }
}

/// Length of the times by which charges are summed: no time zone begins its days elsewhere.
const QUARTER_MILLIS: i64 = 900_000;

/// Some charges of a quarter of an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargesOfQuarter {
    /// When it begins.
    pub begins: Timestamp,
    pub kind: PromotionKind,
    pub state: ChargeState,
    pub currency: String,
    pub amount: Amount,
    pub count: u64,
    /// The oldest of them.
    pub oldest: Timestamp,
}

impl FromColumns for ChargesOfQuarter {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let quarter: i64 = columns.read()?;
        Ok(Self {
            begins: Timestamp::from_millis(quarter.saturating_mul(QUARTER_MILLIS)),
            kind: columns.named(PromotionKind::from_name)?,
            state: columns.named(ChargeState::from_name)?,
            currency: columns.read()?,
            amount: columns.read()?,
            count: columns.read()?,
            oldest: columns.read()?,
        })
    }
}

/// Which of the newest charges of a month are asked for.
#[derive(Debug, Clone, Copy)]
pub struct NewestCharges<'a> {
    pub dealer_code: &'a str,
    pub month: Month,
    /// How many of the month are looked at.
    pub most: u32,
    pub kind: Option<PromotionKind>,
    /// Those of these ads; `None`: of any.
    pub source_ids: Option<&'a [String]>,
    pub page: Page,
}

impl Database {
    /// Sums of the newest charges of a dealer in a month, at most so many charges.
    pub async fn charges_by_quarter(
        &self,
        dealer_code: &str,
        month: Month,
        most: u32,
    ) -> Result<Vec<ChargesOfQuarter>, StoreError> {
        let statement = Statement::from(sql::ChargesByQuarter { dealer_code, month: month.to_string(), most });
        let mut sums = Vec::new();
        self.list(statement.for_client_of(dealer_code), |sum| sums.push(sum)).await?;
        Ok(sums)
    }

    /// A page of the newest charges of a dealer in a month. It costs the same however many there are.
    pub async fn newest_charges(&self, query: NewestCharges<'_>) -> Result<PageOf<Charge>, StoreError> {
        let statement = Statement::from(sql::NewestCharges {
            dealer_code: query.dealer_code,
            month: query.month.to_string(),
            most: query.most,
            kind: query.kind.map(PromotionKind::name),
            any_ad: query.source_ids.is_none(),
            source_ids: query.source_ids.unwrap_or_default().to_vec(),
            limit: query.page.limit,
            offset: query.page.offset,
        });
        self.page(statement.for_client_of(query.dealer_code)).await
    }

    /// The charges of all dealers that were accepted in a month of their time zones, by dealers, oldest first.
    pub async fn charges_of_month(&self, month: Month) -> Result<Vec<Charge>, StoreError> {
        Columns::all(&self.read(sql::ChargesOfMonth { month: month.to_string() }).await?)
    }
}
