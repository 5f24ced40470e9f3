//! `ad_core::ports::PromotionStore` over the database.

use ad_core::{
    model::{Amount, MOST_PROMOTIONS, MOST_RUNS, Month, Page, Promotion, PromotionRun, RunAd, RunOutcome, Timestamp},
    ports::{
        AfterRun, ClaimedPromotion, PAGE_BYTES, PageOf, PromotionLease, PromotionStore, RecordedRun, Scope, StartedRun,
        StoreError,
    },
    violation::Code,
};
use async_trait::async_trait;
use uuid::Uuid;

use super::{
    Columns, DatabaseStore, Link, Statement, Work, from_columns,
    lists::{codes, dealer_to_charge},
    rows::{FromColumns, json},
    sql::promotions as sql,
    work::Isolation,
};

from_columns! {
    Promotion {
        id, dealer_code, rules: json, paused, next_run, last_run, created, asked_by, revision, origin: json
    }
}

/// An ad of a run: number, source id, request, code, and cost in hundredths.
type AdColumns = (u32, String, Option<Uuid>, Option<Code>, Option<i64>);

impl Columns<'_> {
    fn run_ads(&mut self) -> Result<Vec<RunAd>, StoreError> {
        let text: Option<&str> = self.value()?;
        let ads: Option<Vec<AdColumns>> =
            text.map(serde_json::from_str).transpose().map_err(|error| self.faulty(&error.to_string()))?;
        let ad = |(n, source_id, request_id, code, cost): AdColumns| {
            let promoted = request_id
                .map(|request_id| RunOutcome::Promoted { request_id, cost: cost.map(Amount::from_hundredths) });
            let outcome = promoted.or(code.map(RunOutcome::Skipped));
            RunAd { n, source_id: self.as_written(&source_id).into_owned(), outcome }
        };
        Ok(ads.into_iter().flatten().map(ad).collect())
    }
}

impl FromColumns for ClaimedPromotion {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let promotion: Promotion = columns.read()?;
        let lease = PromotionLease { promotion: promotion.id, lease: columns.read()? };
        let due = columns.read()?;
        let started: Option<Timestamp> = columns.read()?;
        let month = columns.maybe_string()?.and_then(|month| month.parse().ok());
        let ads = columns.run_ads()?;
        let run = started.zip(month).map(|(started, month)| StartedRun { started, month, ads });
        Ok(Self { lease, promotion, due, run })
    }
}

impl FromColumns for PromotionRun {
    fn read_from(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        let (due, started, ended) = columns.read()?;
        let currency = columns.read()?;
        Ok(Self::of(due, started, ended, currency, columns.run_ads()?))
    }
}

/// Adds a schedule while nobody else adds one of the dealer.
struct AddPromotion {
    lock: Statement,
    add: Statement,
}

impl Work for AddPromotion {
    type Answer = bool;

    /// The lock comes first, and then everything that was committed before is counted.
    const ISOLATION: Isolation = Isolation::ReadCommitted;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<bool> {
        link.run(&self.lock).await?;
        Ok(link.run(&self.add).await?.changed > 0)
    }
}

/// The columns of ads but for the source ids, as JSON.
fn ad_values(ads: &[RunAd]) -> Result<String, StoreError> {
    let values = |ad: &RunAd| match ad.outcome {
        Some(RunOutcome::Promoted { request_id, cost }) => (ad.n, Some(request_id), None, cost.map(Amount::hundredths)),
        Some(RunOutcome::Skipped(code)) => (ad.n, None, Some(code.name()), None),
        None => (ad.n, None, None, None),
    };
    json(&ads.iter().map(values).collect::<Vec<_>>())
}

#[async_trait]
impl PromotionStore for DatabaseStore {
    async fn add_promotion(&self, promotion: &Promotion) -> Result<bool, StoreError> {
        let add = sql::AddPromotion {
            id: promotion.id,
            dealer_code: &promotion.dealer_code,
            rules: json(&promotion.rules)?,
            paused: promotion.paused,
            origin: json(&promotion.origin)?,
            asked_by: promotion.asked_by.token.as_deref(),
            created: promotion.created,
            next_run: promotion.next_run,
            at_most: MOST_PROMOTIONS,
        };
        let lock = sql::LockPromotionsOf { dealer_code: &promotion.dealer_code };
        self.database().write(AddPromotion { lock: lock.into(), add: add.into() }).await
    }

