//! Pictures that have what photos have: light and dark parts, edges, EXIF.

use image::{Rgb, RgbImage, codecs::jpeg::JpegEncoder};

/// Colours of the quarters, which tell how a picture was turned.
const QUARTERS: [[u8; 3]; 4] = [[190, 70, 60], [60, 180, 80], [70, 80, 190], [190, 180, 60]];

/// Columns and rows of parts that differ in lightness.
const PARTS: (u32, u32) = (9, 8);

/// A picture that depends on the seed.
pub fn photo(width: u32, height: u32, seed: u32) -> RgbImage {
    let fine = (width.max(height) / 40).max(2);
    RgbImage::from_fn(width, height, |x, y| {
        let quarter = QUARTERS[(u32::from(2 * x >= width) + 2 * u32::from(2 * y >= height)) as usize];
        let (column, row) = (x * PARTS.0 / width, y * PARTS.1 / height);
        // From a part to the next, the lightness changes by at least one step.
        let steps: u32 = (0..=column).map(|column| 1 + random(seed, column, row) % 4).sum();
        let light = 12 * (steps % 5) + random(seed, x / fine, 1000 + y / fine) % 24;
        Rgb(quarter.map(|color| color.saturating_add(u8::try_from(light).unwrap_or(0)).saturating_sub(30)))
    })
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
