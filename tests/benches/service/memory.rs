//! How large the process is while it answers a million requests: three reads to each new ad, and its worker publishes
//! them.

use std::time::Instant;

use ad_tests::Server;
use reqwest::{Method, Request};
use serde_json::{Value, json};

use crate::support::{CAR, rate, with_body};

const REQUESTS: usize = 1_000_000;
/// Requests between two readings of the memory.
const STEP: usize = 50_000;

pub(super) async fn watch() {
    let server = Server::start().await;
    let token = server.client.token.clone().expect("a test server issues one");
    let mut car: Value = serde_json::from_str(CAR).expect("the sample is JSON");
    car["image_urls"] = json!([]);
    let request = |method, path: &str| {
        let mut request = Request::new(method, format!("{}{path}", server.client.base).parse().expect("a URL"));
        request.headers_mut().insert("X-Auth-Token", token.parse().expect("tokens are ASCII"));
        request
    };
    println!("{:>12}{:>16}{:>14}", "requests", "resident, MB", "requests/s");
    let start = Instant::now();
    for from in (0..REQUESTS).step_by(STEP) {
        let mut step = Vec::with_capacity(1000);
        for part in (from..from + STEP).step_by(1000) {
            for number in part..part + 1000 {
                if number % 4 == 0 {
                    car["source_id"] = json!(format!("car-{number}"));
                    car["category_fields"]["registration_number"] = json!(format!("{:06}", number / 4));
                    step.push(with_body(request(Method::POST, "/v4/car"), car.to_string()));
                } else {
                    let earlier = (number.saturating_sub(2000) * 7919 % part.max(1)) / 4 * 4;
                    let path = if part == 0 { "/v4/ad".to_owned() } else { format!("/v4/ad/car-{earlier}") };
                    step.push(request(Method::GET, &path));
                }
            }
            rate(std::mem::take(&mut step)).await;
        }
        let done = from + STEP;
        let rate = f64::from(u32::try_from(done).unwrap_or(u32::MAX)) / start.elapsed().as_secs_f64();
        println!("{done:>12}{:>16}{rate:>14.0}", resident(server.pid()) / 1024);
    }
}

/// Kilobytes of a process that are in memory.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs, on Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says its size");
    line.trim().trim_end_matches(" kB").parse().expect("in kilobytes")
}
