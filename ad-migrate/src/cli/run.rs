//! `ad-migrate run`: creates one ad per valid row.

mod sync;

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    time::Duration,
};

use ad_bulk::import::{self, Imported, Resume, Task};
use ad_core::model::ApiVersion;
use ad_files::text::{counted, grouped};
use ad_terminal::{CancellationToken, Context, Exit, Failure, FileKind, Force, OutFile, duration};

use super::{
    check::checked,
    file::{FileArgs, not_read},
    publish::publish_command,
    terminal::warn_of_missing,
};
use crate::{
    check::{OpenedFile, Payloads, Totals},
    readers::{Reader, Settings},
    submit::{
        folder::Folder,
        missing,
        outcome::{self, Shown},
        prepare::{InvalidRows, Prepare, Prepared, RowNumbers, Sending},
        rehearse::rehearse,
        report::Report,
        revise::{self, RESUME, Revision},
        sync::Desired,
    },
};
use sync::Night;

const SUBMITTING: &str = "Submitting";
const SYNCING: &str = "The whole stock";
const CHANGING: &str = "Changing ads (--sync, --update)";

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command")]
#[command(after_help = "\
All rows are validated first, as by `ad-migrate check`. Invalid rows are counted and skipped. For each valid row the command creates one \
ad and waits until it is published or has failed. An ad whose registration number the dealer has already listed is linked to that \
listing and replaces its data; other ads get a new listing. The final report shows linked and new ads, and what is listed but not in \
the file; nothing is deleted.

A folder beside the file records the progress. After an interruption, run the same command again to resume; no ad is created twice.

Start small: --rehearse only sends the rows to the service's `validate`, --limit 10 creates ten ads, and --hidden creates hidden ads, \
which `ad-migrate publish` later publishes and links.

--sync is for every night: the file is the whole stock of the vehicle types of the mapping. Ads are created, updated where their rows differ, and \
hidden (--gone delete: deleted) if the file no longer has them or [rows] leaves them out; ads in the file are shown, unless the mapping sets \
`visible`. Ads of invalid rows stay as they are. Ads that go are listed first. More removals than 10 % of a dealer's ads or 20, whichever is less, need --allow-removals N; N is then the limit.

--update creates nothing: it compares the ads that were created before with their rows, as the file and the mapping are now, and sends what \
differs. Each update is bound to the revision of the ad that is read just before it. With --rehearse, --sync and --update only show the differences.

--sync and --update change nothing if a table, such as CSV or Excel, lacks a column of the mapping, which would take the values of its field away from all ads \
(--allow-missing-columns; `optional = true` in the mapping for a column that may be missing), or if more prices than 10 % of a dealer's ads or \
20 would become less than half or more than double, or go (--allow-far-prices N).

Exit code 0: all rows have become ads. 1: some have not. 3: no row is valid, or nothing was changed for safety.

