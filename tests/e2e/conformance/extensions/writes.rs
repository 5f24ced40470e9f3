//! E3.2 to E3.4: idempotency keys, POST beside GET, and waiting.

use reqwest::Method;
use serde_json::{Value, json};

use crate::conformance::{
    pattern::ABSENT,
    request::{Request, Who, ad, delete, get, patch, post, raw},
    rule::{Rule, extension},
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    let (key, action, wait) = (
        |name: &str, says: &str| extension("E3.2", name, says),
        |name: &str, says: &str| extension("E3.3", name, says),
        |name: &str, says: &str| extension("E3.4", name, says),
    );
    vec![
        key(
            "Idempotency-Key",
            "The same request again: the first answer, with Idempotency-Replayed: true and the first X-Request-Id.",
        )
        .by(|trial| Box::pin(repeated(trial)))
        .see("e2e::idempotency::of_64_equal_posts_with_one_key_one_makes_an_ad")
        .see("e2e::idempotency::an_answer_is_replayed_whatever_has_happened_since"),
        malformed(key("malformed keys", "1 to 255 visible ASCII characters, quoted or bare. A wrong header: 400.")),
        key("another request", "Another body or query: 422.").by(|trial| Box::pin(reused(trial))),
        key("refused requests", "Refused requests are not kept.").by(|trial| Box::pin(refused(trial))),
        key("order", "The replay comes after 401 and 403 and before 404, 409 and preconditions.")
            .by(|trial| Box::pin(order(trial))),
        key("scope", "Scope: the token's dealer or group, method, path, key.")
            .by(|trial| Box::pin(scope(trial)))
            .see("e2e::store_contract::an_answer_is_kept_with_its_write_and_keeps_the_key"),
        action("POST", "POST beside GET for bump, pole_position and retry, on every base path; no-store.")
            .by(|trial| Box::pin(posts(trial))),
        action(
            "coalescing",
            "While one of the same kind (and the same exclusions) is unfinished, another makes no request.",
        )
        .see("e2e::idempotency::promotions_of_one_kind_coalesce_while_one_is_unfinished")
        .see("e2e::store_contract::of_many_promotions_at_once_one_is_accepted"),
        wait("Prefer: wait", "Sent when the request has finished, showing the ad as it then is.")
            .by(|trial| Box::pin(waits(trial)))
            .see("e2e::idempotency::a_request_waits_for_the_worker_of_another_process")
            .see("e2e::idempotency::a_wait_ends_with_its_time_and_shows_the_ad_as_it_is"),
        wait("waiting requests", "A waiting request does not stop others.")
            .see("e2e::idempotency::more_waits_than_allowed_are_refused_and_others_go_on"),
    ]
}

/// The same request with this key.
fn keyed(request: Request, key: &str) -> Request {
    request.with("idempotency-key", key)
}

async fn repeated(trial: &Trial) {
    let id = trial.published("car", &json!({})).await;
    let v3 = trial.created_v3(1121, &json!({})).await;
    let plate = trial.read(&v3).await["category_fields"]["registration_number"].clone();
    let moped = json!({"category_id": ABSENT, "category_fields": {"registration_number": plate}});
    let moped = ad("moped", &moped);
    let new = ad("boat", &json!({"source_id": trial.id()}));
    let key = trial.id();
    for (request, status) in [
        (post("/v4/boat", &new), 201),
        (patch(format!("/v4/car/{id}"), &json!({"body": "New"})), 200),
        (get(format!("/v4/car/{id}/bump")), 200),
        (raw(Method::POST, &format!("/v3/ad/{id}/pole_position"), ""), 200),
        (get(format!("/v4/ad/{id}/retry")), 200),
        (patch(format!("/v3/ad/{v3}"), &json!({"body": "New"})), 200),
        (post(format!("/v4/moped/{v3}/migrate"), &moped), 200),
        (delete(format!("/v4/ad/{id}")), 200),
        // There is nothing to do.
        (delete(format!("/v3/ad/{id}")), 200),
    ] {
        let request = keyed(request, &key);
        let first = trial.answers(&request, status, &json!({})).await;
        let headers: Vec<_> =
            ["x-request-id", "etag"].map(|name| first.header(name).unwrap_or_default().to_owned()).into();
        let expected = json!({"x-request-id": headers[0], "etag": headers[1], "idempotency-replayed": "true"});
        let again = trial.answers(&request, status, &expected).await;
        trial.sees("the same body", &first.json(), &again.json());
    }
}

fn malformed(mut rule: Rule) -> Rule {
    let bump = || get("/v4/ad/none/bump");
    let longest = "k".repeat(255);
    for wrong in ["", "a b", "\"a", "\"\"", "\"a\"b", &format!("{longest}k")] {
        rule = rule.answers(400, keyed(bump(), wrong), json!({}));
    }
    rule = rule.answers(400, keyed(keyed(bump(), "a"), "b"), json!({}));
    for right in ["a", "\"a\"", "\"a\\\"b\"", &longest] {
        rule = rule.answers(404, keyed(bump(), right), json!({}));
    }
    // Where nothing is stored it does not matter.
    rule.answers(200, keyed(get("/v4/ad?limit=1"), "a b"), json!({}))
}

