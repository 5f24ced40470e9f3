//! The queue of accepted requests: claiming them, and recording what was done.

use ad_core::{
    ad::AdState,
    ports::{AdChange, Claimed, Claims, Outcome, Record, StoreError},
    request::{Market, Progress},
    time::Timestamp,
};
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{
    Columns, Database, SqliteStore, Statement, Work,
    rows::{entry_values, json},
    sql,
};

/// Takes requests and reads them with their ads, in one transaction: what cannot be read is not taken either.
struct Claim {
    now: Timestamp,
    lease_until: Timestamp,
    limit: i64,
}

impl Work for Claim {
    type Answer = Vec<SqliteRow>;

    async fn run(&self, connection: &mut SqliteConnection) -> sqlx::Result<Vec<SqliteRow>> {
        let claim =
            Statement::new(sql::CLAIM).bind(self.now.as_millis()).bind(self.lease_until.as_millis()).bind(self.limit);
        let taken: Vec<i64> =
            claim.run(connection).await?.rows.iter().map(|row| row.try_get(0)).collect::<sqlx::Result<_>>()?;
        let taken = serde_json::to_string(&taken).map_err(|error| sqlx::Error::Encode(error.into()))?;
        Ok(Statement::new(sql::CLAIMED).bind(taken).run(connection).await?.rows)
    }
}

fn claimed(row: &SqliteRow) -> Result<Claimed, StoreError> {
    let mut columns = Columns::of(row);
    Ok(Claimed { request: columns.request()?, lease: columns.value()?, stored: columns.stored_ad()? })
}

impl Database {
    /// How many accepted requests are not finished.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it cannot be read.
    pub async fn queue_depth(&self) -> Result<u64, StoreError> {
        let rows = self.read(Statement::new(sql::QUEUE_DEPTH)).await?;
        let depth: i64 = rows.first().map_or(Ok(0), |row| Columns::of(row).value())?;
        Ok(u64::try_from(depth).unwrap_or_default())
    }
}

impl SqliteStore {
    /// Looks first whether there is anything, which needs no transaction: workers ask all the time.
    pub(super) async fn claim_due(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: usize,
    ) -> Result<Claims, StoreError> {
        let rows = self.database.read(Statement::new(sql::LOOK).bind(now.as_millis())).await?;
        let Some(mut columns) = rows.first().map(Columns::of) else { return Ok(Claims::default()) };
        let (any, next_due) = (columns.value::<bool>()?, columns.maybe_time()?);
        if !any || limit == 0 {
            return Ok(Claims { claimed: Vec::new(), next_due });
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.database.write(Claim { now, lease_until, limit }).await?;
        Ok(Claims { claimed: rows.iter().map(claimed).collect::<Result<_, _>>()?, next_due })
    }

    pub(super) async fn record_work(&self, record: &Record) -> Result<(), StoreError> {
        let ran = self.database.write(recording(record)?).await?;
        if ran.changed == 0 {
            return Err(StoreError::LeaseLost);
        }
        if !ran.rows.is_empty() {
            self.queued.notify_one();
        }
        Ok(())
    }
}

fn recording(record: &Record) -> Result<Statement, StoreError> {
    let (progress, until): (Option<&Progress>, _) = match &record.outcome {
        Outcome::Goes { progress } => (Some(progress), None),
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
        .bind(record.ad.to_string())
        .bind(record.request.to_string())
        .bind(record.lease)
        .bind(progress.map(json).transpose()?)
        .bind(until);
    if changes { changing(statement, &record.change, record.at) } else { Ok(statement) }
}

fn changing(statement: Statement, change: &AdChange, at: Timestamp) -> Result<Statement, StoreError> {
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
        .bind(change.leftover.as_ref().and_then(Option::as_ref).map(json).transpose()?)
        .bind(at.as_millis()))
}
