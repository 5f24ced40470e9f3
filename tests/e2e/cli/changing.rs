//! Short commands for everyday changes, and the questions before those that cost or cannot be undone.

use ad_tests::{Cli, ImageHost, Server};
use serde_json::json;

use super::{
    sync::ndjson,
    terminal::{at_terminal, is_possible},
};
use crate::payloads::{boat, car, plain_car};

async fn priced_car(server: &Server, source_id: &str, plate: &str) {
    let mut car = plain_car(source_id, plate);
    car["price"] = json!([{"type": "list", "amount": 349_900}]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published(source_id).await;
}

#[tokio::test]
async fn what_cannot_be_undone_needs_a_yes() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    priced_car(&server, "car-1", "ABC101").await;
    for line in ["delete car-1", "sold car-1", "bump car-1", "pole-position car-1"] {
        let ended = cli.run(line).await;
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(ended.stderr.contains("cannot ask for confirmation without a terminal"), "{line}: {ended:?}");
        assert!(ended.stderr.contains("add --yes"), "{line}: {ended:?}");
        let dry = cli.run(&format!("{line} --dry-run")).await;
        assert!(dry.done().contains("ABC101") && dry.stderr.contains("nothing was changed (--dry-run)"), "{dry:?}");
    }
    assert_eq!(cli.run("delete car-1 missing --dry-run").await.code, 1);
    let actions: Vec<_> = server.client.log("car-1").await.iter().map(|entry| entry["action"].clone()).collect();
    assert!(
        !actions.iter().any(|action| ["bump", "boost", "delete"].contains(&action.as_str().unwrap())),
        "{actions:?}"
    );
    cli.run("sold ABC101 --dry-run").await.done();
    cli.run("delete car-1 --yes --wait").await.done();
    assert_eq!(server.client.ad("car-1").await["state"], "deleted");
}

#[tokio::test]
async fn a_terminal_shows_what_it_asks_about() {
    if !is_possible() {
        return;
    }
    let server = Server::start().await;
    let cli = Cli::of(&server).with("NO_COLOR", "1");
    priced_car(&server, "car-1", "ABC101").await;
    let no = at_terminal(&cli, "sold ABC101", "n\n").await;
    assert_eq!(no.code, 1, "{no:?}");
    for told in ["349,900 SEK", "Delete 1 ad? This is permanent", "[y/N]", "nothing was changed"] {
        assert!(no.stdout.contains(told), "{told}: {no:?}");
    }
    assert_eq!(server.client.ad("car-1").await["state"], "created");
    let yes = at_terminal(&cli, "sold ABC101 --wait", "y\n").await;
    assert_eq!(yes.code, 0, "{yes:?}");
    assert_eq!(server.client.ad("car-1").await["state"], "deleted");

    let ads: Vec<_> = (2..22).map(|number| plain_car(&format!("car-{number}"), &format!("ABC1{number:02}"))).collect();
    cli.file("stock.ndjson", ndjson(&ads));
    cli.run("sync apply stock.ndjson --yes").await.done();
    cli.file("stock.ndjson", ndjson(&ads[1..]));
    let dry = cli.run("sync apply stock.ndjson --dry-run").await;
    assert!(dry.done().contains("1 to delete") && dry.stderr.contains("nothing was changed (--dry-run)"), "{dry:?}");
    let asked = at_terminal(&cli, "sync apply stock.ndjson", "n\n").await;
    assert!(asked.stdout.contains("Make these changes (1 ad; 1 deletion, permanent)? [y/N]"), "{asked:?}");
    assert_eq!(server.client.ad("car-2").await["state"], "created");
}

#[tokio::test]
async fn a_second_bump_within_minutes_is_warned_of() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    priced_car(&server, "car-1", "ABC101").await;
    let first = cli.run("bump car-1 --yes --wait").await;
    first.done();
    assert!(!first.stderr.contains("warning:"), "{first:?}");
    let second = cli.run("bump car-1 --yes --wait").await;
    second.done();
    assert!(second.stderr.contains("warning: car-1: the last bump was "), "{second:?}");
    assert!(second.stderr.contains("another one is charged again"), "{second:?}");
}

