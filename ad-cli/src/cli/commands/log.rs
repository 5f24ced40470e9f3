//! `ad-cli log`: what has been done to an ad.

use ad_core::{
    model::{MAX_LIMIT, Page},
    parameters::{LOG_PARAMETERS, Parameter},
};
use futures_util::{FutureExt, StreamExt, TryStreamExt};

use crate::{
    After, Client, EventQuery, LogQuery,
    cli::parameters::{self, Given, Table},
    terminal::{
        Context, Failure, ad_table,
        output::{Column, Rows},
    },
};

/// Arguments of `log`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli log car-1
  ad-cli log car-1 --state error
  ad-cli log car-1 --follow")]
pub(crate) struct Args {
    /// Source id of the ad
    source_id: String,
    /// Keep printing new entries until Ctrl-C
    #[arg(long, short, conflicts_with_all = ["limit", "offset", "ordering"])]
    follow: bool,
    #[command(flatten)]
    filters: Given<Entries>,
}

/// The parameters of a log.
#[derive(Debug, Clone)]
pub(crate) struct Entries;

impl Table for Entries {
    fn parameters() -> impl Iterator<Item = &'static Parameter> {
        LOG_PARAMETERS.iter()
    }
}

const COLUMNS: &[Column] = &[
    Column::new("CREATED", "created").shown(ad_table::second).wide(20),
    Column::new("ACTION", "action").wide(12),
    Column::new("STATE", "state").shown(ad_table::action_state).wide(10),
    Column::new("REQUEST", "request_id").wide(36).for_programs(),
    Column::new("MESSAGE", "external_message").shown(|message| crate::message_text(message).into()).wrapped(),
];

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let query = LogQuery::parse(args.filters.pairs()).map_err(|errors| parameters::wrong(&errors))?;
    let client = context.client()?;
    if args.follow {
        return follow(context, &client, args, query).await;
    }
    // A part is shown as a part; otherwise it is the whole log.
    let is_part = args.filters.get("limit").is_some();
    let mut rows = context.out.rows(COLUMNS);
    if is_part {
        let page = client.v4().log(&args.source_id, &query).await?.body;
        page.results.iter().try_for_each(|entry| rows.push(entry))?;
        rows.end()?;
        if (page.results.len() as u64) < page.count {
            context.out.note(&format!("{} of {} entries", page.results.len(), page.count));
        }
        return Ok(());
    }
    show_from(&client, args, &query, query.page.offset, &mut rows).await?;
    Ok(rows.end()?)
}

/// Shows what there is, and then what comes. The log only grows, so that what is new stands behind what was seen.
async fn follow(context: &Context, client: &Client, args: &Args, query: LogQuery) -> Result<(), Failure> {
    let of_ad = EventQuery {
        after: After::Now,
        source_id: Some(args.source_id.clone()),
        dealer_code: query.dealer_code.clone(),
        ..EventQuery::default()
    };
    // What is written while the log is read comes as an event.
    let before = client.events(&EventQuery { limit: Some(1), ..of_ad.clone() }).await?.body.cursor;
    let mut events = client.event_stream(&EventQuery { after: After::Cursor(before), ..of_ad });
    let mut rows = context.out.live_rows(COLUMNS);
    let mut seen = 0;
    loop {
        seen += show_from(client, args, &query, seen, &mut rows).await?;
        rows.flush()?;
        if events.try_next().await?.is_none() {
            return Ok(());
        }
        // Those that have arrived together are read together.
        while let Some(Some(event)) = events.next().now_or_never() {
            event?;
        }
    }
}

/// Shows the entries from a place on; returns how many there were.
async fn show_from(
    client: &Client,
    args: &Args,
    query: &LogQuery,
    offset: u64,
    rows: &mut Rows,
) -> Result<u64, Failure> {
    let query = LogQuery { page: Page { limit: MAX_LIMIT, offset }, ..query.clone() };
    let mut entries = client.v4().log_all(&args.source_id, &query);
    let mut count = 0;
    while let Some(entry) = entries.try_next().await? {
        rows.push(&entry)?;
        count += 1;
    }
    Ok(count)
}
