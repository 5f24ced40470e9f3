//! A day at a dealer's by keyboard alone: a draft with photos, its publication, a price, 5 % off all prices, a sale and its undoing, and a
//! file from Excel. What has the focus is always in sight.

use std::path::PathBuf;

use ad_tests::{Browser, Key, Server};
use serde_json::{Value, json};

use super::{
    browser::{sign_in, tab_to},
    excel::{HEAD, ten_rows, xlsx},
    photos,
    walk::{Walk, Way},
};
use crate::payloads::plain_car;

/// Whether nothing is before what has the focus, and it is on the screen.
const IN_SIGHT: &str = "(() => { const it = document.activeElement, box = it.getBoundingClientRect();
    const seen = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, 12));
    return !!seen && (it.contains(seen) || seen.contains(it) || [...(it.labels ?? [])].some((label) => label.contains(seen))); })()";

/// Moves the focus to an element, past the navigation. Returns the number of keys.
async fn reach(walk: &Walk, selector: &str) {
    walk.browser.until(&format!("!!document.querySelector({})", json!(selector))).await;
    tab_to(&walk.browser, selector).await;
    assert_eq!(walk.browser.eval(IN_SIGHT).await, Value::Bool(true), "{selector} is in sight");
}

async fn enter(walk: &Walk, selector: &str) {
    reach(walk, selector).await;
    walk.browser.press(Key::Enter).await;
}

/// Writes into an input, in the place of what it has.
async fn write(walk: &Walk, selector: &str, text: &str) {
    reach(walk, selector).await;
    walk.browser.type_text(&format!("{}a{}{text}", char::from(Key::Control), char::from(Key::Null))).await;
}

/// Chooses files, which the window of the system does, not the page.
async fn choose(walk: &Walk, selector: &str, files: &[PathBuf]) {
    reach(walk, selector).await;
    walk.browser.choose(selector, files).await;
}

/// A draft with photos from the computer, which is looked at and published.
async fn publishes_a_draft(walk: &Walk, server: &Server, photos: &[PathBuf]) {
    enter(walk, "header a[href$='/new']").await;
    enter(walk, "a[href$='type=car']").await;
    let input = photos::input;
    write(walk, &input("category_fields.registration_number"), "DAY 001").await;
    reach(walk, &input("category_fields.brand")).await;
    walk.browser.type_text("Volvo").await;
    walk.browser.until("document.querySelector(\"[id='input-category_fields.brand']\").value === 'volvo'").await;
    // Nobody is told to choose a brand who has chosen one.
    walk.browser.until("!document.querySelector('main').innerText.includes('Choose the brand first')").await;
    write(walk, &input("category_fields.model"), "V60").await;
    write(walk, &input("category_fields.model_year"), "2019").await;
    // Enter in a field checks, and stores nothing.
    walk.browser.press(Key::Enter).await;
    walk.browser.until("!!document.querySelector('#assessment h2')").await;
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 2);
    write(walk, &input("price.0.amount"), "200000").await;
    choose(walk, ".drop input[type=file][multiple]", photos).await;
    walk.browser.until("document.querySelectorAll('.tiles img').length === 3").await;
    walk.sees("#assessment", "The ad has 3 photos").await;
    walk.pictures("draft", ".tiles").await;
    enter(walk, ".ad-form button[value=save]").await;
    walk.sees("#done", "Saved as a draft").await;
    walk.sees("#status", "Draft").await;
    enter(walk, "a[href*='/ad/publish']").await;
    enter(walk, "form button[value=show]").await;
    walk.sees("#status h2", "Live").await;
    walk.sees("#done", "The ad is published.").await;

    enter(walk, "a.button[href*='/ad/edit']").await;
    write(walk, &input("price.0.amount"), "190000").await;
    enter(walk, ".ad-form button[value=save]").await;
    walk.sees("#done", "Saved.").await;
    walk.sees("#facts", "190\u{202f}000 SEK").await;
    walk.sees("#facts", "Car").await;
}

/// 5 % off all prices, which are round afterwards.
async fn lowers_all_prices(walk: &Walk) {
    enter(walk, "header a[href$='/stock']").await;
    reach(walk, "[data-select-matching]").await;
    walk.browser.type_text(" ").await;
    walk.browser.until("document.querySelector('[data-selected]').innerText === '3'").await;
    // The bar of the selected ads is not before what has the focus, in both directions.
    reach(walk, "thead a").await;
    reach(walk, "tbody tr:last-child a").await;
    reach(walk, "button[value=price]").await;
    walk.browser.press(Key::Enter).await;
    write(walk, "#by", "-5").await;
    walk.browser.press(Key::Enter).await;
    walk.sees("#changes", "190\u{202f}000 SEK → 180\u{202f}500 SEK").await;
    walk.pictures("bulk", "#plan").await;
    enter(walk, "button[value=apply]").await;
    walk.sees("#plan", "3 done").await;
}

async fn sells_and_undoes(walk: &Walk) {
    enter(walk, "#changes tbody tr:last-child a").await;
    enter(walk, "button[value=sold]").await;
    walk.browser.until("!!document.querySelector('input[name=confirmed]')").await;
    enter(walk, "button[value=sold]").await;
    enter(walk, "#sale button[value=unsold]").await;
    walk.sees("#status h2", "Live").await;
    walk.sees("#done", "Not sold after all: the ad is published again.").await;
}

async fn brings_a_file_in(walk: &Walk, file: PathBuf) {
    enter(walk, "header a[href$='/stock']").await;
    enter(walk, ".heading a[href$='/import']").await;
    choose(walk, "#file", &[file]).await;
    enter(walk, "form[enctype] button.primary").await;
    walk.browser.until("location.pathname === '/console/import/columns'").await;
    walk.pictures("columns", "h1").await;
    enter(walk, "form .actions button[value=compare]").await;
    walk.sees("#plan", "9 are new").await;
    walk.sees("#plan", "New ads are shown on the marketplaces at once.").await;
    walk.pictures("import", "h1").await;
    enter(walk, "button[value=apply]").await;
    walk.sees("#plan", "9 done").await;
    walk.sees("h1", "What was changed").await;
}

#[tokio::test]
async fn a_dealer_works_a_day_by_keyboard_alone() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    for (source_id, plate) in [("day-1", "DAY010"), ("day-2", "DAY011")] {
        let mut car = plain_car(source_id, plate);
        car["category_fields"]["brand"] = json!("volvo");
        car["category_fields"]["model"] = json!("v60");
        car["price"] = json!([{"type": "list", "amount": 189_900}]);
        server.client.post("/v4/car", &car).await.expect(201);
        server.client.published(source_id).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let files = photos::files(folder.path(), 3);
    let sheet = folder.path().join("stock.xlsx");
    std::fs::write(&sheet, xlsx(&HEAD, &ten_rows())).unwrap();
    browser.resize(1280, 800).await;
    sign_in(&browser, &server.client).await;
    let walk = Walk { browser, way: Way::Keyboard, look: "light" };
    publishes_a_draft(&walk, &server, &files).await;
    lowers_all_prices(&walk).await;
    sells_and_undoes(&walk).await;
    brings_a_file_in(&walk, sheet).await;
    assert_eq!(walk.browser.complaints().await, [] as [String; 0]);
}
