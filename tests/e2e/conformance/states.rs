//! `interface.md`, 'States and transitions': the table, row by row.

use serde_json::{Value, json};

use super::{
    pattern::{ANY, MORE},
    request::{
        Who, ad, category, delete, fields, get, patch, post, put, registered, registered_and_created, unregistered,
    },
    rule::{Rule, interface},
    says,
    trial::Trial,
};

const DELETED: &str = "Ad has been deleted, cannot update";

pub(super) fn rules() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("States and transitions", name, says);
    vec![
        row("ad states", "created, deleted; deleted data is retained and still readable.")
            .by(|trial| Box::pin(retained(trial))),
        row("created does not guarantee visibility", "With a marketplace error or visible=false the log tells.")
            .by(|trial| Box::pin(created_and_not_shown(trial)))
            .one_sided("a state refuses nothing"),
        row("(none) → created: POST", "201; create, handle_media and publish run in the background; ids are filled.")
            .by(|trial| Box::pin(from_nothing(trial))),
        row("created → deleted: DELETE", "The response still shows created; deleted after a log entry delete, done.")
            .by(|trial| Box::pin(deletion(trial))),
        row("deleted: PUT or PATCH revives", "Unregistered vehicle categories only.")
            .decided(&[26])
            .by(|trial| Box::pin(revival(trial)))
            .one_sided("the other half is the next row"),
        row("deleted: PUT or PATCH unchanged", "Registered vehicle categories: 400 with a business-rule message.")
            .decided(&[26])
            .by(|trial| Box::pin(no_revival(trial)))
            .one_sided("the other half is the row before"),
        row(
            "v3 → v4: PUT or PATCH on V4, compatible",
            "car, motorcycle and similar: api_version becomes v4 automatically.",
        )
        .decided(&[28])
        .by(|trial| Box::pin(converts(trial))),
        row("v3: PUT or PATCH on V4, incompatible", "Blocked with incompatible_api_version; migrate first.")
            .decided(&[28])
            .by(|trial| Box::pin(blocked(trial))),
        row("v3 → v4: migrate", "Complete V4 payload: ad ID, source ID and history preserved.")
            .decided(&[28])
            .by(|trial| Box::pin(migrated(trial))),
        row("v4: migrate", "400 ad_already_v4.").by(|trial| Box::pin(already_v4(trial))),
        row("action: begins", "processing; a log entry is written.")
            .see("e2e::life::a_car_is_answered_at_once_and_published_on_both_marketplaces"),
        row("action: completes", "done; a log entry is written.")
            .see("e2e::life::a_car_is_answered_at_once_and_published_on_both_marketplaces"),
        row("action: fails", "error; details in the log; the ad state may still be created.")
            .by(|trial| Box::pin(failing_action(trial)))
            .one_sided("a failure in the background refuses no request"),
    ]
}

async fn retained(trial: &Trial) {
    let id = trial.deleted("car").await;
    let kept =
        json!({"state": "deleted", "category_fields": {"model_year": 2019}, "log": [{"action": "create"}, MORE]});
    for path in [format!("/v4/ad/{id}"), format!("/v4/car/{id}"), format!("/v3/ad/{id}")] {
        trial.accepts(get(path), 200, kept.clone()).await;
    }
    trial.accepts(get(format!("/v4/car?state=deleted&source_id={id}")), 200, json!({"count": 1})).await;
    trial
        .refuses(
            get(format!("/v4/car?state=gone&source_id={id}")),
            400,
            json!({"state": [says::no_choice("gone"), MORE]}),
        )
        .await;
}

async fn created_and_not_shown(trial: &Trial) {
    let over = json!({"image_urls": [trial.world.images.url("missing.gif")], "dont_publish_on_failed_images": true});
    let (id, created) = trial.created("car", &over).await;
    trial.ended(&id, "publish", &created).await;
    let entry = json!({"action": "publish", "state": "error", "external_message": ANY});
    trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"state": "created", "marketplace_ad_id": null})).await;
    let found = get(format!("/v4/ad/{id}/log?ordering=-created&limit=1"));
    trial.accepts(found, 200, json!({"results": [entry]})).await;
}

