//! `ad-cli import`: many ads at once.

use std::{path::PathBuf, time::Duration};

use crate::cli::{
    Context, Failure,
    import::{self, Import, Resume, Task},
    through::Through,
    waiting,
};

/// Most requests that are out at the same time.
const MOST_PARALLEL: u64 = 256;

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
FILE holds one JSON object, a JSON array of objects, or one object a line (NDJSON). All of them are checked first; those with mistakes are
told and not sent, the others are sent, and waited for until they are published or have failed.

What is done is kept in a journal beside the file. After an interruption --resume goes on where it was: no ad is sent twice.

Exit code 0: all ads are published. 1: some are not; the report says which and why. 3: all were refused.

Examples:
  ad-cli import stock.ndjson
  ad-cli import stock.ndjson --resume
  ad-cli import stock.json --report report.json --rate 20")]
pub(crate) struct Args {
    /// The file; - is stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    #[command(flatten)]
    through: Through,
    /// Go on where an earlier import of this file was
    #[arg(long)]
    resume: bool,
    /// Go on though the file has changed since: ads that were accepted are not sent again, changed or not
    #[arg(long, requires = "resume")]
    accept_changes: bool,
    /// The journal [default: FILE.journal]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Write what became of every ad into this file, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Requests that are out at the same time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=MOST_PARALLEL))]
    parallel: u64,
    /// Do not wait for what becomes of the ads
    #[arg(long)]
    no_wait: bool,
    /// How long to wait while nothing happens once all are sent, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = waiting::duration, conflicts_with = "no_wait")]
    within: Duration,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let again = resume_command(args);
    let import = Import {
        file: &args.file,
        journal: args.journal.as_deref(),
        task: Task::Create,
        limit: None,
        resume: if args.resume { Resume::Yes { accept_changes: args.accept_changes } } else { Resume::No },
        again: &again,
        parallel: usize::try_from(args.parallel).unwrap_or(1),
        within: (!args.no_wait).then_some(args.within),
        version: args.through.version(),
        of_type: args.through.category(),
    };
    import::run(context, import, args.report.as_deref()).await
}

/// The command that goes on.
fn resume_command(args: &Args) -> String {
    let journal = args.journal.as_ref().map(|path| format!(" --journal {}", path.display())).unwrap_or_default();
    let file =
        if args.file.as_os_str() == "-" { "- < the same input".to_owned() } else { args.file.display().to_string() };
    format!("ad-cli import{journal} --resume {file}")
}
