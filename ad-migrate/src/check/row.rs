//! Maps and validates one row.

use std::collections::BTreeMap;

use ad_core::{
    model::{ApiVersion, Timestamp, plate},
    quality::{self, Measured},
    rulebook::Rulebook,
};
use ad_files::{identities::Occurrence, json::at};
use serde_json::{Map, Value};

use super::{
    Figures, Payloads, RowQuality, Verdict,
    explain::{Explainer, shortened},
    repeated::occurrences,
};
use crate::{
    finding::{Finding, Severity},
    mapping::{Bound, Mapped},
    readers::{CellKind, Row, is_twice_encoded, may_be_damaged},
};

/// Bytes of the longest identifier that is valid: 255 characters.
const LONGEST_IDENTIFIER: usize = 4 * 255;

#[derive(Debug, Clone, Copy)]
pub(super) struct RowChecker<'a> {
    pub(super) rulebook: &'a Rulebook,
    pub(super) payloads: Payloads,
    /// The time by which the quality is measured, and its year.
    pub(super) now: Timestamp,
    pub(super) year: Option<f64>,
}

impl RowChecker<'_> {
    /// The verdict about a row by itself; the identifiers of a valid one go to `see`.
    pub(super) fn check(self, bound: &Bound<'_>, row: Row<'_>, see: impl FnMut(Occurrence)) -> Verdict {
        if bound.is_skipped(row) {
            return Verdict { row: row.number(), line: row.line(), skipped: true, ..Verdict::default() };
        }
        let mapped = bound.apply(row);
        let dealer_code = mapped.payload.get("dealer_code").and_then(Value::as_str).map(str::to_owned);
        let verdict = self.verdict(bound, row, mapped);
        // A row that will not be sent blocks no other as its duplicate.
        if verdict.is_valid() {
            occurrences(&verdict, dealer_code.as_deref()).for_each(see);
        }
        verdict
    }

    fn verdict(self, bound: &Bound<'_>, row: Row<'_>, mapped: Mapped) -> Verdict {
        let Mapped { category, payload, mut findings } = mapped;
        let of_row = row.findings().iter().map(|finding| {
            let column = finding.columns.first().and_then(|name| row.columns().id(name));
            Finding { value: column.and_then(|column| row.value(column)).map(shortened), ..finding.clone() }
        });
        findings.splice(0..0, of_row);
        findings.extend(damaged(row));
        let mut verdict = Verdict {
            row: row.number(),
            line: row.line(),
            vehicle_type: category.and_then(|category| category.vehicle_type),
            findings: Vec::new(),
            ..identified(&payload)
        };
        // A record that could not be read lacks every field; only why it could not is worth saying.
        let is_unreadable = row.findings().iter().any(|finding| finding.severity == Severity::Error);
        if is_unreadable && row.cells().next().is_none() {
            return Verdict { findings, ..verdict };
        }
        let can_go = findings.iter().all(|finding| finding.severity == Severity::Warning);
        let wanted = can_go && self.payloads.wants(row.number());
        if wanted && self.payloads.with_sources() {
            verdict.source = Some(source(row));
            made_of(bound, "", &payload, &mut verdict.made_of);
        }
        let says_new = at(&payload, "category_fields.condition.is_new_vehicle").is_some_and(|is| !is.is_null());
        // Validation consumes the payload, and findings need it.
        let kept = (wanted || !findings.is_empty()).then(|| payload.clone());
        let checked = self.rulebook.create_unsent(ApiVersion::V4, category, payload);
        if let (Some(category), Ok(checked), true) = (category, &checked, can_go) {
            let measured = Measured::new(category, checked.content.fields(), self.now);
            let measured = if says_new { measured } else { measured.with_derived_newness() };
            let (quality, doubts) = rated(&measured);
            verdict.quality = Some(quality);
            let bare_id = bare_id(bound, row);
            verdict.figures = Some(Figures { bare_id, ..Figures::of(checked.content.fields(), self.year) });
            findings.extend(doubts.into_iter().map(|doubt| doubtful(bound, row, doubt)));
        }
        if findings.is_empty() && checked.as_ref().is_ok_and(|checked| checked.warnings.is_empty()) {
            return Verdict { payload: kept, ..verdict };
        }
        let again;
        let payload = match (&kept, &checked) {
            (Some(kept), _) => kept,
            (None, Ok(checked)) => checked.content.fields(),
            // Rows with no other errors than the rules' are few: map them again.
            (None, Err(_)) => {
                again = bound.apply(row).payload;
                &again
            }
        };
        let explainer = Explainer { bound, row, category, payload, mapped: &findings };
        let more = match &checked {
            Ok(checked) => explainer.warnings(&checked.warnings),
            Err(rejected) => explainer.rejected(rejected),
        };
        verdict.images = images(payload).map(str::to_owned).collect();
        findings.extend(more);
        // Errors come before warnings.
        findings.sort_by_key(|finding| finding.severity);
        verdict.findings = findings;
        verdict.payload = if self.payloads.with_invalid() {
            Some(payload.clone())
        } else {
            kept.filter(|_| wanted && checked.is_ok())
        };
        verdict
    }
}

