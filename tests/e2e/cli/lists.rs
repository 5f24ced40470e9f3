//! `list` with every filter, and `export`.

use ad_parameters::AD_PARAMETERS;
use ad_tests::{Cli, Server};
use serde_json::json;

use super::redacted;
use crate::payloads::{plain_boat, plain_car};

async fn stock(server: &Server, cars: usize) {
    for number in 0..cars {
        let mut car = plain_car(&format!("car-{number}"), &format!("ABC10{number}"));
        car["category_fields"]["brand"] = json!("volvo");
        car["price"] = json!([{"type": "list", "amount": 100_000 + number}]);
        server.client.post("/v4/car", &car).await.expect(201);
    }
    let mut boat = plain_boat();
    boat["source_id"] = json!("boat-1");
    server.client.post("/v4/boat", &boat).await.expect(201);
}

#[tokio::test]
async fn a_list_is_a_table_for_people() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    stock(&server, 2).await;
    server.client.published("car-0").await;
    let listed = cli.run("list --type car --ordering source_id --limit 1").await;
    let expected = [
        "SOURCE ID  STATUS  PLATE   TITLE       PRICE        PHOTOS  TYPE",
        "car-0      live    ABC100  Volvo 2019  100,000 SEK  none    car",
    ];
    assert_eq!(listed.done().lines().map(str::trim_end).collect::<Vec<_>>(), expected);
    let more = cli.run("list --type car --ordering source_id --limit 1 --verbose").await;
    assert!(redacted(more.done(), &cli, None).lines().nth(1).unwrap().trim_end().ends_with("<time>"), "{more:?}");
    assert_eq!(listed.stderr, "1 of 2 ads; use --all for all of them, or --offset for another page\n");
    assert_eq!(cli.run("list --state deleted").await.stderr, "no ads\n");
}

#[tokio::test]
async fn a_list_as_csv_has_the_columns_of_the_table_with_amount_and_currency_apart() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    stock(&server, 1).await;
    server.client.published("car-0").await;
    server.client.published("boat-1").await;
    let listed = cli.run("list -o csv --ordering -source_id").await;
    let ad = server.client.ad("car-0").await;
    let text = |name: &str| ad[name].as_str().unwrap().to_owned();
    let header = "source_id,status,plate,title,price,currency,price_type,photos,type,category_id,state,dealer_code,\
                  marketplace_ad_id,offer_id,created,updated";
    let car = format!(
        "car-0,live,ABC100,Volvo 2019,100000,SEK,list,0,car,1020,created,north-cars,{},{},{},{}",
        text("marketplace_ad_id"),
        ad["offer_id"].as_str().unwrap_or_default(),
        text("created"),
        text("updated")
    );
    let lines: Vec<_> = listed.done().lines().collect();
    assert_eq!(lines[..2], [header, &car]);
    assert!(lines[2].starts_with("boat-1,live,,"), "a boat has no plate: {}", lines[2]);
    assert_eq!(lines.len(), 3);
    // Fields that are asked for are columns of their paths, as always.
    let chosen = cli.run("list --source-id car-0 -o csv --fields source_id,price.0.amount,price.0.currency").await;
    assert_eq!(chosen.done(), "source_id,price.0.amount,price.0.currency\ncar-0,100000,SEK\n");
}

