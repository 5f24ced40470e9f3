//! `ad-cli sync`: the stock of the service becomes that of a file, and nothing else happens.

use ad_core::{categories, model::ApiVersion, rulebook::Rulebook};
use ad_tests::{Cli, ImageHost, Options, Server};
use serde_json::{Value, json};

use super::redacted;
use crate::payloads::{car as car_with_images, plain_boat, plain_car};

/// A car of which there is one of each number.
pub(super) fn car(number: usize) -> Value {
    let mut car = plain_car(&format!("car-{number}"), &format!("C{number:05}"));
    car["category_fields"]["brand"] = json!("volvo");
    car["category_fields"]["condition"] = json!({"mileage": {"value": 2800, "unit": "mil"}});
    car["price"] = json!([{"type": "list", "amount": 100_000 + number}]);
    car
}

pub(super) fn ndjson<'a>(ads: impl IntoIterator<Item = &'a Value>) -> String {
    ads.into_iter().map(|ad| ad.to_string() + "\n").collect()
}

/// A plan for programs, whatever its exit code.
pub(super) async fn planned(cli: &Cli, line: &str) -> Vec<Value> {
    let ended = cli.run(&format!("sync plan {line} --output json")).await;
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// The source ids of what is done, in order.
pub(super) fn of<'a>(rows: &'a [Value], act: &str) -> Vec<&'a str> {
    rows.iter().filter(|row| row["act"] == act).map(|row| row["source_id"].as_str().unwrap_or("?")).collect()
}

/// All ads as the service has them, with their logs.
async fn everything(server: &Server) -> Value {
    server.client.get("/v4/ad?limit=500&include=log&ordering=created").await.expect(200)["results"].clone()
}

/// How many requests an ad has seen.
pub(super) async fn requests(server: &Server, source_id: &str) -> usize {
    let log = server.client.log(source_id).await;
    log.iter().map(|entry| entry["request_id"].as_str().unwrap()).collect::<std::collections::BTreeSet<_>>().len()
}

/// A stock at the service, and the file that it is from.
async fn stock(cli: &Cli, count: usize) -> Vec<Value> {
    let ads: Vec<_> = (0..count).map(car).collect();
    cli.file("stock.ndjson", ndjson(&ads));
    cli.run("sync apply stock.ndjson --yes").await.done();
    ads
}

