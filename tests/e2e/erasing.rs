//! `ad-server erase`: nothing of what a dealer wrote is left in any file, and what others have stays.

use std::path::Path;

use ad_tests::{Client, ImageHost, Options, Postgres, Server, command, eventually};
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection, SqliteConnection};

use crate::{
    console::{
        Visitor,
        excel::{form_of, send},
    },
    payloads::{boat, plain_car},
};

/// A word that stands in every text of the erased ads, and nowhere else.
const MARK: &str = "kvastkonduktor";

/// Files below a folder that contain the mark, whatever the case of its letters.
fn marked(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(marked(&path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            let bytes = bytes.to_ascii_lowercase();
            if bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// The number of image files.
fn images_in(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { images_in(&path) } else { 1 }).sum()
}

struct Site {
    server: Server,
    database: Vec<String>,
}

impl Site {
    /// `ad-server erase` of the dealer.
    fn erase(&self, args: &[&str]) -> tokio::process::Command {
        let database = self.database.iter().map(String::as_str);
        let all: Vec<&str> = ["erase", "--dealer-code", "north-cars", "--json"]
            .into_iter()
            .chain(args.iter().copied())
            .chain(database)
            .collect();
        command(self.server.dir(), &all)
    }

    async fn erased(&self, args: &[&str]) -> Value {
        let output = self.erase(args).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// A file of the stock in the console whose name is marked, and what somebody says about a marked word in it.
async fn sends_a_stock_file(client: &Client) {
    let visitor = Visitor::signed_in(client).await;
    let file = "Regnr;Märke;Modell;Årsmodell\nERA008;Volvo;V60;2019\nERA009;Kvastkonduktor;V60;2019\n";
    let columns = send(&visitor, "kvastkonduktor.csv", file.as_bytes()).await.unwrap();
    let page = visitor.page(&columns).await;
    let word = page.split("name=\"value|").nth(1).and_then(|rest| rest.split('"').next()).expect("a word is not known");
    let mut form = form_of(&page);
    form.retain(|(name, _)| !name.starts_with("value|"));
    form.extend([(format!("value|{word}"), "volvo".to_owned()), ("do".to_owned(), "compare".to_owned())]);
    let form: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let made = visitor.post(&columns, &form).await;
    let plan = made.header("location").expect("it is compared").to_owned();
    eventually("it is compared", async || visitor.page(&plan).await.contains("2 are new").then_some(())).await;
}

async fn nothing_is_left(database: Option<String>, files: impl AsyncFn(&Server) -> Vec<String>) {
    let images = ImageHost::start().await;
    let database = database.map_or_else(Vec::new, |url| vec!["--database-url".to_owned(), url]);
    let server = Server::with(Options { args: database.clone(), ..Options::default() }).await;
    let other = server.client_of(&["--dealer-code", "south-cars"]).await;
    let mut site = Site { server, database };
    let client = &site.server.client;
    for number in 1..=3 {
        let mut ad = boat(&format!("gone-{number}"), &images);
        ad["title"] = json!(format!("KvastKonduktor {number}"));
        ad["body"] = json!(format!("Our kvastkonduktor number {number}, and more about kvastkonduktor"));
        ad["contact"] = json!({"email": "kvastkonduktor@dealer.example"});
        ad["image_urls"] = json!([images.url("1.jpg"), images.url("7.jpg"), images.url("kvastkonduktor-missing.gif")]);
        let headers = [("Idempotency-Key", format!("key-{number}"))];
        client
            .send_with(reqwest::Method::POST, "/v4/boat", &headers, Some(ad.to_string().into_bytes()))
            .await
            .expect(201);
    }
    let mut shared = plain_car("stays", "ERA001");
    shared["image_urls"] = json!([images.url("1.jpg")]);
    other.post("/v4/car", &shared).await.expect(201);
    for number in 1..=3 {
        client.published(&format!("gone-{number}")).await;
    }
    // The second changes nothing, so no log entry has it.
    let change = json!({"body": "Kvastkonduktor, changed"}).to_string().into_bytes();
    for key in ["change", "same"] {
        let headers = [("Idempotency-Key", key.to_owned())];
        client.send_with(reqwest::Method::PATCH, "/v4/boat/gone-1", &headers, Some(change.clone())).await.expect(200);
    }
    client.delete("/v4/ad/gone-2").await.expect(200);
    sends_a_stock_file(client).await;
    let kept = other.published("stays").await;
    let media = site.server.dir().join("data/media");
    assert_eq!(images_in(&media), 2, "one is shared, and all show the other");
    eventually("the texts are in the files", || async { (!files(&site.server).await.is_empty()).then_some(()) }).await;

    let counted = site.erased(&["--dry-run"]).await;
    assert_eq!(
        (&counted["ads"], &counted["erased"], &counted["listings"]),
        (&json!(3), &json!(0), &json!(3)),
        "{counted}"
    );
    assert_eq!(site.erase(&[]).output().await.unwrap().status.code(), Some(1), "it asks for confirmation");
    assert_eq!(client.get("/v4/ad/gone-3").await.expect(200)["title"], "KvastKonduktor 3", "nothing was done");

    // Killed at any moment, it goes on the next time.
    for _ in 0..3 {
        let mut child = site.erase(&["--yes"]).kill_on_drop(true).spawn().unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(fastrand::u64(20..300))).await;
        child.kill().await.unwrap();
    }
    let done = site.erased(&["--yes", "--wait", "10m"]).await;
    assert_eq!(done["not_deleted"], 0, "{done}");
    let again = site.erased(&["--yes"]).await;
    assert_eq!((&again["ads"], &again["images"]), (&json!(0), &json!(0)), "{again}");
    let counted = site.erased(&["--dry-run"]).await;
    assert_eq!(
        (&counted["ads"], &counted["erased"], &counted["listings"]),
        (&json!(3), &json!(3), &json!(0)),
        "{counted}"
    );

    let gone = client.get("/v4/ad/gone-1").await.expect(200);
    assert_eq!(
        (&gone["source_id"], &gone["state"], &gone["image_refs"]),
        (&json!("gone-1"), &json!("deleted"), &json!([]))
    );
    assert!(!gone.to_string().to_lowercase().contains(MARK), "{gone}");
    assert_eq!(client.get("/v4/ad?search=kvastkonduktor").await.expect(200)["count"], 0);
    assert!(client.log("gone-1").await.iter().all(|entry| entry["external_message"] == "Erased"));
    assert_eq!(images_in(&media), 1, "the shared image stays");
    assert_eq!(other.get("/v4/ad/stays").await.expect(200)["image_refs"], kept["image_refs"]);
    site.server.stop().await;
    assert_eq!(files(&site.server).await, Vec::<String>::new());
}

#[tokio::test]
async fn nothing_is_left_in_the_files_of_sqlite() {
    nothing_is_left(None, async |server| marked(&server.dir().join("data"))).await;
}

#[tokio::test]
async fn nothing_is_left_in_the_files_of_postgresql_after_a_full_vacuum() {
    let Some(postgres) = Postgres::start(&[]).await else { return };
    let url = postgres.database().await;
    let files = async |server: &Server| {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        // Docs/data-protection.md names the same statements.
        connection.execute("VACUUM FULL").await.unwrap();
        connection.execute("CHECKPOINT").await.unwrap();
        [marked(&postgres.folder().join("data/base")), marked(&server.dir().join("data"))].concat()
    };
    nothing_is_left(Some(url.clone()), files).await;
}

#[tokio::test]
async fn a_photo_that_is_being_removed_is_stored_afterwards() {
    let (images, server) = (ImageHost::start().await, Server::start().await);
    let mut first = plain_car("first", "REM001");
    first["image_urls"] = json!([images.url("1.jpg")]);
    server.client.post("/v4/car", &first).await.expect(201);
    server.client.published("first").await;
    // As a process that removes it, and has ended in the middle.
    let database = server.dir().join("data/ads.db");
    let mut connection = SqliteConnection::connect(&format!("sqlite://{}", database.display())).await.unwrap();
    let begin = "UPDATE image_holds SET request = NULL, until = 1000 * unixepoch() + 4000";
    assert_eq!(sqlx::query(begin).execute(&mut connection).await.unwrap().rows_affected(), 1);

    let mut second = plain_car("second", "REM002");
    second["image_urls"] = json!([images.url("1.jpg")]);
    server.client.post("/v4/car", &second).await.expect(201);
    eventually("it waits", || async {
        let status = server.client.get("/v4/ad/second/status").await.expect(200);
        (status["images"][0]["code"] == "image_store_unavailable").then_some(())
    })
    .await;
    let published = server.client.published("second").await;
    assert_eq!(published["image_refs"].as_array().unwrap().len(), 1, "{published}");
}
