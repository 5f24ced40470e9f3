use ad_core::{
    model::{Dealer, StatusWords},
    ports::{LogEntries, Revision, Scope},
};
use futures_util::future::join_all;

use super::*;
use crate::OpenError;

const D1: Scope<'_> = Scope::Dealer("d1");

/// What the statements of several parts rely on.
#[tokio::test]
async fn values_are_numbered_over_all_statements_of_a_query() {
    let temporary = TestDatabase::open().await;
    let sql = with_values("SELECT $3, $1; SELECT $2; SELECT $1, $3", ["a".into(), "b".into(), "c".into()]);
    let rows = temporary.database.read(sql).await.unwrap();
    let texts = |row: usize, number: usize| {
        let mut columns = Columns::of(&rows[row]);
        (0..number).map(|_| columns.string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!([texts(0, 2), texts(1, 1), texts(2, 2)], [vec!["c", "a"], vec!["b"], vec!["a", "c"]]);
}

#[tokio::test]
async fn a_created_ad_is_found_with_its_log() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    let first = ad(1, 10);
    create(&store, 1, &first).await.unwrap();
    let found = store.find(D1, "Bil-1", LogEntries::Latest).await.unwrap();
    let [(stored, log)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&stored.ad, stored.revision, stored.intent), (&first, 0, AdState::Created));
    assert_eq!(*log, [entry(1, Action::Create, ActionState::Processing, 10)]);

    assert!(store.find(D1, "Bil-1", LogEntries::Omitted).await.unwrap()[0].1.is_empty());
    assert!(store.find(Scope::Dealer("d2"), "Bil-1", LogEntries::Latest).await.unwrap().is_empty());
    assert!(store.is_used("d1", "Bil-1").await.unwrap());
    assert!(!store.is_used("d2", "Bil-1").await.unwrap());
    assert!(store.is_live(first.id).await.unwrap());
    assert!(!store.is_live(ad(2, 0).id).await.unwrap());
}

#[tokio::test]
async fn a_group_finds_the_ads_of_all_its_dealers() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    for (number, dealer) in [(1, "d1"), (2, "d2"), (3, "d3")] {
        let ad = Ad { source_id: "same".to_owned(), dealer_code: dealer.to_owned(), ..ad(number, 10) };
        create(&store, number, &ad).await.unwrap();
    }
    let codes = ["d1".to_owned(), "d3".to_owned()];
    let found = store.find(Scope::Dealers(&codes), "same", LogEntries::Omitted).await.unwrap();
    assert_eq!(found.iter().map(|(stored, _)| &stored.ad.dealer_code).collect::<Vec<_>>(), ["d1", "d3"]);
}

#[tokio::test]
async fn a_used_source_id_writes_nothing() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    let again = Ad { id: Uuid::from_u128(9), ..ad(1, 11) };
    assert!(matches!(create(&store, 9, &again).await, Err(StoreError::Duplicate)));
    assert_eq!(store.find(D1, "Bil-1", LogEntries::Latest).await.unwrap()[0].1.len(), 1);
    assert_eq!(store.claim(at(20), at(30), 9.into()).await.unwrap().claimed.len(), 1);
}

#[tokio::test]
async fn a_revision_builds_on_the_one_before() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    let content = object(json!({"title": "Ny", "category_fields": {}}));
    let (second, third) = (request(2, 20), request(3, 30));
    let revision = |revision, request| Revision {
        ad: ad(1, 0).id,
        dealer_code: "d1",
        revision,
        content: None,
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(20),
        request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    let change = Revision { content: Some(&content), intent: Some(AdState::Deleted), ..revision(0, &second) };
    store.revise(change).await.unwrap();
    assert!(matches!(store.revise(revision(0, &third)).await, Err(StoreError::Conflict)));
    let boost = Revision { pole_position_until: Some(at(99)), ..revision(1, &third) };
    store.revise(boost).await.unwrap();

    let (stored, _) = store.find(D1, "Bil-1", LogEntries::Omitted).await.unwrap().remove(0);
    assert_eq!((stored.revision, stored.intent, stored.pole_position_until), (2, AdState::Deleted, Some(at(99))));
    assert_eq!((stored.ad.content, stored.ad.updated), (content, at(20)));
}

#[tokio::test]
async fn the_file_is_made_once_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/new/folder/my%20ads.db", folder.path().display());
    // Several processes at once.
    let opened = join_all((0..8).map(|_| Database::open(&url))).await;
    for (index, database) in opened.into_iter().enumerate() {
        let database = database.unwrap();
        database.import_dealers(&[Dealer::named(index.to_string())]).await.unwrap();
        database.close().await;
    }
    assert_eq!(Database::open(&url).await.unwrap().dealers().await.unwrap().len(), 8);
    let names = std::fs::read_dir(folder.path().join("new/folder")).unwrap();
    assert!(names.map(|name| name.unwrap().file_name()).all(|name| name.to_str().unwrap().starts_with("my ads.db")));
}

#[tokio::test]
async fn what_cannot_be_opened_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    for url in ["mysql://host/db", "postgres://host:port/db", "sqlite::memory:", "sqlite:", "sqlite://ads.db?mode=ro"] {
        assert!(matches!(Database::open(url).await, Err(OpenError::Url(_))), "{url}");
    }
    std::fs::write(folder.path().join("text"), "a text that is long enough to be no database header at all").unwrap();
    let error = Database::open(&format!("sqlite://{place}/text")).await.unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "cannot open the database {place}/text: it is not an SQLite database; set another file with --database-url"
        )
    );
    let error = Database::open(&format!("sqlite://{place}/text/below/ads.db")).await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot create the folder {place}/text/below: ")), "{error}");
    // A folder where the file should be, in one that has to be made first.
    let error = Database::open(&format!("sqlite://{place}/new/..")).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot open the database "), "{error}");
    assert!(!error.contains('\n'));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["text"]);
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    use sqlx::Connection;

    let folder = tempfile::tempdir().unwrap();
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("ads.db")).create_if_missing(true);
    let mut other = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("CREATE TABLE notes (text TEXT)").execute(&mut other).await.unwrap();
    let error = Database::open(&url(&folder)).await.unwrap_err().to_string();
    assert!(error.ends_with("it contains tables of another program; set another one with --database-url"), "{error}");
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut other).await.unwrap();
    assert_eq!(tables, 1);
}

#[tokio::test]
async fn writes_at_the_same_time_are_answered_each_for_itself() {
    let temporary = TestDatabase::open().await;
    let store = temporary.store();
    create(&store, 1, &ad(1, 10)).await.unwrap();
    let is_used = |number: u32| number.is_multiple_of(3);
    let ads: Vec<_> = (2..30)
        .map(|number| Ad { source_id: format!("Bil-{}", if is_used(number) { 1 } else { number }), ..ad(number, 10) })
        .collect();
    let results = join_all((2..30).zip(&ads).map(|(number, ad)| create(&store, number, ad))).await;
    for (number, result) in (2..30).zip(results) {
        match result {
            Ok(()) => assert!(!is_used(number), "{number}"),
            Err(error) => assert!(is_used(number) && matches!(error, StoreError::Duplicate), "{number}: {error}"),
        }
    }
    for ad in ads.iter().filter(|ad| ad.source_id != "Bil-1") {
        let found = store.find(Scope::Dealer("d1"), &ad.source_id, LogEntries::Latest).await.unwrap();
        assert_eq!((&found[0].0.ad, found[0].1.len()), (ad, 1));
    }
}
