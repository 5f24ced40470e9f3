//! What hostile texts and hostile pages do in a real browser: nothing.

use ad_tests::{Browser, ImageHost, Marketplace, Server};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{ad_query, browser::sign_in, encoded};
use crate::payloads::{car, plain_car};

/// Markup that runs if it is not escaped, in texts, attributes and scripts.
const MARKUP: &str = "\"></script></textarea><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>";

/// What a page has that it would have only of markup: elements, and whether something has run.
const INJECTED: &str =
    "[...document.querySelectorAll('script:not([type=module]), img[src=x], [onerror]')].map((it) => it.outerHTML)
  .concat(window.ran ?? [])";

#[tokio::test]
async fn markup_in_texts_of_ads_marketplaces_dealers_and_tokens_does_not_run() {
    let Some(browser) = Browser::start().await else { return };
    let (marketplace, images) = (Marketplace::start(&[]).await, ImageHost::start().await);
    marketplace.faults(json!([{"fault": "refused", "registration_number": "HST002", "reason": MARKUP}])).await;
    let mut server = Server::with(marketplace.options(&["--allow-private-webhooks"])).await;
    let file = server.dir().join("dealers.toml");
    let dealers = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, dealers.replace("\"North Cars AB\"", &json!(MARKUP).to_string())).unwrap();
    server.restart().await;

    let client = server.client_of(&["--dealer-group", "north", "--label", MARKUP]).await;
    let source_id = format!("../{MARKUP}?&=#");
    let mut payload = car(&source_id, "HST001", &images);
    payload["body"] = json!(MARKUP);
    payload["dealer_code"] = json!("north-cars");
    payload["image_urls"] = json!([images.url("1.jpg"), images.url("gone\"><script>window.ran=1</script>.jpg")]);
    for field in ["model_type", "color", "warranty"] {
        payload["category_fields"][field] = json!(MARKUP);
    }
    payload["category_fields"]["equipments"] = json!([MARKUP]);
    let created = client.post("/v4/car", &payload).await;
    let request = created.header("x-request-id").unwrap_or_default().to_owned();
    created.expect(201);
    server.client.post("/v4/car", &plain_car("refused", "HST002")).await.expect(201);
    let refusal = server.client.ended("refused", "publish", None).await;
    assert!(refusal.to_string().contains("window.ran"), "the reason of the marketplace is in the log: {refusal}");
    let webhook = json!({"url": format!("{}/<script>", images.base), "description": MARKUP});
    let webhook = client.post("/v4/webhooks", &webhook).await.expect(201)["id"].as_str().unwrap().to_owned();

    let ad = encoded(&[("source_id", &source_id), ("dealer_code", "north-cars")]);
    let markup = encoded(&[("search", MARKUP), ("registration_number", "x"), ("view", MARKUP)]);
    let dealer = [
        "/console/stock".to_owned(),
        "/console/stock?view=cards".to_owned(),
        format!("/console/stock?{markup}"),
        format!("/console/ad?{ad}"),
        format!("/console/ad?{}", ad_query("refused")),
        format!("/console/ad/version?{ad}&revision=0"),
        format!("/console/ad/edit?{ad}"),
        "/console/new?type=car".to_owned(),
        "/console/webhooks".to_owned(),
        format!("/console/webhook?id={webhook}"),
        format!("/console/requests?id={request}"),
        "/console/developers".to_owned(),
    ];
    let operators = ["", "/queue", "/ads", "/dealers", "/tokens"].map(|page| format!("/console/operators{page}"));
    sign_in(&browser, &client).await;
    // What comes as an event while the page is open.
    browser.until("'follows' in document.body.dataset").await;
    let log = "document.querySelector('[data-event-list]').innerText";
    let before = browser.eval(&format!("{log}.split('window.ran').length")).await;
    let path = format!("/v4/car/{}", utf8_percent_encode(&source_id, NON_ALPHANUMERIC));
    server.client.patch(&path, &json!({"visible": false})).await.expect(200);
    browser.until(&format!("{log}.split('window.ran').length > {before}")).await;
    assert_eq!(browser.eval(INJECTED).await, json!([]), "an event");

    let operator = server.client_of(&["--operator", "--label", MARKUP]).await;
    for (client, pages) in [(&client, &dealer[..]), (&operator, &operators[..])] {
        if client.token == operator.token {
            browser.click("form[action$='/sign-out'] button").await;
            browser.until("document.activeElement?.id === 'token'").await;
            browser.type_text(client.token.as_deref().unwrap()).await;
            browser.click(".sign-in form button").await;
            browser.until("!!document.querySelector('nav') && !document.getElementById('token')").await;
        }
        for page in pages {
            browser.open(&format!("{}{page}", client.base)).await;
            let shown = browser.eval("document.documentElement.outerHTML.includes('window.ran')").await;
            assert_eq!(browser.eval(INJECTED).await, json!([]), "{page}");
            assert_eq!(shown, json!(true), "{page} shows the label of the token at least");
        }
    }
    // The security policy has had nothing to stop.
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn pages_of_other_origins_change_nothing_and_frame_nothing() {
    let Some(browser) = Browser::start().await else { return };
    let (server, images) = (Server::start().await, ImageHost::start().await);
    server.client.post("/v4/car", &plain_car("c-1", "HST003")).await.expect(201);
    sign_in(&browser, &server.client).await;
    let base = &server.client.base;
    let form = json!([["action", "delete"], ["ad", ad_query("c-1")], ["confirmed", "yes"]]);
    // Another port is another origin of the same site, so that the browser sends the cookie; another host is another site.
    let same_site = images.url("1.jpg");
    for hostile in [&same_site, &same_site.replace("127.0.0.1", "localhost")] {
        browser.open(hostile).await;
        browser.complaints().await;
        browser
            .eval(&format!(
                "(() => {{ const form = document.createElement('form'); form.method = 'post'; form.action = '{base}/console/act';
                  for (const [name, value] of {form}) {{ const input = document.createElement('input');
                    input.name = name; input.value = value; form.append(input); }}
                  document.body.append(form); form.submit(); }})()"
            ))
            .await;
        browser.until("location.pathname === '/console/act' && !!document.querySelector('[role=alert]')").await;
        browser.complains_of(&["403"]).await;
        assert_eq!(server.client.ad("c-1").await["state"], "created", "{hostile}");

        browser.open(hostile).await;
        browser
            .eval(&format!(
                "(() => {{ const frame = document.createElement('iframe'); frame.src = '{base}/console/';
                  frame.onload = () => (window.isLoaded = true); document.body.append(frame); }})()"
            ))
            .await;
        browser.until("window.isLoaded").await;
        browser.complains_of(&["frame-ancestors"]).await;
    }
    browser.open(&format!("{base}/console/")).await;
    let is_signed_in = browser.eval("!!document.querySelector('#counts')").await;
    assert_eq!(is_signed_in, Value::Bool(true));
}
