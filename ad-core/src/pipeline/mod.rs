//! What a worker does with one accepted request, action by action (decisions 21 to 27).
//!
//! Each action is logged as `processing`, executed, and then logged as `done` or `error` in one commit with its changes of the
//! ad. The `done` of one action and the `processing` of the next share a commit. After a crash at any moment the request is
//! claimed again and continues from its [`Progress`]: no entry is logged twice, and calls of marketplaces repeat their
//! idempotency keys.

mod markets;
mod media;
mod policy;
mod retry;
mod slots;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;

use crate::{
    categories::Category,
    lock::locked,
    model::{
        Action, ActionState, AdState, ChannelFailure, ContentChange, ContentScore, Leftover, LogEntry, Market,
        MarketplaceCall, Plan, Progress, PromotionKind, Publication, Timestamp,
    },
    ports::{
        AdChange, Begin, Claimed, Clock, Ids, ImageFetcher, Marketplace, MediaStore, Outcome, Record, Store,
        StoreError, StoredAd,
    },
    quality,
    quotas::Quotas,
    status::{self, OldestRequest},
    violation::Code,
};
pub use policy::RetryPolicy;
pub use slots::{DealerSlots, SlotKeeper};

/// How often a pipeline retries, and how long its leases are.
#[derive(Debug, Clone, Copy)]
pub struct PipelineSettings {
    /// Retries of failed requests to image hosts.
    pub images: RetryPolicy,
    /// Retries of failed calls of marketplaces.
    pub marketplaces: RetryPolicy,
    /// How long a claimed request belongs to one worker, unless the worker extends the lease.
    pub lease: Duration,
}

impl Default for PipelineSettings {
    /// Images 5 tries within a minute, marketplaces 10 tries within an hour (decision 27).
    fn default() -> Self {
        Self {
            images: RetryPolicy::for_window(5, Duration::from_mins(1)),
            marketplaces: RetryPolicy::for_window(10, Duration::from_hours(1)),
            lease: Duration::from_secs(10),
        }
    }
}

/// The ports that a pipeline uses.
#[derive(Clone, derive_more::Debug)]
#[debug("PipelinePorts {{ .. }}")]
pub struct PipelinePorts {
    /// Claims and records requests; has ads and logs.
    pub store: Arc<dyn Store>,
    /// Fetches images from clients' addresses.
    pub fetcher: Arc<dyn ImageFetcher>,
    /// Stores the fetched images, and returns the addresses at which they are served.
    pub media: Arc<dyn MediaStore>,
    /// Where all ads are published.
    pub primary: Arc<dyn Marketplace>,
    /// Where ads of registered vehicles are published too.
    pub secondary: Arc<dyn Marketplace>,
    /// Time of log entries and retries.
    pub clock: Arc<dyn Clock>,
    /// Generates the ids of stored images.
    pub ids: Arc<dyn Ids>,
}

/// What a worker does, over its ports.
#[derive(Debug, Clone)]
pub struct Pipeline {
    ports: PipelinePorts,
    settings: PipelineSettings,
    quotas: Option<Arc<Quotas>>,
    slots: Option<DealerSlots>,
}

impl Pipeline {
    /// A pipeline over these ports, with the usual settings and without quotas and slots.
    pub fn new(ports: PipelinePorts) -> Self {
        Self { ports, settings: PipelineSettings::default(), quotas: None, slots: None }
    }

    /// The same, with other settings.
    #[must_use]
    pub fn with_settings(self, settings: PipelineSettings) -> Self {
        Self { settings, ..self }
    }

    /// The same, holding dealers to quotas of stored images.
    #[must_use]
    pub fn with_quotas(self, quotas: Arc<Quotas>) -> Self {
        Self { quotas: Some(quotas), ..self }
    }

    /// The same, publishing only as many ads of a dealer as it has slots.
    #[must_use]
    pub fn with_slots(self, slots: DealerSlots) -> Self {
        Self { slots: Some(slots), ..self }
    }

    /// The ports that the pipeline was built with.
    pub fn ports(&self) -> &PipelinePorts {
        &self.ports
    }

