//! Dealers, as operators bring them in. What asks for them on every write is [`Directory`](crate::directory::Directory).

use ad_core::{model::Dealer, ports::StoreError};

use super::{Columns, Database, Statement, rows::json, sql};

/// Grows with every change of dealers and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryVersion(i64);

impl Database {
    /// Adds dealers; those whose code is known are replaced. All of them or none.
    pub async fn import_dealers(&self, dealers: &[Dealer]) -> Result<(), StoreError> {
        self.write(Statement::new(sql::IMPORT_DEALERS).bind(json(&dealers)?)).await.map(drop)
    }

    /// All dealers, by code.
    pub async fn dealers(&self) -> Result<Vec<Dealer>, StoreError> {
        let rows = self.read(Statement::new(sql::DEALERS)).await?;
        rows.iter().map(|row| Columns::of(row).json()).collect()
    }

    /// Which state of dealers and tokens this is.
    pub async fn directory_version(&self) -> Result<DirectoryVersion, StoreError> {
        let rows = self.read(Statement::new(sql::DIRECTORY_VERSION)).await?;
        let missing = || StoreError::Faulty("the version of the directory is missing".into());
        let row = rows.first().ok_or_else(missing)?;
        Columns::of(row).value().map(DirectoryVersion)
    }
}
