//! Records of tokens; the tokens themselves are not stored. Revocation.

use ad_core::model::Timestamp;
use maud::{Markup, html};

use super::{
    super::{
        page::{self, Total},
        visitor::{PageResult, Visit},
    },
    Filter, bad_form,
    confirm::{Question, is_confirmed},
    done, filter_form, list_page, list_parameters, on_page, table,
};
use ad_server_access::auth;
use ad_server_store::TokenRecord;

const PATH: &str = "/operators/tokens";

pub(in crate::console) async fn list(visit: Visit) -> PageResult {
    let (texts, now) = (visit.visitor.texts, visit.visitor.console.clock.now());
    let page = list_parameters(&visit)?;
    let dealer = visit.parameter("dealer_code").filter(|code| !code.is_empty());
    let mut all = visit.visitor.console.database.tokens().await?;
    all.retain(|token| dealer.is_none_or(|code| token.is_of(code)));
    // The newest first.
    all.reverse();
    let shown = on_page(&all, page);
    let rows = shown.iter().map(|token| row(&visit, token, now));
    let header = [
        texts.label,
        texts.scope,
        texts.permissions,
        texts.issued,
        texts.expires,
        texts.last_used,
        texts.status,
        texts.token_id,
    ];
    let paging = page::paging(&visit, PATH, &visit.query, page, shown.len(), Total::Exactly(all.len() as u64));
    let content = html! { (done(&visit)) (table(texts, texts.tokens, header, rows)) (paging) };
    let filter = filter_form(&visit, PATH, &[Filter::text("dealer_code", texts.dealer)]);
    Ok(list_page(&visit, texts.tokens, &filter, &content))
}

fn row(visit: &Visit, token: &TokenRecord, now: Timestamp) -> Markup {
    let texts = visit.visitor.texts;
    let (kind, state) = match (token.revoked, token.expires) {
        (Some(_), _) => ("failure", texts.revoked),
        (None, Some(end)) if end <= now => ("at-rest", texts.expired),
        (None, _) => ("well", texts.valid),
    };
    html! {
        td { (token.label.as_deref().unwrap_or("–")) }
        td { (token.scope_type.as_deref().unwrap_or("–")) " " (token.scope.as_deref().unwrap_or_default()) }
        td { @match &token.permissions { Some(names) => (names.join(", ")), None => (texts.all) } }
        td { (page::maybe_time(token.issued)) @if let Some(by) = &token.issued_by { " " span.faint { (by) } } }
        td { (page::maybe_time(token.expires)) }
        td { (page::maybe_time(token.last_used)) }
        td {
            span class={ "badge " (kind) } { (state) }
            @if state == texts.valid {
                form method="post" action=(visit.visitor.address(PATH)) {
                    input type="hidden" name="jti" value=(token.jti);
                    button.quiet aria-label={ (texts.revoke) ": " (token.jti) } { (texts.revoke) "…" }
                }
            }
        }
        td { code { (token.jti) } }
    }
}

/// `POST /console/operators/tokens`: revokes a token, once that is confirmed.
pub(in crate::console) async fn revoke(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let jti = visit.field("jti").filter(|jti| auth::is_jti(jti)).ok_or_else(|| bad_form("no id of a token"))?;
    if !is_confirmed(&visit) {
        let question = Question {
            path: PATH,
            title: format!("{}: {jti}", texts.revoke),
            button: texts.revoke,
            consequence: html! {
                (texts.revoke_does)
                @if jti == visit.caller.jti { " " strong { (texts.revoke_own) } }
            },
            hidden: &[("jti", jti)],
            asks_reason: false,
            back: PATH.to_owned(),
        };
        return Ok(question.page(&visit));
    }
    super::operator(&visit).revoke(jti, "").await?;
    Ok(visit.visitor.redirect("/operators/tokens?done=token"))
}
