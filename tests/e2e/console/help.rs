//! Help, first steps, the numbers of the overview with their ads, and outcomes that are said once. Without scripts.

use ad_tests::{ImageHost, Options, Server};
use reqwest::Method;
use serde_json::json;

use super::{PAGES, Visitor, ad_query, html};
use crate::payloads::{car, plain_car};

#[tokio::test]
async fn help_is_on_every_page_in_both_languages() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("h-1", "HLP001")).await.expect(201);
    let stranger = Visitor::of(&server.client);
    let visitor = Visitor::signed_in(&server.client).await;
    for page in PAGES.map(|page| page.replace("{ad}", &ad_query("h-1"))) {
        assert!(visitor.page(&page).await.contains("href=\"/console/help\""), "{page}");
    }
    assert!(stranger.page("/console/sign-in").await.contains("href=\"/console/help\""));
    for one in [&stranger, &visitor] {
        let page = one.page("/console/help").await;
        for expected in ["Publish a car", "Change a price", "Mark as sold", "Undo", "Why is my ad not live?"] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        let swedish = one.send(Method::GET, "/console/help", &[("accept-language", "sv")], None).await;
        for expected in ["Publicera en bil", "Ändra ett pris", "Markera som såld", "Ångra", "Varför syns inte"] {
            assert!(html(&swedish).contains(expected), "{expected}: {}", html(&swedish));
        }
    }
    assert!(!stranger.page("/console/help").await.contains("sign-out"));
    assert!(visitor.page("/console/help").await.contains("sign-out"));
    // A page to come back to after the choice of a language.
    let answer = visitor.post("/console/language", &[("language", "sv"), ("next", "/help")]).await;
    assert_eq!(answer.header("location"), Some("/console/help"));
}

#[tokio::test]
async fn who_has_no_ads_is_told_what_to_do_and_nothing_else() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let page = visitor.page("/console/").await;
    for expected in ["id=\"first-steps\"", "/console/new", "/console/help#publish", "/console/developers"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    for other in ["id=\"counts\"", "<svg", "data-event-list", "Marketplaces"] {
        assert!(!page.contains(other), "{other}: {page}");
    }
    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read"]).await;
    let page = reader.page("/console/").await;
    assert!(page.contains("first-steps") && !page.contains("href=\"/console/new\""), "{page}");
}

#[tokio::test]
async fn numbers_of_the_overview_lead_to_their_ads() {
    let args = vec!["--sandbox".to_owned()];
    let (server, images) = (Server::with(Options { args, ..Options::default() }).await, ImageHost::start().await);
    for number in 1..=3 {
        let mut car = car(&format!("lost-{number}"), &format!("LST00{number}"), &images);
        car["image_urls"] = json!([images.url("1.jpg"), images.url("gone.jpg")]);
        server.client.post("/v4/car", &car).await.expect(201);
    }
    server.client.post("/v4/car", &plain_car("fault-refused-1", "LST004")).await.expect(201);
    for number in 1..=3 {
        server.client.published(&format!("lost-{number}")).await;
    }
    server.client.ended("fault-refused-1", "publish", None).await;
    // One that is hidden has the same failure, and is not live.
    server.client.patch("/v4/car/lost-3", &json!({"visible": false})).await.expect(200);
    server.client.ended("lost-3", "unpublish", None).await;

    let visitor = Visitor::signed_in(&server.client).await;
    let overview = visitor.page("/console/").await;
    for expected in [
        "href=\"/console/failing?code=image_failed\"",
        "href=\"/console/failing?code=image_failed&amp;status=live\"",
        "2 lack photos",
        "href=\"/console/failing?on=primary&amp;is=live\"",
        "href=\"/console/stock?status=processing,waiting\"",
        "href=\"/console/failing?code=marketplace_refused\"",
        "<span class=\"plate\">LST001</span>",
    ] {
        assert!(overview.contains(expected), "{expected}: {overview}");
    }
    assert!(!overview.contains(">lost-1<"), "a title, not an id: {overview}");
    for (query, expected) in [
        ("code=image_failed", vec![1, 2, 3]),
        ("code=image_failed&status=live", vec![1, 2]),
        ("code=marketplace_refused", vec![4]),
        ("code=slots_exceeded", vec![]),
        ("code=image_failed&offset=2", vec![3]),
        ("on=primary&is=live", vec![1, 2]),
        ("on=secondary&is=not_listed", vec![3]),
    ] {
        let page = visitor.page(&format!("/console/failing?{query}")).await;
        let shown = (1..=4).filter(|number| page.contains(&format!("LST00{number}"))).collect::<Vec<_>>();
        // Which ads are on the second page is not promised.
        let is_expected = if query.contains("offset") { shown.len() == expected.len() } else { shown == expected };
        assert!(is_expected, "{query}: {page}");
    }
    for wrong in ["", "?code=no_such_code", "?code=not_found", "?on=primary&is=sold", "?on=tertiary&is=live"] {
        assert_eq!(visitor.get(&format!("/console/failing{wrong}")).await.status, 404, "{wrong}");
    }
    let other = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    assert!(!other.page("/console/failing?code=image_failed").await.contains("LST00"));

    // What failed is said once, and photos have numbers.
    let refused = visitor.page(&format!("/console/ad?{}", ad_query("fault-refused-1"))).await;
    assert!(!refused.to_lowercase().contains("publish failed on"), "{refused}");
    // What helps is said once, with the button that leads there; the stock has it too.
    assert_eq!(refused.matches("correct what the marketplace gives").count(), 1, "{refused}");
    let cure = "href=\"/console/ad/edit?source_id=fault-refused-1&amp;dealer_code=north-cars\">Edit the ad</a>";
    for page in [&refused, &visitor.page("/console/stock?status=failed").await] {
        assert!(page.contains(cure), "{page}");
    }
    let timeline = &refused[refused.find("id=\"timeline\"").unwrap()..];
    assert!(timeline.contains("<strong>Primary marketplace</strong>: "), "{timeline}");
    let lost = visitor.page(&format!("/console/ad?{}", ad_query("lost-1"))).await;
    assert!(lost.contains("Failed: photo 2"), "{lost}");
    let timeline = &lost[lost.find("id=\"timeline\"").unwrap()..];
    assert!(timeline.contains(">Photo 2</strong>"), "{timeline}");
}
