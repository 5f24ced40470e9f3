//! Page, order and fields of a list of ads.

use serde_json::json;

use super::Stock;
use crate::conformance::{
    pattern::{ABSENT, ANY, MORE},
    request::{Who, get, patch},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("List parameters", name, says).decided(&[1, 2]);
    let limit = "Must be 1 to 500.";
    vec![
        row("limit", "Page size: default 50, maximum 500.")
            .by(|trial| {
                Box::pin(async move {
                    let stock = Stock::new(trial).await;
                    let path = format!("/v4/ad?source_id__icontains={}&limit=2", stock.mark);
                    let page = json!({"count": 3, "results": [{}, {}], "next": ANY, "previous": null});
                    trial.accepts(get(path).by(Who::Quiet), 200, page).await;
                })
            })
            .by(|trial| Box::pin(default_page(trial)))
            .accepts(get("/v4/ad?limit=500"), json!({"count": ANY}))
            .refuses(get("/v4/ad?limit=501"), json!({"limit": [limit]}))
            .refuses(get("/v4/ad?limit=-1"), json!({"limit": [limit]}))
            .refuses(get("/v4/ad?limit=ten"), json!({"limit": [says::NO_INTEGER]})),
        row("offset", "Start offset.")
            .by(|trial| {
                Box::pin(async move {
                    let stock = Stock::new(trial).await;
                    let base = format!("/v4/ad?source_id__icontains={}&ordering=source_id", stock.mark);
                    let page =
                        json!({"count": 3, "results": [{"source_id": stock.ids[2]}], "next": null, "previous": ANY});
                    trial.accepts(get(format!("{base}&offset=2")).by(Who::Quiet), 200, page).await;
                    let page = json!({"count": 3, "results": [], "next": null, "previous": ANY});
                    trial.accepts(get(format!("{base}&offset=9")).by(Who::Quiet), 200, page).await;
                })
            })
            .refuses(get("/v4/ad?offset=-1"), json!({"offset": ["Must be 0 or more."]}))
            .refuses(get("/v4/ad?offset=x"), json!({"offset": [says::NO_INTEGER]})),
        row("ordering", "-created, created, -updated, updated, -source_id, source_id; -created if absent.")
            .by(|trial| Box::pin(orderings(trial)))
            .refuses(get("/v4/ad?ordering=title"), json!({"ordering": [says::no_choice("title"), MORE]}))
            .refuses(get("/v4/ad?ordering=--created"), json!({"ordering": [says::no_choice("--created"), MORE]})),
        row("fields", "Comma-separated fields to return.")
            .by(|trial| Box::pin(fields_of_a_list(trial)))
            .refuses(get("/v4/ad?fields=source_id,colour"), json!({"fields": [says::no_choice("colour"), MORE]})),
        row("include", "Comma-separated extra fields; log is excluded by default.")
            .by(|trial| Box::pin(include_log(trial)))
            .refuses(get("/v4/ad?include=image_urls"), json!({"include": [says::no_choice("image_urls"), MORE]})),
        row("on typed lists too", "The parameters are those of GET /v4/ad and GET /v4/{vehicle_type}.")
            .by(|trial| {
                Box::pin(async move {
                    let stock = Stock::new(trial).await;
                    let path =
                        format!("/v4/car?source_id__icontains={}&ordering=-source_id&fields=source_id", stock.mark);
                    let page =
                        json!({"count": 2, "results": [{"source_id": stock.ids[1]}, {"source_id": stock.ids[0]}]});
                    trial.accepts(get(path).by(Who::Quiet), 200, page).await;
                })
            })
            .refuses(get("/v4/car?ordering=price"), json!({"ordering": [says::no_choice("price"), MORE]})),
        row("one row per ad", "Each POST/PUT/DELETE on a source_id appears as an entry: of the ad's log.")
            .by(|trial| {
                Box::pin(async move {
                    let (id, _) = trial.created("car", &json!({"visible": false})).await;
                    let update = trial.sent(patch(format!("/v4/car/{id}"), &json!({"body": "x"}))).await;
                    trial.ended(&id, "update", &update).await;
                    let log =
                        json!([{"action": "create"}, {"action": "create"}, {"action": "update"}, {"action": "update"}]);
                    let list = get(format!("/v4/ad?source_id={id}&include=log"));
                    trial.accepts(list, 200, json!({"count": 1, "results": [{"log": log}]})).await;
                })
            })
            .one_sided("the shape of an answer"),
    ]
}

async fn default_page(trial: &Trial) {
    let page = trial.accepts(get("/v4/trailer"), 200, json!({"next": ANY})).await;
    trial.sees("rows of a page", &json!(50), &json!(page.body["results"].as_array().map_or(0, Vec::len)));
}

async fn orderings(trial: &Trial) {
    let stock = Stock::new(trial).await;
    let update =
        trial.sent(patch(format!("/v4/car/{}", stock.ids[0]), &json!({"visible": false})).by(Who::Quiet)).await;
    trial.ended_for(Who::Quiet, &stock.ids[0], "unpublish", &update).await;
    for (ordering, expected) in [
        ("created", [0, 1, 2]),
        ("-created", [2, 1, 0]),
        ("updated", [1, 2, 0]),
        ("-updated", [0, 2, 1]),
        ("source_id", [0, 1, 2]),
        ("-source_id", [2, 1, 0]),
    ] {
        stock.finds(trial, &format!("ordering={ordering}"), &expected).await;
    }
    let newest = json!({"results": [{"source_id": stock.ids[2]}, {"source_id": stock.ids[1]}, MORE]});
    trial.accepts(get(format!("/v4/ad?source_id__icontains={}", stock.mark)).by(Who::Quiet), 200, newest).await;
}

async fn fields_of_a_list(trial: &Trial) {
    let stock = Stock::new(trial).await;
    let base = format!("/v4/ad?source_id={}", stock.ids[0]);
    let request = get(format!("{base}&fields=source_id,category_fields"));
    let page = trial.accepts(request.by(Who::Quiet), 200, json!({"count": 1})).await;
    let names: Vec<_> = page.body["results"][0].as_object().into_iter().flat_map(|row| row.keys().cloned()).collect();
    trial.sees("the names", &json!(["category_fields", "source_id"]), &json!(names));
    for name in [
        "id",
        "source_id",
        "dealer_code",
        "category_id",
        "state",
        "title",
        "body",
        "visible",
        "price",
        "image_refs",
        "url",
        "video_url",
        "location",
        "contact",
        "category_fields",
        "dont_publish_on_failed_images",
        "product_declaration",
        "marketplace_ad_id",
        "offer_id",
        "api_version",
        "created",
        "updated",
        "log",
    ] {
        let page = trial.send(&get(format!("{base}&fields={name}")).by(Who::Quiet)).await.json();
        let names: Vec<_> = page["results"][0].as_object().into_iter().flat_map(|row| row.keys().cloned()).collect();
        trial.sees("the only field", &json!([name]), &json!(names));
    }
}

async fn include_log(trial: &Trial) {
    let stock = Stock::new(trial).await;
    let base = format!("/v4/ad?source_id={}", stock.ids[0]);
    trial.accepts(get(&base).by(Who::Quiet), 200, json!({"results": [{"log": ABSENT}]})).await;
    let with_log = get(format!("{base}&include=log")).by(Who::Quiet);
    trial.accepts(with_log, 200, json!({"results": [{"log": [{"action": "create"}, MORE], "title": ANY}]})).await;
}
