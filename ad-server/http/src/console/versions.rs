//! What an ad said before: the links of the timeline, the page of a version, and back to it.

use ad_core::{
    model::{Ad, AskedBy, PastAd, RevisionEntry, Via},
    service::{Incoming, ServiceError},
};
use maud::{Markup, html};

use super::{
    act::AdKey,
    page::{self, Section},
    preview, show,
    texts::Texts,
    visitor::{PageResult, Visit},
};
use crate::api::{
    ApiError,
    operations::{Act, permission_for},
};

/// Who made a revision, and through what.
pub(super) fn made_by(
    texts: &Texts,
    RevisionEntry { asked_by: AskedBy { token, label }, via, .. }: &RevisionEntry,
) -> Markup {
    let via = via.map(|via| match via {
        Via::Api => texts.via_api,
        Via::Console => texts.via_console,
        Via::CommandLine => texts.via_command_line,
    });
    html! {
        @match (label, token) {
            (Some(label), _) => { " " (texts.by) " " strong { (label) } }
            (None, Some(token)) => { " " (texts.by) " " strong title=(token) { (texts.token) } }
            (None, None) => {}
        }
        @if let Some(via) = via { " " (via) }
    }
}

/// The links to a version, and back to it.
pub(super) fn links(visit: &Visit, ad: &Ad, entry: &RevisionEntry, is_present: bool) -> Markup {
    let texts = visit.visitor.texts;
    let address = visit.visitor.address(&format!("/ad/version?{}", query(ad, entry.revision)));
    html! {
        div.actions {
            a href=(address) { (texts.version) " " (entry.revision) }
            @if !is_present { (restore_button(visit, ad, entry.revision)) }
        }
    }
}

fn query(ad: &Ad, revision: i64) -> String {
    format!("{}&revision={revision}", AdKey::query(&ad.source_id, &ad.dealer_code))
}

fn restore_button(visit: &Visit, ad: &Ad, revision: i64) -> Markup {
    html! {
        @if visit.may(permission_for(Act::Restore)) {
            form method="post" action=(visit.visitor.address(&format!("/ad/version?{}", query(ad, revision)))) {
                button { (visit.visitor.texts.restore_version) }
            }
        }
    }
}

fn asked_for(visit: &Visit) -> Result<(AdKey, i64), ApiError> {
    let revision = visit.parameter("revision").and_then(|number| number.parse().ok());
    Ok(AdKey::of(&visit.query).zip(revision).ok_or(ServiceError::NotFound)?)
}

/// `GET /console/ad/version?source_id=…&dealer_code=…&revision=…`.
pub(super) async fn page(visit: Visit) -> PageResult {
    let (key, revision) = asked_for(&visit)?;
    let past = visit.visitor.context.service.revision(&visit.caller.scope, key.target(), revision).await?;
    let PastAd { ad, revision } = &past;
    let present = visit.visitor.context.service.read_without_log(&visit.caller.scope, key.target()).await?.tag.revision;
    let texts = visit.visitor.texts;
    let back = visit.visitor.address(&format!("/ad?{}", AdKey::query(&ad.source_id, &ad.dealer_code)));
    let json = serde_json::to_string_pretty(&ad.view(None).of_revision(*revision)).unwrap_or_default();
    let main = html! {
        div.heading {
            div {
                p.crumbs { a href=(back) { (show::title(ad)) } }
                h1 { (texts.version) " " (revision) }
                p.faint { (texts.since) " " (page::time(ad.updated)) }
            }
            @if *revision != present { div.actions { (restore_button(&visit, ad, *revision)) } }
        }
        (preview::section(&visit, ad))
        details.panel { summary { (texts.payload) } pre tabindex="0" { code { (json) } } }
    };
    Ok(page::page(&visit, Section::Stock, texts.version, &main))
}

/// `POST /console/ad/version?…`: restores it.
pub(super) async fn restore(visit: Visit) -> PageResult {
    let (key, revision) = asked_for(&visit)?;
    let (context, scope) = (&visit.visitor.context, &visit.caller.scope);
    let origin = visit.origin();
    let incoming = Incoming { id: visit.request_id, keep: None, origin: Some(&origin) };
    let restore = async {
        let version = context.service.read_without_log(scope, key.target()).await?.ad.api_version;
        context.service.restore(scope, incoming, version, key.target(), revision).await
    };
    let accepted = context.in_turn(scope, Some(&key.source_id), false, Box::pin(restore)).await?;
    let ad = AdKey::query(&accepted.ad.source_id, &accepted.ad.dealer_code);
    Ok(visit.visitor.redirect(&format!("/ad?{ad}&restored={revision}")))
}

/// The version that was restored, from the parameter `restored`.
pub(super) fn restored(visit: &Visit) -> Option<String> {
    let texts = visit.visitor.texts;
    let revision: i64 = visit.parameter("restored")?.parse().ok()?;
    Some(format!("{} {revision}", texts.version))
}
