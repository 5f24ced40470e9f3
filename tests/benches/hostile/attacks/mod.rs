//! The attacks of one dealer, each a function that prepares, waits until it may begin, and then does its worst.

mod bodies;
mod images;
mod reads;
mod sockets;
mod writes;

use std::pin::Pin;

use serde_json::{Value, json};

use crate::{attacker::Attacker, connection::Request};

pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Where the server keeps images meanwhile.
    pub(crate) store: Store,
    pub(crate) run: fn(Attacker) -> Pin<Box<dyn Future<Output = ()>>>,
}

/// Kind of the image store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Folder,
    /// A bucket that stops answering when the attack begins.
    Frozen,
}

const fn attack(
    name: &'static str,
    about: &'static str,
    run: fn(Attacker) -> Pin<Box<dyn Future<Output = ()>>>,
) -> Attack {
    Attack { name, about, store: Store::Folder, run }
}

/// All of them, in the order of the table.
pub(crate) const ATTACKS: [Attack; 20] = [
    attack("search", "searches whose terms almost match everywhere, in 120 texts of 200 kB", |attacker| {
        Box::pin(reads::search(attacker, 100, 99))
    }),
    attack("search-long", "searches whose terms have 60,000 characters, in 120 texts of 200 kB", |attacker| {
        Box::pin(reads::search(attacker, 59_000, 1000))
    }),
    attack(
        "search-leave",
        "the searches of `search`, by clients that disconnect after 50 ms and ask again",
        |attacker| Box::pin(reads::search_and_leave(attacker)),
    ),
    attack("unread-lists", "lists of 500 ads of 200 kB, half of them not read, half read at 10 kB/s", |attacker| {
        Box::pin(reads::unread_lists(attacker))
    }),
    attack("list-flood", "lists with 60 kB of fields, and lists of 500 ads with their logs", |attacker| {
        Box::pin(reads::lists(attacker))
    }),
    attack("get-flood", "reads of one ad", |attacker| Box::pin(reads::reads(attacker))),
    attack(
        "growing-patches",
        "updates that each add 1 MB to one of four ads, and changes of their titles",
        |attacker| Box::pin(writes::growing(attacker)),
    ),
    attack("retry-flood", "retries of one ad", |attacker| Box::pin(writes::retries(attacker))),
    attack("post-flood", "new ads, which are published too", |attacker| Box::pin(writes::posts(attacker))),
    attack("key-flood", "new ads with the idempotency key of another ad", |attacker| {
        Box::pin(writes::reused_keys(attacker))
    }),
    attack("validate-flood", "validation of payloads of 1 MiB with as many errors as they can have", |attacker| {
        Box::pin(writes::validations(attacker))
    }),
    attack("slow-hosts", "ads with 20 images each, on 256 hosts that do not answer in time", |attacker| {
        Box::pin(images::slow_hosts(attacker))
    }),
    attack("dripping-images", "ads with 20 images of 14.9 MB each, whose last bytes drip", |attacker| {
        Box::pin(images::dripping(attacker))
    }),
    Attack {
        store: Store::Frozen,
        ..attack("frozen-store", "ads with images while the bucket for images does not answer", |attacker| {
            Box::pin(images::frozen_store(attacker))
        })
    },
    attack(
        "silent-sockets",
        "1,000 connections that send nothing, half a request, or headers byte by byte",
        |attacker| Box::pin(sockets::silent(attacker)),
    ),
    attack("new-connections", "a new connection for each request", |attacker| {
        Box::pin(sockets::reconnecting(attacker))
    }),
    attack("bodies-flood", "bodies of 1 MiB that consist of empty arrays", |attacker| {
        Box::pin(bodies::flood(attacker))
    }),
    attack("bodies-slow", "bodies of 1 MiB whose last bytes drip", |attacker| Box::pin(bodies::dripping(attacker))),
    attack(
        "bodies-http2",
        "bodies of 1 MiB without their last bytes, over 8 HTTP/2 connections with 100 streams each",
        |attacker| Box::pin(bodies::over_http2(attacker)),
    ),
    attack("mixed", "search, lists, reads, new ads and retries at once", |attacker| Box::pin(reads::mixed(attacker))),
];

/// A car of which little is known, with this text.
fn car(source_id: &str, body: &str) -> Value {
    json!({
        "source_id": source_id,
        "category_id": 1020,
        "body": body,
        "category_fields": {"vin": "HSTLE000000000000", "model_year": 2019},
    })
}

/// A request that creates a car.
fn post_car(car: &Value) -> Request {
    Request::post("/v4/car", car.to_string())
}
