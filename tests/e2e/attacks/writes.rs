//! What one dealer writes is bounded: ads in bytes, queues in requests, and where the operator says so, ads and images in number.

use std::time::Duration;

use ad_tests::{Answer, Bystander, Client, ImageHost, Options, Postgres, Server};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// Memory that the server may take at most under any of these, in KiB: 58 MB of one ad took 1.5 GB.
const MOST_MEMORY: u64 = 400 * 1024;

fn options(args: &[&str]) -> Options {
    Options { args: args.iter().map(|it| (*it).to_owned()).collect(), ..Options::default() }
}

async fn bystander(server: &Server) -> Bystander {
    let client = server.client_of(&["--dealer-code", "south-cars"]).await;
    Bystander::start(&client, "bystander")
}

/// Ends the bystander's work, of which nothing may have failed.
async fn unhurt(bystander: Bystander) {
    let seen = bystander.stop().await;
    println!("the other dealer saw: {seen}");
    assert!(seen.failures.is_empty() && seen.posts.count() > 0, "{seen}");
}

/// The most memory that a server has had, in KiB.
fn peak_memory(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn statuses(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

#[tokio::test]
async fn patches_do_not_grow_an_ad_beyond_a_mebibyte_and_a_large_ad_hurts_nobody() {
    let server = Server::start().await;
    let bystander = bystander(&server).await;
    let client = &server.client;
    let tractor = json!({"source_id": "grows", "category_id": 1222, "title": "Tractor",
        "contact": {"email": "a@north.example"}});
    client.post("/v3/ad", &tractor).await.expect(201);

    let (mut accepted, mut refusal) = (0, Value::Null);
    for number in 0..60 {
        let patch = json!({"category_fields": {format!("notes_{number}"): vec!["x".repeat(9000); 50]}});
        let answer = client.patch("/v3/ad/grows", &patch).await;
        if answer.status == 400 {
            refusal = answer.json();
        } else {
            answer.expect(200);
            accepted += 1;
        }
    }
    assert_eq!(accepted, 2, "each is 450 kB");
    let refusal = refusal[0].as_str().unwrap();
    for part in ["1,048,576", "category_fields.notes_0 (450,151 bytes)", "Shorten or clear"] {
        assert!(refusal.contains(part), "{refusal}");
    }
    for path in ["/v3/ad/validate", "/v3/ad"] {
        let answer = client.send(Method::POST, path, Some(large(&tractor))).await;
        assert!(answer.expect(400)[0].as_str().unwrap().contains("1,048,576"));
    }

    let title = |loop_number: usize| async move {
        for number in 0..15 {
            let patch = json!({"title": format!("Tractor {loop_number}.{number}")});
            let answer = client.patch("/v3/ad/grows", &patch).await;
            assert!([200, 429, 503].contains(&answer.status.as_u16()), "{}", answer.status);
        }
    };
    join_all((0..4).map(title)).await;
    unhurt(bystander).await;
    let peak = peak_memory(&server);
    println!("the server took at most {} MB", peak / 1024);
    assert!(peak < MOST_MEMORY, "{peak} KiB");

    // What is too large can still be read, shortened and deleted.
    client.patch("/v3/ad/grows", &json!({"category_fields": {"notes_0": null}})).await.expect(200);
    client.delete("/v4/ad/grows").await.expect(200);
}

/// A payload below the limit of a body that is stored as more: its numbers are written in full.
fn large(tractor: &Value) -> Vec<u8> {
    let numbers = format!("[{}]", vec!["1e9"; 64].join(","));
    let level = format!("[{}]", vec![numbers.as_str(); 60].join(","));
    let fields: Vec<_> = (0..60).map(|number| format!("\"n{number}\":{level}")).collect();
    let mut large = tractor.clone();
    large["source_id"] = json!("large");
    large["category_fields"] = json!({});
    let large = large.to_string().replace("{}", &format!("{{{}}}", fields.join(",")));
    assert!(large.len() < 1024 * 1024, "{}", large.len());
    large.into_bytes()
}

/// A thousand changes of one ad that nobody works on.
async fn queue_of_one_ad_is_bounded(server: &Server, clients: &[&Client], database: &[&str]) {
    let bystander = bystander(server).await;
    clients[0].post("/v4/car", &plain_car("q", "QUE001")).await.expect(201);
    let mut answers = Vec::new();
    // One request makes way for another all the time.
    let changes = |client: &Client| {
        let client = (*client).clone();
        async move {
            let mut answers = Vec::new();
            for _ in 0..500 / 8 {
                answers.push(client.patch("/v4/car/q", &json!({})).await);
            }
            answers
        }
    };
    for _ in 0..2 {
        let eight = clients.iter().cycle().take(8).map(|client| changes(client));
        answers.extend(join_all(eight).await.into_iter().flatten());
    }
    let (accepted, refused) = (statuses(&answers, 200), statuses(&answers, 429));
    println!("{accepted} accepted, {refused} refused of {}", answers.len());
    assert_eq!(accepted, 99, "with the create there are 100");
    let refused = answers.iter().find(|answer| answer.status == 429).unwrap();
    assert_eq!(refused.header("retry-after"), Some("5"));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("100 unfinished requests") && detail.contains("A deletion is still accepted"), "{detail}");
    // The refusal is worth a 503 only when many change the ad at once.
    assert!(answers.iter().all(|answer| [200, 429, 503].contains(&answer.status.as_u16())));

    clients[0].patch("/v4/car/q", &json!({"body": "x"})).await.expect(429);
    clients[0].delete("/v4/ad/q").await.expect(200);
    clients[0].delete("/v4/ad/q").await.expect(200);
    unhurt(bystander).await;
    let list = ["queue", "list", "--dealer-code", "north-cars", "--limit", "200", "--json"];
    let unfinished = server.command(&[&list[..], database].concat()).await;
    let unfinished = unfinished.matches("request_id").count();
    assert_eq!(unfinished, 101, "the deletion is one more");
}

#[tokio::test]
async fn an_ad_has_at_most_a_hundred_unfinished_requests_in_sqlite() {
    let server = Server::with(options(&["--workers", "0"])).await;
    queue_of_one_ad_is_bounded(&server, &[&server.client], &[]).await;
}

#[tokio::test]
async fn an_ad_has_at_most_a_hundred_unfinished_requests_whichever_process_accepts_them() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.database().await;
    let args = ["--workers", "0", "--database-url", &url];
    let (one, other) = (Server::with(options(&args)).await, Server::with(options(&args)).await);
    queue_of_one_ad_is_bounded(&one, &[&one.client, &other.client], &args[2..]).await;
}

