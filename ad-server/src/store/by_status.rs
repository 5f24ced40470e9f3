//! Ads of all dealers by their status, for operators.

use ad_core::{
    model::{AdStatus, StatusWords, Timestamp},
    ports::StoreError,
    violation::Code,
};
use serde::Serialize;

use super::{Columns, Database, sql::ads as sql};

/// Which ads; what is `None` or empty does not matter.
#[derive(Debug, Clone, Default)]
pub struct StatusFilter {
    /// With one of these statuses.
    pub statuses: Vec<AdStatus>,
    /// Of this dealer.
    pub dealer_code: Option<String>,
    /// With this code of failure.
    pub code: Option<Code>,
}

/// An ad and its status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdByStatus {
    /// Its dealer.
    pub dealer_code: String,
    /// The client's reference.
    pub source_id: String,
    /// Its status.
    pub status: AdStatus,
    /// Since when.
    pub since: Timestamp,
    /// Why it failed: the code of the first channel that has one, or else of a missing image.
    pub code: Option<Code>,
    /// Its number in the database.
    #[serde(skip)]
    pub(crate) seq: i64,
}

impl Database {
    /// Ads by their status, in the order of their dealers: at most so many behind one, or from the first on.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when they cannot be read; the others as well.
    pub async fn ads_by_status(
        &self,
        filter: &StatusFilter,
        behind: Option<&AdByStatus>,
        limit: u32,
    ) -> Result<Vec<AdByStatus>, StoreError> {
        let StatusFilter { statuses, dealer_code, code } = filter;
        let names = match statuses.as_slice() {
            [] => AdStatus::NAMES.iter().map(|name| (*name).to_owned()).collect(),
            some => some.iter().map(|status| status.name().to_owned()).collect(),
        };
        let read = sql::AdsByStatus {
            statuses: names,
            dealer_code: dealer_code.as_deref(),
            code: code.map(Code::name),
            behind_dealer: behind.map_or("", |ad| &ad.dealer_code),
            behind_seq: behind.map_or(0, |ad| ad.seq),
            limit,
        };
        let ad = |row| {
            let mut columns = Columns::of(row);
            let (seq, dealer_code, source_id) = (columns.value()?, columns.string()?, columns.string()?);
            let status = columns.named(AdStatus::from_name)?;
            let since = columns.time()?;
            let code = StatusWords::from_store(status, &columns.text()?).and_then(|words| words.failure);
            Ok(AdByStatus { dealer_code, source_id, status, since, code, seq })
        };
        self.read(read).await?.iter().map(ad).collect()
    }
}
