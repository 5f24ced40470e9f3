//! Signatures, verified with the libraries of Standard Webhooks for Python and JavaScript.

use std::path::Path;

use ad_tests::tools::{self, Tool};
use tokio::process::Command;

use super::*;

/// Both print `verified` when the signature of a request is right, and fail when it is not. Secret, headers and body are JSON in the
/// variable `REQUEST`.
const PYTHON: &str = r#"
import json, os
from standardwebhooks.webhooks import Webhook
request = json.loads(os.environ["REQUEST"])
Webhook(request["secret"]).verify(request["body"], request["headers"])
print("verified")
"#;

const JAVASCRIPT: &str = r#"
const { Webhook } = require("standardwebhooks");
const request = JSON.parse(process.env.REQUEST);
new Webhook(request.secret).verify(request.body, request.headers);
console.log("verified");
"#;

async fn verifies(program: &Path, script: &str, secret: &str, received: &Received, body: &str) -> bool {
    let headers: serde_json::Map<_, _> = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .into_iter()
        .map(|name| (name.to_owned(), json!(received.header(name))))
        .collect();
    let request = json!({"secret": secret, "headers": headers, "body": body}).to_string();
    let option = if script == PYTHON { "-c" } else { "-e" };
    let output = Command::new(program)
        .args([option, script])
        .env("REQUEST", request)
        .env("NODE_PATH", tools::node_modules())
        .output()
        .await
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).contains("verified");
    assert_eq!(printed, output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    if !printed {
        // It must be the signature that it did not like.
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("WebhookVerificationError"), "{said}");
    }
    printed
}

async fn are_verified(program: &Path, script: &str) {
    let receiver = WebhookReceiver::start().await;
    let server = server(None).await;
    let webhook = create(&server.client, &receiver.url("/hook")).await;
    let old = webhook["secret"].as_str().unwrap();
    cars(&server.client, "ONE", 1).await;
    let received = arrived(&receiver, "/hook", "ONE", 1).await.remove(0);
    assert!(verifies(program, script, old, &received, &received.body).await);
    assert!(!verifies(program, script, old, &received, &format!("{} ", received.body)).await);
    let rotated = post_to(&server.client, &webhook, "rotate-secret", json!({})).await.expect(200);
    let new = rotated["secret"].as_str().unwrap();
    assert!(!verifies(program, script, new, &received, &received.body).await);
    cars(&server.client, "TWO", 1).await;
    let received = arrived(&receiver, "/hook", "TWO", 1).await.remove(0);
    for secret in [old, new] {
        assert!(verifies(program, script, secret, &received, &received.body).await, "both secrets sign");
    }
}

#[tokio::test]
async fn python_verifies_signatures() {
    let Some(program) = tools::find(Tool::Python("import standardwebhooks")) else { return };
    are_verified(&program, PYTHON).await;
}

#[tokio::test]
async fn javascript_verifies_signatures() {
    let Some(program) = tools::find(Tool::Node("import 'standardwebhooks'")) else { return };
    are_verified(&program, JAVASCRIPT).await;
}

#[tokio::test]
async fn a_request_has_headers_and_body_of_standard_webhooks() {
    let receiver = WebhookReceiver::start().await;
    let server = server(None).await;
    create(&server.client, &receiver.url("/hook")).await;
    cars(&server.client, "ONE", 1).await;
    let received = arrived(&receiver, "/hook", "ONE", 1).await.remove(0);
    let ad = server.client.ad("ONE-0").await;
    let body = received.json();
    assert_eq!(received.header("content-type"), "application/json");
    assert!(received.header("user-agent").starts_with("vehicle-ad-import/"));
    assert!(received.header("webhook-timestamp").parse::<i64>().is_ok());
    assert_eq!((&body["type"], &body["timestamp"]), (&json!("ad.publish.done"), &body["data"]["timestamp"]));
    assert_eq!(body["data"]["id"], received.id());
    for name in ["source_id", "dealer_code", "marketplace_ad_id"] {
        assert_eq!(body["data"][name], ad[name], "{name}");
    }
    assert_eq!((&body["data"]["action"], &body["data"]["state"]), (&json!("publish"), &json!("done")));
}
