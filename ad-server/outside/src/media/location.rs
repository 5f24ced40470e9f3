//! Where images are stored, as a setting: a folder, or a bucket of an S3-compatible store.

use std::{fmt, path::PathBuf, str::FromStr};

use url::Url;

/// A folder, or a bucket with the prefix of its keys.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::From)]
pub enum MediaLocation {
    /// A directory: `./data/media` or `file:///srv/media`.
    Folder(PathBuf),
    /// A bucket of S3: `s3://bucket/prefix`.
    #[from(ignore)]
    Bucket {
        bucket: String,
        /// What the keys of images begin with, without a slash at the end; may be empty.
        prefix: String,
    },
}

impl FromStr for MediaLocation {
    type Err = InvalidMediaLocation;

    fn from_str(text: &str) -> Result<Self, InvalidMediaLocation> {
        match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("s3") => bucket(rest).ok_or(InvalidMediaLocation),
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => {
                let url = Url::parse(text).map_err(|_| InvalidMediaLocation)?;
                url.to_file_path().map(Self::Folder).map_err(|()| InvalidMediaLocation)
            }
            Some(_) => Err(InvalidMediaLocation),
            None if text.is_empty() => Err(InvalidMediaLocation),
            None => Ok(Self::Folder(text.into())),
        }
    }
}

/// `bucket/prefix`. Credentials have no place in it: they come from the environment, where no list of processes shows them.
fn bucket(rest: &str) -> Option<MediaLocation> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if bucket.is_empty() || !bucket.bytes().all(is_name) || prefix.contains(['?', '#']) {
        return None;
    }
    let prefix = prefix.strip_prefix('/').unwrap_or(prefix);
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    let is_part =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(|letter: char| letter.is_ascii_control());
    let is_path = prefix.is_empty() || prefix.split('/').all(is_part);
    is_path.then(|| MediaLocation::Bucket { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
}

ad_server_base::values::text_value! {
    MediaLocation: InvalidMediaLocation = "expected a folder such as ./data/media or file:///srv/media, or a bucket such as s3://bucket/prefix";
}

impl fmt::Display for MediaLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(formatter),
            Self::Bucket { bucket, prefix } if prefix.is_empty() => write!(formatter, "s3://{bucket}"),
            Self::Bucket { bucket, prefix } => write!(formatter, "s3://{bucket}/{prefix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_folder_or_a_bucket() {
        let bucket =
            |bucket: &str, prefix: &str| MediaLocation::Bucket { bucket: bucket.into(), prefix: prefix.into() };
        for (text, place, shown) in [
            ("./data/media", MediaLocation::Folder("./data/media".into()), "./data/media"),
            ("m", MediaLocation::Folder("m".into()), "m"),
            ("file:///srv/media%20b", MediaLocation::Folder("/srv/media b".into()), "/srv/media b"),
            ("s3://ads", bucket("ads", ""), "s3://ads"),
            ("s3://ads/", bucket("ads", ""), "s3://ads"),
            ("S3://ads.example-1/media/cars/", bucket("ads.example-1", "media/cars"), "s3://ads.example-1/media/cars"),
        ] {
            let read: MediaLocation = text.parse().unwrap();
            assert_eq!(read, place, "{text}");
            assert_eq!(read.to_string(), shown);
        }
        for text in [
            "",
            "s3://",
            "s3:///media",
            "s3://key:secret@ads/media",
            "s3://ads:9000/media",
            "s3://ads/media?region=x",
            "s3://ads/a//b",
            "s3://ads/../b",
            "file://host/srv/media",
            "gs://ads/media",
            "https://ads.example/media",
        ] {
            assert_eq!(text.parse::<MediaLocation>(), Err(InvalidMediaLocation), "{text}");
        }
    }
}
