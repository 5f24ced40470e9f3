//! One row: mapped, held against the rules, and what is to be said of it.

use ad_cli::bulk::identities::Occurrence;
use ad_core::{
    model::{ApiVersion, plate},
    rulebook::Rulebook,
};
use serde_json::{Map, Value};

use super::{
    Payloads, Verdict,
    explain::{Explainer, shortened},
    repeated::occurrences,
};
use crate::{
    finding::{Finding, Severity},
    mapping::{Bound, Mapped},
    readers::{Row, Trouble},
};

/// Checks rows one by one.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowChecker<'a> {
    pub(super) rulebook: &'a Rulebook,
    pub(super) payloads: Payloads,
}

impl RowChecker<'_> {
    /// What is to be said of a row by itself; what identifies it goes to `see`.
    pub(super) fn check(self, bound: &Bound<'_>, row: Row<'_>, see: impl FnMut(Occurrence)) -> Verdict {
        let Mapped { category, payload, mut findings } = bound.apply(row);
        let troubles = row.troubles().iter().map(|trouble| of_trouble(row, trouble));
        findings.splice(0..0, troubles);
        let mut verdict = Verdict {
            row: row.number(),
            line: row.line(),
            vehicle_type: category.and_then(|category| category.vehicle_type),
            findings: Vec::new(),
            ..identified(&payload)
        };
        let dealer_code = payload.get("dealer_code").and_then(Value::as_str).map(str::to_owned);
        occurrences(&verdict, dealer_code.as_deref()).for_each(see);
        let can_go = findings.iter().all(|finding| finding.severity == Severity::Warning);
        let wanted = can_go && self.payloads.wants(row.number());
        // Checking uses the payload up, and what is to be said of a row needs it.
        let kept = (wanted || !findings.is_empty()).then(|| payload.clone());
        let checked = self.rulebook.create_unsent(ApiVersion::V4, category, payload);
        if findings.is_empty() && checked.as_ref().is_ok_and(|checked| checked.warnings.is_empty()) {
            return Verdict { payload: kept, ..verdict };
        }
        let again;
        let payload = match (&kept, &checked) {
            (Some(kept), _) => kept,
            (None, Ok(checked)) => checked.content.fields(),
            // Rows that nothing but the rules refuses are few: their payload is made again.
            (None, Err(_)) => {
                again = bound.apply(row).payload;
                &again
            }
        };
        let explainer = Explainer { bound, row, category, payload, told: &findings };
        let more = match &checked {
            Ok(checked) => explainer.warnings(&checked.warnings),
            Err(refused) => explainer.refused(refused),
        };
        verdict.images = images(payload).map(str::to_owned).collect();
        findings.extend(more);
        // Errors come before what is only odd.
        findings.sort_by_key(|finding| finding.severity);
        verdict.findings = findings;
        verdict.payload = kept.filter(|_| wanted && checked.is_ok());
        verdict
    }
}

/// A row of which nothing is known but what identifies it.
fn identified(payload: &Map<String, Value>) -> Verdict {
    let fields = payload.get("category_fields").and_then(Value::as_object);
    let text = |name: &str| fields?.get(name)?.as_str().filter(|text| !text.is_empty());
    let source_id = payload.get("source_id").and_then(Value::as_str).filter(|text| !text.is_empty());
    let plate = text("registration_number").map(plate);
    let vin = text("vin").map(str::to_uppercase);
    let image_count = payload.get("image_urls").and_then(Value::as_array).map_or(0, Vec::len);
    Verdict { source_id: source_id.map(str::to_owned), plate, vin, image_count, ..Verdict::default() }
}

fn images(payload: &Map<String, Value>) -> impl Iterator<Item = &str> {
    payload.get("image_urls").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// What is wrong with a row as such.
fn of_trouble(row: Row<'_>, trouble: &Trouble) -> Finding {
    Finding {
        severity: Severity::Error,
        reason: trouble.reason.to_owned(),
        columns: trouble.column.map(|column| row.columns().name(column).to_owned()).into_iter().collect(),
        value: trouble.column.and_then(|column| row.value(column)).map(shortened),
        field: None,
        message: trouble.message.clone(),
        advice: trouble.advice.clone(),
    }
}
