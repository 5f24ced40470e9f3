//! `ad-cli hide` and `ad-cli show`: whether an ad is published.

use serde_json::{Map, Value};

use crate::{
    Ad,
    cli::change::{self, ChangeArgs, Sending},
    terminal::{Context, Failure},
};

/// Arguments of `hide`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The ad is taken off the marketplaces and stays at the service. To publish it again: ad-cli show SOURCE_ID

Examples:
  ad-cli hide car-1 --wait")]
pub(crate) struct HideArgs {
    #[command(flatten)]
    change: ChangeArgs,
}

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Publishes an ad that was created hidden, or hidden later. To print an ad: ad-cli get SOURCE_ID

Examples:
  ad-cli show car-1 --wait")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    change: ChangeArgs,
}

pub(crate) async fn hide(context: &Context, args: &HideArgs) -> Result<(), Failure> {
    set(context, &args.change, false).await
}

pub(crate) async fn show(context: &Context, args: &ShowArgs) -> Result<(), Failure> {
    set(context, &args.change, true).await
}

async fn set(context: &Context, args: &ChangeArgs, visible: bool) -> Result<(), Failure> {
    let decide = |_: &Ad, _: Option<&_>| Ok(Map::from_iter([("visible".to_owned(), Value::Bool(visible))]));
    change::change(context, Sending::of(args), decide, change::rejected_fields).await
}
