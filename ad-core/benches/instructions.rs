//! Instructions and allocations of each operation below HTTP, with all ports in memory: `cargo bench -p ad-core --bench instructions`.
//!
//! Valgrind counts them, so other programs on the machine do not change the figures. An operation that needs 3 % more than its
//! committed figures fails the run; a change that is worth that updates them in the same commit and says why. It needs Valgrind and
//! `gungraun-runner` of the same version.

use std::{hint::black_box, sync::Arc};

use ad_core::{
    categories::{self, Category},
    memory::{Kit, ManualClock, one_pixel},
    model::{AdQuery, ApiVersion, Content, Dealer, EventPosition, EventQuery, Page, Timestamp},
    ports::{Ids, Scope, Store},
    quality::{Measured, Quality},
    rulebook::{CheckedPayload, Rulebook, SourceId, WriteContext},
    service::{Access, Target},
};
use gungraun::{
    Callgrind, Dhat, DhatMetric, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

/// A car as a dealer's system would send it, with nearly all of its fields.
const CAR: &[u8] = include_bytes!("car-full.json");

/// Most growth of a figure, in percent.
const GROWTH: u64 = 3;

/// The configuration of an operation that needs so many instructions and allocations.
fn figures(instructions: u64, allocations: u64) -> LibraryBenchmarkConfig {
    let most = |figure: u64| figure + figure * GROWTH / 100;
    let mut config = LibraryBenchmarkConfig::default();
    config
        .tool(Callgrind::default().hard_limits([(EventKind::Ir, most(instructions))]))
        // Allocations are counted where the operation is among these callers.
        .tool(Dhat::with_args(["--num-callers=200"]).hard_limits([(DhatMetric::TotalBlocks, most(allocations))]));
    config
}

/// The service with ads in memory.
struct Setup {
    runtime: Runtime,
    kit: Kit,
    access: Access,
    car: &'static Category,
}

impl Setup {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime without input and output always starts");
        let dealer = Dealer { salespersons: vec!["anna@north.example".to_owned()], ..Dealer::named("north-cars") };
        let kit = Kit::new(Arc::new(ManualClock::default()), [dealer]);
        let car = categories::by_vehicle_type("car").expect("cars are a category");
        for url in numbered(0)["image_urls"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            kit.images.put(url, one_pixel(1));
        }
        Self { runtime, kit, access: Access::Dealer("north-cars".to_owned()), car }
    }

    fn create(&self, payload: Map<String, Value>) -> String {
        let created = self.kit.service.create(&self.access, self.kit.ids.next(), self.car, payload);
        let accepted = self.runtime.block_on(created).expect("a valid car");
        serde_json::to_string(&accepted.ad.view(None)).expect("values are JSON")
    }

    fn publish(&self) {
        self.runtime.block_on(self.kit.pipeline.run_due()).expect("the memory store does not fail");
    }
}

fn empty() -> Setup {
    let setup = Setup::new();
    // The first request fills caches.
    setup.create(numbered(0));
    setup.publish();
    setup
}

fn accepted() -> Setup {
    let setup = empty();
    setup.create(numbered(1));
    setup
}

fn published() -> Setup {
    let setup = accepted();
    setup.publish();
    setup
}

fn stock() -> Setup {
    let setup = Setup::new();
    (0..60).for_each(|number| drop(setup.create(numbered(number))));
    setup.publish();
    setup
}

/// The car of a number.
fn numbered(number: u8) -> Map<String, Value> {
    let mut car: Map<String, Value> = serde_json::from_slice(CAR).expect("the payload is an object");
    car.insert("source_id".to_owned(), json!(format!("car-{number}")));
    car
}

/// The rules, and a car as clients send it.
fn sent() -> (Rulebook, Dealer, Map<String, Value>) {
    let dealer = Dealer { salespersons: vec!["anna@north.example".to_owned()], ..Dealer::named("north-cars") };
    let rulebook = Rulebook::default();
    // The first check fills caches.
    check(&rulebook, &dealer, numbered(0));
    (rulebook, dealer, numbered(1))
}

/// The rules, after a car that was refused.
fn refused_before() -> (Rulebook, Dealer) {
    let (rulebook, dealer, _) = sent();
    refused(&rulebook, &dealer, CAR);
    (rulebook, dealer)
}

/// A car as it is stored.
fn checked() -> Content {
    let (rulebook, dealer, payload) = sent();
    let ad = check(&rulebook, &dealer, payload).content;
    measured(ad.fields()).quality();
    // What is freed here would make later allocations dearer.
    std::mem::forget((rulebook, dealer));
    ad
}

fn check(rulebook: &Rulebook, dealer: &Dealer, payload: Map<String, Value>) -> CheckedPayload {
    let category = categories::by_vehicle_type("car").expect("cars are a category");
    let write = WriteContext { category, version: ApiVersion::V4, dealer: Some(dealer) };
    rulebook.create(write, payload, SourceId::Required).expect("a valid car")
}

