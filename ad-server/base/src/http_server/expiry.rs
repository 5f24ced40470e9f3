//! When a certificate expires: the one value of an X.509 certificate (RFC 5280, 4.1) that TLS itself does not need.

use jiff::civil;

/// Tags of the types of DER (X.690) that a certificate is read by.
const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The optional version, which comes first.
const VERSION: u8 = 0xa0;

/// The end of a certificate's validity, in seconds since 1970; `None` if it is not a certificate.
pub(super) fn not_after(certificate: &[u8]) -> Option<i64> {
    let mut certificate = Der(Der(certificate).content(SEQUENCE)?);
    let mut fields = Der(certificate.content(SEQUENCE)?);
    if fields.0.first() == Some(&VERSION) {
        fields.content(VERSION)?;
    }
    fields.content(INTEGER)?; // serial number
    fields.content(SEQUENCE)?; // algorithm of the signature
    fields.content(SEQUENCE)?; // issuer
    let mut validity = Der(fields.content(SEQUENCE)?);
    validity.value()?;
    let (tag, time) = validity.value()?;
    let time = std::str::from_utf8(time).ok()?.strip_suffix('Z')?;
    match tag {
        UTC_TIME => {
            // RFC 5280, 4.1.2.5.1: years from 50 on are of the 20th century.
            let century = if time.get(..2)? < "50" { "20" } else { "19" };
            seconds(&format!("{century}{time}"))
        }
        GENERALIZED_TIME => seconds(time),
        _ => None,
    }
}

/// `YYYYMMDDHHMMSS` in seconds since 1970.
fn seconds(time: &str) -> Option<i64> {
    if time.len() != 14 || !time.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let two = |at: usize| time[at..at + 2].parse::<i8>().ok();
    let (date, hour) = (civil::Date::new(time[..4].parse().ok()?, two(4)?, two(6)?).ok()?, two(8)?);
    let time = civil::Time::new(hour, two(10)?, two(12)?, 0).ok()?;
    // Not by way of a timestamp, which ends before the year does that stands for never (RFC 5280, 4.1.2.5).
    Some(date.to_datetime(time).duration_since(civil::date(1970, 1, 1).at(0, 0, 0, 0)).as_secs())
}

/// Values of DER that are not read yet, one after the other.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The content of the next value, if it has this tag.
    fn content(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.value().filter(|value| value.0 == tag).map(|value| value.1)
    }

    /// Tag and content of the next value.
    fn value(&mut self) -> Option<(u8, &'a [u8])> {
        let (&[tag, short], mut rest) = self.0.split_first_chunk::<2>()?;
        let mut length = usize::from(short);
        if short >= 0x80 {
            // The number of bytes that the length takes; certificates are shorter than 2^24 bytes.
            let (bytes, content) =
                rest.split_at_checked(length - 0x80).filter(|(bytes, _)| matches!(bytes.len(), 1..=3))?;
            length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
            rest = content;
        }
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::{CertificateDer, pem::PemObject};

    use super::*;

    fn certificate(pem: &str) -> Vec<u8> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
    }

    fn value(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, u8::try_from(content.len()).unwrap()], content].concat()
    }

    /// A certificate as far as it is read.
    fn made(version: &[u8], tag: u8, time: &str) -> Vec<u8> {
        let begin = value(UTC_TIME, b"200101000000Z");
        let validity = value(SEQUENCE, &[begin, value(tag, time.as_bytes())].concat());
        let before = [version, &value(INTEGER, &[1]), &value(SEQUENCE, &[]), &value(SEQUENCE, &[])].concat();
        value(SEQUENCE, &value(SEQUENCE, &[before, validity].concat()))
    }

    #[test]
    fn a_certificate_says_when_it_expires() {
        let version = value(VERSION, &value(INTEGER, &[2]));
        for (tag, time, expected) in [
            (UTC_TIME, "260101000000Z", Some(1_767_225_600)),
            (UTC_TIME, "491231235959Z", Some(2_524_607_999)),
            (UTC_TIME, "500101000000Z", Some(-631_152_000)),
            (GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000)),
            (GENERALIZED_TIME, "99991231235959Z", Some(253_402_300_799)),
            (UTC_TIME, "2601010000Z", None),
            (UTC_TIME, "261301000000Z", None),
            (UTC_TIME, "260101000000+0100", None),
            (GENERALIZED_TIME, "20500101000000.5Z", None),
            (UTC_TIME, "ååååååZ", None),
            (SEQUENCE, "260101000000Z", None),
        ] {
            assert_eq!(not_after(&made(&version, tag, time)), expected, "{time}");
            assert_eq!(not_after(&made(&[], tag, time)), expected, "without a version: {time}");
        }
    }

    #[test]
    fn what_is_cut_off_or_changed_is_no_certificate() {
        let whole = certificate(include_str!("../../../../tests/data/tls/first.pem"));
        assert_eq!(not_after(&whole), Some(4_948_824_467));
        for end in 0..whole.len() {
            assert_eq!(not_after(&whole[..end]), None, "the first {end} bytes");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            let _no_panic = not_after(&changed);
        }
    }
}
