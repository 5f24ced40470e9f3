//! Export of everything that is held of a dealer. Tables that may be large are read in pages by their keys, so that no statement meets
//! a time limit, however much the dealer has.

use ad_core::ports::StoreError;
use futures_util::TryStreamExt;
use uuid::Uuid;

use super::{Columns, Database, Row, Statement, sql::export as sql};

/// Rows of a page. Of each ad of a page, everything else is read together.
const PAGE: u32 = 200;

impl Database {
    /// Passes on everything that is held of a dealer, as texts of JSON objects with a `kind`, one at a time.
    ///
    /// # Errors
    /// When the database cannot be read, and the errors of `take`.
    pub async fn export<E: From<StoreError>>(
        &self,
        dealer_code: &str,
        take: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.export_in_pages(dealer_code, PAGE, take).await
    }

    /// The same with pages of so many rows.
    ///
    /// # Errors
    /// The same.
    pub async fn export_in_pages<E: From<StoreError>>(
        &self,
        dealer_code: &str,
        page: u32,
        mut take: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let about_dealer: [Statement; 4] = [
            sql::ExportDealer { dealer_code }.into(),
            sql::ExportHolds { dealer_code }.into(),
            sql::ExportTokens { dealer_code }.into(),
            sql::ExportConsoleAccess { scope: format!("dealer_code {dealer_code}") }.into(),
        ];
        for statement in &about_dealer {
            self.export_all(statement, &mut take).await?;
        }
        self.export_ads(dealer_code, page, &mut take).await?;
        let listings = |after| sql::ExportListings { dealer_code, after, limit: page }.into();
        self.export_by_number(page, listings, &mut take).await?;
        let mut webhooks = Vec::<Uuid>::new();
        for row in &self.read(sql::ExportWebhooks { dealer_code }).await? {
            let mut columns = Columns::of(row);
            webhooks.push(columns.id()?);
            take(&columns.text()?)?;
        }
        for webhook in webhooks {
            let deliveries = |after| sql::ExportDeliveries { webhook, after, limit: page }.into();
            self.export_by_number(page, deliveries, &mut take).await?;
        }
        let mut plans = Vec::<i64>::new();
        for row in &self.read(sql::ExportPlans { dealer_code }).await? {
            let mut columns = Columns::of(row);
            plans.push(columns.value()?);
            take(&columns.text()?)?;
        }
        for plan in plans {
            let changes = |after| sql::ExportPlannedChanges { plan, dealer_code, after, limit: page }.into();
            self.export_by_number(page, changes, &mut take).await?;
        }
        let mut promotions = Vec::<i64>::new();
        for row in &self.read(sql::ExportPromotions { dealer_code }).await? {
            let mut columns = Columns::of(row);
            promotions.push(columns.value()?);
            take(&columns.text()?)?;
        }
        for promotion in promotions {
            let runs = |after| sql::ExportPromotionRuns { promotion, after, limit: page }.into();
            self.export_by_number(page, runs, &mut take).await?;
        }
        self.export_all(&sql::ExportOwnBudget { dealer_code }.into(), &mut take).await?;
        let charges = |after| sql::ExportCharges { dealer_code, after, limit: page }.into();
        self.export_by_number(page, charges, &mut take).await
    }

    async fn export_ads<E: From<StoreError>>(
        &self,
        dealer_code: &str,
        page: u32,
        take: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut after = String::new();
        loop {
            let rows = self.read(sql::ExportAds { dealer_code, after: &after, limit: page }).await?;
            let mut ads = Vec::with_capacity(rows.len());
            for row in &rows {
                let mut columns = Columns::of(row);
                after = columns.string()?;
                ads.push(columns.value()?);
                take(&columns.text()?)?;
            }
            if ads.is_empty() {
                return Ok(());
            }
            let about_ads: [Statement; 7] = [
                sql::ExportLog { ads: ads.clone() }.into(),
                sql::ExportPrices { ads: ads.clone() }.into(),
                sql::ExportRevisions { ads: ads.clone() }.into(),
                sql::ExportCalls { ads: ads.clone() }.into(),
                sql::ExportPhotos { ads: ads.clone() }.into(),
                sql::ExportRequests { ads: ads.clone() }.into(),
                sql::ExportAnswers { ads }.into(),
            ];
            for statement in &about_ads {
                self.export_all(statement, take).await?;
            }
        }
    }

    /// The rows of a statement.
    async fn export_all<E: From<StoreError>>(
        &self,
        statement: &Statement,
        take: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = std::pin::pin!(self.stream(statement));
        while let Some(row) = rows.try_next().await? {
            take(&Columns::of(&row).text()?)?;
        }
        Ok(())
    }

    /// The rows of all pages of a statement, each of which begins after a number. Rows without a text are skipped.
    async fn export_by_number<E: From<StoreError>>(
        &self,
        page: u32,
        statement: impl Fn(i64) -> Statement,
        take: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut after = 0;
        loop {
            let rows: Vec<Row> = self.read(statement(after)).await?;
            for row in &rows {
                let mut columns = Columns::of(row);
                after = columns.value()?;
                if let Some(text) = columns.maybe_text()? {
                    take(&text)?;
                }
            }
            if rows.len() < page as usize {
                return Ok(());
            }
        }
    }
}
