//! Implements `ad_core::ports::Store` with SQL statements.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use ad_core::{
    categories,
    model::{
        Ad, AdQuery, Amount, Content, ContentChange, Creation, EarlierPrices, EventPage, EventPosition, EventQuery,
        LogEntry, LogQuery, Market, MarketplaceCall, NEAR_COLOR, Page, PhotoFacts, Plan, RecordedChange, SameVehicle,
        StatusCount, StoredRequest, Timestamp, Via,
    },
    ports::{
        AccountStore, AnswerKey, Begin, Capacity, Claims, EventWatch, KeptAnswer, ListedAd, LogEntries, NewAd, Outcome,
        PAGE_BYTES, PageOf, PhotoQuery, Record, Revision, Scope, StatusFacts, Store, StoreError, StoredAd, TagOfAd,
        Usage, VehicleQuery,
    },
    quality,
    revisions::checksum,
    status,
};
use async_trait::async_trait;
use tokio::sync::Notify;
use uuid::Uuid;

use super::{
    Columns, Database, Statement,
    accounts::AccountLocks,
    answer::AnswerColumns,
    database::answered,
    lists::{self, codes, dealer_to_charge, numbers},
    photos,
    queue::{record_statement, stored_request},
    rows::{content_text, folded, json, search_text},
    sql::{
        ads as sql,
        answers::{self as answers_sql, AnswerValues},
        erase as erase_sql, queue as queue_sql,
    },
    statement::Dialect,
};

/// Most kept answers that are found in one read to be removed.
const TRIMMED: u32 = 10_000;

/// Number of them that one transaction removes.
const TRIMMED_AT_ONCE: usize = 500;

/// The store in a database. Clones share everything.
#[derive(Debug, Clone)]
pub struct DatabaseStore {
    database: Database,
    /// The dealer after which the next claim begins.
    turn: Arc<Mutex<String>>,
    accounts: Arc<AccountLocks>,
}

