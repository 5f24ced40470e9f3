//! The index of the words by which ads are found (`q`).
//!
//! Writes note ads whose words may have changed (`words_due`, filled by triggers, so that no statement has to do it and processes of the
//! previous version do it too). A task of each process with a store indexes them a moment later, in batches: it reads the ads as they are then,
//! so the order does not matter, and a crash loses nothing.

use std::time::Duration;

use ad_core::{
    model::{Ad, AdFilter, AdQuery},
    ports::{Scope, StoreError},
    words::{self, WordSearch},
};
use ad_server_base::telemetry::FaultLog;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::{
    Columns, Database, Link, Row, Work,
    lists::{codes, narrowed},
    nul::storable,
    rows::{json, unreadable},
    sql::words as sql,
    statement::{Dialect, Values},
    work::Isolation,
};

static FAILED: FaultLog = FaultLog::new("cannot index the words of ads; new ads are not found by them meanwhile");

/// Pause between two looks for ads to index. With the time that a batch takes, it must be less than the second that lists may be behind.
const POLL: Duration = Duration::from_millis(400);
/// Maximum number of ads of a batch. It bounds how long writes to SQLite wait for it.
const BATCH: u32 = 128;
/// While there is more to index, it takes one in this number of parts of the time.
const SHARE: u32 = 4;
/// Pause after an error.
const AGAIN: Duration = Duration::from_secs(1);

/// Ads that a search may find and the list still reads one by one. If it finds more, the list walks its order.
const FEW: u32 = 1000;

/// A task that ends when this is dropped.
#[derive(Debug)]
pub(super) struct WordIndexer(JoinHandle<()>);

impl WordIndexer {
    pub(super) fn start(database: Database) -> Self {
        Self(tokio::spawn(async move {
            loop {
                let begun = Instant::now();
                let pause = match database.index_words(BATCH).await {
                    Ok(indexed) if indexed < BATCH as usize => POLL,
                    Ok(_) => begun.elapsed() * (SHARE - 1),
                    Err(error) => {
                        FAILED.report(&error);
                        AGAIN
                    }
                };
                sleep(pause).await;
            }
        }))
    }

    pub(super) fn stop(&self) {
        self.0.abort();
    }
}

impl Drop for WordIndexer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Database {
    /// Indexes the words of some ads, and returns how many it read.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub(super) async fn index_words(&self, at_most: u32) -> Result<usize, StoreError> {
        if !Columns::read_bool(&self.read(sql::AreWordsDue {}).await?)? {
            return Ok(0);
        }
        match self.dialect() {
            // Read beside the writer, which others wait for. What has changed since has another entry, or none, and is not stored.
            Dialect::Sqlite => {
                let due = self.read(sql::WordsDue { limit: at_most }).await?;
                let batch = Batch::of(Dialect::Sqlite, &due)?;
                let read = batch.done.len();
                self.run(batch.statement()?).await?;
                Ok(read)
            }
            Dialect::Postgres => self.write(IndexBatch(at_most)).await,
        }
    }

    /// The ads that the words of a query find in a scope, by their numbers, if they are few. `None` also if it asks for no words.
    pub(super) async fn found_few(&self, scope: Scope<'_>, query: &AdQuery) -> Result<Option<Vec<i64>>, StoreError> {
        let Some(search) = Words::of(query) else { return Ok(None) };
        let mut values = Values::new(self.dialect());
        let ads = search.found(&mut values, narrowed(scope, query));
        let most = values.add(FEW + 1);
        let mut found = Vec::new();
        self.list(values.statement(format!("{ads} LIMIT {most}")), |ad| found.push(ad)).await?;
        Ok((found.len() <= FEW as usize).then_some(found))
    }
}

/// Indexes a batch, unless another process does.
struct IndexBatch(u32);

impl Work for IndexBatch {
    type Answer = usize;

    // Each statement sees what the process that had the lock before has done.
    const ISOLATION: Isolation = Isolation::ReadCommitted;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<usize> {
        let locked = link.run(&sql::LockWords {}.into()).await?;
        if !Columns::read_bool(&locked.rows).map_err(unreadable)? {
            return Ok(0);
        }
        let due = link.run(&sql::WordsDue { limit: self.0 }.into()).await?.rows;
        let batch = Batch::of(link.dialect(), &due).map_err(unreadable)?;
        let read = batch.done.len();
        link.run(&batch.statement().map_err(unreadable)?.into()).await?;
        Ok(read)
    }
}

