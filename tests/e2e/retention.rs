//! Retention times: deleted ads, messages in logs and the audit log are erased by age, on both databases.

use std::sync::Mutex;

use ad_core::{
    model::{
        Action, ActionState, Ad, AdState, Content, ContentChange, EventQuery, ImageRef, LogEntry, Page, Timestamp,
    },
    ports::{AdChange, Outcome, Record, Scope, Store, StoreError},
};
use ad_server::store::{AuditEntry, Database, DatabaseStore, MostUploads, PhotosOfDeleted, Upload};
use ad_tests::{Client, ImageHost, Options, Postgres, Server, eventually};
use serde_json::{Value, json};

use crate::{
    payloads::{boat, plain_car},
    store_contract::{ad, at, call, change, claim, create, find, record, revise, stored_image, with_body},
};

/// The store, and the same database as programs erase in it.
struct Stored {
    store: DatabaseStore,
    database: Database,
}

macro_rules! on_both {
    ($($case:ident),+ $(,)?) => {
        mod in_sqlite {
            $(#[tokio::test] async fn $case() {
                let folder = tempfile::tempdir().unwrap();
                super::$case(super::open(&format!("sqlite://{}", folder.path().join("ads.db").display())).await).await;
            })+
        }
        mod in_postgres {
            $(#[tokio::test] async fn $case() {
                if let Some(server) = super::Postgres::shared().await {
                    super::$case(super::open(&server.database().await).await).await;
                }
            })+
        }
    };
}

on_both!(
    deleted_ads_are_erased_by_age_a_bounded_number_at_a_time,
    photos_of_deleted_ads_are_forgotten_by_age,
    photos_that_no_ad_uses_are_forgotten_after_a_time,
    an_image_is_not_removed_while_an_ad_stores_it,
    earlier_contents_are_forgotten_by_age,
    calls_are_removed_by_age,
    messages_are_erased_by_age_and_every_entry_stays,
    the_audit_log_is_removed_by_age,
);

async fn open(url: &str) -> Stored {
    let database = Database::open(url).await.unwrap();
    Stored { store: DatabaseStore::new(database.clone()), database }
}

/// Ends all claimable requests, each of which deletes its ad at 600 s.
async fn delete_all(store: &dyn Store) {
    let image = stored_image(1);
    let image = ImageRef { cdn_url: format!("https://b/{}.jpg", image.checksum), ..image };
    loop {
        let claimed = claim(store, at(1000)).await;
        if claimed.is_empty() {
            return;
        }
        for claimed in claimed {
            let mut done = record(&claimed, Outcome::Finished);
            done.change = AdChange {
                state: Some(AdState::Deleted),
                intent: Some(AdState::Deleted),
                image_refs: Some(vec![image.clone()]),
                ..AdChange::default()
            };
            let entry = LogEntry::new(claimed.request.id, at(600), Action::Delete, ActionState::Done, json!("Gone"));
            done.entries = vec![entry];
            store.record(done).await.unwrap();
        }
    }
}

async fn deleted_ads_are_erased_by_age_a_bounded_number_at_a_time(Stored { store, database }: Stored) {
    // The last ad is not deleted, and the one before it has an unfinished request.
    for number in 1..=205 {
        create(&store, &ad(number, "north", &number.to_string())).await.unwrap();
    }
    delete_all(&store).await;
    let busy = ad(204, "north", "204");
    let revision = find(&store, &busy).await.0.revision;
    revise(&store, &busy, revision, 9000).await.unwrap();
    create(&store, &ad(206, "north", "206")).await.unwrap();
    let first = ad(1, "north", "1");
    let before = find(&store, &first).await.0;

    assert_eq!(database.erase_deleted_before(at(600), at(2000)).await.unwrap(), None, "they were deleted just then");
    let mut erased = Vec::new();
    while let Some(some) = database.erase_deleted_before(at(601), at(2000)).await.unwrap() {
        erased.push((some.ads, some.log_entries));
    }
    assert_eq!(erased, [(200, 400), (4, 8)], "in transactions of 200 ads; the ad with a request waits");
    let (gone, log) = find(&store, &first).await;
    assert_eq!((gone.ad.state, gone.ad.content.clone()), (AdState::Deleted, Content::default()));
    assert_eq!(gone.ad.image_refs, []);
    assert_ne!(gone.tag, before.tag);
    assert!(log.iter().all(|entry| entry.external_message == "Erased"), "{log:?}");
    let again = create(&store, &ad(900, "north", "1")).await;
    assert!(matches!(again, Err(StoreError::Duplicate)), "its source id stays in use: {again:?}");
    assert_eq!(database.erased_images(at(3000)).await.unwrap().0.len(), 0, "the ad with a request shows the image");
    let live = find(&store, &ad(206, "north", "206")).await.0.ad;
    assert_eq!(live.content, ad(206, "north", "206").content);

    // An erased ad that was revived and deleted again has content to erase.
    revise(&store, &first, gone.revision, 9001).await.unwrap();
    delete_all(&store).await;
    let mut ads = 0;
    while let Some(some) = database.erase_deleted_before(at(601), at(3000)).await.unwrap() {
        ads += some.ads;
    }
    assert_eq!(ads, 3, "the revived one, the one that had a request, and the one that was not deleted before");
    assert_eq!(find(&store, &first).await.0.ad.content, Content::default());
    assert_eq!(database.erased_images(at(3000)).await.unwrap().0.len(), 1, "nobody shows the image any more");
}

