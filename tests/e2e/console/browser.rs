//! The console in a real browser: what its script does, and the keyboard with and without scripts.

use ad_tests::{Browser, Client, Key, Server};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// Signs in by what the browser types.
pub(super) async fn sign_in(browser: &Browser, client: &Client) {
    browser.open(&format!("{}/console/", client.base)).await;
    browser.until("document.activeElement?.id === 'token'").await;
    browser.type_text(client.token.as_deref().unwrap()).await;
    browser.press(Key::Enter).await;
    browser.until("location.pathname === '/console/' && !!document.querySelector('#counts, #first-steps')").await;
}

#[tokio::test]
async fn an_ad_goes_live_before_the_eyes_of_its_dealer() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    sign_in(&browser, &server.client).await;
    // Who has no ads is told what to do, until there is one.
    browser.until("!!document.querySelector('#first-steps') && 'follows' in document.body.dataset").await;
    let mut draft = plain_car("draft-1", "LIV000");
    draft["visible"] = json!(false);
    server.client.post("/v4/car", &draft).await.expect(201);
    browser.until("!!document.querySelector('#counts')").await;
    server.client.ended("draft-1", "create", None).await;
    // Streams begin with the events after them.
    browser.until("'follows' in document.body.dataset").await;
    let link = "#counts a[href$='status=live']";
    tab_to(&browser, link).await;
    server.client.post("/v4/car", &plain_car("live-1", "LIV001")).await.expect(201);
    let shown = "[...document.querySelectorAll('[data-event-list] li')].map((it) => it.innerText).join()";
    browser.until(&format!("{shown}.includes('live-1') && {shown}.includes('Publish')")).await;
    browser.until(&format!("document.querySelector(\"{link} .count\").innerText === '1'")).await;
    let keeps_focus = browser.eval(&format!("document.activeElement.matches(\"{link}\")")).await;
    assert_eq!(keeps_focus, json!(true));
    browser.click("[data-event-list] a").await;
    browser.until("document.querySelector('h1')?.innerText === 'live-1' || location.search.includes('live-1')").await;

    // Hidden from elsewhere: the page shows it, and what the visitor has opened stays open.
    browser.until("!!document.querySelector('#status .badge') && document.readyState === 'complete'").await;
    browser.click("#payload summary").await;
    server.client.patch("/v4/car/live-1", &json!({"visible": false})).await.expect(200);
    browser.until("document.querySelector('#status .badge').innerText === 'Hidden'").await;
    assert_eq!(browser.eval("document.querySelector('#payload').open").await, json!(true));
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

/// Presses Tab until an element has the focus.
pub(super) async fn tab_to(browser: &Browser, selector: &str) {
    for _ in 0..400 {
        browser.press(Key::Tab).await;
        let is_there = browser.eval(&format!("document.activeElement?.matches({})", json!(selector))).await;
        if is_there == Value::Bool(true) {
            let outline = browser.eval("getComputedStyle(document.activeElement).outlineStyle").await;
            assert_ne!(outline, "none", "{selector} shows that it has the focus");
            return;
        }
    }
    panic!("the keyboard does not reach {selector}");
}

#[tokio::test]
async fn a_dealer_hides_and_sells_an_ad_by_keyboard_with_and_without_scripts() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    for (has_scripts, source_id, plate) in [(true, "k-1", "KEY001"), (false, "k-2", "KEY002")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.published(source_id).await;
        if has_scripts {
            sign_in(&browser, &server.client).await;
        }
        browser.disable_scripts(!has_scripts).await;
        browser.open(&format!("{}/console/stock?source_id={source_id}", server.client.base)).await;
        browser.until(&format!("location.search.includes('{source_id}') && !!document.querySelector('tbody')")).await;
        // The first stop leads past the navigation.
        browser.press(Key::Tab).await;
        assert_eq!(browser.eval("document.activeElement.className").await, "skip");

        tab_to(&browser, "th.title a").await;
        browser.press(Key::Enter).await;
        browser.until("location.pathname === '/console/ad' && !!document.querySelector('#status')").await;
        tab_to(&browser, "button[value=hide]").await;
        browser.press(Key::Enter).await;
        browser.until("!!document.querySelector('.notice.success')").await;
        server.client.ended(source_id, "unpublish", None).await;

        tab_to(&browser, "button[value=delete]").await;
        browser.press(Key::Enter).await;
        browser.until("!!document.querySelector('input[name=confirmed]')").await;
        tab_to(&browser, "button[value=delete]").await;
        browser.press(Key::Enter).await;
        browser.until("location.search.includes('done=delete')").await;
        server.client.ended(source_id, "delete", None).await;
    }
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn many_ads_are_selected_with_one_click() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    for (source_id, plate) in [("m-1", "MNY001"), ("m-2", "MNY002")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.published(source_id).await;
    }
    sign_in(&browser, &server.client).await;
    browser.open(&format!("{}/console/stock", server.client.base)).await;
    browser.until("document.querySelector('[data-needs-selection]')?.disabled").await;
    browser.click("[data-select-all]").await;
    browser.until("document.querySelector('[data-selected]').innerText === '2'").await;

    // On a phone, the bar is two lines, and shows the rest on demand.
    browser.resize(390, 844).await;
    let height = "document.querySelector('.bulk').getBoundingClientRect().height";
    assert!(browser.eval(height).await.as_f64().unwrap() < 120.0, "{}", browser.eval(height).await);
    browser.click(".bulk .menu").await;
    browser.until("document.querySelector('.bulk button[value=hide]').getClientRects().length === 1").await;
    browser.click(".bulk button[value=hide]").await;
    browser.until("location.pathname === '/console/plan' && !!document.querySelector('button[value=apply]')").await;
    browser.click("button[value=apply]").await;
    // The page follows.
    browser.until("document.querySelectorAll('#changes .badge.well').length === 2").await;
    for source_id in ["m-1", "m-2"] {
        assert_eq!(server.client.ad(source_id).await["visible"], false, "{source_id}");
    }
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}
