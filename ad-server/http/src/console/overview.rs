//! The first page: the ads by status with what to do, failures by cause, what is under way, publications by hour, the marketplaces,
//! and events as they come.

use std::{collections::BTreeMap, time::Duration};

use ad_core::{
    model::{Action, ActionState, AdStatus, ChannelStatus, Event, Market, StatusCount, Summary, Timestamp},
    ports::Scope,
    status,
    violation::Code,
};
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{
    badges, cure, failing, help,
    named::NamedAds,
    page::{self, Section, number},
    stock,
    texts::Texts,
    visitor::{PageResult, Visit},
};
use ad_server_store::{AdByStatus, PublishedByHour};

/// Ads that are shown as under way.
const UNDER_WAY: u32 = 8;

/// Ads that are shown with their failure.
const FAILING: u32 = 8;

/// Events on the page. The script keeps as many.
const EVENTS: u32 = 12;

/// Hours that the chart covers.
const HOURS: i64 = 24;

const HOUR: Duration = Duration::from_hours(1);

const HOUR_MILLIS: i64 = 3_600_000;

pub(super) async fn page(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let (context, console, scope) = (&visit.visitor.context, &visit.visitor.console, &visit.caller.scope);
    let dealers = context.service.dealers_of_events(scope, None);
    let dealers = Scope::Dealers(&dealers);
    let now = console.clock.now();
    let first_hour = Timestamp::from_millis((now.as_millis().div_euclid(HOUR_MILLIS) + 1 - HOURS) * HOUR_MILLIS);
    let mut turn = context.limits.lists.turn(scope.name()).await?;
    let counts = console.database.count_by_status(dealers).await?;
    let summary = status::summary(counts.iter().copied());
    if summary.ads == 0 {
        turn.has_read();
        return Ok(page::page(&visit, Section::Overview, texts.overview, &help::first_steps(&visit)));
    }
    let words = failing::with_failure(&counts).map(|count| count.words);
    let with_failure = console.database.ads_with_words(dealers, words, FAILING).await?;
    let under_way = [AdStatus::Processing, AdStatus::Waiting];
    let working = console.database.ads_with_status(dealers, &under_way, UNDER_WAY).await?;
    let published = console.database.published_by_hour(dealers, first_hour).await?;
    let hidden = [stock::hidden_as(&visit, "draft").await?.len(), stock::hidden_as(&visit, "sold").await?.len()];
    turn.has_read();
    let events = console.database.newest_events(dealers, EVENTS).await?;
    let shown = with_failure.iter().chain(&working).map(|ad| (ad.dealer_code.clone(), ad.source_id.clone()));
    let shown = shown.chain(events.iter().map(|event| (event.dealer_code.clone(), event.source_id.clone())));
    let named = NamedAds::read(&visit, shown.collect()).await?;
    let count_under_way = under_way.iter().filter_map(|status| summary.by_status.get(status)).sum();
    // A part of the publications would be a wrong number.
    let all_are_counted = published.counted_from.is_none_or(|from| from <= first_hour);
    let main = html! {
        div.heading { h1 { (texts.overview) } }
        section #counts data-live aria-label=(texts.ads_by_status) { (by_status(&visit, &summary, failing::live_without_photos(&counts), hidden)) }
        div.grid {
            section.panel #failures data-live aria-labelledby="failures-heading" { (failures(&visit, &named, &counts, &with_failure)) }
            section.panel #marketplaces data-live aria-labelledby="marketplaces-heading" { (marketplaces(&visit, &summary)) }
            @if all_are_counted {
                section.panel #chart data-live="or-gone" aria-labelledby="chart-heading" { (chart(texts, &published, first_hour)) }
            }
            section.panel #under-way data-live aria-labelledby="under-way-heading" { (under_way_section(&visit, &named, &working, count_under_way)) }
            section.panel.wide aria-labelledby="events-heading" { (events_section(&visit, &named, &events)) }
        }
    };
    Ok(page::page(&visit, Section::Overview, texts.overview, &main))
}

