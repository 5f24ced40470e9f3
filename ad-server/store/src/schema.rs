//! Versions of the schema: which migrations a database has, and whether this program can use it.
//!
//! A migration either expands the schema, so that earlier versions of the program can use it, or contracts it. One that contracts sets
//! `schema_support.needs` to the newest migration that a program must know (docs/upgrades.md). A database with newer migrations than
//! this program knows is usable as long as `needs` is among those that it knows.

use include_dir::{Dir, File};
use sqlx::{
    SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
};

/// Advice for a database without the tables of this program, or with old ones.
pub(super) const MIGRATE: &str = "run `ad-server migrate`; docs/upgrades.md describes upgrades";
/// Advice for a database that a newer version has changed.
pub(super) const UPGRADE: &str = "start a newer version, or restore a backup from before the upgrade";

/// A migration that a database has, with its checksum.
pub(super) type Applied = (i64, Vec<u8>);

/// Reads the migrations of a database as [`Applied`].
pub(super) const APPLIED: &str = "SELECT version, checksum FROM _sqlx_migrations WHERE success ORDER BY version";
/// Reads the newest migration that a program must know.
pub(super) const NEEDS: &str = "SELECT needs FROM schema_support";
/// The migration that adds the table of [`NEEDS`], by its name.
const SUPPORT: &str = "schema support";

/// The migrations in the files of a folder, each with the name `<number>_<description>.sql`.
pub(super) fn migrator(folder: &'static Dir<'_>) -> Migrator {
    let migration = |file: &'static File<'_>| {
        let (number, description) = file.path().file_stem()?.to_str()?.split_once('_')?;
        let (number, description) = (number.parse().ok()?, description.replace('_', " "));
        Some(Migration::new(
            number,
            description.into(),
            MigrationType::Simple,
            file.contents_utf8()?.into_sql_str(),
            false,
        ))
    };
    Migrator::with_migrations(folder.files().map(|file| migration(file).expect("migrations have such names")).collect())
}

/// How the schema of a database compares with what this program knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaState {
    /// There are no tables, or there is no database.
    Empty,
    /// There are tables of another program.
    Foreign,
    /// The database lacks migrations of this program.
    Old {
        /// The newest migration that it has.
        version: i64,
        /// Those that it lacks, each as its number and name.
        missing: Vec<String>,
    },
    /// This program can use it.
    Usable {
        /// The newest migration that it has.
        version: i64,
    },
    /// It needs a newer program.
    New {
        /// The newest migration that it has.
        version: i64,
    },
    /// A migration is another one than that which this program knows under the number.
    Different { version: i64 },
}

impl SchemaState {
    /// Compares what a database has with what this program knows.
    pub(super) fn of(known: &Migrator, applied: &[Applied], needs: Option<i64>) -> Self {
        let Some((version, _)) = applied.last() else { return Self::Empty };
        let version = *version;
        let newest = newest(known);
        let checksum = |number| applied.iter().find(|(version, _)| *version == number).map(|(_, checksum)| checksum);
        let different = known.iter().find(|it| checksum(it.version).is_some_and(|sum| sum[..] != *it.checksum));
        if let Some(migration) = different {
            return Self::Different { version: migration.version };
        }
        if version > newest && needs.is_none_or(|needs| needs > newest) {
            return Self::New { version };
        }
        let missing = known.iter().filter(|it| checksum(it.version).is_none());
        let missing: Vec<_> = missing.map(|it| format!("{:04} {}", it.version, it.description)).collect();
        if missing.is_empty() { Self::Usable { version } } else { Self::Old { version, missing } }
    }

    /// Whether a database with these migrations has the table of [`NEEDS`].
    pub(super) fn has_support(known: &Migrator, applied: &[Applied]) -> bool {
        let support = known.iter().find(|it| it.description == SUPPORT);
        support.is_some_and(|support| applied.iter().any(|(version, _)| *version == support.version))
    }

    /// Why this program cannot use it, and what to do; `None` if it can.
    pub(super) fn refusal(&self, known: &Migrator) -> Option<(String, &'static str)> {
        let newest = newest(known);
        Some(match self {
            Self::Usable { .. } => return None,
            Self::Empty => ("it has no tables".to_owned(), MIGRATE),
            Self::Foreign => {
                ("it contains tables of another program".to_owned(), "set another one with --database-url")
            }
            Self::Old { version, .. } => {
                (format!("its schema has version {version}, and this ad-server needs {newest}"), MIGRATE)
            }
            Self::New { version } => (
                format!(
                    "a newer version of ad-server has migrated its schema to version {version}, and this one knows {newest}"
                ),
                UPGRADE,
            ),
            Self::Different { version } => (
                format!("its migration {version} is not the one of this ad-server"),
                "start the version of ad-server that has used it",
            ),
        })
    }
}

/// The newest migration that this program knows.
fn newest(known: &Migrator) -> i64 {
    known.iter().map(|it| it.version).max().unwrap_or_default()
}
