//! `ad-migrate check`: maps and validates a file, without sending anything.

use std::{
    io,
    path::{Path, PathBuf},
};

use ad_core::{model::Timestamp, rulebook::Rulebook};
use ad_terminal::{Context, Exit, Failure, FileKind, Force, OutFile, bar, output::Output};
use indicatif::ProgressBar;

use super::{
    file::{FileArgs, not_checked, not_read},
    terminal::Terminal,
};
use crate::{
    check::{self, OpenedFile, Payloads, Sink, Totals, Verdict},
    mapping::Mapping,
    readers::Reader,
    report::{About, EarlierReport, FileReport, Json, Page, SideBySide},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is sent: rows are mapped and validated by the rules and allowed values built into this program.

Exit codes:
  0  all rows are valid
  2  invalid command line or mapping, or the file cannot be read to its end
  3  some rows are invalid

Examples:
  ad-migrate check stock.csv --mapping stock.toml --report report.html
  ad-migrate check stock.zip --mapping stock.toml --member lager.xml
  ad-migrate check stock.csv --mapping stock.toml --output csv > errors.csv")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Accept images over http, of a service whose operator allows them for tests
    #[arg(long, help_heading = "Validation")]
    http_images: bool,
    /// Write a self-contained HTML page to forward; an earlier page is replaced
    #[arg(long, value_name = "FILE.html", help_heading = "Reports")]
    report: Option<PathBuf>,
    /// Write all findings and the profile of each column as JSON; if the file is an earlier report, show what has changed since
    #[arg(long, value_name = "FILE.json", help_heading = "Reports")]
    json: Option<PathBuf>,
    /// Write each valid row beside its payload, as lines of JSON; an earlier such file is replaced
    #[arg(long, value_name = "FILE.ndjson", help_heading = "Reports")]
    payloads: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Reports")]
    force: Force,
    /// Leave the values of the row out of --payloads, which takes less time and space
    #[arg(long, requires = "payloads", conflicts_with_all = ["report", "json"], help_heading = "Reports")]
    no_values: bool,
    /// Number of invalid rows to show on the terminal
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=10_000), help_heading = "Reports")]
    limit_shown: u64,
}

pub(crate) fn run(context: &Context, args: &CheckArgs) -> Result<(), Failure> {
    let OpenedFile { rulebook, mapping, reader } = args.file.open(args.http_images)?;
    let about = About { file: args.file.name(), mapping: args.file.mapping.clone(), checked: context.now() };
    let mut reports = Reports::begin(context.out, args, &about)?;
    let payloads = match (&args.payloads, &args.report, &args.json) {
        (Some(_), ..) if args.no_values => Payloads::All,
        (Some(_), ..) => Payloads::AllWithSources,
        (None, Some(_), _) => Payloads::First(Page::PAYLOADS),
        (None, None, Some(_)) => Payloads::First(0),
        (None, None, None) => Payloads::None,
    };
    let earlier = args.json.as_deref().and_then(EarlierReport::read);
    let totals = checked(context.out, reader, &mapping, &rulebook, payloads, about.checked, &mut reports)?;
    reports.end(&totals, earlier.as_ref())?;
    ended(&about.file, &totals)
}

pub(super) fn ended(file: &str, totals: &Totals) -> Result<(), Failure> {
    match totals.unusable(file) {
        Some(error) => Err(not_read(error)),
        None if totals.invalid == 0 => Ok(()),
        None => Err(Failure::Shown(Exit::Rejected)),
    }
}

struct Reports {
    terminal: Terminal,
    /// With path, and what it is in a note.
    files: Vec<(PathBuf, &'static str, Box<dyn FileReport>)>,
    out: Output,
}

impl Reports {
    fn begin(out: Output, args: &CheckArgs, about: &About) -> Result<Self, Failure> {
        type Begin = fn(&Path, &About) -> io::Result<Box<dyn FileReport>>;
        let wanted: [(&Option<PathBuf>, FileKind, &str, Begin); 3] = [
            (&args.json, FileKind::Findings, "all findings", |path, about| Ok(Box::new(Json::create(path, about)?))),
            (&args.report, FileKind::Page, "page to forward", |path, about| Ok(Box::new(Page::create(path, about)?))),
            (&args.payloads, FileKind::RowsAndPayloads, "rows and payloads", |path, _| {
                Ok(Box::new(SideBySide::create(path)?))
            }),
        ];
        let mut files = Vec::new();
        for (path, kind, what, begin) in wanted {
            if let Some(path) = path {
                // Fails before the file is read, if a report cannot be written.
                let to = OutFile::new(path, kind, args.force)?;
                let report = begin(path, about).map_err(|error| to.unwritable(&error))?;
                files.push((path.clone(), what, report));
            }
        }
        let terminal = Terminal::new(out, about, args.limit_shown);
        Ok(Self { terminal, files, out })
    }

    fn end(self, totals: &Totals, earlier: Option<&EarlierReport>) -> Result<(), Failure> {
        self.terminal.end(totals)?;
        if let Some(earlier) = earlier {
            let changes = earlier.changes(totals);
            let what = if changes.is_empty() { " nothing" } else { "" };
            self.out.note(&format!("changed since {}:{what}", earlier.checked));
            for change in changes {
                self.out.note(&format!("  {change}"));
            }
        }
        for (path, what, report) in self.files {
            report.end(totals).map_err(|error| Failure::failed(unwritable(&path, &error)))?;
            self.out.note(&format!("{what}: {}", path.display()));
        }
        Ok(())
    }
}

impl Sink for Reports {
    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        self.terminal.add(&verdict)?;
        for (path, _, report) in &mut self.files {
            let named = |error: io::Error| io::Error::other(format!("{}: {error}", path.display()));
            report.add(&verdict).map_err(named)?;
        }
        Ok(())
    }
}

fn unwritable(path: &Path, error: &io::Error) -> String {
    format!("cannot write the report {}: {error}", path.display())
}

/// Checks a file. On a terminal, shows the progress of reading it until the first verdict.
pub(super) fn checked(
    out: Output,
    reader: Reader,
    mapping: &Mapping,
    rulebook: &Rulebook,
    payloads: Payloads,
    now: Timestamp,
    sink: &mut impl Sink,
) -> Result<Totals, Failure> {
    let bar = bar(out, 0, "checking {bar:30.green} {bytes:>10} of {total_bytes} {eta:>5} left");
    let mut sink = ProgressSink { sink, bar };
    let totals = check::run(reader, mapping, rulebook, payloads, now, &mut sink).map_err(not_checked)?;
    sink.end_bar();
    Ok(totals)
}

struct ProgressSink<'a, S> {
    sink: &'a mut S,
    bar: ProgressBar,
}

impl<S> ProgressSink<'_, S> {
    fn end_bar(&self) {
        if !self.bar.is_finished() {
            self.bar.finish_and_clear();
        }
    }
}

impl<S: Sink> Sink for ProgressSink<'_, S> {
    fn progress(&mut self, read: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(read);
    }

    fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
        // The bar must not overwrite what the sink prints.
        self.end_bar();
        self.sink.verdict(verdict)
    }
}