#[tokio::test]
async fn a_stock_of_every_type_is_there_after_one_run_and_the_next_has_nothing_to_do() {
    let args = ["--image-tries", "1"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let cli = Cli::of(&server);
    let rulebook = Rulebook::default();
    let types = || categories::typed().filter(|(name, _)| *name != "trailer");
    let full: Vec<_> = types().map(|(_, category)| json!(category.example(ApiVersion::V4, &rulebook))).collect();
    cli.file("full.json", json!(full).to_string());

    let applied = cli.run("sync apply full.json --yes --output json").await;
    let rows: Vec<Value> = serde_json::from_str(applied.done()).unwrap();
    assert_eq!(of(&rows, "create").len(), full.len());
    assert!(rows.iter().all(|row| row["outcome"] == "published"), "{rows:?}");
    // Their images are nowhere, which the service has tried; another try is not what a plan is for.
    let rows = planned(&cli, "full.json").await;
    assert_eq!(of(&rows, "unchanged").len(), full.len(), "{rows:?}");
    assert!(rows.iter().all(|row| row["message"].as_str().unwrap().contains("could not fetch 2 images")), "{rows:?}");

    // Each as an update may have it: merged, with another price, and with fields that go.
    let mut changed = full.clone();
    for ((_, category), ad) in types().zip(&mut changed) {
        let update = category.example_update(ApiVersion::V4, &rulebook);
        for (name, value) in update.into_iter().filter(|(name, _)| name != "category_fields") {
            ad[name] = value;
        }
        for gone in ["video_url", "location", "product_declaration", "image_urls", "visible"] {
            ad.as_object_mut().unwrap().remove(gone);
        }
        let fields = ad["category_fields"].as_object_mut().unwrap();
        let keep = |name: &str| category.field(name).is_none_or(|field| field.required);
        let optional: Vec<_> = fields.keys().filter(|name| !keep(name)).cloned().collect();
        // What identifies a vehicle is never taken from it.
        let named = ["registration_number", "vin", "brand", "model", "type", "model_year"];
        fields.retain(|name, _| !optional.contains(name) || named.contains(&name.as_str()));
    }
    cli.file("changed.json", json!(changed).to_string());
    let applied = cli.run("sync apply changed.json --yes --output json").await;
    let rows: Vec<Value> = serde_json::from_str(&applied.stdout).unwrap();
    assert_eq!(of(&rows, "update").len(), full.len(), "{applied:?}");
    assert!(rows.iter().all(|row| row["outcome"] == "published"), "{rows:?}");
    let rows = planned(&cli, "changed.json").await;
    assert_eq!(of(&rows, "unchanged").len(), full.len(), "{rows:?}");
    assert!(rows.iter().all(|row| row["message"].is_null()), "{rows:?}");
    let before = everything(&server).await;
    let boat = before.as_array().unwrap().iter().find(|ad| ad["category_id"] == 1060).unwrap();
    assert_eq!((&boat["url"], &boat["location"], &boat["image_refs"]), (&Value::Null, &Value::Null, &json!([])));

    // And back again; what is as it is wanted costs no request.
    cli.run("sync apply full.json --yes").await.done();
    assert_eq!(of(&planned(&cli, "full.json").await, "unchanged").len(), full.len());
    let settled = everything(&server).await;
    cli.run("sync apply full.json --yes").await.done();
    assert_eq!(everything(&server).await, settled);
}

#[tokio::test]
async fn what_differs_is_done_in_order_and_the_rest_is_left_alone() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads = stock(&cli, 20).await;
    let mut boat = plain_boat();
    boat["source_id"] = json!("boat-1");
    ads[3]["category_fields"]["condition"]["mileage"]["value"] = json!(2900);
    ads[3]["body"] = json!("Well kept");
    ads[4].as_object_mut().unwrap().remove("price");
    ads.push(boat);
    ads.drain(0..2);
    cli.file("stock.ndjson", ndjson(&ads));

    let plan = cli.run("sync plan stock.ndjson").await;
    let expected = "\
To update
  ~ car-3 (car, Volvo 2019), line 2
      body: (none) → Well kept
      category_fields.condition.mileage: 2800 mil → 2900 mil
  ~ car-4 (car, Volvo 2019), line 3
      price: list 100,004 SEK → (none)
To create
  + boat-1 (boat, TITLE), line 19
To delete
  - car-0 (car, Volvo 2019)
  - car-1 (car, Volvo 2019)
stock.ndjson: 2 to update, 1 to create, 2 to delete, 16 unchanged
";
    let title = plain_boat()["title"].as_str().unwrap().to_owned();
    // The oldest ad is the first, and these were created at the same time, in either order.
    let deleted = ["  - car-0 (car, Volvo 2019)\n", "  - car-1 (car, Volvo 2019)\n"];
    let plan =
        redacted(plan.done(), &cli, Some(&server)).replace(&[deleted[1], deleted[0]].concat(), &deleted.concat());
    assert_eq!(plan, expected.replace("TITLE", &title));

    let applied = cli.run("sync apply stock.ndjson --yes --verbose").await;
    applied.done();
    assert!(applied.stderr.ends_with("2 updated, 1 created, 2 deleted\n"), "{applied:?}");
    let methods = applied.stderr.lines().filter_map(|line| Some(line.split_once(' ')?.0));
    let mut phases: Vec<_> = methods.filter(|method| ["PATCH", "POST", "DELETE"].contains(method)).collect();
    // A busy service may have asked for a second try.
    phases.dedup();
    assert_eq!(phases, ["PATCH", "POST", "DELETE"], "{applied:?}");
    let updated = server.client.ad("car-3").await;
    assert_eq!(updated["category_fields"]["condition"]["mileage"], json!({"value": 2900, "unit": "mil"}));
    assert_eq!(server.client.ad("car-4").await["price"], json!([]));
    for deleted in ["car-0", "car-1"] {
        assert_eq!(server.client.ad(deleted).await["state"], "deleted");
    }
    for unchanged in ["car-2", "car-19"] {
        assert_eq!(requests(&server, unchanged).await, 1, "{unchanged} was not to be touched");
    }
    let again = cli.run("sync apply stock.ndjson --yes").await;
    assert_eq!(again.done(), "stock.ndjson: 19 unchanged; nothing to do\n");
}

