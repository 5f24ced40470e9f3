use std::{fmt, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::jpeg;
use crate::model::{ImageFlaw, Validators};

/// SHA-256 checksum, by which an image is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, derive_more::From)]
pub struct Checksum([u8; 32]);

impl Checksum {
    /// The checksum of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Checksum {
    /// 64 hexadecimal digits, lower case.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// Image formats that marketplaces accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JPEG: `image/jpeg`, extension `jpg`.
    Jpeg,
    /// PNG: `image/png`, extension `png`.
    Png,
}

impl Format {
    /// Extension of file names, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
        }
    }

    /// Media type for the `Content-Type` header.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
        }
    }
}

/// A complete JPEG or PNG image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Format, detected from the bytes.
    pub format: Format,
    /// The file as the host sent it.
    pub bytes: Bytes,
    /// The checksum of its bytes.
    pub checksum: Checksum,
}

impl Image {
    /// Detects the format from the bytes, whatever the server declared.
    ///
    /// # Errors
    /// [`ImageError::Unusable`] when the bytes are neither JPEG nor PNG, have no readable size, or are truncated.
    pub fn new(bytes: Bytes) -> Result<Self, ImageError> {
        let damaged = |what: &str| ImageError::Unusable(ImageFlaw::Damaged, what.to_owned());
        let (format, outline) = if bytes.starts_with(b"\xff\xd8\xff") {
            (Format::Jpeg, jpeg::outline(&bytes))
        } else if bytes.starts_with(PNG_SIGNATURE) {
            (Format::Png, png_outline(&bytes))
        } else {
            let what = other_format(&bytes).map(|format| format!("neither JPEG nor PNG, but {format}"));
            let what = what.unwrap_or_else(|| "neither JPEG nor PNG".to_owned());
            return Err(ImageError::Unusable(ImageFlaw::NotAPhoto, what));
        };
        let outline = outline.filter(|outline| outline.width > 0 && outline.height > 0);
        let outline = outline.ok_or_else(|| damaged("a damaged image: its size cannot be read"))?;
        if !outline.is_complete {
            return Err(damaged("a damaged image: it stops before its end"));
        }
        let checksum = Checksum::of(&bytes);
        Ok(Self { format, bytes, checksum })
    }
}

/// What a file says about its image, without decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outline {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Whether the end mark of the image itself is there: files in its metadata have their own.
    pub(super) is_complete: bool,
}

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The outline of a PNG file; `None` if it says no size.
fn png_outline(file: &[u8]) -> Option<Outline> {
    const SUM: usize = 4;
    let mut rest = file.strip_prefix(PNG_SIGNATURE)?;
    let [width, height] = [8, 12].map(|at| rest.get(at..)?.first_chunk().map(|side| u32::from_be_bytes(*side)));
    let mut is_complete = false;
    while let Some((length, behind)) = rest.split_first_chunk()
        && let Some((kind, data)) = behind.split_first_chunk::<4>()
        && !is_complete
    {
        is_complete = kind == b"IEND";
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        rest = data.get(length.saturating_add(SUM)..).unwrap_or_default();
    }
    Some(Outline { width: width?, height: height?, is_complete })
}

/// What else a file is that is sent as an image now and then.
fn other_format(bytes: &[u8]) -> Option<&'static str> {
    // ISO base media files name their kind behind the length of the first box.
    match bytes.get(4..12) {
        Some(b"ftypavif" | b"ftypavis") => return Some("AVIF"),
        Some(b"ftypheic" | b"ftypheix" | b"ftypheim" | b"ftypheis" | b"ftyphevc" | b"ftypmif1" | b"ftypmsf1") => {
            return Some("HEIC");
        }
        _ => {}
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("WebP");
    }
    for (start, format) in
        [(&b"GIF8"[..], "GIF"), (b"BM", "BMP"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"), (b"%PDF-", "PDF")]
    {
        if bytes.starts_with(start) {
            return Some(format);
        }
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let is_markup = text.starts_with('<');
    if is_markup && text.contains("<svg") {
        Some("SVG")
    } else if is_markup && (text.starts_with("<!doctype html") || text.contains("<html")) {
        Some("an HTML page")
    } else {
        None
    }
}

/// Why an image could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// A transient error: retry, after the pause if there is one.
    #[error("{reason}")]
    Transient {
        /// What happened, in a sentence for the client.
        reason: String,
        /// The pause that the host asked for.
        retry_after: Option<Duration>,
    },
    /// The request was not sent, because the host does not answer at present. It does not count as an attempt. Retry after the
    /// pause.
    #[error("{reason}")]
    NotAsked {
        /// Why earlier requests failed, in a sentence.
        reason: String,
        /// Time until requests are sent again.
        retry_after: Duration,
    },
    /// A permanent error, by its kind and in a sentence for the client: what the address has is no usable image.
    #[error("{1}")]
    Unusable(ImageFlaw, String),
}

/// A request for an image of an ad.
#[derive(Debug, Clone, Copy)]
pub struct ImageRequest<'a> {
    /// Address as the client sent it.
    pub url: &'a str,
    /// Code of the ad's dealer. Dealers share connections and memory.
    pub dealer_code: &'a str,
    /// The validators of the stored image, for a conditional request.
    pub known: Option<&'a Validators>,
}

