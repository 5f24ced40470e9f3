//! 'Category identifiers': each category in the versions that it has.

use serde_json::json;

use crate::conformance::{
    pattern::MORE,
    request::{TYPES, ad, ad_of, get, patch, post, validate_v3},
    rule::{Rule, interface},
    says,
};

const SECTION: &str = "Category identifiers";

/// The categories of the table that V3 has.
const V3: &[u16] = &[
    1020, 1021, 1061, 1062, 1063, 1064, 1065, 1066, 1067, 1101, 1102, 1121, 1122, 1140, 1143, 1180, 1221, 1222, 1223,
    1224, 1225, 1226,
];

/// The categories that V4 has and V3 has not, with their vehicle types.
const V4_ONLY: &[(u16, &str)] = &[
    (1060, "boat"),
    (1227, "agriculture-thresher"),
    (1228, "agriculture-tractor"),
    (1229, "agriculture-tools"),
    (1321, "bus"),
    (1322, "truck"),
    (1323, "construction"),
];

pub(super) fn rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    for (vehicle_type, id) in TYPES {
        let path = format!("/v4/{vehicle_type}/validate");
        let rule =
            interface(SECTION, &format!("{id} in V4"), &format!("Vehicle type {vehicle_type} is category {id}."))
                .decided(&[12]);
        let of = |category: u16| post(&path, &ad(vehicle_type, &json!({"category_id": category})));
        rules.push(if vehicle_type == "trailer" {
            rule.accepts(patch("/v4/trailer/{trailer v4}", &json!({"category_id": 1045})), json!({"category_id": 1045}))
                .refuses(
                    patch("/v4/trailer/{trailer v4}", &json!({"category_id": 1101})),
                    json!({"category_id": ["Cannot be changed (it is 1045)."]}),
                )
        } else {
            let other = if id == 1020 { 1060 } else { 1020 };
            rule.accepts(of(id), json!({"category_id": id}))
                .refuses(of(other), json!({"category_id": [says::no_choice(&other.to_string()), MORE]}))
                .refuses(of(1061), json!({"category_id": [says::no_choice("1061"), MORE]}))
        });
    }
    for id in V3 {
        // A path that leads to another category, or to none.
        rules.push(
            interface(SECTION, &format!("{id} in V3"), "V3 has the category.")
                .decided(&[20])
                .accepts(validate_v3(*id, &json!({})), json!({"category_id": id}))
                .refuses(
                    post("/v4/construction/validate", &ad("construction", &json!({"category_id": id}))),
                    json!({"category_id": [says::no_choice(&id.to_string()), MORE]}),
                ),
        );
    }
    for (id, vehicle_type) in V4_ONLY {
        rules.push(
            interface(SECTION, &format!("{id} not in V3"), "V3 does not have the category.")
                .accepts(
                    post(format!("/v4/{vehicle_type}/validate"), &ad_of(*id, &json!({}))),
                    json!({"category_id": id}),
                )
                .refuses(
                    validate_v3(*id, &json!({})),
                    json!({"category_id": [says::no_choice(&id.to_string()), "V3 does not have this category.", "Send it to …"]}),
                ),
        );
    }
    rules.push(
        interface(SECTION, "vehicle types", "A vehicle type that is not in the list has no path.")
            .accepts(get("/v4/agriculture-tools?limit=1"), json!({"previous": null}))
            .refuses_with(404, get("/v4/agriculture_tools"), json!({"detail": MORE}))
            .refuses_with(404, post("/v4/aircraft", &ad("car", &json!({}))), json!({"detail": MORE})),
    );
    rules.push(
        interface(SECTION, "unknown category", "A category that is in no list is no choice.")
            .accepts(validate_v3(1122, &json!({})), json!({"category_id": 1122}))
            .refuses(validate_v3(1019, &json!({})), json!({"category_id": [says::no_choice("1019"), MORE]}))
            .refuses(validate_v3(1068, &json!({})), json!({"category_id": [says::no_choice("1068"), MORE]})),
    );
    rules
}
