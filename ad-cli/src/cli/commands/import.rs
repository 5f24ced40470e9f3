//! `ad-cli import`: many ads at once.

use std::{cmp::Reverse, collections::BTreeMap, path::PathBuf, time::Duration};

use ad_core::violation::Code;

use super::{rejects, validate};
use crate::{
    bulk::{
        Invocation, Surface,
        import::{Imported, Options, Record, Resume, Task},
    },
    cli::{
        images::service_accepts_http,
        input::{Input, MappingArg},
        through::ApiOptions,
    },
    terminal::{
        self, Column, Context, Exit, Failure, FileKind, Force, ImportReport, OutFile, ad_table, causes::Causes,
        counted, grouped,
    },
};

const MOST_PARALLEL: u64 = 256;

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
#[command(after_help = "\
FILE contains one JSON object, a JSON array of objects, or one object per line (NDJSON). All payloads are validated locally first. Invalid \
ones are reported and skipped; the others are sent, and the command waits until they are published or have failed.

FILE may also be a table (.csv, .xlsx, .ods). `ad-migrate` reads its rows with --mapping, or with the mapping beside the file: stock.toml for \
stock.xlsx. `ad-migrate inspect` drafts a mapping, `ad-cli template` writes a sheet with its mapping.

The summary counts findings about the quality of the valid ads, such as a price in öre. They reject nothing.

At the end, mistakes are counted by cause. --rejects FILE collects the rejected payloads: correct them there, and import that file.

A journal beside the file records the progress. After an interruption, --resume continues; no ad is sent twice.

Exit code 0: all ads are published. 1: some are not; the report contains the reasons. 3: all were rejected.

Examples:
  ad-cli import stock.ndjson
  ad-cli import stock.ndjson --resume
  ad-cli import stock.xlsx --mapping stock.toml
  ad-cli import stock.json --report report.json --rate 20
  ad-cli import stock.ndjson --rejects rejects.ndjson")]
pub(crate) struct ImportArgs {
    /// The file, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    mapping: MappingArg,
    #[command(flatten)]
    through: ApiOptions,
    /// Resume an interrupted import of this file
    #[arg(long)]
    resume: bool,
    /// Resume although the file has changed; accepted ads are not sent again, even if they have changed
    #[arg(long, requires = "resume")]
    accept_changes: bool,
    /// Journal file [default: FILE.journal]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Write the outcome of every ad to this file, as JSON; an earlier report is replaced
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the rejected payloads to this file, one a line, to be mended and imported; an earlier such file is replaced
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Maximum number of concurrent requests
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=MOST_PARALLEL))]
    parallel: u64,
    /// Validate the payloads without sending anything
    #[arg(long, conflicts_with_all = ["resume", "rejects", "report"])]
    dry_run: bool,
    /// Do not wait for the outcomes
    #[arg(long)]
    no_wait: bool,
    /// After all ads are sent, stop waiting after this time without progress, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = terminal::duration, conflicts_with = "no_wait")]
    within: Duration,
}

const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("LINE", "line"),
    Column::new("OUTCOME", "outcome").shown(ad_table::outcome),
    Column::new("REQUEST", "request_id").for_programs(),
    Column::new("MESSAGE", "message").wrapped(),
];

/// What programs get in columns.
#[rustfmt::skip]
const ALL_COLUMNS: &[Column] = &Column::at_paths([
    "index", "line", "source_id", "dealer_code", "outcome", "message", "request_id", "marketplace_ad_id", "offer_id",
]);

const REPORT: ImportReport<'_, Record> = ImportReport {
    columns: COLUMNS,
    all_columns: ALL_COLUMNS,
    labels: &[
        ("published", "published"),
        ("hidden", "stored, hidden"),
        ("accepted", "accepted"),
        ("failed", "failed"),
        ("rejected", "rejected"),
        ("under_way", "unfinished"),
        ("unclear", "unclear"),
        ("not_sent", "not sent"),
    ],
    list: "ads",
    is_told_apart: |_| false,
    name_of: |record| record.outcome.name(),
    row: &|record| record,
};

