//! Attacks by reading: searches, lists, and reads of one ad.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, Interest},
    net::TcpStream,
    time::sleep,
};

use super::{car, post_car};
use crate::{
    attacker::{Attacker, CONNECTIONS},
    connection::Request,
};

/// Characters of the texts that are searched and listed.
const TEXT: usize = 200_000;
const SEARCHED: usize = 120;
const LISTED: usize = 500;
/// How long a client waits that leaves before the answer.
const STAY: Duration = Duration::from_millis(50);

/// Creates ads with long texts.
async fn stock(attacker: &Attacker, count: usize) {
    let text = "a".repeat(TEXT);
    attacker.prepare(count, |number| post_car(&car(&format!("long-{number}"), &text))).await;
}

/// A search for a term that is found almost, everywhere, and nowhere whole.
fn almost(before: usize, after: usize) -> Request {
    Request::get(format!("/v4/ad?limit=1&search={}c{}", "a".repeat(before), "a".repeat(after)))
}

pub(super) async fn search(attacker: Attacker, before: usize, after: usize) {
    stock(&attacker, SEARCHED).await;
    attacker.begin().await;
    attacker.flood(move |_, _| almost(before, after)).await;
}

pub(super) async fn search_and_leave(attacker: Attacker) {
    stock(&attacker, SEARCHED).await;
    attacker.begin().await;
    let work = |attacker: Attacker, _| async move {
        let request = attacker.bytes(&almost(100, 99));
        loop {
            let mut connection = attacker.open().await;
            match tokio::time::timeout(STAY, connection.ask(&request)).await {
                Ok(Ok(answer)) => attacker.count(&answer.status.to_string()),
                Ok(Err(_)) => attacker.count("closed"),
                Err(_) => attacker.count("left"),
            }
        }
    };
    attacker.at_once(CONNECTIONS, work).await;
}

pub(super) async fn unread_lists(attacker: Attacker) {
    stock(&attacker, LISTED).await;
    attacker.begin().await;
    let work = |attacker: Attacker, index: usize| async move {
        let request = attacker.bytes(&Request::get("/v4/ad?limit=500"));
        loop {
            let mut stream = attacker.connect(Some(4096)).await;
            if stream.write_all(&request).await.is_ok() {
                attacker.count("asked");
                if index.is_multiple_of(2) { unread(&stream).await } else { trickle(&mut stream).await }
            }
            attacker.count("closed");
        }
    };
    attacker.at_once(CONNECTIONS, work).await;
}

/// Reads nothing until the server closes the connection.
async fn unread(stream: &TcpStream) {
    while stream.ready(Interest::READABLE).await.is_ok_and(|ready| !ready.is_read_closed()) {
        sleep(Duration::from_millis(200)).await;
    }
}

/// Reads a kilobyte now and then until the server closes the connection.
async fn trickle(stream: &mut TcpStream) {
    let mut buffer = [0; 1000];
    while stream.read(&mut buffer).await.is_ok_and(|length| length > 0) {
        sleep(Duration::from_millis(100)).await;
    }
}

pub(super) async fn lists(attacker: Attacker) {
    attacker.prepare(LISTED, |number| post_car(&car(&format!("short-{number}"), "A car."))).await;
    attacker.begin().await;
    let fields = format!("/v4/ad?fields={}xx", "xx,".repeat(20_000));
    attacker
        .flood(move |index, number| {
            if (index + number).is_multiple_of(2) {
                Request::get(fields.clone())
            } else {
                Request::get("/v4/ad?limit=500&include=log")
            }
        })
        .await;
}

pub(super) async fn reads(attacker: Attacker) {
    attacker.prepare(1, |_| post_car(&car("read", "A car."))).await;
    attacker.begin().await;
    attacker.flood(|_, _| Request::get("/v4/ad/read")).await;
}

pub(super) async fn mixed(attacker: Attacker) {
    stock(&attacker, SEARCHED).await;
    attacker.begin().await;
    attacker
        .flood(|index, number| match index % 5 {
            0 => almost(100, 99),
            1 => Request::get("/v4/ad?limit=500&include=log"),
            2 => Request::get("/v4/ad/long-0"),
            3 => post_car(&car(&format!("new-{index}-{number}"), "A car.")),
            _ => Request::get("/v4/ad/long-1/retry"),
        })
        .await;
}
