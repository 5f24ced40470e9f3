//! `ad-cli retry`.

use crate::{
    cli::acts::{self, Act, ManyArgs},
    terminal::{Context, Failure},
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
}

const RETRY: Act = Act { verb: "Retry", consequence: None, charged: None };

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    acts::each(context, &args.many, RETRY, async |client, target| client.v4().retry(target).await).await
}
