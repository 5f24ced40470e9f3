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
    out: BufWriter<Destination>,
    path: PathBuf,
}

#[derive(Debug)]
enum Destination {
    Temporary(NamedTempFile),
    /// What is no file, such as a pipe, is written to, and not replaced.
    Direct(File),
}

impl WholeFile {
    /// Begins a file.
    ///
    /// # Errors
    /// When none can be made there.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = path.to_owned();
        if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let file = File::options().write(true).open(&path)?;
            return Ok(Self { out: BufWriter::new(Destination::Direct(file)), path });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = readable(&mut tempfile::Builder::new()).prefix(".ad-").tempfile_in(folder)?;
        Ok(Self { out: BufWriter::new(Destination::Temporary(file)), path })
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(self) -> io::Result<()> {
        match self.out.into_inner().map_err(io::IntoInnerError::into_error)? {
            Destination::Temporary(file) => file.persist(&self.path).map(|_: File| ()).map_err(|error| error.error),
            Destination::Direct(_) => Ok(()),
        }
    }
}

/// Gives a report the permissions of an ordinary file instead of those of a temporary one.
fn readable<'a, 'p, 's>(builder: &'a mut tempfile::Builder<'p, 's>) -> &'a mut tempfile::Builder<'p, 's> {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Temporary(file) => file.write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Temporary(file) => file.flush(),
            Self::Direct(file) => file.flush(),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
