use std::{collections::BTreeMap, io::Cursor};

use ad_tests::{
    broken_images,
    photos::{in_display_p3, jpeg, of_tools, photo, with_exif, with_profile},
};
use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgba, RgbaImage};
use moxcms::ColorProfile;

use super::{color::MOST_PROFILE, *};

/// Enough for any photo of these tests.
const MEMORY: usize = 200_000_000;

fn decode(bytes: impl Into<Bytes>, format: Format) -> Result<Decoded, Undecodable> {
    let header = Header::read(&bytes.into(), format)?;
    if header.memory > MEMORY { Err(Undecodable::TooLarge) } else { header.decode() }
}

fn png(image: &DynamicImage) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

fn sizes_of(decoded: &Decoded) -> Vec<(u32, u32)> {
    let size = |(width, file): &(u32, Bytes)| {
        let image = image::load_from_memory_with_format(file, ImageFormat::Jpeg).unwrap();
        assert_eq!(image.width(), *width);
        (image.width(), image.height())
    };
    decoded.renditions.iter().map(size).collect()
}

/// The mean colours of the quarters of a picture: top left, top right, bottom left, bottom right.
fn quarters(file: &[u8]) -> [[u8; 3]; 4] {
    let image = image::load_from_memory(file).unwrap().into_rgb8();
    let (width, height) = (image.width() / 2, image.height() / 2);
    [(0, 0), (width, 0), (0, height), (width, height)].map(|(x, y)| {
        let part = image::imageops::crop_imm(&image, x, y, width, height).to_image();
        let mut sums = [0_u32; 3];
        part.pixels().for_each(|pixel| (0..3).for_each(|place| sums[place] += u32::from(pixel.0[place])));
        sums.map(|sum| u8::try_from(sum / (width * height)).unwrap())
    })
}

fn near(one: [[u8; 3]; 4], other: [[u8; 3]; 4]) -> bool {
    one.as_flattened().iter().zip(other.as_flattened()).all(|(one, other)| one.abs_diff(*other) < 12)
}

#[test]
fn a_photo_is_made_in_three_sizes() {
    let decoded = decode(jpeg(&photo(2000, 1500, 1)), Format::Jpeg).unwrap();
    assert_eq!((decoded.facts.width, decoded.facts.height), (2000, 1500));
    assert_eq!(sizes_of(&decoded), [(320, 240), (800, 600), (1600, 1200)]);
    assert!(decoded.facts.sharpness > 25 && decoded.facts.contrast > 20, "{:?}", decoded.facts);
    let small = decode(jpeg(&photo(200, 100, 1)), Format::Jpeg).unwrap();
    assert_eq!(sizes_of(&small), [(200, 100)]);
}

#[test]
fn a_photo_comes_out_upright_and_without_metadata() {
    let upright = photo(900, 600, 2);
    let expected = quarters(&jpeg(&upright));
    for orientation in 1..=8_u8 {
        // What a camera stores that was held in this way.
        let mut stored = DynamicImage::ImageRgb8(upright.clone());
        let undo = [1, 2, 3, 4, 5, 8, 7, 6][usize::from(orientation) - 1];
        stored.apply_orientation(Orientation::from_exif(undo).unwrap());
        let file = with_exif(&jpeg(&stored.into_rgb8()), orientation);
        assert!(file.windows(6).any(|bytes| bytes == b"Exif\0\0"));
        let decoded = decode(file, Format::Jpeg).unwrap();
        assert_eq!((decoded.facts.width, decoded.facts.height), (900, 600), "{orientation}");
        assert_eq!(sizes_of(&decoded), [(320, 213), (800, 533), (900, 600)], "{orientation}");
        for (_, rendition) in &decoded.renditions {
            assert!(near(quarters(rendition), expected), "{orientation}");
            assert!(!rendition.windows(4).any(|bytes| bytes == b"Exif"), "no metadata");
        }
    }
}

