//! Shared by commands that act on ads: which ads, whether to wait, and what is shown.

use std::time::Duration;

use ad_core::model::{
    Action, ActionState, AdState, ChannelReport, ChannelStatus, LogEntry, PromotionKind, StatusReport,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Ad, AdFilter, AdQuery, Ads, Answer, Client, Error, ErrorKind, Target,
    bulk::follow::{Waited, wait_for_ad, wait_for_request},
    bulk::{Identity, Invocation},
    cli::{
        claims::approximate_distance,
        costs::{self, Promoted},
    },
    terminal::{
        Column, ConfirmArgs, Context, Counter, Exit, Failure, Output, Rows, Styled, ad_table, can_ask, confirm,
        counted, duration, grouped, until_interrupted,
    },
};

const LONGEST_PLATE: usize = 20;

/// Arguments that name one ad.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArgs {
    /// Source id of the ad, or its plate
    #[arg(value_name = "SOURCE_ID")]
    pub(crate) source_id: String,
    #[command(flatten)]
    pub(crate) dealer: DealerArgs,
}

/// The argument that names a dealer of a group.
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

/// Whether to wait for the outcome.
#[derive(Debug, clap::Args)]
pub(crate) struct WaitOptions {
    /// Wait until the request is finished; the service processes it after it has answered
    #[arg(long, short)]
    pub(crate) wait: bool,
    /// How long to wait, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration, requires = "wait")]
    within: Duration,
}

impl WaitOptions {
    /// With `--wait`, the service holds back its answers until a request is finished.
    pub(crate) fn of<'a>(&self, ads: Ads<'a>) -> Ads<'a> {
        if self.wait { ads.wait(self.within) } else { ads }
    }
}

/// Arguments that name ads: source ids, filters, or both.
#[derive(Debug, clap::Args)]
pub(crate) struct ManyArgs {
    /// Source ids of the ads; where the ads are shown first, also their plates
    #[arg(value_name = "SOURCE_ID", required = true)]
    source_ids: Vec<String>,
    #[command(flatten)]
    dealer: DealerArgs,
    #[command(flatten)]
    wait: WaitOptions,
}

/// One or several ads about which something is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct ShownArgs {
    /// Source ids of the ads, or their plates
    #[arg(value_name = "SOURCE_ID")]
    pub(crate) source_ids: Vec<String>,
    #[command(flatten)]
    pub(crate) dealer: DealerArgs,
}

/// Requests an ad by its source id or, if there is none, by its plate.
pub(crate) async fn found<T>(
    client: &Client,
    target: Target<'_>,
    request: impl AsyncFn(Target<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    match request(target).await {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) => match by_plate(client, target).await? {
            Some(ad) => request(ad.target()).await,
            None => Err(error),
        },
        answer => answer,
    }
}

