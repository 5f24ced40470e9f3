//! Keeps images as files under their checksums: `ab/cd/abcd….jpg`, so that no directory grows without bound.
//!
//! A file under its final name is whole and durable: it is written beside, synced and renamed. Several processes may
//! share a folder; the same bytes have the same name, so whoever comes second finds the work done.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use ad_core::ports::{Format, Image, ImageError, MediaStore};
use async_trait::async_trait;

/// A directory of images, and where they are served.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
    public_base: String,
}

/// The directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep images in {}: {source}; make it a directory that this user may write to, or choose another", path.display())]
pub struct FolderError {
    /// The directory.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// The name of a stored image: its checksum and its format, and nothing that could lead elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileName<'a> {
    pub(super) checksum: &'a str,
    pub(super) format: Format,
}

impl<'a> FileName<'a> {
    /// Reads `<64 hexadecimal digits, lower case>.(jpg|png)`.
    pub(super) fn parse(name: &'a str) -> Option<Self> {
        let (checksum, extension) = name.split_once('.')?;
        let format = [Format::Jpeg, Format::Png].into_iter().find(|format| format.extension() == extension)?;
        let is_hex = checksum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (checksum.len() == 64 && is_hex).then_some(Self { checksum, format })
    }

    fn path(self, root: &Path) -> PathBuf {
        let Self { checksum, format } = self;
        let mut path = root.join(&checksum[..2]);
        path.push(&checksum[2..4]);
        path.push(format!("{checksum}.{}", format.extension()));
        path
    }
}

impl Folder {
    /// Keeps images in a directory, which is made where it is missing. They are served below `public_base`, such as
    /// `https://ads.example`, by [`ServeMedia`](super::ServeMedia).
    ///
    /// # Errors
    /// When the directory cannot be made or written to.
    pub fn new(root: impl Into<PathBuf>, public_base: &str) -> Result<Self, FolderError> {
        let root = root.into();
        let usable = fs::create_dir_all(&root).and_then(|()| tempfile::tempfile_in(&root));
        match usable {
            Ok(_) => Ok(Self { root, public_base: public_base.trim_end_matches('/').to_owned() }),
            Err(source) => Err(FolderError { path: root, source }),
        }
    }

    /// A stored image with its size in bytes.
    pub(super) async fn open(&self, name: FileName<'_>) -> io::Result<(tokio::fs::File, u64)> {
        let file = tokio::fs::File::open(name.path(&self.root)).await?;
        let size = file.metadata().await?.len();
        Ok((file, size))
    }
}

#[async_trait]
impl MediaStore for Folder {
    async fn put(&self, image: &Image) -> Result<String, ImageError> {
        let checksum = image.checksum.to_string();
        let url = format!("{}/media/{checksum}.{}", self.public_base, image.format.extension());
        let (root, format, bytes) = (self.root.clone(), image.format, image.bytes.clone());
        let stored = tokio::task::spawn_blocking(move || {
            store(&root, &FileName { checksum: &checksum, format }.path(&root), &bytes)
        });
        match stored.await {
            Ok(Ok(())) => Ok(url),
            Ok(Err(error)) => {
                tracing::error!(%error, folder = %self.root.display(), "an image could not be stored");
                Err(transient(&error))
            }
            Err(error) => Err(transient(&error.into())),
        }
    }
}

/// Whatever keeps the service from writing can be mended, and the ad does not change by it.
fn transient(error: &io::Error) -> ImageError {
    let reason = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the service has no space left for images",
        _ => "the service cannot store images now",
    };
    ImageError::Transient { reason: reason.to_owned(), retry_after: None }
}

fn store(root: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(root);
    let is_there = fs::metadata(path).is_ok_and(|found| usize::try_from(found.len()) == Ok(bytes.len()));
    if !is_there {
        for level in [directory.parent().unwrap_or(root), directory] {
            make(level)?;
        }
        write(directory, path, bytes)?;
    }
    // Also when it was there: another writer may have renamed it into place a moment ago and not come this far.
    sync(directory)
}

fn write(directory: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut file = builder.prefix(".").suffix(".part").tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Makes a directory whose parent exists, durably.
fn make(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => directory.parent().map_or(Ok(()), sync),
    }
}

/// Makes the names in a directory durable.
fn sync(directory: &Path) -> io::Result<()> {
    // Elsewhere than on Unix a directory cannot be opened, and a rename is durable by itself.
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use ad_core::ports::Checksum;
    use bytes::Bytes;

    use super::*;

    fn image(bytes: &'static [u8]) -> Image {
        Image { format: Format::Png, bytes: Bytes::from_static(bytes), checksum: Checksum::of(bytes) }
    }

    fn files(directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    #[tokio::test]
    async fn the_same_bytes_are_stored_once_and_a_short_file_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("new/media");
        let folder = Folder::new(&root, "https://ads.example/").unwrap();
        let image = image(b"picture");
        let checksum = image.checksum.to_string();

        let url = folder.put(&image).await.unwrap();
        assert_eq!(url, format!("https://ads.example/media/{checksum}.png"));
        let path = root.join(&checksum[..2]).join(&checksum[2..4]).join(format!("{checksum}.png"));
        assert_eq!(files(&root), std::slice::from_ref(&path));
        let written = fs::metadata(&path).unwrap().modified().unwrap();

        assert_eq!(folder.put(&image).await.unwrap(), url);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);

        fs::write(&path, b"pict").unwrap();
        folder.put(&image).await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"picture");
        assert_eq!(files(&root), [path]);
    }

    #[tokio::test]
    async fn what_cannot_be_stored_may_be_tried_again() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::new(directory.path().join("media"), "https://ads.example").unwrap();
        fs::remove_dir(directory.path().join("media")).unwrap();
        let error = folder.put(&image(b"picture")).await.unwrap_err();
        assert_eq!(error.to_string(), "the service cannot store images now");
        assert!(matches!(error, ImageError::Transient { .. }));

        let error = transient(&io::ErrorKind::StorageFull.into());
        assert_eq!(error.to_string(), "the service has no space left for images");
    }

    #[test]
    fn a_directory_that_cannot_be_used_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Folder::new(&file, "https://ads.example").unwrap_err().to_string();
        assert!(error.contains(&file.display().to_string()) && error.contains("choose another"), "{error}");
    }

    #[test]
    fn a_name_is_a_checksum_and_a_format_and_nothing_else() {
        let checksum = "0123456789abcdef".repeat(4);
        let good = format!("{checksum}.jpg");
        assert_eq!(FileName::parse(&good), Some(FileName { checksum: &checksum, format: Format::Jpeg }));
        for bad in [
            checksum.clone(),
            format!("{checksum}.gif"),
            format!("{checksum}.jpg.png"),
            format!("{}.jpg", checksum.to_uppercase()),
            format!("{}.jpg", &checksum[1..]),
            format!("../{}.jpg", &checksum[3..]),
            "../../../etc/passwd".to_owned(),
            String::new(),
        ] {
            assert_eq!(FileName::parse(&bad), None, "{bad}");
        }
    }
}