#[test]
fn a_photo_of_a_wide_gamut_keeps_its_colours() {
    // A red of Display P3, which sRGB shows as a stronger one, and a grey, which both have.
    let mut image = RgbImage::from_pixel(400, 300, image::Rgb([204, 51, 51]));
    image::imageops::replace(&mut image, &RgbImage::from_pixel(200, 300, image::Rgb([128, 128, 128])), 0, 0);
    let left_and_right = |file: Vec<u8>| {
        let decoded = decode(file, Format::Jpeg).unwrap();
        let rendition = &decoded.renditions[1].1;
        assert!(!rendition.windows(11).any(|bytes| bytes == b"ICC_PROFILE"), "no metadata");
        let [left, right, ..] = quarters(rendition);
        (left, right)
    };
    let is_near = |one: [u8; 3], other: [u8; 3]| one.iter().zip(other).all(|(one, other)| one.abs_diff(other) <= 3);
    let (left, right) = left_and_right(in_display_p3(&image));
    assert!(is_near(left, [128, 128, 128]) && is_near(right, [222, 24, 41]), "{left:?} {right:?}");
    // Profiles that make no sense for the picture count for nothing.
    let of_grey = ColorProfile::new_gray_with_gamma(2.2).encode().unwrap();
    // A profile that says 200 times where its first tag is.
    let mut repeating = ColorProfile::new_display_p3().encode().unwrap();
    let first: Vec<u8> = repeating[132..144].to_vec();
    repeating.splice(132..132, first.repeat(200 - usize::from(repeating[131])));
    repeating[131] = 200;
    for profile in [vec![7; 300], of_grey, vec![0; 2 * MOST_PROFILE], repeating] {
        let (left, right) = left_and_right(with_profile(&image, profile));
        assert!(is_near(left, [128, 128, 128]) && is_near(right, [204, 51, 51]), "{left:?} {right:?}");
    }
}

/// What becomes of a file: the picture as a browser shows it, or no renditions.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
enum Expected {
    Shown { size: (u32, u32), quarters: [[u8; 3]; 4] },
    Not(Undecodable),
}

#[test]
fn photos_of_real_tools_look_as_in_a_browser() {
    let expected: BTreeMap<String, Expected> = serde_json::from_slice(&of_tools("expected.json")).unwrap();
    assert!(expected.len() > 30);
    for (name, expected) in expected {
        let file = of_tools(&name);
        let format = if name.ends_with("png") { Format::Png } else { Format::Jpeg };
        match (decode(file, format), expected) {
            (Ok(decoded), Expected::Shown { size, quarters: expected }) => {
                assert_eq!((decoded.facts.width, decoded.facts.height), size, "{name}");
                let shown = quarters(&decoded.renditions.last().unwrap().1);
                assert!(near(shown, expected), "{name}: {shown:?} {expected:?}");
            }
            (Err(reason), Expected::Not(expected)) => assert_eq!(reason, expected, "{name}"),
            (decoded, expected) => panic!("{name}: {:?} {expected:?}", decoded.map(|decoded| decoded.facts)),
        }
    }
}

/// The place of a marker.
fn marker(file: &[u8], marker: u8) -> usize {
    file.windows(2).position(|bytes| bytes == [0xff, marker]).unwrap()
}

/// A JPEG with other densities of its three components.
fn with_densities(file: &[u8], densities: [u8; 3]) -> Vec<u8> {
    let (mut file, frame) = (file.to_vec(), marker(file, 0xc0));
    (0..3).for_each(|component| file[frame + 11 + 3 * component] = densities[component]);
    file
}

