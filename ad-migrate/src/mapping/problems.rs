//! What is wrong with a mapping, collected until all of it is known.

use std::ops::Range;

use ad_core::violation::nearest;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::MappingError;

/// A value of the file with its position.
pub(super) type Spanned<'i> = toml::Spanned<DeValue<'i>>;

/// Everything that is wrong, each with its line.
#[derive(Debug)]
pub(super) struct Problems<'i> {
    text: &'i str,
    found: Vec<(usize, String)>,
}

impl<'i> Problems<'i> {
    pub(super) fn new(text: &'i str) -> Self {
        Self { text, found: Vec::new() }
    }

    /// The line of a position, from 1.
    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        before.split(|byte| *byte == b'\n').count()
    }

    /// Adds what is wrong on a line.
    pub(super) fn on(&mut self, line: usize, message: impl Into<String>) {
        self.found.push((line, message.into()));
    }

    /// Adds an error of the TOML parser.
    pub(super) fn syntax(&mut self, error: &toml::de::Error) {
        let span = error.span().unwrap_or_default();
        let is_foreign_letter = self.text.as_bytes().get(span.start).is_some_and(|byte| !byte.is_ascii());
        let hint = if is_foreign_letter { "; quote names that contain other letters than A to Z" } else { "" };
        self.on(self.line(&span), format!("The file is not valid TOML: {}{hint}.", error.message()));
    }

    /// Fails if anything is wrong.
    pub(super) fn check(&mut self) -> Result<(), MappingError> {
        if self.found.is_empty() { Ok(()) } else { Err(self.error()) }
    }

    /// Everything that is wrong, in the order of the file.
    pub(super) fn error(&mut self) -> MappingError {
        self.found.sort_by_key(|(line, _)| *line);
        self.found.dedup();
        MappingError(self.found.drain(..).map(|(line, message)| format!("line {line}: {message}")).collect())
    }

    /// Adds each unknown key of a table, with the nearest known one.
    pub(super) fn unknown_keys(&mut self, table: &DeTable<'_>, known: &[&str], of: &str) {
        for key in table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let hint = nearest::did_you_mean(name, known.iter().copied())
                    .unwrap_or_else(|| format!("There are {}.", nearest::quoted(known.iter().copied())));
                self.on(self.line(&key.span()), format!("\"{name}\" is not a key of {of}. {hint}"));
            }
        }
    }

    /// The table that a value must be.
    pub(super) fn table<'v>(&mut self, value: &'v Spanned<'i>, what: &str) -> Option<&'v DeTable<'i>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.on(self.line(&value.span()), format!("{what} must be a table."));
        }
        table
    }

    /// Reads a part of the file.
    pub(super) fn read<T: DeserializeOwned>(&mut self, value: &Spanned<'i>, what: &str) -> Option<T> {
        let read = T::deserialize(ValueDeserializer::from(value.clone()));
        read.map_err(|error| {
            let line = self.line(&error.span().unwrap_or_else(|| value.span()));
            self.on(line, format!("{what}: {}.", error.message()));
        })
        .ok()
    }
}
