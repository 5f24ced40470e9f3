//! 21 to 28: what happens to an ad.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ANY, MORE, laid_over},
    request::{Request, Who, ad, delete, fields, get, patch, post, put, validate_v3},
    rule::{Rule, decision},
    says,
    trial::{Accepted, Trial},
};

pub(super) fn rules() -> Vec<Rule> {
    [log_of_a_request(), order(), media_and_retry(), revival(), v3()].into_iter().flatten().collect()
}

/// `action state` of these actions from beginning to end.
fn both(actions: &[&str]) -> Value {
    json!(
        actions
            .iter()
            .flat_map(|action| ["processing", "done"].map(|state| format!("{action} {state}")))
            .collect::<Vec<_>>()
    )
}

/// Sends a request, waits for the end of its last action, and compares the entries of its log.
async fn logs(trial: &Trial, id: &str, request: Request, expected: &[&str]) {
    let accepted = trial.accepts(request, 200, json!({"source_id": id})).await;
    trial.ended(id, expected[expected.len() - 1], &accepted).await;
    trial.sees("steps", &both(expected), &trial.steps(id, &accepted).await);
}

async fn created_logs(trial: &Trial, over: &Value, expected: &[&str]) -> (String, Accepted) {
    let (id, created) = trial.created("car", over).await;
    trial.ended(&id, expected[expected.len() - 1], &created).await;
    trial.sees("steps", &both(expected), &trial.steps(&id, &created).await);
    trial.accepts(get(format!("/v4/car/{id}")), 200, json!({})).await;
    (id, created)
}

fn log_of_a_request() -> Vec<Rule> {
    let flow = "an order of entries refuses nothing";
    let log = |name: &str, says: &str| decision(21, name, says).one_sided(flow);
    vec![
        log("create", "create, handle_media only when the request carries images, publish.").by(|trial| {
            Box::pin(async move {
                created_logs(trial, &json!({}), &["create", "publish"]).await;
                let images = json!({"image_urls": [trial.world.images.url("81.jpg")]});
                created_logs(trial, &images, &["create", "handle_media", "publish"]).await;
            })
        }),
        log("update", "update, handle_media when images come or go, then publish.").by(|trial| {
            Box::pin(async move {
                let id = trial.published("car", &json!({})).await;
                let path = format!("/v4/car/{id}");
                let images = json!({"image_urls": [trial.world.images.url("82.jpg")]});
                logs(trial, &id, patch(&path, &json!({"body": "x"})), &["update", "publish"]).await;
                logs(trial, &id, patch(&path, &images), &["update", "handle_media", "publish"]).await;
                logs(trial, &id, patch(&path, &json!({"image_urls": []})), &["update", "handle_media", "publish"])
                    .await;
            })
        }),
        log("hiding", "unpublish when visible became false; with visible=false no publish entry is written.").by(
            |trial| {
                Box::pin(async move {
                    let id = trial.published("car", &json!({})).await;
                    let path = format!("/v4/car/{id}");
                    logs(trial, &id, patch(&path, &json!({"visible": false})), &["update", "unpublish"]).await;
                    logs(trial, &id, patch(&path, &json!({"body": "x"})), &["update"]).await;
                    logs(trial, &id, patch(&path, &json!({"visible": true})), &["update", "publish"]).await;
                    created_logs(trial, &json!({"visible": false}), &["create"]).await;
                })
            },
        ),
        log("delete", "delete processing, unpublish processing, done, delete done.").by(|trial| {
            Box::pin(async move {
                let id = trial.published("caravan", &json!({})).await;
                let accepted = trial.accepts(delete(format!("/v4/caravan/{id}")), 200, json!({})).await;
                trial.ended(&id, "delete", &accepted).await;
                let steps = ["delete processing", "unpublish processing", "unpublish done", "delete done"];
                trial.sees("steps", &json!(steps), &trial.steps(&id, &accepted).await);
            })
        }),
        log("bump and pole position", "Bump → bump; pole position → boost.").by(|trial| {
            Box::pin(async move {
                let id = trial.published("car", &json!({})).await;
                logs(trial, &id, get(format!("/v4/car/{id}/bump")), &["bump"]).await;
                logs(trial, &id, get(format!("/v4/car/{id}/pole_position")), &["boost"]).await;
            })
        }),
        log("migrate", "update, then as update.").by(|trial| {
            Box::pin(async move {
                let id = trial.created_v3(1061, &json!({"visible": false})).await;
                let payload = json!({"title": "Boat", "contact": {"email": "bo@boats.example"}, "category_fields": {},
                    "image_urls": [trial.world.images.url("83.jpg")]});
                let migrate = post(format!("/v4/boat/{id}/migrate"), &payload);
                logs(trial, &id, migrate, &["update", "handle_media", "publish"]).await;
            })
        }),
        log("create is logged with the ad", "create is logged as processing in the transaction that stores the ad.")
            .by(|trial| {
                Box::pin(async move {
                    let (id, _) = trial.created("car", &json!({})).await;
                    trial
                        .accepts(
                            get(format!("/v4/car/{id}")),
                            200,
                            json!({"log": [{"action": "create", "state": "processing"}, MORE]}),
                        )
                        .await;
                })
            }),
        log("done commits with what it announces", "State, marketplace ids and image refs.")
            .see("rules::crash::a_car_created_updated_hidden_and_deleted"),
    ]
}

