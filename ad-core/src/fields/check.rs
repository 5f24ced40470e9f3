//! The check of an object against a compiled table, in place: valid values are normalised, invalid ones are left unchanged and
//! reported. It walks the payload once, without copying it and without allocating for valid fields.

use serde_json::{Map, Value};

use super::{
    errors::FieldErrors,
    field::{Direction, Field, Kind},
    open,
    tree::{Node, Tree},
    values::{choice, decimal, integer, measure, not_a_choice, shown, text_kind},
};
use crate::{
    catalogue::Catalogue,
    model::ApiVersion,
    violation::{Expected, Violation},
};

/// Number of unknown fields of one level that are listed; further ones are counted.
const MOST_UNKNOWN: usize = 1000;

/// The write that is checked. It decides what `null` means (decision 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A new ad: `null` is the same as leaving the field out.
    Create,
    /// The stored content with a patch merged into it: `null` clears a field, and is an error for a required field.
    Update,
    /// The complete content of an existing ad (migration, import): `null` is the same as leaving the field out.
    Whole,
}

/// The table by which `category_fields` are checked.
#[derive(Debug, Clone, Copy)]
pub enum CategoryTable<'a> {
    /// The table of the category.
    Known(&'a Tree),
    /// None: the category has no published list of fields. Only limits are checked, and `category_fields` may be left out
    /// (decision 20).
    Open,
    /// Unknown, because the category is an error itself. Nothing is checked.
    Unknown,
}

/// A check: what it reads, and what it records besides errors.
#[derive(Debug)]
pub struct Check<'a> {
    catalogue: &'a Catalogue,
    version: ApiVersion,
    mode: Mode,
    category: CategoryTable<'a>,
    images: &'static [&'static str],
    nulls: Vec<&'static str>,
    ignored: Vec<&'static str>,
}

impl<'a> Check<'a> {
    /// A check in which a field of kind [`Kind::CategoryFields`] is checked by `category`.
    pub fn new(catalogue: &'a Catalogue, version: ApiVersion, mode: Mode, category: CategoryTable<'a>) -> Self {
        Self { catalogue, version, mode, category, images: &["https"], nulls: Vec::new(), ignored: Vec::new() }
    }

