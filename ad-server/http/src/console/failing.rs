//! All ads that a number of the overview counts: those with a failure, by its cause, and those with a status on a marketplace.

use ad_core::{
    model::{AdStatus, ChannelStatus, MAX_LIMIT, Market, Page, StatusCount},
    ports::Scope,
    status,
    violation::Code,
};
use maud::html;

use super::{
    badges, cure,
    named::NamedAds,
    page::{self, Section, Total, number},
    texts::Texts,
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;

/// Ads on a page.
const ADS: u32 = 50;

/// The counts of ads that are not deleted and have a failure.
pub(super) fn with_failure(counts: &[StatusCount]) -> impl Iterator<Item = &StatusCount> {
    counts.iter().filter(|count| count.words.failure.is_some() && count.words.status != AdStatus::Deleted)
}

/// How many ads are live without some of their photos.
pub(super) fn live_without_photos(counts: &[StatusCount]) -> u64 {
    of(counts, Code::ImageFailed, Some(AdStatus::Live)).map(|count| count.ads).sum()
}

fn of(counts: &[StatusCount], code: Code, status: Option<AdStatus>) -> impl Iterator<Item = &StatusCount> {
    with_failure(counts).filter(move |count| {
        count.words.failure == Some(code) && status.is_none_or(|status| count.words.status == status)
    })
}

/// Which ads a page lists, as the overview counts them.
#[derive(Debug, Clone, Copy)]
enum Which {
    Failing(Code, Option<AdStatus>),
    On(Market, ChannelStatus),
}

impl Which {
    fn of(visit: &Visit) -> Option<Self> {
        let parameter = |name| visit.parameter(name);
        if let Some(market) = parameter("on").and_then(Market::from_name) {
            return Some(Self::On(market, parameter("is").and_then(ChannelStatus::from_name)?));
        }
        let code = status::codes().find(|code| Some(code.name()) == parameter("code"))?;
        Some(Self::Failing(code, parameter("status").and_then(AdStatus::from_name)))
    }

    fn among(self, counts: &[StatusCount]) -> Vec<StatusCount> {
        match self {
            Self::Failing(code, status) => of(counts, code, status).copied().collect(),
            Self::On(market, status) => {
                counts.iter().filter(|count| count.words.channel(market) == Some(status)).copied().collect()
            }
        }
    }

    fn title(self, texts: &Texts) -> &'static str {
        match self {
            Self::Failing(code, _) => texts.failure(code),
            Self::On(market, _) => texts.market(market),
        }
    }
}

/// Path of the page of the ads with a status on a marketplace.
pub(super) fn address_on(market: Market, status: ChannelStatus) -> String {
    format!("/failing?on={}&is={}", market.name(), status.name())
}

/// Path of the page of a cause, and of a status if there is one.
pub(super) fn address(code: Code, status: Option<AdStatus>) -> String {
    let status = status.map_or_else(String::new, |status| format!("&status={}", status.name()));
    format!("/failing?code={}{status}", code.name())
}

/// `GET /console/failing?code=…&status=…`, or `?on=…&is=…`.
pub(super) async fn page(visit: Visit) -> PageResult {
    let texts = visit.visitor.texts;
    let (context, console, scope) = (&visit.visitor.context, &visit.visitor.console, &visit.caller.scope);
    let which = Which::of(&visit);
    let which = which.ok_or_else(|| ApiError::not_found("There is no such status or failure of ads.".to_owned()))?;
    let dealers = context.service.dealers_of_events(scope, None);
    let dealers = Scope::Dealers(&dealers);
    let counts = console.database.count_by_status(dealers).await?;
    let counted = which.among(&counts);
    let all = counted.iter().map(|count| count.ads).sum();
    let offset = page::offset(&visit).min(all);
    let read_to = u32::try_from(offset).unwrap_or(u32::MAX).saturating_add(ADS);
    let words = counted.iter().map(|count| count.words);
    let mut ads = console.database.ads_with_words(dealers, words, read_to).await?;
    ads.drain(..usize::try_from(offset).unwrap_or_default().min(ads.len()));
    let keys = ads.iter().map(|ad| (ad.dealer_code.clone(), ad.source_id.clone()));
    let named = NamedAds::read(&visit, keys.collect()).await?;
    let shown = Page { limit: ADS.min(MAX_LIMIT), offset };
    let main = html! {
        div.heading {
            div {
                p.crumbs { a href=(visit.visitor.address("/")) { (texts.overview) } }
                h1 { (which.title(texts)) }
            }
        }
        @if let Which::Failing(code, _) = which {
            p.lead { (cure::who_acts(&visit, status::advice(code, false).who_acts)) ": " (texts.what_helps(code)) }
        }
        section.panel #failing data-live aria-labelledby="failing-heading" {
            h2 #failing-heading {
                (number(all)) " " (if all == 1 { texts.ad_one } else { texts.ads })
                @match which {
                    Which::Failing(_, Some(status)) => { " " (badges::ad_status(texts, status)) }
                    Which::Failing(_, None) => {}
                    Which::On(_, status) => { " " (badges::channel_status(texts, status)) }
                }
            }
            ul.plain {
                @for ad in &ads {
                    li {
                        (named.described(&visit, &ad.dealer_code, &ad.source_id))
                        (badges::ad_status(texts, ad.status)) " " span.faint { (texts.since) " " (page::time(ad.since)) }
                    }
                }
            }
            (page::paging(&visit, "/failing", &visit.query, shown, ads.len(), Total::Exactly(all)))
        }
    };
    Ok(page::page(&visit, Section::Overview, which.title(texts), &main))
}
