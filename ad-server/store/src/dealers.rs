//! Dealers, as operators import them. Requests read them from the directory, which caches them.

use ad_core::{model::Dealer, ports::StoreError};

use super::{Columns, Database, rows::json, sql::directory as sql};

/// Grows with every change of dealers and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryVersion(i64);

impl Database {
    /// Adds dealers; those whose code is known are replaced. All of them or none.
    pub async fn import_dealers(&self, dealers: &[Dealer]) -> Result<(), StoreError> {
        self.run(sql::ImportDealers { dealers: json(&dealers)? }).await.map(drop)
    }

    /// All dealers, in the order of their codes.
    pub async fn dealers(&self) -> Result<Vec<Dealer>, StoreError> {
        Columns::all(&self.read(sql::AllDealers {}).await?)
    }

    /// The version of dealers and tokens.
    pub async fn directory_version(&self) -> Result<DirectoryVersion, StoreError> {
        let version = Columns::first(&self.read(sql::ReadDirectoryVersion {}).await?)?.map(DirectoryVersion);
        version.ok_or_else(|| StoreError::Faulty("the version of the directory is missing".into()))
    }
}
