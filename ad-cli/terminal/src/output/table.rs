//! Tables that fit where they are shown.
//!
//! A terminal is as wide as it is. What does not fit is made narrower in this order: ids are shortened, texts are broken into lines, columns
//! that matter less are left out, and what still does not fit becomes a record for each row, one line for each of its values.

use ad_core::printable;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm, core::display_width};
use uuid::Uuid;

use super::{
    Tone,
    cells::{Cell, Column},
    painted,
};

/// Spaces between two columns.
const GAP: usize = 2;

/// Least widths of shortened ids, which still identify ads.
const LEAST_UUID: usize = 9;
const LEAST_ID: usize = 20;

/// Least width of a text beside its name.
const LEAST_TEXT: usize = 20;

/// Breaks a text into lines of this width at most.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options =
        Options::new(width.max(1)).word_splitter(WordSplitter::NoHyphenation).wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// An id of this width at most. Of a UUID, the beginning tells it from others; of other ids, often only the end does.
fn shortened(id: &str, width: usize) -> String {
    if display_width(id) <= width {
        return id.to_owned();
    }
    let room = width.saturating_sub(1);
    let behind = if Uuid::try_parse(id).is_ok() { 0 } else { room / 2 };
    let start = fitting(id.chars(), room - behind);
    let end: String = fitting(id.chars().rev(), behind).chars().rev().collect();
    format!("{start}…{end}")
}

/// The first characters, as far as they fit.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut text = String::new();
    for next in characters {
        text.push(next);
        if display_width(&text) > width {
            text.pop();
            break;
        }
    }
    text
}

/// What the further lines of a message behind a heading begin with.
const HANGING: &str = "    ";

/// A message in lines of this width at most, except for words that are longer: a command can still be copied. Lines keep their indent; the
/// first has something of this length before it, such as `error: `.
pub(super) fn message(text: &str, before: usize, width: usize) -> String {
    fitted(text, before, width, |index, indent| match (index, indent) {
        (0, "") => HANGING.to_owned(),
        _ => indent.to_owned(),
    })
}

/// A text behind the options of a command, in lines of this width at most, as in messages: what follows the first line of an example is
/// indented more.
pub fn text_of_help(text: &str, width: usize) -> String {
    fitted(text, 0, width, |_, indent| if indent.is_empty() { String::new() } else { format!("{indent}{HANGING}") })
}

/// Lines of this width at most; `below` has the number of a line and its indent, and returns what its further lines begin with.
fn fitted(text: &str, before: usize, width: usize, below: impl Fn(usize, &str) -> String) -> String {
    let line = |(index, line): (usize, &str)| {
        let indent = " ".repeat(line.len() - line.trim_start_matches(' ').len());
        let taken = if index == 0 { " ".repeat(before) } else { String::new() };
        let first = format!("{taken}{indent}");
        let below = below(index, &indent);
        let options = Options::new(width.max(1))
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit)
            .break_words(false)
            .initial_indent(&first)
            .subsequent_indent(&below);
        let lines = textwrap::wrap(line.trim_start_matches(' '), options).join("\n");
        lines.get(taken.len()..).unwrap_or_default().to_owned()
    };
    text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// The text of a table of these rows. Without a width it is as wide as it needs to be.
pub(super) fn rendered(columns: &[Column], rows: &[Vec<Cell>], width: Option<usize>, colors: bool) -> String {
    let mut out = String::new();
    // Headings alone look like an answer; whoever has no rows says so.
    if rows.is_empty() {
        return out;
    }
    match layout(columns, rows, width) {
        Some(layout) => table(columns, rows, &layout, colors, &mut out),
        None => records(columns, rows, width.unwrap_or(usize::MAX), colors, &mut out),
    }
    out
}

/// The columns that are shown, by their places, with their widths.
type TableLayout = Vec<(usize, usize)>;

