//! Fills a V4 payload from a V3 ad and from answers. Fields of open categories have no published names: those with the name of a V4 field
//! are converted, the others are left out and reported.

use std::collections::BTreeSet;

use ad_bulk::{conversion, plain};
use ad_client::Ad;
use ad_core::{
    categories::{self, Category},
    fields::{Field, Kind},
    rulebook::{Rulebook, merge::merge},
};
use ad_files::json::leaves;
use serde_json::{Map, Value};

use crate::{
    finding::{Finding, Severity},
    mapping::{
        Mapping,
        target::{Step, put},
    },
    readers::row_of_paths,
};

const FIELDS: &str = "category_fields";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filled {
    /// The payload; fields may be missing.
    pub(crate) payload: Map<String, Value>,
    /// Data of the V3 ad that is not in the payload, as `path: value`.
    pub(crate) left_out: Vec<String>,
    /// Errors about values of the answers.
    pub(crate) wrong: Vec<Finding>,
}

/// Fills the payload that migrates an ad to this category.
pub(crate) fn fill(rulebook: &Rulebook, ad: &Ad, target: &'static Category, answers: &[(String, String)]) -> Filled {
    let mut payload = conversion::stored(ad).content.into_fields();
    let mut left_out = Vec::new();
    if categories::by_id(ad.category_id).is_some_and(Category::is_open) {
        let open = payload.remove(FIELDS);
        let mut texts = Vec::new();
        let mut fields = Map::new();
        for (path, value) in open.iter().flat_map(|open| leaves(open, is_one)) {
            match (of_v4(target, &path), value) {
                // Objects are copied unchanged, and validated by the rules.
                (Some(field), value) if is_whole(field, value) => {
                    let steps: Vec<_> = field.path.split('.').map(Step::Member).collect();
                    put(&mut fields, &steps, value.clone());
                }
                (Some(field), value) if !matches!(value, Value::Object(_)) => texts.push((field.path, path, value)),
                (_, value) => left_out.push(format!("{path}: {}", plain(value))),
            }
        }
        let named: Vec<_> =
            texts.iter().flat_map(|(field, _, value)| items(value).map(move |it| (*field, it))).collect();
        let (converted, wrong) = convert(rulebook, target, &named, FIELDS);
        fields = merge(&fields, converted);
        for finding in wrong {
            let wrong = |field: &str| finding.field.as_deref() == Some(&format!("{FIELDS}.{field}"));
            let wrong = texts.iter().filter(|(field, ..)| wrong(field));
            left_out.extend(wrong.map(|(_, path, value)| format!("{path}: {}", plain(value))));
        }
        payload.insert(FIELDS.to_owned(), Value::Object(fields));
    }
    // `null` means absent, and V4 rejects it for some fields.
    payload.retain(|_, value| !value.is_null());
    let answers: Vec<_> = answers.iter().map(|(field, value)| (field.as_str(), value.clone())).collect();
    let (added, wrong) = convert(rulebook, target, &answers, "");
    payload = merge(&payload, added);
    Filled { payload, left_out, wrong }
}

/// The V4 field of a V3 path: by the whole path, or by its last name, if only one field has it.
fn of_v4(target: &Category, path: &str) -> Option<&'static Field> {
    let last = |path: &str| path.rsplit('.').next().map(str::to_owned);
    if let Some(field) = target.fields().find(|field| field.path == path) {
        return Some(field);
    }
    let mut same = target.fields().filter(|field| last(field.path) == last(path));
    same.next().filter(|_| same.next().is_none())
}

/// Whether a value is copied to a field as a whole.
fn is_whole(field: &Field, value: &Value) -> bool {
    match field.kind {
        Kind::Measure { .. } | Kind::Object { .. } => value.is_object(),
        Kind::Objects { .. } => value.is_array(),
        _ => false,
    }
}

/// Whether a value is one of an open object: a measure and a list, too.
fn is_one(value: &Value) -> bool {
    value.is_array() || (value.get("value").is_some() && value.get("unit").is_some())
}

/// The items of a list, or the one value.
fn items(value: &Value) -> impl Iterator<Item = String> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    items.iter().map(plain)
}

/// Converts texts to values of fields, as a row whose columns have the names of the fields. `below` is the object that contains the
/// fields, and that is returned.
fn convert(
    rulebook: &Rulebook,
    target: &'static Category,
    named: &[(&str, String)],
    below: &str,
) -> (Map<String, Value>, Vec<Finding>) {
    let place = |field: &str| if below.is_empty() { field.to_owned() } else { format!("{below}.{field}") };
    let places: Vec<String> = named.iter().map(|(field, _)| place(field)).collect();
    let fields: BTreeSet<&str> = places.iter().map(String::as_str).collect();
    let mapping = match Mapping::of_fields(target, fields.into_iter(), &rulebook.catalogue) {
        Ok(mapping) => mapping,
        // Somebody has changed the names of fields.
        Err(error) => {
            let wrong = |message: String| Finding {
                advice: Some("do not change the column `field`".to_owned()),
                ..Finding::new(Severity::Error, "no V4 field", message)
            };
            return (Map::new(), error.0.into_iter().map(wrong).collect());
        }
    };
    let cells: Vec<_> = places.iter().zip(named).map(|(place, (_, value))| (place.as_str(), value.as_str())).collect();
    let batch = row_of_paths(&cells);
    let bound = mapping.bind(batch.columns());
    let Some(row) = batch.rows().next() else { return (Map::new(), Vec::new()) };
    let mapped = bound.apply(row);
    let mut payload = mapped.payload;
    payload.remove("category_id");
    if !below.is_empty() {
        payload = match payload.remove(below) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
    }
    (payload, mapped.findings)
}
