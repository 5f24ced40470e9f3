//! Decodes an image and makes its renditions: scaled, turned as EXIF says, in the colours of sRGB, without metadata.
//!
//! The file is from outside. Its header says how much memory it needs, so that the caller can refuse or wait before anything is decoded.
//! JPEG is decoded in full size: this decoder has no scaling, and is fast enough without. One that has it would be a second JPEG decoder to
//! keep safe.

use std::io::Cursor;

use ad_core::{
    model::{PhotoFacts, Undecodable},
    ports::Format,
};
use bytes::Bytes;
use fast_image_resize::{
    FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image as Scaled, ImageRef as Source},
};
use image::{
    ColorType, DynamicImage, GrayImage, ImageDecoder, ImageError, Limits, RgbImage,
    codecs::{jpeg::JpegDecoder, jpeg::JpegEncoder, png::PngDecoder},
    metadata::Orientation,
};
use moxcms::{CmsError, ColorProfile, DataColorSpace, Layout, TransformOptions};

/// Most pixels of an image, whatever memory there is.
const MOST_PIXELS: u64 = 100_000_000;

/// Most memory for what a PNG has beside its pixels, such as compressed profiles.
const METADATA: u64 = 8 * 1024 * 1024;

/// Largest colour profile that is applied. Those of cameras have a few kilobytes.
const MOST_PROFILE: usize = 1024 * 1024;

const QUALITY: u8 = 82;

/// The width at which sharpness and contrast are measured.
const MEASURED_WIDTH: u32 = 800;

/// An image whose header has been read.
pub(super) struct Header {
    decoder: Box<dyn ImageDecoder + Send>,
    orientation: Orientation,
    /// The ICC profile that says which colours the numbers mean; sRGB without one.
    profile: Option<Vec<u8>>,
    /// Bytes of memory that decoding takes at most.
    pub(super) memory: usize,
}

/// What became of an image.
pub(super) struct Decoded {
    pub(super) facts: PhotoFacts,
    /// JPEG files by their width.
    pub(super) renditions: Vec<(u32, Bytes)>,
}

fn undecodable(error: &ImageError) -> Undecodable {
    tracing::debug!(%error, "an image cannot be decoded");
    match error {
        ImageError::Unsupported(_) => Undecodable::Unsupported,
        ImageError::Limits(_) => Undecodable::TooLarge,
        _ => Undecodable::Damaged,
    }
}

