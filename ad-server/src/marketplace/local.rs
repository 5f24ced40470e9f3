//! A local marketplace, kept in the database of the service.

use std::sync::Arc;

use ad_core::{
    model::{Content, Market, Timestamp},
    ports::{Clock, IdempotencyKey, Listing, Marketplace, MarketplaceError, PlateListing, StoreError},
};
use async_trait::async_trait;
use serde::Serialize;

use super::{listing_id, listing_seq, sql};
use crate::store::{Columns, Database, Ran, Sql, Statement};

/// One of the marketplaces.
#[derive(Clone)]
pub struct Local {
    database: Database,
    market: Market,
    clock: Arc<dyn Clock>,
}

debug_by_name!(Local);

/// Dealer code, source id and plate.
pub(super) type ListedAd = (String, Option<String>, Option<String>);

/// Content of a listing.
#[derive(Serialize)]
struct ListingContent<'a> {
    category_id: u16,
    content: &'a Content,
    images: Vec<&'a str>,
}

impl Local {
    /// The marketplace in a database.
    pub fn new(database: Database, market: Market, clock: Arc<dyn Clock>) -> Self {
        Self { database, market, clock }
    }

    fn call(&self, sql: Sql, key: IdempotencyKey) -> Statement {
        Statement::new(sql).bind(self.market.name()).bind(self.clock.now().as_millis()).bind(key.to_string())
    }

    async fn run(&self, statement: Statement) -> Result<Ran, MarketplaceError> {
        self.database.write(statement).await.map_err(failure)
    }

    /// Dealer code, source id and plate of the ad that a listing shows, or showed last.
    pub(super) async fn about(&self, id: &str) -> Result<Option<ListedAd>, StoreError> {
        let Some(seq) = listing_seq(self.market, id) else { return Ok(None) };
        let rows = self.database.read(Statement::new(sql::ABOUT).bind(self.market.name()).bind(seq)).await?;
        let about = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.string()?, columns.maybe_string()?, columns.maybe_string()?))
        };
        rows.first().map(about).transpose()
    }

    /// The number behind an id; an id of another form was never given.
    fn seq(&self, id: &str) -> Result<i64, MarketplaceError> {
        listing_seq(self.market, id).ok_or(MarketplaceError::Gone)
    }

    /// Runs a call that answers with the listing's row if there is one.
    async fn run_on_one(&self, statement: Statement) -> Result<(), MarketplaceError> {
        if self.run(statement).await?.rows.is_empty() { Err(MarketplaceError::Gone) } else { Ok(()) }
    }
}

fn show(statement: Statement, Listing { ad, images }: Listing<'_>) -> Result<Statement, MarketplaceError> {
    let images = images.iter().map(|image| image.cdn_url.as_str()).collect();
    let shown = ListingContent { category_id: ad.category_id, content: &ad.content, images };
    let shown = serde_json::to_string(&shown).map_err(|error| MarketplaceError::Refused(error.to_string()))?;
    Ok(statement
        .bind(ad.id)
        .bind(ad.source_id.as_str())
        .bind(ad.dealer_code.as_str())
        .bind(ad.content.registration_number().as_deref())
        .bind(ad.content.title())
        .bind(shown))
}

fn failure(error: StoreError) -> MarketplaceError {
    match error {
        StoreError::Unavailable(reason) => MarketplaceError::unreachable(reason.to_string(), None),
        error => MarketplaceError::Refused(error.to_string()),
    }
}

#[async_trait]
impl Marketplace for Local {
    async fn publish(&self, key: IdempotencyKey, listing: Listing<'_>) -> Result<String, MarketplaceError> {
        let ran = self.database.share(show(self.call(sql::PUBLISH, key), listing)?).await.map_err(failure)?;
        let row = ran.rows.first().ok_or(MarketplaceError::Gone)?;
        Ok(listing_id(self.market, Columns::of(row).value().map_err(failure)?))
    }

    async fn update(&self, key: IdempotencyKey, id: &str, listing: Listing<'_>) -> Result<(), MarketplaceError> {
        let seq = self.seq(id)?;
        self.run_on_one(show(self.call(sql::UPDATE, key), listing)?.bind(seq)).await
    }

    async fn unpublish(&self, key: IdempotencyKey, id: &str) -> Result<(), MarketplaceError> {
        match listing_seq(self.market, id) {
            Some(seq) => self.run(self.call(sql::UNPUBLISH, key).bind(seq)).await.map(drop),
            None => Ok(()),
        }
    }

    async fn bump(&self, key: IdempotencyKey, id: &str) -> Result<(), MarketplaceError> {
        let seq = self.seq(id)?;
        self.run_on_one(self.call(sql::BUMP, key).bind(seq)).await
    }

    async fn boost(&self, key: IdempotencyKey, id: &str, until: Timestamp) -> Result<(), MarketplaceError> {
        let seq = self.seq(id)?;
        self.run_on_one(self.call(sql::BOOST, key).bind(seq).bind(until.as_millis())).await
    }

    async fn find_by_plate(&self, dealer_code: &str, plate: &str) -> Result<Option<PlateListing>, MarketplaceError> {
        let statement = Statement::new(sql::FIND_BY_PLATE).bind(self.market.name()).bind(dealer_code).bind(plate);
        let rows = self.database.share_read(statement).await.map_err(failure)?;
        let found = |row| {
            let mut columns = Columns::of(row);
            let id = listing_id(self.market, columns.value()?);
            let reference = columns.maybe_id()?;
            Ok(PlateListing { id, reference })
        };
        rows.first().map(found).transpose().map_err(failure)
    }
}
