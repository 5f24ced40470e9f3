//! Stores images in a [`MediaLocation`], and knows the addresses at which they are served.

use std::io;

use ad_core::{
    model::RENDITION_WIDTHS,
    ports::{Image, ImageStoreError, MediaStore},
};
use async_trait::async_trait;
use bytes::Bytes;
use poem::Body;
use tokio::io::BufReader;

#[cfg(feature = "s3")]
use super::bucket::{Bucket, BucketFailure};
use super::{folder::Folder, location::MediaLocation, name::Name};
use ad_server_base::limits::table::IMAGE_WRITE;

/// How much of a file is read at once.
const CHUNK: usize = 64 * 1024;

/// What the addresses of images (`cdn_url`) begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaBase {
    /// The address of the service, such as `https://ads.example`: images are shown at `/media/abcd….jpg` below it, where
    /// [`ServeMedia`](super::ServeMedia) is mounted.
    Service(String),
    /// Another address, such as that of a CDN: images are served below it under the keys of the store,
    /// `/ab/cd/abcd….jpg`.
    Elsewhere(String),
}

impl MediaBase {
    fn address(&self, name: &Name) -> String {
        match self {
            Self::Service(base) => format!("{}/media/{}", base.trim_end_matches('/'), name.file()),
            Self::Elsewhere(base) => format!("{}/{}", base.trim_end_matches('/'), name.key()),
        }
    }
}

/// Images in a folder or a bucket.
#[derive(Debug, Clone)]
pub struct Media {
    kept: ImageFiles,
    place: MediaLocation,
    base: MediaBase,
}

#[derive(Debug, Clone)]
enum ImageFiles {
    Folder(Folder),
    #[cfg(feature = "s3")]
    Bucket(Bucket),
}

/// Images cannot be stored there.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    #[error(
        "cannot store images in {place}: {source}; make it a folder that this user can write to, or choose another with --media"
    )]
    Folder { place: MediaLocation, source: io::Error },
    #[error(
        "cannot store images in {place}: {reason}; check the bucket, and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
         AWS_REGION and AWS_ENDPOINT_URL"
    )]
    Bucket {
        place: MediaLocation,
        /// The error of the store.
        reason: String,
        is_unreachable: bool,
    },
    #[error(
        "cannot store images in {place}: this ad-server was built without buckets; build it with --features s3, or choose a folder with \
         --media"
    )]
    NotBuilt { place: MediaLocation },
}

impl MediaError {
    /// Whether a retry may succeed: the bucket did not answer.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Bucket { is_unreachable: true, .. })
    }
}

/// A stored image or rendition.
pub(super) struct Stored {
    pub(super) size: u64,
    /// Its bytes, read as they are sent; empty if they were not wanted.
    pub(super) body: Body,
}

impl Media {
    /// Opens a location, after a check that it can be written to. A missing folder is created; a bucket has to exist.
    ///
    /// # Errors
    /// When images cannot be stored there, in a line that says what to do.
    pub async fn open(place: MediaLocation, base: MediaBase) -> Result<Self, MediaError> {
        let kept = match &place {
            MediaLocation::Folder(root) => {
                let opened = Folder::open(root.clone()).map(ImageFiles::Folder);
                opened.map_err(|source| MediaError::Folder { place: place.clone(), source })?
            }
            #[cfg(not(feature = "s3"))]
            MediaLocation::Bucket { .. } => return Err(MediaError::NotBuilt { place }),
            #[cfg(feature = "s3")]
            MediaLocation::Bucket { bucket, prefix } => {
                let opened = Bucket::open(bucket, prefix).await.map(ImageFiles::Bucket);
                opened.map_err(|BucketFailure { reason, is_unreachable }| MediaError::Bucket {
                    place: place.clone(),
                    reason,
                    is_unreachable,
                })?
            }
        };
        Ok(Self { kept, place, base })
    }

    /// The name of the image at an address of this service; `None` for other addresses.
    pub(super) fn own(&self, address: &str) -> Option<Name> {
        let name = Name::at(address)?;
        (name.width.is_none() && self.base.address(&name) == address).then_some(name)
    }