async fn photos_of_deleted_ads_are_forgotten_by_age(Stored { store, database }: Stored) {
    for number in 1..=3 {
        create(&store, &ad(number, "north", &number.to_string())).await.unwrap();
    }
    delete_all(&store).await;
    create(&store, &ad(4, "north", "4")).await.unwrap();
    let first = ad(1, "north", "1");
    let before = find(&store, &first).await.0;
    assert_eq!(before.ad.image_refs.len(), 1);

    let counted = database.photos_of_deleted(before.ad.updated, 10).await.unwrap();
    assert_eq!(counted, PhotosOfDeleted { first: Some(before.ad.updated), ads: 0, photos: 0 });
    let later = before.ad.updated + std::time::Duration::from_secs(1);
    let counted = database.photos_of_deleted(later, 10).await.unwrap();
    assert_eq!((counted.ads, counted.photos), (3, 3), "{counted:?}");
    assert_eq!(database.photos_of_deleted(later, 2).await.unwrap().ads, 2, "counting ends there");
    // An unfinished request may need what an ad has.
    let busy = ad(3, "north", "3");
    revise(&store, &busy, find(&store, &busy).await.0.revision, 9000).await.unwrap();

    assert_eq!(database.forget_photos_of_deleted_before(before.ad.updated).await.unwrap(), None);
    assert_eq!(database.forget_photos_of_deleted_before(later).await.unwrap(), Some(2));
    assert_eq!(database.forget_photos_of_deleted_before(later).await.unwrap(), None);
    let after = find(&store, &first).await.0;
    assert_eq!(after.ad.image_refs, []);
    assert_ne!(after.tag, before.tag, "clients see the change");
    let expected = Ad { image_refs: Vec::new(), ..before.ad };
    assert_eq!(after.ad, expected, "nothing else has changed");
    assert_eq!(
        database.erased_images(at(3000)).await.unwrap().0.len(),
        0,
        "the ad with a request shows the same image"
    );
}

