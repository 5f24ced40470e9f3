//! The page of an ad: its preview, whether it is live and what to do, its photos, its quality, and what was done with it.

use ad_core::{
    model::{
        ActionState, Ad, AdState, AdStatus, ChannelReport, ImageReport, ImageStatus, LATEST_ENTRIES, LogEntry, Quality,
        RequestState, RequestStatus, Severity, StatusReport, WhoActs,
    },
    service::{ServiceError, TaggedAd},
};
use maud::{Markup, html};
use serde_json::Value;
use uuid::Uuid;

use super::{
    act::{self, AdAction, AdKey},
    editor,
    page::{self, Section},
    preview, prices,
    route::{Answer, Visit},
    show,
    texts::Texts,
};

/// `GET /console/ad?source_id=…&dealer_code=…`.
pub(super) async fn page(visit: Visit) -> Answer {
    let (context, scope) = (&visit.visitor.context, &visit.caller().scope);
    let key = AdKey::of(&visit.query).ok_or(ServiceError::NotFound)?;
    let turn = context.limits.turns.take(scope).await?;
    let (shown, log) = context.service.read(scope, key.target()).await?;
    let TaggedAd { ad, failed_images, .. } = &shown;
    // Of the same dealer, also where the address names none.
    let target = key.target().of_dealer(Some(&ad.dealer_code));
    let report = context.service.status(scope, target).await?;
    let quality = context.service.quality_among_ads(ad, failed_images).await?;
    let prices = context.service.prices(scope, target).await?;
    drop(turn);
    let title = show::title(ad);
    let main = html! {
        div data-source-id=(ad.source_id) {
            (act::done(&visit))
            div.heading {
                div {
                    p.crumbs { a href=(visit.visitor.address("/stock")) { (visit.visitor.texts.stock) } }
                    h1 { (title) }
                }
                (actions(&visit, ad, &report))
            }
            div #status data-live="announced" { (status(&visit, &report)) }
            div.columns {
                div {
                    (preview::section(&visit, ad))
                    div.panel #photos data-live { (photos(&visit, ad, &report.images)) }
                }
                div {
                    div #facts data-live { (facts(&visit, ad, &report)) }
                    (prices::section(visit.visitor.texts, &prices, visit.visitor.console.clock.now()))
                    div.panel #quality data-live { (quality_section(visit.visitor.texts, &quality)) }
                }
            }
            div.panel #timeline data-live { (timeline(&visit, &log, &report.unfinished)) }
            (payload(&visit, ad))
        }
    };
    Ok(page::page(&visit, Section::Stock, title, &main))
}

/// What the visitor may do with the ad. A rule that forbids it is explained by the answer.
fn actions(visit: &Visit, ad: &Ad, report: &StatusReport) -> Markup {
    let is_deleted = ad.state == AdState::Deleted;
    let toggle = if ad.content.visible() { AdAction::Hide } else { AdAction::Show };
    let offered: &[AdAction] = if is_deleted {
        &[]
    } else {
        &[AdAction::Retry, AdAction::Bump, AdAction::PolePosition, toggle, AdAction::Delete]
    };
    let needs_retry = matches!(report.status, AdStatus::Failed | AdStatus::PartlyLive)
        || report.images.iter().any(|image| image.status == ImageStatus::Failed);
    html! {
        div.actions {
            (editor::link(visit, ad))
            @for action in offered {
                (act::button(visit, *action, &ad.source_id, &ad.dealer_code, if *action == AdAction::Retry && needs_retry { "primary" } else { "" }))
            }
        }
    }
}

/// Whether the ad is live, on each marketplace, and if not, who can change that and what to do.
fn status(visit: &Visit, report: &StatusReport) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        section.panel aria-labelledby="status-heading" {
            h2 #status-heading { (texts.status) " " (page::ad_status(texts, report.status)) }
            p.faint { (texts.since) " " (page::time(report.since)) }
            div.grid {
                @for channel in &report.channels { (channel_status(texts, channel)) }
            }
            @let failed = report.images.iter().filter(|image| image.status == ImageStatus::Failed).count();
            @if failed > 0 {
                p { a href="#photos" { span.badge.failure { (texts.photos_failed) ": " (failed) } } }
            }
            @if let Some(until) = report.pole_position_until {
                p { (texts.pole_position_until) " " (page::time(until)) }
            }
        }
    }
}

