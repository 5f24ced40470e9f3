//! Promotions by the clock through the API (extensions E9.4), on both databases.

use std::{collections::BTreeSet, time::Duration};

use ad_core::model::Timestamp;
use ad_tests::{Cli, Client, MovedClock, Options, Postgres, Process, Server, eventually, eventually_within};
use fastrand::Rng;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::stock_plans::boat;

const PROMOTIONS: &str = "/v4/promotions";

const TIMEOUT: Duration = Duration::from_mins(3);

/// A server with a clock of its own, whose dealer pays 29.50 for a bump.
async fn server_of(database: &[String], clock: &MovedClock) -> Server {
    let options = Options { args: database.to_vec(), env: clock.env(), ..Options::default() };
    let mut server = Server::with(options).await;
    let path = server.dir().join("dealers.toml");
    let dealers = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, dealers.replacen("bump = [", "zone = \"UTC\"\ntariff = { bump = 29.5 }\nbump = [", 1))
        .unwrap();
    server.stop().await;
    server.restart().await;
    server
}

async fn publish(client: &Client, ids: &[String]) {
    for id in ids {
        client.post("/v4/boat", &boat(id, "Text")).await.expect(201);
    }
    for id in ids {
        client.published(id).await;
    }
}

/// The time of day in an hour, by the clock of the server, without seconds.
async fn in_an_hour(client: &Client, source_id: &str) -> String {
    let created: Timestamp = client.ad(source_id).await["created"].as_str().unwrap().parse().unwrap();
    (created + Duration::from_hours(1)).to_string()[11..16].to_owned()
}

fn path_of(promotion: &Value) -> String {
    format!("{PROMOTIONS}/{}", promotion["id"].as_str().unwrap_or_else(|| panic!("no schedule: {promotion}")))
}

async fn add(client: &Client, select: Value, at: &str) -> Value {
    let sent = json!({"kind": "bump", "select": select, "at": at, "zone": "UTC", "order": "created"});
    client.post(PROMOTIONS, &sent).await.expect(201)
}

/// The runs of a schedule, latest first, when so many have ended.
async fn runs(client: &Client, promotion: &Value, count: usize) -> Vec<Value> {
    let path = format!("{}/runs?limit=500", path_of(promotion));
    eventually_within(TIMEOUT, &format!("{count} runs of {path}"), async || {
        let page = client.try_send(Method::GET, &path, None).await.ok().filter(|it| it.status == 200)?.json();
        let runs = page["results"].as_array().unwrap();
        (runs.len() >= count && runs.iter().all(|run| !run["ended"].is_null())).then(|| runs.clone())
    })
    .await
}