    /// The settings that the pipeline was built with.
    pub fn settings(&self) -> &PipelineSettings {
        &self.settings
    }

    /// Claims and runs what is due, one request after the other, until nothing is; returns how many it ran. For embedding
    /// without a worker of its own, and for tests.
    ///
    /// # Errors
    /// When the store fails; requests that were claimed are claimed again when their leases end.
    pub async fn run_due(&self) -> Result<usize, StoreError> {
        let mut ran = 0;
        let begin: Begin = Arc::new({
            let pipeline = self.clone();
            move |claimed| pipeline.begin(claimed)
        });
        loop {
            let now = self.ports.clock.now();
            let (until, begin) = (now + self.settings.lease, Arc::clone(&begin));
            let claims = self.ports.store.claim_and_begin(now, until, 16.into(), begin).await?;
            if claims.claimed.is_empty() {
                return Ok(ran);
            }
            for claimed in claims.claimed {
                self.run(claimed).await?;
                ran += 1;
            }
        }
    }

    /// Begins a request that is being claimed: ends the actions that only log, and begins the next, as [`run`](Self::run) would, so
    /// that the commit of the claim has it. Does nothing else.
    pub fn begin(&self, claimed: Claimed) -> (Claimed, Option<Record>) {
        if self.may_begin(&claimed) { RequestRun::new(self, claimed).begin_first() } else { (claimed, None) }
    }

    /// Whether nothing of a request was done, and it is known without asking others what is to be done first with them.
    fn may_begin(&self, claimed: &Claimed) -> bool {
        let Claimed { request, stored, .. } = claimed;
        let is_new = request.progress.ended == 0 && !request.progress.begun;
        let next = request.plan.as_ref().and_then(|plan| plan.actions.iter().find(|action| !only_logs(**action)));
        let is_certain = match next {
            None => false,
            Some(Action::Publish) => stored.ad.content.visible() && !self.has_slots(&stored.ad.dealer_code),
            Some(_) => true,
        };
        is_new && is_certain
    }

    /// Runs a claimed request until it is finished or waits for a retry.
    ///
    /// # Errors
    /// When the store fails, or the lease was lost; the request is then claimed again.
    pub async fn run(&self, claimed: Claimed) -> Result<(), StoreError> {
        RequestRun::new(self, claimed).finish().await
    }

    /// Finishes a claimed request without its remaining actions: the current action ends in an error that says why, and a retry
    /// can do what is left undone.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn give_up(&self, claimed: Claimed, why: &str) -> Result<(), StoreError> {
        RequestRun::new(self, claimed).give_up(why).await
    }

    fn market(&self, market: Market) -> &dyn Marketplace {
        match market {
            Market::Primary => &*self.ports.primary,
            Market::Secondary => &*self.ports.secondary,
        }
    }
}

/// Whether an action is done by saying so in the log.
fn only_logs(action: Action) -> bool {
    matches!(action, Action::Create | Action::Update)
}

/// How an action ended, or that it waits for another attempt.
enum ActionEnd {
    Done(Value),
    Failed(Code, Value),
    Waits(Timestamp),
}

/// A running request, with what is not committed yet.
struct RequestRun<'a> {
    pipeline: &'a Pipeline,
    /// When this worker started it.
    since: Timestamp,
    claimed: Claimed,
    plan: Plan,
    progress: Progress,
    entries: Vec<LogEntry>,
    /// What the request has changed, from the first entry on until the commit.
    changes: Option<ContentChange>,
    change: AdChange,
    publication: Option<Publication>,
    /// Calls of marketplaces, which are made concurrently.
    calls: Mutex<Vec<MarketplaceCall>>,
    /// The marketplaces that have confirmed the promotion of the plan.
    confirmed: Vec<Market>,
}

