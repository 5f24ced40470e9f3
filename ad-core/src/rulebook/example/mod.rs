//! Example payloads, complete and valid. The tables determine the fields, [`values`] their values if the catalogue has them. So
//! the examples always match the validation.

mod values;

use serde_json::{Map, Value, json};

use crate::{
    catalogue::Catalogue,
    categories::{Category, FieldFacts, Heading},
    fields::{Field, Kind},
    model::ApiVersion,
    rulebook::{Rulebook, title},
};
use values::ExampleValues;

/// Fields that an example omits, because the valid values differ between dealers.
const DEALERS_OWN: &[&str] = &["salesperson"];

impl Category {
    /// The payload of a create through this version, with every field that it may have but `dealer_code` and
    /// `salesperson`. For [`TRAILER`](crate::categories::TRAILER), which cannot be created, it is what such a payload would be.
    ///
    /// Without `source_id` and `category_id` it is the payload of a migration.
    pub fn example(&self, version: ApiVersion, rulebook: &Rulebook) -> Map<String, Value> {
        let model = self.modelled_on();
        let values = ExampleValues::of(model);
        let fields = fields(model, version, &rulebook.catalogue, values);
        let text = |path| values.text(path).unwrap_or_default();
        let source_id = match (version, self.vehicle_type) {
            (ApiVersion::V4, Some(vehicle_type)) => format!("{vehicle_type}-1001"),
            _ => format!("v3-{}-1001", self.id),
        };
        let mut price = vec![json!({"type": "list", "amount": values.amount(), "currency": "SEK"})];
        if fields.contains_key("leasing_details") {
            price.push(json!({"type": "leasing", "amount": 4595, "currency": "SEK"}));
        }
        let images = rulebook.settings.sample_images.clone();
        let images = images.unwrap_or_else(|| format!("https://images.dealer.example/{source_id}"));
        let images = [1, 2].map(|image| format!("{images}/{image}.jpg"));
        let mut ad = json!({
            "category_id": self.id,
            "body": text("body"),
            "visible": true,
            "price": price,
            "image_urls": images,
            "url": format!("https://dealer.example/ads/{source_id}"),
            "location": if self.registered { json!({"zipcode": "90326"}) } else { json!({"lkf": "2480"}) },
            "dont_publish_on_failed_images": false,
            "product_declaration": format!("https://dealer.example/ads/{source_id}/declaration.pdf"),
            "source_id": source_id,
        });
        if let Some(host) = rulebook.settings.video_hosts.first() {
            ad["video_url"] = json!(format!("https://{host}/watch?v=1001"));
        }
        if self.heading != Heading::Forbidden {
            let title = title::generate(model, &FieldFacts::from(&fields), &rulebook.catalogue);
            ad["title"] = json!(title.as_deref().unwrap_or(self.name));
            ad["contact"] = json!({"name": text("name"), "phone": text("phone"), "email": text("email")});
        }
        ad["category_fields"] = fields.into();
        match ad {
            Value::Object(ad) => ad,
            _ => Map::new(),
        }
    }

    /// The payload of an update of that ad: a lower price, another text, a field that is cleared, and one that is merged.
    pub fn example_update(&self, version: ApiVersion, rulebook: &Rulebook) -> Map<String, Value> {
        let create = self.example(version, rulebook);
        let mut price = create.get("price").cloned().unwrap_or_default();
        if let Value::Array(price) = &mut price {
            let reduced = ExampleValues::of(self.modelled_on()).amount() / 10 * 9;
            price.push(json!({"type": "reduced", "amount": reduced, "currency": "SEK"}));
        }
        let year = create.get("category_fields").and_then(|fields| fields.get("model_year")).cloned();
        let update = json!({
            "body": "Price reduced. Viewing by appointment.",
            "price": price,
            "url": null,
            "category_fields": {"model_year": year},
        });
        match update {
            Value::Object(update) => update,
            _ => Map::new(),
        }
    }

    /// The category whose table an example follows: the category itself, or if it has no table the one to which its ads migrate.
    fn modelled_on(&self) -> &Self {
        let target = self.targets().next().map(|(_, target)| target);
        target.filter(|_| self.is_open()).unwrap_or(self)
    }
}

/// The text of a field's value in examples, for those that no example payload has: what fits one dealer, or excludes another
/// field.
pub fn example_text(name: &str) -> Option<&'static str> {
    ExampleValues::of_all().text(name)
}

/// The category fields that a version has.
fn fields(
    category: &Category,
    version: ApiVersion,
    catalogue: &Catalogue,
    values: ExampleValues,
) -> Map<String, Value> {
    // A category without a table is open: fields that every vehicle has are enough.
    let untabled = values::UNTABLED.iter().filter(|_| category.is_open());
    let rows = untabled.chain(category.fields());
    let sent = rows.filter(|field| field.since.allows(version) && !DEALERS_OWN.contains(&field.path));
    object(sent, "", catalogue, values)
}

fn object<'a>(
    rows: impl Iterator<Item = &'a Field>,
    below: &str,
    catalogue: &Catalogue,
    values: ExampleValues,
) -> Map<String, Value> {
    let mut object = Map::new();
    for row in rows {
        let path = format!("{below}{}", row.path);
        let Some(value) = value(&row.kind, &path, catalogue, values, &object) else { continue };
        put(&mut object, row.path, value);
    }
    object
}

fn put(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((name, below)) => {
            if let Value::Object(branch) = object.entry(name).or_insert_with(|| json!({})) {
                put(branch, below, value);
            }
        }
    }
}

/// An example of one field; `None` if there is none. `beside` has the fields of the same object so far.
fn value(
    kind: &Kind,
    path: &str,
    catalogue: &Catalogue,
    values: ExampleValues,
    beside: &Map<String, Value>,
) -> Option<Value> {
    let text = values.text(path);
    match kind {
        Kind::Slug { list } => Some(one_of(text, catalogue.list(list).ids())),
        Kind::Model { list } => {
            let brand = beside.get("brand").and_then(Value::as_str).unwrap_or_default();
            Some(one_of(text, catalogue.models(list, brand).ids()))
        }
        Kind::Choice { values, .. } => Some(one_of(text, values.iter().map(|(id, _)| *id))),
        Kind::Integer { .. } | Kind::Decimal { .. } | Kind::Boolean => serde_json::from_str(text?).ok(),
        Kind::Measure { .. } => {
            let (value, unit) = text?.split_once(' ')?;
            Some(json!({"value": serde_json::from_str::<Value>(value).ok()?, "unit": unit}))
        }
        Kind::List { item, .. } => {
            let single = |text| value(item, path, catalogue, ExampleValues::only(text), beside);
            Some(text?.split(", ").filter_map(single).collect())
        }
        Kind::Objects { fields, .. } => Some(json!([object(fields.iter(), &format!("{path}."), catalogue, values)])),
        Kind::Object { fields } => Some(object(fields.iter(), &format!("{path}."), catalogue, values).into()),
        _ => text.map(Value::from),
    }
}

/// The wanted value, or the first one if a replaced catalogue does not have it.
fn one_of<'a>(meant: Option<&str>, mut ids: impl Iterator<Item = &'a str> + Clone) -> Value {
    let found = ids.clone().find(|id| Some(*id) == meant).or_else(|| ids.next());
    json!(found)
}

#[cfg(test)]
mod tests;