#[tokio::test]
async fn every_filter_is_an_option_and_is_sent_as_it_is() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    stock(&server, 3).await;
    let ad = server.client.published("car-1").await;
    let (id, listing) = (ad["id"].as_str().unwrap(), ad["marketplace_ad_id"].as_str().unwrap());
    let value = |name: &str| match name {
        "id" => id.to_owned(),
        "state" => "created".to_owned(),
        "status" => "live".to_owned(),
        "source_id" => "car-1".to_owned(),
        "source_id__in" => "car-1,none".to_owned(),
        "source_id__icontains" => "AR-1".to_owned(),
        "dealer_code" => "north-cars".to_owned(),
        "category_id" => "1020".to_owned(),
        "category_id__in" => "1020,1021".to_owned(),
        "search" | "q" | "brand" => "volvo".to_owned(),
        "marketplace_ad_id" => listing.to_owned(),
        "marketplace_ad_id__in" => format!("{listing},x"),
        "registration_number" => "abc101".to_owned(),
        "created__gt" | "created__gte" | "updated__gt" | "updated__gte" => "2020-01-01 00:00:00".to_owned(),
        "created__lt" | "created__lte" | "updated__lt" | "updated__lte" => "2099-01-01T00:00:00Z".to_owned(),
        "quality_score__lt" => "100".to_owned(),
        "price__lt" => "1000000000".to_owned(),
        "image_count__lt" => "1000".to_owned(),
        "failed_images" => "false".to_owned(),
        "limit" => "5".to_owned(),
        "offset" | "quality_score__gte" | "price__gte" | "image_count__gte" => "0".to_owned(),
        "ordering" => "-source_id".to_owned(),
        "fields" => "source_id,state".to_owned(),
        "include" => "log".to_owned(),
        other => panic!("{other} is new: give it a value here"),
    };
    for parameter in AD_PARAMETERS {
        let option = format!("--{}", parameter.name.replace("__", "-").replace('_', "-"));
        let listed = ad_tests::eventually(parameter.name, || async {
            let listed = cli.args(["list", &option, &value(parameter.name), "--output", "json"]).await;
            // The index for searching may lag by a second.
            (listed.code == 0 && listed.json() != json!([])).then_some(listed)
        })
        .await;
        let direct = server
            .client
            .get(&format!("/v4/ad?{}={}", parameter.name, value(parameter.name).replace(' ', "%20")))
            .await;
        let ids = |rows: &serde_json::Value| {
            rows.as_array().unwrap().iter().map(|ad| ad["source_id"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&listed.json()), ids(&direct.expect(200)["results"]), "{}", parameter.name);
    }
}

#[tokio::test]
async fn wrong_filters_are_told_before_anything_is_sent() {
    let cli = Cli::new().with("AD_URL", "http://127.0.0.1:9").with("AD_TOKEN", "t");
    for (line, told) in [
        ("list --state crated", "created"),
        ("list --stat created", "--state"),
        (
            "list --created-gt yesterday",
            "error: --created-gt: Enter a valid date and time, in UTC: YYYY-MM-DD HH:MM:SS.",
        ),
        ("list --limit 501", "error: --limit: Must be 1 to 500."),
        ("list --fields source_id,titel", "Did you mean \"title\"?"),
        ("list --id 7", "error: --id: Must be a valid UUID."),
        ("log car-1 --request-id 7", "error: --request-id: Must be a valid UUID."),
    ] {
        let ended = cli.run(line).await;
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(ended.stderr.contains(told), "{line}: {ended:?}");
    }
}

#[tokio::test]
async fn all_pages_are_listed_and_exported() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    stock(&server, 6).await;
    let all = cli.run("list --all --limit 2 --fields source_id --ordering source_id --output csv").await;
    let mut expected = vec!["source_id".to_owned(), "boat-1".to_owned()];
    expected.extend((0..6).map(|number| format!("car-{number}")));
    assert_eq!(all.done().lines().collect::<Vec<_>>(), expected);
    for number in 0..6 {
        server.client.published(&format!("car-{number}")).await;
    }
    server.client.published("boat-1").await;
    let exported = cli.run("export").await;
    assert_eq!(exported.stderr, "7 ads\n");
    let rows = exported.ndjson();
    assert_eq!(rows.len(), 7);
    let direct = server.client.get("/v4/ad?ordering=created").await.expect(200);
    assert_eq!(json!(rows), direct["results"], "as the service shows them");
    let boats = cli.run("export --type boat --log --output json").await.json();
    assert_eq!((boats.as_array().unwrap().len(), boats[0]["log"].is_array()), (1, true));
}

#[tokio::test]
async fn nobody_reading_on_is_no_error() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    stock(&server, 1).await;
    for line in ["export", "list", "completions bash", "man", "get boat-1", "--help"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = cli.command(line.split(' '));
        let process = command.arg("--quiet").stdout(writer).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let output = process.wait_with_output().await.unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    }
}
