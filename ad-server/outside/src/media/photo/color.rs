//! What the numbers of a picture mean, and their conversion to sRGB, which screens assume where a file says nothing.

use fast_image_resize::PixelType;
use moxcms::{CmsError, ColorProfile, DataColorSpace, Layout, TransformOptions};

use super::hdr::Curve;

/// Largest colour profile that is applied. Those of cameras have a few kilobytes, those of printing presses up to three megabytes.
pub(super) const MOST_PROFILE: usize = 4 * 1024 * 1024;

/// Most tags of a profile, as in Little CMS. Each is read, and many may be the same large table.
const MOST_TAGS: u32 = 100;

/// The colours of a pixel, one byte each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colors {
    Gray,
    GrayAlpha,
    Rgb,
    RgbAlpha,
    /// Lightness and two differences, of which the decoder has not made red, green and blue.
    YCbCr,
    /// Inks of a printing press, inverted: 255 is none.
    Cmyk,
    /// The same with lightness and two differences in the place of the first three inks.
    Ycck,
}

impl Colors {
    pub(super) fn channels(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::GrayAlpha => 2,
            Self::Rgb | Self::YCbCr => 3,
            Self::RgbAlpha | Self::Cmyk | Self::Ycck => 4,
        }
    }

    pub(super) fn pixel_type(self) -> PixelType {
        match self.channels() {
            1 => PixelType::U8,
            2 => PixelType::U8x2,
            3 => PixelType::U8x3,
            _ => PixelType::U8x4,
        }
    }
}

/// A transparent picture as it is seen on a white page.
pub(super) fn over_white(pixels: &mut Vec<u8>, colors: Colors) -> Colors {
    let opaque = match colors {
        Colors::GrayAlpha => Colors::Gray,
        Colors::RgbAlpha => Colors::Rgb,
        opaque => return opaque,
    };
    let (from, to) = (colors.channels(), opaque.channels());
    let count = pixels.len() / from;
    for pixel in 0..count {
        let alpha = u16::from(pixels[pixel * from + to]);
        for channel in 0..to {
            let color = u16::from(pixels[pixel * from + channel]);
            let seen = (color * alpha + 255 * (255 - alpha)) / 255;
            pixels[pixel * to + channel] = u8::try_from(seen).unwrap_or(255);
        }
    }
    pixels.truncate(count * to);
    opaque
}

/// Which colours the numbers mean.
pub(super) struct Profile {
    /// Whether there are colours brighter than white. The profile is that of the compressed picture then.
    pub(super) hdr: Option<Curve>,
    pub(super) profile: ColorProfile,
}

/// The profile of these bytes. One that is too large or invalid counts for nothing.
pub(super) fn profile(bytes: &[u8]) -> Option<Profile> {
    let tags = bytes.get(128..)?.first_chunk().map(|count| u32::from_be_bytes(*count))?;
    let profile = (bytes.len() <= MOST_PROFILE && tags <= MOST_TAGS).then(|| ColorProfile::new_from_slice(bytes))?;
    let profile = profile.inspect_err(|error| tracing::debug!(%error, "a colour profile cannot be read")).ok()?;
    Some(Profile { hdr: None, profile })
}

/// Bytes of memory that these bytes take as a profile at most: each of its seven tables may be nearly as large as the profile.
pub(super) fn memory(profile: Option<&[u8]>) -> u64 {
    8 * profile.map_or(0, <[u8]>::len).min(MOST_PROFILE) as u64
}

/// Converts an opaque picture to sRGB. A profile of other colours than those of the picture counts for nothing.
pub(super) fn to_srgb(mut pixels: Vec<u8>, colors: Colors, profile: Option<&Profile>) -> Vec<u8> {
    match colors {
        Colors::YCbCr => pixels.chunks_exact_mut(3).for_each(to_rgb),
        // Red, green and blue are what is left without cyan, magenta and yellow.
        Colors::Ycck => pixels.chunks_exact_mut(4).for_each(|pixel| {
            to_rgb(&mut pixel[..3]);
            pixel[3] = 255 - pixel[3];
        }),
        Colors::Cmyk => pixels.iter_mut().for_each(|ink| *ink = 255 - *ink),
        _ => {}
    }
    let (mut layout, mut expected) = match colors.channels() {
        1 => (Layout::Gray, DataColorSpace::Gray),
        3 => (Layout::Rgb, DataColorSpace::Rgb),
        _ => (Layout::Rgba, DataColorSpace::Cmyk),
    };
    // Many programs store grey pictures with the profile of a screen.
    if layout == Layout::Gray && profile.is_some_and(|profile| profile.profile.color_space == DataColorSpace::Rgb) {
        pixels = of_gray(&pixels);
        (layout, expected) = (Layout::Rgb, DataColorSpace::Rgb);
    }
    if let Some(Profile { hdr, profile }) = profile.filter(|profile| profile.profile.color_space == expected) {
        if let Some(curve) = hdr {
            curve.compress(&mut pixels);
        }
        match transformed(&pixels, profile, layout) {
            Ok(rgb) => return rgb,
            Err(error) => tracing::debug!(%error, "a colour profile cannot be applied"),
        }
    }
    match layout {
        Layout::Gray => of_gray(&pixels),
        Layout::Rgb => pixels,
        _ => pixels.chunks_exact(4).flat_map(without_profile).collect(),
    }
}

fn of_gray(pixels: &[u8]) -> Vec<u8> {
    pixels.iter().flat_map(|gray| [*gray; 3]).collect()
}

/// The pixels in sRGB, of three bytes each; an error if the profile cannot be applied.
fn transformed(pixels: &[u8], profile: &ColorProfile, layout: Layout) -> Result<Vec<u8>, CmsError> {
    let srgb = ColorProfile::new_srgb();
    let transform = profile.create_transform_8bit(layout, &srgb, Layout::Rgb, TransformOptions::default())?;
    let mut converted = vec![0; pixels.len() / layout.channels() * 3];
    transform.transform(pixels, &mut converted)?;
    Ok(converted)
}

/// Red, green and blue of lightness and differences (ITU-T T.871).
fn to_rgb(pixel: &mut [u8]) {
    let [first, second, third] = pixel else { return };
    let [light, blue, red] = [*first, *second, *third].map(f32::from);
    let (blue, red) = (blue - 128.0, red - 128.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is rounded and saturates")]
    let byte = |color: f32| color.round() as u8;
    *first = byte(light + 1.402 * red);
    *second = byte(light - 0.344_136 * blue - 0.714_136 * red);
    *third = byte(light + 1.772 * blue);
}

/// Red, green and blue of inks of which no profile says how they look.
fn without_profile(inks: &[u8]) -> [u8; 3] {
    let left = |ink: u8| u16::from(255 - ink);
    let black = left(inks[3]);
    [inks[0], inks[1], inks[2]].map(|ink| u8::try_from((left(ink) * black + 127) / 255).unwrap_or(255))
}
