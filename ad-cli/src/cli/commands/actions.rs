//! Actions on several ads: `ad-cli delete`, `sold`, `retry`, `bump` and `pole-position`.

use ad_core::model::PromotionKind;

use crate::{
    Client, Exclude, Target,
    cli::{
        acts::{self, ConfirmedAction, ManyArgs},
        costs::Promoted,
    },
    terminal::{ConfirmArgs, Context, Failure},
};

/// Arguments of an action that has to be confirmed.
#[derive(Debug, clap::Args)]
pub(crate) struct ActionArgs {
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
}

pub(in crate::cli) const DELETE_HELP: &str = "\
Deleted ads remain readable, and their source ids can never be used again. On a terminal, the ads are shown and have to be confirmed; elsewhere, \
--yes is required.

Examples:
  ad-cli delete car-1 --wait
  ad-cli delete car-1 car-2 --yes
  ad-cli delete car-1 --dry-run";

pub(in crate::cli) const SOLD_HELP: &str = "\
Deletes the ads, so that no marketplace lists the vehicles any more. It does the same as `ad-cli delete`; deleted ads remain readable. To take an \
ad off the marketplaces for a while: ad-cli hide SOURCE_ID

Examples:
  ad-cli sold car-1
  ad-cli sold ABC123 DEF456
  ad-cli sold car-1 --yes --wait";

/// Runs `delete`, and `sold`, which is the same.
pub(crate) async fn delete(context: &Context, args: &ActionArgs) -> Result<(), Failure> {
    let act = ConfirmedAction {
        verb: "Delete",
        consequence: Some(
            "This is permanent: a deleted ad does not come back, and its source id cannot be used again.",
        ),
        charged: None,
    };
    acts::each(context, &args.many, args.confirm, act, async |client, target| client.v4().delete(target).await).await
}

pub(in crate::cli) const POLE_POSITION_HELP: &str = "\
Charges apply: on a terminal, the ads are shown and have to be confirmed; elsewhere, --yes is required. The ad appears first in \
search results of the primary marketplace for 3 days. Registered vehicles only.

Examples:
  ad-cli pole-position car-1
  ad-cli pole-position car-1 --yes";

pub(crate) async fn pole_position(context: &Context, args: &ActionArgs) -> Result<(), Failure> {
    let consequence = Some("Each pole position is charged.");
    let charged = Some(Promoted { kind: PromotionKind::PolePosition, excludes: false });
    let act = ConfirmedAction { verb: "Give pole position to", consequence, charged };
    let order = async |client: &Client, target: Target<'_>| client.v4().pole_position(target).await;
    acts::each(context, &args.many, args.confirm, act, order).await
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Charges apply: on a terminal, the ads are shown and have to be confirmed; elsewhere, --yes is required. The ad must be visible, and the dealer \
needs permission to bump.

Examples:
  ad-cli bump car-1
  ad-cli bump car-1 car-2 --exclude secondary --yes --wait")]
pub(crate) struct BumpArgs {
    #[command(flatten)]
    action: ActionArgs,
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

pub(crate) async fn bump(context: &Context, BumpArgs { action, exclude }: &BumpArgs) -> Result<(), Failure> {
    let exclude = match exclude {
        None => Exclude::None,
        Some(Marketplace::Primary) => Exclude::Primary,
        Some(Marketplace::Secondary) => Exclude::Secondary,
    };
    let charged = Some(Promoted { kind: PromotionKind::Bump, excludes: exclude != Exclude::None });
    let act = ConfirmedAction { verb: "Bump", consequence: Some("Each bump is charged."), charged };
    let order = async |client: &Client, target: Target<'_>| client.v4().bump(target, exclude).await;
    acts::each(context, &action.many, action.confirm, act, order).await
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Runs the failed steps of publishing (images, publish, unpublish, delete), whichever request they belong to, and then a failed bump or pole \
position of the last request. If nothing has failed, publishes the ad again.

Examples:
  ad-cli retry car-1 --wait")]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    many: ManyArgs,
    /// Show what would be done without doing it
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn retry(context: &Context, args: &RetryArgs) -> Result<(), Failure> {
    // A repeated retry does no harm.
    let confirm = ConfirmArgs { yes: true, dry_run: args.dry_run };
    let act = ConfirmedAction { verb: "Retry", consequence: None, charged: None };
    acts::each(context, &args.many, confirm, act, async |client, target| client.v4().retry(target).await).await
}
