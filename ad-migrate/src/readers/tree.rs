//! Finds the records in a tree of names, for XML and JSON.

use rustc_hash::FxHashMap;

/// Most nodes of a tree.
const MOST: usize = 20_000;

/// The names of a file's beginning.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

pub(super) type NodeId = usize;

#[derive(Debug, Default)]
struct Node {
    name: String,
    children: FxHashMap<String, NodeId>,
    /// Children in the order of their first occurrence.
    order: Vec<NodeId>,
    has_value: bool,
    /// Number of repetitions beside itself.
    again: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordsPlace {
    /// Names from the root to the records.
    pub(super) path: Vec<String>,
    /// Whether the file has several records.
    pub(super) repeats: bool,
    /// Different values of a record.
    pub(super) values: usize,
    /// Other names beside them that repeat and have structure.
    pub(super) beside: Vec<String>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Tree {
    pub(super) const ROOT: NodeId = 0;

    /// The node of a name below another; `None` if there are too many.
    pub(super) fn enter(&mut self, parent: NodeId, name: &str) -> Option<NodeId> {
        if let Some(child) = self.nodes[parent].children.get(name) {
            return Some(*child);
        }
        let id = self.nodes.len();
        if id >= MOST {
            return None;
        }
        self.nodes.push(Node { name: name.to_owned(), ..Node::default() });
        self.nodes[parent].children.insert(name.to_owned(), id);
        self.nodes[parent].order.push(id);
        Some(id)
    }

    /// Notes that a node has a value.
    pub(super) fn value(&mut self, node: NodeId) {
        self.nodes[node].has_value = true;
    }

    /// Notes that a node repeats.
    pub(super) fn add_repetition(&mut self, node: NodeId) {
        self.nodes[node].again += 1;
    }

    /// Different values at a node and below it.
    fn values(&self) -> Vec<usize> {
        let mut values: Vec<_> = self.nodes.iter().map(|node| usize::from(node.has_value)).collect();
        // Whatever is below a node came later.
        for id in (0..self.nodes.len()).rev() {
            values[id] += self.nodes[id].order.iter().map(|child| values[*child]).sum::<usize>();
        }
        values
    }

    /// Descends from the root to the child with most different values, until a node repeats or no child has half of the values.
    pub(super) fn records(&self) -> RecordsPlace {
        let values = self.values();
        let (mut at, mut path) = (Self::ROOT, Vec::new());
        let mut siblings: &[NodeId] = &[];
        while self.nodes[at].again == 0 {
            let next = self.nodes[at].order.iter().copied().max_by_key(|child| (values[*child], usize::MAX - child));
            let Some(next) = next.filter(|next| values[*next] * 2 >= values[at] && !self.nodes[*next].order.is_empty())
            else {
                break;
            };
            siblings = &self.nodes[at].order;
            at = next;
            path.push(self.nodes[at].name.clone());
        }
        let beside = siblings.iter().filter(|it| **it != at && self.nodes[**it].again > 0 && values[**it] > 1);
        RecordsPlace {
            path,
            repeats: self.nodes[at].again > 0,
            values: values[at],
            beside: beside.map(|it| self.nodes[*it].name.clone()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for path in paths {
            let mut at = Tree::ROOT;
            for name in path.split('/') {
                let (name, repeats) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
                at = tree.enter(at, name).unwrap();
                if repeats {
                    tree.add_repetition(at);
                }
            }
            tree.value(at);
        }
        tree
    }

    #[test]
    fn records_are_what_repeats_and_has_most_of_the_values() {
        let place =
            tree(&["lager/@skapad", "lager/fordon*/regnr", "lager/fordon/vin", "lager/fordon/bilder/bild*/@url"])
                .records();
        assert_eq!(place.path, ["lager", "fordon"]);
        assert!(place.repeats);
        assert_eq!(place.values, 3);
    }

    #[test]
    fn one_record_with_several_pictures_is_a_record_and_the_pictures_are_none() {
        let place =
            tree(&["lager/fordon/regnr", "lager/fordon/vin", "lager/fordon/marke", "lager/fordon/bilder/bild*/@url"])
                .records();
        assert_eq!(place.path, ["lager", "fordon"]);
        assert!(!place.repeats);
    }

    #[test]
    fn what_else_repeats_is_told() {
        let paths = ["lager/bil*/regnr", "lager/bil/vin", "lager/bil/pris", "lager/mc*/regnr", "lager/mc/vin"];
        assert_eq!(tree(&paths).records().beside, ["mc"]);
    }
}
