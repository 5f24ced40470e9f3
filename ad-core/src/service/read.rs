//! Read, list and log; the status of requests; the dealers of a scope.

use std::{collections::HashMap, sync::Arc};

use uuid::Uuid;

use super::{Access, Service, ServiceError, TaggedAd, Target, only};
use crate::{
    categories::Category,
    model::{
        Ad, AdFilter, AdQuery, AdTag, ContentChange, Dealer, LogEntry, LogQuery, MarketplaceCall, Page, PriceHistory,
        RequestStatus, StatusReport, Summary,
    },
    ports::{ListedAd, LogEntries, PageOf, StatusFacts},
    prices, status,
};

impl Service {
    /// One ad with its latest log entries, oldest first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] naming `dealer_code` when several dealers of a group use
    /// the source id.
    pub async fn read(&self, access: &Access, target: Target<'_>) -> Result<(TaggedAd, Vec<LogEntry>), ServiceError> {
        let (stored, log) = self.locate(access, target, LogEntries::Latest).await?;
        Ok((stored.into(), log))
    }

    /// The tag of the one ad that a target identifies, without reading the ad; `None` where [`read`](Self::read) fails.
    ///
    /// # Errors
    /// [`ServiceError::Store`].
    pub async fn tag(&self, access: &Access, target: Target<'_>) -> Result<Option<AdTag>, ServiceError> {
        let scoped = self.scoped(access);
        let mut found = self.store.tags(scoped.scope(), target.source_id).await?;
        found.retain(|ad| {
            target.dealer_code.is_none_or(|code| ad.dealer_code == code)
                && target.category.is_none_or(|category| category.found_under().any(|id| id == ad.category_id))
        });
        Ok(if let [only] = &found[..] { Some(only.tag) } else { None })
    }

    /// What has become of an accepted request (extensions E2).
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] for an id that no accepted request within the scope has.
    pub async fn request(&self, access: &Access, id: Uuid) -> Result<RequestStatus, ServiceError> {
        let scoped = self.scoped(access);
        let request = self.store.request(scoped.scope(), id).await?;
        Ok(request.ok_or(ServiceError::NotFound)?.status(self.clock.now()))
    }

    /// The status of one ad, with its reasons (extensions E6). When schedules promote it next says [`Promotions::status`].
    ///
    /// [`Promotions::status`]: super::Promotions::status
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn status(&self, access: &Access, target: Target<'_>) -> Result<StatusReport, ServiceError> {
        Ok(status::report(self.facts(access, target).await?, self.clock.now()))
    }

    pub(super) async fn facts(&self, access: &Access, target: Target<'_>) -> Result<StatusFacts, ServiceError> {
        let scoped = self.scoped(access);
        let found = self.store.facts(scoped.scope(), target.source_id).await?;
        only(target, found, |facts| &facts.stored.ad)
    }

    /// The prices of one ad over time (extensions E7).
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn prices(&self, access: &Access, target: Target<'_>) -> Result<PriceHistory, ServiceError> {
        let scoped = self.scoped(access);
        let found = self.store.earlier_prices(scoped.scope(), target.source_id).await?;
        let (ad, earlier) = only(target, found, |(ad, _)| ad)?;
        Ok(prices::history(&ad, earlier, self.clock.now()))
    }

    /// What the requests of the latest log entries of an ad have changed about its content, by their ids.
    ///
    /// # Errors
    /// [`ServiceError::Store`].
    pub async fn changes(&self, ad: &Ad) -> Result<HashMap<Uuid, ContentChange>, ServiceError> {
        Ok(self.store.changes(ad.id).await?)
    }

    /// The number of ads by status.
    ///
    /// # Errors
    /// [`ServiceError::Store`].
    pub async fn summary(&self, access: &Access, dealer_code: Option<&str>) -> Result<Summary, ServiceError> {
        let scoped = self.scoped(access);
        Ok(status::summary(self.store.count_by_status(scoped.narrowed(dealer_code)).await?))
    }

    /// One ad without its log.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_without_log(&self, access: &Access, target: Target<'_>) -> Result<TaggedAd, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        Ok(stored.into())
    }

    /// The dealers of a scope each with its number of ads that are not deleted, by code.
    ///
    /// # Errors
    /// [`ServiceError::Store`].
    pub async fn dealers(&self, access: &Access) -> Result<Vec<(Arc<Dealer>, u64)>, ServiceError> {
        let dealers = self.dealers_in(access);
        let counts = self.store.ads_by_dealer(self.scoped(access).scope()).await?;
        let counted = |dealer: Arc<Dealer>| {
            let ads = counts.get(&dealer.code).copied().unwrap_or_default();
            (dealer, ads)
        };
        Ok(dealers.into_iter().map(counted).collect())
    }

    /// The dealers of a scope, by code.
    pub fn dealers_in(&self, access: &Access) -> Vec<Arc<Dealer>> {
        let mut dealers: Vec<_> = self.dealer_codes(access).iter().map(|code| self.dealer(code)).collect();
        dealers.sort_by(|one, other| one.code.cmp(&other.code));
        dealers
    }

    /// The codes of the dealers whose events a reader gets now: those of its scope or, of these, only the one that it asks for.
    pub fn dealers_of_events(&self, access: &Access, dealer_code: Option<&str>) -> Arc<[String]> {
        let codes = self.dealer_codes(access);
        match dealer_code {
            Some(wanted) => codes.iter().filter(|code| *code == wanted).cloned().collect(),
            None => codes,
        }
    }

    /// A page of ads; on a typed path only those of its vehicle type.
    ///
    /// # Errors
    /// [`ServiceError::Store`].
    pub async fn list(
        &self,
        access: &Access,
        category: Option<&'static Category>,
        mut query: AdQuery,
    ) -> Result<PageOf<ListedAd>, ServiceError> {
        query.filters.extend(category.map(|category| AdFilter::CategoryId(category.found_under().collect())));
        let scoped = self.scoped(access);
        Ok(self.store.list(scoped.scope(), &query).await?)
    }

    /// A page of an ad's whole log.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn log(
        &self,
        access: &Access,
        target: Target<'_>,
        query: &LogQuery,
    ) -> Result<PageOf<LogEntry>, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        Ok(self.store.log(stored.ad.id, query).await?)
    }

    /// A page of the calls of marketplaces about an ad, newest first, also of a deleted one.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn calls(
        &self,
        access: &Access,
        target: Target<'_>,
        page: Page,
    ) -> Result<PageOf<MarketplaceCall>, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        Ok(self.store.calls(stored.ad.id, page).await?)
    }
}
