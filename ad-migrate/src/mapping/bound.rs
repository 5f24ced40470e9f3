//! A mapping on the columns of a file: which columns its names mean there.

use std::cell::{Cell, LazyCell};

use ad_core::violation::nearest;
use rustc_hash::FxHashSet;

use super::{
    Mapped, Mapping,
    apply::RowMapper,
    rule::{ColumnName, MappingColumns, RowRules, Rule, SourceId, When},
};
use crate::readers::{CellKind, ColumnId, Columns, Row};

/// Most missing columns for which a similar one is searched.
const MOST_SEARCHES: u32 = 100;

/// Columns that a message suggests.
const MOST_RENAMED: usize = 3;

/// A mapping on the columns of a file.
#[derive(Debug)]
pub struct Bound<'a> {
    pub(super) mapping: &'a Mapping,
    names: Vec<String>,
    /// The columns of each source.
    pub(super) resolved: Vec<Vec<ColumnId>>,
    /// For each entry of the mapping, and each list of columns by which its values are chosen or ordered: the one beside each of its columns.
    pub(super) partners: Vec<Vec<Vec<Option<ColumnId>>>>,
}

impl<'a> Bound<'a> {
    pub(super) fn new(mapping: &'a Mapping, columns: &Columns) -> Self {
        let resolved: Vec<_> = mapping.sources.0.iter().map(|source| resolve(source, columns)).collect();
        let mut bound =
            Self { mapping, names: columns.names().map(str::to_owned).collect(), resolved, partners: Vec::new() };
        let of_rule = |rule: &Rule| rule.beside().map(|to| bound.partners(&rule.from, to)).collect();
        bound.partners = mapping.rules.iter().map(of_rule).collect();
        bound
    }

    /// The column of a list beside each column of another one: the one at the same place, or with the same text in place of `*`.
    fn partners(&self, from: &MappingColumns, to: &MappingColumns) -> Vec<Option<ColumnId>> {
        let name = |column: ColumnId| self.names.get(column.index()).map_or("", String::as_str);
        let names = &self.mapping.sources.0;
        let mut all = Vec::new();
        for (place, of) in from.ids().enumerate() {
            let Some(to) = to.ids().nth(if to.0.len() == 1 { 0 } else { place }) else { continue };
            for (index, column) in self.resolved[of].iter().enumerate() {
                let found = &self.resolved[to];
                all.push(match (&names[of], &names[to]) {
                    (ColumnName::Name(pattern), ColumnName::Name(other)) if other.contains('*') => {
                        let text = star(pattern, name(*column));
                        found.iter().find(|found| star(other, name(**found)) == text).copied()
                    }
                    (_, ColumnName::Positions(from, to)) if from < to => found.get(index).copied(),
                    _ => found.first().copied(),
                });
            }
        }
        all
    }
}

