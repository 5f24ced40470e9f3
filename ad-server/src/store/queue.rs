//! The queue of accepted requests: claiming them, and recording what was done.

use std::sync::PoisonError;

use ad_core::{
    model::{AdState, Market, Progress, Timestamp},
    ports::{AdChange, Capacity, Claimed, Claims, Outcome, Record, StoreError},
};

use serde::Serialize;
use uuid::Uuid;

use super::{
    Columns, Database, DatabaseStore, Link, Row, Statement, Work, Wrap,
    rows::{entry_values, json},
    sql,
};

/// Takes requests and reads them with their ads, in one transaction: what cannot be read is not taken either.
struct Claim {
    now: Timestamp,
    lease_until: Timestamp,
    limit: usize,
    /// The dealer behind whom it begins.
    from: String,
    per_dealer: usize,
    full: Vec<String>,
}

/// What was taken, and the last dealer from whom.
struct Taken {
    rows: Vec<Row>,
    last: String,
}

impl Work for Claim {
    type Answer = Taken;

    /// Whoever claims at the same time is not waited for, and an ad is read as it is when its request is taken.
    const WRAP: Wrap = Wrap::Committed;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Taken> {
        let claim = Statement::new(sql::CLAIM)
            .bind(self.now.as_millis())
            .bind(self.lease_until.as_millis())
            .bind(i64::try_from(self.limit).unwrap_or(i64::MAX))
            .bind(self.from.as_str())
            .bind(i64::try_from(self.per_dealer).unwrap_or(i64::MAX))
            .bind(self.full.clone());
        let (mut taken, mut last) = (Vec::<i64>::new(), String::new());
        for row in &link.run(&claim).await?.rows {
            let mut columns = Columns::of(row);
            taken.push(columns.value().map_err(broken)?);
            last = last.max(columns.string().map_err(broken)?);
        }
        if taken.is_empty() {
            return Ok(Taken { rows: Vec::new(), last });
        }
        Ok(Taken { rows: link.run(&Statement::new(sql::CLAIMED).bind(taken)).await?.rows, last })
    }
}

/// A row that cannot be read, in the terms of the database.
fn broken(error: StoreError) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

fn claimed(row: &Row) -> Result<Claimed, StoreError> {
    let mut columns = Columns::of(row);
    Ok(Claimed {
        request: columns.request()?,
        lease: columns.value()?,
        stored: columns.stored_ad()?,
        image_sources: columns.maybe_json()?.unwrap_or_default(),
    })
}

/// How the queue stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct QueueState {
    /// Accepted requests that are not finished.
    pub depth: u64,
    /// Those of them that a worker could take now.
    pub due: u64,
    /// Those that are behind another request of their ad.
    pub behind: u64,
    /// When the oldest of all was accepted.
    pub oldest: Option<Timestamp>,
    /// When the oldest that a worker could take now was accepted: how long ago tells whether the workers keep up.
    pub oldest_due: Option<Timestamp>,
}

/// Requests that failed for the same reason and are to be tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failing {
    /// Why.
    pub reason: String,
    /// How many.
    pub requests: u64,
    /// When the oldest was accepted.
    pub oldest: Timestamp,
    /// When the first is tried again, or its try ends.
    pub next: Timestamp,
}

/// An accepted request that is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// The request.
    pub request_id: Uuid,
    /// Its ad's dealer.
    pub dealer_code: String,
    /// Its ad.
    pub source_id: String,
    /// When it was accepted.
    pub accepted: Timestamp,
    /// When it is due, or a worker's lease of it ends; `None` behind another request of its ad.
    pub claimable: Option<Timestamp>,
    /// Tries of its action that failed.
    pub tries: u32,
    /// Why the last of them did.
    pub reason: Option<String>,
}

/// Which unfinished requests; what is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct QueueFilter {
    /// Of this dealer.
    pub dealer_code: Option<String>,
    /// That failed for this reason.
    pub reason: Option<String>,
}

/// Takes one request out of turn.
struct Take {
    request: Uuid,
    lease_until: Timestamp,
}

