//! `ad-cli pole-position`.

use crate::{
    cli::acts::{self, ManyArgs},
    terminal::{Context, Failure},
};

/// Arguments of `pole-position`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Charges apply. The ad appears first in search results of the primary marketplace for 3 days. Registered vehicles only.

Examples:
  ad-cli pole-position car-1")]
pub(crate) struct Args {
    #[command(flatten)]
    many: ManyArgs,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    acts::each(context, &args.many, async |client, target| client.v4().pole_position(target).await).await
}
