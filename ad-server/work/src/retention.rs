//! Erases deleted ads and messages of logs, and removes photos of deleted ads, earlier contents of ads and entries of the audit log, when
//! their retention time is over. It works a little at a time, so that no write waits for it. By default, only photos and earlier contents
//! are removed.

use std::{future::ready, sync::Arc, time::Duration};

use ad_core::{
    model::Timestamp,
    ports::{Clock, StoreError},
};

use crate::operators::{ErasureError, remove_erased_images};
use ad_server_base::{
    limits::table::UPLOADS_KEPT,
    telemetry::{Metrics, metrics::Expired},
};
use ad_server_outside::media::Media;
use ad_server_store::{Database, Erased};

/// Pause between two transactions, for the writes of others.
const PAUSE: Duration = Duration::from_millis(20);

/// Most calls of marketplaces or entries of the audit log that one statement removes.
const BATCH: u32 = 500;

/// How long what is kept; `None`: for ever.
#[derive(Debug, Clone, Copy)]
pub struct RetentionTimes {
    /// Content and images of deleted ads.
    pub deleted_ads: Option<Duration>,
    /// Photos of deleted ads, whose content stays.
    pub deleted_photos: Option<Duration>,
    /// What ads said before changes of their content, and calls of marketplaces.
    pub record: Option<Duration>,
    /// Messages in the logs of ads.
    pub log_messages: Option<Duration>,
    /// Entries of the audit log.
    pub audit_log: Option<Duration>,
}

impl RetentionTimes {
    pub fn shortest(self) -> Duration {
        let times = [self.deleted_ads, self.deleted_photos, self.record, self.log_messages, self.audit_log];
        times.into_iter().flatten().fold(UPLOADS_KEPT, Duration::min)
    }

    /// How long deleted ads have photos.
    pub fn photos(self) -> Option<Duration> {
        [self.deleted_ads, self.deleted_photos].into_iter().flatten().min()
    }
}

/// What erases in the background, with the parts that it needs.
pub struct Retention {
    pub times: RetentionTimes,
    pub database: Database,
    pub media: Media,
    pub metrics: Metrics,
    pub clock: Arc<dyn Clock>,
}

ad_server_base::debug_by_name!(Retention);

impl Retention {
    /// Erases all whose time is over.
    pub async fn erase(&self) -> Result<(), ErasureError> {
        self.remove_uploads().await?;
        if let Some(kept) = self.times.deleted_ads {
            self.erase_ads(kept).await?;
        }
        if let Some(kept) = self.times.deleted_photos {
            self.remove_photos(kept).await?;
        }
        if let Some(kept) = self.times.record {
            self.forget_revisions(kept).await?;
            self.remove_calls(kept).await?;
        }
        if let Some(kept) = self.times.log_messages {
            self.erase_messages(kept).await?;
        }
        if let Some(kept) = self.times.audit_log {
            self.remove_audit(kept).await?;
        }
        Ok(())
    }

    /// Erases ads and their images.
    async fn erase_ads(&self, kept: Duration) -> Result<(), ErasureError> {
        let mut all = Erased::default();
        loop {
            let now = self.clock.now();
            let Some(erased) = self.database.erase_deleted_before(now - kept, now).await? else { break };
            self.metrics.expired(Expired::Ads, erased.ads);
            all += erased;
            tokio::time::sleep(PAUSE).await;
        }
        let images = self.remove_images().await?;
        if all.ads + images > 0 {
            let Erased { ads, log_entries, listings } = all;
            tracing::info!(ads, log_entries, listings, images, "erased ads after deleted_ads_kept");
        }
        Ok(())
    }

    /// Removes the images of erased ads, also of those that were erased before a crash, and returns how many.
    async fn remove_images(&self) -> Result<u64, ErasureError> {
        let media = || ready(Ok::<_, ErasureError>(self.media.clone()));
        let images = remove_erased_images(&self.database, &*self.clock, media).await?;
        self.metrics.expired(Expired::Images, images);
        Ok(images)
    }

    /// Removes the photos of deleted ads.
    async fn remove_photos(&self, kept: Duration) -> Result<(), ErasureError> {
        let mut ads = 0;
        while let Some(some) = self.database.forget_photos_of_deleted_before(self.clock.now() - kept).await? {
            ads += some;
            tokio::time::sleep(PAUSE).await;
        }
        let images = self.remove_images().await?;
        if ads + images > 0 {
            tracing::info!(ads, images, "removed photos of deleted ads after deleted_photos_kept");
        }
        Ok(())
    }

    /// Removes photos that somebody has sent to the console and to which no ad refers, and stock files.
    async fn remove_uploads(&self) -> Result<(), ErasureError> {
        let mut photos = 0;
        while let Some(some) = self.database.forget_uploads_before(self.clock.now() - UPLOADS_KEPT).await? {
            photos += some;
            tokio::time::sleep(PAUSE).await;
        }
        let removed = self.remove_images().await?;
        if photos > 0 {
            tracing::info!(photos, removed, "removed photos that were sent to the console and not used");
        }
        let files = self.database.remove_stock_files_before(self.clock.now() - UPLOADS_KEPT).await?;
        if files > 0 {
            tracing::info!(files, "removed stock files that were sent to the console");
        }
        Ok(())
    }

    /// Removes what ads said before old changes.
    async fn forget_revisions(&self, kept: Duration) -> Result<(), ErasureError> {
        let mut ads = 0;
        while let Some(some) = self.database.forget_revisions_before(self.clock.now() - kept).await? {
            self.metrics.expired(Expired::Revisions, some);
            ads += some;
            tokio::time::sleep(PAUSE).await;
        }
        if ads > 0 {
            tracing::info!(ads, "removed earlier contents of ads after record_kept");
        }
        Ok(())
    }

    async fn erase_messages(&self, kept: Duration) -> Result<(), ErasureError> {
        let mut entries = 0;
        while let Some(erased) = self.database.erase_messages_before(self.clock.now() - kept).await? {
            self.metrics.expired(Expired::LogMessages, erased);
            entries += erased;
            tokio::time::sleep(PAUSE).await;
        }
        if entries > 0 {
            tracing::info!(entries, "erased messages of log entries after log_messages_kept");
        }
        Ok(())
    }

    async fn remove_calls(&self, kept: Duration) -> Result<(), ErasureError> {
        let remove = |before| self.database.remove_calls_before(before, BATCH);
        let calls = self.remove_in_batches(kept, Expired::Calls, remove).await?;
        if calls > 0 {
            tracing::info!(calls, "removed calls of marketplaces after record_kept");
        }
        Ok(())
    }

    async fn remove_audit(&self, kept: Duration) -> Result<(), ErasureError> {
        let remove = |before| self.database.remove_audit_before(before, BATCH);
        let entries = self.remove_in_batches(kept, Expired::AuditEntries, remove).await?;
        if entries > 0 {
            tracing::info!(entries, "removed entries of the audit log after audit_log_kept");
        }
        Ok(())
    }

    /// Removes what is from before a time until a statement removes less than [`BATCH`]; returns how many.
    async fn remove_in_batches<Removal: Future<Output = Result<u64, StoreError>>>(
        &self,
        kept: Duration,
        expired: Expired,
        remove: impl Fn(Timestamp) -> Removal,
    ) -> Result<u64, ErasureError> {
        let mut all = 0;
        loop {
            let removed = remove(self.clock.now() - kept).await?;
            self.metrics.expired(expired, removed);
            all += removed;
            if removed < u64::from(BATCH) {
                return Ok(all);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
