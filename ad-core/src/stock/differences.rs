//! The fields in which two contents of an ad differ. The tables say what is a field, what is merged, and which lists have an order.

use serde_json::{Map, Value};

use crate::{
    categories::{Category, ad_fields},
    fields::{Field, Kind},
    model::{Content, absent, split_path},
};

const CATEGORY_FIELDS: &str = "category_fields";

/// A field whose value changes. The value of an absent field is what an answer shows: `true` for `visible`, otherwise `false`, an empty
/// list, or null.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldDifference {
    /// Dotted path from the ad.
    pub path: String,
    /// The value before the change.
    pub from: Value,
    /// The value after the change.
    pub to: Value,
}

/// In which lists the order of the items counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOrder {
    /// In every list: the same items in another order are a difference.
    Counts,
    /// Only in `image_urls`, which are in display order. Other lists, such as `fuels` and `price`, are sets.
    OfImages,
}

/// The fields that differ, in the order of the tables.
pub fn differences(
    category: &Category,
    from: &Map<String, Value>,
    to: &Map<String, Value>,
    order: ListOrder,
) -> Vec<FieldDifference> {
    let mut walk = FieldWalk { category, order, found: Vec::new() };
    let mut before = "";
    for row in ad_fields::WRITTEN {
        let (name, _) = split_path(row.path);
        // Rows of one object stand together.
        if name != before {
            let absent = absent(name);
            walk.visit(name, from.get(name).unwrap_or(&absent), to.get(name).unwrap_or(&absent));
        }
        before = name;
    }
    walk.found
}

struct FieldWalk<'a> {
    category: &'a Category,
    order: ListOrder,
    found: Vec<FieldDifference>,
}

impl FieldWalk<'_> {
    fn visit(&mut self, path: &str, from: &Value, to: &Value) {
        if same(from, to) {
            return;
        }
        let (field, none) = (self.field(path), Map::new());
        if field.is_none()
            && let (Some(from), Some(to)) = (group(from, &none), group(to, &none))
        {
            for name in from.keys().chain(to.keys().filter(|name| !from.contains_key(*name))) {
                let (from, to) = (from.get(name), to.get(name));
                self.visit(&format!("{path}.{name}"), from.unwrap_or(&Value::Null), to.unwrap_or(&Value::Null));
            }
        } else if self.order == ListOrder::Counts || !field.is_some_and(|field| same_set(field, from, to)) {
            self.found.push(FieldDifference { path: path.to_owned(), from: from.clone(), to: to.clone() });
        }
    }

    /// The row of a path; `None` for a group of fields.
    fn field(&self, path: &str) -> Option<&'static Field> {
        match path.strip_prefix(CATEGORY_FIELDS) {
            Some(below) => self.category.field(below.strip_prefix('.')?),
            None => ad_fields::WRITTEN.iter().find(|row| row.path == path),
        }
    }
}

/// Whether two values of a field are lists of the same items, and the order does not count.
fn same_set(field: &Field, one: &Value, other: &Value) -> bool {
    let (Value::Array(one), Value::Array(other)) = (one, other) else { return false };
    // What identifies an item: the member that does not repeat, or the text itself.
    let member = match field.kind {
        Kind::Objects { unique_by, .. } => Some(unique_by),
        Kind::List { item: Kind::ImageAddress, .. } => return false,
        _ => None,
    };
    let key =
        |item: &Value| member.map_or(Some(item), |name| item.get(name)).and_then(Value::as_str).map(str::to_owned);
    let sorted = |items: &[Value]| {
        let mut items = items.to_vec();
        items.sort_by_cached_key(key);
        items
    };
    one.len() == other.len() && same(&sorted(one).into(), &sorted(other).into())
}

/// The members of a group of fields, or of none.
fn group<'a>(value: &'a Value, none: &'a Map<String, Value>) -> Option<&'a Map<String, Value>> {
    if value.is_null() { Some(none) } else { value.as_object() }
}

/// Whether two values mean the same: `1` is `1.0`, and `null` is nothing.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let within = |one: &Map<String, Value>, other: &Map<String, Value>| {
                one.iter().all(|(name, value)| same(value, other.get(name).unwrap_or(&Value::Null)))
            };
            within(one, other) && within(other, one)
        }
        (one, other) => one == other,
    }
}

/// The value of a field at a dotted path as answers show it; null where there is none.
pub fn shown(content: &Content, path: &str) -> Value {
    content.get(path).cloned().unwrap_or_else(|| absent(path))
}

