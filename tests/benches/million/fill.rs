//! Brings a stock into a new database as the service and a worker would have left it: ads, their logs, their listings and
//! the texts to be searched. It is written past the service, with the tables that the service has made, because a million
//! requests would take an hour.

use std::fmt::Write as _;

use ad_server::store::{Database, DatabaseStore};
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, Connection, PgConnection, QueryBuilder, Sqlite, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use super::stock::{Ad, Dealer, Stock, number};

/// Rows that are written together.
const ROWS: usize = 500;

/// Columns of an ad, in the order of [`ad_row`].
const AD: &str = "seq, id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, \
                  registration_number, marketplace_ad_id, offer_id, status, channels, status_since, image_refs, content";

fn ad_row(seq: i64, ad: &Ad) -> Vec<Cell> {
    vec![
        seq.into(),
        ad.id.to_string().into(),
        ad.source_id.clone().into(),
        ad.dealer.code().into(),
        i64::from(ad.category).into(),
        ad.state.to_owned().into(),
        "v4".to_owned().into(),
        0.into(),
        ad.state.to_owned().into(),
        ad.created.into(),
        ad.updated.into(),
        ad.plate.clone().into(),
        ad.listing.clone().into(),
        ad.offer().into(),
        ad.status().to_owned().into(),
        ad.channels().into(),
        ad.updated.into(),
        ad.image_refs.to_string().into(),
        Value::from(ad.content.clone()).to_string().into(),
    ]
}

/// What follows from the ads: eight log entries each, and the listings that they hold. `{ID}` stands before the text of
/// an id, `{TRANSACTION_COLUMN}` and `{TRANSACTION}` for the number of the transaction where the store writes it.
const FOLLOWING: &[&str] = &[
    "WITH entry (key, action, state, message) AS (VALUES (0, 'create', 'processing', '\"Processing\"'), \
         (1, 'create', 'done', '\"Done\"'), (2, 'handle_media', 'processing', '\"Processing\"'), \
         (3, 'handle_media', 'done', '\"Done\"'), (4, 'publish', 'processing', '\"Publishing\"'), \
         (5, 'publish', 'done', '\"Published\"'), (6, 'bump', 'processing', '\"Processing\"'), (7, 'bump', 'done', '\"Done\"')) \
     INSERT INTO log (ad, n, request_id, created, action, state, message, dealer_code{TRANSACTION_COLUMN}) \
     SELECT ads.seq, entry.key + 1, \
         CASE WHEN entry.key < 6 THEN ads.id ELSE {ID}(replace(CAST(ads.id AS TEXT), '-7', '-6')) END, \
         ads.created + entry.key * 40 + CASE WHEN entry.key < 6 THEN 0 ELSE 3600000 END, \
         entry.action, entry.state, entry.message, ads.dealer_code{TRANSACTION} \
     FROM ads CROSS JOIN entry ORDER BY ads.seq, entry.key",
    "INSERT INTO ties (market, listing, ad) SELECT 'primary', marketplace_ad_id, seq FROM ads",
    "INSERT INTO ties (market, listing, ad) SELECT 'secondary', offer_id, seq FROM ads WHERE offer_id IS NOT NULL",
];

/// What stands in a column.
#[derive(Debug, Clone)]
enum Cell {
    Number(i64),
    Text(Option<String>),
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(Some(text))
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        Self::Text(text)
    }
}