/// The answer of an image host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// An image, with the validators of its host.
    Image(Image, Validators),
    /// The image has not changed since it was [stored](ImageRequest::known).
    Unchanged,
}

/// Fetches images from public addresses. It is called for many ads at the same time, and limits how many images it fetches at
/// once, how much memory they take, and how dealers share both.
#[async_trait]
pub trait ImageFetcher: Send + Sync {
    /// Fetches the image at an address.
    async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError>;
}

/// Why an image was not stored. Both errors are transient: the operator can correct them without a change of the ad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImageStoreError {
    /// The store does not answer or refuses.
    #[error("the service's image store is not available")]
    Unavailable,
    /// The store has no space left.
    #[error("the service's image store has no space left")]
    Full,
}

/// Stores images under their checksums; equal images are stored once.
#[async_trait]
pub trait MediaStore: Send + Sync {
    /// Stores an image, unless it is stored already, and returns the address at which it is served.
    async fn put(&self, image: &Image) -> Result<String, ImageStoreError>;
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// The photos that real tools made.
    fn photos() -> impl Iterator<Item = (String, Bytes)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/photos");
        let named = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let named =
            named.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap().into()));
        named.filter(|(name, _)| name != "README.md" && name != "expected.json")
    }

    #[test]
    fn a_truncated_photo_is_refused_even_if_its_metadata_have_a_whole_one() {
        let mut count = 0;
        for (name, file) in photos() {
            assert!(Image::new(file.clone()).is_ok(), "{name}");
            // Another picture may follow the one that is shown, or the checksum of the last chunk.
            let begin = b"\xff\xd9\xff\xd8";
            let second =
                file.windows(begin.len()).position(|bytes| bytes == begin).filter(|_| name == "two-pictures.jpg");
            let end = second.map_or(file.len(), |second| second + 2);
            let is_png = file.starts_with(b"\x89PNG");
            let needed = if is_png { end - 4 } else { end };
            assert!(Image::new(file.slice(..needed)).is_ok(), "{name}");
            for cut in (0..needed).rev().step_by(71) {
                assert!(Image::new(file.slice(..cut)).is_err(), "{name} {cut}");
            }
            let last = Image::new(file.slice(..needed - 1)).unwrap_err().to_string();
            assert_eq!(last, "a damaged image: it stops before its end", "{name}");
            count += 1;
        }
        assert!(count > 30, "{count}");
    }

    #[test]
    fn a_png_ends_with_its_own_last_chunk() {
        let chunk = |kind: &[u8; 4], data: &[u8]| {
            [&u32::try_from(data.len()).unwrap().to_be_bytes()[..], kind, data, b"sum!"].concat()
        };
        let header = chunk(b"IHDR", b"\0\0\0\x04\0\0\0\x03\x08\0\0\0\0");
        let whole = [PNG_SIGNATURE, &header, &chunk(b"tEXt", b"a PNG ends with IEND"), &chunk(b"IEND", b"")].concat();
        let outline = |is_complete| Some(Outline { width: 4, height: 3, is_complete });
        assert_eq!(png_outline(&whole), outline(true));
        assert_eq!(png_outline(&whole[..whole.len() - 12]), outline(false));
        let endless = [&whole[..8], &header, b"\xff\xff\xff\xffIDATIEND"].concat();
        assert_eq!(png_outline(&endless), outline(false));
    }

    #[test]
    fn what_is_sent_in_place_of_an_image_is_named() {
        for (bytes, named) in [
            (&b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"[..], ", but HEIC"),
            (b"\0\0\0\x1cftypavif\0\0\0\0", ", but AVIF"),
            (b"RIFF\x24\0\0\0WEBPVP8 ", ", but WebP"),
            (b"GIF89a\x01\0\x01\0\0\0\0", ", but GIF"),
            (b"BM\x46\0\0\0\0\0\0\0\0\0", ", but BMP"),
            (b"II*\0\x08\0\0\0\0\0\0\0", ", but TIFF"),
            (b"%PDF-1.7 and so on", ", but PDF"),
            ("\u{feff}<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>".as_bytes(), ", but SVG"),
            (b"<!DOCTYPE html><html><body>Sign in</body></html>", ", but an HTML page"),
            (b"{\"error\": \"gone\"}", ""),
            (b"<<<<", ""),
            (b"", ""),
        ] {
            let refused = Image::new(Bytes::copy_from_slice(bytes)).unwrap_err();
            assert_eq!(refused.to_string(), format!("neither JPEG nor PNG{named}"));
        }
    }
}
