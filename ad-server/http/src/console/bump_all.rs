//! A bump of all ads that match, up to some thousands: what it costs, and then a schedule that runs once. Its page shows how far it is and
//! what has become of each ad.

use ad_core::{
    model::{Amount, MOST_AT_ONCE, Promotion, PromotionKind, PromotionPreview},
    service::{Access, PromotionError, ServiceError},
};
use maud::{Markup, html};
use serde_json::{Map, Number, Value};
use url::form_urlencoded;

use super::{
    named::{NamedAds, money},
    page::{self, NoticeKind, Section, number},
    schedules::{self, api},
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;

/// Shows what a bump of the ads of `matching` costs or, when it is `confirmed`, orders it.
pub(super) async fn run(visit: Visit, matching: &str) -> PageResult {
    let texts = visit.visitor.texts;
    let (scope, origin) = (&visit.caller.scope, visit.origin());
    let pairs: Vec<_> = form_urlencoded::parse(matching.as_bytes()).into_owned().collect();
    let Some(dealer) = dealer_of(&visit, &pairs) else {
        return Err(ApiError::BadBody(texts.one_dealer_at_a_time.to_owned()));
    };
    let mut body = body(&pairs, dealer, visit.caller.scope != Access::Operator);
    let promotions = &api(&visit)?.promotions;
    if visit.field("confirmed").is_some() {
        // Never more ads, and never more money, than what was shown.
        let count = visit.field("count").and_then(|count| count.parse::<u32>().ok()).unwrap_or(1);
        body.insert("most_per_run".to_owned(), count.into());
        let sum = visit.field("sum").and_then(|sum| sum.parse::<Amount>().ok());
        let sum = sum.and_then(|sum| sum.to_string().parse::<Number>().ok());
        body.extend(sum.map(|sum| ("budget".to_owned(), Value::Number(sum))));
        let made = promotions.create_once(scope, &body, &origin).await.map_err(wrong_query)?;
        api(&visit)?.due.notify_one();
        return Ok(visit.visitor.redirect(&format!("/schedule?id={}&done=ordered", made.id)));
    }
    let (planned, preview) = promotions.preview_once(scope, &body, &origin).await.map_err(wrong_query)?;
    let names = schedules::names_of_preview(&visit, &planned.dealer_code, &preview).await?;
    let content = shown(&visit, matching, &planned, &preview, &names).await?;
    Ok(page::question(&visit, Section::Stock, texts.bump_all, &content))
}

/// What is wrong with the filters is wrong with the query of the stock.
fn wrong_query(error: PromotionError) -> ApiError {
    match error {
        PromotionError::Service(ServiceError::Invalid(errors)) => ServiceError::InvalidQuery(errors).into(),
        other => other.into(),
    }
}

/// The dealer whose ads they are: the one of the scope or of the filters.
fn dealer_of(visit: &Visit, pairs: &[(String, String)]) -> Option<String> {
    let named = pairs.iter().find(|(name, _)| name == "dealer_code").map(|(_, code)| code.clone());
    match &visit.caller.scope {
        Access::Dealer(code) => Some(code.clone()),
        scope => named.or_else(|| match &visit.visitor.context.service.dealers_in(scope)[..] {
            [one] => Some(one.code.clone()),
            _ => None,
        }),
    }
}

/// The schedule as the API takes it.
fn body(pairs: &[(String, String)], dealer_code: String, names_dealer: bool) -> Map<String, Value> {
    let is_filter = |name: &str| !["limit", "offset", "ordering", "view", "done"].contains(&name);
    let pairs = pairs.iter().filter(|(name, value)| is_filter(name) && !value.is_empty());
    let mut select: Map<_, _> = pairs.map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    if !select.contains_key("state") && !select.contains_key("status") {
        select.insert("state".to_owned(), "created".into());
    }
    let mut body = Map::from_iter([
        ("kind".to_owned(), PromotionKind::Bump.name().into()),
        ("select".to_owned(), select.into()),
        ("most_per_run".to_owned(), MOST_AT_ONCE.into()),
    ]);
    if names_dealer {
        body.insert("dealer_code".to_owned(), dealer_code.into());
    }
    body
}

async fn shown(
    visit: &Visit,
    matching: &str,
    planned: &Promotion,
    preview: &PromotionPreview,
    names: &NamedAds,
) -> Result<Markup, ApiError> {
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    let count = preview.promoted.len();
    let left = visit.visitor.context.service.account(&planned.dealer_code).await?.budget.left;
    Ok(html! {
        div.heading {
            div {
                p.crumbs { a href=(visit.visitor.address("/stock")) { (texts.stock) } }
                h1 { (texts.bump_all) " (" (number(count as u64)) " " (if count == 1 { texts.ad_one } else { texts.ads }) ")?" }
            }
        }
        p.lead { (texts.bump_all_does) }
        @if let Some(left) = left { p { (money(language, left, &preview.currency)) " " (texts.left_this_month) "." } }
        @if count + preview.skipped.len() >= MOST_AT_ONCE as usize {
            p { strong { (texts.at_most) " " (number(MOST_AT_ONCE.into())) } " " (texts.bump_all_most) }
        }
        @if count == 0 { (page::notice(NoticeKind::Error, &html! { p { (texts.nothing_to_promote) } })) }
        (schedules::previewed(visit, planned, preview, names))
        form.actions method="post" action=(visit.visitor.address("/bulk")) {
            input type="hidden" name="change" value="bump";
            input type="hidden" name="matching" value=(matching);
            input type="hidden" name="count" value=(count);
            @if let Some(sum) = preview.cost { input type="hidden" name="sum" value=(sum.to_string()); }
            @if count > 0 { button.primary name="confirmed" value="yes" { (texts.bump_all_now) } }
            a.button href=(visit.visitor.address(&format!("/stock?{matching}"))) { (texts.back) }
        }
    })
}
