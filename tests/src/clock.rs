//! A clock that tests move, by `libfaketime`, which stands between a process and its clock.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::tools::{self, Tool};

/// The clock of processes that are started with its environment.
#[derive(Debug)]
pub struct MovedClock {
    library: PathBuf,
    folder: TempDir,
}

impl MovedClock {
    /// A clock that is right. None when `libfaketime` is not installed.
    ///
    /// # Panics
    /// When there is no temporary folder.
    pub fn start() -> Option<Self> {
        let library = tools::find(Tool::FakeTime)?;
        let clock = Self { library, folder: tempfile::tempdir().expect("a temporary folder can be made") };
        clock.set("+0");
        Some(clock)
    }

    /// The environment of processes that go by it.
    pub fn env(&self) -> Vec<(String, String)> {
        let offset = self.offset();
        let env = [
            ("LD_PRELOAD", self.library.as_path()),
            ("FAKETIME_TIMESTAMP_FILE", &offset),
            ("FAKETIME_NO_CACHE", Path::new("1")),
            ("FAKETIME_DONT_FAKE_MONOTONIC", Path::new("1")),
            ("DONT_FAKE_MONOTONIC", Path::new("1")),
        ];
        env.map(|(name, value)| (name.to_owned(), value.display().to_string())).to_vec()
    }

    /// Moves it, such as `+3h`, from the right time.
    ///
    /// # Panics
    /// When the file with the offset cannot be written.
    pub fn set(&self, offset: &str) {
        std::fs::write(self.offset(), offset).expect("a temporary folder can be written");
    }

    fn offset(&self) -> PathBuf {
        self.folder.path().join("offset")
    }
}
