//! `ad-cli import` against a plain load generator, both against a real server in a process of its own: `cargo bench -p ad-tests --bench
//! importing`.
//!
//! The load generator does nothing but POST; the import also reads, checks, keeps a journal, and follows what it has sent. They take turns, each
//! on a server of its own, with as many requests out at a time; what counts is the ratio of the medians. The process fails when it is below the
//! bound.
//!
//! `-- memory`: the peak of the memory of an import that resumes a million ads, all of which earlier runs have published. It needs 2 GB in
//! `$TMPDIR`.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
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

/// Number of ads of the import that is resumed.
const RESUMED: usize = 1_000_000;
/// Most memory of that import, in bytes.
const MEMORY: u64 = 60_000_000;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    if std::env::args().any(|argument| argument == "memory") {
        return runtime.block_on(resumed());
    }
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
    let mut payload = payload();
    (0..ADS).map(|number| payload(&format!("car-{number}"), &format!("C{number:05}"))).collect()
}

/// Makes payloads by their source ids and plates.
fn payload() -> impl FnMut(&str, &str) -> String {
    let mut car: Value = serde_json::from_str(CAR).expect("the payload is JSON");
    car.as_object_mut().expect("the payload is an object").remove("image_urls");
    move |source_id, plate| {
        car["source_id"] = json!(source_id);
        car["category_fields"]["registration_number"] = json!(plate);
        car.to_string()
    }
}

/// Measures an import with nothing left to do: the service is not asked.
async fn resumed() -> ExitCode {
    let cli = Cli::new().with("AD_URL", "http://127.0.0.1:9").with("AD_TOKEN", "e30.e30.e30");
    write_resumed(&cli).expect("a temporary folder can be written");
    let mut command =
        cli.command(["import", "stock.ndjson", "--resume", "--accept-changes", "--report", "report.json"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let mut import = command.spawn().expect("the binary can be started");
    let status = format!("/proc/{}/status", import.id().expect("it runs"));
    let mut memory = 0;
    let ended = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak: Option<u64> =
            text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        memory = memory.max(peak.unwrap_or_default() * 1024);
        if let Some(ended) = import.try_wait().expect("it is a child") {
            break ended;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    println!(
        "ad-cli import --resume, {RESUMED} ads: {:.0} s, peak {} MB, bound {} MB",
        began.elapsed().as_secs_f64(),
        memory / 1_000_000,
        MEMORY / 1_000_000
    );
    let is_met = ended.success() && memory > 0 && memory < MEMORY;
    if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes a file of payloads, and the journal of an import that has published them.
fn write_resumed(cli: &Cli) -> std::io::Result<()> {
    let mut stock = BufWriter::new(File::create(cli.home().join("stock.ndjson"))?);
    let mut journal = BufWriter::new(File::create(cli.home().join("stock.ndjson.journal"))?);
    let begun = json!({
        "file": "stock.ndjson", "sha256": "", "url": "http://127.0.0.1:9", "at": "2026-11-28T10:00:00Z",
        "keys": "00000000-0000-4000-8000-000000000000",
    });
    writeln!(journal, "{}", json!({ "begun": begun }))?;
    let mut payload = payload();
    for number in 0..RESUMED {
        let source_id = format!("car-{number}");
        // AAA000 to AAA999, then AAB000 and so on.
        let letters = [number / 400_000, number / 20_000 % 20, number / 1_000 % 20];
        let letters: String = letters.iter().filter_map(|at| "ABCDEFGHJKLMNOPRSTUW".chars().nth(*at)).collect();
        let plate = format!("{letters}{:03}", number % 1_000);
        writeln!(stock, "{}", payload(&source_id, &plate))?;
        let request = format!("00000000-0000-7000-8000-{number:012}");
        writeln!(journal, "{}", json!({"accepted": {"source_id": source_id, "request_id": request}}))?;
        let ended = json!({
            "source_id": source_id, "request_id": request, "outcome": "published",
            "marketplace_ad_id": number.to_string(), "offer_id": number.to_string(),
        });
        writeln!(journal, "{}", json!({ "ended": ended }))?;
    }
    stock.flush().and_then(|()| journal.flush())
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
