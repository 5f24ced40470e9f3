//! `ad-cli export`: all ads, for keeping.

use ad_core::{categories::Category, model::AdState};
use clap::builder::PossibleValuesParser;
use futures_util::TryStreamExt;
use serde_json::value::RawValue;

use crate::{
    AdFilter, AdQuery, Included,
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
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(AdState::NAMES))]
    state: Option<String>,
    /// Include the 100 latest log entries of each ad
    #[arg(long)]
    log: bool,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let client = context.client()?;
    let ads = args.of_type.and_then(|it| it.vehicle_type).map_or_else(|| client.v4(), |name| client.typed(name));
    let state = args.state.as_deref().and_then(AdState::from_name).map(AdFilter::State);
    let query = AdQuery {
        included: Included { log: args.log, ..Included::default() },
        ..AdQuery::oldest_first(Vec::from_iter(state))
    };
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
