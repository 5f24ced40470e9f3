//! Pages for operators of the service, about all dealers. They need a token of scope `operator`. Their acts are the same as those of
//! the commands, and are recorded in the audit log.

mod ads;
mod confirm;
mod dealers;
mod erase;
mod marketplaces;
mod queue;
mod records;
mod tokens;

use ad_core::{model::Page, ports::Scope, status};
use ad_parameters::{FromParameters, PAGE_PARAMETERS, WebhookParameters};
use maud::{Markup, html};

use self::marketplaces::Pauses;
pub(super) use self::{
    ads::{list as ads, retry},
    dealers::{change as change_dealer, list as dealers, one as dealer},
    erase::{erase, form as erasure},
    marketplaces::change as change_marketplace,
    queue::queue,
    records::{audit, limits},
    tokens::{list as tokens, revoke},
};
use super::{
    page::{self, NoticeKind, Section},
    texts::Texts,
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;
use ad_server_work::operators::Operator;

const ROWS: u32 = 100;

/// `GET /console/operators`: the queue and the marketplaces.
pub(super) async fn overview(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let (database, now) = (&visit.visitor.console.database, visit.visitor.console.clock.now());
    let codes: Vec<_> = database.dealers().await?.into_iter().map(|dealer| dealer.code).collect();
    let counts = visit.visitor.context.store.count_by_status(Scope::Dealers(&codes)).await?;
    let (queue, failing, summary) =
        (database.queue_state(now).await?, database.failing().await?, status::summary(counts));
    let holdups = (database.unread_events().await?, database.waiting_commits().await?);
    let pauses = Pauses::read(database).await?;
    let content = html! {
        h1 { (texts.operators) }
        (pages(&visit))
        (done(&visit))
        section.panel #queue data-live {
            h2 { (texts.queue) }
            (queue::state(texts, queue, now))
            (queue::holdups(texts, &holdups, now))
            (queue::failures(texts, &failing, now))
        }
        (marketplaces::section(&visit, &summary, &pauses, now))
        section.panel #codes data-live {
            h2 { (texts.failures) }
            @if summary.failures.is_empty() { p { (texts.no_failures) } }
            ul {
                @for (code, ads) in &summary.failures {
                    li {
                        a href=(visit.visitor.address(&format!("/operators/ads?code={}", code.name()))) { code { (code.name()) } }
                        " " (texts.failure(*code)) ": " (page::number(*ads))
                    }
                }
            }
        }
    };
    Ok(page::page(&visit, Section::Operators, texts.operators, &content))
}

/// The operator for the audit log: label and id of the token.
pub(super) fn operator(visit: &Visit) -> Operator<'_> {
    let (console, caller) = (&visit.visitor.console, &visit.caller);
    let name = match &caller.label {
        Some(label) => format!("{label} (token {})", caller.jti),
        None => format!("token {}", caller.jti),
    };
    Operator { database: &console.database, name, now: console.clock.now() }
}

fn bad_form(what: &str) -> ApiError {
    ApiError::BadBody(format!("The form has {what}."))
}

/// The notice that an act has been done.
fn done(visit: &Visit) -> Markup {
    html! {
        @if visit.parameter("done").is_some() {
            (page::notice(NoticeKind::Success, &html! { p { (visit.visitor.texts.operated) } }))
        }
    }
}

fn list_parameters(visit: &Visit) -> Result<Page, ApiError> {
    const OWN: [&str; 2] = ["dealer_code", "done"];
    let query: Vec<_> = visit.query.iter().filter(|(name, _)| !OWN.contains(&name.as_str())).cloned().collect();
    let page = WebhookParameters::parse(PAGE_PARAMETERS, &query)?.page;
    Ok(Page { limit: page.limit.min(ROWS), ..page })
}

fn on_page<T>(all: &[T], page: Page) -> &[T] {
    let from = usize::try_from(page.offset).unwrap_or(usize::MAX).min(all.len());
    let to = from.saturating_add(page.limit as usize).min(all.len());
    &all[from..to]
}

/// The links between the pages for operators.
pub(super) fn pages(visit: &Visit) -> Markup {
    let texts = visit.visitor.texts;
    let pages = [
        ("/operators", texts.overview),
        ("/operators/queue", texts.queue),
        ("/operators/ads", texts.failed_ads),
        ("/operators/dealers", texts.dealers),
        ("/operators/tokens", texts.tokens),
        ("/operators/access", texts.access),
        ("/operators/limits", texts.limits),
        ("/operators/audit", texts.audit),
        ("/operators/erase", texts.erase),
    ];
    let here = visit.visitor.here.split('?').next().unwrap_or_default();
    html! {
        nav.actions.sections aria-label=(texts.operators) {
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

struct Filter<'a> {
    name: &'a str,
    label: &'a str,
    /// The values with their names; empty: any text.
    choices: Vec<(&'a str, &'a str)>,
}

impl<'a> Filter<'a> {
    fn text(name: &'a str, label: &'a str) -> Self {
        Self { name, label, choices: Vec::new() }
    }
}

fn filter_form(visit: &Visit, path: &str, filters: &[Filter<'_>]) -> Markup {
    html! {
        form.panel.row method="get" action=(visit.visitor.address(path)) role="search" {
            @for Filter { name, label, choices } in filters {
                @let given = visit.parameter(name).unwrap_or_default();
                div {
                    label for=(name) { (label) }
                    @if choices.is_empty() {
                        input id=(name) type="text" name=(name) value=(given) autocomplete="off";
                    } @else {
                        select id=(name) name=(name) {
                            option value="" { "–" }
                            @for (value, text) in choices { option value=(value) selected[*value == given] { (text) } }
                        }
                    }
                }
            }
            button { (visit.visitor.texts.search) }
        }
    }
}

fn table<const N: usize>(texts: &Texts, name: &str, header: [&str; N], rows: impl Iterator<Item = Markup>) -> Markup {
    let mut rows = rows.peekable();
    if rows.peek().is_some() {
        page::table(name, header, rows)
    } else {
        html! { p { (texts.no_rows) } }
    }
}
