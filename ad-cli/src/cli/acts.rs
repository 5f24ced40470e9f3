//! What commands that have something done to ads share: which ads, whether to wait, and what is answered.

use std::time::Duration;

use ad_core::model::{ChannelReport, ChannelStatus, StatusReport};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    Ad, Ads, Answer, Client, Error, Target,
    bulk::follow::{Waited, wait_for_ad, wait_for_request},
    terminal::{
        Context, Exit, Failure, ad_table, duration,
        output::{Column, Rows, Styled},
    },
};

/// Which ad.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArgs {
    /// Source id of the ad
    #[arg(value_name = "SOURCE_ID")]
    pub(crate) source_id: String,
    #[command(flatten)]
    pub(crate) dealer: DealerArgs,
}

/// Whose.
#[derive(Debug, clap::Args)]
pub(crate) struct DealerArgs {
    /// The dealer, if several dealers of the token's group have this source id
    #[arg(long, value_name = "CODE")]
    pub(crate) dealer_code: Option<String>,
}

impl TargetArgs {
    pub(crate) fn target(&self) -> Target<'_> {
        Target::from(&self.source_id).of_dealer(self.dealer.dealer_code.as_deref())
    }
}

/// Whether to wait for what becomes of it.
#[derive(Debug, clap::Args)]
pub(crate) struct WaitArgs {
    /// Wait until the request is finished; the service processes it after it has answered
    #[arg(long, short)]
    pub(crate) wait: bool,
    /// How long to wait, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration, requires = "wait")]
    within: Duration,
}

impl WaitArgs {
    /// With `--wait`, the service holds back its answers until a request is finished.
    pub(crate) fn of<'a>(&self, ads: Ads<'a>) -> Ads<'a> {
        if self.wait { ads.wait(self.within) } else { ads }
    }
}

/// One or several ads.
#[derive(Debug, clap::Args)]
pub(crate) struct ManyArgs {
    /// Source ids of the ads
    #[arg(value_name = "SOURCE_ID", required = true)]
    source_ids: Vec<String>,
    #[command(flatten)]
    dealer: DealerArgs,
    #[command(flatten)]
    wait: WaitArgs,
}

/// One or several ads about which something is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct ShownArgs {
    /// Source ids of the ads
    #[arg(value_name = "SOURCE_ID", required = true)]
    source_ids: Vec<String>,
    #[command(flatten)]
    dealer: DealerArgs,
}

