//! What can be mapped to: the fields of ad-core's tables, including members of objects and arrays, with their paths in a payload.

use ad_core::{
    categories::{Category, Heading, ad_fields, price},
    fields::{Field, Kind},
    reference,
    violation::nearest,
};
use serde_json::{Map, Value};

/// A step from an object to its member, or from an array to its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Member(&'static str),
    Item(usize),
}

/// A field of a payload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) steps: Vec<Step>,
    pub(crate) kind: Kind,
    /// For the amount of a price: the type of the price.
    pub(crate) price: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoTarget {
    /// It is not a field.
    Unknown,
    /// A mapping cannot set the field; the reason, as a sentence.
    NotSet(String),
}

/// The field of a path in ads of a category.
pub(crate) fn find(category: &'static Category, path: &str) -> Result<Target, NoTarget> {
    if path == "category_id" {
        let message = "The vehicle type determines the category; set it in [vehicle].";
        return Err(NoTarget::NotSet(message.to_owned()));
    }
    if let Some(of) = path.strip_prefix("price.") {
        return price_of(of);
    }
    if category.heading == Heading::Forbidden && matches!(path.split('.').next(), Some("title" | "contact")) {
        let what = if path == "title" { "the title is generated" } else { "the dealer's own contact is shown" };
        return Err(NoTarget::NotSet(format!("It must not be sent for {category}: {what}.")));
    }
    let mut steps = Vec::new();
    let found = match path.strip_prefix("category_fields.") {
        Some(below) => {
            steps.push(Step::Member("category_fields"));
            resolve(category.fields(), below, &mut steps)
        }
        None => resolve(ad_fields::IDENTITY.iter().chain(ad_fields::WRITTEN), path, &mut steps),
    };
    let kind = found.ok_or(NoTarget::Unknown)?.kind;
    if !matches!(kind, Kind::Objects { .. } | Kind::Object { .. } | Kind::CategoryFields) {
        return Ok(Target { steps, kind, price: None });
    }
    let is_within = |place: &String| place.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    let members = paths(category).filter(|place| is_within(place) && is_target(category, place));
    let members = members.take(4).map(|place| format!("\"{place}\"")).collect::<Vec<_>>().join(", ");
    Err(NoTarget::NotSet(format!("It is an object; map its members: {members}.")))
}

fn price_types() -> impl Iterator<Item = &'static str> {
    let types = price::FIELDS.iter().find_map(|field| match field.kind {
        Kind::Choice { values, .. } if field.path == "type" => Some(values),
        _ => None,
    });
    types.unwrap_or_default().iter().map(|(id, _)| *id)
}

/// The amount of a price of a type.
fn price_of(of: &str) -> Result<Target, NoTarget> {
    if of == price::REDUCED {
        let message = "A new ad cannot have a reduced price; map the regular one, \"price.list\".";
        return Err(NoTarget::NotSet(message.to_owned()));
    }
    let amount = price::FIELDS.iter().find(|field| field.path == "amount").ok_or(NoTarget::Unknown)?;
    let of = price_types().find(|id| *id == of).ok_or(NoTarget::Unknown)?;
    Ok(Target { steps: vec![Step::Member("price")], kind: amount.kind, price: Some(of) })
}

/// Follows a dotted path through rows, and through the rows of objects in them.
fn resolve(
    fields: impl IntoIterator<Item = &'static Field>,
    path: &str,
    steps: &mut Vec<Step>,
) -> Option<&'static Field> {
    for field in fields {
        let Some(rest) = path.strip_prefix(field.path) else { continue };
        if rest.is_empty() {
            steps.extend(field.path.split('.').map(Step::Member));
            return Some(field);
        }
        let Some(rest) = rest.strip_prefix('.') else { continue };
        match field.kind {
            Kind::Object { fields } => {
                steps.extend(field.path.split('.').map(Step::Member));
                return resolve(fields, rest, steps);
            }
            Kind::Objects { fields, max, .. } => {
                let (item, rest) = rest.split_once('.')?;
                let item = item.parse().ok().filter(|item| *item < max)?;
                steps.extend(field.path.split('.').map(Step::Member));
                steps.push(Step::Item(item));
                return resolve(fields, rest, steps);
            }
            _ => {}
        }
    }
    None
}

/// Whether a path is a field of a category that can be mapped to.
pub(crate) fn is_target(category: &'static Category, path: &str) -> bool {
    find(category, path).is_ok()
}