#[test]
fn files_that_the_decoder_gets_wrong_have_no_renditions() {
    let file = jpeg(&photo(160, 120, 8));
    let outcome = |densities| Header::read(&with_densities(&file, densities).into(), Format::Jpeg).map(|_| ()).err();
    for common in [[0x11, 0x11, 0x11], [0x22, 0x11, 0x11], [0x21, 0x11, 0x11], [0x12, 0x11, 0x11], [0x41, 0x11, 0x11]] {
        assert_eq!(outcome(common), None, "{common:x?}");
    }
    for wrong in [[0x11, 0x22, 0x22], [0x11, 0x21, 0x21], [0x12, 0x21, 0x11], [0x11, 0x11, 0x41], [0x41, 0x11, 0x22]] {
        assert_eq!(outcome(wrong), Some(Undecodable::Unsupported), "{wrong:x?}");
    }
    // Arithmetic, lossless and hierarchical codes, and twelve bits.
    let frame = marker(&file, 0xc0);
    for (place, value) in [(1, 0xc3), (1, 0xc5), (1, 0xc9), (1, 0xca), (1, 0xcf), (4, 12)] {
        let mut other = file.clone();
        other[frame + place] = value;
        assert_eq!(decode(other, Format::Jpeg).err(), Some(Undecodable::Unsupported), "{place} {value:x}");
    }
}

#[test]
fn a_colour_profile_in_parts_counts_if_no_part_is_missing() {
    let image = RgbImage::from_pixel(64, 48, image::Rgb([204, 51, 51]));
    let parts = ad_tests::photos::in_display_p3_in_parts(&image, 3);
    let red = |file: Vec<u8>| quarters(&decode(file, Format::Jpeg).unwrap().renditions[0].1)[0][0];
    assert!(red(parts.clone()).abs_diff(222) <= 3, "{}", red(parts.clone()));
    // A part that says another number is missing.
    let second = parts.windows(14).position(|bytes| bytes == b"ICC_PROFILE\0\x02\x03").unwrap();
    let mut missing = parts;
    missing[second + 12] = 1;
    assert!(red(missing.clone()).abs_diff(204) <= 3, "{}", red(missing));
}

#[test]
fn copies_of_a_photo_look_the_same_and_other_photos_do_not() {
    let facts = |image: &RgbImage, quality| {
        let mut file = Vec::new();
        JpegEncoder::new_with_quality(&mut file, quality).encode_image(image).unwrap();
        decode(file, Format::Jpeg).unwrap().facts
    };
    let one = photo(1200, 900, 3);
    let smaller = image::imageops::resize(&one, 640, 480, image::imageops::FilterType::Triangle);
    let (one, worse, smaller, other) =
        (facts(&one, 95), facts(&one, 40), facts(&smaller, 80), facts(&photo(1200, 900, 4), 95));
    assert!(one.looks_like(&worse), "{one:?} {worse:?}");
    assert!(one.looks_like(&smaller), "{one:?} {smaller:?}");
    assert!(!one.looks_like(&other), "{one:?} {other:?}");
}

#[test]
fn dark_and_blurred_photos_are_measured() {
    let facts = |image: &RgbImage| decode(jpeg(image), Format::Jpeg).unwrap().facts;
    let one = photo(1200, 900, 5);
    let mut dark = one.clone();
    dark.pixels_mut().for_each(|pixel| pixel.0 = pixel.0.map(|color| color / 8));
    let blurred = image::imageops::fast_blur(&one, 20.0);
    let [sharp, dark, blurred] = [&one, &dark, &blurred].map(facts);
    assert!(dark.lightness() < 40 && sharp.lightness() > 60, "{sharp:?} {dark:?}");
    assert!(blurred.sharpness < 15 && blurred.contrast >= 12 && sharp.sharpness > 25, "{sharp:?} {blurred:?}");
}

#[test]
fn every_common_kind_of_png_is_decoded() {
    let rgb = DynamicImage::ImageRgb8(photo(400, 300, 6));
    let kinds = [
        rgb.clone(),
        DynamicImage::ImageLuma8(rgb.to_luma8()),
        DynamicImage::ImageRgba8(rgb.to_rgba8()),
        DynamicImage::ImageRgb16(rgb.to_rgb16()),
        DynamicImage::ImageRgba16(rgb.to_rgba16()),
        DynamicImage::ImageLuma16(rgb.to_luma16()),
        DynamicImage::ImageLumaA8(rgb.to_luma_alpha8()),
    ];
    for image in kinds {
        let decoded = decode(png(&image), Format::Png).unwrap();
        assert_eq!(sizes_of(&decoded), [(320, 240), (400, 300)], "{:?}", image.color());
    }
}