    async fn promotion(&self, scope: Scope<'_>, id: Uuid) -> Result<Option<Promotion>, StoreError> {
        let statement = Statement::from(sql::FindPromotion { id }).for_client_of(dealer_to_charge(scope));
        let promotion: Option<Promotion> = Columns::first(&self.database().look_up(statement).await?)?;
        Ok(promotion.filter(|promotion| scope.covers(&promotion.dealer_code)))
    }

    async fn promotions(&self, scope: Scope<'_>, page: Page) -> Result<PageOf<Promotion>, StoreError> {
        let Page { limit, offset } = page;
        self.database().page(sql::PromotionsOfScope { dealer_codes: codes(scope), limit, offset }.into()).await
    }

    async fn change_promotion(&self, promotion: &Promotion) -> Result<bool, StoreError> {
        let change = sql::ChangePromotion {
            id: promotion.id,
            revision: promotion.revision,
            rules: json(&promotion.rules)?,
            paused: promotion.paused,
            origin: json(&promotion.origin)?,
            asked_by: promotion.asked_by.token.as_deref(),
            next_run: promotion.next_run,
        };
        Ok(self.database().run(change).await?.changed > 0)
    }

    async fn remove_promotion(&self, id: Uuid) -> Result<bool, StoreError> {
        Ok(!self.database().run(sql::RemovePromotion { id }).await?.rows.is_empty())
    }

    async fn claim_promotions(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u32,
    ) -> Result<Vec<ClaimedPromotion>, StoreError> {
        let database = self.database();
        // A read first: usually nothing is due, and then no transaction is needed.
        if !Columns::read_bool(&database.read(sql::ArePromotionsDue { now }).await?)? {
            return Ok(Vec::new());
        }
        let promotions: Vec<i64> =
            Columns::all(&database.run(sql::ClaimPromotions { now, until, at_most }).await?.rows)?;
        if promotions.is_empty() {
            return Ok(Vec::new());
        }
        Columns::all(&database.read(sql::ClaimedPromotions { promotions }).await?)
    }

    async fn record_run(&self, lease: PromotionLease, run: &RecordedRun<'_>) -> Result<bool, StoreError> {
        let PromotionLease { promotion: id, lease } = lease;
        let (due, ended, revision) = match run.then {
            AfterRun::GoOn(due) | AfterRun::Later(due) => (Some(due), None, 0),
            AfterRun::Ended { revision, ended, next } => (next, Some(ended), revision),
        };
        let record = sql::RecordRun {
            id,
            lease,
            revision,
            run_due: run.due,
            started: run.started,
            ended,
            month: run.month.to_string(),
            cost: run.cost.map(Amount::hundredths),
            currency: run.currency,
            ads: ad_values(run.ads)?,
            source_ids: run.ads.iter().map(|ad| ad.source_id.clone()).collect(),
            last: run.last.map_or(-1, i64::from),
            due,
            step: i64::from(!matches!(run.then, AfterRun::GoOn(_))),
            kept: MOST_RUNS - 1,
        };
        if !self.database().run(record).await?.rows.is_empty() {
            return Ok(true);
        }
        let is_held = Columns::read_bool(&self.database().read(sql::HasPromotionLease { id, lease }).await?)?;
        if is_held { Ok(false) } else { Err(StoreError::LeaseLost) }
    }

    async fn spent_by_promotion(&self, id: Uuid, month: Month, except: Timestamp) -> Result<Amount, StoreError> {
        let spent = self.database().read(sql::SpentByPromotion { id, month: month.to_string(), except }).await?;
        Ok(Amount::from_hundredths(Columns::first(&spent)?.unwrap_or_default()))
    }

    async fn promotion_runs(&self, id: Uuid, page: Page) -> Result<PageOf<PromotionRun>, StoreError> {
        let Page { limit, offset } = page;
        self.database().page(sql::RunsOfPromotion { id, limit, offset, most_bytes: PAGE_BYTES }.into()).await
    }
}
