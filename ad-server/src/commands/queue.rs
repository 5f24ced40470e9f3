//! `ad-server queue`: show unfinished requests, retry them, or give them up.

use std::time::Duration;

use ad_core::{model::Timestamp, pipeline::PipelineSettings, ports::Clock, violation::Code};
use clap::{Args, Subcommand};
use uuid::Uuid;

use super::{CommandDatabase, CommandError, GlobalArgs, ListArgs, refused};
use crate::output;
use crate::{app, config::Layer};
use ad_server_base::system::SystemClock;
use ad_server_store::{DealerQueue, Failing, QueueFilter, TakeError, Unfinished};

/// The log message of a request that an operator has dropped.
const GIVEN_UP: &str = "Dropped by the operator of the service; a retry of the ad runs it again";

/// How far back requests are counted to estimate when the queue is empty.
const RATE: Duration = Duration::from_mins(5);

/// Most dealers in the overview: those with most requests.
const DEALERS: u32 = 10;

/// Without a subcommand: counts and times of the queue.
#[derive(Debug, Args)]
pub(super) struct QueueArgs {
    #[command(subcommand)]
    command: Option<QueueCommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum QueueCommand {
    /// List unfinished requests, oldest first
    List {
        #[command(flatten)]
        filter: RequestFilterArgs,
        /// Maximum number of requests to list
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Retry failed requests now, instead of at their next attempt
    Retry {
        #[command(flatten)]
        filter: RequestFilterArgs,
        /// All requests
        #[arg(long, conflicts_with_all = ["dealer_code", "reason", "code"])]
        all: bool,
    },
    /// Drop requests: the current action of each ends with an error in the log of its ad, and a retry of the ad runs the
    /// remaining steps
    Drop {
        /// Request ids (`X-Request-Id`)
        #[arg(value_name = "REQUEST_ID", required = true)]
        requests: Vec<Uuid>,
        /// Drop the requests without asking for confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// Which requests.
#[derive(Debug, Args)]
struct RequestFilterArgs {
    /// Only those of this dealer
    #[arg(long, value_name = "CODE")]
    dealer_code: Option<String>,
    /// Only requests that failed for this reason, exactly as `ad-server queue` shows it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Only requests that failed with this code; docs/status.md lists the codes
    #[arg(long, value_name = "CODE", value_parser = super::ads::code)]
    code: Option<Code>,
}

impl RequestFilterArgs {
    fn is_empty(&self) -> bool {
        self.dealer_code.is_none() && self.reason.is_none() && self.code.is_none()
    }

    fn described(&self) -> String {
        let code = self.code.map(|code| code.name().to_owned());
        [&self.dealer_code, &self.reason, &code].into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
    }
}

impl From<RequestFilterArgs> for QueueFilter {
    fn from(RequestFilterArgs { dealer_code, reason, code }: RequestFilterArgs) -> Self {
        Self { dealer_code, reason, code }
    }
}

pub(super) async fn run(base: GlobalArgs, args: QueueArgs) -> Result<(), CommandError> {
    match args.command {
        None => show(base, &args.list).await,
        Some(QueueCommand::List { filter, limit, list: args }) => list(base, &filter.into(), limit, &args).await,
        Some(QueueCommand::Retry { filter, all }) => {
            if filter.is_empty() && !all {
                return refused("no requests selected: use --dealer-code, --reason, --code or --all");
            }
            let opened = base.database().await?;
            opened.audit("queue retry", &filter.described(), "").await?;
            let requests = opened.answer(opened.database.try_now(&filter.into(), SystemClock.now()).await)?;
            output::note(&format!(
                "{} will be retried now",
                output::counted(usize::try_from(requests).unwrap_or(usize::MAX), "request")
            ));
            Ok(())
        }
        Some(QueueCommand::Drop { requests, yes }) => give_up(base, &requests, yes).await,
    }
}

async fn show(base: GlobalArgs, args: &ListArgs) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let now = SystemClock.now();
    let state = opened.answer(opened.database.queue_state(now).await)?;
    let failing = opened.answer(opened.database.failing().await)?;
    let dealers = opened.answer(opened.database.queue_by_dealer(now, RATE, DEALERS).await)?;
    if args.json {
        let all = serde_json::json!({"queue": state, "failing": failing, "dealers": dealers});
        return Ok(output::json_value(&all)?);
    }
    let since = |time: Option<Timestamp>| output::or_dash(time.map(|time| age(now, time)));
    output::table(
        ["UNFINISHED", "DUE NOW", "BLOCKED", "OLDEST", "OLDEST DUE"],
        [[
            state.depth.to_string(),
            state.due.to_string(),
            state.behind.to_string(),
            since(state.oldest),
            since(state.oldest_due),
        ]],
    )?;
    let row = |it: DealerQueue| {
        let drains = output::or_dash(it.drains_in.map(|seconds| format!("in {}", span(seconds))));
        let numbers = [it.unfinished, it.due, it.finished].map(|number| number.to_string());
        let [unfinished, due, finished] = numbers;
        [it.dealer_code, unfinished, due, age(now, it.oldest), finished, drains]
    };
    let header = ["DEALER", "UNFINISHED", "DUE NOW", "OLDEST", "FINISHED IN 5 MIN", "DRAINS"];
    output::further(header, dealers, row)?;
    let row = |it: Failing| [it.requests.to_string(), age(now, it.oldest), due(now, it.next), it.reason];
    Ok(output::further(["FAILING", "OLDEST", "NEXT ATTEMPT", "REASON"], failing, row)?)
}

async fn list(base: GlobalArgs, filter: &QueueFilter, limit: u32, args: &ListArgs) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let requests = opened.answer(opened.database.unfinished(filter, limit).await)?;
    if args.json {
        return Ok(output::json(&requests)?);
    }
    let now = SystemClock.now();
    let row = |it: Unfinished| {
        [
            it.request_id.to_string(),
            it.dealer_code,
            it.source_id,
            age(now, it.accepted),
            it.claimable.map_or_else(|| "blocked".to_owned(), |time| due(now, time)),
            it.tries.to_string(),
            it.reason.unwrap_or_default(),
        ]
    };
    let header = ["REQUEST", "DEALER", "SOURCE ID", "AGE", "DUE", "TRIES", "REASON"];
    Ok(output::table(header, requests.into_iter().map(row))?)
}

async fn give_up(base: GlobalArgs, requests: &[Uuid], yes: bool) -> Result<(), CommandError> {
    let settings = base.settings(Layer::default())?;
    if !yes {
        let what = output::counted(requests.len(), "request");
        return refused(format!("{what} would be dropped; repeat the command with --yes to drop them"));
    }
    let (database, pipeline) = app::operator_pipeline(&settings).await?;
    let opened = CommandDatabase::of(database, &settings);
    for request in requests {
        opened.audit("queue drop", &request.to_string(), "").await?;
        let claimed = match opened.database.take(*request, SystemClock.now() + PipelineSettings::default().lease).await
        {
            Ok(claimed) => claimed,
            Err(TakeError::Store(error)) => return opened.answer(Err(error)),
            Err(error) => return refused(error.to_string()),
        };
        opened.answer(pipeline.give_up(claimed, GIVEN_UP).await)?;
        output::note(&format!("dropped {request}"));
    }
    Ok(())
}

/// How long ago something was.
fn age(now: Timestamp, time: Timestamp) -> String {
    span((now - time).as_secs())
}

/// The time until something is due.
fn due(now: Timestamp, time: Timestamp) -> String {
    if time <= now { "now".to_owned() } else { format!("in {}", span((time - now).as_secs())) }
}

/// A duration in its two largest units.
pub(super) fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_two_units() {
        let table = [(0, "0s"), (59, "59s"), (61, "1m 1s"), (3600, "1h 0m"), (90_061, "1d 1h")];
        assert!(table.iter().all(|(seconds, text)| span(*seconds) == *text));
        let now = Timestamp::from_millis(100_000);
        assert_eq!(
            (due(now, now), due(now, Timestamp::from_millis(161_000))),
            ("now".to_owned(), "in 1m 1s".to_owned())
        );
    }
}