/// Reads an ad by its source id or its plate.
pub(crate) async fn read(client: &Client, target: Target<'_>) -> Result<Answer<Ad>, Error> {
    found(client, target, async |target: Target<'_>| client.v4().read(target).await).await
}

/// The ad with this plate: the latest one that is not deleted, otherwise the latest deleted one.
async fn by_plate(client: &Client, target: Target<'_>) -> Result<Option<Identity>, Error> {
    #[derive(Deserialize)]
    struct Named {
        state: AdState,
        #[serde(flatten)]
        ad: Identity,
    }
    let plate = ad_core::model::plate(target.source_id);
    if plate.is_empty() || plate.len() > LONGEST_PLATE {
        return Ok(None);
    }
    let of_dealer = target.dealer_code.map(|code| AdFilter::DealerCode(code.to_owned()));
    let query = AdQuery {
        filters: [AdFilter::RegistrationNumber(plate)].into_iter().chain(of_dealer).collect(),
        fields: Some(vec!["source_id", "dealer_code", "state"]),
        ..AdQuery::default()
    };
    let mut ads = client.v4().list_as::<Named>(&query).await?.body.results;
    let index = ads.iter().position(|named| named.state == AdState::Created).unwrap_or(0);
    Ok((!ads.is_empty()).then(|| ads.swap_remove(index).ad))
}

/// Requests each ad. People get the output of `write`, programs a row. A refusal of one ad does not stop the others.
pub(crate) async fn show_each<T: Serialize>(
    context: &Context,
    client: &Client,
    args: &ShownArgs,
    columns: &'static [Column],
    ask: impl AsyncFn(Target<'_>) -> Result<T, Error>,
    write: impl Fn(&mut Styled, &T),
) -> Result<(), Failure> {
    let (mut rows, mut failed) = (None, false);
    let progress = Counter::new(context.out, "ad");
    for source_id in &args.source_ids {
        let target = Target::from(source_id).of_dealer(args.dealer.dealer_code.as_deref());
        let answer = progress.run(found(client, target, &ask)).await?;
        progress.add();
        match answer {
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

const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("OUTCOME", "outcome").shown(ad_table::outcome),
    Column::new("TITLE", "ad.title").wrapped(),
    Column::new("REQUEST", "request_id").for_programs(),
    Column::new("MESSAGE", "message").wrapped(),
];

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

/// The results of actions, row by row.
#[derive(Debug)]
pub(crate) struct Done<'a> {
    context: &'a Context,
    client: &'a Client,
    wait: &'a WaitOptions,
    rows: Rows,
    failed: bool,
    /// The ads whose requests were accepted.
    accepted: Vec<String>,
}

impl<'a> Done<'a> {
    /// Before anything is done: unknown fields are an error.
    pub(crate) fn new(context: &'a Context, client: &'a Client, wait: &'a WaitOptions) -> Result<Self, Failure> {
        context.out.check_fields(COLUMNS, &[])?;
        Ok(Self { context, client, wait, rows: context.out.rows(COLUMNS), failed: false, accepted: Vec::new() })
    }

    /// Shows an accepted request, after waiting for its outcome if requested.
    pub(crate) async fn accepted(&mut self, answer: &Answer<Ad>) -> Result<(), Failure> {
        let ad = &answer.body;
        self.accepted.push(ad.source_id.clone());
        let mut row = json!({
            "source_id": ad.source_id, "request_id": answer.request_id, "outcome": "accepted", "message": null, "ad": ad,
        });
        if self.wait.wait {
            let waited = self.wait_for(answer).await?;
            row["outcome"] = json!(waited.outcome());
            row["message"] = json!(waited.message());
            self.failed |= !waited.outcome().is_good();
            // What it became, with the ids that the marketplaces gave it.
            let mut now = self.client.v4().read(ad).await?.body;
            now.log = None;
            row["ad"] = json!(now);
        }
        Ok(self.rows.push(&row)?)
    }

    async fn wait_for(&self, answer: &Answer<Ad>) -> Result<Waited, Failure> {
        let ad = &answer.body;
        let target = Target::from(ad);
        // A request that changes nothing, such as deleting a deleted ad, has no log entries to wait for.
        let is_over = ad.state == ad_core::model::AdState::Deleted;
        let waits = reasons(self.context);
        let waited = async {
            Ok::<_, Error>(match answer.request_uuid() {
                Some(request) if !is_over => {
                    wait_for_request(self.client, target, request, self.wait.within, waits).await?
                }
                _ => wait_for_ad(self.client, target, self.wait.within, waits).await?.0,
            })
        };
        Ok(until_interrupted(waited).await.ok_or_else(|| interrupted_wait(&ad.source_id))??)
    }

    /// Shows what has become of a request about one of `count` ads. A refusal of one ad does not stop the others; a failure that concerns all
    /// of them, such as an invalid token, does. `explain` adds what to do to the refusal of a single ad.
    pub(crate) async fn outcome(
        mut self,
        source_id: &str,
        count: usize,
        answer: Result<Answer<Ad>, Error>,
        explain: impl FnOnce(Error) -> Failure,
    ) -> Result<Self, Failure> {
        match answer {
            Ok(answer) => self.accepted(&answer).await?,
            Err(error) if count == 1 => return Err(explain(error)),
            Err(error) if error.is_refusal() => self.rejected(source_id, &error)?,
            Err(error) => {
                // Keep the results so far.
                self.rows.end()?;
                let hint = format!("stopped at {source_id}; the ads before it are done");
                return Err(Failure::from(error).hint(hint));
            }
        }
        Ok(self)
    }

    fn rejected(&mut self, source_id: &str, error: &Error) -> Result<(), Failure> {
        self.failed = true;
        Ok(self.rows.push(&json!({
            "source_id": source_id, "request_id": error.request_id(), "outcome": "rejected", "message": error.to_string(),
        }))?)
    }

    pub(crate) fn end(self) -> Result<(), Failure> {
        self.rows.end()?;
        if self.failed {
            return Err(Failure::Shown(Exit::Failed));
        }
        if !self.wait.wait {
            let out = self.context.out;
            let wait = match self.accepted.as_slice() {
                [source_id] => Invocation::new("wait").with("source_id", source_id.as_str()),
                _ => Invocation::new("wait").with_some("source_id", "SOURCE_ID"),
            };
            let wait = out.command(&wait);
            out.note(&format!("accepted and processed in the background; to wait for the outcome: {wait}"));
        }
        Ok(())
    }
}

/// Ctrl-C ends only the waiting.
pub(crate) fn interrupted_wait(source_id: &str) -> Failure {
    let wait = Invocation::new("wait").with("source_id", source_id);
    Failure::interrupted().hint(("the service goes on with the request; to wait for its outcome", wait))
}

/// An action, for its confirmation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConfirmedAction {
    /// The imperative, such as `Delete`.
    pub(crate) verb: &'static str,
    /// Why it needs a confirmation; `None` if it does not.
    pub(crate) consequence: Option<&'static str>,
    /// What is charged for each ad.
    pub(in crate::cli) charged: Option<Promoted>,
}

/// Time after a bump within which another one causes a warning.
const JUST_NOW: Duration = Duration::from_mins(10);

/// Runs an action on several ads, one after the other; see [`Done::outcome`].
pub(crate) async fn each(
    context: &Context,
    args: &ManyArgs,
    ConfirmArgs { yes, dry_run }: ConfirmArgs,
    what: ConfirmedAction,
    act: impl AsyncFn(&Client, Target<'_>) -> Result<Answer<Ad>, Error>,
) -> Result<(), Failure> {
    let asks = what.consequence.is_some() && !yes && !dry_run;
    if asks && !can_ask() {
        // Before the first request.
        return confirm(context, "", false).await;
    }
    let client = context.client()?;
    let dealer_code = &args.dealer.dealer_code;
    let identity = |id: &String| Identity { source_id: id.clone(), dealer_code: dealer_code.clone() };
    let mut ads: Vec<_> = args.source_ids.iter().map(identity).collect();
    if asks || dry_run || what.charged.is_some() {
        let read = read_all(context, &client, &ads).await?;
        let found: Vec<_> = read.iter().flatten().collect();
        if found.is_empty() {
            return Err(Failure::Shown(Exit::Failed));
        }
        if what.charged.is_some_and(|promoted| promoted.kind == PromotionKind::Bump) {
            warn_of_repetition(context, &found);
        }
        if asks || dry_run {
            // The fields are selected for the answer, not for the question.
            show_ads(
                if dry_run { context.out } else { context.out.with_all_fields() },
                &found,
                what.charged.is_some(),
            )?;
        }
        let (mut consequence, mut possible) = (what.consequence, found.len());
        if let Some(promoted) = what.charged.filter(|_| asks || dry_run) {
            let live: Vec<_> = found.iter().copied().filter(|ad| may_be_promoted(context, ad)).collect();
            possible = live.len();
            if !costs::note(context, &client, &live, promoted).await {
                consequence = consequence.map(|_| "The service charges nothing for it; the marketplace may.");
            }
        }
        if dry_run {
            if what.charged.is_some() {
                let these = counted(read.len() as u64, "ad");
                context.out.note(&format!("{} of {these} can be promoted", grouped(possible as u64)));
            }
            context.out.note(&format!("nothing was changed ({})", context.out.argument("dry_run")));
            return if possible == read.len() { Ok(()) } else { Err(Failure::Shown(Exit::Failed)) };
        }
        if let Some(consequence) = consequence.filter(|_| asks) {
            let these = counted(found.len() as u64, "ad");
            confirm(context, &format!("{} {these}? {consequence}", what.verb), false).await?;
        }
        for (ad, read) in ads.iter_mut().zip(read) {
            if let Some(Ad { source_id, dealer_code, .. }) = read {
                *ad = Identity { source_id, dealer_code: Some(dealer_code) };
            }
        }
    }
    let mut done = Done::new(context, &client, &args.wait)?;
    for ad in &ads {
        let answer = act(&client, ad.target()).await;
        done = done.outcome(&ad.source_id, ads.len(), answer, Failure::from).await?;
    }
    done.end()
}

/// The ads with their logs; they may be named by their plates. One of several that does not exist is `None`.
async fn read_all(context: &Context, client: &Client, ads: &[Identity]) -> Result<Vec<Option<Ad>>, Failure> {
    let mut read = Vec::new();
    for ad in ads {
        match self::read(client, ad.target()).await {
            Ok(answer) => read.push(Some(answer.body)),
            Err(error) if error.is_refusal() && ads.len() > 1 => {
                context.out.warning(&format!("{}: {error}", ad.source_id));
                read.push(None);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(read)
}

/// Whether an ad may be promoted: hidden ads and those that no marketplace lists are refused, which is a warning.
fn may_be_promoted(context: &Context, ad: &Ad) -> bool {
    let why = match ad {
        Ad { state: AdState::Deleted, .. } => "is deleted",
        Ad { visible: false, .. } => "is hidden",
        Ad { marketplace_ad_id: None, offer_id: None, .. } => "is not live",
        _ => return true,
    };
    context.out.warning(&format!("{} {why}, so that it cannot be promoted", ad.source_id));
    false
}

/// Shows the ads of a question; beside one about money, the prices of the vehicles would mislead.
fn show_ads(out: Output, ads: &[&Ad], is_charged: bool) -> Result<(), Failure> {
    let left_out: &[_] = if is_charged { &["status", "dealer_code", "price"] } else { &["status", "dealer_code"] };
    let is_shown = |column: &&Column| !left_out.iter().any(|path| column.is_of(path));
    let columns: Vec<_> = ad_table::SHOWN.iter().filter(is_shown).copied().collect();
    Ok(out.table(columns, ads)?)
}

/// Warns about ads that were bumped minutes ago: a second time is probably a mistake. A second pole position is refused.
fn warn_of_repetition(context: &Context, ads: &[&Ad]) {
    let now = context.now();
    for ad in ads {
        let is_it = |entry: &&LogEntry| entry.action == Action::Bump && entry.state != ActionState::Error;
        let last = ad.log.iter().flatten().rev().find(is_it).filter(|entry| now - entry.created < JUST_NOW);
        if let Some(last) = last {
            let when = approximate_distance(last.created, now);
            context.out.warning(&format!("{}: the last bump was {when}; another one is charged again", ad.source_id));
        }
    }
}
