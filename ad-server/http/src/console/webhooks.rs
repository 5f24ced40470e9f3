//! Webhooks: the endpoints of the scope, and what was sent to each.

use ad_core::{
    model::{DeliveryState, Page},
    service::Access,
};
use ad_parameters::{DELIVERY_PARAMETERS, FromParameters, WebhookParameters};
use maud::{Markup, html};
use poem::{Response, http::StatusCode};
use serde_json::{Map, Value, json};

use super::{
    page::{self, NoticeKind, Section, Total},
    texts::Texts,
    visitor::{PageResult, Visit},
};
use crate::api::{
    ApiError,
    webhooks::{ScopedWebhooks, WebhookState},
};
use ad_server_outside::webhooks::SigningSecret;
use ad_server_store::webhooks::{Attempt, Delivery, Webhook};

/// Most deliveries that a page shows.
const DELIVERIES: u32 = 50;

/// `GET /console/webhooks`: the endpoints, and the form of a new one.
pub(super) async fn list(visit: Visit) -> PageResult {
    show(&visit, None).await
}

/// `POST /console/webhooks`: creates an endpoint.
pub(super) async fn create(visit: Visit) -> PageResult {
    let field = |name: &str| visit.field(name).map(str::trim).filter(|value| !value.is_empty());
    let mut sent = Map::new();
    for name in ["url", "description", "dealer_code"] {
        if let Some(value) = field(name) {
            sent.insert(name.to_owned(), value.into());
        }
    }
    let types: Vec<_> = field("types").into_iter().flat_map(str::split_whitespace).map(Value::from).collect();
    if !types.is_empty() {
        sent.insert("types".to_owned(), types.into());
    }
    match of_scope(&visit)?.create(&sent).await {
        Ok((created, secret)) => Ok(new_secret(&visit, StatusCode::CREATED, &created.webhook, &secret)),
        Err(error) => show(&visit, Some(error)).await,
    }
}

/// `GET /console/webhook?id=…`: an endpoint with its deliveries.
pub(super) async fn one(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let filters: Vec<_> = visit
        .query
        .iter()
        .filter(|(name, value)| !matches!(name.as_str(), "id" | "done") && !value.is_empty())
        .cloned()
        .collect();
    let WebhookParameters { state, page } = WebhookParameters::parse(DELIVERY_PARAMETERS, &filters)?;
    let page = Page { limit: page.limit.min(DELIVERIES), ..page };
    let (id, webhooks) = (id(&visit), of_scope(&visit)?);
    let found = webhooks.find(id).await?;
    let webhook = &found.webhook;
    let (deliveries, count) = webhooks.deliveries(id, state, page).await?;
    let content = html! {
        div.heading { h1 { (texts.webhook) } (enabled(texts, &found)) }
        @if visit.parameter("done").is_some() { (page::notice(NoticeKind::Success, &html! { p { (texts.done) } })) }
        section.panel #endpoint data-live { (facts(texts, &found)) }
        section.panel { h2 { (texts.change) } (actions(&visit, webhook)) }
        div.panel {
            h2 #deliveries-heading { (texts.deliveries) }
            (states(&visit, id, state))
            div.scrolls #deliveries data-live tabindex="0" role="region" aria-labelledby="deliveries-heading" { (table(&visit, id, &deliveries, webhook.disabled.is_none())) }
            (page::paging(&visit, "/webhook", &visit.query, page, deliveries.len(), Total::Exactly(count)))
        }
    };
    Ok(page::page(&visit, Section::Webhooks, texts.webhook, &content))
}

/// `POST /console/webhook?id=…`: does what a button says.
pub(super) async fn change(visit: Visit) -> PageResult {
    let (id, webhooks) = (id(&visit), of_scope(&visit)?);
    let sent = |value: Value| value.as_object().cloned().unwrap_or_default();
    match visit.field("do").unwrap_or_default() {
        "test" => drop(webhooks.test(id).await?),
        "resend" => drop(webhooks.resend(id, visit.field("event_id").unwrap_or_default()).await?),
        "enable" => drop(webhooks.change(id, &sent(json!({"enabled": true}))).await?),
        "enable_now" => drop(webhooks.change(id, &sent(json!({"enabled": true, "resume": "now"}))).await?),
        "disable" => drop(webhooks.change(id, &sent(json!({"enabled": false}))).await?),
        "rotate_secret" => {
            let (rotated, secret) = webhooks.rotate_secret(id).await?;
            return Ok(new_secret(&visit, StatusCode::OK, &rotated.webhook, &secret));
        }
        "delete" => {
            webhooks.delete(id).await?;
            return Ok(visit.visitor.redirect("/webhooks"));
        }
        other => return Err(ApiError::BadBody(format!("The form has no known action: do is \"{other}\"."))),
    }
    let WebhookState { webhook, .. } = webhooks.find(id).await?;
    Ok(visit.visitor.redirect(&format!("/webhook?id={}&done=1", webhook.id)))
}

