//! `interface.md`, 'Authentication'.

use serde_json::json;

use super::{
    pattern::{ANY, MORE},
    request::{Who, delete, get, patch, post, validate, validate_v3},
    rule::{Rule, interface},
    says,
    trial::Trial,
};

/// A token without a signature: `{"alg":"none"}.{"dealer_code":"north-cars"}.`
pub(super) const UNSIGNED: &str = "eyJhbGciOiJub25lIn0.eyJkZWFsZXJfY29kZSI6Im5vcnRoLWNhcnMifQ.";
const NO_TOKEN: &str = "Authentication credentials were not provided. Send the token in the header X-Auth-Token.";
const INVALID: &str = "Invalid token: …";

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| interface("Authentication", name, says);
    vec![
        rule("1 X-Auth-Token", "Every request carries a JWT in the request header X-Auth-Token.")
            .by(|trial| Box::pin(every_request(trial))),
        rule("2 dealer_code scope", "Access to one dealer; dealer_code may be left out of the POST body.")
            .accepts(validate("car", &json!({})).by(Who::Coast), json!({"dealer_code": "coast-boats"}))
            .accepts(validate_v3(1122, &json!({})).by(Who::South), json!({"dealer_code": "south-cars"}))
            .refuses(
                validate("car", &json!({"dealer_code": "north-cars"})).by(Who::Coast),
                json!({"dealer_code": ["\"north-cars\" is outside the token's scope; …"]}),
            ),
        rule(
            "2 dealer_group scope",
            "Access to all dealers of a group; POST must carry dealer_code, update and delete do not.",
        )
        .by(|trial| Box::pin(group(trial)))
        .refuses(validate("car", &json!({})).by(Who::Group), json!({"dealer_code": [says::REQUIRED, MORE]}))
        .refuses(
            validate("car", &json!({"dealer_code": "south-cars"})).by(Who::Group),
            json!({"dealer_code": ["\"south-cars\" is not a dealer of the token's group.", MORE]}),
        ),
        rule(
            "3 missing or invalid token",
            "401 with detail that starts with 'Invalid token'; another wording where there is none.",
        )
        .decided(&[29])
        .accepts(get("/v4/ad?limit=1"), json!({"count": ANY}))
        .refuses_with(401, get("/v4/ad").by(Who::Nobody), json!({"detail": NO_TOKEN}))
        .refuses_with(401, get("/v4/ad").by(Who::Bearer("x")), json!({"detail": INVALID}))
        .refuses_with(401, get("/v4/ad").by(Who::Bearer("a.b.c")), json!({"detail": INVALID}))
        .refuses_with(401, get("/v4/ad").by(Who::Bearer(UNSIGNED)), json!({"detail": INVALID})),
        rule("4 403", "Valid token without the scope required for the endpoint: 403.")
            .decided(&[29])
            .by(|trial| Box::pin(forbidden(trial))),
        rule("5 both versions", "The same token works for V3 and V4.")
            .accepts(get("/v3/ad?limit=1"), json!({"count": ANY}))
            .accepts(get("/v4/ad?limit=1"), json!({"count": ANY}))
            .refuses_with(401, get("/v3/ad").by(Who::Nobody), json!({"detail": NO_TOKEN}))
            .refuses_with(401, get("/v3/ad").by(Who::Bearer(UNSIGNED)), json!({"detail": INVALID})),
        rule("6 another dealer's ad", "Reported as 404.").by(|trial| Box::pin(of_another_dealer(trial))),
    ]
}

async fn every_request(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({"visible": false})).await;
    for (request, ok) in [
        (get("/v4/ad?limit=1"), 200),
        (get(format!("/v4/car/{id}")), 200),
        (get(format!("/v4/ad/{id}/log")), 200),
        (get("/v4/vehicles/car/attributes"), 200),
        (validate("car", &json!({})), 200),
        (patch(format!("/v4/car/{id}"), &json!({})), 200),
        (get(format!("/v4/car/{id}/retry")), 200),
        (delete(format!("/v4/car/{id}")), 200),
    ] {
        trial.refuses(request.clone().by(Who::Nobody), 401, json!({"detail": NO_TOKEN})).await;
        trial.accepts(request, ok, json!(ANY)).await;
    }
    for request in
        [post("/v4/car", &json!({})), get(format!("/v4/car/{id}/bump")), get(format!("/v4/car/{id}/pole_position"))]
    {
        trial.refuses(request.by(Who::Nobody), 401, json!({"detail": NO_TOKEN})).await;
    }
}

async fn group(trial: &Trial) {
    let coast = json!({"dealer_code": "coast-boats", "visible": false});
    let (id, created) = trial.created_by(Who::Group, "boat", &coast).await;
    trial.sees("the answer", &json!({"dealer_code": "coast-boats"}), &created.body);
    let path = format!("/v4/boat/{id}");
    trial.accepts(get(&path).by(Who::Group), 200, json!({"dealer_code": "coast-boats"})).await;
    trial.accepts(patch(&path, &json!({"body": "x"})).by(Who::Group), 200, json!({"body": "x"})).await;
    trial.accepts(delete(&path).by(Who::Group), 200, json!({"state": "created"})).await;
}

async fn forbidden(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({})).await;
    let path = format!("/v4/car/{id}");
    let lacks =
        |permission: &str| json!({"detail": format!("This token does not have the permission \"{permission}\".")});
    for (request, permission, who, others) in [
        (get(&path), "read", Who::Reader, [Who::Writer, Who::Promoter]),
        (get("/v4/ad?limit=1"), "read", Who::Reader, [Who::Writer, Who::Promoter]),
        (get("/v4/vehicles/car/brand"), "read", Who::Reader, [Who::Writer, Who::Promoter]),
        (get(format!("{path}/log")), "read", Who::Reader, [Who::Writer, Who::Promoter]),
        (validate("car", &json!({})), "read", Who::Reader, [Who::Writer, Who::Promoter]),
        (patch(&path, &json!({})), "write", Who::Writer, [Who::Reader, Who::Promoter]),
        (get(format!("{path}/retry")), "write", Who::Writer, [Who::Reader, Who::Promoter]),
        (get(format!("{path}/bump")), "promote", Who::Promoter, [Who::Reader, Who::Writer]),
        (get(format!("{path}/pole_position")), "promote", Who::Promoter, [Who::Reader, Who::Writer]),
        (delete(&path), "write", Who::Writer, [Who::Reader, Who::Promoter]),
    ] {
        for other in others {
            trial.refuses(request.clone().by(other), 403, lacks(permission)).await;
        }
        trial.accepts(request.by(who), 200, json!(ANY)).await;
    }
}

async fn of_another_dealer(trial: &Trial) {
    let (id, _) = trial.created("car", &json!({"visible": false})).await;
    let path = format!("/v4/car/{id}");
    let not_found = json!({"detail": "Not found.…"});
    for request in [
        get(&path),
        get(format!("/v3/ad/{id}")),
        get(format!("{path}/log")),
        get(format!("{path}/bump")),
        get(format!("{path}/pole_position")),
        get(format!("{path}/retry")),
        patch(&path, &json!({"body": "Stolen"})),
        post(format!("{path}/migrate"), &json!({})),
        delete(&path),
    ] {
        for who in [Who::South, Who::Coast] {
            trial.refuses(request.clone().by(who), 404, not_found.clone()).await;
        }
    }
    trial.accepts(get(&path).by(Who::Group), 200, json!({"state": "created", "body": null})).await;
}
