use std::time::Duration;

use ad_core::ports::{AnswerKey, KeptAnswer, LogEntries, Scope};
use futures_util::future::join_all;
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use super::*;
use crate::work::{Link, StatementResult, Work};

/// A write that the database refuses.
fn faulty() -> Statement {
    let sql = "INSERT INTO dealers (code, dealer) VALUES ('x', 'kept?'); INSERT INTO dealers (code) VALUES (NULL)";
    statement(sql)
}

fn dealer(code: usize) -> Statement {
    with_values("INSERT INTO dealers (code, dealer) VALUES ($1, '{}')", [code.to_string().into()])
}

async fn number_of_dealers(database: &Database) -> i64 {
    number(database, "SELECT count(*) FROM dealers").await
}

/// Keeps the writer busy until it is told to go on, so that what comes meanwhile shares a commit.
struct Blocked(tokio::sync::Semaphore);

impl Work for std::sync::Arc<Blocked> {
    type Answer = ();

    async fn run(&self, _: &mut Link<'_>) -> sqlx::Result<()> {
        self.0.acquire().await.map(drop).map_err(|_| sqlx::Error::WorkerCrashed)
    }
}

#[tokio::test]
async fn one_failure_does_not_hurt_those_that_share_its_commit() {
    let temporary = TestDatabase::open().await;
    let database = &temporary.database;
    let blocked = std::sync::Arc::new(Blocked(tokio::sync::Semaphore::new(0)));
    let good = join_all((0..10).map(|code| database.write(dealer(code))));
    let bad = join_all((0..3).map(|_| database.write(faulty())));
    let (first, good, bad, ()) =
        tokio::join!(database.write(std::sync::Arc::clone(&blocked)), good, bad, async { blocked.0.add_permits(1) });
    first.unwrap();
    assert!(good.iter().all(|result| matches!(result, Ok(StatementResult { changed: 1, .. }))), "{good:?}");
    assert!(bad.iter().all(|result| matches!(result, Err(StoreError::Faulty(_)))), "{bad:?}");
    assert_eq!(number_of_dealers(database).await, 10);
}

#[tokio::test]
async fn a_caller_who_goes_away_hurts_nobody() {
    let temporary = TestDatabase::open().await;
    let database = &temporary.database;
    for code in 0..20 {
        let mut write = Box::pin(database.write(dealer(code)));
        // Once: that hands it over.
        assert!(futures_util::poll!(&mut write).is_pending());
        drop(write);
    }
    database.write(dealer(20)).await.unwrap();
    assert!((1..=21).contains(&number_of_dealers(database).await));
}

#[tokio::test]
async fn a_locked_database_is_unavailable_until_it_is_free() {
    let options = Options { busy_timeout: Duration::from_millis(20), ..Options::default() };
    let temporary = TestDatabase::open_with(&options).await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();

    let file = SqliteConnectOptions::new().filename(temporary.folder.path().join("ads.db"));
    let mut other = SqliteConnection::connect_with(&file).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let (two, three) = (ad(2, 11), ad(3, 12));
    let (second, third) = tokio::join!(create(&store, 2, &two), create(&store, 3, &three));
    assert!(matches!(second, Err(StoreError::Unavailable(_))), "{second:?}");
    assert!(matches!(third, Err(StoreError::Unavailable(_))), "{third:?}");
    // Reading goes on.
    assert_eq!(store.find(Scope::Dealer("d1"), "Bil-1", LogEntries::Latest).await.unwrap().len(), 1);
    sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    create(&store, 2, &two).await.unwrap();
    assert!(!store.is_used("d1", "Bil-3").await.unwrap());
}

