//! Actions on existing ads, through the use cases and limits of the API.

use ad_core::{
    model::{Ad, AdState, AdStatus, Exclusions, PromotionKind, RevisionEntry, StatusReport, Timestamp},
    service::{Incoming, ServiceError, Target},
};
use maud::{Markup, html};
use poem::http::StatusCode;
use serde_json::{Map, Value};
use url::form_urlencoded;
use uuid::Uuid;

use super::{
    named::{self, NamedAds},
    page::{self, NoticeKind, Section, Text},
    promotable::Promotable,
    texts::Texts,
    versions,
    visitor::{PageResult, Visit, value},
};
use crate::api::{
    ApiError,
    operations::{Act, permission_for},
};
use ad_server_access::auth::Permission;

/// Maximum number of ads of one form, as of a page of a list.
const MOST_ADS: usize = ad_parameters::MAX_LIMIT as usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AdAction {
    Retry,
    Bump,
    PolePosition,
    Show,
    Hide,
    /// Hides the ad, and deletes it after some days.
    Sold,
    /// Shows a sold ad again.
    Unsold,
    Delete,
}

impl AdAction {
    const ALL: [Self; 8] =
        [Self::Retry, Self::Bump, Self::PolePosition, Self::Show, Self::Hide, Self::Sold, Self::Unsold, Self::Delete];

    /// Those that are done with many ads.
    pub(super) const OF_MANY: [Self; 6] =
        [Self::Retry, Self::Bump, Self::PolePosition, Self::Show, Self::Hide, Self::Sold];

    /// Its name in forms; the label of its button; what it does, and what it costs.
    const fn about(self) -> (&'static str, Text, Text) {
        match self {
            Self::Retry => ("retry", |texts| texts.retry, |texts| texts.retry_does),
            Self::Bump => ("bump", |texts| texts.bump, |texts| texts.bump_does),
            Self::PolePosition => ("pole_position", |texts| texts.pole_position, |texts| texts.pole_position_does),
            Self::Show => ("show", |texts| texts.show_ad, |texts| texts.show_ad_does),
            Self::Hide => ("hide", |texts| texts.hide_ad, |texts| texts.hide_ad_does),
            Self::Sold => ("sold", |texts| texts.sold, |texts| texts.sold_does),
            Self::Unsold => ("unsold", |texts| texts.unsold, |texts| texts.unsold_does),
            Self::Delete => ("delete", |texts| texts.delete_ad, |texts| texts.delete_ad_does),
        }
    }

    pub(super) const fn name(self) -> &'static str {
        self.about().0
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }

    /// The permission that the API demands for the same.
    pub(super) fn permission(self) -> Option<Permission> {
        permission_for(match self {
            Self::Retry => Act::Retry,
            Self::Bump => Act::Bump,
            Self::PolePosition => Act::PolePosition,
            Self::Show | Self::Hide | Self::Sold | Self::Unsold => Act::Update,
            Self::Delete => Act::Delete,
        })
    }

    /// The promotion that it is, which costs money.
    const fn promotion(self) -> Option<PromotionKind> {
        match self {
            Self::Bump => Some(PromotionKind::Bump),
            Self::PolePosition => Some(PromotionKind::PolePosition),
            Self::Retry | Self::Show | Self::Hide | Self::Sold | Self::Unsold | Self::Delete => None,
        }
    }

    /// Whether it costs money or cannot be undone.
    pub(super) const fn needs_confirmation(self) -> bool {
        matches!(self, Self::Bump | Self::PolePosition | Self::Sold | Self::Delete)
    }

    pub(super) fn label(self, texts: &Texts) -> &'static str {
        self.about().1(texts)
    }

    fn consequence(self, texts: &Texts) -> &'static str {
        self.about().2(texts)
    }

    /// What was done, once that is over, and before.
    const fn told(self) -> (Text, Text) {
        match self {
            Self::Retry => (|texts| texts.done_retry, |texts| texts.soon_retry),
            Self::Bump => (|texts| texts.done_bump, |texts| texts.soon_bump),
            Self::PolePosition => (|texts| texts.done_pole_position, |texts| texts.soon_pole_position),
            Self::Show => (|texts| texts.done_show, |texts| texts.soon_show),
            Self::Hide => (|texts| texts.done_hide, |texts| texts.soon_hide),
            Self::Sold => (|texts| texts.done_sold, |texts| texts.soon_sold),
            Self::Unsold => (|texts| texts.done_unsold, |texts| texts.soon_unsold),
            Self::Delete => (|texts| texts.done_delete, |texts| texts.soon_delete),
        }
    }

    pub(super) const fn class(self) -> &'static str {
        if matches!(self, Self::Delete) { "danger" } else { "" }
    }
}

