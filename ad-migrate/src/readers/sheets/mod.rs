//! Spreadsheets: the rows of one sheet, written as [`SHEET`](super::csv::SHEET), so that header, width and names of columns are detected as in
//! CSV. A thread reads the sheet while its rows are used.
//!
//! A value is what the spreadsheet shows, as far as that matters: numbers with the zeros that their format shows, dates as ISO 8601, formulas
//! by their last value. What the file says about the type of a value goes with it ([`CellKind`](super::CellKind)), because a number in a column of
//! plates was none. Sheets are read as streams; only the texts of
//! .xlsx and .xls, which are apart from the cells, are kept.
//!
//! Everything passes [`cells::Cells`], where what a file may have is bounded.

mod cells;
mod dbf;
mod document;
#[cfg(test)]
mod hostile;
mod html;
mod notes;
mod ods;
mod package;
mod parser;
mod strings;
#[cfg(test)]
mod tests;
mod value;
mod xls;
mod xlsx;
mod xml2003;

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use ad_core::violation::nearest;
use cells::{At, Glance, Rows, Shown};
pub(super) use dbf::is_dbf;
pub(super) use document::Document;
pub(super) use value::of_formula;

use super::{
    Detected, Form, LOOK, ReadError, Records, Settings, csv::Csv, encoding, feed::Feed, quoted, source::Workbook,
};

/// Sheets that a message lists.
const SHOWN: usize = 5;

/// Most sheets that are looked at to find the one with the table.
const LOOKED_AT: usize = 50;

/// Notes about a sheet that are known at its end.
pub(super) type LateNotes = Arc<Mutex<Vec<String>>>;

/// A file with sheets.
trait Book: Send {
    /// The sheets, in the order of the file.
    fn sheets(&self) -> &[SheetName];

