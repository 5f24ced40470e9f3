//! What the rules cost, measured against parsing: `cargo bench -p ad-core`.
//!
//! Everything is measured in one run, taking turns, so that a machine that slows down slows all of it down; what counts
//! is the ratio to parsing the same payload into a `serde_json::Value`. The process fails when a bound is missed.

use std::{
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

use ad_core::{
    ad::{Ad, AdState, ApiVersion},
    categories,
    merge::merge,
    ports::Dealer,
    rulebook::{Rulebook, Write},
    time::Timestamp,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

const PAYLOAD: &[u8] = include_bytes!("car-full.json");

/// Turns in which each candidate is measured once.
const ROUNDS: usize = 3000;
/// Calls of one measurement, so that reading the time weighs little.
const CALLS: usize = 20;

/// Something to measure: told how often to do it, it tells how long that took, preparations aside.
type Candidate<'a> = (&'static str, Option<f64>, Box<dyn FnMut(usize) -> Duration + 'a>);

fn main() -> ExitCode {
    let rulebook = Rulebook::default();
    let dealer = Dealer { salespersons: vec!["anna@north.example".to_owned()], ..Dealer::named("north-cars") };
    let category = categories::by_vehicle_type("car").expect("cars are a category");
    let write = Write { category, version: ApiVersion::V4, dealer: Some(&dealer) };
    let payload: Map<String, Value> = serde_json::from_slice(PAYLOAD).expect("the payload is an object");
    let stored = stored(&rulebook, write, &payload);
    let patch = patch();

    let candidates: Vec<Candidate<'_>> = vec![
        (
            "parse",
            None,
            Box::new(|calls| {
                timed(calls, || (), |()| serde_json::from_slice::<Value>(black_box(PAYLOAD)).expect("valid JSON"))
            }),
        ),
        (
            "validate",
            Some(0.5),
            Box::new(|calls| {
                timed(
                    calls,
                    || payload.clone(),
                    |payload| rulebook.create(write, payload, false).expect("a valid payload"),
                )
            }),
        ),
        (
            "merge of 5 fields",
            Some(1.0),
            Box::new(|calls| timed(calls, || patch.clone(), |patch| merge(stored.content.fields(), patch))),
        ),
        (
            "merge and check",
            None,
            Box::new(|calls| {
                timed(calls, || patch.clone(), |patch| rulebook.update(write, &stored, patch).expect("a valid patch"))
            }),
        ),
    ];
    println!(
        "{} fields, {} bytes, medians of {ROUNDS} measurements of {CALLS} calls",
        leaves(&json!(payload)),
        PAYLOAD.len()
    );
    report(candidates)
}

/// Measures all candidates in turns, if this is a bench run and no test, and prints their medians beside the first one's.
fn report(mut candidates: Vec<Candidate<'_>>) -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        for (_, _, measure) in &mut candidates {
            measure(1);
        }
        return ExitCode::SUCCESS;
    }
    let mut times = vec![Vec::with_capacity(ROUNDS); candidates.len()];
    for _ in 0..ROUNDS {
        for ((_, _, measure), times) in candidates.iter_mut().zip(&mut times) {
            times.push(measure(CALLS));
        }
    }
    let medians: Vec<f64> = times.iter_mut().map(|times| microseconds_per_call(times)).collect();
    println!("{:<20}{:>10}{:>8}{:>8}", "", "µs", "ratio", "bound");
    let mut kept = true;
    for ((name, bound, _), median) in candidates.iter().zip(&medians) {
        let ratio = median / medians[0];
        let met = bound.is_none_or(|bound| ratio <= bound);
        let shown = bound.map_or_else(String::new, |bound| format!("{bound:.1}"));
        println!("{name:<20}{median:>10.2}{ratio:>8.2}{shown:>8}{}", if met { "" } else { "  missed" });
        kept &= met;
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The time of some calls, without preparing what they consume and without dropping what they return.
fn timed<I, O>(calls: usize, prepare: impl Fn() -> I, call: impl Fn(I) -> O) -> Duration {
    let inputs: Vec<I> = (0..calls).map(|_| prepare()).collect();
    let mut outputs = Vec::with_capacity(calls);
    let begun = Instant::now();
    for input in inputs {
        outputs.push(black_box(call(input)));
    }
    begun.elapsed()
}

fn microseconds_per_call(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6 / f64::from(u32::try_from(CALLS).unwrap_or(u32::MAX))
}

/// Values that are neither objects nor arrays.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(leaves).sum(),
        Value::Array(items) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

fn patch() -> Map<String, Value> {
    let patch = json!({"body": "Ny text", "visible": false, "price": [{"type": "leasing", "amount": 2995}],
        "category_fields": {"color": null, "condition": {"mileage": {"value": 2900}}}});
    let Value::Object(patch) = patch else { unreachable!("written as an object") };
    patch
}

fn stored(rulebook: &Rulebook, write: Write<'_>, payload: &Map<String, Value>) -> Ad {
    let checked = rulebook.create(write, payload.clone(), false).expect("a valid payload");
    let now = Timestamp::from_millis(0);
    Ad {
        id: Uuid::nil(),
        source_id: checked.source_id,
        dealer_code: "north-cars".to_owned(),
        category_id: write.category.id,
        state: AdState::Created,
        api_version: write.version,
        content: checked.content,
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: now,
        updated: now,
    }
}
