//! What pages cost in a browser. Bytes are checked; times are printed, as they depend on the machine.

use std::time::{Duration, Instant};

use ad_tests::{Browser, ImageHost, Options, Server, eventually};
use futures_util::{StreamExt, stream};
use serde_json::json;

use super::{Visitor, accessibility::stock, ad_query, browser::sign_in, money::agree};
use crate::payloads::plain_car;

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

/// Ads of the large dealer that is measured.
const MANY: usize = 3000;

/// Waits up to some minutes for a text on a page.
async fn waits(visitor: &Visitor, page: &str, text: &str) -> Duration {
    let begin = Instant::now();
    while !visitor.page(page).await.contains(text) {
        assert!(begin.elapsed() < Duration::from_mins(10), "{page}: {text}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    begin.elapsed()
}

#[tokio::test]
#[ignore = "measures"]
async fn a_dealer_with_three_thousand_ads() {
    let server = Server::start().await;
    agree(&server, "bump = 20").await;
    let create = |number: usize| {
        let client = server.client.clone();
        async move {
            let mut car = plain_car(&format!("many-{number}"), &format!("M{:05}", number % 100_000));
            car["category_fields"]["brand"] = json!(["volvo", "audi", "saab", "bmw", "kia"][number % 5]);
            car["price"] = json!([{"type": "list", "amount": 100_000 + number}]);
            car["body"] = json!("En fin bil med mycket utrustning och full servicehistorik. ".repeat(20));
            client.post("/v4/car", &car).await.expect(201);
        }
    };
    stream::iter(0..MANY).for_each_concurrent(16, create).await;
    eventually("some are live", async || {
        let live = server.client.get("/v4/ad?status=live&limit=1").await.expect(200);
        (live["count"].as_u64() > Some(100)).then_some(())
    })
    .await;
    let begin = Instant::now();
    loop {
        let live = server.client.get("/v4/ad?status=live&limit=1").await.expect(200)["count"].as_u64();
        if live == Some(MANY as u64) || begin.elapsed() > Duration::from_mins(10) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let visitor = Visitor::signed_in(&server.client).await;
    for query in [
        "",
        "?brand=volvo&price__gte=101000",
        "?photos=none",
        "?ordering=amount",
        "?ordering=-quality_score",
        "?q=volvo",
    ] {
        let mut times = Vec::new();
        for _ in 0..5 {
            let begin = Instant::now();
            visitor.page(&format!("/console/stock{query}")).await;
            times.push(begin.elapsed().as_millis());
        }
        println!("/console/stock{query}: {times:?} ms");
    }
    if let Some(browser) = Browser::start().await {
        sign_in(&browser, &server.client).await;
        for _ in 0..3 {
            browser.open(&format!("{}/console/stock", server.client.base)).await;
            browser.until("document.readyState === 'complete'").await;
            println!("in the browser: {}", browser.eval(FIGURES).await);
        }
    }
    let form = [("change", "price"), ("matching", ""), ("by", "-5"), ("unit", "percent"), ("round", "")];
    let begin = Instant::now();
    let plan = visitor.post("/console/bulk", &form).await.header("location").unwrap().to_owned();
    println!("prices: plan made after {:?}", begin.elapsed());
    waits(&visitor, &plan, "Not made yet").await;
    let begin = Instant::now();
    visitor.post(&plan, &[("do", "apply")]).await;
    let mut accepted = None;
    while accepted.is_none() {
        let id = plan.split_once("id=").unwrap().1;
        let answer = server.client.get(&format!("/v4/stock/plans/{id}")).await.expect(200);
        accepted = (answer["state"] == "applied").then(|| begin.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    println!(
        "prices: all accepted after {accepted:?}, done after {:?} more",
        waits(&visitor, &plan, "3\u{202f}000 done").await
    );
    let begin = Instant::now();
    let all = [("change", "bump"), ("matching", "")];
    let question = super::html(&visitor.post("/console/bulk", &all).await);
    println!("bump: question after {:?}", begin.elapsed());
    assert!(question.contains("120\u{202f}000 SEK"), "{question}");
    let confirmed = [&all[..], &[("confirmed", "yes"), ("count", "3000"), ("sum", "120000")]].concat();
    let schedule = visitor.post("/console/bulk", &confirmed).await.header("location").unwrap().to_owned();
    println!("bump: all ordered after {:?}", waits(&visitor, &schedule, "at-rest\">Over<").await);
    let form = [("change", "sold"), ("matching", "")];
    let plan = visitor.post("/console/bulk", &form).await.header("location").unwrap().to_owned();
    waits(&visitor, &plan, "Mark as sold").await;
    visitor.post(&plan, &[("do", "apply"), ("allow_removals", "3000")]).await;
    println!("sold: all hidden after {:?}", waits(&visitor, &plan, "3\u{202f}000 done").await);
}
