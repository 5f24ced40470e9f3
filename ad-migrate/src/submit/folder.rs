//! The folder of a migration: the payloads and the journal, from which a later run resumes. Without it, a migration starts again, and the
//! service rejects the ads that exist.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use ad_terminal::Failure;
use tempfile::TempDir;

/// Prefix of the names of temporary folders.
const SCRATCH: &str = "scratch-";

/// The file that a run locks.
const LOCK: &str = "lock";

#[derive(Debug, Clone)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The given folder, or the one beside the file: `stock.csv.migration`.
    pub(crate) fn of(file: &Path, named: Option<&Path>) -> Self {
        Self { path: named.map_or_else(|| file.with_added_extension("migration"), Path::to_owned) }
    }

    /// Creates it and locks it as long as the returned file is open.
    ///
    /// # Errors
    /// When it cannot be created, or another process uses it.
    pub(crate) fn take(&self) -> Result<File, Failure> {
        fs::create_dir_all(&self.path).map_err(|error| self.unusable("make", &error))?;
        self.check_own()?;
        let lock = self.path.join(LOCK);
        let lock = File::options().create(true).append(true).open(lock);
        let lock = lock.map_err(|error| self.unusable("write into", &error))?;
        match lock.try_lock() {
            Ok(()) => {
                self.clear().map_err(|error| self.unusable("clear", &error))?;
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => {
                Err(Failure::usage(format!("another ad-migrate is using {}", self.path.display()))
                    .hint("wait until it has finished"))
            }
            Err(TryLockError::Error(error)) => Err(self.unusable("lock", &error)),
        }
    }

    /// Refuses a folder of somebody else, in which files would be replaced and folders removed. Every run has left its lock in its own.
    fn check_own(&self) -> Result<(), Failure> {
        let is_own = self.path.join(LOCK).symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let mut entries = fs::read_dir(&self.path).map_err(|error| self.unusable("read", &error))?;
        if is_own || entries.next().is_none() {
            return Ok(());
        }
        Err(Failure::usage(format!("{} has other files, and is not the folder of a migration", self.path.display()))
            .hint("set a new or an empty folder: --folder DIR"))
    }

    /// Removes the temporary folders of runs that were killed.
    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(SCRATCH) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// A temporary folder in it, which exists as long as the returned value.
    pub(crate) fn scratch(&self) -> Result<TempDir, Failure> {
        let scratch = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&self.path);
        scratch.map_err(|error| self.unusable("write into", &error))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file of payloads, one a line.
    pub(crate) fn payloads(&self) -> PathBuf {
        self.path.join("payloads.ndjson")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join("journal.ndjson")
    }

    /// Whether anything was sent from it.
    pub(crate) fn is_begun(&self) -> bool {
        self.journal().is_file() && self.payloads().is_file()
    }

    /// The error that it cannot be used.
    pub(crate) fn unusable(&self, what: &str, error: &io::Error) -> Failure {
        Failure::usage(format!("cannot {what} the folder of the migration, {}: {error}", self.path.display()))
            .hint("set another: --folder DIR")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_left_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder { path: home.path().to_owned() };
        let theirs = home.path().join("scratch-pad");
        fs::create_dir(&theirs).unwrap();
        let error = folder.take().unwrap_err().to_string();
        assert!(error.contains("is not the folder of a migration"), "{error}");
        assert!(theirs.is_dir() && !home.path().join(LOCK).exists());
        // An empty one is taken, and is its own from then on, whatever is in it.
        fs::remove_dir(&theirs).unwrap();
        drop(folder.take().unwrap());
        fs::create_dir(&theirs).unwrap();
        drop(folder.take().unwrap());
        assert!(!theirs.exists());
    }
}
