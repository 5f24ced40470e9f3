//! The requests of an ad with their actions, and what each has changed about the ad.

use std::collections::HashMap;

use ad_core::{
    model::{
        ActionState, Ad, ContentChange, FailedImage, FieldChange, LATEST_ENTRIES, LogEntry, Market, RequestState,
        RequestStatus, RevisionEntry, ValueChange, short_address,
    },
    violation::Code,
};
use maud::{Markup, html};
use serde_json::Value;
use uuid::Uuid;

use super::{badges, form::label, page, show, texts::Texts, versions, visitor::Visit};

/// What is known of the requests of an ad.
pub(super) struct History<'a> {
    /// The latest log entries, the oldest first.
    pub(super) log: &'a [LogEntry],
    pub(super) unfinished: &'a [RequestStatus],
    /// What requests have changed about the content, by their ids.
    pub(super) changes: &'a HashMap<Uuid, ContentChange>,
    /// The latest revisions, the newest first.
    pub(super) versions: &'a [RevisionEntry],
    /// The photos that are missing now.
    pub(super) failed_images: &'a [FailedImage],
}

/// The requests, the newest first.
pub(super) fn section(visit: &Visit, ad: &Ad, history: &History<'_>) -> Markup {
    let History { log, unfinished, changes, versions, .. } = history;
    let present = versions.first().map(|version| version.revision);
    let made = |request: Uuid| versions.iter().find(|version| version.request_id == Some(request));
    let texts = visit.visitor.texts;
    // A request's entries stand one behind the other.
    let requests: Vec<&[LogEntry]> = log.chunk_by(|one, next| one.request_id == next.request_id).collect();
    let is_logged = |id: Uuid| log.iter().any(|entry| entry.request_id == id);
    html! {
        div.panel #timeline data-live {
            h2 { (texts.timeline) }
            ol.timeline.plain {
                @for request in unfinished.iter().rev().filter(|request| !is_logged(request.request_id)) {
                    li {
                        div.request-heading { (badges::request_state(texts, request.state)) " " (waits(texts, request)) " " (page::time(request.accepted))
                            @if let Some(version) = made(request.request_id) { (versions::made_by(texts, version)) }
                        }
                    }
                }
                @for entries in requests.iter().rev() {
                    @let request = entries[0].request_id;
                    li {
                        div.request-heading {
                            strong { (texts.action(entries[0].action)) } " " (page::time(entries[0].created))
                            @if let Some(version) = made(request) { (versions::made_by(texts, version)) }
                            @if let Some(request) = unfinished.iter().find(|it| it.request_id == request) {
                                " " (badges::request_state(texts, request.state)) " " (waits(texts, request))
                            }
                        }
                        @if let Some(change) = changes.get(&request) { (changed(visit, ad, request, change, made(request))) }
                        @if let Some(version) = made(request) { (photos_changed(visit, ad, version)) }
                        ol.plain.entries { @for entry in ended(entries) { li { (entry_line(visit, ad, history, entry)) } } }
                        @if let Some(version) = made(request) { (versions::links(visit, ad, version, present == Some(version.revision))) }
                    }
                }
            }
            @if log.len() >= LATEST_ENTRIES { p.faint { (texts.older_left_out) } }
        }
    }
}

/// The ids of the requests and the numbers of the revisions, for who looks after a system.
pub(super) fn ids(visit: &Visit, History { log, unfinished, versions, .. }: &History<'_>) -> Markup {
    let mut requests: Vec<_> = log.iter().map(|entry| (entry.request_id, entry.created)).collect();
    requests.extend(unfinished.iter().map(|request| (request.request_id, request.accepted)));
    requests.sort_by_key(|(_, at)| *at);
    requests.dedup_by_key(|(id, _)| *id);
    let revision = |id: Uuid| versions.iter().find(|version| version.request_id == Some(id)).map(|it| it.revision);
    html! {
        ul.plain {
            @for (id, at) in requests.into_iter().rev() {
                li {
                    (page::time(at)) " " a href=(visit.visitor.address(&format!("/requests?id={id}"))) { code { (id) } }
                    @if let Some(revision) = revision(id) { " " (visit.visitor.texts.revision) " " (revision) }
                }
            }
        }
    }
}

