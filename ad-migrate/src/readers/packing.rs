//! Decompresses gzip and zip while reading: writes no files, and rejects archives that decompress to far too much.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::{CrcReader, read::DeflateDecoder, read::MultiGzDecoder};
use zip::{CompressionMethod, ZipArchive};

use super::{Form, ReadError, quoted};

/// Most bytes that a file may decompress to.
pub(super) const MOST_UNPACKED: u64 = 64 << 30;

/// Bytes that any file may decompress to, whatever its ratio.
const ANY_UNPACKED: u64 = 8 << 20;

/// Highest ratio beyond that. Stock files have 5 to 60.
const MOST_TIMES: u64 = 100;

/// Most bytes of an archive's directory.
const LONGEST_LIST: u32 = 4 << 20;

/// Ends of the names of images.
const IMAGES: &[&str] = &[".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".avif"];

/// Most files of an archive that are listed.
const SHOWN: usize = 10;

/// How much of a file has been read.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    /// Bytes on the disk that have been read; of an archive, those of its file, compressed.
    pub(super) read: Arc<AtomicU64>,
    /// All of them; 0 if that is unknown.
    pub(super) size: u64,
}

pub(super) struct CountedRead<R> {
    pub(super) inner: R,
    pub(super) read: Arc<AtomicU64>,
}

impl<R: Seek> Seek for CountedRead<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.inner.seek(position)
    }
}

impl<R: Read> Read for CountedRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A file of an archive.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) bytes: Box<dyn Read + Send>,
    pub(super) progress: Progress,
    /// Why it was selected, if it was not set.
    pub(super) note: Option<String>,
}

/// Decompresses gzip of any number of parts.
pub(super) fn gunzip(packed: Box<dyn Read + Send>, read: Arc<AtomicU64>) -> Box<dyn Read + Send> {
    Box::new(Unpacked { inner: MultiGzDecoder::new(packed), packing: "gzip", packed: read, bytes: 0 })
}

/// What a zip archive is.
pub(super) enum Archive {
    /// An archive of files, of which one is read.
    OfFiles(Member),
    /// A spreadsheet in a format that is a zip archive, with its file at the beginning.
    Spreadsheet(Form, File),
}

fn damaged(name: &str, error: &dyn std::fmt::Display) -> ReadError {
    ReadError::new(format!("The zip archive {name} cannot be read: {error}."))
        .hint("Download it again; it may be truncated.")
}

/// The names of the files of an archive.
///
/// # Errors
/// When it cannot be read, or not safely.
pub(super) fn list(name: &str, mut file: File) -> Result<Vec<String>, ReadError> {
    check_list(name, &mut file).map_err(|error| damaged(name, &error))??;
    names(name, &ZipArchive::new(file).map_err(|error| damaged(name, &error))?)
}

fn names(name: &str, archive: &ZipArchive<File>) -> Result<Vec<String>, ReadError> {
    let names = archive.file_names().map(|name| name.map(std::borrow::Cow::into_owned));
    let names: Vec<String> = names.collect::<Result<_, _>>().map_err(|error| damaged(name, &error))?;
    refuse(name, &names)?;
    Ok(names)
}

