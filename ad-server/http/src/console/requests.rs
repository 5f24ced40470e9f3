//! What has become of a request, by its id.

use ad_core::{
    model::{ActionStatus, RequestStatus},
    service::ServiceError,
};
use maud::{Markup, html};
use poem::http::StatusCode;
use uuid::Uuid;

use super::{
    act::AdKey,
    badges,
    page::{self, NoticeKind, Section},
    show, timeline,
    visitor::{PageResult, Visit},
};
use crate::api::{ApiError, requests::unknown};

/// `GET /console/requests?id=…`
pub(super) async fn page(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let id = visit.parameter("id").map(str::trim).filter(|id| !id.is_empty());
    let found = match id {
        Some(id) => Some(find(&visit, id).await),
        None => None,
    };
    let status = match &found {
        Some(Err(error)) => error.default_response().status(),
        _ => StatusCode::OK,
    };
    let content = html! {
        h1 { (texts.requests) }
        p.lead { (texts.requests_lead) }
        form.panel.row method="get" action=(visit.visitor.address("/requests")) role="search" {
            div {
                label for="id" { (texts.request_id) }
                input #id.full type="text" name="id" value=(id.unwrap_or_default()) size="40" autocomplete="off" spellcheck="false";
            }
            button.primary { (texts.search) }
        }
        @match &found {
            Some(Ok(request)) => (shown(&visit, request)),
            Some(Err(error)) => (page::notice(NoticeKind::Error, &html! { @for text in page::why(&visit.visitor, error) { p { (text) } } })),
            None => {},
        }
    };
    Ok(page::page_with_status(&visit, status, Section::Requests, texts.requests, &content))
}

async fn find(visit: &Visit, id: &str) -> Result<RequestStatus, ApiError> {
    let uuid: Uuid = id.parse().map_err(|_| unknown(id))?;
    match visit.visitor.context.service.request(&visit.caller.scope, uuid).await {
        Err(ServiceError::NotFound) => Err(unknown(id)),
        found => Ok(found?),
    }
}

fn shown(visit: &Visit, request: &RequestStatus) -> Markup {
    let texts = visit.visitor.texts;
    let ad = visit.visitor.address(&format!("/ad?{}", AdKey::query(&request.source_id, &request.dealer_code)));
    html! {
        section.panel #request data-live data-source-id=(request.source_id) {
            div.heading { h2 { (texts.request) } (badges::request_state(texts, request.state)) }
            dl {
                dt { (texts.request_id) } dd { code { (request.request_id) } }
                dt { (texts.ad) } dd { a href=(ad) { (request.source_id) } }
                dt { (texts.dealer) } dd { (request.dealer_code) }
                dt { (texts.accepted) } dd { (page::time(request.accepted)) }
                @if let Some(at) = request.finished { dt { (texts.finished) } dd { (page::time(at)) } }
                @if let Some(what) = request.waiting_for { dt { (texts.status_waiting) } dd { (texts.waits_for) " " (texts.waiting_for(what)) } }
                @if request.attempts > 0 { dt { (texts.attempts) } dd { (request.attempts) } }
                @if let Some(at) = request.next_attempt { dt { (texts.next_attempt) } dd { (page::time(at)) } }
            }
            h3 { (texts.what_happened) }
            ol.plain { @for (place, action) in request.actions.iter().enumerate() { li { (step(visit, place, action)) } } }
        }
    }
}

fn step(visit: &Visit, place: usize, action: &ActionStatus) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        strong { (texts.action(action.action)) } " " (badges::action_state(texts, action.state)) " " (page::time(action.created))
        // The text has what came of each marketplace in one sentence.
        @if action.external_message.get("marketplaces").is_none() { " " (show::log_text(visit, action.code, &action.external_message)) }
        @if let Some(code) = action.code { " " (show::code(visit, code)) }
        (timeline::of_marketplaces(visit, &action.external_message))
        (timeline::of_photos(&action.external_message))
        @if action.external_message.is_object() {
            details id={ "message-" (place) } { summary { (texts.message_as_json) } pre tabindex="0" { (format!("{:#}", action.external_message)) } }
        }
    }
}