#[tokio::test]
async fn a_dealer_at_its_quota_of_requests_waits_and_another_does_not() {
    let server = Server::with(options(&["--workers", "0", "--dealer-requests", "400"])).await;
    let bystander = bystander(&server).await;
    let creates = |first: usize| {
        let client = server.client.clone();
        async move {
            let mut answers = Vec::new();
            for number in first..first + 60 {
                answers
                    .push(client.post("/v4/car", &plain_car(&format!("r-{number}"), &format!("R{number:05}"))).await);
            }
            answers
        }
    };
    let answers: Vec<_> = join_all((0..8).map(|part| creates(part * 60))).await.into_iter().flatten().collect();
    unhurt(bystander).await;
    let accepted = statuses(&answers, 201);
    println!("{accepted} accepted of {}", answers.len());
    // Those that are on their way at the same moment are not counted yet.
    assert!((400..=408).contains(&accepted), "{accepted}");
    let refused = answers.iter().find(|answer| answer.status == 429).unwrap();
    assert!(refused.header("retry-after").is_some());
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("at most 400 are accepted (dealer_requests)"), "{detail}");
    server.client.patch("/v4/car/r-0", &json!({"body": "x"})).await.expect(429);
    server.client.delete("/v4/ad/r-0").await.expect(200);
}

#[tokio::test]
async fn a_dealer_at_its_quota_of_ads_deletes_one_for_each_that_it_adds() {
    let server = Server::with(options(&["--dealer-ads", "3"])).await;
    let client = &server.client;
    for number in 0..3 {
        client.post("/v4/car", &plain_car(&format!("a-{number}"), &format!("ADS00{number}"))).await.expect(201);
    }
    let fourth = plain_car("a-3", "ADS003");
    for path in ["/v4/car", "/v4/car/validate"] {
        let refused = client.post(path, &fourth).await.expect(400);
        assert_eq!(
            refused,
            json!([
                "Dealer \"north-cars\" has 3 ads that are not deleted, and at most 3 are allowed (dealer_ads). Delete \
                ads that are not needed any more, or ask the operator for a larger quota."
            ])
        );
    }
    client.patch("/v4/car/a-0", &json!({"body": "still mine"})).await.expect(200);
    let other = server.client_of(&["--dealer-code", "south-cars"]).await;
    other.post("/v4/car", &fourth).await.expect(201);
    client.delete("/v4/ad/a-0").await.expect(200);
    client.ended("a-0", "delete", None).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.post("/v4/car", &fourth).await.expect(201);
}