/// The quality of a valid row, and the findings about values that are probably wrong.
fn rated(measured: &Measured<'_>) -> (RowQuality, Vec<quality::Finding>) {
    let all = measured.findings();
    let mut findings: Vec<_> = all.iter().map(|finding| finding.code).collect();
    findings.dedup();
    let doubts = all.into_iter().filter(|finding| finding.severity == quality::Severity::Warning);
    (RowQuality { score: measured.score(), findings }, doubts.collect())
}

/// The length of the source id, if it is a number that may have lost zeros.
fn bare_id(bound: &Bound<'_>, row: Row<'_>) -> Option<usize> {
    if !row.has_kinds() {
        return None;
    }
    let columns = bound.columns_of("source_id");
    let column = columns.first().and_then(|name| row.columns().id(name))?;
    (row.kinds(column).next() == Some(CellKind::BareNumber)).then(|| row.value(column).map(str::len))?
}

/// A value that is possible, and unlikely.
fn doubtful(bound: &Bound<'_>, row: Row<'_>, doubt: quality::Finding) -> Finding {
    let about = doubt.code.about();
    let columns = bound.columns_of(&doubt.field);
    let value = columns.iter().filter_map(|name| row.value(row.columns().id(name)?)).find(|text| !text.is_empty());
    Finding {
        value: value.map(shortened),
        columns,
        field: Some(doubt.field),
        advice: Some(about.cure.to_owned()),
        ..Finding::new(Severity::Warning, lower(about.title), doubt.text)
    }
}

/// A title within a sentence; abbreviations stay as they are.
fn lower(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => title.to_owned(),
    }
}

/// The first value that no text of an ad can be: one with NUL, or one that was encoded twice. The file is damaged, or read wrongly.
fn damaged(row: Row<'_>) -> Option<Finding> {
    if !may_be_damaged(row.text()) {
        return None;
    }
    row.cells().find_map(|(column, text)| {
        let (reason, message, advice) = if memchr::memchr(0, text.as_bytes()).is_some() {
            (
                "a value contains NUL",
                "A value contains the character NUL.",
                "The file is damaged, or in another encoding such as UTF-16: export it again, or set encoding.",
            )
        } else if is_twice_encoded(text) {
            (
                "text encoded twice",
                "The letters of a text were encoded twice.",
                "Correct the export. If the whole file is like this, set encoding = \"utf-8-twice\".",
            )
        } else {
            return None;
        };
        Some(Finding {
            columns: vec![row.columns().name(column).to_owned()],
            value: Some(shortened(&text.replace('\0', "␀"))),
            advice: Some(advice.to_owned()),
            ..Finding::new(Severity::Error, reason, message)
        })
    })
}

/// The columns from which each field of a payload is made, by its path.
fn made_of(bound: &Bound<'_>, above: &str, members: &Map<String, Value>, into: &mut BTreeMap<String, Vec<String>>) {
    for (name, value) in members {
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        match value {
            Value::Object(members) if !members.contains_key("unit") => made_of(bound, &path, members, into),
            _ => {
                let columns = bound.columns_of(&path);
                into.insert(path, columns);
            }
        }
    }
}

/// The values of a row by column.
fn source(row: Row<'_>) -> Map<String, Value> {
    let mut source = Map::new();
    for (column, text) in row.cells().filter(|(_, text)| !text.trim().is_empty()) {
        let text = Value::from(text);
        match source.get_mut(row.columns().name(column)) {
            None => {
                source.insert(row.columns().name(column).to_owned(), text);
            }
            Some(Value::Array(texts)) => texts.push(text),
            Some(first) => *first = Value::Array(vec![first.take(), text]),
        }
    }
    source
}

/// An identifier in reports. One that is longer than any may be makes its row invalid, and is shortened.
fn within(identifier: String) -> String {
    if identifier.len() > LONGEST_IDENTIFIER { shortened(&identifier) } else { identifier }
}

/// A verdict with the identifiers of a row.
fn identified(payload: &Map<String, Value>) -> Verdict {
    let fields = payload.get("category_fields").and_then(Value::as_object);
    let text = |name: &str| fields?.get(name)?.as_str().filter(|text| !text.is_empty());
    let source_id = payload.get("source_id").and_then(Value::as_str).filter(|text| !text.is_empty());
    let plate = text("registration_number").map(plate);
    let vin = text("vin").map(str::to_uppercase);
    let image_count = payload.get("image_urls").and_then(Value::as_array).map_or(0, Vec::len);
    let source_id = source_id.map(|id| within(id.to_owned()));
    Verdict { source_id, plate: plate.map(within), vin: vin.map(within), image_count, ..Verdict::default() }
}

fn images(payload: &Map<String, Value>) -> impl Iterator<Item = &str> {
    payload.get("image_urls").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
