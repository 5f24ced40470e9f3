//! The stock of many ads: filters that read what ads say, saved views, a bump and a sale of all ads that match, and photos of versions.

use ad_tests::{Browser, ImageHost, Options, Server, eventually};
use serde_json::{Value, json};

use super::{Visitor, ad_query, browser::sign_in, html, money::agree};
use crate::payloads::plain_car;

/// Cars `f-1` to `f-4` of several brands, prices and photos.
async fn stock(server: &Server, images: &ImageHost) {
    let photos = |names: &[&str]| json!(names.iter().map(|name| images.url(name)).collect::<Vec<_>>());
    let cars = [
        ("f-1", "volvo", json!([{"type": "list", "amount": 200_000}]), photos(&["1.jpg", "2.jpg"])),
        ("f-2", "volvo", json!([{"type": "list", "amount": 210_000}]), photos(&["1.jpg"])),
        ("f-3", "audi", json!([{"type": "leasing", "amount": 3000}]), photos(&[])),
        ("f-4", "saab", json!([{"type": "list", "amount": 100_000}]), photos(&["missing.jpg"])),
    ];
    for (number, (source_id, brand, price, photos)) in cars.into_iter().enumerate() {
        let mut car = plain_car(source_id, &format!("FLT00{number}"));
        car["category_fields"]["brand"] = json!(brand);
        (car["price"], car["image_urls"]) = (price, photos);
        server.client.post("/v4/car", &car).await.expect(201);
        server.client.ended(source_id, "publish", None).await;
    }
    let reduced = json!({"price": [{"type": "list", "amount": 210_000}, {"type": "reduced", "amount": 149_900.5}]});
    server.client.patch("/v4/car/f-2", &reduced).await.expect(200);
}

/// The ads of the page, in their order.
fn shown(page: &str) -> Vec<String> {
    let marks = page.match_indices("data-select aria-label").map(|(at, _)| at);
    let id = |at: usize| {
        let before = &page[..at];
        let start = before.rfind("source_id=").unwrap() + "source_id=".len();
        before[start..].split('&').next().unwrap().to_owned()
    };
    marks.map(id).collect()
}

#[tokio::test]
async fn the_stock_is_filtered_by_brand_price_and_photos_and_sorted_by_price_and_quality() {
    let images = ImageHost::start().await;
    let server = Server::start().await;
    stock(&server, &images).await;
    let visitor = Visitor::signed_in(&server.client).await;
    let page = visitor.page("/console/stock").await;
    for offered in ["<option value=\"audi\">Audi</option>", "<option value=\"saab\">Saab</option>", "Price below"] {
        assert!(page.contains(offered), "{offered}: {page}");
    }
    assert!(!page.contains("value=\"bmw\""), "only brands that the dealer has: {page}");
    for (query, expected) in [
        ("brand=volvo", "f-2 f-1"),
        ("brand=volvo&price__lt=150+000+kr", "f-2"),
        ("price__gte=100000&ordering=amount", "f-4 f-2 f-1"),
        ("ordering=-amount", "f-1 f-2 f-4 f-3"),
        ("photos=none", "f-3"),
        ("photos=5&brand=volvo", "f-2 f-1"),
        ("photos=failed", "f-4"),
        ("image_count__gte=2", "f-1"),
        ("brand=bmw", ""),
    ] {
        let page = visitor.page(&format!("/console/stock?{query}")).await;
        assert_eq!(shown(&page).join(" "), expected, "{query}");
        assert!(page.contains("id=\"more-filters\""), "{query}");
    }
    let page = visitor.page("/console/stock?ordering=quality_score").await;
    assert!(page.contains("aria-sort=\"ascending\""), "{page}");
    assert_eq!(shown(&page).len(), 4);
    let wrong = visitor.get("/console/stock?price__gte=cheap").await;
    let page = html(&wrong);
    assert_eq!(wrong.status, 400, "{page}");
    assert!(page.contains("id=\"error-price__gte\" role=\"alert\">Write a number, such as 200 000."), "{page}");
    assert_eq!(shown(&page).len(), 4, "the list is as without the filter: {page}");
    // The same in the API, in a stock plan and for the command line.
    let listed = server.client.get("/v4/ad?brand=volvo&price__lt=150000&image_count__lt=2").await.expect(200);
    assert_eq!((&listed["count"], &listed["results"][0]["source_id"]), (&json!(1), &json!("f-2")));
}

