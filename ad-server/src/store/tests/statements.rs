//! Every statement is one that the databases understand, with the types of its values.

use sqlx::{Connection, Executor, PgConnection, SqliteConnection, Type, postgres::PgTypeInfo};

use super::*;
use crate::{
    marketplace,
    store::{sql, sqlite},
};

fn all() -> Vec<(&'static str, Statement)> {
    let modules = [
        sql::ads::all(),
        sql::answers::all(),
        sql::directory::all(),
        sql::erase::all(),
        sql::events::all(),
        sql::import::all(),
        sql::operators::all(),
        sql::photos::all(),
        sql::queue::all(),
        sql::webhooks::all(),
        marketplace::sql::all(),
    ];
    modules.into_iter().flatten().collect()
}

/// The temporary table of imports, which their statements need.
const INCOMING: &str = "CREATE TEMP TABLE incoming AS \
    SELECT seq AS line, *, source_id AS source_id_folded, content AS search FROM ads WHERE false";

#[tokio::test]
async fn sqlite_prepares_every_statement() {
    let temporary = Temporary::open().await;
    let mut connection = SqliteConnection::connect(&url(&temporary.folder)).await.unwrap();
    connection.execute(INCOMING).await.unwrap();
    for (name, statement) in all().into_iter().chain(sqlite::text::all()) {
        let prepared = connection.prepare(statement.text(Dialect::Sqlite)).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
}

#[tokio::test]
async fn postgresql_prepares_every_statement() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let url = server.database().await;
    Database::open(&url).await.unwrap().close().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    connection.execute(INCOMING).await.unwrap();
    for (name, statement) in all() {
        let prepared = connection.prepare_with(statement.text(Dialect::Postgres), &types(&statement)).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
}

fn info<T: Type<sqlx::Postgres> + ?Sized>() -> PgTypeInfo {
    T::type_info()
}

pub(super) fn types(statement: &Statement) -> Vec<PgTypeInfo> {
    let type_of = |value: &SqlValue| match (value, statement.is_batch()) {
        (SqlValue::Number(_), false) => info::<i64>(),
        (SqlValue::Text(_), false) => info::<str>(),
        (SqlValue::Flag(_), false) => info::<bool>(),
        (SqlValue::Id(_), false) => info::<Uuid>(),
        (SqlValue::Number(_), true) | (SqlValue::Numbers(_), _) => info::<[i64]>(),
        (SqlValue::Text(_), true) | (SqlValue::Texts(_), _) => info::<[String]>(),
        (SqlValue::Flag(_), true) => info::<[bool]>(),
        (SqlValue::Id(_), true) => info::<[Uuid]>(),
    };
    statement.values.iter().map(type_of).collect()
}
