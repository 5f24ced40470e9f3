//! `ad-cli export`: all ads, for keeping.

use std::future::ready;

use ad_core::{
    categories::{self, Category},
    model::AdState,
    rulebook::versions::{Conversion, conversion_of},
};
use clap::builder::PossibleValuesParser;
use futures_util::TryStreamExt;
use serde_json::value::RawValue;

use crate::{
    AdFilter, AdQuery, Ads, Included,
    bulk::payload_of,
    cli::through::VehicleType,
    terminal::{Context, Counter, Failure, Format, ad_table, counted},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints every ad as one line, oldest first, including deleted ones. Memory use is independent of the number of ads.

With --payloads, prints what `import` and `sync` take, so that a stock file can start from what exists: `sync plan` of it shows no change. Images that \
could not be fetched are not in it.

Examples:
  ad-cli export > ads.ndjson
  ad-cli export --state created --output csv > ads.csv
  ad-cli export --payloads > stock.ndjson && ad-cli sync plan stock.ndjson")]
pub(crate) struct ExportArgs {
    /// Only this vehicle type
    #[arg(long = "type", value_name = "TYPE", value_parser = VehicleType)]
    of_type: Option<&'static Category>,
    /// Only ads in this state
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(AdState::NAMES))]
    state: Option<String>,
    /// Include the 100 latest log entries of each ad
    #[arg(long)]
    log: bool,
    /// Print payloads, as `import` and `sync` take them, of all ads that are not deleted
    #[arg(long, conflicts_with_all = ["log", "state"])]
    payloads: bool,
}

pub(crate) async fn run(context: &Context, args: &ExportArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let ads = args.of_type.and_then(|it| it.vehicle_type).map_or_else(|| client.v4(), |name| client.typed(name));
    let state = args.state.as_deref().and_then(AdState::from_name).map(AdFilter::State);
    let query = AdQuery {
        included: Included { log: args.log, ..Included::default() },
        ..AdQuery::oldest_first(Vec::from_iter(state))
    };
    if args.payloads {
        return payloads(context, &ads).await;
    }
    let mut rows = context.out.rows_for_programs(ad_table::COLUMNS);
    let all = ads.all_as::<Box<RawValue>>(&query);
    let count = Counter::streaming(context.out, "ad").rows(&mut rows, all).await?;
    rows.end()?;
    context.out.note(&counted(count, "ad"));
    if context.out.is_table() && context.out.stdout().is_terminal() {
        context.out.note("to write them to a file: ad-cli export > ads.ndjson; to read them here: ad-cli list --all");
    }
    Ok(())
}

/// Prints the payload of each ad, so that a stock file can start from what exists.
async fn payloads(context: &Context, ads: &Ads<'_>) -> Result<(), Failure> {
    if context.out.format() == Format::Csv {
        return Err(Failure::usage("payloads cannot be CSV").hint("use --output ndjson or json"));
    }
    let mut rows = context.out.rows_for_programs(ad_table::COLUMNS);
    let mut left = 0;
    let all = ads.all(&AdQuery::oldest_first([AdFilter::State(AdState::Created)])).try_filter_map(|ad| {
        let is_left = conversion_of(ad.api_version, categories::by_id(ad.category_id)) == Conversion::Migration;
        left += u64::from(is_left);
        ready(Ok((!is_left).then(|| payload_of(&ad))))
    });
    let count = Counter::streaming(context.out, "payload").rows(&mut rows, all).await?;
    rows.end()?;
    context.out.note(&counted(count, "payload"));
    if left > 0 {
        let these = counted(left, "V3 ad");
        context
            .out
            .warning(&format!("{these} left out: V4 needs more data; to show it: ad-cli migrate-v4 --all --dry-run"));
    }
    Ok(())
}
