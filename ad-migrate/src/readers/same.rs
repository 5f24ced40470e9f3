//! Several rows about one vehicle: only the last or the first counts, or one row has the values of all of them. The file is read twice: which
//! row is the last one is only known at its end.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    sync::Arc,
};

use ad_core::violation::nearest;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::{Batch, ColumnId, Columns, ReadError, Reader, Records, Settings, quoted, too_long};

/// Most bytes of rows that wait for the last one of their vehicle: of any file, and this multiple of its size in addition, up to a limit.
const ANY_WAITING: u64 = 32 << 20;
const WAITING_TIMES: u64 = 30;
const MOST_WAITING: u64 = 256 << 20;

/// Rows that are about the same vehicle: `same` in `[rows]` of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameRows {
    /// Name of the column whose value they share.
    pub column: String,
    /// Which of these rows count: one, or all as one.
    pub take: Take,
}

/// Which of several rows about a vehicle count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// Only the last row.
    Last,
    /// Only the first row.
    First,
    /// All of them: the last one has the values of the others, too.
    All,
}

#[derive(Debug)]
struct Repeated {
    inner: Box<dyn Records>,
    same: SameRows,
    /// The column, once it is known, and how many names have been compared.
    column: Option<ColumnId>,
    compared: usize,
    /// The row that counts, by what its key comes to.
    counts: FxHashMap<u64, u64>,
    /// Rows that wait for the one that counts.
    waiting: FxHashMap<u64, Batch>,
    size: usize,
    /// Bytes that they may take.
    most: usize,
}

/// Marks the rows of which others count.
pub(super) fn with(inner: Box<dyn Records>, path: &Path, settings: &Settings) -> Result<Box<dyn Records>, ReadError> {
    let Some(same) = settings.same.clone() else { return Ok(inner) };
    if path.as_os_str() == "-" {
        return Err(ReadError::new(
            "Rows about the same vehicle are found by reading the file twice, which stdin does not allow.",
        )
        .hint("Save it to a file first."));
    }
    let alone = Settings { same: None, join: std::collections::BTreeMap::new(), ..settings.clone() };
    let mut reader = Reader::open(path, &alone)?;
    let (mut counts, mut batch) = (FxHashMap::default(), None);
    let (mut found, mut columns) = (None, Arc::default());
    while let Some(next) = reader.next(batch.take())? {
        found = found.or_else(|| column_of(next.columns(), &same.column, 0));
        for row in next.rows() {
            let Some(key) = found.and_then(|column| row.value(column)).and_then(hash) else { continue };
            if same.take == Take::First {
                counts.entry(key).or_insert(row.number());
            } else {
                counts.insert(key, row.number());
            }
        }
        columns = Arc::clone(next.columns());
        batch = Some(next);
    }
    if found.is_none() {
        let error =
            ReadError::new(format!("The file has no column {}, which \"same\" in [rows] names.", quoted(&same.column)));
        let hint = nearest::did_you_mean(&same.column, columns.names());
        return Err(error.hint(hint.as_deref().unwrap_or("Set it to the column that identifies a vehicle.")));
    }
    let length = path.metadata().map_or(0, |metadata| metadata.len());
    let most = ANY_WAITING.saturating_add(WAITING_TIMES.saturating_mul(length)).min(MOST_WAITING);
    Ok(Box::new(Repeated {
        inner,
        same,
        column: None,
        compared: 0,
        counts,
        waiting: FxHashMap::default(),
        size: 0,
        most: usize::try_from(most).unwrap_or(usize::MAX),
    }))
}

/// The column of a name, in any case; of the columns behind the first `compared` ones.
fn column_of(columns: &Columns, name: &str, compared: usize) -> Option<ColumnId> {
    let in_any_case = || {
        let name = name.trim().to_lowercase();
        let mut names = columns.names().enumerate().skip(compared);
        columns.at(names.find(|(_, known)| known.trim().to_lowercase() == name)?.0)
    };
    columns.id(name).or_else(in_any_case)
}

/// What a key comes to; nothing for an empty one.
fn hash(key: &str) -> Option<u64> {
    let key = key.trim();
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    (!key.is_empty()).then(|| hasher.finish())
}

impl Repeated {
    /// The column of the key. The columns of XML and JSON become known one by one, and each name is compared once.
    fn column(&mut self) -> Option<ColumnId> {
        let columns = self.inner.columns();
        let known = columns.names().len();
        if self.column.is_none() && self.compared < known {
            self.column = column_of(columns, &self.same.column, self.compared);
            self.compared = known;
        }
        self.column
    }
}