    /// The name of an image in the store, and the address at which it is served.
    pub fn place(&self, image: &Image) -> (String, String) {
        let name = Name::of(image);
        (name.file(), self.base.address(&name))
    }

    /// All bytes of a stored image.
    pub(super) async fn bytes(&self, name: &Name) -> io::Result<Bytes> {
        let stored = self.read(name, true).await?;
        stored.body.into_bytes().await.map_err(io::Error::other)
    }

    /// Stores a file, unless it is stored already.
    pub(super) async fn store(&self, name: &Name, bytes: &Bytes) -> io::Result<()> {
        let put = async {
            match &self.kept {
                ImageFiles::Folder(folder) => folder.put(name, bytes).await,
                #[cfg(feature = "s3")]
                ImageFiles::Bucket(bucket) => bucket.put(name, bytes).await,
            }
        };
        tokio::time::timeout(IMAGE_WRITE, put).await.unwrap_or_else(|_| {
            let late = format!("not stored within {} s", IMAGE_WRITE.as_secs());
            Err(io::Error::new(io::ErrorKind::TimedOut, late))
        })
    }

    /// Removes an image and its renditions, if they exist.
    ///
    /// # Errors
    /// When the store fails. A text that is not the name of an image is ignored.
    pub async fn remove(&self, name: &str) -> io::Result<()> {
        let Some(name) = Name::parse(name) else { return Ok(()) };
        let names = RENDITION_WIDTHS.map(|width| name.rendition(width)).into_iter().chain([name.clone()]);
        for name in names {
            let removed = match &self.kept {
                ImageFiles::Folder(folder) => folder.remove(&name).await,
                #[cfg(feature = "s3")]
                ImageFiles::Bucket(bucket) => bucket.remove(&name).await,
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// A stored image, with its bytes if they are wanted.
    pub(super) async fn read(&self, name: &Name, wanted: bool) -> io::Result<Stored> {
        match &self.kept {
            ImageFiles::Folder(folder) => {
                let (file, size) = folder.read(name).await?;
                let body = wanted.then(|| Body::from_async_read(BufReader::with_capacity(CHUNK, file)));
                Ok(Stored { size, body: body.unwrap_or_else(Body::empty) })
            }
            #[cfg(feature = "s3")]
            ImageFiles::Bucket(bucket) => {
                let (bytes, size) = bucket.read(name, wanted).await?;
                let body = wanted.then(|| Body::from_bytes_stream(bytes));
                Ok(Stored { size, body: body.unwrap_or_else(Body::empty) })
            }
        }
    }
}

#[async_trait]
impl MediaStore for Media {
    async fn put(&self, image: &Image) -> Result<String, ImageStoreError> {
        let name = Name::of(image);
        self.store(&name, &image.bytes).await.map(|()| self.base.address(&name)).map_err(|error| {
            tracing::error!(%error, place = %self.place, "image store write failed; will be retried");
            failure(&error)
        })
    }
}

/// Other errors are for the operator, not for the client.
fn failure(error: &io::Error) -> ImageStoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ImageStoreError::Full,
        _ => ImageStoreError::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_buckets_says_so() {
        let place = "s3://ads/media".parse().unwrap();
        assert_eq!(
            MediaError::NotBuilt { place }.to_string(),
            "cannot store images in s3://ads/media: this ad-server was built without buckets; build it with --features s3, or choose a \
             folder with --media"
        );
    }

    #[test]
    fn a_full_disk_is_told_apart() {
        assert_eq!(failure(&io::ErrorKind::StorageFull.into()), ImageStoreError::Full);
        assert_eq!(failure(&io::ErrorKind::NotFound.into()), ImageStoreError::Unavailable);
    }

    #[tokio::test]
    async fn a_directory_that_cannot_be_used_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "").unwrap();
        let opened = Media::open(file.clone().into(), MediaBase::Service("https://ads.example".to_owned())).await;
        let error = opened.unwrap_err().to_string();
        assert!(error.contains(&file.display().to_string()) && error.contains("choose another"), "{error}");
    }
}
