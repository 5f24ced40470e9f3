//! The queue of accepted requests: claims, records of what was done, and what operators see of it.

use std::sync::Mutex;

use ad_core::{
    lock::locked,
    model::{Market, Progress, QueuedRequest, StoredRequest, Timestamp},
    ports::{AdChange, Begin, Capacity, Claimed, Claims, Outcome, Record, StoreError},
    violation::Code,
};

use serde::Serialize;
use uuid::Uuid;

use super::{
    Columns, Database, Link, Row, Statement, Work,
    batch::MOST_WRITES,
    from_columns,
    rows::{call_values, entry_values, json, unreadable},
    sql::queue as sql,
    work::{Isolation, StatementResult},
};

/// Claims requests and reads them with their ads, in one transaction: one that cannot be read is not claimed either.
struct ClaimBatch {
    now: Timestamp,
    lease_until: Timestamp,
    holder: Option<i64>,
    limit: usize,
    /// The dealer after which it begins.
    behind: String,
    per_dealer: usize,
    full_dealers: Vec<String>,
    begin: Begin,
}

/// Requests that were claimed, with their ads, and the last dealer of them.
#[derive(Default)]
struct ClaimedBatch {
    claimed: Vec<Claimed>,
    last: String,
    /// Whether something was logged about them.
    logged: bool,
}

impl Work for ClaimBatch {
    type Answer = ClaimedBatch;

    /// It does not wait for those who claim at the same time, and reads an ad as it is when its request is claimed.
    const ISOLATION: Isolation = Isolation::ReadCommitted;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<ClaimedBatch> {
        let claim = sql::ClaimDue {
            now: self.now,
            lease_until: self.lease_until,
            holder: self.holder,
            limit: self.limit,
            behind: &self.behind,
            per_dealer: self.per_dealer,
            full_dealers: &self.full_dealers,
        };
        let (mut requests, mut last) = (Vec::<Uuid>::new(), String::new());
        for (request, dealer) in Columns::all(&link.run(&claim.into()).await?.rows).map_err(unreadable)? {
            requests.push(request);
            last = last.max(dealer);
        }
        if requests.is_empty() {
            return Ok(ClaimedBatch { last, ..ClaimedBatch::default() });
        }
        let rows = link.run(&sql::ClaimedRequests { requests }.into()).await?.rows;
        let (mut claimed, mut records) = (Vec::with_capacity(rows.len()), Vec::new());
        for found in Columns::all(&rows).map_err(unreadable)? {
            let (begun, record) = (self.begin)(found);
            records.extend(record.as_ref().map(record_statement).transpose().map_err(unreadable)?);
            claimed.push(begun);
        }
        for records in records.chunks(MOST_WRITES) {
            link.run_alike(records).await?;
        }
        Ok(ClaimedBatch { claimed, last, logged: !records.is_empty() })
    }
}

/// The request of an id, by the rows of [`sql::FindRequest`].
pub(super) fn stored_request(id: Uuid, rows: &[Row]) -> Result<Option<StoredRequest>, StoreError> {
    let Some(mut columns) = rows.first().map(Columns::of) else { return Ok(None) };
    let (dealer_code, source_id, accepted) = columns.read()?;
    let (progress, claimable): (Option<Progress>, _) = (columns.maybe_json()?, columns.read()?);
    let queued = progress.map(|progress| QueuedRequest { progress, claimable });
    let entries = columns.entries()?;
    let of_queue = queued.as_ref().and_then(|queued: &QueuedRequest| queued.progress.origin.asked_by.clone());
    let asked_by = columns.maybe_string()?.or(of_queue);
    let plan_id = columns.read()?;
    Ok(Some(StoredRequest { id, dealer_code, source_id, accepted, asked_by, plan_id, queued, entries }))
}

from_columns! {
    Claimed { request, lease, stored, image_sources: json_or_default, is_fresh: not_yet }
    Unfinished { request_id, dealer_code, source_id, accepted, claimable, tries: attempts, reason }
    QueueSummary { depth, due, behind, oldest, oldest_due }
    Failing { reason, requests, oldest, next }
}

impl Columns<'_> {
    /// What no column says.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as other columns are read")]
    fn not_yet(&mut self) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// The failed attempts of a progress.
    fn attempts(&mut self) -> Result<u32, StoreError> {
        Ok(self.read::<Progress>()?.attempts())
    }
}

