//! What is known of the images that ads show, and who examines them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use uuid::Uuid;

use super::StoreError;
use crate::model::{ImageRef, Photo, Timestamp};

/// An ad that a worker has claimed to examine its images.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedPhotos {
    /// Internal id of the ad.
    pub ad: Uuid,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// The ad's stored images, in display order.
    pub image_refs: Vec<ImageRef>,
    /// The end of the claim, by which it is recognised.
    pub until: Timestamp,
}

/// What became of the images of a claimed ad.
#[derive(Debug, Clone, PartialEq)]
pub struct ExaminedPhotos {
    /// Internal id of the ad.
    pub ad: Uuid,
    /// The end of the claim.
    pub until: Timestamp,
    /// What was found, by checksum. Checksums of images that were decoded before keep what is known of them.
    pub found: BTreeMap<String, Photo>,
    /// The ad's images with what is known of them now.
    pub image_refs: Vec<ImageRef>,
    /// Whether that is more than before.
    pub is_new: bool,
    /// When the examination ended, in UTC.
    pub at: Timestamp,
}

/// Stores what is known of images, once per checksum and with the ads that show them. The images of an ad are due when a request that
/// changed them has ended or waits, so that ads are published first.
///
/// # Errors
/// Every method fails with [`StoreError::Unavailable`] when the store cannot be reached, and with [`StoreError::Faulty`] when what it
/// holds cannot be read.
#[async_trait]
pub trait PhotoStore: Send + Sync {
    /// Claims an ad whose images are due, until a time at which it can be claimed again: of the dealers behind one in turn. While
    /// requests wait to be claimed, only ads are claimed that have been due since `overdue`.
    async fn claim_photos(
        &self,
        now: Timestamp,
        overdue: Timestamp,
        until: Timestamp,
        behind: &str,
    ) -> Result<Option<ClaimedPhotos>, StoreError>;

    /// Makes a claim last until a later time, unless the ad has other images by now or was claimed again. Returns whether it did.
    async fn extend_photos(&self, ad: Uuid, until: Timestamp, later: Timestamp) -> Result<bool, StoreError>;

    /// Stores what was found, and ends the claim. If the ad has other images by now or was claimed again, only what was found is stored.
    /// Images with other facts than before move the ad's tag.
    async fn record_photos(&self, examined: ExaminedPhotos) -> Result<(), StoreError>;

    /// What is known of the image of a checksum.
    async fn photo(&self, checksum: &str) -> Result<Option<Photo>, StoreError>;
}
