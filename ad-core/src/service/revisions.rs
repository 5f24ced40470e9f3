//! Earlier contents of an ad: which there were, what the ad was then, and back to one of them (extensions E10).

use std::collections::VecDeque;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Accepted, Access, Incoming, Service, ServiceError, Target, write::CheckedUpdate};
use crate::{
    categories::Heading,
    model::{
        Action, ActionState, Ad, AdState, ApiVersion, AskedBy, Creation, EPOCH_SHIFT, LogQuery, MAX_LIMIT, Page,
        PastAd, RecordedChange, RevisionEntry, RevisionOrigin, Timestamp,
    },
    ports::{LogEntries, PAGE_BYTES, PageOf, Store, StoreError, StoredAd},
    revisions::{apply, changes, checksum, update_to},
    violation::{Code, Violation, Warning},
};

/// Most bytes of differences that are read to find an earlier content. What is behind them counts as not recorded.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Why an ad cannot be shown as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRecorded {
    /// The ad never had such a revision.
    #[error("The ad has no revision {revision}; its present one is {present}.")]
    NoSuchRevision {
        /// The number that was asked for.
        revision: i64,
        /// That of the present content.
        present: i64,
    },
    /// The revision was before the record began, or has been removed.
    #[error("Revision {0} of the ad is not recorded: it was removed, or is from before the service recorded changes.")]
    Revision(i64),
    /// The ad did not exist at that time.
    #[error("The ad did not exist at {at}; it was created at {created}.")]
    NotCreated {
        /// The time that was asked for.
        at: Timestamp,
        /// When the ad was created.
        created: Timestamp,
    },
    /// The time was before the record began, or what was recorded has been removed.
    #[error(
        "What the ad said at {at} is not recorded. {}",
        .earliest.map_or("The ad was erased.".to_owned(), |earliest| format!("The earliest time that is recorded is {earliest}."))
    )]
    Time {
        /// The time that was asked for.
        at: Timestamp,
        /// Since when the content is known; `None` if the ad was erased.
        earliest: Option<Timestamp>,
    },
}

/// How a content of an ad came about.
enum Moment {
    /// A recorded change led to it.
    Changed(RecordedChange),
    /// The ad was created with it.
    Created(Creation),
    /// That is not recorded: neither the last recorded change nor the creation led to this content.
    Unknown,
}

/// Goes back through the contents of an ad, from the present one.
struct Past<'s> {
    service: &'s Service,
    /// The ad as it was then.
    ad: Ad,
    /// The last revision with this content.
    last: i64,
    /// The changes that were read.
    read: VecDeque<RecordedChange>,
    /// Whether there may be more.
    may_have_more: bool,
    /// The length of the differences that were read.
    bytes: usize,
}

impl<'s> Past<'s> {
    fn new(service: &'s Service, stored: StoredAd) -> Self {
        let last = stored.tag.revision;
        Self { service, ad: stored.ad, last, read: VecDeque::new(), may_have_more: true, bytes: 0 }
    }

    fn store(&self) -> &dyn Store {
        &*self.service.store
    }

    /// The newest change of those that are left.
    async fn next_change(&mut self) -> Result<Option<RecordedChange>, ServiceError> {
        if self.read.is_empty() && self.may_have_more && self.bytes < MOST_BYTES {
            self.read = self.store().recorded(self.ad.id, self.last).await?.into();
            self.may_have_more = !self.read.is_empty();
            let lengths = self.read.iter().filter_map(|change| change.difference.as_ref());
            self.bytes += lengths.map(String::len).sum::<usize>();
        }
        Ok(self.read.pop_front())
    }

    /// How its content came about; `None` if the content was erased.
    async fn moment(&mut self) -> Result<Option<Moment>, ServiceError> {
        if self.ad.content.fields().is_empty() {
            return Ok(None);
        }
        let next = self.next_change().await?;
        let content = &self.ad.content;
        let checksum = self
            .service
            .computed(&self.ad.dealer_code, content.bytes(), || content.stored_text().map(|text| checksum(&text)));
        let checksum = checksum.map_err(|error| StoreError::Faulty(error.into()))?;
        Ok(Some(match next {
            Some(change) if change.checksum == checksum => Moment::Changed(change),
            // Something else has changed the ad after this change.
            Some(_) => Moment::Unknown,
            None => match self.store().creation(self.ad.id).await? {
                Some(creation) if self.last == creation.revision || creation.checksum == Some(checksum) => {
                    Moment::Created(creation)
                }
                _ => Moment::Unknown,
            },
        }))
    }

