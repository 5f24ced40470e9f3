//! What migrations do to data that is there.

use ad_core::{
    model::{
        AdFilter, AdOrder, AdQuery, AdStatus, Bound, Dealer, EarlierPrices, EventPosition, EventQuery, Included, Page,
    },
    ports::{IdempotencyKey, Scope, VehicleQuery},
};
use ad_tests::eventually;
use sqlx::{Connection, Executor, PgConnection, SqliteConnection, migrate::Migrator, sqlite::SqliteConnectOptions};

use super::*;
use crate::{
    SchemaPolicy, SchemaState, postgres,
    sql::listings::{PromoteListing, PublishListing},
    sqlite::MIGRATIONS,
};

/// A database as an earlier version left it.
async fn migrated_to(version: i64, folder: &TempDir) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(folder.path().join("ads.db")).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    migrations_up_to(version, &MIGRATIONS).run(&mut connection).await.unwrap();
    connection
}

pub(super) fn migrations_up_to(version: i64, all: &Migrator) -> Migrator {
    let earlier = all.iter().filter(|migration| migration.version <= version).cloned().collect::<Vec<_>>();
    Migrator { migrations: earlier.into(), ..Migrator::DEFAULT }
}

#[tokio::test]
async fn plates_of_open_categories_are_normalised_by_the_migration() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = migrated_to(3, &folder).await;
    let content = json!({"title": "Tractor", "category_fields": {"registration_number": "abc 12d"}});
    sqlx::query(
        "INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, \
             registration_number, image_refs, content) \
         VALUES ($1, 'a', 'north', 1122, 'created', 'v3', 0, 'created', 0, 0, 'abc 12d', '[]', $2)",
    )
    .bind(Uuid::from_u128(1).to_string())
    .bind(content.to_string())
    .execute(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();

    let store = DatabaseStore::new(Database::open(&url(&folder)).await.unwrap());
    let query = AdQuery {
        filters: vec![AdFilter::RegistrationNumber("ABC12D".to_owned())],
        order: AdOrder::Created,
        descending: false,
        page: Page { limit: 10, offset: 0 },
        fields: None,
        included: Included::default(),
    };
    let found = store.list(Scope::Dealer("north"), &query).await.unwrap();
    let content = &found.rows[0].ad.content;
    assert_eq!(content.registration_number().as_deref(), Some("ABC12D"));
    assert_eq!(content.text("category_fields.registration_number"), Some("abc 12d"), "shown as it was sent");
}

/// An ad's listing, and the one that it had before, with the keys of their latest calls.
const LISTINGS: &str = "\
INSERT INTO listings (market, dealer_code, reference, place, state, changed, last_key, changes) VALUES \
    ('primary', 'd1', NULL, NULL, 'removed', 2, \
     '00000000-0000-0000-0000-000000000002:publish:primary 00000000-0000-0000-0000-000000000001:publish:primary', 2), \
    ('primary', 'd1', '00000000-0000-0000-0000-000000000001', 1, 'active', 2, \
     '00000000-0000-0000-0000-000000000003:bump:primary 00000000-0000-0000-0000-000000000002:publish:primary 0000', 2)";

async fn calls_made_again_change_nothing(database: &Database) {
    let run = async |statement: Statement| {
        let ran = database.run(statement).await.unwrap();
        Columns::first::<i64>(&ran.rows).unwrap()
    };
    let key = |request, action| {
        IdempotencyKey { request: Uuid::from_u128(request), action, market: Market::Primary }.to_string()
    };
    let ad = ad(1, 0);
    let publish = async |request| {
        let call = PublishListing {
            market: "primary",
            key: key(request, Action::Publish),
            now: at(3),
            reference: ad.id,
            source_id: &ad.source_id,
            dealer_code: &ad.dealer_code,
            registration_number: None,
            title: None,
            content: "{}".to_owned(),
        };
        run(call.into()).await
    };
    let bump = async |request| {
        let (key, now) = (key(request, Action::Bump), at(3));
        let call = PromoteListing { market: "primary", key, now, listing: 2, pole_position_until: None };
        run(call.into()).await
    };
    assert_eq!(publish(2).await, Some(2), "the one that shows the ad");
    assert_eq!(publish(1).await, Some(1), "as it was answered then");
    assert_eq!((bump(3).await, bump(4).await), (Some(2), Some(2)));
    let changes = number(database, "SELECT 10 * max(changes) + min(changes) FROM listings").await;
    assert_eq!(changes, 32, "only the last call is new");
}

