//! `ad-cli delete`.

use crate::{
    cli::acts::{self, Act, ManyArgs},
    terminal::{ConfirmArgs, Context, Failure},
};

/// Arguments of `delete`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Deleted ads remain readable, and their source ids can never be used again. On a terminal, the ads are shown and have to be confirmed; elsewhere, \
--yes is required.

Examples:
  ad-cli delete car-1 --wait
  ad-cli delete car-1 car-2 --yes
  ad-cli delete car-1 --dry-run")]
pub(crate) struct Args {
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
}

const DELETE: Act = Act {
    verb: "Delete",
    consequence: Some("This is permanent: their source ids can never be used again."),
    charged: None,
};

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    acts::each(context, &args.many, args.confirm, DELETE, async |client, target| client.v4().delete(target).await).await
}
