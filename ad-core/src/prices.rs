//! What the recorded prices of an ad say about a reduction, by Directive 98/6/EC, Article 6a.
//!
//! The **applied price** of a time is the price of type `reduced` or, without one, that of type `list`. Leasing and monthly prices and
//! `call` are no applied prices. Prices in different currencies are not compared. A price counts from when it was accepted until it was
//! replaced, also while the ad was hidden or deleted.
//!
//! - **Lowest price of 30 days**: the least applied price in the 30 × 24 hours until now, in the currency of the latest applied price. A
//!   price counts if it applied at any moment of that time.
//! - **Series of reductions**: the present reduced price with all changes directly before it, as long as the ad had a reduced price that was
//!   not raised. A raised price begins a new series, and so does a reduced price after a time without one.
//! - **Reference price**: the least applied price in the 30 × 24 hours before the series began. If less than 30 days are recorded, it is
//!   that of the recorded part.
//!
//! The law of a member state may say more, for instance about goods that are sold for less than 30 days. This is a computation and no
//! legal advice.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::{
    categories::price::{LIST, REDUCED},
    model::{
        Ad, AppliedPrice, Content, EarlierPrices, MOST_EARLIER_PRICES, Price, PriceHistory, PricePeriod, Reduction,
        Timestamp,
    },
};

/// The time for which the lowest price is computed.
const PERIOD: Duration = Duration::from_hours(30 * 24);

/// The prices of an ad over time, given its earlier ones, oldest first.
pub fn history(ad: &Ad, mut earlier: Vec<EarlierPrices>, now: Timestamp) -> PriceHistory {
    // When the oldest remaining price began is unknown.
    if earlier.len() >= MOST_EARLIER_PRICES {
        earlier[0].prices = None;
    }
    let mut since = ad.created;
    let mut history = Vec::with_capacity(earlier.len() + 1);
    for EarlierPrices { until, prices } in earlier {
        // The clock may have been set back.
        let until = until.max(since);
        history.extend(prices.map(|price| PricePeriod { since, until: Some(until), price }));
        since = until;
    }
    history.push(PricePeriod { since, until: None, price: of(&ad.content) });
    PriceHistory {
        source_id: ad.source_id.clone(),
        dealer_code: ad.dealer_code.clone(),
        recorded_since: history[0].since,
        lowest_30_days: lowest_until(&history, now),
        reduction: reduction(&history),
        history,
    }
}

/// Whether a price is so far from the one before that a digit may be missing or too much: less than half of it, or more than double.
///
/// ```
/// assert!(ad_core::prices::is_far(302_600.0, 3_026_000.0) && !ad_core::prices::is_far(302_600.0, 189_900.0));
/// ```
pub fn is_far(before: f64, after: f64) -> bool {
    !(0.5..=2.0).contains(&(after / before))
}

/// The prices of an ad.
pub(crate) fn of(content: &Content) -> Vec<Price> {
    content.get("price").and_then(|price| Vec::deserialize(price).ok()).unwrap_or_default()
}

/// The amount of the price that applies: of the first one of type `reduced` or, without one, of the first one of type `list`.
pub(crate) fn amount(content: &Content) -> Option<f64> {
    let prices = content.get("price")?.as_array()?;
    let of_kind = |kind: &str| {
        let of_kind = |price: &&Value| price.get("type").and_then(Value::as_str) == Some(kind);
        prices.iter().filter(of_kind).find_map(|price| price.get("amount")?.as_f64())
    };
    of_kind(REDUCED).or_else(|| of_kind(LIST))
}

/// The prices that new content replaces; `None` if it has the same.
pub(crate) fn replaced_prices(before: &Content, after: &Content) -> Option<Vec<Price>> {
    if before.get("price") == after.get("price") {
        return None;
    }
    // An empty list and none are the same.
    Some(of(before)).filter(|prices| *prices != of(after))
}

/// The lowest price of 30 days, in the currency of the latest.
fn lowest_until(history: &[PricePeriod], now: Timestamp) -> Option<AppliedPrice> {
    let currency = &history.iter().rev().find_map(applied_price)?.currency;
    // What is accepted now applies now.
    lowest(history, currency, now - PERIOD, now.max(history.last()?.since) + Duration::from_millis(1))
}

