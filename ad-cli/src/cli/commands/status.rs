//! `ad-cli status`: whether ads are live, and why not.

use ad_core::model::{ChannelReport, ChannelStatus, ImageStatus, Quality, StatusReport, Timestamp, WhoActs};
use serde::Serialize;
use serde_json::json;

use crate::{
    Target,
    cli::{
        acts::{self, ShownArgs},
        claims::away,
    },
    terminal::{
        Context, Failure, ad_table,
        output::{Cell, Column, Styled, Tone},
        quality,
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
    #[command(flatten)]
    shown: ShownArgs,
}

/// What programs get as CSV.
const COLUMNS: &[Column] =
    &Column::at_paths(["source_id", "state", "status", "since", "text", "channels", "images", "pole_position_until"]);

/// A status; people see the score beside it.
#[derive(Serialize)]
struct StatusRow {
    #[serde(flatten)]
    report: StatusReport,
    #[serde(skip)]
    quality: Option<Quality>,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let client = context.client()?;
    let ask = async |target: Target<'_>| {
        let report = client.v4().status(target).await?.body;
        // The status can be shown without it.
        let quality = if context.out.is_for_people() { client.v4().quality(target).await.ok() } else { None };
        Ok(StatusRow { report, quality: quality.map(|answer| answer.body) })
    };
    acts::show_each(context, &args.shown, COLUMNS, ask, |text, row| {
        write(text, &row.report, context.now(), context.out.width());
        if let Some(quality) = &row.quality {
            quality::write_score(text, "  quality:", quality);
            text.push(&format!("; see: ad-cli quality {}", row.report.source_id)).end_line();
        }
    })
    .await
}

/// A status as people read it.
fn write(text: &mut Styled, report: &StatusReport, now: Timestamp, width: usize) {
    text.toned(Tone::Strong, &report.source_id).push(": ");
    put(text, &ad_table::status(&json!(report.status)));
    text.push(&format!(" since {}", minute(report.since))).end_line();
    text.wrapped("  ", "  ", &report.text, width);
    for channel in &report.channels {
        write_channel(text, channel, now, width);
    }
    for image in report.images.iter().filter(|image| image.status != ImageStatus::Stored) {
        text.push(&format!("  image {} ", image.url));
        put(text, &ad_table::status(&json!(image.status)));
        text.end_line();
        line(text, "", &image.text, width);
    }
    if let Some(until) = report.pole_position_until {
        text.push(&format!("  pole position until {}", minute(until))).end_line();
    }
}

fn write_channel(text: &mut Styled, channel: &ChannelReport, now: Timestamp, width: usize) {
    text.push(&format!("  {:<9} ", channel.marketplace.name()));
    put(text, &ad_table::status(&json!(channel.status)));
    if let Some(id) = channel.listing_id.as_ref().filter(|_| channel.status != ChannelStatus::NotListed) {
        text.push(&format!(", listing {id}"));
    }
    text.end_line();
    if channel.status != ChannelStatus::Live {
        line(text, "", &channel.text, width);
    }
    if channel.who_acts != WhoActs::Nobody {
        line(text, "who acts: ", &channel.who_acts.name().replace('_', " "), width);
    }
    if let Some(what_to_do) = &channel.what_to_do {
        line(text, "what to do: ", what_to_do, width);
    }
    if let Some(next) = channel.next_attempt {
        let attempts = channel.attempts;
        line(text, "next attempt: ", &format!("{} ({}, {attempts} failed)", next, away(next, now)), width);
    }
}

/// A named text below what it is about.
fn line(text: &mut Styled, name: &str, value: &str, width: usize) {
    text.wrapped(&format!("    {name}"), "      ", value, width);
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
