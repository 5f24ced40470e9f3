//! The folder of a migration. It is all that a later run needs: the payloads as they were sent, and the journal that says how far they
//! have come. Who removes it begins anew, and the service then refuses what it has.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use ad_cli::terminal::Failure;
use tempfile::TempDir;

/// How folders of what is not done yet begin.
const SCRATCH: &str = "scratch-";

/// Where a migration keeps what it has to remember.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder that was named, else the one beside the file: `stock.csv.migration`.
    pub fn of(file: &Path, named: Option<&Path>) -> Self {
        let path = named.map_or_else(
            || {
                let mut name = file.as_os_str().to_owned();
                name.push(".migration");
                PathBuf::from(name)
            },
            Path::to_owned,
        );
        Self { path }
    }

    /// Makes sure that it is there, and that nobody else uses it as long as the returned file is open.
    ///
    /// # Errors
    /// When it cannot be made, or another run uses it.
    pub fn take(&self) -> Result<File, Failure> {
        fs::create_dir_all(&self.path).map_err(|error| self.cannot("make", &error))?;
        let lock = File::create(self.path.join("lock")).map_err(|error| self.cannot("write into", &error))?;
        match lock.try_lock() {
            Ok(()) => {
                self.clear().map_err(|error| self.cannot("clear", &error))?;
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => {
                Err(Failure::usage(format!("another process is using {}", self.path.display()))
                    .hint("wait until it has finished"))
            }
            Err(TryLockError::Error(error)) => Err(self.cannot("lock", &error)),
        }
    }

    /// Removes what a run that was killed could not.
    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(SCRATCH) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// A folder in it for what is not done yet, as long as the returned value is there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn scratch(&self) -> Result<TempDir, Failure> {
        let scratch = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&self.path);
        scratch.map_err(|error| self.cannot("write into", &error))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The payloads that are sent, one a line.
    pub fn payloads(&self) -> PathBuf {
        self.path.join("payloads.ndjson")
    }

    /// What was sent, and what came of it.
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.ndjson")
    }

    /// Whether anything was sent from here.
    pub fn is_begun(&self) -> bool {
        self.journal().is_file() && self.payloads().is_file()
    }

    /// What is told when it cannot be used.
    pub fn cannot(&self, what: &str, error: &io::Error) -> Failure {
        Failure::usage(format!("cannot {what} the folder of the migration, {}: {error}", self.path.display()))
            .hint("set another: --folder DIR")
    }
}
