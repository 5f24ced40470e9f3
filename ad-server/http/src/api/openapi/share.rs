//! Says once what schemas and paths repeat: a schema of a property or item that stands in several places becomes a component, and
//! parameters that all operations of a path have become those of the path.

use std::collections::{BTreeMap, BTreeSet};

use ad_core::categories;
use serde_json::{Map, Value};

use super::{fields::Form, name_of, pascal_case, reference};

/// About the length of a reference.
const REFERENCE: usize = 50;

/// Longest name of a schema.
const LONGEST_NAME: usize = 40;

/// Where a schema stands.
#[derive(Debug, Clone)]
struct Place {
    /// The component around it.
    owner: String,
    /// Names of the properties down to it.
    path: Vec<String>,
}

/// Replaces schemas that stand in several places, apart from their examples, by references to new components.
pub(super) fn schemas(components: &mut Map<String, Value>) {
    loop {
        let mut places = BTreeMap::new();
        for (owner, schema) in components.iter_mut() {
            let place = Place { owner: owner.clone(), path: Vec::new() };
            visit(schema, &place, &mut |schema, place| {
                places.entry(content(schema).to_string()).or_insert_with(Vec::new).push(place.clone());
                false
            });
        }
        places.retain(|content, places| (places.len() - 1) * content.len() > (places.len() + 1) * REFERENCE);
        if places.is_empty() {
            return;
        }
        let names = names(&places, components);
        let mut shared = Map::new();
        for (owner, schema) in components.iter_mut() {
            let place = Place { owner: owner.clone(), path: Vec::new() };
            visit(schema, &place, &mut |schema, _| {
                let Some(name) = names.get(&content(schema).to_string()) else { return false };
                let replaced = std::mem::replace(schema, reference(name));
                shared.entry(name.clone()).or_insert(replaced);
                true
            });
        }
        components.extend(shared);
    }
}

/// Shows each schema of a property or item below a schema, except references, until `replaced` says that it is one now.
fn visit(schema: &mut Value, place: &Place, replaced: &mut impl FnMut(&mut Value, &Place) -> bool) {
    let Some(members) = schema.as_object_mut() else { return };
    let mut below = |schema: &mut Value, name: &str| {
        let mut place = place.clone();
        place.path.push(name.to_owned());
        if schema.is_object() && schema.get("$ref").is_none() && !replaced(schema, &place) {
            visit(schema, &place, replaced);
        }
    };
    for (name, property) in members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        below(property, name);
    }
    if let Some(items) = members.get_mut("items") {
        below(items, "item");
    }
    for part in members.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten() {
        visit(part, place, replaced);
    }
}

/// A schema without its examples.
fn content(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let members = members.iter().filter(|(name, value)| *name != "example" || value.get("type").is_some());
    let content = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::Array(items) => items.iter().map(content).collect(),
            value => content(value),
        };
        (name.clone(), value)
    };
    members.map(content).collect::<Map<_, _>>().into()
}

/// A name for each content: that of its property, for the one that stands in most places, and with a prefix for the others.
fn names(places: &BTreeMap<String, Vec<Place>>, components: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<_> = components.keys().cloned().collect();
    let mut by_use: Vec<_> = places.iter().collect();
    by_use.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    let name = |(content, places): (&String, &Vec<Place>)| {
        let first = &places[0];
        let property = first.path.iter().rposition(|name| name != "item").unwrap_or(0);
        let (around, own) = first.path.split_at(property);
        let (around, own) = (pascal_case(&around.join(" ")), pascal_case(&own.join(" ")));
        let owner = base(&first.owner);
        // What only one has is called after it.
        let is_shared = places.iter().any(|place| base(&place.owner) != owner);
        let prefixes = [String::new(), around.clone(), owner.to_owned(), format!("{owner}{around}")];
        let prefixes = prefixes.iter().skip(if is_shared { 0 } else { 2 });
        let suffix = places.iter().map(|place| form(&place.owner)).min().unwrap_or_default();
        let numbered = (2..).map(|number| format!("{own}{number}{suffix}"));
        let candidates =
            prefixes.map(|prefix| format!("{prefix}{own}{suffix}")).filter(|name| name.len() <= LONGEST_NAME);
        let name = candidates.chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(name.clone());
        (content.clone(), name)
    };
    by_use.into_iter().map(name).collect()
}

