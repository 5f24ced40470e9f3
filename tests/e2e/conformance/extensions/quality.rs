//! E7: quality.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ANY, MORE, laid_over},
    request::{Who, delete, fields, get, patch, post, put, validate},
    rule::{Rule, extension},
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E7", name, says);
    vec![
        rule(
            "quality of validate",
            "`quality` is in the answer of `validate` always; `warnings` stay, each with a `code`.",
        )
        .by(|trial| Box::pin(of_validate(trial)))
        .one_sided("nothing about quality ever refuses an ad"),
        rule("score", "The weight of the goals met by the weight of those that apply to the category.")
            .by(|trial| Box::pin(score(trial)))
            .one_sided("nothing about quality ever refuses an ad"),
        rule(
            "quality of single reads",
            "`quality` is in single reads with `include=quality`, on typed, generic and V3 paths; without it, it is not.",
        )
        .by(|trial| Box::pin(reads(trial))),
        rule(
            "quality of writes",
            "`quality` is in the answer of every write with `include=quality`, as the ad is after the write.",
        )
        .by(|trial| Box::pin(writes(trial))),
        rule(
            "quality in lists",
            "With `include=quality`, score, level and number of findings; `quality_score__lt` and `quality_score__gte` filter.",
        )
        .by(|trial| Box::pin(lists(trial))),
        rule("the same plate in another live ad of the dealer", "A finding of single reads and of validate.")
            .by(|trial| Box::pin(same_plate(trial)))
            .one_sided("nothing about quality ever refuses an ad"),
        rule("prices", "Every accepted price with its time, the lowest of the last 30 days, the reference price of a reduction.")
            .by(|trial| Box::pin(prices(trial)))
            .see("e2e::prices::every_accepted_price_is_recorded_with_its_time"),
        rule("vehicle registry", "Proposals of values, never overwriting; a slow register delays no write.")
            .see("e2e::registry::validate_compares_with_a_register_in_a_file")
            .see("e2e::registry::a_register_that_does_not_answer_delays_nothing_but_validate"),
        rule("missing photos", "A photo that could not be fetched does not count, and is a finding.")
            .see("e2e::quality::the_quality_of_an_ad_follows_what_becomes_of_its_photos"),
        rule("photos", "Findings about what photos show, also in comparison with the dealer's other ads; renditions upright and without metadata.")
            .see("e2e::quality::a_stock_of_flawed_ads_yields_exactly_its_findings")
            .see("e2e::photos::a_photo_taken_sideways_gets_upright_renditions")
            .see("e2e::photos::sixteen_hostile_images_at_once_need_little_memory"),
        rule("findings", "At least those that the specification lists and that the payload shows.")
            .see("rules::quality::each_flaw_yields_exactly_its_finding"),
    ]
}

async fn of_validate(trial: &Trial) {
    let price = json!([{"type": "list", "amount": 34_990_000}]);
    let of_no_other_ad = laid_over(json!({"price": price}), &fields("registration_number", json!("XYZ98A")));
    let car = laid_over(of_no_other_ad, &fields("vin", json!("YV1UZH5V1M100000I")));
    let findings = json!([
        {"code": "vin_letter", "severity": "warning", "field": "category_fields.vin", "text": MORE, "suggestion": "YV1UZH5V1M1000001"},
        {"code": "price_in_ore", "severity": "warning", "field": "price", "text": MORE, "suggestion": "349900"},
        {"code": "title_incomplete", "severity": "info", "field": "category_fields.brand", "text": MORE},
        {"code": "title_incomplete", "severity": "info", "field": "category_fields.model", "text": MORE},
        {"code": "few_photos", "severity": "info", "field": "image_urls", "text": MORE},
    ]);
    let quality = json!({"score": ANY, "level": "basic", "goals": ANY, "findings": findings});
    let warnings = json!([{"field": "image_urls", "code": "no_images", "message": MORE}]);
    let answer = trial.accepts(validate("car", &car), 200, json!({})).await.body;
    trial.sees("the answer", &json!({"valid": true, "warnings": warnings, "quality": quality}), &answer);
}