/// Opens the data file of an archive, or the spreadsheet that it is.
///
/// # Errors
/// When there is none, or several, or it cannot be decompressed safely.
pub(super) fn unzip(name: &str, mut file: File, wanted: Option<&str>) -> Result<Archive, ReadError> {
    let damaged = |error: &dyn std::fmt::Display| damaged(name, error);
    check_list(name, &mut file).map_err(|error| damaged(&error))??;
    let mut archive = ZipArchive::new(file).map_err(|error| damaged(&error))?;
    let names = names(name, &archive)?;
    if let Some(form) = spreadsheet(&names).filter(|_| wanted.is_none()) {
        let mut file = archive.into_inner();
        file.rewind().map_err(|error| damaged(&error))?;
        return Ok(Archive::Spreadsheet(form, file));
    }
    let (index, note) = choose(name, &names, wanted)?;
    let member = &names[index];
    let (method, start, size, crc) = {
        let entry = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
        if entry.encrypted() {
            return Err(ReadError::new(format!("The file {} in {name} is encrypted.", quoted(member)))
                .hint("Unpack it first, or have it packed without a password."));
        }
        // The sizes may be wrong; they are checked while reading.
        if let Some(error) = check_ratio(entry.size(), entry.compressed_size()) {
            let message = format!("The file {} in {name} is not read: {}.", quoted(member), error.message);
            return Err(ReadError { message, ..error });
        }
        let start = entry.data_start().ok_or_else(|| damaged(&"the start of a file is missing"))?;
        (entry.compression(), start, entry.compressed_size(), entry.crc32())
    };
    let mut file = archive.into_inner();
    file.seek(SeekFrom::Start(start)).map_err(|error| damaged(&error))?;
    let read = Arc::new(AtomicU64::new(0));
    let packed = CountedRead { inner: file.take(size), read: read.clone() };
    let bytes: Box<dyn Read + Send> = match method {
        CompressionMethod::Stored => Box::new(packed),
        CompressionMethod::Deflated => Box::new(DeflateDecoder::new(packed)),
        other => {
            return Err(ReadError::new(format!(
                "The file {} in {name} is compressed with {other}, which is not supported.",
                quoted(member)
            ))
            .hint("Unpack it first, or compress it with deflate."));
        }
    };
    let checked = Checked { inner: CrcReader::new(bytes), crc };
    let bytes = Box::new(Unpacked { inner: checked, packing: "zip", packed: read.clone(), bytes: 0 });
    Ok(Archive::OfFiles(Member { name: member.clone(), bytes, progress: Progress { read, size }, note }))
}

/// Reads a file of an archive. Its compressed size limits its length; the allowance limits the length of all files together.
pub(super) fn bounded<R: Read>(file: R, packed: u64, allowance: &mut Allowance) -> impl Read {
    let packed = Arc::new(AtomicU64::new(packed));
    allowance.read(Unpacked { inner: file, packing: "zip", packed, bytes: 0 })
}

/// Most bytes that are read of a spreadsheet: this number, and this multiple of its size in addition. Its parts are read several times
/// to find the sheet with the table, and without a limit, many sheets that refer to the same part would take for ever.
const ANY_READ: u64 = 64 << 20;
const MOST_READ_TIMES: u64 = 150;

/// What may still be read of the parts of a spreadsheet, all together.
#[derive(Debug)]
pub(super) struct Allowance {
    left: u64,
}

impl Allowance {
    /// For a file of this size on the disk.
    pub(super) fn of(size: u64) -> Self {
        Self { left: ANY_READ.saturating_add(MOST_READ_TIMES.saturating_mul(size)) }
    }

    /// Subtracts the bytes that are read from the allowance; reading more than is left fails.
    pub(super) fn read<R: Read>(&mut self, inner: R) -> impl Read {
        AllowedRead { inner, left: &mut self.left }
    }
}

struct AllowedRead<'a, R> {
    inner: R,
    left: &'a mut u64,
}

impl<R: Read> Read for AllowedRead<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let too_much = || {
            let message = "finding its table takes far more reading than its size allows";
            io::Error::other(ReadError::new(message).hint("Set the sheet with the table: --sheet NAME."))
        };
        *self.left = self.left.checked_sub(read as u64).ok_or_else(too_much)?;
        Ok(read)
    }
}

/// A path with slashes, as it should be written. Some programs for Windows write backslashes.
pub(super) fn plain_path(path: &str) -> String {
    path.replace('\\', "/")
}