fn order() -> Vec<Rule> {
    vec![
        decision(22, "requests of one ad", "Run in the order of their acceptance; different ads side by side.")
            .see("e2e::life::requests_of_one_ad_run_in_the_order_of_their_acceptance")
            .see("e2e::store_contract::different_ads_are_handed_out_side_by_side"),
        decision(22, "a failed request", "Does not block the next one.")
            .by(|trial| {
                Box::pin(async move {
                    let over = json!({"image_urls": [trial.world.images.url("page.jpg")],
                        "dont_publish_on_failed_images": true});
                    let (id, created) = trial.created("car", &over).await;
                    // A request is done with the ad as it then is: the next one must not take its images away before.
                    trial.sees("the first", &json!({"state": "error"}), &trial.ended(&id, "publish", &created).await);
                    let next =
                        trial.accepts(patch(format!("/v4/car/{id}"), &json!({"image_urls": []})), 200, json!({})).await;
                    trial.sees("the next", &json!({"state": "done"}), &trial.ended(&id, "publish", &next).await);
                })
            })
            .see("rules::failures::a_failed_request_does_not_block_the_next"),
        decision(22, "PUT/PATCH after a waiting DELETE", "Treated as one on a deleted ad.").by(|trial| {
            Box::pin(async move {
                for (vehicle_type, revives) in [("car", false), ("boat", true)] {
                    let (id, _) = trial.created(vehicle_type, &json!({})).await;
                    let path = format!("/v4/{vehicle_type}/{id}");
                    trial.accepts(delete(&path), 200, json!({"state": "created"})).await;
                    let update = put(&path, &json!({"body": "Back"}));
                    if revives {
                        let update = trial.accepts(update, 200, json!({"body": "Back"})).await;
                        trial.ended(&id, "publish", &update).await;
                        trial.accepts(get(&path), 200, json!({"state": "created"})).await;
                    } else {
                        trial.refuses(update, 400, json!(["Ad has been deleted, cannot update"])).await;
                    }
                }
            })
        }),
    ]
}