Examples:
  ad-migrate run stock.csv --mapping stock.toml --rehearse
  ad-migrate run stock.csv --mapping stock.toml --limit 10
  ad-migrate run stock.csv --mapping stock.toml
  ad-migrate run stock.csv --mapping stock.toml --only-failed
  ad-migrate run stock.csv --mapping stock.toml --update --rehearse
  ad-migrate run stock.csv --mapping stock.toml --sync --report outcome.json")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    submit: SubmitArgs,
    /// Dry run: send every valid row to the service's `validate`, which stores nothing and uses up no source id
    #[arg(long, conflicts_with_all = ["hidden", "only_failed"], help_heading = SUBMITTING)]
    rehearse: bool,
    /// Create hidden ads, to be published later by `ad-migrate publish`
    #[arg(long, help_heading = SUBMITTING)]
    hidden: bool,
    /// Maximum number of ads to create in this run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = SUBMITTING)]
    limit: Option<u64>,
    /// Accept images over http, of a service whose operator allows them for tests
    #[arg(long, help_heading = SUBMITTING)]
    http_images: bool,
    /// Only send rejected rows again and retry ads that could not be published
    #[arg(long, help_heading = SUBMITTING)]
    only_failed: bool,
    /// Send corrected values of ads that were created before, and create none
    #[arg(long, conflicts_with_all = ["hidden", "only_failed", "listings"], help_heading = SUBMITTING)]
    update: bool,
    /// Make the ads equal to the file: create, update, and take away what it no longer has
    #[arg(long, conflicts_with_all = ["update", "hidden", "only_failed", "limit", "listings"], help_heading = SYNCING)]
    sync: bool,
    /// What becomes of ads that the file no longer has
    #[arg(long, value_name = "WHAT", value_enum, default_value = "hide", requires = "sync", help_heading = SYNCING)]
    gone: Gone,
    /// Maximum number of removals [default: 10 % of a dealer's ads or 20, whichever is less]
    #[arg(long, value_name = "N", requires = "sync", help_heading = SYNCING)]
    allow_removals: Option<u64>,
    /// Maximum number of ads whose price becomes less than half or more than double [default: 10 % of a dealer's ads or 20, whichever is less]
    #[arg(long, value_name = "N", help_heading = CHANGING)]
    allow_far_prices: Option<u64>,
    /// Take away from the ads what is made of columns that the file lacks
    #[arg(long, help_heading = CHANGING)]
    allow_missing_columns: bool,
    /// Export of the dealer's listings from the marketplace's console, to report those that are not in the file
    #[arg(long, value_name = "FILE", help_heading = "Listings without a row")]
    listings: Option<PathBuf>,
    /// Column of the registration numbers in that export
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = "registration_number",
        requires = "listings",
        help_heading = "Listings without a row"
    )]
    listings_plate: String,
}

/// What becomes of ads that the file no longer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Gone {
    /// Their listings are removed, and the ads stay stored.
    Hide,
    /// They are deleted, permanently.
    Delete,
}

/// Options of commands that send ads.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = SUBMITTING)]
pub(crate) struct SubmitArgs {
    /// Folder of payloads and journal [default: FILE.migration]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Write the outcome of every row to this file, as JSON; an earlier report is replaced
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Maximum number of concurrent requests
    #[arg(long, value_name = "N", default_value = "16")]
    pub(crate) parallel: NonZeroUsize,
    /// After all ads are sent, stop waiting after this time without progress, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub(crate) within: Duration,
}

/// What to do with the ads of a folder.
#[derive(Debug)]
pub(crate) struct Submission<'a> {
    pub(crate) task: Task,
    pub(crate) limit: Option<u64>,
    /// Name of the file in messages.
    pub(crate) name: String,
    /// The row of each payload.
    pub(crate) rows: &'a mut RowNumbers,
    /// Numbers of rows that are not among the payloads, and those that are invalid.
    pub(crate) left_out: &'a [(u64, &'a str)],
    pub(crate) invalid: Option<&'a mut InvalidRows>,
}

impl SubmitArgs {
    /// The file for the outcomes.
    fn report(&self) -> Result<Option<OutFile>, Failure> {
        OutFile::wanted(self.report.as_deref(), FileKind::Outcomes, self.force)
    }

    /// Runs a task on the ads of a folder, through its journal, and shows the outcomes.
    pub(crate) async fn carry_out(
        &self,
        context: &Context,
        folder: &Folder,
        submission: Submission<'_>,
    ) -> Result<(Imported, Shown), Failure> {
        outcome::check_fields(context)?;
        let Submission { task, limit, name, rows, left_out, invalid } = submission;
        let report = self.report()?;
        let imported = self.import(context, folder, &folder.payloads(), (task, limit), None).await?;
        let mut imported = Imported { name, ..imported };
        let report = report.as_ref().map(|to| Report { to, name: &imported.name, invalid });
        let shown = outcome::show(context, &imported, rows, left_out, report)?;
        match imported.failure.take() {
            Some(failure) => {
                outcome::sum_up(context, &imported.name, &shown, &[], false);
                Err(Failure::from(failure).hint(RESUME))
            }
            None => Ok((imported, shown)),
        }
    }