impl Work for Take {
    type Answer = Vec<Row>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Vec<Row>> {
        let take = Statement::new(sql::TAKE).bind(self.request).bind(self.lease_until.as_millis());
        let taken = link.run(&take).await?.rows;
        let taken =
            taken.iter().map(|row| Columns::of(row).value().map_err(broken)).collect::<Result<Vec<i64>, _>>()?;
        Ok(link.run(&Statement::new(sql::CLAIMED).bind(taken)).await?.rows)
    }
}

/// Why a request was not taken.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// There is none of this id.
    #[error("no unfinished request has the id {0}")]
    Unknown(Uuid),
    /// It is not the oldest of its ad.
    #[error("request {0} is blocked by an earlier request of its ad; drop that one first")]
    Behind(Uuid),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Database {
    /// How the queue stands.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it cannot be read; the others as well.
    pub async fn queue_state(&self, now: Timestamp) -> Result<QueueState, StoreError> {
        let rows = self.read(Statement::new(sql::QUEUE_STATE).bind(now.as_millis())).await?;
        let row = rows.first().ok_or_else(|| StoreError::Faulty("the queue is missing".into()))?;
        let mut columns = Columns::of(row);
        Ok(QueueState {
            depth: columns.number()?,
            due: columns.number()?,
            behind: columns.number()?,
            oldest: columns.maybe_time()?,
            oldest_due: columns.maybe_time()?,
        })
    }

    /// Requests that failed and are to be tried again, by reason, the most frequent first.
    pub async fn failing(&self) -> Result<Vec<Failing>, StoreError> {
        let rows = self.read(Statement::new(sql::FAILING)).await?;
        let failing = |row| {
            let mut columns = Columns::of(row);
            Ok(Failing {
                reason: columns.string()?,
                requests: columns.number()?,
                oldest: columns.time()?,
                next: columns.time()?,
            })
        };
        rows.iter().map(failing).collect()
    }

    /// Unfinished requests, the oldest first.
    pub async fn unfinished(&self, filter: &QueueFilter, limit: u32) -> Result<Vec<Unfinished>, StoreError> {
        let statement = Statement::new(sql::UNFINISHED)
            .bind(filter.dealer_code.as_deref())
            .bind(filter.reason.as_deref())
            .bind(i64::from(limit));
        let unfinished = |row| {
            let mut columns = Columns::of(row);
            Ok(Unfinished {
                request_id: columns.id()?,
                dealer_code: columns.string()?,
                source_id: columns.string()?,
                accepted: columns.time()?,
                claimable: columns.maybe_time()?,
                tries: columns.json::<Progress>()?.attempts(),
                reason: columns.maybe_string()?,
            })
        };
        self.read(statement).await?.iter().map(unfinished).collect()
    }

    /// Has requests that failed and wait for their next try tried now; returns how many.
    pub async fn try_now(&self, filter: &QueueFilter, now: Timestamp) -> Result<u64, StoreError> {
        let statement = Statement::new(sql::TRY_NOW)
            .bind(now.as_millis())
            .bind(filter.dealer_code.as_deref())
            .bind(filter.reason.as_deref());
        let changed = self.write(statement).await?.changed;
        self.wake();
        Ok(changed)
    }

    /// Takes one request out of turn, also from the worker that has it.
    ///
    /// # Errors
    /// When there is no such request, or it is not its ad's turn.
    pub async fn take(&self, request: Uuid, lease_until: Timestamp) -> Result<Claimed, TakeError> {
        let rows = self.write(Take { request, lease_until }).await?;
        if let Some(row) = rows.first() {
            return Ok(claimed(row)?);
        }
        let rows = self.read(Statement::new(sql::IS_UNFINISHED).bind(request)).await?;
        let is_there: bool = rows.first().map_or(Ok(false), |row| Columns::of(row).value())?;
        Err(if is_there { TakeError::Behind(request) } else { TakeError::Unknown(request) })
    }

    /// How many accepted requests are not finished.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it cannot be read.
    pub async fn queue_depth(&self) -> Result<u64, StoreError> {
        self.read_number(sql::QUEUE_DEPTH).await
    }
}

