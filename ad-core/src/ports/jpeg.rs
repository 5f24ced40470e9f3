//! The structure of JPEG files (ITU-T T.81, annex B): segments up to the end mark. Nothing is decoded.

/// Marker of the end of the image. It has no data.
pub const END_OF_IMAGE: u8 = 0xd9;

/// Marker of a scan. The coded picture follows its data.
pub const START_OF_SCAN: u8 = 0xda;

const START_OF_IMAGE: u8 = 0xd8;

use super::media::Outline;

/// A marker and its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The second byte of the marker; the first is 0xFF.
    pub marker: u8,
    /// The data behind the length.
    pub data: &'a [u8],
}

impl Segment<'_> {
    /// Whether the segment describes the frame: size, components and the way of coding.
    pub fn is_frame(&self) -> bool {
        // Those in between define tables.
        matches!(self.marker, 0xc0..=0xcf) && !matches!(self.marker, 0xc4 | 0xc8 | 0xcc)
    }

    /// Width and height of a frame.
    fn size(&self) -> Option<(u16, u16)> {
        let [_, high, low, wide_high, wide_low, ..] = *self.data else { return None };
        Some((u16::from_be_bytes([wide_high, wide_low]), u16::from_be_bytes([high, low])))
    }
}

/// The segments of a JPEG file in their order. It ends behind the end mark, or where the file is cut off.
///
/// What is between segments is skipped: the coded picture with its restart markers, fill bytes, and bytes that do not belong there.
#[derive(Debug, Clone)]
pub struct Segments<'a> {
    rest: &'a [u8],
}

impl<'a> Segments<'a> {
    /// The segments of a file.
    pub fn of(file: &'a [u8]) -> Self {
        Self { rest: file.strip_prefix(&[0xff, START_OF_IMAGE]).unwrap_or_default() }
    }

    /// What follows the latest segment.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    fn next(&mut self) -> Option<Segment<'a>> {
        loop {
            let begin = self.rest.iter().position(|byte| *byte == 0xff)?;
            self.rest = &self.rest[begin + 1..];
            let (&marker, rest) = self.rest.split_first()?;
            match marker {
                START_OF_IMAGE | END_OF_IMAGE => {
                    self.rest = &[];
                    return (marker == END_OF_IMAGE).then_some(Segment { marker, data: &[] });
                }
                // Restart markers have no data.
                0xd0..=0xd7 => {}
                0xc0..=0xef | 0xfe => {
                    let (length, rest) = rest.split_first_chunk()?;
                    let length = usize::from(u16::from_be_bytes(*length)).checked_sub(2)?;
                    let (data, rest) = rest.split_at_checked(length)?;
                    self.rest = rest;
                    return Some(Segment { marker, data });
                }
                // A fill byte, a zero that says that 0xFF is part of the picture, or no marker.
                _ => {}
            }
        }
    }
}

/// The outline of a JPEG file; `None` if it says no size.
pub(super) fn outline(file: &[u8]) -> Option<Outline> {
    let mut segments = Segments::of(file);
    let (width, height) = segments.find(Segment::is_frame)?.size()?;
    let has_scan = segments.any(|segment| segment.marker == START_OF_SCAN);
    let is_complete = has_scan && segments.any(|segment| segment.marker == END_OF_IMAGE);
    Some(Outline { width: width.into(), height: height.into(), is_complete })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A JPEG whose thumbnail in the EXIF data has an end mark, with fill bytes, a restart marker and a zero behind 0xFF.
    const FILE: &[u8] =
        b"\xff\xd8\xff\xe1\0\x0eExif\0\0\xff\xd8\xff\xda\xff\xd9\xff\xff\xff\xc0\0\x0b\x08\0\x03\0\x04\x01\x01\x11\0\
        \xff\xda\0\x08\x01\x01\0\0\x3f\0\x12\xff\0\x34\xff\xd0\x56\xff\xd9";

    #[test]
    fn segments_are_found_among_fill_bytes_and_coded_data() {
        let markers: Vec<_> = Segments::of(FILE).map(|segment| (segment.marker, segment.data.len())).collect();
        assert_eq!(markers, [(0xe1, 12), (0xc0, 9), (START_OF_SCAN, 6), (END_OF_IMAGE, 0)]);
    }

    #[test]
    fn a_file_ends_behind_its_last_scan() {
        let whole = Outline { width: 4, height: 3, is_complete: true };
        assert_eq!(outline(FILE), Some(whole));
        assert_eq!(outline(&[FILE, b"anything"].concat()), Some(whole));
        let behind_frame = 33;
        for end in 0..FILE.len() {
            let cut = (end >= behind_frame).then_some(Outline { is_complete: false, ..whole });
            assert_eq!(outline(&FILE[..end]), cut, "{end}");
        }
    }
}
