//! The file that people complete: a row for everything that an ad lacks, with the allowed values, and a column for the answer. Any
//! spreadsheet opens it, and may save it in any format and encoding that the readers know.

use std::{collections::HashMap, io::Write, path::Path};

use ad_bulk::Identity;
use ad_core::csv_guard::guarded;
use ad_files::WholeFile;
use ad_terminal::Failure;

use crate::readers::{ReadError, Reader, Settings};

const HEADER: [&str; 8] =
    ["source_id", "dealer_code", "title", "vehicle_type", "field", "what is missing", "allowed", "value"];

/// A row: something that an ad lacks, or an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SheetRow {
    pub(crate) source_id: String,
    pub(crate) dealer_code: String,
    pub(crate) title: String,
    /// The vehicle type that it becomes; empty if that is to be decided.
    pub(crate) vehicle_type: String,
    /// The field of V4, or `vehicle_type`.
    pub(crate) field: String,
    pub(crate) missing: String,
    pub(crate) allowed: String,
    /// The answer; empty until somebody fills it in.
    pub(crate) value: String,
}

/// The answers: fields with values, by ad.
pub(crate) type Answers = HashMap<Identity, Vec<(String, String)>>;

/// The field of answers that choose a vehicle type.
pub(crate) const VEHICLE_TYPE: &str = "vehicle_type";

/// Writes the file, in one step.
pub(crate) fn write(path: &Path, rows: &[SheetRow]) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::usage(format!("cannot write {}: {error}", path.display()));
    let mut file = WholeFile::create(path).map_err(cannot)?;
    // A byte order mark makes spreadsheets read UTF-8; with semicolons, most European ones split the columns.
    file.write_all("\u{feff}".as_bytes()).map_err(cannot)?;
    let mut out = csv::WriterBuilder::new().delimiter(b';').from_writer(file);
    let written = out.write_record(HEADER).and_then(|()| {
        rows.iter().try_for_each(|row| {
            let SheetRow { source_id, dealer_code, title, vehicle_type, field, missing, allowed, value } = row;
            let row = [source_id, dealer_code, title, vehicle_type, field, missing, allowed, value];
            out.write_record(row.map(|text| guarded(text.clone())))
        })
    });
    written.map_err(|error| cannot(error.into()))?;
    let file = out.into_inner().map_err(|error| cannot(error.into_error()))?;
    file.end().map_err(cannot)
}

/// Reads the answers.
///
/// # Errors
/// When the file cannot be read, or lacks one of the columns.
pub(crate) fn read(path: &Path) -> Result<Answers, ReadError> {
    let settings = Settings { header: Some(true), ..Settings::default() };
    let mut reader = Reader::open(path, &settings)?;
    let mut answers = Answers::new();
    let mut batch = None;
    while let Some(next) = reader.next(batch.take())? {
        let column = |name: &str| {
            next.columns().id(name).ok_or_else(|| {
                ReadError::new(format!("{} has no column {name:?}", path.display()))
                    .hint("complete the file that `ad-migrate v3` wrote without changing its columns")
            })
        };
        let [id, dealer, field, value] =
            [column("source_id")?, column("dealer_code")?, column("field")?, column("value")?];
        for row in next.rows() {
            let text = |column| row.value(column).unwrap_or_default().trim().to_owned();
            let (field, value) = (text(field), text(value));
            if !value.is_empty() && !field.is_empty() {
                let which = Identity { source_id: text(id), dealer_code: Some(text(dealer)) };
                answers.entry(which).or_default().push((field, value));
            }
        }
        batch = Some(next);
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_no_formula() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v3.csv");
        let row = |source_id: &str, value: &str| SheetRow {
            source_id: source_id.to_owned(),
            dealer_code: "coast-boats".to_owned(),
            title: "=HYPERLINK(\"http://evil\")".to_owned(),
            vehicle_type: "boat".to_owned(),
            field: "category_fields.brand".to_owned(),
            missing: "This field is required.".to_owned(),
            allowed: "yamarin; buster".to_owned(),
            value: value.to_owned(),
        };
        write(&path, &[row("rib;1", "yamarin"), row("-rib-2", "=1+1"), row("rib-3", " ")]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(";=") && !text.contains("\"=") && !text.contains("\n-"), "{text}");
        let answers = read(&path).unwrap();
        let which = |id: &str| Identity { source_id: id.to_owned(), dealer_code: Some("coast-boats".to_owned()) };
        let answer = |value: &str| vec![("category_fields.brand".to_owned(), value.to_owned())];
        assert_eq!(answers, Answers::from([(which("rib;1"), answer("yamarin")), (which("-rib-2"), answer("=1+1"))]));
    }
}
