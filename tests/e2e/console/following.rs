//! Pages that follow events: all parts of an ad's page, and after a proxy has refused the stream.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use ad_tests::{Browser, Server};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

use super::{ad_query, browser::sign_in};
use crate::payloads::plain_car;

#[tokio::test]
async fn every_part_of_an_ads_page_follows_events() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    let mut car = plain_car("follow-1", "FLW001");
    car["price"] = json!([{"type": "list", "amount": 100_000, "currency": "SEK"}]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("follow-1").await;
    sign_in(&browser, &server.client).await;
    browser.open(&format!("{}/console/ad?{}", server.client.base, ad_query("follow-1"))).await;
    browser.until("document.readyState === 'complete' && 'follows' in document.body.dataset").await;

    // The choice of the preview has the focus, and is no part of what is replaced.
    let last = "[...document.querySelectorAll('input[name=preview]')].at(-1)";
    browser.eval(&format!("{last}.click(), {last}.focus()")).await;
    let price = json!({"price": [{"type": "list", "amount": 87_654, "currency": "SEK"}], "body": "As good as new"});
    server.client.patch("/v4/car/follow-1", &price).await.expect(200);
    browser.until("document.querySelector('.preview-phone').innerText.includes('As good as new')").await;
    browser.until("document.querySelector('#facts').innerText.replace(/\\s/g, '').includes('87654SEK')").await;
    browser.until("document.querySelector('#prices').innerText.replace(/\\s/g, '').includes('87654')").await;
    browser.until("document.querySelector('#payload-json').textContent.includes('87654')").await;
    assert_eq!(browser.eval(&format!("{last}.checked && document.activeElement === {last}")).await, true);

    // The button that has the focus goes; the keyboard stays at its place.
    browser.eval("document.querySelector('button[value=hide]').focus()").await;
    server.client.patch("/v4/car/follow-1", &json!({"visible": false})).await.expect(200);
    browser.until("!!document.querySelector('#actions a[href*=publish]')").await;
    assert_eq!(browser.eval("!document.querySelector('button[value=hide]')").await, true);
    assert_eq!(browser.eval("document.activeElement?.id").await, "actions");

    browser
        .until("!!document.querySelector('#actions a[href*=edit]') && !!document.querySelector('#add-photos')")
        .await;
    server.client.delete("/v4/car/follow-1").await.expect(200);
    browser.until("!document.querySelector('#actions a[href*=edit]') && !document.querySelector('#add-photos')").await;
    browser.until("!document.querySelector('#actions button')").await;
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

/// Forwards to a service, or answers 502 in its place, as a proxy does while the service is replaced.
struct Proxy {
    address: SocketAddr,
    is_away: watch::Sender<bool>,
    /// First lines of the requests that got 502.
    refused: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (is_away, away) = watch::channel(false);
        let refused = Arc::default();
        let mut tasks = JoinSet::new();
        let notes = Arc::clone(&refused);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(forward(client, to, away.clone(), Arc::clone(&notes)));
            }
        });
        Self { address, is_away, refused, _tasks: tasks }
    }

    fn has_refused(&self, path: &str) -> bool {
        self.refused.lock().unwrap().iter().any(|line| line.contains(path))
    }
}

async fn forward(
    mut client: TcpStream,
    to: SocketAddr,
    mut away: watch::Receiver<bool>,
    refused: Arc<Mutex<Vec<String>>>,
) {
    if *away.borrow() {
        let mut head = [0; 1024];
        let length = client.read(&mut head).await.unwrap_or_default();
        let line = String::from_utf8_lossy(&head[..length]).lines().next().unwrap_or_default().to_owned();
        let answer = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let _ = client.write_all(answer.as_bytes()).await;
        refused.lock().unwrap().push(line);
        return;
    }
    let Ok(mut server) = TcpStream::connect(to).await else { return };
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => {}
        _ = away.wait_for(|is_away| *is_away) => {}
    }
}

#[tokio::test]
async fn a_page_follows_again_after_a_proxy_has_answered_502() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("proxy-1", "PRX001")).await.expect(201);
    server.client.published("proxy-1").await;
    // A session is for all ports of a host.
    sign_in(&browser, &server.client).await;
    let host = server.client.base.trim_start_matches("http://").parse().unwrap();
    let proxy = Proxy::start(host).await;
    browser.open(&format!("http://{}/console/ad?{}", proxy.address, ad_query("proxy-1"))).await;
    browser.until("document.readyState === 'complete' && 'follows' in document.body.dataset").await;
    assert_eq!(browser.eval("document.querySelector('#stream').textContent").await, "");

    proxy.is_away.send_replace(true);
    browser.until("document.querySelector('#stream').innerText.includes('may be old')").await;
    ad_tests::eventually("the stream was refused", async || proxy.has_refused("/console/events").then_some(())).await;
    server.client.patch("/v4/car/proxy-1", &json!({"visible": false})).await.expect(200);
    proxy.is_away.send_replace(false);

    browser.until("document.querySelector('#stream').textContent === '' && 'follows' in document.body.dataset").await;
    browser.until("document.querySelector('#status .badge').innerText === 'Hidden'").await;
    // By an event, as before.
    server.client.ended("proxy-1", "unpublish", None).await;
    server.client.patch("/v4/car/proxy-1", &json!({"visible": true})).await.expect(200);
    browser.until("document.querySelector('#status .badge').innerText === 'Live'").await;
}
