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
    categories,
    model::{Ad, AdState, ApiVersion, Dealer, Timestamp},
    quality::Measured,
    rulebook::{Rulebook, SourceId, WriteContext, merge::merge},
    stock::{ChangeKind, ExistingAd, StockComparison},
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

#[path = "../tests/properties/full.rs"]
mod full;

/// A car as a dealer's system would send it, with nearly all of its fields.
const CAR: &[u8] = include_bytes!("car-full.json");

/// Turns in which each candidate is measured once.
const ROUNDS: usize = 1500;
/// Calls of one measurement, so that reading the time weighs little.
const CALLS: usize = 20;

/// Most that validation may cost, of any type, in times of parsing.
const VALIDATE: Option<f64> = Some(0.5);

/// Most that score and findings of the written car may cost, in times of parsing.
const QUALITY: Option<f64> = Some(0.25);

/// Candidates on one payload; the first one is the measure of the others.
struct Group<'a> {
    name: String,
    candidates: Vec<Candidate<'a>>,
}

struct Candidate<'a> {
    name: &'static str,
    bound: Option<f64>,
    /// Told how often to do it, it tells how long that took, preparations aside.
    measure: Box<dyn FnMut(usize) -> Duration + 'a>,
    times: Vec<Duration>,
}

impl<'a> Candidate<'a> {
    fn new(name: &'static str, bound: Option<f64>, measure: impl FnMut(usize) -> Duration + 'a) -> Self {
        Self { name, bound, measure: Box::new(measure), times: Vec::new() }
    }
}

fn main() -> ExitCode {
    let rulebook = Rulebook::default();
    let dealer = Dealer { salespersons: vec!["anna@north.example".to_owned()], ..Dealer::named("north-cars") };
    let write = |category| WriteContext { category, version: ApiVersion::V4, dealer: Some(&dealer) };
    let car = write(categories::by_vehicle_type("car").expect("cars are a category"));
    let payload: Map<String, Value> = serde_json::from_slice(CAR).expect("the payload is an object");
    let (stored, patch) = (stored(&rulebook, car, &payload), patch());

    let mut groups: Vec<Group<'_>> = categories::typed()
        .map(|(vehicle_type, category)| {
            let payload = full::payload(category, ApiVersion::V4, &rulebook.catalogue);
            let bytes = serde_json::to_vec(&payload).expect("values are JSON");
            group(vehicle_type, &rulebook, write(category), bytes, &payload, None)
        })
        .collect();
    let mut written = group("car-full.json", &rulebook, car, CAR.to_vec(), &payload, QUALITY);
    written.candidates.push(Candidate::new("merge of 5 fields", Some(1.0), |calls| {
        timed(calls, || patch.clone(), |patch| merge(stored.content.fields(), patch))
    }));
    written.candidates.push(Candidate::new("merge and check", None, |calls| {
        timed(calls, || patch.clone(), |patch| rulebook.update(car, &stored, patch).expect("a valid patch"))
    }));
    // A stock of which most ads are as they were, and some have another price.
    let stock = StockComparison { rulebook: &rulebook, dealer: Some(&dealer) };
    let existing = ExistingAd { ad: &stored, is_deleted: false, failed_images: &[] };
    let mut cheaper = payload.clone();
    cheaper["price"][0]["amount"] = json!(199_900);
    for (name, kind, payload) in
        [("compare, unchanged", ChangeKind::Unchanged, payload), ("compare, update", ChangeKind::Update, cheaper)]
    {
        assert_eq!(stock.change(payload.clone(), Some(existing)).kind, kind);
        written.candidates.push(Candidate::new(name, None, move |calls| {
            timed(calls, || payload.clone(), |payload| stock.change(payload, Some(existing)))
        }));
    }
    groups.push(written);
    run(groups)
}

/// Measures all candidates in turns, if this is a bench run and no test, and reports.
fn run(mut groups: Vec<Group<'_>>) -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        for candidate in groups.iter_mut().flat_map(|group| &mut group.candidates) {
            (candidate.measure)(1);
        }
        return ExitCode::SUCCESS;
    }
    for _ in 0..ROUNDS {
        for candidate in groups.iter_mut().flat_map(|group| &mut group.candidates) {
            candidate.times.push((candidate.measure)(CALLS));
        }
    }
    println!("Medians of {ROUNDS} measurements of {CALLS} calls; ratios to the first line of each payload.");
    println!("{:<48}{:<20}{:>8}{:>8}{:>8}", "", "", "µs", "ratio", "bound");
    // Each group reports, also behind one that missed.
    let missed = groups.iter_mut().map(report).filter(|kept| !kept).count();
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Parsing and validating one payload.
fn group<'a>(
    name: &str,
    rulebook: &'a Rulebook,
    write: WriteContext<'a>,
    bytes: Vec<u8>,
    payload: &Map<String, Value>,
    quality_bound: Option<f64>,
) -> Group<'a> {
    let name = format!("{name}, {} values, {} bytes", leaves(&json!(payload)), bytes.len());
    let (payload, rated) = (payload.clone(), payload.clone());
    let parse = Candidate::new("parse", None, move |calls| {
        timed(calls, || (), |()| serde_json::from_slice::<Value>(black_box(&bytes)).expect("valid JSON"))
    });
    let validate = Candidate::new("validate", VALIDATE, move |calls| {
        timed(
            calls,
            || payload.clone(),
            |payload| rulebook.create(write, payload, SourceId::Required).expect("a valid payload"),
        )
    });
    let now = Timestamp::from_millis(1_768_471_200_000);
    let quality = Candidate::new("quality", quality_bound, move |calls| {
        timed(calls, || (), |()| Measured::new(write.category, black_box(&rated), now).quality())
    });
    Group { name, candidates: vec![parse, validate, quality] }
}

/// Prints the medians beside the first one's; `false` when a bound is missed.
fn report(group: &mut Group<'_>) -> bool {
    let mut kept = true;
    let mut first = None;
    for candidate in &mut group.candidates {
        let median = microseconds_per_call(&mut candidate.times);
        let name = if first.is_none() { group.name.as_str() } else { "" };
        let ratio = median / *first.get_or_insert(median);
        let met = candidate.bound.is_none_or(|bound| ratio <= bound);
        let bound = candidate.bound.map_or_else(String::new, |bound| format!("{bound:.2}"));
        let verdict = if met { "" } else { "  missed" };
        println!("{name:<48}{:<20}{median:>8.2}{ratio:>8.2}{bound:>8}{verdict}", candidate.name);
        kept &= met;
    }
    kept
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

fn stored(rulebook: &Rulebook, write: WriteContext<'_>, payload: &Map<String, Value>) -> Ad {
    let checked = rulebook.create(write, payload.clone(), SourceId::Required).expect("a valid payload");
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
