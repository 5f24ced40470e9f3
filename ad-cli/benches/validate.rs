//! What checking a file costs, by the real binary: `cargo bench -p ad-cli`.
//!
//! Payloads a second and the peak of the process's memory, over files of growing size, beside what parsing alone comes to in the same
//! run on one core; and how long the program takes to start. The process fails when a bound is missed.

use std::{
    fs::{self, File},
    hint::black_box,
    io::{BufWriter, Write},
    path::Path,
    process::{Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BINARY: &str = env!("CARGO_BIN_EXE_ad-cli");
const CAR: &str = include_str!("../../tests/data/payloads/car-v4.json");
const FULL: &str = include_str!("../../ad-core/benches/car-full.json");

/// Fewest payloads of [`CAR`] a second.
const RATE: f64 = 100_000.0;
/// Largest permitted memory, in KiB.
const MEMORY: u64 = 50 * 1024;
/// Longest permitted time of a start.
const START: Duration = Duration::from_millis(20);
/// Times that each file is checked; the median counts.
const ROUNDS: usize = 3;
/// Times that the program is started; the median counts.
const STARTS: usize = 41;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    println!("{} processors", thread::available_parallelism().map_or(1, usize::from));
    println!(
        "{:<28}{:>10}{:>9}{:>12}{:>14}{:>9}{:>11}",
        "", "payloads", "bytes", "payloads/s", "parsing alone", "ratio", "peak MiB"
    );
    let mut kept = true;
    for (name, payload, form, counts, bound) in [
        ("car-v4.json, NDJSON", CAR, Form::Lines, &[20_000, 200_000, 1_000_000][..], Some(RATE)),
        ("car-v4.json, array", CAR, Form::Array, &[200_000], None),
        ("car-full.json, NDJSON", FULL, Form::Lines, &[200_000], None),
    ] {
        let payload: Value = serde_json::from_str(payload).expect("the payload is JSON");
        for count in counts {
            kept &= measure(folder.path(), name, &payload, form, *count, bound);
        }
    }
    for arguments in [&["--version"][..], &["values", "car", "body_type"]] {
        let mut times: Vec<_> = (0..STARTS).map(|_| started(arguments)).collect();
        times.sort_unstable();
        let median = times[STARTS / 2];
        let met = median < START;
        kept &= met;
        println!("ad-cli {:<40}{:>8.1} ms{}", arguments.join(" "), median.as_secs_f64() * 1e3, verdict(met));
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Lines,
    Array,
}

fn verdict(met: bool) -> &'static str {
    if met { "" } else { "  missed" }
}

/// Checks a file of so many payloads and prints a line; `false` when a bound is missed.
fn measure(folder: &Path, name: &str, payload: &Value, form: Form, count: usize, bound: Option<f64>) -> bool {
    let file = folder.join("payloads");
    let size = write(&file, payload, form, count);
    let alone = parsing(payload, count.min(100_000));
    let mut runs: Vec<_> = (0..ROUNDS).map(|_| checked(&file)).collect();
    runs.sort_by_key(|(took, _)| *took);
    let memory = runs.iter().map(|(_, memory)| *memory).max().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "counts of payloads are small")]
    let rate = count as f64 / runs[ROUNDS / 2].0.as_secs_f64();
    let met = bound.is_none_or(|bound| rate >= bound) && memory < MEMORY;
    println!(
        "{name:<28}{count:>10}{size:>9}{rate:>12.0}{alone:>14.0}{:>9.2}{:>11}{}",
        rate / alone,
        memory / 1024,
        verdict(met)
    );
    fs::remove_file(&file).expect("the file is there");
    met
}

/// Writes payloads that differ in what identifies them; returns the size of one.
fn write(file: &Path, payload: &Value, form: Form, count: usize) -> usize {
    let mut out = BufWriter::new(File::create(file).expect("a temporary folder can be written"));
    let mut payload = payload.clone();
    if form == Form::Array {
        out.write_all(b"[").expect("there is room");
    }
    for index in 0..count {
        payload["source_id"] = json!(format!("car-{index}"));
        payload["category_fields"]["registration_number"] = json!(plate(index));
        let between: &[u8] = match form {
            Form::Array if index > 0 => b",\n",
            Form::Lines if index > 0 => b"\n",
            _ => b"",
        };
        out.write_all(between)
            .and_then(|()| serde_json::to_writer(&mut out, &payload).map_err(Into::into))
            .expect("there is room");
    }
    if form == Form::Array {
        out.write_all(b"]").expect("there is room");
    }
    out.flush().expect("there is room");
    payload.to_string().len()
}

fn plate(index: usize) -> String {
    let letter =
        |place: u32| char::from(b'A' + u8::try_from(index / 1000 / 20_usize.pow(place) % 20).unwrap_or_default());
    format!("{}{}{}{:03}", letter(2), letter(1), letter(0), index % 1000)
}

/// Payloads a second that one core parses and drops.
fn parsing(payload: &Value, count: usize) -> f64 {
    let text = payload.to_string();
    let begun = Instant::now();
    for _ in 0..count {
        black_box(serde_json::from_str::<Value>(black_box(&text)).expect("it is JSON"));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of payloads are small")]
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    rate
}

/// How long it takes to check a file, which must be in order, and the peak of its memory in KiB.
fn checked(file: &Path) -> (Duration, u64) {
    let begun = Instant::now();
    let mut process = Command::new(BINARY)
        .arg("validate")
        .arg(file)
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary can be started");
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    loop {
        // The kernel keeps the peak; the last look before the end counts.
        peak = peak.max(fs::read_to_string(&status).ok().and_then(|text| high_water(&text)).unwrap_or_default());
        if let Some(ended) = process.try_wait().expect("an own process can be waited for") {
            assert!(ended.success(), "the payloads are in order");
            return (begun.elapsed(), peak);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn high_water(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// How long a command takes that does next to nothing.
fn started(arguments: &[&str]) -> Duration {
    let begun = Instant::now();
    let output = Command::new(BINARY).args(arguments).output().expect("the binary can be started");
    assert!(output.status.success());
    begun.elapsed()
}
