//! What promotions cost, over HTTP (extensions E9): charges, budgets, the dealer's own limit.

use std::{sync::Mutex, time::Duration};

use ad_tests::{Cli, Client, Options, Postgres, Process, Server, eventually};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::payloads::plain_car;

const ACCOUNT: &str = "/v4/account";
const BUDGET: &str = "/v4/account/budget";
const CHARGES: &str = "/v4/account/charges";

/// The dealers of the tests; `north-cars` has this tariff.
fn dealers(tariff: &str) -> String {
    let known = include_str!("../data/dealers.toml");
    let (north, others) = known.split_once("\n[[dealer]]").expect("several dealers");
    let tariff = tariff.replace(';', "\n");
    format!("{north}\n[dealer.tariff]\n{tariff}\n\n[[dealer]]{others}")
}

/// Imports the dealers again, and waits until the server knows them.
async fn agree(server: &Server, tariff: &str, is_known: impl Fn(&Value) -> bool) {
    std::fs::write(server.dir().join("dealers.toml"), dealers(tariff)).unwrap();
    server.command(&["dealers", "import", "dealers.toml"]).await;
    eventually("the server knows the dealers", async || {
        is_known(&server.client.get(ACCOUNT).await.expect(200)).then_some(())
    })
    .await;
}

async fn account(client: &Client) -> Value {
    client.get(ACCOUNT).await.expect(200)
}

/// Orders a bump, and waits until it has ended.
async fn bumped(client: &Client, source_id: &str) -> Value {
    let answer = client.send(Method::POST, &format!("/v4/ad/{source_id}/bump"), None).await;
    answer.expect(200);
    let request = answer.header("x-request-id").unwrap().to_owned();
    client.ended(source_id, "bump", Some(&request)).await
}

#[tokio::test]
async fn an_account_shows_what_promotions_cost() {
    let server = Server::start().await;
    let client = &server.client;
    let before = account(client).await;
    assert_eq!(before["budget"], json!({"most": null, "own": null, "spent": 0, "reserved": 0, "left": null}));
    client.post("/v4/car", &plain_car("c", "ACC001")).await.expect(201);
    client.published("c").await;
    bumped(client, "c").await;
    assert_eq!(client.get(CHARGES).await.expect(200)["count"], 0, "nothing is charged without a tariff");

    agree(&server, "bump = 29.5; pole_position = 199; budget = 100", |it| it["prices"]["bump"] == 29.5).await;
    bumped(client, "c").await;
    let after = account(client).await;
    assert_eq!(after["budget"], json!({"most": 100, "own": null, "spent": 59, "reserved": 0, "left": 41}));
    assert_eq!(after["charges"], json!({"bump": 2, "pole_position": 0}));
    assert_eq!(after["currency"], "SEK");
    let charges = client.get(&format!("{CHARGES}?kind=bump&state=charged&source_id=c&limit=1")).await.expect(200);
    assert_eq!((&charges["count"], &charges["results"][0]["amount"]), (&json!(2), &json!(29.5)));
    let charge = &charges["results"][0];
    assert_eq!(charge["id"], format!("{}:bump:secondary", charge["request_id"].as_str().unwrap()));

    let events = client.get("/v4/events?types=ad.bump.done").await.expect(200);
    let costs: Vec<_> = events["events"].as_array().unwrap().iter().map(|event| event.get("cost").cloned()).collect();
    assert_eq!(costs, [None, Some(json!({"amount": 59, "currency": "SEK"}))]);

    let refused = client.send(Method::POST, "/v4/car/c/bump", None).await.expect(400);
    assert_eq!(
        refused[0],
        format!("Bump costs 59 SEK, and 41 SEK of the budget for {} are left", after["month"].as_str().unwrap())
    );
    let problem = client.send(Method::POST, "/v4/ad/c/pole_position", None).await;
    assert!(problem.expect(400)[0].as_str().unwrap().starts_with("Pole position costs 199 SEK, and 41 SEK"));
    // On one marketplace it is within the budget.
    client.send(Method::POST, "/v4/car/c/bump?exclude_secondary=true", None).await.expect(200);
    let record = client.get("/v4/ad/c/record").await.expect(200);
    assert_eq!(record["record"]["charges"]["count"], 3);
}

