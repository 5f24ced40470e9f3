//! The texts from which a field is made: those of its columns, and those that belong to them.

use ad_core::written::number;

use super::RowMapper;
use crate::{
    mapping::{
        convert::BadValue,
        rule::{Column, Rule, SourceId},
    },
    readers::{BesideValues, ColumnId, PlacedText, Unpaired},
};

impl<'a> RowMapper<'a> {
    /// Collects the texts of columns that are not empty.
    pub(super) fn gather(&mut self, from: impl Iterator<Item = SourceId>) {
        self.cells.clear();
        for column in from.flat_map(|source| &self.bound.resolved[source]) {
            let texts = self.row.placed(*column).map(PlacedText::trimmed);
            self.cells.extend(texts.filter(|cell| !cell.text.is_empty()));
        }
    }

    /// The first text of a column.
    pub(super) fn value_of(&self, source: SourceId) -> &'a str {
        self.bound.value_of(self.row, source)
    }

    /// The text of a column beside the one that is converted; the first one, where that is made of several.
    pub(super) fn value_beside(&mut self, column: &Column) -> Result<&'a str, BadValue> {
        let (Some(cell), [beside]) = (self.cell, self.bound.resolved[column.id].as_slice()) else {
            return Ok(self.value_of(column.id));
        };
        if self.row.is_flat() {
            return Ok(self.value_of(column.id));
        }
        let pair = (cell.column, *beside);
        if !self.beside.iter().any(|(known, _)| *known == pair) {
            self.beside.push((pair, self.row.beside(cell.column, *beside, false)));
        }
        let values = self.beside.iter().find(|(known, _)| *known == pair).map(|(_, values)| values);
        let value = values.and_then(|values| values.get(cell.index).copied()).unwrap_or(Ok(""));
        value.map(str::trim).map_err(|unpaired| self.unpaired(*beside, unpaired))
    }

    /// Values of two columns that do not belong together one by one.
    fn unpaired(&self, beside: ColumnId, Unpaired { values, others }: Unpaired) -> BadValue {
        let name = self.row.columns().name(beside);
        BadValue::new(
            "values that cannot be paired",
            format!("There are {values} values and {others} of \"{name}\", so they cannot be paired."),
            "Have every item of the list written with both, or omit the column of the other values.",
        )
    }

    /// Collects the values of an entry by those of columns beside them: chosen, and in order.
    pub(super) fn gather_paired(&mut self, index: usize, rule: &Rule) -> Result<(), (BadValue, String)> {
        let (bound, row) = (self.bound, self.row);
        let mut found: Vec<(PlacedText<'a>, &'a str)> = Vec::new();
        for (place, column) in rule.from.ids().flat_map(|source| &bound.resolved[source]).enumerate() {
            let partners = bound.partners[index].iter().map(|list| list.get(place).copied().flatten());
            let beside: Vec<_> = partners.map(|beside| Some((beside?, row.beside(*column, beside?, true)))).collect();
            for cell in row.placed(*column) {
                let of = |beside: &Option<(ColumnId, BesideValues<'a>)>| match beside {
                    None => Ok(""),
                    Some((beside, values)) => values[cell.index]
                        .map(str::trim)
                        .map_err(|unpaired| (self.unpaired(*beside, unpaired), cell.text.to_owned())),
                };
                let texts: Vec<&str> = beside.iter().map(of).collect::<Result<_, _>>()?;
                let mut wanted = rule.filter.0.iter().zip(&texts);
                if wanted.all(|(when, text)| when.holds(text, &mut self.scratch)) && !cell.text.trim().is_empty() {
                    found.push((cell.trimmed(), texts.last().copied().unwrap_or_default()));
                }
            }
        }
        if rule.sort.is_some() {
            let number = |text: &str| number::read(text, Some('.')).map_or(f64::INFINITY, |it| it.number.float());
            found.sort_by(|(_, one), (_, other)| number(one).total_cmp(&number(other)).then_with(|| one.cmp(other)));
        }
        self.cells.clear();
        self.cells.extend(found.into_iter().map(|(cell, _)| cell));
        Ok(())
    }
}
