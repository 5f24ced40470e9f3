//! The walk of `docs/console.md`, as a dealer does it who has never seen the console: sign in, find the ad that is not live, learn why,
//! mend the address of its photo, see it go live, reduce its price, and mark it as sold. By mouse, by keyboard, and without scripts.
//!
//! `CONSOLE_SCREENSHOTS=folder` writes the pictures of the walk there; CONTRIBUTING.md says how those of the document are made.

use std::{path::Path, time::Instant};

use ad_server::demo::stock::{DemoAd, Expected, stock};
use ad_tests::{Browser, Key, Options, PATIENCE, Server};
use serde_json::{Value, json};

use super::browser::tab_to;

/// The ad of the walk.
const SOURCE_ID: &str = "nc-1005";

/// How the dealer uses the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Mouse,
    Keyboard,
    MouseWithoutScripts,
}

pub(super) struct Walk {
    pub(super) browser: Browser,
    pub(super) way: Way,
    /// What the names of its pictures end with.
    pub(super) look: &'static str,
}

impl Walk {
    /// Follows a link, or presses a button.
    async fn press(&self, selector: &str) {
        if self.way == Way::Keyboard {
            tab_to(&self.browser, selector).await;
            self.browser.press(Key::Enter).await;
        } else {
            self.browser.click(selector).await;
        }
    }

    /// Replaces the text of an input, once it is there.
    async fn write(&self, selector: &str, text: &str) {
        self.browser.until(&format!("!!document.querySelector({})", json!(selector))).await;
        if self.way == Way::Keyboard {
            tab_to(&self.browser, selector).await;
            let select_all = format!("{}a{}", char::from(Key::Control), char::from(Key::Null));
            self.browser.type_text(&select_all).await;
            self.browser.type_text(text).await;
        } else {
            self.browser.fill(selector, text).await;
        }
    }

    /// Waits until a part of the page contains a text. Without scripts the dealer loads the page again to see what has changed.
    pub(super) async fn sees(&self, selector: &str, text: &str) {
        let selected = format!("document.querySelector({})", json!(selector));
        let is_seen = format!("!!{selected}?.innerText.includes({})", json!(text));
        let begun = Instant::now();
        while self.way == Way::MouseWithoutScripts && self.browser.eval(&is_seen).await != Value::Bool(true) {
            let shown = self.browser.eval(&format!("{selected}?.innerText")).await;
            assert!(begun.elapsed() < 2 * PATIENCE, "never: {text} in {selector}: {shown}");
            self.browser.reload().await;
        }
        self.browser.until(&is_seen).await;
    }

    /// Writes a picture of the window with a part of the page in its middle.
    pub(super) async fn picture(&self, name: &str, part: &str) {
        self.picture_as(name, part, self.look).await;
    }

    /// Writes pictures in light and in dark colours.
    pub(super) async fn pictures(&self, name: &str, part: &str) {
        for scheme in ["dark", "light"] {
            self.browser.prefer(scheme).await;
            self.picture_as(name, part, scheme).await;
        }
    }

    async fn picture_as(&self, name: &str, part: &str, look: &str) {
        let Some(folder) = std::env::var_os("CONSOLE_SCREENSHOTS") else { return };
        let scroll = "scrollIntoView({block: 'center', behavior: 'instant'})";
        self.browser.eval(&format!("document.querySelector({}).{scroll}", json!(part))).await;
        let file = Path::new(&folder).join(format!("console-{name}-{look}.png"));
        std::fs::write(file, self.browser.screenshot().await).unwrap();
    }
}