/// An ad as links and forms name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AdKey {
    pub(super) source_id: String,
    pub(super) dealer_code: Option<String>,
}

impl AdKey {
    /// The ad that a query names.
    pub(super) fn of(pairs: &[(String, String)]) -> Option<Self> {
        let value = |name| value(pairs, name).filter(|value| !value.is_empty()).map(str::to_owned);
        Some(Self { source_id: value("source_id")?, dealer_code: value("dealer_code") })
    }

    /// The same as a query: any text can be a source id.
    pub(super) fn query(source_id: &str, dealer_code: &str) -> String {
        form_urlencoded::Serializer::new(String::new())
            .append_pair("source_id", source_id)
            .append_pair("dealer_code", dealer_code)
            .finish()
    }

    pub(super) fn parse(query: &str) -> Option<Self> {
        Self::of(&form_urlencoded::parse(query.as_bytes()).into_owned().collect::<Vec<_>>())
    }

    pub(super) fn target(&self) -> Target<'_> {
        Target::from(&self.source_id).of_dealer(self.dealer_code.as_deref())
    }
}

/// Runs it on an ad, as the API would for the same caller.
async fn perform(visit: &Visit, id: Uuid, ad: &AdKey, action: AdAction) -> Result<(), ApiError> {
    let (context, scope) = (&visit.visitor.context, &visit.caller.scope);
    let (service, target, origin) = (&context.service, ad.target(), visit.origin());
    let id = Incoming { id, keep: None, origin: Some(&origin) };
    let write = async {
        match action {
            AdAction::Retry => service.retry(scope, id, target).await,
            AdAction::Bump => service.bump(scope, id, target, Exclusions::default()).await,
            AdAction::PolePosition => service.pole_position(scope, id, target).await,
            AdAction::Delete => service.delete(scope, id, target).await,
            AdAction::Show | AdAction::Hide | AdAction::Sold | AdAction::Unsold => {
                let stored = service.read_without_log(scope, target).await?.ad;
                note_sale(visit, &stored, action).await?;
                let visible = Value::Bool(matches!(action, AdAction::Show | AdAction::Unsold));
                let patch = Map::from_iter([("visible".to_owned(), visible)]);
                service.update(scope, id, stored.api_version, target, &patch).await
            }
        }
    };
    context.in_turn(scope, Some(&ad.source_id), false, Box::pin(write)).await.map(drop)
}

/// Notes that an ad is sold, or is not after all, before it is hidden or shown. One that is shown when it is due is not deleted.
async fn note_sale(visit: &Visit, ad: &Ad, action: AdAction) -> Result<(), ServiceError> {
    let console = &visit.visitor.console;
    match (action, console.sold_kept) {
        (AdAction::Sold, Some(kept)) => {
            console.database.add_sale(&ad.dealer_code, &ad.source_id, console.clock.now() + kept).await?;
        }
        (AdAction::Show | AdAction::Unsold, _) => {
            console.database.remove_sale(&ad.dealer_code, &ad.source_id).await?;
        }
        _ => {}
    }
    Ok(())
}

/// When a sold ad will be deleted; `None` if it is not sold.
pub(super) async fn sold_until(visit: &Visit, ad: &Ad) -> Result<Option<Timestamp>, ApiError> {
    if ad.content.visible() || ad.state == AdState::Deleted {
        return Ok(None);
    }
    let due = visit.visitor.console.database.sale_of(&ad.dealer_code, &ad.source_id).await;
    Ok(due.map_err(ServiceError::from)?)
}

/// Until when the sale of an ad can be undone, with the button.
pub(super) fn sale(visit: &Visit, ad: &Ad, due: Timestamp) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        div.notice role="status" {
            p { strong { (texts.is_sold) } " " (texts.is_deleted_at) " " (page::time(due)) "." }
            (button(visit, AdAction::Unsold, &ad.source_id, &ad.dealer_code, "primary"))
        }
    }
}

