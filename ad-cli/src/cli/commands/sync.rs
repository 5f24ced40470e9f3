//! `ad-cli sync`: a dealer's whole stock as a file wants it.

use std::{path::PathBuf, time::Duration};

use crate::{
    cli::sync::{self, ApplyOptions, StockArgs},
    terminal::{ConfirmArgs, Context, Failure, FileKind, Force, OutFile, duration},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
FILE is the desired state of the whole stock: ads that are missing at the service are created, ads that differ are updated, and ads that are \
not in FILE are deleted. Fields of an ad that its payload does not contain are cleared. With a group's token, dealer_code of each payload \
names the dealer; dealers without a payload in FILE are unchanged.

Nothing is changed if FILE is empty, cannot be read to its end, contains no valid payload, or contains duplicate source_ids. Ads with an \
invalid payload are unchanged. More removals than 10 % of a dealer's ads or 20, whichever is less, need --allow-removals N; N is then the limit.

Examples:
  ad-cli sync plan stock.ndjson
  ad-cli sync apply stock.ndjson
  ad-cli sync plan stock.xlsx --mapping stock.toml
  ad-cli sync plan stock.ndjson --save plan.ndjson && ad-cli sync apply plan.ndjson
  ad-cli sync apply stock.ndjson --yes --watch")]
pub(crate) struct SyncArgs {
    #[command(subcommand)]
    step: SyncCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SyncCommand {
    /// Show the changes without making them
    #[command(after_help = "\
Exit code 0: the plan is complete. 3: some ads are skipped, or there are more deletions than allowed.")]
    Plan {
        /// Stock file, in any format of `import`, or - for stdin
        #[arg(value_name = "FILE|-")]
        file: PathBuf,
        #[command(flatten)]
        stock: StockArgs,
        /// Save the plan to a file, for `sync apply`; an earlier plan is replaced
        #[arg(long, value_name = "PLAN", conflicts_with = "watch")]
        save: Option<PathBuf>,
        #[command(flatten)]
        force: Force,
    },
    /// Make the changes, or those of a saved plan
    #[command(after_help = "\
Updates are sent first, then creates, then deletions; unchanged ads need no request. A saved plan is applied only if neither FILE nor its \
ads at the service have changed since. Each update and deletion is bound to the revision of the ad that is read just before it: if others have \
changed what it is about since the plan was made, the ad is left as it is and the change is reported. After an interruption, run the command \
again to make the remaining changes.

Exit code 0: the ads are equal to the file. 1: some ads failed. 3: some ads were skipped, or nothing was changed for safety.")]
    Apply {
        /// Stock file, in any format of `import`, or - for stdin, or a saved plan
        #[arg(value_name = "FILE|PLAN|-")]
        file: PathBuf,
        #[command(flatten)]
        stock: StockArgs,
        #[command(flatten)]
        confirm: ConfirmArgs,
        /// Do not wait for the outcomes; the service processes accepted requests in the background
        #[arg(long)]
        no_wait: bool,
        /// How long to wait for the outcomes, such as 90s, 10m or 1h
        #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration, conflicts_with = "no_wait")]
        within: Duration,
    },
}

pub(crate) async fn run(context: &Context, args: &SyncArgs) -> Result<(), Failure> {
    match &args.step {
        SyncCommand::Plan { file, stock, .. } if stock.watch => sync::watch(context, file, stock, None).await,
        SyncCommand::Plan { file, stock, save, force } => {
            let save = OutFile::wanted(save.as_deref(), FileKind::Plan, *force)?;
            sync::plan(context, file, stock, save.as_ref()).await
        }
        SyncCommand::Apply { file, stock, confirm: ConfirmArgs { yes, dry_run }, no_wait, within } => {
            let how = ApplyOptions { yes: *yes, dry_run: *dry_run, within: (!no_wait).then_some(*within) };
            if !stock.watch {
                return sync::apply(context, file, stock, how).await;
            }
            if *dry_run {
                return Err(Failure::usage("--watch cannot be combined with --dry-run")
                    .hint("use: ad-cli sync plan FILE --watch"));
            }
            if !yes {
                return Err(Failure::usage("--watch cannot ask for confirmation; add --yes"));
            }
            sync::watch(context, file, stock, Some(how)).await
        }
    }
}
