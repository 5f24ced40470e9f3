//! The record of an ad as one document (extensions E10).

use std::future::Future;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{Access, Service, ServiceError, Target};
use crate::{
    model::{Ad, Charge, ChargeQuery, LogEntry, LogQuery, MAX_LIMIT, MarketplaceCall, Page, RevisionEntry, Timestamp},
    ports::{LogEntries, PAGE_BYTES, PageOf, Scope, StoreError},
};

/// How often a list is read, because rows come meanwhile.
const TRIES: usize = 3;

/// There are [few](crate::model::MOST_REVISIONS), and a page is limited by its bytes.
const ALL_REVISIONS: Page = Page { limit: u32::MAX, offset: 0 };

/// Everything that is recorded of an ad. Its lists begin with the newest. If all had more than [`PAGE_BYTES`], the oldest rows are left
/// out, those of the revisions first; the list then has fewer rows than its count.
#[derive(Debug, Clone, PartialEq)]
pub struct AdRecord {
    /// When it was made, by the clock of the service.
    pub made: Timestamp,
    /// The ad at that time, deleted or not.
    pub ad: Ad,
    /// The revision of its content.
    pub revision: i64,
    /// The revisions of its content.
    pub revisions: PageOf<RevisionEntry>,
    /// The entries of its log.
    pub log: PageOf<LogEntry>,
    /// The calls of marketplaces about it.
    pub calls: PageOf<MarketplaceCall>,
    /// What its promotions cost.
    pub charges: PageOf<Charge>,
}

/// A list in a record.
#[derive(Serialize)]
struct Listed<'a, T> {
    count: u64,
    results: &'a [T],
}

/// A photo in a record.
#[derive(Serialize)]
struct PhotoSum<'a> {
    url: &'a str,
    checksum: &'a str,
}

impl<'a, T> From<&'a PageOf<T>> for Listed<'a, T> {
    fn from(page: &'a PageOf<T>) -> Self {
        Self { count: page.count, results: &page.rows }
    }
}

impl Serialize for AdRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let photos = self.ad.image_refs.iter().map(|image| PhotoSum { url: &image.url, checksum: &image.checksum });
        let mut record = serializer.serialize_struct("AdRecord", 7)?;
        record.serialize_field("made", &self.made)?;
        record.serialize_field("ad", &self.ad.view(None).of_revision(self.revision))?;
        record.serialize_field("revisions", &Listed::from(&self.revisions))?;
        record.serialize_field("log", &Listed::from(&self.log))?;
        record.serialize_field("calls", &Listed::from(&self.calls))?;
        record.serialize_field("charges", &Listed::from(&self.charges))?;
        record.serialize_field("photos", &photos.collect::<Vec<_>>())?;
        record.end()
    }
}

impl Service {
    /// Everything that is recorded of an ad, also of a deleted one. The log and the calls have what was recorded while it was read, too.
    ///
    /// # Errors
    /// As [`Self::read`]; [`StoreError::Unavailable`] when so much is recorded meanwhile that no list could be read whole.
    pub async fn record(&self, access: &Access, target: Target<'_>) -> Result<AdRecord, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        let (id, revision) = (stored.ad.id, stored.tag.revision);
        let mut left = PAGE_BYTES;
        let log = |page| async move {
            let query = LogQuery { descending: true, page, ..LogQuery::default() };
            Ok(self.store.log(id, &query).await?)
        };
        let log = rows(&mut left, log).await?;
        let calls = rows(&mut left, |page| async move { Ok(self.store.calls(id, page).await?) }).await?;
        let scope = Scope::Dealer(&stored.ad.dealer_code);
        let of_ad = ChargeQuery { source_id: Some(stored.ad.source_id.clone()), ..ChargeQuery::default() };
        let charges = |page| {
            let query = ChargeQuery { page, ..of_ad.clone() };
            async move { Ok(self.store.charges(scope, &query).await?) }
        };
        let charges = rows(&mut left, charges).await?;
        // Last, since their rows may be large.
        let ad = stored.ad.clone();
        let mut revisions = self.revisions_of(stored, ALL_REVISIONS).await?;
        revisions.rows = within(&mut left, revisions.rows);
        Ok(AdRecord { made: self.clock.now(), ad, revision, revisions, log, calls, charges })
    }
}

/// The rows of all pages, the newest first, as long as they have no more bytes than are left. Rows that come meanwhile move the others to
/// later pages, so that the list is read again.
async fn rows<T, Read>(left: &mut u64, read: impl Fn(Page) -> Read) -> Result<PageOf<T>, ServiceError>
where
    T: Serialize,
    Read: Future<Output = Result<PageOf<T>, ServiceError>>,
{
    for _ in 0..TRIES {
        let mut budget = *left;
        let mut all = PageOf { count: 0, rows: Vec::new() };
        loop {
            let page = read(Page { limit: MAX_LIMIT, offset: all.rows.len() as u64 }).await?;
            if !all.rows.is_empty() && page.count != all.count {
                break;
            }
            let (count, is_empty) = (page.count, page.rows.is_empty());
            let wanted = all.rows.len() + page.rows.len();
            all.count = count;
            all.rows.extend(within(&mut budget, page.rows));
            if is_empty || all.rows.len() < wanted || wanted as u64 >= count {
                *left = budget;
                return Ok(all);
            }
        }
    }
    Err(StoreError::Unavailable("the ad is changing too fast for its record to be read".into()).into())
}

/// The rows before the first that has more bytes than are left.
fn within<T: Serialize>(left: &mut u64, rows: Vec<T>) -> Vec<T> {
    let fits = |row: &T| {
        let length = serde_json::to_string(row).map_or(u64::MAX, |text| text.len() as u64);
        let rest = left.checked_sub(length);
        *left = rest.unwrap_or(*left);
        rest.is_some()
    };
    rows.into_iter().take_while(fits).collect()
}
