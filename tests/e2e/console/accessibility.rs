//! Every page at every size, light and dark: axe-core finds nothing (WCAG 2.2 AA and its best practices), nothing is wider than the window,
//! and the console of the browser has no error.
//!
//! `CONSOLE_SCREENSHOTS=folder` writes a screenshot of each there.

use std::path::Path;

use ad_tests::{
    Browser, Client, ImageHost, Options, Server,
    tools::{self, Tool},
};
use serde_json::json;

use super::{ad_query, browser::sign_in};
use crate::payloads::{boat, car, plain_car};

/// Violations of axe-core's rules, and content that is wider than the window.
const FAULTS: &str = r#"axe.run({
  resultTypes: ["violations"],
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}).then(({ violations }) => {
  const faults = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`));
  const width = document.documentElement.scrollWidth;
  return width > innerWidth ? [...faults, `too wide: ${width}`] : faults;
})"#;

/// A stock with something of everything.
pub(super) async fn stock(server: &Server, images: &ImageHost) {
    let client = &server.client;
    client.post("/v4/car", &car("car-1001", "BRW001", images)).await.expect(201);
    let mut failing = car("car-1002", "BRW002", images);
    failing["image_urls"] = json!([images.url("5.jpg"), images.url("gone.jpg")]);
    client.post("/v4/car", &failing).await.expect(201);
    client.post("/v4/car", &plain_car("car-1003", "BRW003")).await.expect(201);
    client.post("/v4/boat", &boat("boat-2001", images)).await.expect(201);
    client.post("/v4/car", &plain_car("fault-refused-4", "BRW004")).await.expect(201);
    for source_id in ["car-1001", "car-1002", "car-1003", "boat-2001"] {
        client.published(source_id).await;
    }
    client.ended("fault-refused-4", "publish", None).await;
    let price = json!({"price": [{"type": "list", "amount": 99_000, "currency": "SEK"}]});
    client.patch("/v4/car/car-1002", &price).await.expect(200);
    client.published("car-1002").await;
}

/// Checks the page that is open at all sizes, light and dark.
async fn check(browser: &Browser, page: &str, faults: &mut Vec<String>) {
    let folder = std::env::var_os("CONSOLE_SCREENSHOTS");
    for (size, width) in [("wide", 1440), ("tablet", 820), ("phone", 390)] {
        if width == 390 {
            browser.become_phone().await;
        } else {
            browser.resize(width, 1000).await;
        }
        for scheme in ["light", "dark"] {
            browser.prefer(scheme).await;
            let found = browser.eval(FAULTS).await;
            // On a phone, the window grows with what is too wide.
            let shown = browser.eval("document.documentElement.scrollWidth").await;
            if shown.as_u64().is_some_and(|shown| shown > width.into()) {
                faults.push(format!("{page} {size} {scheme}: {shown} wide"));
            }
            faults.extend(found.as_array().unwrap().iter().map(|fault| format!("{page} {size} {scheme}: {fault}")));
            if let Some(folder) = &folder {
                let name = page.trim_start_matches("/console").replace(|letter: char| !letter.is_alphanumeric(), "-");
                let file = Path::new(folder).join(format!("page-{name}-{size}-{scheme}.png"));
                std::fs::write(file, browser.screenshot().await).unwrap();
            }
        }
    }
}

/// Signs out, and in with another token.
async fn sign_in_as(browser: &Browser, client: &Client) {
    // On a phone, the menu has it.
    browser.resize(1440, 1000).await;
    browser.click("form[action$='/sign-out'] button").await;
    browser.until("document.activeElement?.id === 'token'").await;
    browser.type_text(client.token.as_deref().unwrap()).await;
    browser.click(".sign-in form button").await;
    browser.until("!document.getElementById('token') && document.querySelector('main')").await;
}

/// The pages to which the forms of sign-in links and of what costs money lead.
async fn check_links_and_money(browser: &Browser, client: &Client, faults: &mut Vec<String>) {
    browser.open(&format!("{}/console/access", client.base)).await;
    browser.fill("#label", "Anna").await;
    browser.click("main form:has(#label) button.primary").await;
    browser.until("!!document.getElementById('link')").await;
    check(browser, "new link", faults).await;
    let link = browser.eval("document.getElementById('link').innerText.trim()").await;
    browser.open(link.as_str().unwrap()).await;
    check(browser, "link", faults).await;
    browser.open(&format!("{}/console/ad?{}", client.base, ad_query("car-1001"))).await;
    browser.click("button[value=bump]").await;
    browser.until("!!document.querySelector('input[name=confirmed]')").await;
    check(browser, "question before a bump", faults).await;
    browser.open(&format!("{}/console/schedule/edit", client.base)).await;
    browser.click("button[value=check]").await;
    browser.until("!!document.getElementById('preview')").await;
    check(browser, "schedule with its cost", faults).await;
}

/// The pages of operators, below `/console/operators`.
const OPERATORS: [&str; 10] = [
    "",
    "/queue",
    "/ads",
    "/dealers",
    "/dealer?code=north-cars",
    "/tokens",
    "/access",
    "/limits",
    "/audit",
    "/erase?dealer_code=north-cars",
];

/// Makes a draft and a plan. Returns the id of the request of the draft, and that of the plan.
async fn draft_and_plan(client: &Client) -> (String, String) {
    let created = client.post("/v4/car", &plain_car("car-1005", "BRW005")).await;
    let request = created.header("x-request-id").unwrap().to_owned();
    client.published("car-1005").await;
    client.patch("/v4/car/car-1005", &json!({"visible": false})).await.expect(200);
    let selection = json!({"select": {"source_id": "car-1002"}, "change": {"price_percent": -5}});
    let plan = client.post("/v4/stock/plans", &selection).await.expect(202)["id"].as_str().unwrap().to_owned();
    (request, plan)
}

#[tokio::test]
async fn pages_have_no_faults_at_any_size_in_any_colours() {
    let Some(_node) = tools::find(Tool::Node("import 'axe-core'")) else { return };
    let Some(browser) = Browser::start().await else { return };
    let axe = tools::node_modules().join("axe-core/axe.min.js");
    browser.add_script(&std::fs::read_to_string(axe).unwrap()).await;
    let (server, images) = (
        Server::with(Options { args: vec!["--sandbox".to_owned()], ..Options::default() }).await,
        ImageHost::start().await,
    );
    stock(&server, &images).await;
    let client = &server.client;
    super::money::agree(&server, "bump = 29.5; pole_position = 199; budget = 1500; slots = 40").await;
    super::money::bumped(&server, "car-1001").await;
    let webhook = json!({"url": "https://receiver.example/a/long/path/that/does/not/end/soon/at/all"});
    let webhook = client.post("/v4/webhooks", &webhook).await.expect(201)["id"].as_str().unwrap().to_owned();
    let schedule = json!({"kind": "bump", "select": {"status": "live"}, "at": "08:00", "weekdays": ["mon", "thu"], "budget": 1500});
    let schedule = client.post("/v4/promotions", &schedule).await.expect(201)["id"].as_str().unwrap().to_owned();
    let (request, plan) = draft_and_plan(client).await;
    let plan = format!("/console/plan?id={plan}");
    let [columns, compared] = super::excel::brought_in(client).await;

    let mut faults = Vec::new();
    browser.open(&format!("{}/console/", client.base)).await;
    check(&browser, "/sign-in", &mut faults).await;
    sign_in(&browser, client).await;
    let ad = ad_query("car-1002");
    let dealer = [
        "/console/".to_owned(),
        "/console/help".to_owned(),
        "/console/failing?code=image_failed".to_owned(),
        "/console/stock".to_owned(),
        "/console/stock?view=cards".to_owned(),
        "/console/stock?status=live,failed&search=nothing".to_owned(),
        format!("/console/ad?{ad}"),
        format!("/console/ad?{}", ad_query("fault-refused-4")),
        format!("/console/ad?{ad}&done=hide"),
        "/console/new".to_owned(),
        "/console/new?type=car".to_owned(),
        "/console/new?type=construction".to_owned(),
        format!("/console/ad/version?{ad}&revision=0"),
        format!("/console/ad/edit?{ad}"),
        format!("/console/ad/publish?{}", ad_query("car-1005")),
        "/console/plans".to_owned(),
        plan,
        "/console/paste".to_owned(),
        "/console/import".to_owned(),
        columns,
        compared,
        "/console/access".to_owned(),
        "/console/account".to_owned(),
        "/console/schedules".to_owned(),
        format!("/console/schedule?id={schedule}"),
        "/console/schedule/edit".to_owned(),
        format!("/console/schedule/edit?id={schedule}"),
        "/console/webhooks".to_owned(),
        format!("/console/webhook?id={webhook}"),
        "/console/requests".to_owned(),
        format!("/console/requests?id={request}"),
        "/console/developers".to_owned(),
    ];
    for page in &dealer {
        browser.open(&format!("{}{page}", client.base)).await;
        check(&browser, page, &mut faults).await;
    }
    // What only a form leads to.
    check_links_and_money(&browser, client, &mut faults).await;
    browser.open(&format!("{}/console/ad?{ad}", client.base)).await;
    browser.click("button[value=sold]").await;
    browser.until("!!document.querySelector('input[name=confirmed]')").await;
    check(&browser, "confirmation", &mut faults).await;
    assert_eq!(browser.complaints().await, [] as [String; 0]);
    browser.open(&format!("{}/console/new?type=car", client.base)).await;
    browser.click("button[value=save]").await;
    browser.until("!!document.querySelector('[aria-invalid=true]')").await;
    check(&browser, "form with errors", &mut faults).await;
    browser.open(&format!("{}/console/no/such/page", client.base)).await;
    check(&browser, "unknown page", &mut faults).await;
    browser.complains_of(&["400", "404"]).await;

    browser.open(&format!("{}/console/", client.base)).await;
    sign_in_as(&browser, &server.client_of(&["--dealer-code", "south-cars"]).await).await;
    browser.until("!!document.querySelector('#first-steps')").await;
    check(&browser, "first visit", &mut faults).await;
    sign_in_as(&browser, &server.client_of(&["--operator"]).await).await;
    for page in OPERATORS {
        let page = format!("/console/operators{page}");
        browser.open(&format!("{}{page}", client.base)).await;
        check(&browser, &page, &mut faults).await;
    }
    browser.open(&format!("{}/console/operators", client.base)).await;
    browser.click("button[value=pause]").await;
    browser.until("!!document.querySelector('input[name=confirmed]')").await;
    check(&browser, "pause", &mut faults).await;
    assert_eq!(browser.complaints().await, [] as [String; 0]);
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
