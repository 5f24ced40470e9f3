//! Image files that are wrong or meant to exhaust whoever decodes them.

use std::io::{Cursor, Write as _};

use flate2::{Compression, Crc, write::ZlibEncoder};
use image::{GrayImage, ImageFormat};

use crate::photos::{jpeg, photo};

/// Files that need much memory or time if a decoder has no limits, and the number of renditions that each gets all the same.
pub fn hostile() -> Vec<(&'static str, Vec<u8>, usize)> {
    let large = jpeg(&image::RgbImage::from_pixel(5600, 5600, image::Rgb([120, 130, 140])));
    vec![
        ("31 megapixels, for which there is just enough memory", large, 3),
        ("104 megapixels in a small file", pixels(), 0),
        ("65,535 × 65,535 pixels by its header", lying(), 0),
        ("20,000 scans", scans(20_000), 0),
        ("10,000 frames", frames(10_000), 1),
        ("a colour profile of 100 MB in 100 kB", profile(100_000_000), 1),
        ("a comment of 100 MB in 100 kB", comment(100_000_000), 1),
        ("14.9 MB of metadata", padded(&jpeg(&photo(64, 48, 1)), 14_900_000), 1),
    ]
}

/// A JPEG whose header says that it is much larger than it is.
///
/// # Panics
/// Never: the encoder writes a frame.
pub fn lying() -> Vec<u8> {
    let mut file = jpeg(&photo(64, 48, 12));
    let frame = file.windows(2).position(|bytes| bytes == [0xff, 0xc0]).expect("it has a frame");
    file[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    file
}

/// A PNG of 104 megapixels in a small file.
///
/// # Panics
/// Never: memory can be written.
pub fn pixels() -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    GrayImage::new(10_400, 10_000).write_to(&mut file, ImageFormat::Png).expect("it can be encoded");
    file.into_inner()
}

/// A progressive JPEG of 4 megapixels that says so many times, in a few bytes each, that nothing is added to the picture.
pub fn scans(count: usize) -> Vec<u8> {
    const SIDE: u16 = 2000;
    let side = SIDE.to_be_bytes();
    // One code of one bit in each table: no difference from the last block, and nothing in the next 2^14 blocks.
    let table = |class: u8, symbol: u8| [&[0xff, 0xc4, 0, 20, class, 1][..], &[0; 15], &[symbol]].concat();
    let scan = |from: u8, to: u8| [0xff, 0xda, 0, 8, 1, 1, 0, from, to, 0];
    let blocks = usize::from(SIDE / 8) * usize::from(SIDE / 8);
    let mut file = [
        &[0xff, 0xd8, 0xff, 0xdb, 0, 67, 0][..],
        &[1; 64],
        &[0xff, 0xc2, 0, 11, 8, side[0], side[1], side[0], side[1], 1, 1, 0x11, 0],
        &table(0x00, 0x00),
        &table(0x10, 0xe0),
        &scan(0, 0),
        &vec![0; blocks.div_ceil(8)],
    ]
    .concat();
    for _ in 0..count {
        // 15 bits for each 2^14 blocks.
        file.extend(scan(1, 63));
        file.extend(vec![0; (blocks.div_ceil(1 << 14) * 15).div_ceil(8)]);
    }
    file.extend([0xff, 0xd9]);
    file
}

/// An animated PNG with so many frames.
pub fn frames(count: u32) -> Vec<u8> {
    let control = |number: u32| {
        let numbers = [number, WIDTH, HEIGHT, 0, 0].map(u32::to_be_bytes).concat();
        (*b"fcTL", [&numbers[..], &[0, 1, 0, 10, 0, 0]].concat())
    };
    let before = vec![(*b"acTL", [count, 0].map(u32::to_be_bytes).concat()), control(0)];
    let mut behind = Vec::new();
    for number in 1..count {
        behind.push(control(2 * number - 1));
        behind.push((*b"fdAT", [&(2 * number).to_be_bytes()[..], &compressed(&rows())].concat()));
    }
    png(before, behind)
}

/// A PNG with a colour profile of so many bytes, compressed.
pub fn profile(bytes: usize) -> Vec<u8> {
    png(vec![(*b"iCCP", [b"P3\0\0", &compressed(&vec![0; bytes])[..]].concat())], Vec::new())
}

/// A PNG with a comment of so many bytes, compressed.
pub fn comment(bytes: usize) -> Vec<u8> {
    png(vec![(*b"zTXt", [b"Comment\0\0", &compressed(&vec![b'a'; bytes])[..]].concat())], Vec::new())
}

/// A JPEG with metadata of several kinds before the picture, of nearly so many bytes in all.
///
/// # Panics
/// Never: segments are short enough.
pub fn padded(jpeg: &[u8], bytes: usize) -> Vec<u8> {
    const LONGEST: usize = 65_533;
    let kinds: [(u8, &[u8]); 3] =
        [(0xe1, b"Exif\0\0"), (0xe1, b"http://ns.adobe.com/xap/1.0/\0"), (0xe2, b"ICC_PROFILE\0\x01\xff")];
    let mut file = jpeg[..2].to_vec();
    let mut kinds = kinds.into_iter().cycle();
    while let Some((marker, name)) = kinds.next().filter(|_| file.len() + jpeg.len() + LONGEST < bytes) {
        let segment = [name, &vec![b'x'; LONGEST - name.len()]].concat();
        let length = u16::try_from(segment.len() + 2).expect("it is short enough");
        file.extend([0xff, marker]);
        file.extend(length.to_be_bytes());
        file.extend(segment);
    }
    file.extend(&jpeg[2..]);
    file
}

const WIDTH: u32 = 64;
const HEIGHT: u32 = 48;

/// The pixels of a small picture in shades of grey, each row with the number of its filter before it.
fn rows() -> Vec<u8> {
    vec![0; ((WIDTH + 1) * HEIGHT) as usize]
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory can be written")
}

type Chunk = ([u8; 4], Vec<u8>);

/// A small PNG with further chunks before and behind its picture.
fn png(before: Vec<Chunk>, behind: Vec<Chunk>) -> Vec<u8> {
    let header = [&[WIDTH, HEIGHT].map(u32::to_be_bytes).concat()[..], &[8, 0, 0, 0, 0]].concat();
    let mut chunks = vec![(*b"IHDR", header)];
    chunks.extend(before);
    chunks.push((*b"IDAT", compressed(&rows())));
    chunks.extend(behind);
    chunks.push((*b"IEND", Vec::new()));
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in chunks {
        let mut sum = Crc::new();
        sum.update(&kind);
        sum.update(&data);
        file.extend(u32::try_from(data.len()).expect("chunks are short").to_be_bytes());
        file.extend(kind);
        file.extend(data);
        file.extend(sum.sum().to_be_bytes());
    }
    file
}
