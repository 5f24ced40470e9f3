//! Rows in batches: one text, and the position of each value in it.

mod beside;
mod merge;

pub(crate) use beside::{BesideValues, Unpaired};

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::LONGEST_ROW;
use crate::finding::{Finding, Severity};

/// One of a file's [`Columns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(u32);

impl ColumnId {
    /// Its index among the columns, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a file says about a value besides its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CellKind {
    /// A text, or a value of a format without types.
    #[default]
    Text,
    /// A number with all its digits.
    Number,
    /// A number of a file that does not say how it is shown, with how many zeros for example.
    BareNumber,
    /// A number of which digits were lost.
    LossyNumber,
    /// A date or a time.
    Date,
    /// A truth value; its text is `true` or `false`.
    Boolean,
    /// A number that is infinite or none.
    Infinite,
    /// A formula without a value; the text is empty.
    Formula,
    /// What stands instead of a value that could not be computed.
    Failed,
}

impl CellKind {
    /// All but texts, in the order of their discriminants, which begin at 1.
    const MARKED: [Self; 8] = [
        Self::Number,
        Self::BareNumber,
        Self::LossyNumber,
        Self::Date,
        Self::Boolean,
        Self::Infinite,
        Self::Formula,
        Self::Failed,
    ];

    /// Whether a byte stands for a kind. No text of a spreadsheet has these control characters.
    pub(super) fn is_mark(byte: u8) -> bool {
        (1..=8).contains(&byte)
    }

    /// The byte that stands for the kind before a text; texts have none.
    pub(super) fn mark(self) -> Option<u8> {
        (self != Self::Text).then_some(self as u8)
    }

    /// The kind that a byte stands for.
    pub(super) fn of_mark(byte: u8) -> Option<Self> {
        Self::MARKED.get(usize::from(byte.checked_sub(1)?)).copied()
    }
}

/// The columns of a CSV file, or the paths seen so far in the records of an XML or JSON one.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    names: Vec<String>,
    ids: FxHashMap<String, ColumnId>,
    /// Those that have codes of letters and digits.
    codes: Vec<ColumnId>,
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

    /// Names of all columns, in the order of the file.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The column at a position, from 0.
    pub fn at(&self, index: usize) -> Option<ColumnId> {
        (index < self.names.len()).then(|| u32::try_from(index).ok().map(ColumnId))?
    }

    /// Whether most of the first values of a column are texts with letters, so that numbers among them may have been texts.
    pub fn has_codes(&self, id: ColumnId) -> bool {
        self.codes.contains(&id)
    }

    pub(super) fn set_codes(&mut self, codes: Vec<ColumnId>) {
        self.codes = codes;
    }

    /// Adds a column. If several have the same name, the name finds the first.
    pub(crate) fn add(&mut self, name: &str) -> ColumnId {
        let id = ColumnId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.to_owned());
        self.ids.entry(name.to_owned()).or_insert(id);
        id
    }
}

/// An element or object of a record; 0 is the record itself.
type NodeId = u32;

#[derive(Debug, Clone, Copy)]
struct Cell {
    column: ColumnId,
    node: NodeId,
    kind: CellKind,
    start: usize,
    end: usize,
}

/// An element of XML or an object of JSON, by which values that belong together are found.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The node around it; 0 is the record itself.
    parent: NodeId,
    /// The length of its path.
    path: usize,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    number: u64,
    line: u64,
    cells: (usize, usize),
    findings: (usize, usize),
    /// The nodes before its own.
    nodes: usize,
    /// Whether each value is at the index of its column.
    in_place: bool,
    /// Findings that are only counted.
    more_findings: usize,
    /// Whether another row about the same vehicle counts.
    is_replaced: bool,
    /// Whether it has the values of other rows, too.
    is_merged: bool,
}

/// Most findings of a row that are kept; one more counts the others.
const MOST_FINDINGS: usize = 20;

/// Bytes of text that make a batch.
const ENOUGH_TEXT: usize = 128 * 1024;

/// Values that make one, however short they are.
const ENOUGH_CELLS: usize = 64 * 1024;

/// Rows after which a batch is complete.
const ENOUGH_ROWS: usize = 400;

/// Some rows of a file, in order.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) columns: Arc<Columns>,
    text: String,
    cells: Vec<Cell>,
    findings: Vec<Finding>,
    rows: Vec<Span>,
    nodes: Vec<Node>,
    /// The node that is open.
    node: NodeId,
    /// Whether one of the values is no text.
    has_kinds: bool,
}