/// Counts and times of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct QueueSummary {
    /// Accepted requests that are not finished.
    pub depth: u64,
    /// Those of them that are claimable now.
    pub due: u64,
    /// Those that are behind another request of their ad.
    pub behind: u64,
    /// When the oldest of all was accepted.
    pub oldest: Option<Timestamp>,
    /// When the oldest claimable one was accepted. Its age shows whether the workers keep up.
    pub oldest_due: Option<Timestamp>,
}

/// Requests that failed for the same reason and are to be tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failing {
    /// Reason of the latest failure, for operators.
    pub reason: String,
    /// Number of requests that failed for it.
    pub requests: u64,
    pub oldest: Timestamp,
    /// When the first one is retried, or its attempt ends.
    pub next: Timestamp,
}

/// An accepted request that is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    pub request_id: Uuid,
    pub dealer_code: String,
    pub source_id: String,
    pub accepted: Timestamp,
    /// When it is due, or a worker's lease of it ends; `None` behind another request of its ad.
    pub claimable: Option<Timestamp>,
    /// Failed attempts at its action.
    pub tries: u32,
    /// The reason of the last one.
    pub reason: Option<String>,
}

/// A filter of unfinished requests; `None` matches any.
#[derive(Debug, Clone, Default)]
pub struct QueueFilter {
    pub dealer_code: Option<String>,
    pub reason: Option<String>,
    pub code: Option<Code>,
}

/// Claims one request out of turn.
struct TakeOne {
    request: Uuid,
    lease_until: Timestamp,
}

impl Work for TakeOne {
    type Answer = Vec<Row>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Vec<Row>> {
        let claim = sql::ClaimOne { id: self.request, lease_until: self.lease_until };
        let claimed = link.run(&claim.into()).await?.rows;
        let requests = Columns::all(&claimed).map_err(unreadable)?;
        Ok(link.run(&sql::ClaimedRequests { requests }.into()).await?.rows)
    }
}

/// Why a request was not claimed.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    #[error("no unfinished request has the id {0}")]
    Unknown(Uuid),
    #[error("request {0} is blocked by an earlier request of its ad; drop that one first")]
    Behind(Uuid),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Database {
    /// Counts and times of the queue.
    pub async fn queue_state(&self, now: Timestamp) -> Result<QueueSummary, StoreError> {
        let summary = Columns::first(&self.read(sql::ReadQueueState { now }).await?)?;
        summary.ok_or_else(|| StoreError::Faulty("the queue is missing".into()))
    }

    /// Requests that failed and are to be tried again, by reason, the most frequent first.
    pub async fn failing(&self) -> Result<Vec<Failing>, StoreError> {
        Columns::all(&self.read(sql::FailingByReason {}).await?)
    }

    /// Unfinished requests, the oldest first.
    pub async fn unfinished(&self, filter: &QueueFilter, limit: u32) -> Result<Vec<Unfinished>, StoreError> {
        let (dealer_code, reason) = (filter.dealer_code.as_deref(), filter.reason.as_deref());
        let code = filter.code.map(Code::name);
        Columns::all(&self.read(sql::UnfinishedRequests { dealer_code, reason, code, limit }).await?)
    }

    /// Takes back the leases of processes that have ended.
    pub(super) async fn release_left(&self, now: Timestamp) -> Result<(), StoreError> {
        let Some(holders) = self.holders().see(&self.present_holders().await?) else { return Ok(()) };
        match self.run(sql::ReleaseLeft { now, holders }).await {
            Ok(StatementResult { changed: 0, .. }) => Ok(()),
            Ok(StatementResult { changed, .. }) => {
                tracing::info!(requests = changed, "going on with what a process that has ended had claimed");
                self.wake();
                Ok(())
            }
            Err(error) => {
                self.holders().not_released();
                Err(error)
            }
        }
    }

    /// Makes failed requests that wait for their next attempt due now; returns their number.
    pub async fn try_now(&self, filter: &QueueFilter, now: Timestamp) -> Result<u64, StoreError> {
        let (dealer_code, reason) = (filter.dealer_code.as_deref(), filter.reason.as_deref());
        let retry = sql::RetryNow { now, dealer_code, reason, code: filter.code.map(Code::name) };
        let changed = self.run(retry).await?.changed;
        self.wake();
        Ok(changed)
    }

    /// Claims one request out of turn, even if a worker has it.
    ///
    /// # Errors
    /// When there is no such request, or it is not its ad's turn.
    pub async fn take(&self, request: Uuid, lease_until: Timestamp) -> Result<Claimed, TakeError> {
        let rows = self.write(TakeOne { request, lease_until }).await?;
        if let Some(claimed) = Columns::first(&rows)? {
            return Ok(claimed);
        }
        let is_there = Columns::read_bool(&self.read(sql::IsUnfinished { id: request }).await?)?;
        Err(if is_there { TakeError::Behind(request) } else { TakeError::Unknown(request) })
    }

    /// The accepted request of an id, of whichever dealer; finished requests have logged something.
    pub async fn request(&self, id: Uuid) -> Result<Option<StoredRequest>, StoreError> {
        stored_request(id, &self.read(sql::FindRequest { id }).await?)
    }

    /// How many accepted requests are not finished.
    pub async fn queue_depth(&self) -> Result<u64, StoreError> {
        self.read_number(sql::QueueDepth {}).await
    }

    /// Reads first whether anything is due, because workers poll all the time and a read needs no transaction. A worker that was woken
    /// claims at once, and is to look again at once. `turn` is the dealer after which it begins.
    pub(super) async fn claim_due(
        &self,
        turn: &Mutex<String>,
        (now, lease_until): (Timestamp, Timestamp),
        capacity: Capacity<'_>,
        begin: &Begin,
    ) -> Result<Claims, StoreError> {
        let Capacity { limit, per_dealer, full, woken } = capacity;
        let (due, next_due): (Option<Timestamp>, _) = if woken {
            (Some(now), Some(now))
        } else {
            Columns::first(&self.read(sql::NextClaimable { now }).await?)?.unwrap_or_default()
        };
        if due.is_none_or(|due| due > now) || limit == 0 {
            return Ok(Claims { claimed: Vec::new(), next_due });
        }
        let holder = self.holders().of_lease().await;
        let claim = |behind, limit| {
            let (full_dealers, begin) = (full.to_vec(), Begin::clone(begin));
            self.write(ClaimBatch { now, lease_until, holder, limit, behind, per_dealer, full_dealers, begin })
        };
        let behind = locked(turn).clone();
        let is_first = behind.is_empty();
        let ClaimedBatch { mut claimed, mut last, mut logged } = claim(behind, limit).await?;
        let free = limit.saturating_sub(claimed.len());
        if free > 0 && !is_first {
            // Start again with the first dealer.
            let more = claim(String::new(), free).await?;
            claimed.extend(more.claimed);
            last = more.last;
            logged |= more.logged;
        }
        if logged {
            self.logged();
        }
        // Dealers that were not reached come first the next time. If all were reached, it begins with the first one again.
        *locked(turn) = if claimed.len() < limit { String::new() } else { last };
        Ok(Claims { claimed, next_due })
    }
}

