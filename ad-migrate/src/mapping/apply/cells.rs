//! Cells of spreadsheets that are not what they were when somebody wrote them: a program took a plate for a number, or the value of a
//! formula is not in the file.

use super::RowMapper;
use crate::{
    finding::{Finding, Severity},
    mapping::{
        Bound,
        convert::short,
        plan::PlannedEntry,
        rule::{Rule, SourceId},
    },
    readers::{CellKind, ColumnId, Row},
};

/// Fields that are never numbers, though their texts may look like some.
const NO_NUMBERS: [&str; 2] = ["category_fields.registration_number", "category_fields.vin"];

/// Fields of texts that a spreadsheet takes for dates: the model 9-3, or the stock number 5-12.
const NO_DATES: [&str; 3] = ["source_id", "category_fields.model", "category_fields.model_type"];

const SOURCE_ID: &str = "source_id";

const AS_TEXT: &str = "Correct the cell, and format the column as text before values are entered or imported.";

impl RowMapper<'_> {
    /// Reports a cell of the field's columns that cannot be used; whether there is one.
    pub(super) fn reports_cell(&mut self, made: &PlannedEntry, rule: &Rule) -> bool {
        let (row, bound) = (self.row, self.bound);
        if !row.has_kinds() {
            return false;
        }
        let found = cells(row, bound, rule.sources.iter().copied()).find_map(|(column, kind, text)| {
            let problem = without_value(row.columns().name(column), kind);
            let problem = problem.or_else(|| self.problem(made, rule, column, kind, text))?;
            Some((column, text, problem))
        });
        let is_found = found.is_some();
        self.mapped.findings.extend(found.map(|(column, text, Problem { reason, message, advice })| Finding {
            columns: vec![row.columns().name(column).to_owned()],
            value: (!text.is_empty()).then(|| short(text).into_owned()),
            field: Some(rule.target.to_string()),
            advice: Some(advice.to_owned()),
            ..Finding::new(Severity::Error, reason, message)
        }));
        is_found
    }

    /// Whether the file does not have the value of a formula.
    pub(super) fn is_unknown(&self, source: SourceId) -> bool {
        let mut cells = cells(self.row, self.bound, std::iter::once(source));
        self.row.has_kinds() && cells.any(|(_, kind, _)| kind == CellKind::Formula)
    }

    /// Reports a cell without a value on which it depends which vehicle a row is, or whether it is left out.
    pub(super) fn report_conditions(&mut self) {
        let (row, bound) = (self.row, self.bound);
        let sources = bound.mapping.vehicle.from.iter().copied().chain(bound.mapping.row_rules.columns());
        let found = cells(row, bound, sources).find_map(|(column, kind, _)| {
            let name = row.columns().name(column);
            Some((name, without_value(name, kind)?))
        });
        self.mapped.findings.extend(found.map(|(name, Problem { reason, message, advice })| Finding {
            columns: vec![name.to_owned()],
            advice: Some(advice.to_owned()),
            ..Finding::new(Severity::Error, reason, message)
        }));
    }

    /// Why a cell cannot be an identifier.
    fn problem(
        &self,
        made: &PlannedEntry,
        rule: &Rule,
        column: ColumnId,
        kind: CellKind,
        text: &str,
    ) -> Option<Problem> {
        let name = self.row.columns().name(column);
        if matches!(kind, CellKind::Text | CellKind::Failed) {
            return None;
        }
        let is_of = |fields: &[&str]| fields.contains(&&*rule.target);
        let is_from = rule.from.0.iter().any(|from| self.bound.resolved[from.id].contains(&column));
        let mut scratch = String::new();
        let mut is_mapped = || made.values.iter().any(|map| map.find(text, &mut scratch).is_some());
        if !is_from || !(is_of(&NO_NUMBERS) || is_of(&NO_DATES)) || is_mapped() {
            return None;
        }
        let noun = &made.noun;
        let wrong = |what: &str, example: &str| {
            Some(Problem {
                reason: format!("{noun} is {what} in the spreadsheet"),
                message: format!("The cell in column \"{}\" is {what}: {example}", short(name)),
                advice: AS_TEXT,
            })
        };
        match kind {
            CellKind::Date => wrong("a date", "a program may have taken a text such as 9-3 or 5-12 for one."),
            CellKind::Boolean if is_of(&NO_NUMBERS) => wrong("true or false", "a program took a text for it."),
            CellKind::Number | CellKind::BareNumber | CellKind::LossyNumber if is_of(&NO_NUMBERS) => {
                wrong("a number", "a text such as 1E5 becomes 100000, and 0E123 becomes 0.")
            }
            CellKind::LossyNumber if rule.target.as_ref() == SOURCE_ID => {
                wrong("a number of more digits than are kept", "the last ones are lost.")
            }
            // Where the others are codes, it may have been one with an E.
            CellKind::Number | CellKind::BareNumber
                if rule.target.as_ref() == SOURCE_ID && self.row.columns().has_codes(column) && text.ends_with('0') =>
            {
                wrong("a number among texts", "a text such as 1E5 becomes 100000, and 0E123 becomes 0.")
            }
            _ => None,
        }
    }
}

/// The cells of a row in the columns of these sources: column, kind and text.
fn cells<'r>(
    row: Row<'r>,
    bound: &'r Bound<'_>,
    sources: impl Iterator<Item = SourceId> + 'r,
) -> impl Iterator<Item = (ColumnId, CellKind, &'r str)> + 'r {
    let columns = sources.flat_map(|source| bound.resolved[source].iter().copied());
    columns
        .flat_map(move |column| row.kinds(column).zip(row.values(column)).map(move |(kind, text)| (column, kind, text)))
}

/// The problem that the file does not have the value of a cell, or that it is no number.
fn without_value(column: &str, kind: CellKind) -> Option<Problem> {
    let column = short(column);
    match kind {
        CellKind::Formula => Some(Problem {
            reason: "a formula without a value".to_owned(),
            message: format!("The cell in column \"{column}\" has a formula, but the file does not have its value."),
            advice: "Open and save the file in a spreadsheet program, which computes it.",
        }),
        CellKind::Infinite => Some(Problem {
            reason: "an infinite number".to_owned(),
            message: format!(
                "The cell in column \"{column}\" is an infinite number, as a text such as 12E345 becomes."
            ),
            advice: AS_TEXT,
        }),
        _ => None,
    }
}

/// Why a cell cannot be used.
struct Problem {
    reason: String,
    message: String,
    advice: &'static str,
}
