//! `ad-cli summary`: how many ads have which status.

use ad_core::model::Summary;
use serde::Serialize;
use serde_json::{Value, json};

use crate::terminal::{Cell, Column, Context, Failure, counted, plain};

pub(in crate::cli) const HELP: &str = "\
Counts the ads by status, by vehicle type, by marketplace, and the failures by their code.

Examples:
  ad-cli summary
  ad-cli list --status failed     the ads that no marketplace shows";

/// A number; nothing for none.
fn count(count: &Value) -> Cell {
    count.as_u64().filter(|count| *count > 0).map(|count| count.to_string()).unwrap_or_default().into()
}

const ADS: &[Column] = &[
    Column::new("TYPE", "name"),
    Column::new("ADS", "ads"),
    Column::new("LIVE", "live").shown(count),
    Column::new("PARTLY", "partly_live").shown(count),
    Column::new("HIDDEN", "hidden").shown(count),
    Column::new("PROCESSING", "processing").shown(count),
    Column::new("WAITING", "waiting").shown(count),
    Column::new("FAILED", "failed").shown(count),
    Column::new("DELETED", "deleted").shown(count),
];

const CHANNELS: &[Column] = &[
    Column::new("MARKETPLACE", "name"),
    Column::new("LIVE", "live").shown(count),
    Column::new("OUTDATED", "outdated").shown(count),
    Column::new("NOT LISTED", "not_listed").shown(count),
    Column::new("PROCESSING", "processing").shown(count),
    Column::new("WAITING", "waiting").shown(count),
    Column::new("FAILED", "failed").shown(count),
    Column::new("PAUSED", "paused").shown(count),
];

const FAILURES: &[Column] =
    &[Column::new("FAILURE", "code").shown(|code| plain(code).into()), Column::new("ADS", "ads")];

pub(crate) async fn run(context: &Context) -> Result<(), Failure> {
    let summary = context.client()?.summary().await?.body;
    if !context.out.is_for_people() {
        return Ok(context.out.record(&summary)?);
    }
    show(context, &summary)
}

fn show(context: &Context, summary: &Summary) -> Result<(), Failure> {
    let types = summary.by_vehicle_type.iter().map(|(name, counts)| row(name, counts));
    context.out.table(ADS, types.chain([row("all", &summary.by_status)]))?;
    context.out.text("\n")?;
    context.out.table(CHANNELS, summary.by_channel.iter().map(|(market, counts)| row(market.name(), counts)))?;
    if !summary.failures.is_empty() {
        let failures = summary.failures.iter().map(|(code, ads)| json!({"code": code.name(), "ads": ads}));
        context.out.text("\n")?;
        context.out.table(FAILURES, failures)?;
    }
    context.out.note(&counted(summary.ads, "ad"));
    Ok(())
}

/// A row of counts, with their sum.
fn row(name: &str, counts: &impl Serialize) -> Value {
    let mut row = json!(counts);
    let ads: u64 = row.as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum();
    row["name"] = json!(name);
    row["ads"] = json!(ads);
    row
}
