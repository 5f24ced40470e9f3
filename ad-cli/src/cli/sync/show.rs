//! Shows plans and their outcomes, for people and for programs.

use std::collections::HashMap;

use ad_core::stock::ChangeKind;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    apply::AppliedStep,
    plan::{Plan, Step},
    stock::{SkipReason, SkippedAd},
};
use crate::{
    bulk::{
        AdOutcome, Identity,
        check::Finding,
        desired::{Change, difference},
    },
    terminal::{Column, Failure, Findings, Output, Styled, Tone, ad_table, tally},
};

/// The mark of each kind of step, its title, what is to be done, and what was done.
const ACTS: [(ChangeKind, Tone, &str, &str, &str, &str); 4] = [
    (ChangeKind::Update, Tone::Warning, "~", "To update", "to update", "updated"),
    (ChangeKind::Revive, Tone::Warning, "~", "To revive", "to revive", "revived"),
    (ChangeKind::Create, Tone::Good, "+", "To create", "to create", "created"),
    (ChangeKind::Delete, Tone::Bad, "-", "To delete", "to delete", "deleted"),
];

/// The columns of the ads of a plan, for programs.
#[rustfmt::skip]
const PLAN_COLUMNS: &[Column] = &Column::at_paths([
    "act", "source_id", "dealer_code", "vehicle_type", "title", "line", "changes", "message",
]);

/// What is shown of each ad that was created, updated or deleted.
const APPLIED_COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("ACT", "act"),
    Column::new("OUTCOME", "outcome").shown(ad_table::outcome),
    Column::new("MESSAGE", "message"),
];

#[rustfmt::skip]
const APPLIED_FOR_PROGRAMS: &[Column] = &Column::at_paths([
    "act", "source_id", "dealer_code", "line", "outcome", "message", "request_id",
]);

/// Checks the selected fields of the ads of a plan before it is made.
pub(super) fn check_plan_fields(out: Output) -> Result<(), Failure> {
    Ok(out.check_fields(PLAN_COLUMNS, &["findings"])?)
}

/// Checks the selected fields of the outcomes before anything is sent.
pub(super) fn check_applied_fields(out: Output) -> Result<(), Failure> {
    Ok(out.check_fields(APPLIED_FOR_PROGRAMS, &[])?)
}

/// An ad of a plan. Programs read its members, so their names are stable.
#[derive(Debug, Default, Serialize)]
struct PlanRow<'a> {
    /// `left` for an ad that was left as it is, among those that were acted upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    /// `update`, `revive`, `create`, `delete`, `unchanged` or `left`.
    act: Value,
    source_id: Option<&'a str>,
    dealer_code: Option<&'a str>,
    vehicle_type: Option<&'a str>,
    title: Option<&'a str>,
    line: Option<u64>,
    changes: &'a [Change],
    message: Option<String>,
    findings: &'a [Finding],
}

impl<'a> PlanRow<'a> {
    fn of(act: Value, ad: &'a Identity) -> Self {
        let (source_id, dealer_code) = (Some(&*ad.source_id), ad.dealer_code.as_deref());
        Self { act, source_id, dealer_code, ..Self::default() }
    }
}

pub(super) fn plan(out: Output, plan: &Plan) -> Result<(), Failure> {
    if !out.is_for_people() {
        return for_programs(out, plan);
    }
    rejected(out, &plan.about.name, &plan.left)?;
    Ok(out.show(&for_people(out, plan))?)
}

/// Shows the errors of payloads.
pub(super) fn rejected(out: Output, name: &str, left: &[SkippedAd]) -> Result<(), Failure> {
    let mut findings = Findings::new(name, out);
    for left in left {
        if let SkipReason::Rejected(verdict) = &left.why {
            findings.show(verdict)?;
        }
    }
    Ok(findings.end()?)
}

fn for_programs(out: Output, plan: &Plan) -> Result<(), Failure> {
    let mut rows = out.rows(PLAN_COLUMNS);
    let mut notes: HashMap<&Identity, Vec<&str>> = HashMap::new();
    for (ad, note) in &plan.notes {
        notes.entry(ad).or_default().push(note);
    }
    let note = |ad: &Identity| notes.get(ad).map(|notes| notes.join("; "));
    for step in &plan.steps {
        rows.push(&PlanRow {
            vehicle_type: step.vehicle_type.as_deref(),
            title: step.title.as_deref(),
            line: step.line,
            changes: &step.changes,
            message: note(&step.ad),
            ..PlanRow::of(json!(step.act), &step.ad)
        })?;
    }
    for left in &plan.left {
        rows.push(&left_row(left))?;
    }
    for ad in &plan.unchanged {
        rows.push(&PlanRow { message: note(ad), ..PlanRow::of("unchanged".into(), ad) })?;
    }
    rows.end()?;
    plan.remarks.iter().for_each(|remark| out.warning(remark));
    Ok(())
}

fn left_row(left: &SkippedAd) -> PlanRow<'_> {
    let (message, findings) = match &left.why {
        SkipReason::Blocked { reason, hints } => (format!("{reason}; {}", hints.join("; ")), &[][..]),
        SkipReason::Rejected(verdict) => {
            let texts: Vec<_> = verdict.findings.iter().map(Finding::text).collect();
            (texts.join("; "), verdict.findings.as_slice())
        }
    };
    PlanRow {
        act: "left".into(),
        source_id: left.source_id.as_deref(),
        dealer_code: left.dealer_code.as_deref(),
        vehicle_type: left.category.and_then(|category| category.vehicle_type),
        line: left.line,
        message: Some(message),
        findings,
        ..PlanRow::default()
    }
}

