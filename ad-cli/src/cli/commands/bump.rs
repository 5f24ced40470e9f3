//! `ad-cli bump`.

use ad_core::model::Action;

use crate::{
    Exclude,
    cli::acts::{self, Act, ManyArgs},
    terminal::{ConfirmArgs, Context, Failure},
};

/// Arguments of `bump`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Charges apply: on a terminal, the ads are shown and have to be confirmed; elsewhere, --yes is required. The ad must be visible, and the dealer \
needs permission to bump.

Examples:
  ad-cli bump car-1
  ad-cli bump car-1 car-2 --exclude secondary --yes --wait")]
pub(crate) struct Args {
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
    /// Exclude a marketplace; registered vehicles only
    #[arg(long, value_name = "MARKETPLACE", value_enum)]
    exclude: Option<Marketplace>,
}

/// A marketplace to leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Marketplace {
    /// General classifieds
    Primary,
    /// Vehicles only
    Secondary,
}

const BUMP: Act = Act { verb: "Bump", consequence: Some("Each bump is charged."), charged: Some(Action::Bump) };

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let exclude = match args.exclude {
        None => Exclude::None,
        Some(Marketplace::Primary) => Exclude::Primary,
        Some(Marketplace::Secondary) => Exclude::Secondary,
    };
    acts::each(context, &args.many, args.confirm, BUMP, async |client, target| client.v4().bump(target, exclude).await)
        .await
}
