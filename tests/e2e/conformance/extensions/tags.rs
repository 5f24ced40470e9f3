//! E3.1: tags and conditional requests.

use reqwest::Method;
use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ABSENT, ANY, MORE},
    request::{Request, Who, ad, delete, get, patch, post, put, raw},
    rule::{Rule, extension},
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E3.1", name, says);
    vec![
        rule("ETag", "Reads of one ad and every answer that shows an ad have an ETag, \"{revision}.{n}\".")
            .by(|trial| Box::pin(shown(trial))),
        rule(
            "revision and n",
            "revision counts accepted changes of content; n changes with every other visible change.",
        )
        .by(|trial| Box::pin(moves(trial)))
        .see("e2e::store_contract::every_visible_change_moves_the_tag"),
        rule("If-None-Match", "If-None-Match on GET compares all of the tag: 304.").by(|trial| Box::pin(known(trial))),
        rule("If-Match", "If-Match on writes, bump, pole position and retry compares the part before the point.")
            .by(|trial| Box::pin(matches(trial)))
            .see("e2e::tags::of_64_clients_with_if_match_none_loses_a_change"),
        rule("If-Match, refused", "False: 412, nothing done, the current ETag in the answer.")
            .by(|trial| Box::pin(refused(trial))),
        rule("If-Match, order", "Evaluated after authentication, 404 and syntax, before the rules.")
            .by(|trial| Box::pin(order(trial))),
        malformed(rule("malformed tags", "What is no list of entity tags is a 400.")),
        rule("documents", "Lookups, /openapi.json and documentation pages have an ETag and 304 as well.")
            .by(|trial| Box::pin(documents(trial))),
    ]
}

/// Revision and `n` of an answer of this status, which must have an `ETag`.
async fn tag(trial: &Trial, request: &Request, status: u16) -> (u64, u64) {
    let answer = trial.answers(request, status, &json!({"etag": "\"…"})).await;
    let text = answer.header("etag").unwrap_or_default().trim_matches('"').to_owned();
    let (revision, n) = text.split_once('.').expect("a tag has two numbers");
    (revision.parse().expect("a number"), n.parse().expect("a number"))
}

/// A published ad whose requests have all been finished.
async fn quiet(trial: &Trial, vehicle_type: &str) -> (String, String) {
    let id = trial.published(vehicle_type, &json!({})).await;
    let path = format!("/v4/{vehicle_type}/{id}");
    (id, path)
}

async fn shown(trial: &Trial) {
    let id = trial.id();
    let (path, body) = (format!("/v4/car/{id}"), ad("car", &json!({"source_id": id})));
    let mut tags = vec![tag(trial, &post("/v4/car", &body), 201).await];
    trial.world.client(Who::North).published(&id).await;
    let read = tag(trial, &get(&path), 200).await;
    for same in [format!("/v4/ad/{id}"), format!("/v3/ad/{id}"), format!("{path}?dealer_code=north-cars")] {
        trial.sees("the same tag", &json!(read), &json!(tag(trial, &get(same), 200).await));
    }
    tags.push(read);
    for request in [
        patch(&path, &json!({"body": "one"})),
        put(&path, &json!({"body": "two"})),
        get(format!("{path}/bump")),
        get(format!("/v3/ad/{id}/pole_position")),
        get(format!("/v4/ad/{id}/retry")),
        delete(&path),
        // There is nothing to do.
        delete(format!("/v3/ad/{id}")),
    ] {
        tags.push(tag(trial, &request, 200).await);
    }
    tags.dedup();
    trial.sees("a tag for every change", &json!(true), &json!(tags.len() >= 8 && tags.is_sorted()));
    let v3 = trial.created_v3(1121, &json!({})).await;
    tag(trial, &patch(format!("/v3/ad/{v3}"), &json!({"body": "three"})), 200).await;
    let plate = trial.read(&v3).await["category_fields"]["registration_number"].clone();
    let complete = json!({"category_id": ABSENT, "category_fields": {"registration_number": plate}});
    let payload = ad("moped", &complete);
    tag(trial, &post(format!("/v4/moped/{v3}/migrate"), &payload), 200).await;
    for other in [get("/v4/car?limit=1"), get(format!("/v4/ad/{id}/log"))] {
        trial.answers(&other, 200, &json!({"etag": ABSENT})).await;
    }
    trial.answers(&get("/v4/car/none"), 404, &json!({"etag": ABSENT})).await;
}

