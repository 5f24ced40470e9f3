//! `ad-cli sold`: ads of vehicles that were sold.

use crate::{
    cli::acts::{self, Act, ManyArgs},
    terminal::{ConfirmArgs, Context, Failure},
};

/// Arguments of `sold`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Deletes the ads, so that no marketplace lists the vehicles any more. It does the same as `ad-cli delete`; deleted ads remain readable. To take an \
ad off the marketplaces for a while: ad-cli hide SOURCE_ID

Examples:
  ad-cli sold car-1
  ad-cli sold ABC123 DEF456
  ad-cli sold car-1 --yes --wait")]
pub(crate) struct Args {
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
}

const SOLD: Act = Act {
    verb: "Delete",
    consequence: Some("This is permanent: their source ids can never be used again."),
    charged: None,
};

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    acts::each(context, &args.many, args.confirm, SOLD, async |client, target| client.v4().delete(target).await).await
}
