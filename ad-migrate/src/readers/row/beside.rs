//! Values that belong together: in the same element or object of a record, or at the same place of two lists.

use rustc_hash::FxHashMap;

use super::{ColumnId, NodeId, Row};

/// Values of two columns that cannot be paired: how many there are of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unpaired {
    pub(crate) values: usize,
    pub(crate) others: usize,
}

/// The value of another column that belongs to each value of a column.
pub(crate) type BesideValues<'a> = Vec<Result<&'a str, Unpaired>>;

impl<'a> Row<'a> {
    /// The value of a column that belongs to each value of another one: in the same element or object, or at the same place of two lists. Empty
    /// if there is none; an error if it cannot be told which ones belong together. `of_each`: a single value is not for a whole list beside it.
    pub(crate) fn beside(self, column: ColumnId, beside: ColumnId, of_each: bool) -> BesideValues<'a> {
        let names = self.columns();
        let path = common_path(names.name(column), names.name(beside));
        let mut groups: FxHashMap<NodeId, Beside<'a>> = FxHashMap::default();
        for it in self.placed(beside) {
            groups.entry(self.batch.around(it.node, path)).or_default().others.push(it.text);
        }
        let around: Vec<NodeId> = self.placed(column).map(|it| self.batch.around(it.node, path)).collect();
        for group in groups.values_mut() {
            group.are_same = group.others.windows(2).all(|pair| pair[0] == pair[1]);
        }
        for node in &around {
            groups.entry(*node).or_default().count += 1;
        }
        let of = |node: &NodeId| {
            let Some(group) = groups.get_mut(node) else { return Ok("") };
            let place = group.taken;
            group.taken += 1;
            match group.others.as_slice() {
                [] => Ok(""),
                [one] if !of_each || *node != 0 || group.count == 1 => Ok(*one),
                others if others.len() == group.count => Ok(others[place]),
                [first, _, ..] if group.are_same => Ok(*first),
                others => Err(Unpaired { values: group.count, others: others.len() }),
            }
        };
        around.iter().map(of).collect()
    }
}

/// The values of two columns in the same element or object.
#[derive(Debug, Default)]
struct Beside<'a> {
    /// Number of values of the one.
    count: usize,
    /// How many of these have their value.
    taken: usize,
    /// The values of the other.
    others: Vec<&'a str>,
    are_same: bool,
}

/// The length of the path of the elements or objects that two paths have in common.
fn common_path(one: &str, other: &str) -> usize {
    let is_end = |text: &str, at: usize| text.as_bytes().get(at).is_none_or(|byte| matches!(byte, b'/' | b'.'));
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    (0..=same).rev().find(|at| is_end(one, *at) && is_end(other, *at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_whole_names_in_common() {
        for (one, other, common) in [
            ("options.key", "options.value", "options"),
            ("options/option/@key", "options/option", "options/option"),
            ("price", "priceCurrency", ""),
            ("a.b", "c.b", ""),
        ] {
            assert_eq!(&one[..common_path(one, other)], common, "{one} {other}");
        }
    }
}
