//! `ad-migrate undo`: hides or deletes the ads that were created from a file.

use std::{num::NonZeroUsize, path::PathBuf};

use ad_files::text::counted;
use ad_terminal::{ConfirmArgs, Context, Exit, Failure, FileKind, Force, OutFile, confirm};

use super::publish::publish_command;
use crate::submit::{
    folder::Folder,
    report::Report,
    revise::{self, Removal},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Hides the ads that `ad-migrate run` created from FILE: their listings are removed, and the ads stay stored. FILE is not read; the folder beside \
it records which ads were created. `ad-migrate publish FILE` shows them again, `ad-cli show SOURCE_ID` one of them. With --delete, the ads are deleted for good: their \
source ids cannot be used again. The ads are shown first, and have to be confirmed on a terminal; elsewhere, --yes is required.

More removals than 10 % of a dealer's ads or 20, whichever is less, need --allow-removals N; N is then the limit. Each write is bound to the revision of the ad that is \
read just before it.

Exit code 0: done. 1: some ads have failed. 3: nothing was changed for safety.

Examples:
  ad-migrate undo stock.csv
  ad-migrate undo stock.csv --delete --allow-removals 170")]
pub(crate) struct UndoArgs {
    /// The file that was migrated
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder of payloads and journal [default: FILE.migration]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Write the outcome of every ad to this file, as JSON; an earlier report is replaced
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Maximum number of concurrent requests
    #[arg(long, value_name = "N", default_value = "16")]
    parallel: NonZeroUsize,
    /// Delete the ads instead of hiding them
    #[arg(long)]
    delete: bool,
    /// Maximum number of removals [default: 10 % of a dealer's ads or 20, whichever is less]
    #[arg(long, value_name = "N")]
    allow_removals: Option<u64>,
    #[command(flatten)]
    confirm: ConfirmArgs,
}

pub(crate) async fn run(context: &Context, args: &UndoArgs) -> Result<(), Failure> {
    let report = OutFile::wanted(args.report.as_deref(), FileKind::Outcomes, args.force)?;
    let client = context.client()?;
    let folder = Folder::of(&args.file, args.folder.as_deref());
    let _taken = if folder.path().is_dir() { Some(folder.take()?) } else { None };
    let removal = Removal { delete: args.delete, allowed: args.allow_removals };
    let (ads, unchanged) = revise::removable(&client, &folder, removal).await?;
    let ConfirmArgs { yes, dry_run } = args.confirm;
    if !ads.is_empty() && (dry_run || !yes) {
        revise::show_removable(context, &ads)?;
    }
    let these = counted(ads.len() as u64, "ad");
    if dry_run {
        let what = if args.delete { "deleted, permanently" } else { "hidden" };
        context.out.note(&format!("{these} would be {what}; nothing was changed (--dry-run)"));
        return Ok(());
    }
    if !ads.is_empty() {
        let question = if args.delete {
            format!(
                "Delete {these}? This is permanent: a deleted ad does not come back, and its source id cannot be used again."
            )
        } else {
            format!("Hide {these}?")
        };
        confirm(context, &question, yes).await?;
    }
    let (has_deleted, removed) = (args.delete && !ads.is_empty(), ads.len());
    let (name, hides) = (args.file.display().to_string(), !args.delete && !ads.is_empty());
    let report = report.as_ref().map(|to| Report { to, name: &name, invalid: None });
    let (parallel, ads) = (args.parallel.get(), (ads, unchanged));
    let failed = revise::remove(context, &client, &folder, ads, removal, parallel, report).await?;
    if hides && failed < removed as u64 {
        context.out.note(&format!("to show them again: {}", publish_command(&args.file, args.folder.as_deref())));
    }
    if has_deleted && failed < removed as u64 {
        context.out.note(
            "to list these vehicles again, give them other source ids in the mapping, and set --folder to a new folder",
        );
    }
    if failed == 0 { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) }
}
