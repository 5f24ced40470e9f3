//! Somebody else who is writing to the database.

use std::path::Path;

use sqlx::{Connection, SqliteConnection};

/// A write lock on a SQLite file.
#[derive(Debug)]
pub struct WriteLock {
    connection: SqliteConnection,
}

impl WriteLock {
    /// Takes it.
    ///
    /// # Panics
    /// When somebody else has it.
    pub async fn take(file: &Path) -> Self {
        let url = format!("sqlite://{}", file.display());
        let mut connection = SqliteConnection::connect(&url).await.expect("the database can be opened");
        sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await.expect("nobody else is writing");
        Self { connection }
    }

    /// Gives it back.
    ///
    /// # Panics
    /// When the database is gone.
    pub async fn release(mut self) {
        sqlx::query("ROLLBACK").execute(&mut self.connection).await.expect("what was begun can be undone");
        self.connection.close().await.expect("an idle connection closes");
    }
}