impl<'a> RequestRun<'a> {
    fn new(pipeline: &'a Pipeline, mut claimed: Claimed) -> Self {
        let since = pipeline.ports.clock.now();
        let mut progress = std::mem::take(&mut claimed.request.progress);
        progress.resume(since);
        let is_retry = claimed.request.plan.is_none();
        if let Some(paid) = &progress.paid {
            claimed.stored.leftover.promotion = claimed.stored.leftover.paid_promotion(paid);
        }
        let plan = claimed.request.plan.clone().or_else(|| progress.plan.clone()).unwrap_or_else(|| {
            let ad = &claimed.stored.ad;
            let plan = claimed.stored.leftover.plan(ad, ad.category().map_or_else(Vec::new, Category::markets));
            // Its actions change the leftover, so the plan is decided only once.
            progress = Progress {
                plan: Some(plan.clone()),
                origin: std::mem::take(&mut progress.origin),
                paid: progress.paid.take(),
                ..Progress::default()
            };
            plan
        });
        let mut run = Self {
            pipeline,
            since,
            claimed,
            plan,
            progress,
            entries: Vec::new(),
            changes: None,
            change: AdChange::default(),
            publication: None,
            calls: Mutex::default(),
            confirmed: Vec::new(),
        };
        if !is_retry {
            run.update_leftover(|left| left.promotion = None);
        }
        run
    }

    /// Whether it is a retry, which does what earlier requests left undone.
    fn is_retry(&self) -> bool {
        self.claimed.request.plan.is_none()
    }

    /// The marketplaces of an action of the plan.
    fn markets(&self, action: Action) -> Vec<Market> {
        let promotion = self.claimed.stored.leftover.promotion.as_ref().filter(|_| self.is_retry());
        let plan = match (action, promotion) {
            (Action::Bump | Action::Boost, Some(promotion)) => promotion,
            _ => &self.plan,
        };
        plan.markets.clone()
    }

    /// Changes the leftover, which is committed with the end of the current action.
    fn update_leftover(&mut self, change: impl FnOnce(&mut Leftover)) {
        let mut leftover = self.claimed.stored.leftover.clone();
        change(&mut leftover);
        if leftover != self.claimed.stored.leftover {
            self.claimed.stored.leftover = leftover.clone();
            self.change.leftover = Some(leftover);
        }
    }

    /// Changes what is recorded about marketplaces and images, likewise.
    fn publication(&mut self) -> &mut Publication {
        self.publication.get_or_insert_with(|| self.claimed.stored.publication.clone())
    }

    async fn finish(mut self) -> Result<(), StoreError> {
        while let Some(action) = self.plan.actions.get(self.progress.ended).copied() {
            if self.is_superseded(action) {
                if self.plan.actions == [Action::Publish] {
                    self.log_nothing_to_do();
                }
                self.progress.end();
                continue;
            }
            let is_begun = self.progress.begun;
            if !is_begun {
                self.begin(action);
            }
            let resumed = is_begun && !std::mem::take(&mut self.claimed.is_fresh);
            let ended = match action {
                Action::Create | Action::Update => ActionEnd::Done(self.written(action)),
                Action::HandleMedia => self.handle_media().await?,
                Action::Publish if self.is_held_back() => {
                    let why = "Not published: images failed, and dont_publish_on_failed_images is set";
                    ActionEnd::Failed(Code::HeldByImages, why.into())
                }
                Action::Publish => match if resumed { None } else { self.missing_slot().await? } {
                    Some(why) => ActionEnd::Failed(Code::SlotsExceeded, why.into()),
                    None => self.run_on_marketplaces(action, "Ad published").await?,
                },
                Action::Unpublish => self.run_on_marketplaces(action, "Ad unpublished").await?,
                Action::Delete => self.delete().await?,
                Action::Bump => self.run_on_marketplaces(action, "Ad bumped").await?,
                Action::Boost => self.boost().await?,
            };
            match ended {
                ActionEnd::Done(message) => self.done(action, message),
                ActionEnd::Failed(code, message) => self.record_failure(action, code, message),
                ActionEnd::Waits(until) => {
                    let progress = Progress { due: Some(until), ..std::mem::take(&mut self.progress) };
                    return self.commit(Outcome::Waits { progress, until }).await;
                }
            }
        }
        self.commit(Outcome::Finished).await
    }

