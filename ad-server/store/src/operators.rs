//! Data of operators: paused marketplaces, suspended dealers, the audit log, and dealers with waiting requests.

use std::time::Duration;

use ad_core::{
    model::{Action, ActionState, AskedBy, Market, Timestamp},
    ports::StoreError,
    violation::Code,
};
use serde::Serialize;
use uuid::Uuid;

use super::{Columns, Database, Row, from_columns, sql::operators as sql};

/// Number of log entries of a dealer that are read to estimate how fast its requests are finished.
const MOST_ENTRIES: u32 = 20_000;

/// A hold by an operator: a marketplace is not called, or a dealer cannot change its ads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HoldTarget {
    /// This marketplace is not called.
    Marketplace(Market),
    /// The dealer with this code cannot change its ads.
    Dealer(String),
}

impl HoldTarget {
    const MARKETPLACE: &str = "marketplace";
    const DEALER: &str = "dealer";

    fn kind(&self) -> &'static str {
        match self {
            Self::Marketplace(_) => Self::MARKETPLACE,
            Self::Dealer(_) => Self::DEALER,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Marketplace(market) => market.name(),
            Self::Dealer(code) => code,
        }
    }
}

/// Since when something is held, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hold {
    pub since: Timestamp,
    /// Why, in the words of the operator.
    pub reason: String,
}

/// Something that an operator has done by a command or in the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    pub at: Timestamp,
    pub operator: String,
    /// What, such as `marketplaces pause`.
    pub act: String,
    /// To what, such as `primary`.
    pub subject: String,
    /// Details, such as the reason.
    pub details: String,
}

/// A bump or pole position that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Promotion {
    /// Either `bump` or `boost`.
    pub action: Action,
    /// Either `done` or `error`.
    pub state: ActionState,
    /// When the service accepted the request.
    pub accepted: Timestamp,
    pub request_id: Uuid,
    /// The token with which it was requested; `None` if unknown.
    pub asked_by: AskedBy,
}

impl AuditEntry {
    /// A backup was made, as its script records it.
    pub const BACKUP: &str = "backup";
}

/// A dealer with unfinished requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DealerQueue {
    pub dealer_code: String,
    /// Number of its unfinished requests.
    pub unfinished: u64,
    /// Those of them that a worker could take now.
    pub due: u64,
    pub oldest: Timestamp,
    /// Requests of the dealer that were finished in the last minutes.
    pub finished: u64,
    /// Estimated seconds until they are finished; `None` if none was finished.
    pub drains_in: Option<u64>,
}

from_columns! {
    Hold { since, reason }
    AuditEntry { at, operator, act, subject, details }
    Promotion { action, state, accepted, request_id, asked_by }
}

impl Database {
    /// Pauses a marketplace or suspends a dealer. Running servers obey within a second.
    pub async fn hold(&self, target: &HoldTarget, hold: &Hold) -> Result<(), StoreError> {
        let Hold { since, reason } = hold;
        self.run(sql::SetHold { kind: target.kind(), name: target.name(), since: *since, reason }).await.map(drop)
    }

    /// Ends a pause or suspension; returns whether there was one. Servers then run the requests that waited for the marketplace.
    pub async fn end_hold(&self, target: &HoldTarget) -> Result<bool, StoreError> {
        Ok(!self.run(sql::RemoveHold { kind: target.kind(), name: target.name() }).await?.rows.is_empty())
    }

    /// All paused marketplaces and suspended dealers.
    pub async fn holds(&self) -> Result<Vec<(HoldTarget, Hold)>, StoreError> {
        let hold = |row: &Row| {
            let mut columns = Columns::of(row);
            let (kind, name) = (columns.string()?, columns.string()?);
            let target = match kind.as_str() {
                // Kinds and marketplaces of newer versions are ignored.
                HoldTarget::MARKETPLACE => Market::from_name(&name).map(HoldTarget::Marketplace),
                HoldTarget::DEALER => Some(HoldTarget::Dealer(name)),
                _ => None,
            };
            let hold = columns.read()?;
            Ok(target.map(|target| (target, hold)))
        };
        self.read(sql::AllHolds {}).await?.iter().filter_map(|row| hold(row).transpose()).collect()
    }

    /// How many unfinished requests failed with a code at their latest attempt.
    pub async fn unfinished_with(&self, code: Code) -> Result<u64, StoreError> {
        self.read_number(sql::CountWithCode { code: code.name() }).await
    }

    /// The time of the database's clock, which on PostgreSQL is that of another machine.
    pub async fn time(&self) -> Result<Timestamp, StoreError> {
        let time = Columns::first(&self.read(sql::DatabaseTime {}).await?)?;
        time.ok_or_else(|| StoreError::Faulty("the time is missing".into()))
    }

    /// Records what an operator does, before it is done.
    pub async fn audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let AuditEntry { at, operator, act, subject, details } = entry;
        self.run(sql::AddAudit { at: *at, operator, act, subject, details }).await.map(drop)
    }

    /// What operators have done, newest first.
    pub async fn audit_entries(&self, limit: u32) -> Result<Vec<AuditEntry>, StoreError> {
        Columns::all(&self.read(sql::AuditEntries { limit }).await?)
    }

    pub async fn last_backup(&self) -> Result<Option<Timestamp>, StoreError> {
        Columns::first(&self.read(sql::LastAct { act: AuditEntry::BACKUP }).await?)
    }

    /// The latest bumps and pole positions of an ad that have ended, newest first.
    pub async fn promotions(
        &self,
        dealer_code: &str,
        source_id: &str,
        limit: u32,
    ) -> Result<Vec<Promotion>, StoreError> {
        Columns::all(&self.read(sql::PromotionsOfAd { dealer_code, source_id, limit }).await?)
    }

    /// Records the last use of tokens.
    pub async fn touch_tokens(&self, jtis: Vec<String>, now: Timestamp) -> Result<(), StoreError> {
        self.run(sql::TouchTokens { jtis, now }).await.map(drop)
    }

    /// The dealers with most unfinished requests, and how fast they are finished, from what was finished within a time.
    pub async fn queue_by_dealer(
        &self,
        now: Timestamp,
        within: Duration,
        limit: u32,
    ) -> Result<Vec<DealerQueue>, StoreError> {
        let mut dealers = Vec::new();
        for row in Columns::all(&self.read(sql::QueueByDealer { now, limit }).await?)? {
            let (dealer_code, (unfinished, due, oldest)): (String, (u64, _, _)) = row;
            let since = now - within;
            let finished = sql::FinishedOfDealer { dealer_code: &dealer_code, since, most: MOST_ENTRIES };
            let finished = self.read_number(finished).await?;
            let drains_in = unfinished.saturating_mul(within.as_secs()).checked_div(finished);
            dealers.push(DealerQueue { dealer_code, unfinished, due, oldest, finished, drains_in });
        }
        Ok(dealers)
    }
}
