//! The allowed values of a category's fields, for the lookups.

use super::{category::Category, rules};
use crate::{
    catalogue::{Catalogue, Entry},
    fields::{Kind, Node, Tree},
};

impl Category {
    /// The fields that have allowed values, by dotted path; `model` is not among them (decision 31).
    pub fn attributes(&self) -> Vec<Entry> {
        let mut found = Vec::new();
        walk(self.tree(), "", &mut |path, kind| {
            if is_listed(kind) {
                found.push(Entry::new(path, self.attribute_name(path)));
            }
        });
        found
    }

    /// The display name of a path: `Drive type` for `powertrain.drive_type`. A member of the objects of an array has the name of
    /// the array too: `Wheels name`.
    fn attribute_name(&self, path: &str) -> String {
        let names = if self.field(path).is_some() { 1 } else { 2 };
        let mut words: Vec<_> = path.rsplitn(names + 1, '.').take(names).collect();
        words.reverse();
        humanised(&words.join(" "))
    }

    /// The allowed values of an attribute; `None` when there is no such attribute.
    pub fn values(&self, catalogue: &Catalogue, attribute: &str) -> Option<Vec<Entry>> {
        let mut found = None;
        walk(self.tree(), "", &mut |path, kind| {
            if path == attribute {
                found = kind.allowed(catalogue);
            }
        });
        if attribute == rules::RATING_VALUE {
            for entry in found.iter_mut().flatten() {
                entry.applies_to = rules::rated_by(&entry.id).map(str::to_owned).collect();
            }
        }
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
        Kind::Choice { values, .. } => values.iter().map(|(id, name)| Entry::new(*id, *name)).collect(),
        Kind::Slug { list } => catalogue.list(list).entries().to_vec(),
        Kind::List { item, .. } => allowed(item, catalogue),
        _ => Vec::new(),
    }
}

impl Kind {
    /// The allowed values of a field of this kind; `None` when it has no list of them.
    pub fn allowed(&self, catalogue: &Catalogue) -> Option<Vec<Entry>> {
        is_listed(self).then(|| allowed(self, catalogue))
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

/// A display name: `Drive type` for `drive_type`.
pub fn humanised(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
