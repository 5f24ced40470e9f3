//! Ads that somebody has marked as sold in the console: they are hidden, and deleted after some days unless somebody undoes it.

use ad_core::{model::Timestamp, ports::StoreError};

use super::{Columns, Database, sql::sales as sql};

impl Database {
    /// Notes when a sold ad is to be deleted.
    pub async fn add_sale(&self, dealer_code: &str, source_id: &str, due: Timestamp) -> Result<(), StoreError> {
        self.run(sql::AddSale { dealer_code, source_id, due }).await.map(drop)
    }

    /// Forgets that an ad is sold.
    pub async fn remove_sale(&self, dealer_code: &str, source_id: &str) -> Result<(), StoreError> {
        self.run(sql::RemoveSale { dealer_code, source_id }).await.map(drop)
    }

    /// When an ad is to be deleted, if it is sold.
    pub async fn sale_of(&self, dealer_code: &str, source_id: &str) -> Result<Option<Timestamp>, StoreError> {
        Columns::first(&self.read(sql::SaleOf { dealer_code, source_id }).await?)
    }

    /// Dealer and source id of some sold ads that are to be deleted, the longest due first.
    pub async fn due_sales(&self, now: Timestamp, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        Columns::all(&self.read(sql::DueSales { now, limit }).await?)
    }
}
