//! `ad-cli events`: what happens to all ads.

use ad_core::model::EventTypes;
use futures_util::{TryStreamExt, stream::BoxStream};

use crate::{
    After, Client, Connection, Error, Event, EventQuery,
    bulk::Invocation,
    terminal::{Column, Context, Counter, Failure, ad_table},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
An event is an entry in the log of an ad. Events of all ads that the token gives access to are one sequence. --follow resumes by itself when \
the connection breaks or the service restarts: no event is left out or repeated. Without --after, the oldest event is the first; with \
--follow, the events from now on are printed.

Types are ad.ACTION.STATE, where * stands for any action or state:
  actions  create, update, handle_media, publish, unpublish, delete, bump, boost
  states   processing, done, error

Examples:
  ad-cli events --follow
  ad-cli events --types \"ad.*.error\" --output ndjson
  ad-cli events --after CURSOR --source-id car-1
  ad-cli events --limit 100")]
pub(crate) struct EventsArgs {
    /// Keep printing new events until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// At most so many events
    #[arg(long, value_name = "N", conflicts_with = "follow", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    #[command(flatten)]
    selection: SelectionArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SelectionArgs {
    /// Begin after this cursor, with the `oldest` event, or `now`
    #[arg(long, value_name = "CURSOR|oldest|now", value_parser = after)]
    after: Option<After>,
    /// Only events of these types, such as ad.publish.done,ad.*.error
    #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
    types: Vec<EventTypes>,
    /// Only events of the ad with this source id
    #[arg(long, value_name = "TEXT")]
    source_id: Option<String>,
    /// Only events of this dealer of the token's group
    #[arg(long, value_name = "CODE")]
    dealer_code: Option<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "clap expects a result of a parser")]
fn after(text: &str) -> Result<After, std::convert::Infallible> {
    Ok(match text {
        "oldest" => After::Oldest,
        "now" => After::Now,
        cursor => After::Cursor(cursor.to_owned()),
    })
}

impl SelectionArgs {
    /// The query; without `--after` it begins there.
    pub(crate) fn query(&self, or_after: After) -> EventQuery {
        EventQuery {
            after: self.after.clone().unwrap_or(or_after),
            types: self.types.clone(),
            source_id: self.source_id.clone(),
            dealer_code: self.dealer_code.clone(),
            ..EventQuery::default()
        }
    }
}

const COLUMNS: &[Column] = &[
    Column::new("TIME", "timestamp").shown(ad_table::second).wide(20),
    Column::new("SOURCE ID", "source_id").wide(12).ends_line(),
    Column::new("DEALER", "dealer_code").wide(12).for_programs(),
    Column::new("ACTION", "action").wide(12),
    Column::new("STATE", "state").shown(ad_table::action_state).wide(10),
    Column::new("REQUEST", "request_id").wide(36).for_programs(),
    Column::new("CODE", "code").wide(20).for_programs(),
    Column::new("MESSAGE", "message").wrapped(),
    Column::new("CURSOR", "cursor").for_programs(),
];

const MOST_EVENTS: u32 = 1000;

pub(crate) async fn run(context: &Context, args: &EventsArgs) -> Result<(), Failure> {
    let client = context.client()?;
    if args.follow {
        return follow(context, &client, &args.selection.query(After::Now)).await;
    }
    let mut rows = context.out.live_rows(COLUMNS);
    let mut query = args.selection.query(After::Oldest);
    let mut left = args.limit.unwrap_or(u32::MAX);
    let progress = Counter::between_rows(context.out, "event");
    loop {
        query.limit = Some(left.min(MOST_EVENTS));
        let page = progress.run(client.events(&query)).await??.body;
        for event in &page.events {
            rows.push(event)?;
            progress.add();
        }
        if args.limit.is_some() {
            left = left.saturating_sub(u32::try_from(page.events.len()).unwrap_or(u32::MAX));
        }
        if !page.has_more || left == 0 {
            rows.end()?;
            let more = context.out.command(&Invocation::new("events").option("after", page.cursor));
            context.out.note(&format!("to read the events after these: {more}"));
            return Ok(());
        }
        query.after = After::Cursor(page.cursor);
    }
}

pub(crate) async fn follow(context: &Context, client: &Client, query: &EventQuery) -> Result<(), Failure> {
    let mut rows = context.out.live_rows(COLUMNS);
    let mut events = stream(context, client, query);
    while let Some(event) = events.try_next().await? {
        rows.push(&event)?;
        rows.flush()?;
    }
    Ok(rows.end()?)
}

/// The events as they happen; says when the service cannot be reached, and when it is back.
pub(crate) fn stream(
    context: &Context,
    client: &Client,
    query: &EventQuery,
) -> BoxStream<'static, Result<Event, Error>> {
    let out = context.out;
    client.watched_event_stream(query, move |connection| match connection {
        Connection::Lost => out.warning("the service cannot be reached; trying again until it can"),
        Connection::Restored => out.note("the service can be reached again; nothing was left out"),
    })
}
