//! Changes one ad: reads it, computes the patch, shows each field before and after, and sends the patch for the revision that was read.

use ad_core::{
    categories::{self, Category},
    model::ApiVersion,
    rulebook::{
        merge::merge,
        versions::{Conversion, conversion_of},
    },
    stock::same,
};
use serde_json::{Map, Value};

use crate::{
    Ad, Ads, Client, Error, ErrorKind,
    bulk::{
        self, Invocation,
        desired::{self, difference},
    },
    cli::acts::{self, Done, TargetArgs, WaitOptions},
    terminal::{Context, Failure},
};

/// Arguments of all commands that change one ad.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Show the request without sending it
    #[arg(long, conflicts_with = "wait")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) wait: WaitOptions,
}

/// How a change is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sending<'a> {
    pub(crate) args: &'a ChangeArgs,
    /// Only for this revision of the ad.
    pub(crate) if_match: Option<&'a str>,
    pub(crate) v3: bool,
}

impl<'a> Sending<'a> {
    pub(crate) fn of(args: &'a ChangeArgs) -> Self {
        Self { args, if_match: None, v3: false }
    }
}

/// Changes an ad by the patch that `decide` returns for its current state; `rejected` explains a refusal of the service.
pub(crate) async fn change(
    context: &Context,
    sending: Sending<'_>,
    decide: impl Fn(&Ad, Option<&'static Category>) -> Result<Map<String, Value>, Failure>,
    rejected: impl Fn(&Ad, Option<&'static Category>, Error) -> Failure,
) -> Result<(), Failure> {
    let Sending { args, if_match, v3 } = sending;
    let client = context.client()?;
    let mut done = Done::new(context, &client, &args.wait)?;
    let mut tries = bulk::TRIES;
    let (ad, answer, changes_nothing) = loop {
        let read = acts::read(&client, args.target.target()).await?;
        let (ad, category) = (&read.body, categories::by_id(read.category_id));
        let patch = decide(ad, category)?;
        let changes_nothing = show(context, ad, category, &patch);
        if args.dry_run {
            if changes_nothing {
                note_no_change(context, ad);
            }
            let patch = serde_json::to_string_pretty(&patch).map_err(std::io::Error::other)?;
            return Ok(context.out.text(&format!("{patch}\n"))?);
        }
        // The patch contains parts of the ad that was read, so it is bound to that revision.
        let etag = if_match.or(read.etag.as_deref());
        let ads = args.wait.of(path(context, &client, v3, ad, category)).if_match(etag);
        tries -= 1;
        match ads.update(ad, &patch).await {
            Ok(answer) => break (read.body, answer, changes_nothing),
            Err(error)
                if matches!(error.kind(), ErrorKind::PreconditionFailed(_)) && if_match.is_none() && tries > 0 => {}
            Err(error) if matches!(error.kind(), ErrorKind::Identified(_)) => {
                let migrate = Invocation::of_user("migrate-v4").with("source_id", &*ad.source_id).flag("dry_run");
                return Err(Failure::from(error).hint(("to show what it lacks", migrate)));
            }
            Err(error) => return Err(rejected(ad, category, error)),
        }
    };
    // The service may know a field that this program does not, or reject it.
    if changes_nothing {
        note_no_change(context, &ad);
    }
    if ad.api_version == ApiVersion::V3 && answer.api_version == ApiVersion::V4 {
        context.out.note(&format!("{} was a V3 ad and is now a V4 ad", ad.source_id));
    }
    done.accepted(&answer).await?;
    done.end()
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
    context.out.note(&format!("{}: every field has this value already", ad.source_id));
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
