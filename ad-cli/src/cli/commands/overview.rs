//! `ad-cli status` without ids: what a dealer wants to know in the morning.

use std::collections::BTreeMap;

use ad_core::{
    model::{AdStatus, ChannelReport, ChannelStatus, Page, StatusReport, Summary, Timestamp, WhoActs},
    violation::Code,
};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    AdFilter, AdOrder, AdQuery, Client,
    bulk::Identity,
    cli::claims::approximate_distance,
    terminal::{Context, Counter, Failure, Styled, Tone, ad_table, counted, grouped},
};

/// What is not as it should be.
const NOT_LIVE: [AdStatus; 3] = [AdStatus::Failed, AdStatus::PartlyLive, AdStatus::Waiting];

/// Who can do something about an ad, the reader first.
const TURNS: [(WhoActs, &str); 5] = [
    (WhoActs::Dealer, "Your turn"),
    (WhoActs::ImageHost, "The host of the photos"),
    (WhoActs::Operator, "The operator of the service"),
    (WhoActs::Marketplace, "The marketplace"),
    (WhoActs::Nobody, "Nobody has to act"),
];

#[derive(Debug, Deserialize)]
struct Listed {
    #[serde(flatten)]
    ad: Identity,
    title: Option<String>,
    #[serde(default)]
    category_fields: Map<String, Value>,
}

/// All of it, for programs.
#[derive(Serialize)]
struct Overview<'a> {
    summary: &'a Summary,
    not_live: Vec<&'a StatusReport>,
}

pub(super) async fn run(
    context: &Context,
    client: &Client,
    dealer_code: Option<&str>,
    most: u32,
) -> Result<(), Failure> {
    let progress = Counter::new(context.out, "ad");
    let read = async {
        let summary = client.summary_of(dealer_code).await?.body;
        let of = |status| summary.by_status.get(&status).copied().unwrap_or(0);
        let not_live: u64 = NOT_LIVE.into_iter().map(of).sum();
        let ads = if not_live > 0 && most > 0 { not_live_ads(client, dealer_code, most).await? } else { Vec::new() };
        let asked = ads.iter().map(|listed| async {
            let report = client.v4().status(listed.ad.target()).await?.body;
            progress.add();
            Ok::<_, Failure>(report)
        });
        let reports: Vec<StatusReport> = try_join_all(asked).await?;
        Ok::<_, Failure>((summary, not_live, ads, reports))
    };
    let (summary, not_live, ads, reports) = progress.run(read).await??;
    if !context.out.is_for_people() {
        return Ok(context.out.record(&Overview { summary: &summary, not_live: reports.iter().collect() })?);
    }
    let mut text = context.out.styled();
    write_counts(&mut text, &summary);
    for (turn, title) in TURNS {
        let acts = |report| cause(report).map_or(WhoActs::Nobody, |channel| channel.who_acts);
        let mut of_turn = ads.iter().zip(&reports).filter(|(_, report)| acts(report) == turn).peekable();
        if of_turn.peek().is_some() {
            text.end_line();
            text.toned(Tone::Strong, title).end_line();
        }
        of_turn.for_each(|(listed, report)| write_ad(&mut text, listed, report, context.now()));
    }
    context.out.show(&text)?;
    let more = not_live.saturating_sub(ads.len() as u64);
    if more > 0 {
        let these = if ads.is_empty() { counted(more, "ad") } else { format!("{} more", counted(more, "ad")) };
        context.out.note(&format!("\n{these}: ad-cli list --status failed,partly_live,waiting"));
    }
    Ok(())
}

/// The ads that are not live, those that changed last first.
async fn not_live_ads(client: &Client, dealer_code: Option<&str>, most: u32) -> Result<Vec<Listed>, Failure> {
    let of_dealer = dealer_code.map(|code| AdFilter::DealerCode(code.to_owned()));
    let query = AdQuery {
        filters: [AdFilter::Status(NOT_LIVE.to_vec())].into_iter().chain(of_dealer).collect(),
        order: AdOrder::Updated,
        descending: true,
        page: Page { limit: most, offset: 0 },
        fields: Some(vec!["source_id", "dealer_code", "title", "category_fields"]),
        ..AdQuery::default()
    };
    Ok(client.v4().list_as(&query).await?.body.results)
}

