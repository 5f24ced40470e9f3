//! What holds a PostgreSQL database up, for operators. A SQLite database has no such state.

use std::time::Duration;

use ad_core::{model::Timestamp, ports::StoreError};
use serde::Serialize;

use super::{Columns, Database, Row, sql::holdups as sql};

/// The oldest log entry that cannot be read as an event yet. Readers get the entries of a transaction when all earlier transactions have
/// ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadEvents {
    /// When that entry was logged.
    pub since: Timestamp,
    /// What keeps it from being read; `None` if it has just ended.
    pub open: Option<OpenTransaction>,
}

/// A transaction that has changed something anywhere on the server, and has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenTransaction {
    /// The process of the server that runs it; `None` if it is prepared.
    pub pid: Option<i64>,
    /// The name under which it is prepared.
    pub gid: Option<String>,
    pub database: String,
    /// `None` if the user of this program may not see it (it lacks the role `pg_read_all_stats`).
    pub since: Option<Timestamp>,
}

impl UnreadEvents {
    /// After this time something is wrong: the service's own transactions take milliseconds.
    pub const LONG: Duration = Duration::from_mins(1);

    fn of(row: &Row) -> Result<Option<Self>, StoreError> {
        let mut columns = Columns::of(row);
        let Some(since) = columns.read()? else { return Ok(None) };
        let (pid, gid, database): (Option<i64>, _, _) =
            (columns.value()?, columns.maybe_string()?, columns.maybe_string()?);
        let opened = columns.read()?;
        let open = database.map(|database| OpenTransaction { pid, gid, database, since: opened });
        Ok(Some(Self { since, open }))
    }
}

impl OpenTransaction {
    /// What it is, and how to end it.
    pub fn advice(&self) -> String {
        let since = self.since.map(|since| format!(" since {since}")).unwrap_or_default();
        let database = &self.database;
        match (self.pid, &self.gid) {
            (_, Some(gid)) => format!(
                "a prepared transaction of the database {database} is open{since}: end it there with COMMIT PREPARED '{gid}' or \
                 ROLLBACK PREPARED '{gid}'"
            ),
            (pid, None) => {
                let pid = pid.unwrap_or_default();
                format!(
                    "process {pid} of the database {database} has a transaction open{since}: end it where it was begun, or with \
                     SELECT pg_terminate_backend({pid})"
                )
            }
        }
    }
}

impl Database {
    /// The number of commits that have waited for a synchronous standby for some seconds.
    pub async fn waiting_commits(&self) -> Result<u64, StoreError> {
        self.read_number(sql::WaitingCommits {}).await
    }

    /// Ends the wait of commits that were given up, so that they do not occupy connections of the server while a standby is away.
    /// They are then durable on the primary alone.
    pub async fn cancel_waiting_commits(&self) -> Result<u64, StoreError> {
        self.read_number(sql::CancelWaitingCommits {}).await
    }

    /// The oldest entries that cannot be read as events yet, if there are some.
    pub async fn unread_events(&self) -> Result<Option<UnreadEvents>, StoreError> {
        self.read(sql::OldestUnread {}).await?.first().map_or(Ok(None), UnreadEvents::of)
    }
}
