//! `ad_core::ports::Store` over the database: ads themselves. Lists and the queue have files of their own.

use std::sync::{Arc, Mutex};

use ad_core::{
    model::{Ad, AdQuery, AdState, Content, LogEntry, LogQuery, Market, Timestamp},
    ports::{Capacity, Claims, NewAd, PageOf, Record, Revision, Scope, Store, StoreError, StoredAd, Usage},
};
use async_trait::async_trait;
use tokio::sync::Notify;
use uuid::Uuid;

use super::{
    Columns, Database, Row, Statement,
    rows::{content_text, folded, json, search_text},
    sql,
};

/// The store in a database. Clones share everything.
#[derive(Debug, Clone)]
pub struct DatabaseStore {
    pub(super) database: Database,
    /// The dealer behind whom the next claim begins.
    pub(super) turn: Arc<Mutex<String>>,
}

impl DatabaseStore {
    /// Over a database. Texts that nobody has indexed yet, because their process ended first, are indexed from now on as
    /// well as new ones: in the background, for as long as the database is open. Nothing else need run for it.
    pub fn new(database: Database) -> Self {
        database.index_texts();
        Self { database, turn: Arc::default() }
    }

    /// Notified when a request can be claimed that could not before. Of what other processes write only in PostgreSQL,
    /// and not without fail: whoever waits for it looks by the clock as well.
    pub fn queued(&self) -> Arc<Notify> {
        self.database.queued()
    }

    /// Why an ad was not revised.
    async fn not_revised(&self, change: &Revision<'_>) -> Result<StoreError, StoreError> {
        let statement = Statement::new(sql::UNFINISHED_OF_AD).bind(change.ad).bind(change.revision);
        let rows = self.database.read(statement).await?;
        let unfinished: Option<u32> = rows.first().map(|row| Columns::of(row).number()).transpose()?;
        // If some were finished meanwhile, the next attempt will succeed.
        let full = unfinished.filter(|unfinished| *unfinished >= change.most_unfinished());
        Ok(full.map_or(StoreError::Conflict, StoreError::QueueFull))
    }
}

/// The answer of a statement that asks whether something is so.
fn is_so(rows: &[Row]) -> Result<bool, StoreError> {
    rows.first().map_or(Ok(false), |row| Columns::of(row).value())
}

fn millis(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_millis)
}

fn creation(NewAd { ad, request, entry }: &NewAd<'_>) -> Result<Statement, StoreError> {
    Ok(Statement::new(sql::CREATE)
        .for_client_of(&ad.dealer_code)
        .bind(ad.id)
        .bind(ad.source_id.as_str())
        .bind(folded(&ad.source_id))
        .bind(ad.dealer_code.as_str())
        .bind(ad.category_id)
        .bind(ad.state.name())
        .bind(ad.api_version.name())
        .bind(ad.created.as_millis())
        .bind(ad.updated.as_millis())
        .bind(ad.content.registration_number().as_deref())
        .bind(ad.marketplace_ad_id.as_deref())
        .bind(ad.offer_id.as_deref())
        .bind(json(&ad.image_refs)?)
        .bind(content_text(&ad.content)?)
        .bind(search_text(&ad.content))
        .bind(entry.request_id)
        .bind(entry.created.as_millis())
        .bind(entry.action.name())
        .bind(entry.state.name())
        .bind(json(&entry.external_message)?)
        .bind(request.id)
        .bind(request.plan.as_ref().map(json).transpose()?)
        .bind(json(&request.progress)?)
        .bind(request.accepted.as_millis()))
}

pub(super) fn revision(revision: &Revision<'_>) -> Result<Statement, StoreError> {
    let text = if revision.content.is_some() { sql::REVISE } else { sql::REVISE_KEEPING_CONTENT };
    Ok(Statement::new(text)
        .for_client_of(revision.dealer_code)
        .bind(revision.ad)
        .bind(revision.revision)
        .bind(revision.content.map(content_text).transpose()?)
        .bind(revision.content.map(search_text))
        .bind(revision.content.and_then(Content::registration_number).as_deref())
        .bind(revision.version.map(|(version, _)| version.name()))
        .bind(revision.version.map(|(_, category)| category))
        .bind(revision.intent.map(AdState::name))
        .bind(millis(revision.pole_position_until))
        .bind(revision.updated.as_millis())
        .bind(revision.request.id)
        .bind(revision.request.plan.as_ref().map(json).transpose()?)
        .bind(json(&revision.request.progress)?)
        .bind(revision.request.accepted.as_millis())
        .bind(i64::from(revision.most_unfinished())))
}

#[async_trait]
impl Store for DatabaseStore {
    async fn create(&self, new: NewAd<'_>) -> Result<(), StoreError> {
        if self.database.share(creation(&new)?).await?.changed == 0 {
            return Err(StoreError::Duplicate);
        }
        self.database.index_texts();
        self.database.wake();
        Ok(())
    }