#[tokio::test]
async fn calls_of_before_the_upgrade_are_known_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = migrated_to(6, &folder).await;
    connection.execute(LISTINGS).await.unwrap();
    connection.close().await.unwrap();
    calls_made_again_change_nothing(&Database::open(&url(&folder)).await.unwrap()).await;
}

#[tokio::test]
async fn calls_of_before_the_upgrade_are_known_after_it_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    migrations_up_to(5, &postgres::MIGRATIONS).run(&mut connection).await.unwrap();
    connection.execute(LISTINGS).await.unwrap();
    connection.execute("SELECT setval('listing_places', 1)").await.unwrap();
    connection.close().await.unwrap();
    let database = Database::open(&url).await.unwrap();
    calls_made_again_change_nothing(&database).await;
    database.close().await;
}

/// An ad with a finished update of before the upgrade, and a request that waits; an ad that was imported.
const REQUESTS: &str = "\
INSERT INTO ads (seq, id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, image_refs, content) VALUES \
    (1, '00000000-0000-0000-0000-000000000001', 'a', 'd1', 1060, 'created', 'v4', 2, 'created', 1, 1, '[]', '{}'), \
    (2, '00000000-0000-0000-0000-000000000002', 'b', 'd1', 1060, 'created', 'v4', 0, 'created', 1, 1, '[]', '{}'); \
INSERT INTO log (ad, n, request_id, created, action, state, message) VALUES \
    (1, 1, '00000000-0000-0000-0000-000000000011', 10, 'create', 'processing', '\"Processing\"'), \
    (1, 2, '00000000-0000-0000-0000-000000000011', 11, 'create', 'done', '\"Ad created\"'), \
    (1, 3, '00000000-0000-0000-0000-000000000012', 20, 'update', 'processing', '\"Processing\"'), \
    (1, 4, '00000000-0000-0000-0000-000000000012', 21, 'update', 'done', '\"Ad updated\"'), \
    (1, 5, '00000000-0000-0000-0000-000000000012', 22, 'publish', 'done', '\"Ad published\"'), \
    (1, 6, '00000000-0000-0000-0000-000000000013', 30, 'bump', 'processing', '\"Processing\"'), \
    (2, 1, '00000000-0000-0000-0000-000000000014', 40, 'create', 'done', '\"Imported\"'); \
INSERT INTO requests (id, ad, dealer_code, progress, accepted, claimable) VALUES \
    ('00000000-0000-0000-0000-000000000013', 1, 'd1', '{}', 29, 29)";

async fn requests_are_found(database: &Database) {
    let found = async |number: u128| database.request(Uuid::from_u128(number)).await.unwrap();
    for (number, accepted, entries, finished) in [(0x11, 10, 2, true), (0x12, 20, 3, true), (0x13, 29, 1, false)] {
        let request = found(number).await.unwrap();
        assert_eq!(
            (request.accepted, request.entries.len(), request.queued.is_none()),
            (at(accepted), entries, finished),
            "{number:x}"
        );
    }
    assert_eq!(found(0x14).await, None, "an import");
}

#[tokio::test]
async fn requests_of_before_the_upgrade_are_found_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = migrated_to(7, &folder).await;
    connection.execute(REQUESTS).await.unwrap();
    connection.close().await.unwrap();
    requests_are_found(&Database::open(&url(&folder)).await.unwrap()).await;
}

#[tokio::test]
async fn requests_of_before_the_upgrade_are_found_after_it_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    migrations_up_to(6, &postgres::MIGRATIONS).run(&mut connection).await.unwrap();
    connection.execute(REQUESTS).await.unwrap();
    connection.close().await.unwrap();
    let database = Database::open(&url).await.unwrap();
    requests_are_found(&database).await;
    database.close().await;
}

/// Ads of two dealers; the clock of the first was set back once.
const LOGS: &str = "\
INSERT INTO ads (seq, id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, image_refs, content) VALUES \
    (1, '00000000-0000-0000-0000-000000000001', 'a', 'd1', 1060, 'created', 'v4', 2, 'created', 1, 1, '[]', '{}'), \
    (2, '00000000-0000-0000-0000-000000000002', 'b', 'd2', 1060, 'created', 'v4', 0, 'created', 1, 1, '[]', '{}'); \
INSERT INTO log (ad, n, request_id, created, action, state, message) VALUES \
    (1, 1, '00000000-0000-0000-0000-000000000011', 10, 'create', 'processing', '\"Processing\"'), \
    (1, 2, '00000000-0000-0000-0000-000000000011', 30, 'create', 'done', '\"Ad created\"'), \
    (1, 3, '00000000-0000-0000-0000-000000000012', 5, 'update', 'done', '\"Ad updated\"'), \
    (2, 1, '00000000-0000-0000-0000-000000000014', 20, 'create', 'done', '\"Imported\"'), \
    (2, 2, '00000000-0000-0000-0000-000000000015', 30, 'bump', 'done', '\"Bumped\"')";

