//! A store in memory, for tests and embedding.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    future::poll_fn,
    sync::Mutex,
    task::{Poll, Waker},
};

use async_trait::async_trait;
use serde::Serialize;
use uuid::Uuid;

use super::{accounts::AccountRows, plans::PlanRow, promotions::PromotionRow, slots::SlotRow};
use crate::{
    categories::Category,
    filters,
    lock::locked,
    model::{
        Ad, AdQuery, AdState, AdTag, AskedBy, Content, ContentChange, Creation, EarlierPrices, Event, EventPage,
        EventPosition, EventQuery, ImageSources, LATEST_ENTRIES, Leftover, LogEntry, LogQuery, MOST_EARLIER_PRICES,
        MOST_REVISIONS, Market, MarketplaceCall, Page, Photo, PhotoFacts, Plan, Publication, QueuedRequest,
        REQUEST_ENTRIES, RecordedChange, Replaced, Request, RequestOrigin, RevisionOrigin, SameVehicle, StatusCount,
        StoredRequest, Timestamp,
    },
    ports::{
        AdChange, AnswerKey, Capacity, Claimed, ClaimedPhotos, Claims, EventWatch, EventWatches, ExaminedPhotos,
        KeptAnswer, ListedAd, LogEntries, NewAd, Outcome, PAGE_BYTES, PageOf, PhotoQuery, PhotoStore, Record, Revision,
        Scope, StatusFacts, Store, StoreError, StoredAd, TagOfAd, Usage, VehicleQuery,
    },
    quality,
    revisions::checksum,
    status,
};

/// A store in memory, with the same semantics as every other store: leases, fencing, orders, filters.
#[derive(Debug, Default)]
pub struct MemoryStore(pub(super) Mutex<Tables>);

#[derive(Debug, Default)]
pub(super) struct Tables {
    /// In the order of creation.
    ads: Vec<AdRow>,
    by_id: HashMap<Uuid, usize>,
    /// By dealer, then by source id.
    by_source: HashMap<String, HashMap<String, usize>>,
    /// Unfinished requests, in the order in which they were accepted.
    queue: Vec<Queued>,
    /// Finished requests with log entries: the index of the ad, and when they were accepted.
    finished: HashMap<Uuid, (usize, Timestamp, RequestOrigin)>,
    /// The ads to which listings are linked.
    ties: HashMap<(Market, String), Uuid>,
    /// The images of each dealer, by checksum, with their bytes.
    images: HashMap<String, HashMap<String, u64>>,
    answers: HashMap<AnswerKey, KeptAnswer>,
    /// What is known of images, by checksum.
    photos: BTreeMap<String, Photo>,
    /// Stock plans, oldest first.
    pub(super) plans: Vec<PlanRow>,
    /// What promotions cost.
    pub(super) accounts: AccountRows,
    /// Slots that requests have taken, and ads that wait for one.
    pub(super) slots: HashMap<Uuid, SlotRow>,
    /// Schedules of promotions, oldest first.
    pub(super) promotions: Vec<PromotionRow>,
    /// Who waits for a request to be finished.
    waiting: HashMap<Uuid, Vec<Waker>>,
    /// Watches that commits of log entries wake.
    watches: EventWatches,
    last_lease: i64,
    /// The number of the last commit that wrote log entries.
    last_transaction: i64,
}

#[derive(Debug)]
struct AdRow {
    stored: StoredAd,
    quality_score: u8,
    earlier_prices: Vec<EarlierPrices>,
    /// How it was created, without the checksum.
    creation: Creation,
    /// Its first content, once it has another.
    first: Option<Content>,
    /// The changes of its content, oldest first.
    recorded: Vec<Recorded>,
    /// Calls of marketplaces, oldest first.
    calls: Vec<MarketplaceCall>,
    image_sources: ImageSources,
    photos: PhotosDue,
    log: Vec<LogEntry>,
    /// What requests have changed about the content.
    changes: Vec<(Uuid, ContentChange)>,
    /// The commits that wrote the entries, by their numbers.
    transactions: Vec<i64>,
}

/// When the images of an ad are to be examined.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PhotosDue {
    /// Not before the images change.
    Never,
    /// When the request that changed them has ended or waits.
    AfterRequest,
    /// From this time on, which is the end of a claim or that of a request.
    At(Timestamp),
}

/// A change of the content of an ad.
#[derive(Debug)]
struct Recorded {
    /// What is recorded of it, without the checksum.
    change: RecordedChange,
    /// The content that it led to, once there is another.
    after: Option<Content>,
}

#[derive(Debug)]
struct Queued {
    ad: Uuid,
    request: Request,
    /// For the oldest request of an ad: when it may be claimed, which is when it is due or when its lease ends.
    claimable: Timestamp,
    /// Changes whenever the request is claimed.
    lease: i64,
}

impl AdRow {
    fn latest(&self, wanted: bool) -> Vec<LogEntry> {
        let from = if wanted { self.log.len().saturating_sub(LATEST_ENTRIES) } else { self.log.len() };
        self.log[from..].to_vec()
    }

