//! Shows the outcome of each row: failures and counts to people, all rows to programs.

use std::{cell::RefCell, path::Path};

use ad_cli::{
    Linked,
    bulk::{
        AdOutcome,
        import::{Imported, Record},
    },
    terminal::{Context, Failure, ImportReport, Summary, ad_table, output::Column},
};
use serde::Serialize;
use uuid::Uuid;

use super::prepare::RowNumbers;

const COLUMNS: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("OUTCOME", "outcome").shown(ad_table::outcome),
    Column::new("MESSAGE", "message").wrapped(),
];

const ALL_COLUMNS: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("DEALER", "dealer_code"),
    Column::new("OUTCOME", "outcome"),
    Column::new("MESSAGE", "message"),
    Column::new("MARKETPLACE AD", "marketplace_ad_id"),
    Column::new("OFFER", "offer_id"),
    Column::new("REQUEST", "request_id"),
];

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

/// Shows all outcomes.
///
/// # Errors
/// When it cannot be shown, or the report cannot be written.
pub fn show(
    context: &Context,
    imported: &mut Imported,
    rows: &mut RowNumbers,
    to_file: Option<&Path>,
) -> Result<Summary, Failure> {
    let rows = RefCell::new(rows);
    let report = ImportReport {
        columns: COLUMNS,
        all_columns: ALL_COLUMNS,
        labels: &[
            ("linked", "linked to existing listings"),
            ("new", "newly listed"),
            ("hidden", "stored, hidden"),
            ("accepted", "accepted"),
            ("failed", "failed"),
            ("refused", "rejected by the service"),
            ("under_way", "unfinished"),
            ("unclear", "unclear"),
            ("not_sent", "not sent"),
        ],
        list: "rows",
        name_of: name,
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
    let summary = report.show(context, imported, to_file)?;
    let text = Some(summary.text()).filter(|text| !text.is_empty());
    context.out.note(&format!("{}: {}", imported.name, text.as_deref().unwrap_or("nothing to do")));
    Ok(summary)
}

/// Whether everything that was sent has succeeded.
pub fn is_good(summary: &Summary) -> bool {
    ["failed", "refused", "under_way", "unclear"].iter().all(|name| summary.count(name) == 0)
}
