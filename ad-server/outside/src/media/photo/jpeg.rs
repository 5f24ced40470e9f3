//! Decodes JPEG. What the numbers mean is decided here, as browsers do; the decoder gets the file without its metadata, which it would
//! understand differently.

use ad_core::{
    model::Undecodable,
    ports::jpeg::{START_OF_SCAN, Segments},
};
use image::metadata::Orientation;
use zune_jpeg::{
    JpegDecoder,
    errors::DecodeErrors,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

use super::{
    Head,
    color::{self, Colors},
};

/// A JPEG whose header has been read.
pub(super) struct Jpeg {
    /// The file without its metadata.
    stripped: Vec<u8>,
    options: DecoderOptions,
    /// Whether other decoders decode more of these files than this one does: an error need not mean that the file is damaged.
    is_uncommon: bool,
}

impl Jpeg {
    pub(super) fn read(file: &[u8]) -> Result<(Self, Head), Undecodable> {
        let header = Header::of(file)?;
        let frame = &header.frame;
        let (colors, output) = header.colors()?;
        if !frame.is_decodable(&header.scan, header.has_restarts) {
            return Err(Undecodable::Unsupported);
        }
        let options = DecoderOptions::default()
            .set_strict_mode(false)
            .set_max_width(usize::MAX)
            .set_max_height(usize::MAX)
            .jpeg_set_out_colorspace(output);
        let pixels = u64::from(frame.width) * u64::from(frame.height);
        let profile = header.profile();
        let head = Head {
            width: frame.width.into(),
            height: frame.height.into(),
            orientation: header.exif.and_then(Orientation::from_exif_chunk).unwrap_or(Orientation::NoTransforms),
            colors,
            profile: profile.as_deref().and_then(color::profile),
            beside: header.stripped.len() as u64
                + frame.coefficients(&header.scan, pixels)
                + color::memory(profile.as_deref()),
        };
        let jpeg = Self { options, is_uncommon: frame.is_uncommon(), stripped: header.stripped };
        jpeg.decoder().decode_headers().map_err(|error| jpeg.undecodable(&error))?;
        Ok((jpeg, head))
    }

    pub(super) fn decode(&self, pixels: &mut [u8]) -> Result<(), Undecodable> {
        self.decoder().decode_into(pixels).map_err(|error| self.undecodable(&error))
    }

    fn decoder(&self) -> JpegDecoder<ZCursor<&[u8]>> {
        JpegDecoder::new_with_options(ZCursor::new(&self.stripped), self.options)
    }

    fn undecodable(&self, error: &DecodeErrors) -> Undecodable {
        tracing::debug!(%error, "a JPEG cannot be decoded");
        if self.is_uncommon { Undecodable::Unsupported } else { Undecodable::Damaged }
    }
}

/// What a JPEG says up to its first scan.
struct Header<'a> {
    frame: Frame,
    /// Identifiers of the components in the first scan.
    scan: Vec<u8>,
    has_restarts: bool,
    is_jfif: bool,
    /// How Adobe's programs have transformed the colours.
    adobe: Option<u8>,
    /// The first EXIF block, which counts in browsers.
    exif: Option<&'a [u8]>,
    profile: Vec<&'a [u8]>,
    /// The file without what the decoder does not need.
    stripped: Vec<u8>,
}

impl<'a> Header<'a> {
    fn of(file: &'a [u8]) -> Result<Self, Undecodable> {
        let (mut frame, mut scan, mut has_restarts, mut is_jfif) = (None, None, false, false);
        let (mut adobe, mut exif, mut profile) = (None, None, Vec::new());
        let mut stripped = Vec::with_capacity(file.len());
        stripped.extend([0xff, 0xd8]);
        let mut segments = Segments::of(file);
        while scan.is_none() {
            let segment = segments.next().ok_or(Undecodable::Damaged)?;
            let data = segment.data;
            match segment.marker {
                0xe0 => is_jfif |= data.starts_with(b"JFIF\0") && data.len() >= 14,
                0xe1 => exif = exif.or(data.strip_prefix(b"Exif\0\0").filter(|exif| !exif.is_empty())),
                0xe2 => profile.extend(data.strip_prefix(b"ICC_PROFILE\0")),
                0xee if data.starts_with(b"Adobe") => adobe = data.get(11).copied().or(adobe),
                0xe0..=0xef | 0xfe => {}
                marker => {
                    stripped.extend([0xff, marker]);
                    let length = u16::try_from(data.len() + 2).map_err(|_| Undecodable::Damaged)?;
                    stripped.extend(length.to_be_bytes());
                    stripped.extend(data);
                    if segment.is_frame() && frame.is_none() {
                        frame = Some(Frame::of(marker, data)?);
                    }
                    has_restarts |= marker == 0xdd && data != [0, 0];
                    if marker == START_OF_SCAN {
                        let components = data.get(1..).unwrap_or_default().chunks_exact(2);
                        let in_scan = data.first().copied().unwrap_or_default();
                        scan = Some(components.take(in_scan.into()).map(|component| component[0]).collect());
                    }
                }
            }
        }
        stripped.extend(segments.rest());
        let (frame, scan) = (frame.ok_or(Undecodable::Damaged)?, scan.unwrap_or_default());
        Ok(Self { frame, scan, has_restarts, is_jfif, adobe, exif, profile, stripped })
    }

