//! What became of ads that are changed, for people, for programs and in a report.

use std::collections::BTreeMap;

use ad_bulk::{
    Identity,
    desired::{Change, difference},
};
use ad_core::categories::humanised;
use ad_files::text::{grouped, plain, tally};
use ad_terminal::{Context, Failure, output::Column};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::report::Report;

/// What people see of a change.
const COLUMNS: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("OUTCOME", "what"),
    Column::new("FIELD", "name"),
    Column::new("CHANGE", "change").wrapped(),
    Column::new("MESSAGE", "message").wrapped(),
];

/// The columns for programs; their names are stable.
const ALL_COLUMNS: &[Column] = &Column::at_paths(["row", "source_id", "outcome", "field", "old", "new", "message"]);

/// Lines that people see; the others are in the report.
const MOST_LINES: usize = 40;

/// What became of an ad. Programs read the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Revised {
    Created,
    WouldBeCreated,
    Updated,
    WouldBeUpdated,
    Unchanged,
    Hidden,
    WouldBeHidden,
    Deleted,
    WouldBeDeleted,
    NotSent,
    Failed,
}

#[derive(Debug, Serialize)]
pub(crate) struct RevisedAd {
    pub(crate) row: Option<u64>,
    #[serde(flatten)]
    pub(crate) ad: Identity,
    pub(crate) outcome: Revised,
    pub(crate) changes: Vec<Change>,
    pub(crate) message: Option<String>,
    /// The plate and the title of an ad that is taken away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) registration_number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
}

impl Revised {
    /// The name with spaces: `would be created`.
    fn words(self) -> String {
        plain(&json!(self)).replace('_', " ")
    }
}

impl RevisedAd {
    /// What became of an ad, without details.
    pub(crate) fn of(ad: Identity, outcome: Revised) -> Self {
        Self { row: None, ad, outcome, changes: Vec::new(), message: None, registration_number: None, title: None }
    }
}

/// A line of the table: a change of an ad.
#[derive(Debug, Default, Serialize)]
struct RevisionLine<'a> {
    row: Option<u64>,
    source_id: &'a str,
    outcome: Option<Revised>,
    field: Option<&'a str>,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
    /// Outcome, field and change as people write them.
    what: String,
    name: Option<String>,
    change: Option<String>,
    message: Option<&'a str>,
}

/// Checks the selected fields before anything is sent.
pub(crate) fn check_fields(context: &Context) -> Result<(), Failure> {
    Ok(context.out.check_fields(ALL_COLUMNS, &[])?)
}

/// Shows changes and failures to people and all ads to programs, and last how many there are of each outcome, after `name` of the file.
/// Returns how many failed.
pub(crate) fn show(
    context: &Context,
    name: Option<&str>,
    revised: &[RevisedAd],
    more: &[(u64, &str)],
    report: Option<Report<'_>>,
) -> Result<u64, Failure> {
    let people = context.out.is_for_people();
    let mut table = context.out.rows(if people { COLUMNS } else { ALL_COLUMNS });
    let (mut lines, mut left) = (0, 0);
    for ad in revised {
        let RevisedAd { row, ad, outcome, changes, message, .. } = ad;
        let whole = || RevisionLine {
            row: *row,
            source_id: &ad.source_id,
            outcome: Some(*outcome),
            what: outcome.words(),
            message: message.as_deref(),
            ..RevisionLine::default()
        };
        let of_changes = changes.iter().map(|change| RevisionLine {
            field: Some(&change.field),
            old: Some(&change.old),
            new: Some(&change.new),
            name: change.field.rsplit('.').next().map(humanised),
            change: Some(difference(change)),
            ..whole()
        });
        // Those that an interrupted run did not reach are only counted.
        let is_news = *outcome == Revised::Failed || (*outcome == Revised::NotSent && message.is_some());
        let of_ad = (changes.is_empty() && (is_news || !people)).then(whole);
        for line in of_changes.chain(of_ad) {
            if people && lines >= MOST_LINES {
                left += 1;
            } else {
                table.push(&line)?;
                lines += 1;
            }
        }
    }
    if lines > 0 || !people {
        table.end()?;
    }
    if left > 0 {
        let where_all = if report.is_some() { "all are in the report" } else { "to see all: --report FILE" };
        context.out.note(&format!("… and {} more; {where_all}", grouped(left)));
    }
    if let Some(report) = report {
        report.write(&summary(revised, more), |rows| revised.iter().try_for_each(|ad| rows.add(ad)))?;
    }
    let mut counts: BTreeMap<Revised, u64> = BTreeMap::new();
    for ad in revised {
        *counts.entry(ad.outcome).or_default() += 1;
    }
    let failed = counts.get(&Revised::Failed).copied().unwrap_or_default();
    let counts: Vec<_> = counts.into_iter().map(|(outcome, count)| (count, outcome.words())).collect();
    let text = tally(counts.iter().map(|(count, what)| (*count, what.as_str())).chain(more.iter().copied()));
    let text = if text.is_empty() { "nothing to do" } else { &text };
    context.out.note(&name.map_or_else(|| text.to_owned(), |name| format!("{name}: {text}")));
    Ok(failed)
}

/// The outcomes that a report counts even if there are none.
const COUNTED: [Revised; 7] = [
    Revised::Created,
    Revised::Updated,
    Revised::Unchanged,
    Revised::Hidden,
    Revised::Deleted,
    Revised::NotSent,
    Revised::Failed,
];

/// The counts of a report, by the names of outcomes.
fn summary(revised: &[RevisedAd], more: &[(u64, &str)]) -> Map<String, Value> {
    let mut counts: Vec<(String, u64)> = COUNTED.map(|outcome| (plain(&json!(outcome)), 0)).to_vec();
    let of_ads = revised.iter().map(|ad| (plain(&json!(ad.outcome)), 1));
    for (name, count) in of_ads.chain(more.iter().map(|(count, what)| (what.replace(' ', "_"), *count))) {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known += count,
            None => counts.push((name, count)),
        }
    }
    counts.into_iter().map(|(name, count)| (name, count.into())).collect()
}