/// The number of ads with each status, and what to do about them. Of the hidden ones, some are drafts and some are sold.
fn by_status(visit: &Visit, summary: &Summary, live_without_photos: u64, hidden: [usize; 2]) -> Markup {
    let texts = visit.visitor.texts;
    let statuses = AdStatus::NAMES.iter().filter_map(|name| AdStatus::from_name(name));
    html! {
        ul.counts {
            @for status in statuses {
                @let ads = summary.by_status.get(&status).copied().unwrap_or_default();
                li.panel.none[ads == 0] {
                    a href=(visit.visitor.address(&format!("/stock?status={}", status.name()))) {
                        (badges::ad_status(texts, status))
                        strong.count { (number(ads)) }
                    }
                    @if status == AdStatus::Live && live_without_photos > 0 {
                        p.help {
                            a href=(visit.visitor.address(&failing::address(Code::ImageFailed, Some(status)))) {
                                (number(live_without_photos)) " " (if live_without_photos == 1 { texts.lacks_photos } else { texts.lack_photos })
                            }
                        }
                    } @else if status == AdStatus::Hidden && hidden != [0, 0] {
                        @for ((name, text), count) in stock::HIDDEN_AS.iter().zip([texts.status_draft, texts.status_sold]).zip(hidden) {
                            @if count > 0 { p.help { a href=(visit.visitor.address(&format!("/stock?status={name}"))) { (text) ": " (count) @if count >= stock::MOST_HIDDEN_AS as usize { "+" } } } }
                        }
                    } @else {
                        p.help { @if ads > 0 { (texts.what_to_do(status)) } }
                    }
                }
            }
        }
    }
}

/// The ads with a failure, by its cause, and some of them.
fn failures(visit: &Visit, named: &NamedAds, counts: &[StatusCount], with_failure: &[AdByStatus]) -> Markup {
    let texts = visit.visitor.texts;
    let mut failures: BTreeMap<Code, u64> = BTreeMap::new();
    for count in failing::with_failure(counts) {
        if let Some(code) = count.words.failure {
            *failures.entry(code).or_default() += count.ads;
        }
    }
    let mut failures = Vec::from_iter(failures);
    failures.sort_by_key(|(_, ads)| std::cmp::Reverse(*ads));
    html! {
        h2 #failures-heading { (texts.failures) }
        @if failures.is_empty() { p { (texts.no_failures) } }
        ul.plain {
            @for (code, ads) in failures {
                @let who = status::advice(code, false).who_acts;
                li {
                    a href=(visit.visitor.address(&failing::address(code, None))) {
                        strong { (number(ads)) " " (if ads == 1 { texts.ad_one } else { texts.ads }) ": " (texts.failure(code)) }
                    }
                    br;
                    (cure::who_acts(visit, who)) ": " (texts.what_helps(code))
                    ul.chips {
                        @for ad in with_failure.iter().filter(|ad| ad.code == Some(code)) {
                            li { (named.link(visit, &ad.dealer_code, &ad.source_id)) }
                        }
                    }
                }
            }
        }
    }
}

/// Whether the marketplaces take ads, as far as the ads of the visitor show it.
fn marketplaces(visit: &Visit, summary: &Summary) -> Markup {
    let texts = visit.visitor.texts;
    let none = BTreeMap::new();
    html! {
        h2 #marketplaces-heading { (texts.marketplaces) }
        @for market in [Market::Primary, Market::Secondary] {
            @let ads = summary.by_channel.get(&market).unwrap_or(&none);
            @let of = |status: ChannelStatus| ads.get(&status).copied().unwrap_or_default();
            div.channel {
                h3 {
                    (texts.market(market)) " "
                    @if of(ChannelStatus::Paused) > 0 {
                        span.badge.attention { (texts.breaker_open) }
                    } @else if of(ChannelStatus::Waiting) > 0 {
                        span.badge.attention { (texts.retrying) }
                    } @else {
                        span.badge.well { (texts.working) }
                    }
                }
                @if of(ChannelStatus::Paused) > 0 { p { (texts.breaker_open_means) } }
                ul.chips {
                    @for (status, ads) in ads { li {
                        a href=(visit.visitor.address(&failing::address_on(market, *status))) {
                            (badges::channel_status(texts, *status)) " " (number(*ads))
                        }
                    } }
                }
            }
        }
    }
}

