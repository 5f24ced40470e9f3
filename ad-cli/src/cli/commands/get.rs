//! `ad-cli get`: one ad as it is now.

use ad_core::model::VIEW_FIELDS;

use crate::{
    cli::acts::TargetArgs,
    terminal::{Context, Failure},
};

/// Arguments of `get`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli get car-1
  ad-cli get car-1 --output json | jq .price")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let client = context.client()?;
    let read = client.v4().read(args.target.target()).await?;
    if let Some(etag) = &read.etag {
        context.out.note(&format!("ETag: {etag}"));
    }
    let mut ad = read.body;
    if !context.out.is_for_people() {
        return Ok(context.out.record(&ad)?);
    }
    let entries = ad.log.take().unwrap_or_default();
    context.out.record_in(&ad, VIEW_FIELDS)?;
    if let Some(last) = entries.last() {
        let message = crate::message_text(&last.external_message);
        context.out.note(&format!("latest log entry: {} {} at {}: {message}", last.action, last.state, last.created));
        context.out.note(&format!("to show the log: ad-cli log {}", ad.source_id));
    }
    Ok(())
}
