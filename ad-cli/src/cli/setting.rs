//! `--set price.0.amount=99000`: from paths and texts to a patch.
//!
//! An update replaces arrays and `location` whole and merges other objects ('decision 6'): so what lies inside an array is set in a copy of the
//! array as it is now, and the patch carries all of it.

use ad_core::{categories::Category, fields::Kind, synonyms::names::Names};
use ad_files::json::attribute;
use serde_json::{Map, Value};

use crate::{
    bulk::{Invocation, check::known},
    terminal::{Failure, Hint},
};

/// A field that is to be set or cleared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    path: Vec<String>,
    /// As it was typed; `None` clears.
    value: Option<String>,
}

/// Parses `PATH=VALUE`.
pub(crate) fn set(text: &str) -> Result<Setting, String> {
    let (path, value) = text.split_once('=').ok_or("expected PATH=VALUE, such as price.0.amount=99000")?;
    Ok(Setting { path: segments(path)?, value: Some(value.to_owned()) })
}

/// A path that is to be cleared.
pub(crate) fn unset(text: &str) -> Result<Setting, String> {
    Ok(Setting { path: segments(text)?, value: None })
}

fn segments(path: &str) -> Result<Vec<String>, String> {
    let segments: Vec<_> = path.trim().split('.').map(str::to_owned).collect();
    if segments.iter().any(String::is_empty) {
        return Err("expected a path of names and array indexes separated by dots, such as price.0.amount".to_owned());
    }
    Ok(segments)
}

impl Setting {
    /// The path as it was given.
    fn dotted(&self) -> String {
        self.path.join(".")
    }

    /// The same with the path of the field that is meant: that of the only field with this name, or one that other systems call so.
    ///
    /// # Errors
    /// When there is no such field, with the nearest one.
    pub(crate) fn resolved(&self, category: Option<&Category>) -> Result<Self, Failure> {
        // A category without a table takes any field.
        let Some(category) = category.filter(|category| category.vehicle_type.is_some()) else {
            return Ok(self.clone());
        };
        let asked = attribute(&self.dotted());
        let rows = known(category);
        let places: Vec<_> = rows.iter().map(|row| row.place.replace("[]", "")).collect();
        let is_below = |path: &str, parent: &str| {
            path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let measures = || rows.iter().zip(&places).filter(|(row, _)| matches!(row.field.kind, Kind::Measure { .. }));
        let is_known =
            places.iter().any(|place| is_below(place, &asked)) || measures().any(|(_, place)| is_below(&asked, place));
        if is_known || self.path.len() != asked.split('.').count() {
            return Ok(self.clone());
        }
        let mut named = places.iter().filter(|place| place.ends_with(&format!(".{asked}")));
        let only = named.next().filter(|_| named.next().is_none()).map(String::as_str);
        let called = || Names::builtin().field(&asked).filter(|path| places.iter().any(|place| place == path));
        if let Some(place) = only.or_else(called) {
            return Ok(Self { path: place.split('.').map(str::to_owned).collect(), value: self.value.clone() });
        }
        let vehicle_type = category.vehicle_type.unwrap_or_default();
        let meant = Names::builtin().did_you_mean(&asked, places.iter().map(String::as_str));
        Err(Failure::usage(format!("{vehicle_type} has no field {asked}"))
            .hint(meant.map_or_else(|| listing_fields(vehicle_type), Hint::Text)))
    }

    /// The value to send: what is no text by the field's table is read as JSON; texts are taken as they are, unless in quotes.
    fn value(&self, category: Option<&Category>) -> Value {
        let Some(typed) = &self.value else { return Value::Null };
        let json = serde_json::from_str::<Value>(typed);
        match (json, category.is_some_and(|category| is_text(category, &self.path))) {
            (Ok(value @ (Value::String(_) | Value::Null)), _) | (Ok(value), false) => value,
            _ => Value::String(typed.clone()),
        }
    }

    /// Puts it into the patch of an ad as it is now.
    ///
    /// # Errors
    /// What is wrong with the path.
    pub(crate) fn put_into(
        &self,
        patch: &mut Map<String, Value>,
        now: &Value,
        category: Option<&Category>,
    ) -> Result<(), String> {
        let Some((first, rest)) = self.path.split_first() else { return Ok(()) };
        let place = patch.entry(first.clone()).or_insert(Value::Null);
        self.put(place, now.get(first).unwrap_or(&Value::Null), rest, self.value(category))
    }

    /// Sets what lies at the rest of the path, below a place of the patch and what is there now.
    fn put(&self, place: &mut Value, now: &Value, rest: &[String], value: Value) -> Result<(), String> {
        let Some((next, rest)) = rest.split_first() else {
            *place = value;
            return Ok(());
        };
        let is_place = next.bytes().all(|byte| byte.is_ascii_digit());
        if place.is_null() && (now.is_array() || (is_place && !now.is_object())) {
            *place = if now.is_array() { now.clone() } else { Value::Array(Vec::new()) };
        }
        if let Value::Array(items) = place {
            let count = items.len();
            let index = next.parse::<usize>().ok().filter(|index| *index <= count).ok_or_else(|| {
                format!("{}: {next:?} is not an index of this array of {count} items; the first is 0", self.dotted())
            })?;
            if index == count {
                items.push(Value::Null);
            }
            // All of the array is in the patch already, and so what is in it now.
            let item = items[index].clone();
            return self.put(&mut items[index], &item, rest, value);
        }
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(members) = place else {
            return Err(format!(
                "{}: {next:?} cannot be set, because its parent is not an object or array",
                self.dotted()
            ));
        };
        let below = members.entry(next.clone()).or_insert(Value::Null);
        self.put(below, now.get(next).unwrap_or(&Value::Null), rest, value)
    }
}

/// Whether a field takes a text, so that `500` is one.
fn is_text(category: &Category, path: &[String]) -> bool {
    let attribute = attribute(&path.join("."));
    known(category).iter().find(|row| row.place.replace("[]", "") == attribute).is_some_and(|row| {
        match row.field.kind {
            Kind::List { item, .. } => {
                path.last().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit())) && is_text_kind(item)
            }
            kind => is_text_kind(&kind),
        }
    })
}