impl Batch {
    /// The columns of the file, as far as they are known.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// The rows of the batch, in the order of the file.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows.iter().map(|span| Row { batch: self, span: *span })
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it has enough rows to process.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= ENOUGH_TEXT || self.cells.len() >= ENOUGH_CELLS || self.rows.len() >= ENOUGH_ROWS
    }

    /// Removes all rows, for rows of a file with these columns.
    pub(crate) fn clear(&mut self, columns: Arc<Columns>) {
        self.columns = columns;
        self.text.clear();
        self.cells.clear();
        self.findings.clear();
        self.rows.clear();
        self.has_kinds = false;
        self.nodes.clear();
        self.node = 0;
    }

    /// Sets the columns of the file, when the rows are known.
    pub(crate) fn set_columns(&mut self, columns: Arc<Columns>) {
        self.columns = columns;
    }

    /// Begins a row with its number, from 1, and its first line.
    pub(crate) fn begin(&mut self, number: u64, line: u64) {
        let (cells, findings) = (self.cells.len(), self.findings.len());
        let (cells, findings) = ((cells, cells), (findings, findings));
        self.node = 0;
        self.rows.push(Span {
            number,
            line,
            cells,
            findings,
            nodes: self.nodes.len(),
            in_place: true,
            more_findings: 0,
            is_replaced: false,
            is_merged: false,
        });
    }

    /// Begins an element or object of the last row, at a path of this length.
    pub(super) fn enter(&mut self, path: usize) {
        self.nodes.push(Node { parent: self.node, path });
        self.node = u32::try_from(self.nodes.len()).unwrap_or(0);
    }

    /// Ends the element or object that is open.
    pub(super) fn leave(&mut self) {
        self.node = self.node(self.node).map_or(0, |node| node.parent);
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.checked_sub(1)? as usize)
    }

    /// The node at most this deep in which another one is.
    fn around(&self, mut id: NodeId, path: usize) -> NodeId {
        while let Some(node) = self.node(id).filter(|node| node.path > path) {
            id = node.parent;
        }
        id
    }

    /// Removes the last row and its cells.
    pub(super) fn undo(&mut self) {
        if let Some(row) = self.rows.pop() {
            if let Some(first) = self.cells.get(row.cells.0) {
                self.text.truncate(first.start);
            }
            self.cells.truncate(row.cells.0);
            self.findings.truncate(row.findings.0);
            self.nodes.truncate(row.nodes);
            self.node = 0;
        }
    }

    /// Adds a text to the last row.
    pub(crate) fn push(&mut self, column: ColumnId, value: &str) {
        self.push_of(CellKind::Text, column, value);
    }

    /// Adds a value to the last row.
    pub(super) fn push_of(&mut self, kind: CellKind, column: ColumnId, value: &str) {
        self.has_kinds |= kind != CellKind::Text;
        let start = self.text.len();
        self.text.push_str(value);
        self.cells.push(Cell { column, kind, node: self.node, start, end: self.text.len() });
        if let Some(row) = self.rows.last_mut() {
            row.in_place &= column.index() == row.cells.1 - row.cells.0;
            row.cells.1 = self.cells.len();
        }
    }

    /// The first value of a column of the last row.
    pub(super) fn last_value(&self, column: ColumnId) -> Option<&str> {
        let span = *self.rows.last()?;
        Row { batch: self, span }.value(column)
    }

    /// The number of the last row.
    pub(super) fn last_number(&self) -> Option<u64> {
        self.rows.last().map(|row| row.number)
    }

    /// Marks the last row as one of which another counts.
    pub(super) fn replace_last(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.is_replaced = true;
        }
    }

    /// Whether the last row may have another value within the limit on rows. Each value counts in addition to its text: a record of
    /// very many empty values is long, too.
    pub(super) fn has_room(&self, value: &str) -> bool {
        let Some(row) = self.rows.last() else { return true };
        let cells = self.cells.get(row.cells.0..).unwrap_or_default();
        let text = cells.first().map_or(0, |first| self.text.len() - first.start);
        text + value.len() + size_of_val(cells) <= LONGEST_ROW
    }

    /// Adds an error to the last row. Of a row with very many errors, the first are kept and the others counted.
    pub(super) fn error(&mut self, error: Finding) {
        let Some(row) = self.rows.last_mut() else { return };
        if self.findings.len() - row.findings.0 < MOST_FINDINGS {
            self.findings.push(error);
        } else {
            row.more_findings += 1;
            let (count, problems, are) = match row.more_findings {
                1 => (1, "problem", "is"),
                count => (count, "problems", "are"),
            };
            let message = format!("The record has {count} further {problems} like these, which {are} not listed.");
            self.findings.truncate(row.findings.0 + MOST_FINDINGS);
            self.findings.push(Finding::new(Severity::Error, "further problems in the record", message));
        }
        row.findings.1 = self.findings.len();
    }
}

/// A value of a record, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedText<'a> {
    pub(crate) column: ColumnId,
    pub(crate) text: &'a str,
    /// Which of the column's values it is.
    pub(crate) index: usize,
    node: NodeId,
}

impl PlacedText<'_> {
    /// The same without outer space.
    pub(crate) fn trimmed(self) -> Self {
        Self { text: self.text.trim(), ..self }
    }
}

