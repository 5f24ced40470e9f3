//! `ad-cli hide` and `ad-cli show`: whether ads are published.

use serde_json::{Map, Value};

use crate::{
    Ad,
    cli::{
        acts::{DealerArgs, WaitOptions},
        change::{self, Sending},
    },
    terminal::{Context, Failure},
};

/// The ads, and how their change is sent.
#[derive(Debug, clap::Args)]
pub(crate) struct VisibilityArgs {
    /// Source ids of the ads, or their plates
    #[arg(value_name = "SOURCE_ID", required = true)]
    source_ids: Vec<String>,
    #[command(flatten)]
    dealer: DealerArgs,
    /// Show the requests without sending them
    #[arg(long, conflicts_with = "wait")]
    dry_run: bool,
    #[command(flatten)]
    wait: WaitOptions,
}

pub(in crate::cli) const HIDE_HELP: &str = "\
The ads are taken off the marketplaces and stay at the service. To publish them again: ad-cli show SOURCE_ID

Examples:
  ad-cli hide car-1 --wait
  ad-cli hide car-1 car-2";

pub(in crate::cli) const SHOW_HELP: &str = "\
Publishes ads that were created hidden, or hidden later. To print an ad: ad-cli get SOURCE_ID

Examples:
  ad-cli show car-1 --wait
  ad-cli show car-1 car-2";

/// Publishes ads, or takes them off the marketplaces.
pub(crate) async fn set(context: &Context, args: &VisibilityArgs, visible: bool) -> Result<(), Failure> {
    let decide = |_: &Ad, _: Option<&_>| Ok(Map::from_iter([("visible".to_owned(), Value::Bool(visible))]));
    let sending = Sending {
        source_ids: &args.source_ids,
        dealer_code: args.dealer.dealer_code.as_deref(),
        dry_run: args.dry_run,
        yes: true,
        wait: &args.wait,
        if_match: None,
        v3: false,
    };
    change::change(context, sending, decide, change::rejected_fields).await
}
