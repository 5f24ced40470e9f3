//! The file as bytes: where they come from, how many have been read, and how they are packed.

use std::{
    fmt,
    fs::File,
    io::{self, Cursor, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{HEAD, ReadError, Settings};

/// A file that has been opened and, if need be, is being unpacked.
pub(super) struct Source {
    /// What messages call it.
    pub(super) name: String,
    /// How it begins.
    pub(super) head: Vec<u8>,
    /// What follows.
    pub(super) rest: Box<dyn Read + Send>,
    /// `gzip` or `zip`.
    pub(super) packing: Option<&'static str>,
    /// The file of an archive.
    pub(super) member: Option<String>,
    /// Bytes that have been read of the file on the disk.
    pub(super) read: Arc<AtomicU64>,
    /// Bytes that it has, if that is known.
    pub(super) size: u64,
    /// What was inferred.
    pub(super) notes: Vec<String>,
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Opens a file; `-` is stdin.
///
/// # Errors
/// When it cannot be read, or is packed in a way that cannot be unpacked safely.
pub(super) fn open(path: &Path, _settings: &Settings) -> Result<Source, ReadError> {
    let read = Arc::new(AtomicU64::new(0));
    let (name, size, input): (_, _, Box<dyn Read + Send>) = if path.as_os_str() == "-" {
        ("stdin".to_owned(), 0, Box::new(Counted { inner: io::stdin(), read: read.clone() }))
    } else {
        let name = path.display().to_string();
        let unreadable = |reason: &str| ReadError::new(format!("Cannot read {name}: {reason}."));
        let file = File::open(path).map_err(|error| unreadable(&reason(&error)))?;
        let metadata = file.metadata().map_err(|error| unreadable(&reason(&error)))?;
        if metadata.is_dir() {
            return Err(unreadable("it is a folder").hint("Name a file in it."));
        }
        (name, metadata.len(), Box::new(Counted { inner: file, read: read.clone() }))
    };
    let (head, rest) = begin(&name, input)?;
    Ok(Source { name, head, rest, packing: None, member: None, read, size, notes: Vec::new() })
}

/// Reads how something begins.
fn begin(name: &str, mut input: Box<dyn Read + Send>) -> Result<(Vec<u8>, Box<dyn Read + Send>), ReadError> {
    let mut head = Vec::new();
    match input.by_ref().take(HEAD as u64).read_to_end(&mut head) {
        // What was read before an error is handed over before it.
        Err(error) if head.is_empty() => Err(ReadError::io(&error, &format!("Cannot read {name}"))),
        Err(error) => Ok((head, Box::new(Failing(Some(error))))),
        Ok(_) => Ok((head, input)),
    }
}

/// Says an error that came too early.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl Source {
    /// All of it, behind so many bytes.
    pub(super) fn behind(head: Vec<u8>, mark: usize, rest: Box<dyn Read + Send>) -> impl Read + Send {
        let mut head = Cursor::new(head);
        head.set_position(mark as u64);
        head.chain(rest)
    }
}

/// Why a file cannot be read, without the number that the operating system adds.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}
