//! Shows the outcome of each row: failures and counts to people, all rows to programs.

use std::{cell::RefCell, collections::HashSet, iter, pin::pin};

use ad_bulk::{
    AdOutcome, Identity,
    import::{Imported, Record},
};
use ad_client::{AdFilter, AdQuery, Linked};
use ad_core::model::AdState;
use ad_files::{
    identities::hash,
    text::{counted, tally},
};
use ad_terminal::{Context, Failure, ImportReport, Summary, ad_table, output::Column};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    photos::{self, FailedPhotos},
    prepare::RowNumbers,
    report::Report,
};

const COLUMNS: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("OUTCOME", "outcome").shown(ad_table::outcome),
    Column::new("MESSAGE", "message").wrapped(),
];

/// The columns for programs; their names are stable.
#[rustfmt::skip]
const ALL_COLUMNS: &[Column] = &Column::at_paths([
    "row", "source_id", "dealer_code", "outcome", "message", "marketplace_ad_id", "offer_id", "request_id",
]);

/// The outcome of a valid row.
#[derive(Debug, Clone, Serialize)]
struct Submitted {
    /// The row of the file, from 1, if it is known.
    row: Option<u64>,
    source_id: Option<String>,
    dealer_code: Option<String>,
    outcome: &'static str,
    message: Option<String>,
    marketplace_ad_id: Option<String>,
    offer_id: Option<String>,
    request_id: Option<Uuid>,
    /// The existing listings to which it was linked.
    linked: Vec<Linked>,
}

/// The outcome; for a published ad, whether it was linked to an existing listing.
fn name(record: &Record) -> &'static str {
    match record.outcome {
        AdOutcome::Published if record.linked.is_empty() => "new",
        AdOutcome::Published => "linked",
        other => other.name(),
    }
}

/// The name under which it is counted: what earlier runs have sent is not of this one.
fn counted_name(record: &Record) -> &'static str {
    if record.is_earlier && record.outcome.is_good() { EARLIER } else { name(record) }
}

const EARLIER: &str = "sent_before";

/// The words of the summary that `check`, `run` and `undo` share, with the outcomes that each stands for.
const WORDS: [(&str, &[&str]); 4] = [
    ("sent", &["linked", "new", "hidden", "accepted", "under_way"]),
    ("failed", &["failed", "rejected", "unclear"]),
    ("sent before", &[EARLIER]),
    ("not sent", &["not_sent"]),
];

/// `171 sent (100 linked to existing listings, 71 newly listed), 2 failed (2 rejected by the service), 29 invalid`
fn text(summary: &Summary, left_out: &[(u64, &str)]) -> String {
    let word = |(word, names): &(&str, &[&str])| {
        let of_word = || summary.counts.iter().filter(|(name, ..)| names.contains(name));
        let count: u64 = of_word().map(|(.., count)| count).sum();
        let parts = tally(of_word().map(|(_, label, count)| (*count, *label)));
        let parts = if names.len() > 1 { format!("{word} ({parts})") } else { (*word).to_owned() };
        (count, parts)
    };
    let words: Vec<(u64, String)> = WORDS.iter().map(word).collect();
    tally(words.iter().map(|(count, text)| (*count, text.as_str())).chain(left_out.iter().copied()))
}

/// Checks the selected fields before anything is sent.
pub(crate) fn check_fields(context: &Context) -> Result<(), Failure> {
    Ok(context.out.check_fields(ALL_COLUMNS, &["linked"])?)
}