impl DatabaseStore {
    /// The store in this database. From now on it indexes texts and words in the background, for as long as the database is open, also
    /// those that a process left unindexed when it ended.
    pub fn new(database: Database) -> Self {
        database.index_texts();
        database.keep_words_indexed();
        Self { database, turn: Arc::default(), accounts: Arc::default() }
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    /// Notified when a request becomes claimable. Writes of other processes notify it in PostgreSQL only, and not reliably: poll
    /// as well.
    pub fn queued(&self) -> Arc<Notify> {
        self.database.queued()
    }

    /// Runs a write, and returns whether it was done.
    async fn run(&self, write: Statement, answer: Option<&KeptAnswer>) -> Result<bool, StoreError> {
        match self.database.run(write).await {
            Ok(ran) if ran.changed > 0 => Ok(true),
            // Another request has used the key, or uses it at the same moment.
            done => match self.key_used(answer).await? {
                Some(used) => Err(used),
                None => done.map(|_| false),
            },
        }
    }

    /// The error about the key of an answer, if another answer is kept under it.
    async fn key_used(&self, answer: Option<&KeptAnswer>) -> Result<Option<StoreError>, StoreError> {
        let Some(answer) = answer else { return Ok(None) };
        Ok(self.kept_answer(&answer.key).await?.map(|kept| StoreError::KeyUsed(Box::new(kept))))
    }

    /// Why an ad was not revised.
    async fn not_revised(&self, change: &Revision<'_>) -> Result<StoreError, StoreError> {
        if change.coalesces
            && let Some(request) = self.find_unfinished(change.ad, change.request.plan.as_ref()).await?
        {
            return Ok(StoreError::Underway(request));
        }
        if let Some(wanted) = change.reservation {
            let charges = self.monthly_charges(change.dealer_code, wanted.month, &wanted.currency).await?;
            if let Some(left) = charges.left(wanted.budget).filter(|left| wanted.total() > *left) {
                return Ok(StoreError::BudgetExceeded(left));
            }
        }
        let statement = sql::UnfinishedOfRevision { id: change.ad, revision: change.revision };
        let rows = self.database.read(statement).await?;
        let unfinished: Option<u32> = Columns::first(&rows)?;
        // If some have finished meanwhile, the next attempt succeeds.
        let full = unfinished.filter(|unfinished| *unfinished >= change.most_unfinished());
        Ok(full.map_or(StoreError::Conflict, StoreError::QueueFull))
    }
}

fn creation(NewAd { ad, request, entry, answer }: &NewAd<'_>) -> Result<Statement, StoreError> {
    let registration_number = ad.content.registration_number();
    let words = status::accepted(ad);
    let content = content_text(&ad.content)?;
    let statement = sql::CreateAd {
        id: ad.id,
        source_id: &ad.source_id,
        source_id_folded: folded(&ad.source_id),
        dealer_code: &ad.dealer_code,
        category_id: ad.category_id,
        state: ad.state.name(),
        api_version: ad.api_version.name(),
        created: ad.created,
        updated: ad.updated,
        registration_number: registration_number.as_deref(),
        vin: ad.content.vin(),
        marketplace_ad_id: ad.marketplace_ad_id.as_deref(),
        offer_id: ad.offer_id.as_deref(),
        ad_status: words.status.name(),
        ad_channels: words.channels(),
        quality_score: quality::score(ad, &[]),
        image_refs: json(&ad.image_refs)?,
        first_checksum: checksum(&content),
        content,
        search: search_text(&ad.content),
        entry_request: entry.request_id,
        entry_created: entry.created,
        entry_action: entry.action.name(),
        entry_state: entry.state.name(),
        entry_message: json(&entry.external_message)?,
        request: request.id,
        plan: request.plan.as_ref().map(json).transpose()?,
        plan_id: request.progress.origin.plan_id.map(|id| id.to_string()),
        progress: json(&request.progress)?,
        accepted: request.accepted,
        keep: AnswerValues::of(*answer)?,
    };
    Ok(Statement::from(statement).for_client_of(&ad.dealer_code))
}

pub(super) fn revision(revision: &Revision<'_>) -> Result<Statement, StoreError> {
    let content = revision.content.map(content_text).transpose()?;
    let replaced = revision.replaced.as_ref();
    let version = replaced.and_then(|replaced| replaced.version);
    let origin = &revision.request.progress.origin;
    let registration_number = revision.content.and_then(Content::registration_number);
    let reservation = revision.reservation;
    let statement = sql::ReviseAd {
        id: revision.ad,
        revision: revision.revision,
        difference: replaced.map(|replaced| replaced.difference.clone()),
        replaced: replaced.map_or(0, |replaced| replaced.revision),
        version_before: version.map(|(version, _)| version),
        category_before: version.map(|(_, category)| category),
        checksum: replaced.and(content.as_deref()).map_or(0, checksum),
        asked_by: origin.asked_by.as_deref(),
        via: origin.via.map(Via::name),
        charges: reservation.map(|it| json(&it.markets)).transpose()?,
        charge_kind: reservation.map(|it| it.kind.name()),
        price: reservation.map_or(0, |it| it.price.hundredths()),
        total: reservation.map(|it| it.total().hundredths()),
        currency: reservation.map(|it| it.currency.as_str()),
        month: reservation.map(|it| it.month.to_string()),
        budget: reservation.and_then(|it| it.budget).map(Amount::hundredths),
        content,
        quality_score: revision.quality_score,
        search: revision.content.map(search_text),
        registration_number: registration_number.as_deref(),
        vin: revision.content.and_then(Content::vin),
        price_before: revision.price_before.as_ref().map(json).transpose()?,
        api_version: revision.version.map(|(version, _)| version),
        category_id: revision.version.map(|(_, category)| category),
        intent: revision.intent,
        pole_position_until: revision.pole_position_until,
        ad_status: revision.words.status.name(),
        ad_channels: revision.words.channels(),
        updated: revision.updated,
        most_unfinished: revision.most_unfinished(),
        coalesces: revision.coalesces,
        request: revision.request.id,
        plan: revision.request.plan.as_ref().map(json).transpose()?,
        plan_id: origin.plan_id.map(|id| id.to_string()),
        progress: json(&revision.request.progress)?,
        accepted: revision.request.accepted,
        keep: AnswerValues::of(revision.answer)?,
    };
    Ok(Statement::from(statement).for_client_of(revision.dealer_code))
}

#[async_trait]
impl Store for DatabaseStore {
    async fn create(&self, new: NewAd<'_>) -> Result<(), StoreError> {
        if !self.run(creation(&new)?, new.answer).await? {
            return Err(StoreError::Duplicate);
        }
        self.database.index_texts();
        self.database.wake();
        self.database.logged();
        Ok(())
    }

