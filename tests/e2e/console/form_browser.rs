//! Forms in a real browser: checks while they are filled, the models of a brand, dropped files; and new pages at all sizes.

use ad_tests::{Browser, Options, Server};
use serde_json::json;

use super::{
    ad_query,
    browser::{FAULTS, sign_in},
};
use crate::payloads::plain_car;

const FORM: &str = "document.querySelector('.ad-form')";

fn input(name: &str) -> String {
    format!("document.getElementById('input-{name}')")
}

#[tokio::test]
async fn a_form_is_checked_while_it_is_filled() {
    let Some(mut browser) = Browser::start().await else { return };
    let server = Server::start().await;
    sign_in(&mut browser, &server.client).await;
    browser.open(&format!("{}/console/new?type=car", server.client.base)).await;
    browser.until(&format!("!!{FORM} && document.readyState === 'complete'")).await;

    // What is wrong is said at the field; what is still empty is only listed.
    browser.fill(&input("category_fields.model_year"), "twenty").await;
    let error = "document.getElementById('error-category_fields.model_year').innerText";
    browser.until(&format!("{error}.includes('valid integer')")).await;
    assert_eq!(
        browser.eval(&format!("{}.getAttribute('aria-invalid')", input("category_fields.model_year"))).await,
        "true"
    );
    assert_eq!(browser.eval("document.getElementById('error-source_id').innerText").await, "");
    browser.until("document.getElementById('assessment').innerText.includes('Source id')").await;
    browser.fill(&input("category_fields.model_year"), "2021").await;
    browser.until(&format!("{error} === ''")).await;
    assert_eq!(
        browser.eval(&format!("{}.hasAttribute('aria-invalid')", input("category_fields.model_year"))).await,
        json!(false)
    );

    // The models are those of the brand.
    assert_eq!(browser.eval("document.getElementById('models').children.length").await, 0);
    browser.fill(&input("category_fields.brand"), "volvo").await;
    browser.until("!!document.querySelector('#models option[value=v60]')").await;
    browser.fill(&input("category_fields.model"), "v60").await;
    browser.fill(&input("category_fields.registration_number"), "BFM001").await;
    browser.fill(&input("source_id"), "browser-1").await;
    browser.until("!!document.querySelector('#assessment .score')").await;
    browser.eval(&format!("{FORM}.querySelector('button[value=save]').click()")).await;
    browser.until("location.pathname === '/console/ad'").await;
    assert_eq!(server.client.ad("browser-1").await["category_fields"]["model"], "v60");
    assert_eq!(browser.complaints(), &[] as &[String]);
}

#[tokio::test]
async fn a_dropped_file_is_checked_and_created_step_by_step() {
    let Some(mut browser) = Browser::start().await else { return };
    let server = Server::start().await;
    sign_in(&mut browser, &server.client).await;
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
    browser.eval("document.querySelector('button[value=check]').click()").await;
    browser.until("document.querySelectorAll('#report tbody tr').length === 25").await;
    browser.until("!!document.querySelector('[data-needs-script]:not([hidden])')").await;
    browser.eval("document.querySelector('button[value=create]').click()").await;
    browser.until("document.querySelectorAll('#report tbody a').length === 25").await;
    assert_eq!(browser.eval("document.querySelector('#report tbody tr:last-child td').innerText").await, "25");
    assert_eq!(server.client.get("/v4/ad").await.expect(200)["count"], 25);
    assert_eq!(browser.complaints(), &[] as &[String]);
}

#[tokio::test]
async fn pages_of_forms_and_tools_have_no_faults() {
    let Some(mut browser) = Browser::start().await else { return };
    let server = Server::with(Options { args: vec!["--sandbox".to_owned()], ..Options::default() }).await;
    server.client.post("/v4/car", &plain_car("c-1", "BFM002")).await.expect(201);
    server.client.published("c-1").await;
    let webhook = json!({"url": "https://receiver.example/a/long/path/that/does/not/end/soon/at/all"});
    let id = server.client.post("/v4/webhooks", &webhook).await.expect(201)["id"].as_str().unwrap().to_owned();
    let operator = server.client_of(&["--operator"]).await;
    let dealer = [
        "/console/new".to_owned(),
        "/console/new?type=car".to_owned(),
        "/console/new?type=construction".to_owned(),
        format!("/console/ad/edit?{}", ad_query("c-1")),
        "/console/paste".to_owned(),
        "/console/webhooks".to_owned(),
        format!("/console/webhook?id={id}"),
        "/console/requests".to_owned(),
        "/console/developers".to_owned(),
    ];
    let operators = ["", "/queue", "/ads", "/dealers", "/tokens"].map(|page| format!("/console/operators{page}"));
    let mut faults = Vec::new();
    for (client, pages) in [(&server.client, &dealer[..]), (&operator, &operators[..])] {
        browser.open(&format!("{}/console/sign-in", client.base)).await;
        browser.until("document.readyState === 'complete'").await;
        browser.eval("document.querySelector('form[action$=\"/sign-out\"] button')?.click()").await;
        browser.until("document.activeElement?.id === 'token'").await;
        browser.type_text(client.token.as_deref().unwrap()).await;
        browser.press("Enter").await;
        browser.until("location.pathname.startsWith('/console/') && !document.getElementById('token')").await;
        for scheme in ["light", "dark"] {
            browser.prefer(scheme).await;
            for width in [1440, 390] {
                browser.resize(width, 900).await;
                for page in pages {
                    browser.open(&format!("{}{page}", client.base)).await;
                    browser
                        .until(&format!(
                            "(location.pathname + location.search) === {} && document.readyState === 'complete'",
                            json!(page)
                        ))
                        .await;
                    let found = browser.eval(FAULTS).await;
                    faults.extend(
                        found.as_array().unwrap().iter().map(|fault| format!("{width} {scheme} {page}: {fault}")),
                    );
                }
            }
        }
    }
    assert_eq!(faults, [] as [String; 0]);
    assert_eq!(browser.complaints(), &[] as &[String]);
}
