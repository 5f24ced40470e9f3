//! What migrations do to data that is there.

use std::sync::Arc;

use ad_core::{
    model::{AdFilter, AdOrder, AdQuery, Page},
    ports::{IdempotencyKey, Listing, Marketplace, Scope},
};
use futures_util::TryStreamExt;
use sqlx::{Connection, Executor, PgConnection, SqliteConnection, migrate::Migrator, sqlite::SqliteConnectOptions};

use super::*;
use crate::{
    marketplace::{ListingFilter, Local, list_listings},
    store::{postgres, sqlite::MIGRATIONS},
    system::SystemClock,
};

/// A database as an earlier version left it.
async fn migrated_to(version: i64, folder: &TempDir) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(folder.path().join("ads.db")).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    up_to(version, &MIGRATIONS).run(&mut connection).await.unwrap();
    connection
}

fn up_to(version: i64, all: &Migrator) -> Migrator {
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
        include_log: false,
    };
    let found = store.list(Scope::Dealer("north"), &query).await.unwrap();
    let content = &found.rows[0].0.content;
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
    let local = Local::new(database.clone(), Market::Primary, Arc::new(SystemClock));
    let key = |request, action| IdempotencyKey { request: Uuid::from_u128(request), action, market: Market::Primary };
    let ad = ad(1, 0);
    let listing = Listing { ad: &ad, images: &[] };
    assert_eq!(local.publish(key(2, Action::Publish), listing).await.unwrap(), "20000002", "the one that shows the ad");
    assert_eq!(local.publish(key(1, Action::Publish), listing).await.unwrap(), "20000001", "as it was answered then");
    local.bump(key(3, Action::Bump), "20000002").await.unwrap();
    local.bump(key(4, Action::Bump), "20000002").await.unwrap();
    let listings: Vec<_> = list_listings(database, &ListingFilter::default()).try_collect().await.unwrap();
    assert_eq!(listings.iter().map(|listing| listing.changes).collect::<Vec<_>>(), [3, 2], "only the last call is new");
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
    up_to(5, &postgres::MIGRATIONS).run(&mut connection).await.unwrap();
    connection.execute(LISTINGS).await.unwrap();
    connection.execute("SELECT setval('listing_places', 1)").await.unwrap();
    connection.close().await.unwrap();
    let database = Database::open(&url).await.unwrap();
    calls_made_again_change_nothing(&database).await;
    database.close().await;
}