#[tokio::test]
async fn a_file_that_may_not_be_the_whole_stock_changes_nothing() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let ads = stock(&cli, 12).await;
    let before = everything(&server).await;
    let text = ndjson(&ads);
    let array = json!(ads).to_string();
    let mut wrong = ads.clone();
    for ad in &mut wrong {
        ad["category_fields"]["brand"] = json!("wolvo");
    }
    let twice = ndjson(ads.iter().chain([&ads[4]]));
    let mut deleting = ads.clone();
    deleting[11]["source_id"] = json!("new");
    for (content, code, told) in [
        (String::new(), 2, "stock.ndjson is empty"),
        ("\n\n".to_owned(), 2, "stock.ndjson is empty"),
        ("[]".to_owned(), 2, "contains no payloads; nothing was changed"),
        ("<ads/>".to_owned(), 2, "is XML, not JSON"),
        (array[..array.len() / 2].to_owned(), 3, "Truncated JSON"),
        (array[..array.len() - 1].to_owned(), 3, "the file ends before the array is closed"),
        (ndjson(&wrong), 3, "contains no valid payload; nothing was changed"),
        (twice, 3, "stock.ndjson:13:1: duplicate source_id \"car-4\" (first on line 5)"),
        (ndjson(&ads[2..]), 3, "2 ads would be deleted (2 of the 12 ads of north-cars)"),
    ] {
        cli.file("stock.ndjson", &content);
        let ended = cli.run("sync apply stock.ndjson --yes").await;
        assert_eq!(ended.code, code, "{told}: {ended:?}");
        assert!(ended.stderr.contains(told), "{told}: {ended:?}");
        assert_eq!(everything(&server).await, before, "{told}");
    }
    let missing = cli.run("sync apply nothing.json --yes").await;
    assert_eq!((missing.code, missing.stderr.contains("there is no such file")), (2, true), "{missing:?}");

    // Nobody is there to ask.
    let mut more = ads.clone();
    more.push(car(12));
    cli.file("stock.ndjson", ndjson(&more));
    let unasked = cli.run("sync apply stock.ndjson").await;
    assert_eq!((unasked.code, unasked.stderr.contains("--yes")), (2, true), "{unasked:?}");
    assert_eq!(everything(&server).await, before);

    // One of twelve is within the tenth; two need leave, and leave is for so many.
    cli.file("stock.ndjson", ndjson(&ads[3..]));
    let told = cli.run("sync plan stock.ndjson").await;
    assert!(told.code == 3 && told.stderr.contains("--allow-removals 3"), "{told:?}");
    assert_eq!(cli.run("sync apply stock.ndjson --yes --allow-removals 2").await.code, 3);
    assert_eq!(everything(&server).await, before);
    cli.run("sync apply stock.ndjson --yes --allow-removals 3").await.done();
    assert_eq!(server.client.ad("car-2").await["state"], "deleted");
    assert_eq!(text.lines().count(), 12);
}