    /// Runs a task on the ads of these payloads, through the journal of a folder.
    async fn import(
        &self,
        context: &Context,
        folder: &Folder,
        payloads: &Path,
        (task, limit): (Task, Option<u64>),
        stop: Option<&CancellationToken>,
    ) -> Result<Imported, Failure> {
        let journal = folder.journal();
        let options = import::Options {
            file: payloads,
            stdin: None,
            rows: None,
            journal: Some(&journal),
            task,
            limit,
            resume: Resume::IfBegun,
            parallel: self.parallel.get().min(256),
            within: Some(self.within),
            version: ApiVersion::V4,
            of_type: None,
            surface: ad_bulk::Surface::CommandLine,
        };
        match stop {
            Some(stop) => ad_terminal::import_until(context, &options, stop).await,
            None => ad_terminal::import(context, &options).await,
        }
    }
}

pub(crate) async fn run(context: &Context, args: &RunArgs) -> Result<(), Failure> {
    // Fails before the file is read, without server URL and token.
    let client = context.client()?;
    let report = args.submit.report()?;
    let OpenedFile { rulebook, mapping, reader } = args.file.open(args.http_images)?;
    let folder = Folder::of(args.file.path(), args.submit.folder.as_deref());
    // A rehearsal writes nothing into the folder.
    let _taken = if args.rehearse { None } else { Some(folder.take()?) };
    let listings = args.listings.as_deref().map(|path| Reader::open(path, &Settings::default())).transpose();
    let listings = listings.map_err(not_read)?;
    let scratch = if args.rehearse {
        tempfile::tempdir().map_err(|error| Failure::failed(format!("cannot create a temporary folder: {error}")))?
    } else {
        folder.scratch()?
    };
    let payloads = if args.rehearse { scratch.path().join("rehearsed.ndjson") } else { folder.payloads() };
    let mut prepare =
        Prepare::new(scratch.path(), args.hidden).map_err(|error| folder.unusable("write into", &error))?;
    let totals = checked(context.out, reader, &mapping, &rulebook, Payloads::All, context.now(), &mut prepare)?;
    may_be_sent(context, &args.file, &totals)?;
    let lost = args.lost_columns(&totals);
    match lost {
        Some(failure) if !args.rehearse => return Err(failure),
        Some(_) => {}
        None => warn_of_missing(context.out, &totals),
    }
    let mut prepared = prepare.end(&payloads).map_err(|error| folder.unusable("write into", &error))?;
    if args.sync {
        let types = mapping.vehicle_types().collect();
        let desired = Desired { payloads: &payloads, prepared: &mut prepared, types };
        let night = Night { client: &client, rulebook: &rulebook, folder: &folder, scratch: scratch.path() };
        return args.sync(context, night, desired, &totals, lost).await;
    }
    let Prepared { mut rows, mut stock, mut invalid } = prepared;
    let name = args.file.name();
    let (most, parallel) = (args.limit.unwrap_or(u64::MAX), args.submit.parallel.get());
    let sending = Sending { payloads: &payloads, rows: &mut rows, most, parallel };
    if args.update {
        let (is_rehearsal, far_prices) = (args.rehearse, args.allow_far_prices);
        let revision = Revision { sending, is_rehearsal, far_prices, refused: lost, rulebook: &rulebook };
        let report = report.as_ref().map(|to| Report { to, name: &name, invalid: Some(&mut invalid) });
        let failed = revise::update(context, &client, &folder, revision, &totals, report).await?;
        let is_good = failed == 0 && totals.invalid == 0;
        return if is_good { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) };
    }
    if args.rehearse {
        let bound = mapping.bind(&totals.columns);
        let rejected = rehearse(context, &client, sending, folder.is_begun(), |field| bound.columns_of(field)).await?;
        return match (rejected, totals.invalid) {
            (0, 0) => Ok(()),
            (0, _) => Err(Failure::Shown(Exit::Failed)),
            _ => Err(Failure::Shown(Exit::Rejected)),
        };
    }
    let task = if args.only_failed { Task::Failed } else { Task::Create };
    let left_out = [(totals.invalid, "invalid"), (totals.skipped, "skipped")];
    let limit = args.limit;
    let (left_out, invalid) = (&left_out, Some(&mut invalid));
    let submission = Submission { task, limit, name: name.clone(), rows: &mut rows, left_out, invalid };
    let (imported, shown) = args.submit.carry_out(context, &folder, submission).await?;
    // A part of the rows says nothing about ads without one.
    if listings.is_some() || (args.limit.is_none() && !args.only_failed) {
        stock.list_ads(&client).await?;
        if let Some(listings) = listings {
            stock.list_export(listings, &args.listings_plate).map_err(not_read)?;
        }
        missing::show(context, &stock.missing()?)?;
    }
    let publish = publish_command(args.file.path(), args.submit.folder.as_deref());
    outcome::note_hidden(context, &imported, &publish).await?;
    outcome::sum_up(context, &name, &shown, left_out, args.only_failed);
    let summary = &shown.summary;
    let is_cut_short = summary.count("not_sent") > 0 && args.limit.is_none() && !args.only_failed;
    if totals.invalid > 0 || is_cut_short || !outcome::is_good(summary) {
        return Err(Failure::Shown(Exit::Failed));
    }
    Ok(())
}