/// All paths that can be mapped to in ads of a category.
pub(crate) fn places(category: &'static Category) -> Vec<String> {
    paths(category).filter(|place| is_target(category, place)).collect()
}

/// The paths of all fields of a category.
fn paths(category: &'static Category) -> impl Iterator<Item = String> {
    let around = reference::rows(ad_fields::IDENTITY.iter().chain(ad_fields::WRITTEN)).into_iter();
    let inside = reference::rows(category.fields()).into_iter();
    let inside = inside.map(|row| format!("category_fields.{}", row.place));
    let all = around.map(|row| row.place).chain(inside).filter(|place| !place.starts_with("price"));
    all.map(|place| place.replace("[]", ".0")).chain(price_types().map(|id| format!("price.{id}")))
}

/// The nearest valid path, as a sentence.
pub(crate) fn hint(categories: &[&'static Category], path: &str) -> Option<String> {
    let mut places: Vec<String> = categories.iter().flat_map(|category| places(category)).collect();
    places.sort_unstable();
    places.dedup();
    let name = path.rsplit('.').next().unwrap_or(path);
    let all = || places.iter().map(String::as_str);
    nearest::did_you_mean(path, all()).or_else(|| nearest::did_you_mean_path(name, all()))
}

/// Sets the value of a path, and creates the objects and arrays around it.
pub(crate) fn put(payload: &mut Map<String, Value>, steps: &[Step], value: Value) {
    let Some((Step::Member(name), rest)) = steps.split_first() else { return };
    if rest.is_empty() {
        payload.insert((*name).to_owned(), value);
        return;
    }
    if let Some(known) = payload.get_mut(*name) {
        return put_within(known, rest, value);
    }
    let is_array = matches!(rest[0], Step::Item(_));
    let mut made = if is_array { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
    put_within(&mut made, rest, value);
    payload.insert((*name).to_owned(), made);
}

fn put_within(around: &mut Value, steps: &[Step], value: Value) {
    match (around, steps) {
        (Value::Object(members), _) => put(members, steps, value),
        (Value::Array(items), [Step::Item(item), rest @ ..]) => {
            while items.len() <= *item {
                items.push(Value::Object(Map::new()));
            }
            if let Some(Value::Object(members)) = items.get_mut(*item) {
                put(members, rest, value);
            }
        }
        _ => {}
    }
}

pub(crate) fn text_at<'a>(payload: &'a Map<String, Value>, path: [&str; 2]) -> Option<&'a str> {
    payload.get(path[0])?.as_object()?.get(path[1])?.as_str()
}

#[cfg(test)]
mod tests {
    use ad_core::categories::{by_vehicle_type, typed};
    use serde_json::json;

    use super::*;

    #[test]
    fn every_place_is_a_target_and_leads_where_it_says() {
        for (vehicle_type, category) in typed() {
            for place in places(category) {
                let target = find(category, &place).unwrap_or_else(|why| panic!("{vehicle_type} {place}: {why:?}"));
                let mut payload = Map::new();
                put(&mut payload, &target.steps, json!("here"));
                let pointer = format!("/{}", place.replace('.', "/"));
                let found = Value::Object(payload);
                let at = if target.price.is_some() { "/price" } else { &pointer };
                assert_eq!(found.pointer(at), Some(&json!("here")), "{place}");
            }
        }
    }

    #[test]
    fn what_is_no_target_says_why() {
        let car = by_vehicle_type("car").unwrap();
        assert_eq!(find(car, "category_fields.brnd"), Err(NoTarget::Unknown));
        for (path, says) in [
            ("category_id", "[vehicle]"),
            ("title", "the title is generated"),
            ("location", "\"location.latitude\""),
            ("category_fields.condition.wheels", "\"category_fields.condition.wheels.0.name\""),
            ("price.reduced", "price.list"),
        ] {
            let Err(NoTarget::NotSet(why)) = find(car, path) else { panic!("{path}") };
            assert!(why.contains(says), "{why}");
        }
        for (path, meant) in [
            ("category_fields.brnd", "Did you mean \"category_fields.brand\"?"),
            ("mileage", "Did you mean \"category_fields.condition.mileage\""),
            ("price.lst", "Did you mean \"price.list\"?"),
            ("image_url", "Did you mean \"image_urls\"?"),
        ] {
            let hint = hint(&[car], path).unwrap_or_default();
            assert!(hint.starts_with(meant), "{path}: {hint}");
        }
    }
}