fn media_and_retry() -> Vec<Rule> {
    vec![
        decision(
            23,
            "handle_media fails per image",
            "error with {message, images: [{url, error}]}; the good ones are used.",
        )
        .by(|trial| {
            Box::pin(async move {
                let [good, bad] = ["91.jpg", "missing.gif"].map(|file| trial.world.images.url(file));
                let (id, created) = trial.created("car", &json!({"image_urls": [bad, good]})).await;
                let entry = trial.ended(&id, "handle_media", &created).await;
                let told = json!({"message": ANY, "images": [{"url": bad, "error": ANY}]});
                trial.sees("the entry", &json!({"state": "error", "external_message": told}), &entry);
                trial.sees("publish", &json!({"state": "done"}), &trial.ended(&id, "publish", &created).await);
                trial.accepts(get(format!("/v4/car/{id}")), 200, json!({"image_refs": [{"url": good}]})).await;
            })
        })
        .one_sided("a failure in the background refuses no request"),
        decision(23, "dont_publish_on_failed_images", "publish is logged as error; nothing is sent.")
            .by(|trial| {
                Box::pin(async move {
                    let over = json!({"image_urls": [trial.world.images.url("missing.gif")],
                        "dont_publish_on_failed_images": true});
                    let (id, created) = trial.created("car", &over).await;
                    let entry = trial.ended(&id, "publish", &created).await;
                    trial.sees("the entry", &json!({"state": "error"}), &entry);
                    trial.sees("listings", &json!([]), &json!(trial.listings(&id).await));
                    trial.accepts(get(format!("/v4/car/{id}")), 200, json!({"marketplace_ad_id": null})).await;
                })
            })
            .one_sided("a failure in the background refuses no request"),
        decision(23, "stored images", "cdn_url serves the bytes; checksum is their SHA-256; stored once.")
            .see("e2e::media::stored_images_are_served_for_ever_and_the_same_bytes_once"),
        decision(24, "retry", "From the first action that did not end in done; when all is done it publishes again.")
            .see("e2e::life::retry_fetches_what_is_missing_and_publishes")
            .by(|trial| {
                Box::pin(async move {
                    let id = trial.published("boat", &json!({})).await;
                    logs(trial, &id, get(format!("/v4/boat/{id}/retry")), &["publish"]).await;
                    trial.accepts(get(format!("/v4/boat/{id}")), 200, json!({"state": "created"})).await;
                    let gone = trial.deleted("boat").await;
                    trial
                        .refuses(
                            get(format!("/v4/boat/{gone}/retry")),
                            400,
                            json!(["Ad has been deleted, cannot retry"]),
                        )
                        .await;
                    trial.accepts(get(format!("/v4/boat/{gone}")), 200, json!({"state": "deleted"})).await;
                })
            }),
        decision(24, "one marketplace failed", "The id obtained is kept, and retry sends only to the one that failed.")
            .see(
                "rules::failures::the_id_of_the_marketplace_that_took_an_ad_is_kept_and_a_retry_goes_to_the_other_only",
            ),
        decision(25, "linking", "An ad whose plate a marketplace lists for that dealer links to that listing.")
            .see("e2e::linking::an_ad_links_to_the_listing_of_its_plate")
            .see("rules::failures::a_listing_of_the_same_plate_is_linked_and_overwritten"),
        decision(25, "a listing of another live ad", "It is never taken: the ad gets its own, and the entry warns.")
            .see("e2e::linking::an_ad_links_to_the_listing_of_its_plate"),
        decision(27, "transient image failures", "Retried with growing pauses; 5 tries within a minute.")
            .see("rules::failures::a_passing_failure_of_an_image_is_tried_again_with_growing_pauses")
            .see("rules::failures::an_image_that_keeps_failing_becomes_an_error_within_a_minute"),
        decision(27, "transient marketplace failures", "Retried honouring Retry-After; 10 tries within an hour.")
            .see("rules::failures::a_marketplace_may_ask_for_a_longer_pause")
            .see("rules::failures::a_marketplace_that_keeps_failing_becomes_an_error_within_an_hour"),
        decision(27, "idempotency key", "Each call to a marketplace carries request id, action, marketplace.")
            .see("rules::failures::an_answer_that_was_lost_does_not_double_the_listing"),
    ]
}