async fn photos_that_no_ad_uses_are_forgotten_after_a_time(Stored { store, database }: Stored) {
    // An ad refers to the first one.
    create(&store, &ad(1, "north", "1")).await.unwrap();
    delete_all(&store).await;
    let used = format!("{}.jpg", stored_image(1).checksum);
    let unused = format!("{}.jpg", stored_image(2).checksum);
    let most = MostUploads { photos: 3, bytes: 300 };
    let add = async |dealer: &str, name: &str, bytes, seconds| {
        database.add_upload(dealer, name, bytes, most, (at(seconds), at(seconds + 3600))).await.unwrap()
    };
    assert_eq!(add("north", &used, 100, 100).await, Upload::Noted);
    assert_eq!(add("north", &unused, 100, 101).await, Upload::Noted);
    assert_eq!(add("north", &unused, 100, 102).await, Upload::Noted, "the same one again");
    assert_eq!(add("north", &format!("{}.png", stored_image(3).checksum), 101, 103).await, Upload::TooMany, "bytes");
    assert_eq!(add("north", &format!("{}.png", stored_image(4).checksum), 1, 103).await, Upload::Noted);
    assert_eq!(add("north", &format!("{}.png", stored_image(5).checksum), 1, 103).await, Upload::TooMany, "photos");
    assert_eq!(add("south", &unused, 100, 104).await, Upload::Noted, "each dealer for itself");

    assert_eq!(database.forget_uploads_before(at(100)).await.unwrap(), None);
    assert_eq!(database.forget_uploads_before(at(103)).await.unwrap(), Some(2));
    let (removable, in_use) = database.erased_images(at(3000)).await.unwrap();
    assert!(removable.is_empty(), "the other dealer may still use it: {removable:?}");
    assert_eq!(in_use.len(), 2);
    database.forget_erased_images(in_use).await.unwrap();
    assert_eq!(database.forget_uploads_before(at(105)).await.unwrap(), Some(2));
    let (removable, _) = database.erased_images(at(3000)).await.unwrap();
    assert!(removable.iter().any(|image| image.name == unused) && removable.len() == 2, "{removable:?}");
    assert_eq!(database.begin_removal(&removable, at(3000)).await.unwrap().len(), 2);
    assert_eq!(add("north", &unused, 100, 3001).await, Upload::BeingRemoved);
}

/// Erases messages until there were so many, and returns how many each transaction erased. Entries of a transaction can be read a
/// little after it, when older transactions of the server have ended.
async fn an_image_is_not_removed_while_an_ad_stores_it(Stored { store, database }: Stored) {
    create(&store, &ad(1, "north", "1")).await.unwrap();
    delete_all(&store).await;
    database.erase_deleted_before(at(601), at(2000)).await.unwrap().unwrap();
    let image = stored_image(1);
    let hold = async |request, seconds| {
        let (now, until) = (at(seconds), at(seconds + 3600));
        store.hold_image(&image.checksum, request, now, until).await.unwrap()
    };
    let unused = async |seconds| database.erased_images(at(seconds)).await.unwrap().0;
    let found = unused(3000).await;
    assert_eq!(found.len(), 1);

    // It is stored again after it was found unused.
    let request = create(&store, &ad(2, "north", "2")).await.unwrap();
    assert!(hold(request, 3001).await);
    assert_eq!(database.begin_removal(&found, at(3001)).await.unwrap(), Vec::<String>::new());
    assert_eq!(unused(3001).await, [], "until the request has ended");
    assert_eq!(unused(3001 + 3600).await.len(), 1, "or for an hour");
    for claimed in claim(&store, at(3001)).await {
        store.record(record(&claimed, Outcome::Finished)).await.unwrap();
    }
    // The request has not recorded it.
    let found = unused(3002).await;
    let names = database.begin_removal(&found, at(3002)).await.unwrap();
    assert_eq!(names, [format!("{}.jpg", image.checksum)]);

    let next = create(&store, &ad(3, "north", "3")).await.unwrap();
    assert!(!hold(next, 3003).await, "it is being removed");
    assert_eq!((unused(3003).await.len(), database.are_images_removed(at(3003)).await.unwrap()), (0, true));
    // If the process was killed, another one goes on.
    assert_eq!((unused(3040).await.len(), database.are_images_removed(at(3040)).await.unwrap()), (1, false));

    database.end_removal(&names, &names, at(3004)).await.unwrap();
    assert_eq!((unused(3004).await.len(), database.are_images_removed(at(3004)).await.unwrap()), (0, false));
    assert!(hold(next, 3004).await);
    assert_eq!(database.begin_removal(&found, at(3005)).await.unwrap(), Vec::<String>::new(), "it was found before");
    assert_eq!(database.forget_image_holds(at(3004 + 3600), 10).await.unwrap(), 0);
    assert_eq!(database.forget_image_holds(at(3005 + 25 * 3600), 10).await.unwrap(), 1);
}

async fn erase_messages(database: &Database, before: Timestamp, count: u64) -> Vec<u64> {
    let erased = Mutex::new(Vec::new());
    eventually("the messages are erased", async || {
        while let Some(some) = database.erase_messages_before(before).await.unwrap() {
            erased.lock().unwrap().push(some);
        }
        (erased.lock().unwrap().iter().sum::<u64>() >= count).then_some(())
    })
    .await;
    let erased = erased.into_inner().unwrap();
    assert_eq!(erased.iter().sum::<u64>(), count, "{erased:?}");
    erased
}

