use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use ad_core::{
    model::{AdStatus, ChangeKind, ChangeOutcome, MissingAds, Page, PlanState, Timestamp},
    violation::Code,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::{Client, ErrorKind};

const ID: Uuid = Uuid::from_u128(7);

/// What a service does that breaks the connection: within the request, or after it.
const CUT: &str = "cut";
const LOST: &str = "lost";

/// A service that answers each request with the next of these, a status and a body; returns the requests too.
async fn service(answers: Vec<(&'static str, Value)>) -> (Client, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        for (status, body) in answers {
            let (mut connection, _) = listener.accept().await.unwrap();
            if status == CUT {
                let _some = connection.read(&mut [0; 4096]).await.unwrap();
                continue;
            }
            let request = request(&mut connection).await;
            seen.lock().unwrap().push(request);
            if status == LOST {
                continue;
            }
            let head = "content-type: application/json\r\nretry-after: 0\r\nconnection: close";
            connection.write_all(format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}").as_bytes()).await.unwrap();
        }
    });
    (Client::builder(&url).token("t").rate(None).build().unwrap(), requests)
}

/// A request to its end, or as much of it as comes.
async fn request(connection: &mut TcpStream) -> String {
    let mut request = String::new();
    loop {
        let is_whole = match request.split_once("\r\n\r\n") {
            Some((head, body)) if head.contains("transfer-encoding: chunked") => body.ends_with("0\r\n\r\n"),
            Some(_) => true,
            None => false,
        };
        let mut part = vec![0; 4096];
        let length = if is_whole { 0 } else { connection.read(&mut part).await.unwrap_or(0) };
        if length == 0 {
            return request;
        }
        request += std::str::from_utf8(&part[..length]).unwrap();
    }
}

fn plan(state: &str) -> Value {
    json!({
        "id": ID, "state": state, "created": Timestamp::default(), "expires": null,
        "dealers": [{"dealer_code": "north-cars",
            "counts": {"create": 1, "update": 0, "revive": 0, "unchanged": 0, "hide": 0, "delete": 0, "invalid": 0},
            "outcomes": {"accepted": 0, "done": 0, "failed": 0, "conflict": 0}, "cost": null}],
        "guard": {"most_removals": 20, "removals": 0, "exceeded": false}, "errors": [],
    })
}

fn stock() -> StockBody {
    StockBody::new(StockFormat::Ndjson, || {
        stream::iter(["{\"a\":1}\n", "{\"a\":2}\n"]).map(|part| Ok(part.into())).boxed()
    })
}

/// The lines of a chunked body.
fn lines(request: &str) -> Vec<&str> {
    request.lines().filter(|line| line.starts_with('{')).collect()
}

#[tokio::test]
async fn a_stock_is_streamed_with_its_options() {
    let (client, requests) = service(vec![("202 Accepted", plan("computing"))]).await;
    let options = PlanOptions { missing: MissingAds::Hide, most_removals: Some(3), ..PlanOptions::default() };
    let answer = client.stock_plans().plan(stock(), &options, Duration::from_mins(2)).await.unwrap();
    assert_eq!((answer.status, answer.id, answer.state), (202, ID, PlanState::Computing));
    let requests = requests.lock().unwrap();
    let head = requests[0].to_lowercase();
    assert!(head.starts_with("post /v4/stock/plans?missing=hide&most_removals=3 "), "{head}");
    for header in ["prefer: wait=30\r\n", "content-type: application/x-ndjson\r\n", "transfer-encoding: chunked\r\n"] {
        assert!(head.contains(header), "{header} in {head}");
    }
    assert_eq!(lines(&requests[0]), ["{\"a\":1}", "{\"a\":2}"]);
}

