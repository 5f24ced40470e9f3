//! `ad-cli retry`.

use crate::{
    cli::acts::{self, Act, ManyArgs},
    terminal::{ConfirmArgs, Context, Failure},
};

/// Arguments of `retry`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Runs the failed steps of publishing (images, publish, unpublish, delete), whichever request they belong to, and then a failed bump or pole
position of the last request. If nothing has failed, publishes the ad again.

Examples:
  ad-cli retry car-1 --wait")]
pub(crate) struct Args {
    #[command(flatten)]
    many: ManyArgs,
    /// Show what would be done without doing it
    #[arg(long)]
    dry_run: bool,
}

const RETRY: Act = Act { verb: "Retry", consequence: None, charged: None };

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    // A repeated retry does no harm.
    let confirm = ConfirmArgs { yes: true, dry_run: args.dry_run };
    acts::each(context, &args.many, confirm, RETRY, async |client, target| client.v4().retry(target).await).await
}
