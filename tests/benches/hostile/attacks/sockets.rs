//! Attacks that open connections.

use std::{future::pending, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::sleep,
};

use crate::{
    attacker::{Attacker, CONNECTIONS},
    connection::Request,
};

/// More than a server has by default.
const SOCKETS: usize = 1000;

pub(super) async fn silent(attacker: Attacker) {
    attacker.begin().await;
    let work = |attacker: Attacker, index: usize| async move {
        let whole = attacker.bytes(&Request::post("/v4/car", "{\"source_id\": \"never\"}"));
        // The head ends in the header of the body's length and an empty line.
        let sent = match index % 3 {
            0 => &[],
            1 => &whole[..whole.len() - 1],
            _ => &whole[..40],
        };
        loop {
            let mut stream = attacker.connect(None).await;
            attacker.count("connected");
            let (mut read, mut write) = stream.split();
            let trickle = async {
                drop(write.write_all(sent).await);
                while index % 3 == 2 && write.write_all(b"x").await.is_ok() {
                    sleep(Duration::from_millis(500)).await;
                }
                pending::<()>().await;
            };
            let mut buffer = [0; 1024];
            let closed = async { while read.read(&mut buffer).await.is_ok_and(|length| length > 0) {} };
            tokio::select! {
                () = trickle => {}
                () = closed => attacker.count("closed"),
            }
        }
    };
    attacker.at_once(SOCKETS, work).await;
}

pub(super) async fn reconnecting(attacker: Attacker) {
    attacker.begin().await;
    let work = |attacker: Attacker, _| async move {
        let request = attacker.bytes(&Request::get("/v4/ad?limit=1"));
        loop {
            match attacker.open().await.ask(&request).await {
                Ok(answer) => attacker.count(&answer.status.to_string()),
                Err(_) => attacker.count("closed"),
            }
        }
    };
    attacker.at_once(CONNECTIONS, work).await;
}
