//! Output of rows: for programs as they come, for people as a table at the end.

use std::{
    borrow::Cow,
    io::{self, BufWriter, Write},
};

use ad_core::printable;
use serde::Serialize;
use serde_json::Value;

use super::{
    Format, Stream, Tone,
    cells::{Cell, Column},
    selection::Selection,
    table,
};

/// Writes the rows of an answer. [`push`](Self::push) each, then [`end`](Self::end): without that, an array has no end and a table is not shown.
#[derive(derive_more::Debug)]
pub struct Rows {
    columns: Cow<'static, [Column]>,
    #[debug(skip)]
    out: BufWriter<Box<dyn Write + Send>>,
    screen: Screen,
    form: RowWriter,
    /// The fields that are wanted, if not all are.
    selection: Option<Selection>,
}

#[derive(Debug)]
enum RowWriter {
    /// A table, which is printed at the end.
    Table(Vec<Vec<Cell>>),
    /// The same, row by row.
    Live {
        has_header: bool,
    },
    Json {
        before: &'static str,
    },
    Ndjson,
    Csv {
        has_header: bool,
    },
}

/// Where rows are shown: how wide that is, if it is a terminal, and whether it has colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    pub(super) terminal: Option<usize>,
    pub(super) colors: bool,
}

impl Rows {
    /// Rows on a stream, with only the selected fields.
    pub(super) fn new(
        out: Stream,
        format: Format,
        columns: Cow<'static, [Column]>,
        screen: Screen,
        selection: Option<Selection>,
    ) -> Self {
        Self { selection, ..Self::to(Box::new(out), format, columns, screen) }
    }

    fn to(out: Box<dyn Write + Send>, format: Format, columns: Cow<'static, [Column]>, mut screen: Screen) -> Self {
        let form = match format {
            Format::Table | Format::Wide => RowWriter::Table(Vec::new()),
            Format::Json => RowWriter::Json { before: "[\n" },
            Format::Ndjson => RowWriter::Ndjson,
            Format::Csv => RowWriter::Csv { has_header: false },
        };
        if format == Format::Wide {
            screen.terminal = None;
        }
        Self { columns, out: BufWriter::new(out), screen, form, selection: None }
    }

    /// For people, the rows as they come.
    pub(super) fn live(mut self) -> Self {
        if let RowWriter::Table(_) = self.form {
            self.form = RowWriter::Live { has_header: false };
        }
        self
    }

    /// Writes one row, or buffers it until the columns' widths are known.
    pub fn push(&mut self, row: &impl Serialize) -> io::Result<()> {
        match &mut self.selection {
            Some(selection) => {
                let selected = selection.of(&serde_json::to_value(row)?)?;
                self.write(&selected)
            }
            None => self.write(row),
        }
    }

    fn write(&mut self, row: &impl Serialize) -> io::Result<()> {
        let Screen { terminal, colors } = self.screen;
        let cells = |row: &Value| self.columns.iter().map(|column| cell(column, row)).collect();
        match &mut self.form {
            RowWriter::Table(rows) => rows.push(cells(&serde_json::to_value(row)?)),
            RowWriter::Live { has_header } => {
                let row = cells(&serde_json::to_value(row)?);
                if !std::mem::replace(has_header, true) {
                    let titles =
                        self.columns.iter().map(|column| Cell::toned(column.heading(), Tone::Strong)).collect();
                    self.out.write_all(table::live(&self.columns, titles, terminal, colors).as_bytes())?;
                }
                self.out.write_all(table::live(&self.columns, row, terminal, colors).as_bytes())?;
                self.out.flush()?;
            }
            RowWriter::Json { before } => {
                self.out.write_all(before.as_bytes())?;
                *before = ",\n";
                let text = if terminal.is_some() {
                    // People read it: indented as an item of the array.
                    let array = serde_json::to_string_pretty(&[serde_json::to_value(row)?])?;
                    array.strip_prefix("[\n").and_then(|it| it.strip_suffix("\n]")).unwrap_or(&array).to_owned()
                } else {
                    serde_json::to_string(row)?
                };
                self.out.write_all(printable::json(&text).as_bytes())?;
            }
            RowWriter::Ndjson => {
                self.out.write_all(printable::json(&serde_json::to_string(row)?).as_bytes())?;
                self.out.write_all(b"\n")?;
            }
            RowWriter::Csv { has_header } => {
                header(&mut self.out, has_header, &self.columns)?;
                let row = serde_json::to_value(row)?;
                let cell = |column: &Column| {
                    let text = column.csv_cell(&row);
                    // Programs get the exact text, without escapes.
                    if terminal.is_some() { printable::line(&text).into_owned() } else { text }
                };
                let record = csv_record(self.columns.iter().map(cell))?;
                self.out.write_all(&record)?;
            }
        }
        Ok(())
    }