/// The widest layout that fits; `None` if the rows have to be records.
fn layout(columns: &[Column], rows: &[Vec<Cell>], width: Option<usize>) -> Option<TableLayout> {
    let natural = |(place, column): (usize, &Column)| {
        let cells = rows.iter().map(|row| display_width(&row[place].text));
        (place, cells.max().unwrap_or(0).max(display_width(&column.heading())))
    };
    let mut layout: TableLayout = columns.iter().enumerate().map(natural).collect();
    let Some(width) = width else { return Some(layout) };
    let excess = |layout: &TableLayout| total(layout).saturating_sub(width);
    // What a column can do without: of an id its end, of a text the length of its lines.
    let least = |place: usize, now: usize| {
        let column = &columns[place];
        let least = if column.shortens {
            rows.iter().map(|row| least_of_id(&row[place].text)).max().unwrap_or(0)
        } else {
            column.wraps.unwrap_or(now)
        };
        now.min(least.max(display_width(&column.heading())))
    };
    let narrowed = |layout: &TableLayout| {
        let mut layout = layout.clone();
        for shortens in [true, false] {
            for at in 0..layout.len() {
                let (place, now) = layout[at];
                if columns[place].shortens == shortens {
                    let spare = now - least(place, now);
                    layout[at].1 -= spare.min(excess(&layout));
                }
            }
        }
        layout
    };
    loop {
        let narrow = narrowed(&layout);
        if excess(&narrow) == 0 {
            return Some(narrow);
        }
        // Of equal columns, the last goes first.
        let (at, rank) =
            layout.iter().enumerate().map(|(at, (place, _))| (at, columns[*place].rank)).max_by_key(|it| it.1)?;
        if rank == 0 {
            return None;
        }
        layout.remove(at);
    }
}

fn least_of_id(id: &str) -> usize {
    let least = if Uuid::try_parse(id).is_ok() { LEAST_UUID } else { LEAST_ID };
    display_width(id).min(least)
}

fn total(layout: &TableLayout) -> usize {
    layout.iter().map(|(_, width)| width).sum::<usize>() + GAP * layout.len().saturating_sub(1)
}

fn table(columns: &[Column], rows: &[Vec<Cell>], layout: &TableLayout, colors: bool, out: &mut String) {
    let header: Vec<_> = columns.iter().map(|column| Cell::toned(column.heading(), Tone::Strong)).collect();
    for row in std::iter::once(&header).chain(rows) {
        let cells: Vec<_> = layout
            .iter()
            .map(|(place, width)| {
                let text = &row[*place].text;
                let lines =
                    if columns[*place].shortens { vec![shortened(text, *width)] } else { wrapped(text, *width) };
                (lines, row[*place].tone, *width)
            })
            .collect();
        let height = cells.iter().map(|(lines, ..)| lines.len()).max().unwrap_or(0);
        for line in 0..height {
            let parts =
                cells.iter().map(|(lines, tone, width)| (lines.get(line).map_or("", String::as_str), *tone, *width));
            *out += &joined(parts, colors);
            out.push('\n');
        }
    }
}

/// Texts side by side, each padded to its width. Nothing follows the last one.
fn joined<'a>(parts: impl Iterator<Item = (&'a str, Option<Tone>, usize)>, colors: bool) -> String {
    let (mut line, mut behind) = (String::new(), 0);
    for (text, tone, width) in parts {
        if !text.is_empty() {
            line += &" ".repeat(behind);
            line += &painted(text, tone, colors);
            behind = 0;
        }
        behind += width.saturating_sub(display_width(text)) + GAP;
    }
    line
}