#[tokio::test]
async fn changes_show_what_was_and_what_becomes() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    priced_car(&server, "car-1", "ABC101").await;
    let dry = cli.run("price ABC101 329900 --dry-run").await;
    assert_eq!(dry.json(), json!({"price": [{"type": "list", "amount": 329_900, "currency": "SEK"}]}));
    assert_eq!(dry.stderr, "car-1: price: list 349,900 → 329,900 SEK\n");
    assert_eq!(server.client.ad("car-1").await["price"][0]["amount"], 349_900);

    let reduced = cli.run("price car-1 339900 --reduced --wait").await;
    reduced.done();
    assert!(reduced.stderr.contains("reduced (none) → 339,900 SEK"), "{reduced:?}");
    assert_eq!(server.client.ad("car-1").await["price"][1]["type"], "reduced");
    let more = cli.run("price car-1 359900 --reduced").await;
    assert_eq!(more.code, 2);
    assert!(more.stderr.contains("not below the list price 349900 SEK"), "{more:?}");
    cli.run("price car-1 329900 --wait").await.done();
    assert_eq!(server.client.ad("car-1").await["price"].as_array().unwrap().len(), 1);
    assert_eq!(cli.run("price car-1 329.900").await.code, 2, "it has two readings");
    let swapped = cli.run("price 329900 CAR123").await;
    assert!(swapped.code == 2 && swapped.stderr.contains("first the plate or source id"), "{swapped:?}");
    cli.args(["price", "car-1", "319 900 kr", "--wait"]).await.done();
    assert_eq!(server.client.ad("car-1").await["price"][0]["amount"], 319_900);
    let far = cli.run("price car-1 31").await;
    assert!(far.done().contains("accepted") && far.stderr.contains("100 % below the price of now, 319,900"), "{far:?}");
    cli.run("price car-1 329,900 --wait").await.done();
    // The first list price of an ad that is for leasing, and an amount in place of a call.
    let leasing = json!({"price": [{"type": "monthly", "amount": 3_995}]});
    server.client.patch("/v4/car/car-1", &leasing).await.expect(200);
    let first = cli.run("price car-1 3500 --dry-run").await;
    assert!(first.stderr.contains("no list price, only monthly 3,995 SEK; 3,500 becomes its list price"), "{first:?}");
    let call = json!({"price": [{"type": "call", "amount": 0}]});
    server.client.patch("/v4/car/car-1", &call).await.expect(200);
    let after = cli.run("price car-1 329,900 --wait").await;
    assert!(after.done().contains("published") && !after.stderr.contains("warning"), "{after:?}");
    assert_eq!(server.client.ad("car-1").await["price"].as_array().unwrap().len(), 1);

    let hidden = cli.run("hide car-1 --wait").await;
    hidden.done();
    assert!(hidden.stderr.contains("car-1: visible: true → false"), "{hidden:?}");
    assert_eq!(server.client.ad("car-1").await["visible"], false);
    cli.run("show ABC101 --wait").await.done();
    assert_eq!(server.client.ad("car-1").await["visible"], true);

    let named = cli.run("update car-1 --set color=red --set make=volvo --wait").await;
    named.done();
    assert!(named.stderr.contains("car-1: category_fields.color: (none) → red"), "{named:?}");
    assert_eq!(server.client.ad("car-1").await["category_fields"]["brand"], "volvo");
    let wrong = cli.run("update car-1 --set colr=red").await;
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("car has no field colr") && wrong.stderr.contains("category_fields.color"),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn several_ads_are_hidden_and_shown_again() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    for (source_id, plate) in [("car-1", "ABC101"), ("car-2", "ABC102")] {
        priced_car(&server, source_id, plate).await;
    }
    let dry = cli.run("hide car-1 ABC102 --dry-run").await;
    assert_eq!(dry.json(), json!({"car-1": {"visible": false}, "car-2": {"visible": false}}));
    assert_eq!(dry.stderr, "car-1: visible: true → false\ncar-2: visible: true → false\n");
    assert_eq!(cli.run("hide car-1 missing --dry-run").await.code, 1);
    assert_eq!(server.client.ad("car-1").await["visible"], true);

    let hidden = cli.run("hide car-1 missing car-2 --wait --fields source_id,outcome --output ndjson").await;
    assert_eq!(hidden.code, 1, "{hidden:?}");
    let outcomes: Vec<_> = hidden.stdout.lines().map(|row| row.contains("\"hidden\"")).collect();
    assert_eq!(outcomes, [true, false, true], "{hidden:?}");
    for source_id in ["car-1", "car-2"] {
        assert_eq!(server.client.ad(source_id).await["visible"], false);
    }
    cli.run("show car-1 car-2 --wait").await.done();
    assert_eq!(server.client.ad("car-2").await["visible"], true);
    let missing = cli.run("hide missing").await;
    assert!(missing.code == 1 && missing.stderr.contains("the source id or plate missing"), "{missing:?}");
}

