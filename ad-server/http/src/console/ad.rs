//! The page of an ad: preview, status with what to do, photos, quality, and history.

use ad_core::{
    model::{
        Ad, AdPromotions, AdState, AdStatus, ChannelReport, ChannelStatus, ImageReport, ImageStatus, LATEST_ENTRIES,
        MAX_LIMIT, Market, Page, PromotionTimes, Quality, StatusReport, WhoActs,
    },
    service::{ServiceError, TaggedAd},
    status::text_of_channel,
    violation::Code,
};
use maud::{Markup, html};

use super::{
    act::{self, AdAction, AdKey},
    badges, cure,
    cure::Cure,
    form, form_links, named,
    page::{self, Section, number},
    photos as uploads, preview, prices, publish, quality, show,
    texts::{Language, Texts},
    timeline,
    visitor::{PageResult, Visit},
    words::channel_in_swedish,
};

/// `GET /console/ad?source_id=…&dealer_code=…`.
pub(super) async fn page(visit: Visit) -> PageResult {
    let (context, scope) = (&visit.visitor.context, &visit.caller.scope);
    let key = AdKey::of(&visit.query).ok_or(ServiceError::NotFound)?;
    let (shown, log) = context.service.read(scope, key.target()).await?;
    let TaggedAd { ad, failed_images, .. } = &shown;
    // Use the same dealer, even if the address names none.
    let target = key.target().of_dealer(Some(&ad.dealer_code));
    let report = context.status_of(scope, target).await?;
    let prices = context.service.prices(scope, target).await?;
    let quality = context.service.quality_with_prices(ad, failed_images, Some(&prices)).await?;
    let changes = context.service.changes(ad).await?;
    let latest = Page { limit: LATEST_ENTRIES.try_into().unwrap_or(MAX_LIMIT), offset: 0 };
    let versions = context.service.revisions(scope, target, latest).await?.rows;
    let title = show::title(ad);
    let sold = act::sold_until(&visit, ad).await?;
    let history = timeline::History {
        log: &log,
        unfinished: &report.unfinished,
        changes: &changes,
        versions: &versions,
        failed_images,
    };
    let main = html! {
        div data-source-id=(ad.source_id) {
            div #done data-live { (act::done_with(&visit, ad, &report, &versions)) }
            div #sale data-live { @if let Some(due) = sold { (act::sale(&visit, ad, due)) } }
            div.heading {
                div {
                    p.crumbs { a href=(visit.visitor.address("/stock")) { (visit.visitor.texts.stock) } }
                    h1 #title data-live { (title) }
                }
                (actions(&visit, ad, &report))
            }
            div #status data-live="announced" { (status(&visit, ad, &report, sold.is_some())) }
            div.columns {
                div {
                    (preview::section(&visit, ad))
                    div.panel {
                        div #photos data-live { (photos(&visit, ad, &report.images, &quality)) }
                        // It may hold chosen files, so it stays as it is until it has to go.
                        @if ad.state != AdState::Deleted { div #add-photos data-live="until-gone" { (uploads::form(&visit, ad)) } }
                    }
                }
                div {
                    div #facts data-live { (facts(&visit, ad, &report)) }
                    div #prices data-live { (prices::section(visit.visitor.texts, &prices, visit.visitor.console.clock.now())) }
                    div.panel #quality data-live { (quality::section(&visit, &quality)) }
                }
            }
            (timeline::section(&visit, ad, &history))
            (technical(&visit, ad, &history))
        }
    };
    Ok(page::page(&visit, Section::Stock, title, &main))
}

/// What the visitor may do with the ad. A rule that forbids it is explained by the answer.
fn actions(visit: &Visit, ad: &Ad, report: &StatusReport) -> Markup {
    let is_deleted = ad.state == AdState::Deleted;
    // A healthy ad has nothing to be tried again.
    let is_live_or_hidden = matches!(report.status, AdStatus::Live | AdStatus::Processing | AdStatus::Hidden);
    let needs_retry = !is_live_or_hidden || report.images.iter().any(|image| image.status == ImageStatus::Failed);
    let offered: &[AdAction] = match (is_deleted, ad.content.visible()) {
        (true, _) => &[],
        (false, true) if needs_retry => {
            &[AdAction::Retry, AdAction::Bump, AdAction::PolePosition, AdAction::Hide, AdAction::Sold]
        }
        (false, true) => &[AdAction::Bump, AdAction::PolePosition, AdAction::Hide, AdAction::Sold],
        // Published by a page of its own.
        (false, false) if needs_retry => &[AdAction::Retry, AdAction::Delete],
        (false, false) => &[AdAction::Delete],
    };
    // The button is beside the failure already.
    let retries = !is_deleted && cure::failure(report).and_then(Cure::of) == Some(Cure::Retry);
    html! {
        div.actions #actions data-live {
            (publish::link(visit, ad))
            (form_links::to_form(visit, ad))
            (form_links::to_copy(visit, ad))
            @for action in offered.iter().filter(|action| **action != AdAction::Retry || !retries) {
                (act::button(visit, *action, &ad.source_id, &ad.dealer_code, ""))
            }
        }
    }
}

