//! Typical wrong requests (decision 4, extensions E3.11). Each row of `data/wrong_requests.json` is one request and what its answer
//! must contain: the status, the code, each field with the code of its error, and texts with cause and cure.
//!
//! The body of a row is one of these: `car` and `boat` are changes to a valid payload, of which `null` removes a member; `json`
//! and `text` are sent as they are; `hex` are bytes; `spaces` is a number of them. `{id}` in a path is the id of a stored ad.

use std::collections::BTreeMap;

use ad_tests::{Options, Server};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::payloads::{plain_boat, plain_car, sample};

/// A wrong request, and what its answer must contain.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrongRequest {
    name: String,
    request: String,
    #[serde(default)]
    token: Who,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    car: Option<Value>,
    boat: Option<Value>,
    json: Option<Value>,
    text: Option<String>,
    hex: Option<String>,
    spaces: Option<usize>,
    status: u16,
    code: String,
    /// Codes by JSON pointer, or by the name of a parameter.
    #[serde(default)]
    fields: BTreeMap<String, String>,
    says: Vec<String>,
    /// What the answer must not contain.
    #[serde(default)]
    never: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Who {
    #[default]
    Dealer,
    Group,
    Reader,
    None,
}

impl WrongRequest {
    fn body(&self) -> Option<Vec<u8>> {
        let changed = |mut payload: Value, changes: &Value| {
            change(&mut payload, changes);
            payload.to_string().into_bytes()
        };
        let mut boat = plain_boat();
        boat["source_id"] = json!("new");
        let hex = |text: &String| {
            let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
            digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
        };
        None.or_else(|| self.car.as_ref().map(|changes| changed(plain_car("new", "NEW123"), changes)))
            .or_else(|| self.boat.as_ref().map(|changes| changed(boat, changes)))
            .or_else(|| self.json.as_ref().map(|body| body.to_string().into_bytes()))
            .or_else(|| self.text.clone().map(String::into_bytes))
            .or_else(|| self.hex.as_ref().map(hex))
            .or_else(|| self.spaces.map(|number| vec![b' '; number]))
    }
}

fn change(payload: &mut Value, changes: &Value) {
    let Value::Object(changes) = changes else { return *payload = changes.clone() };
    if !payload.is_object() {
        *payload = Value::Object(Map::new());
    }
    let members = payload.as_object_mut().unwrap();
    for (name, value) in changes {
        if value.is_null() {
            members.remove(name);
        } else {
            change(members.entry(name).or_insert(Value::Null), value);
        }
    }
}

#[tokio::test]
async fn each_wrong_request_is_answered_with_field_cause_and_cure() {
    let rows: Vec<WrongRequest> = serde_json::from_value(sample(include_str!("../data/wrong_requests.json")))
        .expect("the table has these columns");
    assert!(rows.len() >= 60);
    let names = tempfile::tempdir().unwrap();
    let file = names.path().join("names.toml");
    std::fs::write(&file, "[parameters]\nlimit = [\"antal\"]\n").unwrap();
    let file = file.to_str().unwrap();
    let server =
        Server::with(Options { args: ["--synonyms", file].map(str::to_owned).to_vec(), ..Options::default() }).await;
    let client = &server.client;
    let stored = client.post("/v4/car", &plain_car("stored", "STO123")).await.expect(201);
    client.post("/v4/car", &plain_car("gone", "GON123")).await.expect(201);
    client.delete("/v4/car/gone").await.expect(200);
    let moped = json!({"source_id": "old", "category_id": 1121,
        "category_fields": {"registration_number": "OLD123", "model_year": 2020}});
    client.post("/v3/ad", &moped).await.expect(201);
    let dealer = client.token.clone().unwrap();
    let group = server.token(&["--dealer-group", "north"]).await;
    let reader = server.token(&["--dealer-code", "north-cars", "--permissions", "read"]).await;
    let tokens = BTreeMap::from([(Who::Dealer, &dealer), (Who::Group, &group), (Who::Reader, &reader)]);
    let mut wrong = Vec::new();
    for row in rows {
        let (method, path) = row.request.split_once(' ').unwrap();
        let path = path.replace("{id}", stored["id"].as_str().unwrap());
        let method: Method = method.parse().unwrap();
        let mut request = reqwest::Client::new().request(method, format!("{}{path}", client.base));
        request = request.header("accept", "application/problem+json, */*;q=0.5");
        if let Some(token) = tokens.get(&row.token) {
            request = request.header("x-auth-token", *token);
        }
        for (name, value) in &row.headers {
            request = request.header(name, value.replace("{token}", &dealer));
        }
        if let Some(body) = row.body() {
            request = request.header("content-type", "application/json").body(body);
        }
        let response = request.send().await.unwrap();
        let (status, asks) = (response.status().as_u16(), response.headers().get("www-authenticate").cloned());
        let text = response.text().await.unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        // Texts are compared as people read them.
        let said = |of: &Value| ["detail", "request"].map(|name| of[name].as_str().unwrap_or_default()).join(" ");
        let mut read = vec![text.clone(), said(&answer)];
        let errors = answer["errors"].as_array().cloned().unwrap_or_default();
        read.extend(errors.iter().map(said));
        let has = |wanted: &String| read.iter().any(|text| text.contains(wanted));
        let has_field = |(place, code): (&String, &String)| {
            errors
                .iter()
                .any(|error| (error["pointer"] == **place || error["parameter"] == **place) && error["code"] == **code)
        };
        let is_right = status == row.status
            && (answer["code"] == row.code || (status == 200 && answer["warnings"].to_string().contains(&row.code)))
            && row.fields.iter().all(has_field)
            && row.says.iter().all(has)
            && !row.never.iter().any(has)
            && (asks.is_some_and(|scheme| scheme == "X-Auth-Token") == (status == 401));
        if !is_right {
            wrong.push(format!("{} ({}): {status} {text}", row.name, row.request));
        }
    }
    assert!(wrong.is_empty(), "{} answers lack something:\n{}", wrong.len(), wrong.join("\n"));
}
