//! Names of stored images, in the folder or bucket and in addresses.

use ad_core::ports::{Format, Image};

/// `Cache-Control` of stored images: what is stored under a name never changes.
pub(super) const FOREVER: &str = "public, max-age=31536000, immutable";

/// The name of a stored image: its checksum and its format, and nothing that could lead elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) checksum: String,
    pub(super) format: Format,
}

impl Name {
    /// The name of an image.
    pub(super) fn of(image: &Image) -> Self {
        Self { checksum: image.checksum.to_string(), format: image.format }
    }

    /// Reads `<64 hexadecimal digits, lower case>.(jpg|png)`, or a [`key`](Self::key).
    pub(super) fn parse(text: &str) -> Option<Self> {
        let file = text.rsplit('/').next().unwrap_or_default();
        let (checksum, extension) = file.split_once('.')?;
        let format = [Format::Jpeg, Format::Png].into_iter().find(|format| format.extension() == extension)?;
        let is_hex = checksum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let name = (checksum.len() == 64 && is_hex).then(|| Self { checksum: checksum.to_owned(), format })?;
        (text == file || text == name.key()).then_some(name)
    }

    /// Its name in addresses of this service: `abcd….jpg`.
    pub(super) fn file(&self) -> String {
        format!("{}.{}", self.checksum, self.format.extension())
    }

    /// Where it is kept: `ab/cd/abcd….jpg`, so that no directory grows without bound. It is the same in a bucket, so that
    /// one can be copied into the other as it is.
    pub(super) fn key(&self) -> String {
        format!("{}/{}/{}", &self.checksum[..2], &self.checksum[2..4], self.file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_checksum_and_a_format_and_nothing_else() {
        let checksum = "0123456789abcdef".repeat(4);
        let name = Name { checksum: checksum.clone(), format: Format::Jpeg };
        assert_eq!(name.key(), format!("01/23/{checksum}.jpg"));
        assert_eq!(Name::parse(&name.file()), Some(name.clone()));
        assert_eq!(Name::parse(&name.key()), Some(name));
        for bad in [
            checksum.clone(),
            format!("{checksum}.gif"),
            format!("{checksum}.jpg.png"),
            format!("{}.jpg", checksum.to_uppercase()),
            format!("{}.jpg", &checksum[1..]),
            format!("../{}.jpg", &checksum[3..]),
            format!("/{checksum}.jpg"),
            format!("01/{checksum}.jpg"),
            format!("23/01/{checksum}.jpg"),
            format!("x/01/23/{checksum}.jpg"),
            format!("01/23/{checksum}.jpg/"),
            "../../../etc/passwd".to_owned(),
            String::new(),
        ] {
            assert_eq!(Name::parse(&bad), None, "{bad}");
        }
    }
}