pub(crate) async fn run(context: &Context, args: &ImportArgs) -> Result<(), Failure> {
    if args.dry_run {
        return validate::run(context, &validate::ValidateArgs::of(&args.file, &args.mapping, &args.through)).await;
    }
    context.out.check_fields(ALL_COLUMNS, &[])?;
    let input = Input::open(context, &args.file, &args.mapping, true).await?;
    if input.rows().is_some() && args.rejects.is_some() {
        return Err(Failure::usage(format!(
            "--rejects needs a file of payloads (JSON); {} is a table",
            args.file.display()
        ))
        .hint("correct the rows in the table, then import it again with --resume --accept-changes"));
    }
    let report = OutFile::wanted(args.report.as_deref(), FileKind::Outcomes, args.force)?;
    let rejects = OutFile::wanted(args.rejects.as_deref(), FileKind::Payloads, args.force)?;
    let options = Options {
        file: &args.file,
        stdin: None,
        rows: input.rows(),
        journal: args.journal.as_deref(),
        task: Task::Create,
        limit: None,
        resume: match (args.resume, args.accept_changes) {
            (false, _) => Resume::No,
            (true, false) => Resume::Same,
            (true, true) => Resume::Changed,
        },
        parallel: usize::try_from(args.parallel).unwrap_or(1),
        within: (!args.no_wait).then_some(args.within),
        version: args.through.version(),
        of_type: args.through.category(),
        surface: context.out.surface(),
    };
    let imported = terminal::import(context, &options).await?;
    let summary = REPORT.show(context, &imported, report.as_ref())?;
    context.out.note(&format!("{}: {}: {}", imported.name, counted(summary.ads, "ad"), summary.text()));
    note_findings(context, &findings_of_service(context, &imported.findings).await);
    note_causes(context, &imported)?;
    if let Some(to) = &rejects {
        rejects::write(context, &args.file, to, &imported)?;
    }
    if let Some(failure) = imported.failure {
        let failure = Failure::from(failure);
        return Err(match context.out.surface() {
            Surface::CommandLine => failure.hint(format!("to resume: {}", resume_command(args))),
            // The journal of a call ends with it.
            Surface::Tools => failure.hint("repeat the call; the service rejects ads that it already has"),
        });
    }
    let rejected = summary.count("rejected");
    what_next(context, args, input.rows().is_some(), rejected, summary.count("failed"));
    match ["failed", "under_way", "unclear", "not_sent"].map(|name| summary.count(name)).iter().sum::<u64>() + rejected
    {
        0 => Ok(()),
        _ if rejected == summary.ads => Err(Failure::Shown(Exit::Rejected)),
        _ => Err(Failure::Shown(Exit::Failed)),
    }
}

/// The findings, without those about addresses of images that this service accepts.
async fn findings_of_service(context: &Context, findings: &BTreeMap<Code, u64>) -> BTreeMap<Code, u64> {
    let mut findings = findings.clone();
    if findings.contains_key(&Code::ImageUnreachable) && service_accepts_http(context).await {
        findings.remove(&Code::ImageUnreachable);
    }
    findings
}

/// Counts of findings, the most frequent first.
fn note_findings(context: &Context, findings: &BTreeMap<Code, u64>) {
    let mut counts: Vec<_> = findings.iter().map(|(code, count)| (*count, *code)).collect();
    if counts.is_empty() {
        return;
    }
    counts.sort_by_key(|(count, code)| (Reverse(*count), *code));
    let all = counted(counts.iter().map(|(count, _)| count).sum(), "finding");
    let quality = context.out.command(&Invocation::new("quality").with_some("source_ids", "SOURCE_ID"));
    context.out.note(&format!("quality: {all} about valid ads, which rejected none; to see those of an ad: {quality}"));
    for (count, code) in counts {
        context.out.note(&format!("  {:>6}  {}: {}", grouped(count), code.name(), code.about().title));
    }
}

/// Says what is most often wrong with rejected payloads.
fn note_causes(context: &Context, imported: &Imported) -> Result<(), Failure> {
    let mut causes = Causes::default();
    imported.records.each(|record, _| {
        causes.add(&record.findings);
        Ok::<_, Failure>(())
    })?;
    causes.note(context.out);
    Ok(())
}

/// Says what to do about ads that are not published.
fn what_next(context: &Context, args: &ImportArgs, is_table: bool, rejected: u64, failed: u64) {
    if rejected > 0 && is_table {
        context.out.note(&format!("correct the rejected rows, then: {} --accept-changes", resume_command(args)));
    } else if rejected > 0 && args.rejects.is_none() && args.file.as_os_str() != "-" {
        let again = resume_command(args);
        context.out.note(&format!("to write the rejected payloads to a file: {again} --rejects rejects.ndjson"));
    }
    if failed > 0 {
        let status = context.out.command(&Invocation::new("status"));
        let retry = context.out.command(&Invocation::new("retry").with_some("source_ids", "SOURCE_ID"));
        context.out.note(&format!("to show why ads are not live: {status}; when that is corrected: {retry}"));
    }
}

/// The command line that resumes the import.
fn resume_command(args: &ImportArgs) -> String {
    let journal = args.journal.as_ref().map(|path| format!(" --journal {}", path.display())).unwrap_or_default();
    let file =
        if args.file.as_os_str() == "-" { "- < the same input".to_owned() } else { args.file.display().to_string() };
    format!("ad-cli import{}{journal} --resume {file}", args.mapping.as_argument())
}