/// Whether the ad is live, on each marketplace, and if not, who can change that and what to do.
fn status(visit: &Visit, ad: &Ad, report: &StatusReport, is_sold: bool) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        section.panel aria-labelledby="status-heading" {
            h2 #status-heading { (texts.status) " " (badges::status_of(texts, ad, report.status, is_sold)) }
            p.faint { (texts.since) " " (page::time(report.since)) }
            @let failure = cure::failure(report).filter(|_| ad.state != AdState::Deleted);
            @if let Some(code) = failure { (cure::section(visit, ad, code)) }
            div.grid.apart {
                @for channel in &report.channels { (channel_status(visit, channel, failure)) }
            }
            @let failed = (1..).zip(&report.images).filter(|(_, image)| image.status == ImageStatus::Failed);
            @let failed: Vec<_> = failed.map(|(number, _): (u32, _)| number.to_string()).collect();
            @if !failed.is_empty() {
                p {
                    a href="#photos" {
                        span.badge.failure.wraps { (if failed.len() == 1 { texts.photo_failed } else { texts.photos_failed }) " " (failed.join(", ")) }
                    }
                }
            }
            @let AdPromotions { bump, pole_position } = report.promotions;
            @let times = [
                (texts.bumped, bump.ended),
                (texts.pole_position_until, report.pole_position_until),
                (texts.pole_position_ended, pole_position.ended),
            ];
            @for (text, time) in times {
                @if let Some(time) = time { p { (text) " " (page::time(time)) } }
            }
            (due(texts, [texts.next_bump, texts.perhaps_bump], bump))
            (due(texts, [texts.next_pole_position, texts.perhaps_pole_position], pole_position))
        }
    }
}

/// When a schedule promotes the ad next: for certain if the schedule is for this ad, and otherwise perhaps.
fn due(texts: &Texts, [certain, perhaps]: [&str; 2], times: PromotionTimes) -> Markup {
    html! {
        @match (times.next, times.most) {
            (Some(next), None) => p { (certain) " " (page::time(next)) },
            (Some(next), Some(most)) => p {
                (perhaps) " " (page::time(next)) ": " (texts.schedule_takes) " " (number(most.into())) " "
                (if most == 1 { texts.ad_one } else { texts.ads }) " " (texts.each_time) "."
            },
            _ => {}
        }
    }
}

/// The status on a marketplace. What helps against `told` is said above.
fn channel_status(visit: &Visit, channel: &ChannelReport, told: Option<Code>) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        div.channel {
            h3 { (texts.market(channel.marketplace)) " " (badges::channel_status(texts, channel.status)) }
            @let is_listed = channel.status != ChannelStatus::NotListed;
            @if is_listed || channel.code.is_some() { (why(visit, channel, told)) }
            @if channel.who_acts != WhoActs::Nobody && (channel.code.is_none() || channel.code != told) {
                p {
                    strong { (cure::who_acts(visit, channel.who_acts)) ": " }
                    @match channel.code {
                        _ if channel.next_attempt.is_some() && channel.who_acts != WhoActs::Dealer => (texts.do_wait),
                        Some(code) => (texts.what_helps(code)),
                        None => (texts.do_publish),
                    }
                }
            }
            @if let Some(next) = channel.next_attempt {
                p.faint { (texts.attempts) ": " (channel.attempts) ". " (texts.next_attempt) " " (page::time(next)) }
            }
        }
    }
}