async fn logs_are_a_sequence(database: Database) {
    let store = DatabaseStore::new(database);
    let group = ["d1".to_owned(), "d2".to_owned()];
    let query = EventQuery { limit: 100, ..EventQuery::default() };
    let read = async || {
        let page = store.events(Scope::Dealers(&group), &query).await.unwrap();
        page.events.iter().map(|event| (event.source_id.clone(), event.position.sequence)).collect::<Vec<_>>()
    };
    let of = |source_id: &str, sequence| (source_id.to_owned(), sequence);
    let mut expected = vec![of("a", 1), of("b", 1), of("a", 2), of("a", 3), of("b", 2)];
    assert_eq!(read().await, expected);
    create(&store, 3, &ad(3, 3)).await.unwrap();
    expected.push(of("Bil-3", 1));
    // A transaction of another test on the same server may hold it back.
    let events = eventually("the new event is readable", || async {
        Some(read().await).filter(|events| events.len() >= expected.len())
    })
    .await;
    assert_eq!(events, expected, "new ones come after them");
}

#[tokio::test]
async fn logs_of_before_the_upgrade_are_a_sequence_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = migrated_to(9, &folder).await;
    connection.execute(LOGS).await.unwrap();
    connection.close().await.unwrap();
    logs_are_a_sequence(Database::open(&url(&folder)).await.unwrap()).await;
}

#[tokio::test]
async fn logs_of_before_the_upgrade_are_a_sequence_after_it_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    migrations_up_to(8, &postgres::MIGRATIONS).run(&mut connection).await.unwrap();
    connection.execute(LOGS).await.unwrap();
    connection.execute("SELECT setval('ads_seq_seq', 2)").await.unwrap();
    connection.close().await.unwrap();
    logs_are_a_sequence(Database::open(&url).await.unwrap()).await;
}

/// A dump that comes from a server with higher numbers of transactions than this one.
#[tokio::test]
async fn events_of_a_restored_dump_are_before_new_ones_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    let first = DatabaseStore::new(Database::open(&url).await.unwrap());
    create(&first, 1, &ad(1, 1)).await.unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    connection.execute("UPDATE log SET transaction_id = transaction_id + 1000000").await.unwrap();
    // As an earlier version has left it.
    connection.execute("UPDATE epoch SET place = NULL").await.unwrap();
    let query = EventQuery { limit: 100, ..EventQuery::default() };
    let sequence = async |store: &DatabaseStore| {
        let page = store.events(Scope::Dealer("d1"), &query).await.unwrap();
        page.events.iter().map(|event| event.source_id.clone()).collect::<Vec<_>>()
    };
    for (number, expected) in [(2, vec!["Bil-1", "Bil-2"]), (3, vec!["Bil-1", "Bil-2", "Bil-3"])] {
        // The second time no epoch begins.
        let restored = DatabaseStore::new(Database::open(&url).await.unwrap());
        create(&restored, number, &ad(number, i64::from(number))).await.unwrap();
        // A transaction of another test on the same server may hold the new event back.
        let events = eventually("the new event is readable", || async {
            Some(sequence(&restored).await).filter(|events| events.len() >= expected.len())
        })
        .await;
        assert_eq!(events, expected);
    }
    assert_eq!(sequence(&first).await.len(), 3, "a process that runs meanwhile goes on");
}