    /// The same, with other schemes of image addresses than `https` alone.
    #[must_use]
    pub fn with_image_schemes(self, images: &'static [&'static str]) -> Self {
        Self { images, ..self }
    }

    /// Paths of fields that were sent as `null` and removed.
    pub fn nulls(&self) -> &[&'static str] {
        &self.nulls
    }

    /// Response-only fields that were sent and removed.
    pub fn ignored(&self) -> &[&'static str] {
        &self.ignored
    }

    /// Checks and normalises an object, and returns all its errors.
    pub fn object(&mut self, tree: &Tree, object: &mut Map<String, Value>) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let mut dropped = Vec::new();
        let (mut unknown, mut last_named) = (0_usize, "");
        let (mut near, mut expected) = (0, 0);
        for (name, value) in object.iter_mut() {
            if let Some(node) = tree.get_near(&mut near, name) {
                if !self.member(name, node, value, &mut errors) {
                    dropped.push(name.clone());
                } else if matches!(node, Node::Leaf(field, _) if field.is_expected()) {
                    expected += 1;
                }
            } else {
                unknown += 1;
                if unknown <= MOST_UNKNOWN {
                    errors.push(name, Violation::UnknownField { meant: Vec::new(), of_ad: false });
                    last_named = name;
                }
            }
        }
        if let Some(more @ 1..) = unknown.checked_sub(MOST_UNKNOWN) {
            errors.push(last_named, Violation::MoreUnknownFields(more));
        }
        for name in dropped {
            object.remove(&name);
        }
        if expected < tree.expected().len() {
            self.fill_missing(tree, object, &mut errors);
        }
        errors
    }

    /// Reports missing required fields, and inserts defaults.
    fn fill_missing(&self, tree: &Tree, object: &mut Map<String, Value>, errors: &mut FieldErrors) {
        for (name, field) in tree.expected() {
            if self.is_required(field) && !object.contains_key(name) && !errors.contains(name) {
                errors.push(name, Violation::Required);
            }
            if let Some(default) = field.default
                && !object.contains_key(name)
            {
                object.insert(name.to_owned(), Value::from(default));
            }
        }
    }

    /// Checks one member; `false` if it is to be removed.
    fn member(&mut self, name: &str, node: &Node, value: &mut Value, errors: &mut FieldErrors) -> bool {
        match node {
            Node::Branch(below) => match value {
                Value::Null => return false,
                Value::Object(object) => {
                    let wrong = self.object(below, object);
                    // An object that is empty because a required field is missing is an error, not an absent object.
                    let keep = !object.is_empty() || !wrong.is_empty();
                    errors.put(name, wrong);
                    return keep;
                }
                _ => errors.push(name, Violation::WrongType(Expected::Object)),
            },
            Node::Leaf(field, _) if field.direction == Direction::Response => {
                self.ignored.push(field.path);
                return false;
            }
            Node::Leaf(field, _) if !field.since.allows(self.version) => {
                errors.push(name, Violation::NotSupportedByV3);
            }
            Node::Leaf(field, inside) => {
                if value.is_null() {
                    if self.mode == Mode::Update && !field.nullable && self.is_required(field) {
                        errors.push(name, Violation::Null);
                        return true;
                    }
                    self.nulls.push(field.path);
                    return false;
                }
                let wrong = self.value(&field.kind, inside.as_ref(), value);
                errors.put(name, wrong);
            }
        }
        true
    }

    fn is_required(&self, field: &Field) -> bool {
        field.required && !matches!((field.kind, self.category), (Kind::CategoryFields, CategoryTable::Open))
    }

    fn value(&mut self, kind: &Kind, inside: Option<&Tree>, value: &mut Value) -> FieldErrors {
        let mut errors = FieldErrors::default();
        match (kind, inside) {
            (Kind::List { item, max, unique }, _) => self.list(item, *max, *unique, value, &mut errors),
            (Kind::Objects { max, unique_by, .. }, Some(tree)) => {
                self.objects(tree, *max, unique_by, value, &mut errors);
            }
            (Kind::Object { .. }, Some(tree)) => match value {
                Value::Object(object) => return self.object(tree, object),
                _ => errors.here(Violation::WrongType(Expected::Object)),
            },
            (Kind::CategoryFields, _) => match (value, self.category) {
                (Value::Object(object), CategoryTable::Known(tree)) => return self.object(tree, object),
                (value @ Value::Object(_), CategoryTable::Open) => open::check(value, &mut errors),
                (Value::Object(_), CategoryTable::Unknown) => {}
                _ => errors.here(Violation::WrongType(Expected::Object)),
            },
            (Kind::Measure { units, min }, _) => measure(units, *min, value, &mut errors),
            _ => self.scalar(kind, value, &mut errors),
        }
        errors
    }

    /// Whether a value is a valid one of a kind.
    pub(crate) fn accepts(&mut self, kind: &Kind, inside: Option<&Tree>, mut value: Value) -> bool {
        !value.is_null() && self.value(kind, inside, &mut value).is_empty()
    }

    fn list(&mut self, item: &Kind, max: usize, unique: bool, value: &mut Value, errors: &mut FieldErrors) {
        let Value::Array(items) = value else { return errors.here(Violation::WrongType(Expected::List)) };
        if items.len() > max {
            errors.here(Violation::TooMany(max));
        }
        // Items beyond the limit are not checked, so that a large list is not expensive.
        let within = items.len().min(max);
        let items = &mut items[..within];
        for (index, value) in items.iter_mut().enumerate() {
            let wrong = if value.is_null() { error_here(Violation::Null) } else { self.value(item, None, value) };
            if !wrong.is_empty() {
                errors.put(&index.to_string(), wrong);
            }
        }
        if unique {
            for (index, value) in items.iter().enumerate() {
                if items[..index].contains(value) {
                    errors.push(&index.to_string(), Violation::Duplicate { sent: shown(value) });
                }
            }
        }
    }

    fn objects(&mut self, tree: &Tree, max: usize, unique_by: &str, value: &mut Value, errors: &mut FieldErrors) {
        let Value::Array(items) = value else { return errors.here(Violation::WrongType(Expected::List)) };
        if items.len() > max {
            errors.here(Violation::TooMany(max));
        }
        let within = items.len().min(max);
        let items = &mut items[..within];
        for (index, value) in items.iter_mut().enumerate() {
            let wrong = match value {
                Value::Null => error_here(Violation::Null),
                Value::Object(object) => self.object(tree, object),
                _ => error_here(Violation::WrongType(Expected::Object)),
            };
            if !wrong.is_empty() {
                errors.put(&index.to_string(), wrong);
            }
        }
        for (index, value) in items.iter().enumerate() {
            let Some(key) = value.get(unique_by) else { continue };
            if items[..index].iter().any(|other| other.get(unique_by) == Some(key)) {
                errors.at(&index.to_string()).push(unique_by, Violation::Duplicate { sent: shown(key) });
            }
        }
    }

    fn scalar(&self, kind: &Kind, value: &mut Value, errors: &mut FieldErrors) {
        match kind {
            Kind::Integer { min, max, numeric_text } => integer(*min, *max, *numeric_text, value, errors),
            Kind::Decimal { min, max, decimals, numeric_text } => {
                decimal(*min, *max, *decimals, *numeric_text, value, errors);
            }
            Kind::Boolean if !value.is_boolean() => errors.here(Violation::WrongType(Expected::Boolean)),
            Kind::Boolean => {}
            Kind::Choice { values, any_case } => choice(values, *any_case, value, errors),
            Kind::Slug { list } => {
                let list = self.catalogue.list(list);
                if !value.as_str().is_some_and(|id| list.contains(id)) {
                    errors.here(not_a_choice(value, list.ids()));
                }
            }
            _ => match value {
                Value::String(text) => text_kind(kind, self.images, text, errors),
                _ => errors.here(Violation::WrongType(Expected::Text)),
            },
        }
    }
}

fn error_here(violation: Violation) -> FieldErrors {
    let mut errors = FieldErrors::default();
    errors.here(violation);
    errors
}
