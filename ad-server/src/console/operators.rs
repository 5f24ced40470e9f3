//! What operators of the service see of all dealers. They need a token of scope `operator`; nothing is changed here.

use ad_core::{
    model::{AdStatus, Page, Timestamp},
    parameters::{PAGE_PARAMETERS, WebhookParameters},
    ports::Scope,
    service::Access,
    status,
    violation::Code,
};
use maud::{Markup, html};
use tokio::time::Instant;

use super::{
    page::{self, Section, Total},
    route::{Answer, Visit},
    show,
    texts::Texts,
};
use crate::{
    api::{ApiError, LimitMet},
    breaker::Open,
    store::{AdByStatus, Failing, QueueFilter, QueueSummary, StatusFilter, TokenRecord, Unfinished},
};

/// Rows of a page.
const ROWS: u32 = 100;

/// `GET /console/operators`: the queue and the marketplaces.
pub(super) async fn overview(visit: Visit) -> Answer {
    let texts = visit.visitor.texts;
    let (database, now) = (&visit.visitor.console.database, visit.visitor.console.clock.now());
    let (queue, failing, summary) = {
        let _turn = visit.visitor.context.limits.turns.take(&visit.caller().scope).await?;
        let codes: Vec<_> = database.dealers().await?.into_iter().map(|dealer| dealer.code).collect();
        let counts = visit.visitor.context.store.count_by_status(Scope::Dealers(&codes)).await?;
        (database.queue_state(now).await?, database.failing().await?, status::summary(counts))
    };
    let content = html! {
        h1 { (texts.operators) }
        (pages(&visit))
        section.panel #queue data-live { h2 { (texts.queue) } (queue_state(texts, queue, now)) (failures(texts, &failing, now)) }
        section.panel #marketplaces data-live {
            h2 { (texts.marketplaces) }
            p { (texts.marketplaces_lead) }
            (circuits(&visit, now))
            @for (market, by_status) in &summary.by_channel {
                h3 { (texts.market(*market)) }
                ul.row.plain { @for (status, ads) in by_status { li { (page::channel_status(texts, *status)) " " (page::number(*ads)) } } }
            }
        }
        section.panel #codes data-live {
            h2 { (texts.failures) }
            @if summary.failures.is_empty() { p { (texts.no_failures) } }
            ul {
                @for (code, ads) in &summary.failures {
                    li {
                        a href=(visit.visitor.address(&format!("/operators/ads?code={}", code.name()))) { code { (code.name()) } }
                        " " (page::number(*ads))
                    }
                }
            }
        }
    };
    Ok(page::page(&visit, Section::Operators, texts.operators, &content))
}

/// The circuit breakers of this process: each process has its own.
fn circuits(visit: &Visit, now: Timestamp) -> Markup {
    let texts = visit.visitor.texts;
    let states: Vec<_> =
        visit.visitor.console.circuits.get().map(|it| it.states(Instant::now()).collect()).unwrap_or_default();
    html! {
        h3 { (texts.circuits) }
        p.help { (if states.is_empty() { texts.no_circuits } else { texts.circuits_lead }) }
        ul.plain {
            @for (market, state) in &states {
                li {
                    (texts.market(*market)) " "
                    @match state {
                        Ok(()) => span.badge.well { (texts.circuit_closed) },
                        Err(Open { reason: (code, reason), retry_after }) => {
                            span.badge.attention { (texts.breaker_open) }
                            " " (show::code(visit, *code)) " " span lang="en" { (reason) }
                            " " (texts.next_attempt) " " (page::time(now + *retry_after))
                        }
                    }
                }
            }
        }
    }
}

/// `GET /console/operators/limits`: the limits that clients have met lately.
pub(super) async fn limits(visit: Visit) -> Answer {
    let (texts, now) = (visit.visitor.texts, visit.visitor.console.clock.now());
    let met = visit.visitor.context.limits.met.latest();
    let row = |(scope, code, met): &(Access, Code, LimitMet)| {
        html! {
            td { (scope.claim()) " " strong { (scope.name()) } }
            td { (show::code(&visit, *code)) }
            td.number { (page::number(met.times)) }
            td { (page::time(now - met.last.elapsed())) }
            td lang="en" { (met.detail) }
        }
    };
    let header = [texts.scope, texts.code, texts.refusals, texts.last_refusal, texts.reason];
    let content = html! {
        p.help { (texts.limits_lead) }
        @if met.is_empty() { p { (texts.no_limits) } } @else { (table(texts.limits, header, met.iter().map(row))) }
    };
    Ok(list_page(&visit, texts.limits, &html! {}, &content))
}

