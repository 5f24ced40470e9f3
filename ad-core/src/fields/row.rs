//! Shorthands in which the tables are written, so that a row reads like the document's.

use super::field::{ChoiceValue, Field, GREATEST_COUNT, Kind, MOST_CHARACTERS};

/// Free text without a stated bound; what is stored still has one.
pub const fn text(path: &'static str, doc: &'static str) -> Field {
    text_up_to(path, MOST_CHARACTERS, doc)
}

/// Text of at most `max` characters.
pub const fn text_up_to(path: &'static str, max: usize, doc: &'static str) -> Field {
    Field::new(path, Kind::Text { min: 0, max, without: None }, doc)
}

/// Text of `min` to `max` characters.
pub const fn text_between(path: &'static str, min: usize, max: usize, doc: &'static str) -> Field {
    Field::new(path, Kind::Text { min, max, without: None }, doc)
}

/// A whole number within inclusive bounds.
pub const fn integer(path: &'static str, min: i64, max: i64, doc: &'static str) -> Field {
    Field::new(path, Kind::Integer { min, max, numeric_text: false }, doc)
}

/// A count of things: a whole number from 0.
pub const fn count(path: &'static str, doc: &'static str) -> Field {
    integer(path, 0, GREATEST_COUNT, doc)
}

/// A row of `true` or `false`.
pub const fn boolean(path: &'static str, doc: &'static str) -> Field {
    Field::new(path, Kind::Boolean, doc)
}

/// A row of a date of the form `YYYY-MM-DD`.
pub const fn date(path: &'static str, doc: &'static str) -> Field {
    Field::new(path, Kind::Date, doc)
}

/// An http or https address.
pub const fn web_address(path: &'static str, doc: &'static str) -> Field {
    Field::new(path, Kind::Url { schemes: &["http", "https"] }, doc)
}

/// One of a fixed list, case-sensitive.
pub const fn choice(path: &'static str, values: &'static [ChoiceValue], doc: &'static str) -> Field {
    Field::new(path, Kind::Choice { values, any_case: false }, doc)
}

/// One of a fixed list in any case.
pub const fn choice_any_case(path: &'static str, values: &'static [ChoiceValue], doc: &'static str) -> Field {
    Field::new(path, Kind::Choice { values, any_case: true }, doc)
}

/// A value of a catalogue list.
pub const fn slug(path: &'static str, list: &'static str, doc: &'static str) -> Field {
    Field::new(path, Kind::Slug { list }, doc)
}

/// `{unit, value}` with a value of at least 0.
pub const fn measure(path: &'static str, units: &'static [&'static str], doc: &'static str) -> Field {
    Field::new(path, Kind::Measure { units, min: 0.0 }, doc)
}

/// An array of values of one kind.
pub const fn list(path: &'static str, item: &'static Kind, max: usize, doc: &'static str) -> Field {
    Field::new(path, Kind::List { item, max, unique: false }, doc)
}

/// An array of objects in which one member may not repeat.
pub const fn objects(
    path: &'static str,
    fields: &'static [Field],
    max: usize,
    unique_by: &'static str,
    doc: &'static str,
) -> Field {
    Field::new(path, Kind::Objects { fields, max, unique_by }, doc)
}
