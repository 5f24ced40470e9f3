//! What developers need: facts about the token, a first request to copy, the failures of a sandbox, and links to the documents.

use std::sync::Arc;

use ad_core::model::Dealer;
use maud::{Markup, html};

use super::{
    page::{self, Section},
    texts::Texts,
    visitor::{PageResult, Visit},
};
use crate::{
    api::first_request,
    sandbox::failures::{API, IMAGES, MARKETPLACES, SandboxFailure},
};
use ad_server_access::auth::Permission;

pub(super) async fn page(visit: Visit) -> PageResult {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let root = visitor.service_root();
    let link = |path: &str, name: &str| html! { li { a href=(format!("{root}{path}")) { (name) } } };
    let content = html! {
        h1 { (texts.developers) }
        div.columns {
            section.panel { h2 { (texts.token) } (token(&visit).await?) }
            section.panel {
                h2 { (texts.documents) }
                ul {
                    (link("/docs/swagger-ui/", "Swagger UI"))
                    (link("/docs/redoc/", "Redoc"))
                    (link("/docs/errors/", texts.error_codes))
                    (link("/openapi.json", "OpenAPI 3.0"))
                    (link("/openapi-3.1.json", "OpenAPI 3.1"))
                    (link("/docs/changelog", texts.changelog))
                }
            }
            section.panel.wide {
                h2 { (texts.first_request) }
                p { (texts.first_request_lead) }
                pre tabindex="0" { code {
                    "export AD_URL=" (visitor.base) " AD_TOKEN=…\n\n"
                    (first_request(visitor.context.service.rulebook()))
                } }
                @if visit.may(Permission::Write) {
                    p.apart { a.button href=(visitor.address("/paste")) { (texts.paste) } " " span.help { (texts.paste_lead) } }
                }
            }
            @if visitor.context.faults.is_some() {
                section.panel.wide {
                    h2 { (texts.sandbox) }
                    p { (texts.sandbox_lead) }
                    @for rows in [API, MARKETPLACES, IMAGES] { (failures(texts, rows)) }
                }
            }
        }
    };
    Ok(page::page(&visit, Section::Developers, texts.developers, &content))
}

/// The facts that `GET /v4/me` answers.
async fn token(visit: &Visit) -> Result<Markup, crate::api::ApiError> {
    let texts = visit.visitor.texts;
    let (caller, limits) = (&visit.caller, &visit.visitor.context.limits);
    let dealers = {
        // Ads are counted, as for a list.
        let mut turn = limits.lists.turn(caller.scope.name()).await?;
        let dealers = visit.visitor.context.service.dealers(&caller.scope).await?;
        turn.has_read();
        dealers
    };
    let row = |(dealer, ads): &(Arc<Dealer>, u64)| {
        html! {
            td { code { (dealer.code) } }
            td { (dealer.name) }
            td { (dealer.products.join(", ")) }
            td.number { (page::number(*ads)) }
        }
    };
    Ok(html! {
        dl {
            dt { code { (caller.scope.claim()) } } dd { (caller.scope.name()) }
            @if let Some(label) = &caller.label { dt { (texts.label) } dd { (label) } }
            dt { (texts.token_id) } dd { code { (caller.jti) } }
            dt { (texts.permissions) } dd { @for permission in caller.permissions.iter() { code { (permission) } " " } }
            @if let Some(at) = caller.issued { dt { (texts.issued) } dd { (page::time(at)) } }
            @if let Some(rate) = &limits.rate { dt { (texts.rate_limit) } dd { (rate.rate()) } }
        }
        h3 { (texts.dealers) }
        (page::table(texts.dealers, [texts.dealer, texts.name, texts.products, texts.ads_heading], dealers.iter().map(row)))
    })
}

fn failures(texts: &Texts, rows: &[SandboxFailure]) -> Markup {
    let name = format!("{}: {}", texts.sandbox, rows[0].trigger);
    let row = |it: &SandboxFailure| html! { td { code { (it.trigger) } } td { (it.effect) } td { (it.cure) } };
    page::table(&name, [texts.trigger, texts.effect, texts.what_to_do], rows.iter().map(row))
}
