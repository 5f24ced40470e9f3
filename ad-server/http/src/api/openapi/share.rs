//! Says once what schemas and paths repeat: a schema of a property or item that stands in several places becomes a component, and
//! parameters that all operations of a path have become those of the path.

mod names;

use std::{cmp::Reverse, collections::BTreeMap};

use serde_json::{Map, Value};

use self::names::{Place, own, unused};
use super::reference;

/// About the length of a reference.
const REFERENCE: usize = 50;

/// Replaces schemas that stand in several places, apart from their examples, by references to new components.
pub(super) fn schemas(components: &mut Map<String, Value>) {
    let mut owners: BTreeMap<_, _> = components.keys().map(|name| (name.clone(), Place::of(name))).collect();
    // The new components, with what their schemas are.
    let mut new = BTreeMap::new();
    loop {
        let by_content =
            |(name, of): (&String, &String)| (content(&components[name]).to_string(), (name.clone(), of.clone()));
        let known: BTreeMap<_, (String, String)> = new.iter().map(by_content).collect();
        let wanted = |content: &String, places: &mut Vec<Place>| match known.get(content) {
            Some((_, of)) => content.len() > REFERENCE && own(places).as_ref() == Some(of),
            None => (places.len() - 1) * content.len() > (places.len() + 1) * REFERENCE && own(places).is_some(),
        };
        let mut found = places(components, &owners, &|_| false);
        found.retain(wanted);
        // Without the places within others that are replaced.
        let mut found = places(components, &owners, &|content| found.contains_key(content));
        found.retain(wanted);
        if found.is_empty() {
            return;
        }
        let mut by_use: Vec<_> = found.into_iter().collect();
        by_use.sort_by_key(|(_, places)| (Reverse(places.len()), Place::around(places).shortest_owner()));
        let (mut shared, mut fresh) = (BTreeMap::new(), Map::new());
        for (content, places) in by_use {
            let name = match known.get(&content) {
                Some((name, _)) => name.clone(),
                None => unused(&places, |name| !owners.contains_key(name)),
            };
            new.entry(name.clone()).or_insert_with(|| own(&places).unwrap_or_default());
            owners.entry(name.clone()).or_insert_with(|| Place::around(&places));
            shared.insert(content, name);
        }
        for (owner, schema) in components.iter_mut() {
            visit(schema, &owners[owner], &mut |schema, _| {
                let Some(name) = shared.get(&content(schema).to_string()) else { return false };
                let replaced = std::mem::replace(schema, reference(name));
                fresh.entry(name.clone()).or_insert(replaced);
                true
            });
        }
        fresh.retain(|name, _| !components.contains_key(name));
        components.extend(fresh);
    }
}

/// The schemas of properties and items by their contents, with their places; what is `replaced` is not looked into.
fn places(
    components: &mut Map<String, Value>,
    owners: &BTreeMap<String, Place>,
    replaced: &dyn Fn(&String) -> bool,
) -> BTreeMap<String, Vec<Place>> {
    let mut places = BTreeMap::new();
    for (owner, schema) in components.iter_mut() {
        visit(schema, &owners[owner], &mut |schema, place| {
            let content = content(schema).to_string();
            let is_replaced = replaced(&content);
            places.entry(content).or_insert_with(Vec::new).push(place.clone());
            is_replaced
        });
    }
    places
}

/// Shows each schema of a property or item below a schema, except references, until `replaced` says that it is one now.
fn visit(schema: &mut Value, place: &Place, replaced: &mut impl FnMut(&mut Value, &Place) -> bool) {
    let Some(members) = schema.as_object_mut() else { return };
    let mut below = |schema: &mut Value, place: &Place| {
        if schema.is_object() && schema.get("$ref").is_none() && !replaced(schema, place) {
            visit(schema, place, replaced);
        }
    };
    for (name, property) in members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        below(property, &place.property(name));
    }
    if let Some(items) = members.get_mut("items") {
        below(items, &place.item());
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
        let (color_of, engine_of) = (reference("BoatOrCarColor"), reference("BoatEngine"));
        assert_eq!(
            schemas,
            json!({
                "BoatEngine": power,
                "BoatOrCarColor": color("red"),
                "BoatFields": {"type": "object", "properties": {"color": color_of, "engine": engine_of}},
                "BoatFieldsUpdate": {"type": "object", "properties": {"engine": engine_of, "year": {"type": "integer"}}},
                "CarFields": {"type": "object", "properties": {"color": color_of}},
                "CarFieldsUpdate": {"type": "object", "properties": {"color": color_of, "year": {"type": "integer"}}},
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