/// The plan as people read it: grouped by what is done, field by field, the counts at the end.
fn for_people(out: Output, plan: &Plan) -> Styled {
    let mut text = out.styled();
    let several = plan.about.dealers.len() > 1;
    for (act, tone, mark, title, ..) in ACTS {
        let steps = plan.steps.iter().filter(|step| step.act == act);
        titled_list(&mut text, tone, title, steps, |text, step| {
            text.push("  ").toned(tone, mark).push(" ");
            write_step(text, step, several);
        });
    }
    let blocked = plan.left.iter().filter_map(|left| match &left.why {
        SkipReason::Blocked { reason, hints } => Some((left, reason.as_str(), hints.as_slice())),
        SkipReason::Rejected(_) => None,
    });
    titled_list(&mut text, Tone::Bad, "Skipped", blocked, write_blocked);
    titled_list(&mut text, Tone::Warning, "Notes", plan.notes.iter(), |text, (ad, note)| {
        text.push("  ").flow(6, &[(Some(Tone::Strong), &format!("{}:", ad.source_id)), (None, note)]).end_line();
    });
    for remark in &plan.remarks {
        text.flow(4, &[(Some(Tone::Warning), "warning:"), (None, remark)]).end_line();
    }
    text.flow(4, &[(None, &counts(plan))]).end_line();
    text
}

/// Items under a title, if there are any.
fn titled_list<T>(
    text: &mut Styled,
    tone: Tone,
    title: &str,
    items: impl Iterator<Item = T>,
    mut show: impl FnMut(&mut Styled, T),
) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        text.toned(tone, title).end_line();
    }
    items.for_each(|item| show(text, item));
}

fn write_step(text: &mut Styled, step: &Step, several: bool) {
    let mut about: Vec<&str> = step.vehicle_type.as_deref().into_iter().chain(step.title.as_deref()).collect();
    about.extend(step.ad.dealer_code.as_deref().filter(|_| several));
    let about = format!("({}){}", about.join(", "), line(step.line));
    text.flow(6, &[(Some(Tone::Strong), &step.ad.source_id), (None, &about)]).end_line();
    for change in &step.changes {
        let field = format!("{}:", change.field);
        text.push("      ").flow(10, &[(Some(Tone::Faint), &field), (None, &difference(change))]).end_line();
    }
}

fn write_blocked(text: &mut Styled, (left, reason, hints): (&SkippedAd, &str, &[String])) {
    let source_id = left.source_id.as_deref().unwrap_or_default();
    text.push("  ").flow(6, &[(Some(Tone::Strong), &format!("{source_id}{}:", line(left.line))), (None, reason)]);
    text.end_line();
    for hint in hints {
        text.push("    ").flow(8, &[(Some(Tone::Strong), "help:"), (None, hint)]).end_line();
    }
}

/// Where an ad stands in the file, behind its id.
fn line(line: Option<u64>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

/// `cars.ndjson: 2 to update, 1 to create, 1 to delete, 96 unchanged, 1 skipped`
fn counts(plan: &Plan) -> String {
    let steps = ACTS.map(|(act, .., what, _)| (plan.count(act), what));
    let others = [(plan.unchanged.len() as u64, "unchanged"), (plan.left.len() as u64, "skipped")];
    let nothing = if plan.steps.is_empty() { "; nothing to do" } else { "" };
    format!("{}: {}{nothing}", plan.about.name, tally(steps.into_iter().chain(others)))
}

/// Shows the outcomes of a plan: to people only the failures, to programs all.
pub(super) fn applied(out: Output, rows: &[AppliedStep], left: &[SkippedAd]) -> Result<(), Failure> {
    if out.is_for_people() {
        let told: Vec<_> =
            rows.iter().filter(|row| out.is_verbose() || !row.outcome.is_good() || row.message.is_some()).collect();
        if !told.is_empty() {
            out.table(APPLIED_COLUMNS, told)?;
        }
        return Ok(());
    }
    let mut table = out.rows(APPLIED_FOR_PROGRAMS);
    rows.iter().try_for_each(|row| table.push(row))?;
    left.iter().try_for_each(|left| table.push(&PlanRow { outcome: Some("left"), ..left_row(left) }))?;
    Ok(table.end()?)
}

/// `2 updated, 1 created, 1 deleted; 1 failed`
pub(super) fn summary(rows: &[AppliedStep]) -> String {
    let count = |is_it: &dyn Fn(&AppliedStep) -> bool| rows.iter().filter(|row| is_it(row)).count() as u64;
    let good = ACTS.map(|(act, .., what)| (count(&|row| row.outcome.is_good() && row.act == act), what));
    let bad = [
        (AdOutcome::Rejected, "rejected by the service"),
        (AdOutcome::Conflict, "changed meanwhile"),
        (AdOutcome::Failed, "failed"),
        (AdOutcome::UnderWay, "unfinished"),
        (AdOutcome::Unclear, "unclear"),
        (AdOutcome::NotSent, "not sent"),
    ];
    let bad = bad.map(|(outcome, what)| (count(&|row| row.outcome == outcome), what));
    match tally(good.into_iter().chain(bad)) {
        nothing if nothing.is_empty() => "nothing was changed".to_owned(),
        text => text,
    }
}
