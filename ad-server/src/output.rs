//! Output of commands: JSON, or tables. Without a terminal, tables have no lines and do not wrap.
//!
//! Texts may come from ads, files or the command line. All of them pass [`printable`] here, so that none controls the terminal.

use std::io::{self, BufWriter, IsTerminal, Write};

use ad_core::{model::Timestamp, printable};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use serde::Serialize;

pub(crate) fn text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(printable::lines(text).as_bytes())?;
    out.flush()
}

pub(crate) fn json_value(value: &serde_json::Value) -> io::Result<()> {
    text(&format!("{}\n", printable::json(&value.to_string())))
}

/// Prints a line on stderr. A closed stderr is no error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable::lines(text));
}

/// Prints rows as a JSON array.
pub(crate) fn json<T: Serialize>(rows: &[T]) -> io::Result<()> {
    let mut array = JsonArray::new();
    rows.iter().try_for_each(|row| array.push(row))?;
    array.end()
}

/// Prints a JSON array with a row on each line.
pub(crate) struct JsonArray {
    out: BufWriter<io::StdoutLock<'static>>,
    before: &'static str,
}

impl JsonArray {
    pub(crate) fn new() -> Self {
        Self { out: BufWriter::new(io::stdout().lock()), before: "[\n" }
    }

    pub(crate) fn push(&mut self, row: &impl Serialize) -> io::Result<()> {
        self.out.write_all(self.before.as_bytes())?;
        self.before = ",\n";
        self.out.write_all(printable::json(&serde_json::to_string(row)?).as_bytes())
    }

    pub(crate) fn end(mut self) -> io::Result<()> {
        let is_empty = self.before.starts_with('[');
        self.out.write_all(if is_empty { b"[]\n" } else { b"\n]\n" })?;
        self.out.flush()
    }
}

/// Prints rows under a header. The first column is never broken: it is what one copies.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> io::Result<()> {
    text(&format!("{}\n", laid_out(header, rows, io::stdout().is_terminal())))
}

/// Prints a table below what is printed, unless it has no rows.
pub(crate) fn further<T, const N: usize>(
    header: [&str; N],
    rows: Vec<T>,
    row: impl FnMut(T) -> [String; N],
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    text("\n")?;
    table(header, rows.into_iter().map(row))
}

fn laid_out<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>, terminal: bool) -> String {
    let mut table = Table::new();
    if terminal {
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    }
    table.set_header(header).add_rows(rows.into_iter().map(|row| row.map(|cell| printable::line(&cell).into_owned())));
    if let Some(first) = table.column_mut(0) {
        first.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.trim_fmt()
}

/// A time for people: to the minute, in UTC.
pub(crate) fn minute(time: Timestamp) -> String {
    let text = time.to_string();
    text.get(..16).map_or(text.clone(), |minute| format!("{}Z", minute.replace('T', " ")))
}

/// A value of a table that may be missing.
pub(crate) fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// A number with its noun: `1 dealer`, `2 dealers`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_and_say_that_they_are_utc() {
        assert_eq!(minute("2026-01-15T10:00:59.999Z".parse().unwrap()), "2026-01-15 10:00Z");
    }

    #[test]
    fn without_a_terminal_a_row_is_a_plain_line() {
        let long = "x".repeat(300);
        let text =
            laid_out(["A", "B"], [["1".to_owned(), long.clone()], ["\u{1b}[2J\n".to_owned(), String::new()]], false);
        let lines: Vec<_> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
        assert_eq!(lines, [vec!["A", "B"], vec!["1", &long], vec!["\\u{1b}[2J\\n"]]);
    }
}
