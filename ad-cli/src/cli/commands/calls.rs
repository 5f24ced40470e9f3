//! `ad-cli calls`: the calls of marketplaces about an ad.

use ad_core::model::{MAX_LIMIT, Page};
use serde_json::Value;

use crate::{
    Target,
    cli::acts::{self, TargetArgs},
    terminal::{Cell, Column, Context, Failure, ad_table},
};

pub(in crate::cli) const HELP: &str = "\
Shows the latest 500 calls of marketplaces about an ad, the newest first: what was asked, the HTTP status of the answer, and how long it took. A call \
without a status was not answered. To see why a request failed: ad-cli log SOURCE_ID

Examples:
  ad-cli calls car-1
  ad-cli calls car-1 --output json | jq \".[0].content_sha256\"";

const COLUMNS: &[Column] = &[
    Column::new("AT", "at").shown(ad_table::second),
    Column::new("MARKETPLACE", "marketplace"),
    Column::new("ACTION", "action"),
    Column::new("STATUS", "status"),
    Column::new("CODE", "code"),
    Column::new("TOOK", "latency_ms").shown(milliseconds),
    Column::new("LISTING", "listing_id"),
    Column::new("REVISION", "revision"),
    Column::new("REQUEST", "request_id").for_programs(),
    Column::new("KEY", "idempotency_key").for_programs(),
    Column::new("SHA256", "content_sha256").for_programs(),
];

fn milliseconds(latency: &Value) -> Cell {
    format!("{latency} ms").into()
}

pub(crate) async fn run(context: &Context, args: &TargetArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let page = Page { limit: MAX_LIMIT, offset: 0 };
    let ask = async |target: Target<'_>| client.v4().calls(target, page).await;
    let calls = acts::found(&client, args.target(), ask).await?.body;
    if calls.count > calls.results.len() as u64 {
        context.out.note(&format!("the latest {} of {} calls", calls.results.len(), calls.count));
    }
    Ok(context.out.table(COLUMNS, &calls.results)?)
}
