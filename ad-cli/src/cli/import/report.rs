//! What an import has come to, ad by ad: a table of what did not go well for people, every ad for programs and in a file.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use serde::Serialize;

use super::{Imported, state::Record};
use crate::cli::{
    Context, Exit, Failure,
    check::counted,
    output::{Column, Format},
    shown,
};

const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("LINE", "line"),
    Column::new("OUTCOME", "outcome").shown(shown::outcome),
    Column::new("REQUEST", "request_id"),
    Column::new("MESSAGE", "message"),
];

/// What programs get in columns.
const ALL_COLUMNS: &[Column] = &[
    Column::new("INDEX", "index"),
    Column::new("LINE", "line"),
    Column::new("SOURCE ID", "source_id"),
    Column::new("DEALER", "dealer_code"),
    Column::new("OUTCOME", "outcome"),
    Column::new("MESSAGE", "message"),
    Column::new("REQUEST", "request_id"),
    Column::new("MARKETPLACE AD", "marketplace_ad_id"),
    Column::new("OFFER", "offer_id"),
];

/// How many ads came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Summary {
    ads: u64,
    published: u64,
    hidden: u64,
    accepted: u64,
    failed: u64,
    refused: u64,
    under_way: u64,
    unclear: u64,
    not_sent: u64,
}

impl Summary {
    fn of(records: &BTreeMap<u64, Record>, total: u64) -> Self {
        let mut summary = Self { ads: total, ..Self::default() };
        for record in records.values() {
            let count = match record.outcome.as_str() {
                "published" => &mut summary.published,
                "hidden" => &mut summary.hidden,
                "accepted" => &mut summary.accepted,
                "refused" => &mut summary.refused,
                "under_way" => &mut summary.under_way,
                "unclear" => &mut summary.unclear,
                "not_sent" => continue,
                _ => &mut summary.failed,
            };
            *count += 1;
        }
        // Those to which an import that was cut short did not come have no record.
        let told = summary.parts().iter().map(|(count, _)| count).sum::<u64>();
        summary.not_sent = total.saturating_sub(told);
        summary
    }

    fn parts(&self) -> [(u64, &'static str); 8] {
        [
            (self.published, "published"),
            (self.hidden, "stored, hidden"),
            (self.accepted, "accepted"),
            (self.failed, "failed"),
            (self.refused, "refused"),
            (self.under_way, "unfinished"),
            (self.unclear, "unclear"),
            (self.not_sent, "not sent"),
        ]
    }

    /// How the process ends, when nothing else went wrong.
    fn exit(&self) -> Option<Exit> {
        match self {
            Self { failed: 0, refused: 0, under_way: 0, unclear: 0, not_sent: 0, .. } => None,
            Self { ads, refused, .. } if ads == refused => Some(Exit::Refused),
            _ => Some(Exit::Failed),
        }
    }
}

/// The file that `--report` names.
#[derive(Debug, Serialize)]
struct Whole<'a> {
    file: &'a str,
    summary: Summary,
    ads: Vec<&'a Record>,
}

/// Shows what has come of everything, and how the process ends.
pub(super) fn show(context: &Context, done: &Imported, to_file: Option<&Path>) -> Result<Option<Exit>, Failure> {
    let Imported { name, payloads, records, failure } = done;
    let (total, cut_short) = (*payloads, failure.is_some());
    let summary = Summary::of(records, total);
    if let Some(path) = to_file {
        let whole = Whole { file: name, summary, ads: records.values().collect() };
        let cannot =
            |error: std::io::Error| Failure::usage(format!("cannot write the report {}: {error}", path.display()));
        let mut out = BufWriter::new(File::create(path).map_err(cannot)?);
        serde_json::to_writer_pretty(&mut out, &whole).map_err(|error| cannot(error.into()))?;
        out.write_all(b"\n").and_then(|()| out.flush()).map_err(cannot)?;
    }
    if context.out.format() == Format::Table {
        let odd: Vec<_> = records.values().filter(|record| record.is_news(cut_short)).collect();
        if !odd.is_empty() {
            let mut rows = context.out.rows(COLUMNS);
            odd.iter().try_for_each(|record| rows.push(record))?;
            rows.end()?;
        }
    } else {
        let mut rows = context.out.rows(ALL_COLUMNS);
        records.values().try_for_each(|record| rows.push(record))?;
        rows.end()?;
    }
    let parts = summary.parts().into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    context.out.note(&format!("{name}: {}: {}", counted(total, "ad"), parts.join(", ")));
    Ok(summary.exit())
}