fn of_scope(visit: &Visit) -> Result<ScopedWebhooks<'_>, ApiError> {
    let context = &*visit.visitor.context;
    let webhooks =
        context.webhooks.as_ref().ok_or_else(|| ApiError::not_found("This service has no webhooks.".to_owned()))?;
    Ok(ScopedWebhooks { context, webhooks, access: &visit.caller.scope })
}

fn id(visit: &Visit) -> &str {
    visit.parameter("id").unwrap_or_default()
}

/// The list, with why a new endpoint was refused.
async fn show(visit: &Visit, refused: Option<ApiError>) -> PageResult {
    let texts = visit.visitor.texts;
    let scope = &visit.caller.scope;
    let dealers = match scope {
        Access::Group(_) => visit.visitor.context.service.dealers_of_events(scope, None),
        Access::Dealer(_) | Access::Operator => [].into(),
    };
    let all = of_scope(visit)?.all().await?;
    let status = refused.as_ref().map_or(StatusCode::OK, |error| error.default_response().status());
    let content = html! {
        div.heading { h1 { (texts.webhooks) } }
        p.lead { (texts.webhooks_lead) }
        @if all.is_empty() { p { (texts.no_webhooks) } } @else { (endpoints(visit, &all)) }
        section.panel { h2 { (texts.new_webhook) } (form(visit, &dealers, refused.as_ref())) }
    };
    Ok(page::page_with_status(visit, status, Section::Webhooks, texts.webhooks, &content))
}

fn endpoints(visit: &Visit, all: &[WebhookState]) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        div.panel.scrolls #endpoints data-live tabindex="0" role="region" aria-label=(texts.webhooks) {
            table {
                thead { tr { th { (texts.address) } th { (texts.status) } th { (texts.pending) } th { (texts.last_success) } th { (texts.last_failure) } } }
                tbody {
                    @for state @ WebhookState { webhook, pending, .. } in all {
                        tr {
                            td {
                                a href=(visit.visitor.address(&format!("/webhook?id={}", webhook.id))) { (webhook.url) }
                                @if let Some(description) = &webhook.description { div.faint { (description) } }
                            }
                            td { (enabled(texts, state)) }
                            td.number { (page::number(*pending)) }
                            td { (page::maybe_time(webhook.last_success)) }
                            td { (page::maybe_time(webhook.last_failure)) }
                        }
                    }
                }
            }
        }
    }
}