#[tokio::test]
async fn a_file_is_sent_as_it_is() {
    let (client, requests) = service(vec![("200 OK", plan("ready")), ("200 OK", plan("ready"))]).await;
    let file = std::env::temp_dir().join(format!("{}.ndjson", Uuid::now_v7()));
    std::fs::write(&file, "{\"b\":1}\n\n{\"b\":2}").unwrap();
    let body = StockBody::file(StockFormat::Ndjson, &file);
    let made = client.stock_plans().plan(body, &PlanOptions::default(), Duration::ZERO).await;
    std::fs::remove_file(&file).unwrap();
    assert_eq!(made.unwrap().state, PlanState::Ready);
    let sent = requests.lock().unwrap()[0].clone();
    assert!(sent.contains("{\"b\":1}\n\n{\"b\":2}") && !sent.contains("prefer"), "{sent}");
    let missing = StockBody::file(StockFormat::Ndjson, &file);
    let error = client.stock_plans().plan(missing, &PlanOptions::default(), Duration::ZERO).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Body(_)), "{error:?}");
}

#[tokio::test]
async fn a_refused_stock_is_a_plan_and_wrong_options_are_an_error() {
    let mut refused = plan("refused");
    refused["errors"] = json!([{"code": "empty_stock", "pointer": null, "line": 1, "detail": "Empty.", "count": 1}]);
    let wrong = json!({"missing": ["Wrong."]});
    let (client, _) = service(vec![("400 Bad Request", refused), ("400 Bad Request", wrong)]).await;
    let answer = client.stock_plans().plan(stock(), &PlanOptions::default(), Duration::ZERO).await.unwrap();
    assert_eq!((answer.status, answer.state, answer.errors[0].code), (400, PlanState::Refused, Code::EmptyStock));
    let error = client.stock_plans().plan(stock(), &PlanOptions::default(), Duration::ZERO).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Invalid(_)), "{error:?}");
}

#[tokio::test]
async fn a_body_is_sent_again_if_it_can_be_made_again() {
    let busy = || ("503 Service Unavailable", json!({"detail": "Starting."}));
    let limited = ("429 Too Many Requests", json!({"detail": "Too many requests."}));
    let (client, requests) = service(vec![busy(), ("200 OK", plan("ready")), limited]).await;
    let plans = client.stock_plans();
    assert_eq!(plans.plan(stock(), &PlanOptions::default(), Duration::ZERO).await.unwrap().state, PlanState::Ready);
    let once = StockBody::once(StockFormat::Array, stream::iter([Ok("[]".into())]).boxed());
    let error = plans.plan(once, &PlanOptions::default(), Duration::ZERO).await.unwrap_err();
    assert_eq!((error.status(), error.tries()), (Some(429), 1));
    let requests = requests.lock().unwrap();
    assert_eq!([lines(&requests[0]), lines(&requests[1])], [["{\"a\":1}", "{\"a\":2}"]; 2]);
    assert_eq!(requests.len(), 3);
}

#[tokio::test]
async fn a_stock_is_not_sent_twice_if_there_may_be_a_plan_of_it() {
    let (client, requests) = service(vec![(LOST, Value::Null), ("200 OK", plan("ready"))]).await;
    let error = client.stock_plans().plan(stock(), &PlanOptions::default(), Duration::ZERO).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Lost(_)) && error.is_unclear() && error.tries() == 1, "{error:?}");
    assert_eq!(requests.lock().unwrap().len(), 1);

    // A part of it makes no plan that could be applied.
    let (client, _) = service(vec![(CUT, Value::Null), ("200 OK", plan("ready"))]).await;
    let tries = AtomicU32::new(0);
    let body = StockBody::new(StockFormat::Ndjson, move || {
        let first = stream::iter([Ok("{}\n".into())]);
        if tries.fetch_add(1, Ordering::Relaxed) == 0 { first.chain(stream::pending()).boxed() } else { first.boxed() }
    });
    let made = client.stock_plans().plan(body, &PlanOptions::default(), Duration::ZERO).await.unwrap();
    assert_eq!(made.state, PlanState::Ready);
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_not_sent_again() {
    let (client, requests) = service(vec![("200 OK", plan("ready"))]).await;
    let broken = StockBody::new(StockFormat::Ndjson, || {
        let gone = io::Error::new(io::ErrorKind::NotFound, "the file is gone");
        stream::iter([Ok("{}\n".into()), Err(gone)]).boxed()
    });
    let error = client.stock_plans().plan(broken, &PlanOptions::default(), Duration::ZERO).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot read the body of the request: the file is gone");
    assert!(error.tries() == 1 && !error.is_unclear(), "{error:?}");
    assert!(requests.lock().unwrap().iter().all(|request| !request.ends_with("0\r\n\r\n")), "it has no end");
}

