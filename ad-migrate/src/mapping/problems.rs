//! What is wrong with a mapping, collected until all of it is known.

use std::ops::Range;

use ad_core::violation::nearest;
use toml::de::{DeTable, DeValue};

/// A value of the file with where it stands.
pub(super) type Spanned<'i> = toml::Spanned<DeValue<'i>>;

/// Everything that is wrong, each with the line that it is about.
#[derive(Debug)]
pub(super) struct Problems<'i> {
    text: &'i str,
    found: Vec<(usize, String)>,
}

impl<'i> Problems<'i> {
    pub(super) fn new(text: &'i str) -> Self {
        Self { text, found: Vec::new() }
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        before.split(|byte| *byte == b'\n').count()
    }

    /// Notes what is wrong at a place.
    pub(super) fn at(&mut self, span: &Range<usize>, message: impl Into<String>) {
        let line = self.line(span);
        self.on(line, message);
    }

    /// Notes what is wrong on a line.
    pub(super) fn on(&mut self, line: usize, message: impl Into<String>) {
        self.found.push((line, message.into()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All of it, in the order of the file.
    pub(super) fn into_sentences(mut self) -> Vec<String> {
        self.found.sort_by_key(|(line, _)| *line);
        let mut sentences: Vec<_> =
            self.found.into_iter().map(|(line, message)| format!("line {line}: {message}")).collect();
        sentences.dedup();
        sentences
    }

    /// Notes each key of a table that is not among these, with the nearest that is.
    pub(super) fn unknown_keys(&mut self, table: &DeTable<'_>, known: &[&str], of: &str) {
        for key in table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let hint = nearest::did_you_mean(name, known.iter().copied())
                    .unwrap_or_else(|| format!("There are {}.", nearest::quoted(known.iter().copied())));
                self.at(&key.span(), format!("\"{name}\" is not a key of {of}. {hint}"));
            }
        }
    }

    /// The table that a value has to be.
    pub(super) fn table<'v>(&mut self, value: &'v Spanned<'i>, what: &str) -> Option<&'v DeTable<'i>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.at(&value.span(), format!("{what} must be a table, not {}.", shown(value)));
        }
        table
    }

    /// The text that a value has to be.
    pub(super) fn text<'v>(&mut self, value: &'v Spanned<'i>, what: &str) -> Option<&'v str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.at(&value.span(), format!("{what} must be a text in quotes, not {}.", shown(value)));
        }
        text
    }

    /// The `true` or `false` that a value has to be.
    pub(super) fn boolean(&mut self, value: &Spanned<'i>, what: &str) -> Option<bool> {
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            self.at(&value.span(), format!("{what} must be true or false, not {}.", shown(value)));
        }
        boolean
    }

    /// The whole number from 1 that a value has to be.
    pub(super) fn count(&mut self, value: &Spanned<'i>, what: &str) -> Option<usize> {
        let number = value.get_ref().as_integer();
        let number = number.and_then(|number| usize::from_str_radix(number.as_str(), number.radix()).ok());
        let number = number.filter(|number| *number > 0);
        if number.is_none() {
            self.at(&value.span(), format!("{what} must be an integer of at least 1, not {}.", shown(value)));
        }
        number
    }

    /// The texts of a constant: a text, a number, `true` or `false`, or a list of these. An empty text is no value.
    pub(super) fn texts(&mut self, value: &Spanned<'i>, what: &str) -> Option<Vec<Box<str>>> {
        let one = |value: &Spanned<'i>| match value.get_ref() {
            DeValue::String(text) => Some(Box::from(&**text)),
            DeValue::Integer(number) => Some(Box::from(number.as_str())),
            DeValue::Float(number) => Some(Box::from(number.as_str())),
            DeValue::Boolean(boolean) => Some(Box::from(if *boolean { "true" } else { "false" })),
            DeValue::Datetime(date) => Some(date.to_string().into()),
            _ => None,
        };
        let texts: Option<Vec<Box<str>>> = match value.get_ref() {
            DeValue::Array(items) => items.iter().map(one).collect(),
            _ => one(value).map(|text| vec![text]),
        };
        if texts.is_none() {
            let message =
                format!("{what} must be a text, a number, true, false, or a list of these, not {}.", shown(value));
            self.at(&value.span(), message);
        }
        texts.map(|texts| texts.into_iter().filter(|text| !text.is_empty()).collect())
    }
}

/// A value as a message tells it.
pub(super) fn shown(value: &Spanned<'_>) -> String {
    match value.get_ref() {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
