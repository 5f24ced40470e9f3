//! Changes ads: reads each, computes the patch, shows each field before and after, and sends the patch for the revision that was read.

use ad_core::{
    categories::{self, Category},
    model::ApiVersion,
    prices::is_far,
    rulebook::{
        merge::merge,
        versions::{Conversion, conversion_of},
    },
    stock::same,
};
use ad_files::text;
use serde_json::{Map, Value, json};

use crate::{
    Ad, Ads, Answer, Client, Error, ErrorKind, Price, Target,
    bulk::{
        self, Invocation,
        desired::{self, difference},
    },
    cli::acts::{self, Done, TargetArgs, WaitOptions},
    terminal::{Context, Exit, Failure, confirm_on_terminal},
};

/// Arguments of all commands that change one ad.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Show the request without sending it
    #[arg(long, conflicts_with = "wait")]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) wait: WaitOptions,
}

/// Of which ads a change is, and how it is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sending<'a> {
    pub(crate) source_ids: &'a [String],
    pub(crate) dealer_code: Option<&'a str>,
    pub(crate) dry_run: bool,
    /// Whether to send a doubtful price without a question.
    pub(crate) yes: bool,
    pub(crate) wait: &'a WaitOptions,
    /// Only for this revision of the ad.
    pub(crate) if_match: Option<&'a str>,
    pub(crate) v3: bool,
}

impl<'a> Sending<'a> {
    pub(crate) fn of(args: &'a ChangeArgs) -> Self {
        Self {
            source_ids: std::slice::from_ref(&args.target.source_id),
            dealer_code: args.target.dealer.dealer_code.as_deref(),
            dry_run: args.dry_run,
            yes: args.yes,
            wait: &args.wait,
            if_match: None,
            v3: false,
        }
    }
}

/// What has become of the change of an ad.
enum Tried {
    /// The patch, which was not sent (`--dry-run`).
    Planned(String, Map<String, Value>),
    Accepted(Answer<Ad>),
    /// Refused by the service; with the ad, if it was read.
    Refused(Error, Option<Ad>),
}