async fn earlier_contents_are_forgotten_by_age(Stored { store, database }: Stored) {
    let (one, other) = (ad(1, "north", "a"), ad(2, "north", "b"));
    let mut changes = Vec::new();
    for ad in [&one, &other] {
        create(&store, ad).await.unwrap();
    }
    for number in 1..=3 {
        let before = find(&store, &one).await.0;
        changes.insert(0, change(&store, &before, &with_body(&one, &format!("Number {number}")), number).await);
    }
    let before = find(&store, &other).await.0;
    let of_other = change(&store, &before, &with_body(&other, "Later"), 9).await;
    assert_eq!(database.forget_revisions_before(at(503)).await.unwrap(), Some(1));
    assert_eq!(database.forget_revisions_before(at(503)).await.unwrap(), None);
    // The last of them says since when the ad has its content.
    changes[1].difference = None;
    assert_eq!(store.recorded(one.id, i64::MAX).await.unwrap(), changes[..2]);
    assert_eq!(store.recorded(other.id, i64::MAX).await.unwrap(), std::slice::from_ref(&of_other));
    assert_eq!(database.forget_revisions_before(at(10_000)).await.unwrap(), Some(2));
    changes[0].difference = None;
    assert_eq!(store.recorded(one.id, i64::MAX).await.unwrap(), changes[..1]);
    assert_eq!(store.recorded(other.id, i64::MAX).await.unwrap()[0].difference, None);
}

async fn calls_are_removed_by_age(Stored { store, database }: Stored) {
    let ad = ad(1, "north", "a");
    create(&store, &ad).await.unwrap();
    let claimed = claim(&store, at(1000)).await.remove(0);
    let calls: Vec<_> = (0..5).map(|second| call(&claimed, second)).collect();
    store.record(Record { calls: calls.clone(), ..record(&claimed, Outcome::Finished) }).await.unwrap();
    let left = async || {
        let page = store.calls(ad.id, Page { limit: 10, offset: 0 }).await.unwrap();
        page.rows.into_iter().rev().collect::<Vec<_>>()
    };
    assert_eq!(database.remove_calls_before(at(3), 2).await.unwrap(), 2);
    assert_eq!(left().await, calls[2..]);
    assert_eq!(database.remove_calls_before(at(3), 2).await.unwrap(), 1);
    assert_eq!(database.remove_calls_before(at(3), 2).await.unwrap(), 0);
    assert_eq!(left().await, calls[3..]);
}

async fn messages_are_erased_by_age_and_every_entry_stays(Stored { store, database }: Stored) {
    let changed = ad(1, "north", "changed");
    create(&store, &changed).await.unwrap();
    for number in 2..=700 {
        create(&store, &ad(number, "north", &number.to_string())).await.unwrap();
    }
    let claimed = claim(&store, at(1000)).await.remove(0);
    assert_eq!(claimed.stored.ad.id, changed.id);
    let mut done = record(&claimed, Outcome::Finished);
    done.entries = vec![LogEntry::new(claimed.request.id, at(2000), Action::Create, ActionState::Done, json!("New"))];
    done.changes = Some(ContentChange::default());
    store.record(done).await.unwrap();
    let before = find(&store, &changed).await.0;

    assert_eq!(database.erase_messages_before(at(0)).await.unwrap(), None, "all entries are younger");
    let erased = erase_messages(&database, at(2000), 700).await;
    assert!(erased.len() > 1 && erased.iter().all(|some| *some <= 600), "a bounded number at a time: {erased:?}");
    let (after, log) = find(&store, &changed).await;
    assert_eq!(log.iter().map(|entry| &entry.external_message).collect::<Vec<_>>(), ["Erased", "New"]);
    assert_eq!((after.ad.content.clone(), after.ad.updated), (before.ad.content, before.ad.updated));
    assert_ne!(after.tag, before.tag);
    // New entries are erased in their turn.
    create(&store, &ad(701, "north", "701")).await.unwrap();
    assert_eq!(database.erase_messages_before(at(2000)).await.unwrap(), None, "they come after the one that is kept");
    erase_messages(&database, at(2001), 2).await;
    assert_eq!(database.erase_messages_before(at(2001)).await.unwrap(), None);
    let query = EventQuery { limit: 1000, ..EventQuery::default() };
    let events = store.events(Scope::Dealer("north"), &query).await.unwrap().events;
    assert_eq!(events.len(), 702, "every entry is still an event");
}