#[tokio::test]
async fn a_dealer_sets_a_limit_of_its_own() {
    let server = Server::start().await;
    agree(&server, "bump = 10; budget = 100", |it| it["budget"]["most"] == 100).await;
    let client = &server.client;
    let set = client.put(BUDGET, &json!({"own": 15.5})).await.expect(200);
    assert_eq!((&set["budget"]["own"], &set["budget"]["left"]), (&json!(15.5), &json!(15.5)));
    assert_eq!(client.put(BUDGET, &json!({"own": null})).await.expect(200)["budget"]["left"], 100);
    for (body, field, text) in [
        (json!({}), "own", "Send the limit for each month, such as 1500, or null for none."),
        (json!({"own": -1}), "own", "Must be from 0 to 1000000000 with at most two decimals, such as 1500."),
        (json!({"own": 0.001}), "own", "Must be from 0 to 1000000000 with at most two decimals, such as 1500."),
        (json!({"own": "5"}), "own", "Send 1500, without quotes."),
        (json!({"own": 5, "ownn": 5}), "ownn", "Unknown field."),
    ] {
        let refused = client.put(BUDGET, &body).await.expect(400);
        assert!(refused[field].to_string().contains(text), "{body}: {refused}");
    }
    let refused = client.put(&format!("{BUDGET}?dealer_code=south-cars"), &json!({"own": 5})).await.expect(400);
    assert!(refused["dealer_code"].to_string().contains("is not a dealer of the token's scope"), "{refused}");
    let reader = server.token(&["--dealer-code", "north-cars", "--permissions", "read", "--expires", "never"]).await;
    let reader = client.with_token(Some(reader));
    assert_eq!(account(&reader).await["budget"]["most"], 100);
    reader.put(BUDGET, &json!({"own": 5})).await.expect(403);
}

#[tokio::test]
async fn a_group_has_a_list_of_accounts() {
    let server = Server::start().await;
    agree(&server, "bump = 10", |it| it["prices"]["bump"] == 10).await;
    let token = server.token(&["--dealer-group", "north", "--expires", "never"]).await;
    let group = server.client.with_token(Some(token));
    let accounts = account(&group).await;
    let codes: Vec<_> = accounts.as_array().unwrap().iter().map(|it| it["dealer_code"].clone()).collect();
    assert!(codes.contains(&json!("north-cars")) && codes.len() > 1, "{codes:?}");
    let refused = group.put(BUDGET, &json!({"own": 5})).await.expect(400);
    assert!(refused["dealer_code"].to_string().contains("set dealer_code to one of"), "{refused}");
    group.put(&format!("{BUDGET}?dealer_code=north-cars"), &json!({"own": 5})).await.expect(200);
}

/// 64 clients bump the ads of a dealer through two processes, at the edge of the budget, while each of the processes is killed.
async fn no_budget_is_exceeded(options: Options) {
    let mut server = Server::with(options.clone()).await;
    agree(&server, "bump = 10; budget = 700", |it| it["budget"]["most"] == 700).await;
    let ads: Vec<String> = (0..64).map(|number| format!("c{number}")).collect();
    for (number, ad) in ads.iter().enumerate() {
        server.client.post("/v4/car", &plain_car(ad, &format!("BUD{number:03}"))).await.expect(201);
    }
    for ad in &ads {
        server.client.published(ad).await;
    }
    let mut args = vec!["serve", "--listen", "127.0.0.1:0", "--allow-private-images"];
    args.extend(options.args.iter().map(String::as_str));
    let mut other = Process::start(server.dir(), &args, &options.env).await;
    let bases = Mutex::new([server.client.base.clone(), other.base.clone()]);
    let (any, bases) = (&server.client.clone(), &bases);
    // Each client repeats its order, through either process, until it knows the answer.
    let order = |(number, ad): (usize, &String)| {
        let (path, key) = (format!("/v4/car/{ad}/bump"), format!("order-{ad}"));
        async move {
            for attempt in number.. {
                let mut client = any.clone();
                client.base.clone_from(&bases.lock().unwrap()[attempt % 2]);
                let sent = client.try_send_with(Method::POST, &path, &[("idempotency-key", key.clone())], None).await;
                match sent.map(|answer| answer.status.as_u16()) {
                    Ok(status @ (200 | 400)) => return status,
                    _ => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
            unreachable!("numbers do not end")
        }
    };
    let orders = join_all(ads.iter().enumerate().map(order));
    let (answers, ()) = tokio::join!(orders, async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        server.kill().await;
        server.restart().await;
        bases.lock().unwrap()[0].clone_from(&server.client.base);
        other.kill().await;
        other = Process::start(server.dir(), &args, &options.env).await;
        bases.lock().unwrap()[1].clone_from(&other.base);
    });
    let refused = answers.iter().filter(|status| **status == 400).count();
    assert!((1..64).contains(&refused), "the budget is for some of them: {answers:?}");
    let client = &server.client;
    let budget = eventually("nothing is reserved", async || {
        let budget = account(client).await["budget"].clone();
        (budget["reserved"] == 0).then_some(budget)
    })
    .await;
    let charges = client.get(&format!("{CHARGES}?state=charged&limit=500")).await.expect(200);
    let paid_bumps = charges["count"].as_i64().unwrap();
    assert!(paid_bumps <= 70 && budget["spent"] == paid_bumps * 10, "{budget} {paid_bumps}");
    // Each confirmed bump has one charge, and each charge a confirmed bump.
    let mut confirmed = 0;
    for ad in &ads {
        let calls = client.get(&format!("/v4/ad/{ad}/calls?limit=500")).await.expect(200);
        let calls = calls["results"].as_array().unwrap().clone();
        for call in calls.iter().filter(|call| call["action"] == "bump" && call["code"].is_null()) {
            let paid = charges["results"].as_array().unwrap().iter().filter(|it| it["id"] == call["idempotency_key"]);
            assert_eq!(paid.count(), 1, "{call}");
            confirmed += 1;
        }
    }
    assert_eq!(confirmed, paid_bumps);
}

#[tokio::test]
async fn no_budget_is_exceeded_in_sqlite() {
    no_budget_is_exceeded(Options::default()).await;
}

#[tokio::test]
async fn no_budget_is_exceeded_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    let args = vec!["--database-url".to_owned(), postgres.database().await];
    no_budget_is_exceeded(Options { args, ..Options::default() }).await;
}