/// What a request has changed: the names of the fields, and on demand their values before and after.
fn changed(
    visit: &Visit,
    ad: &Ad,
    request: Uuid,
    ContentChange { fields, left_out }: &ContentChange,
    version: Option<&RevisionEntry>,
) -> Markup {
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    // What is kept with the version has the values themselves.
    let change = |pointer: &str| version?.changes.iter().flatten().find(|change| change.pointer == pointer);
    let names = fields.iter().map(|field| match change("/visible").filter(|_| field.path == "visible") {
        Some(ValueChange { to: Value::Bool(false), .. }) => texts.was_hidden,
        Some(_) => texts.was_shown,
        None => label(language, &field.path),
    });
    let names: Vec<_> = names.collect();
    let brand = change("/category_fields/brand");
    let kept = |path: &str| {
        let said = |value: &Value, brand: Option<&Value>| {
            (!value.is_null()).then(|| show::value(visit, Some(ad), brand, path, value))
        };
        let ValueChange { from, to, .. } = change(&format!("/{}", path.replace('.', "/")))?;
        Some([said(from, brand.map(|brand| &brand.from)), said(to, brand.map(|brand| &brand.to))])
    };
    // Photos are shown below, as pictures.
    let has_pictures = |field: &&FieldChange| field.path == "image_urls" && kept(&field.path).is_some();
    let in_table: Vec<_> = fields.iter().filter(|field| !has_pictures(field)).collect();
    let said = html! { (texts.changed) ": " (names.join(", ")) @if *left_out > 0 { " + " (left_out) } };
    if in_table.is_empty() && *left_out == 0 {
        return html! { p { strong { (said) } } };
    }
    let values = |field: &FieldChange| kept(&field.path).unwrap_or_else(|| [field.before.clone(), field.after.clone()]);
    let rows: Vec<_> = in_table.into_iter().map(|field| (field.path.as_str(), values(field))).collect();
    html! {
        details id={ "changes-" (request) } {
            summary { (said) }
            (before_and_after(visit, &rows))
            @if *left_out > 0 { p.help { (texts.changes_left_out) ": " (left_out) } }
        }
    }
}

/// Fields by their paths, each with its value before and after.
pub(super) fn before_and_after(visit: &Visit, rows: &[(&str, [Option<String>; 2])]) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        div.scrolls tabindex="0" role="region" aria-label=(texts.changed) {
            table {
                thead { tr { th scope="col" { (texts.field) } th scope="col" { (texts.before) } th scope="col" { (texts.after) } } }
                tbody {
                    @for (path, values) in rows {
                        tr {
                            th scope="row" { (label(visit.visitor.language, path)) }
                            @for value in values { td { @match value { Some(value) => (value), None => span.faint { "–" } } } }
                        }
                    }
                }
            }
        }
    }
}

/// The photos before and after a version that changed them.
fn photos_changed(visit: &Visit, ad: &Ad, version: &RevisionEntry) -> Markup {
    let change = version.changes.iter().flatten().find(|change| change.pointer == "/image_urls");
    html! { @if let Some(ValueChange { from, to, .. }) = change { (photos_compared(visit, ad, from, to)) } }
}

/// Two values of `image_urls` as pictures, each with its number; those that were added or removed say so.
pub(super) fn photos_compared(visit: &Visit, ad: &Ad, from: &Value, to: &Value) -> Markup {
    let texts = visit.visitor.texts;
    let [before, after] = [from, to].map(addresses);
    let side = |title: &str, photos: &[&str], others: &[&str], mark: &str, class: &str| {
        html! {
            div {
                h4 { (title) " (" (photos.len()) ")" }
                ol.plain.small-photos {
                    @for (place, address) in photos.iter().enumerate() {
                        @let is_other = !others.contains(address);
                        li class=[is_other.then_some(class)] title=(address) {
                            @match picture(visit, ad, address) {
                                Some(picture) => img src=(picture) alt="" width="80" height="60" loading="lazy";,
                                None => span.no-photo { (texts.photo_is_gone) },
                            }
                            span { span.unseen { (texts.photo) " " } (place + 1) @if is_other { " " strong { (mark) } } }
                        }
                    }
                }
            }
        }
    };
    html! {
        div.before-after {
            (side(texts.before, &before, &after, texts.photo_was_removed, "removed"))
            (side(texts.after, &after, &before, texts.photo_was_added, "added"))
        }
    }
}