/// The answer to a car with seven mistakes of different kinds, with hints.
fn refused(rulebook: &Rulebook, dealer: &Dealer, car: &[u8]) -> String {
    let mut car: Map<String, Value> = serde_json::from_slice(car).expect("the payload is an object");
    car.insert("source_id".to_owned(), json!("car-1"));
    car.insert("Body".to_owned(), json!("A name in capitals."));
    car.insert("visible".to_owned(), json!("Ja"));
    let fields = car.get_mut("category_fields").and_then(Value::as_object_mut).expect("a car has fields");
    fields.insert("model".to_owned(), json!("XC 60"));
    fields.insert("fuels".to_owned(), json!(["Bensin"]));
    fields.insert("in_traffic_date".to_owned(), json!("20190503"));
    fields.insert("engine_power".to_owned(), json!("110 kW"));
    let category = categories::by_vehicle_type("car").expect("cars are a category");
    let write = WriteContext { category, version: ApiVersion::V4, dealer: Some(dealer) };
    let errors = rulebook.create(write, car, SourceId::Required).expect_err("the values are wrong");
    serde_json::to_string(&errors).expect("errors are JSON")
}

fn measured(ad: &Map<String, Value>) -> Measured<'_> {
    let category = categories::by_vehicle_type("car").expect("cars are a category");
    Measured::new(category, ad, Timestamp::from_millis(1_768_471_200_000))
}

// What the next three are compared with.
#[library_benchmark]
#[bench::full_car(config = figures(169_928, 256))]
fn parse() -> Value {
    serde_json::from_slice(black_box(CAR)).expect("valid JSON")
}

#[library_benchmark(setup = sent)]
#[bench::full_car(config = figures(58_769, 3))]
fn validate((rulebook, dealer, payload): (Rulebook, Dealer, Map<String, Value>)) -> (Rulebook, CheckedPayload) {
    let checked = check(&rulebook, &dealer, black_box(payload));
    (rulebook, checked)
}

// What explaining seven mistakes costs.
#[library_benchmark(setup = refused_before)]
#[bench::full_car(config = figures(1_545_074, 2_280))]
fn refuse((rulebook, dealer): (Rulebook, Dealer)) -> (Rulebook, String) {
    let errors = refused(&rulebook, &dealer, black_box(CAR));
    (rulebook, errors)
}

#[library_benchmark(setup = checked)]
#[bench::full_car(config = figures(43_228, 12))]
fn quality(ad: Content) -> (Content, Quality) {
    let quality = measured(black_box(&ad).fields()).quality();
    (ad, quality)
}

#[library_benchmark(setup = checked)]
#[bench::full_car(config = figures(11_640, 0))]
fn score(ad: Content) -> (Content, u8) {
    let score = measured(black_box(&ad).fields()).score();
    (ad, score)
}

#[library_benchmark(setup = empty)]
#[bench::full_car(config = figures(421_016, 533))]
fn post(setup: Setup) -> (Setup, String) {
    let mut payload: Map<String, Value> = serde_json::from_slice(black_box(CAR)).expect("the payload is an object");
    payload.insert("source_id".to_owned(), json!("car-1"));
    let answer = setup.create(payload);
    (setup, answer)
}

#[library_benchmark(setup = published)]
#[bench::two_fields(config = figures(645_204, 909))]
fn patch(setup: Setup) -> (Setup, String) {
    let patch = black_box(br#"{"body": "New tyres.", "category_fields": {"condition": {"number_of_owners": 2}}}"#);
    let patch: Map<String, Value> = serde_json::from_slice(patch).expect("the patch is an object");
    let (access, request) = (&setup.access, setup.kit.ids.next());
    let updated = setup.kit.service.update(access, request, ApiVersion::V4, Target::from("car-1"), &patch);
    let accepted = setup.runtime.block_on(updated).expect("a valid patch");
    let answer = serde_json::to_string(&accepted.ad.view(None)).expect("values are JSON");
    (setup, answer)
}

#[library_benchmark(setup = published)]
#[bench::with_log(config = figures(233_811, 309))]
fn get(setup: Setup) -> (Setup, String) {
    let read = setup.kit.service.read(&setup.access, black_box("car-1").into());
    let (stored, log) = setup.runtime.block_on(read).expect("the ad exists");
    let answer = serde_json::to_string(&stored.ad.view(Some(&log))).expect("values are JSON");
    (setup, answer)
}

#[library_benchmark(setup = stock)]
#[bench::of_50_ads(config = figures(13_523_233, 14_508))]
fn list(setup: Setup) -> (Setup, Vec<String>) {
    let query = AdQuery { page: Page { limit: 50, ..Page::default() }, ..AdQuery::default() };
    let listed = setup.kit.service.list(&setup.access, None, query);
    let page = setup.runtime.block_on(listed).expect("the query is valid");
    let answers = page.rows.iter().map(|listed| serde_json::to_string(&listed.ad.view(None)).expect("values are JSON"));
    let answers = answers.collect();
    (setup, answers)
}

// Half of it is the SHA-256 of the listing: the processor that Valgrind shows has no instructions for it.
#[library_benchmark(setup = accepted)]
#[bench::both_marketplaces(config = figures(1_067_733, 586))]
fn publish(setup: Setup) -> Setup {
    setup.publish();
    setup
}

#[library_benchmark(setup = stock)]
#[bench::page_of_100(config = figures(923_204, 869))]
fn events(setup: Setup) -> Setup {
    let query = EventQuery { after: EventPosition::default(), types: Vec::new(), source_id: None, limit: 100 };
    let page = setup.runtime.block_on(setup.kit.store.events(Scope::Dealer("north-cars"), &query));
    black_box(page.expect("the memory store does not fail"));
    setup
}

library_benchmark_group!(
    name = operations,
    benchmarks = [parse, validate, refuse, quality, score, post, patch, get, list, publish, events]
);
main!(library_benchmark_groups = operations);