/// Fills the database at this address; returns its size in bytes.
pub(super) async fn fill(url: &str, stock: &Stock) -> u64 {
    let database = Database::open(url).await.expect("a new database can be made");
    database.close().await;
    let mut filling = Filling::open(url).await.expect("it was just made");
    filling.fill(stock).await.expect("a new database can be filled");
    filling.close().await.expect("it was just filled");

    let database = Database::open(url).await.expect("what was filled can be opened");
    // The store fills an index for searching by itself, where it has one.
    let store = DatabaseStore::new(database.clone());
    let is_indexed = async || {
        database.unindexed().await.expect("the store can be read") == 0
            && database.words_due().await.expect("the store can be read") == 0
    };
    while !is_indexed().await {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    drop(store);
    database.close().await;
    let mut filled = Filling::open(url).await.expect("what was filled can be opened");
    let bytes = filled.size().await.expect("a database knows its size");
    filled.close().await.expect("nothing was written");
    bytes
}

/// A connection that fills a database.
enum Filling {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Filling {
    async fn open(url: &str) -> sqlx::Result<Self> {
        if url.starts_with("postgres:") {
            return PgConnection::connect(url).await.map(Self::Postgres);
        }
        let options: SqliteConnectOptions = url.parse()?;
        let options = options
            .journal_mode(SqliteJournalMode::Off)
            .synchronous(SqliteSynchronous::Off)
            .pragma("locking_mode", "EXCLUSIVE")
            .pragma("cache_size", "-500000");
        SqliteConnection::connect_with(&options).await.map(Self::Sqlite)
    }

    /// The tables are filled without their indexes, but for those that keep rows unique.
    async fn fill(&mut self, stock: &Stock) -> sqlx::Result<()> {
        let indexes = self.indexes().await?;
        if matches!(self, Self::Postgres(_)) {
            self.execute("SET work_mem = '1GB'").await?;
            self.execute("SET maintenance_work_mem = '1GB'").await?;
        }
        self.execute("BEGIN").await?;
        for (name, _) in &indexes {
            self.execute(&format!("DROP INDEX {name}")).await?;
        }
        if matches!(self, Self::Sqlite(_)) {
            let row = |dealer: &Dealer| vec![number(dealer.number).into(), dealer.code().into()];
            let rows: Vec<_> = stock.dealers.iter().map(row).collect();
            self.insert("dealer_numbers", "number, dealer_code", &rows).await?;
        }
        let mut ads = stock.in_order().peekable();
        while ads.peek().is_some() {
            let (mut rows, mut texts) = (Vec::with_capacity(ROWS), Vec::with_capacity(ROWS));
            for (seq, ad) in ads.by_ref().take(ROWS) {
                rows.push(ad_row(seq, &ad));
                texts.push(self.text_row(seq, &ad));
            }
            self.insert("ads", AD, &rows).await?;
            self.insert("texts", self.text_columns(), &texts).await?;
        }
        for sql in FOLLOWING {
            // PostgreSQL numbers transactions by itself.
            let (id, column, transaction) = match self {
                Self::Sqlite(_) => ("", ", transaction_id", ", ads.seq"),
                Self::Postgres(_) => ("uuid", "", ""),
            };
            let sql =
                sql.replace("{ID}", id).replace("{TRANSACTION_COLUMN}", column).replace("{TRANSACTION}", transaction);
            self.execute(&sql).await?;
        }
        for (_, sql) in &indexes {
            self.execute(sql).await?;
        }
        self.execute("COMMIT").await?;
        if matches!(self, Self::Postgres(_)) {
            self.execute("SELECT setval(pg_get_serial_sequence('ads', 'seq'), max(seq)) FROM ads").await?;
            // As autovacuum would have done by the time that there are so many.
            self.execute("VACUUM ANALYZE").await?;
            self.execute("CHECKPOINT").await?;
        }
        Ok(())
    }

    /// Names of the indexes, and how they are made.
    async fn indexes(&mut self) -> sqlx::Result<Vec<(String, String)>> {
        match self {
            Self::Sqlite(connection) => {
                sqlx::query_as("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
                    .fetch_all(connection)
                    .await
            }
            Self::Postgres(connection) => {
                sqlx::query_as(
                    "SELECT CAST(indexrelid AS regclass)::text, pg_get_indexdef(indexrelid) FROM pg_index \
                     WHERE indrelid IN ('ads'::regclass, 'texts'::regclass, 'log'::regclass) AND NOT indisunique",
                )
                .fetch_all(connection)
                .await
            }
        }
    }

    async fn execute(&mut self, sql: &str) -> sqlx::Result<()> {
        match self {
            Self::Sqlite(connection) => sqlx::query(AssertSqlSafe(sql)).execute(connection).await.map(drop),
            Self::Postgres(connection) => sqlx::query(AssertSqlSafe(sql)).execute(connection).await.map(drop),
        }
    }

    fn text_columns(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "place, search, source_id",
            Self::Postgres(_) => "ad, dealer_code, search, source_id",
        }
    }

    /// What is searched of an ad. SQLite has a number for the dealer and the ad together.
    fn text_row(&self, seq: i64, ad: &Ad) -> Vec<Cell> {
        let mut row = match self {
            Self::Sqlite(_) => vec![((number(ad.dealer.number) << 40) + seq).into()],
            Self::Postgres(_) => vec![seq.into(), ad.dealer.code().into()],
        };
        let text = |name: &str| ad.content[name].as_str().unwrap_or_default();
        row.push(format!("{}\n{}", text("title"), text("body")).to_lowercase().into());
        row.push(ad.source_id.to_lowercase().into());
        row
    }

    async fn insert(&mut self, table: &str, columns: &str, rows: &[Vec<Cell>]) -> sqlx::Result<()> {
        match self {
            Self::Sqlite(connection) => {
                let mut sql = QueryBuilder::<Sqlite>::new(format!("INSERT INTO {table} ({columns}) "));
                sql.push_values(rows, |mut row, cells| {
                    for cell in cells {
                        match cell {
                            Cell::Number(number) => row.push_bind(number),
                            Cell::Text(text) => row.push_bind(text),
                        };
                    }
                });
                sql.build().execute(connection).await.map(drop)
            }
            Self::Postgres(connection) => {
                let mut copy = connection.copy_in_raw(&format!("COPY {table} ({columns}) FROM STDIN")).await?;
                copy.send(copied(rows).into_bytes()).await?;
                copy.finish().await.map(drop)
            }
        }
    }

    async fn size(&mut self) -> sqlx::Result<u64> {
        let bytes: i64 = match self {
            Self::Sqlite(connection) => {
                let sql = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
                sqlx::query_scalar(sql).fetch_one(connection).await?
            }
            Self::Postgres(connection) => {
                sqlx::query_scalar("SELECT pg_database_size(current_database())").fetch_one(connection).await?
            }
        };
        Ok(bytes.cast_unsigned())
    }

    async fn close(self) -> sqlx::Result<()> {
        match self {
            Self::Sqlite(connection) => connection.close().await,
            Self::Postgres(connection) => connection.close().await,
        }
    }
}

/// Rows as `COPY` takes them.
fn copied(rows: &[Vec<Cell>]) -> String {
    let mut text = String::new();
    for row in rows {
        for (place, cell) in row.iter().enumerate() {
            text.push_str(if place > 0 { "\t" } else { "" });
            match cell {
                Cell::Number(number) => write!(text, "{number}").expect("a String takes any text"),
                Cell::Text(None) => text.push_str("\\N"),
                Cell::Text(Some(value)) => {
                    text.push_str(&value.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t"));
                }
            }
        }
        text.push('\n');
    }
    text
}