#[tokio::test]
async fn a_full_database_is_unavailable_and_keeps_what_it_has() {
    let temporary = TestDatabase::open_with(&Options { max_pages: Some(180), ..Options::default() }).await;
    let store = temporary.store();
    let mut accepted = Vec::new();
    let refused = loop {
        let number = u32::try_from(accepted.len()).unwrap();
        match create(&store, number, &ad(number, 10)).await {
            Ok(()) => accepted.push(number),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    assert!(accepted.len() > 10);
    // Several at once are refused too, each for itself, and the writer lives on.
    let ads: Vec<_> = (500..510).map(|number| ad(number, 10)).collect();
    let together = join_all((500..510).zip(&ads).map(|(number, ad)| create(&store, number, ad))).await;
    assert!(together.iter().any(|result| matches!(result, Err(StoreError::Unavailable(_)))));
    assert!(matches!(store.extend(Uuid::nil(), 1, at(1)).await, Err(StoreError::LeaseLost)));

    temporary.database.close().await;
    let database = Database::open(&url(&temporary.folder)).await.unwrap();
    let store = DatabaseStore::new(database);
    for number in accepted {
        let found = store.find(Scope::Dealer("d1"), &format!("Bil-{number}"), LogEntries::Latest).await.unwrap();
        assert_eq!((found[0].0.ad.clone(), found[0].1.len()), (ad(number, 10), 1));
    }
    create(&store, 600, &ad(600, 10)).await.unwrap();
}

#[tokio::test]
async fn a_closed_database_is_unavailable() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    temporary.database.close().await;
    assert!(matches!(create(&store, 1, &ad(1, 10)).await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.is_used("d1", "Bil-1").await, Err(StoreError::Unavailable(_))));
    // The write-ahead log is part of the file again.
    let names = std::fs::read_dir(temporary.folder.path()).unwrap();
    assert_eq!(names.map(|name| name.unwrap().file_name()).collect::<Vec<_>>(), ["ads.db"]);
}

#[tokio::test]
async fn the_writer_ends_with_its_last_handle() {
    let TestDatabase { database, folder } = TestDatabase::open().await;
    database.write(dealer(1)).await.unwrap();
    drop(database);
    while folder.path().join("ads.db-wal").exists() {
        tokio::task::yield_now().await;
    }
}

/// A statement that would run for minutes.
fn endless() -> Statement {
    statement(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) \
         SELECT count(*), (SELECT count(*) FROM dealers) FROM n",
    )
}

/// Whether no read is under way: while there is one, what is written cannot be moved from the log to the database.
async fn is_quiet(temporary: &TestDatabase) -> bool {
    let file = temporary.folder.path().join("ads.db");
    let options = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::ZERO);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("UPDATE directory_version SET version = version + 1").execute(&mut connection).await.unwrap();
    let blocked: bool = sqlx::query_scalar("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    !blocked
}

async fn comes_to_rest(temporary: &TestDatabase) {
    for _ in 0..500 {
        if is_quiet(temporary).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the read goes on");
}

#[tokio::test]
async fn a_read_that_nobody_waits_for_is_stopped() {
    let temporary = TestDatabase::open_with(&Options { lists: 1, readers: 1, ..Options::default() }).await;
    let database = &temporary.database;
    for _ in 0..3 {
        let mut list = Box::pin(database.list(endless(), |_: i64| ()));
        let mut look_up = Box::pin(database.look_up(endless()));
        for _ in 0..500 {
            assert!(futures_util::poll!(&mut list).is_pending() && futures_util::poll!(&mut look_up).is_pending());
            tokio::time::sleep(Duration::from_millis(1)).await;
            if !is_quiet(&temporary).await {
                break;
            }
        }
        assert!(!is_quiet(&temporary).await, "the reads are under way");
        drop((list, look_up));
        comes_to_rest(&temporary).await;
    }
    let rows = database.look_up(statement("SELECT count(*) FROM dealers")).await.unwrap();
    assert_eq!(rows.len(), 1, "there is a connection again");
}

#[tokio::test]
async fn a_read_ends_at_its_time_limit() {
    let limit = Duration::from_millis(50);
    let temporary = TestDatabase::open_with(&Options { read_timeout: limit, ..Options::default() }).await;
    let ended = temporary.database.list(endless(), |_: i64| ()).await;
    assert!(matches!(ended, Err(StoreError::TimedOut(time)) if time == limit), "{ended:?}");
    comes_to_rest(&temporary).await;
}

/// Each attempt to store an ad takes a number, also if it fails.
#[tokio::test]
async fn an_ad_with_a_used_key_is_not_attempted_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let database = Database::open(&server.database().await).await.unwrap();
    let store = DatabaseStore::new(database.clone());
    let answer = KeptAnswer {
        key: AnswerKey { holder: "dealer_code d1".to_owned(), digest: "key".to_owned() },
        fingerprint: "body".to_owned(),
        request_id: request_id(1),
        accepted: at(1),
        answer: "201\n[]\n{}".to_owned(),
    };
    let create = async |number: u32| {
        let (ad, request) = (ad(number, 1), request(number, 1));
        let entry = entry(number, Action::Create, ActionState::Processing, 1);
        store.create(NewAd { ad: &ad, request: &request, entry: &entry, answer: Some(&answer) }).await
    };
    create(1).await.unwrap();
    let mut attempts = Vec::new();
    for number in 2..=5 {
        let created = create(number).await;
        assert!(matches!(created, Err(StoreError::KeyUsed(_))), "{created:?}");
        attempts.push(self::number(&database, "SELECT last_value FROM ads_seq_seq").await);
    }
    assert_eq!(attempts, [1; 4]);
    assert_eq!(self::number(&database, "SELECT count(*) FROM ads").await, 1);
}
