//! Erasure: removes what clients wrote from deleted ads. Their ids, times and log entries without messages stay, so that a source
//! id means the same ad for ever. Each step is one transaction, and a repeated call continues where an earlier one stopped.

use std::{collections::BTreeSet, ops::AddAssign};

use ad_core::{model::Timestamp, ports::StoreError};
use futures_util::TryStreamExt;
use serde::Serialize;
use serde_json::Value;

use super::{Columns, Database, Link, Statement, Work, from_columns, rows::unreadable, sql::erase as sql, sqlite};

/// Number of ads that are erased in one transaction.
pub(super) const BATCH: u32 = 200;

/// Number of images that are removed after one search for ads that show them. An image that another ad stores between the search and its
/// removal would be lost, so the removal must not take long.
const IMAGES: u32 = 500;

/// Characters of a checksum in hexadecimal.
const CHECKSUM: usize = 64;

/// Numbers of what was erased, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    pub ads: u64,
    /// Their log entries, whose messages are replaced.
    pub log_entries: u64,
    /// Their listings on local marketplaces.
    pub listings: u64,
}

impl AddAssign for Erased {
    fn add_assign(&mut self, more: Self) {
        self.ads += more.ads;
        self.log_entries += more.log_entries;
        self.listings += more.listings;
    }
}

/// What a dealer, or an ad of it, has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ErasureCounts {
    pub ads: u64,
    /// Those of them that are not deleted, or have an unfinished request.
    pub not_deleted: u64,
    /// Number of ads that are erased already.
    pub erased: u64,
    pub log_entries: u64,
    /// Number of listings on local marketplaces.
    pub listings: u64,
}

from_columns! { ErasureCounts { ads, not_deleted, erased, log_entries, listings } }

/// One transaction of an erasure, with some of the ads.
pub(super) struct EraseBatch {
    /// Reads the ads, with their images.
    pub(super) erasable: Statement,
    pub(super) now: Timestamp,
}

impl Work for EraseBatch {
    type Answer = Option<Erased>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Option<Erased>> {
        let ads = note_images(link, &self.erasable).await?;
        if ads.is_empty() {
            return Ok(None);
        }
        // The calls and listings are found by the ads, the answers by the log.
        let steps: [Statement; 5] = [
            sql::EraseAnswers { ads: ads.clone() }.into(),
            sql::EraseDeliveries { ads: ads.clone() }.into(),
            sql::ErasePrices { ads: ads.clone() }.into(),
            sql::ErasePhotoLooks { ads: ads.clone() }.into(),
            sql::EraseListingCalls { ads: ads.clone() }.into(),
        ];
        for step in &steps {
            link.run(step).await?;
        }
        let listings = link.run(&sql::EraseListings { ads: ads.clone() }.into()).await?.changed;
        let log_entries = link.run(&sql::EraseLog { ads: ads.clone() }.into()).await?.changed;
        let count = ads.len() as u64;
        link.run(&sql::EraseAds { ads, now: self.now }.into()).await?;
        Ok(Some(Erased { ads: count, log_entries, listings }))
    }
}

/// Notes that the images of some ads are to be removed unless others show them, and returns the ads. `erasable` reads both.
pub(super) async fn note_images(link: &mut Link<'_>, erasable: &Statement) -> sqlx::Result<Vec<i64>> {
    let (mut ads, mut names) = (Vec::<i64>::new(), BTreeSet::new());
    for row in &link.run(erasable).await?.rows {
        let mut columns = Columns::of(row);
        ads.push(columns.value().map_err(unreadable)?);
        let images: Vec<Value> = columns.json().map_err(unreadable)?;
        let addresses = images.iter().filter_map(|image| image["cdn_url"].as_str());
        names.extend(addresses.filter_map(|address| address.rsplit('/').next()).map(str::to_owned));
    }
    if !names.is_empty() {
        link.run(&sql::AddErasedImages { names: names.into_iter().collect() }.into()).await?;
    }
    Ok(ads)
}

impl Database {
    /// How much there is to be erased.
    pub async fn count_erasure(&self, dealer_code: &str, source_id: Option<&str>) -> Result<ErasureCounts, StoreError> {
        let counts = Columns::first(&self.read(sql::CountErasure { dealer_code, source_id }).await?)?;
        counts.ok_or_else(|| StoreError::Faulty("the counts are missing".into()))
    }

    /// The source ids of ads that are to be deleted before they can be erased, behind one of them, with the number of each.
    pub async fn to_be_deleted(
        &self,
        dealer_code: &str,
        source_id: Option<&str>,
        behind: i64,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        Columns::all(&self.read(sql::ToBeDeleted { dealer_code, source_id, behind, limit: BATCH }).await?)
    }

    /// Erases some deleted ads of a dealer, or one; `None` when none is left.
    pub async fn erase_ads(
        &self,
        dealer_code: &str,
        source_id: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<Erased>, StoreError> {
        let erasable = sql::Erasable { dealer_code, source_id, limit: BATCH }.into();
        let erased = self.write(EraseBatch { erasable, now }).await?;
        self.index_texts();
        Ok(erased)
    }

    /// The names of some stored images of erased ads: those that nothing refers to any more, and the others.
    pub async fn erased_images(&self) -> Result<(Vec<String>, Vec<String>), StoreError> {
        let names: Vec<String> = Columns::all(&self.read(sql::ErasedImages { limit: IMAGES }).await?)?;
        let mut unused: BTreeSet<String> = names.iter().map(|name| checksum(name)).collect();
        if unused.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let statement = sql::ImagesInUse {}.into();
        let mut rows = std::pin::pin!(self.stream(&statement));
        while let Some(row) = rows.try_next().await? {
            for used in checksums(&Columns::of(&row).text()?) {
                unused.remove(used);
            }
        }
        Ok(names.into_iter().partition(|name| unused.contains(&checksum(name))))
    }

    /// Forgets images of erased ads: those that were removed from the image store, and those that are in use.
    pub async fn forget_erased_images(&self, removed: Vec<String>, used: Vec<String>) -> Result<(), StoreError> {
        let checksums = removed.iter().map(|name| checksum(name)).collect();
        self.run(sql::ErasePhotos { checksums }).await?;
        self.run(sql::ForgetErasedImages { names: [removed, used].concat() }).await.map(drop)
    }

    /// Rewrites a SQLite file, so that it does not contain removed data.
    ///
    /// # Errors
    /// When it cannot be rewritten, for example because others use it for too long.
    pub async fn compact(url: &str) -> Result<(), sqlx::Error> {
        sqlite::compact(url).await
    }
}

fn checksum(name: &str) -> String {
    name.split(['.', '-']).next().unwrap_or_default().to_owned()
}

fn checksums(text: &str) -> impl Iterator<Item = &str> {
    text.split(|part: char| !part.is_ascii_hexdigit()).filter(|part| part.len() == CHECKSUM)
}
