//! Imports on a terminal: progress, and a report at the end. People get a table of failed ads, programs every ad.

use std::{
    cell::RefCell,
    io::{self, Write},
};

use ad_bulk::{
    AdOutcome,
    import::{Import, Imported, Note, Options, Record},
};
use serde::{Serialize, Serializer};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    Column, Context, Failure, Findings, OutFile, context::UTF_16, progress::Progress, stop_on_interrupt, tally,
};

/// Imports a file, and shows progress.
///
/// # Errors
/// When nothing is sent: the file cannot be read, the journal is of another import, the service is not known.
pub async fn import(context: &Context, options: &Options<'_>) -> Result<Imported, Failure> {
    run(context, options, None).await
}

/// The same as a part of a longer task, which `stop` ends.
///
/// # Errors
/// As [`import`].
pub async fn import_until(
    context: &Context,
    options: &Options<'_>,
    stop: &CancellationToken,
) -> Result<Imported, Failure> {
    run(context, options, Some(stop)).await
}

async fn run(context: &Context, options: &Options<'_>, stop: Option<&CancellationToken>) -> Result<Imported, Failure> {
    let client = context.client()?;
    let (stdin, journal) = (context.stdin(), context.folder.as_ref().map(|folder| folder.join("journal")));
    let options = Options {
        stdin: stdin.as_deref().filter(|_| options.file.as_os_str() == "-"),
        journal: options.journal.or(journal.as_deref()),
        surface: context.out.surface(),
        ..*options
    };
    let (mut import, notes) = Import::open(client, &options, context.now())?;
    for note in notes {
        context.out.note(&match note {
            Note::Utf16 => format!("{} {UTF_16}", import.name()),
            Note::NewJournal => format!("{} is new; nothing has been imported yet", import.journal().display()),
            Note::Changed => "the file has changed since the last run; accepted ads are not sent again".to_owned(),
        });
    }
    context.out.detail(&format!("journal: {}", import.journal().display()));
    // People see errors now, programs with the report.
    let findings = RefCell::new(Findings::for_people(import.name(), context.out));
    let totals = import
        .check(|verdict| findings.borrow_mut().show(verdict), |payloads| findings.borrow_mut().validated(payloads));
    findings.into_inner().end()?;
    if totals?.payloads == 0 {
        return Err(Failure::usage(format!("{} contains no payloads", import.name())));
    }
    let (expected, before) = import.expected();
    let mut progress = Progress::new(context.out, expected, before);
    let stop = stop.cloned().unwrap_or_else(|| stop_on_interrupt(context));
    let imported = import.run(&stop, |counts| progress.show(counts)).await;
    progress.end();
    Ok(imported)
}

/// Numbers of payloads by outcome, under the names of the report.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Number of all payloads, also of those not reached.
    pub ads: u64,
    /// Name, label for people, and number of each.
    pub counts: Vec<(&'static str, &'static str, u64)>,
}

impl Summary {
    /// The number of this outcome.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.iter().filter(|(known, ..)| *known == name).map(|(.., count)| count).sum()
    }

    /// `15 published, 1 stored and not shown`
    pub fn text(&self) -> String {
        tally(self.counts.iter().map(|(_, label, count)| (*count, *label)))
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = self.counts.iter().map(|(name, _, count)| (*name, *count));
        serializer.collect_map(std::iter::once(("ads", self.ads)).chain(counts))
    }
}

/// How an import is reported.
#[derive(derive_more::Debug)]
pub struct ImportReport<'a, Row: Serialize> {
    /// The columns of failed payloads, for people.
    pub columns: &'static [Column],
    /// What programs see of each.
    pub all_columns: &'static [Column],
    /// The names of outcomes, with their labels for people; `failed` is any other, `not_sent` what is left.
    pub labels: &'static [(&'static str, &'static str)],
    /// What the list of the report file is called.
    pub list: &'static str,
    /// Whether people are told of a payload otherwise than by a row.
    pub is_told_apart: fn(&Record) -> bool,
    /// The name of the outcome of a payload.
    pub name_of: fn(&Record) -> &'static str,
    /// What is shown of it.
    #[debug(skip)]
    pub row: &'a dyn Fn(Record) -> Row,
}

impl<Row: Serialize> ImportReport<'_, Row> {
    /// Shows all outcomes, and writes them to a file if one is named.
    ///
    /// # Errors
    /// When it cannot be shown or written.
    pub fn show(&self, context: &Context, imported: &Imported, to_file: Option<&OutFile>) -> Result<Summary, Failure> {
        let cut_short = imported.failure.is_some();
        let people = context.out.is_for_people();
        let mut summary = Summary { ads: imported.payloads, counts: Vec::new() };
        summary.counts = self.labels.iter().map(|(name, label)| (*name, *label, 0)).collect();
        let mut rows = None;
        imported.records.each(|record, _| {
            let name = (self.name_of)(&record);
            let of = |name| self.labels.iter().position(|(known, _)| *known == name);
            if let (Some(place), true) = (of(name).or(of("failed")), record.outcome != AdOutcome::NotSent) {
                summary.counts[place].2 += 1;
            }
            if !people || (is_news(&record, cut_short) && !(self.is_told_apart)(&record)) {
                let columns = if people { self.columns } else { self.all_columns };
                rows.get_or_insert_with(|| context.out.rows(columns)).push(&(self.row)(record))?;
            }
            Ok::<_, Failure>(())
        })?;
        if !people {
            rows.get_or_insert_with(|| context.out.rows(self.all_columns));
        }
        rows.map_or(Ok(()), super::output::Rows::end)?;
        // Payloads that an interrupted import did not reach have no record.
        let left = summary.ads.saturating_sub(summary.counts.iter().map(|(.., count)| count).sum());
        if let Some(not_sent) = summary.counts.iter_mut().find(|(name, ..)| *name == "not_sent") {
            not_sent.2 = left;
        }
        if let Some(to) = to_file {
            self.write(imported, &summary, to)?;
        }
        Ok(summary)
    }

    /// Writes the report row by row: there may be more of them than fit into memory.
    fn write(&self, imported: &Imported, summary: &Summary, to: &OutFile) -> Result<(), Failure> {
        let cannot = |error: io::Error| to.unwritable(&error);
        let mut out = to.create()?;
        let summary = serde_json::to_string(summary).map_err(|error| cannot(error.into()))?;
        let file = json!(imported.name);
        write!(out, "{{\n\"file\": {file},\n\"summary\": {summary},\n\"{}\": [", self.list).map_err(cannot)?;
        let mut before = "\n";
        imported.records.each(|record, _| {
            out.write_all(before.as_bytes()).map_err(cannot)?;
            serde_json::to_writer(&mut out, &(self.row)(record)).map_err(|error| cannot(error.into()))?;
            before = ",\n";
            Ok::<_, Failure>(())
        })?;
        out.write_all(b"\n]\n}\n").and_then(|()| out.end()).map_err(cannot)
    }
}

/// Whether the table for people lists it. Of an import that was `cut_short`, the ads that were not reached are only counted.
fn is_news(record: &Record, cut_short: bool) -> bool {
    match record.outcome {
        AdOutcome::NotSent => false,
        AdOutcome::UnderWay => !cut_short,
        outcome => !record.is_invalid && (!outcome.is_good() || record.message.is_some()),
    }
}
