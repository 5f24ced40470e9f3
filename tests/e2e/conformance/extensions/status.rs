//! E6: why an ad is or is not live.

use serde_json::json;

use crate::conformance::{
    pattern::{ANY, MORE},
    request::{Who, get, post},
    rule::{Rule, extension},
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E6", name, says);
    vec![
        rule("a live ad", "It says for each marketplace whether it shows the ad.")
            .by(|trial| Box::pin(live(trial)))
            .one_sided("ads of others have a rule of their own"),
        rule(
            "why it is not live",
            "While an action is retried: reason of the last try, number of tries, time of the next.",
        )
        .see("e2e::status::an_ad_waits_for_a_marketplace_and_says_why"),
        rule("every status", "live, partly_live, hidden, failed, deleted, each with its channels.")
            .see("e2e::status::every_situation_of_an_ad_has_its_word"),
        rule("status of foreign or unknown ads", "As a read of the ad.").by(|trial| Box::pin(foreign(trial))),
        rule(
            "status in lists",
            "`status` is a filter of every ad list, and with `include=status` a member of listed ads.",
        )
        .by(|trial| Box::pin(lists(trial))),
        rule("summary", "The numbers of the ads in scope.").by(|trial| Box::pin(summary(trial))),
    ]
}

async fn live(trial: &Trial) {
    let (id, created) = trial.created("boat", &json!({})).await;
    trial.ended(&id, "publish", &created).await;
    let channel = json!({"marketplace": "primary", "status": "live", "listing_id": ANY, "since": ANY, "code": null,
        "text": MORE, "who_acts": "nobody", "what_to_do": null, "attempts": 0, "next_attempt": null});
    let status = json!({"source_id": id, "state": "created", "status": "live", "since": ANY, "text": MORE,
        "channels": [channel], "images": [], "unfinished": [], "pole_position_until": null});
    for base in ["/v4/ad", "/v4/boat", "/v3/ad"] {
        trial.accepts(get(format!("{base}/{id}/status")), 200, status.clone()).await;
    }
    trial.accepts(get(format!("/v4/ad/{id}/status")).by(Who::Group), 200, status).await;
}

async fn foreign(trial: &Trial) {
    let (id, _) = trial.created("boat", &json!({})).await;
    let path = format!("/v4/ad/{id}/status");
    trial.accepts(get(&path).by(Who::Reader), 200, json!({"source_id": id})).await;
    for who in [Who::South, Who::Coast, Who::Quiet] {
        trial.refuses(get(&path).by(who), 404, json!({"detail": MORE})).await;
    }
    trial.refuses(get(format!("/v4/car/{id}/status")), 404, json!({"detail": MORE})).await;
    trial.refuses(get("/v4/ad/nobody-has-this/status"), 404, json!({"detail": MORE})).await;
    trial.refuses(get(&path).by(Who::Nobody), 401, json!({"detail": MORE})).await;
    trial.refuses(get(&path).by(Who::Writer), 403, json!({"detail": MORE})).await;
    trial.refuses(post(&path, &json!({})), 405, json!({"detail": MORE})).await;
    trial.refuses(get(format!("{path}?limit=1")), 400, json!({"limit": [MORE]})).await;
}

async fn lists(trial: &Trial) {
    let (id, created) = trial.created("boat", &json!({"visible": false})).await;
    trial.ended(&id, "create", &created).await;
    let of = |query: &str| format!("/v4/boat?source_id={id}&fields=source_id&{query}");
    let page =
        |rows: serde_json::Value, count: u32| json!({"count": count, "next": null, "previous": null, "results": rows});
    let row = json!({"source_id": id, "status": "hidden"});
    trial.accepts(get(of("include=status&status=hidden,failed")), 200, page(json!([row]), 1)).await;
    trial.accepts(get(of("status=hidden")), 200, page(json!([{"source_id": id}]), 1)).await;
    trial.accepts(get(of("status=live")), 200, page(json!([]), 0)).await;
    trial.accepts(get(format!("/v4/boat/{id}?fields=source_id&include=status")), 200, row).await;
    trial.refuses(get(of("status=sold")), 400, json!({"status": [MORE]})).await;
    trial.refuses(get(of("status=")), 400, json!({"status": [MORE]})).await;
}

async fn summary(trial: &Trial) {
    trial.created("boat", &json!({})).await;
    let numbers = json!({"ads": ANY, "by_status": ANY, "by_vehicle_type": ANY, "by_channel": ANY, "failures": ANY});
    trial.accepts(get("/v4/summary"), 200, numbers.clone()).await;
    trial.accepts(get("/v4/summary?dealer_code=north-cars").by(Who::Group), 200, numbers).await;
    let none = json!({"ads": 0, "by_status": {}, "by_vehicle_type": {}, "by_channel": {}, "failures": {}});
    trial.accepts(get("/v4/summary?dealer_code=nobody"), 200, none).await;
    trial.refuses(get("/v4/summary").by(Who::Nobody), 401, json!({"detail": MORE})).await;
    trial.refuses(get("/v4/summary").by(Who::Writer), 403, json!({"detail": MORE})).await;
    trial.refuses(post("/v4/summary", &json!({})), 405, json!({"detail": MORE})).await;
    trial.refuses(get("/v4/summary?limit=1"), 400, json!({"limit": [MORE]})).await;
}
