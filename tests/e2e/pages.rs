//! The pages of the service, in a browser: what a person can do on them, what they cost, and that they need nothing else.

use ad_tests::{Answer, Browser, Client, Cost, Options, Server, eventually};
use serde_json::{Value, json};

/// Most that a page of one vehicle type may cost.
const OF_ONE_TYPE: Cost = Cost { nodes: 30_000, heap: 32 << 20 };

/// Most that a page of the paths for several vehicle types may cost.
const OF_SEVERAL_TYPES: Cost = Cost { nodes: 30_000, heap: 50 << 20 };

async fn page(client: &Client, path: &str) -> (Answer, String) {
    let answer = client.with_token(None).get(path).await;
    assert_eq!(answer.status, 200, "{path}");
    let html = String::from_utf8_lossy(&answer.bytes).into_owned();
    (answer, html)
}

/// The addresses that a page names in an attribute.
pub(crate) fn named(html: &str, attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    html.split(&begin).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_load_nothing_from_elsewhere_and_have_a_policy() {
    let server = Server::start().await;
    for path in [
        "/",
        "/docs/",
        "/docs",
        "/docs/changelog",
        "/docs/errors/",
        "/docs/errors/required",
        "/docs/swagger-ui/",
        "/docs/redoc/",
        "/docs/swagger-ui",
        "/docs/redoc",
    ] {
        let (answer, html) = page(&server.client, path).await;
        let header = |name: &str| answer.header(name).unwrap_or_else(|| panic!("{path} has no {name}"));
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src '"), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'") && !policy.contains("http:"), "{policy}");
        assert_eq!((header("x-content-type-options"), header("referrer-policy")), ("nosniff", "no-referrer"));
        assert!(html.contains("width=device-width"), "{path} fits on phones");
        for source in named(&html, "src") {
            assert!(source.starts_with("../assets/"), "{path} loads {source}");
        }
        for link in html.split("<link").skip(1).map(|link| link.split('>').next().unwrap()) {
            assert!(link.contains("href=\"../assets/") || link.contains("href=\"data:,\""), "{path} loads {link}");
        }
    }
    let (answer, html) = page(&server.client, "/docs/swagger-ui/").await;
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'sha256-") && !policy.contains("'unsafe-eval'"), "{policy}");
    for (vehicle_type, _) in ad_core::categories::typed() {
        assert!(html.contains(&format!("<option value=\"{vehicle_type}\">")), "{vehicle_type} can be chosen");
    }
}

#[tokio::test]
async fn every_link_of_the_start_pages_leads_somewhere() {
    let server = Server::start().await;
    for path in ["/", "/docs/"] {
        let (_, html) = page(&server.client, path).await;
        assert!(html.contains(env!("CARGO_PKG_VERSION")) && html.contains("curl"), "{html}");
        let links = named(&html, "href");
        for expected in ["swagger-ui/", "redoc/", "errors/", "changelog", "openapi.json", "openapi-3.1.json"] {
            assert!(links.iter().any(|link| link.ends_with(expected)), "{path} has no link to {expected}");
        }
        let base: reqwest::Url = format!("{}{path}", server.client.base).parse().unwrap();
        for link in links.iter().filter(|link| !link.starts_with("https:") && !link.starts_with("data:")) {
            let address = base.join(link).unwrap();
            page(&server.client, address.path()).await;
        }
    }
}

#[tokio::test]
async fn documents_are_compressed_and_have_a_tag() {
    let server = Server::start().await;
    let http = reqwest::Client::new();
    let (_, html) = page(&server.client, "/docs/redoc/").await;
    let script = named(&html, "src").swap_remove(0).replace("..", "/docs");
    for path in ["/openapi.json", "/openapi.json?tag=car", "/docs/redoc/", &script] {
        let get = |headers: [(&'static str, String); 1]| {
            let [(name, value)] = headers;
            http.get(format!("{}{path}", server.client.base)).header(name, value).send()
        };
        let plain = get([("accept-encoding", "identity".to_owned())]).await.unwrap();
        let tag = plain.headers()["etag"].to_str().unwrap().to_owned();
        let size = plain.bytes().await.unwrap().len();
        for coding in ["gzip", "br"] {
            let coded = get([("accept-encoding", coding.to_owned())]).await.unwrap();
            assert_eq!(
                (&coded.headers()["content-encoding"], &coded.headers()["etag"]),
                (&coding.parse().unwrap(), &tag.parse().unwrap())
            );
            let coded = coded.bytes().await.unwrap().len();
            assert!(coded < size * 2 / 3, "{path} in {coding} has {coded} of {size} bytes");
        }
        let known = get([("if-none-match", tag)]).await.unwrap();
        assert_eq!((known.status().as_u16(), known.bytes().await.unwrap().len()), (304, 0), "{path}");
    }
    let asset = http.get(format!("{}{script}", server.client.base)).send().await.unwrap();
    assert!(asset.headers()["cache-control"].to_str().unwrap().contains("immutable"));
}

/// Opens a page and waits for an expression; prints how long that took.
async fn open(browser: &Browser, address: &str, is_there: &str, most: Cost) {
    browser.open(address).await;
    let took = browser.until(&format!("({is_there}) && Math.round(performance.now())")).await;
    let cost = browser.cost().await;
    println!("{address}: shown after {took} ms, {} nodes, {} MB heap", cost.nodes, cost.heap >> 20);
    assert!(cost.nodes < most.nodes && cost.heap < most.heap, "{address}: {cost:?}");
}

/// Executes an operation in Swagger UI as it is filled in; returns the address, the status and the body.
async fn execute(browser: &Browser, id: &str) -> (String, Value, Value) {
    let block = format!("#operations-{id}");
    browser.click(&format!("{block} .opblock-summary-control")).await;
    // Resolved: until then the button does nothing.
    browser.until(&format!("!!document.querySelector('{block} .responses-table .response')")).await;
    browser.click(&format!("{block} .execute")).await;
    let text = |selector: &str| format!("document.querySelector('{block} {selector}')?.innerText");
    let status = browser.until(&text(".live-responses-table tbody .response-col_status")).await;
    let body = browser.until(&text(".live-responses-table tbody .highlight-code code")).await;
    let address = browser.until(&text(".request-url pre")).await;
    let status = status.as_str().unwrap().split_whitespace().next().unwrap().parse::<u16>().unwrap();
    let body = body.as_str().unwrap();
    let body = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    (address.as_str().unwrap().trim().to_owned(), json!(status), body)
}

#[tokio::test]
async fn swagger_ui_is_quick_and_its_first_requests_succeed_unedited() {
    let Some(browser) = Browser::start().await else { return };
    let options = Options { args: vec!["--sandbox".to_owned()], strict_images: true, ..Options::default() };
    let server = Server::with(options).await;
    let base = &server.client.base;
    let is_there = "document.querySelectorAll('.opblock').length > 10";
    open(&browser, &format!("{base}/docs/swagger-ui/"), is_there, OF_ONE_TYPE).await;

    // The token, once.
    browser.click(".btn.authorize").await;
    browser.until("!!document.querySelector('.auth-container input')").await;
    let token = server.client.token.clone().unwrap();
    browser.fill(".auth-container input", &token).await;
    browser.click(".auth-btn-wrapper .authorize").await;
    browser.click(".auth-btn-wrapper .btn-done").await;

    let (_, status, ad) = execute(&browser, "car-create_car").await;
    let filled_in =
        "[...document.querySelectorAll('#operations-car-create_car .parameters input')].map(it => it.value).join('')";
    assert_eq!(browser.eval(filled_in).await, "", "a key that is filled in would be that of every request");
    assert_eq!((&status, &ad["source_id"]), (&json!(201), &json!("car-1001")), "{ad}");
    let published = eventually("the ad is published", || async {
        let ad = server.client.get("/v4/car/car-1001").await.expect(200);
        ad["marketplace_ad_id"].is_string().then_some(ad)
    });
    assert_eq!(published.await["image_refs"].as_array().unwrap().len(), 2, "with its photos");

    browser.reload().await;
    browser.until("!!document.querySelector('.btn.authorize.locked')").await;
    let (address, status, list) = execute(&browser, "car-list_car").await;
    assert_eq!((address, status), (format!("{base}/v4/car"), json!(200)), "no parameter is filled in");
    assert_eq!((&list["count"], &list["results"][0]["id"]), (&json!(1), &ad["id"]), "{list}");

    let shown = "[...document.querySelectorAll('.opblock-summary-path')].map(it => it.dataset.path).join()";
    browser.fill(".operation-filter-input", "pole_position").await;
    let path = "/v4/car/{source_id}/pole_position";
    browser.until(&format!("{shown} === '{path},{path}'")).await;

    // The next vehicle type needs no further token.
    browser.click("#tag option[value=boat]").await;
    browser.until("!!document.querySelector('#operations-boat-list_boat')").await;
    let (address, status, _) = execute(&browser, "boat-list_boat").await;
    assert_eq!((address, status), (format!("{base}/v4/boat"), json!(200)));
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn redoc_is_quick_and_its_search_finds_fields() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    for (tag, operation, most) in [
        ("car", "Renew an ad", OF_ONE_TYPE),
        ("ad", "Renew an ad", OF_SEVERAL_TYPES),
        ("common", "Create a webhook", OF_ONE_TYPE),
    ] {
        let is_there = format!(
            "document.body.innerText.includes('{operation}') && !!document.querySelector('[role=search] input')"
        );
        // What the page before has left over must not count.
        let Some(browser) = Browser::start().await else { return };
        open(&browser, &format!("{}/docs/redoc/?tag={tag}", server.client.base), &is_there, most).await;
    }
    browser.open(&format!("{}/docs/redoc/", server.client.base)).await;
    browser.until("!!document.querySelector('[role=search] input')").await;
    // The index is built after the page.
    let found = "[...document.querySelectorAll('[role=search] li')].map(it => it.innerText).join()";
    browser.fill("[role=search] input", "mileage").await;
    let found = browser.until(found).await;
    assert!(found.as_str().unwrap().contains("Create an ad"), "{found}");
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn the_start_page_shows_its_own_address_in_the_sample() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    for path in ["/", "/docs/"] {
        browser.open(&format!("{}{path}", server.client.base)).await;
        let sample = browser.until("document.getElementById('sample')?.innerText").await;
        assert!(sample.as_str().unwrap().starts_with(&format!("export AD_URL={} ", server.client.base)), "{sample}");
        let too_wide = browser.eval("document.documentElement.scrollWidth > innerWidth").await;
        assert_eq!(too_wide, json!(false), "{path}");
    }
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn pages_are_not_wider_than_a_phone() {
    let Some(browser) = Browser::start().await else { return };
    browser.become_phone().await;
    let server = Server::start().await;
    for (path, is_there) in [
        ("/", "document.getElementById('sample')?.innerText"),
        ("/docs/errors/", "document.readyState === 'complete'"),
        ("/docs/changelog", "document.readyState === 'complete'"),
        ("/docs/swagger-ui/", "document.querySelectorAll('.opblock').length > 10"),
        ("/docs/redoc/", "document.body.innerText.includes('Renew an ad')"),
    ] {
        browser.open(&format!("{}{path}", server.client.base)).await;
        browser.until(&format!("location.pathname === '{path}' && ({is_there})")).await;
        let width = browser.eval("document.documentElement.scrollWidth").await;
        assert_eq!(width, json!(390), "{path}");
    }
}