/// The words of some ads.
struct Batch {
    /// For each ad its number, its dealer, its words, and the number of the entry that said that they are due.
    words: Vec<(i64, String, String, i64)>,
    /// The numbers of all entries that were read.
    done: Vec<i64>,
}

impl Batch {
    fn of(dialect: Dialect, due: &[Row]) -> Result<Self, StoreError> {
        let (mut words, mut done) = (Vec::<(i64, String, String, i64)>::new(), Vec::new());
        for row in due {
            let mut columns = Columns::of(row);
            let (n, seq): (i64, i64) = columns.read()?;
            done.push(n);
            if words.iter().any(|(indexed, ..)| *indexed == seq) {
                continue;
            }
            // An ad that cannot be read must not keep the others from being found.
            match columns.read::<Ad>() {
                Ok(ad) => words.push((seq, storable(&ad.dealer_code).into_owned(), stored(dialect, &ad), n)),
                Err(error) => {
                    tracing::error!(%error, seq, "cannot read an ad to index its words; it is not found by them");
                }
            }
        }
        Ok(Self { words, done })
    }

    fn statement(self) -> Result<sql::IndexWords, StoreError> {
        Ok(sql::IndexWords { words: json(&self.words)?, done: self.done })
    }
}

/// The words of an ad as the table has them.
fn stored(dialect: Dialect, ad: &Ad) -> String {
    let mut text = String::new();
    let dealer = quoted(&ad.dealer_code);
    for word in words::of(ad) {
        match dialect {
            Dialect::Sqlite => text.extend([" ", &word]),
            Dialect::Postgres => text.extend(["'", &dealer, "/", &word, "' "]),
        }
    }
    text
}

/// A dealer code as it stands in quotation marks in `tsvector` and `tsquery`.
fn quoted(dealer_code: &str) -> String {
    storable(dealer_code).replace('\\', "\\\\").replace('\'', "''")
}

/// The condition of a list that an ad has words, which [`search`](super::search) puts together with others.
#[derive(Debug, Clone)]
pub(super) struct Words(WordSearch);

impl Words {
    /// What the filters of a query ask for together.
    pub(super) fn of(query: &AdQuery) -> Option<Self> {
        let texts = query.filters.iter().filter_map(|filter| match filter {
            AdFilter::Words(text) => Some(text.as_str()),
            _ => None,
        });
        let search = WordSearch::of(&texts.collect::<Vec<_>>().join(" "));
        (!search.is_empty()).then_some(Self(search))
    }

    /// The query of the ads that have the words, by their numbers. Each dealer is searched by itself, in the order of `CROSS JOIN`.
    pub(super) fn found(&self, values: &mut Values, scope: Scope<'_>) -> String {
        match values.dialect {
            Dialect::Sqlite => {
                let dealers = values.within(scope, "dealer.dealer_code");
                let search = values.add(self.0.expression(" AND ", " OR ", |word| format!("\"#{word}\"*")));
                format!(
                    "SELECT word_index.rowid AS ad FROM dealer_numbers AS dealer CROSS JOIN word_index
    WHERE {dealers} AND word_index MATCH replace({search}, '#', dealer.number || '_')"
                )
            }
            Dialect::Postgres => {
                let dealers: Vec<_> = codes(scope).iter().map(|code| quoted(code)).collect();
                let (dealers, search) = (values.add(dealers), values.add(self.for_postgres("#")));
                format!(
                    "SELECT words.ad FROM unnest(CAST({dealers} AS TEXT[])) AS dealer (code) CROSS JOIN words
    WHERE words.words @@ CAST(replace({search}, '#', dealer.code) AS TSQUERY)"
                )
            }
        }
    }

    /// The condition on an ad of a dealer, decided by its own words.
    pub(super) fn condition_on_each(&self, values: &mut Values, dealer_code: &str) -> String {
        let has = match values.dialect {
            Dialect::Sqlite => {
                let has = |word: &str| format!("instr(words.words, {}) > 0", values.add(format!(" {word}")));
                self.0.expression(" AND ", " OR ", has)
            }
            Dialect::Postgres => {
                format!("words.words @@ CAST({} AS TSQUERY)", values.add(self.for_postgres(&quoted(dealer_code))))
            }
        };
        format!("EXISTS (SELECT 1 FROM words WHERE words.ad = ads.seq AND {has})")
    }

    fn for_postgres(&self, dealer: &str) -> String {
        self.0.expression(" & ", " | ", |word| format!("'{dealer}/{word}':*"))
    }
}
