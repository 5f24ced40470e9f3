//! `ad-cli import` against a plain load generator, both against a real server in a process of its own: `cargo bench -p ad-tests --bench
//! importing`.
//!
//! The load generator does nothing but POST; the import also reads, checks, keeps a journal that the disk has confirmed, and follows what it
//! has sent. They take turns, each on a server of its own, with as many requests out at a time; what counts is the ratio of the medians. The
//! process fails when it is below the bound.

use std::{
    path::Path,
    process::{ExitCode, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use ad_tests::{Cli, Server};
use serde_json::{Value, json};

const CAR: &str = include_str!("../../data/payloads/car-v4.json");

/// Number of ads of one measurement.
const ADS: usize = 10_000;
/// Requests that are out at the same time.
const PARALLEL: usize = 32;
/// Turns; odd, for the median.
const ROUNDS: usize = 3;
/// Least rate of the import, in times of the load generator's.
const BOUND: f64 = 0.8;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let (mut plain, mut sent, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(runtime.block_on(generated()));
        sent.push(runtime.block_on(imported(&["--no-wait"])));
        whole.push(runtime.block_on(imported(&[])));
    }
    let (plain, sent, whole) = (median(plain), median(sent), median(whole));
    let ratio = sent / plain;
    println!("{ADS} ads, {PARALLEL} requests out at a time, medians of {ROUNDS}, ads/s:");
    println!("load generator, POST                      {plain:>8.0}");
    println!("ad-cli import --no-wait                   {sent:>8.0}  ratio {ratio:.2}, bound {BOUND}");
    println!("ad-cli import, until all are published    {whole:>8.0}");
    if ratio >= BOUND { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// The payloads, one on each line.
fn payloads() -> Vec<String> {
    let mut car: Value = serde_json::from_str(CAR).expect("the payload is JSON");
    car.as_object_mut().expect("the payload is an object").remove("image_urls");
    let payload = |number| {
        car["source_id"] = json!(format!("car-{number}"));
        car["category_fields"]["registration_number"] = json!(format!("C{number:05}"));
        car.to_string()
    };
    (0..ADS).map(payload).collect()
}

fn rate(took: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
    let ads = ADS as f64;
    ads / took.as_secs_f64()
}

/// Ads a second that a loop of requests creates.
async fn generated() -> f64 {
    let server = Server::start().await;
    let payloads = Arc::new(Mutex::new(payloads()));
    let began = Instant::now();
    let clients: Vec<_> = (0..PARALLEL)
        .map(|_| {
            let (client, payloads) = (server.client.clone(), Arc::clone(&payloads));
            tokio::spawn(async move {
                loop {
                    let next = payloads.lock().expect("no client panics").pop();
                    let Some(payload) = next else { break };
                    let answer = client.send(reqwest::Method::POST, "/v4/car", Some(payload.into_bytes())).await;
                    assert_eq!(answer.status, 201);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("no client panics");
    }
    rate(began.elapsed())
}

/// Ads a second that an import brings in, from its start to its end.
async fn imported(options: &[&str]) -> f64 {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let file = cli.file("stock.ndjson", payloads().join("\n"));
    let parallel = PARALLEL.to_string();
    let line = ["import", name(&file), "--parallel", &parallel].into_iter().chain(options.iter().copied());
    let mut command = cli.command(line);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let ended = command.status().await.expect("the binary can be started");
    let took = began.elapsed();
    assert!(ended.success(), "the import succeeds");
    rate(took)
}

fn name(file: &Path) -> &str {
    file.to_str().expect("temporary folders have plain names")
}