    /// Appends entries that one commit writes.
    fn append(&mut self, entries: impl IntoIterator<Item = LogEntry>, transaction: i64) {
        self.log.extend(entries);
        self.transactions.resize(self.log.len(), transaction);
    }

    /// The positions of its entries, in their order; `ad` is its index.
    fn positions(&self, ad: usize) -> impl Iterator<Item = EventPosition> {
        let ad = i64::try_from(ad).unwrap_or(i64::MAX);
        self.transactions.iter().zip(1..).map(move |(transaction, sequence)| EventPosition {
            transaction: *transaction,
            ad,
            sequence,
        })
    }

    fn change(&mut self, change: AdChange, at: Timestamp) {
        let stored = &mut self.stored;
        if change != AdChange::default() {
            stored.ad.updated = at;
            stored.tag.n += 1;
        }
        let AdChange { state, intent, image_refs, image_sources, listings, pole_position_until, leftover } = change;
        if let Some(sources) = image_sources {
            self.image_sources = sources;
        }
        stored.ad.state = state.unwrap_or(stored.ad.state);
        stored.intent = intent.unwrap_or(stored.intent);
        if let Some(images) = image_refs {
            if images != stored.ad.image_refs {
                self.photos = PhotosDue::AfterRequest;
            }
            stored.ad.image_refs = images;
        }
        for (market, id) in listings {
            stored.ad.set_listing(market, id);
        }
        stored.pole_position_until = pole_position_until.unwrap_or(stored.pole_position_until);
        if let Some(leftover) = leftover {
            stored.leftover = leftover;
        }
    }
}

impl Queued {
    fn new(ad: Uuid, request: &Request) -> Self {
        Self { ad, request: request.clone(), claimable: request.accepted, lease: 0 }
    }
}

impl Tables {
    fn row(&mut self, ad: Uuid) -> Option<&mut AdRow> {
        let index = self.by_id.get(&ad)?;
        Some(&mut self.ads[*index])
    }

    fn next_lease(&mut self) -> i64 {
        self.last_lease += 1;
        self.last_lease
    }

    /// Index of the ad with a dealer's source id.
    fn of_source(&self, dealer_code: &str, source_id: &str) -> Option<usize> {
        self.by_source.get(dealer_code)?.get(source_id).copied()
    }

    /// The ads of a source id within a scope.
    fn find_in_scope(&self, scope: Scope<'_>, source_id: &str) -> impl Iterator<Item = &AdRow> {
        let codes: Vec<&str> = match scope {
            Scope::Dealer(code) => vec![code],
            Scope::Dealers(codes) => codes.iter().map(String::as_str).collect(),
        };
        let mut found: Vec<usize> = codes.into_iter().filter_map(|code| self.of_source(code, source_id)).collect();
        found.sort_unstable();
        found.into_iter().map(|index| &self.ads[index])
    }

    /// Index in the queue of a request that this lease still has.
    fn leased(&self, request: Uuid, lease: i64) -> Result<usize, StoreError> {
        let is_it = |queued: &Queued| queued.request.id == request && queued.lease == lease;
        self.queue.iter().position(is_it).ok_or(StoreError::LeaseLost)
    }

    /// The unfinished request of an ad that has this plan.
    fn find_unfinished(&self, ad: Uuid, plan: Option<&Plan>) -> Option<Uuid> {
        let is_it = |queued: &&Queued| queued.ad == ad && queued.request.plan.as_ref() == plan;
        self.queue.iter().find(is_it).map(|queued| queued.request.id)
    }

    /// The accepted request of an id.
    pub(super) fn stored_request(&self, id: Uuid) -> Option<StoredRequest> {
        let of_queue = self.queue.iter().position(|queued| queued.request.id == id).map(|place| {
            let Queued { ad, request, claimable, .. } = &self.queue[place];
            let is_oldest = of_ad(&self.queue[..place], *ad) == 0;
            let queued =
                QueuedRequest { progress: request.progress.clone(), claimable: is_oldest.then_some(*claimable) };
            (self.by_id[ad], request.accepted, request.progress.origin.clone(), Some(queued))
        });
        let finished = || {
            let (index, accepted, origin) = self.finished.get(&id)?.clone();
            Some((index, accepted, origin, None))
        };
        of_queue.or_else(finished).map(|(index, accepted, origin, queued)| {
            let AdRow { stored: StoredAd { ad, .. }, log, .. } = &self.ads[index];
            let (dealer_code, source_id) = (ad.dealer_code.clone(), ad.source_id.clone());
            let mut entries: Vec<_> = log.iter().filter(|entry| entry.request_id == id).cloned().collect();
            entries.drain(..entries.len().saturating_sub(REQUEST_ENTRIES));
            let RequestOrigin { asked_by, plan_id, .. } = origin;
            StoredRequest { id, dealer_code, source_id, accepted, asked_by, plan_id, queued, entries }
        })
    }

    /// The stock plan that a request is of.
    fn plan_of(&self, request: Uuid) -> Option<Uuid> {
        let finished = self.finished.get(&request).map(|(_, _, origin)| origin);
        let of_queue = || self.queue.iter().find(|queued| queued.request.id == request);
        let origin = finished.or_else(|| of_queue().map(|queued| &queued.request.progress.origin));
        origin.and_then(|origin| origin.plan_id)
    }

