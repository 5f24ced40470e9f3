//! What the pixels of a stored image say (extensions E7.4). It depends on the bytes alone, so the same bytes are examined once.

use std::{fmt, iter};

use serde::{Deserialize, Serialize, Serializer};

use super::ImageRef;

/// An image that was examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Photo {
    /// It was decoded, and has renditions.
    Decoded(PhotoFacts),
    /// It cannot be decoded, and has none.
    Undecodable(Undecodable),
}

impl Photo {
    /// What it shows, if it was decoded.
    pub fn facts(&self) -> Option<&PhotoFacts> {
        match self {
            Self::Decoded(facts) => Some(facts),
            Self::Undecodable(_) => None,
        }
    }
}

/// Why an image cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[serde(rename_all = "snake_case")]
pub enum Undecodable {
    /// Its data contradict the format.
    #[display("the file is damaged")]
    Damaged,
    /// It needs more memory than there is for photos.
    #[display("it has too many pixels")]
    TooLarge,
    /// It is of a kind of JPEG or PNG that hardly anybody uses.
    #[display("it is of an uncommon kind of JPEG or PNG")]
    Unsupported,
}

/// What a decoded image shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhotoFacts {
    /// Width in pixels, turned as EXIF says.
    pub width: u32,
    /// Height in pixels, turned as EXIF says.
    pub height: u32,
    /// Perceptual hash: each bit says whether the picture gets lighter from one point to the next. Pictures that look the same differ
    /// in few bits.
    pub hash: u64,
    /// Mean of red, green and blue.
    pub color: [u8; 3],
    /// Standard deviation of the lightness.
    pub contrast: u8,
    /// Variance of the second derivative of the lightness, at 800 pixels of width: low where no edge is sharp.
    pub sharpness: u16,
}

impl PhotoFacts {
    /// Width and height of its renditions, the smallest first. None is wider than the image, and the last is as wide as the image if that
    /// is less than 1600.
    pub fn renditions(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let Self { width, height, .. } = *self;
        let narrower = RENDITION_WIDTHS.into_iter().filter(move |narrower| *narrower < width);
        let last = RENDITION_WIDTHS.into_iter().find(|widest| *widest >= width).map(|_| width);
        narrower.chain(last).map(move |rendition| (rendition, height_at(rendition, width, height)))
    }

    /// Mean lightness, 0 to 255.
    pub fn lightness(&self) -> u32 {
        let [red, green, blue] = self.color.map(u32::from);
        (299 * red + 587 * green + 114 * blue) / 1000
    }

    /// Whether another image looks the same, though its bytes may differ.
    pub fn looks_like(&self, other: &Self) -> bool {
        (self.hash ^ other.hash).count_ones() <= NEAR_HASH && self.has_color_of(other)
    }

    /// Whether an image of another ad looks the same: stricter than [`looks_like`](Self::looks_like), so that stores find it by
    /// [`near_hashes`](Self::near_hashes) in an index.
    pub fn looks_like_of_other_ad(&self, other: &Self) -> bool {
        (self.hash ^ other.hash).count_ones() <= 1 && self.has_color_of(other)
    }

    /// The hash, and those that differ from it in one bit.
    pub fn near_hashes(&self) -> impl Iterator<Item = u64> + use<> {
        let hash = self.hash;
        iter::once(hash).chain((0..u64::BITS).map(move |bit| hash ^ 1 << bit))
    }

    fn has_color_of(&self, other: &Self) -> bool {
        let is_near = |(one, other): (u8, u8)| one.abs_diff(other) <= NEAR_COLOR;
        self.color.into_iter().zip(other.color).all(is_near)
    }
}

/// Widths of renditions, in pixels.
pub const RENDITION_WIDTHS: [u32; 3] = [320, 800, 1600];

/// Most bits of the hashes in which two copies of a picture differ. Two photos of a car from nearly the same place differ in more.
const NEAR_HASH: u32 = 2;

/// Most difference of the mean colours of two copies, in red, green and blue.
pub const NEAR_COLOR: u8 = 6;

/// The height of an image that is scaled to a width.
fn height_at(rendition: u32, width: u32, height: u32) -> u32 {
    let (rendition, width, height) = (u64::from(rendition), u64::from(width.max(1)), u64::from(height));
    u32::try_from((height * rendition + width / 2) / width).unwrap_or(u32::MAX).max(1)
}

/// An image as the API shows it.
#[derive(Serialize)]
pub(super) struct ImageView<'a> {
    url: &'a str,
    cdn_url: &'a str,
    id: uuid::Uuid,
    checksum: &'a str,
    width: Option<u32>,
    height: Option<u32>,
    renditions: Option<Vec<RenditionView<'a>>>,
}

impl ImageRef {
    /// Address of the narrowest rendition that is at least so many pixels wide, or else of the widest; `None` if it has none.
    pub fn rendition_at(&self, least_width: u32) -> Option<String> {
        let facts = self.photo.as_ref()?.facts()?;
        let wide_enough = facts.renditions().find(|(width, _)| *width >= least_width);
        let (width, _) = wide_enough.or_else(|| facts.renditions().last())?;
        Some(RenditionUrl { stem: self.stem(), width }.to_string())
    }