/// The requests that bumped an ad, by its log, when there are some and all are finished.
async fn bumps(client: &Client, source_id: &str) -> BTreeSet<String> {
    eventually(&format!("end of the bumps of {source_id}"), async || {
        let log = client.log(source_id).await;
        let bumps: Vec<_> = log.iter().filter(|entry| entry["action"] == "bump").collect();
        let of = |wanted: &str| {
            let ids = bumps.iter().filter(|entry| entry["state"] == wanted);
            ids.map(|entry| entry["request_id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
        };
        let all = bumps.iter().map(|entry| entry["request_id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>();
        (!all.is_empty() && of("done") == all).then_some(all)
    })
    .await
}

async fn a_schedule_promotes_by_the_clock(database: &[String]) {
    let Some(clock) = MovedClock::start() else { return };
    let server = server_of(database, &clock).await;
    let client = &server.client;
    let ids = ["b1", "b2", "b3"].map(str::to_owned);
    publish(client, &ids).await;
    let hidden = client.patch("/v4/boat/b2", &json!({"visible": false})).await;
    client.ended("b2", "unpublish", hidden.header("x-request-id")).await;
    let at = in_an_hour(client, "b1").await;

    let sent = json!({"kind": "bump", "select": {"category_id": 1060}, "at": at, "zone": "UTC", "order": "created"});
    let answer = client.post(PROMOTIONS, &sent).await;
    let location = answer.header("location").unwrap().to_owned();
    let made = answer.expect(201);
    assert!(location.ends_with(&path_of(&made)), "{location}");
    assert_eq!(client.get(&path_of(&made)).await.expect(200), made);
    assert_eq!(client.get(PROMOTIONS).await.expect(200)["results"], json!([made]));
    let preview = client.post(&format!("{}/preview", path_of(&made)), &Value::Null).await.expect(200);
    let skipped = json!([{"source_id": "b2", "code": "ad_hidden"}]);
    assert_eq!(
        preview,
        json!({"due": made["next_run"], "promoted": [{"source_id": "b1", "cost": 29.5}, {"source_id": "b3", "cost": 29.5}],
            "skipped": skipped, "cost": 59, "currency": preview["currency"]})
    );
    assert!(runs(client, &made, 0).await.is_empty());

    // Two hours later it has run, once.
    clock.set("+2h");
    let done = runs(client, &made, 1).await;
    assert_eq!((&done[0]["due"], &done[0]["skipped"], &done[0]["cost"]), (&made["next_run"], &skipped, &json!(59)));
    for (place, id) in [(0, "b1"), (1, "b3")] {
        let request = done[0]["promoted"][place]["request_id"].as_str().unwrap().to_owned();
        assert_eq!(bumps(client, id).await, BTreeSet::from([request.clone()]));
        let status = client.get(&format!("/v4/requests/{request}")).await.expect(200);
        assert_eq!((&status["source_id"], &status["state"]), (&json!(id), &json!("done")));
    }
    // A budget is that of a month; a run that was missed for days happens once.
    let limited = client.patch(&path_of(&made), &json!({"budget": 88.5, "most_per_run": 5})).await.expect(200);
    assert_eq!((&limited["budget"], &limited["last_run"]), (&json!(88.5), &made["next_run"]));
    clock.set("+26h");
    let done = runs(client, &made, 2).await;
    let month = |run: &Value| run["started"].as_str().unwrap()[..7].to_owned();
    if month(&done[0]) == month(&done[1]) {
        assert_eq!(done[0]["cost"], 29.5, "{done:?}");
        assert_eq!(done[0]["skipped"][1], json!({"source_id": "b3", "code": "budget_exceeded"}));
    }
    client.patch(&path_of(&made), &json!({"budget": null})).await.expect(200);
    clock.set("+170h");
    runs(client, &made, 3).await;
    // The clock is set back: nothing is done again, and after a pause neither.
    clock.set("+26h");
    client.patch(&path_of(&made), &json!({"paused": true})).await.expect(200);
    let resumed = client.patch(&path_of(&made), &json!({"paused": false})).await.expect(200);
    assert!(resumed["next_run"].as_str() > resumed["last_run"].as_str(), "{resumed}");
    clock.set("+170h");
    assert_eq!(runs(client, &made, 4).await.len(), 4);
    let other = add(client, json!({"source_id": "b1"}), "00:00").await;
    clock.set("+195h");
    runs(client, &other, 1).await;
    let done = runs(client, &made, 5).await;
    let due: BTreeSet<_> = done.iter().map(|run| run["due"].as_str().unwrap()).collect();
    assert_eq!((done.len(), due.len()), (5, 5), "each run once: {done:?}");
    let removed = client.delete(&path_of(&made)).await.expect(200);
    assert_eq!(removed["id"], made["id"]);
    client.get(&path_of(&made)).await.expect(404);
}

#[tokio::test]
async fn a_schedule_promotes_by_the_clock_on_sqlite() {
    a_schedule_promotes_by_the_clock(&[]).await;
}

#[tokio::test]
async fn a_schedule_promotes_by_the_clock_on_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    a_schedule_promotes_by_the_clock(&["--database-url".to_owned(), postgres.database().await]).await;
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_schedules_are_those_of_the_scope() {
    let server = Server::start().await;
    let client = &server.client;
    let good = json!({"kind": "bump", "select": {"source_id": "b1"}, "at": "02:30"});
    for (change, field) in [
        (json!({"select": {}}), "select"),
        (json!({"select": {"stat": "live"}}), "select"),
        (json!({"zone": "Europe/Malmo"}), "zone"),
        (json!({"at": "25:00"}), "at"),
        (json!({"weekdays": ["monday"]}), "weekdays"),
        (json!({"until": "2020-01-01"}), "until"),
        (json!({"most_per_run": 501}), "most_per_run"),
        (json!({"budget": 0.001}), "budget"),
        (json!({"exclude_primary": true, "exclude_secondary": true}), "exclude_secondary"),
        (json!({"kind": "pole_position", "exclude_primary": true}), "exclude_primary"),
        (json!({"dealer_code": "south-cars"}), "dealer_code"),
    ] {
        let mut sent = good.clone();
        sent.as_object_mut().unwrap().extend(change.as_object().cloned().unwrap());
        let errors = client.post(PROMOTIONS, &sent).await.expect(400);
        assert!(errors.get(field).is_some(), "{sent}: {errors}");
    }
    let errors = client.post(PROMOTIONS, &json!({})).await.expect(400);
    assert_eq!(errors.as_object().unwrap().keys().collect::<Vec<_>>(), ["at", "kind", "select"]);
    client.send(Method::POST, PROMOTIONS, Some(b"[1]".to_vec())).await.expect(400);

    // The selection may name what does not exist: each run says so.
    let made = client.post(PROMOTIONS, &good).await.expect(201);
    assert_eq!((&made["zone"], &made["most_per_run"]), (&json!("Europe/Stockholm"), &json!(100)));
    let preview = client.post(&format!("{}/preview", path_of(&made)), &Value::Null).await.expect(200);
    assert_eq!(preview["skipped"], json!([{"source_id": "b1", "code": "not_found"}]));
    client.patch(&path_of(&made), &json!({"dealer_code": "south-cars"})).await.expect(400);

    let reader = server.client_of(&["--dealer-code", "north-cars", "--permissions", "read"]).await;
    reader.get(&path_of(&made)).await.expect(200);
    reader.post(&format!("{}/preview", path_of(&made)), &Value::Null).await.expect(200);
    reader.post(PROMOTIONS, &good).await.expect(403);
    reader.patch(&path_of(&made), &json!({"paused": true})).await.expect(403);
    reader.delete(&path_of(&made)).await.expect(403);

    let south = server.client_of(&["--dealer-code", "south-cars"]).await;
    for path in [path_of(&made), format!("{}/runs", path_of(&made)), format!("{PROMOTIONS}/7")] {
        south.get(&path).await.expect(404);
    }
    south.post(&format!("{}/preview", path_of(&made)), &Value::Null).await.expect(404);
    south.patch(&path_of(&made), &json!({"paused": true})).await.expect(404);
    south.delete(&path_of(&made)).await.expect(404);
    assert_eq!(south.get(PROMOTIONS).await.expect(200)["count"], 0);
    for _ in 1..100 {
        client.post(PROMOTIONS, &good).await.expect(201);
    }
    let many = client.post(PROMOTIONS, &good).await.expect(409);
    assert!(many["detail"].as_str().unwrap().contains("100"), "{many}");
}

/// Kills a process some time after the schedules are due, day after day.
async fn each_run_happens_once_however_often_processes_are_killed(database: &[String]) {
    const ADS: usize = 20;
    const DAYS: usize = 4;
    let Some(clock) = MovedClock::start() else { return };
    let seed = std::env::var("FAULTS_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("FAULTS_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let mut server = server_of(database, &clock).await;
    // SQLite has one process.
    let args = ["serve", "--listen", "127.0.0.1:0", "--dealers", "dealers.toml", "--renditions=false"];
    let args: Vec<&str> = args.into_iter().chain(database.iter().map(String::as_str)).collect();
    let other = async |server: &Server| match database {
        [] => None,
        _ => Some(Process::start(server.dir(), &args, &clock.env()).await),
    };
    let mut second = other(&server).await;
    let ids: Vec<_> = (0..ADS).map(|n| format!("b{n}")).collect();
    publish(&server.client, &ids).await;
    let at = in_an_hour(&server.client, "b0").await;
    let mut schedules = Vec::new();
    for id in &ids[..ADS / 2] {
        schedules.push(add(&server.client, json!({"source_id": id}), &at).await);
    }
    let all = add(&server.client, json!({"category_id": 1060}), &at).await;
    schedules.push(all);
    for day in 0..DAYS {
        let minutes = 121 + day * 24 * 60;
        clock.set(&format!("+{minutes}m"));
        sleep(Duration::from_millis(random.u64(..900))).await;
        match &mut second {
            Some(process) if random.bool() => {
                process.kill().await;
                second = other(&server).await;
            }
            _ => {
                server.kill().await;
                server.restart().await;
            }
        }
        // The leases of the killed process are over.
        clock.set(&format!("+{}m", minutes + 5));
        for schedule in &schedules {
            assert_eq!(runs(&server.client, schedule, day + 1).await.len(), day + 1);
        }
        for id in &ids {
            bumps(&server.client, id).await;
        }
    }
    let mut promoted = BTreeSet::new();
    for schedule in &schedules {
        for run in runs(&server.client, schedule, DAYS).await {
            for ad in run["promoted"].as_array().unwrap() {
                assert!(promoted.insert(ad["request_id"].as_str().unwrap().to_owned()), "{ad}");
            }
            for ad in run["skipped"].as_array().unwrap() {
                assert_eq!(ad["code"], "already_promoted", "{ad}");
            }
        }
    }
    let mut ordered = BTreeSet::new();
    for id in &ids {
        let bumps = bumps(&server.client, id).await;
        assert_eq!(bumps.len(), DAYS, "{id}: once a day");
        ordered.extend(bumps);
    }
    assert_eq!(ordered, promoted, "every bump is of a run, and each that a run promises was made");
}

#[tokio::test]
async fn each_run_happens_once_however_often_the_process_is_killed_on_sqlite() {
    each_run_happens_once_however_often_processes_are_killed(&[]).await;
}

#[tokio::test]
async fn each_run_happens_once_however_often_two_processes_are_killed_on_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    let database = ["--database-url".to_owned(), postgres.database().await];
    each_run_happens_once_however_often_processes_are_killed(&database).await;
}

#[tokio::test]
async fn dealers_manage_schedules_at_the_command_line() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let run = async |line: &str| cli.run(&format!("promotions {line} --output json")).await;
    let added = run("add bump --select status=live --at 23:30 --budget 1500 --exclude primary --yes").await.json();
    let id = added["id"].as_str().unwrap().to_owned();
    let changed =
        run(&format!("update {id} --at 07:30 --budget none --until 2999-12-31 --exclude none --yes")).await.json();
    let expected = json!({"at": "07:30", "budget": null, "until": "2999-12-31", "exclude_primary": false,
        "exclude_secondary": false, "select": {"status": "live"}, "kind": "bump"});
    for (member, value) in expected.as_object().unwrap() {
        assert_eq!(&changed[member], value, "{member}");
    }
    let selected = run(&format!("update {id} --select source_id=car-1 --until none --yes")).await.json();
    assert_eq!((&selected["select"], &selected["until"]), (&json!({"source_id": "car-1"}), &Value::Null));
    for (line, said) in [
        (format!("update {id} --yes"), "nothing to change"),
        (format!("update {id} --budget 1.234 --yes"), "with at most two decimals"),
        (format!("update {id} --select statsu=live --yes"), "Did you mean"),
        (format!("update {id} --at 07:30"), "--yes"),
    ] {
        let refused = run(&line).await;
        assert!(refused.code != 0 && refused.stderr.contains(said), "{line}: {refused:?}");
    }
    assert!(run(&format!("update {id} --at 09:00 --dry-run")).await.stderr.contains("nothing was changed"));
    run(&format!("pause {id}")).await.done();
    let listed = run("list").await.json();
    assert_eq!((listed[0]["at"].as_str(), &listed[0]["paused"]), (Some("07:30"), &json!(true)));
    run(&format!("remove {id} --yes")).await.done();
    assert_eq!(server.client.get(PROMOTIONS).await.expect(200)["count"], 0);
}
