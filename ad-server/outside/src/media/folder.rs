//! Stores images as files under their names ([`Name::key`]).
//!
//! A file under its final name is complete and durable: it is written to a temporary file, synced and renamed. Several processes may
//! share a folder, because the same bytes have the same name.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use bytes::Bytes;

use super::name::Name;

/// Images as files of a directory.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Keeps images in a directory, which is made where it is missing and must be one that can be written to.
    pub(super) fn open(root: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&root).and_then(|()| tempfile::tempfile_in(&root)).map(|_| Self { root })
    }

    /// A stored image with its size in bytes.
    pub(super) async fn read(&self, name: &Name) -> io::Result<(tokio::fs::File, u64)> {
        let file = tokio::fs::File::open(self.root.join(name.key())).await?;
        let size = file.metadata().await?.len();
        Ok((file, size))
    }

    /// Stores an image, unless a file of the same length exists.
    pub(super) async fn put(&self, name: &Name, bytes: &Bytes) -> io::Result<()> {
        let (root, path, bytes) = (self.root.clone(), self.root.join(name.key()), bytes.clone());
        tokio::task::spawn_blocking(move || store(&root, &path, &bytes)).await?
    }

    pub(super) async fn remove(&self, name: &Name) -> io::Result<()> {
        tokio::fs::remove_file(self.root.join(name.key())).await
    }
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
    // Also if the file existed: another writer may have renamed it just now and not have synced the folder yet.
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
    use ad_core::ports::{Checksum, Format};

    use super::*;

    fn files(directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    #[tokio::test]
    async fn the_same_bytes_are_written_once_and_nothing_lies_beside_them() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("new/media");
        let folder = Folder::open(root.clone()).unwrap();
        let bytes = Bytes::from_static(b"picture");
        let name = Name { checksum: Checksum::of(&bytes).to_string(), format: Format::Png, width: None };

        folder.put(&name, &bytes).await.unwrap();
        let path = root.join(name.key());
        assert_eq!(files(&root), std::slice::from_ref(&path));
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        folder.put(&name, &bytes).await.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);

        fs::write(&path, b"pict").unwrap();
        folder.put(&name, &bytes).await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"picture");
        assert_eq!(files(&root), [path]);
    }
}
