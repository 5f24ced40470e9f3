//! Decodes PNG, in eight bits per colour.

use std::io::Cursor;

use ad_core::model::Undecodable;
use bytes::Bytes;
use image::metadata::Orientation;
use moxcms::{
    Chromaticity, CicpColorPrimaries, CicpProfile, ColorPrimaries, ColorProfile, MatrixCoefficients, ToneReprCurve,
    TransferCharacteristics,
};
use png::{
    ColorType, Decoder, DecodingError, Info, Limits, Reader, ScaledFloat, SourceChromaticities, Transformations,
};

use super::{
    Head,
    color::{self, Colors, Profile},
    hdr::Curve,
};

/// Most memory for what a PNG has beside its pixels, such as compressed profiles.
const METADATA: usize = 8 * 1024 * 1024;

/// A PNG whose header has been read.
pub(super) struct Png(Reader<Cursor<Bytes>>);

impl Png {
    pub(super) fn read(file: &Bytes) -> Result<(Self, Head), Undecodable> {
        let mut decoder = Decoder::new_with_limits(Cursor::new(file.clone()), Limits { bytes: METADATA });
        decoder.set_ignore_text_chunk(true);
        decoder.set_transformations(Transformations::normalize_to_color8());
        let reader = decoder.read_info().map_err(|error| undecodable(&error))?;
        let info = reader.info();
        let colors = match reader.output_color_type().0 {
            ColorType::Grayscale => Colors::Gray,
            ColorType::GrayscaleAlpha => Colors::GrayAlpha,
            ColorType::Rgb | ColorType::Indexed => Colors::Rgb,
            ColorType::Rgba => Colors::RgbAlpha,
        };
        let orientation = info.exif_metadata.as_deref().and_then(Orientation::from_exif_chunk);
        let head = Head {
            width: info.width,
            height: info.height,
            orientation: orientation.unwrap_or(Orientation::NoTransforms),
            colors,
            profile: profile(info),
            beside: file.len() as u64 + color::memory(info.icc_profile.as_deref()),
        };
        Ok((Self(reader), head))
    }

    pub(super) fn decode(mut self, pixels: &mut [u8]) -> Result<(), Undecodable> {
        self.0.next_frame(pixels).map(|_| ()).map_err(|error| undecodable(&error))
    }
}

fn undecodable(error: &DecodingError) -> Undecodable {
    tracing::debug!(%error, "a PNG cannot be decoded");
    match error {
        DecodingError::LimitsExceeded => Undecodable::TooLarge,
        _ => Undecodable::Damaged,
    }
}

/// The profile that a PNG names, in the order in which browsers look for it: code points, an ICC profile, sRGB, and gamma with or without
/// primaries. `None` is sRGB.
fn profile(info: &Info<'_>) -> Option<Profile> {
    let points = info.coding_independent_code_points.filter(|points| points.is_video_full_range_image);
    if let Some(profile) = points.and_then(|points| of_code_points(points.color_primaries, points.transfer_function)) {
        return Some(profile);
    }
    let profile = info.icc_profile.as_deref().and_then(color::profile);
    if profile.is_some() || info.srgb.is_some() {
        return profile;
    }
    info.gama_chunk.and_then(|gamma| of_gamma(gamma.into_value(), info.chrm_chunk.as_ref()))
}

/// The profile of code points (ITU-T H.273) that browsers know; `None` for others.
fn of_code_points(primaries: u8, transfer: u8) -> Option<Profile> {
    use TransferCharacteristics::{
        Bt601, Bt709, Bt1361, Bt202010bit, Bt202012bit, Iec61966, Log100, Log100sqrt10, Srgb,
    };
    let color_primaries = CicpColorPrimaries::try_from(primaries).ok()?;
    let transfer = TransferCharacteristics::try_from(transfer).ok()?;
    if matches!(transfer, Log100 | Log100sqrt10 | Bt1361) || color_primaries == CicpColorPrimaries::Xyz {
        return None;
    }
    let hdr = Curve::of(transfer);
    let mut profile = ColorProfile::new_from_cicp(CicpProfile {
        color_primaries,
        transfer_characteristics: if hdr.is_some() { Srgb } else { transfer },
        matrix_coefficients: MatrixCoefficients::Identity,
        full_range: true,
    });
    // There is none if primaries or transfer are unspecified or reserved.
    profile.red_trc.as_ref()?;
    // The curves of cameras. Screens show them with another one (ITU-R BT.1886).
    if matches!(transfer, Bt709 | Bt601 | Iec61966 | Bt202010bit | Bt202012bit) {
        set_gamma(&mut profile, 2.4);
    }
    Some(Profile { hdr, profile })
}

fn set_gamma(profile: &mut ColorProfile, gamma: f32) {
    let curve = Some(ToneReprCurve::Parametric(vec![gamma]));
    (profile.red_trc, profile.green_trc, profile.blue_trc) = (curve.clone(), curve.clone(), curve);
    // It would count instead.
    profile.cicp = None;
}

/// The gamma of sRGB, roughly.
const GAMMA_OF_SRGB: f32 = 1.0 / 2.2;

/// The profile of a gamma, with the primaries of sRGB unless others are named.
fn of_gamma(gamma: f32, primaries: Option<&SourceChromaticities>) -> Option<Profile> {
    let is_srgb = primaries.is_none() && (gamma - GAMMA_OF_SRGB).abs() < 0.001;
    if gamma <= 0.0 || is_srgb {
        return None;
    }
    let mut profile = ColorProfile::new_srgb();
    if let Some(SourceChromaticities { white, red, green, blue }) = primaries {
        let point = |(x, y): &(ScaledFloat, ScaledFloat)| Chromaticity { x: x.into_value(), y: y.into_value() };
        let primaries = ColorPrimaries { red: point(red), green: point(green), blue: point(blue) };
        profile.update_rgb_colorimetry(point(white).to_xyyb(), primaries);
    }
    set_gamma(&mut profile, 1.0 / gamma);
    // Primaries on one line, or zero, are none.
    profile
        .colorant_matrix()
        .v
        .as_flattened()
        .iter()
        .all(|value| value.is_finite())
        .then_some(Profile { hdr: None, profile })
}