    /// The ad with a dealer's source id.
    pub(super) fn stored(&self, dealer_code: &str, source_id: &str) -> Option<&StoredAd> {
        self.of_source(dealer_code, source_id).map(|index| &self.ads[index].stored)
    }

    /// All ads, in the order of creation.
    pub(super) fn stored_ads(&self) -> impl Iterator<Item = &StoredAd> {
        self.ads.iter().map(|row| &row.stored)
    }

    /// An ad by its id.
    pub(super) fn stored_by_id(&self, ad: Uuid) -> Option<&StoredAd> {
        self.by_id.get(&ad).map(|index| &self.ads[*index].stored)
    }

    /// Whether a request is unfinished.
    pub(super) fn is_unfinished(&self, request: Uuid) -> bool {
        self.queue.iter().any(|queued| queued.request.id == request)
    }

    /// Number of a dealer's requests that can be claimed.
    pub(super) fn due_requests(&self, dealer_code: &str, now: Timestamp) -> usize {
        let mut seen = HashSet::new();
        let first = self.queue.iter().filter(|queued| seen.insert(queued.ad));
        let is_due = |queued: &&Queued| {
            let ad = &self.ads[self.by_id[&queued.ad]].stored.ad;
            ad.dealer_code == dealer_code && queued.claimable <= now
        };
        first.filter(is_due).count()
    }

    /// Checks that the key of an answer is free.
    fn check_key(&self, answer: Option<&KeptAnswer>) -> Result<(), StoreError> {
        match answer.and_then(|answer| self.answers.get(&answer.key)) {
            Some(kept) => Err(StoreError::KeyUsed(Box::new(kept.clone()))),
            None => Ok(()),
        }
    }

    fn keep(&mut self, answer: Option<&KeptAnswer>) {
        self.answers.extend(answer.map(|answer| (answer.key.clone(), answer.clone())));
    }

    fn is_live(&self, ad: Uuid) -> bool {
        self.by_id.get(&ad).is_some_and(|index| self.ads[*index].stored.ad.state != AdState::Deleted)
    }
}

/// Number of unfinished requests of an ad.
fn of_ad(queue: &[Queued], ad: Uuid) -> usize {
    queue.iter().filter(|queued| queued.ad == ad).count()
}

fn checksum_of(content: &Content) -> i64 {
    checksum(&content.stored_text().unwrap_or_default())
}

fn origin_of(request_id: Uuid, created: Timestamp, origin: &RequestOrigin) -> RevisionOrigin {
    let asked_by = AskedBy { token: origin.asked_by.clone(), label: None };
    RevisionOrigin { created, request_id, asked_by, via: origin.via, plan_id: origin.plan_id }
}

/// One page of the rows; `bytes` is the size of a row.
pub(super) fn page_of<T>(mut rows: Vec<T>, page: Page, descending: bool, bytes: impl Fn(&T) -> u64) -> PageOf<T> {
    if descending {
        rows.reverse();
    }
    let count = rows.len() as u64;
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let mut total = 0;
    let fits = |row: &T| {
        let is_first = total == 0;
        total += bytes(row).max(1);
        is_first || total <= PAGE_BYTES
    };
    PageOf { count, rows: rows.into_iter().skip(offset).take(page.limit as usize).take_while(fits).collect() }
}

