//! `ad-cli list`: ads by any of the service's filters.

use ad_core::{
    categories::Category,
    model::{MAX_LIMIT, VIEW_FIELDS},
    parameters::{AD_PARAMETERS, Parameter},
};
use futures_util::TryStreamExt;
use serde_json::value::RawValue;

use crate::{
    AdQuery,
    cli::{
        parameters::{self, Given, Table},
        through::vehicle_type,
    },
    terminal::{Context, Failure, ad_table, output::Column},
};

/// Arguments of `list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Times are UTC: \"2026-01-15 10:00:00\", or ISO 8601. Without --all, one page is printed.

Examples:
  ad-cli list --status failed,partly_live
  ad-cli list --quality-score-lt 50
  ad-cli list --state created --search volvo
  ad-cli list --updated-gte \"2026-01-15 00:00:00\" --all --output csv > updated.csv
  ad-cli list --fields source_id,marketplace_ad_id --all --output ndjson")]
pub(crate) struct Args {
    /// Only this vehicle type
    #[arg(long = "type", value_name = "TYPE", value_parser = vehicle_type())]
    of_type: Option<&'static Category>,
    /// Print all pages
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filters: Given<AdFilters>,
}

/// The parameters of a list of ads.
#[derive(Debug, Clone)]
pub(crate) struct AdFilters;

impl Table for AdFilters {
    fn parameters() -> impl Iterator<Item = &'static Parameter> {
        AD_PARAMETERS.iter()
    }
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let mut query = AdQuery::parse(args.filters.pairs()).map_err(|errors| parameters::wrong(&errors))?;
    // Who filters by the status or the score wants to see it.
    query.included.status |= args.filters.get("status").is_some() && query.fields.is_none();
    let by_score = ["quality_score__lt", "quality_score__gte"].iter().any(|name| args.filters.get(name).is_some());
    query.included.quality |= by_score && query.fields.is_none();
    let client = context.client()?;
    let ads = args.of_type.and_then(|it| it.vehicle_type).map_or_else(|| client.v4(), |name| client.typed(name));
    let mut rows = context.out.rows(columns(&args.filters, &query));
    if args.all {
        // As few requests as possible, unless somebody wants it otherwise.
        if args.filters.get("limit").is_none() {
            query.page.limit = MAX_LIMIT;
        }
        let mut all = ads.all_as::<Box<RawValue>>(&query);
        while let Some(ad) = all.try_next().await? {
            rows.push(&ad)?;
        }
        return Ok(rows.end()?);
    }
    let page = ads.list_as::<Box<RawValue>>(&query).await?.body;
    page.results.iter().try_for_each(|ad| rows.push(ad))?;
    rows.end()?;
    let shown = page.results.len() as u64;
    if shown < page.count {
        let count = page.count;
        context.out.note(&format!("{shown} of {count} ads; use --all for all of them, or --offset for another page"));
    } else if shown == 0 {
        context.out.note("no ads");
    }
    Ok(())
}

/// The columns that people see: those of the fields that were asked for.
fn columns(given: &Given<AdFilters>, query: &AdQuery) -> Vec<Column> {
    let Some(fields) = given.get("fields") else {
        let mut columns = ad_table::COLUMNS.to_vec();
        if query.included.status {
            // In place of the state, which it says too.
            columns.iter_mut().filter(|column| column.is_of("state")).for_each(|column| *column = ad_table::STATUS);
        }
        if query.included.quality {
            columns.push(ad_table::QUALITY);
        }
        return columns;
    };
    let wanted = |name: &&&str| fields.split(',').any(|field| field.trim() == **name);
    let quality = query.included.quality.then_some(ad_table::QUALITY);
    VIEW_FIELDS.iter().filter(wanted).map(|field| ad_table::column(field)).chain(quality).collect()
}
