//! The console in a real browser: by mouse and keyboard, with and without scripts, at three sizes, light and dark.
//!
//! `CONSOLE_SCREENSHOTS=folder` writes the screenshots of all pages there.

use ad_tests::{Browser, Client, ImageHost, Server};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{PAGES, ad_query};
use crate::payloads::{boat, car, plain_car};

/// Signs in by what the browser types.
pub(super) async fn sign_in(browser: &mut Browser, client: &Client) {
    browser.open(&format!("{}/console/", client.base)).await;
    browser.until("document.activeElement?.id === 'token'").await;
    browser.type_text(client.token.as_deref().unwrap()).await;
    browser.press("Enter").await;
    browser.until("location.pathname === '/console/' && !!document.querySelector('#counts')").await;
}

/// A stock with something of everything.
async fn stock(server: &Server, images: &ImageHost) {
    let client = &server.client;
    client.post("/v4/car", &car("car-1001", "BRW001", images)).await.expect(201);
    let mut failing = car("car-1002", "BRW002", images);
    failing["image_urls"] = json!([images.url("5.jpg"), images.url("gone.jpg")]);
    client.post("/v4/car", &failing).await.expect(201);
    client.post("/v4/car", &plain_car("car-1003", "BRW003")).await.expect(201);
    client.post("/v4/boat", &boat("boat-2001", images)).await.expect(201);
    for source_id in ["car-1001", "car-1002", "car-1003", "boat-2001"] {
        client.published(source_id).await;
    }
}