/// Rejects an archive whose directory would take too much memory.
fn check_list(name: &str, file: &mut File) -> io::Result<Result<(), ReadError>> {
    const RECORD: usize = 22;
    let length = file.seek(SeekFrom::End(0))?;
    let tail = length.min(64 * 1024 + RECORD as u64);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut text = Vec::new();
    file.take(tail).read_to_end(&mut text)?;
    let record = memchr::memmem::rfind(&text, b"PK\x05\x06").and_then(|at| text.get(at..at + RECORD));
    let size = record.and_then(|record| record[12..16].try_into().ok()).map_or(0, u32::from_le_bytes);
    let many = || ReadError::new(format!("The zip archive {name} has too many files."));
    Ok(if size > LONGEST_LIST { Err(many().hint("Unpack the stock file.")) } else { Ok(()) })
}

/// Whether the files of an archive are those of a spreadsheet that can be read.
fn spreadsheet(names: &[String]) -> Option<Form> {
    let names: Vec<String> = names.iter().map(|name| plain_path(name).to_lowercase()).collect();
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let has_workbook =
        names.iter().any(|name| name.strip_suffix(".xml").is_some_and(|name| name.starts_with("xl/workbook")));
    match (has_workbook && has("[content_types].xml"), has("content.xml")) {
        (true, _) => Some(Form::Xlsx),
        (_, true) if has("mimetype") || has("meta-inf/manifest.xml") => Some(Form::Ods),
        _ => None,
    }
}

/// Archives that are documents which cannot be read: a file of each, what it is, and whether the list of types must be there.
const DOCUMENTS: &[(&str, &str, bool)] = &[
    ("xl/workbook.bin", "an Excel workbook (.xlsb)", true),
    ("word/document.xml", "a Word document (.docx)", true),
    ("Index/Document.iwa", "a document of Apple's Numbers, Pages or Keynote", false),
    ("Index.zip", "a document of Apple's Numbers, Pages or Keynote", false),
];

/// Rejects documents of other programs, and names that lead out of the archive.
fn refuse(name: &str, names: &[String]) -> Result<(), ReadError> {
    let has = |wanted: &str| names.iter().any(|name| plain_path(name) == wanted);
    for (file, what, has_types) in DOCUMENTS {
        if has(file) && (!has_types || has("[Content_Types].xml")) {
            return Err(ReadError::new(format!("{name} is {what}."))
                .hint("Save it as .xlsx, or as CSV (UTF-8), in the program that made it."));
        }
    }
    let climbs = |name: &&String| {
        name.starts_with(['/', '\\'])
            || name.chars().nth(1) == Some(':')
            || name.split(['/', '\\']).any(|part| part == "..")
    };
    match names.iter().find(climbs) {
        None => Ok(()),
        Some(member) => {
            let message = format!(
                "The zip archive {name} has a file whose name leads out of the archive, {}: it is not read.",
                quoted(member)
            );
            Err(ReadError::new(message).hint("Ask where the archive comes from; no honest program writes such names."))
        }
    }
}

/// The only data file, or the one that is set.
fn choose(name: &str, names: &[String], wanted: Option<&str>) -> Result<(usize, Option<String>), ReadError> {
    let is_data = |name: &str| {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        !file.is_empty() && !file.starts_with('.') && !name.starts_with("__MACOSX/")
    };
    let data: Vec<_> = names.iter().enumerate().filter(|(_, name)| is_data(name)).collect();
    let mut list = data.iter().take(SHOWN).map(|(_, name)| quoted(name)).collect::<Vec<_>>().join(", ");
    if data.len() > SHOWN {
        list.push_str(", …");
    }
    if let Some(wanted) = wanted {
        let is_wanted = |name: &String| plain_path(name) == plain_path(wanted);
        return match names.iter().position(is_wanted) {
            Some(index) => Ok((index, None)),
            None => Err(ReadError::new(format!("There is no file {} in {name}.", quoted(wanted)))
                .hint(format!("It has {list}."))),
        };
    }
    // Beside photos, the stock file is the only one.
    let is_image = |name: &str| IMAGES.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    let mut others = data.iter().filter(|(_, name)| !is_image(name));
    if let (Some((index, member)), None, true) = (others.next(), others.next(), data.len() > 1) {
        let note = format!("File {} of the archive: all others are images.", quoted(member));
        return Ok((*index, Some(note)));
    }
    match data.as_slice() {
        [] => Err(ReadError::new(format!("The zip archive {name} has no file in it."))),
        [(index, member)] => Ok((*index, Some(format!("File {} of the archive: it is the only one.", quoted(member))))),
        _ => Err(ReadError::new(format!("The zip archive {name} has {} files: {list}.", data.len()))
            .hint("Select one: --member NAME, or member = \"NAME\" in the mapping.")),
    }
}