fn channel_status(texts: &Texts, channel: &ChannelReport) -> Markup {
    html! {
        div.channel {
            h3 { (texts.market(channel.marketplace)) " " (page::channel_status(texts, channel.status)) }
            p lang="en" { (channel.text) }
            @if channel.who_acts != WhoActs::Nobody {
                p {
                    strong { (texts.who_acts(channel.who_acts)) ": " }
                    @match (channel.code.filter(|_| channel.next_attempt.is_none()), &channel.what_to_do) {
                        (Some(code), _) => (texts.what_helps(code)),
                        (None, Some(todo)) => span lang="en" { (todo) },
                        (None, None) => {}
                    }
                }
            }
            @if let Some(next) = channel.next_attempt {
                p.faint { (texts.attempts) ": " (channel.attempts) ". " (texts.next_attempt) " " (page::time(next)) }
            }
            @if let Some(id) = &channel.listing_id { p.faint { (texts.listing) " " code { (id) } } }
        }
    }
}

fn facts(visit: &Visit, ad: &Ad, report: &StatusReport) -> Markup {
    let texts = visit.visitor.texts;
    let category = ad.category().map_or_else(
        || ad.category_id.to_string(),
        |category| category.vehicle_type.map_or_else(|| category.name.to_owned(), str::to_owned),
    );
    html! {
        section.panel aria-labelledby="facts-heading" {
            h2 #facts-heading { (texts.details) }
            dl {
                dt { (texts.source_id) } dd { code { (ad.source_id) } }
                dt { (texts.dealer) } dd { (ad.dealer_code) }
                dt { (texts.vehicle_type) } dd { (category) }
                @if let Some(plate) = ad.content.registration_number() { dt { (texts.plate) } dd { span.plate { (plate) } } }
                dt { (texts.price) } dd { (show::price(texts, &ad.content)) }
                dt { (texts.visible) } dd { (if ad.content.visible() { texts.yes } else { texts.no }) }
                dt { (texts.api_version) } dd { (ad.api_version.name()) }
                dt { (texts.created) } dd { (page::time(ad.created)) }
                dt { (texts.updated) } dd { (page::time(ad.updated)) }
                dt { (texts.photos) } dd { (report.images.len()) }
                dt { "Id" } dd { code { (ad.id) } }
            }
        }
    }
}

/// The photos in their order, and why some are missing.
fn photos(visit: &Visit, ad: &Ad, reports: &[ImageReport]) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        h2 { (texts.photos) " (" (reports.len()) ")" }
        @if reports.is_empty() { p.faint { (texts.no_photos) } }
        ol.photos {
            @for (place, report) in reports.iter().enumerate() {
                li {
                    @match ad.image_refs.iter().find(|image| image.url == report.url) {
                        Some(image) => {
                            a href=(show::photo(visit, image)) { img src=(show::rendition(visit, image, 320)) alt={ (texts.photo) " " (place + 1) } loading="lazy" width="160" height="120"; }
                        }
                        None => span.no-photo role="img" aria-label=(texts.no_photo) {},
                    }
                    @if report.status != ImageStatus::Stored || report.code.is_some() {
                        p {
                            span class={ "badge " (if report.status == ImageStatus::Failed { "failure" } else { "attention" }) } { (texts.image_status(report.status)) }
                            " " span lang="en" { (report.text) }
                        }
                        @if let Some(code) = report.code.filter(|_| report.status == ImageStatus::Failed) { p.faint { (texts.what_helps(code)) } }
                        p.help { code { (report.url) } }
                    }
                }
            }
        }
    }
}

/// The score, what would raise it, and what is probably wrong.
fn quality_section(texts: &Texts, quality: &Quality) -> Markup {
    let missed: Vec<_> = quality.goals.iter().filter(|goal| !goal.met).collect();
    html! {
        h2 { (texts.quality) " " (page::score(texts, quality.score, quality.level)) }
        @if !quality.findings.is_empty() {
            h3 { (texts.findings) }
            ul.plain lang="en" {
                @for finding in &quality.findings {
                    li {
                        span class={ "badge " (if finding.severity == Severity::Warning { "attention" } else { "at-rest" }) } { (finding.severity.name()) }
                        " " (finding.text)
                        @if let Some(suggestion) = &finding.suggestion { " " strong { (suggestion) } }
                        br; code.faint { (finding.field) }
                    }
                }
            }
        }
        @if missed.is_empty() {
            p { (texts.all_goals_met) }
        } @else {
            h3 { (texts.would_raise_score) }
            ul.plain lang="en" {
                @for goal in &missed {
                    li { strong { "+" (goal.weight) " " (goal.text) } br; span.faint { (goal.how) } }
                }
            }
        }
        @if quality.goals.iter().any(|goal| goal.met) {
            details #goals-met {
                summary { (texts.goals_met) " (" (quality.goals.len() - missed.len()) ")" }
                ul lang="en" { @for goal in quality.goals.iter().filter(|goal| goal.met) { li { (goal.text) } } }
            }
        }
    }
}

