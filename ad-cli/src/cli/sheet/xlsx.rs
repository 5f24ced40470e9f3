//! A sheet as a workbook: lists of allowed values, notes, and columns of texts.

use ad_core::catalogue::Catalogue;
use rust_xlsxwriter::{DataValidation, Format, Formula, Note, Workbook, XlsxError, utility::column_number_to_name};
use serde_json::Value;

use super::SheetColumn;
use crate::bulk::plain;

/// The sheet with the allowed values, which is hidden.
const VALUES: &str = "Values";

/// Number of rows with drop-down lists.
const ROWS: u32 = 10_000;

/// The narrowest column, in characters.
const NARROWEST: usize = 12;

pub(in crate::cli) fn bytes(
    vehicle_type: &str,
    columns: &[SheetColumn],
    catalogue: &Catalogue,
) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let (bold, plain_bold) = (Format::new().set_bold().set_background_color("#DDEBF7"), Format::new().set_bold());
    let text = Format::new().set_num_format("@");
    let mut lists = Vec::new();
    let sheet = book.add_worksheet().set_name(vehicle_type)?;
    sheet.set_freeze_panes(1, 1)?;
    for (at, column) in (0u16..).zip(columns) {
        let width = u16::try_from(column.header.len().max(NARROWEST) + 2).unwrap_or(u16::MAX);
        sheet.set_column_width(at, width)?;
        if column.is_text() {
            sheet.set_column_format(at, &text)?;
        }
        let format = if column.wanted { &bold } else { &plain_bold };
        sheet.write_string_with_format(0, at, &column.header, format)?;
        let note = Note::new(column.about(vehicle_type)).add_author_prefix(false).set_width(360).set_height(140);
        sheet.insert_note(0, at, &note)?;
        match &column.example {
            Some(Value::Number(number)) if !column.is_text() => {
                sheet.write_number(1, at, number.as_f64().unwrap_or_default())?;
            }
            Some(value) if column.is_text() => {
                sheet.write_string_with_format(1, at, plain(value), &text)?;
            }
            // Texts must not become formulas or links.
            Some(value) => {
                sheet.write_string(1, at, plain(value))?;
            }
            None => {}
        }
        let values = column.values(catalogue);
        if !values.is_empty() {
            let list = u16::try_from(lists.len()).unwrap_or(u16::MAX);
            let name = column_number_to_name(list);
            let range = format!("={VALUES}!${name}$1:${name}${}", values.len());
            let offered = DataValidation::new()
                .allow_list_formula(Formula::new(range))
                .set_error_title("Not an allowed value")?
                .set_error_message("Choose a value from the list of this cell.")?;
            sheet.add_data_validation(1, at, ROWS, at, &offered)?;
            lists.push(values);
        }
    }
    let sheet = book.add_worksheet().set_name(VALUES)?.set_hidden(true);
    for (at, values) in (0u16..).zip(&lists) {
        for (row, value) in (0u32..).zip(values) {
            sheet.write_string(row, at, value)?;
        }
    }
    book.save_to_buffer()
}
