//! `ad-cli status`: whether ads are live, and why not.

use ad_core::model::{ChannelReport, ChannelStatus, ImageStatus, StatusReport, Timestamp, WhoActs};
use serde_json::json;

use crate::{
    Target,
    cli::{acts::DealerArgs, claims::away},
    terminal::{
        Context, Exit, Failure, ad_table,
        output::{Cell, Column, Rows, Styled, Tone},
    },
};

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows for each marketplace whether it lists the ad, why not, who has to act, what to do, and when the service tries again.

Examples:
  ad-cli status car-1
  ad-cli list --status failed,partly_live
  ad-cli status car-1 --output json | jq '.[0].channels'")]
pub(crate) struct Args {
    /// Source ids of the ads
    #[arg(value_name = "SOURCE_ID", required = true)]
    source_ids: Vec<String>,
    #[command(flatten)]
    dealer: DealerArgs,
}

/// What programs get as CSV.
const COLUMNS: &[Column] =
    &Column::at_paths(["source_id", "state", "status", "since", "text", "channels", "images", "pole_position_until"]);

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let client = context.client()?;
    let (mut rows, mut failed) = (None, false);
    for source_id in &args.source_ids {
        let target = Target::from(source_id).of_dealer(args.dealer.dealer_code.as_deref());
        match client.v4().status(target).await {
            Ok(report) if context.out.is_for_people() => {
                let mut text = context.out.styled();
                write(&mut text, &report.body, context.now());
                context.out.show(&text)?;
            }
            Ok(report) => rows.get_or_insert_with(|| context.out.rows(COLUMNS)).push(&report.body)?,
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

/// A status as people read it.
fn write(text: &mut Styled, report: &StatusReport, now: Timestamp) {
    text.toned(Tone::Strong, &report.source_id).push(": ");
    put(text, &ad_table::status(&json!(report.status)));
    text.push(&format!(" since {}", minute(report.since))).end_line();
    text.push(&format!("  {}", report.text)).end_line();
    for channel in &report.channels {
        write_channel(text, channel, now);
    }
    for image in report.images.iter().filter(|image| image.status != ImageStatus::Stored) {
        text.push(&format!("  image {} ", image.url));
        put(text, &ad_table::status(&json!(image.status)));
        text.end_line();
        line(text, "", &image.text);
    }
    if let Some(until) = report.pole_position_until {
        text.push(&format!("  pole position until {}", minute(until))).end_line();
    }
}

fn write_channel(text: &mut Styled, channel: &ChannelReport, now: Timestamp) {
    text.push(&format!("  {:<9} ", channel.marketplace.name()));
    put(text, &ad_table::status(&json!(channel.status)));
    if let Some(id) = channel.listing_id.as_ref().filter(|_| channel.status != ChannelStatus::NotListed) {
        text.push(&format!(", listing {id}"));
    }
    text.end_line();
    if channel.status != ChannelStatus::Live {
        line(text, "", &channel.text);
    }
    if channel.who_acts != WhoActs::Nobody {
        line(text, "who acts: ", &channel.who_acts.name().replace('_', " "));
    }
    if let Some(what_to_do) = &channel.what_to_do {
        line(text, "what to do: ", what_to_do);
    }
    if let Some(next) = channel.next_attempt {
        let attempts = channel.attempts;
        line(text, "next attempt: ", &format!("{} ({}, {attempts} failed)", next, away(next, now)));
    }
}

/// A line below what it is about.
fn line(text: &mut Styled, name: &str, value: &str) {
    text.push(&format!("    {name}{value}")).end_line();
}

fn put(text: &mut Styled, cell: &Cell) {
    match cell.tone {
        Some(tone) => text.toned(tone, &cell.text),
        None => text.push(&cell.text),
    };
}

fn minute(time: Timestamp) -> String {
    ad_table::minute(&json!(time)).text
}