    async fn revise(&self, change: Revision<'_>) -> Result<(), StoreError> {
        if self.database.write(revision(&change)?).await?.changed == 0 {
            return Err(self.not_revised(&change).await?);
        }
        if change.content.is_some() {
            self.database.index_texts();
        }
        self.database.wake();
        Ok(())
    }

    async fn find(
        &self,
        scope: Scope<'_>,
        source_id: &str,
        with_log: bool,
    ) -> Result<Vec<(StoredAd, Vec<LogEntry>)>, StoreError> {
        let statement = match scope {
            Scope::Dealer(code) => Statement::new(sql::FIND).for_client_of(code).bind(source_id).bind(code),
            Scope::Dealers(codes) => {
                // A group takes part in the sharing as its first dealer.
                let dealer = codes.first().map_or("", String::as_str);
                Statement::new(sql::FIND_IN_GROUP).for_client_of(dealer).bind(source_id).bind(codes.to_vec())
            }
        };
        let rows = self.database.look_up(statement.bind(with_log)).await?;
        let found = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.stored_ad()?, columns.entries()?))
        };
        rows.iter().map(found).collect()
    }

    async fn is_used(&self, dealer_code: &str, source_id: &str) -> Result<bool, StoreError> {
        let statement = Statement::new(sql::IS_USED).for_client_of(dealer_code).bind(dealer_code).bind(source_id);
        is_so(&self.database.look_up(statement).await?)
    }

    async fn list(&self, scope: Scope<'_>, query: &AdQuery) -> Result<PageOf<(Ad, Vec<LogEntry>)>, StoreError> {
        self.list_ads(scope, query).await
    }

    async fn log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError> {
        self.list_log(ad, query).await
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        capacity: Capacity<'_>,
    ) -> Result<Claims, StoreError> {
        self.claim_due(now, lease_until, capacity).await
    }

    async fn release(&self, now: Timestamp, after: Timestamp) -> Result<(), StoreError> {
        let statement = Statement::new(sql::RELEASE).bind(now.as_millis()).bind(after.as_millis());
        self.database.write(statement).await.map(drop)
    }

    async fn extend(&self, request: Uuid, lease: i64, until: Timestamp) -> Result<(), StoreError> {
        let statement = Statement::new(sql::EXTEND).bind(request).bind(lease).bind(until.as_millis());
        if self.database.write(statement).await?.changed == 0 { Err(StoreError::LeaseLost) } else { Ok(()) }
    }

    async fn record(&self, record: Record) -> Result<(), StoreError> {
        self.record_work(&record).await
    }

    async fn tie(&self, ad: Uuid, market: Market, listing: &str) -> Result<bool, StoreError> {
        let text = match market {
            Market::Primary => sql::TIE_PRIMARY,
            Market::Secondary => sql::TIE_SECONDARY,
        };
        let statement = Statement::new(text).bind(ad).bind(market.name()).bind(listing);
        Ok(self.database.write(statement).await?.changed > 0)
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.database.queue_depth().await?;
        // Whoever can begin to write can write; the disk alone may still be full.
        self.database.write(Statement::new(sql::NOTHING)).await?;
        Ok(())
    }

    async fn is_live(&self, ad: Uuid) -> Result<bool, StoreError> {
        is_so(&self.database.read(Statement::new(sql::IS_LIVE).bind(ad)).await?)
    }

    async fn has_unfinished(&self, ad: Uuid) -> Result<bool, StoreError> {
        is_so(&self.database.look_up(Statement::new(sql::HAS_UNFINISHED).bind(ad)).await?)
    }

    async fn usage(&self, dealer_code: &str, of: Usage, at_most: u64) -> Result<u64, StoreError> {
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let statement = match of {
            Usage::Requests => Statement::new(sql::DEALER_REQUESTS).bind(dealer_code).bind(at_most),
            Usage::Ads => Statement::new(sql::DEALER_ADS).bind(dealer_code).bind(at_most),
            Usage::ImageBytes => Statement::new(sql::DEALER_IMAGE_BYTES).bind(dealer_code),
        };
        let rows = self.database.read(statement).await?;
        rows.first().map_or(Ok(0), |row| Columns::of(row).number())
    }

    async fn add_dealer_image(&self, dealer_code: &str, checksum: &str, bytes: u64) -> Result<bool, StoreError> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let statement = Statement::new(sql::ADD_DEALER_IMAGE).bind(dealer_code).bind(checksum).bind(bytes);
        Ok(self.database.write(statement).await?.changed > 0)
    }

    async fn has_dealer_image(&self, dealer_code: &str, checksum: &str) -> Result<bool, StoreError> {
        is_so(&self.database.read(Statement::new(sql::HAS_DEALER_IMAGE).bind(dealer_code).bind(checksum)).await?)
    }
}
