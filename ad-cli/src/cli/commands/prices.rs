//! `ad-cli prices`: the prices of an ad over time.

use ad_core::model::{AppliedPrice, PriceHistory, Reduction};
use serde_json::json;

use crate::{
    Target,
    cli::acts::{self, TargetArgs},
    terminal::{
        Column, Context, Failure, Format, Styled, Tone,
        ad_table::{self, minute_of},
    },
};

pub(in crate::cli) const HELP: &str = "\
Shows every accepted price with its time, the lowest price of the last 30 days, and for a reduced price the reference price: the lowest of \
the 30 days before the series of reductions began (Directive 98/6/EC, Article 6a). This is a computation and no legal advice.

Examples:
  ad-cli prices car-1
  ad-cli prices car-1 --output json | jq .reduction";

/// The history, for people and as CSV.
const COLUMNS: &[Column] = &[
    Column::new("SINCE", "since").shown(ad_table::minute),
    Column::new("UNTIL", "until").shown(ad_table::minute),
    Column::new("PRICE", "price").shown(ad_table::prices).wrapped(),
];

pub(crate) async fn run(context: &Context, args: &TargetArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let ask = async |target: Target<'_>| client.v4().prices(target).await;
    let prices = acts::found(&client, args.target(), ask).await?.body;
    match context.out.format() {
        Format::Json | Format::Ndjson => return Ok(context.out.record(&prices)?),
        Format::Table | Format::Wide if context.out.is_for_people() => {
            let mut text = context.out.styled();
            write(&mut text, &prices);
            context.out.show(&text)?;
        }
        _ => {}
    }
    Ok(context.out.table(COLUMNS, &prices.history)?)
}

/// A summary of the history.
fn write(text: &mut Styled, prices: &PriceHistory) {
    text.toned(Tone::Strong, &prices.source_id).end_line();
    text.block(2, &format!("prices since {}", minute_of(prices.recorded_since)));
    let lowest = prices.lowest_30_days.as_ref().map_or_else(|| "none".to_owned(), applied);
    text.block(2, &format!("lowest in 30 days: {lowest}"));
    let Some(Reduction { amount, currency, since, reference, below_reference }) = &prices.reduction else { return };
    let reduced = ad_table::money(&json!(amount), &json!(currency));
    text.block(2, &format!("reduced price: {reduced}, in a series of reductions since {}", minute_of(*since)));
    let Some(reference) = reference else {
        text.block(2, "reference price: unknown, because no price before the reduction is recorded");
        return;
    };
    text.block(2, &format!("reference price: {}", applied(reference)));
    let (tone, is_below) =
        if *below_reference == Some(true) { (Tone::Good, "below it") } else { (Tone::Warning, "not below it") };
    text.push("  the reduced price is ").toned(tone, is_below).end_line();
}

/// `189,900 SEK since 2026-01-15 10:00Z`
fn applied(price: &AppliedPrice) -> String {
    let AppliedPrice { amount, currency, since, .. } = price;
    format!("{} since {}", ad_table::money(&json!(amount), &json!(currency)), minute_of(*since))
}