/// A row that is shown as it comes: each column as wide as it says, and the last one beside them, or below them where there is no room.
/// Where the columns say so, a row without room takes two lines.
pub(super) fn live(columns: &[Column], mut cells: Vec<Cell>, width: Option<usize>, colors: bool) -> String {
    let Some(last) = cells.pop() else { return String::new() };
    let width = width.unwrap_or(usize::MAX);
    let declared: usize = columns.iter().take(cells.len()).map(|column| column.width + GAP).sum();
    let of_first = columns.iter().take(cells.len()).position(|column| column.ends_line).map_or(0, |place| place + 1);
    let split = if width.saturating_sub(declared) < least_of_text(columns.last()) { of_first } else { 0 };
    let parts = || cells.iter().zip(columns).map(|(cell, column)| (cell.text.as_str(), cell.tone, column.width));
    let (mut out, start) = match split {
        0 => (String::new(), 0),
        _ => (in_lines(parts().take(split), width, colors) + "\n" + &" ".repeat(2 * GAP), 2 * GAP),
    };
    let parts = || parts().skip(split);
    let taken = start + display_width(&joined(parts(), false));
    let before = start + parts().map(|(text, _, width)| width.max(display_width(text)) + GAP).sum::<usize>();
    let room = width.saturating_sub(before);
    // A short text needs no line of its own, and a long word is not broken where it has one.
    let is_short = display_width(&last.text) <= room;
    let longest = last.text.split(' ').map(display_width).max().unwrap_or(0);
    let is_beside = is_short || (room >= least_of_text(columns.last()) && longest <= room);
    let indent = if is_beside { before } else { 2 * GAP };
    let lines = wrapped(&last.text, width.saturating_sub(indent)).into_iter().filter(|line| !line.is_empty());
    out += &in_lines(parts(), width.saturating_sub(start), colors);
    push_value(&mut out, lines, is_beside.then(|| before - taken), indent, |line| painted(line, last.tone, colors));
    out
}

/// The least width of a text beside the other columns.
fn least_of_text(column: Option<&Column>) -> usize {
    column.and_then(|column| column.wraps).unwrap_or(LEAST_TEXT)
}

/// The lines of a value: the first after a gap beside what is there, if there is room, the others indented.
fn push_value(
    out: &mut String,
    mut lines: impl Iterator<Item = String>,
    gap: Option<usize>,
    indent: usize,
    painted: impl Fn(&str) -> String,
) {
    if let Some(gap) = gap
        && let Some(first) = lines.next()
    {
        *out += &" ".repeat(gap);
        *out += &painted(&first);
    }
    out.push('\n');
    for line in lines {
        *out += &" ".repeat(indent);
        *out += &painted(&line);
        out.push('\n');
    }
}

/// Texts side by side, and below each other where they do not fit.
fn in_lines<'a>(parts: impl Iterator<Item = (&'a str, Option<Tone>, usize)>, width: usize, colors: bool) -> String {
    let (mut out, mut line) = (String::new(), Vec::new());
    for part in parts {
        line.push(part);
        let indent = if out.is_empty() { 0 } else { 2 * GAP };
        if line.len() > 1 && indent + display_width(&joined(line.iter().copied(), false)) > width {
            line.pop();
            out += &joined(line.drain(..), colors);
            out.push('\n');
            out += &" ".repeat(2 * GAP);
            line.push(part);
        }
    }
    out + &joined(line.into_iter(), colors)
}

/// Each row as lines of `HEADING  value`, below its first value; without what is empty.
fn records(columns: &[Column], rows: &[Vec<Cell>], width: usize, colors: bool, out: &mut String) {
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let mut cells = columns.iter().zip(row);
        // A number says nothing without what it counts.
        let heading = cells.next().map(|(column, first)| match first.text.parse::<u64>() {
            Ok(_) => format!("{} {}", column.heading(), first.text),
            Err(_) => first.text.clone(),
        });
        for line in heading.map(|heading| wrapped(&heading, width)).unwrap_or_default() {
            *out += &painted(&line, Some(Tone::Strong), colors);
            out.push('\n');
        }
        let fields: Vec<_> = cells.map(|(column, cell)| (column.heading(), cell.clone())).collect();
        *out += &named(&fields, GAP, Some(width), colors);
    }
}

