//! What an ad said before: the links of the timeline, the page of a version, and back to it, once it is known what that changes.

use std::collections::BTreeSet;

use ad_core::{
    model::{Ad, AskedBy, PastAd, RevisionEntry, Timestamp, Via},
    revisions::changes,
    service::{Incoming, ServiceError},
};
use maud::{Markup, html};
use serde_json::Value;

use super::{
    act::AdKey,
    form::field_path,
    page::{self, NoticeKind, Section},
    preview, show,
    texts::Texts,
    timeline,
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
            (None, Some(_)) => { " " (texts.with_token) }
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
        @if !is_present {
            div.actions {
                a href=(address) { (texts.as_it_was) }
                (restore_button(visit, ad, entry.revision))
            }
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
                button name="do" value="restore" { (visit.visitor.texts.restore_version) "…" }
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
    let json = serde_json::to_string_pretty(&ad.view(None).of_revision(*revision)).unwrap_or_default();
    let main = html! {
        div.heading {
            div {
                p.crumbs { a href=(of_ad(&visit, ad)) { (show::title(ad)) } }
                h1 { (texts.version_of) " " (page::time(ad.updated)) }
            }
            @if *revision != present { div.actions { (restore_button(&visit, ad, *revision)) } }
        }
        (preview::section(&visit, ad))
        details.panel { summary { (texts.technical) } p { (texts.revision) " " (revision) } pre tabindex="0" { code { (json) } } }
    };
    Ok(page::page(&visit, Section::Stock, show::title(ad), &main))
}

fn of_ad(visit: &Visit, ad: &Ad) -> String {
    visit.visitor.address(&format!("/ad?{}", AdKey::query(&ad.source_id, &ad.dealer_code)))
}

/// `POST /console/ad/version?…`: shows what would change, and restores the version once that is `confirmed`.
pub(super) async fn restore(visit: Visit) -> PageResult {
    let (key, revision) = asked_for(&visit)?;
    let (context, scope) = (&visit.visitor.context, &visit.caller.scope);
    if visit.field("confirmed").is_none() {
        let past = context.service.revision(scope, key.target(), revision).await?;
        let present = context.service.read_without_log(scope, key.target()).await?.ad;
        let question = question(&visit, &present, &past);
        return Ok(page::question(&visit, Section::Stock, visit.visitor.texts.restore_version, &question));
    }
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

/// What restoring a version would change, and whether it is to be done.
fn question(visit: &Visit, present: &Ad, PastAd { ad: past, revision }: &PastAd) -> Markup {
    let texts = visit.visitor.texts;
    let path = |pointer: &str| pointer.trim_start_matches('/').replace('/', ".");
    let changed = changes(&present.content, &past.content).into_iter().map(|change| path(&change.pointer));
    let field = |path: String| present.category().map_or_else(|| path.clone(), |category| field_path(category, &path));
    let changed: BTreeSet<String> = changed.map(field).collect();
    let said = |of: &Ad, path: &str| {
        let value = of.content.get(path).filter(|value| !value.is_null())?;
        Some(show::value(visit, Some(of), None, path, value))
    };
    let in_table = changed.iter().filter(|path| *path != "image_urls");
    let rows: Vec<_> = in_table.map(|path| (path.as_str(), [said(present, path), said(past, path)])).collect();
    let photos = |of: &Ad| of.content.get("image_urls").cloned().unwrap_or(Value::Null);
    let warning = match (present.content.visible(), past.content.visible()) {
        (true, false) => Some(texts.restore_hides),
        (false, true) => Some(texts.restore_shows),
        _ => None,
    };
    html! {
        div.panel {
            p.crumbs { a href=(of_ad(visit, present)) { (show::title(present)) } }
            h1 { (texts.restore_question) " " (page::time(past.updated)) "?" }
            @if let Some(warning) = warning { (page::notice(NoticeKind::Error, &html! { p { strong { (warning) } } })) }
            @if changed.is_empty() {
                p.lead { (texts.restore_nothing) }
            } @else {
                p.lead { (texts.restore_does) }
                @if !rows.is_empty() { (timeline::before_and_after(visit, &rows)) }
                @if changed.contains("image_urls") { (timeline::photos_compared(visit, present, &photos(present), &photos(past))) }
            }
            form.actions method="post" action=(visit.visitor.address(&format!("/ad/version?{}", query(present, *revision)))) {
                @if !changed.is_empty() { button.primary name="confirmed" value="yes" { (texts.restore_version) } }
                a.button href=(of_ad(visit, present)) { (texts.back) }
            }
        }
    }
}

/// That the version of the parameter `restored` was restored, with when it was made and the price that applies again.
pub(super) fn restored(visit: &Visit, ad: &Ad, versions: &[RevisionEntry], is_over: bool) -> Option<Markup> {
    let texts = visit.visitor.texts;
    let revision: i64 = visit.parameter("restored")?.parse().ok()?;
    let made: Option<Timestamp> = versions.iter().find(|version| version.revision == revision)?.created;
    Some(html! {
        p {
            (texts.restored_version) " " @match made { Some(made) => (page::time(made)), None => (texts.start_of_ad) } " "
            (if is_over { texts.is_restored } else { texts.is_being_restored }) " " (show::price(texts, &ad.content))
        }
    })
}
