//! Ads of all dealers by status, and retries of many of them.

use ad_core::{
    model::{AdStatus, Market},
    status,
    violation::Code,
};
use maud::html;
use url::form_urlencoded;

use super::{
    super::{
        badges,
        page::{self, NoticeKind},
        visitor::{PageResult, Visit, value},
    },
    Filter, ROWS,
    confirm::{Question, is_confirmed},
    filter_form, list_page, table,
};
use crate::api::ApiError;
use ad_server_store::{AdByStatus, StatusFilter};
use ad_server_work::operators::{RetryResult, retry_all};

const PATH: &str = "/operators/ads";

/// Query parameters of the filter.
const PARAMETERS: [&str; 4] = ["dealer_code", "status", "code", "marketplace"];

/// Maximum number of ads that one form retries: more would take too long for a page.
const MOST_RETRIES: u32 = 500;

/// The filter of a query or form.
fn filter(pairs: &[(String, String)]) -> Result<StatusFilter, ApiError> {
    let text = |name: &str| value(pairs, name).filter(|value| !value.is_empty());
    let wrong = |name: &str| ApiError::not_found(format!("There is no {name} \"{}\".", text(name).unwrap_or_default()));
    let statuses = match text("status") {
        Some(name) => vec![AdStatus::from_name(name).ok_or_else(|| wrong("status"))?],
        // By default, the ads that need attention.
        None => vec![AdStatus::Failed, AdStatus::PartlyLive, AdStatus::Waiting],
    };
    let code = text("code").map(Code::from_name);
    if code == Some(Code::Unknown) {
        return Err(wrong("code"));
    }
    let market = text("marketplace").map(|name| Market::from_name(name).ok_or_else(|| wrong("marketplace")));
    let dealer_code = text("dealer_code").map(str::to_owned);
    Ok(StatusFilter { statuses, dealer_code, code, not_live_on: market.transpose()?, since_before: None })
}

/// The filter as the parameters that were given.
fn given(pairs: &[(String, String)]) -> Vec<(&'static str, &str)> {
    let given = PARAMETERS.into_iter().filter_map(|name| Some((name, value(pairs, name)?)));
    given.filter(|(_, value)| !value.is_empty()).collect()
}

pub(in crate::console) async fn list(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let filter = filter(&visit.query)?;
    let found = visit.visitor.console.database.ads_by_status(&filter, None, ROWS).await?;
    let row = |it: &AdByStatus| {
        html! {
            td { (it.dealer_code) }
            td { (it.source_id) }
            td { (badges::ad_status(texts, it.status)) }
            td { (page::time(it.since)) }
            td { @if let Some(code) = it.code { code { (code.name()) } " " (texts.failure(code)) } }
        }
    };
    let header = [texts.dealer, texts.ad, texts.status, texts.since, texts.code];
    let statuses = AdStatus::NAMES.iter().filter_map(|name| Some((*name, texts.ad_status(AdStatus::from_name(name)?))));
    let codes = status::codes().map(|code| (code.name(), texts.failure(code)));
    let markets = [Market::Primary, Market::Secondary].map(|market| (market.name(), texts.market(market)));
    let filters = [
        Filter::text("dealer_code", texts.dealer),
        Filter { name: "status", label: texts.status, choices: statuses.collect() },
        Filter { name: "code", label: texts.reason, choices: codes.collect() },
        Filter { name: "marketplace", label: texts.not_live_on, choices: markets.to_vec() },
    ];
    let form = filter_form(&visit, PATH, &filters);
    let content = html! {
        (done(&visit))
        (table(texts, texts.failed_ads, header, found.iter().map(row)))
        @if found.len() == ROWS as usize { p.help { (texts.first_rows) " " (ROWS) ". " (texts.narrow_filter) } }
        @if !found.is_empty() {
            form.actions method="post" action=(visit.visitor.address(PATH)) {
                @for (name, value) in given(&visit.query) { input type="hidden" name=(name) value=(value); }
                button.primary { (texts.retry_matching) "…" }
            }
        }
    };
    Ok(list_page(&visit, texts.failed_ads, &form, &content))
}

/// The results of the retries before this page.
fn done(visit: &Visit) -> maud::Markup {
    let texts = visit.visitor.texts;
    let number = |name: &str| visit.parameter(name).and_then(|number| number.parse::<u64>().ok());
    html! {
        @if let Some(accepted) = number("accepted") {
            (page::notice(NoticeKind::Success, &html! {
                p {
                    strong { (texts.retried) ": " (page::number(accepted)) } ". "
                    (texts.retried_already) ": " (page::number(number("under_way").unwrap_or_default())) ". "
                    (texts.not_retried) ": " (page::number(number("refused").unwrap_or_default())) "."
                }
                @if accepted >= u64::from(MOST_RETRIES) { p { (texts.retry_more) } }
            }))
        }
    }
}

/// `POST /console/operators/ads`: retries the first ads that match the filter, once that is confirmed.
pub(in crate::console) async fn retry(visit: Visit) -> PageResult {
    let (texts, context) = (visit.visitor.texts, &visit.visitor.context);
    let (filter, given) = (filter(&visit.form)?, given(&visit.form));
    let back = |counts: &[(&str, String)]| {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&given).extend_pairs(counts).finish();
        format!("{PATH}?{query}")
    };
    let ads = visit.visitor.console.database.ads_by_status(&filter, None, MOST_RETRIES).await?;
    if !is_confirmed(&visit) {
        let shown = given.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
        let question = Question {
            path: PATH,
            title: format!("{} ({})", texts.retry_matching, page::number(ads.len() as u64)),
            button: texts.retry,
            consequence: html! {
                (texts.retry_does) " " (texts.most_retries) " " (MOST_RETRIES) "."
                @if !shown.is_empty() { br; code { (shown) } }
            },
            hidden: &given,
            asks_reason: false,
            back: back(&[]),
        };
        return Ok(question.page(&visit));
    }
    let dealer = filter.dealer_code.as_deref().unwrap_or_default();
    super::operator(&visit).record("ads retry", dealer, &filter.to_string()).await?;
    let mut retried = RetryResult::default();
    retry_all(&context.service, &*context.ids, &ads, &mut retried).await?;
    let counts = [("accepted", retried.accepted), ("under_way", retried.under_way), ("refused", retried.refused)];
    Ok(visit.visitor.redirect(&back(&counts.map(|(name, number)| (name, number.to_string())))))
}
