//! Pictures that have what photos have: light and dark parts, edges, EXIF.

use std::{fs, path::Path, time::Duration};

use image::{ImageEncoder as _, Rgb, RgbImage, codecs::jpeg::JpegEncoder, imageops};
use moxcms::ColorProfile;

use crate::broken_images;

/// Colours of the quarters, which tell how a picture was turned.
const QUARTERS: [[u8; 3]; 4] = [[190, 70, 60], [60, 180, 80], [70, 80, 190], [190, 180, 60]];

/// Columns and rows of parts that differ in lightness.
const PARTS: (u32, u32) = (9, 8);

/// A picture that depends on the seed.
pub fn photo(width: u32, height: u32, seed: u32) -> RgbImage {
    let fine = (width.max(height) / 40).max(2);
    let color = |x: u32, y: u32| {
        let quarter = QUARTERS[(u32::from(2 * x >= width) + 2 * u32::from(2 * y >= height)) as usize];
        let (column, row) = (x * PARTS.0 / width, y * PARTS.1 / height);
        // From a part to the next, the lightness changes by at least one step.
        let steps: u32 = (0..=column).map(|column| 1 + random(seed, column, row) % 4).sum();
        let light = 12 * (steps % 5) + random(seed, x / fine, 1000 + y / fine) % 24;
        Rgb(quarter.map(|color| color.saturating_add(u8::try_from(light).unwrap_or(0)).saturating_sub(30)))
    };
    // Most rows are like the one above them.
    let kind = |y: u32| (2 * y >= height, y * PARTS.1 / height, y / fine);
    let mut image = RgbImage::new(width, height);
    let row = width as usize * 3;
    for y in 0..height {
        let start = y as usize * row;
        if y > 0 && kind(y) == kind(y - 1) {
            image.copy_within(start - row..start, start);
        } else {
            (0..width).for_each(|x| image.put_pixel(x, y, color(x, y)));
        }
    }
    image
}

/// A photo that a real tool has made, or what is expected of them; `tests/data/photos/README.md` says by what.
///
/// # Panics
/// When there is no such file.
pub fn of_tools(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/photos").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How long examining the photos of an ad takes at most where tests are not optimised, on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// Photos of a car without flaws, each a different one.
pub fn sound(number: u32) -> RgbImage {
    photo(1040, 780, 100 + number)
}

/// The file of a photo with a flaw that the stock of flawed ads names.
///
/// # Panics
/// When no such flaw is known.
pub fn flawed(flaw: &str) -> Vec<u8> {
    let smaller = |image: &RgbImage| imageops::resize(image, 1024, 768, imageops::FilterType::Triangle);
    match flaw {
        "sideways" => with_exif(&jpeg(&imageops::rotate270(&photo(1200, 900, 50))), 6),
        "upright" => jpeg(&photo(900, 1200, 51)),
        "upright by EXIF" => with_exif(&jpeg(&photo(1200, 900, 52)), 8),
        "small" => jpeg(&photo(640, 480, 53)),
        "long and narrow" => jpeg(&photo(1600, 400, 54)),
        "dark" => {
            let mut dark = photo(1200, 900, 55);
            dark.pixels_mut().for_each(|pixel| pixel.0 = pixel.0.map(|color| color / 8));
            jpeg(&dark)
        }
        "blurred" => jpeg(&imageops::fast_blur(&photo(1200, 900, 56), 20.0)),
        "the first again, smaller" => jpeg(&smaller(&sound(0))),
        "of another ad, smaller" => jpeg(&smaller(&sound(99))),
        "wide gamut" => in_display_p3(&photo(1200, 900, 57)),
        "lying size" => broken_images::lying(),
        "too many pixels" => broken_images::pixels(),
        "truncated" => {
            let mut file = jpeg(&photo(1200, 900, 58));
            file.truncate(file.len() / 2);
            file
        }
        "HEIC" => b"\0\0\0\x18ftypheic\0\0\0\0mif1heic\0\0\0\x0cmetaheic".to_vec(),
        "WebP" => b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0".to_vec(),
        "SVG" => {
            br#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><rect width="4" height="3"/></svg>"#.to_vec()
        }
        "page" => b"<!doctype html><title>Sign in</title>".to_vec(),
        _ => panic!("no photo has the flaw {flaw:?}"),
    }
}

fn random(seed: u32, x: u32, y: u32) -> u32 {
    let mixed = (seed ^ x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77)).wrapping_mul(0xc2b2_ae3d);
    (mixed ^ mixed >> 15).wrapping_mul(0x2c1b_3c6d) >> 8
}

/// The picture as a JPEG.
///
/// # Panics
/// When it is too large for one.
pub fn jpeg(image: &RgbImage) -> Vec<u8> {
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, 90).encode_image(image).expect("it is small enough");
    file
}

/// The picture as a JPEG whose numbers are colours of Display P3, as phones store it.
///
/// # Panics
/// When it is too large for one.
pub fn in_display_p3(image: &RgbImage) -> Vec<u8> {
    with_profile(image, ColorProfile::new_display_p3().encode().expect("it is a valid profile"))
}

/// The picture as [`in_display_p3`], with the profile in so many parts, as large profiles are stored.
///
/// # Panics
/// When it is too large for one.
pub fn in_display_p3_in_parts(image: &RgbImage, count: u8) -> Vec<u8> {
    let profile = ColorProfile::new_display_p3().encode().expect("it is a valid profile");
    let file = jpeg(image);
    let mut parts = Vec::new();
    for (number, part) in (1..).zip(profile.chunks(profile.len().div_ceil(count.into()))) {
        let segment = [b"ICC_PROFILE\0", &[number, count][..], part].concat();
        parts.extend([0xff, 0xe2]);
        parts.extend(u16::try_from(segment.len() + 2).expect("it is short").to_be_bytes());
        parts.extend(segment);
    }
    [&file[..2], &parts, &file[2..]].concat()
}

/// The picture as a JPEG with a colour profile.
///
/// # Panics
/// When picture or profile are too large for one.
pub fn with_profile(image: &RgbImage, profile: Vec<u8>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut file, 90);
    encoder.set_icc_profile(profile).expect("JPEG files have profiles");
    encoder.encode_image(image).expect("it is small enough");
    file
}

/// A JPEG with the EXIF data that a phone adds: how it was held, and where (GPS).
pub fn with_exif(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let mut tiff = b"II*\0\x08\0\0\0".to_vec();
    // Two entries: orientation, and where the GPS entries are.
    tiff.extend([2, 0]);
    tiff.extend([0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]);
    tiff.extend([0x25, 0x88, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0]);
    tiff.extend([0; 4]);
    // One entry: north of the equator.
    tiff.extend([1, 0]);
    tiff.extend([1, 0, 2, 0, 2, 0, 0, 0, b'N', 0, 0, 0]);
    tiff.extend([0; 4]);
    let segment = [b"Exif\0\0".as_slice(), &tiff].concat();
    let length = u16::try_from(segment.len() + 2).expect("it is short").to_be_bytes();
    [&jpeg[..2], &[0xff, 0xe1], &length, &segment, &jpeg[2..]].concat()
}
