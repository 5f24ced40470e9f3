//! Before a hidden ad is published: what buyers will see, what is missing, and the button.

use ad_core::{
    categories::Heading,
    model::{Ad, AdState},
    service::ServiceError,
};
use maud::{Markup, html};
use poem::Response;

use super::{
    act::{self, AdAction, AdKey},
    form_links,
    page::{self, Section},
    preview, quality, show,
    visitor::{PageResult, Visit},
};
use ad_server_access::auth::Permission;

/// `GET /console/ad/publish?source_id=…&dealer_code=…`.
pub(super) async fn page(visit: Visit) -> PageResult {
    let (context, scope, texts) = (&visit.visitor.context, &visit.caller.scope, visit.visitor.texts);
    let key = AdKey::of(&visit.query).ok_or(ServiceError::NotFound)?;
    let shown = context.service.read_without_log(scope, key.target()).await?;
    let ad = &shown.ad;
    if ad.state == AdState::Deleted || ad.content.visible() {
        return Ok(to_ad(&visit, ad));
    }
    let quality = context.service.quality_among_ads(ad, &shown.failed_images).await?;
    let missing = missing(&visit, ad);
    let main = html! {
        div.heading { h1 { (texts.publish) ": " (show::title(ad)) } }
        div.columns {
            div { (preview::section(&visit, ad)) }
            div {
                section.panel aria-labelledby="missing-heading" {
                    @if missing.is_empty() {
                        h2 #missing-heading { (texts.nothing_missing) }
                    } @else {
                        h2 #missing-heading { (texts.missing) }
                        ul { @for text in &missing { li { strong { (text) } } } }
                        p { (texts.publish_anyway) }
                    }
                    p { (texts.publish_does) }
                    div.actions {
                        (act::button(&visit, AdAction::Show, &ad.source_id, &ad.dealer_code, if missing.is_empty() { "primary" } else { "" }))
                        (form_links::to_form(&visit, ad))
                        a.button href=(visit.visitor.address(&format!("/ad?{}", AdKey::query(&ad.source_id, &ad.dealer_code)))) { (texts.not_yet) }
                    }
                }
                div.panel { (quality::section(&visit, &quality)) }
            }
        }
    };
    Ok(page::page(&visit, Section::Stock, texts.publish, &main))
}

/// The link to this page from others, for a hidden ad.
pub(super) fn link(visit: &Visit, ad: &Ad) -> Markup {
    let address = || visit.visitor.address(&format!("/ad/publish?{}", AdKey::query(&ad.source_id, &ad.dealer_code)));
    html! {
        @if visit.may(Permission::Write) && ad.state == AdState::Created && !ad.content.visible() {
            a.button.primary href=(address()) { (visit.visitor.texts.publish) "…" }
        }
    }
}

fn to_ad(visit: &Visit, ad: &Ad) -> Response {
    visit.visitor.redirect(&format!("/ad?{}", AdKey::query(&ad.source_id, &ad.dealer_code)))
}

/// What buyers look for first and the ad lacks.
fn missing(visit: &Visit, ad: &Ad) -> Vec<&'static str> {
    let texts = visit.visitor.texts;
    let has_brand = ad.content.text("category_fields.brand").is_some_and(|brand| !brand.is_empty());
    let needs_brand = ad.category().is_some_and(|category| category.heading == Heading::Forbidden);
    [
        (ad.content.image_urls().next().is_none(), texts.missing_photos),
        (show::prices(&ad.content).is_empty(), texts.missing_price),
        (needs_brand && !has_brand, texts.missing_brand),
        (ad.content.text("body").is_none_or(|body| body.trim().is_empty()), texts.missing_text),
    ]
    .into_iter()
    .filter_map(|(is_missing, text)| is_missing.then_some(text))
    .collect()
}
