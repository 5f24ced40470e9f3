//! 1 and 2: lists and their parameters.

use serde_json::json;

use crate::conformance::{
    pattern::{ANY, MORE},
    request::get,
    rule::{Rule, decision},
    says,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    vec![
        decision(1, "envelope", "{count, next, previous, results}; next and previous are absolute URLs or null.")
            .by(|trial| Box::pin(envelope(trial)))
            .refuses(get("/v4/ad?limit=0"), json!({"limit": ["Must be 1 to 500."]})),
        decision(1, "bounds of limit and offset", "Larger, negative or non-numeric: a 400 naming the parameter.")
            .accepts(get("/v4/ad?limit=1&offset=0"), json!({"results": [{}]}))
            .refuses(
                get("/v4/ad?limit=1000&offset=abc"),
                json!({"limit": ["Must be 1 to 500."], "offset": [says::NO_INTEGER]}),
            ),
        decision(1, "pages never overlap", "Ties break on the order of writing; count is exact.")
            .see("e2e::lists::pages_follow_their_links_and_never_overlap")
            .by(|trial| Box::pin(pages(trial))),
        decision(1, "order of logs", "Logs are oldest first, also inside an ad.")
            .see("e2e::lists::the_whole_log_is_read_page_by_page"),
        decision(2, "malformed filters", "A 400 {parameter: [message]}, all of them in one answer.")
            .accepts(get("/v4/ad?category_id=1020&limit=1"), json!({"count": ANY}))
            .refuses(
                get("/v4/ad?id=x&category_id=y&created__gt=z&colour=red&fields=paint&include=all&ordering=x"),
                json!({"id": ["Must be a valid UUID."], "category_id": [says::NO_INTEGER], "created__gt": [MORE],
                    "colour": ["Unknown parameter.", MORE], "fields": [says::no_choice("paint"), MORE],
                    "include": [says::no_choice("all"), MORE], "ordering": [says::no_choice("x"), MORE]}),
            ),
        decision(2, "timestamps", "UTC, YYYY-MM-DD HH:MM:SS; ISO 8601 is accepted as well.")
            .accepts(get("/v4/ad?created__gte=2020-01-02%2003:04:05&limit=1"), json!({"results": [{}]}))
            .accepts(get("/v4/ad?created__gte=2020-01-02T03:04:05Z&limit=1"), json!({"results": [{}]}))
            .accepts(get("/v4/ad?created__gte=2020-01-02T03:04:05.678%2B02:00&limit=1"), json!({"results": [{}]}))
            .refuses(get("/v4/ad?created__gte=2020-01-02%2025:04:05"), json!({"created__gte": [MORE]}))
            .refuses(get("/v4/ad?created__gte=1577934245"), json!({"created__gte": [MORE]})),
        decision(2, "empty items", "state, category_id__in and source_id__in reject empty items.")
            .accepts(get("/v4/ad?source_id__in=trailer-v3-499,trailer-v4-499"), json!({"count": 2}))
            .refuses(get("/v4/ad?state="), json!({"state": [says::no_choice(""), MORE]}))
            .refuses(get("/v4/ad?category_id__in=,1020"), json!({"category_id__in": ["Empty items are not allowed."]}))
            .refuses(get("/v4/ad?source_id__in=a,"), json!({"source_id__in": ["Empty items are not allowed."]})),
    ]
}

async fn envelope(trial: &Trial) {
    let base = &trial.world.server.client.base;
    let names = ["count", "next", "previous", "results"];
    for path in ["/v4/trailer", "/v4/ad/trailer-v4-499/log"] {
        let page =
            trial.accepts(get(format!("{path}?limit=1")), 200, json!({"previous": null, "results": [ANY]})).await;
        let sent: Vec<_> = page.body.as_object().into_iter().flat_map(|page| page.keys().cloned()).collect();
        trial.sees("the members", &json!(names), &json!(sent));
    }
    let page = trial.accepts(get("/v4/trailer?limit=2&offset=3&state=created"), 200, json!({})).await.body;
    trial.sees(
        "links",
        &json!({"next": format!("{base}/v4/trailer?{MORE}"), "previous": format!("{base}/v4/trailer?{MORE}")}),
        &page,
    );
}

async fn pages(trial: &Trial) {
    let mut seen = std::collections::BTreeSet::new();
    let query = "source_id__icontains=trailer-v3-1&ordering=created&fields=source_id&limit=13";
    let mut rows = 0;
    for offset in (0..111).step_by(13) {
        let page =
            trial.also_accepts(get(format!("/v4/trailer?{query}&offset={offset}")), 200, json!({"count": 111})).await;
        for row in page.body["results"].as_array().into_iter().flatten() {
            rows += 1;
            seen.insert(row["source_id"].to_string());
        }
    }
    trial.sees("rows and different rows", &json!([111, 111]), &json!([rows, seen.len()]));
    // Written in one transaction: all of the same time.
    trial
        .accepts(
            get(format!("/v4/trailer?{query}")),
            200,
            json!({"results": [{"source_id": "trailer-v3-1"}, {"source_id": "trailer-v3-10"}, MORE]}),
        )
        .await;
}