async fn the_audit_log_is_removed_by_age(Stored { database, .. }: Stored) {
    let entry = |seconds| AuditEntry {
        at: at(seconds),
        operator: "op".to_owned(),
        act: "backup".to_owned(),
        subject: String::new(),
        details: String::new(),
    };
    for seconds in 1..=5 {
        database.audit(&entry(seconds)).await.unwrap();
    }
    assert_eq!(database.remove_audit_before(at(4), 2).await.unwrap(), 2);
    assert_eq!(database.remove_audit_before(at(4), 2).await.unwrap(), 1);
    assert_eq!(database.remove_audit_before(at(4), 2).await.unwrap(), 0);
    let kept: Vec<_> = database.audit_entries(10).await.unwrap().into_iter().map(|entry| entry.at).collect();
    assert_eq!(kept, [at(5), at(4)]);
}

fn files(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

/// The events of the client's dealers: type and sequence of each.
async fn events(client: &Client) -> Vec<Value> {
    let page = client.get("/v4/events?limit=1000").await.expect(200);
    let event = |event: &Value| json!([event["source_id"], event["type"], event["sequence"], event["id"]]);
    page["events"].as_array().unwrap().iter().map(event).collect()
}

async fn a_server_erases_what_is_too_old(database: Option<String>) {
    let images = ImageHost::start().await;
    let kept_for_ever = database.map_or_else(Vec::new, |url| vec!["--database-url".to_owned(), url]);
    let times = ["--deleted-ads-kept", "1s", "--log-messages-kept", "1s", "--audit-log-kept", "1s"];
    let short = kept_for_ever.iter().cloned().chain(times.map(str::to_owned)).collect();
    let mut server = Server::with(Options { args: kept_for_ever, ..Options::default() }).await;
    let client = server.client.clone();
    let mut gone = boat("gone", &images);
    gone["image_urls"] = json!([images.url("1.jpg"), images.url("7.jpg")]);
    let created = client.post("/v4/boat", &gone).await;
    created.expect(201);
    let request_id = created.header("x-request-id").unwrap().to_owned();
    let mut stays = plain_car("stays", "RET001");
    stays["image_urls"] = json!([images.url("1.jpg")]);
    client.post("/v4/car", &stays).await.expect(201);
    client.published("gone").await;
    let shown = client.published("stays").await;
    client.delete("/v4/ad/gone").await.expect(200);
    eventually("it is deleted", async || {
        let request = client.get("/v4/ad/gone/status").await.expect(200);
        (request["status"] == "deleted").then_some(())
    })
    .await;
    // When the last one can be read, all earlier ones can.
    let before = eventually("all events can be read", async || {
        let events = events(&client).await;
        events.iter().any(|event| event[0] == "gone" && event[1] == "ad.delete.done").then_some(events)
    })
    .await;
    let media = server.dir().join("data/media");
    assert_eq!(files(&media), 2);

    server.stop().await;
    server.restart_with(Options { args: short, ..Options::default() }).await;
    let client = server.client.clone();
    let erased = eventually("the deleted ad is erased", async || {
        let ad = client.get("/v4/ad/gone").await.expect(200);
        ad.get("title").is_none_or(Value::is_null).then_some(ad)
    })
    .await;
    assert_eq!((&erased["state"], &erased["image_refs"]), (&json!("deleted"), &json!([])), "{erased}");
    eventually("the messages of the live ad are erased", async || {
        client.log("stays").await.iter().all(|entry| entry["external_message"] == "Erased").then_some(())
    })
    .await;
    eventually("what operators did is removed", async || {
        let entries: Value = serde_json::from_str(&server.command(&["audit", "list", "--json"]).await).unwrap();
        entries.as_array().unwrap().is_empty().then_some(())
    })
    .await;
    let live = client.get("/v4/ad/stays").await.expect(200);
    assert_eq!((&live["title"], &live["image_refs"]), (&shown["title"], &shown["image_refs"]));
    eventually("the image that only the erased ad showed is removed", async || {
        let metrics = client.get("/metrics").await;
        let text = String::from_utf8(metrics.bytes.to_vec()).unwrap();
        text.contains("ad_retention_erased_total{kind=\"images\"} 1\n").then_some(())
    })
    .await;
    assert_eq!(files(&media), 1, "the shared image stays");
    let image = live["image_refs"][0]["cdn_url"].as_str().unwrap();
    let image = format!("/media/{}", image.rsplit('/').next().unwrap());
    assert_eq!(client.get(&image).await.status, 200);
    assert_eq!(events(&client).await, before, "every event is there as before");
    let request = client.get(&format!("/v4/requests/{request_id}")).await.expect(200);
    assert_eq!(request["state"], "done", "{request}");
    client.post("/v4/boat", &gone).await.expect(409);
    let said = server.said();
    assert!(said.iter().any(|line| line.contains("erased ads") && line.contains("ads=1")), "{said:#?}");

    let mut revive = gone.clone();
    revive["title"] = json!("Back again");
    revive["image_urls"] = json!([]);
    client.patch("/v4/boat/gone", &revive).await.expect(200);
    let back = eventually("it is revived", async || {
        let ad = client.get("/v4/ad/gone").await.expect(200);
        (ad["state"] == "created").then_some(ad)
    })
    .await;
    assert_eq!(back["title"], "Back again");
}

#[tokio::test]
async fn a_server_erases_what_is_too_old_in_sqlite() {
    a_server_erases_what_is_too_old(None).await;
}

#[tokio::test]
async fn a_server_erases_what_is_too_old_in_postgresql() {
    let Some(server) = Postgres::shared().await else { return };
    a_server_erases_what_is_too_old(Some(server.database().await)).await;
}

async fn a_server_removes_photos_of_ads_that_were_deleted_long_ago(database: Option<String>) {
    let images = ImageHost::start().await;
    let args = |kept: &str| {
        let database = database.iter().flat_map(|url| ["--database-url", url]);
        ["--deleted-photos-kept", kept].into_iter().chain(database).map(str::to_owned).collect()
    };
    let mut server = Server::with(Options { args: args("forever"), ..Options::default() }).await;
    let client = server.client.clone();
    let mut gone = boat("gone", &images);
    gone["image_urls"] = json!([images.url("1.jpg")]);
    client.post("/v4/boat", &gone).await.expect(201);
    let shown = client.published("gone").await;
    client.delete("/v4/ad/gone").await.expect(200);
    client.ended("gone", "delete", None).await;
    let media = server.dir().join("data/media");
    assert_eq!(files(&media), 1);

    server.stop().await;
    server.restart_with(Options { args: args("1s"), ..Options::default() }).await;
    let client = server.client.clone();
    eventually("the photo is removed", async || (files(&media) == 0).then_some(())).await;
    let ad = client.get("/v4/ad/gone").await.expect(200);
    assert_eq!((&ad["title"], &ad["image_urls"]), (&shown["title"], &shown["image_urls"]), "its content stays");
    assert_eq!((&ad["state"], &ad["image_refs"]), (&json!("deleted"), &json!([])));
    let removed = |line: &&String| line.contains("removed photos of deleted ads") && line.contains("ads=1");
    eventually("the log says so", async || server.said().iter().find(removed).map(|_| ())).await;

    // An update that says nothing about images brings them back.
    let revived = client.patch("/v4/boat/gone", &json!({"title": "Back again"})).await;
    revived.expect(200);
    client.ended("gone", "publish", revived.header("x-request-id")).await;
    let back = client.ad("gone").await;
    assert_eq!((&back["state"], back["image_refs"].as_array().unwrap().len()), (&json!("created"), 1), "{back}");
    assert_eq!(files(&media), 1);
}

#[tokio::test]
async fn a_server_removes_photos_of_ads_that_were_deleted_long_ago_in_sqlite() {
    a_server_removes_photos_of_ads_that_were_deleted_long_ago(None).await;
}

#[tokio::test]
async fn a_server_removes_photos_of_ads_that_were_deleted_long_ago_in_postgresql() {
    let Some(server) = Postgres::shared().await else { return };
    a_server_removes_photos_of_ads_that_were_deleted_long_ago(Some(server.database().await)).await;
}
