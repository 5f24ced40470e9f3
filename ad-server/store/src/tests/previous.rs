//! The previous release works on the database as the newest migrations leave it, so that both run side by side during an upgrade
//! (docs/upgrades.md). `previous.json` has its statements and the version of its schema; each release writes it anew:
//!
//! ```sh
//! UPDATE_PREVIOUS_RELEASE=1 cargo test -p ad-server --lib previous
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde::{Deserialize, Serialize};
use sqlx::{
    AssertSqlSafe, Connection, Executor, PgConnection, Row as _, SqlSafeStr, SqliteConnection, migrate::Migrator,
    postgres::PgTypeInfo,
};

use super::{
    migrations::migrations_up_to,
    statements::{INCOMING, all, type_named, type_names},
    *,
};
use crate::{postgres, sqlite};

/// A release, on both databases.
#[derive(Serialize, Deserialize)]
struct Release {
    sqlite: OnDatabase,
    postgres: OnDatabase,
}

#[derive(Serialize, Deserialize)]
struct OnDatabase {
    /// Version of the newest migration.
    schema: i64,
    /// By name, the text of each statement, and the types of its values.
    statements: BTreeMap<String, (String, Vec<String>)>,
}

impl OnDatabase {
    fn now(dialect: Dialect, migrations: &Migrator, statements: Vec<(&'static str, Statement)>) -> Self {
        let schema = migrations.iter().map(|migration| migration.version).max().unwrap();
        let text = |(name, statement): (&str, Statement)| {
            let text = statement.text(dialect).as_str().to_owned();
            (name.to_owned(), (text, type_names(&statement)))
        };
        Self { schema, statements: statements.into_iter().map(text).collect() }
    }
}

/// The previous release; with the variable, this one takes its place.
fn previous() -> Release {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/previous.json");
    if std::env::var_os("UPDATE_PREVIOUS_RELEASE").is_some() {
        let of_sqlite = all().into_iter().chain(sqlite::text::all()).collect();
        let release = Release {
            sqlite: OnDatabase::now(Dialect::Sqlite, &sqlite::MIGRATIONS, of_sqlite),
            postgres: OnDatabase::now(Dialect::Postgres, &postgres::MIGRATIONS, all()),
        };
        std::fs::write(&file, format!("{}\n", serde_json::to_string_pretty(&release).unwrap())).unwrap();
    }
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

/// Tables with their columns (type, whether NULL is allowed, whether there is a default), and what else limits their rows.
type Schema = BTreeMap<String, BTreeMap<String, (String, bool, bool)>>;

/// Checks that writes of the previous release find all that they name, and that nothing new limits what they write.
fn expands(before: &Schema, after: &Schema) {
    for (table, columns) in before {
        let now = after.get(table).unwrap_or_else(|| panic!("the table {table} is gone"));
        for (column, (kind, nullable, has_default)) in columns {
            let (now_kind, now_nullable, now_default) =
                now.get(column).unwrap_or_else(|| panic!("the column {table}.{column} is gone"));
            assert_eq!(now_kind, kind, "the type of {table}.{column} has changed");
            assert!(*now_nullable || !*nullable, "{table}.{column} must not be NULL any more");
            assert!(*now_default || !*has_default, "{table}.{column} has no default any more");
        }
        for (column, (_, nullable, has_default)) in now.iter().filter(|(column, _)| !columns.contains_key(*column)) {
            assert!(*nullable || *has_default, "{table}.{column} is new, and needs a default or NULL");
        }
    }
}

async fn sqlite_schema(connection: &mut SqliteConnection) -> (Schema, BTreeSet<String>) {
    let columns = "SELECT tables.name, columns.name, columns.type, columns.\"notnull\", columns.dflt_value IS NOT NULL \
        FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'";
    let mut schema = Schema::new();
    for row in connection.fetch_all(columns).await.unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        schema
            .entry(table)
            .or_default()
            .insert(column, (row.get(2), row.get::<i64, _>(3) == 0, row.get::<i64, _>(4) != 0));
    }
    let limits =
        "SELECT tbl_name || ': ' || sql FROM sqlite_schema WHERE type = 'trigger' OR sql LIKE 'CREATE UNIQUE INDEX%'";
    let limits = connection.fetch_all(limits).await.unwrap().iter().map(|row| row.get(0)).collect();
    (schema, limits)
}

async fn postgres_schema(connection: &mut PgConnection) -> (Schema, BTreeSet<String>) {
    let columns = "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), CAST(data_type AS TEXT), is_nullable = 'YES', \
            column_default IS NOT NULL OR is_identity = 'YES' OR is_generated = 'ALWAYS' \
        FROM information_schema.columns WHERE table_schema = current_schema()";
    let mut schema = Schema::new();
    for row in connection.fetch_all(columns).await.unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        schema.entry(table).or_default().insert(column, (row.get(2), row.get(3), row.get(4)));
    }
    let limits = "SELECT CAST(CAST(conrelid AS REGCLASS) AS TEXT) || ': ' || pg_get_constraintdef(oid) FROM pg_constraint \
            WHERE connamespace = CAST(current_schema() AS REGNAMESPACE) AND contype <> 'n' \
        UNION SELECT tablename || ': ' || indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexdef LIKE '%UNIQUE%' \
        UNION SELECT CAST(CAST(tgrelid AS REGCLASS) AS TEXT) || ': ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal";
    let limits = connection.fetch_all(limits).await.unwrap().iter().map(|row| row.get(0)).collect();
    (schema, limits)
}