#[tokio::test]
async fn dealers_and_operators_see_the_charges_at_the_command_line() {
    let server = Server::start().await;
    agree(&server, "bump = 29.5; budget = 100", |it| it["prices"]["bump"] == 29.5).await;
    let client = &server.client;
    client.post("/v4/car", &plain_car("=c", "CMD001")).await.expect(201);
    client.published("=c").await;
    bumped(client, "=c").await;
    let cli = Cli::of(&server);
    let account = cli.run("account --output json").await.json();
    assert_eq!((&account["budget"]["spent"], &account["budget"]["left"]), (&json!(59), &json!(41)));
    assert_eq!(cli.run("budget 70 --output json").await.json()["budget"]["left"], 11);
    let asked = cli.run("bump =c --dry-run").await;
    assert!(
        asked.stderr.contains("costs at most 59 SEK (2 × 29.50); 11 SEK of the budget for ")
            && asked.stderr.contains(" are left"),
        "{asked:?}"
    );
    let refused = cli.run("bump =c --yes").await;
    assert!(refused.code != 0 && refused.stderr.contains("Bump costs 59 SEK, and 11 SEK of the budget"), "{refused:?}");
    assert_eq!(cli.run("budget none --output json").await.json()["budget"]["own"], Value::Null);
    let wrong = cli.run("budget 1.234").await;
    assert!(wrong.code == 2 && wrong.stderr.contains("with at most two decimals"), "{wrong:?}");
    let charges = cli.run("account charges --kind bump --output json").await.json();
    assert_eq!((charges[0]["amount"].as_f64(), &charges[0]["state"]), (Some(29.5), &json!("charged")));
    assert!(cli.run("account charges").await.done().contains("secondary"), "for people");

    let month = account["month"].as_str().unwrap();
    let csv = server.command(&["charges", "export", "--month", month]).await;
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(lines[0], "dealer_code,at,source_id,kind,marketplace,amount,currency,state,request_id,asked_by,id");
    assert!(
        lines.len() == 3
            && lines[1].starts_with("north-cars,")
            && lines[1].contains(",'=c,bump,primary,29.50,SEK,charged,"),
        "{csv}"
    );
    let json = server.command(&["charges", "export", "--month", month, "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()[1]["source_id"], "=c");
    let shown = server.command(&["dealers", "show", "north-cars"]).await;
    assert!(shown.contains("BUDGET PER MONTH"), "{shown}");

    // The charges belong to what is held of the dealer, and stay without the ad.
    client.put(BUDGET, &json!({"own": 70})).await.expect(200);
    server.command(&["export", "--dealer-code", "north-cars", "--output", "north.ndjson"]).await;
    let exported = std::fs::read_to_string(server.dir().join("north.ndjson")).unwrap();
    let rows: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((of_kind("charge").len(), &of_kind("own_budget")[0]["own"]), (2, &json!(7000)));
    assert_eq!(of_kind("charge")[0]["amount"], 2950);
    client.delete("/v4/ad/%3Dc").await.expect(200);
    client.ended("%3Dc", "delete", None).await;
    server.command(&["erase", "--dealer-code", "north-cars", "--source-id", "=c", "--yes"]).await;
    let charges = client.get(CHARGES).await.expect(200);
    assert_eq!((&charges["count"], &charges["results"][0]["source_id"]), (&json!(2), &Value::Null));
    assert_eq!(self::account(client).await["budget"]["spent"], 59);
}
