//! The filters, one by one.

use serde_json::json;

use super::{Stock, refuses};
use crate::conformance::{
    pattern::MORE,
    request::{Who, delete, get},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

const ANY_TEXT: &str = "any text is a value to look for, and finds nothing";

fn row(name: &str, says: &str) -> Rule {
    interface("List parameters", name, says).decided(&[2])
}

pub(super) fn rules() -> Vec<Rule> {
    of_the_ad().into_iter().chain(of_what_is_in_it()).collect()
}

fn of_the_ad() -> Vec<Rule> {
    vec![
        row("id", "Internal ad ID (UUID).").by(|trial| {
            Box::pin(async move {
                let stock = Stock::new(trial).await;
                let id = stock.read(trial, 1).await["id"].clone();
                stock.finds(trial, &format!("id={}", id.as_str().unwrap_or_default()), &[1]).await;
                stock.finds(trial, "id=01a1fb16-0000-7000-8000-000000000000", &[]).await;
                refuses(trial, "id", "7", json!(["Must be a valid UUID."])).await;
            })
        }),
        row("state", "created or deleted.").by(|trial| {
            Box::pin(async move {
                let stock = Stock::new(trial).await;
                let gone = trial.sent(delete(format!("/v4/ad/{}", stock.ids[0])).by(Who::Quiet)).await;
                trial.ended_for(Who::Quiet, &stock.ids[0], "delete", &gone).await;
                stock.finds(trial, "state=deleted", &[0]).await;
                stock.finds(trial, "state=created", &[1, 2]).await;
                refuses(
                    trial,
                    "state",
                    "processing",
                    json!([says::no_choice("processing"), says::choices(&["created", "deleted"])]),
                )
                .await;
                refuses(trial, "state", "", json!([says::no_choice(""), MORE])).await;
            })
        }),
        row("source_id", "Exact match.")
            .by(|trial| {
                Box::pin(async move {
                    let stock = Stock::new(trial).await;
                    stock.finds(trial, &format!("source_id={}", stock.ids[1]), &[1]).await;
                    stock.finds(trial, &format!("source_id={}", stock.mark), &[]).await;
                    stock.finds(trial, &format!("source_id={}", stock.ids[1].to_lowercase()), &[]).await;
                })
            })
            .one_sided(ANY_TEXT),
        row("source_id__in", "Comma-separated list.").by(|trial| {
            Box::pin(async move {
                let stock = Stock::new(trial).await;
                stock.finds(trial, &format!("source_id__in={},nobody,{}", stock.ids[2], stock.ids[0]), &[0, 2]).await;
                refuses(trial, "source_id__in", "a,,b", json!(["Empty items are not allowed."])).await;
                refuses(trial, "source_id__in", "", json!(["Empty items are not allowed."])).await;
            })
        }),
        row("source_id__icontains", "Case-insensitive partial match.")
            .by(|trial| {
                Box::pin(async move {
                    let stock = Stock::new(trial).await;
                    let part = format!("{}-2", stock.mark[2..].to_uppercase());
                    stock.finds(trial, &format!("source_id__icontains={part}"), &[2]).await;
                    stock.finds(trial, &format!("source_id__icontains={}-9", stock.mark), &[]).await;
                })
            })
            .one_sided(ANY_TEXT),
        row("dealer_code", "Customer identifier.")
            .decided(&[11])
            .by(|trial| Box::pin(dealer_filter(trial)))
            .one_sided("a dealer outside the scope finds nothing"),
    ]
}

fn of_what_is_in_it() -> Vec<Rule> {
    vec![
        row("category_id", "Exact.").by(|trial| {
            Box::pin(async move {
                let stock = Stock::new(trial).await;
                stock.finds(trial, "category_id=1020", &[0, 1]).await;
                stock.finds(trial, "category_id=1060", &[2]).await;
                stock.finds(trial, "category_id=1021", &[]).await;
                refuses(trial, "category_id", "cars", json!([says::NO_INTEGER])).await;
            })
        }),
        row("category_id__in", "Comma-separated list.").by(|trial| {
            Box::pin(async move {
                let stock = Stock::new(trial).await;
                stock.finds(trial, "category_id__in=1060,1020", &[0, 1, 2]).await;
                stock.finds(trial, "category_id__in=1060", &[2]).await;
                refuses(trial, "category_id__in", "1020,,1060", json!(["Empty items are not allowed."])).await;
                refuses(trial, "category_id__in", "1020,x", json!(["\"x\": A valid integer is required."])).await;
            })
        }),
        row("search", "Case-insensitive text search in title and body.")
            .by(|trial| {
                Box::pin(async move {
                    let stock = Stock::new(trial).await;
                    let mark = &stock.mark;
                    // It may lag a write by a second.
                    trial.world.listed(Who::Quiet, &format!("/v4/ad?search={mark}"), 3).await;
                    stock.finds(trial, &format!("search=FYND {mark}-1"), &[1]).await;
                    stock.finds(trial, "search=V%C3%84LV%C3%85RDAD", &[0]).await;
                    stock.finds(trial, &format!("search=%C3%B6ppen b%C3%A5t {mark}"), &[2]).await;
                    stock.finds(trial, "search=saab", &[0, 1]).await;
                    stock.finds(trial, "search=no such words", &[]).await;
                })
            })
            .one_sided(ANY_TEXT),
        row("marketplace_ad_id", "Primary marketplace ad ID.")
            .by(|trial| {
                Box::pin(async move {
                    let stock = Stock::new(trial).await;
                    let id = stock.read(trial, 0).await["marketplace_ad_id"].clone();
                    stock.finds(trial, &format!("marketplace_ad_id={}", id.as_str().unwrap_or_default()), &[0]).await;
                    stock.finds(trial, "marketplace_ad_id=1", &[]).await;
                })
            })
            .one_sided(ANY_TEXT),
        row("marketplace_ad_id__in", "Comma-separated list.").by(|trial| {
            Box::pin(async move {
                let stock = Stock::new(trial).await;
                let id = stock.read(trial, 1).await["marketplace_ad_id"].clone();
                stock.finds(trial, &format!("marketplace_ad_id__in=1,{}", id.as_str().unwrap_or_default()), &[1]).await;
                refuses(trial, "marketplace_ad_id__in", "1,", json!(["Empty items are not allowed."])).await;
            })
        }),
        row("registration_number", "Case-insensitive; registered vehicles only.")
            .by(|trial| Box::pin(plate_filter(trial)))
            .one_sided(ANY_TEXT),
    ]
}

async fn dealer_filter(trial: &Trial) {
    let (north, _) = trial.created("boat", &json!({"visible": false})).await;
    let (coast, _) = trial.created_by(Who::Coast, "boat", &json!({"visible": false})).await;
    for (dealer, id) in [("north-cars", &north), ("coast-boats", &coast)] {
        let found = get(format!("/v4/boat?source_id__in={north},{coast}&dealer_code={dealer}")).by(Who::Group);
        trial.accepts(found, 200, json!({"count": 1, "results": [{"source_id": id, "dealer_code": dealer}]})).await;
    }
    let outside = get("/v4/ad?dealer_code=south-cars").by(Who::Group);
    trial.accepts(outside, 200, json!({"count": 0, "results": []})).await;
    trial.accepts(get(format!("/v4/ad?source_id={coast}")), 200, json!({"count": 0})).await;
}

async fn plate_filter(trial: &Trial) {
    let stock = Stock::new(trial).await;
    let plate = stock.plates[1].to_lowercase();
    stock.finds(trial, &format!("registration_number={plate}"), &[1]).await;
    stock.finds(trial, &format!("registration_number={} {}", &plate[..3], &plate[3..]), &[1]).await;
    stock.finds(trial, &format!("registration_number={}", &plate[..5]), &[]).await;
    // Registered vehicles only: a boat's number is not one of these.
    let number = trial.plate();
    let (id, _) =
        trial.created("boat", &json!({"visible": false, "category_fields": {"registration_number": number}})).await;
    trial.sees("the boat has it", &json!({"category_fields": {"registration_number": number}}), &trial.read(&id).await);
    trial.accepts(get(format!("/v4/ad?registration_number={number}")), 200, json!({"count": 0})).await;
}
