//! The parameters of a log.

use serde_json::json;

use crate::conformance::{
    log::ACTIONS,
    pattern::{ANY, MORE},
    request::{get, patch},
    rule::{Rule, interface},
    says,
    trial::{Accepted, Trial},
};

pub(super) fn rules() -> Vec<Rule> {
    let row = |name: &str, says: &str| interface("Log parameters", name, says).decided(&[1, 2]);
    vec![
        row("action", "create, update, bump, boost, delete, handle_media, publish, unpublish.").by(|trial| {
            Box::pin(async move {
                let (path, _) = log_of_three_requests(trial).await;
                for action in ACTIONS {
                    let page = trial.accepts(get(format!("{path}?action={action}")), 200, json!({"count": ANY})).await;
                    let others =
                        page.body["results"].as_array().into_iter().flatten().filter(|it| it["action"] != action);
                    trial.sees("entries of other actions", &json!(0), &json!(others.count()));
                }
                trial.accepts(get(format!("{path}?action=update&state=done")), 200, json!({"count": 2})).await;
                trial
                    .refuses(
                        get(format!("{path}?action=updated")),
                        400,
                        json!({"action": [says::no_choice("updated"), says::did_you_mean("update")]}),
                    )
                    .await;
            })
        }),
        row("state", "processing, done, error.").by(|trial| {
            Box::pin(async move {
                let (path, _) = log_of_three_requests(trial).await;
                for (state, count) in [("processing", 3), ("done", 3), ("error", 0)] {
                    trial.accepts(get(format!("{path}?state={state}")), 200, json!({"count": count})).await;
                }
                let states = says::choices(&["processing", "done", "error"]);
                trial
                    .refuses(
                        get(format!("{path}?state=waiting")),
                        400,
                        json!({"state": [says::no_choice("waiting"), states]}),
                    )
                    .await;
            })
        }),
        row("request_id", "UUID; only entries of one API call.").by(|trial| {
            Box::pin(async move {
                let (path, requests) = log_of_three_requests(trial).await;
                for Accepted { request_id, .. } in &requests {
                    let entry = json!({"request_id": request_id});
                    let found = get(format!("{path}?request_id={request_id}"));
                    trial.accepts(found, 200, json!({"count": 2, "results": [entry, entry]})).await;
                }
                trial
                    .refuses(get(format!("{path}?request_id=1")), 400, json!({"request_id": ["Must be a valid UUID."]}))
                    .await;
            })
        }),
        row("limit and offset", "Pagination.").by(|trial| {
            Box::pin(async move {
                let (path, _) = log_of_three_requests(trial).await;
                let page = json!({"count": 6, "results": [{"action": "create", "state": "done"}, {"action": "update"}],
                    "next": ANY, "previous": ANY});
                trial.accepts(get(format!("{path}?limit=2&offset=1")), 200, page).await;
                trial.refuses(get(format!("{path}?limit=501")), 400, json!({"limit": ["Must be 1 to 500."]})).await;
                trial.refuses(get(format!("{path}?offset=-5")), 400, json!({"offset": ["Must be 0 or more."]})).await;
            })
        }),
        row("ordering", "-created, created; oldest first if absent.").by(|trial| {
            Box::pin(async move {
                let (path, _) = log_of_three_requests(trial).await;
                let (oldest, newest) =
                    (json!({"action": "create", "state": "processing"}), json!({"action": "update", "state": "done"}));
                for (query, first) in [("", &oldest), ("?ordering=created", &oldest), ("?ordering=-created", &newest)] {
                    trial.accepts(get(format!("{path}{query}")), 200, json!({"results": [first, MORE]})).await;
                }
                trial
                    .refuses(
                        get(format!("{path}?ordering=action")),
                        400,
                        json!({"ordering": [says::no_choice("action"), MORE]}),
                    )
                    .await;
            })
        }),
        row("no others", "An unknown parameter is refused.").by(|trial| {
            Box::pin(async move {
                let (path, _) = log_of_three_requests(trial).await;
                trial.accepts(get(format!("{path}?dealer_code=north-cars")), 200, json!({"count": 6})).await;
                trial
                    .refuses(
                        get(format!("{path}?source_id=1")),
                        400,
                        json!({"source_id": ["Unknown parameter.", MORE]}),
                    )
                    .await;
            })
        }),
    ]
}

/// The path of the log of a hidden ad that was created and updated twice.
async fn log_of_three_requests(trial: &Trial) -> (String, Vec<Accepted>) {
    let (id, created) = trial.created("car", &json!({"visible": false})).await;
    let mut requests = vec![created];
    for body in ["one", "two"] {
        requests.push(trial.sent(patch(format!("/v4/car/{id}"), &json!({"body": body}))).await);
    }
    trial.ended(&id, "update", &requests[2]).await;
    (format!("/v4/ad/{id}/log"), requests)
}