#[tokio::test]
async fn a_bad_ad_is_left_as_it_is_and_stops_no_other() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads = stock(&cli, 30).await;
    ads[7]["category_fields"]["brand"] = json!("wolvo");
    ads[8]["category_fields"]["registration_number"] = json!("XYZ789");
    ads[9]["body"] = json!("New text");
    let mut new = car(30);
    new["price"] = json!([{"type": "list", "amount": 2}, {"type": "reduced", "amount": 1}]);
    ads.push(new);
    let mut ids: Vec<_> = ads.iter().collect();
    ids.remove(29);
    cli.file("stock.ndjson", ndjson(ids));
    let ended = cli.run("sync apply stock.ndjson --yes").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    for told in [
        "stock.ndjson:8:",
        "error: category_fields.brand is \"wolvo\" (car-7)",
        "error: category_fields.registration_number is \"XYZ789\" (car-8)",
        "\"reduced\" is not allowed for a new ad",
        "1 to update, 1 to delete, 26 unchanged, 3 skipped",
    ] {
        assert!(ended.stdout.contains(told), "{told}: {}", ended.stdout);
    }
    assert_eq!(server.client.ad("car-9").await["body"], "New text");
    assert_eq!(server.client.ad("car-29").await["state"], "deleted");
    for left in ["car-7", "car-8"] {
        assert_eq!(requests(&server, left).await, 1);
    }
    server.client.get("/v4/ad/car-30").await.expect(404);

    // What cannot even be read may be any ad: then none is deleted.
    let mut text = ndjson(&ads[10..29]);
    text += "{\"source_id\": \"car-0\", half\n";
    cli.file("stock.ndjson", text);
    let held = cli.run("sync apply stock.ndjson --yes --allow-removals 100").await;
    assert_eq!(held.code, 3, "{held:?}");
    assert!(held.stdout.contains("nothing is deleted: 10 ads are not in the file, but line 20"), "{held:?}");
    assert_eq!(server.client.ad("car-0").await["state"], "created");
}

#[tokio::test]
async fn what_is_the_same_is_unchanged_and_what_cannot_be_cleared_is_named() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads: Vec<_> = (0..3).map(car).collect();
    for ad in &mut ads {
        ad["category_fields"]["vin"] = json!("YV1UZ8256N1234567");
        ad["category_fields"]["condition"]["number_of_owners"] = json!(2);
        ad["category_fields"]["powertrain"] =
            json!({"fuels": ["gasoline", "electric"], "power": {"unit": "hp", "value": 341}});
    }
    cli.file("stock.ndjson", ndjson(&ads));
    cli.run("sync apply stock.ndjson --yes").await.done();
    // Another spelling, and the title that the service has generated.
    ads[0]["category_fields"]["powertrain"] =
        json!({"fuels": ["Electric", "gasoline"], "power": {"unit": "HP", "value": 341.0}});
    ads[0]["title"] = server.client.ad("car-0").await["title"].clone();
    let without = |ad: &mut Value, name: &str| ad["category_fields"].as_object_mut().unwrap().remove(name).is_some();
    assert!(without(&mut ads[1], "registration_number"));
    ads[2]["category_fields"]["condition"].as_object_mut().unwrap().remove("number_of_owners");
    ads[2]["body"] = json!("New text");
    cli.file("stock.ndjson", ndjson(&ads));
    let before = everything(&server).await;
    let ended = cli.run("sync apply stock.ndjson --yes").await;
    assert_eq!((ended.code, everything(&server).await), (3, before), "{ended:?}");
    for told in [
        "Left out, but cannot be cleared: Cannot change after creation (it is \"C00001\").",
        "To keep it, send \"C00001\".",
        "Left out, but cannot be cleared: A used vehicle has at least 1 owner",
        "To keep it, send 2.",
        "stock.ndjson: 1 unchanged, 2 skipped; nothing to do",
    ] {
        assert!(ended.stdout.contains(told), "{told}: {}", ended.stdout);
    }
    // A new ad may not have a title, and neither may one that has another.
    ads[0]["title"] = json!("A bargain");
    cli.file("stock.ndjson", json!([ads[0]]).to_string());
    let rows = planned(&cli, "stock.ndjson").await;
    assert!(rows.iter().any(|row| row["act"] == "left" && row["findings"][0]["field"] == "title"), "{rows:?}");
}

