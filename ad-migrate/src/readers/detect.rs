//! Detects the encoding and then the format of a file from its beginning.

use super::{
    Detected, Form, LOOK, ReadError, Records, Settings,
    csv::Csv,
    encoding,
    feed::Feed,
    fixed::Fixed,
    json::{self, JsonRecords},
    source::{self, SourceFile},
    xml::{self, Xml},
};

/// Detects the format of a file, and begins to read its records.
///
/// # Errors
/// When it has no format that can be read, or contradicts the settings.
pub(super) fn records(source: SourceFile, settings: &Settings) -> Result<(Detected, Box<dyn Records>), ReadError> {
    refuse(&source, settings)?;
    let declared = xml::declared_encoding(&source.head);
    let found = encoding::find(&source.head, settings.encoding.as_deref(), declared.as_deref())?;
    let charset = found.charset;
    let mut detected = Detected {
        encoding: charset.name.to_owned(),
        packing: source.packing.map(str::to_owned),
        member: source.member,
        notes: source.notes,
        ..Detected::default()
    };
    detected.notes.extend(found.note);
    let name = source.name;
    let bytes = source::behind(source.head, found.mark, source.rest);
    let mut feed = Feed::new(charset.bytes(bytes), charset);
    feed.look(LOOK);
    let form = match settings.form {
        Some(form) => form,
        None if !settings.columns.is_empty() => Form::Fixed,
        None => form(&name, feed.rest(), &mut detected.notes)?,
    };
    detected.form = form;
    let records: Box<dyn Records> = match form {
        Form::Csv => Box::new(Csv::open(feed, settings, &mut detected)?),
        Form::Xml => Box::new(Xml::open(into_utf_8(feed), settings, &mut detected)?),
        Form::Fixed => Box::new(Fixed::open(feed, settings)?),
        Form::Xlsx | Form::Ods => {
            let message = format!("{name} is no spreadsheet, but its format is set to {}.", form.name());
            return Err(ReadError::new(message).hint("Omit form; the format is detected."));
        }
        Form::Json | Form::Ndjson => Box::new(JsonRecords::open(into_utf_8(feed), settings, &mut detected)?),
    };
    Ok((detected, records))
}

/// XML and JSON are read as UTF-8.
fn into_utf_8(feed: Feed) -> Feed {
    let charset = feed.charset;
    if charset.is_utf_8() {
        return feed;
    }
    let mut feed = Feed::new(charset.converted(feed), charset);
    feed.look(LOOK);
    feed
}

/// The beginnings of files that are not text.
const BINARY: &[(&[u8], &str)] = &[
    (b"\xd0\xcf\x11\xe0", "an Office document of the old format (such as .xls) or with a password"),
    (b"%PDF", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "packed with bzip2"),
    (b"\xfd7zXZ", "packed with xz"),
    (b"SQLite format 3", "a SQLite database"),
    (b"\x7fELF", "a program"),
    (b"\xff\xfe\x00\x00", "UTF-32 text"),
];

/// Rejects files that are not text.
fn refuse(source: &SourceFile, settings: &Settings) -> Result<(), ReadError> {
    let (name, head) = (&source.name, &source.head);
    if head.is_empty() {
        return Err(
            ReadError::new(format!("{name} is empty.")).hint("See whether whatever writes the file has finished.")
        );
    }
    let known = BINARY.iter().find(|(start, _)| head.starts_with(start)).map(|(_, what)| *what);
    let known = known.or_else(|| (head.get(257..262) == Some(b"ustar")).then_some("a tar archive"));
    let looked_at = &head[..head.len().min(LOOK)];
    let zeros = memchr::memchr_iter(0, looked_at).count();
    let what = if zeros == looked_at.len() {
        Some("nothing but zero bytes")
    } else {
        // In UTF-16, every other byte may be zero; else a stray one may be.
        let is_binary = zeros * 100 > looked_at.len() && settings.encoding.is_none() && !encoding::is_utf_16(head);
        known.or(is_binary.then_some("a binary file"))
    };
    match what {
        None => Ok(()),
        Some(what) => Err(ReadError::new(format!("{name} is {what}, and neither CSV, XML, JSON nor a spreadsheet."))
            .hint("Save or export it as .xlsx, or as CSV in UTF-8, without a password; CSV may be in gzip or zip.")),
    }
}

fn form(name: &str, text: &[u8], notes: &mut Vec<String>) -> Result<Form, ReadError> {
    let start = text.trim_ascii_start();
    let begins = |what: &str| start.get(..what.len()).is_some_and(|it| it.eq_ignore_ascii_case(what.as_bytes()));
    if begins("<!doctype html") || begins("<html") {
        return Err(ReadError::new(format!("{name} is an HTML page."))
            .hint("A login or error page may have been saved instead of the file; fetch it again."));
    }
    let (form, why) = match start.first() {
        None => return Err(ReadError::new(format!("{name} contains only white space."))),
        Some(b'<') => (Form::Xml, "the file begins with <"),
        Some(b'{') if json::is_ndjson(start) => (Form::Ndjson, "the first lines are JSON objects, each by itself"),
        Some(b'{') if json::another_follows(start) => (Form::Ndjson, "one JSON object follows the other"),
        Some(b'{') => (Form::Json, "the file begins with {"),
        Some(b'[') if starts_array(start) => (Form::Json, "the file begins with ["),
        Some(_) => (Form::Csv, "it is neither XML nor JSON"),
    };
    notes.push(format!("Format {}: {why}.", form.name()));
    Ok(form)
}

/// Whether a bracket opens an array rather than a cell.
fn starts_array(start: &[u8]) -> bool {
    start[1..].trim_ascii_start().first().is_none_or(|byte| b"{[]\"-0123456789tfn".contains(byte))
}
