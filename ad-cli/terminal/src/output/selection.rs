//! The fields that `--fields` selects, the same for every command and format.

use std::{collections::BTreeSet, io};

use ad_core::{synonyms::names::Names, violation::nearest};
use ad_files::text::{plain, readable};
use serde_json::{Map, Value};

use super::{Cell, Column, cells::at};
use crate::ad_table;

/// A field that rows do not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown field \"{name}\"")]
pub struct UnknownField {
    name: String,
    /// The nearest field, or all of them.
    pub(crate) hint: String,
}

#[derive(Debug)]
pub(super) struct Selection {
    /// Dotted paths, as `--fields` has them.
    fields: &'static [String],
    /// First names of the paths of the columns.
    known: BTreeSet<String>,
    is_checked: bool,
}

impl Selection {
    /// These fields of rows with these columns; `None` if all are wanted.
    pub(super) fn new(fields: &'static [String], columns: &[Column]) -> Option<Self> {
        let known =
            columns.iter().map(|column| first(column.path).to_owned()).filter(|name| !name.is_empty()).collect();
        (!fields.is_empty()).then_some(Self { fields, known, is_checked: false })
    }

    /// The selected fields of a row under their paths, `null` for those that it does not have. The first row must know them.
    pub(super) fn of(&mut self, row: &Value) -> io::Result<Value> {
        if !self.is_checked {
            self.is_checked = true;
            self.known.extend(row.as_object().into_iter().flat_map(Map::keys).cloned());
            check(self.fields, self.known.iter().map(String::as_str)).map_err(io::Error::other)?;
        }
        let value = |field: &String| (field.clone(), at(row, field).cloned().unwrap_or_default());
        Ok(Value::Object(self.fields.iter().map(value).collect()))
    }
}

/// The columns of the selected fields: as people see them where the rows have them, or their values.
pub(super) fn columns(fields: &'static [String], columns: &[Column]) -> Vec<Column> {
    let column = |field: &'static String| {
        let known = columns.iter().find(|column| column.is_of(field)).copied();
        known.unwrap_or_else(|| Column::new(field, field).shown(value).wrapped())
    };
    fields.iter().map(column).collect()
}

/// Checks that the first name of each selected field is known.
pub(super) fn check<'a>(fields: &[String], known: impl Iterator<Item = &'a str> + Clone) -> Result<(), UnknownField> {
    let is_unknown = |field: &&String| !known.clone().any(|known| known == first(field));
    let Some(name) = fields.iter().find(is_unknown) else { return Ok(()) };
    let by_title = ad_table::SHOWN.iter().find(|column| column.title.eq_ignore_ascii_case(name));
    let of_column = by_title.map(|column| column.path).filter(|path| known.clone().any(|known| known == first(path)));
    let hint = nearest::did_you_mean_one_of(of_column.into_iter());
    let hint = hint.or_else(|| Names::builtin().did_you_mean(name, known.clone()));
    let all = || format!("fields: {}", known.collect::<Vec<_>>().join(", "));
    Err(UnknownField { name: name.clone(), hint: hint.unwrap_or_else(all) })
}

fn first(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

fn value(value: &Value) -> Cell {
    if value.is_object() || value.is_array() { readable(value).into() } else { plain(value).into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(names: &[&str]) -> &'static [String] {
        names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().leak()
    }

    const COLUMNS: &[Column] = &[Column::new("ID", "source_id"), Column::new("TITLE", "ad.title")];

    #[test]
    fn selected_fields_are_dotted_paths() {
        let row = json!({"source_id": "car-1", "price": [{"amount": 100}], "more": {"a": 1}});
        let mut selection =
            Selection::new(fields(&["source_id", "price.0.amount", "ad.title", "more.b"]), COLUMNS).unwrap();
        let selected = json!({"source_id": "car-1", "price.0.amount": 100, "ad.title": null, "more.b": null});
        assert_eq!(selection.of(&row).unwrap(), selected);
        assert!(Selection::new(&[], COLUMNS).is_none());
    }

    #[test]
    fn an_unknown_field_names_the_nearest_one() {
        let row = json!({"source_id": "car-1", "price": []});
        for (name, hint) in [("prize", "Did you mean \"price\"?"), ("xyz", "fields: ad, price, source_id")] {
            let error = Selection::new(fields(&["source_id", name]), COLUMNS).unwrap().of(&row).unwrap_err();
            let error = error.downcast::<UnknownField>().unwrap();
            assert_eq!((error.to_string(), error.hint.as_str()), (format!("unknown field \"{name}\""), hint));
        }
    }
}
