//! Export of everything that is held of a dealer.

use ad_core::ports::StoreError;
use futures_util::TryStreamExt;

use super::{Columns, Database, Statement, sql::export as sql};

impl Database {
    /// Passes on everything that is held of a dealer, as texts of JSON objects with a `kind`, one at a time.
    ///
    /// # Errors
    /// When the database cannot be read, and the errors of `take`.
    pub async fn export<E: From<StoreError>>(
        &self,
        dealer_code: &str,
        mut take: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let statements: [Statement; 12] = [
            sql::ExportDealer { dealer_code }.into(),
            sql::ExportHolds { dealer_code }.into(),
            sql::ExportTokens { dealer_code }.into(),
            sql::ExportAds { dealer_code }.into(),
            sql::ExportLog { dealer_code }.into(),
            sql::ExportPrices { dealer_code }.into(),
            sql::ExportPhotos { dealer_code }.into(),
            sql::ExportRequests { dealer_code }.into(),
            sql::ExportListings { dealer_code }.into(),
            sql::ExportWebhooks { dealer_code }.into(),
            sql::ExportDeliveries { dealer_code }.into(),
            sql::ExportAnswers { dealer_code }.into(),
        ];
        for statement in &statements {
            let mut rows = std::pin::pin!(self.stream(statement));
            while let Some(row) = rows.try_next().await? {
                take(&Columns::of(&row).text()?)?;
            }
        }
        Ok(())
    }
}
