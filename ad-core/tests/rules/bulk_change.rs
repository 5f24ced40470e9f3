//! What a change of many ads may be, and how it changes prices.

use ad_core::model::{Ad, ChangeCounts, PlanState, PlannedChange};
use serde_json::{Value, json};

use crate::{
    bulk::{of_all, parse},
    plans::{car, changes, plans_of},
    support::{House, access},
};

#[test]
fn a_change_that_is_wrong_is_told_where_and_what_to_send() {
    let outside = "Must be more than -100 and at most 1000, and not 0. Send -5 for prices that are 5 percent lower.";
    let no_round = "Must be more than 0 and at most 1000000000000. Send 100 for amounts that are multiples of 100.";
    let number = "A valid number is required.";
    let identity =
        "Identifies an ad, and cannot be changed. Leave it out; the filters in select say which ads are changed.";
    let four = "Ensure that there are no more than 4 decimal places.";
    let percent = |percent: Value| json!({"price_percent": percent});
    let rounded = |round: Value| json!({"price_percent": 5, "round": round});
    for (change, errors) in [
        (
            json!({}),
            json!({"price_percent": ["The change is missing.", "Send price_percent, such as -5, price_amount, such as -5000, or set, such as {\"visible\": false}."]}),
        ),
        (json!({"prise_percent": -5}), json!({"prise_percent": ["Unknown field.", "Did you mean \"price_percent\"?"]})),
        (json!({"set": {"visible": true}, "x": 1}), json!({"x": ["Unknown field."]})),
        (
            json!({"set": {"visible": true}, "price_percent": 1}),
            json!({"set": ["A plan makes one change. Send one of price_percent, price_amount and set, and make another plan for the other."]}),
        ),
        (
            json!({"set": {"visible": true}, "round": 1}),
            json!({"round": ["Only prices are rounded. Leave round out."]}),
        ),
        (
            json!({"price_amount": -500, "price_percent": 1}),
            json!({"price_amount": ["A plan makes one change. Send one of price_percent, price_amount and set, and make another plan for the other."]}),
        ),
        (
            json!({"price_amount": 0.001}),
            json!({"price_amount": ["Ensure that there are no more than 2 decimal places."]}),
        ),
        (percent(json!(0)), json!({"price_percent": [outside]})),
        (percent(json!(-100)), json!({"price_percent": [outside]})),
        (percent(json!(1000.0001)), json!({"price_percent": [outside]})),
        (percent(json!(1e300)), json!({"price_percent": [outside]})),
        (percent(json!(u64::MAX)), json!({"price_percent": [outside]})),
        (percent(json!(-99.99999)), json!({"price_percent": [four]})),
        (percent(json!(1e-7)), json!({"price_percent": [four]})),
        (percent(json!("-7.5")), json!({"price_percent": [number, "Send -7.5, without quotes."]})),
        (percent(json!("five")), json!({"price_percent": [number, "Send -5, without quotes."]})),
        (rounded(json!(0)), json!({"round": [no_round]})),
        (rounded(json!(-100)), json!({"round": [no_round]})),
        (rounded(json!(1e13)), json!({"round": [no_round]})),
        (rounded(json!(0.001)), json!({"round": ["Ensure that there are no more than 2 decimal places."]})),
        (
            json!({"price_percent": true, "round": "all"}),
            json!({"price_percent": [number, "Send -5, without quotes."], "round": [number, "Send 100, without quotes."]}),
        ),
        (
            json!({"set": {}}),
            json!({"set": ["There is no field to change.", "Send the fields as in an update, such as {\"visible\":false}."]}),
        ),
        (json!({"set": [1]}), json!({"set": ["Expected an object.", "Send an object such as {\"visible\":false}."]})),
        (
            json!({"set": {"source_id": "a", "category_id": 1, "dealer_code": "b", "body": "c"}}),
            json!({"set": {"source_id": [identity], "category_id": [identity], "dealer_code": [identity]}}),
        ),
        (
            json!({"set": {"body": "x".repeat(16 * 1024)}}),
            json!({"set": ["Ensure that this has no more than 16384 bytes. Send longer texts ad by ad."]}),
        ),
    ] {
        assert_eq!(parse(change.clone()), Err(errors), "{change}");
    }
    for change in [
        percent(json!(-99.9999)),
        percent(json!(1000)),
        percent(json!(0.0001)),
        rounded(json!(0.01)),
        rounded(json!(1e12)),
        rounded(Value::Null),
        json!({"set": {"body": null}, "price_percent": null, "round": null}),
    ] {
        assert!(parse(change.clone()).is_ok(), "{change}");
    }
}

/// The amount of a price in hundredths, read from its JSON text.
fn hundredths(price: &Value) -> i128 {
    let text = price["amount"].to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    assert!(decimals.len() <= 2, "{text}");
    format!("{whole}{decimals:0<2}").parse().unwrap()
}

/// Whether an amount is the multiple of a unit that is nearest to a percentage more than another, or stays because that is on its other
/// side; all but the percentage, which is in ten-thousandths, are hundredths.
fn is_nearest(before: i128, percent: i128, unit: i128, after: i128) -> bool {
    if after == before {
        let below = before - before % unit;
        let on_other_side = if percent > 0 { below } else { below + unit };
        return [before, on_other_side].iter().any(|it| is_nearest_multiple(before, percent, unit, *it));
    }
    (after > before) == (percent > 0) && is_nearest_multiple(before, percent, unit, after)
}