    /// Goes back before a change; `false` if the content before is not recorded any more.
    fn undo(&mut self, change: &RecordedChange) -> Result<bool, ServiceError> {
        let Some(difference) = &change.difference else { return Ok(false) };
        let content = &self.ad.content;
        let before =
            self.service.computed(&self.ad.dealer_code, content.bytes(), || apply(difference, content.clone()));
        self.ad.content = before.map_err(|error| StoreError::Faulty(error.into()))?;
        (self.ad.api_version, self.ad.category_id) =
            change.version.unwrap_or((self.ad.api_version, self.ad.category_id));
        self.last = change.replaced;
        Ok(true)
    }

    /// The ad as it was from a moment on.
    fn ad(self, revision: i64, since: Option<Timestamp>) -> PastAd {
        let mut ad = self.ad;
        ad.updated = since.unwrap_or(ad.updated);
        let shown = |url: &str| ad.image_refs.iter().find(|image| image.url == url).cloned();
        ad.image_refs = ad.content.image_urls().filter_map(shown).collect();
        PastAd { ad, revision }
    }
}

impl Moment {
    /// The first revision with the content, and who made it. `last` is the last one.
    fn first(&self, last: i64) -> (i64, Option<&RevisionOrigin>) {
        match self {
            Self::Changed(change) => (change.revision, Some(&change.origin)),
            Self::Created(creation) => (creation.revision, Some(&creation.origin)),
            Self::Unknown => (last, None),
        }
    }
}

fn entry(revision: i64, action: Action, origin: Option<&RevisionOrigin>) -> RevisionEntry {
    RevisionEntry {
        revision,
        created: origin.map(|origin| origin.created),
        request_id: origin.map(|origin| origin.request_id),
        action: origin.map(|_| action),
        asked_by: origin.map_or_else(AskedBy::default, |origin| origin.asked_by.clone()),
        plan_id: origin.and_then(|origin| origin.plan_id),
        via: origin.and_then(|origin| origin.via),
        changes: None,
    }
}

