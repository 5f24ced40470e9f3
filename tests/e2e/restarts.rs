//! Start and stop: what a server waits for, what it checks, and that a rolling restart refuses nothing.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use ad_tests::{Client, Marketplace, Options, Postgres, Process, Server, command, eventually, installed, ports, run};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// Longer than a client takes to notice, also on a busy machine.
const DELAY: &str = "4s";

/// Two processes on one database, each with a port that it keeps.
struct Pair {
    server: Server,
    args: [Vec<String>; 2],
}

impl Pair {
    async fn start(&self, number: usize) -> Process {
        let args: Vec<&str> = self.args[number].iter().map(String::as_str).collect();
        Process::start(self.server.dir(), &args, &[]).await
    }
}

/// Sends requests to whichever process is ready, as a load balancer does, until it is told to stop. Returns what failed.
async fn load(clients: Vec<Client>, name: usize, done: Arc<AtomicUsize>, stop: Arc<AtomicBool>) -> Vec<String> {
    let mut failed = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let client = eventually("a process is ready", || async {
            for client in clients.iter().cycle().skip(number).take(2) {
                let ready = client.try_send(reqwest::Method::GET, "/readyz", None).await;
                if ready.is_ok_and(|answer| answer.status == 200) {
                    return Some(client);
                }
            }
            None
        })
        .await;
        let car = plain_car(&format!("car-{name}-{number}"), &format!("R{name}{:04}", number % 10_000));
        match client.try_send(reqwest::Method::POST, "/v4/car", Some(car.to_string().into_bytes())).await {
            Ok(answer) if answer.status == 201 => {
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok(answer) => failed.push(format!("{} {}", answer.status, answer.json())),
            Err(error) => failed.push(format!("{error:?}")),
        }
    }
    failed
}

async fn a_rolling_restart_refuses_nothing(database: Option<String>) {
    let database = database.map_or_else(Vec::new, |url| vec!["--database-url".to_owned(), url]);
    let server =
        Server::with(Options { args: [&["--workers=0".to_owned()], &database[..]].concat(), ..Options::default() })
            .await;
    let token = [
        &["token", "issue", "--dealer-code", "north-cars"][..],
        &database.iter().map(String::as_str).collect::<Vec<_>>(),
    ]
    .concat();
    let token = server.command(&token).await.trim().to_owned();
    let args = [(); 2].map(|()| {
        let listen = format!("127.0.0.1:{}", ports::lasting());
        let args = ["serve", "--workers", "0", "--listen", &listen, "--shutdown-delay", DELAY].map(str::to_owned);
        [&args[..], &database].concat()
    });
    let pair = Pair { server, args };
    let mut processes = [pair.start(0).await, pair.start(1).await];
    let clients: Vec<_> =
        processes.iter().map(|process| Client::new(process.base.clone(), Some(token.clone()))).collect();
    let (done, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let loads = [0, 1, 2].map(|name| {
        // Connections of its own, which stay open.
        let clients = clients.iter().map(Client::anew).collect();
        tokio::spawn(load(clients, name, Arc::clone(&done), Arc::clone(&stop)))
    });
    let more = async |count: usize| {
        let before = done.load(Ordering::Relaxed);
        eventually("requests go on", || async { (done.load(Ordering::Relaxed) >= before + count).then_some(()) }).await;
    };
    more(10).await;
    for (number, process) in processes.iter_mut().enumerate() {
        process.signal("TERM").await;
        let client = &clients[number];
        eventually("it says that it is going to stop", || async {
            (client.get("/readyz").await.status == 503).then_some(())
        })
        .await;
        let still = client.get("/v4/ad?limit=1").await;
        assert_eq!((still.status.as_u16(), still.header("connection")), (200, Some("close")), "and still serves");
        more(5).await;
        assert_eq!(process.ended().await.code(), Some(0));
        *process = pair.start(number).await;
        more(5).await;
    }
    stop.store(true, Ordering::Relaxed);
    for load in loads {
        assert_eq!(load.await.unwrap(), Vec::<String>::new(), "refused");
    }
}

#[tokio::test]
async fn a_rolling_restart_of_two_processes_refuses_nothing() {
    a_rolling_restart_refuses_nothing(None).await;
    if let Some(postgres) = Postgres::shared().await {
        a_rolling_restart_refuses_nothing(Some(postgres.database().await)).await;
    }
}

#[tokio::test]
async fn the_listener_of_metrics_says_whether_the_process_is_ready() {
    let args = ["--metrics-listen", "127.0.0.1:0", "--shutdown-delay", DELAY].map(str::to_owned).to_vec();
    let mut server = Server::with(Options { args, ..Options::default() }).await;
    let metrics = eventually("it says where metrics are", || async {
        let line = server.said().into_iter().find(|line| line.contains("metrics at http://"))?;
        let (_, address) = line.split_once("metrics at ")?;
        Some(address.trim().trim_end_matches("/metrics").to_owned())
    })
    .await;
    let metrics = Client::new(metrics, None);
    assert_eq!(metrics.get("/readyz").await.expect(200), json!({"status": "ok"}));
    server.signal("TERM").await;
    eventually("it is going to stop", || async { (metrics.get("/readyz").await.status == 503).then_some(()) }).await;
    assert_eq!(server.ended().await.code(), Some(0));
}

#[tokio::test]
async fn a_server_waits_for_its_database() {
    let Some(mut postgres) = Postgres::start(&[]).await else { return };
    let url = postgres.database().await;
    let folder = installed().await;
    postgres.stop("fast");
    let args = ["serve", "--listen", "127.0.0.1:0", "--database-url", &url, "--startup-timeout", "10m"];
    let (process, line) = Process::start_until(folder.path(), &args, &[], &["waiting for the database"]).await;
    assert!(line.contains("600 s at most"), "{line}");
    postgres.start_again().await;
    eventually("it serves", || async { process.said().iter().any(|line| line.contains("serving")).then_some(()) })
        .await;

    postgres.stop("fast");
    let mut serve = command(folder.path(), &args[..5]);
    let ended = serve.env("AD_SERVER_STARTUP_TIMEOUT", "1s").output().await.unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
}

/// The results of `ad-server check --json` with this file of settings: whether all is well, and each check with its result.
async fn checked(folder: &std::path::Path, settings: &str) -> (bool, Vec<(String, bool, String)>) {
    std::fs::write(folder.join("ad-server.toml"), settings).unwrap();
    let output = run(folder, &["check", "--json", "--config", "ad-server.toml"]).await;
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |it: &Value| (text(&it["check"]), it["ok"].as_bool().unwrap(), text(&it["detail"]));
    (output.status.success(), checks.iter().map(of).collect())
}

#[tokio::test]
async fn check_reports_all_mistakes_at_once_and_tries_what_a_server_needs() {
    let folder = installed().await;
    let (ok, checks) = checked(folder.path(), "workers = \"many\"\nlisen = 1\n\nread_timeout = \"soon\"\n").await;
    assert!(!ok);
    let details: Vec<_> = checks.iter().map(|(_, ok, detail)| (*ok, detail.as_str())).collect();
    for (number, problem) in
        [(0, "ad-server.toml:1: workers: "), (1, "ad-server.toml:2: lisen: "), (2, "ad-server.toml:4: read_timeout: ")]
    {
        assert!(!details[number].0 && details[number].1.contains(problem), "{details:?}");
    }
    assert_eq!(details.len(), 3, "{details:?}");

    let (ok, checks) = checked(folder.path(), "").await;
    assert!(ok, "{checks:?}");
    let names: Vec<_> = checks.iter().map(|(name, ..)| name.as_str()).collect();
    for name in ["settings", "token keys", "image store", "database", "clock", "primary marketplace"] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }

    std::fs::write(folder.path().join("token"), "secret").unwrap();
    std::fs::write(folder.path().join("dealers.toml"), "[[dealer]]\ncode = 5\n").unwrap();
    let settings = "primary_marketplace = \"http://127.0.0.1:9\"\nprimary_marketplace_token_file = \"token\"\ndealers = \"dealers.toml\"\n\
        catalogue = \"nowhere\"\n";
    let (ok, checks) = checked(folder.path(), settings).await;
    let failed: Vec<_> = checks.iter().filter(|(_, ok, _)| !ok).map(|(name, ..)| name.as_str()).collect();
    assert!(!ok);
    assert_eq!(failed, ["catalogue", "dealers file", "primary marketplace"], "{checks:?}");

    // Settings that do not fit each other, and everything else.
    let settings = "tls_cert = \"cert.pem\"\nread_database_url = \"postgres://standby/ads\"\ncatalogue = \"nowhere\"\n";
    let (ok, checks) = checked(folder.path(), settings).await;
    assert!(!ok);
    let failed: Vec<_> = checks.iter().filter(|(_, ok, _)| !ok).map(|(name, ..)| name.as_str()).collect();
    assert_eq!(failed, ["settings", "settings", "catalogue"], "{checks:?}");
    assert!(checks.iter().any(|(name, ok, _)| name == "database" && *ok), "{checks:?}");
}

