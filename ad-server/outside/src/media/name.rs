//! Names of stored images, in the folder or bucket and in addresses.

use ad_core::ports::{Format, Image};

/// `Cache-Control` of stored images: what is stored under a name never changes.
pub(super) const FOREVER: &str = "public, max-age=31536000, immutable";

/// The name of a stored image, which is its checksum and its format, or of a rendition of it, which has its width as well. Nothing in it
/// could lead elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) checksum: String,
    pub(super) format: Format,
    pub(super) width: Option<u32>,
}

impl Name {
    pub(super) fn of(image: &Image) -> Self {
        Self { checksum: image.checksum.to_string(), format: image.format, width: None }
    }

    /// The name of the image at an address of this service (`cdn_url`).
    pub(super) fn at(address: &str) -> Option<Self> {
        Self::parse(address.rsplit('/').next()?)
    }

    pub(super) fn rendition(&self, width: u32) -> Self {
        Self { checksum: self.checksum.clone(), format: Format::Jpeg, width: Some(width) }
    }

    /// Reads `<64 hexadecimal digits, lower case>.(jpg|png)`, or `<64 digits>-<width>.jpg`, or a [`key`](Self::key).
    pub(super) fn parse(text: &str) -> Option<Self> {
        let file = text.rsplit('/').next().unwrap_or_default();
        let (stem, extension) = file.split_once('.')?;
        let (checksum, width) = match stem.split_once('-') {
            Some((checksum, width)) => (checksum, Some(width.parse().ok()?)),
            None => (stem, None),
        };
        let format = [Format::Jpeg, Format::Png].into_iter().find(|format| format.extension() == extension)?;
        let is_hex = checksum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let name = (checksum.len() == 64 && is_hex).then(|| Self { checksum: checksum.to_owned(), format, width })?;
        let is_exact = file == name.file() && (width.is_none() || format == Format::Jpeg);
        (is_exact && (text == file || text == name.key())).then_some(name)
    }

    /// The names that the image of a rendition may have.
    pub(super) fn originals(&self) -> [Self; 2] {
        [Format::Jpeg, Format::Png].map(|format| Self { checksum: self.checksum.clone(), format, width: None })
    }

    /// Its name in addresses of this service: `abcd….jpg`, or `abcd…-800.jpg`.
    pub(super) fn file(&self) -> String {
        format!("{}.{}", self.stem(), self.format.extension())
    }

    /// The same without the format.
    pub(super) fn stem(&self) -> String {
        match self.width {
            Some(width) => format!("{}-{width}", self.checksum),
            None => self.checksum.clone(),
        }
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
        let name = Name { checksum: checksum.clone(), format: Format::Jpeg, width: None };
        assert_eq!(name.key(), format!("01/23/{checksum}.jpg"));
        assert_eq!(name.rendition(800).key(), format!("01/23/{checksum}-800.jpg"));
        assert_eq!(Name::at(&format!("https://ads.example/media/{}", name.file())), Some(name.clone()));
        for name in [name.rendition(800), name] {
            assert_eq!(Name::parse(&name.file()), Some(name.clone()));
            assert_eq!(Name::parse(&name.key()), Some(name));
        }
        for bad in [
            checksum.clone(),
            format!("{checksum}.gif"),
            format!("{checksum}-800.png"),
            format!("{checksum}-+8.jpg"),
            format!("{checksum}-080.jpg"),
            format!("{checksum}-99999999999.jpg"),
            format!("{checksum}-.jpg"),
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
