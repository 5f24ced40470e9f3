//! Examines the images of ads and makes their renditions (extensions E7.4): in the background once ads are published, once for the same
//! bytes, a few at a time.
//!
//! The work to do is in the database: an ad says when its images are due, and a claim moves that to its own end. A process that is killed
//! leaves a claim that ends; what another has found meanwhile counts.

use std::{
    collections::BTreeMap,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use ad_core::{
    model::{ImageRef, Photo, Timestamp, Undecodable},
    ports::{ClaimedPhotos, Clock, ExaminedPhotos, PhotoStore, StoreError},
};
use futures_util::future::join_all;

use ad_server_outside::media::Renditions;

/// How long a claim lasts; it is extended while its images are examined.
const CLAIM: Duration = Duration::from_secs(10);

/// How long images wait while requests wait to be claimed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Pause when there is nothing to do.
const IDLE: Duration = Duration::from_secs(1);

/// Pause after a database or image store failed.
const AGAIN: Duration = Duration::from_secs(10);

/// Examines stored images: decodes them and makes their renditions.
#[derive(Clone)]
pub struct PhotoWorker {
    pub store: Arc<dyn PhotoStore>,
    pub renditions: Renditions,
    pub clock: Arc<dyn Clock>,
}

ad_server_base::debug_by_name!(PhotoWorker);

/// Why the images of an ad were not examined.
#[derive(Debug, thiserror::Error)]
pub enum PhotoError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the image store: {0}")]
    Media(#[from] io::Error),
}

/// How many images of an ad were examined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Examined {
    /// Number of all images of the ad.
    pub images: usize,
    /// Number of images that were decoded now.
    pub made: usize,
    /// Those that cannot be decoded, among them those that were known.
    pub undecodable: usize,
    /// Those whose files are not in the image store.
    pub missing: usize,
}

impl std::ops::AddAssign for Examined {
    fn add_assign(&mut self, other: Self) {
        self.images += other.images;
        self.made += other.made;
        self.undecodable += other.undecodable;
        self.missing += other.missing;
    }
}

/// Which images of an ad are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decode {
    /// Those of which nothing is known, and those for which there was not enough memory.
    Unknown,
    /// Also those of which a rendition is not stored, and those that could not be decoded: a later version may be able to.
    Incomplete,
}

impl PhotoWorker {
    /// Begin and end of a claim that is made now.
    pub fn claim(&self) -> (Timestamp, Timestamp) {
        let now = self.clock.now();
        (now, now + CLAIM)
    }

    /// Examines images as they become due, for ever.
    pub async fn run(self) {
        join_all((0..Renditions::slots()).map(|_| self.follow())).await;
    }

    async fn follow(&self) {
        // The dealer of the latest ad, behind whom the next one is looked for.
        let mut turn = String::new();
        loop {
            let pause = match self.next(&mut turn).await {
                Ok(true) => continue,
                Ok(false) => IDLE,
                Err(error) => {
                    tracing::warn!(%error, "cannot examine photos; will be retried");
                    AGAIN
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Examines the images of one ad that are due; whether there were any.
    async fn next(&self, turn: &mut String) -> Result<bool, PhotoError> {
        let (now, until) = self.claim();
        let claimed = self.store.claim_photos(now, now - PATIENCE, until, turn).await?;
        let Some(claimed) = claimed else { return Ok(false) };
        turn.clone_from(&claimed.dealer_code);
        self.examine(claimed, Decode::Unknown).await?;
        Ok(true)
    }

    /// Examines the images of a claimed ad. After an error they are due again when the claim ends.
    pub async fn examine(&self, claimed: ClaimedPhotos, decode: Decode) -> Result<Examined, PhotoError> {
        let ClaimedPhotos { ad, dealer_code, image_refs, mut until } = claimed;
        let (mut found, mut extended) = (BTreeMap::new(), Instant::now());
        let mut examined = Examined { images: image_refs.len(), ..Examined::default() };
        for image in &image_refs {
            if extended.elapsed() > CLAIM / 3 {
                let later = self.clock.now() + CLAIM;
                if !self.store.extend_photos(ad, until, later).await? {
                    // The ad has other images, or another worker has claimed it. The facts found are still valid.
                    break;
                }
                (until, extended) = (later, Instant::now());
            }
            let photo = match image.photo.or_else(|| found.get(&image.checksum).copied()) {
                None => self.store.photo(&image.checksum).await?,
                photo => photo,
            };
            if let Some(photo) = photo
                && !self.is_decoded_again(image, &photo, decode).await?
            {
                found.insert(image.checksum.clone(), photo);
                continue;
            }
            match self.renditions.make(&dealer_code, &image.cdn_url).await {
                Ok(photo) => {
                    found.insert(image.checksum.clone(), photo);
                    examined.made += usize::from(photo.facts().is_some());
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    tracing::warn!(checksum = image.checksum, "a stored image is missing; it has no renditions");
                    examined.missing += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let with_photo =
            |image: &ImageRef| ImageRef { photo: found.get(&image.checksum).copied().or(image.photo), ..image.clone() };
        let now: Vec<_> = image_refs.iter().map(with_photo).collect();
        let is_undecodable = |image: &&ImageRef| matches!(image.photo, Some(Photo::Undecodable(_)));
        examined.undecodable = now.iter().filter(is_undecodable).count();
        let is_new = now != image_refs;
        let at = self.clock.now();
        self.store.record_photos(ExaminedPhotos { ad, until, found, image_refs: now, is_new, at }).await?;
        Ok(examined)
    }

    /// Whether to decode an image of which this is known.
    async fn is_decoded_again(&self, image: &ImageRef, photo: &Photo, decode: Decode) -> io::Result<bool> {
        match (photo, decode) {
            (Photo::Undecodable(Undecodable::TooLarge), _) | (Photo::Undecodable(_), Decode::Incomplete) => Ok(true),
            (_, Decode::Unknown) => Ok(false),
            (Photo::Decoded(_), Decode::Incomplete) => self.renditions.are_missing(&image.cdn_url, photo).await,
        }
    }
}