impl Header {
    /// Reads the header of a file.
    pub(super) fn read(bytes: &Bytes, format: Format) -> Result<Self, Undecodable> {
        let file = Cursor::new(bytes.clone());
        let decoder: Result<Box<dyn ImageDecoder + Send>, _> = match format {
            Format::Jpeg => JpegDecoder::new(file).map(|decoder| Box::new(decoder) as _),
            Format::Png => {
                let mut limits = Limits::no_limits();
                limits.max_alloc = Some(METADATA);
                PngDecoder::with_limits(file, limits).map(|decoder| Box::new(decoder) as _)
            }
        };
        let mut decoder = decoder.map_err(|error| undecodable(&error))?;
        let (width, height) = decoder.dimensions();
        let pixels = u64::from(width) * u64::from(height);
        if pixels > MOST_PIXELS {
            return Err(Undecodable::TooLarge);
        }
        // Invalid EXIF data or profiles are ignored.
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let profile = decoder.icc_profile().unwrap_or_default().filter(|profile| profile.len() <= MOST_PROFILE);
        let coefficients = if format == Format::Jpeg { coefficients(bytes, pixels) } else { 0 };
        let color = decoder.color_type();
        let converted = match color {
            ColorType::Rgb8 => 0,
            _ if color.has_alpha() => 7 * pixels,
            _ => 3 * pixels,
        };
        let largest = shown_size(width, height, orientation).renditions().last().unwrap_or((width, height));
        let (to_width, to_height) = if is_turned(orientation) { (largest.1, largest.0) } else { largest };
        // Scaling is done in one direction and then in the other.
        let area = |width, height| u64::from(width) * u64::from(height);
        let scaled = area(to_width, to_height) + area(to_width, height).max(area(width, to_height));
        // These steps follow each other: decoding, with a copy of the file; conversion; scaling.
        let steps = [
            bytes.len() as u64 + decoder.total_bytes() + coefficients,
            decoder.total_bytes() + converted,
            3 * (pixels + scaled),
        ];
        let memory = usize::try_from(steps.into_iter().max().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        Ok(Self { decoder, orientation, profile, memory })
    }

    /// Decodes the image and makes its renditions.
    pub(super) fn decode(self) -> Result<Decoded, Undecodable> {
        let image = DynamicImage::from_decoder(self.decoder).map_err(|error| undecodable(&error))?;
        let image = match image {
            DynamicImage::ImageRgb8(image) => image,
            image if image.color().has_alpha() => over_white(image),
            image => image.into_rgb8(),
        };
        let facts = shown_size(image.width(), image.height(), self.orientation);
        let sizes: Vec<_> = facts.renditions().collect();
        let &(width, height) = sizes.last().ok_or(Undecodable::Damaged)?;
        let (width, height) = if is_turned(self.orientation) { (height, width) } else { (width, height) };
        let mut largest = resized(&image, width, height);
        drop(image);
        if let Some(profile) = &self.profile
            && let Err(error) = to_srgb(&mut largest, profile)
        {
            tracing::debug!(%error, "a colour profile cannot be applied; the image counts as sRGB");
        }
        let mut largest = DynamicImage::ImageRgb8(largest);
        largest.apply_orientation(self.orientation);
        let largest = largest.into_rgb8();

        let measured_width = sizes.iter().map(|(width, _)| *width).rfind(|width| *width <= MEASURED_WIDTH);
        let mut decoded = Decoded { facts, renditions: Vec::with_capacity(sizes.len()) };
        for (width, height) in sizes {
            let rendition = resized(&largest, width, height);
            if Some(width) == measured_width {
                decoded.facts = measures(&rendition, facts);
            }
            decoded.renditions.push((width, encoded(&rendition)?));
        }
        Ok(decoded)
    }
}

/// Bytes that a JPEG decoder stores besides the pixels: two for each coefficient of the picture, unless the first scan has every component
/// and can be finished row by row.
fn coefficients(file: &[u8], pixels: u64) -> u64 {
    let mut rest = file.get(2..).unwrap_or_default();
    let mut frame: &[u8] = &[];
    let mut is_progressive = false;
    while let [0xff, marker, tail @ ..] = rest {
        match (marker, tail) {
            // Filler.
            (0xff, _) => rest = &rest[1..],
            // The first scan.
            (0xda, [_, _, in_scan, ..]) if !is_progressive && frame.len() == usize::from(*in_scan) * 3 => return 0,
            (0xda, _) => break,
            (_, [high, low, segment @ ..]) => {
                if matches!(marker, 0xc0..=0xc2) {
                    is_progressive = *marker == 0xc2;
                    let components = segment.get(5).map_or(0, |components| usize::from(*components) * 3);
                    frame = segment.get(6..6 + components).unwrap_or_default();
                }
                rest = tail.get(usize::from(u16::from_be_bytes([*high, *low]))..).unwrap_or_default();
            }
            _ => break,
        }
    }
    // Each component has its density in both directions, of which the greatest is that of the pixels.
    let densities =
        || frame.chunks_exact(3).map(|component| (u64::from(component[1] >> 4), u64::from(component[1] & 15)));
    let (across, down) = densities().fold((1, 1), |most: (u64, u64), one| (most.0.max(one.0), most.1.max(one.1)));
    let all: u64 = densities().map(|(across, down)| across * down).sum();
    if all == 0 { 6 * pixels } else { (2 * pixels * all).div_ceil(across * down) }
}

/// Whether width and height change places.
fn is_turned(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate90FlipH | Rotate270 | Rotate270FlipH)
}

/// Width and height as shown, and nothing else that is known yet.
fn shown_size(width: u32, height: u32, orientation: Orientation) -> PhotoFacts {
    let (width, height) = if is_turned(orientation) { (height, width) } else { (width, height) };
    PhotoFacts { width, height, hash: 0, color: [0; 3], contrast: 0, sharpness: 0 }
}

/// A transparent picture as it is seen on a white page.
fn over_white(image: DynamicImage) -> RgbImage {
    let image = image.into_rgba8();
    let mut opaque = RgbImage::new(image.width(), image.height());
    for (to, from) in opaque.pixels_mut().zip(image.pixels()) {
        let [red, green, blue, alpha] = from.0.map(u16::from);
        to.0 = [red, green, blue].map(|color| u8::try_from((color * alpha + 255 * (255 - alpha)) / 255).unwrap_or(255));
    }
    opaque
}