    /// Flushes the rows so far; a table waits for its end.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes what is buffered, and the end of the document.
    pub fn end(mut self) -> io::Result<()> {
        let Screen { terminal, colors } = self.screen;
        match &mut self.form {
            RowWriter::Table(rows) => {
                self.out.write_all(table::rendered(&self.columns, rows, terminal, colors).as_bytes())?;
            }
            RowWriter::Json { before } => {
                self.out.write_all(if before.starts_with('[') { b"[]\n" } else { b"\n]\n" })?;
            }
            RowWriter::Csv { has_header } => header(&mut self.out, has_header, &self.columns)?,
            RowWriter::Live { .. } | RowWriter::Ndjson => {}
        }
        self.out.flush()
    }
}

/// The header of a CSV file. It is written with the first row, so that an earlier error leaves no output.
fn header(out: &mut impl Write, is_written: &mut bool, columns: &[Column]) -> io::Result<()> {
    if std::mem::replace(is_written, true) {
        return Ok(());
    }
    out.write_all(&csv_record(columns.iter().map(Column::csv_header))?)
}

/// A line of a CSV file.
pub(super) fn csv_record(fields: impl Iterator<Item = impl AsRef<[u8]>>) -> io::Result<Vec<u8>> {
    let mut out = csv::WriterBuilder::new().buffer_capacity(1024).from_writer(Vec::new());
    out.write_record(fields)?;
    out.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// A value for people, escaped for the terminal.
fn cell(column: &Column, row: &Value) -> Cell {
    let Cell { text, tone } = (column.show)(column.of(row));
    Cell { text: printable::line(&text).into_owned(), tone }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use ad_files::text::plain;
    use serde_json::json;

    use super::*;

    const COLUMNS: &[Column] = &[
        Column::new("ID", "id"),
        Column::new("STATE", "ad.state").shown(|state| Cell::toned(plain(state).to_uppercase(), Tone::Good)),
    ];

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(format: Format, terminal: bool, colors: bool, rows: &[Value]) -> String {
        let out = Shared::default();
        let screen = Screen { terminal: terminal.then_some(80), colors };
        let mut answer = Rows::to(Box::new(out.clone()), format, COLUMNS.into(), screen);
        for row in rows {
            answer.push(row).unwrap();
        }
        answer.end().unwrap();
        let bytes = out.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn programs_get_the_values_and_people_what_they_mean() {
        let rows = [json!({"id": "a,1", "ad": {"state": "done"}, "more": 1}), json!({"id": "b", "ad": null})];
        assert_eq!(
            written(Format::Json, false, false, &rows),
            "[\n{\"ad\":{\"state\":\"done\"},\"id\":\"a,1\",\"more\":1},\n{\"ad\":null,\"id\":\"b\"}\n]\n"
        );
        assert_eq!(
            written(Format::Ndjson, false, false, &rows),
            "{\"ad\":{\"state\":\"done\"},\"id\":\"a,1\",\"more\":1}\n{\"ad\":null,\"id\":\"b\"}\n"
        );
        assert_eq!(written(Format::Csv, false, false, &rows), "id,ad.state\n\"a,1\",done\nb,\n");
        assert_eq!(written(Format::Table, false, false, &rows), "ID   STATE\na,1  DONE\nb\n");
    }

    #[test]
    fn nothing_is_a_formula_where_a_spreadsheet_reads_it() {
        let rows = [json!({"id": "=1+1", "ad": {"state": -3}}), json!({"id": "-3", "ad": {"state": ["@a", -3]}})];
        assert_eq!(written(Format::Csv, false, false, &rows), "id,ad.state\n'=1+1,-3\n'-3,\"'@a, -3\"\n");
        assert_eq!(written(Format::Ndjson, false, false, &rows[..1]), "{\"ad\":{\"state\":-3},\"id\":\"=1+1\"}\n");
    }

    #[test]
    fn no_rows_are_still_an_answer() {
        assert_eq!(written(Format::Json, false, false, &[]), "[]\n");
        assert_eq!(written(Format::Ndjson, false, false, &[]), "");
        assert_eq!(written(Format::Csv, false, false, &[]), "id,ad.state\n");
    }

    #[test]
    fn colours_come_only_where_they_are_wanted() {
        let rows = [json!({"id": "a", "ad": {"state": "done"}})];
        assert!(!written(Format::Table, true, false, &rows).contains('\u{1b}'));
        assert!(written(Format::Table, false, true, &rows).contains("\u{1b}[32mDONE"));
    }

    #[test]
    fn what_came_from_outside_does_not_command_the_terminal() {
        let rows = [json!({"id": "a\u{1b}[2J\nb", "ad": {"state": ""}})];
        let text = written(Format::Table, true, true, &rows);
        assert!(text.contains("a\\u{1b}[2J\\nb"), "{text}");
    }
}