fn revival() -> Vec<Rule> {
    vec![
        decision(
            26,
            "state after revival",
            "It becomes created once its update is done, and the ad is published again.",
        )
        .by(|trial| {
            Box::pin(async move {
                let id = trial.deleted("truck").await;
                let wrong = patch(format!("/v4/truck/{id}"), &fields("vin", json!("1")));
                trial.refuses(wrong, 400, fields("vin", json!([says::at_least_characters(5)]))).await;
                trial.accepts(get(format!("/v4/truck/{id}")), 200, json!({"state": "deleted"})).await;
                let path = format!("/v4/truck/{id}");
                logs(trial, &id, patch(&path, &json!({"visible": true})), &["update", "publish"]).await;
                trial.accepts(get(path), 200, json!({"state": "created", "marketplace_ad_id": ANY})).await;
            })
        }),
        decision(26, "DELETE on a deleted ad", "200 with the ad, and changes nothing.")
            .by(|trial| {
                Box::pin(async move {
                    let id = trial.deleted("car").await;
                    let before = trial.read(&id).await;
                    trial.accepts(delete(format!("/v4/car/{id}")), 200, json!({"state": "deleted"})).await;
                    trial.sees("the ad", &before, &trial.read(&id).await);
                })
            })
            .one_sided("it is accepted"),
        decision(26, "a deleted ad is not promoted", "Bump, pole position and retry: 400 array.").by(|trial| {
            Box::pin(async move {
                let id = trial.deleted("motorcycle").await;
                for (act, what) in [("bump", "bump"), ("pole_position", "give pole position"), ("retry", "retry")] {
                    let mut says = vec![format!("Ad has been deleted, cannot {what}")];
                    says.extend((act != "retry").then(|| format!("Ad is not visible, cannot {what}")));
                    trial.refuses(get(format!("/v4/motorcycle/{id}/{act}")), 400, json!(says)).await;
                }
                trial.accepts(get(format!("/v4/motorcycle/{id}")), 200, json!({"state": "deleted"})).await;
            })
        }),
        decision(26, "an invisible ad may be retried", "Not retry.").by(|trial| {
            Box::pin(async move {
                let (id, _) = trial.created("car", &json!({"visible": false})).await;
                trial.accepts(get(format!("/v4/car/{id}/retry")), 200, json!({"source_id": id})).await;
                trial.refuses(get(format!("/v4/car/{id}/bump")), 400, json!(["Ad is not visible, cannot bump"])).await;
            })
        }),
    ]
}

fn v3() -> Vec<Rule> {
    let row = |name: &str, says: &str| decision(28, name, says);
    vec![
        row(
            "/v3/ad mirrors the generic paths",
            "List, read, log, bump, pole_position, retry, validate, POST, PUT, PATCH, DELETE.",
        )
        .by(|trial| Box::pin(whole_life_on_v3(trial))),
        row("/v3/ad reads and deletes every ad", "Ads of V4 too.").by(|trial| {
            Box::pin(async move {
                for vehicle_type in ["car", "construction"] {
                    let (id, _) = trial.created(vehicle_type, &json!({"visible": false})).await;
                    let path = format!("/v3/ad/{id}");
                    trial.accepts(get(&path), 200, json!({"api_version": "v4"})).await;
                    trial.accepts(get(format!("/v3/ad?source_id={id}")), 200, json!({"count": 1})).await;
                    for method in [put, patch] {
                        let update = method(path.clone(), &json!({"body": "x"}));
                        let says =
                            format!("Ad is V4, cannot update through V3. Use PUT or PATCH /v4/{vehicle_type}/{id}.");
                        trial.refuses(update, 400, json!([says])).await;
                    }
                    trial.accepts(delete(&path), 200, json!({"api_version": "v4"})).await;
                }
            })
        }),
        row(
            "migrate replaces the data whole",
            "What the payload does not have is gone; images stay when image_urls is absent.",
        )
        .by(|trial| Box::pin(migrate_replaces(trial))),
        row("migrate on a compatible ad", "A 400 array that names PUT/PATCH.").by(|trial| {
            Box::pin(async move {
                for (category, vehicle_type) in
                    [(1020, "car"), (1021, "transport"), (1140, "motorcycle"), (1143, "atv"), (1180, "snowmobile")]
                {
                    let id = trial.created_v3(category, &json!({"visible": false})).await;
                    let says = format!(
                        "Ad is converted to V4 by an update, and needs no migration. Use PUT or PATCH /v4/{vehicle_type}/{id}."
                    );
                    for base in [vehicle_type, "ad"] {
                        trial.refuses(post(format!("/v4/{base}/{id}/migrate"), &json!({})), 400, json!([says])).await;
                    }
                    trial
                        .accepts(
                            patch(format!("/v4/{vehicle_type}/{id}"), &json!({})),
                            200,
                            json!({"api_version": "v4"}),
                        )
                        .await;
                }
            })
        }),
        row("ads import", "Operators bring stored ads in, V3 too, one ad object a line.")
            .see("e2e::importing::an_imported_trailer_is_read_updated_migrated_and_deleted_like_any_other")
            .see("e2e::importing::one_wrong_line_and_nothing_is_imported_and_every_error_is_told_by_line"),
    ]
}