#[test]
fn transparent_parts_are_white() {
    let mut image = RgbaImage::from_pixel(40, 40, Rgba([0, 0, 0, 0]));
    image::imageops::replace(&mut image, &RgbaImage::from_pixel(20, 40, Rgba([10, 20, 30, 255])), 0, 0);
    let decoded = decode(png(&DynamicImage::ImageRgba8(image)), Format::Png).unwrap();
    let [left, right, ..] = quarters(&decoded.renditions[0].1);
    assert!(left[2] < 60 && right[0] > 220, "{left:?} {right:?}");
}

#[test]
fn a_file_that_is_wrong_has_an_outcome() {
    let whole = jpeg(&photo(160, 120, 7));
    let scan = whole.windows(2).position(|bytes| bytes == [0xff, 0xda]).unwrap();
    let mut huge = whole.clone();
    let frame = whole.windows(2).position(|bytes| bytes == [0xff, 0xc0]).unwrap();
    huge[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    assert_eq!(decode(huge, Format::Jpeg).err(), Some(Undecodable::TooLarge), "65535 × 65535");
    assert_eq!(decode(whole[..scan].to_vec(), Format::Jpeg).err(), Some(Undecodable::Damaged));
    assert_eq!(decode(&b"\xff\xd8\xff\xd9"[..], Format::Jpeg).err(), Some(Undecodable::Damaged));
    assert_eq!(decode(whole.clone(), Format::Png).err(), Some(Undecodable::Damaged), "a JPEG that is called PNG");

    let picture = png(&DynamicImage::ImageLuma8(GrayImage::from_fn(150, 100, |x, _| Luma([x.to_le_bytes()[0]]))));
    for end in [8, 20, 33, 60, picture.len() / 2] {
        assert_eq!(decode(picture[..end].to_vec(), Format::Png).err(), Some(Undecodable::Damaged), "{end}");
    }

    // Any byte may be wrong, and any part missing: it is decoded or not, and nothing panics.
    for (file, format) in [(&whole, Format::Jpeg), (&picture, Format::Png)] {
        for place in (0..file.len()).step_by(file.len() / 60) {
            let mut wrong = file.clone();
            wrong[place] ^= 0x5a;
            let _outcome = decode(wrong, format);
            let _outcome = decode(file[..place].to_vec(), format);
        }
    }
}

#[test]
fn files_that_exhaust_decoders_have_an_outcome() {
    for (name, file, renditions) in broken_images::hostile() {
        let format = if file.starts_with(b"\x89PNG") { Format::Png } else { Format::Jpeg };
        let decoded = decode(file, format).map(|decoded| decoded.renditions.len());
        assert_eq!(decoded.unwrap_or(0), renditions, "{name}: {decoded:?}");
    }
    // It is their number that is too much.
    assert_eq!(decode(broken_images::scans(50), Format::Jpeg).map(|decoded| decoded.renditions.len()), Ok(3));
    assert_eq!(decode(broken_images::scans(1000), Format::Jpeg).err(), Some(Undecodable::Damaged));
}

#[test]
fn a_header_tells_how_much_memory_a_jpeg_needs() {
    let image = photo(640, 480, 8);
    let file = jpeg(&image);
    let beside = |file: &[u8]| Jpeg::read(file).unwrap().1.beside;
    let of_file = beside(&file);
    // The decoder gets no metadata.
    assert!(of_file < file.len() as u64, "{of_file}");
    // Two bytes for each coefficient.
    for (densities, bytes) in [([0x11; 3], 6), ([0x21, 0x11, 0x11], 4), ([0x22, 0x11, 0x11], 3)] {
        let mut progressive = with_densities(&file, densities);
        progressive[marker(&file, 0xc0) + 1] = 0xc2;
        assert_eq!(beside(&progressive), of_file + bytes * 640 * 480, "{densities:x?}");
    }
    assert_eq!(beside(&with_profile(&image, vec![7; 1000])), of_file + 8 * 1000);
}
