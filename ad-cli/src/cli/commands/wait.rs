//! `ad-cli wait`: until something has become of an ad.

use std::time::Duration;

use serde_json::json;

use crate::{
    Target,
    bulk::{AdOutcome, follow::wait_for_ad},
    cli::acts::{self, TargetArgs, interrupted_wait, reasons},
    terminal::{Column, Context, Exit, Failure, ad_table, duration, until_interrupted},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Waits until all requests of the ad are finished, and shows the outcome of the latest. While the request waits for a marketplace or an image, prints the reason and the time of \
the next attempt.

Exit code 0: the ad is published, deleted, bumped or, with visible=false, stored. 1: the request failed, the ad is not in the state of --until, \
or the request is unfinished after --within.

Examples:
  ad-cli create car.json && ad-cli wait car-1
  ad-cli wait car-1 --until published --within 10m")]
pub(crate) struct WaitArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Expected state; any other outcome is a failure
    #[arg(long, value_name = "STATE", value_enum)]
    until: Option<WaitTarget>,
    /// How long to wait, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    within: Duration,
}

/// The state of an ad to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum WaitTarget {
    /// Published on the marketplaces
    Published,
    /// Deleted
    Deleted,
}

const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("OUTCOME", "outcome").shown(ad_table::outcome),
    Column::new("LISTING", "marketplace_ad_id"),
    Column::new("OFFER", "offer_id"),
    Column::new("MESSAGE", "message").wrapped(),
];

pub(crate) async fn run(context: &Context, args: &WaitArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let wait = async {
        let ad = acts::read(&client, args.target.target()).await?.body;
        wait_for_ad(&client, Target::from(&ad), args.within, reasons(context)).await
    };
    let (waited, ad) = until_interrupted(wait).await.ok_or_else(|| interrupted_wait(&args.target.source_id))??;
    let outcome = waited.outcome();
    let row = json!({
        "source_id": ad.source_id, "outcome": outcome, "message": waited.message(),
        "marketplace_ad_id": ad.marketplace_ad_id, "offer_id": ad.offer_id,
    });
    context.out.table(COLUMNS, [row])?;
    let is_wanted = match args.until {
        None => outcome.is_good(),
        Some(WaitTarget::Published) => matches!(outcome, AdOutcome::Published | AdOutcome::Bumped | AdOutcome::Boosted),
        Some(WaitTarget::Deleted) => outcome == AdOutcome::Deleted,
    };
    if is_wanted { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) }
}