/// Converts a picture to sRGB, which screens assume where a file has no profile. A profile of other than RGB colours is of no use: the
/// decoder has converted them.
fn to_srgb(image: &mut RgbImage, profile: &[u8]) -> Result<(), CmsError> {
    let profile = ColorProfile::new_from_slice(profile)?;
    if profile.color_space != DataColorSpace::Rgb {
        return Ok(());
    }
    let srgb = ColorProfile::new_srgb();
    let transform = profile.create_transform_8bit(Layout::Rgb, &srgb, Layout::Rgb, TransformOptions::default())?;
    let mut converted = RgbImage::new(image.width(), image.height());
    transform.transform(image, &mut converted)?;
    *image = converted;
    Ok(())
}

/// A picture in another size.
fn resized(image: &RgbImage, width: u32, height: u32) -> RgbImage {
    let scaled = scaled(image.as_raw(), (image.width(), image.height()), (width, height), PixelType::U8x3);
    RgbImage::from_raw(width, height, scaled).expect("it has three bytes per pixel")
}

fn scaled(pixels: &[u8], from: (u32, u32), to: (u32, u32), pixel: PixelType) -> Vec<u8> {
    if from == to {
        return pixels.to_vec();
    }
    let source = Source::new(from.0, from.1, pixels, pixel).expect("the buffer is that of an image of this size");
    let mut target = Scaled::new(to.0, to.1, pixel);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
    Resizer::new().resize(&source, &mut target, &options).expect("both have the same kind of pixels");
    target.into_vec()
}

fn encoded(image: &RgbImage) -> Result<Bytes, Undecodable> {
    let mut file = Vec::new();
    // It fails only for sides above 65535, which only an extremely long PNG can have.
    JpegEncoder::new_with_quality(&mut file, QUALITY).encode_image(image).map_err(|error| undecodable(&error))?;
    Ok(file.into())
}

/// The facts that depend on the pixels.
fn measures(image: &RgbImage, facts: PhotoFacts) -> PhotoFacts {
    let light = image::imageops::grayscale(image);
    let pixels = u64::from(light.width()) * u64::from(light.height());
    let mut sums = [0_u64; 3];
    for pixel in image.pixels() {
        for (sum, color) in sums.iter_mut().zip(pixel.0) {
            *sum += u64::from(color);
        }
    }
    let color = sums.map(|sum| u8::try_from(sum / pixels.max(1)).unwrap_or(u8::MAX));
    let contrast = variance(light.as_raw().iter().map(|light| i64::from(*light))).isqrt();
    PhotoFacts {
        hash: difference_hash(&light),
        color,
        contrast: u8::try_from(contrast).unwrap_or(u8::MAX),
        sharpness: u16::try_from(variance(second_derivative(&light))).unwrap_or(u16::MAX),
        ..facts
    }
}

/// Whether the picture gets lighter from left to right, at 8 × 8 points.
fn difference_hash(light: &GrayImage) -> u64 {
    let small = scaled(light.as_raw(), (light.width(), light.height()), (9, 8), PixelType::U8);
    let gets_lighter = small.chunks_exact(9).flat_map(|row| row.windows(2).map(|pair| pair[0] < pair[1]));
    gets_lighter.fold(0, |hash, bit| hash << 1 | u64::from(bit))
}

/// The Laplacian at each point that has four neighbours.
fn second_derivative(light: &GrayImage) -> impl Iterator<Item = i64> {
    let (width, height) = (light.width() as usize, light.height() as usize);
    let at = |place: usize| i64::from(light.as_raw()[place]);
    let inner = move |side: usize| 1..side.saturating_sub(1).max(1);
    inner(height).flat_map(move |y| {
        inner(width).map(move |x| {
            let place = y * width + x;
            at(place - width) + at(place + width) + at(place - 1) + at(place + 1) - 4 * at(place)
        })
    })
}

fn variance(values: impl Iterator<Item = i64>) -> u64 {
    let (count, sum, squares) = values
        .fold((0_i64, 0_i64, 0_i64), |(count, sum, squares), value| (count + 1, sum + value, squares + value * value));
    let count = count.max(1);
    u64::try_from(squares / count - (sum / count).pow(2)).unwrap_or(0)
}

#[cfg(test)]
#[path = "photo_tests.rs"]
mod tests;