impl RunArgs {
    /// Why ads that exist may not be changed: a table lacks columns of the mapping, and what is made of them would be lost. Of other files,
    /// a night without reduced prices, for example, is no mistake; lost prices have a guard of their own.
    fn lost_columns(&self, totals: &Totals) -> Option<Failure> {
        let changes = self.sync || self.update;
        let may_lose = self.allow_missing_columns || !totals.detected.form.is_table();
        if !changes || may_lose || totals.missing.is_empty() {
            return None;
        }
        let (shown, more) = totals.missing.split_at(totals.missing.len().min(MOST_COLUMNS));
        let more = if more.is_empty() { String::new() } else { format!("\n  … and {} more", more.len()) };
        let lacks = counted(totals.missing.len() as u64, "column");
        let message = format!(
            "{} lacks {lacks} of the mapping, and the ads would lose what is made of them; nothing was changed\n  {}{more}",
            self.file.name(),
            shown.join("\n  ")
        );
        let failure = Failure::rejected(message)
            .hint("if a column has another name now, correct the mapping")
            .hint("if the file may lack a column, set optional = true at its field in the mapping")
            .hint("to go on without the columns: --allow-missing-columns");
        Some(failure)
    }
}

/// Missing columns that a refusal names; the others are counted.
const MOST_COLUMNS: usize = 10;

/// Warns of invalid rows, and fails if nothing may be sent.
fn may_be_sent(context: &Context, file: &FileArgs, totals: &Totals) -> Result<(), Failure> {
    let name = file.name();
    if let Some(unread) = &totals.unread {
        let failure =
            Failure::usage(format!("{name} cannot be read to its end, so nothing is sent: {}", unread.message));
        return Err(unread.hints.iter().cloned().fold(failure, Failure::hint));
    }
    let see = format!("to list them: ad-migrate check {name} --mapping {}", file.mapping);
    if totals.valid == 0 {
        return Err(
            Failure::rejected(format!("none of the {} rows of {name} is valid", grouped(totals.rows))).hint(see)
        );
    }
    let of_all = |count| format!("{} of {}", grouped(count), counted(totals.rows, "row"));
    if totals.skipped > 0 {
        context.out.note(&format!("{} are skipped by the mapping", of_all(totals.skipped)));
    }
    if totals.invalid > 0 {
        context.out.warning(&format!("{} are invalid; {see}", of_all(totals.invalid)));
    }
    Ok(())
}