/// What the worker is doing.
fn under_way_section(visit: &Visit, named: &NamedAds, ads: &[AdByStatus], count: u64) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        h2 #under-way-heading {
            a href=(visit.visitor.address("/stock?status=processing,waiting")) { (texts.under_way) " (" (number(count)) ")" }
        }
        @if ads.is_empty() { p { (texts.nothing_under_way) } }
        ul.plain {
            @for ad in ads {
                li {
                    (named.link(visit, &ad.dealer_code, &ad.source_id))
                    " " (badges::ad_status(texts, ad.status)) " " (texts.since) " " (page::time(ad.since))
                    @if let Some(code) = ad.code { br; span.faint { (texts.failure(code)) } }
                }
            }
        }
    }
}

/// Publications by hour as a chart, with the same as a table for those who do not see it.
fn chart(texts: &Texts, published: &PublishedByHour, first_hour: Timestamp) -> Markup {
    const WIDTH: i64 = 20;
    const HEIGHT: u64 = 120;
    let hours: Vec<(Timestamp, u64)> = (0..HOURS)
        .map(|hour| first_hour + HOUR * u32::try_from(hour).unwrap_or_default())
        .map(|hour| (hour, published.hours.get(&hour).copied().unwrap_or_default()))
        .collect();
    let most = hours.iter().map(|(_, ads)| *ads).max().unwrap_or_default().max(1);
    let all: u64 = hours.iter().map(|(_, ads)| ads).sum();
    let label = |hour: Timestamp| hour.to_string().get(11..16).unwrap_or_default().to_owned();
    html! {
        h2 #chart-heading { (texts.published_by_hour) }
        p { strong.count { (number(all)) } " " (texts.in_24_hours) }
        svg.chart viewBox={ "0 0 " (WIDTH * HOURS) " " (HEIGHT + 24) } role="img" aria-label={ (texts.published_by_hour) ": " (all) } {
            @for (place, (hour, ads)) in (0..).zip(&hours) {
                @let height = (ads * HEIGHT).div_ceil(most).max(1);
                rect x=(place * WIDTH + 2) y=(HEIGHT - height) width=(WIDTH - 4) height=(height) rx="2" {
                    title { (label(*hour)) " UTC: " (ads) }
                }
                @if place % 6 == 0 { text x=(place * WIDTH + 2) y=(HEIGHT + 20) { (label(*hour)) } }
            }
        }
        details #hours {
            summary { (texts.as_table) }
            table {
                thead { tr { th scope="col" { (texts.hour) " (UTC)" } th.number scope="col" { (texts.published) } } }
                tbody { @for (hour, ads) in hours.iter().rev() { tr { td { (label(*hour)) } td.number { (ads) } } } }
            }
        }
    }
}

/// The newest events. The script adds those that come, in the form of the template.
fn events_section(visit: &Visit, named: &NamedAds, events: &[Event]) -> Markup {
    let texts = visit.visitor.texts;
    let words = Action::NAMES.iter().filter_map(|name| Some((*name, texts.action(Action::from_name(name)?))));
    let states =
        ActionState::NAMES.iter().filter_map(|name| Some((*name, texts.action_state(ActionState::from_name(name)?))));
    let codes = status::codes().map(|code| (code.name(), texts.failure(code)));
    let words: Map<String, Value> =
        words.chain(states).chain(codes).map(|(name, word)| (name.to_owned(), word.into())).collect();
    html! {
        h2 #events-heading { (texts.events) }
        div #event-list data-live {
            ol.plain.events data-event-list {
                @for event in events { (event_line(visit, named, event)) }
            }
            @if events.is_empty() { p.help { (texts.no_events) } }
        }
        template data-event=(Value::Object(words).to_string()) {
            li.changed {
                time {} " " a href=(visit.visitor.address("/ad")) data-is="ad" {} " "
                span data-is="action" {} " " span.badge data-is="state" {} " " span.faint data-is="failure" {}
            }
        }
    }
}

fn event_line(visit: &Visit, named: &NamedAds, event: &Event) -> Markup {
    let (texts, entry) = (visit.visitor.texts, &event.entry);
    html! {
        li {
            (page::time(entry.created)) " "
            (named.link(visit, &event.dealer_code, &event.source_id)) " "
            span { (texts.action(entry.action)) } " " (badges::action_state(texts, entry.state)) " "
            span.faint { @if let Some(code) = entry.code { (texts.failure(code)) } }
        }
    }
}