/// `GET /console/operators/queue`: the oldest unfinished requests.
pub(super) async fn queue(visit: Visit) -> Answer {
    let (texts, now) = (visit.visitor.texts, visit.visitor.console.clock.now());
    let text = |name: &str| visit.parameter(name).filter(|value| !value.is_empty()).map(str::to_owned);
    let filter = QueueFilter { dealer_code: text("dealer_code"), reason: text("reason"), ..QueueFilter::default() };
    let requests = {
        let _turn = visit.visitor.context.limits.turns.take(&visit.caller().scope).await?;
        visit.visitor.console.database.unfinished(&filter, ROWS).await?
    };
    let row = |it: &Unfinished| {
        html! {
            td { code { (it.request_id) } }
            td { (it.dealer_code) }
            td { (it.source_id) }
            td { (show::age(texts, it.accepted, now)) }
            td { @match it.claimable { Some(at) => (page::time(at)), None => (texts.blocked) } }
            td.number { (it.tries) }
            td { (it.reason.as_deref().unwrap_or_default()) }
        }
    };
    let header = [texts.request_id, texts.dealer, texts.ad, texts.age, texts.due, texts.attempts, texts.reason];
    let filter = filter_form(&visit, "/operators/queue", &[("dealer_code", texts.dealer), ("reason", texts.reason)]);
    Ok(list_page(&visit, texts.queue, &filter, &table(texts.queue, header, requests.iter().map(row))))
}

/// `GET /console/operators/ads`: ads of all dealers by status and code of failure.
pub(super) async fn ads(visit: Visit) -> Answer {
    let texts = visit.visitor.texts;
    let text = |name: &str| visit.parameter(name).filter(|value| !value.is_empty());
    let wrong = |name: &str| ApiError::NotFound(format!("There is no {name} \"{}\".", text(name).unwrap_or_default()));
    let status = match text("status") {
        Some(name) => vec![AdStatus::from_name(name).ok_or_else(|| wrong("status"))?],
        // Those that somebody has to look at.
        None => vec![AdStatus::Failed, AdStatus::PartlyLive, AdStatus::Waiting],
    };
    let code = text("code").map(Code::from_name);
    if code == Some(Code::Unknown) {
        return Err(wrong("code"));
    }
    let filter = StatusFilter {
        statuses: status,
        dealer_code: text("dealer_code").map(str::to_owned),
        code,
        ..StatusFilter::default()
    };
    let found = {
        let _turn = visit.visitor.context.limits.turns.take(&visit.caller().scope).await?;
        visit.visitor.console.database.ads_by_status(&filter, None, ROWS).await?
    };
    let row = |it: &AdByStatus| {
        html! {
            td { (it.dealer_code) }
            td { (it.source_id) }
            td { (page::ad_status(texts, it.status)) }
            td { (page::time(it.since)) }
            td { @if let Some(code) = it.code { code { (code.name()) } } }
        }
    };
    let header = [texts.dealer, texts.ad, texts.status, texts.since, texts.code];
    let filter = filter_form(
        &visit,
        "/operators/ads",
        &[("dealer_code", texts.dealer), ("status", texts.status), ("code", texts.code)],
    );
    Ok(list_page(&visit, texts.failed_ads, &filter, &table(texts.failed_ads, header, found.iter().map(row))))
}

/// `GET /console/operators/dealers`
pub(super) async fn dealers(visit: Visit) -> Answer {
    let texts = visit.visitor.texts;
    let page = list_parameters(&visit)?;
    let (all, ads) = {
        let _turn = visit.visitor.context.limits.turns.take(&visit.caller().scope).await?;
        let all = visit.visitor.console.database.dealers().await?;
        let shown: Vec<_> = on_page(&all, page).iter().map(|dealer| dealer.code.clone()).collect();
        let ads = visit.visitor.context.store.ads_by_dealer(Scope::Dealers(&shown)).await?;
        (all, ads)
    };
    let shown = on_page(&all, page);
    let rows = shown.iter().map(|dealer| {
        html! {
            td { code { (dealer.code) } }
            td { (dealer.name) }
            td { (dealer.group.as_deref().unwrap_or("–")) }
            td { (dealer.products.join(", ")) }
            td.number { (page::number(ads.get(&dealer.code).copied().unwrap_or_default())) }
        }
    });
    let header = [texts.dealer, texts.name, texts.dealer_group, texts.products, texts.ads];
    let paging =
        page::paging(&visit, "/operators/dealers", &visit.query, page, shown.len(), Total::Exactly(all.len() as u64));
    let content = html! { (table(texts.dealers, header, rows)) (paging) };
    Ok(list_page(&visit, texts.dealers, &html! {}, &content))
}

/// `GET /console/operators/tokens`: records of tokens; the tokens themselves are not stored.
pub(super) async fn tokens(visit: Visit) -> Answer {
    let (texts, now) = (visit.visitor.texts, visit.visitor.console.clock.now());
    let page = list_parameters(&visit)?;
    let mut all = {
        let _turn = visit.visitor.context.limits.turns.take(&visit.caller().scope).await?;
        visit.visitor.console.database.tokens().await?
    };
    // The newest first.
    all.reverse();
    let shown = on_page(&all, page);
    let rows = shown.iter().map(|token| token_row(texts, token, now));
    let header = [texts.token_id, texts.scope, texts.permissions, texts.issued, texts.expires, texts.status];
    let paging =
        page::paging(&visit, "/operators/tokens", &visit.query, page, shown.len(), Total::Exactly(all.len() as u64));
    let content = html! { (table(texts.tokens, header, rows)) (paging) };
    Ok(list_page(&visit, texts.tokens, &html! {}, &content))
}