#[tokio::test]
async fn a_plan_is_read_applied_and_cancelled() {
    let change = json!({
        "line": 4, "dealer_code": "north-cars", "source_id": "car-1", "kind": "update", "revision": 2,
        "fields": [{"pointer": "/body", "from": "a", "to": null}], "links_to": null, "errors": [], "warnings": [],
        "quality": {"from": 80, "to": 90}, "outcome": "conflict", "code": "precondition_failed", "request_id": null,
    });
    let page = |results: Value| json!({"count": 1, "next": null, "previous": null, "results": results});
    let (client, requests) = service(vec![
        ("200 OK", plan("computing")),
        ("200 OK", plan("ready")),
        ("200 OK", page(json!([change]))),
        ("202 Accepted", plan("applying")),
        ("409 Conflict", json!({"detail": "Another plan is being applied."})),
        ("200 OK", plan("cancelled")),
        ("200 OK", page(json!([plan("cancelled")]))),
    ])
    .await;
    let plans = client.stock_plans();
    let mut states = Vec::new();
    let ready = plans.wait(ID, Duration::from_mins(1), |plan| states.push(plan.state)).await.unwrap();
    assert_eq!((ready.state, states), (PlanState::Ready, vec![PlanState::Computing, PlanState::Ready]));
    let query = ChangeQuery {
        kind: Some(ChangeKind::Update),
        outcome: Some(ChangeOutcome::Conflict),
        ..ChangeQuery::default()
    };
    let changes: Vec<_> = plans.changes_all(ID, &query).try_collect().await.unwrap();
    assert_eq!(serde_json::to_value(&changes[0]).unwrap(), change);
    let allowed = ApplyParameters { allow_removals: Some(5) };
    assert_eq!(plans.apply(ID, allowed).await.unwrap().state, PlanState::Applying);
    let error = plans.apply(ID, ApplyParameters::default()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Other(_)), "{error:?}");
    assert_eq!(plans.cancel(ID).await.unwrap().state, PlanState::Cancelled);
    assert_eq!(plans.list(Page { limit: 2, offset: 4 }).await.unwrap().results[0].id, ID);
    let requests = requests.lock().unwrap();
    let asked: Vec<_> = requests.iter().filter_map(|request| request.split(" HTTP").next()).collect();
    let path = format!("/v4/stock/plans/{ID}");
    assert_eq!(
        asked,
        [
            format!("GET {path}"),
            format!("GET {path}"),
            format!("GET {path}/changes?kind=update&outcome=conflict"),
            format!("POST {path}/apply?allow_removals=5"),
            format!("POST {path}/apply"),
            format!("DELETE {path}"),
            "GET /v4/stock/plans?limit=2&offset=4".to_owned(),
        ]
    );
    assert!(requests[0].contains("prefer: wait=5\r\n"), "{}", requests[0]);
}

#[test]
fn a_selection_names_the_filters_of_lists() {
    let filters = vec![
        AdFilter::Status(vec![AdStatus::Live]),
        AdFilter::CategoryId(vec![1020]),
        AdFilter::SourceId(vec!["a".to_owned(), "7".to_owned()]),
    ];
    let change = BulkChange::Price { price_percent: (-5).into(), round: None };
    let cheaper = Selection { filters, change };
    assert_eq!(
        cheaper.body(),
        json!({"select": {"status": "live", "category_id": "1020", "source_id__in": "a,7"}, "change": {"price_percent": -5}})
    );
    let change = BulkChange::Set { set: Map::from_iter([("visible".to_owned(), false.into())]) };
    let hidden = Selection { filters: Vec::new(), change };
    assert_eq!(hidden.body(), json!({"select": {}, "change": {"set": {"visible": false}}}));
}
