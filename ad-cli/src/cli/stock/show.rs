//! Shows stock plans and their changes, for people and for programs.

use ad_core::{
    model::{ChangeCounts, ChangeKind, ChangeOutcome, OutcomeCounts, PlanError, ScoreChange},
    violation::About,
};
use serde::Deserialize;

use crate::{
    PlanState, PlannedChange, StockPlan, ValueChange,
    bulk::desired::{Change, difference},
    terminal::{Cell, Column, Failure, Output, Styled, Tone, ad_table, counted, grouped, tally},
};

/// The members of a plan, in the order for people.
const MEMBERS: &[&str] = &["id", "state", "created", "expires", "dealers", "guard", "errors"];

/// The plans of a list.
pub(super) const PLANS: &[Column] = &[
    Column::new("ID", "id"),
    Column::new("STATE", "state").shown(|state| match PlanState::deserialize(state) {
        Ok(state) => Cell::toned(state.name(), state_tone(state)),
        Err(_) => Cell::default(),
    }),
    Column::new("CREATED", "created").shown(ad_table::minute),
    Column::new("EXPIRES", "expires").shown(ad_table::minute).for_programs(),
    Column::new("CHANGES", "dealers").shown(|dealers| {
        let counts = dealers.as_array().into_iter().flatten();
        let counts = counts.filter_map(|dealer| ChangeCounts::deserialize(&dealer["counts"]).ok());
        grouped(counts.map(|counts| requests(&counts)).sum()).into()
    }),
];

/// The dealers of a plan of several.
const DEALERS: &[Column] = &[
    Column::new("DEALER", "dealer_code"),
    Column::new("CREATE", "counts.create"),
    Column::new("UPDATE", "counts.update"),
    Column::new("REVIVE", "counts.revive").rank(3),
    Column::new("HIDE", "counts.hide"),
    Column::new("DELETE", "counts.delete"),
    Column::new("UNCHANGED", "counts.unchanged").rank(4),
    Column::new("INVALID", "counts.invalid"),
    Column::new("DONE", "outcomes.done").rank(1),
    Column::new("FAILED", "outcomes.failed").rank(1),
    Column::new("CONFLICT", "outcomes.conflict").rank(1),
    Column::new("COST", "cost").rank(2),
];

/// The changes of a plan, for people.
const CHANGES: &[Column] = &[
    Column::new("LINE", "line").rank(1),
    Column::new("SOURCE ID", "source_id").shortened(),
    Column::new("KIND", "kind").shown(|kind| match ChangeKind::deserialize(kind) {
        Ok(kind) => Cell::toned(kind.name(), about(kind).0),
        Err(_) => Cell::default(),
    }),
    Column::new("OUTCOME", "outcome").shown(|outcome| match ChangeOutcome::deserialize(outcome) {
        Ok(outcome) => Cell::toned(outcome.name(), outcome_tone(outcome)),
        Err(_) => Cell::default(),
    }),
    Column::new("DETAILS", "")
        .shown(|change| match PlannedChange::deserialize(change) {
            Ok(change) => details(&change).join("; ").into(),
            Err(_) => Cell::default(),
        })
        .wrapped(),
];

#[rustfmt::skip]
const CHANGES_FOR_PROGRAMS: &[Column] = &Column::at_paths([
    "line", "dealer_code", "source_id", "kind", "revision", "fields", "links_to", "errors", "warnings", "quality",
    "outcome", "code", "request_id",
]);

/// The columns of changes.
pub(super) fn change_columns(out: Output) -> &'static [Column] {
    if out.is_for_people() { CHANGES } else { CHANGES_FOR_PROGRAMS }
}

/// Checks the selected fields of a plan before it is made or applied.
pub(super) fn check_fields(out: Output) -> Result<(), Failure> {
    Ok(out.check_names(MEMBERS.iter().copied())?)
}

/// Some changes of a plan, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    pub(super) changes: Vec<PlannedChange>,
    pub(super) count: u64,
}

