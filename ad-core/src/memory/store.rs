//! A store in memory.

use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
};

use async_trait::async_trait;
use uuid::Uuid;

use super::{filter, locked};
use crate::{
    ad::{Ad, AdState},
    list::{AdQuery, LogQuery},
    log::{LATEST, LogEntry},
    ports::{
        AdChange, Capacity, Claimed, Claims, NewAd, Outcome, Page, PageOf, Record, Revision, Scope, Store, StoreError,
        StoredAd,
    },
    request::{Market, Request},
    time::Timestamp,
};

/// A store that lasts as long as it is held. It means what every other store means: leases, fencing, orders, filters.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Tables>);

#[derive(Debug, Default)]
struct Tables {
    /// In the order of writing.
    ads: Vec<Row>,
    by_id: HashMap<Uuid, usize>,
    /// By dealer, then by source id.
    by_source: HashMap<String, HashMap<String, usize>>,
    /// Unfinished requests, in the order in which they were accepted.
    queue: Vec<Queued>,
    /// Which ad has a listing.
    ties: HashMap<(Market, String), Uuid>,
    last_lease: i64,
}

#[derive(Debug)]
struct Row {
    stored: StoredAd,
    log: Vec<LogEntry>,
}

#[derive(Debug)]
struct Queued {
    ad: Uuid,
    request: Request,
    due: Timestamp,
    lease: Option<Lease>,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    id: i64,
    until: Timestamp,
}

impl Row {
    fn latest(&self, wanted: bool) -> Vec<LogEntry> {
        let from = if wanted { self.log.len().saturating_sub(LATEST) } else { self.log.len() };
        self.log[from..].to_vec()
    }

    fn change(&mut self, change: AdChange, at: Timestamp) {
        let AdChange { state, intent, image_refs, listings, pole_position_until, leftover } = change;
        let stored = &mut self.stored;
        if state.is_some() || image_refs.is_some() || !listings.is_empty() {
            stored.ad.updated = at;
        }
        stored.ad.state = state.unwrap_or(stored.ad.state);
        stored.intent = intent.unwrap_or(stored.intent);
        if let Some(images) = image_refs {
            stored.ad.image_refs = images;
        }
        for (market, id) in listings {
            match market {
                Market::Primary => stored.ad.marketplace_ad_id = Some(id),
                Market::Secondary => stored.ad.offer_id = Some(id),
            }
        }
        stored.pole_position_until = pole_position_until.unwrap_or(stored.pole_position_until);
        if let Some(leftover) = leftover {
            stored.leftover = leftover;
        }
    }
}

impl Queued {
    fn new(ad: Uuid, request: &Request) -> Self {
        Self { ad, request: request.clone(), due: request.accepted, lease: None }
    }
}

impl Tables {
    fn row(&mut self, ad: Uuid) -> Result<&mut Row, StoreError> {
        let index = self.by_id.get(&ad).ok_or_else(|| StoreError::Faulty(format!("there is no ad {ad}")))?;
        Ok(&mut self.ads[*index])
    }

    /// Where the ad of a dealer's source id stands.
    fn of_source(&self, dealer_code: &str, source_id: &str) -> Option<usize> {
        self.by_source.get(dealer_code)?.get(source_id).copied()
    }

    /// The place in the queue of a request that is still this lease's.
    fn leased(&self, request: Uuid, lease: i64) -> Result<usize, StoreError> {
        let is_it = |queued: &Queued| queued.request.id == request && queued.lease.is_some_and(|held| held.id == lease);
        self.queue.iter().position(is_it).ok_or(StoreError::LeaseLost)
    }

    fn is_live(&self, ad: Uuid) -> bool {
        self.by_id.get(&ad).is_some_and(|index| self.ads[*index].stored.ad.state != AdState::Deleted)
    }
}

/// One page of the rows.
fn page_of<T>(mut rows: Vec<T>, page: Page, descending: bool) -> PageOf<T> {
    if descending {
        rows.reverse();
    }
    let count = rows.len() as u64;
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
    PageOf { count, rows: rows.into_iter().skip(offset).take(page.limit as usize).collect() }
}

#[async_trait]
impl Store for MemoryStore {
    async fn create(&self, new: NewAd<'_>) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        let NewAd { ad, request, entry } = new;
        if tables.of_source(&ad.dealer_code, &ad.source_id).is_some() {
            return Err(StoreError::Duplicate);
        }
        let index = tables.ads.len();
        let stored =
            StoredAd { ad: ad.clone(), revision: 0, intent: ad.state, pole_position_until: None, leftover: None };
        tables.ads.push(Row { stored, log: vec![entry.clone()] });
        tables.by_id.insert(ad.id, index);
        tables.by_source.entry(ad.dealer_code.clone()).or_default().insert(ad.source_id.clone(), index);
        tables.queue.push(Queued::new(ad.id, request));
        Ok(())
    }

    async fn revise(&self, revision: Revision<'_>) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        let stored = &mut tables.row(revision.ad)?.stored;
        if stored.revision != revision.revision {
            return Err(StoreError::Conflict);
        }
        stored.revision += 1;
        if let Some(content) = revision.content {
            stored.ad.content.clone_from(content);
        }
        if let Some((version, category_id)) = revision.version {
            stored.ad.api_version = version;
            stored.ad.category_id = category_id;
        }
        stored.intent = revision.intent.unwrap_or(stored.intent);
        stored.pole_position_until = revision.pole_position_until.or(stored.pole_position_until);
        stored.ad.updated = revision.updated;
        tables.queue.push(Queued::new(revision.ad, revision.request));
        Ok(())
    }

