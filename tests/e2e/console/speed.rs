//! What pages cost in a browser. Bytes are checked; times are printed, as they depend on the machine.

use ad_tests::{Browser, ImageHost, Options, Server};

use super::{accessibility::stock, ad_query, browser::sign_in};

/// Most bytes of a page with its stylesheet and script, compressed.
const MOST_BYTES: u64 = 60_000;

/// Compressed bytes of the page, its stylesheet and its script; milliseconds until the first byte, and until its largest part is shown.
const FIGURES: &str = r#"new Promise((resolve) => {
  const page = performance.getEntriesByType("navigation")[0];
  const own = performance.getEntriesByType("resource").filter((it) => ["link", "script"].includes(it.initiatorType));
  const bytes = [page, ...own].map((it) => it.encodedBodySize);
  const figures = (shown) => resolve({ bytes, first: page.responseStart - page.requestStart, shown });
  new PerformanceObserver((list) => figures(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true });
  setTimeout(figures, 2000, null);
})"#;

#[tokio::test]
async fn pages_are_small() {
    let Some(browser) = Browser::start().await else { return };
    let args = vec!["--sandbox".to_owned()];
    let (server, images) = (Server::with(Options { args, ..Options::default() }).await, ImageHost::start().await);
    stock(&server, &images).await;
    sign_in(&browser, &server.client).await;
    let ad = format!("/console/ad?{}", ad_query("car-1002"));
    for path in ["/console/", "/console/stock", "/console/stock?view=cards", &ad, "/console/new?type=car"] {
        browser.open(&format!("{}{path}", server.client.base)).await;
        browser.until("document.readyState === 'complete'").await;
        let figures = browser.eval(FIGURES).await;
        let sizes = figures["bytes"].as_array().unwrap().iter().map(|bytes| bytes.as_u64().unwrap());
        let sizes: Vec<_> = sizes.collect();
        let in_ms = |name: &str| figures[name].as_f64().map_or_else(|| "?".to_owned(), |ms| format!("{ms:.0}"));
        println!("{path}: {sizes:?} bytes, first byte after {} ms, shown after {} ms", in_ms("first"), in_ms("shown"));
        assert!(sizes.len() == 3 && sizes.iter().all(|size| *size > 0), "page, stylesheet, script: {figures}");
        assert!(sizes.iter().sum::<u64>() < MOST_BYTES, "{path}: {figures}");
    }
}