async fn score(trial: &Trial) {
    let car = json!({"price": [{"type": "list", "amount": 90_000}]});
    let answer = trial.accepts(validate("car", &car), 200, json!({})).await.body;
    let quality = &answer["quality"];
    let goals = quality["goals"].as_array().map(Vec::as_slice).unwrap_or_default();
    let weight = |met: bool| -> u64 {
        let counted = goals.iter().filter(|goal| !met || goal["met"] == true);
        counted.filter_map(|goal| goal["weight"].as_u64()).sum()
    };
    trial.sees("the score", &Value::from((weight(true) * 100).checked_div(weight(false))), &quality["score"]);
    let price = json!({"code": "price", "field": "price", "met": true, "weight": ANY, "text": MORE, "how": MORE});
    let found = goals.iter().find(|goal| goal["code"] == "price").cloned().unwrap_or_default();
    trial.sees("a goal that is met", &price, &found);
}

/// A goal or a finding of an answer.
fn with_code<'a>(quality: &'a Value, of: &str, code: &str) -> Option<&'a Value> {
    quality[of].as_array()?.iter().find(|it| it["code"] == code)
}

async fn reads(trial: &Trial) {
    let (id, created) = trial.created("car", &json!({"body": "MYCKET FIN BIL I TOPPSKICK ".repeat(9)})).await;
    trial.ended(&id, "publish", &created).await;
    let quality = json!({"score": ANY, "level": ANY, "goals": ANY, "findings": ANY});
    let shown = json!({"source_id": id, "quality": quality});
    for base in ["/v4/car", "/v4/ad", "/v3/ad"] {
        let read = trial.accepts(get(format!("{base}/{id}?include=quality")), 200, shown.clone()).await.body;
        let (goal, finding) = (
            with_code(&read["quality"], "goals", "description").cloned().unwrap_or_default(),
            with_code(&read["quality"], "findings", "body_capitals").cloned().unwrap_or_default(),
        );
        let met = json!({"field": "body", "met": true, "weight": ANY, "text": MORE, "how": MORE});
        trial.sees("a goal", &met, &goal);
        trial.sees("a finding", &json!({"severity": "info", "field": "body", "text": MORE}), &finding);
        let alone = get(format!("{base}/{id}?fields=source_id&include=quality"));
        trial.accepts(alone, 200, json!({"source_id": id, "quality": read["quality"]})).await;
        let without = trial.accepts(get(format!("{base}/{id}")), 200, json!({"source_id": id})).await.body;
        trial.sees("no quality unasked", &Value::Null, &without["quality"]);
    }
    let path = format!("/v4/car/{id}?include=quality");
    trial.refuses(get(format!("{path},qualities")), 400, json!({"include": [MORE, MORE]})).await;
    trial.refuses(get(&path).by(Who::South), 404, json!({"detail": MORE})).await;
    trial.refuses(get(format!("/v4/ad/{id}/log?include=quality")), 400, json!({"include": [MORE]})).await;
}

async fn writes(trial: &Trial) {
    let id = trial.id();
    let car = crate::conformance::request::ad("car", &json!({"source_id": id, "body": "Fin bil"}));
    let shown = json!({"source_id": id, "quality": {"score": ANY, "level": ANY, "goals": ANY, "findings": ANY}});
    let created = trial.accepts(post("/v4/car?include=quality", &car), 201, shown.clone()).await;
    trial.ended(&id, "publish", &created).await;
    let score = |body: &Value| body["quality"]["score"].as_u64().unwrap_or_default();
    let path = format!("/v4/car/{id}");
    let body = json!({"body": "Driven by one owner, serviced every year by the dealer. ".repeat(5)});
    let patched = trial.accepts(patch(format!("{path}?include=quality"), &body), 200, shown.clone()).await;
    let rises = score(&patched.body) > score(&created.body);
    trial.sees("the score rises", &json!(true), &json!(rises));
    let again = trial.accepts(put(format!("{path}?include=quality"), &body), 200, shown.clone()).await;
    trial.sees("the same content", &patched.body["quality"], &again.body["quality"]);
    trial.ended(&id, "publish", &again).await;
    for (method, action) in [("retry", "publish"), ("bump", "bump"), ("pole_position", "boost")] {
        let acted = post(format!("{path}/{method}?include=quality"), &json!({}));
        let acted = trial.accepts(acted, 200, shown.clone()).await;
        trial.ended(&id, action, &acted).await;
    }
    trial.refuses(patch(format!("{path}?include=status"), &body), 400, json!({"include": [MORE, MORE]})).await;
    trial.refuses(post("/v4/car?include=everything", &car), 400, json!({"include": [MORE, MORE]})).await;
    trial.refuses(post("/v4/car/validate?include=quality", &car), 400, json!({"include": [MORE]})).await;
    trial.accepts(delete(format!("{path}?include=quality")), 200, shown).await;
}

