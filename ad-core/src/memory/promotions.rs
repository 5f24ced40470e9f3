//! Promotions by the clock in memory.

use async_trait::async_trait;
use uuid::Uuid;

use super::store::{MemoryStore, bytes_of, page_of};
use crate::{
    lock::locked,
    model::{Amount, MOST_PROMOTIONS, MOST_RUNS, Month, Page, Promotion, PromotionRun, RunAd, Timestamp},
    ports::{
        AfterRun, ClaimedPromotion, PageOf, PromotionLease, PromotionStore, RecordedRun, Scope, StartedRun, StoreError,
    },
};

#[derive(Debug)]
pub(super) struct PromotionRow {
    promotion: Promotion,
    /// The time of the run that is under way.
    run: Option<Timestamp>,
    /// When a worker claims it.
    due: Option<Timestamp>,
    lease: i64,
    /// Oldest first.
    runs: Vec<RunRow>,
}

#[derive(Debug)]
struct RunRow {
    due: Timestamp,
    started: Timestamp,
    ended: Option<Timestamp>,
    month: Month,
    cost: Option<Amount>,
    currency: String,
    ads: Vec<RunAd>,
}

impl RunRow {
    fn shown(&self) -> PromotionRun {
        PromotionRun::of(self.due, self.started, self.ended, self.currency.clone(), self.ads.clone())
    }
}

#[async_trait]
impl PromotionStore for MemoryStore {
    async fn add_promotion(&self, promotion: &Promotion) -> Result<bool, StoreError> {
        let rows = &mut locked(&self.0).promotions;
        let count = rows.iter().filter(|row| row.promotion.dealer_code == promotion.dealer_code).count();
        let is_full = count >= MOST_PROMOTIONS as usize;
        if !is_full {
            let (promotion, due) = (promotion.clone(), promotion.next_run);
            rows.push(PromotionRow { promotion, run: None, due, lease: 0, runs: Vec::new() });
        }
        Ok(!is_full)
    }

    async fn promotion(&self, scope: Scope<'_>, id: Uuid) -> Result<Option<Promotion>, StoreError> {
        let tables = locked(&self.0);
        let mut found = tables.promotions.iter().map(|row| &row.promotion);
        Ok(found.find(|promotion| promotion.id == id && scope.covers(&promotion.dealer_code)).cloned())
    }

    async fn promotions(&self, scope: Scope<'_>, page: Page) -> Result<PageOf<Promotion>, StoreError> {
        let tables = locked(&self.0);
        let found = tables.promotions.iter().map(|row| &row.promotion);
        let found = found.filter(|promotion| scope.covers(&promotion.dealer_code)).cloned().collect();
        Ok(page_of(found, page, true, bytes_of))
    }

    async fn change_promotion(&self, changed: &Promotion) -> Result<bool, StoreError> {
        let rows = &mut locked(&self.0).promotions;
        let is_it =
            |row: &&mut PromotionRow| row.promotion.id == changed.id && row.promotion.revision == changed.revision;
        let Some(row) = rows.iter_mut().find(is_it) else { return Ok(false) };
        let promotion = &mut row.promotion;
        (promotion.rules, promotion.paused) = (changed.rules.clone(), changed.paused);
        (promotion.asked_by, promotion.origin) = (changed.asked_by.clone(), changed.origin.clone());
        promotion.revision += 1;
        if row.run.is_none() {
            (promotion.next_run, row.due) = (changed.next_run, changed.next_run);
        }
        Ok(true)
    }

    async fn remove_promotion(&self, id: Uuid) -> Result<bool, StoreError> {
        let rows = &mut locked(&self.0).promotions;
        let count = rows.len();
        rows.retain(|row| row.promotion.id != id);
        Ok(rows.len() < count)
    }

    async fn claim_promotions(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u32,
    ) -> Result<Vec<ClaimedPromotion>, StoreError> {
        let rows = &mut locked(&self.0).promotions;
        let mut due: Vec<_> = rows.iter_mut().filter(|row| row.due.is_some_and(|due| due <= now)).collect();
        due.sort_by_key(|row| row.due);
        let claim = |row: &mut PromotionRow| {
            let due = row.run.or(row.promotion.next_run)?;
            row.lease += 1;
            (row.run, row.due) = (Some(due), Some(until));
            let started = |run: &RunRow| StartedRun { started: run.started, month: run.month, ads: run.ads.clone() };
            Some(ClaimedPromotion {
                lease: PromotionLease { promotion: row.promotion.id, lease: row.lease },
                promotion: row.promotion.clone(),
                due,
                run: row.runs.iter().find(|run| run.due == due).map(started),
            })
        };
        Ok(due.into_iter().take(at_most as usize).filter_map(claim).collect())
    }

    async fn record_run(&self, lease: PromotionLease, run: &RecordedRun<'_>) -> Result<bool, StoreError> {
        let rows = &mut locked(&self.0).promotions;
        let is_it = |row: &&mut PromotionRow| row.promotion.id == lease.promotion && row.lease == lease.lease;
        let row = rows.iter_mut().find(is_it).ok_or(StoreError::LeaseLost)?;
        if let AfterRun::Ended { revision, .. } = run.then
            && revision != row.promotion.revision
        {
            return Ok(false);
        }
        if !row.runs.iter().any(|known| known.due == run.due) {
            let (due, started, month) = (run.due, run.started, run.month);
            let currency = run.currency.to_owned();
            row.runs.push(RunRow { due, started, ended: None, month, cost: None, currency, ads: Vec::new() });
        }
        let Some(known) = row.runs.iter_mut().find(|known| known.due == run.due) else { return Ok(true) };
        known.cost = run.cost;
        for ad in run.ads {
            match known.ads.iter_mut().find(|known| known.n == ad.n) {
                Some(known) => *known = ad.clone(),
                None => known.ads.push(ad.clone()),
            }
        }
        match run.then {
            AfterRun::GoOn(until) => row.due = Some(until),
            AfterRun::Later(due) => {
                row.due = Some(due);
                row.lease += 1;
            }
            AfterRun::Ended { ended, next, .. } => {
                known.ended = Some(ended);
                known.ads.retain(|ad| ad.outcome.is_some());
                (row.run, row.due) = (None, next);
                (row.promotion.next_run, row.promotion.last_run) = (next, Some(run.due));
                row.lease += 1;
                let beyond = row.runs.len().saturating_sub(MOST_RUNS as usize);
                row.runs.drain(..beyond);
            }
        }
        Ok(true)
    }

    async fn spent_by_promotion(&self, id: Uuid, month: Month, except: Timestamp) -> Result<Amount, StoreError> {
        let tables = locked(&self.0);
        let runs = tables.promotions.iter().filter(|row| row.promotion.id == id).flat_map(|row| &row.runs);
        let counted = runs.filter(|run| run.month == month && run.due != except);
        Ok(counted.filter_map(|run| run.cost).fold(Amount::ZERO, |sum, cost| sum + cost))
    }

    async fn promotion_runs(&self, id: Uuid, page: Page) -> Result<PageOf<PromotionRun>, StoreError> {
        let tables = locked(&self.0);
        let row = tables.promotions.iter().find(|row| row.promotion.id == id);
        let runs = row.into_iter().flat_map(|row| &row.runs).map(RunRow::shown).collect();
        Ok(page_of(runs, page, true, bytes_of))
    }
}