/// A transaction with a lower number that commits later.
#[tokio::test]
async fn no_reader_passes_a_transaction_that_is_still_running_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    let store = DatabaseStore::new(Database::open(&url).await.unwrap());
    create(&store, 1, &ad(1, 1)).await.unwrap();
    let read = async |after| {
        let query = EventQuery { after, limit: 100, ..EventQuery::default() };
        store.events(Scope::Dealer("d1"), &query).await.unwrap()
    };
    let mut watch = store.watch_events(Scope::Dealer("d1"));
    let mut page = read(EventPosition::default()).await;
    while page.events.is_empty() {
        watch.changed().await;
        page = read(EventPosition::default()).await;
    }
    let mut early = PgConnection::connect(&url).await.unwrap();
    let mut early = early.begin().await.unwrap();
    early
        .execute(
            "INSERT INTO log (ad, n, request_id, created, action, state, message, dealer_code) \
             VALUES (1, 2, '00000000-0000-0000-0000-000000000011', 10, 'bump', 'done', '\"Late\"', 'd1')",
        )
        .await
        .unwrap();
    create(&store, 2, &ad(2, 2)).await.unwrap();
    let meanwhile = read(page.position).await;
    assert_eq!((meanwhile.events.len(), meanwhile.position), (0, page.position), "it waits for the earlier one");
    assert!(store.newest_event().await.unwrap() < EventPosition::end_of(i64::MAX));
    assert_eq!(read(store.newest_event().await.unwrap()).await.events, []);
    early.commit().await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let next = read(page.position).await;
        seen.extend(next.events.iter().map(|event| (event.source_id.clone(), event.position.sequence)));
        page = next;
        if seen.len() < 2 {
            watch.changed().await;
        }
    }
    assert_eq!(seen, [("Bil-1".to_owned(), 2), ("Bil-2".to_owned(), 1)]);
}

/// Ads of before the upgrade: published; refused by one marketplace; hidden; deleted; waiting; with a missing image; never published.
const STATUSES: &str = "\
INSERT INTO ads (seq, id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, marketplace_ad_id, \
    offer_id, leftover, image_refs, content) VALUES \
    (1, '00000000-0000-0000-0000-000000000001', 'live', 'd1', 1020, 'created', 'v4', 0, 'created', 1, 7, 'P1', 'S1', NULL, '[]', '{}'), \
    (2, '00000000-0000-0000-0000-000000000002', 'refused', 'd1', 1020, 'created', 'v4', 0, 'created', 1, 7, 'P2', NULL, '{\"markets\":[\"secondary\"]}', '[]', '{}'), \
    (3, '00000000-0000-0000-0000-000000000003', 'hidden', 'd1', 1060, 'created', 'v4', 0, 'created', 1, 7, 'P3', NULL, NULL, '[]', '{\"visible\":false}'), \
    (4, '00000000-0000-0000-0000-000000000004', 'deleted', 'd1', 1060, 'deleted', 'v4', 0, 'deleted', 1, 7, 'P4', NULL, NULL, '[]', '{}'), \
    (5, '00000000-0000-0000-0000-000000000005', 'waits', 'd1', 1060, 'created', 'v4', 0, 'created', 1, 7, NULL, NULL, NULL, '[]', '{}'), \
    (6, '00000000-0000-0000-0000-000000000006', 'image', 'd1', 1060, 'created', 'v4', 0, 'created', 1, 7, 'P6', NULL, NULL, '[]', '{\"image_urls\":[\"https://a/1\"]}'), \
    (7, '00000000-0000-0000-0000-000000000007', 'outdated', 'd1', 1060, 'created', 'v4', 0, 'created', 1, 7, 'P7', NULL, '{\"markets\":[\"primary\"]}', '[]', '{}'), \
    (8, '00000000-0000-0000-0000-000000000008', 'imported', 'd1', 1060, 'created', 'v4', 0, 'created', 1, 7, NULL, NULL, '{\"markets\":[\"primary\"]}', '[]', '{}'); \
INSERT INTO log (ad, n, request_id, created, action, state, message, code) VALUES \
    (2, 1, '00000000-0000-0000-0000-000000000011', 10, 'publish', 'error', \
     '{\"message\":\"publish failed on secondary: no wheels\",\"marketplaces\":[{\"marketplace\":\"primary\",\"state\":\"done\"},{\"marketplace\":\"secondary\",\"state\":\"error\",\"error\":\"no wheels\",\"code\":\"marketplace_refused\"}]}', 'marketplace_refused'), \
    (6, 1, '00000000-0000-0000-0000-000000000012', 10, 'handle_media', 'error', \
     '{\"message\":\"1 of 1 image failed\",\"images\":[{\"url\":\"https://a/1\",\"error\":\"HTTP 404\"}]}', 'image_failed'), \
    (7, 1, '00000000-0000-0000-0000-000000000013', 10, 'publish', 'error', '\"Dropped\"', 'given_up'); \
INSERT INTO requests (id, ad, dealer_code, progress, accepted, claimable) VALUES \
    ('00000000-0000-0000-0000-000000000014', 5, 'd1', '{\"reason\":\"primary: HTTP 503\",\"code\":\"marketplace_unreachable\",\"tries\":2}', 29, 29)";

