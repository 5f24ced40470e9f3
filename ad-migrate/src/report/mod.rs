//! What was found, for people and programs. Nothing is judged here: that is [`plan`](crate::plan)'s.
//!
//! | Part | For whom |
//! |---|---|
//! | [`Terminal`] | whoever runs the command: a table of what cannot go, or every finding as rows for programs |
//! | [`Json`] | programs: everything, in a file |
//! | [`Page`] | the dealer and those who mend the file: one HTML page to forward, which loads nothing from anywhere |
//!
//! All of them take verdicts one by one and keep no more of them than they show.

mod json;
mod kept;
mod page;
mod terminal;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use ad_core::time::Timestamp;
use serde::Serialize;
use tempfile::NamedTempFile;

pub use json::Json;
pub use page::Page;
pub use terminal::{Terminal, warn_of_missing};

/// What a report is about.
#[derive(Debug, Clone, Serialize)]
pub struct About {
    /// The file that was checked.
    pub file: String,
    /// The mapping: its file, or the name under which it comes with the program.
    pub mapping: String,
    /// When.
    pub checked: Timestamp,
}

/// A file that is there when it is whole, and not before.
#[derive(Debug)]
struct Whole {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Whole {
    /// Begins a file.
    ///
    /// # Errors
    /// When none can be made there.
    fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = readable(&mut tempfile::Builder::new()).prefix(".ad-migrate-").tempfile_in(folder)?;
        Ok(Self { out: BufWriter::new(file), path: path.to_owned() })
    }

    /// Puts it in its place.
    fn end(self) -> io::Result<()> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(&self.path).map(|_: File| ()).map_err(|error| error.error)
    }
}

/// A report is made to be read by others: it may be what any file may be, and not what a temporary one is.
fn readable<'a, 'p, 's>(builder: &'a mut tempfile::Builder<'p, 's>) -> &'a mut tempfile::Builder<'p, 's> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

impl Write for Whole {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