async fn moves(trial: &Trial) {
    let (id, path) = quiet(trial, "boat").await;
    let before = tag(trial, &get(&path), 200).await;
    let changed = tag(trial, &patch(&path, &json!({"body": "new"})), 200).await;
    trial.sees("a change of content", &json!(before.0 + 1), &json!(changed.0));
    let mut last = changed;
    for request in [get(format!("{path}/bump")), get(format!("{path}/retry")), delete(&path)] {
        let next = tag(trial, &request, 200).await;
        trial.sees("any other request", &json!([last.0, true]), &json!([next.0, next.1 > last.1]));
        last = next;
    }
    trial.world.client(Who::North).ended(&id, "delete", None).await;
    let deleted = tag(trial, &get(&path), 200).await;
    trial.sees("log and state", &json!([last.0, true]), &json!([deleted.0, deleted.1 > last.1]));
    trial.refuses(patch("/v4/boat/none", &json!({})), 404, json!({"detail": MORE})).await;
}

async fn known(trial: &Trial) {
    let (_, path) = quiet(trial, "car").await;
    let etag = trial.send(&get(&path)).await.header("etag").unwrap_or_default().to_owned();
    let same = json!({"etag": etag, "content-type": ABSENT, "cache-control": "private, no-cache", "x-request-id": ANY});
    for list in [etag.clone(), format!("W/{etag}"), format!("\"a\", ,{etag}"), "*".to_owned()] {
        let answer = trial.answers(&get(&path).with("if-none-match", list), 304, &same).await;
        trial.sees("no body", &json!(0), &json!(answer.bytes.len()));
    }
    let revision = etag.split_once('.').map(|(revision, _)| format!("{revision}\"")).unwrap_or_default();
    for other in [revision, "\"\"".to_owned(), "\"none\"".to_owned()] {
        trial.answers(&get(&path).with("if-none-match", other), 200, &json!({"etag": etag})).await;
    }
    trial.sent(get(format!("{path}/bump"))).await;
    trial.answers(&get(&path).with("if-none-match", etag.clone()), 200, &json!({"content-type": ANY})).await;
    // It is about reads.
    trial.answers(&patch(&path, &json!({"body": "x"})).with("if-none-match", "*"), 200, &json!({"etag": ANY})).await;
    trial.answers(&get("/v4/car/none").with("if-none-match", "*"), 404, &json!({})).await;
}

async fn matches(trial: &Trial) {
    let (_, path) = quiet(trial, "car").await;
    let (mut revision, n) = tag(trial, &get(&path), 200).await;
    let lists: [fn(u64, u64) -> String; 5] = [
        |revision, n| format!("\"{revision}.{n}\""),
        |revision, _| format!("\"{revision}\""),
        |revision, _| format!("\"{revision}.anything\""),
        |revision, _| format!("\"none\", W/\"{revision}\", \"{revision}.0\""),
        |_, _| "*".to_owned(),
    ];
    for list in lists {
        let request = patch(&path, &json!({"body": format!("after {revision}")})).with("if-match", list(revision, n));
        (revision, _) = tag(trial, &request, 200).await;
    }
    for request in [
        put(&path, &json!({"body": "put"})),
        get(format!("{path}/bump")),
        get(format!("{path}/pole_position")),
        get(format!("{path}/retry")),
        delete(&path),
    ] {
        (revision, _) = tag(trial, &request.with("if-match", format!("\"{revision}\"")), 200).await;
    }
    // It is about writes.
    tag(trial, &get(&path).with("if-match", "\"none\""), 200).await;
    trial.answers(&patch(&path, &json!({"body": "late"})).with("if-match", "\"0.1\""), 412, &json!({})).await;
}

async fn refused(trial: &Trial) {
    let (id, path) = quiet(trial, "car").await;
    let before = trial.sent(patch(&path, &json!({"body": "mine"}))).await;
    trial.ended(&id, "publish", &before).await;
    let etag = trial.send(&get(&path)).await.header("etag").unwrap_or_default().to_owned();
    let (weak, padded) = (format!("W/{etag}"), etag.replacen('"', "\"0", 1));
    for list in ["\"0\"", "\"0.1\", \"2\"", "\"\"", &weak, &padded, "\"none\""] {
        for request in [
            patch(&path, &json!({"body": "theirs"})),
            put(&path, &json!({"body": "theirs"})),
            get(format!("{path}/bump")),
            get(format!("{path}/pole_position")),
            get(format!("{path}/retry")),
            post(format!("{path}/migrate"), &json!({"title": "theirs"})),
            delete(&path),
        ] {
            // Cars need no migration, and the path of one has none.
            if request.path.ends_with("migrate") {
                continue;
            }
            trial.answers(&request.with("if-match", list), 412, &json!({"etag": etag})).await;
        }
    }
    trial.answers(&get(&path).with("if-none-match", etag.clone()), 304, &json!({"etag": etag})).await;
    let v3 = trial.created_v3(1121, &json!({})).await;
    let migrate = post(format!("/v4/moped/{v3}/migrate"), &ad("moped", &json!({"category_id": ABSENT})));
    trial.answers(&migrate.with("if-match", "\"1\""), 412, &json!({"etag": "\"0.…"})).await;
    let text = "The ad has revision 1, which the request does not name: …";
    trial.refuses(delete(&path).with("if-match", "\"0\""), 412, json!({"detail": text})).await;
}

