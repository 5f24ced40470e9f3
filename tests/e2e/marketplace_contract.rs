//! The document of the receiving side: that it is the one in the repository, and that the receiving side is as it says.

use std::collections::BTreeSet;

use ad_tests::{MARKETPLACE_TOKEN, Marketplace};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{documentation::expect_kept, openapi::Contract, pages::named};

fn no_proxy() -> reqwest::Client {
    ad_tests::http_client().build().unwrap()
}

async fn contract(marketplace: &Marketplace) -> Contract {
    Contract::new(marketplace.call(Method::GET, "/openapi.json", None).await.1)
}

#[tokio::test]
async fn marketplace_openapi_document_is_the_one_in_the_repository() {
    let document = contract(&Marketplace::start(&[]).await).await.document;
    expect_kept("marketplace-openapi.json", &document);
}

#[tokio::test]
async fn the_page_of_the_receiving_side_holds_everything_it_needs() {
    let marketplace = Marketplace::start(&[]).await;
    let page =
        no_proxy().get(format!("{}/docs/", marketplace.process.base)).send().await.unwrap().text().await.unwrap();
    assert_eq!(named(&page, "data-source"), ["../openapi.json"], "{page}");
    let head = page.split("<body").next().unwrap();
    let loaded: Vec<_> = named(head, "src").into_iter().chain(named(head, "href")).collect();
    assert_eq!(loaded.len(), 5, "the icon, two styles and two scripts: {loaded:?}");
    for address in loaded.iter().filter(|address| !address.starts_with("data:")) {
        assert!(address.starts_with("./assets/"), "it loads {address}");
        let address = format!("{}/docs/{address}", marketplace.process.base);
        assert_eq!(no_proxy().get(&address).send().await.unwrap().status(), 200, "{address}");
    }
}

/// A call of the contract, held against what the document says of it.
struct Judge<'m> {
    marketplace: &'m Marketplace,
    contract: Contract,
    /// Operations and statuses that were seen.
    seen: BTreeSet<(String, u16)>,
}

impl Judge<'_> {
    async fn call(
        &mut self,
        id: &str,
        listing: &str,
        key: Option<&str>,
        body: Option<Value>,
        token: &str,
    ) -> (u16, Value) {
        let operation = self.contract.operations().into_iter().find(|it| it.id == id).unwrap();
        let path = operation.path.replace("{id}", listing);
        let query = if id == "find_by_plate" { "?dealer_code=d%201&registration_number=doc+001" } else { "" };
        let url = format!("{}/primary{path}{query}", self.marketplace.process.base);
        let mut request = no_proxy().request(operation.method.clone(), url);
        request = request.bearer_auth(token);
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        if let Some(body) = &body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let described = format!("{}/responses/{status}", operation.pointer);
        let (described, meaning) =
            self.contract.at(&described).unwrap_or_else(|| panic!("{id}: {status} is not described"));
        if meaning["headers"]["RETRY-AFTER"]["required"] == true {
            assert!(response.headers().contains_key("retry-after"), "{id}: {status}");
        }
        let answer: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or_default();
        let content = meaning["content"].as_object().and_then(|content| content.keys().next().cloned());
        if let Some(media_type) = content {
            let schema = format!("{described}/content/{}/schema", media_type.replace('/', "~1"));
            assert_eq!(self.contract.mismatch(&schema, &answer), None, "{id}: {status}: {answer}");
        }
        self.seen.insert((id.to_owned(), status));
        (status, answer)
    }
}

fn key(number: u32, action: &str) -> String {
    format!("00000000-0000-0000-0000-{number:012}:{action}:primary")
}

#[tokio::test]
async fn every_answer_of_the_receiving_side_is_described() {
    let marketplace = Marketplace::start(&[]).await;
    let contract = contract(&marketplace).await;
    let parsed: openapiv3::OpenAPI = serde_json::from_value(contract.document.clone()).unwrap();
    assert!(parsed.openapi.starts_with("3.0."), "{}", parsed.openapi);
    assert_eq!(contract.dangling(), BTreeSet::new());
    let schemas = contract.document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas.iter().filter(|(_, schema)| schema.get("example").is_some()) {
        assert_eq!(contract.mismatch(&format!("/components/schemas/{name}"), &schema["example"]), None, "{name}");
    }
    let mut listing = schemas["Listing"]["example"].clone();
    listing["dealer_code"] = json!("d 1");
    listing["content"]["category_fields"]["registration_number"] = json!("DOC001");

    let mut judge = Judge { marketplace: &marketplace, contract, seen: BTreeSet::new() };
    let token = MARKETPLACE_TOKEN;
    let (_, published) = judge.call("publish", "", Some(&key(1, "publish")), Some(listing.clone()), token).await;
    let id = published["id"].as_str().unwrap().to_owned();
    let (_, again) = judge.call("publish", "", Some(&key(1, "publish")), Some(listing.clone()), token).await;
    assert_eq!(again["id"], id.as_str());
    let (_, found) = judge.call("find_by_plate", "", None, None, token).await;
    assert_eq!(found["results"], json!([{"id": id, "reference": listing["reference"]}]));
    let until = json!({"until": "2026-01-18T10:00:00Z"});
    for (operation, action, body) in [
        ("update", "publish", Some(listing.clone())),
        ("bump", "bump", None),
        ("boost", "boost", Some(until.clone())),
        ("unpublish", "unpublish", None),
    ] {
        let missing = if operation == "unpublish" { 204 } else { 404 };
        let done = if operation == "update" { 200 } else { 204 };
        for (of, request, status) in [(id.as_str(), 2, done), ("29999999", 3, missing)] {
            let answer = judge.call(operation, of, Some(&key(request, action)), body.clone(), token).await;
            assert_eq!(answer.0, status, "{operation} {of}: {}", answer.1);
            if status == 404 {
                assert_eq!(answer.1["code"], "no_such_listing");
            }
        }
        assert_eq!(judge.call(operation, &id, None, body.clone(), token).await.0, 400, "{operation} without a key");
        assert_eq!(judge.call(operation, &id, Some("x"), body.clone(), token).await.0, 400, "{operation}");
        assert_eq!(judge.call(operation, &id, Some(&key(2, action)), body, "wrong").await.0, 401, "{operation}");
    }
    let later = json!({"until": "soon"});
    assert_eq!(judge.call("boost", &id, Some(&key(3, "boost")), Some(later), token).await.0, 400);
    let mut nobody = listing.clone();
    nobody["reference"] = json!("nobody");
    assert_eq!(judge.call("publish", "", Some(&key(4, "publish")), Some(nobody), token).await.0, 400);
    listing["content"]["body"] = json!("x".repeat(3_000_000));
    assert_eq!(judge.call("update", &id, Some(&key(5, "publish")), Some(listing.clone()), token).await.0, 413);
    listing["content"]["body"] = json!("x");
    for (fault, status) in [("429", 429), ("500", 500), ("refused", 422)] {
        marketplace.faults(json!([{"fault": fault}])).await;
        let answer = judge.call("publish", "", Some(&key(6, "publish")), Some(listing.clone()), token).await;
        assert_eq!(answer.0, status, "{}", answer.1);
    }
    assert_eq!(judge.seen.iter().map(|(id, _)| id).collect::<BTreeSet<_>>().len(), 6, "every operation");
}
