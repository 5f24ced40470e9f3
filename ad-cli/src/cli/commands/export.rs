//! `ad-cli export`: all ads, for keeping.

use ad_core::{categories::Category, parameters::MAX_LIMIT};
use clap::builder::PossibleValuesParser;
use futures_util::TryStreamExt;
use serde_json::value::RawValue;

use crate::{
    ListQuery,
    cli::through::vehicle_type,
    terminal::{Context, Failure, ad_table},
};

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints every ad as one line, oldest first, including deleted ones. Memory use is independent of the number of ads.

Examples:
  ad-cli export > ads.ndjson
  ad-cli export --state created --output csv > ads.csv")]
pub(crate) struct Args {
    /// Only this vehicle type
    #[arg(long = "type", value_name = "TYPE", value_parser = vehicle_type())]
    of_type: Option<&'static Category>,
    /// Only ads in this state
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(ad_core::model::AdState::NAMES))]
    state: Option<String>,
    /// Include the 100 latest log entries of each ad
    #[arg(long)]
    log: bool,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let client = context.client()?;
    let ads = args.of_type.and_then(|it| it.vehicle_type).map_or_else(|| client.v4(), |name| client.typed(name));
    // Newly created ads come behind what has been read, so that every ad is met once.
    let mut query = ListQuery::new().with("ordering", "created").with("limit", MAX_LIMIT);
    if let Some(state) = &args.state {
        query = query.with("state", state);
    }
    if args.log {
        query = query.with("include", "log");
    }
    let mut rows = context.out.rows_for_programs(ad_table::COLUMNS);
    let mut all = ads.all_as::<Box<RawValue>>(&query);
    let mut count = 0_u64;
    while let Some(ad) = all.try_next().await? {
        rows.push(&ad)?;
        count += 1;
    }
    rows.end()?;
    context.out.note(&format!("{count} ads"));
    Ok(())
}
