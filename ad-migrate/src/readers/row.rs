//! Rows, many together: one text, and where in it each value stands.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// One of a file's [`Columns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(u32);

impl ColumnId {
    /// Its place among the columns, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The columns of a CSV file, or the paths seen so far in the records of an XML or JSON one.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    names: Vec<String>,
    ids: FxHashMap<String, ColumnId>,
}

impl Columns {
    /// The column of a name.
    pub fn id(&self, name: &str) -> Option<ColumnId> {
        self.ids.get(name).copied()
    }

    /// The name of a column.
    pub fn name(&self, id: ColumnId) -> &str {
        self.names.get(id.index()).map_or("", String::as_str)
    }

    /// All names, in their order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The column at a position, from 0.
    pub fn at(&self, index: usize) -> Option<ColumnId> {
        (index < self.names.len()).then(|| u32::try_from(index).ok().map(ColumnId))?
    }

    /// The column of a name, which is added if it is new. Of several columns with one name, a name finds the first.
    pub(crate) fn add(&mut self, name: &str) -> ColumnId {
        let id = ColumnId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.to_owned());
        self.ids.entry(name.to_owned()).or_insert(id);
        id
    }
}

/// What is wrong with a row as such, whatever it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What rows with the same trouble have in common: `too many columns`.
    pub reason: &'static str,
    /// Where, if it is about one column.
    pub column: Option<ColumnId>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    column: ColumnId,
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    number: u64,
    line: u64,
    cells: (usize, usize),
    troubles: (usize, usize),
    /// Whether each value stands at the place of its column.
    in_place: bool,
}

/// Bytes of text that make a batch.
const ENOUGH_TEXT: usize = 256 * 1024;

/// Rows that make one.
const ENOUGH_ROWS: usize = 1000;

/// Some rows of a file, in their order.
#[derive(Debug, Default)]
pub struct Batch {
    columns: Arc<Columns>,
    text: String,
    cells: Vec<Cell>,
    troubles: Vec<Trouble>,
    rows: Vec<Span>,
}

impl Batch {
    /// The columns of the file, as far as they are known.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.iter().map(|span| Row { batch: self, span: *span })
    }

    /// Bytes of text in it.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it has as much as is worth handing over.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= ENOUGH_TEXT || self.rows.len() >= ENOUGH_ROWS
    }

    /// Empties it, for rows of a file with these columns.
    pub(crate) fn clear(&mut self, columns: Arc<Columns>) {
        self.columns = columns;
        self.text.clear();
        self.cells.clear();
        self.troubles.clear();
        self.rows.clear();
    }

    /// The columns have become more.
    pub(super) fn set_columns(&mut self, columns: Arc<Columns>) {
        self.columns = columns;
    }

    /// Begins a row: its number from 1, and the line on which it begins.
    pub(crate) fn begin(&mut self, number: u64, line: u64) {
        let (cells, troubles) = (self.cells.len(), self.troubles.len());
        self.rows.push(Span { number, line, cells: (cells, cells), troubles: (troubles, troubles), in_place: true });
    }

    /// Takes back the row that was begun last.
    pub(super) fn undo(&mut self) {
        if let Some(row) = self.rows.pop() {
            if let Some(first) = self.cells.get(row.cells.0) {
                self.text.truncate(first.start);
            }
            self.cells.truncate(row.cells.0);
            self.troubles.truncate(row.troubles.0);
        }
    }

    /// Adds a value to the row that was begun last.
    pub(crate) fn push(&mut self, column: ColumnId, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.cells.push(Cell { column, start, end: self.text.len() });
        if let Some(row) = self.rows.last_mut() {
            row.in_place &= column.index() == row.cells.1 - row.cells.0;
            row.cells.1 = self.cells.len();
        }
    }

    /// Adds something that is wrong with the row that was begun last.
    pub(super) fn trouble(&mut self, trouble: Trouble) {
        self.troubles.push(trouble);
        if let Some(row) = self.rows.last_mut() {
            row.troubles.1 = self.troubles.len();
        }
    }
}

/// One record of a file.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    batch: &'a Batch,
    span: Span,
}

impl<'a> Row<'a> {
    /// Which record of the file it is, from 1; a header is none.
    pub fn number(self) -> u64 {
        self.span.number
    }

    /// The line of the file on which it begins, from 1.
    pub fn line(self) -> u64 {
        self.span.line
    }

    /// The columns of the file.
    pub fn columns(self) -> &'a Columns {
        &self.batch.columns
    }

    /// All values, in their order. An empty text is a value; what is not there or `null` is none.
    pub fn cells(self) -> impl Iterator<Item = (ColumnId, &'a str)> + Clone {
        let batch = self.batch;
        self.its_cells().iter().map(|cell| (cell.column, &batch.text[cell.start..cell.end]))
    }

    /// The values of a column: several where a path occurs several times.
    pub fn values(self, column: ColumnId) -> impl Iterator<Item = &'a str> + Clone {
        let batch = self.batch;
        let cells = self.its_cells();
        // In CSV, each column is where it belongs, and nowhere else.
        let cells =
            if self.span.in_place { cells.get(column.index()..=column.index()).unwrap_or_default() } else { cells };
        cells.iter().filter(move |cell| cell.column == column).map(|cell| &batch.text[cell.start..cell.end])
    }

    /// The first value of a column.
    pub fn value(self, column: ColumnId) -> Option<&'a str> {
        self.values(column).next()
    }

    /// What is wrong with the row as such.
    pub fn troubles(self) -> &'a [Trouble] {
        &self.batch.troubles[self.span.troubles.0..self.span.troubles.1]
    }

    fn its_cells(self) -> &'a [Cell] {
        &self.batch.cells[self.span.cells.0..self.span.cells.1]
    }
}

/// Rows of a CSV file for tests: the names of its columns, and the values of each row.
#[cfg(test)]
pub(crate) fn rows_of(names: &[&str], rows: &[&[&str]]) -> Batch {
    let mut columns = Columns::default();
    let ids: Vec<ColumnId> = names.iter().map(|name| columns.add(name)).collect();
    let mut batch = Batch::default();
    batch.clear(Arc::new(columns));
    for (number, values) in (1..).zip(rows) {
        batch.begin(number, number + 1);
        ids.iter().zip(*values).for_each(|(id, value)| batch.push(*id, value));
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_all_its_values_wherever_they_stand() {
        let mut columns = Columns::default();
        let ids = ["a", "b", "c"].map(|name| columns.add(name));
        let mut batch = Batch::default();
        batch.clear(Arc::new(columns));
        batch.begin(1, 1);
        ids.iter().zip(["1", "2", "3"]).for_each(|(id, value)| batch.push(*id, value));
        // The second of "b" stands where "b" would in a row that has everything.
        batch.begin(2, 2);
        for (id, value) in [(1, "2"), (1, "3"), (0, "1"), (1, "4")] {
            batch.push(ids[id], value);
        }
        let values = |id: ColumnId| batch.rows().map(|row| row.values(id).collect::<Vec<_>>()).collect::<Vec<_>>();
        assert_eq!(values(ids[0]), [vec!["1"], vec!["1"]]);
        assert_eq!(values(ids[1]), [vec!["2"], vec!["2", "3", "4"]]);
        assert_eq!(values(ids[2]), [vec!["3"], vec![]]);
    }
}
