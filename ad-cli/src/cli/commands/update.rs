//! `ad-cli update`: change some fields of an ad.

use std::path::PathBuf;

use ad_core::{
    categories::{self, Category},
    model::ApiVersion,
    rulebook::versions::{Conversion, conversion_of},
};
use serde_json::{Map, Value, json};

use crate::{
    Ad, Ads, Client, Error, ErrorKind,
    bulk::{self, check::Checker},
    cli::{
        acts::{Done, TargetArgs, WaitArgs},
        setting::{self, Setting},
        single::Single,
    },
    terminal::{Context, Failure},
};

/// Arguments of `update`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Other fields are unchanged. FILE contains a JSON object with the fields to change; --set sets single fields and overrides FILE. A value is JSON
or plain text. Array indexes start at 0; the index after the last item adds an item. An update converts a V3 ad of a compatible category to V4,
unless --v3 is used.

Examples:
  ad-cli update car-1 --set price.0.amount=189000 --set visible=false
  ad-cli update car-1 --set category_fields.color=red --unset video_url --wait
  ad-cli update car-1 changes.json
  echo '{\"body\": \"New text\"}' | ad-cli update car-1 -")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// File with the fields to change, or - for stdin
    #[arg(value_name = "FILE|-", required_unless_present_any = ["set", "unset"])]
    file: Option<PathBuf>,
    /// Set a field
    #[arg(long, value_name = "PATH=VALUE", value_parser = setting::set)]
    set: Vec<Setting>,
    /// Clear a field
    #[arg(long, value_name = "PATH", value_parser = setting::unset)]
    unset: Vec<Setting>,
    /// Update through V3 (/v3/ad)
    #[arg(long)]
    v3: bool,
    /// Update only this revision of the ad: its `ETag`, as `get` shows it
    #[arg(long, value_name = "ETAG", value_parser = etag)]
    if_match: Option<String>,
    /// Print the request without sending it
    #[arg(long, conflicts_with = "wait")]
    dry_run: bool,
    #[command(flatten)]
    wait: WaitArgs,
}

/// An entity tag as the header has it. Shells take quotes away.
fn etag(text: &str) -> Result<String, &'static str> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    match inner {
        "*" => Ok("*".to_owned()),
        "" => Err("expected an ETag such as \"3.7\", or *"),
        _ if inner.contains('"') || !inner.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Err("expected one ETag such as \"3.7\", or *")
        }
        _ => Ok(format!("\"{inner}\"")),
    }
}

fn is_changed(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::PreconditionFailed(_))
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let file = args.file.as_deref().map(|path| Single::read(context, path)).transpose()?;
    let client = context.client()?;
    let mut tries = bulk::TRIES;
    let (ad, answer) = loop {
        let read = client.v4().read(args.target.target()).await?;
        let (ad, category) = (&read.body, categories::by_id(read.category_id));
        let patch = patch(args, file.as_ref(), ad, category)?;
        if args.dry_run {
            let patch = serde_json::to_string_pretty(&patch).map_err(std::io::Error::other)?;
            return Ok(context.out.text(&format!("{patch}\n"))?);
        }
        // The patch has parts of what was read, so it is for that revision.
        let etag = args.if_match.as_deref().or(read.etag.as_deref());
        let ads = args.wait.of(path(context, &client, args, ad, category)).if_match(etag);
        let target = args.target.target().of_dealer(Some(&ad.dealer_code));
        tries -= 1;
        match ads.update(target, &patch).await {
            Ok(answer) => break (read.body, answer),
            Err(error) if is_changed(&error) && args.if_match.is_none() && tries > 0 => {}
            Err(error) if matches!(error.kind(), ErrorKind::Identified(_)) => {
                return Err(Failure::from(error)
                    .hint(format!("to show what it lacks: ad-cli migrate-v4 {} --dry-run", ad.source_id)));
            }
            Err(error) => return Err(refused(context, file.as_ref(), ad, category, error)),
        }
    };
    if ad.api_version == ApiVersion::V3 && answer.api_version == ApiVersion::V4 {
        context.out.note(&format!("{} was a V3 ad and is now a V4 ad", ad.source_id));
    }
    let mut done = Done::new(context, &client, &args.wait);
    done.accepted(&answer).await?;
    done.end()
}

/// What the service says to it: about a file by its lines, about `--set` with the command that shows what is allowed.
fn refused(
    context: &Context,
    file: Option<&Single>,
    ad: &Ad,
    category: Option<&'static Category>,
    error: Error,
) -> Failure {
    if let Some(file) = file {
        return file.refused(context, &Checker::new(ad.api_version, category), error);
    }
    if !matches!(error.kind(), ErrorKind::Invalid(_)) {
        return error.into();
    }
    let vehicle_type = category.and_then(|category| category.vehicle_type).unwrap_or("TYPE");
    Failure::from(error).hint(format!("to list the fields: ad-cli fields {vehicle_type}"))
}

/// What is to be sent.
fn patch(
    args: &Args,
    file: Option<&Single>,
    ad: &Ad,
    category: Option<&Category>,
) -> Result<Map<String, Value>, Failure> {
    let mut now = json!(ad);
    // The service shows where images came from, and takes that for what they are.
    now["image_urls"] = ad.image_refs.iter().map(|image| image.url.as_str()).collect();
    let mut patch = file.map(|file| file.object.clone()).unwrap_or_default();
    for setting in args.set.iter().chain(&args.unset) {
        setting.put_into(&mut patch, &now, category).map_err(Failure::usage)?;
    }
    Ok(patch)
}

/// The path that this ad is updated on: that of its vehicle type, or V3's while it must migrate first.
fn path<'a>(context: &Context, client: &'a Client, args: &Args, ad: &Ad, category: Option<&Category>) -> Ads<'a> {
    let vehicle_type = category.and_then(|category| category.vehicle_type);
    match (conversion_of(ad.api_version, category), vehicle_type) {
        _ if args.v3 => client.v3(),
        (Conversion::None | Conversion::Automatic, Some(vehicle_type)) => client.typed(vehicle_type),
        _ => {
            context.out.note(&format!(
                "{} is a V3 ad and is updated through V3; to migrate it: ad-cli migrate-v4",
                ad.source_id
            ));
            client.v3()
        }
    }
}