fn reduction(history: &[PricePeriod]) -> Option<Reduction> {
    let (present, before) = history.split_last()?;
    let Price { amount, currency, .. } = price_of_kind(present, REDUCED)?;
    let mut since = present.since;
    let mut later = amount;
    for period in before.iter().rev() {
        match price_of_kind(period, REDUCED) {
            Some(earlier) if earlier.currency == *currency && !is_less(&earlier.amount, later) => {
                (since, later) = (period.since, &earlier.amount);
            }
            _ => break,
        }
    }
    let reference = lowest(history, currency, since - PERIOD, since);
    let below_reference = reference.as_ref().map(|reference| is_less(amount, &reference.amount));
    Some(Reduction { amount: amount.clone(), currency: currency.clone(), since, reference, below_reference })
}

/// The least price that applied between two times; of equal ones the earliest.
fn lowest(history: &[PricePeriod], currency: &str, from: Timestamp, to: Timestamp) -> Option<AppliedPrice> {
    let applied =
        history.iter().filter_map(|period| Some((period, applied_price(period)?))).filter(|(period, price)| {
            let lasts = period.until.is_none_or(|until| until > from.max(period.since));
            price.currency == currency && period.since < to && lasts
        });
    let (period, price) =
        applied.reduce(|least, next| if is_less(&next.1.amount, &least.1.amount) { next } else { least })?;
    let PricePeriod { since, until, .. } = *period;
    Some(AppliedPrice { amount: price.amount.clone(), currency: price.currency.clone(), since, until })
}

/// The price that applied in a period: the reduced one, or else that of type `list`.
pub fn applied_price(period: &PricePeriod) -> Option<&Price> {
    price_of_kind(period, REDUCED).or_else(|| price_of_kind(period, LIST))
}

fn price_of_kind<'a>(period: &'a PricePeriod, kind: &str) -> Option<&'a Price> {
    period.price.iter().find(|price| price.kind == kind)
}

