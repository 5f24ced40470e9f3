//! `interface.md`, 'Log entry' and 'Attribute lookup entries'.

use serde_json::{Value, json};

use super::{
    pattern::{ANY, MORE},
    request::{Who, delete, get, patch, unregistered},
    rule::{Rule, interface},
    trial::{Accepted, Trial},
};

/// The actions of a log entry.
pub(super) const ACTIONS: [&str; 8] =
    ["create", "update", "bump", "boost", "handle_media", "publish", "delete", "unpublish"];

pub(super) fn rules() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("Log entry", name, says);
    let entries = "an entry is what the service writes";
    vec![
        row("request_id", "UUID; groups all actions of one API request.")
            .decided(&[9])
            .by(|trial| Box::pin(one_id_of_a_request(trial)))
            .one_sided(entries),
        row("created", "Creation time of the entry, ISO 8601.")
            .decided(&[8])
            .by(|trial| Box::pin(times(trial)))
            .one_sided(entries),
        row("action", "create, update, bump, boost, handle_media, publish, delete, unpublish.")
            .by(|trial| Box::pin(every_action(trial)))
            .one_sided(entries),
        row("state", "processing, done, error.").by(|trial| Box::pin(every_state(trial))).one_sided(entries),
        row("external_message", "Human-readable status or error details: string or object.")
            .by(|trial| Box::pin(messages(trial)))
            .one_sided(entries),
        interface("Attribute lookup entries", "attribute list entry", "id (string, may be dotted), name (string).")
            .accepts(
                get("/v4/vehicles/caravan/attributes"),
                json!([{"id": "body_type", "name": ANY}, {"id": "brand", "name": ANY}]),
            )
            .by(|trial| Box::pin(entries_have_names(trial)))
            .refuses_with(
                404,
                get("/v4/vehicles/plane/attributes"),
                json!({"detail": "There is no vehicle type \"plane\"; …"}),
            ),
        interface("Attribute lookup entries", "value list entry", "id (slug string), name (string).")
            .accepts(
                get("/v4/vehicles/camper/powertrain.drive_type"),
                json!([{"id": ANY, "name": ANY}, {"id": ANY, "name": ANY}, {"id": ANY, "name": ANY}]),
            )
            .refuses_with(
                404,
                get("/v4/vehicles/camper/powertrain.drive"),
                json!({"detail": "Vehicle type \"camper\" has no …"}),
            ),
    ]
}

async fn one_id_of_a_request(trial: &Trial) {
    let (id, created) = trial.created("car", &json!({})).await;
    trial.ended(&id, "publish", &created).await;
    let steps = json!(["create processing", "create done", "publish processing", "publish done"]);
    trial.sees("the steps of the request", &steps, &trial.steps(&id, &created).await);
    let entry = json!({"request_id": created.request_id});
    trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"log": [entry, entry, entry, entry]})).await;
}

async fn times(trial: &Trial) {
    let (id, created) = trial.created("boat", &json!({"visible": false})).await;
    trial.ended(&id, "create", &created).await;
    let read = trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"log": [{"created": ANY}, MORE]})).await;
    for time in [&read.body["created"], &read.body["updated"], &read.body["log"][0]["created"]] {
        let text = time.as_str().unwrap_or_default();
        let shape: String = text.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
        trial.sees("a time", &json!("0000-00-00T00:00:00.000Z"), &json!(shape));
    }
}

async fn every_action(trial: &Trial) {
    let id = trial.published("car", &json!({"image_urls": [trial.world.images.url("51.jpg")]})).await;
    let path = format!("/v4/car/{id}");
    for (request, last) in [
        (get(format!("{path}/bump")), "bump"),
        (get(format!("{path}/pole_position")), "boost"),
        (patch(&path, &json!({"visible": false})), "unpublish"),
        (delete(&path), "delete"),
    ] {
        let accepted = trial.sent(request).await;
        trial.ended(&id, last, &accepted).await;
    }
    for action in ACTIONS {
        let done = get(format!("{path}/log?action={action}&state=done"));
        trial.accepts(done, 200, json!({"results": [{"action": action, "state": "done"}, MORE]})).await;
    }
}

/// An ad with an image that cannot be had.
async fn with_a_missing_image(trial: &Trial) -> (String, Accepted) {
    let (id, created) = trial.created("car", &json!({"image_urls": [trial.world.images.url("missing.gif")]})).await;
    trial.ended(&id, "publish", &created).await;
    (id, created)
}

async fn every_state(trial: &Trial) {
    let (id, _) = with_a_missing_image(trial).await;
    for state in ["processing", "done", "error"] {
        let found = get(format!("/v4/ad/{id}/log?state={state}"));
        trial.accepts(found, 200, json!({"results": [{"state": state}, MORE]})).await;
    }
}

async fn messages(trial: &Trial) {
    let (id, created) = with_a_missing_image(trial).await;
    let missing = trial.world.images.url("missing.gif");
    let error = json!({"message": ANY, "images": [{"url": missing, "error": ANY}]});
    let failed = get(format!("/v4/ad/{id}/log?action=handle_media&state=error"));
    trial
        .accepts(failed, 200, json!({"results": [{"external_message": error, "request_id": created.request_id}]}))
        .await;
    let done = get(format!("/v4/ad/{id}/log?action=publish&state=done"));
    let read = trial.accepts(done, 200, json!({"results": [{"external_message": ANY}]})).await;
    let message = &read.body["results"][0]["external_message"];
    trial.sees("a status is text", &json!(true), &json!(message.is_string()));
}

async fn entries_have_names(trial: &Trial) {
    for vehicle_type in unregistered().chain(["car", "trailer"]) {
        let path = format!("/v4/vehicles/{vehicle_type}/attributes");
        let list = trial.accepts(get(&path).by(Who::Reader), 200, json!([{"id": ANY, "name": ANY}, MORE])).await;
        let strange = |entry: &&Value| {
            entry.as_object().is_none_or(|entry| entry.len() != 2)
                || ["id", "name"].iter().any(|name| entry[*name].as_str().is_none_or(str::is_empty))
        };
        let strange: Vec<_> = list.body.as_array().into_iter().flatten().filter(strange).collect();
        trial.sees("entries of other shapes", &json!([]), &json!(strange));
    }
}