/// The words that the migration wrote are those that are computed, but for what an old request does not say about its marketplaces.
async fn statuses_follow(database: &Database) {
    let store = DatabaseStore::new(database.clone());
    for (source_id, status, channels) in [
        ("live", AdStatus::Live, "live live -"),
        ("refused", AdStatus::PartlyLive, "live failed marketplace_refused"),
        ("hidden", AdStatus::Hidden, "not_listed - -"),
        ("deleted", AdStatus::Deleted, "not_listed - -"),
        ("waits", AdStatus::Waiting, "waiting - marketplace_unreachable"),
        ("image", AdStatus::Live, "live - image_failed"),
        ("outdated", AdStatus::PartlyLive, "outdated - given_up"),
        ("imported", AdStatus::Failed, "not_listed - -"),
    ] {
        let facts = store.facts(Scope::Dealer("d1"), source_id).await.unwrap().remove(0);
        let words = facts.stored.words;
        assert_eq!((words.status, words.channels().as_str()), (status, channels), "{source_id}");
        assert_eq!(facts.stored.status_since, at(7));
        if facts.unfinished.is_empty() {
            assert_eq!(ad_core::status::words(&facts.stored.ad, &facts.stored.publication, None), words, "{source_id}");
        }
        let report = ad_core::status::report(facts, at(8));
        assert_eq!(report.status, status);
        match source_id {
            "refused" => assert!(report.channels[1].text.ends_with("Reason: no wheels"), "{report:?}"),
            "image" => assert_eq!(report.images[0].text, "HTTP 404"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn the_status_of_ads_of_before_the_upgrade_follows_from_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = migrated_to(9, &folder).await;
    connection.execute(STATUSES).await.unwrap();
    connection.close().await.unwrap();
    statuses_follow(&Database::open(&url(&folder)).await.unwrap()).await;
}

#[tokio::test]
async fn the_status_of_ads_of_before_the_upgrade_follows_from_what_is_stored_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    migrations_up_to(8, &postgres::MIGRATIONS).run(&mut connection).await.unwrap();
    connection.execute(STATUSES).await.unwrap();
    connection.close().await.unwrap();
    let database = Database::open(&url).await.unwrap();
    statuses_follow(&database).await;
    database.close().await;
}

/// Ads of before the upgrade are found by their score once it is computed, some at a time.
async fn scores_follow(database: &Database) {
    let store = DatabaseStore::new(database.clone());
    let filters = vec![AdFilter::QualityScore(Bound::Gte, 0)];
    let query = AdQuery { filters, included: Included { quality: true, ..Included::default() }, ..AdQuery::default() };
    let scored = async || store.list(Scope::Dealer("d1"), &query).await.unwrap();
    assert_eq!(scored().await.count, 0);
    for (read, all) in [(5, 5), (3, 8), (0, 8)] {
        assert_eq!(database.score_ads(5).await.unwrap(), read);
        assert_eq!(scored().await.count, all);
    }
    for listed in scored().await.rows {
        let expected = ad_core::quality::score(&listed.ad, &listed.failed_images);
        let filters = vec![
            AdFilter::SourceId(vec![listed.ad.source_id]),
            AdFilter::QualityScore(Bound::Gte, expected),
            AdFilter::QualityScore(Bound::Lt, expected + 1),
        ];
        let query = AdQuery { filters, ..AdQuery::default() };
        assert_eq!(store.list(Scope::Dealer("d1"), &query).await.unwrap().count, 1);
    }
}

#[tokio::test]
async fn ads_of_before_the_upgrade_get_scores_in_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = migrated_to(9, &folder).await;
    connection.execute(STATUSES).await.unwrap();
    connection.close().await.unwrap();
    scores_follow(&Database::open(&url(&folder)).await.unwrap()).await;
}

#[tokio::test]
async fn ads_of_before_the_upgrade_get_scores_in_the_background_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    migrations_up_to(8, &postgres::MIGRATIONS).run(&mut connection).await.unwrap();
    connection.execute(STATUSES).await.unwrap();
    connection.close().await.unwrap();
    let database = Database::open(&url).await.unwrap();
    scores_follow(&database).await;
    database.close().await;
}

