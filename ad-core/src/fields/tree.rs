//! A table compiled for checking: dotted paths become a tree that is walked once along with the payload.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::field::{Field, Kind};
use crate::model::split_path;

/// A table, compiled for one pass over an object.
#[derive(Debug, Default)]
pub struct Tree {
    /// Members of the object, sorted by name.
    nodes: Vec<(&'static str, Node)>,
    /// Their positions, for looking them up by name.
    places: FxHashMap<&'static str, usize>,
    /// Fields that are required or have a default, by name.
    expected: Vec<(&'static str, &'static Field)>,
}

/// A node of a [`Tree`].
#[derive(Debug)]
pub enum Node {
    /// An object of further names.
    Branch(Tree),
    /// A field, with a table of its own if it is an object or an array of objects.
    Leaf(&'static Field, Option<Tree>),
}

impl Tree {
    /// Compiles rows. A later row replaces an earlier one of the same path.
    pub fn new(rows: impl IntoIterator<Item = &'static Field>) -> Self {
        let mut members: BTreeMap<&'static str, Vec<(&'static str, &'static Field)>> = BTreeMap::new();
        let rows: BTreeMap<&'static str, &'static Field> = rows.into_iter().map(|row| (row.path, row)).collect();
        Self::level(rows.into_iter().collect(), &mut members)
    }

    fn level(
        rows: Vec<(&'static str, &'static Field)>,
        members: &mut BTreeMap<&'static str, Vec<(&'static str, &'static Field)>>,
    ) -> Self {
        members.clear();
        for (path, field) in rows {
            let (name, rest) = path.split_once('.').unwrap_or((path, ""));
            members.entry(name).or_default().push((rest, field));
        }
        let nodes: Vec<_> = std::mem::take(members)
            .into_iter()
            .map(|(name, below)| match below.as_slice() {
                [("", field)] => (name, Node::Leaf(field, Self::inside(&field.kind))),
                _ => (name, Node::Branch(Self::level(below, members))),
            })
            .collect();
        let places = nodes.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
        let expected = nodes.iter().filter_map(|(name, node)| match node {
            Node::Leaf(field, _) if field.is_expected() => Some((*name, *field)),
            _ => None,
        });
        let expected = expected.collect();
        Self { nodes, places, expected }
    }

    fn inside(kind: &Kind) -> Option<Self> {
        match kind {
            Kind::Objects { fields, .. } | Kind::Object { fields } => Some(Self::new(*fields)),
            _ => None,
        }
    }

    /// The node of a name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.places.get(name).map(|place| &self.nodes[*place].1)
    }

    /// The node of a name. It is expected at position `near`, which is then set to the next position: members of an object are
    /// sorted by name, like the nodes.
    pub(super) fn get_near(&self, near: &mut usize, name: &str) -> Option<&Node> {
        let place = match self.nodes.get(*near) {
            Some((next, _)) if *next == name => *near,
            _ => *self.places.get(name)?,
        };
        *near = place + 1;
        Some(&self.nodes[place].1)
    }

    /// The row of a dotted path.
    pub fn field(&self, path: &str) -> Option<&'static Field> {
        let (name, below) = split_path(path);
        match (self.get(name)?, below) {
            (Node::Leaf(field, _), None) => Some(field),
            (Node::Branch(branch), Some(below)) => branch.field(below),
            _ => None,
        }
    }

    /// The fields that are required or have a default.
    pub fn expected(&self) -> impl ExactSizeIterator<Item = (&'static str, &'static Field)> {
        self.expected.iter().copied()
    }

    /// All names with their nodes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Node)> {
        self.nodes.iter().map(|(name, node)| (*name, node))
    }
}
