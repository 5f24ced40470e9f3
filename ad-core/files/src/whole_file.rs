//! Atomic files: they appear when they are complete.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// A file that appears when it is complete.
#[derive(Debug)]
pub struct WholeFile {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl WholeFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When none can be made there.
    pub fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = readable(&mut tempfile::Builder::new()).prefix(".ad-").tempfile_in(folder)?;
        Ok(Self { out: BufWriter::new(file), path: path.to_owned() })
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(self) -> io::Result<()> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(&self.path).map(|_: File| ()).map_err(|error| error.error)
    }
}

/// Gives a report the permissions of an ordinary file instead of those of a temporary one.
fn readable<'a, 'p, 's>(builder: &'a mut tempfile::Builder<'p, 's>) -> &'a mut tempfile::Builder<'p, 's> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
