use std::{fmt, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::model::Validators;

/// SHA-256 of bytes, such as an image's; the same image is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Checksum([u8; 32]);

impl Checksum {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl From<[u8; 32]> for Checksum {
    fn from(sha256: [u8; 32]) -> Self {
        Self(sha256)
    }
}

impl fmt::Display for Checksum {
    /// 64 hexadecimal digits, lower case.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// The formats that marketplaces take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
}

impl Format {
    /// File name extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
        }
    }

    /// Media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
        }
    }
}

/// Bytes that are a whole JPEG or PNG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What they are.
    pub format: Format,
    /// The file.
    pub bytes: Bytes,
    /// Their checksum.
    pub checksum: Checksum,
}

impl Image {
    /// Decides by the bytes, not by what a server called them.
    ///
    /// # Errors
    /// When they are neither JPEG nor PNG, have no readable size, or stop before the end of the picture.
    pub fn new(bytes: Bytes) -> Result<Self, ImageError> {
        let broken = |what: &str| ImageError::Unusable(what.to_owned());
        let (format, end): (_, &[u8]) = match imagesize::image_type(&bytes) {
            Ok(imagesize::ImageType::Jpeg) => (Format::Jpeg, &[0xff, 0xd9]),
            Ok(imagesize::ImageType::Png) => (Format::Png, b"IEND"),
            _ => return Err(broken("neither JPEG nor PNG")),
        };
        if !imagesize::blob_size(&bytes).is_ok_and(|size| size.width > 0 && size.height > 0) {
            return Err(broken("a damaged image: its size cannot be read"));
        }
        if !bytes.windows(end.len()).rev().any(|window| window == end) {
            return Err(broken("a damaged image: it stops before its end"));
        }
        let checksum = Checksum::of(&bytes);
        Ok(Self { format, bytes, checksum })
    }
}

/// Why an image cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// A passing fault: try again, not before the given pause.
    #[error("{reason}")]
    Transient {
        /// What happened.
        reason: String,
        /// The pause that the host asked for.
        retry_after: Option<Duration>,
    },
    /// The host was not asked at all, since it is known to be silent just now. No try was spent; one is worth it after the
    /// pause.
    #[error("{reason}")]
    NotAsked {
        /// What it failed by before.
        reason: String,
        /// When it can be asked again.
        retry_after: Duration,
    },
    /// It will not get better.
    #[error("{0}")]
    Unusable(String),
}

/// An image to fetch.
#[derive(Debug, Clone, Copy)]
pub struct ImageRequest<'a> {
    /// Its address.
    pub url: &'a str,
    /// Code of the dealer whose ad it is for. Dealers share places and memory.
    pub dealer_code: &'a str,
    /// What the host said of the image when it was stored; the host is then asked only for a different one.
    pub known: Option<&'a Validators>,
}

/// What an image host answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// An image.
    Image(Image, Validators),
    /// The image is the one that is [known](ImageRequest::known).
    Unchanged,
}

/// Fetches images from public addresses. It is called for many ads at the same time. How many images it fetches at once, how much
/// memory they take, and how dealers share both, is for it to decide.
#[async_trait]
pub trait ImageFetcher: Send + Sync {
    /// The image at an address.
    async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError>;
}

/// Why an image was not stored. Both pass: an operator can mend them, and the ad does not change by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImageStoreError {
    /// It does not answer, or refuses.
    #[error("the service's image store is not available")]
    Unavailable,
    /// It has no space left.
    #[error("the service's image store has no space left")]
    Full,
}

/// Keeps images under their checksums.
#[async_trait]
pub trait MediaStore: Send + Sync {
    /// Stores an image, once however often it comes, and returns where it is served.
    async fn put(&self, image: &Image) -> Result<String, ImageStoreError>;
}
