//! What migrations do to data that is there.

use ad_core::{
    model::{AdFilter, AdOrder, AdQuery, Page},
    ports::Scope,
};
use sqlx::{Connection, SqliteConnection, migrate::Migrator, sqlite::SqliteConnectOptions};

use super::*;
use crate::store::sqlite::MIGRATIONS;

/// A database as an earlier version left it.
async fn migrated_to(version: i64, folder: &TempDir) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(folder.path().join("ads.db")).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let earlier = MIGRATIONS.iter().filter(|migration| migration.version <= version).cloned().collect::<Vec<_>>();
    let earlier = Migrator { migrations: earlier.into(), ..Migrator::DEFAULT };
    earlier.run(&mut connection).await.unwrap();
    connection
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
