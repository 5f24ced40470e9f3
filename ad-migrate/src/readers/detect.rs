//! Detects the encoding and then the format of a file from its beginning.

use super::{
    Detected, Form, LOOK, ReadError, Records, Settings,
    csv::Csv,
    encoding,
    feed::Feed,
    fixed::Fixed,
    json::{self, JsonRecords},
    markup::{self, Markup},
    padding::{Unpadded, is_padding},
    sheets::{self, Document},
    source::{self, SourceFile},
    xml::{self, Xml},
};

/// Detects the format of a file, and begins to read its records.
///
/// # Errors
/// When it has no format that can be read, or contradicts the settings.
pub(super) fn records(source: SourceFile, settings: &Settings) -> Result<(Detected, Box<dyn Records>), ReadError> {
    refuse(&source, settings)?;
    let declared = xml::declared_encoding(&source.head).or_else(|| markup::page_encoding(&source.head));
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
    let (name, progress) = (source.name, source.progress);
    let bytes = source::behind(source.head, found.mark, source.rest);
    let mut feed = Feed::new(Box::new(Unpadded::new(charset.bytes(bytes))), charset);
    feed.look(LOOK);
    let form = match settings.form {
        Some(form) => form,
        None if !settings.columns.is_empty() => Form::Fixed,
        None => form(&name, feed.rest(), settings, &mut detected.notes)?,
    };
    detected.form = form;
    let is_sheet = matches!(form, Form::Ods | Form::Xml2003 | Form::Html);
    if settings.sheet.is_some() && !is_sheet {
        return Err(ReadError::new(format!("{name} is no spreadsheet and has no sheets.")).hint("Omit sheet."));
    }
    let records: Box<dyn Records> = match form {
        Form::Csv => Box::new(Csv::open(feed, settings, &mut detected)?),
        Form::Xml => Box::new(Xml::open(into_utf_8(feed), settings, &mut detected)?),
        Form::Fixed => Box::new(Fixed::open(feed, settings)?),
        Form::Ods | Form::Xml2003 | Form::Html if feed.rest().trim_ascii_start().first() == Some(&b'<') => {
            let document = Document::of(name.clone(), into_utf_8(feed), &progress)?;
            sheets::of_document(&name, document, settings, &mut detected)?
        }
        Form::Xlsx | Form::Ods | Form::Xls | Form::Dbf | Form::Xml2003 | Form::Html => {
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
    (b"\x09\x00\x04\x00", "an Excel sheet of before 1993"),
    (b"\x09\x02\x06\x00", "an Excel sheet of before 1993"),
    (b"\x09\x04\x06\x00", "an Excel sheet of before 1995"),
    (b"\x00\x00\x02\x00", "a Lotus 1-2-3 sheet"),
    (b"\x00\x00\x1a\x00", "a Lotus 1-2-3 sheet"),
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
    let text = looked_at.iter().rposition(|byte| !is_padding(*byte)).map_or(&[][..], |last| &looked_at[..=last]);
    let zeros = memchr::memchr_iter(0, text).count();
    let what = if text.is_empty() {
        Some("nothing but zero bytes")
    } else {
        // In UTF-16, every other byte may be zero; else a stray one may be.
        let is_binary = zeros * 100 > text.len() && settings.encoding.is_none() && !encoding::is_utf_16(head);
        known.or(is_binary.then_some("a binary file"))
    };
    match what {
        None => Ok(()),
        Some(what) => Err(ReadError::new(format!("{name} is {what}, and neither CSV, XML, JSON nor a spreadsheet."))
            .hint("Save or export it as .xlsx, or as CSV in UTF-8, without a password; CSV may be in gzip or zip.")),
    }
}

fn form(name: &str, text: &[u8], settings: &Settings, notes: &mut Vec<String>) -> Result<Form, ReadError> {
    let start = text.trim_ascii_start();
    if let Some(what) = unread(start) {
        return Err(ReadError::new(format!("{name} is {what}, which is not read."))
            .hint("Save it as .xlsx, or as CSV (UTF-8), in the program that made it."));
    }
    let markup = markup::find(start).filter(|markup| *markup != Markup::Page || settings.rows.is_none());
    let (form, why) = match start.first() {
        None => return Err(ReadError::new(format!("{name} contains only white space."))),
        Some(b'<') => match markup {
            None => (Form::Xml, "the file begins with <"),
            Some(Markup::Excel) => (Form::Xml2003, "the root element is a workbook of Excel"),
            Some(Markup::OpenDocument) => (Form::Ods, "the root element is an OpenDocument spreadsheet"),
            Some(Markup::Page) => (Form::Html, "the file is HTML"),
        },
        Some(b'{') if json::is_ndjson(start) => (Form::Ndjson, "the first lines are JSON objects, each by itself"),
        Some(b'{') if json::another_follows(start) => (Form::Ndjson, "one JSON object follows the other"),
        Some(b'{') => (Form::Json, "the file begins with {"),
        Some(b'[') if starts_array(start) => (Form::Json, "the file begins with ["),
        Some(_) => (Form::Csv, "it is neither XML nor JSON"),
    };
    notes.push(format!("Format {}: {why}.", form.name()));
    Ok(form)
}

/// What a text is, if it is a spreadsheet of a format that is not read.
fn unread(text: &[u8]) -> Option<&'static str> {
    let mut lines = text.split(|byte| matches!(byte, b'\r' | b'\n')).filter(|line| !line.is_empty());
    let first = lines.next()?;
    // A header of CSV may begin with ID, too.
    let is_record = |line: &&[u8]| {
        let name = line.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        (1..=4).contains(&name) && line.get(name).is_none_or(|byte| *byte == b';')
    };
    if first.starts_with(b"ID;P") && lines.clone().take(3).filter(is_record).count() == 3 {
        Some("a SYLK spreadsheet (.slk)")
    } else if first == b"TABLE" && lines.next() == Some(b"0,1") {
        Some("a DIF spreadsheet (.dif)")
    } else if first.get(..13).is_some_and(|name| name.eq_ignore_ascii_case(b"mime-version:")) {
        Some("a web archive (.mht)")
    } else {
        None
    }
}

/// Whether a bracket opens an array rather than a cell.
fn starts_array(start: &[u8]) -> bool {
    start[1..].trim_ascii_start().first().is_none_or(|byte| b"{[]\"-0123456789tfn".contains(byte))
}
