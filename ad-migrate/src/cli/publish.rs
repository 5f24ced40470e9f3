//! `ad-migrate publish`: ads that were created hidden are shown.

use std::path::PathBuf;

use ad_cli::cli::{Context, Exit, Failure, import::Task};

use super::run::SubmitArgs;
use crate::submit::{folder::Folder, outcome};

/// Arguments of `publish`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows the ads that `ad-migrate run --hidden` created. That is when they are published, and when those whose licence plate the dealer \
has listed already are linked to that listing. The file is only named: what was created stands in the folder beside it.

Interrupted or killed, the same command goes on where it was.

Examples:
  ad-migrate publish stock.csv --limit 10
  ad-migrate publish stock.csv")]
pub(crate) struct Args {
    /// The file that was migrated
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    submit: SubmitArgs,
    /// Show so many ads at most, and leave the others for the next time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let folder = Folder::of(&args.file, args.submit.folder.as_deref());
    if !folder.is_begun() {
        return Err(Failure::usage(format!("{} has no ads that were created", folder.path().display()))
            .hint(format!("create them first: ad-migrate run {} --mapping M --hidden", args.file.display()))
            .hint("or say where they are kept: --folder DIR"));
    }
    let _taken = folder.take()?;
    let done = args.submit.carry_out(context, &folder, Task::Show, args.limit).await?;
    let name = args.file.display().to_string();
    let summary = outcome::show(context, &name, &done, &[], args.submit.report.as_deref())?;
    if let Some(failure) = done.failure {
        return Err(failure);
    }
    if summary.is_good() { Ok(()) } else { Err(Failure::Said(Exit::Failed)) }
}
