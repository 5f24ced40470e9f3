//! `ad-cli delete`.

use crate::{
    cli::acts::{self, ManyArgs},
    terminal::{Context, Failure},
};

/// Arguments of `delete`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Deleted ads remain readable, and their source ids can never be used again.

Examples:
  ad-cli delete car-1 --wait
  ad-cli delete car-1 car-2")]
pub(crate) struct Args {
    #[command(flatten)]
    many: ManyArgs,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    acts::each(context, &args.many, async |client, target| client.v4().delete(target).await).await
}
