//! What is reported about a field of a row.

use super::{RowMapper, unclear};
use crate::{
    finding::{Finding, Severity},
    mapping::{
        convert::{BadValue, Cure, short},
        plan::PlannedEntry,
        rule::{Rule, When},
        values,
    },
    readers::{ColumnId, PlacedText},
};

impl RowMapper<'_> {
    /// Reports several different values for a field that takes one.
    pub(super) fn warn_of_others(
        &mut self,
        made: &PlannedEntry,
        PlacedText { column, text: first, .. }: PlacedText<'_>,
        cells: &[PlacedText<'_>],
    ) {
        let others = cells.iter().filter(|cell| cell.column == column && cell.text != first).count();
        if others > 0 {
            let message = format!("The column has {} values; the first is used.", others + 1);
            self.mapped.findings.push(Finding {
                columns: vec![self.row.columns().name(column).to_owned()],
                value: Some(short(first).into_owned()),
                field: Some(self.bound.mapping.rules[made.rule].target.to_string()),
                advice: Some("If this is intended, set first = true in the mapping, or join = \", \".".to_owned()),
                ..Finding::new(Severity::Warning, format!("several values for {}", made.noun), message)
            });
        }
    }

    pub(super) fn warn(&mut self, rule: &Rule, reason: String, message: String) {
        let finding = Finding::new(Severity::Warning, reason, message);
        let (columns, field) = (self.columns_with_values(rule), Some(rule.target.to_string()));
        self.mapped.findings.push(Finding { columns, field, ..finding });
    }

    /// Reports why a field could not be made.
    pub(super) fn report_bad(&mut self, rule: &Rule, bad: BadValue, text: &str) {
        let text_shown = short(text).into_owned();
        let contested = || {
            let path = rule.target.strip_prefix("category_fields.")?;
            values::of_field(path)?.languages_of(text).next().map(|code| {
                format!("It depends on the language what it means: set language = \"{code}\", for example, at the top of the mapping.")
            })
        };
        let language = (bad.cure == Cure::ValueMap).then(contested).flatten();
        // The column that contains the text; all with values, if it was made of several.
        let cell = self.cells.iter().find(|cell| cell.text.contains(text));
        let columns = match cell {
            Some(cell) => vec![self.row.columns().name(cell.column).to_owned()],
            None => self.columns_with_values(rule),
        };
        let entry = columns.first().filter(|_| bad.cure == Cure::ValueMap).map(|column| {
            format!(
                "To map it, add it to the values of {} in the mapping: {{ from = \"{column}\", values = {{ \"{text_shown}\" = \"…\" }} }}.",
                rule.target
            )
        });
        let advice: Vec<String> = bad.advice.into_iter().chain(language).chain(entry).collect();
        self.mapped.findings.push(Finding {
            columns,
            value: Some(text_shown).filter(|text| !text.is_empty()),
            field: Some(rule.target.to_string()),
            advice: (!advice.is_empty()).then(|| advice.join(" ")),
            ..Finding::new(Severity::Error, bad.reason, bad.message)
        });
    }

    /// Reports a condition of `[rows]` on values that disagree.
    pub(super) fn report_unclear(&mut self, when: &When) {
        let bad = unclear();
        let columns = when.columns.ids().flat_map(|source| &self.bound.resolved[source]);
        self.mapped.findings.push(Finding {
            columns: columns.map(|column| self.row.columns().name(*column).to_owned()).collect(),
            advice: bad.advice,
            ..Finding::new(Severity::Error, bad.reason, bad.message)
        });
    }

    pub(super) fn columns_with_values(&self, rule: &Rule) -> Vec<String> {
        let mut columns: Vec<String> = Vec::new();
        let filled = |column: &ColumnId| self.row.values(*column).any(|text| !text.trim().is_empty());
        for column in rule.sources.iter().flat_map(|source| &self.bound.resolved[*source]).filter(|it| filled(it)) {
            let name = self.row.columns().name(*column);
            if !columns.iter().any(|known| known == name) {
                columns.push(name.to_owned());
            }
        }
        columns
    }
}
