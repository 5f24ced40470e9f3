//! Columns of rows, and their cells.

use ad_core::csv_guard as guard;
use ad_files::text::plain;
use serde_json::Value;

use super::Tone;

/// A column: its title, and the path of its value in a row.
///
/// In CSV its header is the path and its cells are the values, unless it says otherwise; in a table they are as people read them.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub(super) title: &'static str,
    pub(super) path: &'static str,
    pub(super) show: fn(&Value) -> Cell,
    /// Header in CSV, and what a cell has of the value.
    csv: Option<(&'static str, CsvPart)>,
    pub(super) width: usize,
    pub(super) ends_line: bool,
    pub(super) in_tables: bool,
    /// The least width of the lines of a text that is wrapped.
    pub(super) wraps: Option<usize>,
    pub(super) shortens: bool,
    pub(super) rank: u8,
}

/// What a cell of CSV has of a value.
type CsvPart = fn(&Value) -> Value;

/// What people see of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text, without colours and padding.
    pub text: String,
    /// Its meaning, which determines the colour.
    pub tone: Option<Tone>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), tone: None }
    }
}

impl Cell {
    /// A text with a meaning.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone: Some(tone) }
    }
}

impl Column {
    /// The value at a dotted path of the row, shown as it is.
    pub const fn new(title: &'static str, path: &'static str) -> Self {
        Self {
            title,
            path,
            show: |value| plain(value).into(),
            csv: None,
            width: 0,
            ends_line: false,
            in_tables: true,
            wraps: None,
            shortens: false,
            rank: 0,
        }
    }

    /// The values at these paths, for programs: people see a column by its title.
    pub const fn at_paths<const N: usize>(paths: [&'static str; N]) -> [Self; N] {
        let (mut columns, mut index) = ([Self::new("", ""); N], 0);
        while index < N {
            columns[index] = Self::new(paths[index], paths[index]);
            index += 1;
        }
        columns
    }

    /// The same, shown to people in another way.
    #[must_use]
    pub const fn shown(self, show: fn(&Value) -> Cell) -> Self {
        Self { show, ..self }
    }

    /// The same, with another header in CSV, and a part of the value.
    #[must_use]
    pub const fn in_csv(self, header: &'static str, part: CsvPart) -> Self {
        Self { csv: Some((header, part)), ..self }
    }

    pub(super) fn csv_header(&self) -> String {
        guard::guarded(self.csv.map_or(self.path, |(header, _)| header).to_owned())
    }

    /// The cell of a row in CSV: texts are [guarded](guard::guarded), numbers are as they are.
    pub(super) fn csv_cell(&self, row: &Value) -> String {
        let value = self.of(row);
        match self.csv {
            Some((_, part)) => csv_cell(&part(value)),
            None => csv_cell(value),
        }
    }

    pub(super) fn heading(&self) -> String {
        self.title.to_uppercase().replace('_', " ")
    }

    /// Whether it shows the value at this path.
    pub fn is_of(&self, path: &str) -> bool {
        self.path == path
    }

    /// Minimum width in characters where rows are shown as they come.
    #[must_use]
    pub const fn wide(self, width: usize) -> Self {
        Self { width, ..self }
    }

    /// The last column of the first line, where rows that are shown as they come take two lines on a narrow terminal: an id of any
    /// length moves nothing there.
    #[must_use]
    pub const fn ends_line(self) -> Self {
        Self { ends_line: true, ..self }
    }

    /// A text that is wrapped on a narrow terminal.
    #[must_use]
    pub const fn wrapped(self) -> Self {
        self.least(20)
    }

    /// The same, with the least width of its lines.
    #[must_use]
    pub const fn least(self, least: usize) -> Self {
        Self { wraps: Some(least), ..self }
    }

    /// An id that is shortened on a narrow terminal.
    #[must_use]
    pub const fn shortened(self) -> Self {
        Self { shortens: true, ..self }
    }

    /// Left out on a narrow terminal: the higher the rank, the sooner. Without a rank it is always shown.
    #[must_use]
    pub const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// For programs, and for people who want to see more (`--output wide`): the ids of requests.
    #[must_use]
    pub const fn for_programs(self) -> Self {
        Self { in_tables: false, ..self }
    }

    pub(super) fn of<'a>(&self, row: &'a Value) -> &'a Value {
        if self.path.is_empty() { row } else { at(row, self.path).unwrap_or(&Value::Null) }
    }
}

/// The value at a dotted path, in which a number is the index of an item. A row of selected fields has whole paths as names.
pub(super) fn at<'a>(row: &'a Value, path: &str) -> Option<&'a Value> {
    let member = |value: &'a Value, name: &str| value.get(name).or_else(|| value.get(name.parse::<usize>().ok()?));
    row.get(path).or_else(|| path.split('.').try_fold(row, member))
}

/// A value as a cell of CSV: texts are [guarded](guard::guarded), numbers are as they are.
pub(super) fn csv_cell(value: &Value) -> String {
    if value.is_number() { value.to_string() } else { guard::guarded(plain(value)) }
}
