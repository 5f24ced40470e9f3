use ad_core::{
    model::{AdFilter, AdQuery, StatusWords},
    ports::{Revision, Scope},
};
use sqlx::{Connection, SqliteConnection, migrate::Migrator, sqlite::SqliteConnectOptions};

use super::*;
use crate::{
    Link, Work,
    ads::revision,
    sqlite::{MIGRATIONS, text::IndexTexts},
};

/// What texts have in them that somebody might take for more than text.
const TEXTS: [&str; 10] = [
    "Välskött FAMILJEBIL, 100% _ok_ \"citat\" 'så'",
    "a*b AND (c OR d) NOT e^f {g} : h - i + NEAR(j k)",
    "ΟΔΟΣ İstanbul ǅ ŒUVRE straße ẞ",
    "日本語テキスト🚗🚙 e\u{301}",
    "\u{100000}\u{100000}\u{100001}Volvo",
    "a\0bc\u{FFFD}d\u{FFFE}e\u{FFFF}f",
    "line\nfeed\r\ttab \\ back\\slash",
    "aaaa aaaaaaaaaaaa ababababab",
    "",
    "x",
];

async fn indexed(database: &Database) {
    for _ in 0..3000 {
        if database.unindexed().await.unwrap() == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the texts are never indexed");
}

async fn count(store: &DatabaseStore, dealer: &str, filter: AdFilter) -> u64 {
    let query = AdQuery { filters: vec![filter], ..AdQuery::default() };
    store.list(Scope::Dealer(dealer), &query).await.unwrap().count
}

/// An ad of a dealer with this text as its body and as part of its source id.
fn saying(number: u32, dealer: &str, text: &str) -> Ad {
    let content = object(json!({"title": "Titel", "body": text}));
    Ad { dealer_code: dealer.to_owned(), source_id: format!("{number}{text}"), content, ..ad(number, 10) }
}

/// Every part of a text of up to five characters, and the whole.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let ends: Vec<usize> = text.char_indices().map(|(place, _)| place).chain([text.len()]).collect();
    let parts = (0..ends.len()).flat_map(move |from| {
        let ends = ends.clone();
        (from..ends.len().min(from + 6)).map(move |to| (ends[from], ends[to]))
    });
    parts.map(|(from, to)| &text[from..to]).chain([text])
}

#[tokio::test]
async fn every_part_of_a_text_is_found_and_nothing_else_is() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    let mut number = 0;
    for text in TEXTS {
        for dealer in ["d1", "d2"] {
            number += 1;
            create(&store, number, &saying(number, dealer, text)).await.unwrap();
        }
    }
    let folded = TEXTS.map(str::to_lowercase);
    for is_indexed in [false, true] {
        if is_indexed {
            indexed(&temporary.database).await;
        }
        for part in TEXTS.into_iter().flat_map(parts) {
            let wanted = part.to_lowercase();
            let holding =
                |around: fn(&str) -> String| folded.iter().filter(|text| around(text).contains(&wanted)).count() as u64;
            let found = count(&store, "d1", AdFilter::Search(part.to_owned())).await;
            assert_eq!(found, holding(|text| format!("titel\n{text}")), "{part:?}, indexed: {is_indexed}");
        }
    }
    assert_eq!(count(&store, "d1", AdFilter::SourceIdContains("FAMILJE".to_owned())).await, 1);
    assert_eq!(count(&store, "d1", AdFilter::SourceIdContains("titel".to_owned())).await, 0);
    assert_eq!(count(&store, "d3", AdFilter::Search("familje".to_owned())).await, 0);
}

#[tokio::test]
async fn a_text_that_changed_is_indexed_anew() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    indexed(&temporary.database).await;
    let content = object(json!({"title": "Segelbåt"}));
    let change = Revision {
        ad: ad(1, 10).id,
        dealer_code: "d1",
        revision: 0,
        content: Some(&content),
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(20),
        request: &request(2, 20),
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(change).await.unwrap();
    for _ in 0..2 {
        assert_eq!(count(&store, "d1", AdFilter::Search("SEGEL".to_owned())).await, 1);
        assert_eq!(count(&store, "d1", AdFilter::Search("volvo".to_owned())).await, 0);
        indexed(&temporary.database).await;
    }
    let hits = "SELECT count(*) FROM trigrams WHERE trigrams MATCH '\"vol\"'";
    assert_eq!(number(&temporary.database, hits).await, 0, "the index has forgotten the old text");
}

