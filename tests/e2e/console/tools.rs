//! Webhooks, requests, and what developers need.

use ad_tests::{Options, Server, WebhookReceiver, eventually};

use super::{Visitor, encoded, html};
use crate::payloads::plain_car;

const MARKUP: &str = "<script>alert(1)</script>";

#[tokio::test]
async fn a_webhook_is_created_tested_disabled_and_deleted() {
    let args = vec!["--allow-private-webhooks".to_owned()];
    let server = Server::with(Options { args, ..Options::default() }).await;
    let receiver = WebhookReceiver::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let url = format!("{}/hook?{MARKUP}", receiver.base);

    let wrong =
        visitor.post("/console/webhooks", &[("url", "ftp://x"), ("types", "ad.x.y"), ("description", MARKUP)]).await;
    let page = html(&wrong);
    assert_eq!(wrong.status, 400, "{page}");
    assert!(page.contains("url:") && page.contains("types") && page.contains("value=\"ad.x.y\""), "{page}");
    assert_eq!(page.matches("<script").count(), 1, "{page}");

    let form = [("url", url.as_str()), ("types", "ad.publish.* ad.delete.done"), ("description", MARKUP)];
    let created = visitor.post("/console/webhooks", &form).await;
    let page = html(&created);
    assert_eq!(created.status, 201, "{page}");
    let secret = page.split("whsec_").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let list = server.client.get("/v4/webhooks").await.expect(200);
    let id = list["results"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/console/webhook?id={id}");
    for path in ["/console/webhooks", &path] {
        let page = visitor.page(path).await;
        assert!(page.contains("/hook") && !page.contains(&secret), "{page}");
        assert_eq!(page.matches("<script").count(), 1, "{page}");
    }
    let act = async |action: &str, event_id: &str| {
        let answer = visitor.post(&path, &[("do", action), ("event_id", event_id)]).await;
        assert_eq!(answer.status, 303, "{action}: {}", html(&answer));
    };
    act("test", "").await;
    let event = eventually("the test event", || async { receiver.received("/hook").first().cloned() }).await;
    let page = eventually("the delivery is shown", || async {
        let page = visitor.page(&path).await;
        (page.contains("Delivered</span>") && page.contains("HTTP 200")).then_some(page)
    })
    .await;
    assert!(page.contains(event.id()), "{page}");
    act("resend", event.id()).await;
    eventually("the event again", || async { (receiver.received("/hook").len() == 2).then_some(()) }).await;
    assert!(!visitor.page(&format!("{path}&state=failed")).await.contains(event.id()));

    act("disable", "").await;
    assert!(visitor.page(&path).await.contains("Disabled"));
    assert_eq!(visitor.post(&path, &[("do", "test")]).await.status, 400);
    act("enable", "").await;
    let rotated = html(&visitor.post(&path, &[("do", "rotate_secret")]).await);
    assert!(rotated.contains("whsec_") && !rotated.contains(&secret), "{rotated}");
    assert_eq!(visitor.post(&path, &[("do", "explode")]).await.status, 400);
    let south = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    assert_eq!(south.get(&path).await.status, 404);
    assert_eq!(south.post(&path, &[("do", "delete")]).await.status, 404);
    act("delete", "").await;
    assert_eq!(visitor.get(&path).await.status, 404);
    assert_eq!(server.client.get("/v4/webhooks").await.expect(200)["count"], 0);
}

#[tokio::test]
async fn a_request_is_found_by_its_id() {
    let server = Server::start().await;
    let created = server.client.post("/v4/car", &plain_car("r-1", "REQ001")).await;
    let id = created.header("x-request-id").unwrap().to_owned();
    server.client.published("r-1").await;
    let visitor = Visitor::signed_in(&server.client).await;
    assert!(visitor.page("/console/requests").await.contains("name=\"id\""));
    let page = visitor.page(&format!("/console/requests?id={id}")).await;
    for expected in ["r-1", "Publish", "Done", "/console/ad?source_id=r-1"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let markup = format!("/console/requests?{}", encoded(&[("id", MARKUP)]));
    for unknown in [&markup, "/console/requests?id=01890a5d-ac96-774b-bcce-b302099a8057"] {
        let answer = visitor.get(unknown).await;
        assert_eq!(answer.status, 404);
        assert_eq!(html(&answer).matches("<script").count(), 1);
    }
    let south = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    assert_eq!(south.get(&format!("/console/requests?id={id}")).await.status, 404);
}

#[tokio::test]
async fn developers_see_facts_about_their_token_but_not_the_token() {
    let options = Options { args: vec!["--sandbox".to_owned()], ..Options::default() };
    let server = Server::with(options).await;
    let visitor = Visitor::with_token(&server, &["--dealer-group", "north", "--label", MARKUP]).await;
    let page = visitor.page("/console/developers").await;
    for expected in [
        "dealer_group",
        "coast-boats",
        "online_purchase",
        "curl",
        "fault-refused-car1",
        "/docs/errors/",
        "X-Auth-Token",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("eyJ"), "no part of a token");
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    let production = Server::start().await;
    let page = Visitor::signed_in(&production.client).await.page("/console/developers").await;
    assert!(!page.contains("fault-refused-car1"), "{page}");
}
