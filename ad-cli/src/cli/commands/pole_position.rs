//! `ad-cli pole-position`.

use crate::{
    cli::acts::{self, Act, ManyArgs},
    terminal::{ConfirmArgs, Context, Failure},
};

/// Arguments of `pole-position`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Charges apply: on a terminal, the ads are shown and have to be confirmed; elsewhere, --yes is required. The ad appears first in \
search results of the primary marketplace for 3 days. Registered vehicles only.

Examples:
  ad-cli pole-position car-1
  ad-cli pole-position car-1 --yes")]
pub(crate) struct Args {
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
}

const POLE_POSITION: Act =
    Act { verb: "Give pole position to", consequence: Some("Each pole position is charged."), charged: None };

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    acts::each(context, &args.many, args.confirm, POLE_POSITION, async |client, target| {
        client.v4().pole_position(target).await
    })
    .await
}
