use std::io::Cursor;

use ad_tests::{
    broken_images,
    photos::{in_display_p3, jpeg, photo, with_exif, with_profile},
};
use image::{DynamicImage, ImageFormat, Luma, Rgba, RgbaImage};

use super::*;

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
    for profile in [vec![7; 300], of_grey, vec![0; 2 * MOST_PROFILE]] {
        let (left, right) = left_and_right(with_profile(&image, profile));
        assert!(is_near(left, [128, 128, 128]) && is_near(right, [204, 51, 51]), "{left:?} {right:?}");
    }
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
    let baseline = jpeg(&photo(640, 480, 8));
    assert_eq!(coefficients(&baseline, 100), 0);
    let frame = baseline.windows(2).position(|bytes| bytes == [0xff, 0xc0]).unwrap();
    let mut progressive = baseline.clone();
    progressive[frame + 1] = 0xc2;
    for (density, bytes) in [(0x11, 600), (0x21, 400), (0x22, 300)] {
        progressive[frame + 11] = density;
        progressive[frame + 14] = 0x11;
        progressive[frame + 17] = 0x11;
        assert_eq!(coefficients(&progressive, 100), bytes, "{density:x}");
    }
    let scan = baseline.windows(2).position(|bytes| bytes == [0xff, 0xda]).unwrap();
    let mut separate = baseline;
    separate[scan + 4] = 1;
    assert!(coefficients(&separate, 100) >= 300);
    assert_eq!(coefficients(b"\xff\xd8", 100), 600, "nothing is known");
}
