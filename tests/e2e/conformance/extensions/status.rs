//! E6: why an ad is or is not live.

use reqwest::Method;
use serde_json::json;

use crate::conformance::{
    pattern::{ABSENT, ANY, MORE},
    request::{Request, Who, get, post},
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
        .see("e2e::status::an_ad_waits_for_a_marketplace_and_says_why")
        .see("rules::status::an_ad_waits_for_a_marketplace_that_is_down_and_says_until_when"),
        rule("computed from the facts", "It is computed from the facts the worker acts on, never guessed.")
            .see("rules::status::after_any_steps_lists_and_counts_say_what_is_computed_from_the_facts")
            .see("rules::status::a_channel_is_paused_while_no_call_is_sent"),
        rule("every status", "live, partly_live, hidden, failed, deleted, each with its channels.")
            .see("e2e::status::every_situation_of_an_ad_has_its_word"),
        rule(
            "outdated",
            "A channel is outdated when it is listed and its latest update failed; the ad is then partly_live.",
        )
        .see("rules::status::a_listing_whose_update_failed_is_outdated")
        .see("rules::status::an_ad_that_could_not_be_deleted_everywhere_is_partly_live"),
        rule("partly_live", "Also when only one of its channels is live.")
            .see("rules::status::what_a_marketplace_refuses_is_for_the_dealer_to_correct"),
        rule(
            "failed, images",
            "failed: no channel is live and nothing is under way. Each image says what became of it.",
        )
        .by(|trial| Box::pin(failed(trial)))
        .one_sided("ads of others have a rule of their own")
        .see("rules::status::an_ad_waits_for_an_image_host_and_then_says_which_image_failed"),
        rule("unfinished", "The ad's unfinished requests, as E2 shows them.")
            .see("e2e::status::an_ad_waits_for_a_marketplace_and_says_why"),
        rule("pole_position_until", "The end of the ad's pole position.")
            .by(|trial| Box::pin(pole_position(trial)))
            .one_sided("ads of others have a rule of their own"),
        rule("status of foreign or unknown ads", "As a read of the ad.").by(|trial| Box::pin(foreign(trial))),
        rule("no tag", "An ad's tag does not move with attempts and their times, so a status has none.")
            .by(|trial| Box::pin(no_tag(trial)))
            .one_sided("ads of others have a rule of their own"),
        rule(
            "status in lists",
            "`status` is a filter of every ad list, and with `include=status` a member of listed ads.",
        )
        .by(|trial| Box::pin(lists(trial))),
        rule("summary", "The numbers of the ads in scope.").by(|trial| Box::pin(summary(trial))),
        rule("lists and summary from an index", "Answered from an index, cheap enough to ask every few seconds.")
            .see("ad-server/store/src/tests/plans.rs::every_list_is_answered_from_an_index")
            .see("ad-server/store/src/tests/plans.rs::ads_are_counted_by_status_in_an_index"),
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

async fn failed(trial: &Trial) {
    let [stored, missing] = ["84.jpg", "page.jpg"].map(|file| trial.world.images.url(file));
    let over = json!({"image_urls": [stored, missing], "dont_publish_on_failed_images": true});
    let (id, created) = trial.created("boat", &over).await;
    trial.ended(&id, "publish", &created).await;
    let channel = json!({"marketplace": "primary", "status": "failed", "listing_id": null, "since": ANY, "code": "held_by_images",
        "text": MORE, "who_acts": "dealer", "what_to_do": ANY});
    let images = json!([
        {"url": stored, "status": "stored", "code": null, "text": MORE, "attempts": ANY},
        {"url": missing, "status": "failed", "code": "image_failed", "text": MORE, "attempts": ANY},
    ]);
    let status =
        json!({"state": "created", "status": "failed", "channels": [channel], "images": images, "unfinished": []});
    trial.accepts(get(format!("/v4/ad/{id}/status")), 200, status).await;
}

async fn pole_position(trial: &Trial) {
    let id = trial.published("car", &json!({})).await;
    let path = format!("/v4/ad/{id}/status");
    trial.accepts(get(&path), 200, json!({"status": "live", "pole_position_until": null})).await;
    let boost = trial.sent(post(format!("/v4/ad/{id}/pole_position"), &json!({}))).await;
    trial.ended(&id, "boost", &boost).await;
    trial.accepts(get(&path), 200, json!({"status": "live", "pole_position_until": ANY})).await;
}

async fn no_tag(trial: &Trial) {
    let id = trial.published("boat", &json!({})).await;
    let tag = trial.send(&get(format!("/v4/ad/{id}"))).await.header("etag").unwrap_or_default().to_owned();
    let status = get(format!("/v4/ad/{id}/status")).with("if-none-match", tag);
    trial.answers(&status, 200, &json!({"etag": ABSENT, "cache-control": "private, no-cache"})).await;
    let head = trial.answers(&Request { method: Method::HEAD, ..status }, 200, &json!({"etag": ABSENT})).await;
    trial.sees("the body of HEAD", &json!(0), &json!(head.bytes.len()));
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
    for base in ["/v4/ad", "/v3/ad"] {
        let listed = get(format!("{base}?source_id={id}&fields=source_id&include=status&status=live,hidden"));
        trial.accepts(listed, 200, page(json!([row]), 1)).await;
    }
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