    async fn revise(&self, change: Revision<'_>) -> Result<(), StoreError> {
        // SQLite has one writer, which commits many writes at once.
        let waits =
            change.reservation.is_some_and(|it| it.budget.is_some()) && self.database.dialect() == Dialect::Postgres;
        let run = self.run(revision(&change)?, change.answer);
        let is_revised = if waits {
            let in_turn = async {
                let _lock = self.accounts.of(change.dealer_code).await;
                run.await
            };
            answered(in_turn).await?
        } else {
            run.await?
        };
        if !is_revised {
            return Err(self.not_revised(&change).await?);
        }
        if change.content.is_some() {
            self.database.index_texts();
        }
        self.database.wake();
        Ok(())
    }

    async fn find(
        &self,
        scope: Scope<'_>,
        source_id: &str,
        log: LogEntries,
    ) -> Result<Vec<(StoredAd, Vec<LogEntry>)>, StoreError> {
        let columns = if log == LogEntries::Latest { &lists::AD_WITH_LOG } else { &lists::AD };
        self.database.find(columns, scope, source_id).await
    }

    async fn tags(&self, scope: Scope<'_>, source_id: &str) -> Result<Vec<TagOfAd>, StoreError> {
        self.database.find(&lists::TAG_OF_AD, scope, source_id).await
    }

    async fn request(&self, scope: Scope<'_>, id: Uuid) -> Result<Option<StoredRequest>, StoreError> {
        let statement = Statement::from(queue_sql::FindRequest { id }).for_client_of(dealer_to_charge(scope));
        let found = stored_request(id, &self.database.look_up(statement).await?)?;
        Ok(found.filter(|request| scope.covers(&request.dealer_code)))
    }

    async fn is_used(&self, dealer_code: &str, source_id: &str) -> Result<bool, StoreError> {
        let statement = Statement::from(sql::IsSourceIdUsed { dealer_code, source_id });
        Columns::read_bool(&self.database.look_up(statement.for_client_of(dealer_code)).await?)
    }

    async fn list(&self, scope: Scope<'_>, query: &AdQuery) -> Result<PageOf<ListedAd>, StoreError> {
        let dialect = self.database.dialect();
        let list = match self.database.found_few(scope, query).await? {
            Some(found) => lists::list_few(dialect, scope, query, found),
            None => lists::list(dialect, scope, query),
        };
        self.database.page(list).await
    }

    async fn facts(&self, scope: Scope<'_>, source_id: &str) -> Result<Vec<StatusFacts>, StoreError> {
        self.database.find(&lists::AD_WITH_UNFINISHED, scope, source_id).await
    }

    async fn earlier_prices(
        &self,
        scope: Scope<'_>,
        source_id: &str,
    ) -> Result<Vec<(Ad, Vec<EarlierPrices>)>, StoreError> {
        let ads: Vec<(StoredAd, _)> = self.database.find(&lists::AD_WITH_PRICES, scope, source_id).await?;
        Ok(ads.into_iter().map(|(stored, earlier)| (stored.ad, earlier)).collect())
    }

    async fn same_vehicle(&self, query: VehicleQuery<'_>) -> Result<SameVehicle, StoreError> {
        let VehicleQuery { dealer_code, plate, vin, source_id } = query;
        let with_plates = categories::all().filter(|category| category.is_found_by_plate());
        let plate_categories = numbers(with_plates.map(|category| category.id));
        let statement = Statement::from(sql::SameVehicle { dealer_code, source_id, plate, plate_categories, vin });
        let rows = self.database.look_up(statement.for_client_of(dealer_code)).await?;
        let (plate, vin) = Columns::first(&rows)?.unwrap_or_default();
        Ok(SameVehicle { plate, vin })
    }

    async fn same_photos(&self, query: PhotoQuery<'_>) -> Result<BTreeMap<usize, String>, StoreError> {
        let PhotoQuery { dealer_code, source_id, photos } = query;
        let near = |(place, photo): (usize, &PhotoFacts)| {
            let color = photos::color(photo);
            photo.near_hashes().map(move |hash| (place, photos::stored(hash), color))
        };
        let wanted = json(&photos.iter().enumerate().flat_map(near).collect::<Vec<_>>())?;
        let statement = Statement::from(sql::SamePhotos { dealer_code, source_id, wanted, near_color: NEAR_COLOR });
        let rows = self.database.look_up(statement.for_client_of(dealer_code)).await?;
        Ok(Columns::all(&rows)?.into_iter().collect())
    }