/// The suffix of the names of schemas that only updates or answers have.
fn form(owner: &str) -> &'static str {
    [Form::Update, Form::Answer]
        .map(Form::suffix)
        .into_iter()
        .find(|suffix| owner.ends_with(suffix))
        .unwrap_or_default()
}

/// The name of the vehicle type of a component, or its own name without a suffix.
fn base(owner: &str) -> &str {
    let of_v4 = owner.strip_prefix("V3").unwrap_or(owner);
    let types =
        categories::typed().map(|(_, category)| name_of(category)).filter(|name| of_v4.starts_with(name.as_str()));
    let own = owner.strip_suffix(form(owner)).unwrap_or(owner);
    types.map(|name| name.len()).max().map_or(own, |length| &of_v4[..length])
}

/// Moves parameters that all operations of a path have to the path.
pub(super) fn parameters(paths: &mut Map<String, Value>) {
    for item in paths.values_mut().filter_map(Value::as_object_mut).filter(|item| item.len() > 1) {
        let lists = || item.values().map(|operation| operation["parameters"].as_array());
        let Some(Some(first)) = lists().next() else { continue };
        let is_in_all = |it: &&Value| lists().all(|list| list.is_some_and(|list| list.contains(it)));
        let common: Vec<_> = first.iter().filter(is_in_all).cloned().collect();
        for operation in item.values_mut() {
            if let Some(own) = operation["parameters"].as_array_mut() {
                own.retain(|parameter| !common.contains(parameter));
            }
        }
        if !common.is_empty() {
            item.insert("parameters".to_owned(), common.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LONG: &str = "A description that is longer than a reference to a component that has it would be";

    #[test]
    fn what_stands_in_several_places_becomes_a_component() {
        let color = |example: &str| json!({"type": "string", "description": LONG, "example": example});
        let power =
            json!({"type": "object", "properties": {"power": {"type": "integer", "description": LONG.repeat(2)}}});
        let mut schemas = json!({
            "BoatFields": {"type": "object", "properties": {"color": color("red"), "engine": power}},
            "CarFields": {"type": "object", "properties": {"color": color("blue")}},
            "CarFieldsUpdate": {"type": "object", "properties": {"color": color("green"), "year": {"type": "integer"}}},
            "BoatFieldsUpdate": {"type": "object", "properties": {"engine": power, "year": {"type": "integer"}}},
        });
        super::schemas(schemas.as_object_mut().unwrap());
        let (color_of, engine_of) = (reference("Color"), reference("BoatEngine"));
        assert_eq!(
            schemas,
            json!({
                "BoatEngine": power,
                "BoatFields": {"type": "object", "properties": {"color": color_of, "engine": engine_of}},
                "BoatFieldsUpdate": {"type": "object", "properties": {"engine": engine_of, "year": {"type": "integer"}}},
                "CarFields": {"type": "object", "properties": {"color": color_of}},
                "CarFieldsUpdate": {"type": "object", "properties": {"color": color_of, "year": {"type": "integer"}}},
                "Color": color("red"),
            })
        );
    }

    #[test]
    fn parameters_of_all_operations_are_those_of_the_path() {
        let mut paths = json!({
            "/a": {"get": {"parameters": [1, 2, 3]}, "post": {"parameters": [3, 1]}},
            "/b": {"get": {"parameters": [1]}},
        });
        parameters(paths.as_object_mut().unwrap());
        assert_eq!(
            paths,
            json!({
                "/a": {"get": {"parameters": [2]}, "post": {"parameters": []}, "parameters": [1, 3]},
                "/b": {"get": {"parameters": [1]}},
            })
        );
    }
}
