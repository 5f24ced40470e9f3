//! Erases and removes what is older than its retention time, a bounded number of rows in each transaction. Several processes may do
//! so at the same time.

use ad_core::{model::Timestamp, ports::StoreError};

use super::{
    Columns, Database, Link, Work,
    erase::{BATCH, EraseBatch, Erased, note_images},
    from_columns,
    rows::{json, unreadable},
    sql::{erase::ErasePhotoLooks, retention as sql},
};

/// Number of log entries whose messages are erased in one transaction. Entries of one transaction are erased together.
const ENTRIES: u32 = 500;

/// Erases the messages of the oldest log entries. All entries stay, because they are the sequence of events.
struct EraseOldMessages {
    before: Timestamp,
}

impl Work for EraseOldMessages {
    /// Entries with messages, or `None` if all that have some are younger.
    type Answer = Option<u64>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Option<u64>> {
        let rows = link.run(&sql::OldestLogEntries { limit: ENTRIES }.into()).await?.rows;
        let entries: Vec<(i64, Timestamp, i64)> = Columns::all(&rows).map_err(unreadable)?;
        // Whole transactions: those before the first one with an entry that is too young.
        let first_kept = entries.iter().find(|(_, created, _)| *created >= self.before).map(|(kept, ..)| *kept);
        let is_old = |(transaction, ..): &&(i64, Timestamp, i64)| first_kept.is_none_or(|kept| *transaction < kept);
        let Some((up_to, _, after)) = entries.iter().take_while(is_old).last().copied() else { return Ok(None) };
        link.run(&sql::TouchAdsOfLog { after, up_to }.into()).await?;
        let erased = link.run(&sql::EraseLogMessages { after, up_to }.into()).await?.changed;
        link.run(&sql::SetLogRetention { up_to }.into()).await?;
        Ok(Some(erased))
    }
}

/// Forgets what ads said before old changes.
struct ForgetChanges {
    before: Timestamp,
}

impl Work for ForgetChanges {
    /// Number of ads, or `None` if none is left.
    type Answer = Option<u64>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Option<u64>> {
        let rows = link.run(&sql::ExpiredChanges { before: self.before, limit: ENTRIES }.into()).await?.rows;
        let changes: Vec<(i64, i64)> = Columns::all(&rows).map_err(unreadable)?;
        if changes.is_empty() {
            return Ok(None);
        }
        let ads = changes.len() as u64;
        link.run(&sql::ForgetChanges { changes: json(&changes).map_err(unreadable)? }.into()).await?;
        Ok(Some(ads))
    }
}

/// Forgets the photos of ads that were deleted before a time.
struct ForgetPhotos {
    before: Timestamp,
}

impl Work for ForgetPhotos {
    /// Number of ads, or `None` if none is left.
    type Answer = Option<u64>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Option<u64>> {
        let with_photos = sql::PhotosOfDeletedBefore { before: self.before, limit: BATCH }.into();
        let ads = note_images(link, &with_photos).await?;
        if ads.is_empty() {
            return Ok(None);
        }
        link.run(&ErasePhotoLooks { ads: ads.clone() }.into()).await?;
        Ok(Some(link.run(&sql::ForgetPhotosOfAds { ads }.into()).await?.changed))
    }
}

/// The deleted ads that still have photos, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhotosOfDeleted {
    /// When the first of them was deleted; `None`: there are none.
    pub first: Option<Timestamp>,
    /// Number of ads that were deleted before the time that was asked for.
    pub ads: u64,
    /// Number of their photos; the same photo of two ads counts twice.
    pub photos: u64,
}

from_columns! { PhotosOfDeleted { first, ads, photos } }

impl Database {
    /// Counts the photos of ads that were deleted before a time. It counts at most `at_most` ads, those that were deleted first.
    pub async fn photos_of_deleted(&self, before: Timestamp, at_most: u32) -> Result<PhotosOfDeleted, StoreError> {
        let counts = Columns::first(&self.read(sql::CountPhotosOfDeleted { before, at_most }).await?)?;
        counts.ok_or_else(|| StoreError::Faulty("the counts are missing".into()))
    }

    /// Removes the photos from some ads that were deleted before a time, and notes that the images are to be removed; `None` when
    /// no ad is left.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; those forgotten before stay forgotten.
    pub async fn forget_photos_of_deleted_before(&self, before: Timestamp) -> Result<Option<u64>, StoreError> {
        self.write(ForgetPhotos { before }).await
    }

    /// Erases some ads that were deleted before a time; `None` when none is left.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; those erased before stay erased.
    pub async fn erase_deleted_before(&self, before: Timestamp, now: Timestamp) -> Result<Option<Erased>, StoreError> {
        let erasable = sql::ErasableBefore { before, limit: BATCH }.into();
        let erased = self.write(EraseBatch { erasable, now }).await?;
        if erased.is_some() {
            self.index_texts();
        }
        Ok(erased)
    }

    /// Erases the messages of some log entries from before a time, with what their requests have changed, and returns of how many;
    /// `None` when none is left.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; those erased before stay erased.
    pub async fn erase_messages_before(&self, before: Timestamp) -> Result<Option<u64>, StoreError> {
        self.write(EraseOldMessages { before }).await
    }

    /// Forgets what some ads said before changes from before a time, and returns of how many ads; `None` when none is left.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; what was forgotten before stays forgotten.
    pub async fn forget_revisions_before(&self, before: Timestamp) -> Result<Option<u64>, StoreError> {
        self.write(ForgetChanges { before }).await
    }

    /// Removes at most so many calls of marketplaces from before a time, and returns how many.
    pub async fn remove_calls_before(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        Ok(self.run(sql::RemoveCalls { before, at_most }).await?.changed)
    }

    /// Removes at most so many entries of the audit log from before a time, and returns how many.
    pub async fn remove_audit_before(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        Ok(self.run(sql::RemoveAudit { before, at_most }).await?.changed)
    }
}
