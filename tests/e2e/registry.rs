//! A register of vehicles that `validate` compares ads with (extensions E7): from a file, and over HTTP.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use ad_tests::{Options, Server};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
    sync::mpsc,
};

use crate::payloads::plain_car;

const VEHICLE: &str = r#"{"category_fields": {"brand": "VOLVO", "model_year": 2021, "unknown": 1,
    "powertrain": {"power": {"unit": "kw", "value": 140}, "transmission": "automatic"}}}"#;

fn options(registry: &str, more: &[&str]) -> Options {
    let args = ["--vehicle-registry", registry].iter().chain(more).map(|arg| (*arg).to_owned()).collect();
    Options { args, ..Options::default() }
}

/// What `validate` says by the register: code, field and suggestion.
async fn compared(server: &Server, car: &Value) -> Vec<Value> {
    let validated = server.client.post("/v4/car/validate", car).await.expect(200);
    let findings = validated["quality"]["findings"].as_array().unwrap().iter();
    let of_register = findings.filter(|finding| finding["code"].as_str().unwrap().starts_with("registry_"));
    of_register.map(|finding| json!([finding["code"], finding["field"], finding["suggestion"]])).collect()
}

fn car() -> Value {
    let mut car = plain_car("car-1", "ABC123");
    car["category_fields"]["brand"] = json!("volvo");
    car["category_fields"]["powertrain"] = json!({"power": {"unit": "hp", "value": 190}});
    car
}

fn expected() -> Vec<Value> {
    vec![
        json!(["registry_differs", "category_fields.model_year", "2021"]),
        json!(["registry_proposes", "category_fields.powertrain.transmission", "automatic"]),
    ]
}

#[tokio::test]
async fn validate_compares_with_a_register_in_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut line: Value = serde_json::from_str(VEHICLE).unwrap();
    line["registration_number"] = json!("abc 123");
    std::fs::write(&file, line.to_string()).unwrap();
    let server = Server::with(options(&file.path().display().to_string(), &[])).await;
    assert_eq!(compared(&server, &car()).await, expected());
    assert_eq!(compared(&server, &plain_car("car-2", "XYZ123")).await, Vec::<Value>::new());
    // Nothing is overwritten, and only `validate` compares.
    let created = server.client.post("/v4/car?include=quality", &car()).await.expect(201);
    assert_eq!(created["category_fields"]["model_year"], 2019);
    assert!(!created["quality"].to_string().contains("registry_"), "{created}");
}

/// A register that counts its requests and answers each with what the function makes of its first line; `None`: not at all.
async fn register(answer: fn(&str) -> Option<String>) -> (String, Arc<AtomicUsize>, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, calls) = (format!("http://{}/v1", listener.local_addr().unwrap()), Arc::new(AtomicUsize::new(0)));
    let (heads, seen) = mpsc::unbounded_channel();
    let counted = Arc::clone(&calls);
    tokio::spawn(async move {
        // Connections stay open, whether they are answered or not.
        let mut open = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut stream = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).await.unwrap() > 0 {}
            if let Some(answer) = answer(head.lines().next().unwrap_or_default()) {
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            heads.send(head).unwrap();
            open.push(stream);
        }
    });
    (address, calls, seen)
}

fn response(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn validate_compares_with_a_register_over_http() {
    let (address, _, mut heads) = register(|line| {
        Some(match line {
            line if line.contains("ABC123") => response("200 OK", VEHICLE),
            line if line.contains("XYZ") => response("200 OK", "no JSON"),
            _ => response("404 Not Found", ""),
        })
    })
    .await;
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&token, "registry-secret\n").unwrap();
    let token_file = token.path().display().to_string();
    let server = Server::with(options(&address, &["--vehicle-registry-token-file", &token_file])).await;
    let mut with_vin = car();
    with_vin["category_fields"]["vin"] = json!("yv1uz8256n1234567");
    assert_eq!(compared(&server, &with_vin).await, expected());
    let head = heads.recv().await.unwrap();
    assert!(
        head.starts_with("GET /v1/vehicles?registration_number=ABC123&vin=YV1UZ8256N1234567 HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(head.to_lowercase().contains("authorization: bearer registry-secret\r\n"), "{head}");
    for plate in ["DEF123", "XYZ123"] {
        assert_eq!(compared(&server, &plain_car("car-2", plate)).await, Vec::<Value>::new(), "{plate}");
    }
}

#[tokio::test]
async fn a_register_that_does_not_answer_delays_nothing_but_validate() {
    let (address, calls, _heads) = register(|_| None).await;
    let server = Server::with(options(&address, &["--vehicle-registry-timeout", "1s"])).await;
    server.client.post("/v4/car?include=quality", &car()).await.expect(201);
    server.client.patch("/v4/car/car-1?include=quality", &json!({"body": "Fin"})).await.expect(200);
    server.client.get("/v4/car/car-1?include=quality").await.expect(200);
    assert_eq!(calls.load(Ordering::SeqCst), 0, "nothing but validate asks it");
    // After five failures it is not asked again for a while.
    for number in 0..7 {
        assert_eq!(compared(&server, &plain_car("car-2", &format!("ABC20{number}"))).await, Vec::<Value>::new());
    }
    assert_eq!(calls.load(Ordering::SeqCst), 5);
}
