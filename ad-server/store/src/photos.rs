//! `ad_core::ports::PhotoStore` over the database, and all ads with images for the command that examines them.

use ad_core::{
    model::{Photo, PhotoFacts, Timestamp},
    ports::{ClaimedPhotos, ExaminedPhotos, PhotoStore, StoreError},
};
use async_trait::async_trait;
use uuid::Uuid;

use super::{Columns, Database, DatabaseStore, Row, rows::json, sql::photos as sql};

/// A hash as databases store 64 bits.
pub(super) fn stored(hash: u64) -> i64 {
    hash.cast_signed()
}

/// Red, green and blue as one number.
pub(super) fn color(photo: &PhotoFacts) -> u32 {
    photo.color.into_iter().fold(0, |color, part| color << 8 | u32::from(part))
}

fn claimed(rows: &[Row], until: Timestamp) -> Result<Vec<ClaimedPhotos>, StoreError> {
    let claims = Columns::all(rows)?.into_iter();
    Ok(claims.map(|(ad, dealer_code, image_refs)| ClaimedPhotos { ad, dealer_code, image_refs, until }).collect())
}

impl Database {
    /// Claims the ads with images among the next ones behind a number, but for those whose images another worker examines. Returns them with
    /// the number of the last ad that was looked at; `None` at the end.
    pub async fn claim_photos_behind(
        &self,
        behind: i64,
        at_most: u32,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<(i64, Vec<ClaimedPhotos>)>, StoreError> {
        let rows = self.read(sql::AdsWithImages { behind, limit: at_most }).await?;
        let ads: Vec<i64> = Columns::all(&rows)?;
        let Some(last) = ads.last().copied() else { return Ok(None) };
        let rows = self.run(sql::ClaimPhotosOf { ads, now, until }).await?.rows;
        Ok(Some((last, claimed(&rows, until)?)))
    }
}

#[async_trait]
impl PhotoStore for DatabaseStore {
    async fn claim_photos(
        &self,
        now: Timestamp,
        overdue: Timestamp,
        until: Timestamp,
        behind: &str,
    ) -> Result<Option<ClaimedPhotos>, StoreError> {
        let database = self.database();
        // A read first: usually nothing is due, and then no transaction is needed.
        if !Columns::read_bool(&database.read(sql::ArePhotosDue { now }).await?)? {
            return Ok(None);
        }
        let claim = |behind| sql::ClaimPhotos { now, overdue, until, behind };
        let mut rows = database.run(claim(behind)).await?.rows;
        if rows.is_empty() && !behind.is_empty() {
            // Start again with the first dealer.
            rows = database.run(claim("")).await?.rows;
        }
        Ok(claimed(&rows, until)?.into_iter().next())
    }

    async fn extend_photos(&self, ad: Uuid, until: Timestamp, later: Timestamp) -> Result<bool, StoreError> {
        Ok(self.database().run(sql::ExtendPhotos { id: ad, until, later }).await?.changed > 0)
    }

    async fn record_photos(&self, examined: ExaminedPhotos) -> Result<(), StoreError> {
        let ExaminedPhotos { ad: id, until, found, image_refs, is_new, at } = examined;
        let facts = image_refs.iter().filter_map(|image| image.photo.as_ref()?.facts());
        let looks = json(&facts.map(|photo| (stored(photo.hash), color(photo))).collect::<Vec<_>>())?;
        let image_refs = is_new.then(|| json(&image_refs)).transpose()?;
        let record = sql::RecordPhotos { id, until, found: json(&found)?, image_refs, looks, now: at };
        self.database().run(record).await.map(drop)
    }

    async fn photo(&self, checksum: &str) -> Result<Option<Photo>, StoreError> {
        Columns::first(&self.database().read(sql::FindPhoto { checksum }).await?)
    }
}