/// One record of a file.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    batch: &'a Batch,
    span: Span,
}

impl<'a> Row<'a> {
    /// Which record of the file it is, from 1, without the header.
    pub fn number(self) -> u64 {
        self.span.number
    }

    /// The line of the file on which it begins, from 1.
    pub fn line(self) -> u64 {
        self.span.line
    }

    /// Whether each column has one value, as in CSV.
    pub(crate) fn is_flat(self) -> bool {
        self.span.in_place
    }

    /// Whether another row about the same vehicle counts instead.
    pub fn is_replaced(self) -> bool {
        self.span.is_replaced
    }

    /// Whether it has the values of other rows about the same vehicle, too.
    pub(crate) fn is_merged(self) -> bool {
        self.span.is_merged
    }

    /// The columns of the file.
    pub fn columns(self) -> &'a Columns {
        &self.batch.columns
    }

    /// All values, in order. An empty text is a value; `null` is none.
    pub fn cells(self) -> impl Iterator<Item = (ColumnId, &'a str)> + Clone {
        let batch = self.batch;
        self.its_cells().iter().map(|cell| (cell.column, &batch.text[cell.start..cell.end]))
    }

    /// The texts of all values, one behind the other.
    pub(crate) fn text(self) -> &'a str {
        let cells = self.its_cells();
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else { return "" };
        &self.batch.text[first.start..last.end]
    }

    /// The values of a column: several where a path occurs several times.
    pub fn values(self, column: ColumnId) -> impl Iterator<Item = &'a str> + Clone {
        let batch = self.batch;
        self.cells_of(column).map(|cell| &batch.text[cell.start..cell.end])
    }

    /// The same with their places.
    pub(crate) fn placed(self, column: ColumnId) -> impl Iterator<Item = PlacedText<'a>> + Clone {
        let batch = self.batch;
        self.cells_of(column).enumerate().map(move |(index, cell)| PlacedText {
            column,
            text: &batch.text[cell.start..cell.end],
            node: cell.node,
            index,
        })
    }

    fn cells_of(self, column: ColumnId) -> impl Iterator<Item = &'a Cell> + Clone {
        let cells = self.its_cells();
        // In CSV, each value is at the index of its column.
        let cells =
            if self.span.in_place { cells.get(column.index()..=column.index()).unwrap_or_default() } else { cells };
        cells.iter().filter(move |cell| cell.column == column)
    }

    /// What the file says about the values of a column.
    pub fn kinds(self, column: ColumnId) -> impl Iterator<Item = CellKind> + Clone {
        self.cells_of(column).map(|cell| cell.kind)
    }

    /// Whether the file says something about its values.
    pub fn has_kinds(self) -> bool {
        self.batch.has_kinds
    }

    /// The first value of a column.
    pub fn value(self, column: ColumnId) -> Option<&'a str> {
        self.values(column).next()
    }

    /// What is wrong with the row itself, whatever its values mean.
    pub fn findings(self) -> &'a [Finding] {
        &self.batch.findings[self.span.findings.0..self.span.findings.1]
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

/// One record: names of columns, which may repeat, and values.
#[cfg(any(test, feature = "cli"))]
pub(crate) fn row_of_paths(cells: &[(&str, &str)]) -> Batch {
    let mut columns = Columns::default();
    let ids: Vec<ColumnId> =
        cells.iter().map(|(name, _)| columns.id(name).unwrap_or_else(|| columns.add(name))).collect();
    let mut batch = Batch::default();
    batch.clear(Arc::new(columns));
    batch.begin(1, 1);
    ids.iter().zip(cells).for_each(|(id, (_, value))| batch.push(*id, value));
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_problems_of_a_row_the_first_are_kept_and_the_others_counted() {
        let error = |message: usize| Finding::new(Severity::Error, "x", message.to_string());
        let mut batch = Batch::default();
        for problems in [1, MOST_FINDINGS, MOST_FINDINGS + 1, 100_000] {
            batch.begin(1, 1);
            (0..problems).for_each(|number| batch.error(error(number)));
        }
        let kept: Vec<_> = batch.rows().map(|row| row.findings().len()).collect();
        assert_eq!(kept, [1, MOST_FINDINGS, MOST_FINDINGS + 1, MOST_FINDINGS + 1]);
        let last: Vec<_> = batch.rows().filter_map(|row| row.findings().get(MOST_FINDINGS)).collect();
        assert_eq!(last[0].message, "The record has 1 further problem like these, which is not listed.");
        assert_eq!(last[1].message, "The record has 99980 further problems like these, which are not listed.");
    }

    #[test]
    fn many_empty_values_make_a_batch() {
        let mut columns = Columns::default();
        let id = columns.add("a");
        let mut batch = Batch::default();
        batch.begin(1, 1);
        (0..ENOUGH_CELLS).for_each(|_| batch.push(id, ""));
        assert!(batch.is_full());
    }

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