impl Service {
    /// A page of the revisions of an ad, newest first, also of a deleted one. Revisions with the same content as the one before are left
    /// out. A page has fewer rows than its limit if more would exceed [`PAGE_BYTES`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn revisions(
        &self,
        access: &Access,
        target: Target<'_>,
        page: Page,
    ) -> Result<PageOf<RevisionEntry>, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        self.revisions_of(stored, page).await
    }

    /// A page of the revisions of an ad, from the one that was read on.
    pub(super) async fn revisions_of(
        &self,
        stored: StoredAd,
        page: Page,
    ) -> Result<PageOf<RevisionEntry>, ServiceError> {
        let mut past = Past::new(self, stored);
        let (mut count, mut rows, mut bytes) = (0, Vec::new(), 0);
        while let Some(moment) = past.moment().await? {
            let is_on_page = count >= page.offset && rows.len() < page.limit as usize && bytes < PAGE_BYTES;
            count += 1;
            let (first, origin) = moment.first(past.last);
            let mut row = entry(first, Action::Update, origin);
            let has_earlier = match &moment {
                Moment::Changed(change) => {
                    let after = is_on_page.then(|| past.ad.content.clone());
                    let is_known = past.undo(change)? && !past.ad.content.fields().is_empty();
                    row.changes = after.filter(|_| is_known).map(|after| changes(&past.ad.content, &after));
                    is_known
                }
                Moment::Created(_) => {
                    row.action = Some(Action::Create);
                    row.changes = Some(Vec::new());
                    false
                }
                Moment::Unknown => false,
            };
            if is_on_page {
                let length = serde_json::to_string(&row).map_or(0, |text| text.len() as u64);
                bytes += length;
                if bytes <= PAGE_BYTES || rows.is_empty() {
                    rows.push(row);
                }
            }
            if !has_earlier {
                break;
            }
        }
        Ok(PageOf { count, rows })
    }

    /// The ad of a revision, also of a deleted ad.
    ///
    /// # Errors
    /// As [`Self::read`]; [`ServiceError::NotRecorded`].
    pub async fn revision(&self, access: &Access, target: Target<'_>, revision: i64) -> Result<PastAd, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        let present = stored.tag.revision;
        let no_such = NotRecorded::NoSuchRevision { revision, present };
        if !(0..=present).contains(&revision) {
            return Err(no_such.into());
        }
        let mut past = Past::new(self, stored);
        while let Some(moment) = past.moment().await? {
            let (first, origin) = moment.first(past.last);
            if revision >= first {
                // Counts go on in each epoch, so that numbers between are none.
                let is_one = [first, past.last].iter().any(|known| known >> EPOCH_SHIFT == revision >> EPOCH_SHIFT);
                if !is_one || revision > past.last {
                    return Err(no_such.into());
                }
                let since = origin.map(|origin| origin.created);
                past.ad.state = AdState::Created;
                return Ok(past.ad(revision, since));
            }
            match moment {
                Moment::Changed(change) if past.undo(&change)? => {}
                _ => break,
            }
        }
        Err(NotRecorded::Revision(revision).into())
    }

    /// The ad as it was at a time, also of a deleted ad.
    ///
    /// # Errors
    /// As [`Self::read`]; [`ServiceError::NotRecorded`].
    pub async fn ad_at(&self, access: &Access, target: Target<'_>, at: Timestamp) -> Result<PastAd, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        let Ad { id, created, updated, .. } = stored.ad;
        if at < created {
            return Err(NotRecorded::NotCreated { at, created }.into());
        }
        let present = stored.tag.revision;
        let mut past = Past::new(self, stored);
        let mut earliest = None;
        while let Some(moment) = past.moment().await? {
            let (first, origin) = moment.first(past.last);
            // Every accepted write moves `updated`, so the present content is at least as old.
            let is_present = past.last == present;
            let known_since = origin.map(|origin| origin.created).or(is_present.then_some(updated));
            let Some(since) = known_since else { break };
            earliest = Some(since);
            if at >= since {
                if at < updated {
                    past.ad.state =
                        if self.was_deleted(id, since, at).await? { AdState::Deleted } else { AdState::Created };
                }
                return Ok(past.ad(first, Some(since)));
            }
            match moment {
                Moment::Changed(change) if past.undo(&change)? => {}
                _ => break,
            }
        }
        Err(NotRecorded::Time { at, earliest }.into())
    }

    /// Whether an ad was deleted between two times.
    async fn was_deleted(&self, ad: Uuid, from: Timestamp, to: Timestamp) -> Result<bool, ServiceError> {
        let query = LogQuery {
            action: Some(Action::Delete),
            state: Some(ActionState::Done),
            descending: true,
            page: Page { limit: MAX_LIMIT, offset: 0 },
            ..LogQuery::default()
        };
        let deletions = self.store.log(ad, &query).await?.rows;
        Ok(deletions.iter().any(|entry| (from..=to).contains(&entry.created)))
    }

    /// Updates an ad to the content of an earlier revision, by the rules of today. Fields that cannot change stay as they are, and warnings
    /// name them.
    ///
    /// # Errors
    /// As [`Self::revision`] and [`Self::update`].
    pub async fn restore(
        &self,
        access: &Access,
        incoming: impl Into<Incoming<'_>> + Send,
        version: ApiVersion,
        target: Target<'_>,
        revision: i64,
    ) -> Result<Accepted, ServiceError> {
        let past = self.revision(access, target, revision).await?;
        self.revise(access, incoming.into(), target, |stored| {
            let (update, patch) = self.check_restore(version, stored, &past.ad)?;
            Ok(Some(update.decision(version, stored, &patch)))
        })
        .await
    }

    /// Checks the update of a stored ad to what it was.
    fn check_restore(
        &self,
        version: ApiVersion,
        stored: &StoredAd,
        past: &Ad,
    ) -> Result<(CheckedUpdate, Map<String, Value>), ServiceError> {
        let mut patch = update_to(&past.content, &stored.ad.content);
        if stored.ad.category().is_some_and(|category| category.heading == Heading::Forbidden) {
            patch.remove("title");
        }
        let mut fixed = Vec::new();
        if past.category_id != stored.ad.category_id {
            fixed.push("category_id".to_owned());
        }
        loop {
            match self.check_update(version, stored, &patch) {
                Ok(mut update) => {
                    update.checked.warnings.extend(fixed.into_iter().map(left_as_it_is));
                    return Ok((update, patch));
                }
                Err(ServiceError::Invalid(errors)) => {
                    let cannot_change = |(path, violation): (String, &Violation)| {
                        (violation.code() == Some(Code::Immutable)).then_some(path)
                    };
                    let left: Vec<_> = errors.violations().into_iter().filter_map(cannot_change).collect();
                    let left: Vec<_> = left.into_iter().filter(|path| take_out(&mut patch, path)).collect();
                    if left.is_empty() {
                        return Err(errors.into());
                    }
                    fixed.extend(left);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn left_as_it_is(field: String) -> Warning {
    let message = "Left as it is: it cannot change after the ad was created.".to_owned();
    Warning { field, code: Code::Immutable, message }
}

/// Removes what is at a dotted path; `false` if nothing is there.
fn take_out(object: &mut Map<String, Value>, path: &str) -> bool {
    match path.split_once('.') {
        None => object.remove(path).is_some(),
        Some((name, below)) => {
            object.get_mut(name).and_then(Value::as_object_mut).is_some_and(|object| take_out(object, below))
        }
    }
}
