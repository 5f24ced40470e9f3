//! What a worker does with one accepted request, action by action (decisions 21 to 27).
//!
//! Every action is logged as `processing`, done, and logged as `done` or `error` together with what it changes about the
//! ad, in one commit; the `done` of one action and the `processing` of the next share theirs. After a crash at any
//! moment the request is claimed again and goes on from its [`Progress`]: what was logged is not logged twice, and calls
//! to marketplaces carry the same idempotency keys.

mod markets;
mod media;
mod policy;
mod retry;

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    categories::Category,
    model::{Action, ActionState, AdState, Leftover, LogEntry, Market, Plan, Progress, Timestamp},
    ports::{AdChange, Claimed, Clock, Ids, ImageFetcher, Marketplace, MediaStore, Outcome, Record, Store, StoreError},
    quotas::Quotas,
    violation::Code,
};
pub use policy::RetryPolicy;

/// How patient a pipeline is.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// With image hosts.
    pub images: RetryPolicy,
    /// With marketplaces.
    pub marketplaces: RetryPolicy,
    /// For how long a claimed request is one worker's alone, unless it asks for more.
    pub lease: Duration,
}

impl Default for Patience {
    /// Images 5 tries within a minute, marketplaces 10 tries within an hour (decision 27).
    fn default() -> Self {
        Self {
            images: RetryPolicy::over(5, Duration::from_mins(1)),
            marketplaces: RetryPolicy::over(10, Duration::from_hours(1)),
            lease: Duration::from_secs(10),
        }
    }
}

/// The work over its ports.
#[derive(Clone)]
pub struct Pipeline {
    /// Ads, logs and requests.
    pub store: Arc<dyn Store>,
    /// Fetches images.
    pub fetcher: Arc<dyn ImageFetcher>,
    /// Keeps images.
    pub media: Arc<dyn MediaStore>,
    /// The primary marketplace.
    pub primary: Arc<dyn Marketplace>,
    /// The secondary marketplace.
    pub secondary: Arc<dyn Marketplace>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids of images.
    pub ids: Arc<dyn Ids>,
    /// How patient it is.
    pub patience: Patience,
    /// What dealers may store; `None`: any amount.
    pub quotas: Option<Arc<Quotas>>,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pipeline").field("patience", &self.patience).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Claims and runs what is due, one request after the other, until nothing is; returns how many it ran. For embedding
    /// without a worker of its own, and for tests.
    ///
    /// # Errors
    /// When the store fails; what was claimed is claimed again when its lease ends.
    pub async fn run_due(&self) -> Result<usize, StoreError> {
        let mut ran = 0;
        loop {
            let now = self.clock.now();
            let claims = self.store.claim(now, now + self.patience.lease, 16.into()).await?;
            if claims.claimed.is_empty() {
                return Ok(ran);
            }
            for claimed in claims.claimed {
                self.run(claimed).await?;
                ran += 1;
            }
        }
    }

    /// Runs a claimed request until it is finished or has to wait.
    ///
    /// # Errors
    /// When the store fails, or the lease was lost; the request is then claimed again.
    pub async fn run(&self, claimed: Claimed) -> Result<(), StoreError> {
        Run::new(self, claimed).finish().await
    }

    /// Ends a claimed request without doing the rest of it: the action that it stands at ends in an error that says why,
    /// and a retry does what was left undone.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn give_up(&self, claimed: Claimed, why: &str) -> Result<(), StoreError> {
        Run::new(self, claimed).give_up(why).await
    }

    fn market(&self, market: Market) -> &dyn Marketplace {
        match market {
            Market::Primary => &*self.primary,
            Market::Secondary => &*self.secondary,
        }
    }
}

/// How an action ended, or that it has to be tried again.
enum Ended {
    Done(Value),
    Failed(Code, Value),
    Waits(Timestamp),
}

/// One request being run: where it stands, and what is not committed yet.
struct Run<'a> {
    pipeline: &'a Pipeline,
    /// When it was taken up.
    since: Timestamp,
    claimed: Claimed,
    plan: Plan,
    progress: Progress,
    entries: Vec<LogEntry>,
    change: AdChange,
}

impl<'a> Run<'a> {
    fn new(pipeline: &'a Pipeline, mut claimed: Claimed) -> Self {
        let since = pipeline.clock.now();
        let mut progress = std::mem::take(&mut claimed.request.progress);
        progress.taken_up(since);
        let is_retry = claimed.request.plan.is_none();
        let plan = claimed.request.plan.clone().or_else(|| progress.plan.clone()).unwrap_or_else(|| {
            let ad = &claimed.stored.ad;
            let plan = claimed.stored.leftover.plan(ad, ad.category().map_or_else(Vec::new, Category::markets));
            // What it does changes what is left to do, so the plan is decided once.
            progress = Progress { plan: Some(plan.clone()), ..Progress::default() };
            plan
        });
        let mut run =
            Self { pipeline, since, claimed, plan, progress, entries: Vec::new(), change: AdChange::default() };
        if !is_retry {
            run.leave(|left| left.promotion = None);
        }
        run
    }

    /// Whether it is a retry, which does what others left undone.
    fn is_retry(&self) -> bool {
        self.claimed.request.plan.is_none()
    }

