//! Rules 4 and 5: bump and pole position.

use serde_json::{Value, json};

use crate::conformance::{
    request::{Who, get, registered_and_created, unregistered},
    rule::{Rule, interface},
    trial::Trial,
};

const NOT_SHOWN: &str = "Ad is not visible, cannot ";

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| interface("Endpoints", name, says);
    vec![
        rule("rule 4, bump: every type", "Bump renews an ad of any category; it answers with the ad.")
            .decided(&[7])
            .by(|trial| Box::pin(bump_every_type(trial))),
        rule(
            "rule 4, bump: exclusions",
            "exclude_secondary and exclude_primary leave out one marketplace; registered vehicles only.",
        )
        .decided(&[26])
        .by(|trial| Box::pin(exclusions(trial))),
        rule("rule 4, bump: visible", "Prerequisite: ad visible=true.")
            .decided(&[26])
            .by(|trial| Box::pin(bump_visible(trial))),
        rule("rule 4, bump: permission", "Prerequisite: bump permission for at least one marketplace.")
            .decided(&[17, 26])
            .by(|trial| Box::pin(bump_permission(trial))),
        rule("rule 5, pole position: registered vehicles", "Registered vehicle category, primary marketplace only.")
            .by(|trial| Box::pin(pole_position_of_types(trial))),
        rule("rule 5, pole position: three days", "It lasts 3 days; none may be active already.")
            .by(|trial| Box::pin(pole_position_lasts(trial)))
            .see("e2e::life::pole_position_lasts_three_days_and_is_not_given_twice"),
        rule("rule 5, pole position: visible", "Prerequisite: visible=true.")
            .decided(&[26])
            .by(|trial| Box::pin(pole_position_visible(trial))),
    ]
}

async fn bump_every_type(trial: &Trial) {
    for vehicle_type in registered_and_created().chain(unregistered()) {
        let id = trial.published(vehicle_type, &json!({})).await;
        let shown = json!({"source_id": id, "state": "created"});
        let bump = trial.accepts(get(format!("/v4/{vehicle_type}/{id}/bump")), 200, shown).await;
        let entry = trial.ended(&id, "bump", &bump).await;
        trial.sees("the entry", &json!({"state": "done"}), &entry);
    }
    trial.refuses(get("/v4/car/none/bump"), 404, json!({"detail": "Not found.…"})).await;
}

async fn exclusions(trial: &Trial) {
    let id = trial.published("car", &json!({})).await;
    for (excluded, left) in [("primary", "secondary"), ("secondary", "primary")] {
        let newer = trial.published("car", &json!({})).await;
        let bump = get(format!("/v4/car/{id}/bump?exclude_{excluded}=true&exclude_{left}=false"));
        let accepted = trial.accepts(bump, 200, json!({"source_id": id})).await;
        trial.ended(&id, "bump", &accepted).await;
        let first = [trial.comes_first(left, &id, &newer).await, trial.comes_first(excluded, &id, &newer).await];
        trial.sees("first where it was not left out", &json!([true, false]), &json!(first));
    }
    let both = get(format!("/v4/car/{id}/bump?exclude_primary=true&exclude_secondary=true"));
    trial.refuses(both, 400, json!(["At most one marketplace can be excluded"])).await;
    let wrong = get(format!("/v4/car/{id}/bump?exclude_primary=yes"));
    trial.refuses(wrong, 400, json!({"exclude_primary": ["Must be true or false."]})).await;
    for vehicle_type in unregistered() {
        let (id, _) = trial.created(vehicle_type, &json!({})).await;
        for excluded in ["primary", "secondary"] {
            let bump = get(format!("/v4/{vehicle_type}/{id}/bump?exclude_{excluded}=true"));
            trial.refuses(bump, 400, json!(["Marketplaces can be excluded for registered vehicles only"])).await;
        }
    }
}

