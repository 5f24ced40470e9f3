//! Decodes an image and makes its renditions: scaled, turned as EXIF says, in the colours of sRGB, without metadata.
//!
//! The file is from outside. Its header says how much memory it needs, so that the caller can refuse or wait before anything is decoded.
//! JPEG is decoded in full size: this decoder has no scaling, and is fast enough without. One that has it would be a second JPEG decoder to
//! keep safe.

mod color;
mod hdr;
mod jpeg;
mod measures;
mod png;

use ad_core::{
    model::{PhotoFacts, Undecodable},
    ports::Format,
};
use bytes::Bytes;
use fast_image_resize::{
    FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image as Scaled, ImageRef as Source},
};
use image::{DynamicImage, RgbImage, codecs::jpeg::JpegEncoder, metadata::Orientation};

use self::{
    color::{Colors, Profile},
    jpeg::Jpeg,
    measures::measures,
    png::Png,
};

/// Most pixels of an image, whatever memory there is.
const MOST_PIXELS: u64 = 100_000_000;

const QUALITY: u8 = 82;

/// The width at which sharpness and contrast are measured.
const MEASURED_WIDTH: u32 = 800;

/// An image whose header has been read.
pub(super) struct Header {
    decoder: Decoder,
    head: Head,
    /// Bytes of memory that decoding takes at most.
    pub(super) memory: usize,
}

enum Decoder {
    Jpeg(Jpeg),
    Png(Box<Png>),
}

/// What the header of an image says. Width and height are in pixels, before the image is turned upright.
struct Head {
    width: u32,
    height: u32,
    orientation: Orientation,
    colors: Colors,
    /// The profile that says which colours the numbers mean; sRGB without one.
    profile: Option<Profile>,
    /// Bytes of memory that decoding takes beside the pixels.
    beside: u64,
}

/// What became of an image.
pub(super) struct Decoded {
    pub(super) facts: PhotoFacts,
    /// JPEG files by their width.
    pub(super) renditions: Vec<(u32, Bytes)>,
}

impl Header {
    /// Reads the header of a file.
    pub(super) fn read(bytes: &Bytes, format: Format) -> Result<Self, Undecodable> {
        let (decoder, head) = match format {
            Format::Jpeg => Jpeg::read(bytes).map(|(jpeg, head)| (Decoder::Jpeg(jpeg), head))?,
            Format::Png => Png::read(bytes).map(|(png, head)| (Decoder::Png(Box::new(png)), head))?,
        };
        let Head { width, height, orientation, colors, beside, .. } = head;
        let area = |width, height| u64::from(width) * u64::from(height);
        let pixels = area(width, height);
        if pixels > MOST_PIXELS {
            return Err(Undecodable::TooLarge);
        }
        let largest = shown_size(width, height, orientation).renditions().last().unwrap_or((width, height));
        let (to_width, to_height) = if is_turned(orientation) { (largest.1, largest.0) } else { largest };
        // Scaling is done in one direction and then in the other.
        let scaled = area(to_width, to_height) + area(to_width, height).max(area(width, to_height));
        let channels = colors.channels() as u64;
        // These steps follow each other: decoding; scaling; conversion of the largest rendition.
        let steps =
            [beside + channels * pixels, channels * (pixels + scaled), (channels + 3) * area(to_width, to_height)];
        let memory = usize::try_from(steps.into_iter().max().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        Ok(Self { decoder, head, memory })
    }

    /// Decodes the image and makes its renditions.
    pub(super) fn decode(self) -> Result<Decoded, Undecodable> {
        let Head { width, height, orientation, colors, profile, .. } = self.head;
        let mut pixels = vec![0; width as usize * height as usize * colors.channels()];
        match self.decoder {
            Decoder::Jpeg(jpeg) => jpeg.decode(&mut pixels)?,
            Decoder::Png(png) => png.decode(&mut pixels)?,
        }
        let colors = color::over_white(&mut pixels, colors);
        let facts = shown_size(width, height, orientation);
        let sizes: Vec<_> = facts.renditions().collect();
        let &largest = sizes.last().ok_or(Undecodable::Damaged)?;
        let to = if is_turned(orientation) { (largest.1, largest.0) } else { largest };
        let scaled = scaled(&pixels, (width, height), to, colors.pixel_type());
        drop(pixels);
        let rgb = color::to_srgb(scaled, colors, profile.as_ref());
        let mut largest = DynamicImage::ImageRgb8(rgb_image(to, rgb));
        largest.apply_orientation(orientation);
        let largest = largest.into_rgb8();

        let measured_width = sizes.iter().map(|(width, _)| *width).rfind(|width| *width <= MEASURED_WIDTH);
        let mut decoded = Decoded { facts, renditions: Vec::with_capacity(sizes.len()) };
        for (width, height) in sizes {
            let rendition = resized(&largest, (width, height));
            if Some(width) == measured_width {
                decoded.facts = measures(&rendition, facts);
            }
            decoded.renditions.push((width, encoded(&rendition)?));
        }
        Ok(decoded)
    }
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

/// A picture in another size.
fn resized(image: &RgbImage, to: (u32, u32)) -> RgbImage {
    rgb_image(to, scaled(image.as_raw(), image.dimensions(), to, PixelType::U8x3))
}

fn rgb_image((width, height): (u32, u32), pixels: Vec<u8>) -> RgbImage {
    RgbImage::from_raw(width, height, pixels).expect("it has three bytes per pixel")
}

fn scaled(pixels: &[u8], from: (u32, u32), to: (u32, u32), pixel: PixelType) -> Vec<u8> {
    if from == to {
        return pixels.to_vec();
    }
    let source = Source::new(from.0, from.1, pixels, pixel).expect("the buffer is that of an image of this size");
    let mut target = Scaled::new(to.0, to.1, pixel);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom)).use_alpha(false);
    Resizer::new().resize(&source, &mut target, &options).expect("both have the same kind of pixels");
    target.into_vec()
}

fn encoded(image: &RgbImage) -> Result<Bytes, Undecodable> {
    let mut file = Vec::new();
    // It fails only for sides above 65535, which only an extremely long PNG can have.
    JpegEncoder::new_with_quality(&mut file, QUALITY).encode_image(image).map_err(|_| Undecodable::Unsupported)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests;
