//! `ad_core::ports::SlotStore` over the database.

use std::time::Duration;

use ad_core::{
    model::Timestamp,
    ports::{SlotRequest, SlotStore, StoreError},
};
use async_trait::async_trait;
use uuid::Uuid;

use super::{
    Columns, DatabaseStore, Link, Statement, Work,
    rows::{FromColumns, unreadable},
    sql::slots as sql,
    work::Isolation,
};

/// How long the number of free slots is relied on before they are counted again. Slots that others take are deducted meanwhile; those
/// of ads that an operator imports are not.
const COUNTED: Duration = Duration::from_secs(1);

/// Rows that may be of ads that do not wait any more, read beyond those that are asked for.
const SPARE: u32 = 100;

/// Most times that such rows are removed before a pause.
const REMOVALS: usize = 50;

/// Takes a slot for an ad, or notes that the ad waits for one.
struct TakeSlot {
    ad: Uuid,
    dealer_code: String,
    request: Uuid,
    most: u32,
    accepted: Timestamp,
    waits: bool,
    now: Timestamp,
}

impl TakeSlot {
    /// The number of free slots, at least; counted if there seems to be none.
    async fn free(&self, link: &mut Link<'_>) -> sqlx::Result<(i64, Timestamp)> {
        let dealer_code = self.dealer_code.as_str();
        let lock = sql::LockSlots { dealer_code, most: self.most };
        let (free, counted) = first(link, lock).await?.unwrap_or((0, Timestamp::from_millis(0)));
        let age = (self.now - counted).max(counted - self.now);
        if free > 0 && age < COUNTED {
            return Ok((free, counted));
        }
        link.run(&sql::ForgetFinished { dealer_code }.into()).await?;
        let used: i64 = first(link, sql::CountSlots { dealer_code, at_most: self.most }).await?.unwrap_or_default();
        Ok((i64::from(self.most) - used, self.now))
    }
}

/// The first row of a statement.
async fn first<T: FromColumns>(link: &mut Link<'_>, statement: impl Into<Statement>) -> sqlx::Result<Option<T>> {
    Columns::first(&link.run(&statement.into()).await?.rows).map_err(unreadable)
}

impl Work for TakeSlot {
    type Answer = bool;

    /// The lock comes first, and then everything that was committed before is counted.
    const ISOLATION: Isolation = Isolation::ReadCommitted;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<bool> {
        let Self { ad, request, accepted, .. } = *self;
        let dealer_code = self.dealer_code.as_str();
        let (free, counted) = self.free(link).await?;
        let since = match first::<(Option<Uuid>, Timestamp)>(link, sql::SlotOf { ad }).await? {
            Some((Some(taken_by), _)) if taken_by == request => return Ok(true),
            Some((None, since)) if self.waits => since,
            _ => accepted,
        };
        let ahead = sql::CountSlotsAhead { dealer_code, ad, since, at_most: free };
        let gets_one = free > 0 && first::<i64>(link, ahead).await?.unwrap_or_default() < free;
        if gets_one {
            link.run(&sql::TakeSlot { ad, request, since }.into()).await?;
        } else {
            link.run(&sql::WaitForSlot { ad, since }.into()).await?;
        }
        let free = if gets_one { free - 1 } else { free };
        link.run(&sql::SetFreeSlots { dealer_code, free, counted }.into()).await?;
        Ok(gets_one)
    }
}

#[async_trait]
impl SlotStore for DatabaseStore {
    async fn take_slot(&self, wanted: SlotRequest<'_>) -> Result<bool, StoreError> {
        let SlotRequest { ad, dealer_code, request, most, accepted, waits, now } = wanted;
        let dealer_code = dealer_code.to_owned();
        self.database().write(TakeSlot { ad, dealer_code, request, most, accepted, waits, now }).await
    }

    async fn slots_used(&self, dealer_code: &str) -> Result<u64, StoreError> {
        self.database().read_number(sql::CountSlots { dealer_code, at_most: u32::MAX }).await
    }

    async fn dealers_waiting_for_slots(&self) -> Result<Vec<String>, StoreError> {
        Columns::all(&self.database().read(sql::DealersWaiting {}).await?)
    }

    async fn next_for_slots(
        &self,
        dealer_code: &str,
        most: Option<u32>,
        at_most: u32,
    ) -> Result<Vec<String>, StoreError> {
        for _ in 0..REMOVALS {
            let waiting = sql::WaitingForSlots { dealer_code, limit: at_most.saturating_add(SPARE) };
            let waiting: Vec<((i64, String), (bool, bool))> = Columns::all(&self.database().read(waiting).await?)?;
            let gone = waiting.iter().filter(|(_, (waits, _))| !waits).map(|((ad, _), _)| *ad).collect::<Vec<_>>();
            if !gone.is_empty() {
                self.database().run(sql::ForgetWaiting { ads: gone }).await?;
                continue;
            }
            // Counted afterwards, so that a slot which one of them takes meanwhile is not offered to the one behind it.
            let free = match most {
                Some(most) => {
                    let used = self.database().read_number(sql::CountSlots { dealer_code, at_most: most }).await?;
                    u64::from(most).saturating_sub(used).min(at_most.into())
                }
                None => at_most.into(),
            };
            let first = waiting.into_iter().zip(0..free).map(|(ad, _)| ad);
            return Ok(first.filter(|(_, (_, settled))| *settled).map(|((_, source_id), _)| source_id).collect());
        }
        Ok(Vec::new())
    }
}
