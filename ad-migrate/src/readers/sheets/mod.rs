//! Spreadsheets: the rows of one sheet, read by [`calamine`] and written as [`SHEET`](super::csv::SHEET), so that header, width and names of columns
//! are detected as in CSV. A thread reads the sheet while its rows are used.
//!
//! Formulas count by their last value, and dates as ISO 8601. The rows of an .xlsx sheet are streamed; its texts are in memory, because the
//! format keeps them apart. An .ods file is in memory as a whole.

mod rows;
#[cfg(test)]
mod tests;

use std::{fmt, fs::File, io::BufReader};

use ad_core::violation::nearest;
use calamine::{DataType, Dimensions, Ods, Reader as _, Sheet, SheetType, SheetVisible, Xlsx};
use quick_xml::events::{BytesStart, Event};
use rows::Rows;
use zip::ZipArchive;

use super::{
    Detected, Form, LOOK, ReadError, Records, Settings, csv::Csv, encoding, feed::Feed, packing::CountedRead, quoted,
    source::Workbook,
};

/// Most cells of an .ods file, with their repetitions.
const MOST_CELLS: u64 = 20_000_000;

/// Sheets and merged cells that a message lists.
const SHOWN: usize = 5;

type Input = BufReader<CountedRead<File>>;

/// Opens a sheet.
///
/// # Errors
/// When the file is damaged or encrypted, or has no such sheet.
pub(super) fn records(workbook: Workbook, settings: &Settings) -> Result<(Detected, Box<dyn Records>), ReadError> {
    let Workbook { name, form, .. } = &workbook;
    if let Some(set) = settings.form.filter(|set| set != form) {
        let message = format!("{name} is a spreadsheet ({}), but its format is set to {}.", form.name(), set.name());
        return Err(ReadError::new(message).hint("Omit form; the format is detected."));
    }
    let mut detected = Detected { form: *form, encoding: "utf-8".to_owned(), ..Detected::default() };
    let wanted = settings.sheet.as_deref();
    let begin = if *form == Form::Ods { ods } else { xlsx };
    let rows = begin(workbook, wanted, &mut detected)?;
    // The thread writes UTF-8.
    let mut feed = Feed::new(Box::new(rows), encoding::find(b"", None, None)?.charset);
    feed.look(LOOK);
    let csv = Csv::of_sheet(feed, settings, &mut detected)?;
    Ok((detected, Box::new(csv)))
}

/// Begins to read a sheet of an .xlsx file.
fn xlsx(workbook: Workbook, wanted: Option<&str>, detected: &mut Detected) -> Result<Rows, ReadError> {
    let Workbook { name, file, progress, .. } = workbook;
    let unread = |error| unreadable(&name, &error);
    let mut book: Xlsx<Input> =
        Xlsx::new(BufReader::new(CountedRead { inner: file, read: progress.read })).map_err(unread)?;
    let sheets = book.sheets_metadata().to_vec();
    let sheet = choose(&name, &sheets, wanted, detected, |sheet| {
        let mut cells = book.worksheet_cells_reader(sheet).map_err(unread)?;
        while let Some(cell) = cells.next_cell().map_err(unread)? {
            if !cell.get_value().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    })?;
    let merged = book.merge_cells_by_sheet_name(&sheet).unwrap_or_default();
    if !merged.is_empty() {
        detected.notes.push(merged_note(&format!("merged cells: {}", shown(merged.iter().map(range_name)))));
    }
    Ok(Rows::begin(move |out| {
        let mut cells = book.worksheet_cells_reader(&sheet).map_err(|error| out.unreadable(&error))?;
        while let Some(cell) = cells.next_cell().map_err(|error| out.unreadable(&error))? {
            let (row, column) = cell.get_position();
            out.cell(row, column, cell.get_value())?;
        }
        Ok(())
    }))
}

/// Reads an .ods file, and begins to write the rows of a sheet.
fn ods(workbook: Workbook, wanted: Option<&str>, detected: &mut Detected) -> Result<Rows, ReadError> {
    let Workbook { name, file, progress, .. } = workbook;
    let unread = |error| unreadable(&name, &error);
    let (cells, merged) = scan_ods(&name, &file)?;
    if cells > MOST_CELLS {
        let message = format!("The spreadsheet {name} has more than {MOST_CELLS} cells.");
        return Err(ReadError::new(message).hint("Save it as .xlsx or CSV, which may have any size."));
    }
    let mut book: Ods<Input> =
        Ods::new(BufReader::new(CountedRead { inner: file, read: progress.read })).map_err(unread)?;
    let sheets = book.sheets_metadata().to_vec();
    let has_data = |sheet: &str| Ok(book.worksheet_range(sheet).is_ok_and(|range| !range.is_empty()));
    let sheet = choose(&name, &sheets, wanted, detected, has_data)?;
    if merged > 0 {
        detected.notes.push(merged_note(&format!("{merged} cells of the file are merged")));
    }
    let range = book.worksheet_range(&sheet).map_err(unread)?;
    Ok(Rows::begin(move |out| {
        let (top, left) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            out.cell(index(row) + top, index(column) + left, value)?;
        }
        Ok(())
    }))
}