pub(super) fn record_statement(work: &Record) -> Result<Statement, StoreError> {
    let change = &work.change;
    let changes = *change != AdChange::default();
    let is_executed = matches!(work.outcome, Outcome::Continues { .. });
    let listing = |market| change.listings.iter().rfind(|(on, _)| *on == market).map(|(_, id)| id.as_str());
    let record = sql::RecordEnd {
        request: work.request,
        lease: work.lease,
        entries: entry_values(&work.entries)?,
        calls: call_values(&work.calls)?,
        content_changes: work.changes.as_ref().map(json).transpose()?,
        now: work.at,
        changes,
        state: change.state,
        intent: change.intent,
        image_refs: change.image_refs.as_ref().map(json).transpose()?,
        photos_due: if is_executed { Timestamp::from_millis(i64::MAX) } else { work.at },
        image_sources: change.image_sources.as_ref().map(json).transpose()?,
        marketplace_ad_id: listing(Market::Primary),
        offer_id: listing(Market::Secondary),
        changes_pole_position: change.pole_position_until.is_some(),
        pole_position_until: change.pole_position_until.flatten(),
        changes_leftover: change.leftover.is_some(),
        leftover: change.leftover.as_ref().filter(|leftover| !leftover.is_empty()).map(json).transpose()?,
        publication: work.publication.as_ref().map(json).transpose()?,
        quality_score: work.quality_score.map(|of| of.score),
        of_revision: work.quality_score.map(|of| of.revision),
        status: work.words.status.name(),
        channels: work.words.channels(),
        channels_under_way: work.words.under_way().channels(),
        confirmed: work.confirmed.as_ref().map(json).transpose()?,
    };
    let (progress, wait_until) = match &work.outcome {
        Outcome::Continues { progress } => (json(progress)?, None),
        Outcome::Waits { progress, until } => (json(progress)?, Some(*until)),
        Outcome::Finished => return Ok(record.into()),
    };
    Ok(sql::RecordProgress { progress, wait_until, record }.into())
}
