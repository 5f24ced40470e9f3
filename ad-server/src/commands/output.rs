//! What commands print: JSON, or tables that fit the terminal, without lines and wrapping when there is no terminal.

use std::io::{self, IsTerminal, Write};

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

/// Prints a text as it is.
pub(super) fn text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints rows as a JSON array.
pub(super) fn json<T: Serialize>(rows: &[T]) -> io::Result<()> {
    text(&format!("{}\n", serde_json::to_string_pretty(rows)?))
}

/// Prints rows under a header.
pub(super) fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> io::Result<()> {
    text(&format!("{}\n", laid_out(header, rows, io::stdout().is_terminal())))
}

fn laid_out<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>, terminal: bool) -> String {
    let mut table = Table::new();
    if terminal {
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    }
    table.set_header(header).add_rows(rows.into_iter().map(|row| row.map(|cell| on_one_line(&cell))));
    table.trim_fmt()
}

/// `1 dealer`, `2 dealers`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What is stored came from outside: it must neither break a line nor command the terminal.
fn on_one_line(cell: &str) -> String {
    cell.chars().map(|character| if character.is_control() { char::REPLACEMENT_CHARACTER } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_a_row_is_a_plain_line() {
        let long = "x".repeat(300);
        let text =
            laid_out(["A", "B"], [["1".to_owned(), long.clone()], ["\u{1b}[2J\n".to_owned(), String::new()]], false);
        let lines: Vec<_> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
        assert_eq!(lines, [vec!["A", "B"], vec!["1", &long], vec!["\u{fffd}[2J\u{fffd}"]]);
    }
}