async fn whole_life_on_v3(trial: &Trial) {
    let id = trial.id();
    let over = json!({"source_id": id, "category_fields": {"registration_number": trial.plate()}});
    let wrong = laid_over(over.clone(), &fields("model_year", json!(1)));
    let year = fields("model_year", json!([says::at_least(1900)]));
    trial.accepts(validate_v3(1020, &over), 200, json!({"source_id": id})).await;
    trial.refuses(validate_v3(1020, &wrong), 400, year.clone()).await;
    trial.refuses(post("/v3/ad", &ad("car", &wrong)), 400, year.clone()).await;
    let created =
        trial.accepts(post("/v3/ad", &ad("car", &over)), 201, json!({"api_version": "v3", "title": "2019"})).await;
    trial.ended(&id, "publish", &created).await;
    let path = format!("/v3/ad/{id}");
    trial
        .accepts(
            get(format!("/v3/ad?source_id={id}&fields=api_version")),
            200,
            json!({"results": [{"api_version": "v3"}]}),
        )
        .await;
    trial.accepts(get(&path), 200, json!({"log": [{}, MORE], "offer_id": ANY})).await;
    trial.accepts(get(format!("{path}/log?limit=1")), 200, json!({"count": ANY, "results": [{}]})).await;
    logs(trial, &id, put(&path, &json!({"body": "x"})), &["update", "publish"]).await;
    trial.refuses(patch(&path, &fields("model_year", json!(1))), 400, year).await;
    logs(trial, &id, patch(&path, &json!({"body": "y"})), &["update", "publish"]).await;
    logs(trial, &id, get(format!("{path}/bump")), &["bump"]).await;
    logs(trial, &id, get(format!("{path}/pole_position")), &["boost"]).await;
    logs(trial, &id, get(format!("{path}/retry")), &["publish"]).await;
    let gone = trial.accepts(delete(&path), 200, json!({"state": "created"})).await;
    trial.ended(&id, "delete", &gone).await;
    trial.accepts(get(&path), 200, json!({"state": "deleted", "api_version": "v3"})).await;
    trial.refuses(get(path).by(Who::South), 404, json!({"detail": "Not found.…"})).await;
}

async fn migrate_replaces(trial: &Trial) {
    let over = json!({"image_urls": [trial.world.images.url("95.jpg")], "body": "Old",
        "price": [{"type": "list", "amount": 5}],
        "category_fields": {"color": "red", "brand": "yamaha"}});
    let id = trial.created_v3(1121, &over).await;
    let before = trial.world.client(Who::North).published(&id).await;
    let plate = before["category_fields"]["registration_number"].clone();
    let payload = json!({"category_fields": {"registration_number": plate, "model_year": 2020}});
    let fields = json!({"registration_number": plate, "model_year": 2020, "body_type": "moped"});
    let migrate = post(format!("/v4/moped/{id}/migrate"), &payload);
    let accepted = trial.accepts(migrate, 200, json!({"body": null, "price": [], "title": "2020"})).await;
    trial.sees("all of its fields", &json!([fields]), &json!([accepted.body["category_fields"]]));
    trial.sees(
        "how many",
        &json!(3),
        &json!(accepted.body["category_fields"].as_object().map_or(0, serde_json::Map::len)),
    );
    trial.ended(&id, "publish", &accepted).await;
    let kept = json!({"image_refs": before["image_refs"], "id": before["id"],
        "marketplace_ad_id": before["marketplace_ad_id"]});
    trial.accepts(get(format!("/v4/moped/{id}")), 200, kept).await;
    let another = trial.created_v3(1121, &json!({"visible": false})).await;
    let other_plate = json!({"category_fields": {"registration_number": "OTHER1", "model_year": 2020}});
    let fixed = json!({"category_fields": {"registration_number": ["Cannot change after creation …"]}});
    trial.refuses(post(format!("/v4/moped/{another}/migrate"), &other_plate), 400, fixed).await;
}