/// Values behind their names, or below them where there is no room beside them; without what is empty. Both are escaped for the terminal.
pub(super) fn named(fields: &[(impl AsRef<str>, Cell)], indent: usize, width: Option<usize>, colors: bool) -> String {
    let fields = fields.iter().filter(|(_, cell)| !cell.text.is_empty());
    let fields: Vec<_> = fields.map(|(name, cell)| (printable::line(name.as_ref()), cell)).collect();
    let names = fields.iter().map(|(name, _)| display_width(name)).max().unwrap_or(0);
    let width = width.unwrap_or(usize::MAX);
    let beside = indent + names + GAP;
    let is_beside = width >= beside + LEAST_TEXT;
    let below = if is_beside { beside } else { indent + GAP };
    let mut out = String::new();
    for (name, cell) in fields {
        let lines = wrapped(&printable::line(&cell.text), width.saturating_sub(below)).into_iter();
        out += &" ".repeat(indent);
        out += &painted(&name, Some(Tone::Faint), colors);
        let gap = is_beside.then(|| beside - indent - display_width(&name));
        push_value(&mut out, lines, gap, below, |line| painted(line, cell.tone, colors));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column::new("ID", "").shortened(),
        Column::new("STATE", ""),
        Column::new("TITLE", "").wrapped(),
        Column::new("PRICE", "").rank(1),
        Column::new("PHOTOS", "").rank(2),
    ];

    fn shown(width: usize) -> Vec<String> {
        let row =
            ["0b7c2a9e-5e0f-4c53-8d9f-2b1f6f1f2a3b", "live", "Volvo XC60 T6 AWD Inscription 2019", "349,900 SEK", "12"];
        let rows = [row.map(Cell::from).to_vec()];
        rendered(COLUMNS, &rows, Some(width), false).lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_matters_less_goes_first() {
        assert_eq!(
            shown(110),
            [
                "ID                                    STATE  TITLE                               PRICE        PHOTOS",
                "0b7c2a9e-5e0f-4c53-8d9f-2b1f6f1f2a3b  live   Volvo XC60 T6 AWD Inscription 2019  349,900 SEK  12",
            ]
        );
        assert_eq!(
            shown(80),
            [
                "ID                STATE  TITLE                               PRICE        PHOTOS",
                "0b7c2a9e-5e0f-4…  live   Volvo XC60 T6 AWD Inscription 2019  349,900 SEK  12",
            ]
        );
        assert_eq!(
            shown(60),
            [
                "ID         STATE  TITLE                  PRICE        PHOTOS",
                "0b7c2a9e…  live   Volvo XC60 T6 AWD      349,900 SEK  12",
                "                  Inscription 2019",
            ]
        );
        assert_eq!(shown(52)[0], "ID         STATE  TITLE                  PRICE");
        assert_eq!(shown(40)[0], "ID         STATE  TITLE");
    }

    #[test]
    fn ids_stay_different() {
        assert_eq!(shortened("fault-refused-secondary-1", 9), "faul…ry-1");
        assert_eq!(shortened("fault-refused-1", 9), "faul…ed-1");
        assert_eq!(shortened("0b7c2a9e-5e0f-4c53-8d9f-2b1f6f1f2a3b", 9), "0b7c2a9e…");
        assert_eq!(shortened("bil-åäö-1", 9), "bil-åäö-1");
        assert_eq!(shortened("车车车车车车", 9), "车车…车车");
    }

    #[test]
    fn messages_keep_their_indents_and_their_commands() {
        assert_eq!(message("to do: ad-cli x\n  and more words", 0, 12), "to do:\n    ad-cli x\n  and more\n  words");
        assert_eq!(message("one two", 7, 12), "one\n    two", "behind a heading");
        assert_eq!(message("a-very-long-word-indeed", 0, 5), "a-very-long-word-indeed");
        assert_eq!(message("", 3, 12), "");
    }

    #[test]
    fn what_does_not_fit_at_all_becomes_records() {
        assert_eq!(
            shown(20),
            [
                "0b7c2a9e-5e0f-4c53-8",
                "d9f-2b1f6f1f2a3b",
                "  STATE",
                "    live",
                "  TITLE",
                "    Volvo XC60 T6",
                "    AWD Inscription",
                "    2019",
                "  PRICE",
                "    349,900 SEK",
                "  PHOTOS",
                "    12",
            ]
        );
        for width in 1..130 {
            assert!(
                shown(width).iter().all(|line| display_width(line) <= width.max(10)),
                "{width}: {:#?}",
                shown(width)
            );
        }
    }

    const LIVE: &[Column] = &[
        Column::new("TIME", "").wide(20),
        Column::new("SOURCE ID", "").wide(12).ends_line(),
        Column::new("STATE", "").wide(10),
        Column::new("MESSAGE", "").wrapped(),
    ];

    fn live_rows(columns: &[Column], width: usize, rows: &[&[&str]]) -> Vec<String> {
        let titles: Vec<_> = columns.iter().map(Column::heading).collect();
        let titles: Vec<_> = titles.iter().map(String::as_str).collect();
        let row = |row: &&[&str]| live(columns, row.iter().copied().map(Cell::from).collect(), Some(width), false);
        let text: String =
            std::iter::once(titles.as_slice()).chain(rows.iter().copied()).map(|cells| row(&cells)).collect();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn rows_as_they_come_stay_in_line_on_a_narrow_terminal() {
        let rows: &[&[&str]] = &[
            &["2026-11-30 14:48:00Z", "car-1", "done", "Ad published"],
            &[
                "2026-11-30 14:48:01Z",
                "0b7c2a9e-5e0f-4c53-8d9f-2b1f6f1f2a3b",
                "error",
                "Rejected: the plate is of another vehicle",
            ],
        ];
        assert_eq!(
            live_rows(LIVE, 60, rows),
            [
                "TIME                  SOURCE ID",
                "    STATE       MESSAGE",
                "2026-11-30 14:48:00Z  car-1",
                "    done        Ad published",
                "2026-11-30 14:48:01Z  0b7c2a9e-5e0f-4c53-8d9f-2b1f6f1f2a3b",
                "    error       Rejected: the plate is of another vehicle",
            ]
        );
        assert_eq!(live_rows(LIVE, 80, rows)[1], "2026-11-30 14:48:00Z  car-1         done        Ad published");
    }

    #[test]
    fn a_text_beside_rows_as_they_come_has_a_line_of_its_own_where_it_needs_one() {
        let columns = [LIVE[0], LIVE[2], LIVE[3]];
        let rows: &[&[&str]] = &[
            &["2026-11-30 14:48:00Z", "done", "Ad created"],
            &["2026-11-30 14:48:01Z", "error", "Rejected: the plate is of another vehicle"],
        ];
        assert_eq!(
            live_rows(&columns, 50, rows),
            [
                "TIME                  STATE       MESSAGE",
                "2026-11-30 14:48:00Z  done        Ad created",
                "2026-11-30 14:48:01Z  error",
                "    Rejected: the plate is of another vehicle",
            ]
        );
        let word: &[&[&str]] = &[&["2026-11-30 14:48:01Z", "error", "no plate-of-another-vehicle"]];
        assert_eq!(live_rows(&columns, 56, word)[2], "    no plate-of-another-vehicle");
    }

    #[test]
    fn an_example_of_a_help_goes_on_below_itself() {
        let text = "What follows\nis plain.\n\nExamples:\n  ad-cli list --brand volvo";
        assert_eq!(text_of_help(text, 20), "What follows\nis plain.\n\nExamples:\n  ad-cli list\n      --brand volvo");
        assert_eq!(rendered(&[Column::new("ID", "id")], &[], Some(80), false), "");
    }
}
