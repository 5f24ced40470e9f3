//! `ad-migrate publish`: publishes hidden ads.

use std::path::PathBuf;

use ad_bulk::import::Task;
use ad_terminal::{Context, Exit, Failure};

use super::run::{Submission, SubmitArgs};
use crate::submit::{folder::Folder, outcome, prepare::RowNumbers};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Publishes the ads that `ad-migrate run --hidden` created, and links each to the dealer's existing listing with the same registration \
number. FILE is not read; the folder beside it records which ads were created.

After an interruption, run the same command again to resume.

Examples:
  ad-migrate publish stock.csv --limit 10
  ad-migrate publish stock.csv")]
pub(crate) struct PublishArgs {
    /// The file that was migrated
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    submit: SubmitArgs,
    /// Maximum number of ads to publish in this run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

pub(crate) async fn run(context: &Context, args: &PublishArgs) -> Result<(), Failure> {
    let folder = Folder::of(&args.file, args.submit.folder.as_deref());
    if !folder.is_begun() {
        return Err(Failure::usage(format!("no ads were created from {}", folder.path().display()))
            .hint(format!("create them first: ad-migrate run {} --mapping M --hidden", args.file.display()))
            .hint("or set the folder of the migration: --folder DIR"));
    }
    let _taken = folder.take()?;
    let name = args.file.display().to_string();
    let rows = &mut RowNumbers::default();
    let submission = Submission { task: Task::Show, limit: args.limit, name: name.clone(), rows };
    let summary = args.submit.carry_out(context, &folder, submission).await?;
    outcome::sum_up(context, &name, &summary, &[], false);
    if outcome::is_good(&summary) { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) }
}