    async fn count_by_status(&self, scope: Scope<'_>) -> Result<Vec<StatusCount>, StoreError> {
        self.database.count_by_status(scope).await
    }

    async fn log(&self, ad: Uuid, query: &LogQuery) -> Result<PageOf<LogEntry>, StoreError> {
        self.database.page(lists::log(self.database.dialect(), ad, query)).await
    }

    async fn changes(&self, ad: Uuid) -> Result<HashMap<Uuid, ContentChange>, StoreError> {
        let rows = self.database.look_up(sql::ChangesOfAd { id: ad }).await?;
        Ok(Columns::all(&rows)?.into_iter().collect())
    }

    async fn recorded(&self, ad: Uuid, up_to: i64) -> Result<Vec<RecordedChange>, StoreError> {
        let rows = self.database.look_up(sql::ChangesUpTo { id: ad, up_to, most_bytes: PAGE_BYTES }).await?;
        Columns::all(&rows)
    }

    async fn creation(&self, ad: Uuid) -> Result<Option<Creation>, StoreError> {
        Columns::first(&self.database.look_up(sql::CreationOf { id: ad }).await?)
    }

    async fn calls(&self, ad: Uuid, page: Page) -> Result<PageOf<MarketplaceCall>, StoreError> {
        self.database.page(sql::CallsOfAd { id: ad, limit: page.limit, offset: page.offset }.into()).await
    }

    async fn events(&self, scope: Scope<'_>, query: &EventQuery) -> Result<EventPage, StoreError> {
        self.database.list_events(scope, query).await
    }

    fn epoch(&self) -> i64 {
        self.database.epochs().current()
    }

    fn has_lost(&self, position: EventPosition) -> bool {
        self.database.epochs().has_lost(position)
    }

    async fn newest_event(&self) -> Result<EventPosition, StoreError> {
        self.database.newest_event().await
    }

    fn watch_events(&self, scope: Scope<'_>) -> EventWatch {
        self.database.watch_events(scope)
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        capacity: Capacity<'_>,
    ) -> Result<Claims, StoreError> {
        let nothing: Begin = Arc::new(|claimed| (claimed, None));
        self.claim_and_begin(now, lease_until, capacity, nothing).await
    }

    async fn claim_and_begin(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        capacity: Capacity<'_>,
        begin: Begin,
    ) -> Result<Claims, StoreError> {
        self.database.claim_due(&self.turn, (now, lease_until), capacity, &begin).await
    }

    async fn release(&self, now: Timestamp, after: Timestamp) -> Result<(), StoreError> {
        self.database.run(queue_sql::ReleaseAfter { now, after }).await.map(drop)
    }

    async fn release_left(&self, now: Timestamp) -> Result<(), StoreError> {
        self.database.release_left(now).await
    }

    async fn extend(&self, request: Uuid, lease: i64, until: Timestamp) -> Result<(), StoreError> {
        let statement = queue_sql::ExtendLease { id: request, lease, until };
        if self.database.run(statement).await?.changed == 0 { Err(StoreError::LeaseLost) } else { Ok(()) }
    }

    async fn hold_image(
        &self,
        checksum: &str,
        request: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(self.database.run(erase_sql::HoldImage { checksum, request, now, until }).await?.changed > 0)
    }

    async fn record(&self, record: Record) -> Result<(), StoreError> {
        let ran = self.database.run(record_statement(&record)?).await?;
        if ran.changed == 0 {
            return Err(StoreError::LeaseLost);
        }
        if record.outcome == Outcome::Finished {
            self.database.finished(record.request);
        }
        if !record.entries.is_empty() {
            self.database.logged();
        }
        for next in Columns::all::<Option<i64>>(&ran.rows)? {
            if next.is_some() {
                self.database.wake();
            }
        }
        Ok(())
    }

    async fn link_listing(&self, ad: Uuid, market: Market, listing: &str) -> Result<bool, StoreError> {
        let statement = sql::TieListing { id: ad, market: market.name(), listing };
        Ok(self.database.run(statement).await?.changed > 0)
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.database.queue_depth().await?;
        if self.database.waiting_commits().await? > 0 {
            return Err(StoreError::Unavailable("commits wait for a synchronous standby that does not answer".into()));
        }
        // If a write transaction can begin, writes work, unless the disk is full.
        self.database.run(sql::WriteNothing {}).await.map(drop)
    }

