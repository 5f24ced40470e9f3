//! What a country's installation has to survive: processes killed at random, a database that goes away, a marketplace that
//! is down, a clock that jumps, a disk that is full. After each of them every accepted write is finished, in order, and
//! each marketplace shows exactly one listing of each visible ad, with what was accepted last. Readers of events have seen
//! every entry of every log once.
//!
//! `cargo test` runs a short form of each. The full one, minutes long, prints the same counts:
//!
//! ```sh
//! FAULTS=full cargo test -p ad-tests --test e2e faults:: -- --nocapture --test-threads 1
//! ```

mod clock;
mod country;
mod disk;
mod fleet;
mod judge;
mod load;
mod readers;

use std::time::Duration;

use country::Country;
use load::Load;

/// How long a fault is kept up.
fn lasting(short: u64, full: u64) -> Duration {
    let is_full = std::env::var_os("FAULTS").is_some_and(|value| value == "full");
    Duration::from_secs(if is_full { full } else { short })
}

/// Kills one process after the other at random moments, and starts each again.
#[tokio::test]
async fn processes_that_are_killed_at_random_lose_and_double_nothing() {
    let Some(mut country) = Country::start(2, 2).await else { return };
    let load = Load::start(&country.clients(), 24);
    let mut dice = fastrand::Rng::with_seed(4);
    let (start, mut kills) = (std::time::Instant::now(), 0);
    while start.elapsed() < lasting(12, 120) {
        // Not a wait for anything: the moment is to be any.
        tokio::time::sleep(Duration::from_millis(dice.u64(200..1200))).await;
        country.fleet.kill_one(&mut dice).await;
        kills += 1;
    }
    let accepted = load.stop().await;
    country.fleet.settle().await;
    judge::expect_sound(&country, &accepted, &format!("{kills} processes killed")).await;
}

#[tokio::test]
async fn a_database_that_crashes_under_load_loses_and_doubles_nothing() {
    let Some(mut country) = Country::start(2, 1).await else { return };
    let load = Load::start(&country.clients(), 24);
    let (start, mut crashes) = (std::time::Instant::now(), 0);
    while start.elapsed() < lasting(8, 120) {
        load.more(60).await;
        country.postgres.stop(if crashes % 2 == 0 { "immediate" } else { "fast" });
        // For a while it is away.
        tokio::time::sleep(Duration::from_millis(700)).await;
        country.postgres.start_again().await;
        crashes += 1;
    }
    let accepted = load.stop().await;
    country.fleet.settle().await;
    judge::expect_sound(&country, &accepted, &format!("the database restarted {crashes} times")).await;
}

#[tokio::test]
async fn a_marketplace_that_is_down_for_a_while_gets_everything_in_the_end() {
    let Some(mut country) = Country::start(1, 1).await else { return };
    let load = Load::start(&country.clients(), 16);
    load.more(40).await;
    country.marketplace.process.kill().await;
    tokio::time::sleep(lasting(4, 60)).await;
    country.marketplace.restart().await;
    load.more(40).await;
    let accepted = load.stop().await;
    country.fleet.settle().await;
    judge::expect_sound(&country, &accepted, "the marketplaces were down").await;
}

/// A call of which every fourth goes wrong in one of the ways in which calls do.
#[tokio::test]
async fn a_marketplace_that_fails_now_and_then_gets_everything_once() {
    let Some(country) = Country::start(1, 2).await else { return };
    let faults = ["429", "500", "timeout", "lost"].map(|kind| serde_json::json!({"fault": kind, "per_mille": 60}));
    country.marketplace.faults(serde_json::json!(faults)).await;
    let load = Load::start(&country.clients(), 16);
    tokio::time::sleep(lasting(5, 60)).await;
    let accepted = load.stop().await;
    country.marketplace.faults(serde_json::json!([])).await;
    country.fleet.settle().await;
    judge::expect_sound(&country, &accepted, "a quarter of the calls failed").await;
}

/// Two clients write the same ad through two processes at the same time.
#[tokio::test]
async fn two_processes_racing_on_one_ad_keep_its_order() {
    let Some(country) = Country::start(2, 2).await else { return };
    for number in 0..lasting(3, 60).as_secs() {
        let source_id = format!("contested-{number}");
        let race = load::race(&country, &source_id).await;
        country.fleet.settle().await;
        judge::expect_one_winner(&country, &source_id, &race).await;
    }
}
