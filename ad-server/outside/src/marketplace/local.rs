//! A local marketplace, kept in the database of the service.

use std::{sync::Arc, time::Duration};

use ad_core::{
    model::{Content, Market, Timestamp},
    ports::{
        Answered, Clock, IdempotencyKey, Listing, Marketplace, MarketplaceError, PlateListing, PublishedByPlate,
        StoreError,
    },
};
use async_trait::async_trait;
use serde::Serialize;
use uuid::Uuid;

use super::{listing_id, listing_seq};
use ad_server_store::sql::listings as sql;
use ad_server_store::{Columns, Database, Statement};

/// How long a call is remembered: longer than any caller repeats one.
const CALLS_KEPT: Duration = Duration::from_hours(7 * 24);

/// One marketplace in the service's own database.
#[derive(Clone)]
pub struct Local {
    database: Database,
    market: Market,
    clock: Arc<dyn Clock>,
}

ad_server_base::debug_by_name!(Local);

/// Dealer code, source id and plate.
pub(super) type ListedAd = (String, Option<String>, Option<String>);

#[derive(Serialize)]
struct ListingContent<'a> {
    category_id: u16,
    content: &'a Content,
    images: Vec<&'a str>,
}

impl Local {
    pub fn new(database: Database, market: Market, clock: Arc<dyn Clock>) -> Self {
        Self { database, market, clock }
    }

    /// Dealer code, source id and plate of the ad that a listing shows, or showed last.
    pub async fn about(&self, id: &str) -> Result<Option<ListedAd>, StoreError> {
        let Some(listing) = listing_seq(self.market, id) else { return Ok(None) };
        Columns::first(&self.database.read(sql::AboutListing { market: self.market.name(), listing }).await?)
    }

    /// The number behind an id; an id of another form was never given.
    fn seq(&self, id: &str) -> Result<i64, MarketplaceError> {
        listing_seq(self.market, id).ok_or(MarketplaceError::GONE)
    }

    /// Runs a call that answers with the listing, if there is one.
    async fn call(&self, statement: impl Into<Statement>) -> Result<i64, MarketplaceError> {
        let ran = self.database.run(statement).await.map_err(failure)?;
        Columns::first(&ran.rows).map_err(failure)?.ok_or(MarketplaceError::GONE)
    }

    async fn promote(
        &self,
        key: IdempotencyKey,
        id: &str,
        pole_position_until: Option<Timestamp>,
    ) -> Result<Answered<()>, MarketplaceError> {
        let (market, now, listing) = (self.market.name(), self.clock.now(), self.seq(id)?);
        let promote = sql::PromoteListing { market, key: key.to_string(), now, listing, pole_position_until };
        self.call(promote).await.map(|_| Answered::DONE)
    }

    fn show<'a>(
        &self,
        key: IdempotencyKey,
        Listing { ad, images }: Listing<'a>,
        registration_number: Option<&'a str>,
    ) -> Result<sql::PublishListing<'a>, MarketplaceError> {
        let images = images.iter().map(|image| image.cdn_url.as_str()).collect();
        let shown = ListingContent { category_id: ad.category_id, content: &ad.content, images };
        Ok(sql::PublishListing {
            market: self.market.name(),
            key: key.to_string(),
            now: self.clock.now(),
            reference: ad.id,
            source_id: &ad.source_id,
            dealer_code: &ad.dealer_code,
            registration_number,
            title: ad.content.title(),
            content: serde_json::to_string(&shown).map_err(|error| MarketplaceError::refused(error.to_string()))?,
        })
    }
}

/// Forgets calls to both marketplaces that are older than a week, and at most so many of each. Returns whether there may be more.
pub async fn forget_calls(database: &Database, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
    let before = first_id(now - CALLS_KEPT).to_string();
    let mut is_full = false;
    for market in [Market::Primary, Market::Secondary] {
        let forget = sql::ForgetCalls { market: market.name(), before: before.clone(), limit };
        is_full |= database.run(forget).await?.changed >= u64::from(limit);
    }
    Ok(is_full)
}

/// The lowest id (`UUIDv7`) of this time.
fn first_id(at: Timestamp) -> Uuid {
    Uuid::from_u128(u128::try_from(at.as_millis()).unwrap_or(0) << 80)
}

fn failure(error: StoreError) -> MarketplaceError {
    match error {
        StoreError::Unavailable(reason) => MarketplaceError::unreachable(reason.to_string(), None),
        error => MarketplaceError::refused(error.to_string()),
    }
}

#[async_trait]
impl Marketplace for Local {
    async fn publish(&self, key: IdempotencyKey, listing: Listing<'_>) -> Result<Answered<String>, MarketplaceError> {
        let plate = listing.ad.content.registration_number();
        let seq = self.call(self.show(key, listing, plate.as_deref())?).await?;
        Ok(Answered::ok(listing_id(self.market, seq)))
    }

    async fn publish_by_plate(
        &self,
        key: IdempotencyKey,
        listing: Listing<'_>,
        plate: &str,
    ) -> Result<Answered<Option<PublishedByPlate>>, MarketplaceError> {
        let publish = sql::PublishByPlate { plate, shown: self.show(key, listing, Some(plate))? };
        let ran = self.database.run(publish).await.map_err(failure)?;
        let published = Columns::first(&ran.rows).map_err(failure)?;
        Ok(Answered::ok(published.map(|(seq, linked, taken_by)| {
            let id = listing_id(self.market, seq);
            match taken_by {
                None => PublishedByPlate::Shown { id, linked },
                taken_by => PublishedByPlate::Taken(PlateListing { id, reference: taken_by }),
            }
        })))
    }

    async fn update(
        &self,
        key: IdempotencyKey,
        id: &str,
        listing: Listing<'_>,
    ) -> Result<Answered<()>, MarketplaceError> {
        let plate = listing.ad.content.registration_number();
        let shown = self.show(key, listing, plate.as_deref())?;
        self.call(sql::UpdateListing { listing: self.seq(id)?, shown }).await.map(|_| Answered::ok(()))
    }

    async fn unpublish(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError> {
        let Some(listing) = listing_seq(self.market, id) else { return Ok(Answered::DONE) };
        let (market, now) = (self.market.name(), self.clock.now());
        let unpublish = sql::UnpublishListing { market, key: key.to_string(), now, listing };
        self.database.run(unpublish).await.map(|_| Answered::DONE).map_err(failure)
    }

    async fn bump(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError> {
        self.promote(key, id, None).await
    }

    async fn boost(&self, key: IdempotencyKey, id: &str, until: Timestamp) -> Result<Answered<()>, MarketplaceError> {
        self.promote(key, id, Some(until)).await
    }

    async fn find_by_plate(
        &self,
        dealer_code: &str,
        plate: &str,
    ) -> Result<Answered<Option<PlateListing>>, MarketplaceError> {
        let find = sql::FindListing { market: self.market.name(), dealer_code, registration_number: plate };
        let rows = self.database.read(find).await.map_err(failure)?;
        let found = Columns::first(&rows).map_err(failure)?;
        Ok(Answered::ok(found.map(|(seq, reference)| PlateListing { id: listing_id(self.market, seq), reference })))
    }
}