/// Changes each ad by the patch that `decide` returns for its current state; `rejected` explains a refusal of the service.
pub(crate) async fn change(
    context: &Context,
    sending: Sending<'_>,
    decide: impl Fn(&Ad, Option<&'static Category>) -> Result<Map<String, Value>, Failure>,
    rejected: impl Fn(&Ad, Option<&'static Category>, Error) -> Failure,
) -> Result<(), Failure> {
    let client = context.client()?;
    let count = sending.source_ids.len();
    let mut done = Done::new(context, &client, sending.wait)?;
    let (mut planned, mut failed) = (Map::new(), false);
    for source_id in sending.source_ids {
        let target = Target::from(source_id).of_dealer(sending.dealer_code);
        match tried(context, &client, target, sending, &decide).await? {
            Tried::Planned(_, patch) if count == 1 => planned = patch,
            Tried::Planned(source_id, patch) => drop(planned.insert(source_id, Value::Object(patch))),
            Tried::Accepted(answer) => done = done.outcome(source_id, count, Ok(answer), Failure::from).await?,
            Tried::Refused(error, _) if sending.dry_run && count > 1 && error.is_refusal() => {
                failed = true;
                context.out.warning(&format!("{source_id}: {error}"));
            }
            Tried::Refused(error, _) if sending.dry_run => return Err(error.into()),
            Tried::Refused(error, ad) => {
                let explain = |error| explained(error, ad.as_ref(), &rejected);
                done = done.outcome(source_id, count, Err(error), explain).await?;
            }
        }
    }
    if !sending.dry_run {
        return done.end();
    }
    let planned = serde_json::to_string_pretty(&planned).map_err(std::io::Error::other)?;
    context.out.text(&format!("{planned}\n"))?;
    if failed { Err(Failure::Shown(Exit::Failed)) } else { Ok(()) }
}

/// Why an ad was not changed, and what to do.
fn explained(
    error: Error,
    ad: Option<&Ad>,
    rejected: impl Fn(&Ad, Option<&'static Category>, Error) -> Failure,
) -> Failure {
    match ad {
        None => error.into(),
        Some(ad) if matches!(error.kind(), ErrorKind::Identified(_)) => {
            let migrate = Invocation::of_user("migrate-v4").with("source_id", &*ad.source_id).flag("dry_run");
            Failure::from(error).hint(("to show what it lacks", migrate))
        }
        Some(ad) => rejected(ad, categories::by_id(ad.category_id), error),
    }
}

/// Reads an ad, shows each field before and after, and sends the patch, unless it is a dry run.
async fn tried(
    context: &Context,
    client: &Client,
    target: Target<'_>,
    sending: Sending<'_>,
    decide: impl Fn(&Ad, Option<&'static Category>) -> Result<Map<String, Value>, Failure>,
) -> Result<Tried, Failure> {
    let Sending { dry_run, yes, wait, if_match, v3, .. } = sending;
    let (mut tries, mut is_confirmed) = (bulk::TRIES, yes);
    let (ad, answer, changes_nothing) = loop {
        let read = match acts::read(client, target).await {
            Ok(read) => read,
            Err(error) => return Ok(Tried::Refused(error, None)),
        };
        let (ad, category) = (&read.body, categories::by_id(read.category_id));
        let patch = decide(ad, category)?;
        let changes_nothing = show(context, ad, category, &patch);
        let doubt = doubtful_price(&ad.price, &patch).filter(|_| !is_confirmed);
        if let Some(doubt) = &doubt {
            context.out.warning(&format!("{}: {doubt}", ad.source_id));
        }
        if dry_run {
            if changes_nothing {
                note_no_change(context, ad);
            }
            return Ok(Tried::Planned(read.body.source_id, patch));
        }
        if doubt.is_some() {
            confirm_on_terminal(context, "Change the price?").await?;
            is_confirmed = true;
        }
        // The patch contains parts of the ad that was read, so it is bound to that revision.
        let etag = if_match.or(read.etag.as_deref());
        let ads = wait.of(path(context, client, v3, ad, category)).if_match(etag);
        tries -= 1;
        match ads.update(ad, &patch).await {
            Ok(answer) => break (read.body, answer, changes_nothing),
            Err(error)
                if matches!(error.kind(), ErrorKind::PreconditionFailed(_)) && if_match.is_none() && tries > 0 => {}
            Err(error) => return Ok(Tried::Refused(error, Some(read.body))),
        }
    };
    // The service may know a field that this program does not, or reject it.
    if changes_nothing {
        note_no_change(context, &ad);
    }
    if ad.api_version == ApiVersion::V3 && answer.api_version == ApiVersion::V4 {
        context.out.note(&format!("{} was a V3 ad and is now a V4 ad", ad.source_id));
    }
    Ok(Tried::Accepted(answer))
}

/// Explains a refusal of a patch that is not from a file.
pub(crate) fn rejected_fields(_: &Ad, category: Option<&'static Category>, error: Error) -> Failure {
    if !matches!(error.kind(), ErrorKind::Invalid(_)) {
        return error.into();
    }
    let vehicle_type = category.and_then(|category| category.vehicle_type).unwrap_or("TYPE");
    Failure::from(error).hint(("to list the fields", Invocation::new("fields").with("type", vehicle_type)))
}

/// Shows each field before and after. Whether the patch changes nothing: fields that are no part of the comparison may change.
fn show(context: &Context, ad: &Ad, category: Option<&Category>, patch: &Map<String, Value>) -> bool {
    let Some(category) = category else { return false };
    let now = bulk::as_written(ad);
    let then = merge(&now, patch.clone());
    for change in desired::differences(category, &now, &then) {
        context.out.note(&format!("{}: {}: {}", ad.source_id, change.field, difference(&change)));
    }
    !patch.is_empty() && same(&Value::Object(now), &Value::Object(then))
}

fn note_no_change(context: &Context, ad: &Ad) {
    context.out.note(&format!("{}: nothing changes, it is so already", ad.source_id));
}

/// The doubt about new prices: one that is far from the earlier one, or a list price of an ad that has only prices of another kind.
pub(super) fn doubtful_price(now: &[Price], patch: &Map<String, Value>) -> Option<String> {
    let new = patch.get("price")?.as_array()?;
    let far = new.iter().find_map(|new| {
        let kind = new["type"].as_str()?;
        let of = |kind: &str| now.iter().find(|old| old.kind == kind);
        let old = of(kind).or_else(|| of("list").filter(|_| kind == "reduced"))?;
        if new["currency"].as_str().is_some_and(|currency| currency != old.currency) {
            return None;
        }
        let (was, is) = (old.amount.as_f64().filter(|was| *was > 0.0)?, new["amount"].as_f64()?);
        if !is_far(was, is) {
            return None;
        }
        let how = match is / was {
            change if change < 1.0 => format!("{:.0} % below", (1.0 - change) * 100.0),
            change => format!("{change:.0} times"),
        };
        let (new, old, currency) = (text::amount(&new["amount"]), text::amount(&json!(old.amount)), &old.currency);
        Some(format!("{new} {currency} is {how} the price of now, {old}"))
    });
    far.or_else(|| {
        let list = new.iter().find(|new| new["type"] == "list")?;
        let has_amount = |old: &&Price| old.amount.as_f64().is_some_and(|amount| amount > 0.0);
        let other = now.iter().find(has_amount).filter(|_| !now.iter().any(|old| old.kind == "list"))?;
        let (new, old) = (text::amount(&list["amount"]), text::amount(&json!(other.amount)));
        Some(format!(
            "the ad has no list price, only {} {old} {}; {new} becomes its list price",
            other.kind, other.currency
        ))
    })
}

/// The path for updates of this ad: the one of its vehicle type, or V3 while it must migrate first.
fn path<'a>(context: &Context, client: &'a Client, v3: bool, ad: &Ad, category: Option<&Category>) -> Ads<'a> {
    let vehicle_type = category.and_then(|category| category.vehicle_type);
    match (conversion_of(ad.api_version, category), vehicle_type) {
        _ if v3 => client.v3(),
        (Conversion::None | Conversion::Automatic, Some(vehicle_type)) => client.typed(vehicle_type),
        _ => {
            let migrate = context.out.command(&Invocation::of_user("migrate-v4"));
            context
                .out
                .note(&format!("{} is a V3 ad and is updated through V3; to migrate it: {migrate}", ad.source_id));
            client.v3()
        }
    }
}
