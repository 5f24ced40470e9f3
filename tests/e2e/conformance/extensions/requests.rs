//! E2: one request, by its id.

use serde_json::json;

use crate::conformance::{
    pattern::{ANY, MORE},
    request::{Who, delete, get, patch, post},
    rule::{Rule, extension},
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E2", name, says);
    vec![
        rule("a finished request", "It shows one member for each action with its latest entry.")
            .by(|trial| Box::pin(finished(trial)))
            .one_sided("ids of others have a rule of their own"),
        rule("a failed request", "`state` is `error` when any action ended so.")
            .by(|trial| Box::pin(failed(trial)))
            .one_sided("ids of others have a rule of their own"),
        rule("a retry with nothing to do", "It is found when it is finished, as any other request.")
            .by(|trial| Box::pin(nothing_to_do(trial)))
            .one_sided("ids of others have a rule of their own"),
        rule("an unfinished request", "It says what it waits for, how often it was tried and when it is tried again.")
            .see("e2e::tags::a_request_says_what_it_waits_for"),
        rule("foreign or unknown", "Foreign or unknown: 404.").by(|trial| Box::pin(foreign(trial))),
    ]
}

async fn finished(trial: &Trial) {
    let (id, created) = trial.created("car", &json!({"image_urls": [trial.world.images.url("84.jpg")]})).await;
    trial.ended(&id, "publish", &created).await;
    let action = |action: &str, message: &str| json!({"action": action, "state": "done", "created": ANY, "code": null, "external_message": message});
    let status = json!({
        "request_id": created.request_id, "source_id": id, "dealer_code": "north-cars", "plan_id": null,
        "accepted": ANY, "finished": ANY, "state": "done", "attempts": 0, "next_attempt": null, "waiting_for": null,
        "actions": [action("create", "Ad created"), action("handle_media", "1 image stored"), action("publish", "Ad published")],
    });
    let path = format!("/v4/requests/{}", created.request_id);
    trial.accepts(get(&path), 200, status.clone()).await;
    trial.accepts(get(&path).by(Who::Group), 200, status.clone()).await;
    // Later requests change nothing about it.
    let deletion = trial.sent(delete(format!("/v4/ad/{id}"))).await;
    trial.ended(&id, "delete", &deletion).await;
    trial.accepts(get(&path), 200, status).await;
    let status = json!({"source_id": id, "state": "done", "actions": [
        {"action": "delete", "external_message": "Ad deleted"}, {"action": "unpublish", "external_message": "Ad unpublished"}]});
    trial.accepts(get(format!("/v4/requests/{}", deletion.request_id)), 200, status).await;
}

async fn failed(trial: &Trial) {
    let (id, created) = trial.created("boat", &json!({"image_urls": [trial.world.images.url("page.jpg")]})).await;
    trial.ended(&id, "publish", &created).await;
    let status = json!({"state": "error", "finished": ANY, "actions": [{"action": "create", "state": "done"},
        {"action": "handle_media", "state": "error", "code": "image_failed", "external_message": {"message": "1 of 1 image failed"}},
        {"action": "publish", "state": "done", "code": null}]});
    trial.accepts(get(format!("/v4/requests/{}", created.request_id)), 200, status).await;
}

async fn nothing_to_do(trial: &Trial) {
    let (id, created) = trial.created("boat", &json!({"visible": false})).await;
    trial.ended(&id, "create", &created).await;
    let retry = trial.sent(post(format!("/v4/ad/{id}/retry"), &json!({}))).await;
    trial.ended(&id, "unpublish", &retry).await;
    let status = json!({"state": "done", "finished": ANY, "waiting_for": null, "actions": [
        {"action": "unpublish", "state": "done", "external_message": "Nothing to do: the ad is hidden"}]});
    trial.accepts(get(format!("/v4/requests/{}", retry.request_id)), 200, status).await;
}

async fn foreign(trial: &Trial) {
    let (_, created) = trial.created("boat", &json!({})).await;
    let path = format!("/v4/requests/{}", created.request_id);
    trial.accepts(get(&path), 200, json!({"request_id": created.request_id})).await;
    trial.accepts(get(&path).by(Who::Reader), 200, json!({"request_id": created.request_id})).await;
    for who in [Who::South, Who::Coast, Who::Quiet] {
        trial.refuses(get(&path).by(who), 404, json!({"detail": MORE})).await;
    }
    let refused = trial.send(&patch("/v4/boat/none", &json!({}))).await;
    let refused = refused.header("x-request-id").unwrap_or_default();
    for unknown in [refused, "00000000-0000-0000-0000-000000000000", "none", "%20", "å"] {
        trial.refuses(get(format!("/v4/requests/{unknown}")), 404, json!({"detail": MORE})).await;
    }
    trial.refuses(get(&path).by(Who::Nobody), 401, json!({"detail": MORE})).await;
    trial.refuses(get(&path).by(Who::Writer), 403, json!({"detail": MORE})).await;
    trial.refuses(post(&path, &json!({})), 405, json!({"detail": MORE})).await;
    trial.refuses(get(format!("{path}?limit=1")), 400, json!({"limit": [MORE]})).await;
}
