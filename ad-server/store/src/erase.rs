//! Erasure: removes what clients wrote from deleted ads. Their ids, times and log entries without messages stay, so that a source
//! id means the same ad for ever. Each step is one transaction, and a repeated call continues where an earlier one stopped.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::AddAssign,
    time::Duration,
};

use ad_core::{model::Timestamp, ports::StoreError};
use futures_util::TryStreamExt;
use serde::Serialize;
use serde_json::Value;

use super::{
    Columns, Database, Link, Statement, Work, from_columns,
    rows::{json, unreadable},
    sql::{erase as sql, stock_files, words::EraseWords},
    sqlite,
};

/// Number of ads that are erased in one transaction.
pub(super) const BATCH: u32 = 200;

/// Number of images that are removed after one search for ads that show them.
const IMAGES: u32 = 500;

/// How long images cannot be stored because they are being removed, at most. It ends earlier, unless a process is killed.
pub const REMOVAL: Duration = Duration::from_secs(30);

/// How long it is known when an image was last stored or removed: longer than a search for ads that show images takes.
const HOLDS_KEPT: Duration = Duration::from_hours(24);

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

/// A stored image of an erased ad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedImage {
    pub name: String,
    /// How often it was stored or removed.
    changes: i64,
}

from_columns! { ErasedImage { name, changes } }

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
        let steps: [Statement; 9] = [
            sql::EraseAnswers { ads: ads.clone() }.into(),
            sql::EraseDeliveries { ads: ads.clone() }.into(),
            sql::ErasePrices { ads: ads.clone() }.into(),
            sql::EraseRevisions { ads: ads.clone() }.into(),
            sql::EraseCalls { ads: ads.clone() }.into(),
            sql::EraseCharges { ads: ads.clone() }.into(),
            sql::ErasePlannedChanges { ads: ads.clone() }.into(),
            sql::ErasePhotoLooks { ads: ads.clone() }.into(),
            sql::EraseListingCalls { ads: ads.clone() }.into(),
        ];
        for step in &steps {
            link.run(step).await?;
        }
        let listings = link.run(&sql::EraseListings { ads: ads.clone() }.into()).await?.changed;
        let log_entries = link.run(&sql::EraseLog { ads: ads.clone() }.into()).await?.changed;
        let count = ads.len() as u64;
        link.run(&EraseWords { ads: ads.clone() }.into()).await?;
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

    /// Erases the stock files of a dealer, and what was said about their columns.
    pub async fn erase_stock_files(&self, dealer_code: &str) -> Result<(), StoreError> {
        self.run(stock_files::EraseStockFiles { dealer_code }).await?;
        self.run(stock_files::EraseColumnChoices { dealer_code }).await.map(drop)
    }

    /// Some stored images of erased ads: those that nothing refers to any more, and the names of the others.
    pub async fn erased_images(&self, now: Timestamp) -> Result<(Vec<ErasedImage>, Vec<String>), StoreError> {
        let images: Vec<ErasedImage> = Columns::all(&self.read(sql::ErasedImages { now, limit: IMAGES }).await?)?;
        let mut unused: BTreeSet<String> = images.iter().map(|image| checksum(&image.name)).collect();
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
        let (unused, used): (Vec<_>, Vec<_>) =
            images.into_iter().partition(|image| unused.contains(&checksum(&image.name)));
        Ok((unused, used.into_iter().map(|image| image.name).collect()))
    }

    /// Keeps images from being stored for [`REMOVAL`], so that they can be removed. Returns the names of those that nobody has stored
    /// since they were found unused.
    pub async fn begin_removal(&self, images: &[ErasedImage], now: Timestamp) -> Result<Vec<String>, StoreError> {
        let distinct: BTreeMap<_, _> = images.iter().map(|image| (checksum(&image.name), image.changes)).collect();
        let distinct: Vec<_> = distinct.into_iter().collect();
        let begin = sql::BeginRemoval { images: json(&distinct)?, until: now + REMOVAL };
        let removable: BTreeSet<String> = Columns::all(&self.run(begin).await?.rows)?.into_iter().collect();
        let names = images.iter().map(|image| image.name.clone());
        Ok(names.filter(|name| removable.contains(&checksum(name))).collect())
    }

    /// Forgets images that were removed from the image store, and lets all whose removal has begun be stored again.
    pub async fn end_removal(&self, begun: &[String], removed: &[String], now: Timestamp) -> Result<(), StoreError> {
        let of = |names: &[String]| names.iter().map(|name| checksum(name)).collect();
        self.run(sql::ErasePhotos { checksums: of(removed) }).await?;
        self.forget_erased_images(removed.to_vec()).await?;
        self.run(sql::EndRemoval { checksums: of(begun), now }).await.map(drop)
    }

    /// Forgets images of erased ads: they were removed, or are in use.
    pub async fn forget_erased_images(&self, names: Vec<String>) -> Result<(), StoreError> {
        self.run(sql::ForgetErasedImages { names }).await.map(drop)
    }

    /// Whether another process removes images of erased ads, or was killed doing so less than [`REMOVAL`] ago.
    pub async fn are_images_removed(&self, now: Timestamp) -> Result<bool, StoreError> {
        Columns::read_bool(&self.read(sql::AreImagesRemoved { now }).await?)
    }

    /// Forgets, for at most so many images, when they were last stored or removed; returns of how many.
    pub async fn forget_image_holds(&self, now: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        Ok(self.run(sql::ForgetImageHolds { before: now - HOLDS_KEPT, at_most }).await?.changed)
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