/// Size of a value as JSON, in bytes.
pub(super) fn bytes_of(value: &impl Serialize) -> u64 {
    serde_json::to_string(value).map_or(0, |text| text.len() as u64)
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(&self, new: NewAd<'_>) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        let NewAd { ad, request, entry, answer } = new;
        tables.check_key(answer)?;
        if tables.of_source(&ad.dealer_code, &ad.source_id).is_some() {
            return Err(StoreError::Duplicate);
        }
        let index = tables.ads.len();
        let leftover = Leftover::default();
        // The first entry has moved it.
        let tag = AdTag { revision: 0, n: 1 };
        let stored = StoredAd {
            ad: ad.clone(),
            revision: 0,
            tag,
            intent: ad.state,
            pole_position_until: None,
            leftover,
            publication: Publication::default(),
            words: status::accepted(ad),
            status_since: ad.created,
        };
        let mut row = AdRow {
            stored,
            quality_score: quality::score(ad, &[]),
            earlier_prices: Vec::new(),
            creation: Creation {
                revision: 0,
                origin: origin_of(entry.request_id, entry.created, &request.progress.origin),
                checksum: None,
            },
            first: None,
            recorded: Vec::new(),
            calls: Vec::new(),
            image_sources: ImageSources::default(),
            photos: PhotosDue::Never,
            log: Vec::new(),
            changes: Vec::new(),
            transactions: Vec::new(),
        };
        tables.last_transaction += 1;
        row.append([entry.clone()], tables.last_transaction);
        tables.watches.wake(&ad.dealer_code);
        tables.ads.push(row);
        tables.by_id.insert(ad.id, index);
        tables.by_source.entry(ad.dealer_code.clone()).or_default().insert(ad.source_id.clone(), index);
        tables.queue.push(Queued::new(ad.id, request));
        tables.keep(answer);
        Ok(())
    }

    async fn revise(&self, revision: Revision<'_>) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        tables.check_key(revision.answer)?;
        if revision.coalesces
            && let Some(request) = tables.find_unfinished(revision.ad, revision.request.plan.as_ref())
        {
            return Err(StoreError::Underway(request));
        }
        tables.accounts.check(revision.dealer_code, revision.reservation)?;
        let unfinished = of_ad(&tables.queue, revision.ad);
        let row = tables.row(revision.ad).filter(|row| row.stored.revision == revision.revision);
        let AdRow { stored, quality_score, earlier_prices, first, recorded, .. } = row.ok_or(StoreError::Conflict)?;
        if unfinished >= revision.most_unfinished() as usize {
            return Err(StoreError::QueueFull(u32::try_from(unfinished).unwrap_or(u32::MAX)));
        }
        *quality_score = revision.quality_score.unwrap_or(*quality_score);
        if let Some(prices) = revision.price_before {
            earlier_prices.push(EarlierPrices { until: revision.updated, prices: Some(prices) });
            earlier_prices.drain(..earlier_prices.len().saturating_sub(MOST_EARLIER_PRICES));
        }
        stored.revision += 1;
        if let Some(content) = revision.content {
            let old = std::mem::replace(&mut stored.ad.content, content.clone());
            recorded.last_mut().map_or(first, |last| &mut last.after).get_or_insert(old);
            stored.tag.revision += 1;
            recorded.extend(revision.replaced.map(|Replaced { revision: replaced, version, difference }| {
                let origin =
                    origin_of(revision.request.id, revision.request.accepted, &revision.request.progress.origin);
                let difference = Some(difference);
                let revision = stored.tag.revision;
                let change = RecordedChange { revision, origin, replaced, version, difference, checksum: 0 };
                Recorded { change, after: None }
            }));
            recorded.drain(..recorded.len().saturating_sub(MOST_REVISIONS));
        } else {
            stored.tag.n += 1;
        }
        if let Some((version, category_id)) = revision.version {
            stored.ad.api_version = version;
            stored.ad.category_id = category_id;
        }
        stored.intent = revision.intent.unwrap_or(stored.intent);
        stored.pole_position_until = revision.pole_position_until.or(stored.pole_position_until);
        stored.ad.updated = revision.updated;
        if !stored.words.is_under_way() {
            (stored.words, stored.status_since) = (revision.words, revision.updated);
        }
        if let Some(wanted) = revision.reservation {
            let source_id = stored.ad.source_id.clone();
            tables.accounts.reserve(revision.dealer_code, &source_id, revision.request, wanted);
        }
        tables.queue.push(Queued::new(revision.ad, revision.request));
        tables.keep(revision.answer);
        Ok(())
    }

    async fn find(
        &self,
        scope: Scope<'_>,
        source_id: &str,
        log: LogEntries,
    ) -> Result<Vec<(StoredAd, Vec<LogEntry>)>, StoreError> {
        let tables = locked(&self.0);
        let rows = tables.find_in_scope(scope, source_id);
        Ok(rows.map(|row| (row.stored.clone(), row.latest(log == LogEntries::Latest))).collect())
    }

    async fn tags(&self, scope: Scope<'_>, source_id: &str) -> Result<Vec<TagOfAd>, StoreError> {
        let tables = locked(&self.0);
        let tag = |row: &AdRow| {
            let StoredAd { ad, tag, .. } = &row.stored;
            TagOfAd { dealer_code: ad.dealer_code.clone(), category_id: ad.category_id, tag: *tag }
        };
        Ok(tables.find_in_scope(scope, source_id).map(tag).collect())
    }

    async fn request(&self, scope: Scope<'_>, id: Uuid) -> Result<Option<StoredRequest>, StoreError> {
        Ok(locked(&self.0).stored_request(id).filter(|request| scope.covers(&request.dealer_code)))
    }

    async fn is_used(&self, dealer_code: &str, source_id: &str) -> Result<bool, StoreError> {
        Ok(locked(&self.0).of_source(dealer_code, source_id).is_some())
    }

    async fn facts(&self, scope: Scope<'_>, source_id: &str) -> Result<Vec<StatusFacts>, StoreError> {
        let tables = locked(&self.0);
        let facts = |row: &AdRow| {
            let of_ad = tables.queue.iter().filter(|queued| queued.ad == row.stored.ad.id);
            let unfinished = of_ad
                .filter_map(|queued| Some((queued.request.plan.clone(), tables.stored_request(queued.request.id)?)));
            StatusFacts { stored: row.stored.clone(), unfinished: unfinished.collect() }
        };
        Ok(tables.find_in_scope(scope, source_id).map(facts).collect())
    }

    async fn earlier_prices(
        &self,
        scope: Scope<'_>,
        source_id: &str,
    ) -> Result<Vec<(Ad, Vec<EarlierPrices>)>, StoreError> {
        let tables = locked(&self.0);
        let found = tables.find_in_scope(scope, source_id);
        Ok(found.map(|row| (row.stored.ad.clone(), row.earlier_prices.clone())).collect())
    }

    async fn same_vehicle(&self, query: VehicleQuery<'_>) -> Result<SameVehicle, StoreError> {
        let tables = locked(&self.0);
        let VehicleQuery { dealer_code, plate, vin, source_id } = query;
        let other = |is_same: &dyn Fn(&Ad) -> bool| {
            let is_it = |ad: &&Ad| {
                ad.dealer_code == dealer_code
                    && ad.state == AdState::Created
                    && Some(ad.source_id.as_str()) != source_id
                    && is_same(ad)
            };
            tables.ads.iter().map(|row| &row.stored.ad).find(is_it).map(|ad| ad.source_id.clone())
        };
        let has_plate = |ad: &Ad| {
            ad.category().is_some_and(Category::is_found_by_plate)
                && ad.content.registration_number().as_deref() == plate
        };
        Ok(SameVehicle {
            plate: plate.and_then(|_| other(&has_plate)),
            vin: vin.and_then(|vin| other(&|ad| ad.content.vin().as_deref() == Some(vin))),
        })
    }

    async fn same_photos(&self, query: PhotoQuery<'_>) -> Result<BTreeMap<usize, String>, StoreError> {
        let tables = locked(&self.0);
        let PhotoQuery { dealer_code, source_id, photos } = query;
        let is_other = |ad: &&Ad| {
            ad.dealer_code == dealer_code && ad.state == AdState::Created && ad.source_id.as_str() != source_id
        };
        let others: Vec<_> = tables.ads.iter().map(|row| &row.stored.ad).filter(is_other).collect();
        let shows = |ad: &Ad, photo: &PhotoFacts| {
            let mut shown = ad.image_refs.iter().filter_map(|image| image.photo.as_ref()?.facts());
            shown.any(|shown| shown.looks_like_of_other_ad(photo))
        };
        let found = |photo: &PhotoFacts| others.iter().find(|ad| shows(ad, photo)).map(|ad| ad.source_id.clone());
        Ok(photos.iter().enumerate().filter_map(|(place, photo)| Some((place, found(photo)?))).collect())
    }

    async fn count_by_status(&self, scope: Scope<'_>) -> Result<Vec<StatusCount>, StoreError> {
        let tables = locked(&self.0);
        let ads = tables.ads.iter().map(|row| &row.stored).filter(|stored| scope.covers(&stored.ad.dealer_code));
        Ok(ads.map(|stored| StatusCount { words: stored.words, category_id: stored.ad.category_id, ads: 1 }).collect())
    }

    async fn list(&self, scope: Scope<'_>, query: &AdQuery) -> Result<PageOf<ListedAd>, StoreError> {
        let tables = locked(&self.0);
        let asked_for = |row: &&AdRow| {
            scope.covers(&row.stored.ad.dealer_code)
                && query.filters.iter().all(|wanted| filters::passes(&row.stored, row.quality_score, wanted))
        };
        let mut rows: Vec<&AdRow> = tables.ads.iter().filter(asked_for).collect();
        // Stable: equal ads stay in the order of creation.
        rows.sort_by(|one, other| {
            let [one, other] = [one, other].map(|row| (&row.stored.ad, row.quality_score));
            filters::compare(query.order, one, other)
        });
        let bytes = |row: &&AdRow| {
            let content = if query.asks_for_content() { bytes_of(&row.stored.ad.content) } else { 0 };
            let images = if query.asks_for_images() { bytes_of(&row.stored.ad.image_refs) } else { 0 };
            content + images + bytes_of(&row.latest(query.included.log))
        };
        let PageOf { count, rows } = page_of(rows, query.page, query.descending, bytes);
        let listed = |row: &AdRow| {
            let StoredAd { ad, words, publication, .. } = &row.stored;
            let failed_images = if query.included.quality { publication.failed_images.clone() } else { Vec::new() };
            ListedAd { ad: ad.clone(), log: row.latest(query.included.log), words: *words, failed_images }
        };
        Ok(PageOf { count, rows: rows.into_iter().map(listed).collect() })
    }

    async fn log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError> {
        let mut tables = locked(&self.0);
        let log = tables.row(ad).map_or(&[][..], |row| &row.log);
        let entries = log.iter().filter(|entry| filters::is_asked_for(entry, query)).cloned();
        Ok(page_of(entries.collect(), query.page, query.descending, bytes_of))
    }

    async fn changes(&self, ad: Uuid) -> Result<HashMap<Uuid, ContentChange>, StoreError> {
        let mut tables = locked(&self.0);
        let Some(row) = tables.row(ad) else { return Ok(HashMap::new()) };
        let latest: HashSet<_> = row.latest(true).iter().map(|entry| entry.request_id).collect();
        Ok(row.changes.iter().filter(|(request, _)| latest.contains(request)).cloned().collect())
    }

    async fn recorded(&self, ad: Uuid, up_to: i64) -> Result<Vec<RecordedChange>, StoreError> {
        let mut tables = locked(&self.0);
        let Some(row) = tables.row(ad) else { return Ok(Vec::new()) };
        let newest = row.recorded.iter().rev().filter(|recorded| recorded.change.revision <= up_to);
        let newest = newest.map(|Recorded { change, after }| {
            let after = after.as_ref().unwrap_or(&row.stored.ad.content);
            RecordedChange { checksum: checksum_of(after), ..change.clone() }
        });
        let page = Page { limit: u32::try_from(MOST_REVISIONS).unwrap_or(u32::MAX), offset: 0 };
        let bytes = |change: &RecordedChange| change.difference.as_ref().map_or(0, |text| text.len() as u64);
        Ok(page_of(newest.collect(), page, false, bytes).rows)
    }

    async fn creation(&self, ad: Uuid) -> Result<Option<Creation>, StoreError> {
        let mut tables = locked(&self.0);
        let creation = |row: &mut AdRow| {
            let checksum = checksum_of(row.first.as_ref().unwrap_or(&row.stored.ad.content));
            Creation { checksum: Some(checksum), ..row.creation.clone() }
        };
        Ok(tables.row(ad).map(creation))
    }

    async fn calls(&self, ad: Uuid, page: Page) -> Result<PageOf<MarketplaceCall>, StoreError> {
        let calls = locked(&self.0).row(ad).map(|row| row.calls.clone()).unwrap_or_default();
        Ok(page_of(calls, page, true, |_| 0))
    }

    async fn events(&self, scope: Scope<'_>, query: &EventQuery) -> Result<EventPage, StoreError> {
        let tables = locked(&self.0);
        let is_asked_for = |ad: &Ad| {
            scope.covers(&ad.dealer_code) && query.source_id.as_ref().is_none_or(|source_id| *source_id == ad.source_id)
        };
        let rows = tables.ads.iter().enumerate().filter(|(_, row)| is_asked_for(&row.stored.ad));
        let positions = rows.flat_map(|(index, row)| row.positions(index).zip(&row.log).map(move |it| (it, row)));
        let mut after: Vec<_> = positions.filter(|((position, _), _)| *position > query.after).collect();
        after.sort_unstable_by_key(|((position, _), _)| *position);
        after.truncate(query.scan_limit() as usize);
        let last = after.last().map_or(query.after, |((position, _), _)| *position);
        let looked_at = u32::try_from(after.len()).unwrap_or(u32::MAX);
        let matching = after.into_iter().filter(|((_, entry), _)| query.has_type(entry));
        let event = |((position, entry), row): ((EventPosition, &LogEntry), &AdRow)| {
            let Ad { id, source_id, dealer_code, category_id, marketplace_ad_id, offer_id, .. } = &row.stored.ad;
            Event {
                position,
                ad_id: *id,
                source_id: source_id.clone(),
                dealer_code: dealer_code.clone(),
                category_id: *category_id,
                marketplace_ad_id: marketplace_ad_id.clone(),
                offer_id: offer_id.clone(),
                plan_id: tables.plan_of(entry.request_id),
                cost: tables.accounts.cost_of(entry).map(Box::new),
                entry: entry.clone(),
            }
        };
        let (mut events, mut bytes) = (Vec::new(), 0);
        for found in matching.take(query.limit as usize) {
            bytes += bytes_of(found.0.1);
            if bytes > PAGE_BYTES && !events.is_empty() {
                break;
            }
            events.push(event(found));
        }
        let is_full = events.len() == query.limit as usize || bytes > PAGE_BYTES;
        Ok(EventPage::new(query, events, is_full, looked_at, last))
    }

    async fn newest_event(&self) -> Result<EventPosition, StoreError> {
        Ok(EventPosition::end_of(locked(&self.0).last_transaction))
    }

    fn watch_events(&self, scope: Scope<'_>) -> EventWatch {
        locked(&self.0).watches.watch(scope)
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        capacity: Capacity<'_>,
    ) -> Result<Claims, StoreError> {
        let mut tables = locked(&self.0);
        let Tables { ads, by_id, queue, last_lease, .. } = &mut *tables;
        let mut claims = Claims::default();
        let mut seen = HashSet::new();
        let mut taken = HashMap::<&str, usize>::new();
        for queued in queue {
            // Only the oldest request of an ad.
            if !seen.insert(queued.ad) {
                continue;
            }
            let due = queued.claimable;
            if due > now {
                claims.next_due = Some(claims.next_due.map_or(due, |earlier| earlier.min(due)));
                continue;
            }
            let AdRow { stored, image_sources, .. } = &ads[by_id[&queued.ad]];
            let dealer = &stored.ad.dealer_code;
            let of_dealer = taken.entry(dealer).or_default();
            if claims.claimed.len() < capacity.limit
                && *of_dealer < capacity.per_dealer
                && !capacity.full.contains(dealer)
            {
                *of_dealer += 1;
                *last_lease += 1;
                (queued.lease, queued.claimable) = (*last_lease, lease_until);
                let (request, stored) = (queued.request.clone(), stored.clone());
                let image_sources = image_sources.clone();
                claims.claimed.push(Claimed { lease: *last_lease, request, stored, image_sources, is_fresh: false });
            }
        }
        Ok(claims)
    }

    async fn release(&self, now: Timestamp, after: Timestamp) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        // Requests that nobody has claimed get the new lease too, which has no effect.
        let lease = tables.next_lease();
        for queued in tables.queue.iter_mut().filter(|queued| queued.claimable > after) {
            (queued.claimable, queued.lease) = (now, lease);
        }
        Ok(())
    }

    async fn extend(&self, request: Uuid, lease: i64, until: Timestamp) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        let place = tables.leased(request, lease)?;
        tables.queue[place].claimable = until;
        Ok(())
    }

    /// Images are never removed from memory.
    async fn hold_image(&self, _: &str, _: Uuid, _: Timestamp, _: Timestamp) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn record(&self, record: Record) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        let place = tables.leased(record.request, record.lease)?;
        let has_entries = !record.entries.is_empty();
        let has_next = record.outcome == Outcome::Finished && of_ad(&tables.queue, record.ad) > 1;
        let words = if has_next { record.words.under_way() } else { record.words };
        tables.last_transaction += i64::from(has_entries);
        let (transaction, watches) = (tables.last_transaction, tables.watches.clone());
        if let Some(row) = tables.row(record.ad) {
            if row.stored.words.status != words.status {
                row.stored.status_since = record.at;
                row.stored.tag.n += i64::from(!has_entries && record.change == AdChange::default());
            }
            row.stored.words = words;
            if let Some(publication) = record.publication {
                row.stored.publication = publication;
            }
            if let Some(score) = record.quality_score.filter(|score| score.revision == row.stored.tag.revision) {
                row.quality_score = score.score;
            }
            row.stored.tag.n += i64::try_from(record.entries.len()).unwrap_or(i64::MAX);
            row.append(record.entries, transaction);
            row.calls.extend(record.calls);
            row.changes.extend(record.changes.filter(|_| has_entries).map(|changes| (record.request, changes)));
            row.change(record.change, record.at);
            let is_executed = matches!(record.outcome, Outcome::Continues { .. });
            if row.photos == PhotosDue::AfterRequest && !is_executed {
                row.photos = PhotosDue::At(record.at);
            }
            if has_entries {
                watches.wake(&row.stored.ad.dealer_code);
            }
        }
        if let Some(confirmed) = &record.confirmed {
            tables.accounts.settle(record.request, confirmed);
        }
        match record.outcome {
            Outcome::Continues { progress } => tables.queue[place].request.progress = progress,
            Outcome::Waits { progress, until } => {
                let lease = tables.next_lease();
                let queued = &mut tables.queue[place];
                queued.request.progress = progress;
                (queued.claimable, queued.lease) = (until, lease);
            }
            Outcome::Finished => {
                let Queued { ad, request, .. } = tables.queue.remove(place);
                if has_entries {
                    let index = tables.by_id[&ad];
                    tables.finished.insert(request.id, (index, request.accepted, request.progress.origin));
                }
                if let Some(next) = tables.queue.iter_mut().find(|queued| queued.ad == record.ad) {
                    next.claimable = record.at;
                }
                let waiting = tables.waiting.remove(&record.request).unwrap_or_default();
                waiting.into_iter().for_each(Waker::wake);
            }
        }
        Ok(())
    }

    async fn link_listing(&self, ad: Uuid, market: Market, listing: &str) -> Result<bool, StoreError> {
        let mut tables = locked(&self.0);
        let key = (market, listing.to_owned());
        let shows = |AdRow { stored: StoredAd { ad: other, .. }, .. }: &AdRow| {
            other.id != ad && other.state != AdState::Deleted && other.listing(market) == Some(listing)
        };
        let tied = tables.ties.get(&key).is_some_and(|owner| *owner != ad && tables.is_live(*owner));
        let may = tables.by_id.contains_key(&ad) && !tied && !tables.ads.iter().any(shows);
        if may {
            tables.ties.insert(key, ad);
        }
        Ok(may)
    }

    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn is_live(&self, ad: Uuid) -> Result<bool, StoreError> {
        Ok(locked(&self.0).is_live(ad))
    }

    async fn has_unfinished(&self, ad: Uuid) -> Result<bool, StoreError> {
        Ok(locked(&self.0).queue.iter().any(|queued| queued.ad == ad))
    }

    async fn find_unfinished(&self, ad: Uuid, plan: Option<&Plan>) -> Result<Option<Uuid>, StoreError> {
        Ok(locked(&self.0).find_unfinished(ad, plan))
    }

    async fn wait_until_finished(&self, request: Uuid) -> Result<(), StoreError> {
        poll_fn(|context| {
            let mut tables = locked(&self.0);
            if !tables.queue.iter().any(|queued| queued.request.id == request) {
                return Poll::Ready(Ok(()));
            }
            let waiting = tables.waiting.entry(request).or_default();
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    async fn keep_answer(&self, _ad: Uuid, answer: &KeptAnswer) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        tables.check_key(Some(answer))?;
        tables.keep(Some(answer));
        Ok(())
    }

    async fn kept_answer(&self, key: &AnswerKey) -> Result<Option<KeptAnswer>, StoreError> {
        Ok(locked(&self.0).answers.get(key).cloned())
    }

    async fn remove_answers(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        let mut removed = 0;
        locked(&self.0).answers.retain(|_, kept| {
            let expired = kept.accepted < before && removed < u64::from(at_most);
            removed += u64::from(expired);
            !expired
        });
        Ok(removed)
    }

    async fn trim_answers(&self, holder: &str, bytes: u64) -> Result<u64, StoreError> {
        let answers = &mut locked(&self.0).answers;
        let mut newest: Vec<_> = answers.values().filter(|kept| kept.key.holder == holder).cloned().collect();
        newest.sort_by_key(|kept| std::cmp::Reverse((kept.accepted, kept.request_id)));
        let mut total = 0;
        let fits = |kept: &KeptAnswer| {
            total += kept.answer.len() as u64;
            total <= bytes
        };
        let removed = newest.split_off(newest.iter().map(fits).take_while(|fits| *fits).count());
        for kept in &removed {
            answers.remove(&kept.key);
        }
        Ok(removed.len() as u64)
    }

    async fn usage(&self, dealer_code: &str, of: Usage, at_most: u64) -> Result<u64, StoreError> {
        let tables = locked(&self.0);
        let is_theirs = |index: usize| tables.ads[index].stored.ad.dealer_code == dealer_code;
        let used = match of {
            Usage::Requests => tables.queue.iter().filter(|queued| is_theirs(tables.by_id[&queued.ad])).count() as u64,
            Usage::Ads => {
                let theirs = tables.by_source.get(dealer_code).into_iter().flat_map(HashMap::values);
                theirs.filter(|index| tables.ads[**index].stored.ad.state != AdState::Deleted).count() as u64
            }
            Usage::Answers => tables.answers.keys().filter(|key| key.holder == dealer_code).count() as u64,
            Usage::ImageBytes => tables.images.get(dealer_code).map_or(0, |images| images.values().sum()),
        };
        Ok(if of == Usage::ImageBytes { used } else { used.min(at_most) })
    }

    async fn ads_by_dealer(&self, scope: Scope<'_>) -> Result<HashMap<String, u64>, StoreError> {
        let mut counts = HashMap::new();
        for AdRow { stored: StoredAd { ad, .. }, .. } in &locked(&self.0).ads {
            if ad.state != AdState::Deleted && scope.covers(&ad.dealer_code) {
                *counts.entry(ad.dealer_code.clone()).or_default() += 1;
            }
        }
        Ok(counts)
    }

    async fn add_dealer_image(&self, dealer_code: &str, checksum: &str, bytes: u64) -> Result<bool, StoreError> {
        let mut tables = locked(&self.0);
        let images = tables.images.entry(dealer_code.to_owned()).or_default();
        let is_new = !images.contains_key(checksum);
        if is_new {
            images.insert(checksum.to_owned(), bytes);
        }
        Ok(is_new)
    }

    async fn has_dealer_image(&self, dealer_code: &str, checksum: &str) -> Result<bool, StoreError> {
        Ok(locked(&self.0).images.get(dealer_code).is_some_and(|images| images.contains_key(checksum)))
    }
}

#[async_trait]
impl PhotoStore for MemoryStore {
    async fn claim_photos(
        &self,
        now: Timestamp,
        overdue: Timestamp,
        until: Timestamp,
        behind: &str,
    ) -> Result<Option<ClaimedPhotos>, StoreError> {
        let mut tables = locked(&self.0);
        let Tables { ads, queue, .. } = &mut *tables;
        let is_busy = queue.iter().any(|queued| queued.claimable <= now);
        let due = |row: &AdRow| match row.photos {
            PhotosDue::At(at) if at <= if is_busy { overdue } else { now } => Some(at),
            _ => None,
        };
        let turn = |row: &AdRow| (row.stored.ad.dealer_code.as_str() <= behind, row.stored.ad.dealer_code.clone());
        let next = ads
            .iter_mut()
            .filter_map(|row| Some((turn(row), due(row)?, row)))
            .min_by_key(|(turn, due, _)| (turn.clone(), *due));
        let Some((_, _, row)) = next else { return Ok(None) };
        row.photos = PhotosDue::At(until);
        let Ad { id, dealer_code, image_refs, .. } = row.stored.ad.clone();
        Ok(Some(ClaimedPhotos { ad: id, dealer_code, image_refs, until }))
    }

    async fn extend_photos(&self, ad: Uuid, until: Timestamp, later: Timestamp) -> Result<bool, StoreError> {
        let mut tables = locked(&self.0);
        let row = tables.row(ad).filter(|row| row.photos == PhotosDue::At(until));
        Ok(row.map(|row| row.photos = PhotosDue::At(later)).is_some())
    }

    async fn record_photos(&self, examined: ExaminedPhotos) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        let ExaminedPhotos { ad, until, found, image_refs, is_new, at } = examined;
        for (checksum, photo) in found {
            if tables.photos.get(&checksum).is_none_or(|known| known.facts().is_none()) {
                tables.photos.insert(checksum, photo);
            }
        }
        if let Some(row) = tables.row(ad).filter(|row| row.photos == PhotosDue::At(until)) {
            row.photos = PhotosDue::Never;
            if is_new {
                row.stored.ad.image_refs = image_refs;
                row.stored.ad.updated = at;
                row.stored.tag.n += 1;
            }
        }
        Ok(())
    }

    async fn photo(&self, checksum: &str) -> Result<Option<Photo>, StoreError> {
        Ok(locked(&self.0).photos.get(checksum).copied())
    }
}
