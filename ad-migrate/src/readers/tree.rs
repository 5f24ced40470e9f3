//! Where in a tree of names the records are: what both an XML document and a JSON text are asked when they begin.

use rustc_hash::FxHashMap;

/// Most nodes that are looked at.
const MOST: usize = 20_000;

/// Names below names, as far as a file has been looked at.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// One of its nodes.
pub(super) type NodeId = usize;

#[derive(Debug, Default)]
struct Node {
    name: String,
    children: FxHashMap<String, NodeId>,
    /// In the order in which they came.
    order: Vec<NodeId>,
    has_value: bool,
    /// Times that it stood beside itself.
    again: usize,
}

/// Where the records are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordsPlace {
    /// Names from the root.
    pub(super) path: Vec<String>,
    /// Whether several were seen.
    pub(super) repeats: bool,
    /// Different values below one.
    pub(super) values: usize,
    /// What else repeats beside them and has structure.
    pub(super) beside: Vec<String>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl Tree {
    /// What everything is below.
    pub(super) const ROOT: NodeId = 0;

    /// The node of a name below another, `None` when there are too many.
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

    /// Says that a node has a value of its own.
    pub(super) fn value(&mut self, node: NodeId) {
        self.nodes[node].has_value = true;
    }

    /// Says that a node came again where it had been.
    pub(super) fn again(&mut self, node: NodeId) {
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

    /// Goes down from the root, always to where most of the different values are, to the first that repeats; and not further than
    /// half of them come along.
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
                    tree.again(at);
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