    /// What the addresses of renditions begin with: they are served beside the image.
    fn stem(&self) -> &str {
        self.cdn_url.rsplit_once('.').map_or(self.cdn_url.as_str(), |(stem, _)| stem)
    }
}

impl<'a> From<&'a ImageRef> for ImageView<'a> {
    fn from(image: &'a ImageRef) -> Self {
        let ImageRef { url, cdn_url, id, checksum, photo } = image;
        let facts = photo.as_ref().and_then(Photo::facts);
        let stem = image.stem();
        let view = |(width, height)| RenditionView { width, height, url: RenditionUrl { stem, width } };
        Self {
            url,
            cdn_url,
            id: *id,
            checksum,
            width: facts.map(|facts| facts.width),
            height: facts.map(|facts| facts.height),
            renditions: photo.map(|_| facts.into_iter().flat_map(PhotoFacts::renditions).map(view).collect()),
        }
    }
}

#[derive(Serialize)]
struct RenditionView<'a> {
    width: u32,
    height: u32,
    url: RenditionUrl<'a>,
}

/// Address of a rendition, such as `https://ads.example/media/abcd…-800.jpg`.
struct RenditionUrl<'a> {
    stem: &'a str,
    width: u32,
}

impl fmt::Display for RenditionUrl<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}.jpg", self.stem, self.width)
    }
}

impl Serialize for RenditionUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn photo(width: u32, height: u32) -> PhotoFacts {
        PhotoFacts { width, height, hash: 0b1011, color: [100, 120, 140], contrast: 40, sharpness: 500 }
    }

    #[test]
    fn renditions_are_never_wider_than_the_image() {
        let sizes = |width, height| photo(width, height).renditions().collect::<Vec<_>>();
        assert_eq!(sizes(4032, 3024), [(320, 240), (800, 600), (1600, 1200)]);
        assert_eq!(sizes(3024, 4032), [(320, 427), (800, 1067), (1600, 2133)]);
        assert_eq!(sizes(1600, 1200), [(320, 240), (800, 600), (1600, 1200)]);
        assert_eq!(sizes(1000, 500), [(320, 160), (800, 400), (1000, 500)]);
        assert_eq!(sizes(320, 240), [(320, 240)]);
        assert_eq!(sizes(32, 24), [(32, 24)]);
        assert_eq!(sizes(65_535, 1), [(320, 1), (800, 1), (1600, 1)]);
    }

    #[test]
    fn copies_look_the_same_and_other_pictures_do_not() {
        let one = photo(800, 600);
        assert!(one.looks_like(&PhotoFacts { hash: 0b1000, color: [104, 118, 140], ..photo(1600, 1200) }));
        assert!(!one.looks_like(&PhotoFacts { hash: 0b0100_0100, ..one }));
        assert!(!one.looks_like(&PhotoFacts { color: [100, 120, 180], ..one }));
        // Of other ads, those are the same that an index finds.
        let near: Vec<_> = one.near_hashes().collect();
        for (hash, is_same) in [(0b1011, true), (0b1010, true), (0b1011 | 1 << 63, true), (0b1000, false)] {
            assert_eq!(one.looks_like_of_other_ad(&PhotoFacts { hash, ..one }), is_same, "{hash:b}");
            assert_eq!(near.contains(&hash), is_same, "{hash:b}");
        }
        assert!(!one.looks_like_of_other_ad(&PhotoFacts { color: [100, 120, 147], ..one }));
    }

    #[test]
    fn an_image_is_shown_with_what_is_known_of_it() {
        let image = |photo| ImageRef {
            url: "https://images.example/1".to_owned(),
            cdn_url: "https://ads.example/media/ab.png".to_owned(),
            id: Uuid::nil(),
            checksum: "ab".to_owned(),
            photo,
        };
        let shown = |photo| serde_json::to_value(ImageView::from(&image(photo))).unwrap();
        let mut expected = json!({"url": "https://images.example/1", "cdn_url": "https://ads.example/media/ab.png", "id": Uuid::nil(),
            "checksum": "ab", "width": null, "height": null, "renditions": null});
        assert_eq!(shown(None), expected);
        expected["renditions"] = json!([]);
        assert_eq!(shown(Some(Photo::Undecodable(Undecodable::TooLarge))), expected);
        (expected["width"], expected["height"]) = (json!(500), json!(400));
        expected["renditions"] = json!([
            {"width": 320, "height": 256, "url": "https://ads.example/media/ab-320.jpg"},
            {"width": 500, "height": 400, "url": "https://ads.example/media/ab-500.jpg"},
        ]);
        assert_eq!(shown(Some(Photo::Decoded(photo(500, 400)))), expected);
    }

    #[test]
    fn an_image_is_stored_with_what_is_known_of_it() {
        for photo in [Photo::Decoded(photo(500, 400)), Photo::Undecodable(Undecodable::Damaged)] {
            let text = serde_json::to_string(&photo).unwrap();
            assert_eq!(serde_json::from_str::<Photo>(&text).unwrap(), photo, "{text}");
        }
    }
}
