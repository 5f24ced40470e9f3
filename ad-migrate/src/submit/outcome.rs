//! What became of each row: for people what did not go well, and numbers; for programs every row.

use std::{io, path::Path};

use ad_cli::{
    Linked,
    cli::{
        Context, Failure,
        import::{Imported, Record},
        output::{Column, Format},
        shown,
    },
};
use serde::Serialize;
use uuid::Uuid;

use crate::whole::Whole;

const COLUMNS: &[Column] = &[
    Column::new("ROW", "row"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("OUTCOME", "outcome").shown(shown::outcome),
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

/// What became of a row that could go.
#[derive(Debug, Clone, Serialize)]
pub struct Submitted<'a> {
    /// Which row of the file it is, from 1, where that is known.
    row: Option<u64>,
    source_id: Option<&'a str>,
    dealer_code: Option<&'a str>,
    /// `linked`, `new`, `hidden`, `failed`, `refused`, `under_way`, `accepted`, `unclear` or `not_sent`.
    outcome: &'a str,
    message: Option<&'a str>,
    marketplace_ad_id: Option<&'a str>,
    offer_id: Option<&'a str>,
    request_id: Option<Uuid>,
    /// The listings from before to which it was linked.
    linked: &'a [Linked],
}

impl<'a> Submitted<'a> {
    fn new(record: &'a Record, rows: &[u64]) -> Self {
        let outcome = match record.outcome.as_str() {
            "published" if record.linked.is_empty() => "new",
            "published" => "linked",
            other => other,
        };
        Self {
            row: usize::try_from(record.index).ok().and_then(|index| rows.get(index)).copied(),
            source_id: record.source_id.as_deref(),
            dealer_code: record.dealer_code.as_deref(),
            outcome,
            message: record.message.as_deref(),
            marketplace_ad_id: record.marketplace_ad_id.as_deref(),
            offer_id: record.offer_id.as_deref(),
            request_id: record.request_id,
            linked: &record.linked,
        }
    }

    /// Whether people should see it. What was not come to is a number, no news.
    fn is_news(&self, cut_short: bool) -> bool {
        match self.outcome {
            "not_sent" => false,
            "under_way" => !cut_short,
            "linked" | "new" | "hidden" | "accepted" => self.message.is_some(),
            _ => true,
        }
    }
}

/// How many rows came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Payloads that could go.
    pub ads: u64,
    /// Linked to a listing that was there.
    pub linked: u64,
    /// Newly listed.
    pub new: u64,
    /// Stored and not shown.
    pub hidden: u64,
    /// Accepted by the service, where nobody waits.
    pub accepted: u64,
    /// Accepted, and not published.
    pub failed: u64,
    /// Refused by the service.
    pub refused: u64,
    /// Not known yet.
    pub under_way: u64,
    /// Sent without an answer.
    pub unclear: u64,
    /// Not sent this time.
    pub not_sent: u64,
}

impl Summary {
    fn count(&mut self, outcome: &str) {
        *match outcome {
            "linked" => &mut self.linked,
            "new" => &mut self.new,
            "hidden" => &mut self.hidden,
            "accepted" => &mut self.accepted,
            "refused" => &mut self.refused,
            "under_way" => &mut self.under_way,
            "unclear" => &mut self.unclear,
            "not_sent" => return,
            _ => &mut self.failed,
        } += 1;
    }

    /// Whether all that was sent came to what one wants.
    pub fn is_good(&self) -> bool {
        self.failed + self.refused + self.under_way + self.unclear == 0
    }

    fn parts(&self) -> [(u64, &'static str); 9] {
        [
            (self.linked, "linked to existing listings"),
            (self.new, "newly listed"),
            (self.hidden, "stored, hidden"),
            (self.accepted, "accepted"),
            (self.failed, "failed"),
            (self.refused, "rejected by the service"),
            (self.under_way, "unfinished"),
            (self.unclear, "unclear"),
            (self.not_sent, "not sent"),
        ]
    }

    fn told(&self) -> String {
        let parts = self.parts().into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<_> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") }
    }
}

/// The file that `--report` names.
#[derive(Debug, Serialize)]
struct Report<'a> {
    file: &'a str,
    summary: Summary,
    rows: Vec<Submitted<'a>>,
}

/// Shows what has come of everything.
///
/// # Errors
/// When it cannot be shown, or the report cannot be written.
pub fn show(
    context: &Context,
    name: &str,
    done: &Imported,
    rows: &[u64],
    to_file: Option<&Path>,
) -> Result<Summary, Failure> {
    let submitted: Vec<_> = done.records.values().map(|record| Submitted::new(record, rows)).collect();
    let mut summary = Summary { ads: done.payloads, ..Summary::default() };
    for row in &submitted {
        summary.count(row.outcome);
    }
    let told = summary.parts().iter().map(|(count, _)| count).sum::<u64>();
    summary.not_sent = summary.ads.saturating_sub(told);
    if context.out.format() == Format::Table {
        let odd: Vec<_> = submitted.iter().filter(|row| row.is_news(done.failure.is_some())).collect();
        if !odd.is_empty() {
            let mut table = context.out.rows(COLUMNS);
            odd.iter().try_for_each(|row| table.push(row))?;
            table.end()?;
        }
    } else {
        let mut table = context.out.rows(ALL_COLUMNS);
        submitted.iter().try_for_each(|row| table.push(row))?;
        table.end()?;
    }
    context.out.note(&format!("{name}: {}", summary.told()));
    if let Some(path) = to_file {
        let report = Report { file: name, summary, rows: submitted };
        let write = || -> io::Result<()> {
            let mut out = Whole::create(path)?;
            serde_json::to_writer_pretty(&mut out, &report)?;
            out.end()
        };
        write().map_err(|error| Failure::usage(format!("cannot write the report {}: {error}", path.display())))?;
    }
    Ok(summary)
}