/// Triggers that refuse nothing: they note ads for the index of words.
const NOTES: &str = "TRIGGER ads_words_";

/// Limits of tables that were there before.
fn no_new_limits(before: &Schema, (old, new): (&BTreeSet<String>, &BTreeSet<String>)) {
    let of_old = |limit: &&String| limit.split_once(": ").is_some_and(|(table, _)| before.contains_key(table));
    let added: Vec<_> = new.difference(old).filter(of_old).filter(|limit| !limit.contains(NOTES)).collect();
    assert!(added.is_empty(), "the previous release does not know these limits: {added:#?}");
}

#[tokio::test]
async fn the_previous_release_works_on_the_newest_schema_of_sqlite() {
    let release = previous().sqlite;
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    migrations_up_to(release.schema, &sqlite::MIGRATIONS).run(&mut connection).await.unwrap();
    let (before, old_limits) = sqlite_schema(&mut connection).await;
    sqlite::MIGRATIONS.run(&mut connection).await.unwrap();
    let (after, new_limits) = sqlite_schema(&mut connection).await;
    expands(&before, &after);
    no_new_limits(&before, (&old_limits, &new_limits));
    let needs: i64 = sqlx::query_scalar("SELECT needs FROM schema_support").fetch_one(&mut connection).await.unwrap();
    assert!(needs <= release.schema, "the previous release refuses to start");
    connection.execute(INCOMING).await.unwrap();
    for (name, (text, _)) in release.statements {
        let prepared = connection.prepare(AssertSqlSafe(text).into_sql_str()).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
}

#[tokio::test]
async fn the_previous_release_works_on_the_newest_schema_of_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let release = previous().postgres;
    let mut connection = PgConnection::connect(&server.database().await).await.unwrap();
    migrations_up_to(release.schema, &postgres::MIGRATIONS).run(&mut connection).await.unwrap();
    let (before, old_limits) = postgres_schema(&mut connection).await;
    postgres::MIGRATIONS.run(&mut connection).await.unwrap();
    let (after, new_limits) = postgres_schema(&mut connection).await;
    expands(&before, &after);
    no_new_limits(&before, (&old_limits, &new_limits));
    let needs: i64 = sqlx::query_scalar("SELECT CAST(needs AS BIGINT) FROM schema_support")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert!(needs <= release.schema, "the previous release refuses to start");
    connection.execute(INCOMING).await.unwrap();
    for (name, (text, types)) in release.statements {
        let types: Vec<PgTypeInfo> = types.iter().map(|name| type_named(name)).collect();
        let prepared = connection.prepare_with(AssertSqlSafe(text).into_sql_str(), &types).await;
        assert!(prepared.is_ok(), "{name}: {prepared:?}");
    }
}

#[test]
fn a_migration_that_the_previous_release_cannot_work_with_is_noticed() {
    let column = |nullable, has_default| ("TEXT".to_owned(), nullable, has_default);
    let table = |columns: &[(&str, (String, bool, bool))]| {
        let columns = columns.iter().map(|(name, column)| ((*name).to_owned(), column.clone())).collect();
        Schema::from([("ads".to_owned(), columns)])
    };
    let before = table(&[("title", column(true, false))]);
    let refuses = |after: Schema| std::panic::catch_unwind(|| expands(&before, &after)).is_err();
    assert!(!refuses(table(&[("title", column(true, false)), ("note", column(false, true))])));
    assert!(refuses(table(&[("title", column(true, false)), ("note", column(false, false))])));
    assert!(refuses(table(&[("title", column(false, false))])));
    assert!(refuses(table(&[("body", column(true, false))])));
    assert!(refuses(Schema::new()));
}
