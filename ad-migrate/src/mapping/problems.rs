//! What is wrong with a mapping, collected until all of it is known.

use std::ops::Range;

use ad_core::violation::nearest;
use ad_files::text::grouped;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::{
    MappingError,
    keys::{Key, ValueKind},
};

/// A value of the file with its position.
pub(super) type Spanned<'i> = toml::Spanned<DeValue<'i>>;

/// A place in the file, from 1; the column in characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FilePosition {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl FilePosition {
    pub(super) const START: Self = Self { line: 1, column: 1 };
}

/// Most problems that are told one by one. To find the place of each takes a walk through the file.
const MOST: usize = 100;

/// What is wrong, each with its place.
#[derive(Debug)]
pub(super) struct Problems<'i> {
    text: &'i str,
    found: Vec<(FilePosition, String)>,
    /// How many more there are.
    more: u64,
}

impl<'i> Problems<'i> {
    pub(super) fn new(text: &'i str) -> Self {
        Self { text, found: Vec::new(), more: 0 }
    }

    /// The place of a position, as long as problems are told one by one.
    pub(super) fn at(&self, span: &Range<usize>) -> FilePosition {
        if self.is_full() {
            return FilePosition::START;
        }
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.split('\n').count();
        FilePosition { line, column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1 }
    }

    /// Adds what is wrong at a place.
    pub(super) fn on(&mut self, at: FilePosition, message: impl Into<String>) {
        if self.is_full() {
            self.more += 1;
        } else {
            self.found.push((at, message.into()));
        }
    }

    /// Whether further problems are only counted.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= MOST
    }

    /// Adds an error of the TOML parser.
    pub(super) fn syntax(&mut self, error: &toml::de::Error) {
        let span = error.span().unwrap_or_default();
        let is_foreign_letter = self.text.as_bytes().get(span.start).is_some_and(|byte| !byte.is_ascii());
        let hint = if is_foreign_letter { "; quote names that contain other letters than A to Z" } else { "" };
        self.on(self.at(&span), format!("The file is not valid TOML: {}{hint}.", error.message()));
    }

    /// Fails if anything is wrong.
    pub(super) fn check(&mut self) -> Result<(), MappingError> {
        if self.found.is_empty() { Ok(()) } else { Err(self.error()) }
    }

    /// What is wrong, in the order of the file.
    pub(super) fn error(&mut self) -> MappingError {
        self.found.sort_by_key(|(at, _)| *at);
        self.found.dedup();
        let message = |(FilePosition { line, column }, message)| format!("line {line}, column {column}: {message}");
        let more = (self.more > 0).then(|| format!("{} more errors are not shown.", grouped(self.more)));
        MappingError(self.found.drain(..).map(message).chain(more).collect())
    }

    /// Adds each unknown key of a table and of the tables within it, with the nearest known one. Returns whether there are any.
    pub(super) fn unknown_keys(&mut self, table: &DeTable<'_>, known: &[Key], of: &str) -> bool {
        let before = (self.found.len(), self.more);
        for (key, value) in table {
            let name: &str = key.get_ref();
            let names = || known.iter().map(|key| key.name);
            if let Some(key) = known.iter().find(|key| key.name == name) {
                self.unknown_within(key, value);
            } else if self.is_full() {
                self.more += 1;
            } else {
                let hint = nearest::did_you_mean(name, names())
                    .unwrap_or_else(|| format!("There are {}.", nearest::quoted(names())));
                self.on(self.at(&key.span()), format!("\"{name}\" is not a key of {of}. {hint}"));
            }
        }
        (self.found.len(), self.more) > before
    }

    fn unknown_within(&mut self, key: &Key, value: &Spanned<'_>) {
        let Some(keys) = key.holds.keys() else { return };
        match value.get_ref() {
            // Each of the tables has a name of its own.
            DeValue::Table(tables) if key.holds == ValueKind::Joins => {
                for table in tables.values().filter_map(|value| value.get_ref().as_table()) {
                    self.unknown_keys(table, keys, &format!("a {}", key.name));
                }
            }
            DeValue::Table(table) => {
                self.unknown_keys(table, keys, &format!("\"{}\"", key.name));
            }
            DeValue::Array(items) => items.iter().for_each(|item| self.unknown_within(key, item)),
            _ => {}
        }
    }

    /// The table that a value must be.
    pub(super) fn table<'v>(&mut self, value: &'v Spanned<'i>, what: &str) -> Option<&'v DeTable<'i>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.on(self.at(&value.span()), format!("{what} must be a table."));
        }
        table
    }

    /// Reads a part of the file.
    pub(super) fn read<T: DeserializeOwned>(&mut self, value: &Spanned<'i>, what: &str) -> Option<T> {
        let read = T::deserialize(ValueDeserializer::from(value.clone()));
        read.map_err(|error| {
            let at = self.at(&error.span().unwrap_or_else(|| value.span()));
            self.on(at, format!("{what}: {}.", error.message()));
        })
        .ok()
    }
}

#[cfg(test)]
mod tests {
    use ad_core::catalogue::Catalogue;

    use super::MOST;
    use crate::mapping::Mapping;

    #[test]
    fn a_hundred_errors_are_told_one_by_one_and_the_others_counted() {
        let unknown: Vec<String> = (0..1_234).map(|key| format!("kex{key} = 1")).collect();
        let text = format!("[vehicle]\ntype = \"car\"\n[fields]\nsource_id = \"Nr\"\n[rows]\n{}", unknown.join("\n"));
        let errors = Mapping::parse(&text, &Catalogue::embedded()).unwrap_err().0;
        assert_eq!(errors.len(), MOST + 1);
        assert!(errors[0].starts_with("line 6, column 1: \"kex0\" is not a key of"), "{}", errors[0]);
        assert_eq!(errors[MOST], "1,134 more errors are not shown.");
    }
}
