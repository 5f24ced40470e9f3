//! Attacks by images, whose hosts belong to the attacker.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use ad_tests::ImageHost;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use super::{car, post_car};
use crate::{attacker::Attacker, connection::Request};

/// Number of images of each ad.
const IMAGES: usize = 20;
/// Addresses of the hosts, and ports on each.
const HOSTS: (u8, usize) = (64, 4);
/// Just below what an image may have.
const LARGE: usize = 14_900_000;
/// What an image begins with.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x03\0\x08\x02\0\0\0";
/// Pause after each new ad. The images are the attack, not the ads.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn slow_hosts(attacker: Attacker) {
    attack(attacker, hosts(100_000, PNG.len()).await).await;
}

pub(super) async fn dripping(attacker: Attacker) {
    attack(attacker, hosts(LARGE, LARGE - 100).await).await;
}

pub(super) async fn frozen_store(attacker: Attacker) {
    let host = ImageHost::start().await;
    attacker.begin().await;
    let base = host.base.clone();
    let request = move |index: usize, number: usize| {
        let seed = (number * 64 + index) * IMAGES;
        new_ad(index, number, |image| format!("{base}/{}.jpg", seed + image))
    };
    attacker.flood_with_pauses(PAUSE, request).await;
}

/// Creates ads whose images are all over the hosts.
async fn attack(attacker: Attacker, hosts: Arc<Vec<SocketAddr>>) {
    attacker.begin().await;
    let request = move |index: usize, number: usize| {
        new_ad(index, number, |image| {
            let host = hosts[(index + number * 7 + image * 13) % hosts.len()];
            format!("http://{host}/{index}-{number}-{image}.png")
        })
    };
    attacker.flood_with_pauses(PAUSE, request).await;
}

fn new_ad(index: usize, number: usize, url: impl Fn(usize) -> String) -> Request {
    let mut car = car(&format!("new-{index}-{number}"), "A car.");
    car["image_urls"] = json!((0..IMAGES).map(url).collect::<Vec<_>>());
    post_car(&car)
}

/// Hosts on addresses and ports of their own, which answer every request with an image of a length: so much of it at
/// once, then a byte every half second.
async fn hosts(length: usize, at_once: usize) -> Arc<Vec<SocketAddr>> {
    let mut answer =
        format!("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {length}\r\n\r\n").into_bytes();
    answer.extend_from_slice(PNG);
    answer.resize(answer.len() + at_once - PNG.len(), 0);
    let answer: Arc<[u8]> = answer.into();
    let mut hosts = Vec::new();
    for address in 1..=HOSTS.0 {
        for _ in 0..HOSTS.1 {
            let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 1, address), 0)).await.expect("a port is free");
            hosts.push(listener.local_addr().expect("it listens"));
            tokio::spawn(serve(listener, Arc::clone(&answer)));
        }
    }
    Arc::new(hosts)
}

async fn serve(listener: TcpListener, answer: Arc<[u8]>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(drip(stream, Arc::clone(&answer)));
    }
}

async fn drip(mut stream: TcpStream, answer: Arc<[u8]>) {
    let mut head = [0; 4096];
    if stream.read(&mut head).await.is_err() {
        return;
    }
    let mut sent = stream.write_all(&answer).await;
    while sent.is_ok() {
        sleep(Duration::from_millis(500)).await;
        sent = stream.write_all(&[0]).await;
    }
}