impl Records for Repeated {
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        if !self.inner.row(batch)? {
            return Ok(false);
        }
        let key = self.column().and_then(|column| batch.last_value(column)).and_then(hash);
        let Some(key) = key else { return Ok(true) };
        if self.counts.get(&key).is_some_and(|row| Some(*row) != batch.last_number()) {
            let waiting = (self.same.take == Take::All).then(|| self.waiting.entry(key).or_default());
            // What is too long for a row is refused when the last one comes.
            if let Some(waiting) = waiting.filter(|waiting| !waiting.is_too_long()) {
                self.size += batch.copy_last(waiting);
                if self.size > self.most {
                    let message =
                        format!("More than {} MiB of rows wait for others about the same vehicle.", self.most >> 20);
                    return Err(ReadError::new(message)
                        .hint("Sort the file by vehicle, or merge the rows in the program that writes it."));
                }
            }
            batch.replace_last();
        } else if let Some(earlier) = self.waiting.remove(&key) {
            self.size -= earlier.held();
            if earlier.is_too_long() {
                batch.error(too_long());
            } else {
                batch.prepend(&earlier);
            }
        }
        Ok(true)
    }

    fn columns(&mut self) -> &mut Arc<Columns> {
        self.inner.columns()
    }

    fn add_column(&mut self, name: &str) -> ColumnId {
        self.inner.add_column(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::{
        Row,
        testing::{file, read_with, rows_of_path},
    };

    fn settings(column: &str, take: Take) -> Settings {
        Settings { same: Some(SameRows { column: column.to_owned(), take }), ..Settings::default() }
    }

    const MESSAGES: &str = "id;kind;price\n1;new;100\n2;new;200\n1;change;90\n;new;5\n3;new;300\n1;delete;\n";

    #[test]
    fn of_several_rows_about_a_vehicle_one_counts_or_has_the_values_of_all() {
        let rows = |take| {
            let seen = read_with(MESSAGES, &settings("ID", take));
            seen.rows.iter().filter(|row| !row.ends_with(" (other)")).cloned().collect::<Vec<_>>()
        };
        let one = |line: &str| line.to_owned();
        let (two, none, three) = (
            one("2@3 id=2; kind=new; price=200"),
            one("4@5 id=; kind=new; price=5"),
            one("5@6 id=3; kind=new; price=300"),
        );
        assert_eq!(rows(Take::Last), [two.clone(), none.clone(), three.clone(), one("6@7 id=1; kind=delete; price=")]);
        assert_eq!(rows(Take::First), [one("1@2 id=1; kind=new; price=100"), two.clone(), none.clone(), three.clone()]);
        let all = one("6@7 id=1; kind=new; price=100; id=1; kind=change; price=90; id=1; kind=delete; price=");
        assert_eq!(rows(Take::All), [two, none, three, all]);
    }

    #[test]
    fn objects_of_merged_records_stay_apart() {
        let text = r#"[{"id": 1, "p": {"kind": "list", "amount": 5}}, {"id": 2, "p": {}}, {"id": 1, "p": {"kind": "export"}}]"#;
        let file = file(text.as_bytes());
        let mut reader = Reader::open(file.path(), &settings("id", Take::All)).unwrap();
        let batch = reader.next(None).unwrap().unwrap();
        let row = batch.rows().last().unwrap();
        let [kind, amount] = ["p.kind", "p.amount"].map(|name| batch.columns().id(name).unwrap());
        let beside: Vec<_> = row.values(kind).zip(row.beside(kind, amount, true)).collect();
        assert_eq!(beside, [("list", Ok("5")), ("export", Ok(""))]);
        assert_eq!(batch.rows().map(Row::is_replaced).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn rows_without_number_about_a_vehicle_are_not_one_row() {
        let text = "id;b\n".to_owned() + &"1;x\n".repeat(100_000) + "2;y\n";
        let file = file(text.as_bytes());
        let mut reader = Reader::open(file.path(), &settings("id", Take::All)).unwrap();
        let (mut told, mut most, mut batch) = (Vec::new(), 0, None);
        while let Some(next) = reader.next(batch.take()).unwrap() {
            for row in next.rows().filter(|row| !row.is_replaced()) {
                most = row.cells().count().max(most);
                told.push((
                    row.number(),
                    row.findings().iter().map(|finding| finding.reason.clone()).collect::<Vec<_>>(),
                ));
            }
            batch = Some(next);
        }
        assert_eq!(told, [(100_000, vec!["the row is too long".to_owned()]), (100_001, Vec::new())]);
        assert_eq!(most, 2);
    }

    #[test]
    fn a_column_that_is_not_there_is_an_error() {
        let file = file(MESSAGES.as_bytes());
        let error = Reader::open(file.path(), &settings("idd", Take::Last)).unwrap_err();
        assert_eq!(error.message, "The file has no column \"idd\", which \"same\" in [rows] names.");
        assert_eq!(rows_of_path(file.path(), &Settings::default()).len(), 6);
    }
}
