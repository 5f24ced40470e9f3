//! The bytes of a file, decompressed, with the number of bytes read.

use std::{
    fs::File,
    io::{self, Cursor, Read},
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

use super::{
    Form, HEAD, ReadError, Settings,
    packing::{self, Archive, Progress},
    sheets,
};

/// Bytes from the beginning of a file in which its compression is detected.
const MAGIC: usize = 512;

/// The beginning of documents of Office before 2007.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0";

/// A file that is being read and decompressed.
pub(super) struct SourceFile {
    /// Name of the file in messages.
    pub(super) name: String,
    /// The first bytes, by which the format is detected.
    pub(super) head: Vec<u8>,
    /// The bytes after the beginning.
    pub(super) rest: Box<dyn Read + Send>,
    /// How the file was packed: `gzip` or `zip`.
    pub(super) packing: Option<&'static str>,
    /// The file of an archive.
    pub(super) member: Option<String>,
    pub(super) progress: Progress,
    /// Inferences, in sentences for people.
    pub(super) notes: Vec<String>,
}

pub(super) struct Workbook {
    /// Name of the file in messages.
    pub(super) name: String,
    /// [`Form::Xlsx`], [`Form::Ods`], [`Form::Xls`] or [`Form::Dbf`].
    pub(super) form: Form,
    pub(super) file: File,
    pub(super) progress: Progress,
}

/// A file that can be read.
pub(super) enum OpenedSource {
    Text(SourceFile),
    Workbook(Workbook),
}

impl OpenedSource {
    pub(super) fn progress(&self) -> Progress {
        match self {
            Self::Text(SourceFile { progress, .. }) | Self::Workbook(Workbook { progress, .. }) => progress.clone(),
        }
    }
}

/// Opens a file; `-` is stdin.
///
/// # Errors
/// When it cannot be read, or not decompressed safely.
pub(super) fn open(path: &Path, settings: &Settings) -> Result<OpenedSource, ReadError> {
    let read = Arc::new(AtomicU64::new(0));
    let is_stdin = path.as_os_str() == "-";
    let (name, size, input): (_, _, Box<dyn Read + Send>) = if is_stdin {
        ("stdin".to_owned(), 0, Box::new(packing::CountedRead { inner: io::stdin(), read: read.clone() }))
    } else {
        let name = path.display().to_string();
        let unreadable = |reason: &str| ReadError::new(format!("Cannot read {name}: {reason}."));
        let file = File::open(path).map_err(|error| unreadable(&reason(&error)))?;
        let metadata = file.metadata().map_err(|error| unreadable(&reason(&error)))?;
        if metadata.is_dir() {
            return Err(unreadable("it is a folder").hint("Use a file in it."));
        }
        (name, metadata.len(), Box::new(packing::CountedRead { inner: file, read: read.clone() }))
    };
    let (magic, rest) = begin(&name, input, MAGIC)?;
    let packing = Packing::of(&magic);
    if settings.member.is_some() && packing != Some(Packing::Zip) {
        return Err(ReadError::new(format!("{name} is not a zip archive and has no members.")).hint("Omit member."));
    }
    let input = Box::new(behind(magic, 0, rest));
    let mut source = SourceFile {
        name,
        head: Vec::new(),
        rest: Box::new(io::empty()),
        packing: None,
        member: None,
        progress: Progress { read, size },
        notes: Vec::new(),
    };
    let unpacked = match packing {
        None => input,
        Some(Packing::Gzip) => {
            source.packing = Some("gzip");
            packing::gunzip(input, source.progress.read.clone())
        }
        Some(Packing::Zip) => {
            let file = if is_stdin { spool(input) } else { File::open(path) };
            let file = file.map_err(|error| ReadError::io(&error, &format!("Cannot read {}", source.name)))?;
            let member = match packing::unzip(&source.name, file, settings.member.as_deref())? {
                Archive::OfFiles(member) => member,
                Archive::Spreadsheet(form, file) => {
                    let SourceFile { name, progress, .. } = source;
                    return Ok(OpenedSource::Workbook(Workbook { name, form, file, progress }));
                }
            };
            source.progress = member.progress;
            source.packing = Some("zip");
            source.member = Some(member.name);
            source.notes.extend(member.note);
            member.bytes
        }
    };
    (source.head, source.rest) = begin(&source.name, unpacked, HEAD)?;
    if source.packing.is_some() && Packing::of(&source.head).is_some() {
        let message = format!("{} is an archive within an archive, which is not supported.", source.name);
        return Err(ReadError::new(message).hint("Unpack the outer one first."));
    }
    let form = if source.head.starts_with(COMPOUND) {
        Some(Form::Xls)
    } else {
        sheets::is_dbf(&source.head).then_some(Form::Dbf)
    };
    if let Some(form) = form {
        let SourceFile { name, head, rest, progress, .. } = source;
        let file = spool(Box::new(behind(head, 0, rest)));
        let file = file.map_err(|error| ReadError::io(&error, &format!("Cannot read {name}")))?;
        return Ok(OpenedSource::Workbook(Workbook { name, form, file, progress }));
    }
    Ok(OpenedSource::Text(source))
}

/// The compression of a file, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zip,
}

impl Packing {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Self::Zip),
            _ => None,
        }
    }
}

/// Copies a stream to a file, because an archive or an old document can only be read as a file.
fn spool(mut input: Box<dyn Read + Send>) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut input.by_ref().take(packing::MOST_UNPACKED), &mut file)?;
    Ok(file)
}

fn begin(
    name: &str,
    mut input: Box<dyn Read + Send>,
    length: usize,
) -> Result<(Vec<u8>, Box<dyn Read + Send>), ReadError> {
    let mut head = Vec::new();
    match input.by_ref().take(length as u64).read_to_end(&mut head) {
        Err(error) if head.is_empty() => Err(ReadError::io(&error, &format!("Cannot read {name}"))),
        // The bytes before an error are used first.
        Err(error) => Ok((head, Box::new(FailedReader(Some(error))))),
        Ok(_) => Ok((head, input)),
    }
}

/// The bytes of a file after its byte order mark.
pub(super) fn behind(head: Vec<u8>, mark: usize, rest: Box<dyn Read + Send>) -> impl Read + Send {
    let mut head = Cursor::new(head);
    head.set_position(mark as u64);
    head.chain(rest)
}

/// Returns an error that occurred earlier.
struct FailedReader(Option<io::Error>);

impl Read for FailedReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Why a file cannot be read, without the operating system's error number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}
