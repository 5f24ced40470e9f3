//! What has happened: the limits that clients have met, and what operators have done.

use ad_core::{service::Access, violation::Code};
use maud::html;

use super::{
    super::{
        page, show,
        visitor::{PageResult, Visit},
    },
    ROWS, list_page, table,
};
use crate::api::LimitMet;
use ad_server_store::AuditEntry;

/// `GET /console/operators/limits`: the limits that clients have met lately.
pub(in crate::console) async fn limits(visit: Visit) -> PageResult {
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
        @if met.is_empty() { p { (texts.no_limits) } } @else { (table(texts, texts.limits, header, met.iter().map(row))) }
    };
    Ok(list_page(&visit, texts.limits, &html! {}, &content))
}

/// `GET /console/operators/audit`: what operators have done.
pub(in crate::console) async fn audit(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let entries = visit.visitor.console.database.audit_entries(ROWS).await?;
    let row = |it: &AuditEntry| {
        html! {
            td { (page::time(it.at)) }
            td { (it.operator) }
            td { code { (it.act) } }
            td { (it.subject) }
            td { (it.details) }
        }
    };
    let header = [texts.time, texts.operator, texts.act, texts.subject, texts.details];
    let content = html! {
        p.help { (texts.audit_lead) " " code { "ad-server audit list --limit N" } }
        (table(texts, texts.audit, header, entries.iter().map(row)))
    };
    Ok(list_page(&visit, texts.audit, &html! {}, &content))
}