#[tokio::test]
async fn a_view_is_saved_under_a_name_found_again_and_deleted() {
    let server = Server::start().await;
    let mut visitor = Visitor::signed_in(&server.client).await;
    let page = visitor.page("/console/stock?status=failed&ordering=amount&offset=50&days=").await;
    assert!(page.contains("name=\"query\" value=\"status=failed&amp;ordering=amount\""), "{page}");
    let name = "Dåliga & \"dyra\"; <b>";
    let saved = visitor.post("/console/views", &[("name", name), ("query", "status=failed&ordering=amount")]).await;
    assert_eq!(saved.header("location"), Some("/console/stock?status=failed&ordering=amount"));
    visitor.keep_cookies(&saved);
    let page = visitor.page("/console/stock").await;
    let link = "href=\"/console/stock?status=failed&amp;ordering=amount\">Dåliga &amp; &quot;dyra&quot;; &lt;b&gt;</a>";
    assert!(page.contains(link), "{page}");
    // Another dealer in the same browser has other views.
    let mut south = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    south.keep_cookies(&saved);
    assert!(!south.page("/console/stock").await.contains("Dåliga"));

    assert_eq!(visitor.post("/console/views", &[("name", " "), ("query", "q=a")]).await.status, 400);
    let long = "x".repeat(3600);
    let full = visitor.post("/console/views", &[("name", "long"), ("query", &format!("q={long}"))]).await;
    assert!(full.header("location").unwrap().ends_with("&views=full") && full.header("set-cookie").is_none());
    let full = visitor.page("/console/stock?views=full").await;
    assert!(full.contains("There is no room for another view"), "{full}");
    let gone = visitor.post("/console/views", &[("delete", name), ("query", "")]).await;
    visitor.keep_cookies(&gone);
    assert!(!visitor.page("/console/stock").await.contains("Dåliga"));
    let foreign = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    assert_eq!(visitor.post_from("/console/views", &[("name", "a"), ("query", "")], &foreign).await.status, 403);
}

/// Cars `m-0` to `m-(count - 1)` that are live.
async fn many(server: &Server, count: usize) {
    for number in 0..count {
        let car = plain_car(&format!("m-{number}"), &format!("MNA{number:03}"));
        server.client.post("/v4/car", &car).await.expect(201);
    }
    for number in 0..count {
        server.client.published(&format!("m-{number}")).await;
    }
}

/// The value of a hidden input.
fn hidden<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("type=\"hidden\" name=\"{name}\" value=\"")).expect(name);
    rest.split('"').next().unwrap()
}

#[tokio::test]
async fn all_ads_that_match_are_bumped_for_the_sum_that_was_shown() {
    let server = Server::start().await;
    agree(&server, "bump = 20").await;
    many(&server, 6).await;
    server.client.patch("/v4/car/m-0", &json!({"visible": false})).await.expect(200);
    server.client.ended("m-0", "unpublish", None).await;
    let visitor = Visitor::signed_in(&server.client).await;
    let all = [("change", "bump"), ("matching", "")];
    let question = html(&visitor.post("/console/bulk", &all).await);
    for expected in ["Bump all that match (5 ads)?", "200 SEK", "Left out: 1", "hidden"] {
        assert!(question.contains(expected), "{expected}: {question}");
    }
    assert_eq!((hidden(&question, "count"), hidden(&question, "sum")), ("5", "200"));
    let account = server.client.get("/v4/account").await.expect(200);
    assert_eq!(account["budget"]["spent"], json!(0), "a question orders nothing: {account}");

    // An ad that is shown meanwhile was not in the sum.
    server.client.patch("/v4/car/m-0", &json!({"visible": true})).await.expect(200);
    server.client.published("m-0").await;
    let confirmed = [("change", "bump"), ("matching", ""), ("confirmed", "yes"), ("count", "5"), ("sum", "200")];
    let made = visitor.post("/console/bulk", &confirmed).await;
    assert_eq!(made.status, 303, "{}", html(&made));
    let schedule = made.header("location").unwrap().to_owned();
    let page = eventually("the run has ended", async || {
        let page = visitor.page(&schedule).await;
        page.contains("Ordered: 5").then_some(page)
    })
    .await;
    assert!(page.contains("once") && page.contains("200 SEK"), "{page}");
    eventually("the schedule is over", async || {
        visitor.page(&schedule).await.contains("at-rest\">Over<").then_some(())
    })
    .await;
    eventually("the bumps are charged", async || {
        let account = server.client.get("/v4/account").await.expect(200);
        (account["budget"]["spent"] == 200 && account["budget"]["reserved"] == 0).then_some(())
    })
    .await;
    let schedules = server.client.get("/v4/promotions").await.expect(200);
    assert_eq!(schedules["results"][0]["next_run"], Value::Null, "it runs once");

    // Of a group, the ads are of one dealer; who may not promote may not ask.
    let group = Visitor::with_token(&server, &["--dealer-group", "north"]).await;
    let answer = group.post("/console/bulk", &all).await;
    assert_eq!(answer.status, 400, "{}", html(&answer));
    let one = [("change", "bump"), ("matching", "dealer_code=north-cars")];
    assert_eq!(group.post("/console/bulk", &one).await.status, 200);
    let writer = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read,write"]).await;
    assert_eq!(writer.post("/console/bulk", &all).await.status, 403);
    assert!(!writer.page("/console/stock").await.contains("value=\"bump\""));
    // Ticked ads have the question of before.
    let ticked = [("change", "bump"), ("ad", &*ad_query("m-1"))];
    let question = html(&visitor.post("/console/bulk", &ticked).await);
    assert!(question.contains("action=\"/console/act\"") && question.contains("charged again"), "{question}");
}