#[tokio::test]
async fn a_deleted_source_id_that_comes_back_is_explained_or_brought_back() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut boat = plain_boat();
    boat["source_id"] = json!("boat-1");
    let ads = [car(1), boat, car(2)];
    cli.file("stock.ndjson", ndjson(&ads));
    cli.run("sync apply stock.ndjson --yes").await.done();
    cli.file("less.ndjson", ndjson(&ads[2..]));
    cli.run("sync apply less.ndjson --yes --allow-removals 2").await.done();

    let rows = planned(&cli, "stock.ndjson").await;
    assert_eq!(
        (of(&rows, "revive"), of(&rows, "left"), of(&rows, "unchanged")),
        (vec!["boat-1"], vec!["car-1"], vec!["car-2"])
    );
    let ended = cli.run("sync apply stock.ndjson --yes").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(
        ended
            .stdout
            .contains("car-1, line 1: the ad is deleted at the service; a registered vehicle cannot be revived")
            && ended.stdout.contains("help: use a new source_id in the file, such as \"car-1-2\""),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("1 revived"), "{ended:?}");
    assert_eq!(server.client.ad("boat-1").await["state"], "created");
    // The way out works: the car is published as another ad.
    let mut ads = ads;
    ads[0]["source_id"] = json!("car-1-2");
    cli.file("stock.ndjson", ndjson(&ads));
    cli.run("sync apply stock.ndjson --yes").await.done();
    assert_eq!(of(&planned(&cli, "stock.ndjson").await, "unchanged").len(), 3);
}

#[tokio::test]
async fn a_saved_plan_is_carried_out_as_long_as_nothing_has_changed() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let mut ads = stock(&cli, 11).await;
    ads[1]["body"] = json!("New text");
    ads.push(car(11));
    ads.remove(0);
    cli.file("stock.ndjson", ndjson(&ads));
    let save = "sync plan stock.ndjson --save plan.ndjson";
    cli.run(save).await.done();
    let before = everything(&server).await;

    // The file has changed since.
    cli.file("stock.ndjson", ndjson(&ads[1..]));
    let stale = cli.run("sync apply plan.ndjson --yes").await;
    assert!(stale.code == 3 && stale.stderr.contains("stock.ndjson has changed since the plan was made"), "{stale:?}");
    cli.file("stock.ndjson", ndjson(&ads));
    // The plan is half of one.
    let whole = std::fs::read_to_string(cli.home().join("plan.ndjson")).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    cli.file("half.ndjson", lines[..lines.len() - 1].join("\n"));
    let half = cli.run("sync apply half.ndjson --yes").await;
    assert!(half.code == 2 && half.stderr.contains("truncated after 2 of 3 steps"), "{half:?}");
    assert_eq!(everything(&server).await, before);
    // It is for somebody else.
    let other = Server::start().await;
    let stranger =
        cli.command(["sync", "apply", "plan.ndjson", "--yes", "--url", &other.client.base]).output().await.unwrap();
    assert_eq!(stranger.status.code(), Some(3), "{stranger:?}");

    cli.run("sync apply plan.ndjson --yes").await.done();
    assert_eq!(server.client.ad("car-1").await["body"], "New text");
    assert_eq!(server.client.ad("car-0").await["state"], "deleted");
    server.client.published("car-11").await;
    // It has been carried out: the service is not as it was.
    let settled = everything(&server).await;
    let again = cli.run("sync apply plan.ndjson --yes").await;
    assert!(again.code == 3 && again.stderr.contains("3 ads changed at the service"), "{again:?}");
    assert_eq!(everything(&server).await, settled);
}