/// When ads that are marked as sold now will be deleted.
fn sold_kept(visit: &Visit) -> Markup {
    let (texts, console) = (visit.visitor.texts, &visit.visitor.console);
    let Some(kept) = console.sold_kept else { return html! { p { (texts.sold_stays) } } };
    let (due, days) = ((console.clock.now() + kept).to_string(), kept.as_secs() / 86_400);
    let day = due.get(..10).and_then(|day| named::date(visit.visitor.language, day)).unwrap_or(due);
    html! { p { (texts.sold_deleted_in) " " (days) " " (texts.days) ", " (texts.sold_deleted_on) " " strong { (day) } "." } }
}

/// `POST /console/act`: does `action` with each `ad`, once it is `confirmed` if that is needed. Leads back to `next`.
pub(super) async fn act(visit: Visit) -> PageResult {
    let action = visit.field("action").and_then(AdAction::from_name);
    let action = action.ok_or_else(|| ApiError::BadBody("The form has no known action.".to_owned()))?;
    act_on_ticked(visit, action).await
}

/// Does an action with each `ad` of the form.
pub(super) async fn act_on_ticked(visit: Visit, action: AdAction) -> PageResult {
    let texts = visit.visitor.texts;
    crate::api::Context::check_permission(&visit.caller, action.permission())?;
    let named = visit.form.iter().filter(|(name, _)| name == "ad").map(|(_, query)| AdKey::parse(query));
    let ads: Option<Vec<_>> = named.collect();
    let ads = ads.ok_or_else(|| ApiError::BadBody("The form names an ad without source_id.".to_owned()))?;
    if ads.len() > MOST_ADS {
        return Err(ApiError::BadBody(format!("The form names {} ads; {MOST_ADS} are allowed.", ads.len())));
    }
    if ads.is_empty() {
        let content = html! { p { (texts.nothing_selected) } (back(&visit)) };
        let content = page::notice(NoticeKind::Error, &content);
        return Ok(page::page_with_status(
            &visit,
            StatusCode::BAD_REQUEST,
            Section::Stock,
            texts.nothing_selected,
            &content,
        ));
    }
    if action.needs_confirmation() && visit.field("confirmed").is_none() {
        let content = confirmation(&visit, action, &ads).await?;
        return Ok(page::question(&visit, Section::Stock, action.label(texts), &content));
    }
    let mut refused = Vec::new();
    for (place, ad) in ads.iter().enumerate() {
        // The first action has the id of the HTTP request, so that its answer leads to it.
        let id = if place == 0 { visit.request_id } else { visit.visitor.context.ids.next() };
        if let Err(error) = perform(&visit, id, ad, action).await {
            refused.push((ad, error));
        }
    }
    if refused.is_empty() {
        let next = super::session::next(&visit.form);
        let joint = if next.contains('?') { '&' } else { '?' };
        return Ok(visit.visitor.redirect(&format!("{next}{joint}done={}", action.name())));
    }
    let content = refusals(&visit, action, ads.len() - refused.len(), &refused);
    let status = refused[0].1.default_response().status();
    Ok(page::page_with_status(&visit, status, Section::Stock, texts.not_done, &content))
}

/// Asks for confirmation, with the effect and the ads; of a promotion also with what it costs, and without the ads that cannot have it.
async fn confirmation(visit: &Visit, action: AdAction, ads: &[AdKey]) -> Result<Markup, ApiError> {
    let texts = visit.visitor.texts;
    let promotion = match action.promotion() {
        Some(kind) => Some(Promotable::read(visit, kind, ads).await?),
        None => None,
    };
    let sent: Vec<_> = match &promotion {
        Some(promotion) => promotion.sent(),
        None => visit.form.iter().filter(|(name, _)| name == "ad").map(|(_, ad)| ad.clone()).collect(),
    };
    let named = if promotion.is_some() {
        NamedAds::default()
    } else {
        let keys = ads.iter().filter_map(|ad| Some((ad.dealer_code.clone()?, ad.source_id.clone()))).collect();
        NamedAds::read(visit, keys).await?
    };
    Ok(html! {
        div.panel {
            h1 { (action.label(texts)) " (" (sent.len()) " " (if sent.len() == 1 { texts.ad_one } else { texts.ads }) ")?" }
            p.lead { (action.consequence(texts)) }
            @if action == AdAction::Sold { (sold_kept(visit)) }
            @match &promotion {
                Some(promotion) => (promotion.shown(visit)),
                None => {
                    ul.plain.selection {
                        @for ad in ads { li { (named.described(visit, ad.dealer_code.as_deref().unwrap_or_default(), &ad.source_id)) } }
                    }
                }
            }
            form.actions method="post" action=(visit.visitor.address("/act")) {
                @for ad in &sent { input type="hidden" name="ad" value=(ad); }
                input type="hidden" name="next" value=(super::session::next(&visit.form));
                input type="hidden" name="confirmed" value="yes";
                @if !sent.is_empty() { button.primary name="action" value=(action.name()) { (action.label(texts)) } }
                @if action == AdAction::Sold { button name="action" value=(AdAction::Hide.name()) { (texts.only_hide) } }
                (back(visit))
            }
        }
    })
}