async fn reused(trial: &Trial) {
    let (id, _) = trial.created("boat", &json!({"visible": false})).await;
    let path = format!("/v4/boat/{id}");
    let change = |path: &str, body: &str| keyed(patch(path, &json!({"body": body})), "once");
    trial.accepts(change(&path, "one"), 200, json!({"body": "one"})).await;
    for other in [change(&path, "two"), change(&format!("{path}?dealer_code=north-cars"), "one")] {
        trial.answers(&other, 422, &json!({})).await;
    }
    trial.sees("nothing was done", &json!("one"), &trial.read(&id).await["body"]);
}

async fn refused(trial: &Trial) {
    let (id, _) = trial.created("boat", &json!({"visible": false})).await;
    let change =
        |year: Value| keyed(patch(format!("/v4/boat/{id}"), &json!({"category_fields": {"model_year": year}})), "k");
    trial.answers(&change(json!("soon")), 400, &json!({})).await;
    trial.answers(&change(json!(2012)), 200, &json!({})).await;
}

async fn order(trial: &Trial) {
    let new = ad("boat", &json!({"source_id": trial.id(), "visible": false}));
    let create = keyed(post("/v4/boat", &new), "order");
    trial.answers(&create, 201, &json!({})).await;
    let replayed = json!({"idempotency-replayed": "true"});
    // It would be a 409.
    trial.answers(&create, 201, &replayed).await;
    trial.answers(&create.clone().by(Who::Nobody), 401, &json!({})).await;
    trial.answers(&create.clone().by(Who::Reader), 403, &json!({})).await;
    let path = format!("/v4/boat/{}", new["source_id"].as_str().expect("a text"));
    let change = keyed(patch(path, &json!({"body": "New"})), "order").with("if-match", "\"0\"");
    trial.answers(&change, 200, &json!({})).await;
    // It would be a 412.
    trial.answers(&change, 200, &replayed).await;
}

async fn scope(trial: &Trial) {
    let (id, _) = trial.created("boat", &json!({"visible": false})).await;
    let body = json!({"body": "New"});
    let typed = keyed(patch(format!("/v4/boat/{id}"), &body), "scope");
    trial.answers(&typed, 200, &json!({})).await;
    trial.answers(&typed.clone().by(Who::Writer), 200, &json!({"idempotency-replayed": "true"})).await;
    let group = trial.answers(&typed.clone().by(Who::Group), 200, &json!({})).await;
    trial.sees("a group has its own keys", &json!(null), &json!(group.header("idempotency-replayed")));
    trial.answers(&typed.clone().by(Who::South), 404, &json!({})).await;
    for other in [keyed(delete(format!("/v4/boat/{id}")), "scope"), keyed(delete(format!("/v4/ad/{id}")), "scope")] {
        let answer = trial.answers(&other, 200, &json!({})).await;
        trial.sees("another request", &json!(null), &json!(answer.header("idempotency-replayed")));
    }
}

async fn posts(trial: &Trial) {
    let id = trial.published("car", &json!({})).await;
    for base in ["/v4/car", "/v4/ad", "/v3/ad"] {
        for (path, action) in [("bump", "bump"), ("retry", "publish")] {
            let request = raw(Method::POST, &format!("{base}/{id}/{path}"), "");
            let answer = trial.answers(&request, 200, &json!({"cache-control": "no-store"})).await;
            trial.world.client(Who::North).ended(&id, action, answer.header("x-request-id")).await;
        }
        let other = trial.published("car", &json!({})).await;
        let pole = raw(Method::POST, &format!("{base}/{other}/pole_position"), "");
        trial.answers(&pole, 200, &json!({"cache-control": "no-store"})).await;
        trial.world.client(Who::North).ended(&other, "boost", None).await;
        trial.answers(&pole, 400, &json!({"cache-control": "no-store"})).await;
    }
}

async fn waits(trial: &Trial) {
    let id = trial.id();
    let new = ad("car", &json!({"source_id": id, "category_fields": {"registration_number": trial.plate()}}));
    let wait = |request: Request| request.with("prefer", "respond-async, wait=30");
    let applied = json!({"preference-applied": "wait"});
    let created = trial.answers(&wait(post("/v4/car", &new)), 201, &applied).await;
    trial.sees("published", &json!(true), &json!(created.json()["marketplace_ad_id"].is_string()));
    for action in ["bump", "pole_position", "retry"] {
        trial.answers(&wait(get(format!("/v4/ad/{id}/{action}"))), 200, &applied).await;
        let unfinished = trial.read(&id).await["log"]
            .as_array()
            .map(|log| log.last().is_some_and(|entry| entry["state"] == "processing"));
        trial.sees("it has finished", &json!(false), &json!(unfinished));
    }
    for ignored in ["wait", "wait=soon", "wait=-1", "return=minimal"] {
        let request = patch(format!("/v4/car/{id}"), &json!({"body": ignored})).with("prefer", ignored);
        let answer = trial.answers(&request, 200, &json!({})).await;
        trial.sees("ignored", &json!(null), &json!(answer.header("preference-applied")));
    }
    let deleted = trial.answers(&wait(delete(format!("/v4/car/{id}"))), 200, &applied).await;
    trial.sees("deleted", &json!("deleted"), &deleted.json()["state"]);
    trial.answers(&wait(delete("/v4/ad/none")), 404, &json!({})).await;
}