    async fn is_live(&self, ad: Uuid) -> Result<bool, StoreError> {
        Columns::read_bool(&self.database.read(sql::IsLive { id: ad }).await?)
    }

    async fn has_unfinished(&self, ad: Uuid) -> Result<bool, StoreError> {
        Columns::read_bool(&self.database.look_up(sql::HasUnfinished { id: ad }).await?)
    }

    async fn find_unfinished(&self, ad: Uuid, plan: Option<&Plan>) -> Result<Option<Uuid>, StoreError> {
        let statement = queue_sql::Underway { id: ad, plan: plan.map(json).transpose()? };
        Columns::first(&self.database.look_up(statement).await?)
    }

    async fn wait_until_finished(&self, request: Uuid) -> Result<(), StoreError> {
        self.database.wait_for(request).await
    }

    async fn keep_answer(&self, ad: Uuid, answer: &KeptAnswer) -> Result<(), StoreError> {
        let keep = answers_sql::KeepAnswer { ad, keep: AnswerValues::of(Some(answer))? };
        self.run(Statement::from(keep).for_client_of(&answer.key.holder), Some(answer)).await.map(drop)
    }

    async fn kept_answer(&self, key: &AnswerKey) -> Result<Option<KeptAnswer>, StoreError> {
        let find = answers_sql::FindAnswer { holder: &key.holder, digest: &key.digest };
        let rows = self.database.look_up(Statement::from(find).for_client_of(&key.holder)).await?;
        let kept = |row| {
            let mut columns = Columns::of(row);
            let (fingerprint, request_id, accepted) = (columns.string()?, columns.id()?, columns.time()?);
            let (status, headers, body) = (columns.number()?, columns.string()?, columns.string()?);
            let answer = AnswerColumns { status, headers: &headers, body: &body }.to_string();
            Ok(KeptAnswer { key: key.clone(), fingerprint, request_id, accepted, answer })
        };
        rows.first().map(kept).transpose()
    }

    async fn remove_answers(&self, before: Timestamp, at_most: u32) -> Result<u64, StoreError> {
        self.database.remove_answers(before, at_most).await
    }

    async fn trim_answers(&self, holder: &str, bytes: u64) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let oldest = answers_sql::AnswersBeyond { holder, bytes, at_most: TRIMMED };
            let digests: Vec<String> = Columns::all(&self.database.read(oldest).await?)?;
            for some in digests.chunks(TRIMMED_AT_ONCE) {
                let remove = answers_sql::RemoveAnswersOfHolder { holder, digests: some.to_vec() };
                removed += self.database.run(remove).await?.changed;
            }
            if digests.len() < TRIMMED as usize {
                return Ok(removed);
            }
        }
    }

    async fn usage(&self, dealer_code: &str, of: Usage, at_most: u64) -> Result<u64, StoreError> {
        let statement = match of {
            Usage::Requests => sql::RequestsOfDealer { dealer_code, at_most }.into(),
            Usage::Ads => sql::AdsOfDealer { dealer_code, at_most }.into(),
            Usage::Answers => answers_sql::AnswersOfHolder { holder: dealer_code, at_most }.into(),
            Usage::ImageBytes => Statement::from(sql::ImageBytesOfDealer { dealer_code }),
        };
        self.database.read_number(statement).await
    }

    async fn ads_by_dealer(&self, scope: Scope<'_>) -> Result<HashMap<String, u64>, StoreError> {
        let dealer_codes = codes(scope);
        let mut counts = HashMap::with_capacity(dealer_codes.len());
        self.database.list(sql::AdsByDealer { dealer_codes }.into(), |count| counts.extend([count])).await?;
        Ok(counts)
    }

    async fn add_dealer_image(&self, dealer_code: &str, checksum: &str, bytes: u64) -> Result<bool, StoreError> {
        Ok(self.database.run(sql::AddDealerImage { dealer_code, checksum, bytes }).await?.changed > 0)
    }

    async fn has_dealer_image(&self, dealer_code: &str, checksum: &str) -> Result<bool, StoreError> {
        Columns::read_bool(&self.database.read(sql::HasDealerImage { dealer_code, checksum }).await?)
    }
}