#[tokio::test]
async fn only_dealers_that_the_file_names_are_looked_at() {
    let server = Server::start().await;
    let group = server.token(&["--dealer-group", "north"]).await;
    let cli = Cli::of(&server).with("AD_TOKEN", &group);
    let of_dealer = |mut ad: Value, code: &str| {
        ad["dealer_code"] = json!(code);
        ad
    };
    let cars: Vec<_> = (0..3).map(|number| of_dealer(car(number), "north-cars")).collect();
    // The same source id at two dealers.
    let mut boat = of_dealer(plain_boat(), "coast-boats");
    boat["source_id"] = json!("car-0");
    cli.file("all.ndjson", ndjson(cars.iter().chain([&boat])));
    cli.run("sync apply all.ndjson --yes").await.done();

    boat["body"] = json!("Another text");
    cli.file("boats.ndjson", ndjson([&boat, &car(7)]));
    let rows = planned(&cli, "boats.ndjson").await;
    assert_eq!((of(&rows, "update"), of(&rows, "left"), rows.len()), (vec!["car-0"], vec!["car-7"], 2), "{rows:?}");
    assert_eq!(rows[0]["dealer_code"], "coast-boats");
    assert!(rows[1]["message"].as_str().unwrap().contains("send the dealer_code"), "{rows:?}");
    assert_eq!(cli.run("sync apply boats.ndjson --yes").await.code, 3);
    let found = server.client.get("/v4/ad?state=created").await.expect(200);
    assert_eq!(found["count"], 3, "the cars of the other dealer stay: {found}");

    // A dealer's token is for nobody else's ads.
    let cli = Cli::of(&server);
    cli.file("boats.ndjson", ndjson([&boat, &of_dealer(car(0), "north-cars")]));
    let rows = planned(&cli, "boats.ndjson").await;
    let left = rows.iter().find(|row| row["act"] == "left").unwrap();
    assert!(left["message"].as_str().unwrap().contains("The token is for \"north-cars\""), "{rows:?}");
    // They were created side by side: which of them is the older one, nobody knows.
    let mut deleted = of(&rows, "delete");
    deleted.sort_unstable();
    assert_eq!((of(&rows, "unchanged"), deleted), (vec!["car-0"], vec!["car-1", "car-2"]));
}

#[tokio::test]
async fn prices_are_in_the_dealers_own_currency() {
    let server = Server::start().await;
    let token = server.token(&["--dealer-code", "south-cars"]).await;
    let cli = Cli::of(&server).with("AD_TOKEN", &token);
    let mut ad = car(1);
    cli.file("stock.json", ad.to_string());
    cli.run("sync apply stock.json --yes").await.done();
    let client = server.client.with_token(Some(token));
    assert_eq!(client.ad("car-1").await["price"][0]["currency"], "EUR");
    for (price, count) in
        [(json!([]), 1), (json!([{"type": "list", "amount": 7}]), 1), (json!([{"type": "list", "amount": 7.0}]), 0)]
    {
        ad["price"] = price;
        cli.file("stock.json", ad.to_string());
        assert_eq!(of(&planned(&cli, "stock.json").await, "update").len(), count, "{ad}");
        cli.run("sync apply stock.json --yes").await.done();
        assert_eq!(of(&planned(&cli, "stock.json").await, "unchanged"), ["car-1"]);
    }
    assert_eq!(client.ad("car-1").await["price"], json!([{"type": "list", "amount": 7, "currency": "EUR"}]));
}

