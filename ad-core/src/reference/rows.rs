//! Rows of a table with those of the objects inside their arrays and objects.

use crate::{
    catalogue::{Catalogue, List},
    categories::Category,
    fields::{Field, Kind},
};

/// One row of a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where the field stands: dotted, with `[]` behind an array, such as `condition.wheels[].name`.
    pub place: String,
    /// What the table says about it.
    pub field: &'static Field,
}

impl Row {
    /// Its kind in words, with the lookup that has its allowed values and how many there are.
    pub fn words(&self, category: &Category, catalogue: &Catalogue) -> String {
        let kind = self.field.kind;
        match (values_of(&kind, category, catalogue), category.vehicle_type) {
            // Models have a lookup of their own, which their row names.
            (Some(values), _) if matches!(kind, Kind::Model { .. }) => format!("{kind}, {values} values"),
            (Some(values), Some(vehicle_type)) => {
                format!("{kind}, {values} values: `/v4/vehicles/{vehicle_type}/{}`", self.place.replace("[]", ""))
            }
            _ => kind.to_string(),
        }
    }
}

/// How many values of the catalogue a field allows.
fn values_of(kind: &Kind, category: &Category, catalogue: &Catalogue) -> Option<usize> {
    let count = |list: &List| list.entries().len();
    match *kind {
        Kind::Slug { list } => Some(count(catalogue.list(list))),
        Kind::Model { list } => {
            let Kind::Slug { list: brands } = category.field("brand")?.kind else { return None };
            Some(catalogue.list(brands).ids().map(|brand| count(catalogue.models(list, brand))).sum())
        }
        Kind::List { item, .. } => values_of(item, category, catalogue),
        _ => None,
    }
}

/// Rows in their order, each followed by the members of its objects.
pub fn rows(fields: impl IntoIterator<Item = &'static Field>) -> Vec<Row> {
    let mut found = Vec::new();
    for field in fields {
        collect(String::new(), field, &mut found);
    }
    found
}

fn collect(above: String, field: &'static Field, found: &mut Vec<Row>) {
    let place = above + field.path;
    let (inside, below) = match field.kind {
        Kind::Objects { fields, .. } => (fields, format!("{place}[].")),
        Kind::Object { fields } => (fields, format!("{place}.")),
        _ => (&[] as &[Field], String::new()),
    };
    found.push(Row { place, field });
    for field in inside {
        collect(below.clone(), field, found);
    }
}
