//! The stock as a spreadsheet: the same columns as in CSV, with numbers and days as such. Rows are written to a temporary file as they come.

use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};

use super::{
    csv::{self, Cell},
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;

/// Media type of .xlsx.
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Days from 1899-12-30, from which spreadsheets count, to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 25_569;

/// `GET /console/stock.xlsx`, with the parameters of the stock.
pub(super) async fn download(visit: Visit) -> PageResult {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet_with_constant_memory().map_err(failed)?;
    let (head, day) = (Format::new().set_bold(), Format::new().set_num_format("yyyy-mm-dd"));
    for (at, column) in (0..).zip(csv::COLUMNS) {
        sheet.set_column_width(at, column.width).map_err(failed)?;
    }
    let mut row = 0;
    csv::rows(&visit, |cells| {
        for (column, cell) in (0..).zip(cells) {
            write(sheet, (row, column), cell, if row == 0 { &head } else { &day }).map_err(failed)?;
        }
        row += 1;
        Ok(())
    })
    .await?;
    let limits = &visit.visitor.context.limits;
    let packed = limits.processor.run(visit.caller.scope.name(), async { workbook.save_to_buffer() }).await;
    Ok(csv::answer("stock.xlsx", XLSX, packed.map_err(failed)?))
}

/// Writes a cell. `format` is that of days, or of the head.
fn write(sheet: &mut Worksheet, (row, column): (u32, u16), cell: Cell, format: &Format) -> Result<(), XlsxError> {
    match cell {
        Cell::Text(text) if row == 0 => sheet.write_string_with_format(row, column, text, format).map(drop),
        Cell::Text(text) if text.is_empty() => Ok(()),
        Cell::Text(text) => sheet.write_string(row, column, text).map(drop),
        Cell::Number(number) => sheet.write_number(row, column, number).map(drop),
        Cell::Day(day) => {
            let days = u32::try_from(day.as_millis() / 86_400_000 + DAYS_BEFORE_1970).unwrap_or_default();
            sheet.write_number_with_format(row, column, f64::from(days), format).map(drop)
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
fn failed(error: XlsxError) -> ApiError {
    tracing::error!(%error, "a spreadsheet could not be written");
    ApiError::Internal
}
