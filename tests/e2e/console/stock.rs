//! The stock: finding, one change of many ads, sold ads and copies, without scripts.

use ad_tests::{Options, Postgres, Server, eventually};
use serde_json::{Value, json};

use super::{Visitor, ad_query, editor::form_of, encoded, html};
use crate::payloads::plain_car;

fn key(source_id: &str) -> String {
    encoded(&[("source_id", source_id), ("dealer_code", "north-cars")])
}

/// Cars `b-1` to `b-9`, with prices of 100,000 and more.
async fn stock(server: &Server) {
    for number in 1..=9 {
        let mut car = plain_car(&format!("b-{number}"), &format!("BLK00{number}"));
        car["price"] = json!([{"type": "list", "amount": 100_000 + number * 1000}]);
        server.client.post("/v4/car", &car).await.expect(201);
    }
    for number in 1..=9 {
        server.client.published(&format!("b-{number}")).await;
    }
}

async fn price(server: &Server, source_id: &str) -> Value {
    server.client.ad(source_id).await["price"][0]["amount"].clone()
}

#[tokio::test]
async fn prices_of_many_ads_change_after_a_preview() {
    let server = Server::start().await;
    stock(&server).await;
    let visitor = Visitor::signed_in(&server.client).await;
    let page = visitor.page("/console/stock").await;
    assert!(page.contains("All that match (9)"), "{page}");

    // Two that are ticked, by an amount.
    let ticked = [("change", "price"), ("ad", &*key("b-1")), ("ad", &*key("b-2"))];
    let asked = html(&visitor.post("/console/bulk", &ticked).await);
    assert!(asked.contains("name=\"by\""), "{asked}");
    for (by, round) in [("", ""), ("much", ""), ("0", ""), ("-101", "")] {
        let wrong = [&ticked[..], &[("by", by), ("unit", "percent"), ("round", round)]].concat();
        assert_eq!(visitor.post("/console/bulk", &wrong).await.status, 400, "{by}");
    }
    for (unit, by, says) in [("percent", "-500", "more than -100 and at most 1000"), ("amount", "0", "Write an amount")]
    {
        let wrong = [&ticked[..], &[("by", by), ("unit", unit), ("round", "")]].concat();
        let page = html(&visitor.post("/console/bulk", &wrong).await);
        assert!(page.contains(says), "{page}");
    }
    let change = [&ticked[..], &[("by", "−5 000 kr"), ("unit", "amount"), ("round", "")]].concat();
    let made = visitor.post("/console/bulk", &change).await;
    assert_eq!(made.status, 303, "{}", html(&made));
    let plan = made.header("location").unwrap().to_owned();
    let preview = visitor.page(&plan).await;
    for expected in ["101\u{202f}000 SEK", "96\u{202f}000 SEK", "BLK001", "Not made yet", "2 change"] {
        assert!(preview.contains(expected), "{expected}: {preview}");
    }
    assert_eq!(price(&server, "b-1").await, 101_000, "a preview changes nothing");
    let nothing = visitor.post(&plan.replace("/plan?", "/plan/take-back?"), &[]).await;
    assert_eq!(nothing.header("location"), Some(&*plan), "what was not made is not taken back");
    assert_eq!(visitor.post(&plan, &[("do", "apply")]).await.status, 303);
    eventually("the prices are lower", async || (price(&server, "b-2").await == 97_000).then_some(())).await;
    eventually("the plan is done", async || visitor.page(&plan).await.contains("2 done").then_some(())).await;
    let plans = visitor.page("/console/plans").await;
    assert!(plans.contains(&plan) && plans.contains(">Change price (≈ −5 %), <time"), "it is found again: {plans}");

    // All that match, by a percentage; what somebody else changes meanwhile is left.
    eventually("all are live, and found by their words", async || {
        let found = visitor.page("/console/stock?status=live&q=blk00").await;
        found.contains("All that match (9)").then_some(())
    })
    .await;
    let matching = [
        ("change", "price"),
        ("matching", "status=live&ordering=created&q=blk00"),
        ("by", "-5"),
        ("unit", "percent"),
        ("round", "100"),
    ];
    let made = visitor.post("/console/bulk", &matching).await;
    let plan = made.header("location").unwrap().to_owned();
    let other = json!({"price": [{"type": "list", "amount": 1}]});
    server.client.patch("/v4/car/b-3", &other).await.expect(200);
    visitor.post(&plan, &[("do", "apply")]).await;
    eventually("all but one are done", async || {
        let page = visitor.page(&plan).await;
        (page.contains("8 done") && page.contains("changed meanwhile by others")).then_some(())
    })
    .await;
    assert_eq!((price(&server, "b-9").await, price(&server, "b-3").await), (json!(103_600), json!(1)));

    // It is taken back, but for what somebody has changed since.
    let since = json!({"price": [{"type": "list", "amount": 2}]});
    let answer = server.client.patch("/v4/car/b-4", &since).await;
    server.client.ended("b-4", "publish", answer.header("x-request-id")).await;
    assert!(visitor.page(&plan).await.contains("Take back…"));
    let back =
        visitor.post(&plan.replace("/plan?", "/plan/take-back?"), &[]).await.header("location").unwrap().to_owned();
    let preview = visitor.page(&back).await;
    let left = "Not taken back, because they have been changed since: 1 (<a href=\"/console/stock?q=b-4\">b-4</a>)";
    for expected in [left, ">Take back</h1>", "7 change", "103\u{202f}600 SEK", "109\u{202f}000 SEK"] {
        assert!(preview.contains(expected), "{expected}: {preview}");
    }
    assert!(!preview.contains("Row "), "it is of no file: {preview}");
    visitor.post(&back, &[("do", "apply")]).await;
    eventually("it is taken back", async || visitor.page(&back).await.contains("7 done").then_some(())).await;
    assert_eq!((price(&server, "b-9").await, price(&server, "b-4").await), (json!(109_000), json!(2)));
    assert!(visitor.page("/console/plans").await.contains(">Taken back, <time"));

    // Many that are hidden have to be allowed.
    let hide = [("change", "hide"), ("matching", "")];
    let plan = visitor.post("/console/bulk", &hide).await.header("location").unwrap().to_owned();
    assert_eq!(visitor.post(&plan, &[("do", "apply")]).await.status, 409);
    visitor.post(&plan, &[("do", "apply"), ("allow_removals", "9")]).await;
    server.client.ended("b-5", "unpublish", None).await;
    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read"]).await;
    assert_eq!(reader.post("/console/bulk", &hide).await.status, 403);
    let south = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    assert_eq!(south.get(&plan).await.status, 404, "a plan of another dealer");
}

