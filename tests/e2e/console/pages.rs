//! What the pages show, and what their forms do.

use ad_tests::{ImageHost, Options, Postgres, Server, eventually, eventually_within, photos};
use reqwest::Method;
use serde_json::json;

use super::{Visitor, ad_query, encoded, html};
use crate::payloads::{car, plain_car};

/// Markup that runs if it is not escaped: in texts, in attributes, and in tables of words.
const MARKUP: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'";

#[tokio::test]
async fn a_dealer_sees_what_failed_mends_it_and_sells_the_car() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let mut payload = car("c-1", "PGS001", &images);
    payload["image_urls"] = json!([images.url("1.jpg"), images.url("gone.jpg")]);
    server.client.post("/v4/car", &payload).await.expect(201);
    server.client.published("c-1").await;
    let visitor = Visitor::signed_in(&server.client).await;

    let overview = visitor.page("/console/").await;
    for expected in ["image_failed", "Latest events", "Published by hour", "<svg", "stock?status=live"] {
        assert!(overview.contains(expected), "{expected}: {overview}");
    }
    let stock = visitor.page("/console/stock").await;
    for expected in ["PGS001", "c-1", "/media/", "Live"] {
        assert!(stock.contains(expected), "{expected}: {stock}");
    }
    let path = format!("/console/ad?{}", ad_query("c-1"));
    let page = visitor.page(&path).await;
    for expected in ["gone.jpg", "404", "Timeline", "Preview", "Primary marketplace", "PGS001", "marketplace_ad_id"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    // The form of a copy has the pictures of the photos, too.
    let copy = visitor.page(&format!("/console/new?type=car&{}", ad_query("c-1"))).await;
    let thumbnails = copy.split("data-thumbnails=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(thumbnails.contains("1.jpg&quot;:&quot;"), "{thumbnails}");

    let ad = ad_query("c-1");
    let act = async |action: &str| {
        let next = format!("/ad?{}", ad_query("c-1"));
        let answer = visitor.post("/console/act", &[("action", action), ("ad", &ad), ("next", &next)]).await;
        assert_eq!(answer.status, 303, "{action}: {}", html(&answer));
        let location = answer.header("location").unwrap().to_owned();
        assert!(visitor.page(&location).await.contains("role=\"status\""), "{location}");
    };
    act("hide").await;
    server.client.ended("c-1", "unpublish", None).await;
    assert!(visitor.page(&path).await.contains("Hidden"));
    act("show").await;
    act("retry").await;
    eventually("it is live again", || async {
        let status = server.client.get("/v4/ad/c-1/status").await.expect(200);
        (status["status"] == "live").then_some(())
    })
    .await;

    // What costs or is permanent is asked twice.
    for (action, done) in [("bump", "bump"), ("pole_position", "boost"), ("delete", "delete")] {
        let form = [("action", action), ("ad", ad.as_str()), ("next", "/stock")];
        let asked = visitor.post("/console/act", &form).await;
        let page = html(&asked);
        assert_eq!(asked.status, 200, "{page}");
        assert!(page.contains("name=\"confirmed\"") && page.contains("c-1"), "{page}");
        assert_eq!(page.contains("North Cars AB</strong>: may bump on: Primary"), action == "bump", "{page}");
        let log = server.client.log("c-1").await;
        assert!(log.iter().all(|entry| entry["action"] != done), "{log:?}");
        let form = [&form[..], &[("confirmed", "yes")]].concat();
        let answer = visitor.post("/console/act", &form).await;
        assert_eq!(answer.status, 303, "{}", html(&answer));
        assert_eq!(server.client.ended("c-1", done, None).await["state"], "done");
    }
    let page = visitor.page(&path).await;
    assert!(page.contains("Deleted") && !page.contains("value=\"bump\""), "{page}");
}

#[tokio::test]
async fn many_ads_are_changed_at_once_and_each_refusal_has_its_reason() {
    let server = Server::start().await;
    for (source_id, plate) in [("b-1", "BLK001"), ("b-2", "BLK002"), ("b-3", "BLK003")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
        server.client.published(source_id).await;
    }
    let visitor = Visitor::signed_in(&server.client).await;
    let ads = ["b-1", "b-2", "no-such"].map(ad_query);
    let mut form: Vec<(&str, &str)> = ads.iter().map(|ad| ("ad", ad.as_str())).collect();
    form.push(("action", "hide"));
    let answer = visitor.post("/console/act", &form).await;
    let page = html(&answer);
    assert_eq!(answer.status, 404, "{page}");
    assert!(page.contains("no-such") && page.contains("Accepted: 2"), "{page}");
    for source_id in ["b-1", "b-2"] {
        assert_eq!(server.client.ad(source_id).await["visible"], false, "{source_id}");
    }
    assert_eq!(server.client.ad("b-3").await["visible"], true);

    let nothing = visitor.post("/console/act", &[("action", "hide")]).await;
    assert!(nothing.status == 400 && html(&nothing).contains("No ad is selected"), "{}", html(&nothing));
    for wrong in [&[("action", "sell"), ("ad", "source_id=b-3")][..], &[("action", "hide"), ("ad", "b-3")]] {
        assert_eq!(visitor.post("/console/act", wrong).await.status, 400, "{wrong:?}");
    }
}

#[tokio::test]
async fn the_stock_takes_the_parameters_of_lists_and_links_its_pages() {
    let server = Server::start().await;
    for number in 1..=5 {
        let mut ad = plain_car(&format!("s-{number}"), &format!("STK00{number}"));
        ad["body"] = json!(format!("Number {number} of the stock"));
        server.client.post("/v4/car", &ad).await.expect(201);
        server.client.published(&format!("s-{number}")).await;
    }
    let visitor = Visitor::signed_in(&server.client).await;
    let shows = |page: &str| (1..=5).filter(|number| page.contains(&format!("STK00{number}"))).collect::<Vec<_>>();
    for (query, expected) in [
        ("", vec![1, 2, 3, 4, 5]),
        ("?search=number+3", vec![3]),
        ("?search=&status=&registration_number=stk+002", vec![2]),
        ("?status=failed", vec![]),
        ("?limit=2&ordering=source_id", vec![1, 2]),
        ("?limit=2&ordering=source_id&offset=2", vec![3, 4]),
        ("?source_id__in=s-1,s-5&view=cards", vec![1, 5]),
        ("?quality_score__lt=80", vec![1, 2, 3, 4, 5]),
    ] {
        let page = visitor.page(&format!("/console/stock{query}")).await;
        assert_eq!(shows(&page), expected, "{query}: {page}");
    }
    let page = visitor.page("/console/stock?limit=2&ordering=source_id&offset=2").await;
    let links = crate::pages::named(&page, "href");
    for expected in ["limit=2&amp;ordering=source_id&amp;offset=0", "limit=2&amp;ordering=source_id&amp;offset=4"] {
        assert!(links.iter().any(|link| link.ends_with(expected)), "{expected}: {links:?}");
    }
    for wrong in ["?statu=live", "?status=gone", "?limit=0"] {
        let answer = visitor.get(&format!("/console/stock{wrong}")).await;
        assert!(answer.status == 400 && html(&answer).contains("role=\"alert\""), "{wrong}: {}", html(&answer));
    }
}

#[tokio::test]
async fn pages_are_in_the_language_of_the_visitor() {
    let server = Server::start().await;
    let mut visitor = Visitor::signed_in(&server.client).await;
    assert!(visitor.page("/console/").await.contains("<html lang=\"en\">"));
    let swedish = visitor.send(Method::GET, "/console/", &[("accept-language", "sv-SE,en;q=0.5")], None).await;
    assert!(html(&swedish).contains("<html lang=\"sv\">") && html(&swedish).contains("Översikt"));
    assert_eq!(swedish.header("content-language"), Some("sv"));
    let answer = visitor.post("/console/language", &[("language", "sv"), ("next", "/stock?limit=10")]).await;
    assert_eq!(answer.header("location"), Some("/console/stock?limit=10"));
    visitor.keep_cookies(&answer);
    assert!(visitor.page("/console/stock").await.contains("Lager"));
}

#[tokio::test]
async fn texts_of_ads_logs_photos_and_tokens_are_shown_and_never_run() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let source_id = format!("x/{MARKUP}?&=#");
    let mut payload = car(&source_id, "XSS001", &images);
    for field in ["body", "title"] {
        payload[field] = json!(MARKUP);
    }
    payload["category_fields"]["model_type"] = json!(MARKUP);
    payload["image_urls"] = json!([images.url("1.jpg"), images.url("gone%22%3E%3Cscript%3Ealert(1)%3C/script%3E.jpg")]);
    let created = server.client.post("/v4/car", &payload).await;
    let created = if created.status == 201 {
        created
    } else {
        // The title of a car is generated.
        payload.as_object_mut().unwrap().remove("title");
        server.client.post("/v4/car", &payload).await
    };
    created.expect(201);
    let client = server.client_of(&["--dealer-group", "north", "--label", MARKUP]).await;
    let visitor = Visitor::signed_in(&client).await;
    let ad = encoded(&[("source_id", &source_id), ("dealer_code", "north-cars")]);
    eventually("the photo has failed", || async {
        visitor.page(&format!("/console/ad?{ad}")).await.contains("Failed: photo").then_some(())
    })
    .await;
    let query = encoded(&[("search", MARKUP), ("view", MARKUP), ("registration_number", MARKUP)]);
    let unknown = encoded(&[(MARKUP, MARKUP)]);
    let mut pages = Vec::new();
    for path in [
        "/console/".to_owned(),
        "/console/stock".to_owned(),
        "/console/stock?view=cards".to_owned(),
        format!("/console/stock?{query}"),
        format!("/console/stock?{unknown}"),
        format!("/console/ad?{ad}"),
        format!("/console/ad?{unknown}"),
        format!("/console/sign-in?{}", encoded(&[("next", &format!("/{MARKUP}"))])),
        format!("/console/link?{}", encoded(&[("code", MARKUP)])),
    ] {
        let answer = visitor.get(&path).await;
        pages.push((path, html(&answer)));
    }
    let nobody = Visitor::of(&client);
    let next = format!("/console/sign-in?{}", encoded(&[("next", &format!("/{MARKUP}"))]));
    pages.push(("sign-in".to_owned(), nobody.page(&next).await));
    let confirm = [("action", "delete"), ("ad", ad.as_str()), ("next", &format!("/{MARKUP}")[..])];
    pages.push(("confirmation".to_owned(), html(&visitor.post("/console/act", &confirm).await)));
    let gone = encoded(&[("source_id", MARKUP)]);
    pages.push(("refusal".to_owned(), html(&visitor.post("/console/act", &[("action", "hide"), ("ad", &gone)]).await)));
    for (path, page) in &pages {
        for raw in ["<script>alert", "<img src=x", "\"><"] {
            let is_own = |at: usize| {
                raw == "\"><" && !page[at..].starts_with("\"><script>alert") && !page[at..].starts_with("\"><img src=x")
            };
            assert!(page.match_indices(raw).all(|(at, _)| is_own(at)), "{path} has {raw}: {page}");
        }
    }
    let shown = |path: &str| pages.iter().find(|(own, _)| own == path).unwrap().1.clone();
    for path in ["/console/", "/console/stock", "/console/stock?view=cards"] {
        assert!(shown(path).contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{path}: the texts are there");
    }
}

#[tokio::test]
async fn a_page_is_small_and_quick_to_load() {
    let server = Server::start().await;
    for number in 0..60 {
        server.client.post("/v4/car", &plain_car(&format!("p-{number}"), &format!("PAG{number:03}"))).await.expect(201);
    }
    let visitor = Visitor::signed_in(&server.client).await;
    let compressed = async |path: &str| {
        let answer = visitor.send(Method::GET, path, &[("accept-encoding", "br")], None).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-encoding")), (200, Some("br")), "{path}");
        answer.bytes.len()
    };
    let page = visitor.page("/console/").await;
    let assets = crate::pages::named(&page, "src").into_iter().chain(crate::pages::named(&page, "href"));
    let mut assets: Vec<_> = assets.filter(|it| it.starts_with("/console/assets/")).collect();
    assets.dedup();
    assert_eq!(assets.len(), 2, "{assets:?}");
    let mut sum = compressed("/console/").await;
    for asset in &assets {
        sum += compressed(asset).await;
    }
    assert!(sum < 60 * 1024, "the first page takes {sum} bytes");
    let stock = compressed("/console/stock").await;
    assert!(stock < 60 * 1024, "the stock takes {stock} bytes");
}

#[tokio::test]
async fn pages_are_the_same_on_postgres() {
    let Some(postgres) = Postgres::shared().await else { return };
    let args = vec!["--database-url".to_owned(), postgres.database().await];
    let server = Server::with(Options { args, ..Options::default() }).await;
    server.client.post("/v4/car", &plain_car("pg-1", "PGR001")).await.expect(201);
    server.client.published("pg-1").await;
    for token in [["--dealer-code", "north-cars"], ["--dealer-group", "north"]] {
        let visitor = Visitor::with_token(&server, &token).await;
        let overview = visitor.page("/console/").await;
        assert!(
            overview.contains("pg-1") && overview.contains("<strong class=\"count\">1</strong> publications"),
            "{overview}"
        );
        for path in super::PAGES.map(|page| page.replace("{ad}", &ad_query("pg-1"))) {
            visitor.page(&path).await;
        }
    }
}

#[tokio::test]
async fn events_come_through_the_session() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let url = format!("{}/console/events?after=now&source_id=e-1", visitor.base);
    let cookie = visitor.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
    let http = ad_tests::http_client().build().unwrap();
    let mut stream = http.get(url).header("cookie", cookie).send().await.unwrap();
    assert_eq!(
        (stream.status().as_u16(), &stream.headers()["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    let first = stream.chunk().await.unwrap().unwrap();
    assert!(first.starts_with(b"retry:"), "{first:?}");
    for (source_id, plate) in [("e-2", "EVT002"), ("e-1", "EVT001")] {
        server.client.post("/v4/car", &plain_car(source_id, plate)).await.expect(201);
    }
    let mut text = String::new();
    while !text.contains("event: ad.publish.done") {
        let chunk = tokio::time::timeout(ad_tests::PATIENCE, stream.chunk()).await.unwrap().unwrap().unwrap();
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    let is_about = |source_id: &str| text.contains(&format!("\"source_id\":\"{source_id}\""));
    assert!(is_about("e-1") && !is_about("e-2"), "{text}");
}

#[tokio::test]
async fn an_ad_shows_its_prices_over_time() {
    let server = Server::start().await;
    let price = |amount: u32| json!({"price": [{"type": "list", "amount": amount, "currency": "SEK"}]});
    let mut payload = plain_car("c-1", "PGS009");
    payload["price"] = price(300_000)["price"].clone();
    server.client.post("/v4/car", &payload).await.expect(201);
    let visitor = Visitor::signed_in(&server.client).await;
    let path = format!("/console/ad?{}", ad_query("c-1"));
    let before = visitor.page(&path).await;
    assert!(before.contains("Prices over time") && !before.contains("<path"), "one price needs no chart: {before}");

    server.client.patch("/v4/car/c-1", &price(280_000)).await.expect(200);
    let page = visitor.page(&path).await;
    for expected in ["<path d=\"M0.0", "300\u{202f}000 SEK", "280\u{202f}000 SEK", "Lowest price of the last 30 days"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[tokio::test]
async fn the_timeline_says_what_each_request_has_changed() {
    let server = Server::start().await;
    changes_are_shown(&server).await;
    let Some(postgres) = Postgres::shared().await else { return };
    let args = vec!["--database-url".to_owned(), postgres.database().await];
    changes_are_shown(&Server::with(Options { args, ..Options::default() }).await).await;
}

async fn changes_are_shown(server: &Server) {
    let mut payload = plain_car("c-1", "PGS010");
    payload["body"] = json!("As new");
    payload["category_fields"]["model_year"] = json!(2019);
    server.client.post("/v4/car", &payload).await.expect(201);
    server.client.published("c-1").await;
    let visitor = Visitor::signed_in(&server.client).await;
    let path = format!("/console/ad?{}", ad_query("c-1"));
    assert!(!visitor.page(&path).await.contains("changes-"), "nothing has changed");

    let change = json!({"body": format!("Sold soon {MARKUP}"), "category_fields": {"model_year": 2020}});
    server.client.patch("/v4/car/c-1", &change).await.expect(200);
    let same = server.client.patch("/v4/car/c-1", &change).await.expect(200);
    assert_eq!(same["category_fields"]["model_year"], 2020);
    let page = eventually("both requests are done", || async {
        let page = visitor.page(&path).await;
        (page.matches(">Done<").count() >= 6).then_some(page)
    })
    .await;
    let timeline = &page[page.find("id=\"timeline\"").unwrap()..page.find("id=\"payload\"").unwrap()];
    assert_eq!(timeline.matches("<details id=\"changes-").count(), 1, "one of both has changed something: {timeline}");
    for expected in ["Changed: ", "Model year", "<td>2019</td><td>2020</td>", "<td>As new</td><td>Sold soon "] {
        assert!(timeline.contains(expected), "{expected}: {timeline}");
    }
    assert!(!page.contains("<script>alert"), "{page}");
    // What only programs need is folded away together.
    assert!(!timeline.contains("/console/requests?id="), "{timeline}");
    let technical = &page[page.find("id=\"payload\"").unwrap()..];
    assert!(technical.contains("/console/requests?id=") && technical.contains("revision 1"), "{technical}");
}

#[tokio::test]
async fn photos_show_what_is_wrong_with_them() {
    let server = Server::with(Options { args: vec!["--renditions=true".to_owned()], ..Options::default() }).await;
    let images = ImageHost::start().await;
    let mut payload = car("c-1", "PGS004", &images);
    let dark = images.add("dark.jpg", photos::flawed("dark"));
    payload["image_urls"] = json!([images.add("good.jpg", photos::jpeg(&photos::sound(1))), dark]);
    server.client.post("/v4/car", &payload).await.expect(201);
    let visitor = Visitor::signed_in(&server.client).await;
    server.client.published("c-1").await;
    let path = format!("/console/ad?{}", ad_query("c-1"));
    let shown = eventually_within(photos::PATIENCE, "the photos are examined", || async {
        let page = visitor.page(&path).await;
        let (_, photos) = page.split_once("<ol class=\"photos\">").unwrap();
        let (photos, _) = photos.split_once("</ol>").unwrap();
        photos.contains("badge").then(|| photos.to_owned())
    })
    .await;
    let photos: Vec<_> = shown.split("</li>").collect();
    assert!(!photos[0].contains("badge"), "{shown}");
    assert!(photos[1].contains("<span class=\"badge at-rest\">Dark</span>"), "{shown}");
}

#[tokio::test]
async fn quality_failures_and_entries_are_in_the_language_of_the_visitor() {
    let (server, images) = (Server::start().await, ImageHost::start().await);
    let mut payload = car("c-1", "CA21A", &images);
    payload["image_urls"] = json!([images.url("gone.jpg")]);
    server.client.post("/v4/car", &payload).await.expect(201);
    server.client.published("c-1").await;
    let mut visitor = Visitor::signed_in(&server.client).await;
    let path = format!("/console/ad?{}", ad_query("c-1"));
    let english = visitor.page(&path).await;
    for expected in
        ["does not have the form of an ordinary Swedish plate", "At least 10 photos", "Listed and up to date."]
    {
        assert!(english.contains(expected), "{expected}: {english}");
    }
    let answer = visitor.post("/console/language", &[("language", "sv"), ("next", "/")]).await;
    visitor.keep_cookies(&answer);
    let swedish = visitor.page(&path).await;
    for expected in [
        "har inte formen av en vanlig svensk",
        "Minst 10 foton",
        "Publicerad och aktuell.",
        "Ett foto kunde inte hämtas",
        "Foton som inte kunde hämtas eller sparas: 1.",
        "#section-photos\">Byt ut fotot</a>",
        "Det finns inget foto på adressen. Använd ett annat foto.",
    ] {
        assert!(swedish.contains(expected), "{expected}: {swedish}");
    }
    for unexpected in ["Listed and up to date.", "At least 10 photos", "Ad created", "images failed"] {
        assert!(!swedish.contains(unexpected), "{unexpected}: {swedish}");
    }
    let overview = visitor.page("/console/").await;
    assert!(overview.contains("Ett foto kunde inte hämtas") && !overview.contains("Ad created"), "{overview}");
}

#[tokio::test]
async fn a_version_is_shown_and_restored() {
    let server = Server::start().await;
    let client = server.client_of(&["--dealer-code", "north-cars", "--label", "Stock <system>"]).await;
    let visitor = Visitor::signed_in(&client).await;
    let created = client.post("/v4/car", &plain_car("c-1", "VER001")).await.expect(201);
    client.published("c-1").await;
    client.patch("/v4/car/c-1", &json!({"body": "Second"})).await.expect(200);
    client.ended("c-1", "update", None).await;
    let ad = ad_query("c-1");
    let page = visitor.page(&format!("/console/ad?{ad}")).await;
    let timeline = &page[page.find("id=\"timeline\"").unwrap()..page.find("id=\"payload\"").unwrap()];
    for expected in ["Stock &lt;system&gt;", "through the API", "As it was then", "&amp;revision=0"] {
        assert!(timeline.contains(expected), "{expected}: {timeline}");
    }
    // The present version cannot be restored.
    assert_eq!(timeline.matches("Restore this version").count(), 1, "{timeline}");

    let version = format!("/console/ad/version?{ad}&revision=0");
    let page = visitor.page(&version).await;
    assert!(page.contains("The ad as of"), "{page}");
    // First it says what would change.
    let asked = visitor.post(&version, &[("do", "restore")]).await;
    let question = html(&asked);
    assert_eq!(asked.status, 200, "{question}");
    assert!(question.contains("<td>Second</td>") && !question.contains("taken off"), "{question}");
    assert_eq!(client.get("/v4/ad/c-1").await.expect(200)["body"], "Second");
    // In the other language it asks the same again, and does nothing, whatever else is sent.
    let again = visitor.post(&version, &[("do", "restore"), ("confirmed", "yes"), ("language", "sv")]).await;
    assert_eq!(again.status, 200, "{}", html(&again));
    assert!(html(&again).contains("Återställ versionen från") && html(&again).contains("<td>Second</td>"));
    assert!(again.header("set-cookie").unwrap().starts_with("console_language=sv"), "{:?}", again.headers);
    assert_eq!(client.get("/v4/ad/c-1").await.expect(200)["body"], "Second");
    let answer = visitor.post(&version, &[("confirmed", "yes")]).await;
    assert_eq!(answer.status, 303, "{}", html(&answer));
    assert!(answer.header("location").unwrap().ends_with(&format!("/console/ad?{ad}&restored=0")), "{answer:?}");
    let page = visitor.page(&format!("/console/ad?{ad}&restored=0")).await;
    assert!(page.contains("The version of") && page.contains("in the console"), "{page}");
    assert_eq!(client.get("/v4/ad/c-1").await.expect(200)["body"], created["body"]);
    // A live ad is not taken away without saying so.
    client.patch("/v4/car/c-1", &json!({"visible": false})).await.expect(200);
    client.ended("c-1", "unpublish", None).await;
    client.patch("/v4/car/c-1", &json!({"visible": true})).await.expect(200);
    let hidden = client.get("/v4/ad/c-1/revisions").await.expect(200)["results"][1]["revision"].clone();
    let question = html(&visitor.post(&format!("/console/ad/version?{ad}&revision={hidden}"), &[]).await);
    assert!(question.contains("The ad would be taken off the marketplaces"), "{question}");
    for (query, status) in [("revision=9999", 404), ("revision=x", 404), ("", 404)] {
        let path = format!("/console/ad/version?{ad}&{query}");
        assert_eq!(
            (visitor.get(&path).await.status.as_u16(), visitor.post(&path, &[]).await.status.as_u16()),
            (status, status)
        );
    }
    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read"]).await;
    assert!(!reader.page(&version).await.contains("Restore this version"));
    assert_eq!(reader.post(&version, &[]).await.status, 403);
}