async fn from_nothing(trial: &Trial) {
    let id = trial.id();
    let over = json!({"source_id": id, "image_urls": [trial.world.images.url("61.jpg")],
        "category_fields": {"registration_number": trial.plate()}});
    let created = trial.accepts(post("/v4/car", &ad("car", &over)), 201, json!({"state": "created"})).await;
    trial.ended(&id, "publish", &created).await;
    let steps =
        ["create", "handle_media", "publish"].map(|action| ["processing", "done"].map(|it| format!("{action} {it}")));
    trial.sees("steps", &json!(steps.concat()), &trial.steps(&id, &created).await);
    let filled = json!({"marketplace_ad_id": ANY, "offer_id": ANY, "image_refs": [{"url": ANY}]});
    trial.accepts(get(format!("/v4/ad/{id}")), 200, filled).await;
    let missing = fields("model_year", json!(null));
    trial
        .refuses(
            post("/v4/car", &ad("car", &super::pattern::laid_over(missing, &json!({"source_id": trial.id()})))),
            400,
            fields("model_year", json!([says::REQUIRED])),
        )
        .await;
}

async fn deletion(trial: &Trial) {
    for (vehicle_type, generic) in [("car", true), ("boat", false), ("truck", true)] {
        let id = trial.published(vehicle_type, &json!({})).await;
        let path = if generic { format!("/v4/ad/{id}") } else { format!("/v4/{vehicle_type}/{id}") };
        let accepted = trial.accepts(delete(&path), 200, json!({"state": "created"})).await;
        trial.ended(&id, "delete", &accepted).await;
        let steps = ["delete processing", "unpublish processing", "unpublish done", "delete done"];
        trial.sees("steps", &json!(steps), &trial.steps(&id, &accepted).await);
        trial.accepts(get(&path), 200, json!({"state": "deleted"})).await;
        let shown: Vec<_> =
            trial.listings(&id).await.into_iter().filter(|listing| listing["state"] != "removed").collect();
        trial.sees("what is still shown", &json!([]), &json!(shown));
    }
    trial.refuses(delete("/v4/ad/no-such-ad"), 404, json!({"detail": "Not found.…"})).await;
}

async fn revival(trial: &Trial) {
    for vehicle_type in unregistered() {
        let id = trial.deleted(vehicle_type).await;
        let update = put(format!("/v4/{vehicle_type}/{id}"), &json!({"visible": true, "title": "Back again"}));
        let accepted = trial.accepts(update, 200, json!({"title": "Back again"})).await;
        trial.ended(&id, "publish", &accepted).await;
        trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"state": "created", "marketplace_ad_id": ANY})).await;
    }
    let id = trial.created_v3(1064, &json!({"visible": false})).await;
    let gone = trial.sent(delete(format!("/v3/ad/{id}"))).await;
    trial.ended(&id, "delete", &gone).await;
    let accepted = trial.accepts(patch(format!("/v3/ad/{id}"), &json!({"title": "Back"})), 200, json!({})).await;
    trial.ended(&id, "update", &accepted).await;
    trial.accepts(get(format!("/v3/ad/{id}")), 200, json!({"state": "created", "api_version": "v3"})).await;
}

async fn no_revival(trial: &Trial) {
    for vehicle_type in registered() {
        let id = if vehicle_type == "trailer" {
            let id = trial.world.trailer("v4");
            let gone = trial.sent(delete(format!("/v4/ad/{id}"))).await;
            trial.ended(&id, "delete", &gone).await;
            id
        } else {
            trial.deleted(vehicle_type).await
        };
        for method in [put, patch] {
            trial
                .refuses(method(format!("/v4/{vehicle_type}/{id}"), &json!({"body": "x"})), 400, json!([DELETED]))
                .await;
        }
        trial.accepts(get(format!("/v4/{vehicle_type}/{id}")), 200, json!({"state": "deleted"})).await;
    }
}

/// The types that PUT and PATCH convert (decision 28).
const COMPATIBLE: [&str; 5] = ["car", "transport", "motorcycle", "atv", "snowmobile"];

async fn converts(trial: &Trial) {
    for vehicle_type in COMPATIBLE {
        for method in [put, patch] {
            let id = trial.created_v3(category(vehicle_type), &json!({"visible": false})).await;
            let before = trial.read(&id).await;
            trial.sees("before", &json!({"api_version": "v3"}), &before);
            let update = method(format!("/v4/{vehicle_type}/{id}"), &json!({"body": "Now V4"}));
            let same = json!({"api_version": "v4", "id": before["id"], "state": "created", "source_id": id});
            trial.accepts(update, 200, same.clone()).await;
            trial.accepts(get(format!("/v4/ad/{id}")), 200, same).await;
        }
    }
    // A wrong update converts nothing.
    let id = trial.created_v3(1020, &json!({"visible": false})).await;
    let wrong = patch(format!("/v4/car/{id}"), &fields("model_year", json!(1)));
    trial.refuses(wrong, 400, fields("model_year", json!([says::at_least(1900)]))).await;
    trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"api_version": "v3"})).await;
}