#[tokio::test]
async fn a_run_leads_to_all_its_ads() {
    let server = Server::start().await;
    agree(&server, "bump = 20").await;
    many(&server, 28).await;
    let visitor = Visitor::signed_in(&server.client).await;
    let confirmed = [("change", "bump"), ("matching", ""), ("confirmed", "yes"), ("count", "28"), ("sum", "1120")];
    let schedule = visitor.post("/console/bulk", &confirmed).await.header("location").unwrap().to_owned();
    eventually("the run has ended, and each ad is a link", async || {
        let page = visitor.page(&schedule).await;
        let (_, runs) = page.split_once("id=\"runs\"")?;
        (runs.contains("Ordered: 28") && runs.matches("href=\"/console/ad?source_id=m-").count() == 28).then_some(())
    })
    .await;
}

#[tokio::test]
async fn all_ads_that_match_are_sold_and_deleted_later() {
    let args = ["--sold-kept", "10s"].map(str::to_owned).to_vec();
    let mut server = Server::with(Options { args, ..Options::default() }).await;
    many(&server, 8).await;
    let visitor = Visitor::signed_in(&server.client).await;
    let all = [("change", "sold"), ("matching", "q=mna")];
    eventually("the words are in the index", async || {
        let listed = server.client.get("/v4/ad?q=mna").await.expect(200);
        (listed["count"] == 8).then_some(())
    })
    .await;
    let made = visitor.post("/console/bulk", &all).await;
    assert_eq!(made.status, 303, "{}", html(&made));
    let plan = made.header("location").unwrap().to_owned();
    let preview = visitor.page(&plan).await;
    assert!(preview.contains("These ads are sold") && preview.contains("Mark as sold"), "{preview}");
    assert!(preview.contains("name=\"allow_removals\" value=\"8\""), "the removals have to be allowed: {preview}");
    assert_eq!(visitor.post(&plan, &[("do", "apply")]).await.status, 409);
    // One that somebody has changed stays as it is.
    server.client.patch("/v4/car/m-7", &json!({"body": "Ny text"})).await.expect(200);
    assert_eq!(visitor.post(&plan, &[("do", "apply"), ("allow_removals", "8")]).await.status, 303);
    eventually("seven are done", async || visitor.page(&plan).await.contains("7 done").then_some(())).await;
    // The list of changes says what each was, and the plan which ad it has left.
    assert!(visitor.page("/console/plans").await.contains(">Mark as sold, <time"));
    assert!(visitor.page(&plan).await.contains("&amp;outcome=conflict\""));
    let left = visitor.page(&format!("{plan}&outcome=conflict")).await;
    assert!(left.contains("source_id=m-7") && !left.contains("source_id=m-6"), "{left}");
    let ad = format!("/console/ad?{}", ad_query("m-1"));
    eventually("the ad is sold", async || visitor.page(&ad).await.contains("Sold.").then_some(())).await;
    let undone = [("action", "unsold"), ("ad", &*ad_query("m-1")), ("next", "/stock")];
    assert_eq!(visitor.post("/console/act", &undone).await.status, 303);
    // Somebody hides the ad that was not sold, for another reason.
    server.client.patch("/v4/car/m-7", &json!({"visible": false})).await.expect(200);
    server.kill().await;
    server.restart().await;
    for source_id in ["m-0", "m-2", "m-6"] {
        server.client.ended(source_id, "delete", None).await;
    }
    for (source_id, is_visible) in [("m-1", true), ("m-7", false)] {
        let ad = server.client.ad(source_id).await;
        assert_eq!((&ad["state"], &ad["visible"]), (&json!("created"), &json!(is_visible)), "{source_id}");
    }
}