#[tokio::test]
async fn what_a_marketplace_refused_is_taken_back_too() {
    let server = Server::with(Options { args: vec!["--sandbox".to_owned()], ..Options::default() }).await;
    let mut car = plain_car("fault-refused-9", "BLK010");
    car["price"] = json!([{"type": "list", "amount": 100_000}]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.ended("fault-refused-9", "publish", None).await;
    let visitor = Visitor::signed_in(&server.client).await;
    let key = key("fault-refused-9");
    let change = [("change", "price"), ("ad", &key), ("by", "-5"), ("unit", "percent"), ("round", "")];
    let plan = visitor.post("/console/bulk", &change).await.header("location").unwrap().to_owned();
    visitor.post(&plan, &[("do", "apply")]).await;
    eventually("it has failed", async || visitor.page(&plan).await.contains("1 failed").then_some(())).await;
    assert_eq!(price(&server, "fault-refused-9").await, 95_000, "the ad has the price nevertheless");
    let back = visitor.post(&plan.replace("/plan?", "/plan/take-back?"), &[]).await;
    let back = back.header("location").unwrap_or_else(|| panic!("{}", html(&back))).to_owned();
    visitor.post(&back, &[("do", "apply")]).await;
    let as_before = async || (price(&server, "fault-refused-9").await == 100_000).then_some(());
    eventually("it has the price of before", as_before).await;
}

#[tokio::test]
async fn a_sold_ad_is_hidden_and_deleted_later_unless_that_is_undone() {
    let options = Options { args: ["--sold-kept", "3s"].map(str::to_owned).to_vec(), ..Options::default() };
    let mut server = Server::with(options).await;
    for (source_id, plate) in [("s-1", "SLD001"), ("s-2", "SLD002"), ("s-3", "SLD003")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.published(source_id).await;
    }
    let visitor = Visitor::signed_in(&server.client).await;
    let sell = |source_id: &str| [("action", "sold".to_owned()), ("ad", key(source_id)), ("next", "/stock".to_owned())];
    let asked = sell("s-1");
    let asked: Vec<_> = asked.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let question = html(&visitor.post("/console/act", &asked).await);
    for expected in ["SLD001", "Only hide it for now", "“Not sold after all”", "It will be deleted after"] {
        assert!(question.contains(expected), "{expected}: {question}");
    }
    for source_id in ["s-1", "s-2", "s-3"] {
        let form = sell(source_id);
        let mut form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        form.push(("confirmed", "yes"));
        assert_eq!(visitor.post("/console/act", &form).await.status, 303);
        assert_eq!(server.client.ad(source_id).await["visible"], false);
    }
    let page = visitor.page(&format!("/console/ad?{}", ad_query("s-1"))).await;
    assert!(page.contains("Sold.") && page.contains("value=\"unsold\""), "{page}");
    assert!(page.contains("<span class=\"badge at-rest\">Sold</span>"), "{page}");
    let undone = [("action", "unsold"), ("ad", &*key("s-1")), ("next", "/stock")];
    assert_eq!(visitor.post("/console/act", &undone).await.status, 303);
    // Shown again through the API.
    server.client.patch("/v4/car/s-2", &json!({"visible": true})).await.expect(200);

    // The process is killed before the time has come.
    server.kill().await;
    server.restart().await;
    server.client.ended("s-3", "delete", None).await;
    for source_id in ["s-1", "s-2"] {
        let ad = server.client.ad(source_id).await;
        assert_eq!((&ad["state"], &ad["visible"]), (&json!("created"), &json!(true)), "{source_id}");
    }
}

#[tokio::test]
async fn an_ad_is_found_by_plate_and_words_and_copied() {
    let server = Server::start().await;
    let mut car = plain_car("c 1", "FND123");
    car["category_fields"]["brand"] = json!("volvo");
    car["category_fields"]["model"] = json!("v60");
    car["price"] = json!([{"type": "list", "amount": 99_000}]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.post("/v4/car", &plain_car("other", "OTH001")).await.expect(201);
    server.client.published("c 1").await;
    let visitor = Visitor::signed_in(&server.client).await;
    for words in ["fnd+12", "v60+volvo", "c+1"] {
        eventually("the words are in the index", async || {
            let page = visitor.page(&format!("/console/stock?q={words}")).await;
            (page.contains("FND123") && !page.contains("OTH001")).then_some(())
        })
        .await;
    }
    // A copy is about another vehicle, unless the ad is no more.
    for (plate, is_said) in [("", true), ("FND123", false)] {
        let copy = visitor.page(&format!("/console/new?type=car&{}", ad_query("c 1"))).await;
        assert_eq!(copy.contains("A copy, without plate"), is_said, "{copy}");
        let form = form_of(&copy);
        for (name, value) in [
            ("source_id", ""),
            ("category_fields.registration_number", plate),
            ("category_fields.model", "V60"),
            ("price.0.amount", "99000"),
        ] {
            assert!(form.contains(&(name.to_owned(), value.to_owned())), "{name}: {form:?}");
        }
        server.client.delete("/v4/car/c 1").await;
        server.client.ended("c 1", "delete", None).await;
    }
}

#[tokio::test]
async fn drafts_sold_and_hidden_ads_are_told_apart() {
    told_apart(&Server::start().await).await;
    let Some(postgres) = Postgres::shared().await else { return };
    let args = vec!["--database-url".to_owned(), postgres.database().await];
    told_apart(&Server::with(Options { args, ..Options::default() }).await).await;
}

async fn told_apart(server: &Server) {
    let visitor = Visitor::signed_in(&server.client).await;
    for (source_id, plate) in [("h-sold", "HID001"), ("h-hidden", "HID002"), ("h-live", "HID003")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.published(source_id).await;
    }
    let mut draft = plain_car("h-draft", "HID004");
    draft["visible"] = json!(false);
    server.client.post("/v4/car", &draft).await.expect(201);
    for (action, source_id) in [("sold", "h-sold"), ("hide", "h-hidden")] {
        let form = [("action", action), ("ad", &*key(source_id)), ("confirmed", "yes")];
        assert_eq!(visitor.post("/console/act", &form).await.status, 303);
        server.client.ended(source_id, "unpublish", None).await;
    }
    for (status, expected) in [
        ("draft", &["HID004"][..]),
        ("sold", &["HID001"]),
        ("hidden", &["HID001", "HID002", "HID004"]),
        ("live", &["HID003"]),
    ] {
        eventually("the ads are found", async || {
            let page = visitor.page(&format!("/console/stock?status={status}")).await;
            let file = html(&visitor.get(&format!("/console/stock.csv?status={status}")).await);
            let plates = ["HID001", "HID002", "HID003", "HID004"].into_iter();
            let shown = |text: &str| plates.clone().filter(|plate| text.contains(plate)).collect::<Vec<_>>();
            (shown(&page) == expected && shown(&file) == expected).then_some(())
        })
        .await;
    }
    let page = visitor.page("/console/stock?status=hidden").await;
    for word in ["Draft", "Sold", "Hidden"] {
        assert_eq!(page.matches(&format!("<span class=\"badge at-rest\">{word}</span>")).count(), 1, "{word}: {page}");
    }
    let overview = visitor.page("/console/").await;
    assert!(overview.contains(">Draft: 1<") && overview.contains(">Sold: 1<"), "{overview}");
}
