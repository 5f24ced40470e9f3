//! Full payloads, made from the tables: every field that a version takes has a value, so that no field and no type is
//! forgotten by those who measure or mutate them.

use ad_core::{
    catalogue::Catalogue,
    categories::{Category, Heading, ad_fields},
    fields::{Direction, Field, Kind},
    model::ApiVersion,
};
use serde_json::{Map, Value, json};

/// A payload with every field of a category that a version takes; a create
/// accepts it for a dealer with this salesperson.
pub(crate) fn payload(category: &Category, version: ApiVersion, catalogue: &Catalogue) -> Map<String, Value> {
    let mut payload = Map::new();
    for field in ad_fields::IDENTITY.iter().chain(ad_fields::WRITTEN) {
        let heading = field.path == "title" || field.path.starts_with("contact.");
        if heading && category.heading == Heading::Forbidden {
            continue;
        }
        let value = match field.path {
            "category_id" => json!(category.id),
            "dealer_code" => json!("north-cars"),
            "body" => json!(
                "Välskött, med full servicehistorik. Nybesiktigad, två nycklar, dragkrok och motorvärmare. Levereras \
                 med nytecknad garanti. Välkommen att boka en provkörning!"
            ),
            "video_url" => json!("https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
            "location" => json!({"latitude": 59.3293, "longitude": 18.0686}),
            "price" if category.registered => {
                json!([{"type": "list", "amount": 349_900, "currency": "SEK"},
                    {"type": "leasing", "amount": 3995.5, "currency": "SEK"}])
            }
            "price" => json!([{"type": "list", "amount": 349_900, "currency": "SEK"}]),
            "category_fields" if category.is_open() => {
                json!({"brand": "Aktiv", "year": 1999, "extras": ["hook", true]})
            }
            "category_fields" => Value::Object(category_fields(category, version, catalogue)),
            _ => value(field, catalogue),
        };
        put(&mut payload, field.path, value);
    }
    payload
}

fn category_fields(category: &Category, version: ApiVersion, catalogue: &Catalogue) -> Map<String, Value> {
    let mut fields = Map::new();
    for field in category.fields().filter(|field| field.since.allows(version)) {
        let value = match (field.path, field.kind) {
            // A model is one of the brand, and that is the first one of its list.
            ("model", Kind::Model { list }) => {
                let brand = fields["brand"].as_str().unwrap_or_default();
                json!(catalogue.models(list, brand).entries()[0].id)
            }
            _ => value(field, catalogue),
        };
        put(&mut fields, field.path, value);
    }
    fields
}

fn put(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(object.insert(path.to_owned(), value)),
        Some((name, below)) => {
            let inside = object.entry(name).or_insert_with(|| json!({}));
            put(inside.as_object_mut().expect("a path leads through objects"), below, value);
        }
    }
}

fn value(field: &Field, catalogue: &Catalogue) -> Value {
    match (field.path, field.kind) {
        // Leasing prices go along with neither, and a vehicle with a mileage is used.
        ("online_purchasable" | "condition.is_new_vehicle", _) => json!(false),
        // The one value that both groups of ratings have.
        ("value", Kind::Choice { .. }) => json!("good"),
        (_, kind) => of_kind(&kind, 0, catalogue),
    }
}

/// The value of a kind, or one of several different ones.
fn of_kind(kind: &Kind, index: usize, catalogue: &Catalogue) -> Value {
    match *kind {
        Kind::Text { min: 5.., max, .. } => json!("YV1UZ8256N1234567"[..max.min(17)]),
        Kind::Text { .. } => json!(["Dragkrok", "Adaptiv farthållare", "Backkamera", "Rattvärme"][index % 4]),
        Kind::Integer { min, max, .. } => json!(5.clamp(min, max)),
        Kind::Decimal { min, max, .. } => json!(6.5_f64.clamp(min, max)),
        Kind::Boolean => json!(true),
        Kind::Date => json!("2022-03-14"),
        Kind::Url { .. } | Kind::ImageAddress => json!(format!("https://cdn.dealer.example/cars/{index}.jpg")),
        Kind::Plate { .. } => json!("ABC123"),
        Kind::Email { .. } => json!("anna@north.example"),
        Kind::Digits { lengths, .. } => json!("1234567890123456"[..lengths[0]]),
        Kind::Currency => json!("SEK"),
        Kind::Choice { values, .. } => json!(values[index % values.len()].0),
        Kind::Slug { list } => json!(catalogue.list(list).entries()[0].id),
        Kind::Measure { units, min } => json!({"unit": units[0], "value": min.max(110.5)}),
        Kind::List { item, max, .. } => (0..max.min(5)).map(|index| of_kind(item, index, catalogue)).collect(),
        Kind::Objects { fields, max, unique_by } => {
            let object = |index| {
                let mut object = members(fields, catalogue);
                let key = fields.iter().find(|field| field.path == unique_by).expect("the key is a member");
                object[unique_by] = of_kind(&key.kind, index, catalogue);
                Value::Object(object)
            };
            (0..max).map(object).collect()
        }
        Kind::Object { fields } => Value::Object(members(fields, catalogue)),
        Kind::Model { .. } | Kind::CategoryFields => unreachable!("made where the category is known"),
    }
}

fn members(fields: &[Field], catalogue: &Catalogue) -> Map<String, Value> {
    let sent = fields.iter().filter(|field| field.direction != Direction::Response);
    sent.map(|field| (field.path.to_owned(), value(field, catalogue))).collect()
}
