//! A store in a file for tests of single crates.

use ad_core::model::{Ad, AdState, ApiVersion, Content, Timestamp};
use ad_server::store::{Database, Options};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use tempfile::TempDir;
use uuid::Uuid;

/// An SQLite database in a temporary folder, which is removed with the value.
#[derive(Debug)]
pub struct TemporaryStore {
    pub database: Database,
    folder: TempDir,
}

impl TemporaryStore {
    /// An empty database.
    ///
    /// # Panics
    /// When the folder or the database cannot be created.
    pub async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let database = Database::open_with(&url(&folder), &Options::default()).await;
        Self { database: database.expect("a database can be created"), folder }
    }

    /// The result of a query of one number.
    ///
    /// # Panics
    /// When the query fails.
    pub async fn number(&self, query: &str) -> i64 {
        let mut connection = SqliteConnection::connect(&url(&self.folder)).await.expect("the file can be opened");
        let number = sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(&mut connection).await;
        number.expect("the query returns a number")
    }
}

fn url(folder: &TempDir) -> String {
    format!("sqlite://{}/ads.db", folder.path().display())
}

/// A car of dealer `d1` with this number in its ids, created at this time in milliseconds since 1970.
///
/// # Panics
/// Never: the content is valid JSON.
pub fn sample_ad(number: u32, created: i64) -> Ad {
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
        content: Content::stored(content.to_string()).expect("the content is an object"),
        image_refs: Vec::new(),
        marketplace_ad_id: None,
        offer_id: None,
        created: Timestamp::from_millis(created),
        updated: Timestamp::from_millis(created),
    }
}
