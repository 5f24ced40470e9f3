//! A sheet as separated values.

use std::io;

use ad_core::csv_guard::guarded;

use super::SheetColumn;
use crate::bulk::plain;

/// The header and the example row. Spreadsheets of most of Europe open semicolons as columns, and the mark at the beginning makes them read
/// UTF-8.
pub(in crate::cli) fn bytes(columns: &[SheetColumn]) -> io::Result<Vec<u8>> {
    let mut out = csv::WriterBuilder::new().delimiter(b';').from_writer("\u{feff}".as_bytes().to_vec());
    out.write_record(columns.iter().map(|column| guarded(column.header.clone())))?;
    out.write_record(columns.iter().map(|column| guarded(column.example.as_ref().map(plain).unwrap_or_default())))?;
    out.into_inner().map_err(csv::IntoInnerError::into_error)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn cells_are_separated_by_semicolons_after_a_mark() {
        let category = ad_core::categories::by_vehicle_type("car").unwrap();
        let rulebook = ad_core::rulebook::Rulebook::default();
        let example = category.example(ad_core::model::ApiVersion::V4, &rulebook);
        let columns = super::super::columns(category, &rulebook, example);
        let text = String::from_utf8(bytes(&columns).unwrap()).unwrap();
        assert!(text.starts_with("\u{feff}Source id;"), "{text}");
        assert_eq!(text.lines().count(), 2, "{text}");
        let visible = columns.iter().position(|column| column.header == "Visible").unwrap();
        assert_eq!(columns[visible].example, Some(Value::from("no")));
    }
}
