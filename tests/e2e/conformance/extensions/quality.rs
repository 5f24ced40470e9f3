//! E7: quality.

use serde_json::{Value, json};

use crate::conformance::{
    pattern::{ANY, MORE, laid_over},
    request::{fields, validate},
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
        rule("findings", "At least those that the specification lists and that the payload shows.")
            .see("rules::quality::each_flaw_yields_exactly_its_finding"),
    ]
}

async fn of_validate(trial: &Trial) {
    let price = json!([{"type": "list", "amount": 34_990_000}]);
    let car = laid_over(json!({"price": price}), &fields("vin", json!("YV1UZH5V1M100000I")));
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
