//! Harness of the end-to-end tests: the real server as a process on a free port, with its own database, media folder and
//! token keys, an image host, and a client that speaks to it.

pub mod broken_images;
mod browser;
mod bucket;
mod bystander;
mod cli;
mod client;
mod clock;
mod images;
mod lock;
mod marionette;
mod marketplace;
pub mod photos;
mod pooler;
pub mod ports;
mod postgres;
mod process;
mod proxy;
mod receiver;
mod server;
mod store;
pub mod tools;

pub use browser::{Browser, Cost, Engine};
pub use bucket::{BucketServer, Keys};
pub use bystander::{Bystander, Latencies, Seen};
pub use cli::{Cli, Ended};
pub use client::{Answer, Client, http_client};
pub use clock::MovedClock;
pub use fantoccini::key::Key;
pub use images::ImageHost;
pub use lock::WriteLock;
pub use marketplace::{MARKETPLACE_TOKEN, Marketplace};
pub use pooler::Pooler;
pub use postgres::Postgres;
pub use process::{Process, command, installed, run};
pub use proxy::SilentProxy;
pub use receiver::{Behaviour, Received, WebhookReceiver};
pub use server::{Options, Server};
pub use store::{TemporaryStore, sample_ad};

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// How long a test waits for something that has to happen.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until a condition holds, and returns what it gave.
///
/// # Panics
/// When it does not within [`PATIENCE`].
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, condition: impl FnMut() -> F) -> T {
    eventually_within(PATIENCE, what, condition).await
}

/// The same with a time of its own, for what takes long where tests are not optimised.
///
/// # Panics
/// When the condition does not hold within this time.
pub async fn eventually_within<T, F: Future<Output = Option<T>>>(
    patience: Duration,
    what: &str,
    mut condition: impl FnMut() -> F,
) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(start.elapsed() < patience, "waited in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The samples of the page compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
#[derive(Debug)]
pub struct Embedding;

/// Hexadecimal digits that a compressor finds no repetition in, the same for the same seed.
pub fn incompressible_text(seed: u64, digits: usize) -> String {
    // SplitMix64.
    let number = |place: u64| {
        let mixed = seed.wrapping_mul(1 << 32).wrapping_add(place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut text: String = (0..).map(|place| format!("{:016x}", number(place))).take(digits.div_ceil(16)).collect();
    text.truncate(digits);
    text
}