/// Posts the stock of the demo, in which the photo of one ad has a wrong address; returns the right addresses of its photos.
async fn post_stock(server: &Server) -> String {
    let client = &server.client;
    let is_walked = |ad: &DemoAd| {
        ad.dealer_code == "north-cars" && ad.expects == Expected::Published && !ad.source_id().contains('/')
    };
    let ads: Vec<_> = stock(&format!("{}/sandbox/images", client.base)).into_iter().filter(is_walked).collect();
    let mut photos = String::new();
    for ad in &ads {
        let mut payload = ad.payload.clone();
        // Those of the demo's dealers.
        payload["category_fields"].as_object_mut().unwrap().remove("salesperson");
        if ad.source_id() == SOURCE_ID {
            let urls = payload["image_urls"].as_array().unwrap();
            photos = urls.iter().map(|url| url.as_str().unwrap()).collect::<Vec<_>>().join("\n");
            payload["image_urls"][0] = json!(urls[0].as_str().unwrap().replace("1.jpg", "front.jpg"));
            payload["dont_publish_on_failed_images"] = json!(true);
        }
        client.post(&format!("/v4/{}", ad.vehicle_type), &payload).await.expect(201);
    }
    for ad in ads.iter().filter(|ad| ad.source_id() != SOURCE_ID) {
        client.published(ad.source_id()).await;
    }
    client.ended(SOURCE_ID, "handle_media", None).await;
    photos
}

async fn walk(way: Way, look: &'static str) {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::with(Options { args: vec!["--sandbox".to_owned()], ..Options::default() }).await;
    let photos = post_stock(&server).await;
    match look {
        "phone" => browser.become_phone().await,
        scheme => {
            browser.resize(1280, 800).await;
            browser.prefer(scheme).await;
        }
    }
    browser.disable_scripts(way == Way::MouseWithoutScripts).await;
    let walk = Walk { browser, way, look };

    // Sign in.
    walk.browser.open(&format!("{}/console/", server.client.base)).await;
    walk.picture("sign-in", "main").await;
    walk.browser.until("document.activeElement?.id === 'token'").await;
    walk.browser.type_text(server.client.token.as_deref().unwrap()).await;
    walk.press(".sign-in form button").await;

    // Find the ad that is not live.
    let failed = "#counts a[href$='status=failed']";
    walk.sees(failed, "1").await;
    walk.picture("overview", "h1").await;
    walk.press(failed).await;
    walk.sees("tbody", SOURCE_ID).await;
    assert_eq!(walk.browser.eval("document.querySelectorAll('tbody tr').length").await, 1);
    walk.picture("failed", "h1").await;
    walk.press("th.title a").await;

    // Learn why.
    walk.sees("#status", "Failed").await;
    walk.picture("why", "h1").await;
    walk.sees("#photos", "front.jpg").await;
    walk.sees("#photos", "404").await;
    walk.picture("photos", "#photos").await;

    // Mend the address of the photo, and see the ad go live.
    walk.press("a.button[href*='/ad/edit']").await;
    if way != Way::MouseWithoutScripts {
        // Pictures are in the place of the addresses.
        walk.press("details:has([id='input-image_urls']) > summary").await;
    }
    walk.write("[id='input-image_urls']", &photos).await;
    walk.picture("mend", "[id='input-image_urls']").await;
    walk.press(".ad-form button[value=save]").await;
    walk.sees("#status h2", "Live").await;
    walk.picture("live", "h1").await;

    // Reduce the price.
    walk.press("a.button[href*='/ad/edit']").await;
    walk.write("[id='input-price.0.amount']", "298500").await;
    walk.picture("price", "[id='input-price.0.amount']").await;
    walk.press(".ad-form button[value=save]").await;
    walk.sees("#facts", "298\u{202f}500 SEK").await;
    walk.browser.until("!!document.querySelector('#prices path')").await;
    walk.sees("#status h2", "Live").await;
    walk.picture("prices", "#prices").await;

    // Mark it as sold.
    walk.press("button[value=sold]").await;
    walk.browser.until("!!document.querySelector('input[name=confirmed]')").await;
    walk.picture("sold", "h1").await;
    walk.press("button[value=sold]").await;
    walk.browser.until("location.search.includes('done=sold')").await;
    server.client.ended(SOURCE_ID, "unpublish", None).await;
    assert_eq!(walk.browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn a_dealer_mends_reduces_and_sells_by_mouse() {
    walk(Way::Mouse, "light").await;
}

#[tokio::test]
async fn a_dealer_mends_reduces_and_sells_by_keyboard() {
    walk(Way::Keyboard, "dark").await;
}

#[tokio::test]
async fn a_dealer_mends_reduces_and_sells_on_a_phone_without_scripts() {
    walk(Way::MouseWithoutScripts, "phone").await;
}