fn form(visit: &Visit, dealers: &[String], refused: Option<&ApiError>) -> Markup {
    let texts = visit.visitor.texts;
    let value = |name: &str| visit.field(name).unwrap_or_default();
    html! {
        @if let Some(error) = refused {
            (page::notice(NoticeKind::Error, &html! { ul { @for text in page::reasons(error) { li lang="en" { (text) } } } }))
        }
        form method="post" action=(visit.visitor.address("/webhooks")) {
            div.field { label for="url" { (texts.address) " *" } input.full #url type="url" name="url" required value=(value("url")); }
            div.field {
                label for="types" { (texts.event_types) }
                input.full #types type="text" name="types" value=(value("types")) aria-describedby="types-help";
                p.help #types-help { (texts.event_types_help) }
            }
            div.field { label for="description" { (texts.description) } input.full #description type="text" name="description" value=(value("description")); }
            @if !dealers.is_empty() {
                div.field {
                    label for="dealer_code" { (texts.dealer) }
                    select #dealer_code name="dealer_code" {
                        option value="" { (texts.all) }
                        @for code in dealers { option value=(code) selected[value("dealer_code") == code] { (code) } }
                    }
                }
            }
            button.primary { (texts.save) }
        }
    }
}

/// The page that shows a secret, which cannot be shown again.
fn new_secret(visit: &Visit, status: StatusCode, webhook: &Webhook, secret: &SigningSecret) -> Response {
    let texts = visit.visitor.texts;
    let content = html! {
        h1 { (texts.secret) }
        (page::notice(NoticeKind::Success, &html! { p { (texts.secret_once) } pre { code { (secret.reveal()) } } }))
        dl { dt { (texts.address) } dd { (webhook.url) } }
        p { a.button href=(visit.visitor.address(&format!("/webhook?id={}", webhook.id))) { (texts.to_webhook) } }
    };
    page::page_with_status(visit, status, Section::Webhooks, texts.secret, &content)
}

fn enabled(texts: &Texts, WebhookState { webhook, problem, .. }: &WebhookState) -> Markup {
    match (webhook.disabled, problem) {
        (None, None) => html! { span.badge.well { (texts.enabled) } },
        (None, Some(problem)) => html! { span.badge.failure { (texts.webhook_problem(*problem)) } },
        (Some(reason), _) => html! { span.badge.failure { (texts.disabled) ": " (texts.disabled_reason(reason)) } },
    }
}

fn facts(texts: &Texts, WebhookState { webhook, pending, problem }: &WebhookState) -> Markup {
    html! {
        @if problem.is_some() { (page::notice(NoticeKind::Error, &html! { p { (texts.webhook_unreadable_does) } })) }
        dl {
            dt { (texts.address) } dd { (webhook.url) }
            @if let Some(description) = &webhook.description { dt { (texts.description) } dd { (description) } }
            @if let Some(code) = &webhook.dealer_code { dt { (texts.dealer) } dd { (code) } }
            dt { (texts.event_types) } dd { @for types in &webhook.types { code { (types) } " " } }
            dt { (texts.pending) } dd { (page::number(*pending)) }
            dt { (texts.created) } dd { (page::time(webhook.created)) }
            dt { (texts.last_success) } dd { (page::maybe_time(webhook.last_success)) }
            dt { (texts.last_failure) } dd { (page::maybe_time(webhook.last_failure)) }
        }
    }
}

fn actions(visit: &Visit, webhook: &Webhook) -> Markup {
    let texts = visit.visitor.texts;
    let action = visit.visitor.address(&format!("/webhook?id={}", webhook.id));
    html! {
        form.actions method="post" action=(action) {
            @if webhook.disabled.is_none() {
                button name="do" value="test" { (texts.send_test) }
                button name="do" value="disable" { (texts.disable) }
            } @else {
                button.primary name="do" value="enable" { (texts.enable) }
                button name="do" value="enable_now" { (texts.enable_now) }
            }
            button name="do" value="rotate_secret" { (texts.rotate_secret) }
        }
        details {
            summary { (texts.delete_webhook) }
            form method="post" action=(action) {
                p { (texts.delete_webhook_does) }
                button.danger name="do" value="delete" { (texts.delete_webhook) }
            }
        }
    }
}

/// The choice of the deliveries that are shown.
fn states(visit: &Visit, id: &str, chosen: Option<DeliveryState>) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        form.row method="get" action=(visit.visitor.address("/webhook")) {
            input type="hidden" name="id" value=(id);
            div {
                label for="state" { (texts.status) }
                select #state name="state" {
                    option value="" { (texts.all) }
                    @for state in DeliveryState::NAMES.iter().filter_map(|name| DeliveryState::from_name(name)) {
                        option value=(state.name()) selected[chosen == Some(state)] { (texts.delivery_state(state)) }
                    }
                }
            }
            button { (texts.search) }
        }
    }
}

fn table(visit: &Visit, id: &str, deliveries: &[Delivery], can_resend: bool) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        table {
            thead { tr { th { (texts.event) } th { (texts.status) } th { (texts.created) } th { (texts.attempts_made) } th { span.unseen { (texts.resend) } } } }
            tbody {
                @for delivery in deliveries {
                    tr {
                        td { code { (delivery.event_type) } div.faint { (delivery.event_id) } }
                        td {
                            span class={ "badge " (kind(delivery.state)) } { (texts.delivery_state(delivery.state)) }
                            @if let Some(at) = delivery.next_attempt { div.faint { (texts.next_attempt) " " (page::time(at)) } }
                        }
                        td { (page::time(delivery.created)) }
                        td { ol.plain { @for attempt in &delivery.attempts { li { (made(texts, attempt)) } } } }
                        td {
                            @if can_resend {
                                form method="post" action=(visit.visitor.address(&format!("/webhook?id={id}"))) {
                                    input type="hidden" name="event_id" value=(delivery.event_id);
                                    button name="do" value="resend" { (texts.resend) span.unseen { " " (delivery.event_id) } }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if deliveries.is_empty() { p { (texts.no_deliveries) } }
    }
}

fn kind(state: DeliveryState) -> &'static str {
    match state {
        DeliveryState::Pending => "under-way",
        DeliveryState::Delivered => "well",
        DeliveryState::Failed => "failure",
    }
}

/// An attempt with what came back.
fn made(texts: &Texts, attempt: &Attempt) -> Markup {
    html! {
        (page::time(attempt.at)) ", "
        @if let Some(status) = attempt.status { "HTTP " (status) ", " }
        (attempt.latency_ms) " ms"
        @if let Some(error) = &attempt.error { div { (error) } }
        @if let Some(response) = attempt.response.as_deref().filter(|text| !text.is_empty()) {
            details { summary { (texts.answer) } pre { (response) } }
        }
    }
}