#[tokio::test]
async fn what_a_dead_process_left_unindexed_is_taken_up() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    for number in 1..=600 {
        create(&store, number, &ad(number, 10)).await.unwrap();
    }
    temporary.database.close().await;
    let database = Database::open(&url(&temporary.folder)).await.unwrap();
    // The first process had indexed some of them, on a slow machine even all; one that was killed early leaves them all.
    for sql in ["DELETE FROM trigrams", "INSERT OR IGNORE INTO unindexed (place) SELECT place FROM texts"] {
        database.run(statement(sql)).await.unwrap();
    }
    assert_eq!(database.unindexed().await.unwrap(), 600);
    let store = DatabaseStore::new(database.clone());
    assert_eq!(count(&store, "d1", AdFilter::Search("v60".to_owned())).await, 600, "it is found before it is indexed");
    indexed(&database).await;
    assert_eq!(count(&store, "d1", AdFilter::Search("v60".to_owned())).await, 600);
}

#[tokio::test]
async fn a_database_of_the_first_version_keeps_its_ads() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteConnectOptions::new().filename(folder.path().join("ads.db")).create_if_missing(true);
    let mut old = SqliteConnection::connect_with(&options).await.unwrap();
    Migrator::with_migrations(vec![MIGRATIONS.migrations[0].clone()]).run(&mut old).await.unwrap();
    let insert = "INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, \
        created, updated, image_refs, content, source_id_folded, search) \
        VALUES ($1, 'Bil', 'd1', 1020, 'created', 'v4', 0, 'created', 10, 10, '[]', '{\"title\":\"Volvo\"}', 'bil', 'volvo')";
    sqlx::query(insert).bind(Uuid::nil().to_string()).execute(&mut old).await.unwrap();
    old.close().await.unwrap();

    let database = Database::open(&url(&folder)).await.unwrap();
    let store = DatabaseStore::new(database.clone());
    create(&store, 1, &ad(1, 20)).await.unwrap();
    for _ in 0..2 {
        assert_eq!(count(&store, "d1", AdFilter::Search("VOLVO".to_owned())).await, 2);
        assert_eq!(count(&store, "d1", AdFilter::SourceIdContains("bil-".to_owned())).await, 1);
        indexed(&database).await;
    }
}

#[tokio::test]
async fn long_texts_are_indexed_one_at_a_time() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    let long = "a".repeat(100_000);
    for number in 0..2 {
        create(&store, number, &saying(number, "d1", &long)).await.unwrap();
    }
    for number in 2..5 {
        create(&store, number, &saying(number, "d1", "x")).await.unwrap();
    }
    temporary.database.close().await;
    // Without a store nothing is indexed in the background.
    let database = Database::open(&url(&temporary.folder)).await.unwrap();
    database.run(statement("INSERT OR IGNORE INTO unindexed (place) SELECT place FROM texts")).await.unwrap();
    assert_eq!(database.unindexed().await.unwrap(), 5);
    for rest in [4, 3, 0] {
        database.run(IndexTexts { texts: 64, bytes: 32 * 1024 }).await.unwrap();
        assert_eq!(database.unindexed().await.unwrap(), rest);
    }
}

/// Texts are indexed, and somebody else's write comes behind that in the same commit.
struct IndexedBefore(Statement);

impl Work for IndexedBefore {
    type Answer = u64;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<u64> {
        link.run(&statement("INSERT OR IGNORE INTO unindexed (place) SELECT place FROM texts")).await?;
        link.run(&IndexTexts { texts: 10, bytes: i64::MAX }.into()).await?;
        Ok(link.run(&self.0).await?.changed)
    }
}

#[tokio::test]
async fn a_write_behind_the_indexing_of_texts_is_refused_as_any_other() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    let ad = ad(1, 10);
    create(&store, 1, &ad).await.unwrap();
    let request = request(2, 20);
    let stale = Revision {
        ad: ad.id,
        dealer_code: "d1",
        revision: 7,
        content: None,
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(20),
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    let changed = temporary.database.write(IndexedBefore(revision(&stale).unwrap())).await.unwrap();
    assert_eq!(changed, 0);
    assert_eq!(number(&temporary.database, "SELECT count(*) FROM requests").await, 1);
}
