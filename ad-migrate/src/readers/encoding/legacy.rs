//! Encodings that no decoder of the web has: code pages of DOS, and UTF-8 that was encoded twice. Both are converted to UTF-8 while they
//! are read.

use std::io::Read;

use ad_files::Transcoded;

/// The upper half of DOS code page 437, of the first PCs.
pub(super) const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// The upper half of DOS code page 850, of Western Europe.
pub(super) const CP850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// The upper half of DOS code page 858: 850 with the euro.
pub(super) const CP858: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// The upper half of DOS code page 865, of Norway and Denmark.
pub(super) const CP865: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// A byte that is never in UTF-8.
const NOT_TEXT: u8 = 0xFF;

/// An encoding that is converted to UTF-8 while reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Legacy {
    /// A code page by its upper half.
    Dos(&'static str),
    /// UTF-8 that was taken for windows-1252 and encoded again.
    Twice,
}

impl Legacy {
    /// The bytes of a file, converted to UTF-8.
    pub(super) fn converted(self, rest: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        match self {
            Self::Dos(upper_half) => {
                let table: Vec<char> = upper_half.chars().collect();
                Box::new(Transcoded::with(rest, move |block, text| {
                    for byte in block {
                        match table.get(usize::from(byte.wrapping_sub(0x80))).filter(|_| !byte.is_ascii()) {
                            Some(letter) => text.extend(letter.encode_utf8(&mut [0; 4]).as_bytes()),
                            None => text.push(*byte),
                        }
                    }
                    Ok(())
                }))
            }
            Self::Twice => {
                // The beginning of a letter that the last block ended with.
                let mut begun = Vec::new();
                Box::new(Transcoded::with(rest, move |block, text| {
                    begun.extend(block);
                    let bytes = std::mem::take(&mut begun);
                    let mut chunks = bytes.utf8_chunks().peekable();
                    while let Some(chunk) = chunks.next() {
                        text.extend(chunk.valid().chars().map(|letter| single_byte(letter).unwrap_or(NOT_TEXT)));
                        let invalid = chunk.invalid();
                        let is_cut = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
                        if chunks.peek().is_none() && is_cut && !block.is_empty() {
                            begun = invalid.to_vec();
                        } else if !invalid.is_empty() {
                            text.push(NOT_TEXT);
                        }
                    }
                    Ok(())
                }))
            }
        }
    }
}

/// The byte of windows-1252 that a letter was made from, also where windows-1252 defines none.
fn single_byte(letter: char) -> Option<u8> {
    if let Ok(byte) = u8::try_from(letter) {
        return Some(byte);
    }
    let mut buffer = [0; 4];
    let (bytes, _, is_foreign) = encoding_rs::WINDOWS_1252.encode(letter.encode_utf8(&mut buffer));
    if is_foreign { None } else { bytes.first().copied() }
}

/// Counts the words of a text whose letters beyond ASCII are encoded twice, and those whose are not.
pub(super) fn twice_encoded(text: &str) -> (usize, usize) {
    let (mut twice, mut once) = (0, 0);
    for run in text.split(|letter: char| letter.is_ascii()).filter(|run| !run.is_empty()) {
        let bytes: Option<Vec<u8>> = run.chars().map(single_byte).collect();
        let is_twice = bytes.is_some_and(|bytes| bytes.len() > 1 && std::str::from_utf8(&bytes).is_ok());
        if is_twice { twice += 1 } else { once += 1 }
    }
    (twice, once)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// Reads one byte at a time, so that letters are cut.
    struct Slow(Vec<u8>, usize);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(byte) = self.0.get(self.1) else { return Ok(0) };
            buffer[0] = *byte;
            self.1 += 1;
            Ok(1)
        }
    }

    fn text(legacy: Legacy, bytes: &[u8]) -> String {
        let mut out = Vec::new();
        legacy.converted(Slow(bytes.to_vec(), 0)).read_to_end(&mut out).unwrap();
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn a_code_page_has_128_letters() {
        for table in [CP437, CP850, CP858, CP865] {
            assert_eq!(table.chars().count(), 128);
        }
        for table in [CP850, CP858, CP865] {
            assert_eq!(text(Legacy::Dos(table), b"M\x94rkbl\x86 \x84\x8e\x8f\x99\x9b\xe1"), "Mörkblå äÄÅÖøß");
        }
        assert_eq!(text(Legacy::Dos(CP858), b"5 \xd5"), "5 €");
    }

    #[test]
    fn what_was_encoded_twice_is_decoded_twice() {
        for right in ["Mörkblå", "Årsmodell – “bra” €", "Plain"] {
            let wrong = encoding_rs::WINDOWS_1252.decode_without_bom_handling(right.as_bytes()).0.into_owned();
            assert_eq!(text(Legacy::Twice, wrong.as_bytes()), right);
            assert_eq!(twice_encoded(&wrong).1, 0, "{wrong}");
        }
        assert_eq!(twice_encoded("Mörkblå Ångström"), (0, 4));
        assert_eq!(text(Legacy::Twice, "日".as_bytes()), "\u{fffd}");
    }
}