/// Whether values of a kind are texts, so that `500` is one.
pub(crate) fn is_text_kind(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Integer { .. }
            | Kind::Decimal { .. }
            | Kind::Boolean
            | Kind::Measure { .. }
            | Kind::List { .. }
            | Kind::Objects { .. }
            | Kind::Object { .. }
            | Kind::CategoryFields
    )
}

/// The hint that names the command for all fields.
pub(crate) fn listing_fields(vehicle_type: &str) -> Hint {
    ("to list all fields", Invocation::new("fields").with("type", vehicle_type)).into()
}

#[cfg(test)]
mod tests {
    use ad_core::categories;
    use serde_json::json;

    use super::*;

    fn patch(now: &Value, settings: &[&str]) -> Result<Value, String> {
        let mut patch = Map::new();
        for setting in settings {
            let setting = if setting.contains('=') { set(setting)? } else { unset(setting)? };
            setting.put_into(&mut patch, now, categories::by_vehicle_type("car"))?;
        }
        Ok(Value::Object(patch))
    }

    #[test]
    fn what_lies_in_an_array_is_sent_with_all_of_the_array() {
        let now =
            json!({"price": [{"type": "list", "amount": 100, "currency": "SEK"}, {"type": "leasing", "amount": 9}]});
        assert_eq!(
            patch(&now, &["price.0.amount=90", "price.1.amount=8"]),
            Ok(json!({"price": [{"type": "list", "amount": 90, "currency": "SEK"}, {"type": "leasing", "amount": 8}]}))
        );
        assert_eq!(
            patch(&now, &["price.2.type=reduced", "price.2.amount=80"]).unwrap()["price"][2],
            json!({"type": "reduced", "amount": 80})
        );
        assert_eq!(patch(&json!({}), &["price.0.amount=1"]), Ok(json!({"price": [{"amount": 1}]})));
        for wrong in ["price.3.amount=1", "price.list.amount=1"] {
            assert!(patch(&now, &[wrong]).unwrap_err().contains("array of 2 items"), "{wrong}");
        }
    }

    #[test]
    fn objects_are_merged_by_the_service_and_only_the_change_is_sent() {
        let now = json!({"category_fields": {"color": "red", "physics": {"number_of_doors": 5}}});
        assert_eq!(
            patch(&now, &["category_fields.physics.number_of_doors=3", "category_fields.color", "visible=false"]),
            Ok(json!({"category_fields": {"physics": {"number_of_doors": 3}, "color": null}, "visible": false}))
        );
    }

    #[test]
    fn texts_are_texts_where_the_table_says_so() {
        let fields = |settings: &[&str]| patch(&json!({}), settings).unwrap();
        assert_eq!(fields(&["category_fields.model=500"]), json!({"category_fields": {"model": "500"}}));
        assert_eq!(fields(&["body=true"]), json!({"body": "true"}));
        assert_eq!(fields(&["body=\"quoted\""]), json!({"body": "quoted"}));
        assert_eq!(fields(&["body=a=b, c"]), json!({"body": "a=b, c"}));
        assert_eq!(fields(&["url=null"]), json!({"url": null}));
        assert_eq!(fields(&["category_fields.model_year=2020"]), json!({"category_fields": {"model_year": 2020}}));
        assert_eq!(fields(&["image_urls=[\"https://a.se/1.jpg\"]"]), json!({"image_urls": ["https://a.se/1.jpg"]}));
        assert_eq!(fields(&["category_fields.unknown=7"]), json!({"category_fields": {"unknown": 7}}));
    }

    #[test]
    fn a_name_is_enough_where_it_is_the_only_one() {
        let car = categories::by_vehicle_type("car");
        let path = |name: &str| set(&format!("{name}=1")).unwrap().resolved(car).map(|setting| setting.dotted());
        for (name, place) in [
            ("color", "category_fields.color"),
            ("mileage", "category_fields.condition.mileage"),
            ("price.0.amount", "price.0.amount"),
            ("body", "body"),
            ("make", "category_fields.brand"),
            ("category_fields.condition.mileage.unit", "category_fields.condition.mileage.unit"),
        ] {
            assert_eq!(path(name).unwrap(), place, "{name}");
        }
        let Failure::Explained { message, hints, .. } = path("colr").unwrap_err() else { panic!() };
        assert!(
            message.contains("colr")
                && hints[0].on(crate::bulk::Surface::CommandLine).contains("category_fields.color"),
            "{message} {hints:?}"
        );
    }

    #[test]
    fn wrong_settings_are_told() {
        for wrong in ["price", "=1", "price..amount=1", "price.=1"] {
            assert!(set(wrong).is_err(), "{wrong}");
        }
    }
}