/// `206 ads: 190 live, 6 failed`, the same of each marketplace, and how often each reason occurs.
fn write_counts(text: &mut Styled, summary: &Summary) {
    let deleted = summary.by_status.get(&AdStatus::Deleted).copied().unwrap_or(0);
    text.toned(Tone::Strong, &counted(summary.ads.saturating_sub(deleted), "ad"));
    let statuses = summary.by_status.iter().filter(|(status, _)| **status != AdStatus::Deleted);
    write_tally(text, ": ", statuses.map(|(status, count)| (json!(status), *count)));
    text.end_line();
    for (market, counts) in &summary.by_channel {
        // Deleted ads are not listed either, so that their number says nothing.
        let counts = counts.iter().filter(|(status, _)| **status != ChannelStatus::NotListed);
        text.push(&format!("  {:<9}", market.name()));
        write_tally(text, "  ", counts.map(|(status, count)| (json!(status), *count)));
        text.end_line();
    }
    let mut reasons: Vec<_> = summary.failures.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (code, count) in reasons {
        let list = if *code == Code::ImageFailed { "; to list them: ad-cli list --failed-images true" } else { "" };
        text.block(2, &format!("{}: {} ({}){list}", counted(*count, "ad"), code.about().title, code.name()));
    }
}

fn write_tally(text: &mut Styled, before: &str, counts: impl Iterator<Item = (Value, u64)>) {
    let mut before = before;
    for (status, count) in counts.filter(|(_, count)| *count > 0) {
        text.push(&format!("{before}{} ", grouped(count))).cell(&ad_table::status(&status));
        before = ", ";
    }
}

/// The channel that keeps an ad from being live, or live everywhere.
fn cause(report: &StatusReport) -> Option<&ChannelReport> {
    let by_turn: BTreeMap<_, _> = report
        .channels
        .iter()
        .rev()
        .filter(|channel| !matches!(channel.status, ChannelStatus::Live))
        .map(|channel| (TURNS.iter().position(|(turn, _)| *turn == channel.who_acts), channel))
        .collect();
    by_turn.into_values().next()
}

fn write_ad(text: &mut Styled, listed: &Listed, report: &StatusReport, now: Timestamp) {
    text.push("  ").toned(Tone::Strong, &report.source_id);
    let plate = listed.category_fields.get("registration_number").and_then(Value::as_str);
    let about: Vec<_> = plate.into_iter().chain(listed.title.as_deref()).collect();
    if !about.is_empty() {
        text.push(&format!(" ({})", about.join(", ")));
    }
    text.push(": ").cell(&ad_table::status(&json!(report.status))).end_line();
    match cause(report) {
        Some(channel) => {
            let of_others = report.channels.iter().filter(|other| other.text == channel.text);
            let markets: Vec<_> = of_others.map(|channel| channel.marketplace.name()).collect();
            text.block(4, &format!("{}:", markets.join(", ")));
            write_reason(text, 6, &ChannelReport { who_acts: WhoActs::Nobody, ..channel.clone() }, now);
            if channel.who_acts == WhoActs::Dealer {
                write_how_to_change(text, 6, &report.source_id);
            }
        }
        None => {
            text.block(4, &report.text);
        }
    }
}

/// Why a channel does not show the ad as it is, who has to act, and what to do.
pub(super) fn write_reason(text: &mut Styled, indent: usize, channel: &ChannelReport, now: Timestamp) {
    if channel.status != ChannelStatus::Live {
        text.block(indent, &channel.text);
    }
    if channel.who_acts != WhoActs::Nobody {
        text.block(indent, &format!("who acts: {}", who_acts_label(channel.who_acts)));
    }
    if let Some(what_to_do) = &channel.what_to_do {
        text.block(indent, &format!("what to do: {what_to_do}"));
    }
    if let Some(next) = channel.next_attempt {
        let attempts = channel.attempts;
        text.block(
            indent,
            &format!(
                "next attempt: {} ({}, {attempts} failed)",
                ad_table::minute_of(next),
                approximate_distance(next, now)
            ),
        );
    }
}

/// The command for a dealer who has to change an ad.
pub(super) fn write_how_to_change(text: &mut Styled, indent: usize, source_id: &str) {
    text.block(indent, &format!("to change the ad: ad-cli edit {source_id}"));
}

fn who_acts_label(who: WhoActs) -> String {
    who.name().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_turn() {
        for acts in WhoActs::NAMES {
            assert!(TURNS.iter().any(|(turn, _)| who_acts_label(*turn) == acts.replace('_', " ")), "{acts}");
        }
    }
}