fn is_less(one: &serde_json::Number, other: &serde_json::Number) -> bool {
    one.as_f64() < other.as_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::model::{AdState, ApiVersion};

    fn day(day: i64) -> Timestamp {
        Timestamp::from_millis(day * 86_400_000)
    }

    fn price(list: Option<i64>, reduced: Option<i64>) -> Value {
        let of = |kind: &str, amount: Option<i64>| {
            amount.map(|amount| json!({"type": kind, "amount": amount, "currency": "SEK"}))
        };
        of("list", list).into_iter().chain(of("reduced", reduced)).collect()
    }

    /// The history of an ad that was created on day 100 with a list price, and got other prices on later days, on a day.
    fn on(today: i64, list: i64, changes: &[(i64, Option<i64>, Option<i64>)]) -> PriceHistory {
        let mut present = price(Some(list), None);
        let mut earlier = Vec::new();
        for (changed, list, reduced) in changes {
            let prices = serde_json::from_value(std::mem::replace(&mut present, price(*list, *reduced))).unwrap();
            earlier.push(EarlierPrices { until: day(*changed), prices: Some(prices) });
        }
        history(&ad(present), earlier, day(today))
    }

    fn ad(price: Value) -> Ad {
        Ad {
            id: Uuid::nil(),
            source_id: "car-1".to_owned(),
            dealer_code: "north".to_owned(),
            category_id: 1020,
            state: AdState::Created,
            api_version: ApiVersion::V4,
            content: serde_json::Map::from_iter([("price".to_owned(), price)]).into(),
            image_refs: Vec::new(),
            marketplace_ad_id: None,
            offer_id: None,
            created: day(100),
            updated: day(100),
        }
    }

    fn amount(price: Option<&AppliedPrice>) -> Option<i64> {
        price.and_then(|price| price.amount.as_i64())
    }

    /// Day on which the series of reductions began, its reference price, and whether the reduced price is below it.
    fn reference(history: &PriceHistory) -> (i64, Option<i64>, Option<bool>) {
        let reduction = history.reduction.as_ref().unwrap();
        (reduction.since.as_millis() / 86_400_000, amount(reduction.reference.as_ref()), reduction.below_reference)
    }

    #[test]
    fn the_history_has_every_price_with_its_time() {
        let history = on(150, 200, &[(110, Some(190), None), (120, None, None)]);
        assert_eq!((history.recorded_since, history.history.len()), (day(100), 3));
        let periods: Vec<_> =
            history.history.iter().map(|period| (period.since, period.until, period.price.len())).collect();
        assert_eq!(periods, [(day(100), Some(day(110)), 1), (day(110), Some(day(120)), 1), (day(120), None, 0)]);
        assert_eq!((history.lowest_30_days, history.reduction), (None, None), "the price of day 110 ended 30 days ago");
    }

    #[test]
    fn the_lowest_price_of_30_days_is_that_which_applied_at_any_moment_of_them() {
        let changes = [(110, Some(150), None), (111, Some(180), None), (130, Some(170), Some(160))];
        for (today, lowest) in [(100, 200), (110, 150), (140, 150), (141, 160), (170, 160)] {
            let until: Vec<_> = changes.iter().copied().filter(|(changed, ..)| *changed <= today).collect();
            assert_eq!(amount(on(today, 200, &until).lowest_30_days.as_ref()), Some(lowest), "day {today}");
        }
    }

    #[test]
    fn the_reference_price_is_the_lowest_of_the_30_days_before_the_reduction() {
        assert_eq!(reference(&on(150, 200, &[(140, Some(200), Some(180))])), (140, Some(200), Some(true)));
        // Raised shortly before it was reduced.
        let raised = on(150, 200, &[(135, Some(250), None), (140, Some(250), Some(220))]);
        assert_eq!(reference(&raised), (140, Some(200), Some(false)));
        let long_ago = on(150, 200, &[(110, Some(250), None), (140, Some(250), Some(220))]);
        assert_eq!(reference(&long_ago), (140, Some(250), Some(true)));
        assert_eq!(
            reference(&on(150, 200, &[(140, Some(200), Some(200))])).2,
            Some(false),
            "the same price is not below it"
        );
        assert_eq!(
            reference(&on(120, 200, &[(101, Some(200), Some(180))])),
            (101, Some(200), Some(true)),
            "one day is known"
        );
    }

    #[test]
    fn successive_reductions_have_the_reference_of_the_first() {
        let series = [(140, Some(200), Some(190)), (150, Some(200), Some(180)), (190, Some(200), Some(170))];
        assert_eq!(reference(&on(200, 200, &series)), (140, Some(200), Some(true)));
        // A raised price begins a new series, whose reference is the lowest of the one before.
        let raised = [&series[..], &[(195, Some(200), Some(185))]].concat();
        assert_eq!(reference(&on(200, 200, &raised)), (195, Some(170), Some(false)));
        // So does a reduction after a time without.
        let again = [&series[..], &[(191, Some(200), None), (195, Some(200), Some(160))]].concat();
        assert_eq!(reference(&on(200, 200, &again)), (195, Some(170), Some(true)));
        let much_later = [&series[..], &[(191, Some(200), None), (230, Some(200), Some(190))]].concat();
        assert_eq!(reference(&on(240, 200, &much_later)), (230, Some(200), Some(true)));
    }

    #[test]
    fn prices_in_another_currency_are_not_compared() {
        let euro = serde_json::from_value(json!([{"type": "list", "amount": 20, "currency": "EUR"}])).unwrap();
        let earlier = vec![EarlierPrices { until: day(140), prices: Some(euro) }];
        let history = history(&ad(price(Some(200), Some(180))), earlier, day(150));
        assert_eq!((reference(&history), amount(history.lowest_30_days.as_ref())), ((140, None, None), Some(180)));
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let unknown = EarlierPrices { until: day(120), prices: None };
        let reduced = history(&ad(price(Some(200), Some(180))), vec![unknown.clone()], day(150));
        assert_eq!((reduced.recorded_since, reduced.history.len()), (day(120), 1));
        assert_eq!(reference(&reduced), (120, None, None));
        // The oldest of as many as are kept may have begun at any time.
        let known = EarlierPrices { until: day(120), prices: Some(Vec::new()) };
        let full = history(&ad(price(None, None)), vec![known; MOST_EARLIER_PRICES], day(150));
        assert_eq!((full.recorded_since, full.history.len()), (day(120), MOST_EARLIER_PRICES));
    }

    #[test]
    fn a_clock_that_was_set_back_leaves_the_history_in_order() {
        let history = on(150, 200, &[(140, Some(190), None), (130, Some(180), Some(170))]);
        let times: Vec<_> = history.history.iter().map(|period| period.since).collect();
        assert_eq!(times, [day(100), day(140), day(140)]);
        assert_eq!(reference(&history), (140, Some(200), Some(true)), "190 applied at no moment");
    }

    #[test]
    fn no_price_and_an_empty_list_are_the_same() {
        let content = |price: Value| ad(price).content;
        for (before, after) in
            [(json!([]), json!(null)), (json!(null), json!([])), (price(Some(1), None), price(Some(1), None))]
        {
            assert_eq!(replaced_prices(&content(before), &content(after)), None);
        }
        assert_eq!(replaced_prices(&content(json!([])), &content(price(Some(1), None))), Some(Vec::new()));
    }
}
