//! A table compiled for checking: dotted paths become a tree that is walked once along with the payload.

use std::collections::BTreeMap;

use super::{Field, Kind};

/// A compiled table.
#[derive(Debug, Default)]
pub struct Tree {
    /// Members by name, sorted.
    nodes: Vec<(&'static str, Node)>,
}

/// What stands at one name of a [`Tree`].
#[derive(Debug)]
pub enum Node {
    /// An object of further names.
    Branch(Tree),
    /// A field; with its own table where it is an object or an array of objects.
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
        let nodes = std::mem::take(members)
            .into_iter()
            .map(|(name, below)| match below.as_slice() {
                [("", field)] => (name, Node::Leaf(field, Self::inside(&field.kind))),
                _ => (name, Node::Branch(Self::level(below, members))),
            })
            .collect();
        Self { nodes }
    }

    fn inside(kind: &Kind) -> Option<Self> {
        match kind {
            Kind::Objects { fields, .. } | Kind::Object { fields } => Some(Self::new(*fields)),
            _ => None,
        }
    }

    /// The node at one name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.nodes.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|index| &self.nodes[index].1)
    }

    /// All names with their nodes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Node)> {
        self.nodes.iter().map(|(name, node)| (*name, node))
    }
}
