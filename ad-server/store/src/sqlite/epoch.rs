//! Finds out whether a file has another history than the last one: it was restored from a backup.

use std::{fs, io, path::Path, time::UNIX_EPOCH};

use sqlx::{Connection, SqliteConnection};

use crate::epochs::{ALL, Epochs};

const PLACE: &str = "SELECT place FROM epoch";

/// Makes sure that the epoch is that of the file. It is usually there already, and then nothing waits for others who write.
pub(super) async fn enter(connection: &mut SqliteConnection, path: &Path, epochs: &Epochs) -> sqlx::Result<()> {
    let here = place(path)?;
    let was: Option<String> = sqlx::query_scalar(PLACE).fetch_one(&mut *connection).await?;
    let is_restored = was.as_ref() != Some(&here) && begin(connection, &here).await?;
    epochs.set(sqlx::query_as::<_, (i64, Option<i64>)>(ALL).fetch_all(&mut *connection).await?);
    if is_restored {
        epochs.log_beginning();
    }
    Ok(())
}

/// Notes where the file is now. Returns whether an epoch begins, because it was elsewhere before.
async fn begin(connection: &mut SqliteConnection, here: &str) -> sqlx::Result<bool> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    // Another process may have done it meanwhile.
    let was: Option<String> = sqlx::query_scalar(PLACE).fetch_one(&mut *transaction).await?;
    let is_restored = was.is_some_and(|was| was != here);
    if is_restored {
        let past =
            "INSERT INTO past_epochs SELECT number, coalesce((SELECT max(transaction_id) FROM log), 0) FROM epoch";
        sqlx::query(past).execute(&mut *transaction).await?;
        // Minutes since 2026: higher than all numbers that the database has had, also in a history that is lost.
        let next = "UPDATE epoch SET number = max(number + 1, unixepoch() / 60 - 29453760)";
        sqlx::query(next).execute(&mut *transaction).await?;
    }
    sqlx::query("UPDATE epoch SET place = $1").bind(here).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(is_restored)
}

/// What tells a file from a copy of it: its number, which another file may get when it is removed, and when it was made, which not
/// every file system knows.
fn place(path: &Path) -> io::Result<String> {
    let file = fs::metadata(path)?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&file);
    #[cfg(not(unix))]
    let number = 0;
    let made = file.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Ok(format!("{number} {}", made.as_nanos()))
}
