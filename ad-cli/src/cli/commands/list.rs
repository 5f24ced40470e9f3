//! `ad-cli list`: ads by any of the service's filters.

use ad_core::{
    categories::Category,
    model::{AdState, MAX_LIMIT, VIEW_FIELDS},
};
use ad_parameters::{AD_PARAMETERS, FromParameters, Parameter};
use serde_json::value::RawValue;

use crate::{
    AdFilter, AdQuery,
    bulk::Surface,
    cli::{
        claims::Claims,
        commands::values::meant_brand,
        parameters::{self, GivenParameters, Table},
        through::VehicleType,
    },
    terminal::{Column, Context, Counter, Failure, ad_table, counted, grouped},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Deleted ads are listed with --deleted, and where --state, --status or an id asks for them. Without --all, one page is printed. Times are UTC: \
\"2026-01-15 10:00:00\", or ISO 8601. A table leaves out what the terminal has no room for; --output wide prints all columns.

Examples:
  ad-cli list volvo v60
  ad-cli list abc123
  ad-cli list --status failed,partly_live
  ad-cli list --quality-score-lt 50
  ad-cli list --brand volvo --price-gte 100000 --price-lt 200000
  ad-cli list --image-count-lt 5 --status live
  ad-cli list --search leather -o wide
  ad-cli list --state deleted
  ad-cli list --updated-gte \"2026-01-15 00:00:00\" --all --output csv > updated.csv
  ad-cli list --fields source_id,marketplace_ad_id --all --output ndjson")]
pub(crate) struct ListArgs {
    /// Only ads with these words, or words that begin so, in title, plate, VIN or ids
    #[arg(value_name = "WORD", conflicts_with = "q")]
    words: Vec<String>,
    /// Only this vehicle type
    #[arg(long = "type", value_name = "TYPE", value_parser = VehicleType)]
    of_type: Option<&'static Category>,
    /// Print all pages
    #[arg(long)]
    all: bool,
    /// Include deleted ads
    #[arg(long)]
    deleted: bool,
    #[command(flatten)]
    filters: GivenParameters<AdQuery>,
}

/// Filters that may mean deleted ads, so that none are left out.
const NAMES_DELETED: &[&str] =
    &["id", "state", "status", "source_id", "source_id__in", "marketplace_ad_id", "marketplace_ad_id__in"];

impl Table for AdQuery {
    fn parameters() -> impl Iterator<Item = &'static Parameter> {
        // The option of every command selects the fields.
        AD_PARAMETERS.iter().filter(|parameter| parameter.name != "fields")
    }
}

pub(crate) async fn run(context: &Context, args: &ListArgs) -> Result<(), Failure> {
    let mut pairs = args.filters.pairs().to_vec();
    if !args.words.is_empty() {
        pairs.push(("q".to_owned(), args.words.join(" ")));
    }
    let mut query = AdQuery::parse(AD_PARAMETERS, &pairs).map_err(|errors| parameters::wrong(context.out, &errors))?;
    if !args.deleted && !NAMES_DELETED.iter().any(|name| args.filters.get(name).is_some()) {
        query.filters.push(AdFilter::State(AdState::Created));
    }
    if !context.out.fields().is_empty() {
        select(context, &mut query)?;
    }
    // Who filters by the status or the score wants to see it, and people want to see the status anyway.
    let is_shown = args.filters.get("status").is_some() || context.out.is_for_people() || context.out.is_csv();
    query.included.status |= is_shown && query.fields.is_none();
    let by_score = ["quality_score__lt", "quality_score__gte"].iter().any(|name| args.filters.get(name).is_some());
    query.included.quality |= by_score && query.fields.is_none();
    let connection = context.connection()?;
    let is_group = Claims::of(&connection.token).is_some_and(|claims| claims.dealer_group.is_some());
    let client = context.client_for(&connection.url, &connection.token)?;
    let ads = args.of_type.and_then(|it| it.vehicle_type).map_or_else(|| client.v4(), |name| client.typed(name));
    let mut rows = context.out.rows(columns(&query, context.out.is_for_people(), is_group));
    let progress = Counter::new(context.out, "ad");
    if args.all {
        // As few requests as possible, unless `--limit` says otherwise.
        if args.filters.get("limit").is_none() {
            query.page.limit = MAX_LIMIT;
        }
        progress.rows(&mut rows, ads.all_as::<Box<RawValue>>(&query)).await?;
        return Ok(rows.end()?);
    }
    let page = progress.run(ads.list_as::<Box<RawValue>>(&query)).await??.body;
    page.results.iter().try_for_each(|ad| rows.push(ad))?;
    rows.end()?;
    let shown = page.results.len() as u64;
    if shown < page.count {
        let (shown, count) = (grouped(shown), counted(page.count, "ad"));
        let more = match context.out.surface() {
            Surface::CommandLine => "use --all for all of them, or --offset for another page",
            Surface::Tools => "use `offset` for another page",
        };
        context.out.note(&format!("{shown} of {count}; {more}"));
    } else if shown == 0 {
        let brand = args.filters.get("brand").and_then(meant_brand).map(|meant| format!(" of this brand. {meant}"));
        context.out.note(&format!("no ads{}", brand.unwrap_or_default()));
    } else if context.out.is_for_people() {
        context.out.note(&counted(shown, "ad"));
    }
    Ok(())
}

/// Asks the service only for the selected fields.
fn select(context: &Context, query: &mut AdQuery) -> Result<(), Failure> {
    context.out.check_names(VIEW_FIELDS.iter().copied().chain(["status", "quality"]))?;
    let is_selected = |name: &&&str| context.out.fields().iter().any(|field| field.split('.').next() == Some(**name));
    query.fields = Some(VIEW_FIELDS.iter().filter(is_selected).copied().collect());
    query.included.status = is_selected(&&"status");
    query.included.quality = is_selected(&&"quality");
    query.included.log |= is_selected(&&"log");
    Ok(())
}

/// The columns: all that can be selected, or what people look for.
fn columns(query: &AdQuery, is_for_people: bool, is_group: bool) -> Vec<Column> {
    let quality = query.included.quality.then_some(ad_table::QUALITY);
    if query.fields.is_some() {
        return VIEW_FIELDS
            .iter()
            .map(|field| ad_table::column(field))
            .chain([ad_table::STATUS, ad_table::QUALITY])
            .collect();
    }
    if !is_for_people {
        let status = query.included.status.then_some(ad_table::STATUS);
        let mut columns = ad_table::COLUMNS.to_vec();
        columns.splice(1..1, status);
        columns.extend(quality);
        return columns;
    }
    let of_reader = |column: &&Column| is_group || !column.is_of("dealer_code");
    ad_table::SHOWN.iter().filter(of_reader).copied().chain(quality).collect()
}