fn unreadable(name: &str, error: &dyn fmt::Display) -> ReadError {
    ReadError::new(format!("The spreadsheet {name} cannot be read: {error}."))
        .hint("Open and save it again, as .xlsx without a password, or as CSV (UTF-8).")
}

fn index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The sheet that is set, or the first visible one with data.
fn choose(
    name: &str,
    sheets: &[Sheet],
    wanted: Option<&str>,
    detected: &mut Detected,
    mut has_data: impl FnMut(&str) -> Result<bool, ReadError>,
) -> Result<String, ReadError> {
    let sheets = || sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let is_hidden = |sheet: &Sheet| sheet.visible != SheetVisible::Visible;
    let all = || {
        shown(sheets().map(|sheet| {
            let hidden = if is_hidden(sheet) { " (hidden)" } else { "" };
            format!("{}{hidden}", quoted(&sheet.name))
        }))
    };
    let found = if let Some(wanted) = wanted {
        let found = sheets().find(|sheet| sheet.name == wanted);
        let found = found.or_else(|| sheets().find(|sheet| sheet.name.to_lowercase() == wanted.to_lowercase()));
        let found = found.ok_or_else(|| {
            let error = ReadError::new(format!("{name} has no sheet {}.", quoted(wanted)));
            let meant = nearest::did_you_mean(wanted, sheets().map(|sheet| sheet.name.as_str()));
            error.hint(meant.unwrap_or_else(|| format!("It has {}.", all())))
        })?;
        if !has_data(&found.name)? {
            return Err(ReadError::new(format!("The sheet {} of {name} is empty.", quoted(&found.name)))
                .hint(format!("The file has {}.", all())));
        }
        found.name.clone()
    } else {
        let mut found = None;
        for sheet in sheets().filter(|sheet| !is_hidden(sheet)) {
            if found.is_none() && has_data(&sheet.name)? {
                found = Some(sheet.name.clone());
            }
        }
        let found = found.ok_or_else(|| {
            let error = ReadError::new(format!("{name} has no visible sheet with data."));
            error.hint(format!("It has {}; to read a hidden sheet, set its name: --sheet NAME.", all()))
        })?;
        detected.notes.push(if sheets().nth(1).is_none() {
            format!("Sheet {}: it is the only one.", quoted(&found))
        } else {
            let (found, all) = (quoted(&found), all());
            format!("Sheet {found}: the first visible one with data, of {all}. Set sheet to read another one.")
        });
        found
    };
    detected.sheet = Some(found.clone());
    Ok(found)
}

/// The first of several texts.
fn shown(texts: impl Iterator<Item = String> + Clone) -> String {
    let more = if texts.clone().nth(SHOWN).is_some() { ", …" } else { "" };
    texts.take(SHOWN).collect::<Vec<_>>().join(", ") + more
}

fn merged_note(what: &str) -> String {
    format!(
        "The sheet has merged cells ({what}): the first cell of each has the value, and the others are empty. If several rows share a value, \
         unmerge the cells in the spreadsheet and fill each row."
    )
}

/// A range as spreadsheets write it, such as `A1:C2`.
fn range_name(range: &Dimensions) -> String {
    let name = |(row, column): (u32, u32)| {
        let (mut letters, mut rest) = (String::new(), column + 1);
        while rest > 0 {
            letters.insert(0, char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or_default()));
            rest = (rest - 1) / 26;
        }
        format!("{letters}{}", row + 1)
    };
    format!("{}:{}", name(range.start), name(range.end))
}

/// Counts the cells of an .ods file with their repetitions, which a small file can state in any number, and its merged cells.
fn scan_ods(name: &str, file: &File) -> Result<(u64, u64), ReadError> {
    let failed = |error: &dyn fmt::Display| unreadable(name, error);
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| failed(&error))?;
    let content = archive.by_name("content.xml").map_err(|error| failed(&error))?;
    let mut reader = quick_xml::Reader::from_reader(BufReader::new(content));
    let (mut cells, mut merged, mut buffer) = (0_u64, 0_u64, Vec::new());
    let number = |start: &BytesStart<'_>, name: &str| {
        let attribute = start.try_get_attribute(name).ok().flatten();
        attribute.and_then(|it| std::str::from_utf8(&it.value).ok()?.parse::<u64>().ok()).unwrap_or(1)
    };
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(|error| failed(&error))? {
            Event::Eof => return Ok((cells, merged)),
            Event::Start(start) | Event::Empty(start) if start.name().as_ref() == b"table:table-cell" => {
                cells = cells.saturating_add(number(&start, "table:number-columns-repeated").min(1 << 14));
                let spanned = ["table:number-columns-spanned", "table:number-rows-spanned"];
                merged += u64::from(spanned.iter().any(|name| number(&start, name) > 1));
            }
            _ => {}
        }
    }
}
