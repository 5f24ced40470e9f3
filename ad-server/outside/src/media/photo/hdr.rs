//! Pictures with colours brighter than white (ITU-R BT.2100), as browsers show them on ordinary screens: white is half as light as the brightest
//! colour, and what is brighter is compressed (SMPTE ST 2094-50).

use moxcms::TransferCharacteristics;

/// The light of white, in candela per square metre.
const WHITE: f32 = 203.0;

/// The brightest colour, in the same unit. Brighter ones are shown like it.
const BRIGHTEST: f32 = 1000.0;

/// How the numbers of a picture become light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Curve {
    /// Perceptual quantizer (SMPTE ST 2084): light of the screen, up to 10,000 candela per square metre.
    Pq,
    /// Hybrid log-gamma: light of the scene, up to 1.
    Hlg,
}

impl Curve {
    pub(super) fn of(transfer: TransferCharacteristics) -> Option<Self> {
        match transfer {
            TransferCharacteristics::Smpte2084 => Some(Self::Pq),
            TransferCharacteristics::Hlg => Some(Self::Hlg),
            _ => None,
        }
    }

    /// The light of a number from 0 to 1: of the screen, or of the scene, whose brightest is 1.
    fn light(self, number: f32) -> f32 {
        match self {
            Self::Pq => {
                let root = number.powf(1.0 / 78.843_75);
                10_000.0 * ((root - 0.835_937_5).max(0.0) / (18.851_563 - 18.6875 * root)).powf(1.0 / 0.159_301_76)
            }
            Self::Hlg if number <= 0.5 => number * number / 3.0,
            Self::Hlg => (((number - 0.559_910_7) / 0.178_832_77).exp() + 0.284_668_92) / 12.0,
        }
    }

    /// Replaces numbers by those of the curve of sRGB, with the same primaries.
    pub(super) fn compress(self, rgb: &mut [u8]) {
        let mut lights = [0.0; 256];
        for (number, light) in (0_u8..=255).zip(&mut lights) {
            *light = self.light(f32::from(number) / 255.0);
        }
        for pixel in rgb.chunks_exact_mut(3) {
            let [red, green, blue] = [pixel[0], pixel[1], pixel[2]].map(|number| lights[usize::from(number)]);
            // A screen shows more contrast than the scene has.
            let of_screen = match self {
                Self::Pq => 1.0,
                Self::Hlg => BRIGHTEST * (0.2627 * red + 0.678 * green + 0.0593 * blue).powf(0.2),
            };
            let strongest = of_screen * red.max(green).max(blue) / WHITE;
            let factor = if strongest > 0.0 { of_screen / WHITE * compressed(strongest) / strongest } else { 0.0 };
            for (number, light) in pixel.iter_mut().zip([red, green, blue]) {
                *number = number_of(light * factor);
            }
        }
    }
}

/// The light that is shown, where 1 is the most, of a light of which 1 is white: a line up to white, and then a Bézier curve.
fn compressed(light: f32) -> f32 {
    const MOST: f32 = BRIGHTEST / WHITE;
    const KNEE: (f32, f32) = (1.0, 0.5);
    const MIDDLE: (f32, f32) = (1.65, 0.825);
    if light <= KNEE.0 {
        return light * KNEE.1;
    }
    // Where the first coordinate of the curve is the light.
    let (square, linear) = (KNEE.0 - 2.0 * MIDDLE.0 + MOST, MIDDLE.0 - KNEE.0);
    let at = ((linear * linear + square * (light.min(MOST) - KNEE.0)).sqrt() - linear) / square;
    (1.0 - at) * (1.0 - at) * KNEE.1 + 2.0 * at * (1.0 - at) * MIDDLE.1 + at * at
}

/// The number of a light from 0 to 1 in sRGB.
fn number_of(light: f32) -> u8 {
    let number = if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is rounded and saturates")]
    let number = (255.0 * number).round() as u8;
    number
}