fn token_row(texts: &Texts, token: &TokenRecord, now: Timestamp) -> Markup {
    let (kind, state) = match (token.revoked, token.expires) {
        (Some(_), _) => ("failure", texts.revoked),
        (None, Some(end)) if end <= now => ("at-rest", texts.expired),
        (None, _) => ("well", texts.valid),
    };
    html! {
        td { code { (token.jti) } }
        td { (token.scope_type.as_deref().unwrap_or("–")) " " (token.scope.as_deref().unwrap_or_default()) }
        td { @match &token.permissions { Some(names) => (names.join(", ")), None => (texts.all) } }
        td { (page::maybe_time(token.issued)) }
        td { (page::maybe_time(token.expires)) }
        td { span class={ "badge " (kind) } { (state) } }
    }
}

/// The page that a list is asked for.
fn list_parameters(visit: &Visit) -> Result<Page, ApiError> {
    let page = WebhookParameters::parse(PAGE_PARAMETERS, &visit.query)?.page;
    Ok(Page { limit: page.limit.min(ROWS), ..page })
}

fn on_page<T>(all: &[T], page: Page) -> &[T] {
    let from = usize::try_from(page.offset).unwrap_or(usize::MAX).min(all.len());
    let to = from.saturating_add(page.limit as usize).min(all.len());
    &all[from..to]
}

/// The links between the pages for operators.
fn pages(visit: &Visit) -> Markup {
    let texts = visit.visitor.texts;
    let pages = [
        ("/operators", texts.overview),
        ("/operators/queue", texts.queue),
        ("/operators/ads", texts.failed_ads),
        ("/operators/dealers", texts.dealers),
        ("/operators/tokens", texts.tokens),
        ("/operators/limits", texts.limits),
    ];
    let here = visit.visitor.here.split('?').next().unwrap_or_default();
    html! {
        nav.actions aria-label=(texts.operators) {
            @for (path, name) in pages {
                a.button href=(visit.visitor.address(path)) aria-current=[(path == here).then_some("page")] { (name) }
            }
        }
    }
}

fn list_page(visit: &Visit, title: &str, filter: &Markup, content: &Markup) -> poem::Response {
    let content = html! {
        h1 { (title) }
        (pages(visit))
        (filter)
        section.panel #list data-live { (content) }
    };
    page::page(visit, Section::Operators, title, &content)
}

fn filter_form(visit: &Visit, path: &str, fields: &[(&str, &str)]) -> Markup {
    html! {
        form.panel.row method="get" action=(visit.visitor.address(path)) role="search" {
            @for (name, label) in fields {
                div {
                    label for=(name) { (label) }
                    input id=(name) type="text" name=(name) value=(visit.parameter(name).unwrap_or_default()) autocomplete="off";
                }
            }
            button { (visit.visitor.texts.show) }
        }
    }
}

fn table<const N: usize>(name: &str, header: [&str; N], rows: impl Iterator<Item = Markup>) -> Markup {
    html! {
        div.scrolls tabindex="0" role="region" aria-label=(name) {
            table {
                thead { tr { @for title in header { th { (title) } } } }
                tbody { @for row in rows { tr { (row) } } }
            }
        }
    }
}

fn queue_state(texts: &Texts, queue: QueueSummary, now: Timestamp) -> Markup {
    let age = |since: Option<Timestamp>| since.map_or_else(|| "–".to_owned(), |since| show::age(texts, since, now));
    html! {
        dl {
            dt { (texts.unfinished) } dd { (page::number(queue.depth)) }
            dt { (texts.due_now) } dd { (page::number(queue.due)) }
            dt { (texts.blocked) } dd { (page::number(queue.behind)) }
            dt { (texts.oldest) } dd { (age(queue.oldest)) }
            dt { (texts.oldest_due) } dd { (age(queue.oldest_due)) }
        }
    }
}

fn failures(texts: &Texts, failing: &[Failing], now: Timestamp) -> Markup {
    let row = |it: &Failing| {
        html! {
            td.number { (page::number(it.requests)) }
            td { (show::age(texts, it.oldest, now)) }
            td { (page::time(it.next)) }
            td { (it.reason) }
        }
    };
    let header = [texts.requests, texts.oldest, texts.next_attempt, texts.reason];
    html! {
        @if !failing.is_empty() { h3 { (texts.retrying) } (table(texts.retrying, header, failing.iter().map(row))) }
    }
}