async fn order(trial: &Trial) {
    let (id, created) = trial.created("car", &json!({"visible": false})).await;
    trial.ended(&id, "create", &created).await;
    let path = format!("/v4/car/{id}");
    let stale = |request: Request| request.with("if-match", "\"7\"");
    let change = || patch(&path, &json!({"body": "x"}));
    trial.answers(&stale(change().by(Who::Nobody)), 401, &json!({"etag": ABSENT})).await;
    trial.answers(&stale(change().by(Who::Reader)), 403, &json!({"etag": ABSENT})).await;
    trial.answers(&stale(patch("/v4/car/none", &json!({}))), 404, &json!({"etag": ABSENT})).await;
    trial.answers(&stale(raw(Method::PATCH, &path, "{")), 400, &json!({"etag": ABSENT})).await;
    trial.answers(&stale(patch(format!("{path}?what=1"), &json!({}))), 400, &json!({"etag": ABSENT})).await;
    // Each of these breaks a rule as well.
    for broken in [
        patch(&path, &json!({"category_fields": {"brand": "wolvo"}})),
        get(format!("{path}/bump")),
        get(format!("{path}/pole_position")),
    ] {
        trial.answers(&broken.clone().with("if-match", "*"), 400, &json!({"etag": ABSENT})).await;
        trial.answers(&stale(broken), 412, &json!({"etag": "\"0.…"})).await;
    }
    let gone = trial.deleted("car").await;
    trial.answers(&stale(delete(format!("/v4/car/{gone}"))), 412, &json!({"etag": ANY})).await;
    tag(trial, &change().with("if-match", "\"0\""), 200).await;
}

fn malformed(rule: Rule) -> Rule {
    let text = |name: &str| {
        format!(
            "The tag of a revision is malformed: send *, or tags in double quotes, such as \"5.12\". The header {name} has what \
             the header ETag of an answer had."
        )
    };
    let lists =
        ["3", "\"3", "3\"", "", ",", " , ", "*, \"3\"", "\"a b\"", "\"3\" \"4\"", "w/\"3\"", "W/3", "\"3\";q=1", "'3'"];
    let rule = lists.into_iter().fold(rule, |rule, list| {
        let detail = |name: &str| json!({"detail": text(name)});
        rule.refuses(patch("/v4/car/none", &json!({})).with("if-match", list), detail("if-match"))
            .refuses(get("/v4/car/none").with("if-none-match", list), detail("if-none-match"))
            .refuses(get("/v4/vehicles/car/brand").with("if-none-match", list), detail("if-none-match"))
    });
    rule.refuses_with(404, get("/v4/car/none").with("if-none-match", ",\"3\" , ,W/\"å!\","), json!({"detail": MORE}))
        .answers(200, get("/v4/vehicles/car/brand").with("if-none-match", ",\"3\" , ,W/\"å!\","), json!({"etag": ANY}))
}

async fn documents(trial: &Trial) {
    for path in [
        "/v4/vehicles/car/attributes",
        "/v4/vehicles/car/brand",
        "/v4/vehicles/car/models?brand=volvo",
        "/openapi.json",
        "/docs/swagger-ui",
        "/docs/redoc",
        "/docs/errors/",
        "/docs/errors/precondition_failed",
    ] {
        let answer = trial.answers(&get(path), 200, &json!({"etag": "\"…"})).await;
        let etag = answer.header("etag").unwrap_or_default().to_owned();
        let same: Value = json!({"etag": etag, "content-type": ABSENT});
        let answer = trial.answers(&get(path).with("if-none-match", etag), 304, &same).await;
        trial.sees("no body", &json!(0), &json!(answer.bytes.len()));
        trial.answers(&get(path).with("if-none-match", "\"other\""), 200, &json!({"content-type": ANY})).await;
    }
    trial.answers(&get("/v4/vehicles/car/none").with("if-none-match", "*"), 404, &json!({"etag": ABSENT})).await;
}
