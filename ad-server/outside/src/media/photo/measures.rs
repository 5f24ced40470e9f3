//! What the pixels of a photo say: by which copies are recognised, and whether it is dark or blurred.

use ad_core::model::PhotoFacts;
use fast_image_resize::PixelType;
use image::{GrayImage, RgbImage};

use super::scaled;

/// The facts that depend on the pixels.
pub(super) fn measures(image: &RgbImage, facts: PhotoFacts) -> PhotoFacts {
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
