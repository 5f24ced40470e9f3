//! A seller's day in every engine of browsers: a draft with photos, publishing, a change that meets another's, lower prices of many ads, a
//! sold ad and its return, and a file of cars. In both languages, on a large screen and a small one.

use ad_tests::{Browser, Engine, Server, eventually};
use serde_json::json;

use super::{
    browser::sign_in,
    excel::{HEAD, ten_rows, xlsx},
    photos::{files, input},
};
use crate::payloads::plain_car;

/// Ads whose prices fall.
const MANY: usize = 30;

async fn a_sellers_day(engine: Engine, language: &str, (width, height): (u32, u32)) {
    let Some(browser) = Browser::start_engine(engine).await else { return };
    let server = Server::start().await;
    let client = &server.client;
    let folder = tempfile::tempdir().unwrap();
    browser.resize(width, height).await;
    let page = |path: &str| format!("{}/console{path}", client.base);
    let fits = async |place: &str| {
        let wider = browser.eval("document.documentElement.scrollWidth - innerWidth").await;
        assert!(wider.as_i64().unwrap() <= 0, "{place} is wider than the window by {wider}");
    };
    browser.open(&page("/")).await;
    browser.eval(&format!("document.cookie = 'console_language={language}; Path=/console'")).await;
    sign_in(&browser, client).await;
    assert_eq!(browser.eval("document.documentElement.lang").await, language);
    fits("the overview").await;

    // A draft with three photos.
    browser.open(&page("/new?type=car")).await;
    browser.until("!!document.querySelector('#choose-photos')").await;
    browser.choose("#choose-photos", &files(folder.path(), 3)).await;
    browser.fill(&input("category_fields.registration_number"), "DAY001").await;
    browser.fill(&input("category_fields.model_year"), "2021").await;
    browser.fill(&input("price.0.amount"), "189 900 kr").await;
    browser
        .until("document.querySelectorAll('.tiles img').length === 3 && !document.querySelector('.tiles progress')")
        .await;
    fits("the form").await;
    browser.click(".ad-form button[value=save]").await;
    browser.until("location.pathname === '/console/ad' && !!document.querySelector('#photos')").await;
    assert_eq!(client.ad("DAY001").await["visible"], false, "saving does not publish");

    // Publishing is a step of its own.
    browser.click("a.button[href*='/ad/publish']").await;
    browser.until("location.pathname === '/console/ad/publish'").await;
    fits("publishing").await;
    browser.click("main button[value=show]").await;
    client.published("DAY001").await;
    let ad = client.ad("DAY001").await;
    assert_eq!((ad["image_refs"].as_array().unwrap().len(), &ad["price"][0]["amount"]), (3, &json!(189_900)));

    // Somebody else changes the price meanwhile.
    browser
        .until("location.pathname === '/console/ad' && !!document.querySelector(\"a.button[href*='/ad/edit']\")")
        .await;
    browser.click("a.button[href*='/ad/edit']").await;
    browser.until(&format!("!!document.querySelector({})", json!(input("price.0.amount")))).await;
    let theirs = json!({"price": [{"type": "list", "amount": 185_000}]});
    client.patch("/v4/car/DAY001", &theirs).await.expect(200);
    browser.fill(&input("price.0.amount"), "180000").await;
    browser.click(".ad-form button[value=save]").await;
    browser.until("!!document.querySelector('fieldset.conflict')").await;
    fits("the conflict").await;
    browser.complains_of(&["409"]).await;
    browser.click("fieldset.conflict input[value=own]").await;
    browser.click(".ad-form button[value=save]").await;
    browser.until("location.pathname === '/console/ad' && !!document.querySelector('#status')").await;
    assert_eq!(client.ad("DAY001").await["price"][0]["amount"], 180_000);

    // Lower prices of many.
    for number in 0..MANY {
        let mut car = plain_car(&format!("many-{number}"), &format!("MNY{number:03}"));
        car["price"] = json!([{"type": "list", "amount": 100_000}]);
        client.post("/v4/car", &car).await.expect(201);
    }
    client.published(&format!("many-{}", MANY - 1)).await;
    browser.open(&page("/stock?limit=50")).await;
    browser.until("!!document.querySelector('[data-select-all]')").await;
    fits("the stock").await;
    browser.click("[data-select-all]").await;
    browser.click(".bulk button[value=price]").await;
    browser.until("!!document.querySelector('[name=by]')").await;
    browser.fill("[name=by]", "-5").await;
    browser.click("main form button.primary").await;
    browser.until("location.pathname === '/console/plan' && !!document.querySelector('button[value=apply]')").await;
    fits("the plan").await;
    browser.click("button[value=apply]").await;
    eventually("the prices are lower", async || {
        (client.ad("many-0").await["price"][0]["amount"] == 95_000).then_some(())
    })
    .await;

    // Sold, and back.
    browser.open(&page("/ad?source_id=DAY001&dealer_code=north-cars")).await;
    browser.click("button[value=sold]").await;
    browser.until("!!document.querySelector('input[name=confirmed]')").await;
    fits("the question").await;
    browser.click("button[value=sold]").await;
    browser.until("location.search.includes('done=sold')").await;
    assert_eq!(client.ad("DAY001").await["visible"], false);
    browser.open(&page("/ad?source_id=DAY001&dealer_code=north-cars")).await;
    browser.click("button[value=unsold]").await;
    eventually("it is back", async || (client.ad("DAY001").await["visible"] == true).then_some(())).await;

    // A file of ten cars.
    let file = folder.path().join("cars.xlsx");
    std::fs::write(&file, xlsx(&HEAD, &ten_rows())).unwrap();
    browser.open(&page("/import")).await;
    browser.choose("#file", &[file]).await;
    browser.click("form[enctype] button.primary").await;
    browser.until("location.pathname === '/console/import/columns'").await;
    fits("the columns").await;
    browser.click("form .actions button[value=compare]").await;
    browser.until("location.pathname === '/console/plan' && !!document.querySelector('button[value=apply]')").await;
    browser.click("button[value=apply]").await;
    eventually("the cars are there", async || {
        let found = client.try_send(reqwest::Method::GET, "/v4/ad/L-10", None).await;
        found.is_ok_and(|answer| answer.status == 200).then_some(())
    })
    .await;
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn a_sellers_day_in_chromium() {
    a_sellers_day(Engine::Chromium, "sv", (390, 844)).await;
}

#[tokio::test]
async fn a_sellers_day_in_firefox() {
    a_sellers_day(Engine::Firefox, "en", (1280, 900)).await;
    a_sellers_day(Engine::Firefox, "sv", (480, 844)).await;
}

#[tokio::test]
async fn a_sellers_day_in_webkit() {
    a_sellers_day(Engine::WebKit, "sv", (1280, 900)).await;
    a_sellers_day(Engine::WebKit, "en", (450, 844)).await;
}