    /// Reads the cells of a sheet. It may be called several times.
    fn read(&mut self, index: usize, out: &mut dyn cells::Cells) -> Result<(), cells::Stopped>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SheetName {
    name: String,
    is_hidden: bool,
}

/// Opens a sheet of a workbook.
///
/// # Errors
/// When the file is damaged or encrypted, or has no such sheet.
pub(super) fn records(workbook: Workbook, settings: &Settings) -> Result<(Detected, Box<dyn Records>), ReadError> {
    let Workbook { name, form, .. } = &workbook;
    let (name, form) = (name.clone(), *form);
    let size = workbook.file.metadata().map_or(0, |metadata| metadata.len());
    if let Some(set) = settings.form.filter(|set| *set != form) {
        let message = format!("{name} is a spreadsheet ({}), but its format is set to {}.", form.name(), set.name());
        return Err(ReadError::new(message).hint("Omit form; the format is detected."));
    }
    let mut detected = Detected { form, encoding: "utf-8".to_owned(), ..Detected::default() };
    // The names of a database are no guess.
    let header = settings.header.or((form == Form::Dbf).then_some(true));
    let settings = &Settings { header, ..settings.clone() };
    let book: Box<dyn Book> = match form {
        Form::Ods => Box::new(ods::Ods::open(workbook)?),
        Form::Xls => Box::new(xls::Xls::open(workbook)?),
        Form::Dbf => Box::new(dbf::Dbf::open(workbook, settings.encoding.as_deref())?),
        _ => Box::new(xlsx::Xlsx::open(workbook)?),
    };
    let records = of_book(&name, size, book, settings, &mut detected)?;
    Ok((detected, records))
}

/// Opens a sheet of a document of text.
pub(super) fn of_document(
    name: &str,
    document: Document,
    settings: &Settings,
    detected: &mut Detected,
) -> Result<Box<dyn Records>, ReadError> {
    let size = document.size();
    let book: Box<dyn Book> = match detected.form {
        Form::Ods => Box::new(ods::Ods::flat(document)?),
        Form::Html => Box::new(html::Html::open(document)?),
        _ => Box::new(xml2003::Xml2003::open(document)?),
    };
    of_book(name, size, book, settings, detected)
}

fn of_book(
    name: &str,
    size: u64,
    mut book: Box<dyn Book>,
    settings: &Settings,
    detected: &mut Detected,
) -> Result<Box<dyn Records>, ReadError> {
    let index = choose(name, book.as_mut(), settings.sheet.as_deref(), detected)?;
    let (rows, notes) = Rows::begin(book, index, size);
    // The thread writes UTF-8.
    let mut feed = Feed::new(Box::new(rows), encoding::find(b"", None, None)?.charset);
    feed.look(LOOK);
    Ok(Box::new(Csv::of_sheet(feed, notes, settings, detected)?))
}

fn unreadable(name: &str, error: &dyn fmt::Display) -> ReadError {
    ReadError::new(format!("The spreadsheet {name} cannot be read: {error}."))
        .hint("Open and save it again, as .xlsx without a password, or as CSV (UTF-8).")
}

/// The sheet that is set, or the first visible one with a table; without tables, the first with data.
fn choose(name: &str, book: &mut dyn Book, wanted: Option<&str>, detected: &mut Detected) -> Result<usize, ReadError> {
    let sheets = book.sheets().to_vec();
    let all = || {
        shown(sheets.iter().map(|sheet| {
            let hidden = if sheet.is_hidden { " (hidden)" } else { "" };
            format!("{}{hidden}", quoted(&sheet.name))
        }))
    };
    let index = if let Some(wanted) = wanted {
        let found = sheets.iter().position(|sheet| sheet.name == wanted);
        let found =
            found.or_else(|| sheets.iter().position(|sheet| sheet.name.to_lowercase() == wanted.to_lowercase()));
        let index = found.ok_or_else(|| {
            let error = ReadError::new(format!("{name} has no sheet {}.", quoted(wanted)));
            let meant = nearest::did_you_mean(wanted, sheets.iter().map(|sheet| sheet.name.as_str()));
            error.hint(meant.unwrap_or_else(|| format!("It has {}.", all())))
        })?;
        if Glance::of(book, index)? == Shown::Nothing {
            return Err(ReadError::new(format!("The sheet {} of {name} is empty.", quoted(&sheets[index].name)))
                .hint(format!("The file has {}.", all())));
        }
        let others = sheets.iter().enumerate().filter(|(other, sheet)| sheet.is_hidden && *other != index);
        let others = shown(others.map(|(_, sheet)| quoted(&sheet.name)));
        if !others.is_empty() {
            detected.notes.push(format!("Hidden sheets, which are not read: {others}."));
        }
        index
    } else {
        let mut first: Option<(usize, Shown)> = None;
        for (index, _) in sheets.iter().enumerate().filter(|(_, sheet)| !sheet.is_hidden).take(LOOKED_AT) {
            let mut has = Glance::of(book, index)?;
            if detected.form == Form::Html && has == Shown::Cells {
                // Pages are laid out with tables.
                has = Shown::Nothing;
            }
            if has > first.map_or(Shown::Nothing, |(_, has)| has) {
                let before = first.replace((index, has));
                if let Some((before, _)) = before {
                    let before = quoted(&sheets[before].name);
                    detected.notes.push(format!("Sheet {before} is not read: it has cells, but no table."));
                }
            }
            if has == Shown::Table {
                break;
            }
        }
        let (index, _) = first.ok_or_else(|| {
            if detected.form == Form::Html {
                return ReadError::new(format!("{name} is an HTML page without a table of data."))
                    .hint("A login or error page may have been saved instead of the file; fetch it again.");
            }
            let error = ReadError::new(format!("{name} has no visible sheet with data."));
            error.hint(format!("It has {}; to read a hidden sheet, set its name: --sheet NAME.", all()))
        })?;
        let found = quoted(&sheets[index].name);
        detected.notes.push(if sheets.len() == 1 {
            format!("Sheet {found}: it is the only one.")
        } else {
            format!("Sheet {found}: the first visible one with data, of {}. Set sheet to read another one.", all())
        });
        index
    };
    detected.sheet = Some(sheets[index].name.clone());
    Ok(index)
}

/// The first of several texts.
fn shown(texts: impl Iterator<Item = String> + Clone) -> String {
    let more = if texts.clone().nth(SHOWN).is_some() { ", …" } else { "" };
    texts.take(SHOWN).collect::<Vec<_>>().join(", ") + more
}

/// A range as spreadsheets write it, such as `A1:C2`.
fn range_name(first: At, last: At) -> String {
    let name = |At { row, column }: At| {
        let (mut letters, mut rest) = (String::new(), u64::from(column) + 1);
        while rest > 0 {
            letters.insert(0, char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or_default()));
            rest = (rest - 1) / 26;
        }
        format!("{letters}{}", u64::from(row) + 1)
    };
    format!("{}:{}", name(first), name(last))
}