async fn prices(trial: &Trial) {
    let list = json!([{"type": "list", "amount": 90_000, "currency": "SEK"}]);
    let (id, created) = trial.created("car", &json!({"price": list})).await;
    trial.ended(&id, "publish", &created).await;
    let applied = json!({"amount": 90_000, "currency": "SEK", "since": ANY, "until": null});
    let shown = json!({"source_id": id, "dealer_code": "north-cars", "recorded_since": ANY, "lowest_30_days": applied,
        "reduction": null, "history": [{"since": ANY, "until": null, "price": list}]});
    for base in ["/v4/car", "/v4/ad", "/v3/ad"] {
        trial.accepts(get(format!("{base}/{id}/prices")), 200, shown.clone()).await;
    }
    trial.accepts(get(format!("/v4/ad/{id}/prices")).by(Who::Group), 200, shown).await;
    trial.refuses(get(format!("/v4/ad/{id}/prices?limit=1")), 400, json!({"limit": [MORE]})).await;
    trial.refuses(get(format!("/v4/ad/{id}/prices")).by(Who::South), 404, json!({"detail": MORE})).await;
    trial.refuses(get(format!("/v4/boat/{id}/prices")), 404, json!({"detail": MORE})).await;
}

async fn lists(trial: &Trial) {
    let (id, created) = trial.created("boat", &json!({"body": "<b>Fin</b>"})).await;
    trial.ended(&id, "publish", &created).await;
    let read = trial.accepts(get(format!("/v4/ad/{id}?include=quality")), 200, json!({"source_id": id})).await.body;
    let quality = &read["quality"];
    let (score, number) = (quality["score"].as_u64().unwrap_or_default(), quality["findings"].as_array().map(Vec::len));
    let of = |query: String| format!("/v4/boat?source_id={id}&fields=source_id&{query}");
    let page = |rows: Value, count: u32| json!({"count": count, "next": null, "previous": null, "results": rows});
    let row = json!({"source_id": id, "quality": {"score": score, "level": quality["level"], "findings": number}});
    trial.accepts(get(of("include=quality".to_owned())), 200, page(json!([row]), 1)).await;
    let within = format!("quality_score__gte={score}&quality_score__lt={}", score + 1);
    for base in ["/v4/boat", "/v4/ad", "/v3/ad"] {
        let found = page(json!([{"source_id": id}]), 1);
        trial.accepts(get(format!("{base}?source_id={id}&fields=source_id&{within}")), 200, found).await;
    }
    trial.accepts(get(of(format!("quality_score__lt={score}"))), 200, page(json!([]), 0)).await;
    trial.accepts(get(of(format!("quality_score__gte={}", score + 1))), 200, page(json!([]), 0)).await;
    for (wrong, errors) in [("101", json!([MORE])), ("-1", json!([MORE])), ("", json!([MORE])), ("half", json!([MORE]))]
    {
        let refused = get(of(format!("quality_score__lt={wrong}")));
        trial.refuses(refused, 400, json!({"quality_score__lt": errors})).await;
    }
    trial.refuses(get(of("quality_score__gt=5".to_owned())), 400, json!({"quality_score__gt": [MORE, MORE]})).await;
}

async fn same_plate(trial: &Trial) {
    let plate = trial.plate();
    let over = fields("registration_number", json!(plate));
    let (first, created) = trial.created("car", &over).await;
    trial.ended(&first, "publish", &created).await;
    let found = |quality: &Value| with_code(quality, "findings", "plate_in_other_ad").cloned().unwrap_or_default();
    let finding = json!({"severity": "warning", "field": "category_fields.registration_number", "text": MORE});
    let validated = trial.accepts(validate("car", &over), 200, json!({})).await.body;
    trial.sees("validate", &finding, &found(&validated["quality"]));
    let foreign = trial.accepts(validate("car", &over).by(Who::South), 200, json!({})).await.body;
    trial.sees("of another dealer", &Value::Null, &found(&foreign["quality"]));
    let own = async |id: &str| {
        let read = get(format!("/v4/car/{id}?include=quality"));
        found(&trial.accepts(read, 200, json!({"source_id": id})).await.body["quality"])
    };
    trial.sees("of one ad", &Value::Null, &own(&first).await);
    let (second, _) = trial.created("car", &over).await;
    trial.sees("the first of two", &finding, &own(&first).await);
    trial.sees("the second of two", &finding, &own(&second).await);
    let deleted = trial.accepts(delete(format!("/v4/car/{first}")), 200, json!({})).await;
    trial.ended(&first, "delete", &deleted).await;
    trial.sees("the other one is deleted", &Value::Null, &own(&second).await);
}