impl DatabaseStore {
    /// Looks first whether there is anything, which needs no transaction: workers ask all the time.
    pub(super) async fn claim_due(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        capacity: Capacity<'_>,
    ) -> Result<Claims, StoreError> {
        let rows = self.database.read(Statement::new(sql::LOOK).bind(now.as_millis())).await?;
        let Some(mut columns) = rows.first().map(Columns::of) else { return Ok(Claims::default()) };
        let (first, next_due) = (columns.maybe_time()?, columns.maybe_time()?);
        if first.is_none_or(|first| first > now) || capacity.limit == 0 {
            return Ok(Claims { claimed: Vec::new(), next_due });
        }
        let claim = |from, limit| Claim {
            now,
            lease_until,
            limit,
            from,
            per_dealer: capacity.per_dealer,
            full: capacity.full.to_vec(),
        };
        let from = self.turn().clone();
        let is_first = from.is_empty();
        let mut taken = self.database.write(claim(from, capacity.limit)).await?;
        let free = capacity.limit.saturating_sub(taken.rows.len());
        if free > 0 && !is_first {
            // From the first dealer on again.
            let more = self.database.write(claim(String::new(), free)).await?;
            taken = Taken { rows: [taken.rows, more.rows].into_iter().flatten().collect(), last: more.last };
        }
        let claimed = taken.rows.iter().map(claimed).collect::<Result<Vec<_>, _>>()?;
        // Who was not reached comes first the next time. When all were, it begins with the first again.
        *self.turn() = if claimed.len() < capacity.limit { String::new() } else { taken.last };
        Ok(Claims { claimed, next_due })
    }

    fn turn(&self) -> std::sync::MutexGuard<'_, String> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn record_work(&self, record: &Record) -> Result<(), StoreError> {
        let ran = self.database.share(recording(record)?).await?;
        if ran.changed == 0 {
            return Err(StoreError::LeaseLost);
        }
        for row in &ran.rows {
            let next: Option<i64> = Columns::of(row).value()?;
            if next.is_some() {
                self.database.wake();
            }
        }
        Ok(())
    }
}

fn recording(record: &Record) -> Result<Statement, StoreError> {
    let (progress, until): (Option<&Progress>, _) = match &record.outcome {
        Outcome::Continues { progress } => (Some(progress), None),
        Outcome::Waits { progress, until } => (Some(progress), Some(until.as_millis())),
        Outcome::Finished => (None, None),
    };
    let changes = record.change != AdChange::default();
    let text = match (progress.is_some(), changes) {
        (true, false) => sql::RECORD_PROGRESS,
        (true, true) => sql::RECORD_PROGRESS_AND_CHANGE,
        (false, false) => sql::RECORD_END,
        (false, true) => sql::RECORD_END_AND_CHANGE,
    };
    let statement = Statement::new(text)
        .bind(entry_values(&record.entries)?)
        .bind(record.ad)
        .bind(record.request)
        .bind(record.lease)
        .bind(progress.map(json).transpose()?)
        .bind(until)
        .bind(record.at.as_millis());
    if changes { changing(statement, &record.change) } else { Ok(statement) }
}

fn changing(statement: Statement, change: &AdChange) -> Result<Statement, StoreError> {
    let listing = |market| change.listings.iter().rfind(|(on, _)| *on == market).map(|(_, id)| id.as_str());
    Ok(statement
        .bind(change.state.map(AdState::name))
        .bind(change.intent.map(AdState::name))
        .bind(change.image_refs.as_ref().map(json).transpose()?)
        .bind(listing(Market::Primary))
        .bind(listing(Market::Secondary))
        .bind(change.pole_position_until.is_some())
        .bind(change.pole_position_until.flatten().map(Timestamp::as_millis))
        .bind(change.leftover.is_some())
        .bind(change.leftover.as_ref().filter(|leftover| !leftover.is_empty()).map(json).transpose()?)
        .bind(change.image_sources.as_ref().map(json).transpose()?))
}
