//! Dealers: the list; a dealer with what it uses of its limits; suspension.

use ad_core::ports::Scope;
use maud::{Markup, html};
use url::form_urlencoded;

use super::{
    super::{
        badges,
        page::{self, Section, Total},
        texts::Texts,
        visitor::{PageResult, Visit, value},
    },
    bad_form,
    confirm::{Question, confirmed_reason, is_confirmed},
    done, list_page, list_parameters, on_page, pages, table,
};
use ad_server_store::{Hold, HoldTarget};
use ad_server_work::operators::{DealerFacts, DealerUsage};

const PATH: &str = "/operators/dealer";

pub(in crate::console) async fn list(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let page = list_parameters(&visit)?;
    let database = &visit.visitor.console.database;
    let all = database.dealers().await?;
    let shown = on_page(&all, page);
    let codes: Vec<_> = shown.iter().map(|dealer| dealer.code.clone()).collect();
    let ads = visit.visitor.context.store.ads_by_dealer(Scope::Dealers(&codes)).await?;
    let holds = database.holds().await?;
    let rows = shown.iter().map(|dealer| {
        let is_suspended = holds.iter().any(|(held, _)| *held == HoldTarget::Dealer(dealer.code.clone()));
        html! {
            td { a href=(visit.visitor.address(&address(&dealer.code))) { (dealer.code) } }
            td { (dealer.name) @if is_suspended { " " span.badge.attention { (texts.suspended) } } }
            td { (dealer.group.as_deref().unwrap_or("–")) }
            td { (dealer.products.join(", ")) }
            td.number { (page::number(ads.get(&dealer.code).copied().unwrap_or_default())) }
        }
    });
    let header = [texts.dealer, texts.name, texts.dealer_group, texts.products, texts.ads_heading];
    let paging =
        page::paging(&visit, "/operators/dealers", &visit.query, page, shown.len(), Total::Exactly(all.len() as u64));
    let content = html! { (table(texts, texts.dealers, header, rows)) (paging) };
    Ok(list_page(&visit, texts.dealers, &html! {}, &content))
}

/// The page of a dealer.
fn address(code: &str) -> String {
    format!("{PATH}?{}", form_urlencoded::Serializer::new(String::new()).append_pair("code", code).finish())
}

/// The dealer that a query or form names; it may be one that was not imported.
fn code(pairs: &[(String, String)]) -> Result<&str, crate::api::ApiError> {
    value(pairs, "code").filter(|code| !code.is_empty()).ok_or_else(|| bad_form("no code of a dealer"))
}

/// `GET /console/operators/dealer?code=…`
pub(in crate::console) async fn one(visit: Visit) -> PageResult {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let code = code(&visit.query)?;
    let (console, store) = (&visitor.console, &*visitor.context.store);
    let facts = DealerFacts::read(&console.database, store, console.quotas, code, console.clock.now()).await?;
    let link = |path: &str| {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("dealer_code", code).finish();
        visitor.address(&format!("/operators/{path}?{query}"))
    };
    let (act, label) =
        if facts.suspended.is_some() { ("resume", texts.end_suspension) } else { ("suspend", texts.suspend) };
    let title = facts.dealer.as_ref().map_or(code, |dealer| dealer.name.as_str());
    let content = html! {
        (pages(&visit))
        (done(&visit))
        div.heading {
            div {
                p.crumbs { a href=(visitor.address("/operators/dealers")) { (texts.dealers) } }
                h1 { (title) }
            }
            div.actions {
                a.button href=(link("ads")) { (texts.failed_ads) }
                a.button href=(link("queue")) { (texts.queue) }
                a.button href=(link("tokens")) { (texts.tokens) " (" (facts.tokens) ")" }
                form method="post" action=(visitor.address(PATH)) {
                    input type="hidden" name="code" value=(code);
                    button name="do" value=(act) { (label) "…" }
                }
                a.button.danger href=(link("erase")) { (texts.erase) "…" }
            }
        }
        section.panel #dealer data-live {
            dl {
                dt { (texts.code) } dd { code { (code) } }
                dt { (texts.status) } dd { (state(texts, facts.suspended.as_ref())) }
                @if let Some(dealer) = &facts.dealer {
                    dt { (texts.dealer_group) } dd { (dealer.group.as_deref().unwrap_or("–")) }
                    dt { (texts.products) } dd { (dealer.products.join(", ")) }
                } @else {
                    dt { (texts.name) } dd { (texts.not_imported) }
                }
            }
            h2 { (texts.ads_by_status) }
            @if facts.ads.is_empty() { p { (texts.no_ads_found) } }
            ul.row.plain { @for (status, ads) in &facts.ads { li { (badges::ad_status(texts, *status)) " " (page::number(*ads)) } } }
        }
        section.panel #limits data-live { h2 { (texts.limits_of_dealer) } (limits(texts, &facts.limits)) }
    };
    Ok(page::page(&visit, Section::Operators, title, &content))
}

fn state(texts: &Texts, suspended: Option<&Hold>) -> Markup {
    html! {
        @match suspended {
            Some(Hold { since, reason }) => {
                span.badge.attention { (texts.suspended) } " " (texts.since) " " (page::time(*since)) ": " (reason)
            }
            None => span.badge.well { (texts.active) },
        }
    }
}

fn limits(texts: &Texts, limits: &[DealerUsage]) -> Markup {
    let name = |setting: &str| match setting {
        "dealer_requests" => texts.unfinished,
        "dealer_ads" => texts.ads_not_deleted,
        "dealer_image_bytes" => texts.image_bytes,
        "dealer_idempotency_bytes" => texts.idempotency_bytes,
        _ => texts.idempotency_keys,
    };
    let row = |it: &DealerUsage| {
        html! {
            td { (name(it.setting)) }
            td.number { (page::number(it.number)) }
            td.number { @match it.limit { Some(limit) => (page::number(limit)), None => (texts.no_limit) } }
            td { code { (it.setting) } }
        }
    };
    table(texts, texts.limits_of_dealer, [texts.uses, texts.number, texts.limit, texts.setting], limits.iter().map(row))
}

/// `POST /console/operators/dealer`: suspends a dealer or ends that, once it is confirmed.
pub(in crate::console) async fn change(visit: Visit) -> PageResult {
    let (texts, code) = (visit.visitor.texts, code(&visit.form)?);
    let question = |act: &str, button: &'static str, consequence: &'static str| {
        Question {
            path: PATH,
            title: format!("{button}: {code}"),
            button,
            consequence: html! { (consequence) },
            hidden: &[("code", code), ("do", act)],
            asks_reason: act == "suspend",
            back: address(code),
        }
        .page(&visit)
    };
    match visit.field("do") {
        Some("suspend") => match confirmed_reason(&visit) {
            None => return Ok(question("suspend", texts.suspend, texts.suspend_does)),
            Some(reason) => super::operator(&visit).suspend(code, reason).await?,
        },
        Some("resume") if !is_confirmed(&visit) => {
            return Ok(question("resume", texts.end_suspension, texts.end_suspension_does));
        }
        // Another operator may have ended it meanwhile.
        Some("resume") => drop(super::operator(&visit).end_suspension(code).await?),
        _ => return Err(bad_form("no known action")),
    }
    Ok(visit.visitor.redirect(&format!("{}&done=dealer", address(code))))
}