/// Faults of a page that a visitor of any kind would meet: things without a name, headings that skip a level, ids that stand twice,
/// content that is wider than the window, and texts without enough contrast.
pub(super) const FAULTS: &str = r#"(() => {
  const faults = [];
  const named = (element) => {
    const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent + (element.querySelector("img")?.alt ?? "");
    return (label + (element.getAttribute("title") ?? "")).trim() !== "";
  };
  for (const element of document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea")) {
    if (!named(element) && element.offsetParent) faults.push(`no name: ${element.outerHTML.slice(0, 120)}`);
  }
  for (const image of document.querySelectorAll("img:not([alt])")) faults.push(`no alt: ${image.outerHTML}`);
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    if (!heading.checkVisibility()) continue;
    const own = Number(heading.tagName[1]);
    if (own > level + 1) faults.push(`heading skips a level: ${heading.textContent}`);
    level = own;
  }
  if (document.querySelectorAll("h1").length !== 1) faults.push("not exactly one h1");
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) faults.push(`id twice: ${id}`);
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`too wide: ${document.documentElement.scrollWidth}`);
  const parse = (colour) => colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if ((colour[3] ?? 1) > 0) return colour;
    }
    return parse(getComputedStyle(document.documentElement).backgroundColor);
  };
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!hasText || !element.checkVisibility() || element.closest("svg, .unseen, :disabled, template, title")) continue;
    const [text, behind] = [luminance(parse(getComputedStyle(element).color)), luminance(ground(element))];
    const contrast = (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(2)}: ${element.outerHTML.slice(0, 100)}`);
  }
  return faults;
})()"#;

#[tokio::test]
async fn pages_have_no_faults_at_any_size_in_any_colours() {
    let Some(mut browser) = Browser::start().await else { return };
    let (server, images) = (Server::start().await, ImageHost::start().await);
    stock(&server, &images).await;
    let folder = std::env::var_os("CONSOLE_SCREENSHOTS").map(std::path::PathBuf::from);
    sign_in(&mut browser, &server.client).await;
    let mut faults = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme).await;
        for (size, width) in [("wide", 1440), ("tablet", 820), ("phone", 390)] {
            if width == 390 {
                browser.become_phone().await;
            } else {
                browser.resize(width, 1000).await;
            }
            let ad = ad_query("car-1002");
            for (place, path) in PAGES.map(|page| page.replace("{ad}", &ad)).iter().enumerate() {
                browser.open(&format!("{}{path}", server.client.base)).await;
                let (here, query) = path.split_once('?').unwrap_or((path, ""));
                browser
                    .until(&format!(
                        "location.pathname === '{here}' && location.search === '{}' && document.readyState === 'complete'",
                        if query.is_empty() { String::new() } else { format!("?{query}") }
                    ))
                    .await;
                let found = browser.eval(FAULTS).await;
                faults.extend(found.as_array().unwrap().iter().map(|fault| format!("{size} {scheme} {path}: {fault}")));
                if let Some(folder) = &folder {
                    let picture = STANDARD.decode(browser.screenshot().await).unwrap();
                    std::fs::write(folder.join(format!("{place}-{size}-{scheme}.png")), picture).unwrap();
                }
            }
        }
    }
    assert_eq!(faults, [] as [String; 0]);
    assert_eq!(browser.complaints(), &[] as &[String]);
}

#[tokio::test]
async fn an_ad_goes_live_before_the_eyes_of_its_dealer() {
    let Some(mut browser) = Browser::start().await else { return };
    let server = Server::start().await;
    sign_in(&mut browser, &server.client).await;
    browser.until("document.querySelector('[data-event-list]').children.length === 0").await;
    // Streams begin with the events after them.
    browser.until("'follows' in document.body.dataset").await;
    server.client.post("/v4/car", &plain_car("live-1", "LIV001")).await.expect(201);
    let shown = "[...document.querySelectorAll('[data-event-list] li')].map((it) => it.innerText).join()";
    browser.until(&format!("{shown}.includes('live-1') && {shown}.includes('Publish')")).await;
    let count = "document.querySelector('#counts a[href$=\"status=live\"] .count').innerText";
    browser.until(&format!("{count} === '1'")).await;
    browser.eval("document.querySelector('[data-event-list] a').click()").await;
    browser.until("document.querySelector('h1')?.innerText === 'live-1' || location.search.includes('live-1')").await;

    // Hidden from elsewhere: the page shows it, and what the visitor has opened stays open.
    browser.until("!!document.querySelector('#status .badge') && document.readyState === 'complete'").await;
    browser.eval("document.querySelector('#payload').open = true").await;
    server.client.patch("/v4/car/live-1", &json!({"visible": false})).await.expect(200);
    browser.until("document.querySelector('#status .badge').innerText === 'Hidden'").await;
    assert_eq!(browser.eval("document.querySelector('#payload').open").await, json!(true));
    assert_eq!(browser.complaints(), &[] as &[String]);
}

/// Presses Tab until an element has the focus.
async fn tab_to(browser: &mut Browser, selector: &str) {
    for _ in 0..200 {
        browser.press("Tab").await;
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
    let Some(mut browser) = Browser::start().await else { return };
    let server = Server::start().await;
    for (has_scripts, source_id, plate) in [(true, "k-1", "KEY001"), (false, "k-2", "KEY002")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.published(source_id).await;
        if has_scripts {
            sign_in(&mut browser, &server.client).await;
        }
        browser.disable_scripts(!has_scripts).await;
        browser.open(&format!("{}/console/stock?source_id={source_id}", server.client.base)).await;
        browser.until(&format!("location.search.includes('{source_id}') && !!document.querySelector('tbody')")).await;
        // The first stop leads past the navigation.
        browser.press("Tab").await;
        assert_eq!(browser.eval("document.activeElement.className").await, "skip");

        tab_to(&mut browser, "th.title a").await;
        browser.press("Enter").await;
        browser.until("location.pathname === '/console/ad' && !!document.querySelector('#status')").await;
        tab_to(&mut browser, "button[value=hide]").await;
        browser.press("Enter").await;
        browser.until("!!document.querySelector('.notice.success')").await;
        server.client.ended(source_id, "unpublish", None).await;

        tab_to(&mut browser, "button[value=delete]").await;
        browser.press("Enter").await;
        browser.until("!!document.querySelector('input[name=confirmed]')").await;
        tab_to(&mut browser, "button[value=delete]").await;
        browser.press("Enter").await;
        browser.until("location.search.includes('done=delete')").await;
        server.client.ended(source_id, "delete", None).await;
    }
    assert_eq!(browser.complaints(), &[] as &[String]);
}

#[tokio::test]
async fn many_ads_are_selected_with_one_click() {
    let Some(mut browser) = Browser::start().await else { return };
    let server = Server::start().await;
    for (source_id, plate) in [("m-1", "MNY001"), ("m-2", "MNY002")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.published(source_id).await;
    }
    sign_in(&mut browser, &server.client).await;
    browser.open(&format!("{}/console/stock", server.client.base)).await;
    browser.until("document.querySelector('[data-needs-selection]')?.disabled").await;
    browser.eval("document.querySelector('[data-select-all]').click()").await;
    browser.until("document.querySelector('[data-selected]').innerText === '2'").await;
    browser.eval("document.querySelector('.bulk button[value=hide]').click()").await;
    browser.until("location.search.includes('done=hide')").await;
    for source_id in ["m-1", "m-2"] {
        assert_eq!(server.client.ad(source_id).await["visible"], false, "{source_id}");
    }
    assert_eq!(browser.complaints(), &[] as &[String]);
}
