//! Every statement is one that the databases understand, with the types of its values.

use sqlx::{Execute, Executor, SqliteConnection, Type, postgres::PgTypeInfo};

use super::*;
use crate::{sql, sqlite, statement::TOGETHER};

pub(super) fn all() -> Vec<(&'static str, Statement)> {
    let modules = [
        sql::access::all(),
        sql::accounts::all(),
        sql::ads::all(),
        sql::answers::all(),
        sql::directory::all(),
        sql::erase::all(),
        sql::events::all(),
        sql::export::all(),
        sql::holdups::all(),
        sql::import::all(),
        sql::operators::all(),
        sql::photos::all(),
        sql::plans::all(),
        sql::promotions::all(),
        sql::queue::all(),
        sql::retention::all(),
        sql::sales::all(),
        sql::slots::all(),
        sql::stock_files::all(),
        sql::uploads::all(),
        sql::webhooks::all(),
        sql::words::all(),
        sql::listings::all(),
    ];
    modules.into_iter().flatten().collect()
}

/// The temporary table of imports, which their statements need.
pub(super) const INCOMING: &str = "CREATE TEMP TABLE incoming AS \
    SELECT seq AS line, *, source_id AS source_id_folded, content AS search FROM ads WHERE false";

#[tokio::test]
async fn sqlite_prepares_every_statement() {
    let temporary = TestDatabase::open().await;
    let mut connection = SqliteConnection::connect(&url(&temporary.folder)).await.unwrap();
    connection.execute(INCOMING).await.unwrap();
    for (name, statement) in all().into_iter().chain(sqlite::text::all()) {
        let prepared = connection.prepare(statement.text(Dialect::Sqlite)).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
        if statement.is_batch(Dialect::Sqlite) {
            continue;
        }
        for times in TOGETHER {
            let together = Statement::together_for_sqlite(&vec![&statement; times]).sql();
            let prepared = connection.prepare(together).await;
            assert!(prepared.is_ok(), "{name}, {times} times: {prepared:?}");
        }
    }
}

#[tokio::test]
async fn postgresql_prepares_every_statement() {
    let Some(mut connection) = postgres_connection().await else { return };
    connection.execute(INCOMING).await.unwrap();
    for (name, statement) in all() {
        let prepared = connection.prepare_with(statement.text(Dialect::Postgres), &types(&statement)).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
}

/// The types of a statement's values in PostgreSQL.
pub(super) fn types(statement: &Statement) -> Vec<PgTypeInfo> {
    type_names(statement).iter().map(|name| type_named(name)).collect()
}

/// The same by names that a file can have.
pub(super) fn type_names(statement: &Statement) -> Vec<String> {
    let name_of = |value: &SqlValue| match (value, statement.is_batch(Dialect::Postgres)) {
        (SqlValue::Number(_), false) => "number",
        (SqlValue::Text(_), false) => "text",
        (SqlValue::Flag(_), false) => "flag",
        (SqlValue::Id(_), false) => "id",
        (SqlValue::Number(_), true) | (SqlValue::Numbers(_), _) => "numbers",
        (SqlValue::Text(_), true) | (SqlValue::Texts(_), _) => "texts",
        (SqlValue::Flag(_), true) => "flags",
        (SqlValue::Id(_), true) | (SqlValue::Ids(_), _) => "ids",
    };
    statement.values.iter().map(|value| name_of(value).to_owned()).collect()
}

/// The type of such a name.
pub(super) fn type_named(name: &str) -> PgTypeInfo {
    fn info<T: Type<sqlx::Postgres> + ?Sized>() -> PgTypeInfo {
        T::type_info()
    }
    match name {
        "number" => info::<i64>(),
        "text" => info::<str>(),
        "flag" => info::<bool>(),
        "id" => info::<Uuid>(),
        "numbers" => info::<[i64]>(),
        "texts" => info::<[String]>(),
        "flags" => info::<[bool]>(),
        "ids" => info::<[Uuid]>(),
        other => panic!("no type is named {other}"),
    }
}
