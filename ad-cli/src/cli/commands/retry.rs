//! `ad-cli retry`.

use crate::cli::{
    Context, Failure,
    acts::{self, ManyArgs},
};

/// Arguments of `retry`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Does again what the last request left undone, from its first action that did not end well; when all is done, publishes again.

Examples:
  ad-cli retry car-1 --wait")]
pub(crate) struct Args {
    #[command(flatten)]
    many: ManyArgs,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    acts::each(context, &args.many, async |client, target| client.v4().retry(target).await).await
}
