//! `ad-cli status`: whether ads are live, and why not.

use ad_core::model::{
    AdPromotions, ChannelReport, ChannelStatus, ImageReport, ImageStatus, Quality, StatusReport, Timestamp, WhoActs,
};
use serde::Serialize;
use serde_json::json;

use super::overview::{self, write_how_to_change, write_reason};
use crate::{
    Target,
    bulk::Invocation,
    cli::acts::{self, ShownArgs},
    terminal::{
        Column, Context, Failure, Styled, Tone,
        ad_table::{self, minute_of},
        quality,
    },
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without source ids, shows how many ads are live, and of those that are not: why, who has to act, and what to do. With them, shows for each marketplace \
whether it lists the ad, why not, who has to act, what to do, and when the service tries again.

Examples:
  ad-cli status
  ad-cli status car-1
  ad-cli list --status failed,partly_live
  ad-cli status car-1 --output json | jq \".[0].channels\"")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    shown: ShownArgs,
    /// Without source ids: details of at most so many ads
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100))]
    most: u32,
}

/// What programs get as CSV.
const COLUMNS: &[Column] = &Column::at_paths([
    "source_id",
    "state",
    "status",
    "since",
    "text",
    "channels",
    "images",
    "pole_position_until",
    "promotions",
]);

/// A status; people see the score beside it.
#[derive(Serialize)]
struct StatusRow {
    #[serde(flatten)]
    report: StatusReport,
    #[serde(skip)]
    quality: Option<Quality>,
}

pub(crate) async fn run(context: &Context, args: &StatusArgs) -> Result<(), Failure> {
    let client = context.client()?;
    if args.shown.source_ids.is_empty() {
        return overview::run(context, &client, args.shown.dealer.dealer_code.as_deref(), args.most).await;
    }
    let ask = async |target: Target<'_>| {
        let report = client.v4().status(target).await?.body;
        // The status can be shown without it.
        let quality = if context.out.is_for_people() { client.v4().quality(target).await.ok() } else { None };
        Ok(StatusRow { report, quality: quality.map(|answer| answer.body) })
    };
    acts::show_each(context, &client, &args.shown, COLUMNS, ask, |text, row| {
        write(text, &row.report, context.now());
        if let Some(quality) = &row.quality {
            quality::write_score(text, "  quality:", quality);
            text.end_line();
            let quality = Invocation::of_user("quality").with("source_ids", vec![row.report.source_id.clone()]);
            text.block(4, &format!("see: {}", context.out.command(&quality)));
        }
    })
    .await
}

/// A status as people read it.
fn write(text: &mut Styled, report: &StatusReport, now: Timestamp) {
    text.toned(Tone::Strong, &report.source_id).push(": ").cell(&ad_table::status(&json!(report.status)));
    let since = format!("since {}", minute_of(report.since));
    if text.has_room(since.len() + 1) {
        text.push(" ").push(&since).end_line();
    } else {
        text.end_line();
        text.block(2, &since);
    }
    text.block(2, &report.text);
    for channel in &report.channels {
        write_channel(text, channel, now);
    }
    if report.channels.iter().any(|channel| channel.who_acts == WhoActs::Dealer) {
        write_how_to_change(text, 2, &report.source_id);
    }
    let is_missing = |image: &&ImageReport| image.status != ImageStatus::Stored;
    let missing = report.images.iter().filter(is_missing).count();
    if !report.images.is_empty() {
        let all = report.images.len();
        let tone = if missing > 0 { Tone::Warning } else { Tone::Good };
        let stored = format!("{} of {all}", all - missing);
        text.push("  photos    ").toned(tone, &stored).push(" stored").end_line();
    }
    for image in report.images.iter().filter(is_missing) {
        text.push("    ").cell(&ad_table::status(&json!(image.status))).push(&format!(" {}", image.url)).end_line();
        text.block(6, &image.text);
    }
    let AdPromotions { bump, pole_position } = report.promotions;
    for (said, time) in [
        ("bumped", bump.ended),
        ("next bump by schedule", bump.next),
        ("pole position until", report.pole_position_until),
        ("pole position ended", pole_position.ended),
        ("next pole position by schedule", pole_position.next),
    ] {
        if let Some(time) = time {
            text.push(&format!("  {said} {}", minute_of(time))).end_line();
        }
    }
}

fn write_channel(text: &mut Styled, channel: &ChannelReport, now: Timestamp) {
    text.push(&format!("  {:<9} ", channel.marketplace.name())).cell(&ad_table::status(&json!(channel.status)));
    if let Some(id) = channel.listing_id.as_ref().filter(|_| channel.status != ChannelStatus::NotListed) {
        text.push(&format!(", listing {id}"));
    }
    text.end_line();
    write_reason(text, 4, channel, now);
}
