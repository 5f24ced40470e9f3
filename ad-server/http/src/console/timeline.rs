//! The requests of an ad with their actions, and what each has changed about the ad.

use std::collections::HashMap;

use ad_core::model::{
    ActionState, Ad, ContentChange, LATEST_ENTRIES, LogEntry, RequestState, RequestStatus, RevisionEntry,
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
}

/// The requests, the newest first.
pub(super) fn section(visit: &Visit, ad: &Ad, history: &History<'_>) -> Markup {
    let History { log, unfinished, changes, versions } = history;
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
                        (id(visit, request.request_id))
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
                        @if let Some(change) = changes.get(&request) { (changed(visit, request, change)) }
                        ol.plain.entries { @for entry in ended(entries) { li { (entry_line(visit, entry)) } } }
                        (id(visit, request))
                        @if let Some(version) = made(request) { (versions::links(visit, ad, version, present == Some(version.revision))) }
                    }
                }
            }
            @if log.len() >= LATEST_ENTRIES { p.faint { (texts.older_left_out) } }
        }
    }
}

fn id(visit: &Visit, request: Uuid) -> Markup {
    let address = visit.visitor.address(&format!("/requests?id={request}"));
    html! { p.help { (visit.visitor.texts.request_id) " " a href=(address) { code { (request) } } } }
}

/// What a request has changed: the names of the fields, and on demand their values before and after.
fn changed(visit: &Visit, request: Uuid, ContentChange { fields, left_out }: &ContentChange) -> Markup {
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    let names: Vec<_> = fields.iter().map(|field| label(language, &field.path)).collect();
    html! {
        details id={ "changes-" (request) } {
            summary { (texts.changed) ": " (names.join(", ")) @if *left_out > 0 { " + " (left_out) } }
            div.scrolls tabindex="0" role="region" aria-label=(texts.changed) {
                table {
                    thead { tr { th scope="col" { (texts.field) } th scope="col" { (texts.before) } th scope="col" { (texts.after) } } }
                    tbody {
                        @for field in fields {
                            tr {
                                th scope="row" { (label(language, &field.path)) br; code.faint { (field.path) } }
                                @for value in [&field.before, &field.after] {
                                    td { @match value { Some(value) => (value), None => span.faint { "–" } } }
                                }
                            }
                        }
                    }
                }
            }
            @if *left_out > 0 { p.help { (texts.changes_left_out) ": " (left_out) } }
        }
    }
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

fn entry_line(visit: &Visit, entry: &LogEntry) -> Markup {
    let texts = visit.visitor.texts;
    let images = entry.external_message.get("images").and_then(Value::as_array).into_iter().flatten();
    html! {
        (badges::action_state(texts, entry.state)) " " (texts.action(entry.action))
        " " (show::log_text(visit, entry.code, &entry.external_message))
        ul {
            @for image in images {
                @let text = |name: &str| image.get(name).and_then(Value::as_str).unwrap_or_default();
                li { code { (text("url")) } " " span lang="en" { (text("error")) } }
            }
        }
        @if let Some(code) = entry.code { p.help { (show::code(visit, code)) } }
    }
}