/// Ads of before the upgrade: one with a VIN, with a NUL elsewhere; one whose VIN has no such form; one without.
const PRICED: &str = "\
INSERT INTO ads (seq, id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, image_refs, content) VALUES \
    (1, '00000000-0000-0000-0000-000000000001', 'vin', 'd1', 1020, 'created', 'v4', 3, 'created', 1, 7, '[]', \
     '{\"body\":\"a\\u0000 \\\"vin\\\":\\\"x\\\"\",\"category_fields\":{\"vin\":\"yv1uz8256-n1234567\"},\"price\":[{\"type\":\"list\",\"amount\":5,\"currency\":\"SEK\"}]}'), \
    (2, '00000000-0000-0000-0000-000000000002', 'serial', 'd1', 1323, 'created', 'v4', 0, 'created', 1, 7, '[]', '{\"category_fields\":{\"vin\":\"12\"}}'), \
    (3, '00000000-0000-0000-0000-000000000003', 'none', 'd1', 1060, 'created', 'v4', 0, 'created', 1, 7, '[]', '{}')";

/// The prices of these ads are known since their last change, and their VINs are found.
async fn prices_and_vins_follow(database: &Database) {
    let store = DatabaseStore::new(database.clone());
    for source_id in ["vin", "serial", "none"] {
        let (ad, earlier) = store.earlier_prices(Scope::Dealer("d1"), source_id).await.unwrap().remove(0);
        assert_eq!(earlier, [EarlierPrices { until: at(7), prices: None }]);
        assert_eq!(ad_core::prices::history(&ad, earlier, at(8)).recorded_since, at(7));
    }
    let found = async |vin| {
        let query = VehicleQuery { dealer_code: "d1", plate: None, vin: Some(vin), source_id: None };
        store.same_vehicle(query).await.unwrap().vin
    };
    assert_eq!(found("YV1UZ8256N1234567").await.as_deref(), Some("vin"));
    assert_eq!(found("12").await, None);
}

#[tokio::test]
async fn prices_of_before_the_upgrade_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = migrated_to(14, &folder).await;
    connection.execute(PRICED).await.unwrap();
    connection.close().await.unwrap();
    prices_and_vins_follow(&Database::open(&url(&folder)).await.unwrap()).await;
}

#[tokio::test]
async fn prices_of_before_the_upgrade_are_unknown_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    migrations_up_to(13, &postgres::MIGRATIONS).run(&mut connection).await.unwrap();
    connection.execute(PRICED).await.unwrap();
    connection.close().await.unwrap();
    let database = Database::open(&url).await.unwrap();
    prices_and_vins_follow(&database).await;
    database.close().await;
}

/// A schema that a newer version has expanded is used as it is, and one that it has contracted is refused.
async fn newer_schemas_are_used_while_they_only_expand(url: &str, execute: impl AsyncFn(&'static str)) {
    let open = async |schema| Database::open_with(url, &Options { schema, ..Options::default() }).await;
    Database::open(url).await.unwrap().close().await;
    let SchemaState::Usable { version } = Database::schema(url).await.unwrap() else { panic!("it was migrated") };
    execute("ALTER TABLE dealers ADD COLUMN colour TEXT").await;
    execute("INSERT INTO _sqlx_migrations VALUES (9001, 'colours', CURRENT_TIMESTAMP, true, '', 0)").await;
    for schema in [SchemaPolicy::Migrate, SchemaPolicy::Require] {
        let database = open(schema).await.unwrap();
        database.import_dealers(&[Dealer::named("d1")]).await.unwrap();
        database.close().await;
    }
    assert_eq!(Database::schema(url).await.unwrap(), SchemaState::Usable { version: 9001 });
    execute("UPDATE schema_support SET needs = 9001").await;
    for schema in [SchemaPolicy::Migrate, SchemaPolicy::Require] {
        let refused = open(schema).await.unwrap_err().to_string();
        let reason = format!(
            "a newer version of ad-server has migrated its schema to version 9001, and this one knows {version}; start a newer version"
        );
        assert!(refused.contains(&reason), "{refused}");
    }
    execute("DELETE FROM _sqlx_migrations WHERE version > 15").await;
    let refused = open(SchemaPolicy::Require).await.unwrap_err().to_string();
    let reason = format!("its schema has version 15, and this ad-server needs {version}; run `ad-server migrate`");
    assert!(refused.contains(&reason), "{refused}");
}

#[tokio::test]
async fn a_newer_schema_is_used_while_it_only_expands() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ads.db");
    newer_schemas_are_used_while_they_only_expand(&url(&folder), async |sql| {
        let options = SqliteConnectOptions::new().filename(&file);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
    })
    .await;
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    newer_schemas_are_used_while_they_only_expand(&url, async |sql| {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        connection.execute(sql).await.unwrap();
    })
    .await;
}