/// Shows a plan; to people with some of its changes.
pub(super) fn plan(out: Output, plan: &StockPlan, excerpt: &Excerpt) -> Result<(), Failure> {
    if !out.is_for_people() {
        return Ok(out.record_in(plan, MEMBERS)?);
    }
    let mut text = out.styled();
    write_changes(&mut text, plan, excerpt);
    let invalid = excerpt.changes.iter().filter(|change| change.kind == ChangeKind::Invalid).count() as u64;
    // What is shown beside its ad is not repeated, and what was planned before is over.
    if plan.state != PlanState::Applied && (invalid == 0 || invalid < totals(plan).0.invalid) {
        write_errors(&mut text, plan);
    }
    out.show(&text)?;
    if plan.dealers.len() > 1 {
        out.table(DEALERS, &plan.dealers)?;
    }
    let mut text = out.styled();
    write_state(&mut text, plan);
    Ok(out.show(&text)?)
}

/// The number of ads for which a request is made.
pub(super) fn requests(counts: &ChangeCounts) -> u64 {
    counts.create + counts.update + counts.revive + counts.removals()
}

/// The counts of all dealers together.
pub(super) fn totals(plan: &StockPlan) -> (ChangeCounts, OutcomeCounts) {
    let (mut counts, mut outcomes) = (ChangeCounts::default(), OutcomeCounts::default());
    for dealer in &plan.dealers {
        let of = &dealer.counts;
        counts.create += of.create;
        counts.update += of.update;
        counts.revive += of.revive;
        counts.unchanged += of.unchanged;
        counts.hide += of.hide;
        counts.delete += of.delete;
        counts.invalid += of.invalid;
        let of = &dealer.outcomes;
        outcomes.accepted += of.accepted;
        outcomes.done += of.done;
        outcomes.failed += of.failed;
        outcomes.conflict += of.conflict;
    }
    (counts, outcomes)
}

fn state_tone(state: PlanState) -> Tone {
    match state {
        PlanState::Ready | PlanState::Applied => Tone::Good,
        PlanState::Computing | PlanState::Applying => Tone::Warning,
        PlanState::Refused => Tone::Bad,
        PlanState::Cancelled | PlanState::Expired => Tone::Faint,
    }
}

fn outcome_tone(outcome: ChangeOutcome) -> Tone {
    match outcome {
        ChangeOutcome::Done => Tone::Good,
        ChangeOutcome::Accepted => Tone::Warning,
        ChangeOutcome::Failed | ChangeOutcome::Conflict => Tone::Bad,
    }
}

/// The tone and the mark of a kind of change.
const fn about(kind: ChangeKind) -> (Tone, &'static str) {
    match kind {
        ChangeKind::Create => (Tone::Good, "+"),
        ChangeKind::Update | ChangeKind::Revive => (Tone::Warning, "~"),
        ChangeKind::Hide | ChangeKind::Delete => (Tone::Bad, "-"),
        ChangeKind::Invalid => (Tone::Bad, "!"),
        ChangeKind::Unchanged => (Tone::Faint, "="),
    }
}

fn write_changes(text: &mut Styled, plan: &StockPlan, Excerpt { changes, count }: &Excerpt) {
    if changes.is_empty() {
        return;
    }
    let is_part = *count > changes.len() as u64;
    let of = if is_part { format!(" (the first {} of {})", changes.len(), grouped(*count)) } else { String::new() };
    text.toned(Tone::Strong, "Changes").push(&of).end_line();
    for change in changes {
        let (tone, mark) = about(change.kind);
        let source_id = change.source_id.as_deref().unwrap_or("without source_id");
        text.push("  ").toned(tone, mark).push(" ").toned(Tone::Strong, source_id);
        let mut about = vec![change.kind.name().to_owned()];
        about.extend(change.dealer_code.clone().filter(|_| plan.dealers.len() > 1));
        about.extend(change.line.map(|line| format!("line {line}")));
        text.push(&format!(" ({})", about.join(", ")));
        if let Some(outcome) = change.outcome {
            text.push(": ").toned(outcome_tone(outcome), outcome.name());
        }
        text.end_line();
        for detail in details(change) {
            text.block(6, &detail);
        }
    }
}