/// The requests of the ad with their actions, the newest first.
fn timeline(visit: &Visit, log: &[LogEntry], unfinished: &[RequestStatus]) -> Markup {
    let texts = visit.visitor.texts;
    // A request's entries stand one behind the other.
    let requests: Vec<&[LogEntry]> = log.chunk_by(|one, next| one.request_id == next.request_id).collect();
    let is_logged = |id: Uuid| log.iter().any(|entry| entry.request_id == id);
    html! {
        h2 { (texts.timeline) }
        ol.timeline.plain {
            @for request in unfinished.iter().rev().filter(|request| !is_logged(request.request_id)) {
                li {
                    div.request-heading { (page::request_state(texts, request.state)) " " (waits(texts, request)) " " (page::time(request.accepted)) }
                    p.help { (texts.request_id) " " code { (request.request_id) } }
                }
            }
            @for entries in requests.iter().rev() {
                @let under_way = unfinished.iter().find(|request| request.request_id == entries[0].request_id);
                li {
                    div.request-heading {
                        strong { (texts.action(entries[0].action)) } " " (page::time(entries[0].created))
                        @if let Some(request) = under_way { " " (page::request_state(texts, request.state)) " " (waits(texts, request)) }
                    }
                    ol.plain.entries { @for entry in ended(entries) { li { (entry_line(visit, entry)) } } }
                    p.help { (texts.request_id) " " code { (entries[0].request_id) } }
                }
            }
        }
        @if log.len() >= LATEST_ENTRIES { p.faint { (texts.older_left_out) } }
    }
}

/// What a request that is not finished waits for.
fn waits(texts: &Texts, request: &RequestStatus) -> Markup {
    html! {
        @if let Some(what) = request.waiting_for.filter(|_| request.state == RequestState::Waiting) {
            (texts.waits_for) " " (texts.waiting_for(what))
            @if let Some(next) = request.next_attempt { ", " (texts.next_attempt) " " (page::time(next)) }
        }
    }
}

/// The entries of a request without the beginnings of what has ended.
fn ended(entries: &[LogEntry]) -> impl Iterator<Item = &LogEntry> {
    entries.iter().filter(|entry| {
        entry.state != ActionState::Processing
            || !entries.iter().any(|later| later.action == entry.action && later.state != ActionState::Processing)
    })
}

fn entry_line(visit: &Visit, entry: &LogEntry) -> Markup {
    let texts = visit.visitor.texts;
    let message = &entry.external_message;
    let text = message.get("message").unwrap_or(message);
    let images = message.get("images").and_then(Value::as_array).into_iter().flatten();
    html! {
        (page::action_state(texts, entry.state)) " " (texts.action(entry.action))
        @if let Some(text) = text.as_str() { ": " span lang="en" { (text) } }
        ul {
            @for image in images {
                @let text = |name: &str| image.get(name).and_then(Value::as_str).unwrap_or_default();
                li { code { (text("url")) } " " span lang="en" { (text("error")) } }
            }
        }
        @if let Some(code) = entry.code {
            p.help { a href={ (visit.visitor.service_root()) "/docs/errors/" (code.name()) } { code { (code.name()) } } }
        }
    }
}

/// The ad as the API has it.
fn payload(visit: &Visit, ad: &Ad) -> Markup {
    let texts = visit.visitor.texts;
    let json = serde_json::to_string_pretty(&ad.view(None)).unwrap_or_default();
    html! {
        details.panel #payload {
            summary { (texts.payload) }
            p.help { (texts.payload_is) " " code { "GET /v4/ad/" (ad.source_id) } }
            pre tabindex="0" { code { (json) } }
        }
    }
}