    async fn find(
        &self,
        scope: Scope<'_>,
        source_id: &str,
        with_log: bool,
    ) -> Result<Vec<(StoredAd, Vec<LogEntry>)>, StoreError> {
        let tables = locked(&self.0);
        let codes: Vec<&str> = match scope {
            Scope::Dealer(code) => vec![code],
            Scope::Dealers(codes) => codes.iter().map(String::as_str).collect(),
        };
        let mut found: Vec<usize> = codes.into_iter().filter_map(|code| tables.of_source(code, source_id)).collect();
        found.sort_unstable();
        let rows = found.into_iter().map(|index| &tables.ads[index]);
        Ok(rows.map(|row| (row.stored.clone(), row.latest(with_log))).collect())
    }

    async fn is_used(&self, dealer_code: &str, source_id: &str) -> Result<bool, StoreError> {
        Ok(locked(&self.0).of_source(dealer_code, source_id).is_some())
    }

    async fn list(&self, scope: Scope<'_>, query: &AdQuery) -> Result<PageOf<(Ad, Vec<LogEntry>)>, StoreError> {
        let tables = locked(&self.0);
        let asked_for = |row: &&Row| {
            let ad = &row.stored.ad;
            scope.covers(&ad.dealer_code) && query.filters.iter().all(|wanted| filter::passes(ad, wanted))
        };
        let mut rows: Vec<&Row> = tables.ads.iter().filter(asked_for).collect();
        // Stable: what is equal stays in the order of writing.
        rows.sort_by(|one, other| filter::compare(query.order, &one.stored.ad, &other.stored.ad));
        let PageOf { count, rows } = page_of(rows, query.page, query.descending);
        let rows = rows.into_iter().map(|row| (row.stored.ad.clone(), row.latest(query.include_log))).collect();
        Ok(PageOf { count, rows })
    }

    async fn log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError> {
        let mut tables = locked(&self.0);
        let entries = tables.row(ad)?.log.iter().filter(|entry| filter::is_asked_for(entry, query)).cloned();
        Ok(page_of(entries.collect(), query.page, query.descending))
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
            let is_oldest = seen.insert(queued.ad);
            if !is_oldest {
                continue;
            }
            // Whichever is later: its time, or the end of the lease that somebody has on it.
            let due = queued.lease.map_or(queued.due, |lease| lease.until.max(queued.due));
            if due > now {
                claims.next_due = Some(claims.next_due.map_or(due, |earlier| earlier.min(due)));
                continue;
            }
            let stored = &ads[by_id[&queued.ad]].stored;
            let dealer = &stored.ad.dealer_code;
            let of_dealer = taken.entry(dealer).or_default();
            if claims.claimed.len() < capacity.limit
                && *of_dealer < capacity.per_dealer
                && !capacity.full.contains(dealer)
            {
                *of_dealer += 1;
                *last_lease += 1;
                queued.lease = Some(Lease { id: *last_lease, until: lease_until });
                let (request, stored) = (queued.request.clone(), stored.clone());
                claims.claimed.push(Claimed { lease: *last_lease, request, stored });
            }
        }
        Ok(claims)
    }

    async fn release(&self, now: Timestamp, after: Timestamp) -> Result<(), StoreError> {
        for queued in &mut locked(&self.0).queue {
            if queued.due > after {
                queued.due = now;
            }
            queued.lease = queued.lease.filter(|lease| lease.until <= after);
        }
        Ok(())
    }

    async fn extend(&self, request: Uuid, lease: i64, until: Timestamp) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        let place = tables.leased(request, lease)?;
        tables.queue[place].lease = Some(Lease { id: lease, until });
        Ok(())
    }

    async fn record(&self, record: Record) -> Result<(), StoreError> {
        let mut tables = locked(&self.0);
        let place = tables.leased(record.request, record.lease)?;
        for (market, id) in &record.change.listings {
            tables.ties.insert((*market, id.clone()), record.ad);
        }
        let row = tables.row(record.ad)?;
        row.log.extend(record.entries);
        row.change(record.change, record.at);
        let queued = &mut tables.queue[place];
        match record.outcome {
            Outcome::Goes { progress } => queued.request.progress = progress,
            Outcome::Waits { progress, until } => {
                queued.request.progress = progress;
                queued.due = until;
                queued.lease = None;
            }
            Outcome::Finished => {
                tables.queue.remove(place);
            }
        }
        Ok(())
    }

    async fn tie(&self, ad: Uuid, market: Market, listing: &str) -> Result<bool, StoreError> {
        let mut tables = locked(&self.0);
        let key = (market, listing.to_owned());
        let taken = tables.ties.get(&key).is_some_and(|owner| *owner != ad && tables.is_live(*owner));
        if !taken {
            tables.ties.insert(key, ad);
        }
        Ok(!taken)
    }

    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn is_live(&self, ad: Uuid) -> Result<bool, StoreError> {
        Ok(locked(&self.0).is_live(ad))
    }
}
