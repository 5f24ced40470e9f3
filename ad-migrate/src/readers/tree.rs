//! Finds the records in a tree of names, for XML and JSON.

use rustc_hash::{FxHashMap, FxHashSet};

/// Most nodes of a tree.
const MOST: usize = 20_000;

/// Fewest values of each of several objects of the same names that are records, and not the parts of one.
const FEWEST: usize = 4;

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

    /// Descends from the root to the child with most different values, until a node repeats or no child has half of the values. With
    /// `any`, the children of a node may be records, too, under names that are ids; that is the name in the path that means all of them.
    pub(super) fn records(&self, any: Option<&str>) -> RecordsPlace {
        let values = self.values();
        let of = |nodes: &[NodeId]| nodes.iter().map(|node| values[*node]).sum::<usize>();
        let (mut at, mut path) = (vec![Self::ROOT], Vec::new());
        let mut siblings: Vec<(&str, Vec<NodeId>)> = Vec::new();
        let mut is_keyed = false;
        while at.iter().all(|node| self.nodes[*node].again == 0) {
            let children = self.children(&at);
            if let Some(any) = any
                && self.are_records(&children, &values)
            {
                path.push(any.to_owned());
                at = children.into_iter().flat_map(|(_, nodes)| nodes).filter(|node| self.is_object(*node)).collect();
                is_keyed = true;
                siblings = Vec::new();
                continue;
            }
            let next = children.iter().enumerate().max_by_key(|(place, (_, nodes))| (of(nodes), usize::MAX - place));
            let Some((_, (name, nodes))) = next.filter(|(_, (_, nodes))| {
                of(nodes) * 2 >= of(&at)
                    && nodes.iter().any(|node| self.is_object(*node))
                    && !(is_keyed && self.is_record(&at))
            }) else {
                break;
            };
            path.push((*name).to_owned());
            at.clone_from(nodes);
            is_keyed = false;
            siblings = children;
        }
        let repeats = |nodes: &[NodeId]| nodes.iter().any(|node| self.nodes[*node].again > 0);
        let beside = siblings.iter().filter(|(_, nodes)| *nodes != at && repeats(nodes) && of(nodes) > 1);
        RecordsPlace {
            path,
            repeats: is_keyed || repeats(&at),
            values: of(&at),
            beside: beside.map(|(name, _)| (*name).to_owned()).collect(),
        }
    }

    /// The children of several nodes by name, in the order of their first occurrence.
    fn children(&self, of: &[NodeId]) -> Vec<(&str, Vec<NodeId>)> {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut children: Vec<(&str, Vec<NodeId>)> = Vec::new();
        for child in of.iter().flat_map(|node| &self.nodes[*node].order) {
            let name = self.nodes[*child].name.as_str();
            let place = *places.entry(name).or_insert_with(|| {
                children.push((name, Vec::new()));
                children.len() - 1
            });
            children[place].1.push(*child);
        }
        children
    }

    fn is_object(&self, node: NodeId) -> bool {
        !self.nodes[node].order.is_empty()
    }

    /// Whether nodes have values of their own, as records have.
    fn is_record(&self, nodes: &[NodeId]) -> bool {
        nodes.iter().flat_map(|node| &self.nodes[*node].order).any(|child| self.nodes[*child].has_value)
    }

    /// Whether children are records under changing names: nearly all are objects with much the same names in them, and either these are many
    /// or their own names have digits, as ids, plates and VINs do.
    fn are_records(&self, children: &[(&str, Vec<NodeId>)], values: &[usize]) -> bool {
        let is_id = |name: &str| name.contains(|letter: char| letter.is_ascii_digit());
        let objects: Vec<NodeId> =
            children.iter().flat_map(|(_, nodes)| nodes).copied().filter(|node| self.is_object(*node)).collect();
        let are_ids = children.iter().filter(|(name, _)| is_id(name)).count() * 10 >= children.len() * 8;
        if objects.is_empty() || objects.len() * 4 < children.len() * 3 || (children.len() < 2 && !are_ids) {
            return false;
        }
        // Names that are ids are the same name.
        let names = |object: &NodeId| -> FxHashSet<&str> {
            let names = self.nodes[*object].order.iter().map(|child| self.nodes[*child].name.as_str());
            names.map(|name| if is_id(name) { "" } else { name }).collect()
        };
        let union: FxHashSet<&str> = objects.iter().flat_map(names).collect();
        let common = objects.iter().map(|object| names(object).len()).sum::<usize>() * 2 >= union.len() * objects.len();
        let many = objects.iter().all(|node| values[*node] >= FEWEST);
        common && (many || (are_ids && union.len() > 1))
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
                .records(None);
        assert_eq!(place.path, ["lager", "fordon"]);
        assert!(place.repeats);
        assert_eq!(place.values, 3);
    }

    #[test]
    fn one_record_with_several_pictures_is_a_record_and_the_pictures_are_none() {
        let place =
            tree(&["lager/fordon/regnr", "lager/fordon/vin", "lager/fordon/marke", "lager/fordon/bilder/bild*/@url"])
                .records(None);
        assert_eq!(place.path, ["lager", "fordon"]);
        assert!(!place.repeats);
    }

    #[test]
    fn records_may_stand_under_names_that_are_ids() {
        let of = |paths: &[&str]| tree(paths).records(Some("*"));
        let keyed = ["a1/plate", "a1/price", "a2/plate", "a2/price", "a3/plate"];
        assert_eq!((of(&keyed).path, of(&keyed).repeats), (vec!["*".to_owned()], true));
        let below: Vec<String> = keyed.iter().map(|path| format!("data/vehicles/{path}")).collect();
        let below: Vec<&str> = below.iter().map(String::as_str).chain(["data/count"]).collect();
        assert_eq!(of(&below).path, ["data", "vehicles", "*"]);
        let of_dealer =
            |dealer: &&str| ["1", "2"].map(|id| [format!("{dealer}/{id}/plate"), format!("{dealer}/{id}/price")]);
        let two: Vec<String> = ["north", "south"].iter().flat_map(of_dealer).flatten().collect();
        let two: Vec<&str> = two.iter().map(String::as_str).collect();
        assert_eq!(of(&two).path, ["*", "*"]);
        // The parts of one record are no records.
        let one = ["power/value", "power/unit", "mileage/value", "mileage/unit", "plate"];
        assert_eq!((of(&one).path, of(&one).repeats), (Vec::new(), false));
    }

    #[test]
    fn what_else_repeats_is_told() {
        let paths = ["lager/bil*/regnr", "lager/bil/vin", "lager/bil/pris", "lager/mc*/regnr", "lager/mc/vin"];
        assert_eq!(tree(&paths).records(None).beside, ["mc"]);
    }
}
