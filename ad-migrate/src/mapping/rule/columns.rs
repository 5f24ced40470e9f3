//! The columns that a mapping names.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use toml::Value;

use super::several;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::mapping) enum ColumnName {
    /// By its name or path; where there is none of this name, `*` in it stands for any text.
    Name(Box<str>),
    /// By its position, from 1, up to another one.
    Positions(usize, usize),
}

/// Index of a [`ColumnName`] in [`Sources`].
pub(in crate::mapping) type SourceId = usize;

/// The columns that a mapping names, each once, and where each is among them.
#[derive(Debug, Default)]
pub(in crate::mapping) struct Sources(pub(in crate::mapping) Vec<ColumnName>, FxHashMap<ColumnName, SourceId>);

impl Sources {
    /// Sets the index of a column.
    pub(in crate::mapping) fn add(&mut self, column: &mut Column) {
        column.id = *self.1.entry(column.name.clone()).or_insert_with(|| {
            self.0.push(column.name.clone());
            self.0.len() - 1
        });
    }
}

/// A column that an entry reads.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(in crate::mapping) struct Column {
    name: ColumnName,
    pub(in crate::mapping) id: SourceId,
}

impl Column {
    /// Its name, or its position as a text.
    pub(in crate::mapping) fn text(&self) -> String {
        match &self.name {
            ColumnName::Name(name) => name.to_string(),
            ColumnName::Positions(from, _) => from.to_string(),
        }
    }

    /// A column by its name; `20-46` are positions.
    pub(in crate::mapping) fn named(name: &str) -> Self {
        let range = name.split_once('-').and_then(|(from, to)| {
            let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
            Some((number(from)?, number(to)?))
        });
        let name = match range {
            Some((from, to)) if 0 < from && from <= to => ColumnName::Positions(from, to),
            _ => ColumnName::Name(name.trim().into()),
        };
        Self { name, id: 0 }
    }
}

impl TryFrom<Value> for Column {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let position = value.as_integer().and_then(|position| usize::try_from(position).ok());
        match (&value, position) {
            (Value::String(name), _) => Ok(Self::named(name)),
            (_, Some(position @ 1..)) => Ok(Self { name: ColumnName::Positions(position, position), id: 0 }),
            _ => Err("expected a column: its name, its path or its position from 1"),
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(in crate::mapping) struct MappingColumns(pub(in crate::mapping) Vec<Column>);

impl MappingColumns {
    pub(in crate::mapping) fn ids(&self) -> impl Iterator<Item = SourceId> {
        self.0.iter().map(|column| column.id)
    }
}

impl TryFrom<Value> for MappingColumns {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        several(value).into_iter().map(Column::try_from).collect::<Result<_, _>>().map(Self)
    }
}
