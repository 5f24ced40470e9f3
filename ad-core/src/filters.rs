//! Filters and orders of lists, for ads in memory. A store in a database expresses the same in SQL.

use std::cmp::Ordering;

use crate::{
    categories::Category,
    model::{Ad, AdFilter, AdOrder, Bound, LogEntry, LogQuery},
    ports::StoredAd,
    prices,
    words::{self, WordSearch},
};

/// Whether an ad with a quality score passes a filter.
pub(crate) fn passes(stored: &StoredAd, quality_score: u8, filter: &AdFilter) -> bool {
    let ad = &stored.ad;
    match filter {
        AdFilter::Id(id) => ad.id == *id,
        AdFilter::State(state) => ad.state == *state,
        AdFilter::Status(statuses) => statuses.contains(&stored.words.status),
        AdFilter::SourceId(ids) => ids.contains(&ad.source_id),
        AdFilter::SourceIdContains(part) => contains(&ad.source_id, part),
        AdFilter::DealerCode(code) => ad.dealer_code == *code,
        AdFilter::CategoryId(ids) => ids.contains(&ad.category_id),
        AdFilter::Search(part) => {
            let (title, body) = (ad.content.title(), ad.content.text("body"));
            contains(&format!("{}\n{}", title.unwrap_or_default(), body.unwrap_or_default()), part)
        }
        AdFilter::Words(text) => WordSearch::of(text).finds(&words::of(ad)),
        AdFilter::MarketplaceAdId(ids) => ad.marketplace_ad_id.as_ref().is_some_and(|id| ids.contains(id)),
        AdFilter::RegistrationNumber(plate) => {
            ad.category().is_some_and(Category::is_found_by_plate)
                && ad.content.registration_number().as_deref() == Some(plate.as_str())
        }
        AdFilter::QualityScore(bound, score) => is_within(&quality_score, *bound, score),
        AdFilter::Brand(brand) => ad.content.text("category_fields.brand") == Some(brand),
        AdFilter::Price(bound, limit) => {
            prices::amount(&ad.content).is_some_and(|amount| is_within(&amount, *bound, &f64::from(*limit)))
        }
        AdFilter::ImageCount(bound, limit) => {
            let images = ad.content.image_urls().count();
            is_within(&u32::try_from(images).unwrap_or(u32::MAX), *bound, limit)
        }
        AdFilter::FailedImages(has_some) => *has_some != stored.publication.failed_images.is_empty(),
        AdFilter::Time(order, bound, time) => {
            let of_the_ad = if *order == AdOrder::Updated { ad.updated } else { ad.created };
            is_within(&of_the_ad, *bound, time)
        }
    }
}

fn is_within<T: PartialOrd>(value: &T, bound: Bound, limit: &T) -> bool {
    match bound {
        Bound::Gt => value > limit,
        Bound::Gte => value >= limit,
        Bound::Lt => value < limit,
        Bound::Lte => value <= limit,
    }
}

/// Ignores case, in any alphabet.
fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

/// The order of two ads with their quality scores; equal if the order of creation decides.
pub(crate) fn compare(order: AdOrder, (one, score): (&Ad, u8), (other, other_score): (&Ad, u8)) -> Ordering {
    match order {
        AdOrder::QualityScore => score.cmp(&other_score),
        AdOrder::Price => {
            let amount = |ad: &Ad| prices::amount(&ad.content).unwrap_or(-1.0);
            amount(one).total_cmp(&amount(other))
        }
        AdOrder::Created => one.created.cmp(&other.created),
        AdOrder::Updated => one.updated.cmp(&other.updated),
        AdOrder::SourceId => one.source_id.cmp(&other.source_id),
    }
}

pub(crate) fn is_asked_for(entry: &LogEntry, query: &LogQuery) -> bool {
    query.action.is_none_or(|action| entry.action == action)
        && query.state.is_none_or(|state| entry.state == state)
        && query.request_id.is_none_or(|id| entry.request_id == id)
}
