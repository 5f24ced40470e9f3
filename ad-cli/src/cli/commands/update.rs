//! `ad-cli update`: change some fields of an ad.

use std::path::PathBuf;

use ad_core::categories::Category;
use serde_json::Value;

use crate::{
    Ad,
    bulk::{Surface, as_written, check::Checker},
    cli::{
        change::{self, ChangeArgs, Sending},
        setting::{self, Setting},
        single::SinglePayload,
    },
    terminal::{Context, Failure},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Other fields are unchanged. FILE contains a JSON object with the fields to change; --set sets single fields and overrides FILE. A \
PATH may be the name of a field, such as color, where only one field has it. A value is JSON or plain text. Array indexes start at 0; the index after the last item adds an item. An update converts a V3 ad of a \
compatible category to V4, unless --v3 is used.

Examples:
  ad-cli update car-1 --set price.0.amount=189000 --set visible=false
  ad-cli update car-1 --set color=red --unset video_url --wait
  ad-cli update car-1 --set body=\"New text\"
  ad-cli update car-1 changes.json")]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    change: ChangeArgs,
    /// File with the fields to change, or - for stdin
    #[arg(value_name = "FILE|-")]
    file: Option<PathBuf>,
    /// Set a field
    #[arg(long, value_name = "PATH=VALUE", value_parser = setting::set)]
    set: Vec<Setting>,
    /// Clear a field
    #[arg(long, value_name = "PATH", value_parser = setting::unset)]
    unset: Vec<Setting>,
    /// Update through the older version V3 of the service
    #[arg(long)]
    v3: bool,
    /// Update only this revision of the ad: its `ETag`, as `get -o wide` shows it
    #[arg(long, value_name = "ETAG", value_parser = etag)]
    if_match: Option<String>,
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

pub(crate) async fn run(context: &Context, args: &UpdateArgs) -> Result<(), Failure> {
    if args.file.is_none() && args.set.is_empty() && args.unset.is_empty() {
        let (set, unset) = (context.out.argument("set"), context.out.argument("unset"));
        let file = match context.out.surface() {
            Surface::CommandLine => "or name a file with the fields to change",
            Surface::Tools => "or give `payload` with the fields to change",
        };
        return Err(Failure::usage("nothing to change")
            .hint(format!("set fields with {set} PATH=VALUE, or clear them with {unset} PATH"))
            .hint(file));
    }
    let file = args.file.as_deref().map(|path| SinglePayload::read(context, path)).transpose()?;
    let sending = Sending { if_match: args.if_match.as_deref(), v3: args.v3, ..Sending::of(&args.change) };
    let decide = |ad: &Ad, category: Option<&Category>| {
        let now = Value::Object(as_written(ad));
        let mut patch = file.as_ref().map(|file| file.object.clone()).unwrap_or_default();
        for setting in args.set.iter().chain(&args.unset) {
            setting.resolved(category)?.put_into(&mut patch, &now, category).map_err(Failure::usage)?;
        }
        Ok(patch)
    };
    // About a file by its lines, about `--set` with the command that shows what is allowed.
    let rejected = |ad: &Ad, category, error| match &file {
        Some(file) => {
            let checker = Checker::new(ad.api_version, category).on(context.out.surface());
            file.rejected(context, &checker, error)
        }
        None => change::rejected_fields(ad, category, error),
    };
    change::change(context, sending, decide, rejected).await
}