async fn blocked(trial: &Trial) {
    let option = |method: &str| json!({"method": method, "steps": [ANY, MORE]});
    let expected = |targets: usize, anew: bool| {
        let options: Vec<Value> =
            std::iter::repeat_n(option("migrate"), targets).chain(anew.then(|| option("delete_and_create"))).collect();
        json!({"error": "incompatible_api_version", "message": ANY, "migration_options": options})
    };
    for (v3, vehicle_types) in [
        (1121, &["moped"][..]),
        (1102, &["camper"]),
        (1101, &["caravan"]),
        (1061, &["boat"]),
        (1067, &["boat"]),
        (1222, &["agriculture-thresher", "agriculture-tractor"]),
        (1225, &["agriculture-tools"]),
        (1226, &["agriculture-tools"]),
        (1221, &["bus", "truck"]),
        (1223, &["construction"]),
    ] {
        let id = trial.created_v3(v3, &json!({"visible": false})).await;
        for vehicle_type in vehicle_types {
            for method in [put, patch] {
                let update = method(format!("/v4/{vehicle_type}/{id}"), &json!({"body": "x"}));
                trial.refuses(update, 400, expected(vehicle_types.len(), true)).await;
            }
        }
        trial
            .accepts(get(format!("/v4/{}/{id}", vehicle_types[0])), 200, json!({"api_version": "v3", "body": null}))
            .await;
        trial
            .accepts(
                patch(format!("/v3/ad/{id}"), &json!({"body": "x"})),
                200,
                json!({"api_version": "v3", "body": "x"}),
            )
            .await;
    }
    let trailer = trial.world.trailer("v3");
    trial.refuses(patch(format!("/v4/trailer/{trailer}"), &json!({"body": "x"})), 400, expected(1, false)).await;
}

async fn migrated(trial: &Trial) {
    let id = trial.created_v3(1121, &json!({"visible": false, "body": "Old"})).await;
    let before = trial.read(&id).await;
    let plate = before["category_fields"]["registration_number"].clone();
    let payload =
        json!({"body": "New", "visible": false, "category_fields": {"model_year": 2020, "registration_number": plate}});
    let same = json!({"id": before["id"], "source_id": id, "api_version": "v4", "category_id": 1121, "body": "New"});
    let incomplete = json!({"category_fields": {"registration_number": plate}});
    let path = format!("/v4/moped/{id}/migrate");
    trial.refuses(post(&path, &incomplete), 400, fields("model_year", json!([says::REQUIRED]))).await;
    let accepted = trial.accepts(post(&path, &payload), 200, same).await;
    trial.ended(&id, "update", &accepted).await;
    let log = json!([{"action": "create"}, {"action": "create"}, {"action": "update"}, {"action": "update"}]);
    trial.accepts(get(format!("/v4/ad/{id}")), 200, json!({"log": log, "created": before["created"]})).await;
}

async fn already_v4(trial: &Trial) {
    for vehicle_type in registered_and_created().chain(unregistered()) {
        let (id, _) = trial.created(vehicle_type, &json!({"visible": false})).await;
        let path = format!("/v4/{vehicle_type}/{id}/migrate");
        let refusal = json!({"error": "ad_already_v4", "message": ANY, "suggestion": ANY});
        trial.refuses(post(path, &json!({})), 400, refusal.clone()).await;
        trial.refuses(post(format!("/v4/ad/{id}/migrate"), &json!({})), 400, refusal).await;
    }
    let trailer = trial.world.trailer("v4");
    let refusal = json!({"error": "ad_already_v4", "message": ANY, "suggestion": ANY});
    trial.refuses(post(format!("/v4/trailer/{trailer}/migrate"), &json!({})), 400, refusal).await;
    let v3 = trial.created_v3(1101, &json!({"visible": false})).await;
    let plate = trial.read(&v3).await["category_fields"]["registration_number"].clone();
    let payload = json!({"category_fields": {"model_year": 2001, "registration_number": plate}});
    trial.accepts(post(format!("/v4/caravan/{v3}/migrate"), &payload), 200, json!({"api_version": "v4"})).await;
}

async fn failing_action(trial: &Trial) {
    let (id, created) = trial.created("car", &json!({"image_urls": [trial.world.images.url("page.jpg")]})).await;
    let entry = trial.ended(&id, "handle_media", &created).await;
    trial.sees("the entry", &json!({"state": "error", "external_message": {"images": [{"error": ANY}]}}), &entry);
    trial.accepts(get(format!("/v4/ad/{id}")).by(Who::Group), 200, json!({"state": "created"})).await;
}