/// The status on a marketplace in a sentence, the failure unless it is `told` above, and what the marketplace says itself.
fn why(visit: &Visit, channel: &ChannelReport, told: Option<Code>) -> Markup {
    let texts = visit.visitor.texts;
    let status = match visit.visitor.language {
        Language::English => text_of_channel(channel.status, channel.code),
        Language::Swedish => channel_in_swedish(channel.status, channel.code),
    };
    html! {
        p {
            (status)
            @if let Some(code) = channel.code.filter(|code| Some(*code) != told) { " " (texts.failure(code)) "." }
            " " (show::refusal(texts, channel.code, channel.reason.as_deref().unwrap_or_default()))
        }
    }
}

fn facts(visit: &Visit, ad: &Ad, report: &StatusReport) -> Markup {
    let texts = visit.visitor.texts;
    let category = ad.category().map_or_else(
        || ad.category_id.to_string(),
        |category| form::named(visit.visitor.language, category.name).to_owned(),
    );
    html! {
        section.panel aria-labelledby="facts-heading" {
            h2 #facts-heading { (texts.details) }
            dl {
                dt { (texts.source_id) } dd { (ad.source_id) }
                dt { (texts.dealer) } dd { (named::dealer_name(visit, &ad.dealer_code)) }
                dt { (texts.vehicle_type) } dd { (category) }
                @if let Some(plate) = ad.content.registration_number() { dt { (texts.plate) } dd { span.plate { (plate) } } }
                dt { (texts.price) } dd { (show::price(texts, &ad.content)) }
                dt { (texts.visible) } dd { (if ad.content.visible() { texts.yes } else { texts.no }) }
                dt { (texts.created) } dd { (page::time(ad.created)) }
                dt { (texts.updated) } dd { (page::time(ad.updated)) }
                dt { (texts.photos) } dd { (report.images.len()) }
            }
        }
    }
}

/// The photos in their order, why some are missing, and what is wrong with others.
fn photos(visit: &Visit, ad: &Ad, reports: &[ImageReport], quality: &Quality) -> Markup {
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
                            strong title=(report.url) { (texts.photo) " " (place + 1) } " "
                            span class={ "badge " (if report.status == ImageStatus::Failed { "failure" } else { "attention" }) } { (texts.image_status(report.status)) }
                            @if report.code.is_some() { " " (show::why_no_photo(visit, report.code, report.flaw, &report.text)) }
                        }
                        p { small.faint { code { (report.url) } } }
                    }
                    (quality::of_photo(visit, quality, place))
                }
            }
        }
    }
}

/// What only those need who look after a system: ids, revisions, and the ad as JSON.
fn technical(visit: &Visit, ad: &Ad, history: &timeline::History<'_>) -> Markup {
    let texts = visit.visitor.texts;
    let json = serde_json::to_string_pretty(&ad.view(None)).unwrap_or_default();
    html! {
        details.panel #payload {
            summary { (texts.technical) }
            @for market in [Market::Primary, Market::Secondary] {
                @if let Some(id) = ad.listing(market) { p { (texts.market(market)) ", " (texts.listing) ": " code { (id) } } }
            }
            h3 { (texts.requests_of_ad) }
            div #request-ids data-live { (timeline::ids(visit, history)) }
            h3 { (texts.payload) }
            p.help { (texts.payload_is) " " code { "GET /v4/ad/" (ad.source_id) } }
            pre #payload-json data-live tabindex="0" { code { (json) } }
        }
    }
}
