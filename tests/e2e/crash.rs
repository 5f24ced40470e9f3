//! `kill -9` at any moment: every accepted request is finished after a restart, and each marketplace saw it once.

use ad_tests::{Server, eventually};
use serde_json::Value;

use crate::payloads::plain_car;

#[tokio::test]
async fn a_killed_server_loses_none_of_a_thousand_ads_and_doubles_none() {
    const ADS: usize = 1000;
    let mut server = Server::start().await;
    let mut accepted = Vec::new();
    let mut kills = 0;
    let mut next = 0;
    while next < ADS {
        let id = format!("ad-{next}");
        let plate = format!("{:06}", 100_000 + next);
        let sent = server.client.try_send(
            reqwest::Method::POST,
            "/v4/car",
            Some(plain_car(&id, &plate).to_string().into_bytes()),
        );
        match sent.await {
            // 409: the answer to an earlier attempt was lost with the server, the ad was not.
            Ok(answer) if answer.status == 201 || answer.status == 409 => accepted.push(id),
            Ok(answer) => panic!("{} {}", answer.status, answer.json()),
            Err(error) => panic!("{error}"),
        }
        next += 1;
        // In the middle of the work, again and again.
        if next % 170 == 0 {
            server.kill().await;
            kills += 1;
            server.restart().await;
        }
    }
    server.kill().await;
    server.restart().await;
    let rows = eventually("every ad is published", || async {
        let mut rows: Vec<Value> = Vec::new();
        for offset in (0..ADS).step_by(500) {
            let path = format!("/v4/ad?limit=500&offset={offset}&include=log&ordering=source_id");
            rows.extend(server.client.get(&path).await.expect(200)["results"].as_array()?.iter().cloned());
        }
        let done = |ad: &Value| {
            ad["log"]
                .as_array()
                .is_some_and(|log| log.iter().any(|it| it["action"] == "publish" && it["state"] == "done"))
        };
        (rows.len() == ADS && rows.iter().all(done)).then_some(rows)
    })
    .await;
    let ids: std::collections::BTreeSet<_> =
        rows.iter().map(|ad| ad["source_id"].as_str().unwrap().to_owned()).collect();
    let lost = accepted.iter().filter(|id| !ids.contains(*id)).count();
    let stuttering = rows.iter().filter(|ad| ad["log"].as_array().unwrap().len() != 4).count();
    let listings = server.listings().await;
    // Applied once: created, and never changed by a repeated call.
    let doubled = listings.len().saturating_sub(2 * ADS) + listings.iter().filter(|it| it["changes"] != 1).count();
    println!(
        "accepted {}, finished {}, kills {}, lost {lost}, doubled {doubled}",
        accepted.len(),
        rows.len(),
        kills + 1
    );
    assert_eq!((accepted.len(), lost, doubled, stuttering), (ADS, 0, 0, 0));
}