async fn bump_visible(trial: &Trial) {
    for vehicle_type in ["car", "boat"] {
        let (id, _) = trial.created(vehicle_type, &json!({"visible": false})).await;
        let bump = get(format!("/v4/{vehicle_type}/{id}/bump"));
        trial.refuses(bump, 400, json!([format!("{NOT_SHOWN}bump")])).await;
    }
    let id = trial.published("car", &json!({"visible": true})).await;
    trial.accepts(get(format!("/v4/car/{id}/bump")), 200, json!({"visible": true})).await;
    let gone = trial.deleted("boat").await;
    let says = json!(["Ad has been deleted, cannot bump", format!("{NOT_SHOWN}bump")]);
    trial.refuses(get(format!("/v4/boat/{gone}/bump")), 400, says).await;
}

async fn bump_permission(trial: &Trial) {
    let none = "Dealer has no permission to bump ads on any marketplace of this ad";
    let (id, _) = trial.created_by(Who::South, "car", &json!({})).await;
    trial.refuses(get(format!("/v4/car/{id}/bump")).by(Who::South), 400, json!([none])).await;
    // Coast Boats may bump on the primary marketplace.
    let (id, created) = trial.created_by(Who::Coast, "car", &json!({})).await;
    trial.ended_for(Who::Coast, &id, "publish", &created).await;
    let bump = get(format!("/v4/car/{id}/bump")).by(Who::Coast);
    trial.accepts(bump, 200, json!({"source_id": id})).await;
    let left = get(format!("/v4/car/{id}/bump?exclude_primary=true")).by(Who::Coast);
    trial.refuses(left, 400, json!(["Dealer has no permission to bump ads on the marketplace that is left"])).await;
    let left = get(format!("/v4/car/{id}/bump?exclude_secondary=true")).by(Who::Coast);
    trial.accepts(left, 200, json!({"source_id": id})).await;
}

async fn pole_position_of_types(trial: &Trial) {
    for vehicle_type in registered_and_created() {
        let id = trial.published(vehicle_type, &json!({})).await;
        let accepted =
            trial.accepts(get(format!("/v4/{vehicle_type}/{id}/pole_position")), 200, json!({"source_id": id})).await;
        let entry = trial.ended(&id, "boost", &accepted).await;
        trial.sees("the entry", &json!({"state": "done"}), &entry);
        let until = |market: &str, listings: &[Value]| {
            listings.iter().any(|it| it["marketplace"] == market && it["pole_position_until"].is_string())
        };
        let listings = trial.listings(&id).await;
        trial.sees(
            "primary only",
            &json!([true, false]),
            &json!([until("primary", &listings), until("secondary", &listings)]),
        );
    }
    for vehicle_type in unregistered() {
        let (id, _) = trial.created(vehicle_type, &json!({})).await;
        let refused = get(format!("/v4/{vehicle_type}/{id}/pole_position"));
        trial.refuses(refused, 400, json!(["Pole position is for registered vehicles only"])).await;
    }
    let id = trial.created_v3(1064, &json!({})).await;
    trial
        .refuses(
            get(format!("/v3/ad/{id}/pole_position")),
            400,
            json!(["Pole position is for registered vehicles only"]),
        )
        .await;
}

async fn pole_position_lasts(trial: &Trial) {
    let id = trial.published("car", &json!({})).await;
    let path = format!("/v4/ad/{id}/pole_position");
    let accepted = trial.accepts(get(&path), 200, json!({})).await;
    trial.ended(&id, "boost", &accepted).await;
    trial.refuses(get(&path), 400, json!(["Ad already has pole position until …"])).await;
}

async fn pole_position_visible(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({"visible": false})).await;
    let refused = get(format!("/v4/car/{id}/pole_position"));
    trial.refuses(refused, 400, json!([format!("{NOT_SHOWN}give pole position")])).await;
    let id = trial.published("caravan", &json!({})).await;
    trial.accepts(get(format!("/v4/caravan/{id}/pole_position")), 200, json!({"visible": true})).await;
}
