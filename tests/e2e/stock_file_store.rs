//! What every database has to do with stock files that were sent to the console: in SQLite, and in PostgreSQL.

use ad_server::store::{Database, StockFile};

use crate::store_contract::{at, id};

mod in_sqlite {
    #[tokio::test]
    async fn files_and_choices_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("ads.db").display());
        super::files_and_choices_are_kept(&super::Database::open(&url).await.unwrap()).await;
    }
}

mod in_postgres {
    #[tokio::test]
    async fn files_and_choices_are_kept() {
        if let Some(server) = ad_tests::Postgres::shared().await {
            super::files_and_choices_are_kept(&super::Database::open(&server.database().await).await.unwrap()).await;
        }
    }
}

async fn files_and_choices_are_kept(database: &Database) {
    let content = [0, 1, 254, 255];
    for number in 1..=4_u128 {
        let now = at(i64::try_from(number).unwrap());
        database.add_stock_file(id(number), "north", ("Lager å.xlsx", &content), now, 3).await.unwrap();
    }
    let file = StockFile { name: "Lager å.xlsx".to_owned(), content: content.to_vec(), plan: None };
    assert_eq!(database.stock_file(id(1), "north").await.unwrap(), None, "the oldest makes way");
    assert_eq!(database.stock_file(id(4), "north").await.unwrap(), Some(file.clone()));
    assert_eq!(database.stock_file(id(4), "south").await.unwrap(), None);
    database.set_plan_of_stock_file(id(4), id(9)).await.unwrap();
    assert_eq!(database.stock_file(id(4), "north").await.unwrap(), Some(StockFile { plan: Some(id(9)), ..file }));
    assert_eq!(database.remove_stock_files_before(at(4)).await.unwrap(), 2);
    assert!(database.stock_file(id(3), "north").await.unwrap().is_none());

    for (header, choices, now) in [("a", "1", 1), ("b", "2", 2), ("a", "3", 3), ("c", "4", 4)] {
        database.keep_column_choices("north", header, choices, at(now), 2).await.unwrap();
    }
    for (dealer, header, choices) in
        [("north", "a", Some("3")), ("north", "b", None), ("north", "c", Some("4")), ("south", "a", None)]
    {
        assert_eq!(database.column_choices(dealer, header).await.unwrap().as_deref(), choices, "{dealer} {header}");
    }
}