#[tokio::test]
async fn ads_of_v3_are_converted_or_shown_the_way() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let moped = json!({"source_id": "moped-1", "category_id": 1121,
        "category_fields": {"registration_number": "MOP123", "model_year": 2019}});
    let forklift = json!({"source_id": "forklift", "category_id": 1224, "title": "Forklift", "contact": {"email": "a@north.example"}});
    for ad in [&car(1), &car(2), &moped, &forklift] {
        server.client.post("/v3/ad", ad).await.expect(201);
        server.client.published(ad["source_id"].as_str().unwrap()).await;
    }
    let mut changed = car(2);
    changed["body"] = json!("New text");
    let mut wanted = json!(categories::by_vehicle_type("moped").unwrap().example(ApiVersion::V4, &Rulebook::default()));
    wanted["source_id"] = json!("moped-1");
    wanted["category_fields"]["registration_number"] = json!("MOP123");
    wanted.as_object_mut().unwrap().remove("image_urls");
    cli.file("stock.ndjson", ndjson([&car(1), &changed, &wanted]));
    let ended = cli.run("sync apply stock.ndjson --yes").await;
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.stdout.contains("ad-cli migrate-v4 --payloads FILE moped-1"), "{ended:?}");
    assert!(ended.stdout.contains("1 ad of categories without V4 cannot be in the file"), "{ended:?}");
    let version = async |id: &str| server.client.ad(id).await["api_version"].clone();
    assert_eq!((version("car-1").await, version("car-2").await), (json!("v3"), json!("v4")));
    assert_eq!(server.client.ad("forklift").await["state"], "created");
    cli.run("migrate-v4 --payloads stock.ndjson moped-1").await.done();
    server.client.ended("moped-1", "update", None).await;
    cli.run("wait moped-1").await.done();
    assert_eq!(of(&planned(&cli, "stock.ndjson").await, "unchanged").len(), 3);
}

#[tokio::test]
async fn images_are_compared_by_where_they_came_from() {
    let args = ["--image-tries", "1"].map(str::to_owned).to_vec();
    let server = Server::with(Options { args, ..Options::default() }).await;
    let images = ImageHost::start().await;
    let cli = Cli::of(&server);
    let mut ad = car_with_images("car-1", "ABC123", &images);
    let plan = "stock.json --http-images";
    let apply = "sync apply stock.json --http-images --yes";
    cli.file("stock.json", ad.to_string());
    cli.run(apply).await.done();
    assert_eq!(of(&planned(&cli, plan).await, "unchanged"), ["car-1"]);

    // In another order, with one that is not there, and one less.
    for urls in [
        vec![images.url("2.png"), images.url("1.jpg")],
        vec![images.url("2.png"), images.url("missing.jpg"), images.url("1.jpg")],
        vec![images.url("1.jpg")],
        vec![],
    ] {
        ad["image_urls"] = json!(urls);
        cli.file("stock.json", ad.to_string());
        let rows = planned(&cli, plan).await;
        assert_eq!(of(&rows, "update"), ["car-1"], "{urls:?}");
        assert_eq!(rows[0]["changes"][0]["field"], "image_urls");
        cli.run(apply).await.done();
        let rows = planned(&cli, plan).await;
        assert_eq!(of(&rows, "unchanged"), ["car-1"], "{urls:?}: {rows:?}");
        let told = rows[0]["message"].as_str().unwrap_or_default();
        assert_eq!(urls.len() == 3, told.contains("missing.jpg") && told.contains("ad-cli retry car-1"), "{told}");
    }
    // One that is held back for it is told.
    let mut held = car_with_images("held", "HLD123", &images);
    held["dont_publish_on_failed_images"] = json!(true);
    held["image_urls"] = json!([images.url("missing.jpg")]);
    cli.file("held.json", json!([ad, held]).to_string());
    let ended = cli.run("sync apply held.json --http-images --yes").await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("publish: Not published: images failed"), "{ended:?}");
    let shown = cli.run("sync plan held.json --http-images").await;
    assert!(
        shown.done().contains("held: it is not published, or not yet; to show its log: ad-cli log held"),
        "{shown:?}"
    );
    cli.run("delete held --wait --yes").await.done();
    // The others of a list with a missing one are not sent again for another change.
    ad["image_urls"] = json!([images.url("1.jpg"), images.url("missing.jpg")]);
    cli.file("stock.json", ad.to_string());
    cli.run(apply).await.done();
    let tried = images.calls("missing.jpg");
    ad["body"] = json!("New text");
    cli.file("stock.json", ad.to_string());
    cli.run(apply).await.done();
    assert_eq!(
        (images.calls("missing.jpg"), server.client.ad("car-1").await["body"].as_str()),
        (tried, Some("New text"))
    );
}