/// Sets a field at a dotted path of a patch; `null` clears it. Whether the patch has changed.
pub fn put(patch: &mut Map<String, Value>, field: &str, value: Value) -> bool {
    match split_path(field) {
        (name, None) => {
            let is_new = patch.get(name) != Some(&value);
            patch.insert(name.to_owned(), value);
            is_new
        }
        (name, Some(below)) => match patch.entry(name).or_insert_with(|| Map::new().into()) {
            Value::Object(group) => put(group, below, value),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::categories;

    fn found(from: &Value, to: &Value, order: ListOrder) -> Value {
        let category = categories::by_vehicle_type("car").unwrap();
        json!(differences(category, from.as_object().unwrap(), to.as_object().unwrap(), order))
    }

    #[test]
    fn groups_differ_by_their_fields_and_fields_as_a_whole() {
        let from = json!({"body": "Old", "location": {"zipcode": "90326"}, "price": [{"type": "list", "amount": 1}], "visible": false,
            "category_fields": {"condition": {"mileage": {"value": 2800, "unit": "mil"}}, "color": "red"}});
        let to = json!({"body": null, "location": {"zipcode": "11122"},
            "category_fields": {"condition": {"mileage": {"value": 2900, "unit": "mil"}, "service_book": true}, "color": "red"}});
        let expected = json!([
            {"pointer": "/body", "from": "Old", "to": null},
            {"pointer": "/visible", "from": false, "to": true},
            {"pointer": "/price", "from": [{"type": "list", "amount": 1}], "to": []},
            {"pointer": "/location", "from": {"zipcode": "90326"}, "to": {"zipcode": "11122"}},
            {"pointer": "/category_fields/condition/mileage", "from": {"value": 2800, "unit": "mil"}, "to": {"value": 2900, "unit": "mil"}},
            {"pointer": "/category_fields/condition/service_book", "from": null, "to": true},
        ]);
        for order in [ListOrder::Counts, ListOrder::OfImages] {
            assert_eq!(found(&from, &to, order), expected);
        }
    }

    #[test]
    fn what_means_the_same_does_not_differ() {
        let one = json!({"price": [{"amount": 100, "type": "list"}], "contact": null, "visible": true, "image_urls": [],
            "category_fields": {"physics": {}, "color": null}});
        let other = json!({"price": [{"type": "list", "amount": 100.0}], "category_fields": {}});
        for order in [ListOrder::Counts, ListOrder::OfImages] {
            assert_eq!(found(&one, &other, order), json!([]));
            assert_eq!(found(&other, &one, order), json!([]));
        }
    }

    #[test]
    fn lists_are_sets_except_for_images() {
        let price = |kind: &str| json!({"type": kind, "amount": 1});
        let wheels = |name: &str| json!({"name": name, "tread_depth": 5});
        let ad = |order: fn(Vec<Value>) -> Value| {
            json!({"price": order(vec![price("list"), price("leasing")]), "category_fields": {
                "equipments": order(vec!["Hook".into(), "Radio".into()]),
                "condition": {"wheels": order(vec![wheels("summer"), wheels("winter")])},
                "powertrain": {"fuels": order(vec!["petrol".into(), "ethanol".into()])}}})
        };
        let (one, other) = (ad(Value::from), ad(|items| items.into_iter().rev().collect()));
        assert_eq!(found(&one, &other, ListOrder::OfImages), json!([]));
        assert_eq!(found(&one, &other, ListOrder::Counts).as_array().map(Vec::len), Some(4));
        let mut less = other.clone();
        less["category_fields"]["powertrain"]["fuels"] = json!(["petrol", "petrol"]);
        assert_eq!(found(&one, &less, ListOrder::OfImages)[0]["pointer"], "/category_fields/powertrain/fuels");
        let images = |urls: [&str; 2]| json!({"image_urls": urls});
        assert_eq!(found(&images(["a", "b"]), &images(["b", "a"]), ListOrder::OfImages)[0]["to"], json!(["b", "a"]));
    }

    #[test]
    fn a_patch_is_put_together_field_by_field() {
        let mut patch = Map::new();
        assert!(put(&mut patch, "category_fields.condition.mileage", json!({"value": 1, "unit": "mil"})));
        assert!(put(&mut patch, "category_fields.color", Value::Null));
        assert!(!put(&mut patch, "category_fields.color", Value::Null), "it is there already");
        assert!(put(&mut patch, "visible", json!(false)));
        assert_eq!(
            json!(patch),
            json!({"visible": false, "category_fields": {"color": null, "condition": {"mileage": {"value": 1, "unit": "mil"}}}})
        );
    }
}