/// Asks the service about each ad. People get what `write` makes of the answer, programs a row. Of several ads, one that the service
/// refuses does not keep the others from being shown.
pub(crate) async fn show_each<T: Serialize>(
    context: &Context,
    args: &ShownArgs,
    columns: &'static [Column],
    ask: impl AsyncFn(Target<'_>) -> Result<T, Error>,
    write: impl Fn(&mut Styled, &T),
) -> Result<(), Failure> {
    let (mut rows, mut failed) = (None, false);
    for source_id in &args.source_ids {
        match ask(Target::from(source_id).of_dealer(args.dealer.dealer_code.as_deref())).await {
            Ok(answer) if context.out.is_for_people() => {
                let mut text = context.out.styled();
                write(&mut text, &answer);
                context.out.show(&text)?;
            }
            Ok(answer) => rows.get_or_insert_with(|| context.out.rows(columns)).push(&answer)?,
            Err(error) if error.is_refusal() && args.source_ids.len() > 1 => {
                failed = true;
                context.show_failure(&error.into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    rows.map_or(Ok(()), Rows::end)?;
    if failed { Err(Failure::Shown(Exit::Failed)) } else { Ok(()) }
}

/// What is answered about each ad.
const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("OUTCOME", "outcome").shown(ad_table::outcome),
    Column::new("TITLE", "ad.title").wrapped(),
    Column::new("REQUEST", "request_id").for_programs(),
    Column::new("MESSAGE", "message").wrapped(),
];

/// How a wait ended, as members of a row.
pub(crate) fn put_into(waited: &Waited, row: &mut Map<String, Value>) {
    row.insert("outcome".to_owned(), json!(waited.outcome()));
    row.insert("message".to_owned(), json!(waited.message()));
}

/// Says why a request waits and until when, once for each reason and attempt.
pub(crate) fn reasons(context: &Context) -> impl FnMut(&StatusReport) {
    let mut last = String::new();
    move |status| {
        let waits = |channel: &&ChannelReport| matches!(channel.status, ChannelStatus::Waiting | ChannelStatus::Paused);
        let channel = status.channels.iter().find(waits);
        let text = channel.map_or(&status.text, |channel| &channel.text);
        let of_request = || status.unfinished.iter().find_map(|request| request.next_attempt);
        let next = channel.and_then(|channel| channel.next_attempt).or_else(of_request);
        let next = next.map(|next| format!(" Next attempt at {next}.")).unwrap_or_default();
        let reason = format!("{}: {text}{next}", status.source_id);
        if reason != last {
            context.out.headed_note("waiting:", &reason);
            last = reason;
        }
    }
}

/// What was done to ads, row by row.
#[derive(Debug)]
pub(crate) struct Done<'a> {
    context: &'a Context,
    client: &'a Client,
    wait: &'a WaitArgs,
    rows: Rows,
    failed: bool,
}

impl<'a> Done<'a> {
    pub(crate) fn new(context: &'a Context, client: &'a Client, wait: &'a WaitArgs) -> Self {
        Self { context, client, wait, rows: context.out.rows(COLUMNS), failed: false }
    }

    /// A request was accepted: waits for what becomes of it, if that is wanted, and shows it.
    pub(crate) async fn accepted(&mut self, answer: &Answer<Ad>) -> Result<(), Failure> {
        let ad = &answer.body;
        let mut row = Map::new();
        row.insert("source_id".to_owned(), json!(ad.source_id));
        row.insert("request_id".to_owned(), json!(answer.request_id));
        row.insert("outcome".to_owned(), json!("accepted"));
        row.insert("message".to_owned(), Value::Null);
        let mut shown = json!(ad);
        if self.wait.wait {
            let waited = self.wait_for(answer).await?;
            put_into(&waited, &mut row);
            self.failed |= !waited.outcome().is_good();
            // What it became, with the ids that the marketplaces gave it.
            let target = Target::from(&ad.source_id).of_dealer(Some(&ad.dealer_code));
            let mut now = self.client.v4().read(target).await?.body;
            now.log = None;
            shown = json!(now);
        }
        row.insert("ad".to_owned(), shown);
        Ok(self.rows.push(&row)?)
    }

    async fn wait_for(&self, answer: &Answer<Ad>) -> Result<Waited, Failure> {
        let ad = &answer.body;
        let target = Target::from(&ad.source_id).of_dealer(Some(&ad.dealer_code));
        // What changed nothing, such as deleting a deleted ad, leaves no trace to wait for.
        let is_over = ad.state == ad_core::model::AdState::Deleted;
        let waits = reasons(self.context);
        Ok(match answer.request_uuid() {
            Some(request) if !is_over => {
                wait_for_request(self.client, target, request, self.wait.within, waits).await?
            }
            _ => wait_for_ad(self.client, target, self.wait.within, waits).await?.0,
        })
    }

    /// A request was refused.
    fn refused(&mut self, source_id: &str, error: &Error) -> Result<(), Failure> {
        self.failed = true;
        Ok(self.rows.push(&json!({
            "source_id": source_id, "request_id": error.request_id(), "outcome": "refused", "message": error.to_string(),
        }))?)
    }

    /// Ends the answer.
    pub(crate) fn end(self) -> Result<(), Failure> {
        self.rows.end()?;
        if self.failed {
            return Err(Failure::Shown(Exit::Failed));
        }
        if !self.wait.wait {
            self.context
                .out
                .note("accepted and processed in the background; to wait for the outcome: ad-cli wait SOURCE_ID");
        }
        Ok(())
    }
}

/// Has the same done to several ads, one after the other. One that is refused does not stop the others; a token or a service that will
/// not do for any of them does.
pub(crate) async fn each(
    context: &Context,
    args: &ManyArgs,
    act: impl AsyncFn(&Client, Target<'_>) -> Result<Answer<Ad>, Error>,
) -> Result<(), Failure> {
    let client = context.client()?;
    let mut done = Done::new(context, &client, &args.wait);
    for source_id in &args.source_ids {
        let target = Target::from(source_id).of_dealer(args.dealer.dealer_code.as_deref());
        match act(&client, target).await {
            Ok(answer) => done.accepted(&answer).await?,
            Err(error) if args.source_ids.len() == 1 => return Err(error.into()),
            Err(error) => {
                if !error.is_refusal() {
                    // What was done so far is not to be lost.
                    done.rows.end()?;
                    let hint = format!("stopped at {source_id}; the ads before it are done");
                    return Err(Failure::from(error).hint(hint));
                }
                done.refused(source_id, &error)?;
            }
        }
    }
    done.end()
}