    /// Ends the actions that only log, and begins the next.
    fn begin_first(mut self) -> (Claimed, Option<Record>) {
        while let Some(action) = self.plan.actions.get(self.progress.ended).copied() {
            self.begin(action);
            if !only_logs(action) {
                break;
            }
            let message = self.written(action);
            self.done(action, message);
        }
        let progress = self.progress.clone();
        let record = self.record(Outcome::Continues { progress });
        let mut claimed = self.claimed;
        claimed.request.progress = self.progress;
        claimed.is_fresh = true;
        (claimed, Some(record))
    }

    /// Does an action that [only logs](only_logs), and returns what it says then. An update revives a deleted ad.
    fn written(&mut self, action: Action) -> Value {
        if action == Action::Create {
            return "Ad created".into();
        }
        if self.claimed.stored.ad.state == AdState::Deleted {
            self.change.state = Some(AdState::Created);
        }
        "Ad updated".into()
    }

    async fn give_up(mut self, why: &str) -> Result<(), StoreError> {
        if let Some(action) = self.plan.actions.get(self.progress.ended).copied() {
            if !self.progress.begun {
                self.begin(action);
            }
            match action {
                Action::Delete => {
                    self.log_failure(Action::Unpublish, Code::GivenUp, why.into());
                    self.change.intent = Some(AdState::Created);
                }
                Action::Boost => self.change.pole_position_until = Some(None),
                _ => {}
            }
            self.record_failure(action, Code::GivenUp, why.into());
            // The actions after it have not started, and so no entry says that they failed.
            for place in self.progress.ended..self.plan.actions.len() {
                let action = self.plan.actions[place];
                let markets = self.markets(action);
                self.update_leftover(|left| left.end(action, &markets, &[], true));
                self.end_on_marketplaces(action, &markets, &[], Code::GivenUp, why);
            }
        }
        self.commit(Outcome::Finished).await
    }

    /// An ad that was hidden after the request was accepted is not published, and no entry of `publish` says so (decision 21). Once
    /// publishing has started, a marketplace may already have the ad although its answer was lost: then publishing continues, and
    /// the request that hid the ad unpublishes it.
    fn is_superseded(&self, action: Action) -> bool {
        action == Action::Publish && !self.progress.begun && !self.claimed.stored.ad.content.visible()
    }

    /// Whether missing images prevent publication, whichever request they are of.
    fn is_held_back(&self) -> bool {
        let ad = &self.claimed.stored.ad;
        let stored = self.change.image_refs.as_ref().unwrap_or(&ad.image_refs);
        ad.content.dont_publish_on_failed_images()
            && ad.content.image_urls().any(|url| !stored.iter().any(|image| image.url == url))
    }

    fn begin(&mut self, action: Action) {
        let message = if action == Action::Publish { "Publishing" } else { "Processing" };
        self.log(action, ActionState::Processing, message.into());
        if action == Action::Delete {
            self.log(Action::Unpublish, ActionState::Processing, "Unpublishing".into());
        }
        self.progress.begun = true;
        self.changes = self.progress.changes.take().or(self.changes.take());
    }

    fn done(&mut self, action: Action, message: Value) {
        self.log(action, ActionState::Done, message);
        self.end(action, None);
    }

    fn record_failure(&mut self, action: Action, code: Code, message: Value) {
        let reason = message.get("message").unwrap_or(&message).as_str().unwrap_or_default().to_owned();
        self.log_failure(action, code, message);
        self.end(action, Some((code, &reason)));
    }

    /// Records the end of an action, with code and reason if it failed.
    fn end(&mut self, action: Action, failure: Option<(Code, &str)>) {
        let (markets, reached) = (self.markets(action), std::mem::take(&mut self.progress.reached));
        self.update_leftover(|left| left.end(action, &markets, &reached, failure.is_some()));
        let (code, reason) = failure.unwrap_or((Code::GivenUp, ""));
        if PromotionKind::of(action).is_some() {
            self.confirmed.clone_from(&reached);
        }
        if action == Action::Bump && !reached.is_empty() {
            self.publication().bumped = Some(self.pipeline.ports.clock.now());
        }
        self.end_on_marketplaces(action, &markets, &reached, code, reason);
        self.progress.end();
    }

