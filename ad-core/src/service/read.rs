//! Read, list and log.

use super::{Access, Service, ServiceError, Target};
use crate::{
    categories::Category,
    model::{Ad, AdFilter, AdQuery, LogEntry, LogQuery},
    ports::{LogEntries, PageOf},
};

impl Service {
    /// One ad with its latest log entries, oldest first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`]; [`ServiceError::Invalid`] naming `dealer_code` when several dealers of a group use
    /// the source id.
    pub async fn read(&self, access: &Access, target: Target<'_>) -> Result<(Ad, Vec<LogEntry>), ServiceError> {
        let (stored, log) = self.locate(access, target, LogEntries::Latest).await?;
        Ok((stored.ad, log))
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
    ) -> Result<PageOf<(Ad, Vec<LogEntry>)>, ServiceError> {
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
}
