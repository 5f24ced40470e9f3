//! Tests of the store over database files.

mod ads;
mod faults;
mod lists;
mod migrations;
mod plans;
mod previous;
mod queue;
mod statements;
mod text;
mod webhooks;

use ad_core::{
    model::{Action, ActionState, Ad, AdState, ApiVersion, Content, LogEntry, Market, Plan, Request, Timestamp},
    ports::{NewAd, Store, StoreError},
};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use uuid::Uuid;

use super::{
    Columns, Database, DatabaseStore, Options, Statement,
    statement::{Dialect, SqlValue, Values},
};

/// A database that goes away with the test.
pub(crate) struct TestDatabase {
    pub(crate) database: Database,
    pub(crate) folder: TempDir,
}

impl TestDatabase {
    pub(crate) async fn open() -> Self {
        Self::open_with(&Options::default()).await
    }

    pub(crate) async fn open_with(options: &Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open_with(&url(&folder), options).await.unwrap();
        Self { database, folder }
    }

    pub(crate) fn store(&self) -> DatabaseStore {
        DatabaseStore::new(self.database.clone())
    }
}

/// A statement of this text.
fn statement(text: &str) -> Statement {
    Values::new(Dialect::Sqlite).statement(text.to_owned())
}

/// A statement with these values.
fn with_values<const N: usize>(text: &str, values: [SqlValue; N]) -> Statement {
    let mut all = Values::new(Dialect::Sqlite);
    for value in values {
        all.add(value);
    }
    all.statement(text.to_owned())
}

/// What a query of one number answers.
pub(crate) async fn number(database: &Database, sql: &str) -> i64 {
    Columns::of(&database.read(statement(sql)).await.unwrap()[0]).value().unwrap()
}

/// A connection to a new database of PostgreSQL, with the tables of the store. None when PostgreSQL is not installed.
async fn postgres_connection() -> Option<PgConnection> {
    let url = ad_tests::Postgres::shared().await?.database().await;
    Database::open(&url).await.unwrap().close().await;
    Some(PgConnection::connect(&url).await.unwrap())
}

/// The steps of the database for a statement, whatever its values are.
async fn explained(database: &Database, explain: &Statement) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {}", explain.text(Dialect::Sqlite).as_str());
    let rows = database.read(statement(&explain)).await.unwrap();
    let detail = |row| {
        let mut columns = Columns::of(row);
        for _ in 0..3 {
            columns.value::<i64>().unwrap();
        }
        columns.string().unwrap()
    };
    rows.iter().map(detail).collect()
}

/// Where [`TestDatabase`] has its file.
pub(crate) fn url(folder: &TempDir) -> String {
    format!("sqlite://{}/ads.db", folder.path().display())
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// The ad number `number`, created then.
pub(crate) fn ad(number: u32, created: i64) -> Ad {
    let content = json!({
        "title": format!("Volvo V60 {number}"),
        "body": "Välvårdad, en ägare",
        "category_fields": {"registration_number": format!("ABC{number:03}")},
    });
    Ad {
        id: Uuid::from_u128(u128::from(number)),
        source_id: format!("Bil-{number}"),
        dealer_code: "d1".to_owned(),
        category_id: 1020,
        state: AdState::Created,
        api_version: ApiVersion::V4,
        content: object(content),
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: at(created),
        updated: at(created),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "reads better with json!")]
pub(crate) fn object(value: Value) -> Content {
    Content::stored(value.to_string()).unwrap()
}

/// The id of the request number `number`.
fn request_id(number: u32) -> Uuid {
    Uuid::from_u128(1 << 100 | u128::from(number))
}

fn request(number: u32, accepted: i64) -> Request {
    let plan = Plan { actions: vec![Action::Create, Action::Publish], markets: vec![Market::Primary] };
    Request::new(request_id(number), Some(plan), at(accepted))
}

fn entry(request: u32, action: Action, state: ActionState, created: i64) -> LogEntry {
    let external_message = json!({"message": "så här", "number": request});
    LogEntry::new(request_id(request), at(created), action, state, external_message)
}

/// Stores the ad with a request of the same number.
async fn create(store: &DatabaseStore, number: u32, ad: &Ad) -> Result<(), StoreError> {
    let request = request(number, ad.created.as_millis());
    let entry = entry(number, Action::Create, ActionState::Processing, ad.created.as_millis());
    store.create(NewAd { ad, request: &request, entry: &entry, answer: None }).await
}