    /// Records what an action has left on its marketplaces; code and reason are those of a marketplace without a failure of its own.
    fn end_on_marketplaces(
        &mut self,
        action: Action,
        markets: &[Market],
        reached: &[Market],
        code: Code,
        reason: &str,
    ) {
        if !action.changes_listings() {
            return;
        }
        let (mut failures, attempts) = (std::mem::take(&mut self.progress.failures), self.progress.attempts());
        let failure = |market: Market| {
            let unspecific = || ChannelFailure { code, reason: reason.to_owned(), attempts, paused: false };
            failures.remove(&market).unwrap_or_else(unspecific)
        };
        let now = self.pipeline.ports.clock.now();
        self.publication().end(action, markets, reached, failure, now);
    }

    fn log(&mut self, action: Action, state: ActionState, external_message: Value) {
        let (request_id, created) = (self.claimed.request.id, self.pipeline.ports.clock.now());
        self.entries.push(LogEntry::new(request_id, created, action, state, external_message));
    }

    /// Logs that a retry found nothing to do, because the ad is hidden: a request is found by its entries when it is finished.
    fn log_nothing_to_do(&mut self) {
        self.begin(Action::Unpublish);
        self.log(Action::Unpublish, ActionState::Done, "Nothing to do: the ad is hidden".into());
    }

    fn log_failure(&mut self, action: Action, code: Code, external_message: Value) {
        let (request_id, created) = (self.claimed.request.id, self.pipeline.ports.clock.now());
        self.entries.push(LogEntry::failed(request_id, created, action, code, external_message));
    }

    /// Commits pending log entries before a call of another system.
    async fn checkpoint(&mut self) -> Result<(), StoreError> {
        if self.entries.is_empty() { Ok(()) } else { self.keep_progress().await }
    }

    async fn keep_progress(&mut self) -> Result<(), StoreError> {
        let progress = self.progress.clone();
        self.commit(Outcome::Continues { progress }).await
    }

    async fn commit(&mut self, outcome: Outcome) -> Result<(), StoreError> {
        let record = self.record(outcome);
        self.pipeline.ports.store.record(record).await
    }

    /// What is to be committed now.
    fn record(&mut self, outcome: Outcome) -> Record {
        let change = std::mem::take(&mut self.change);
        let images_changed = change.image_refs.is_some();
        self.apply_committed(&change);
        let publication = self.publication.take();
        if let Some(publication) = &publication {
            self.claimed.stored.publication.clone_from(publication);
        }
        let StoredAd { ad, publication: left, tag, .. } = &self.claimed.stored;
        let progress = match &outcome {
            Outcome::Continues { progress } | Outcome::Waits { progress, .. } => Some(progress),
            Outcome::Finished => None,
        };
        let words = status::words(ad, left, progress.map(|progress| OldestRequest::new(Some(&self.plan), progress)));
        // The last request of an ad sets it in any case: a new content had its score before the images of an earlier one were known.
        let sets_score = images_changed || outcome == Outcome::Finished;
        let quality_score =
            sets_score.then(|| ContentScore { revision: tag.revision, score: quality::score(ad, &left.failed_images) });
        // A promotion is the last action of its plan, so that it ends in the same commit as the request.
        let may_cost = self.is_retry() || self.plan.actions.iter().any(|action| PromotionKind::of(*action).is_some());
        let confirmed = (outcome == Outcome::Finished && may_cost).then(|| std::mem::take(&mut self.confirmed));
        Record {
            ad: self.claimed.stored.ad.id,
            request: self.claimed.request.id,
            lease: self.claimed.lease,
            entries: std::mem::take(&mut self.entries),
            changes: self.changes.take(),
            change,
            publication,
            calls: std::mem::take(&mut *locked(&self.calls)),
            confirmed,
            quality_score,
            words,
            outcome,
            at: self.pipeline.ports.clock.now(),
        }
    }

    /// Applies a committed change to the ad in memory.
    fn apply_committed(&mut self, change: &AdChange) {
        let ad = &mut self.claimed.stored.ad;
        if let Some(state) = change.state {
            ad.state = state;
        }
        if let Some(images) = &change.image_refs {
            ad.image_refs.clone_from(images);
        }
        for (market, id) in &change.listings {
            ad.set_listing(*market, id.clone());
        }
    }
}
