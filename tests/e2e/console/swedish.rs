//! Swedish pages are Swedish: no text of a page has English words, but for what is marked as English, code, and what other people wrote.

use ad_tests::{Browser, ImageHost, Options, Server};
use serde_json::json;

use super::{accessibility, ad_query, browser::sign_in};
use crate::payloads::plain_car;

/// The texts of the page that have English words which are no Swedish ones.
const ENGLISH: &str = r#"(() => {
  const words = /\b(the|of|are|with|your|you|this|that|have|which|must|from|when|does|cannot)\b/i;
  const skipped = "[lang=en], code, pre, script, style, template, .preview, [data-foreign]";
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (words.test(node.textContent) && !node.parentElement.closest(skipped)) found.push(node.textContent.trim());
  }
  for (const element of document.querySelectorAll("[title], [aria-label], [placeholder]")) {
    if (element.closest(skipped)) continue;
    for (const name of ["title", "aria-label", "placeholder"]) {
      const text = element.getAttribute(name);
      if (text && words.test(text)) found.push(`${name}: ${text}`);
    }
  }
  return [...new Set(found)];
})()"#;

#[tokio::test]
async fn no_page_has_an_english_sentence() {
    let Some(browser) = Browser::start().await else { return };
    let (server, images) = (
        Server::with(Options { args: vec!["--sandbox".to_owned()], ..Options::default() }).await,
        ImageHost::start().await,
    );
    let client = &server.client;
    accessibility::stock(&server, &images).await;
    client.post("/v4/car", &plain_car("draft-1", "SWE001")).await.expect(201);
    client.published("draft-1").await;
    client.patch("/v4/car/draft-1", &json!({"visible": false})).await.expect(200);
    let change = json!({"select": {"source_id__in": ["car-1002", "car-1001"]}, "change": {"price_percent": -5}});
    let plan = client.post("/v4/stock/plans", &change).await.expect(202)["id"].as_str().unwrap().to_owned();
    let [columns, compared] = super::excel::brought_in(client).await;
    sign_in(&browser, client).await;
    browser.eval("document.cookie = 'console_language=sv; Path=/console'").await;
    let ad = ad_query("car-1002");
    let pages = [
        "/".to_owned(),
        "/help".to_owned(),
        "/failing".to_owned(),
        "/stock".to_owned(),
        "/stock?view=cards".to_owned(),
        "/stock?q=nothing".to_owned(),
        format!("/ad?{ad}"),
        format!("/ad?{}", ad_query("fault-refused-4")),
        format!("/ad/edit?{ad}"),
        format!("/ad/publish?{}", ad_query("draft-1")),
        "/plans".to_owned(),
        format!("/plan?id={plan}"),
        "/import".to_owned(),
        columns.trim_start_matches("/console").to_owned(),
        compared.trim_start_matches("/console").to_owned(),
        "/new".to_owned(),
        "/new?type=car".to_owned(),
        "/new?type=boat".to_owned(),
        "/new?type=construction".to_owned(),
        "/account".to_owned(),
        "/schedules".to_owned(),
        "/schedule/edit".to_owned(),
        "/access".to_owned(),
        "/webhooks".to_owned(),
        "/requests".to_owned(),
    ];
    let mut english = Vec::new();
    let mut look = async |page: &str| {
        browser.until("document.documentElement.lang === 'sv' && document.readyState === 'complete'").await;
        let found = browser.eval(ENGLISH).await;
        english.extend(found.as_array().unwrap().iter().map(|text| format!("{page}: {text}")));
    };
    for page in &pages {
        browser.open(&format!("{}/console{page}", client.base)).await;
        look(page).await;
    }
    for page in ["/stock?price__gte=abc", "/stock?statu=live", "/no/such/page", "/sign-in?next=/stock"] {
        browser.open(&format!("{}/console{page}", client.base)).await;
        look(page).await;
    }
    // What forms answer.
    browser.open(&format!("{}/console/ad?{ad}", client.base)).await;
    browser.click("button[value=sold]").await;
    browser.until("!!document.querySelector('input[name=confirmed], button[name=confirmed]')").await;
    look("a question").await;
    browser.open(&format!("{}/console/schedule/edit", client.base)).await;
    browser.fill("#budget", "mycket").await;
    browser.click("button[value=check]").await;
    browser.until("!!document.querySelector('.field-error')").await;
    look("a schedule with an error").await;
    // What is wrong with a form.
    browser.open(&format!("{}/console/new?type=car", client.base)).await;
    for (name, text) in [
        ("category_fields.model_year", "tjugo"),
        ("category_fields.model", "Vovlo"),
        ("category_fields.condition.mileage", "-1"),
        ("price.0.amount", "gratis"),
    ] {
        browser.fill(&format!("[id='input-{name}']"), text).await;
    }
    browser.click(".ad-form button[value=save]").await;
    browser.until("!!document.querySelector('.notice.error')").await;
    look("a form with errors").await;
    // Why a photo is missing.
    browser.open(&format!("{}/console/ad?{ad}", client.base)).await;
    browser.until("document.querySelector('#photos')?.textContent.includes('Det finns inget foto på adressen.')").await;
    assert_eq!(browser.eval("document.querySelectorAll('#photos q, #timeline q').length").await, json!(0));
    assert!(english.is_empty(), "{}", english.join("\n"));
}