    /// The marketplaces that an action of the plan concerns.
    fn markets(&self, action: Action) -> Vec<Market> {
        let promotion = self.claimed.stored.leftover.promotion.as_ref().filter(|_| self.is_retry());
        let plan = match (action, promotion) {
            (Action::Bump | Action::Boost, Some(promotion)) => promotion,
            _ => &self.plan,
        };
        plan.markets.clone()
    }

    /// Changes what is left undone, which is committed with the end of the action that changes it.
    fn leave(&mut self, change: impl FnOnce(&mut Leftover)) {
        let mut leftover = self.claimed.stored.leftover.clone();
        change(&mut leftover);
        if leftover != self.claimed.stored.leftover {
            self.claimed.stored.leftover = leftover.clone();
            self.change.leftover = Some(leftover);
        }
    }

    async fn finish(mut self) -> Result<(), StoreError> {
        while let Some(action) = self.plan.actions.get(self.progress.ended).copied() {
            if self.is_moot(action) {
                self.progress.end();
                continue;
            }
            if !self.progress.begun {
                self.begin(action);
            }
            let ended = match action {
                Action::Create => Ended::Done("Ad created".into()),
                Action::Update => {
                    if self.claimed.stored.ad.state == AdState::Deleted {
                        self.change.state = Some(AdState::Created);
                    }
                    Ended::Done("Ad updated".into())
                }
                Action::HandleMedia => self.handle_media().await?,
                Action::Publish if self.is_held_back() => {
                    let why = "Not published: images failed, and dont_publish_on_failed_images is set";
                    Ended::Failed(Code::HeldByImages, why.into())
                }
                Action::Publish => self.publish().await?,
                Action::Unpublish => self.unpublish().await?,
                Action::Delete => self.delete().await?,
                Action::Bump => self.bump().await?,
                Action::Boost => self.boost().await?,
            };
            match ended {
                Ended::Done(message) => self.done(action, message),
                Ended::Failed(code, message) => self.failed(action, code, message),
                Ended::Waits(until) => {
                    let progress = Progress { due: Some(until), ..std::mem::take(&mut self.progress) };
                    return self.commit(Outcome::Waits { progress, until }).await;
                }
            }
        }
        self.commit(Outcome::Finished).await
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
            self.failed(action, Code::GivenUp, why.into());
            // Those behind it are not begun, and so no entry says that they failed.
            for place in self.progress.ended..self.plan.actions.len() {
                let action = self.plan.actions[place];
                let markets = self.markets(action);
                self.leave(|left| left.end(action, &markets, &[], true));
            }
        }
        self.commit(Outcome::Finished).await
    }

    /// An ad that was hidden after the request was accepted is not published, and no entry says so (decision 21). Once
    /// publishing has begun, a marketplace may have it already without our knowing: then it is published, and the request
    /// that hid it takes it off.
    fn is_moot(&self, action: Action) -> bool {
        action == Action::Publish && !self.progress.begun && !self.claimed.stored.ad.content.visible()
    }

    /// Whether images that the ad insists on are missing, be it since this request or an earlier one.
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
    }

    fn done(&mut self, action: Action, message: Value) {
        self.log(action, ActionState::Done, message);
        self.end(action, false);
    }

    fn failed(&mut self, action: Action, code: Code, message: Value) {
        self.log_failure(action, code, message);
        self.end(action, true);
    }

    fn end(&mut self, action: Action, failed: bool) {
        let (markets, reached) = (self.markets(action), std::mem::take(&mut self.progress.reached));
        self.leave(|left| left.end(action, &markets, &reached, failed));
        self.progress.end();
    }

    fn log(&mut self, action: Action, state: ActionState, external_message: Value) {
        let (request_id, created) = (self.claimed.request.id, self.pipeline.clock.now());
        self.entries.push(LogEntry::new(request_id, created, action, state, external_message));
    }

    fn log_failure(&mut self, action: Action, code: Code, external_message: Value) {
        let (request_id, created) = (self.claimed.request.id, self.pipeline.clock.now());
        self.entries.push(LogEntry::failed(request_id, created, action, code, external_message));
    }

    /// Commits what has ended and what has begun, before something outside is touched.
    async fn checkpoint(&mut self) -> Result<(), StoreError> {
        if self.entries.is_empty() { Ok(()) } else { self.keep_progress().await }
    }

    /// Commits how far it has come.
    async fn keep_progress(&mut self) -> Result<(), StoreError> {
        let progress = self.progress.clone();
        self.commit(Outcome::Goes { progress }).await
    }

    async fn commit(&mut self, outcome: Outcome) -> Result<(), StoreError> {
        let change = std::mem::take(&mut self.change);
        self.remember(&change);
        let record = Record {
            ad: self.claimed.stored.ad.id,
            request: self.claimed.request.id,
            lease: self.claimed.lease,
            entries: std::mem::take(&mut self.entries),
            change,
            outcome,
            at: self.pipeline.clock.now(),
        };
        self.pipeline.store.record(record).await
    }

    /// Keeps the ad in hand as the store has it.
    fn remember(&mut self, change: &AdChange) {
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
