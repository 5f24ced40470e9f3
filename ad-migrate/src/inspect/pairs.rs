//! Values that are named by an attribute beside them, such as `<field name="Regnr">ABC123</field>`: each name is a column of its own.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::readers::{Batch, ColumnId, Columns};

/// Attributes that name a value.
const NAMES: &[&str] = &["name", "key", "namn"];

/// Maximum number of columns, with those of names; values of further ones are left out.
const MOST: usize = 1000;

/// The columns of a file, and those that are named by others.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    columns: Arc<Columns>,
    /// The column of each name, and of each column of the file.
    known: FxHashMap<(usize, String), ColumnId>,
    /// Of each column, the column of the values, that of the names, and the name; nothing of a column of the file.
    of: Vec<Option<(String, String, String)>>,
}

impl Pairs {
    /// The condition by which the values of a column are selected: the column of the values, that of the names, and the name.
    pub(super) fn of(&self, column: usize) -> Option<&(String, String, String)> {
        self.of.get(column)?.as_ref()
    }

    /// The rows with a column for each name; `None` if no values are named.
    pub(super) fn expanded(&mut self, batch: &Batch) -> Option<Batch> {
        let names = namings(batch.columns());
        if names.is_empty() {
            return None;
        }
        let mut expanded = Batch::default();
        expanded.clear(Arc::default());
        for row in batch.rows() {
            expanded.begin(row.number(), row.line());
            let mut name = "";
            for (column, text) in row.cells() {
                let path = row.columns().name(column);
                if names.iter().any(|(_, of_names)| *of_names == column) {
                    name = text.trim();
                } else if let Some((_, of_names)) = names.iter().find(|(values, _)| *values == column) {
                    let name = std::mem::take(&mut name);
                    let of = Some((path.to_owned(), row.columns().name(*of_names).to_owned(), name.to_owned()));
                    self.push(&mut expanded, column, name, of, text);
                } else {
                    self.push(&mut expanded, column, path, None, text);
                }
            }
        }
        expanded.set_columns(self.columns.clone());
        Some(expanded)
    }

    /// Adds a value to the column of a name.
    fn push(
        &mut self,
        batch: &mut Batch,
        column: ColumnId,
        name: &str,
        of: Option<(String, String, String)>,
        text: &str,
    ) {
        let known = self.known.get(&(column.index(), name.to_owned())).copied();
        let id = known.or_else(|| {
            (self.of.len() < MOST).then(|| {
                let id = Arc::make_mut(&mut self.columns).add(name);
                self.known.insert((column.index(), name.to_owned()), id);
                self.of.push(of);
                id
            })
        });
        if let Some(id) = id {
            batch.push(id, text);
        }
    }
}

/// The columns of values that are named, each with the column of the names.
fn namings(columns: &Columns) -> Vec<(ColumnId, ColumnId)> {
    let naming = |path: &str| {
        let names = NAMES.iter().find_map(|name| columns.id(&format!("{path}/@{name}")))?;
        Some((columns.id(path)?, names))
    };
    columns.names().filter_map(naming).collect()
}
