//! `ad-migrate publish`: publishes hidden ads.

use std::path::{Path, PathBuf};

use ad_bulk::{desired::quoted, import::Task};
use ad_terminal::{Context, Exit, Failure};

use super::run::{Submission, SubmitArgs};
use crate::submit::{folder::Folder, outcome, prepare::RowNumbers};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Publishes the ads that `ad-migrate run --hidden` created, and links each to the dealer's existing listing with the same registration \
number. Ads that `ad-migrate undo` has hidden are shown again. FILE is not read; the folder beside it records which ads were created.

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

/// The command that publishes the hidden ads of a file.
pub(super) fn publish_command(file: &Path, folder: Option<&Path>) -> String {
    let quoted = |path: &Path| quoted(&path.display().to_string());
    let folder = folder.map(|folder| format!(" --folder {}", quoted(folder))).unwrap_or_default();
    format!("ad-migrate publish {}{folder}", quoted(file))
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
    let submission =
        Submission { task: Task::Show, limit: args.limit, name: name.clone(), rows, left_out: &[], invalid: None };
    let (_, shown) = args.submit.carry_out(context, &folder, submission).await?;
    outcome::sum_up(context, &name, &shown, &[], false);
    if outcome::is_good(&shown.summary) { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) }
}