#[tokio::test]
async fn the_timeline_shows_the_photos_before_and_after_a_change() {
    let images = ImageHost::start().await;
    let server = Server::start().await;
    let photo = |name: &str| images.url(name);
    let mut car = plain_car("h-1", "HST001");
    car["image_urls"] = json!([photo("1.jpg"), photo("2.jpg")]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("h-1").await;
    let changed = json!({"image_urls": [photo("3.jpg"), photo("1.jpg")]});
    let answer = server.client.patch("/v4/car/h-1", &changed).await;
    server.client.ended("h-1", "handle_media", answer.header("x-request-id")).await;
    let visitor = Visitor::signed_in(&server.client).await;
    let page = visitor.page(&format!("/console/ad?{}", ad_query("h-1"))).await;
    let (_, part) = page.split_once("class=\"before-after\"").expect("the photos of the change");
    let (before, after) = part.split_once("After (2)").expect("both sides");
    let after = after.split("</ol>").next().unwrap();
    assert!(before.contains("Before (2)") && before.contains("class=\"removed\" title=\""), "{before}");
    assert!(before.contains("2 <strong>Removed</strong>") && !before.contains("Added"), "{before}");
    assert!(after.contains("1 <strong>Added</strong>") && !after.contains("Removed"), "{after}");
    assert_eq!(
        before.matches("The picture is not kept").count(),
        1,
        "the removed photo says why it is not seen: {before}"
    );
    assert!(
        page.contains("Changed: Photos") && !page.contains("<code class=\"faint\">"),
        "no names of programs: {page}"
    );
    assert_eq!(page.matches("class=\"before-after\"").count(), 1, "the first version has nothing before it");
}

#[tokio::test]
async fn dates_are_said_in_words_and_the_header_is_one_line() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    // Without scripts, when the form is checked.
    for (language, expected) in [("en", "31 May 2027"), ("sv", "31 maj 2027")] {
        let mut visitor = visitor.clone();
        visitor.keep_cookies(&visitor.post("/console/language", &[("language", language), ("next", "/")]).await);
        let form = [("category_fields.in_traffic_date", "2027-05-31"), ("do", "check")];
        let page = html(&visitor.post("/console/new?type=car", &form).await);
        assert!(page.contains(&format!("data-date>{expected}</span>")), "{page}");
        let form =
            [("kind", "bump"), ("at", "08:00"), ("until", "2027-05-31"), ("most_per_run", "501"), ("do", "check")];
        let page = html(&visitor.post("/console/schedule/edit", &form).await);
        assert!(page.contains(&format!("data-date>{expected}</span>")), "{page}");
        let said = if language == "en" {
            "Write a whole number from 1 to 500."
        } else {
            "Skriv ett helt tal från 1 till 500."
        };
        assert!(page.contains(said), "{page}");
        assert_eq!(language == "en", page.contains("Write a"), "{page}");
    }
    let Some(browser) = Browser::start().await else { return };
    sign_in(&browser, &server.client).await;
    browser.resize(1280, 900).await;
    browser.open(&format!("{}/console/schedule/edit", server.client.base)).await;
    let say = "(() => { const input = document.querySelector('#until'); input.value = '2027-05-31'; \
        input.dispatchEvent(new Event('input', { bubbles: true })); return input.parentElement.textContent.trim(); })()";
    assert_eq!(browser.eval(say).await, json!("31 May 2027"));
    // It does not run in under the next field.
    let long = say.replace("2027-05-31", "2026-12-24");
    for width in [1280, 390] {
        browser.resize(width, 900).await;
        browser.eval(&long).await;
        let fits = "[...document.querySelectorAll('.date-words')].every((words) => \
            words.getBoundingClientRect().right <= words.closest('.field').getBoundingClientRect().right)";
        assert_eq!(browser.eval(fits).await, json!(true), "{width}");
    }
    browser.resize(1280, 900).await;
    browser.fill("#budget", "much").await;
    browser.click("button[value=check]").await;
    browser.until("document.activeElement.matches('.notice.error') && !!document.querySelector('.field-error')").await;
    browser.click(".notice.error a").await;
    browser.until("document.activeElement.id === 'budget'").await;
    let lines = "document.querySelector('header.top').getBoundingClientRect().height < 64";
    assert_eq!(browser.eval(lines).await, json!(true), "the header is one line");
}

#[tokio::test]
async fn what_a_request_says_is_shown_once_in_words() {
    let images = ImageHost::start().await;
    let server = Server::start().await;
    let mut car = plain_car("q-1", "REQ001");
    car["image_urls"] = json!([images.url("missing.jpg")]);
    let answer = server.client.post("/v4/car", &car).await;
    let request = answer.header("x-request-id").unwrap().to_owned();
    server.client.ended("q-1", "publish", None).await;
    let visitor = Visitor::signed_in(&server.client).await;
    let page = visitor.page(&format!("/console/requests?id={request}")).await;
    let (open, _) = page.split_once("<summary>Message as JSON</summary>").expect("a folded message");
    assert!(open.contains("missing.jpg") && !open.contains("<pre"), "{page}");
}
