//! `ad-cli log`: what has been done to an ad.

use ad_core::model::{MAX_LIMIT, Page};
use ad_parameters::{FromParameters, LOG_PARAMETERS, Parameter};
use futures_util::{FutureExt, StreamExt, TryStreamExt};

use crate::{
    After, Client, EventQuery, LogQuery, Target,
    cli::{
        acts,
        commands::events,
        parameters::{self, GivenParameters, Table},
    },
    terminal::{Column, Context, Counter, Failure, Rows, ad_table, counted, grouped},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A table shows the 20 latest entries, the newest last; --all shows every entry. The other formats have every entry anyway.

Examples:
  ad-cli log car-1
  ad-cli log car-1 --all
  ad-cli log car-1 --state error
  ad-cli log car-1 --follow")]
pub(crate) struct LogArgs {
    /// Source id of the ad, or its plate
    source_id: String,
    /// Keep printing new entries until Ctrl-C
    #[arg(long, short, conflicts_with_all = ["limit", "offset", "ordering"])]
    follow: bool,
    /// Print every entry
    #[arg(long, conflicts_with_all = ["limit", "offset", "follow"])]
    all: bool,
    #[command(flatten)]
    filters: GivenParameters<LogQuery>,
}

impl Table for LogQuery {
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

/// Entries that people see, unless they ask for more.
const LATEST: u32 = 20;

pub(crate) async fn run(context: &Context, args: &LogArgs) -> Result<(), Failure> {
    let query = LogQuery::parse(LOG_PARAMETERS, args.filters.pairs())
        .map_err(|errors| parameters::wrong(context.out, &errors))?;
    let client = context.client()?;
    // Whose log it is, also where the plate was given.
    let one = LogQuery { page: Page { limit: 1, offset: 0 }, ..query.clone() };
    let target = Target::from(&args.source_id).of_dealer(query.dealer_code.as_deref());
    let ask = async |target: Target<'_>| {
        client.v4().log(target, &one).await?;
        Ok((target.source_id.to_owned(), target.dealer_code.map(str::to_owned)))
    };
    let asking = Counter::between_rows(context.out, "entry");
    let (source_id, dealer_code) = asking.run(acts::found(&client, target, ask)).await??;
    let query = LogQuery { dealer_code, ..query };
    if args.follow {
        return follow(context, &client, &source_id, query).await;
    }
    let asked_for = ["limit", "offset", "ordering"].iter().any(|name| args.filters.get(name).is_some());
    let is_latest = !args.all && !asked_for && context.out.is_for_people();
    // Selected fields have no widths of their own.
    let is_live = context.out.is_for_people();
    let mut rows = if is_live { context.out.live_rows(COLUMNS) } else { context.out.rows(COLUMNS) };
    // A part is shown as a part; otherwise it is the whole log.
    if is_latest || args.filters.get("limit").is_some() {
        let latest = LogQuery { page: Page { limit: LATEST, offset: 0 }, descending: true, ..query.clone() };
        let mut page = client.v4().log(&source_id, if is_latest { &latest } else { &query }).await?.body;
        if is_latest {
            page.results.reverse();
        }
        page.results.iter().try_for_each(|entry| rows.push(entry))?;
        rows.end()?;
        if (page.results.len() as u64) < page.count {
            let which = if is_latest { "the latest " } else { "" };
            let more = if is_latest { "; to show all: --all" } else { "" };
            let (shown, all) = (grouped(page.results.len() as u64), counted(page.count, "entry"));
            context.out.note(&format!("{which}{shown} of {all}{more}"));
        }
        return Ok(());
    }
    let counter = if is_live { Counter::streaming } else { Counter::new };
    let progress = counter(context.out, "entry");
    let read = show_from(&client, &source_id, &query, query.page.offset, &mut rows, || progress.add());
    progress.run(read).await??;
    Ok(rows.end()?)
}

/// Shows what there is, and then what comes. The log only grows, so that what is new stands behind what was seen.
async fn follow(context: &Context, client: &Client, source_id: &str, query: LogQuery) -> Result<(), Failure> {
    let of_ad = EventQuery {
        after: After::Now,
        source_id: Some(source_id.to_owned()),
        dealer_code: query.dealer_code.clone(),
        ..EventQuery::default()
    };
    // What is written while the log is read comes as an event.
    let before = client.events(&EventQuery { limit: Some(1), ..of_ad.clone() }).await?.body.cursor;
    let of_ad = EventQuery { after: After::Cursor(before), ..of_ad };
    let mut news = events::stream(context, client, &of_ad);
    let mut rows = context.out.live_rows(COLUMNS);
    let mut seen = 0;
    loop {
        seen += show_from(client, source_id, &query, seen, &mut rows, || ()).await?;
        rows.flush()?;
        if news.try_next().await?.is_none() {
            return Ok(());
        }
        // Those that have arrived together are read together.
        while let Some(Some(event)) = news.next().now_or_never() {
            event?;
        }
    }
}

/// Shows the entries from a place on; returns how many there were.
async fn show_from(
    client: &Client,
    source_id: &str,
    query: &LogQuery,
    offset: u64,
    rows: &mut Rows,
    read: impl Fn(),
) -> Result<u64, Failure> {
    let query = LogQuery { page: Page { limit: MAX_LIMIT, offset }, ..query.clone() };
    let mut entries = client.v4().log_all(source_id, &query);
    let mut count = 0;
    while let Some(entry) = entries.try_next().await? {
        rows.push(&entry)?;
        count += 1;
        read();
    }
    Ok(count)
}
