//! Rows of a table, including those of nested objects.

use crate::{
    catalogue::{Catalogue, List},
    categories::Category,
    fields::{Field, Kind},
};

/// One row of a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceRow {
    /// Path of the field, with `[]` after an array, such as `condition.wheels[].name`.
    pub place: String,
    /// Its row in the table.
    pub field: &'static Field,
}

impl ReferenceRow {
    /// Its kind in words, with the lookup of its allowed values and their number.
    pub fn words(&self, category: &Category, catalogue: &Catalogue) -> String {
        let kind = self.field.kind;
        match (values_of(&kind, category, catalogue), category.vehicle_type) {
            (Some(values), Some(vehicle_type)) if matches!(kind, Kind::Model { .. }) => {
                format!("{kind}, {values} values: `/v4/vehicles/{vehicle_type}/models?brand=`")
            }
            (Some(values), Some(vehicle_type)) => {
                format!("{kind}, {values} values: `/v4/vehicles/{vehicle_type}/{}`", self.place.replace("[]", ""))
            }
            _ => kind.to_string(),
        }
    }
}

/// Number of values of the catalogue that a field allows.
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

/// The rows in order, each followed by the members of its objects.
pub fn rows(fields: impl IntoIterator<Item = &'static Field>) -> Vec<ReferenceRow> {
    let mut found = Vec::new();
    for field in fields {
        collect(String::new(), field, &mut found);
    }
    found
}

fn collect(above: String, field: &'static Field, found: &mut Vec<ReferenceRow>) {
    let place = above + field.path;
    let (inside, below) = match field.kind {
        Kind::Objects { fields, .. } => (fields, format!("{place}[].")),
        Kind::Object { fields } => (fields, format!("{place}.")),
        _ => (&[] as &[Field], String::new()),
    };
    found.push(ReferenceRow { place, field });
    for field in inside {
        collect(below.clone(), field, found);
    }
}