/// Compares the checksum of the bytes at their end.
struct Checked<R> {
    inner: CrcReader<R>,
    crc: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.inner.crc().sum() != self.crc {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum does not fit"));
        }
        Ok(read)
    }
}

/// Decompressed bytes, limited in proportion to the compressed ones.
struct Unpacked<R> {
    inner: R,
    packing: &'static str,
    packed: Arc<AtomicU64>,
    bytes: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer).map_err(|error| self.failure(&error))?;
        self.bytes += read as u64;
        match check_ratio(self.bytes, self.packed.load(Ordering::Relaxed)) {
            Some(error) => Err(io::Error::other(error)),
            None => Ok(read),
        }
    }
}

/// The error that a file decompresses to too much, if it does.
fn check_ratio(unpacked: u64, packed: u64) -> Option<ReadError> {
    let allowed = ANY_UNPACKED.max(MOST_TIMES.saturating_mul(packed));
    let too_much = if unpacked > MOST_UNPACKED {
        "more than any stock has".to_owned()
    } else if unpacked > allowed {
        format!("over {MOST_TIMES} times its size")
    } else {
        return None;
    };
    let size = unpacked >> 20;
    let message =
        format!("the file unpacks to {size} MiB or more, {too_much}, as archives do that are meant to fill a disk");
    Some(ReadError::new(message).hint("If it really has so much, unpack it first."))
}

impl<R> Unpacked<R> {
    fn failure(&self, error: &io::Error) -> io::Error {
        let packing = self.packing;
        let message = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("its {packing} data ends too early: the file has been cut off"),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                format!("its {packing} data is damaged ({error})")
            }
            _ => error.to_string(),
        };
        io::Error::other(ReadError::new(message).hint("Fetch the file again."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: u64, unpacked: u64) -> io::Result<u64> {
        let inner = io::repeat(b'x').take(unpacked);
        let packed = Arc::new(AtomicU64::new(packed));
        io::copy(&mut Unpacked { inner, packing: "gzip", packed, bytes: 0 }, &mut io::sink())
    }

    #[test]
    fn what_is_read_of_all_parts_together_is_bounded() {
        let mut allowance = Allowance::of(1 << 20);
        let mut read = |length: u64| io::copy(&mut allowance.read(io::repeat(b'x').take(length)), &mut io::sink());
        assert_eq!(read(100 << 20).unwrap(), 100 << 20);
        assert_eq!(read(100 << 20).unwrap(), 100 << 20);
        let error = read(100 << 20).unwrap_err().to_string();
        assert_eq!(error, "finding its table takes far more reading than its size allows");
    }

    #[test]
    fn what_unpacks_to_far_too_much_is_not_read_on() {
        let error = unpacked(1 << 15, 9 << 20).unwrap_err().to_string();
        assert_eq!(
            error,
            "the file unpacks to 8 MiB or more, over 100 times its size, as archives do that are meant to fill a disk"
        );
        assert_eq!(unpacked(1 << 10, 7 << 20).unwrap(), 7 << 20, "a small file may be anything");
        assert_eq!(unpacked(1 << 20, 70 << 20).unwrap(), 70 << 20, "a large one as much as its size allows");
    }
}
