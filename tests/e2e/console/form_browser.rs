//! Forms in a real browser: checks while they are filled, the models of a brand, and dropped files.

use ad_tests::{Browser, Key, Server};
use serde_json::json;

use super::browser::{sign_in, tab_to};
use crate::payloads::plain_car;

/// The selector of an input by the name of its field.
fn input(name: &str) -> String {
    format!("[id='input-{name}']")
}

#[tokio::test]
async fn a_form_is_checked_while_it_is_filled() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    sign_in(&browser, &server.client).await;
    browser.open(&format!("{}/console/new?type=car", server.client.base)).await;
    browser.until("!!document.querySelector('.ad-form')").await;

    // What is wrong is said at the field; what is still empty is only listed.
    browser.fill(&input("category_fields.model_year"), "twenty").await;
    let error = "document.getElementById('error-category_fields.model_year').innerText";
    browser.until(&format!("{error}.includes('Write a number')")).await;
    assert_eq!(
        browser
            .eval(&format!(
                "document.querySelector({:?}).getAttribute('aria-invalid')",
                input("category_fields.model_year")
            ))
            .await,
        "true"
    );
    assert_eq!(browser.eval("document.getElementById('error-source_id').innerText").await, "");
    browser.until("document.getElementById('assessment').innerText.includes('Registration number')").await;
    browser.fill(&input("category_fields.model_year"), "2021").await;
    browser.until(&format!("{error} === ''")).await;
    assert_eq!(
        browser
            .eval(&format!(
                "document.querySelector({:?}).hasAttribute('aria-invalid')",
                input("category_fields.model_year")
            ))
            .await,
        json!(false)
    );

    // The models are those of the brand.
    assert_eq!(browser.eval("document.getElementById('models').children.length").await, 0);
    tab_to(&browser, &input("category_fields.brand")).await;
    browser.type_text("Volvo").await;
    browser.until("!!document.querySelector('#models option[value=V60]')").await;
    browser.fill(&input("category_fields.model"), "v60").await;
    browser.fill(&input("category_fields.registration_number"), "BFM001").await;
    browser.until("!!document.querySelector('#assessment .score')").await;

    // Enter checks, says what came of it, and keeps the focus in the field.
    browser.press(Key::Enter).await;
    browser.until("document.getElementById('announcements').textContent.includes('Can be saved')").await;
    assert_eq!(browser.eval("document.activeElement.id").await, "input-category_fields.registration_number");
    browser.click(".ad-form button[value=save]").await;
    browser.until("location.pathname === '/console/ad'").await;
    assert_eq!(server.client.ad("BFM001").await["category_fields"]["model"], "v60");

    // From the top of the form, a link leads to its groups; on a phone, the check covers none of them.
    browser.become_phone().await;
    browser.open(&format!("{}/console/ad/edit?source_id=BFM001", server.client.base)).await;
    browser.until("!!document.querySelector('.ad-form .chips a[href=\"#section-price\"]')").await;
    let covered = "document.querySelector('.ad-form > aside > .actions').getBoundingClientRect().height";
    assert!(browser.eval(covered).await.as_f64().unwrap() < 80.0);
    assert_eq!(browser.eval("getComputedStyle(document.querySelector('#assessment')).position").await, "static");
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn what_is_chosen_of_two_changes_is_saved_and_a_date_must_exist() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    let mut car = plain_car("two", "BFM002");
    car["price"] = json!([{"type": "list", "amount": 100_000}]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("two").await;
    sign_in(&browser, &server.client).await;
    browser.open(&format!("{}/console/ad/edit?source_id=two", server.client.base)).await;
    browser.until("!!document.querySelector('.ad-form')").await;
    server.client.patch("/v4/car/two", &json!({"price": [{"type": "list", "amount": 95_000}]})).await.expect(200);
    browser.fill(&input("price.0.amount"), "90000").await;
    browser.click(".ad-form button[value=save]").await;
    browser.until("!!document.querySelector('fieldset.conflict')").await;
    browser.complains_of(&["409"]).await;

    // One's own value is not sent while the other one is chosen, and checks leave the choice.
    let is_off = format!("document.querySelector({}).disabled", json!(input("price.0.amount")));
    browser.click("fieldset.conflict input[value=own]").await;
    assert_eq!(browser.eval(&is_off).await, false);
    browser.click("fieldset.conflict input[value=stored]").await;
    assert_eq!(browser.eval(&is_off).await, true);
    browser.until("!document.getElementById('assessment').querySelector('.notice.error')").await;
    assert_eq!(browser.eval("document.querySelector('fieldset.conflict input:checked').value").await, "stored");

    // Of a date that does not exist, the browser sends nothing.
    let date = ".ad-form input[type=date]";
    browser
        .eval(&format!("document.querySelector({}).closest('details')?.setAttribute('open', '')", json!(date)))
        .await;
    browser.click(date).await;
    browser.type_text("02302021").await;
    browser.until(&format!("document.querySelector({}).validity.badInput", json!(date))).await;
    browser.click(".ad-form button[value=save]").await;
    browser.until("document.querySelector('.field-error')?.innerText === 'There is no such date.'").await;
    assert_eq!(browser.eval("location.pathname").await, "/console/ad/edit");
    browser.eval(&format!("document.querySelector({}).value = '2021-02-03'", json!(date))).await;

    browser.click(".ad-form button[value=save]").await;
    browser.until("location.pathname === '/console/ad'").await;
    let ad = server.client.ad("two").await;
    assert_eq!(ad["price"][0]["amount"], 95_000);
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn a_dropped_file_is_checked_and_created_step_by_step() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    sign_in(&browser, &server.client).await;
    browser.open(&format!("{}/console/paste", server.client.base)).await;
    browser.until("!!document.querySelector('[data-needs-script]:not([hidden])')").await;
    let lines: Vec<_> =
        (0..25).map(|index| plain_car(&format!("drop-{index}"), &format!("DRP{index:03}")).to_string()).collect();
    let file = json!(lines.join("\n"));
    browser
        .eval(&format!(
            "(() => {{ const files = new DataTransfer(); files.items.add(new File([{file}], 'stock.ndjson'));
              document.querySelector('[data-drop]').dispatchEvent(new DragEvent('drop', {{dataTransfer: files, cancelable: true}})); }})()"
        ))
        .await;
    browser.until("document.getElementById('json').value.includes('drop-24')").await;
    browser.click("button[value=check]").await;
    browser.until("document.querySelectorAll('#report tbody tr').length === 25").await;
    browser.until("!!document.querySelector('[data-needs-script]:not([hidden])')").await;
    browser.click("button[value=create]").await;
    browser.until("document.querySelectorAll('#report tbody a').length === 25").await;
    assert_eq!(browser.eval("document.querySelector('#report tbody tr:last-child td').innerText").await, "25");
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 25);
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}
