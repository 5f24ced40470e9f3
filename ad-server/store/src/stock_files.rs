//! Stock files that somebody has sent to the console, which are kept for a day, and what was said about their columns.

use ad_core::{model::Timestamp, ports::StoreError};
use base64::{Engine, engine::general_purpose::STANDARD};
use uuid::Uuid;

use super::{Columns, Database, from_columns, sql::stock_files as sql};

/// A stock file of a dealer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockFile {
    /// As it was called.
    pub name: String,
    pub content: Vec<u8>,
    /// The latest stock plan of it.
    pub plan: Option<Uuid>,
}

/// The same as it is stored.
struct StoredFile {
    name: String,
    content: String,
    plan: Option<Uuid>,
}

from_columns! { StoredFile { name, content, plan } }

impl Database {
    /// Adds a file of a dealer. Of more than `most`, the oldest are removed.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn add_stock_file(
        &self,
        id: Uuid,
        dealer_code: &str,
        (name, content): (&str, &[u8]),
        at: Timestamp,
        most: u32,
    ) -> Result<(), StoreError> {
        let content = STANDARD.encode(content);
        self.run(sql::AddStockFile { id, dealer_code, name, content: &content, at }).await?;
        self.run(sql::RemoveSurplusStockFiles { dealer_code, kept: most }).await.map(drop)
    }

    /// A file of a dealer, if it is kept.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; [`StoreError::Faulty`] when its content is damaged.
    pub async fn stock_file(&self, id: Uuid, dealer_code: &str) -> Result<Option<StockFile>, StoreError> {
        let stored = Columns::first::<StoredFile>(&self.read(sql::StockFileOf { id, dealer_code }).await?)?;
        let decoded = stored.map(|StoredFile { name, content, plan }| {
            let content = STANDARD.decode(content).map_err(|error| StoreError::Faulty(error.into()))?;
            Ok(StockFile { name, content, plan })
        });
        decoded.transpose()
    }

    /// Notes the latest plan of a file.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn set_plan_of_stock_file(&self, id: Uuid, plan: Uuid) -> Result<(), StoreError> {
        self.run(sql::SetPlanOfStockFile { id, plan }).await.map(drop)
    }

    /// Removes the files that were sent before a time, and returns their number.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn remove_stock_files_before(&self, before: Timestamp) -> Result<u64, StoreError> {
        Ok(self.run(sql::RemoveStockFilesBefore { before }).await?.changed)
    }

    /// Keeps what was said about the columns of a header, for the next file. Of more than `most` headers, the oldest are forgotten.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn keep_column_choices(
        &self,
        dealer_code: &str,
        header: &str,
        choices: &str,
        at: Timestamp,
        most: u32,
    ) -> Result<(), StoreError> {
        self.run(sql::KeepColumnChoices { dealer_code, header, choices, at }).await?;
        self.run(sql::ForgetSurplusColumnChoices { dealer_code, kept: most }).await.map(drop)
    }

    /// What was said about the columns of a header.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn column_choices(&self, dealer_code: &str, header: &str) -> Result<Option<String>, StoreError> {
        Columns::first(&self.read(sql::ColumnChoicesOf { dealer_code, header }).await?)
    }
}