#[tokio::test]
async fn an_image_beyond_the_quota_of_its_dealer_fails_and_says_what_to_do() {
    let images = ImageHost::start().await;
    let first = reqwest::get(images.url("noise/5000.png")).await.unwrap().bytes().await.unwrap();
    let quota = (first.len() + 1).to_string();
    let mut databases = vec![Server::with(options(&["--dealer-image-bytes", &quota])).await];
    if let Some(postgres) = Postgres::shared().await {
        let url = postgres.database().await;
        databases.push(Server::with(options(&["--dealer-image-bytes", &quota, "--database-url", &url])).await);
    }
    for server in databases {
        let post = async |client: &Client, source_id: &str, files: &[&str]| {
            let mut car = plain_car(source_id, &source_id.replace('-', "").to_uppercase());
            car["image_urls"] = files.iter().map(|file| json!(images.url(file))).collect();
            client.post("/v4/car", &car).await.expect(201);
            client.published(source_id).await["image_refs"].as_array().unwrap().len()
        };
        assert_eq!(post(&server.client, "i-1", &["noise/5000.png"]).await, 1);
        assert_eq!(
            post(&server.client, "i-2", &["2.png", "noise/5000.png"]).await,
            1,
            "the first one is stored already"
        );
        let failed = server.client.ended("i-2", "handle_media", None).await;
        let error = failed["external_message"]["images"][0]["error"].as_str().unwrap().to_owned();
        for part in [quota.as_str(), "dealer_image_bytes", "ask the operator", "north-cars"] {
            assert!(error.contains(part), "{error}");
        }
        let other = server.client_of(&["--dealer-code", "south-cars"]).await;
        assert_eq!(post(&other, "i-3", &["2.png"]).await, 1);
    }
}

#[tokio::test]
async fn a_salesperson_who_has_left_does_not_freeze_the_ad() {
    let server = Server::start().await;
    let mut car = plain_car("left", "LFT001");
    car["category_fields"]["salesperson"] = json!("anna@north.example");
    car["category_fields"]["online_purchasable"] = json!(true);
    server.client.post("/v4/car", &car).await.expect(201);
    let dealers = std::fs::read_to_string(server.dir().join("dealers.toml")).unwrap();
    let dealers = dealers.replace("anna@north.example", "eva@north.example").replace("\"online_purchase\"", "");
    std::fs::write(server.dir().join("dealers.toml"), dealers).unwrap();
    server.command(&["dealers", "import", "dealers.toml"]).await;
    let sends = json!({"category_fields": {"salesperson": "anna@north.example"}});
    ad_tests::eventually("the server knows that she has left", || async {
        let answer = server.client.send(Method::PATCH, "/v4/car/left", Some(sends.to_string().into_bytes())).await;
        (answer.status == 400).then_some(())
    })
    .await;
    let updated = server.client.patch("/v4/car/left", &json!({"body": "Lower price"})).await.expect(200);
    assert_eq!(updated["category_fields"]["salesperson"], "anna@north.example");
    server.client.patch("/v4/car/left", &json!({"category_fields": {"online_purchasable": true}})).await.expect(400);
    let updated = server.client.patch("/v4/car/left", &json!({"category_fields": {"salesperson": null}})).await;
    assert!(updated.expect(200)["category_fields"].get("salesperson").is_none());
}

#[tokio::test]
async fn a_plate_of_an_open_category_is_found_and_links_like_any_other() {
    let server = Server::start().await;
    let listing = json!({"marketplace": "primary", "dealer_code": "north-cars", "registration_number": "OPN 12A", "title": "Old"});
    std::fs::write(server.dir().join("listings.ndjson"), listing.to_string()).unwrap();
    server.command(&["listings", "import", "listings.ndjson"]).await;
    let old = server.listings().await[0]["id"].clone();
    let tractor =
        json!({"source_id": "open", "category_id": 1122, "category_fields": {"registration_number": "opn 12a"}});
    server.client.post("/v3/ad", &tractor).await.expect(201);
    let ad = server.client.published("open").await;
    assert_eq!(ad["category_fields"]["registration_number"], "OPN12A");
    assert_eq!(ad["marketplace_ad_id"], old);
    for plate in ["OPN12A", "opn%2012A"] {
        let found = server.client.get(&format!("/v4/ad?registration_number={plate}")).await.expect(200);
        assert_eq!(found["count"], 1, "{plate}");
    }
}
