//! A payload of V4 from what an ad of V3 has, and from what people have added. Fields of open categories have no published names: what has
//! the name of a field of V4 is taken, what has not is told and left out.

use std::{collections::BTreeMap, sync::Arc};

use ad_cli::{Ad, bulk::conversion};
use ad_core::{
    categories::{self, Category},
    fields::{Field, Kind},
    rulebook::Rulebook,
};
use serde_json::{Map, Value};

use crate::{
    finding::Finding,
    mapping::Mapping,
    readers::{Batch, Columns},
};

const FIELDS: &str = "category_fields";

/// What came of an ad.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    /// The payload, as far as it goes.
    pub payload: Map<String, Value>,
    /// What the ad of V3 has and the payload has not, as `path: value`.
    pub left_out: Vec<String>,
    /// What is wrong with what people have added.
    pub wrong: Vec<Finding>,
}

/// Fills the payload with which an ad becomes one of this category.
pub fn fill(rulebook: &Rulebook, ad: &Ad, target: &'static Category, answers: &[(String, String)]) -> Filled {
    let mut payload = conversion::stored(ad).content.into_fields();
    let mut left_out = Vec::new();
    if categories::by_id(ad.category_id).is_some_and(Category::is_open) {
        let open = payload.remove(FIELDS);
        let mut texts = Vec::new();
        let mut fields = Map::new();
        for (path, value) in leaves(open.as_ref()) {
            match (of_v4(target, &path), value) {
                // Objects are taken as they are; the rules have the last word.
                (Some(field), value) if is_whole(field, value) => put(&mut fields, field.path, value.clone()),
                (Some(field), value) if !matches!(value, Value::Object(_)) => texts.push((field.path, path, value)),
                (_, value) => left_out.push(format!("{path}: {}", text(value))),
            }
        }
        let named: Vec<_> =
            texts.iter().flat_map(|(field, _, value)| items(value).map(move |it| (*field, it))).collect();
        let (converted, wrong) = convert(rulebook, target, &named, FIELDS);
        merge(&mut fields, converted);
        for finding in wrong {
            let wrong = |field: &str| finding.field.as_deref() == Some(&format!("{FIELDS}.{field}"));
            let wrong = texts.iter().filter(|(field, ..)| wrong(field));
            left_out.extend(wrong.map(|(_, path, value)| format!("{path}: {}", text(value))));
        }
        payload.insert(FIELDS.to_owned(), Value::Object(fields));
    }
    // An absent value is the same, and V4 refuses `null` for some fields.
    payload.retain(|_, value| !value.is_null());
    let answers: Vec<_> = answers.iter().map(|(field, value)| (field.as_str(), value.clone())).collect();
    let (added, wrong) = convert(rulebook, target, &answers, "");
    merge(&mut payload, added);
    Filled { payload, left_out, wrong }
}

/// The field of V4 that a path of V3 names: by the whole path, or by its last name where only one field has that.
fn of_v4(target: &Category, path: &str) -> Option<&'static Field> {
    let last = |path: &str| path.rsplit('.').next().map(str::to_owned);
    if let Some(field) = target.fields().find(|field| field.path == path) {
        return Some(field);
    }
    let mut same = target.fields().filter(|field| last(field.path) == last(path));
    same.next().filter(|_| same.next().is_none())
}

/// Whether a value goes into a field as a whole.
fn is_whole(field: &Field, value: &Value) -> bool {
    match field.kind {
        Kind::Measure { .. } | Kind::Object { .. } => value.is_object(),
        Kind::Objects { .. } => value.is_array(),
        _ => false,
    }
}

/// The values of an open object that are no objects, and those objects that are a measure, with their dotted paths.
fn leaves(value: Option<&Value>) -> Vec<(String, &Value)> {
    fn walk<'a>(path: &str, value: &'a Value, found: &mut Vec<(String, &'a Value)>) {
        match value {
            Value::Object(members) if !(members.contains_key("value") && members.contains_key("unit")) => {
                for (name, value) in members {
                    walk(&if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, value, found);
                }
            }
            Value::Null => {}
            value => found.push((path.to_owned(), value)),
        }
    }
    let mut found = Vec::new();
    if let Some(value) = value {
        walk("", value, &mut found);
    }
    found
}

/// The items of a list, or the one value.
fn items(value: &Value) -> impl Iterator<Item = String> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    items.iter().map(text)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Texts as values of their fields: a row whose columns are called as the fields. `below` is what
/// all of the fields stand in, and what the values are wanted of.
fn convert(
    rulebook: &Rulebook,
    target: &'static Category,
    named: &[(&str, String)],
    below: &str,
) -> (Map<String, Value>, Vec<Finding>) {
    let place = |field: &str| if below.is_empty() { field.to_owned() } else { format!("{below}.{field}") };
    let mut columns = Columns::default();
    let mut by_field = BTreeMap::new();
    for (field, _) in named {
        by_field.entry(place(field)).or_insert_with_key(|field| columns.add(field));
    }
    let mapping = match Mapping::of_fields(target, by_field.keys().map(String::as_str), &rulebook.catalogue) {
        Ok(mapping) => mapping,
        // Names of fields that people have changed.
        Err(error) => {
            let wrong = |message: String| Finding {
                severity: crate::finding::Severity::Error,
                reason: "no V4 field".to_owned(),
                columns: Vec::new(),
                value: None,
                field: None,
                message,
                advice: Some("do not change the column `field`".to_owned()),
            };
            return (Map::new(), error.0.into_iter().map(wrong).collect());
        }
    };
    let columns = Arc::new(columns);
    let mut batch = Batch::default();
    batch.clear(Arc::clone(&columns));
    batch.begin(1, 1);
    for (field, value) in named {
        if let Some(column) = by_field.get(&place(field)) {
            batch.push(*column, value);
        }
    }
    let bound = mapping.bind(&columns);
    let Some(row) = batch.rows().next() else { return (Map::new(), Vec::new()) };
    let mapped = bound.apply(row);
    let mut payload = mapped.payload;
    payload.remove("category_id");
    let wanted = if below.is_empty() {
        payload
    } else {
        match payload.remove(below) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    };
    (wanted, mapped.findings)
}

/// Puts a value at a dotted path.
fn put(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((name, rest)) => {
            let below = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}

/// Puts all values of one object into another, those of objects within them one by one.
fn merge(object: &mut Map<String, Value>, added: Map<String, Value>) {
    let merged = ad_core::rulebook::merge::merge(object, added);
    *object = merged;
}