#[tokio::test]
async fn an_ad_is_edited_and_validated_before_it_is_sent() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    priced_car(&server, "car-1", "ABC101").await;
    let with = |editor: &str| Cli::of(&server).with("EDITOR", editor);
    let edited = with("sed -i s/2019/2020/").run("edit ABC101 --yes --wait").await;
    edited.done();
    assert!(edited.stderr.contains("car-1: category_fields.model_year: 2019 → 2020"), "{edited:?}");
    assert_eq!(server.client.ad("car-1").await["category_fields"]["model_year"], 2020);

    let unchanged = with("true").run("edit car-1 --yes").await;
    assert_eq!((unchanged.done(), unchanged.stderr.as_str()), ("", "nothing was changed\n"));
    let cleared = with("sed -i /price/,/]/d").run("edit car-1 --dry-run").await;
    assert!(cleared.done().contains("price"), "{cleared:?}");
    let before = server.client.log("car-1").await.len();
    for (editor, told) in [
        ("sed -i s/2020/1066/", "category_fields.model_year is 1066"),
        ("sed -i s/model_year/modelyear/", "category_fields.modelyear"),
        ("sed -i s/car-1/car-2/", "source_id"),
        ("sed -i s/2020/,/", "error: "),
    ] {
        let invalid = with(editor).run("edit car-1 --yes").await;
        assert_eq!(invalid.code, 3, "{editor}: {invalid:?}");
        assert!(invalid.stdout.contains(told), "{editor}: {invalid:?}");
    }
    assert_eq!(with("false").run("edit car-1 --yes").await.code, 1);
    assert_eq!(with("no-such-editor").run("edit car-1 --yes").await.code, 2);
    assert_eq!(server.client.log("car-1").await.len(), before, "nothing was sent");
    assert_eq!(cli.run("get car-1 --output json").await.json()["source_id"], "car-1");
}

#[tokio::test]
async fn vehicle_types_have_the_names_that_people_use() {
    let cli = Cli::new();
    for (name, vehicle_type) in
        [("van", "transport"), ("bil", "car"), ("traktor", "agriculture-tractor"), ("motorhome", "camper")]
    {
        let new = cli.run(&format!("new {name} --source-id 4711")).await;
        let payload = new.json();
        assert_eq!((&payload["source_id"], &payload["visible"]), (&json!("4711"), &json!(false)), "{name}");
        let types = cli.run("fields --output ndjson").await.ndjson();
        let row = types.iter().find(|row| row["category_id"] == payload["category_id"]).unwrap();
        assert_eq!(row["vehicle_type"], vehicle_type, "{name}");
    }
    assert_eq!(cli.run("new rocket").await.code, 2);
}

#[tokio::test]
async fn an_export_of_payloads_is_a_stock_file() {
    let server = Server::start().await;
    let images = ImageHost::start().await;
    let cli = Cli::of(&server);
    let mut hidden = plain_car("car-2", "ABC102");
    hidden["visible"] = json!(false);
    let mut second = car("car-1", "ABC101", &images);
    second["price"] = json!([{"type": "list", "amount": 349_900}, {"type": "leasing", "amount": 3_990}]);
    for (path, ad) in
        [("car", second), ("car", hidden), ("boat", boat("boat-1", &images)), ("car", plain_car("gone", "ABC103"))]
    {
        cli.piped(&format!("create - --type {path} --no-check --wait"), ad.to_string()).await.done();
    }
    cli.run("delete gone --yes --wait").await.done();
    let exported = cli.run("export --payloads").await;
    let payloads = exported.ndjson();
    assert_eq!(payloads.len(), 3, "without the deleted one: {exported:?}");
    let of_car = payloads.iter().find(|payload| payload["source_id"] == "car-1").unwrap();
    assert_eq!(of_car["image_urls"], json!([images.url("1.jpg"), images.url("2.png")]));
    assert!(of_car.get("title").is_none() && of_car.get("id").is_none() && of_car.get("state").is_none(), "{of_car}");
    cli.file("stock.ndjson", &exported.stdout);
    let planned = cli.run("sync plan stock.ndjson --http-images").await;
    assert_eq!(planned.done(), "stock.ndjson: 3 unchanged; nothing to do\n");
    assert_eq!(cli.run("export --payloads --output csv").await.code, 2);
    // The ads as the service shows them would lose their photos.
    cli.file("ads.ndjson", &cli.run("export").await.stdout);
    let refused = cli.run("sync plan ads.ndjson --http-images").await;
    assert!(
        refused.stdout.contains("ad-cli export --payloads") && !refused.stdout.contains("image_urls:"),
        "{refused:?}"
    );
    cli.file("ads.csv", &cli.run("export --output csv").await.stdout);
    let list = cli.run("sync plan ads.csv").await;
    assert!(list.code == 2 && list.stderr.contains("ads.csv is a list of ads"), "{list:?}");
}

#[tokio::test]
async fn a_dry_run_of_creating_creates_nothing() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("car.json", plain_car("car-1", "ABC101").to_string());
    let dry = cli.run("create car.json --dry-run").await;
    dry.done();
    assert!(dry.stderr.contains("car.json is valid; nothing was changed (--dry-run)"), "{dry:?}");
    let import = cli.run("import car.json --dry-run").await;
    assert!(import.done().is_empty() || import.stderr.contains("1 valid"), "{import:?}");
    assert!(!cli.home().join("car.json.journal").exists());
    server.client.get("/v4/ad/car-1").await.expect(404);
    let mut wrong = plain_car("car-2", "ABC102");
    wrong["category_fields"]["salesperson"] = json!("nobody@north.example");
    cli.file("wrong.json", wrong.to_string());
    assert_eq!(cli.run("create wrong.json --dry-run").await.code, 3, "only the service knows the salespersons");
}