/// The addresses of photos in a value of `image_urls`.
fn addresses(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The picture of a photo that is still stored.
fn picture(visit: &Visit, ad: &Ad, address: &str) -> Option<String> {
    let stored = ad.image_refs.iter().find(|image| image.url == address);
    stored.map(|image| show::rendition(visit, image, 320))
}

fn waits(texts: &Texts, request: &RequestStatus) -> Markup {
    html! {
        @if let Some(what) = request.waiting_for.filter(|_| request.state == RequestState::Waiting) {
            (texts.waits_for) " " (texts.waiting_for(what))
            @if let Some(next) = request.next_attempt { ", " (texts.next_attempt) " " (page::time(next)) }
        }
    }
}

/// The entries of a request, without the `processing` entries of actions that have ended.
fn ended(entries: &[LogEntry]) -> impl Iterator<Item = &LogEntry> {
    entries.iter().filter(|entry| {
        entry.state != ActionState::Processing
            || !entries.iter().any(|later| later.action == entry.action && later.state != ActionState::Processing)
    })
}

fn entry_line(visit: &Visit, ad: &Ad, history: &History<'_>, entry: &LogEntry) -> Markup {
    let texts = visit.visitor.texts;
    let list = |name: &str| entry.external_message.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let (markets, images) = (list("marketplaces"), list("images"));
    html! {
        (badges::action_state(texts, entry.state)) " " (texts.action(entry.action))
        @if markets.is_empty() { " " (show::log_text(visit, entry.code, &entry.external_message)) }
        // The message has the same in one sentence.
        (of_marketplaces(visit, &entry.external_message))
        ul { @for image in images { li { (of_photo(visit, ad, history, image)) } } }
    }
}

fn text<'a>(part: &'a Value, name: &str) -> &'a str {
    part.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What came of an action on each marketplace.
pub(super) fn of_marketplaces(visit: &Visit, message: &Value) -> Markup {
    let markets = message.get("marketplaces").and_then(Value::as_array);
    html! { @if let Some(markets) = markets { ul { @for market in markets { li { (of_marketplace(visit, market)) } } } } }
}

/// Why photos failed, by their addresses.
pub(super) fn of_photos(message: &Value) -> Markup {
    let photos = message.get("images").and_then(Value::as_array);
    html! {
        @if let Some(photos) = photos {
            ul { @for photo in photos { li { span lang="en" { (text(photo, "error")) } " " small.faint { code { (text(photo, "url")) } } } } }
        }
    }
}

/// What came of an action on a marketplace.
fn of_marketplace(visit: &Visit, told: &Value) -> Markup {
    let texts = visit.visitor.texts;
    let name = text(told, "marketplace");
    let code = told.get("code").and_then(Value::as_str).map(Code::from_name);
    html! {
        strong { (Market::from_name(name).map_or(name, |market| texts.market(market))) } ": "
        @match told.get("error").and_then(Value::as_str) {
            Some(reason) => {
                @match code { Some(code) => { (texts.failure(code)) ". " }, None => (texts.state_error) }
                (show::refusal(texts, code, reason))
            },
            None => (ActionState::from_name(text(told, "state")).map_or("", |state| texts.action_state(state))),
        }
    }
}

/// Why a photo failed. People know it by its place and its look, not by its address.
fn of_photo(visit: &Visit, ad: &Ad, history: &History<'_>, told: &Value) -> Markup {
    let (address, error) = (text(told, "url"), text(told, "error"));
    // The entry has no more than the sentence; what it says is known while it is true.
    let of_entry = |image: &&FailedImage| short_address(&image.url) == address && image.error == error;
    let flaw = history.failed_images.iter().find(of_entry).and_then(|image| image.flaw);
    let place = ad.content.image_urls().position(|url| short_address(url) == address);
    let stored = ad.image_refs.iter().find(|image| short_address(&image.url) == address);
    html! {
        @if let Some(image) = stored { img.small src=(show::rendition(visit, image, 320)) alt="" width="48" height="36" loading="lazy"; }
        @match place {
            Some(place) => strong title=(address) { (visit.visitor.texts.photo) " " (place + 1) },
            None => strong title=(address) { (visit.visitor.texts.former_photo) },
        }
        ": " (show::why_no_photo(visit, None, flaw, error))
    }
}