impl Bound<'_> {
    /// Columns of the mapping that the file lacks, with the nearest that it has. In an XML or JSON file, they may still occur in later
    /// records.
    pub fn missing(&self) -> Vec<String> {
        let Mapping { sources, rules, vehicle, .. } = self.mapping;
        let searches = Cell::new(0);
        // `Pris` may be called `Pris kr` now, unless the mapping uses that for something else.
        let unused = LazyCell::new(|| self.unused());
        let renamed = |name: &str| {
            let similar = unused.iter().map(String::as_str).filter(|other| has_words_of(name, other));
            nearest::did_you_mean_one_of(similar.take(MOST_RENAMED))
        };
        let missing = sources.0.iter().enumerate().filter(|(id, _)| self.resolved[*id].is_empty());
        let message = |(id, name): (usize, &ColumnName)| {
            let rule = rules.iter().find(|rule| !rule.optional && rule.sources.contains(&id));
            let is_vehicle = vehicle.from.contains(&id);
            let of = rule.map(|rule| format!("\"{}\"", rule.target));
            let RowRules { keep, skip, .. } = &self.mapping.row_rules;
            let is_of_rows = keep.0.iter().chain(&skip.0).any(|when| when.columns.ids().any(|column| column == id));
            let of = of.or_else(|| is_vehicle.then(|| "the vehicle type".to_owned()));
            let of = of.or_else(|| is_of_rows.then(|| "[rows]".to_owned()))?;
            Some(match name {
                ColumnName::Name(name) => {
                    let is_searched = searches.replace(searches.get() + 1) < MOST_SEARCHES;
                    let names = || self.names.iter().map(String::as_str);
                    let hint =
                        is_searched.then(|| nearest::did_you_mean(name, names()).or_else(|| renamed(name))).flatten();
                    let hint = hint.map_or_else(String::new, |hint| format!(" {hint}"));
                    format!("There is no column \"{name}\", from which {of} is made.{hint}")
                }
                ColumnName::Positions(from, to) => {
                    let place = if from == to { format!("column {from}") } else { format!("columns {from} to {to}") };
                    format!("The file has no {place}, from which {of} is made; there are {}.", self.names.len())
                }
            })
        };
        missing.filter_map(message).collect()
    }

    /// How many columns of the file the mapping uses.
    pub fn used(&self) -> usize {
        self.resolved.iter().flatten().map(|column| column.index()).collect::<FxHashSet<_>>().len()
    }

    /// Columns of the file that the mapping does not use.
    pub fn unused(&self) -> Vec<String> {
        let used: FxHashSet<usize> = self.resolved.iter().flatten().map(|column| column.index()).collect();
        let used_names =
            || self.names.iter().enumerate().filter(|(index, _)| used.contains(index)).map(|(_, name)| name);
        // An element around others that are used is used with them.
        let is_around = |name: &str| {
            used_names().filter_map(|used| used.strip_prefix(name)).any(|below| below.starts_with(['/', '.']))
        };
        let unused = self.names.iter().enumerate().filter(|(index, name)| !used.contains(index) && !is_around(name));
        unused.map(|(_, name)| name.clone()).collect()
    }

    /// Whether `[rows]` leaves the row out: by its conditions, or because another row about the same vehicle counts.
    pub fn is_skipped(&self, row: Row<'_>) -> bool {
        if row.is_replaced() {
            return true;
        }
        // What cannot be known is reported.
        let is_unknown = |source: SourceId| {
            let mut kinds = self.resolved[source].iter().flat_map(|column| row.kinds(*column));
            kinds.any(|kind| kind == CellKind::Formula)
        };
        if row.has_kinds() && self.mapping.row_rules.columns().any(is_unknown) {
            return false;
        }
        let RowRules { keep, skip, .. } = &self.mapping.row_rules;
        let mut scratch = String::new();
        let mut is = |when: &When, wanted: bool| self.holds(row, when, &mut scratch) == Some(wanted);
        keep.0.iter().any(|when| is(when, false)) || skip.0.iter().any(|when| is(when, true))
    }

    /// The first condition of `[rows]` of which it is not clear whether it holds.
    pub(super) fn unclear(&self, row: Row<'_>) -> Option<&When> {
        let RowRules { keep, skip, .. } = &self.mapping.row_rules;
        let mut scratch = String::new();
        keep.0.iter().chain(&skip.0).find(|when| self.holds(row, when, &mut scratch).is_none())
    }

    /// Whether a condition holds; nothing if values of its columns disagree and the mapping does not say which ones count.
    pub(super) fn holds(&self, row: Row<'_>, when: &When, scratch: &mut String) -> Option<bool> {
        when.holds_for(when.columns.ids().flat_map(|source| self.filled(row, source)), scratch)
    }

    /// The texts of a source that are not empty.
    fn filled<'r>(&self, row: Row<'r>, source: SourceId) -> impl Iterator<Item = &'r str> {
        let all = self.resolved[source].iter().flat_map(move |column| row.values(*column));
        all.map(str::trim).filter(|text| !text.is_empty())
    }

    /// The first text of a source.
    pub(super) fn value_of<'r>(&self, row: Row<'r>, source: SourceId) -> &'r str {
        self.filled(row, source).next().unwrap_or_default()
    }

    /// Makes the payload of a row.
    pub fn apply(&self, row: Row<'_>) -> Mapped {
        RowMapper::new(self, row).run()
    }

    /// The columns from which a field (also `price.0.amount`) is made, to locate an error of the rules: those of the field itself, or of
    /// the nearest one around it; if there is none, those of the fields within it.
    pub fn columns_of(&self, field: &str) -> Vec<String> {
        let mut around = std::iter::successors(Some(field), |path| Some(path.rsplit_once('.')?.0));
        let of = |path: &str| {
            // Which price has which type is not known here.
            let is_of = |target: &str| target == path || (path == "price" && target.starts_with("price."));
            Some(self.columns_where(is_of)).filter(|columns| !columns.is_empty())
        };
        let within =
            || self.columns_where(|target| target.strip_prefix(field).is_some_and(|rest| rest.starts_with('.')));
        around.find_map(of).unwrap_or_else(within)
    }

    fn columns_where(&self, is_of: impl Fn(&str) -> bool) -> Vec<String> {
        let mut names = Vec::new();
        let rules = self.mapping.rules.iter().filter(|rule| is_of(&rule.target));
        for column in rules.flat_map(|rule| &rule.sources).flat_map(|source| &self.resolved[*source]) {
            if let Some(name) = self.names.get(column.index())
                && !names.contains(name)
            {
                names.push(name.clone());
            }
        }
        names
    }
}

/// Whether one of two names has all words of the other.
fn has_words_of(one: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (one, other) = (words(one), words(other));
    let is_within = |few: &[String], many: &[String]| !few.is_empty() && few.iter().all(|word| many.contains(word));
    is_within(&one, &other) || is_within(&other, &one)
}

/// The columns of a file that a source names.
fn resolve(source: &ColumnName, columns: &Columns) -> Vec<ColumnId> {
    let name = match source {
        ColumnName::Name(name) => name,
        ColumnName::Positions(from, to) => {
            return (*from..=*to).map_while(|position| columns.at(position - 1)).collect();
        }
    };
    let indices = |is: &dyn Fn(&str) -> bool| {
        let all = columns.names().enumerate().filter(|(_, known)| is(known));
        all.filter_map(|(index, _)| columns.at(index)).collect::<Vec<_>>()
    };
    if let Some(column) = columns.id(name) {
        return vec![column];
    }
    let wanted = name.to_lowercase();
    let mut found = indices(&|known| known.trim().to_lowercase() == wanted);
    found.truncate(1);
    if found.is_empty() && name.contains('*') { indices(&|known| star(name, known).is_some()) } else { found }
}

/// The text of a name for which a pattern has `*`, in lower case.
fn star(pattern: &str, name: &str) -> Option<String> {
    let (before, after) = pattern.split_once('*')?;
    let name = name.trim().to_lowercase();
    let text = name.strip_prefix(&before.to_lowercase())?.strip_suffix(after.to_lowercase().as_str())?;
    Some(text.to_owned())
}