fn is_nearest_multiple(before: i128, percent: i128, unit: i128, after: i128) -> bool {
    let exact = before * (1_000_000 + percent);
    let off = after * 1_000_000 - exact;
    let half = unit * 1_000_000;
    // Up to half a unit above, halves included, or less than half a unit below; or one unit, in the place of 0.
    let is_rounded = -half < 2 * off && 2 * off <= half;
    after % unit == 0 && (is_rounded || (after == unit && 2 * exact < half))
}

/// Number of an ad's prices of types that a percentage changes: every other one in [`prices`].
const CHANGED: [usize; 2] = [1, 3];

/// Prices of all types.
fn prices(list: f64, reduced: f64) -> Value {
    let of = |kind: &str, amount: f64| json!({"type": kind, "amount": amount, "currency": "SEK"});
    json!([of("monthly", 1999.5), of("reduced", reduced), of("leasing", 2999.0), of("list", list), of("call", 0.0)])
}

/// Checks the change that a plan shows of an ad, or that rightly it shows none.
fn check_change(ad: &Ad, shown: Option<&PlannedChange>, percent: i128, unit: i128, context: &str) {
    let before = ad.content.get("price").unwrap();
    let after = match shown.map(|change| &change.details.fields[..]) {
        Some([change]) => {
            assert_eq!((change.pointer.as_str(), &change.from), ("/price", before), "{context}");
            assert_ne!(&change.to, before, "{context}");
            &change.to
        }
        Some(others) => panic!("{context}: {others:?}"),
        None => before,
    };
    for (index, (one, other)) in before.as_array().unwrap().iter().zip(after.as_array().unwrap()).enumerate() {
        if CHANGED.contains(&index) {
            let (one, other) = (hundredths(one), hundredths(other));
            assert!(is_nearest(one, percent, unit, other), "{context}: {one} became {other}");
        } else {
            assert_eq!(one, other, "{context}");
        }
    }
}

#[tokio::test]
async fn prices_change_by_a_percentage_exactly_and_rounded() {
    let house = House::new();
    let known = [
        0.01,
        0.02,
        0.49,
        0.5,
        1.0,
        4.99,
        10.0,
        49.99,
        50.0,
        149.5,
        150.0,
        999.99,
        1000.1,
        19_900.0,
        299_950.0,
        1_234_567.89,
        999_999_999.99,
        80_000_000_000.01,
    ];
    let amounts = known.into_iter().chain((1..40).map(|n: u32| f64::from(n * n * 7919 % 9_999_991) / 100.0));
    let mut number = 0;
    for amount in amounts {
        house.create("car", car(number)).await.unwrap();
        let price = prices(amount, (amount / 2.0).floor() + 0.05);
        house.update(&format!("car-{number}"), json!({"price": price})).await.unwrap();
        number += 1;
    }
    let ads = house.ads().await;
    let plans = plans_of(&house);
    let percents = [
        ("-5", -50_000),
        ("-99.9999", -999_999),
        ("-33.3333", -333_333),
        ("-0.0001", -1),
        ("2.5", 25_000),
        ("12.3456", 123_456),
        ("1e3", 10_000_000),
    ];
    let rounds = [(None, 1), (Some("0.05"), 5), (Some("1"), 100), (Some("99.99"), 9999), (Some("100.0"), 10_000)];
    for ((percent, units), (round, unit)) in percents.into_iter().flat_map(|it| rounds.map(|round| (it, round))) {
        let sent = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let planned = of_all(&plans, json!({"price_percent": sent(percent), "round": round.map(sent)})).await;
        let context = format!("{percent} %, {round:?}");
        let listed = changes(&plans, &planned).await;
        let update = listed.len() as u64;
        let counts = ChangeCounts { update, unchanged: u64::from(number) - update, ..ChangeCounts::default() };
        assert_eq!((planned.state, planned.dealers[0].counts), (PlanState::Ready, counts), "{context}");
        for (ad, _) in &ads {
            let shown = listed.iter().find(|change| change.source_id.as_ref() == Some(&ad.source_id));
            check_change(ad, shown, units, unit, &context);
        }
        plans.cancel(&access(), planned.id).await.unwrap();
    }
}

#[tokio::test]
async fn prices_change_by_an_amount_and_none_becomes_nothing() {
    let house = House::new();
    for (number, amount) in [(0, 199_900.0), (1, 5000.0), (2, 4999.0)] {
        house.create("car", car(number)).await.unwrap();
        house.update(&format!("car-{number}"), json!({"price": prices(amount, amount - 0.5)})).await.unwrap();
    }
    let plans = plans_of(&house);
    let planned = of_all(&plans, json!({"price_amount": -5000, "round": 1000})).await;
    let listed = changes(&plans, &planned).await;
    let of = |number: u32| {
        let id = format!("car-{number}");
        listed.iter().find(|change| change.source_id.as_deref() == Some(&*id)).unwrap()
    };
    let amounts = |change: &PlannedChange| {
        let prices = change.details.fields[0].to.as_array().unwrap();
        CHANGED.map(|place| hundredths(&prices[place]))
    };
    assert_eq!(amounts(of(0)), [19_500_000, 19_500_000]);
    assert_eq!((planned.dealers[0].counts.update, planned.dealers[0].counts.invalid), (1, 2));
    assert!(!of(1).details.errors.is_empty() && !of(2).details.errors.is_empty());
}