/// Shows the outcomes, and writes all of them to a file if one is named, with what was `left_out`.
pub(crate) fn show(
    context: &Context,
    imported: &Imported,
    rows: &mut RowNumbers,
    left_out: &[(u64, &str)],
    to_file: Option<Report<'_>>,
) -> Result<Shown, Failure> {
    let rows = RefCell::new(rows);
    let row = |record: Record| Submitted {
        row: rows.borrow_mut().get(record.index),
        outcome: name(&record),
        source_id: record.source_id,
        dealer_code: record.dealer_code,
        message: record.message,
        marketplace_ad_id: record.marketplace_ad_id,
        offer_id: record.offer_id,
        request_id: record.request_id,
        linked: record.linked,
    };
    let report = ImportReport {
        columns: COLUMNS,
        all_columns: ALL_COLUMNS,
        labels: &[
            ("linked", "linked to existing listings"),
            ("new", "newly listed"),
            ("hidden", "hidden"),
            ("accepted", "accepted"),
            ("under_way", "unfinished"),
            ("failed", "not published"),
            ("rejected", "rejected by the service"),
            ("unclear", "without an answer"),
            (EARLIER, "sent before"),
            ("not_sent", "not sent"),
        ],
        list: "rows",
        is_told_apart: photos::are_failed,
        name_of: counted_name,
        row: &row,
    };
    let summary = report.show(context, imported, None)?;
    let mut photos = FailedPhotos::default();
    imported.records.each(|record, _| {
        photos.add(&record);
        Ok::<_, Failure>(())
    })?;
    if context.out.is_for_people() {
        photos.note(context.out);
    }
    if let Some(report) = to_file {
        let counts = summary.counts.iter().map(|(name, _, count)| (*name, *count));
        let left_out = left_out.iter().map(|(count, what)| (*what, *count));
        let all = iter::once(("ads", summary.ads)).chain(counts).chain(left_out);
        let all = all.map(|(name, count)| (name.to_owned(), count.into())).collect();
        report.write(&all, |rows| imported.records.each(|record, _| rows.add(&row(record))))?;
    }
    Ok(Shown { summary, photos: photos.ads })
}

/// What was shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) summary: Summary,
    /// How many ads have failed photos.
    photos: u64,
}

/// Says how many ads earlier runs have left hidden, by `--hidden` or by `undo`, that are hidden still; `publish` is the command that shows
/// them.
pub(crate) async fn note_hidden(context: &Context, imported: &Imported, publish: &str) -> Result<(), Failure> {
    let mut hidden = HashSet::new();
    imported.records.each(|record, _| {
        let Record { source_id, dealer_code, outcome, is_earlier, .. } = record;
        if let (Some(source_id), AdOutcome::Hidden, true) = (source_id, outcome, is_earlier) {
            hidden.insert(Identity { source_id, dealer_code }.hash());
        }
        Ok::<_, Failure>(())
    })?;
    if hidden.is_empty() {
        return Ok(());
    }
    let query = AdQuery {
        fields: Some(vec!["source_id", "dealer_code", "visible"]),
        ..AdQuery::oldest_first([AdFilter::State(AdState::Created)])
    };
    let client = context.client()?;
    let ads = client.v4();
    let mut all = pin!(ads.all_as::<KnownAd>(&query));
    let mut count = 0;
    while let Some(KnownAd { source_id, dealer_code, visible }) = all.try_next().await? {
        let is_one = || [Some(dealer_code.as_str()), None].iter().any(|of| hidden.contains(&hash(&source_id, *of)));
        count += u64::from(!visible && is_one());
    }
    if count > 0 {
        let (ads, are) = (counted(count, "ad"), if count == 1 { "is" } else { "are" });
        context.out.note(&format!("{ads} {are} hidden, by `undo` or --hidden; to show them: {publish}"));
    }
    Ok(())
}

/// The members of an ad that are read.
#[derive(Debug, Deserialize)]
struct KnownAd {
    source_id: String,
    dealer_code: String,
    visible: bool,
}

/// Shows how many rows there are of each outcome, that there was nothing to send again if so, and how many were `left_out`; this stands last.
pub(crate) fn sum_up(context: &Context, name: &str, shown: &Shown, left_out: &[(u64, &str)], again: bool) {
    let Shown { summary, photos } = shown;
    let left_out: Vec<_> = [(*photos, "with failed photos")].iter().chain(left_out).copied().collect();
    let mut text = text(summary, &left_out);
    if again && summary.counts.iter().all(|(known, _, count)| *count == 0 || [EARLIER, "not_sent"].contains(known)) {
        text = format!("no ad has failed, so nothing was sent again; {text}");
    }
    context.out.note(&format!("{name}: {}", if text.is_empty() { "nothing to do" } else { &text }));
}

/// Whether everything that was sent has succeeded.
pub(crate) fn is_good(summary: &Summary) -> bool {
    ["failed", "rejected", "under_way", "unclear"].iter().all(|name| summary.count(name) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_summed_up_in_the_words_of_the_other_commands() {
        let counts = vec![
            ("linked", "linked to existing listings", 100),
            ("new", "newly listed", 71),
            ("rejected", "rejected by the service", 2),
            ("not_sent", "not sent", 5),
        ];
        let summary = Summary { ads: 178, counts };
        let expected = "171 sent (100 linked to existing listings, 71 newly listed), 2 failed (2 rejected by the service), 5 not sent, \
                        29 invalid";
        assert_eq!(text(&summary, &[(29, "invalid"), (0, "skipped")]), expected);
    }
}