/// A process is killed while it publishes an ad. Another goes on with it as soon as it is seen that the first is gone, before the lease has
/// run out.
async fn what_a_killed_process_had_claimed_goes_on(database: Option<String>) {
    let marketplace = Marketplace::start(&[]).await;
    let several = database.is_some();
    let database = database.map_or_else(Vec::new, |url| vec!["--database-url".to_owned(), url]);
    let same: Vec<&str> =
        ["--marketplace-timeout", "60s"].into_iter().chain(database.iter().map(String::as_str)).collect();
    let mut server = Server::with(marketplace.options(&same)).await;
    // It gets no answer to its call.
    marketplace.faults(json!([{"fault": "timeout", "times": 1, "marketplace": "primary"}])).await;
    let asked = || marketplace.process.said().iter().any(|line| line.contains("fault injected"));
    server.client.post("/v4/car", &plain_car("car-1", "KIL001")).await.expect(201);
    eventually("the call", async || asked().then_some(())).await;
    let other = if several {
        let args = ["serve", "--listen", "127.0.0.1:0", "--dealers", "dealers.toml", "--renditions=false"];
        let Options { args: same, env, .. } = marketplace.options(&same);
        let args: Vec<&str> = args.into_iter().chain(same.iter().map(String::as_str)).collect();
        Some(Process::start(server.dir(), &args, &env).await)
    } else {
        None
    };
    server.kill().await;
    if !several {
        server.restart().await;
    }
    let said = || other.as_ref().map_or_else(|| server.said(), Process::said);
    let took_over =
        || said().iter().any(|line| line.contains("going on with what a process that has ended had claimed"));
    eventually("another process goes on", async || took_over().then_some(())).await;
    if several {
        server.restart().await;
    }
    server.client.published("car-1").await;
    assert_eq!(marketplace.listings().await.len(), 2, "one on each marketplace");
}

#[tokio::test]
async fn what_a_killed_process_had_claimed_goes_on_in_sqlite() {
    what_a_killed_process_had_claimed_goes_on(None).await;
}

#[tokio::test]
async fn what_a_killed_process_had_claimed_goes_on_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    what_a_killed_process_had_claimed_goes_on(Some(postgres.database().await)).await;
}
