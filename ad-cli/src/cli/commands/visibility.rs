//! `ad-cli hide` and `ad-cli show`: whether an ad is published.

use serde_json::{Map, Value};

use crate::{
    Ad,
    cli::change::{self, ChangeArgs, Sending},
    terminal::{Context, Failure},
};

pub(in crate::cli) const HIDE_HELP: &str = "\
The ad is taken off the marketplaces and stays at the service. To publish it again: ad-cli show SOURCE_ID

Examples:
  ad-cli hide car-1 --wait";

pub(in crate::cli) const SHOW_HELP: &str = "\
Publishes an ad that was created hidden, or hidden later. To print an ad: ad-cli get SOURCE_ID

Examples:
  ad-cli show car-1 --wait";

/// Publishes an ad, or takes it off the marketplaces.
pub(crate) async fn set(context: &Context, args: &ChangeArgs, visible: bool) -> Result<(), Failure> {
    let decide = |_: &Ad, _: Option<&_>| Ok(Map::from_iter([("visible".to_owned(), Value::Bool(visible))]));
    change::change(context, Sending::of(args), decide, change::rejected_fields).await
}
