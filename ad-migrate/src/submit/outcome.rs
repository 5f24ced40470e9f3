//! Shows the outcome of each row: failures and counts to people, all rows to programs.

use std::cell::RefCell;

use ad_bulk::{
    AdOutcome,
    import::{Imported, Record},
};
use ad_client::Linked;
use ad_files::text::tally;
use ad_terminal::{Context, Failure, ImportReport, OutFile, Summary, ad_table, output::Column};
use serde::Serialize;
use uuid::Uuid;

use super::prepare::RowNumbers;

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

/// Shows the outcomes, and writes all of them to a file if one is named.
pub(crate) fn show(
    context: &Context,
    imported: &Imported,
    rows: &mut RowNumbers,
    to_file: Option<&OutFile>,
) -> Result<Summary, Failure> {
    let rows = RefCell::new(rows);
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
        name_of: counted_name,
        row: &|record| Submitted {
            row: rows.borrow_mut().get(record.index),
            outcome: name(&record),
            source_id: record.source_id,
            dealer_code: record.dealer_code,
            message: record.message,
            marketplace_ad_id: record.marketplace_ad_id,
            offer_id: record.offer_id,
            request_id: record.request_id,
            linked: record.linked,
        },
    };
    report.show(context, imported, to_file)
}

/// Shows how many rows there are of each outcome, that there was nothing to send again if so, and how many were `left_out`; this stands last.
pub(crate) fn sum_up(context: &Context, name: &str, summary: &Summary, left_out: &[(u64, &str)], again: bool) {
    let mut text = text(summary, left_out);
    if again && summary.counts.iter().all(|(known, _, count)| *count == 0 || [EARLIER, "not_sent"].contains(known)) {
        text = format!("nothing has failed, so nothing was sent again; {text}");
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
