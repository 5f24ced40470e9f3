//! The categories: one file each, with its table of fields row for row as in the category fields document and the named
//! rules that concern several fields. A category added to [`all`] brings its endpoints, schema and lookups along.

mod boat;
mod car;
mod common;
pub mod rules;

use std::sync::LazyLock;

use crate::{
    catalogue::{Catalogue, Entry},
    fields::{Field, Kind, Node, Tree},
};
pub use rules::{Facts, Rule};

/// One category of V4 with its vehicle type.
#[derive(Debug)]
pub struct Category {
    /// `category_id`.
    pub id: u16,
    /// Name in the category table.
    pub name: &'static str,
    /// `{vehicle_type}` of its paths.
    pub vehicle_type: &'static str,
    /// Whether it is a registered vehicle category: title and contact are not sent, and the ad goes to the secondary
    /// marketplace too.
    pub registered: bool,
    /// Its rows, in the order of the document; common ones first.
    tables: &'static [&'static [Field]],
    /// Its rules over several fields.
    pub rules: &'static [&'static [Rule]],
    tree: LazyLock<Tree>,
}

static ALL: [&Category; 2] = [&car::CAR, &boat::BOAT];

/// Every category, in the order of the documents.
pub fn all() -> impl Iterator<Item = &'static Category> {
    ALL.iter().copied()
}

/// The category of an id.
pub fn by_id(id: u16) -> Option<&'static Category> {
    all().find(|category| category.id == id)
}

/// The category of a vehicle type.
pub fn by_vehicle_type(vehicle_type: &str) -> Option<&'static Category> {
    all().find(|category| category.vehicle_type == vehicle_type)
}

impl Category {
    /// Its rows, in the order of the document.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + Clone {
        self.tables.iter().copied().flatten()
    }

    /// The row of a path.
    pub fn field(&self, path: &str) -> Option<&'static Field> {
        self.tree.field(path)
    }

    /// Its rows compiled for checking.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The fields that have allowed values, by dotted path; `model` is not among them (decision 31).
    pub fn attributes(&self) -> Vec<Entry> {
        let mut found = Vec::new();
        walk(&self.tree, "", &mut |path, kind| {
            if is_listed(kind) {
                found.push(Entry { id: path.to_owned(), name: humanised(path) });
            }
        });
        found
    }

    /// The allowed values of an attribute; `None` when there is no such attribute.
    pub fn values(&self, catalogue: &Catalogue, attribute: &str) -> Option<Vec<Entry>> {
        let mut found = None;
        walk(&self.tree, "", &mut |path, kind| {
            if path == attribute && is_listed(kind) {
                found = Some(allowed(kind, catalogue));
            }
        });
        found
    }
}

fn is_listed(kind: &Kind) -> bool {
    match kind {
        Kind::Choice { .. } | Kind::Slug { .. } => true,
        Kind::List { item, .. } => is_listed(item),
        _ => false,
    }
}

fn allowed(kind: &Kind, catalogue: &Catalogue) -> Vec<Entry> {
    match kind {
        Kind::Choice { values, .. } => {
            values.iter().map(|(id, name)| Entry { id: (*id).to_owned(), name: (*name).to_owned() }).collect()
        }
        Kind::Slug { list } => catalogue.list(list).entries().to_vec(),
        Kind::List { item, .. } => allowed(item, catalogue),
        _ => Vec::new(),
    }
}

fn walk(tree: &Tree, below: &str, visit: &mut impl FnMut(&str, &Kind)) {
    for (name, node) in tree.iter() {
        let path = if below.is_empty() { name.to_owned() } else { format!("{below}.{name}") };
        match node {
            Node::Branch(branch) => walk(branch, &path, visit),
            Node::Leaf(field, inside) => {
                visit(&path, &field.kind);
                if let Some(inside) = inside {
                    walk(inside, &path, visit);
                }
            }
        }
    }
}

/// `powertrain.drive_type` as people read it: `Drive type`.
fn humanised(path: &str) -> String {
    let words = path.rsplit('.').next().unwrap_or(path).replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Compiles the tables of a category, for its static.
const fn tree_of(compile: fn() -> Tree) -> LazyLock<Tree> {
    LazyLock::new(compile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_types_are_unique_and_no_path_stands_in_a_table_twice() {
        for category in all() {
            assert_eq!(all().filter(|other| other.id == category.id).count(), 1);
            assert_eq!(all().filter(|other| other.vehicle_type == category.vehicle_type).count(), 1);
            for field in category.fields() {
                let rows = category.fields().filter(|other| other.path == field.path).count();
                assert_eq!(rows, 1, "{} {}", category.vehicle_type, field.path);
                assert!(!field.doc.is_empty(), "{} {} has no description", category.vehicle_type, field.path);
            }
        }
    }

    #[test]
    fn attributes_are_the_fields_with_allowed_values_dotted_ones_too() {
        let catalogue = Catalogue::embedded();
        let car = by_vehicle_type("car").unwrap();
        let ids: Vec<_> = car.attributes().into_iter().map(|entry| entry.id).collect();
        for id in ["brand", "body_type", "color_group", "powertrain.fuels", "condition.wheels.name"] {
            assert!(ids.iter().any(|known| known == id), "{id}");
            assert!(!car.values(&catalogue, id).unwrap().is_empty(), "{id}");
        }
        assert!(!ids.iter().any(|id| id == "model"));
        assert_eq!(car.values(&catalogue, "model_year"), None);
    }
}
