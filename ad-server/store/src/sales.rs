//! Ads that somebody has marked as sold in the console: they are hidden, and deleted after some days unless somebody undoes it.

use ad_core::{
    model::Timestamp,
    ports::{Scope, StoreError},
};

use uuid::Uuid;

use super::{Columns, Database, lists::codes, sql::sales as sql};

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

    /// Dealer and source id of the ads of a scope that are hidden because they are sold, at most so many.
    pub async fn sold_ads(&self, scope: Scope<'_>, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        Columns::all(&self.look_up(sql::SoldAds { dealer_codes: codes(scope), limit }).await?)
    }

    /// Dealer and source id of the drafts of a scope: ads that are hidden, were never listed and are not sold; at most so many.
    pub async fn draft_ads(&self, scope: Scope<'_>, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        Columns::all(&self.look_up(sql::DraftAds { dealer_codes: codes(scope), limit }).await?)
    }

    /// Dealer and source id of some sold ads that are to be deleted, the longest due first.
    pub async fn due_sales(&self, now: Timestamp, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        Columns::all(&self.read(sql::DueSales { now, limit }).await?)
    }

    /// Notes that the ads which a stock plan hides are sold.
    pub async fn add_sold_plan(&self, plan: Uuid, now: Timestamp) -> Result<(), StoreError> {
        self.run(sql::AddSoldPlan { plan, now }).await.map(drop)
    }

    /// Whether the ads which a stock plan hides are sold.
    pub async fn is_sold_plan(&self, plan: Uuid) -> Result<bool, StoreError> {
        Columns::read_bool(&self.read(sql::IsSoldPlan { plan }).await?)
    }

    /// Notes when ads are to be deleted that such plans have hidden and nobody has shown again; `due` is `None` if they stay. Plans that
    /// were made before a time, and have ended, are not looked at again. Returns whether there was one to look at.
    pub async fn note_sold_plans(&self, due: Option<Timestamp>, before: Timestamp) -> Result<bool, StoreError> {
        if !Columns::read_bool(&self.read(sql::AreSoldPlansOpen {}).await?)? {
            return Ok(false);
        }
        if let Some(due) = due {
            self.run(sql::AddSalesOfPlans { due }).await?;
        }
        self.run(sql::SettleSoldPlans { before }).await?;
        self.run(sql::ForgetSoldPlans {}).await?;
        Ok(true)
    }
}