fn back(visit: &Visit) -> Markup {
    let next = super::session::next(&visit.form);
    html! { a.button href=(visit.visitor.address(&next)) { (visit.visitor.texts.back) } }
}

/// The refused ads, with the reasons.
fn refusals(visit: &Visit, action: AdAction, done: usize, refused: &[(&AdKey, ApiError)]) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        h1 { (action.label(texts)) }
        @if done > 0 { (page::notice(NoticeKind::Success, &html! { p { (texts.accepted) ": " (done) } })) }
        div.notice.error role="alert" {
            h2 { (texts.refused) ": " (refused.len()) }
            ul {
                @for (ad, error) in refused {
                    li {
                        a href=(visit.visitor.address(&format!("/ad?{}", AdKey::query(&ad.source_id, ad.dealer_code.as_deref().unwrap_or_default())))) { (ad.source_id) }
                        @for text in page::why(&visit.visitor, error) { p { (text) } }
                    }
                }
            }
        }
        p { (back(visit)) }
    }
}

/// Value of the parameter `done` of an ad's page after its form was saved.
pub(super) const SAVED: &str = "saved";

/// That the action before this page, from the parameter `done`, was accepted.
pub(super) fn done(visit: &Visit) -> Markup {
    html! {
        @if let Some(action) = visit.parameter("done").and_then(AdAction::from_name) {
            (page::notice(NoticeKind::Success, &html! { p { (action.told().1(visit.visitor.texts)) " " (visit.visitor.texts.on_its_way) } }))
        }
    }
}

/// The result of the action before the page of an ad. What has failed, and what is sold, says the page itself.
pub(super) fn done_with(visit: &Visit, ad: &Ad, report: &StatusReport, versions: &[RevisionEntry]) -> Markup {
    let texts = visit.visitor.texts;
    let is_over = report.unfinished.is_empty();
    let has_failed = is_over && matches!(report.status, AdStatus::Failed | AdStatus::PartlyLive);
    let well = |content: &Markup| page::notice(NoticeKind::Success, content);
    let badly = |text: &str| html! { div.notice role="status" { p { (text) } } };
    html! {
        @match visit.parameter("done") {
            Some(SAVED) if has_failed => (badly(texts.saved_but_failing)),
            Some(SAVED) => {
                @let is_draft = !ad.content.visible() && !ad.was_listed();
                (well(&html! { p { (if is_draft { texts.saved_as_draft } else { texts.saved }) } }))
            }
            done => @match done.and_then(AdAction::from_name) {
                Some(AdAction::Retry) if has_failed => (page::notice(NoticeKind::Error, &html! { p { (texts.failed_retry) } })),
                Some(action) if action != AdAction::Sold && !has_failed => {
                    @let (done, soon) = action.told();
                    (well(&html! { p { @if is_over { (done(texts)) } @else { (soon(texts)) " " (texts.on_its_way) } } }))
                }
                _ => {}
            }
        }
        @if let Some(restored) = versions::restored(visit, ad, versions, is_over) {
            @if has_failed { (badly(texts.restore_failed)) } @else { (well(&restored)) }
        }
    }
}

pub(super) fn button(visit: &Visit, action: AdAction, source_id: &str, dealer_code: &str, class: &str) -> Markup {
    let texts = visit.visitor.texts;
    let key = AdKey::query(source_id, dealer_code);
    html! {
        @if visit.may(action.permission()) {
            form method="post" action=(visit.visitor.address("/act")) {
                input type="hidden" name="ad" value=(key);
                input type="hidden" name="next" value={ "/ad?" (key) };
                button class={ (class) " " (action.class()) } name="action" value=(action.name()) title=(action.consequence(texts)) {
                    (action.label(texts)) @if action.needs_confirmation() { "…" }
                }
            }
        }
    }
}