    /// What the numbers of the decoded picture mean, and what the decoder is asked for. The rules are those of libjpeg, which browsers
    /// use.
    fn colors(&self) -> Result<(Colors, ColorSpace), Undecodable> {
        let is_named_rgb = self.frame.components.iter().map(|component| component.id).eq(*b"RGB");
        let is_rgb = !self.is_jfif && self.adobe.map_or(is_named_rgb, |transform| transform == 0);
        // The decoder goes by the names of the components. Asked for what it believes them to be, it leaves them as they are.
        Ok(match self.frame.components.len() {
            1 => (Colors::Gray, ColorSpace::Luma),
            3 if is_rgb == is_named_rgb => (Colors::Rgb, ColorSpace::RGB),
            3 if is_rgb => (Colors::Rgb, ColorSpace::YCbCr),
            3 => (Colors::YCbCr, ColorSpace::RGB),
            4 if matches!(self.adobe, Some(1..)) => (Colors::Ycck, ColorSpace::CMYK),
            4 => (Colors::Cmyk, ColorSpace::CMYK),
            _ => return Err(Undecodable::Unsupported),
        })
    }

    /// The colour profile, if its parts are complete.
    fn profile(&self) -> Option<Vec<u8>> {
        let mut parts = Vec::with_capacity(self.profile.len());
        for part in &self.profile {
            let [number, count, data @ ..] = part else { return None };
            if usize::from(*count) != self.profile.len() {
                return None;
            }
            parts.push((usize::from(*number), data));
        }
        parts.sort_unstable_by_key(|(number, _)| *number);
        let is_complete = !parts.is_empty() && parts.iter().map(|(number, _)| *number).eq(1..=parts.len());
        is_complete.then(|| parts.iter().flat_map(|(_, data)| data.iter().copied()).collect())
    }
}

/// How a picture is coded.
struct Frame {
    marker: u8,
    width: u16,
    height: u16,
    components: Vec<Component>,
}

/// A component with its density in both directions.
struct Component {
    id: u8,
    across: u8,
    down: u8,
}

impl Frame {
    fn of(marker: u8, data: &[u8]) -> Result<Self, Undecodable> {
        let [precision, height_high, height_low, width_high, width_low, count, components @ ..] = data else {
            return Err(Undecodable::Damaged);
        };
        // Baseline, extended and progressive with Huffman codes; there are also arithmetic codes, lossless and hierarchical pictures.
        if !matches!(marker, 0xc0..=0xc2) || *precision != 8 {
            return Err(Undecodable::Unsupported);
        }
        let component = |one: &[u8]| Component { id: one[0], across: one[1] >> 4, down: one[1] & 15 };
        let components: Vec<_> = components.chunks_exact(3).take((*count).into()).map(component).collect();
        if components.len() != usize::from(*count) || components.iter().any(|one| one.across * one.down == 0) {
            return Err(Undecodable::Damaged);
        }
        let width = u16::from_be_bytes([*width_high, *width_low]);
        let height = u16::from_be_bytes([*height_high, *height_low]);
        Ok(Self { marker, width, height, components })
    }

    fn is_progressive(&self) -> bool {
        self.marker == 0xc2
    }

    /// The greatest densities, which are those of the pixels.
    fn densest(&self) -> (u8, u8) {
        let greatest = |density: fn(&Component) -> u8| self.components.iter().map(density).max().unwrap_or(1);
        (greatest(|one| one.across), greatest(|one| one.down))
    }

    /// Whether the decoder decodes such files rightly. It decodes others without an error into wrong pictures.
    fn is_decodable(&self, scan: &[u8], has_restarts: bool) -> bool {
        let [first, others @ ..] = &*self.components else { return false };
        let (across, down) = self.densest();
        // Colours denser than the light.
        let is_dense = first.across < across || (first.down < down && across > 2);
        // Sequential pictures in several scans: right is one scan per component, if the rows of each are as high.
        let is_whole = self.is_progressive() || scan.len() == self.components.len();
        let is_simple = scan == [first.id] && down == 1 && others.iter().all(|one| one.across == 1) && !has_restarts;
        !is_dense && (is_whole || is_simple)
    }

    /// Whether the components are as dense as in hardly any file.
    fn is_uncommon(&self) -> bool {
        let (across, down) = self.densest();
        across > 2 || down > 2
    }

    /// Bytes that the decoder stores besides the pixels: two for each coefficient of the picture, unless the first scan has every
    /// component and can be finished row by row.
    fn coefficients(&self, scan: &[u8], pixels: u64) -> u64 {
        if !self.is_progressive() && scan.len() == self.components.len() {
            return 0;
        }
        let (across, down) = self.densest();
        let all: u64 = self.components.iter().map(|one| u64::from(one.across) * u64::from(one.down)).sum();
        (2 * pixels * all).div_ceil(u64::from(across) * u64::from(down))
    }
}