/// What changes, why the ad is invalid, and why the change was not made: each a line.
fn details(change: &PlannedChange) -> Vec<String> {
    let details = &change.details;
    let mut lines: Vec<_> = details.fields.iter().map(field).collect();
    lines.extend(details.errors.iter().map(|error| format!("{}{}", at(Some(&error.pointer)), error.detail)));
    lines.extend(details.warnings.iter().map(|warning| format!("warning: {}: {}", warning.field, warning.message)));
    lines.extend(details.links_to.iter().map(|other| format!("has the registration number of {other}")));
    if let ScoreChange { from: Some(from), to: Some(to) } = details.quality
        && from != to
    {
        lines.push(format!("quality: {from} → {to}"));
    }
    lines.extend(change.code.map(|code| match (change.outcome, code.about()) {
        (Some(ChangeOutcome::Conflict), _) => {
            format!("the ad has changed since the plan was made, and stays as it is ({code})")
        }
        (_, About { title, cure, .. }) => format!("{title} ({code}). {cure}"),
    }));
    lines
}

/// `price: list 199,000 → 189,000 SEK`
fn field(ValueChange { pointer, from, to }: &ValueChange) -> String {
    let change = Change { field: dotted(pointer), old: from.clone(), new: to.clone() };
    format!("{}: {}", change.field, difference(&change))
}

/// The path of a JSON Pointer as other commands show it: `price.0.amount`.
fn dotted(pointer: &str) -> String {
    let names = pointer.trim_start_matches('/').split('/');
    names.map(|name| name.replace("~1", "/").replace("~0", "~")).collect::<Vec<_>>().join(".")
}

/// A field in front of what is said about it.
fn at(pointer: Option<&str>) -> String {
    pointer.filter(|pointer| !pointer.is_empty()).map(|pointer| format!("{}: ", dotted(pointer))).unwrap_or_default()
}

fn write_errors(text: &mut Styled, plan: &StockPlan) {
    if plan.errors.is_empty() {
        return;
    }
    text.toned(Tone::Bad, "Errors").end_line();
    for PlanError { pointer, line, detail, count, .. } in &plan.errors {
        // Some say it themselves.
        let line = line.map(|line| format!("line {line}: ")).filter(|line| !detail.starts_with(line));
        let line = line.unwrap_or_default();
        let ads = if *count > 1 { format!(" ({})", counted(*count, "ad")) } else { String::new() };
        text.block(2, &format!("{line}{}{detail}{ads}", at(pointer.as_deref())));
    }
}

/// The state of a plan, its counts, and what has become of its changes.
fn write_state(text: &mut Styled, plan: &StockPlan) {
    let (counts, outcomes) = totals(plan);
    let until = plan.expires.filter(|_| plan.state == PlanState::Ready);
    text.push(&format!("Plan {}: ", plan.id)).toned(state_tone(plan.state), plan.state.name()).end_line();
    if let Some(time) = until {
        text.block(2, &format!("it can be applied until {}", ad_table::minute_of(time)));
    }
    let ChangeCounts { create, update, revive, unchanged, hide, delete, invalid } = counts;
    let OutcomeCounts { accepted, done, failed, conflict } = outcomes;
    let is_done = plan.state == PlanState::Applied && failed + conflict + accepted == 0;
    let words = if is_done {
        ["updated", "revived", "created", "hidden", "deleted"]
    } else {
        ["to update", "to revive", "to create", "to hide", "to delete"]
    };
    let changed = [update, revive, create, hide, delete].into_iter().zip(words);
    let planned = tally(changed.chain([(unchanged, "unchanged"), (invalid, "invalid")]));
    let made = tally([(done, "done"), (failed, "failed"), (conflict, "in conflict"), (accepted, "unfinished")]);
    let made = if is_done { String::new() } else { made };
    for counted in [planned, made].iter().filter(|counted| !counted.is_empty()) {
        text.block(2, counted);
    }
    if let [dealer] = &plan.dealers[..]
        && let Some(cost) = &dealer.cost
    {
        text.block(2, &format!("cost: {cost}"));
    }
}
