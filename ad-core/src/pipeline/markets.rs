//! The actions on marketplaces: publish, unpublish, delete, bump, boost.

use std::future::Future;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{
    ActionEnd, RequestRun,
    retry::{TransientFailure, after_tries},
};
use crate::{
    lock::locked,
    model::{
        Action, ActionState, AdState, CallAction, ChannelFailure, Market, MarketplaceCall, POLE_POSITION, PlateMatch,
        short_text,
    },
    ports::{
        Answered, Checksum, IdempotencyKey, Listing, MarketplaceError, PlateListing, PublishedByPlate, StoreError,
    },
    violation::Code,
};

/// Maximum length of the reason of a failure in the status of an ad, in bytes.
const REASON: usize = 500;

/// A call of a marketplace, before it is made.
#[derive(Debug, Clone, Copy)]
struct Calling<'a> {
    market: Market,
    action: CallAction,
    /// The listing that it is about.
    listing: Option<&'a str>,
    /// The checksum of the listing that it sends.
    content: Option<&'a Checksum>,
}

/// Why an action on one marketplace is not complete.
#[derive(Debug, thiserror::Error)]
enum MarketFailure {
    #[error(transparent)]
    Market(#[from] MarketplaceError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A listing with the same plate, which must be committed before the marketplace is called, because it cannot be found out
    /// afterwards.
    #[error("{0}")]
    Found(PlateMatch),
}

/// What an action on one marketplace has brought.
#[derive(Debug, Default)]
struct MarketResult {
    /// Id of a listing that the ad did not have.
    listing: Option<String>,
    /// The listing with its plate that it is linked to.
    plate_match: Option<PlateMatch>,
}

impl MarketResult {
    fn listing(id: String) -> Self {
        Self { listing: Some(id), plate_match: None }
    }
}

impl RequestRun<'_> {
    pub(super) async fn boost(&mut self) -> Result<ActionEnd, StoreError> {
        let until = self.pipeline.ports.clock.now() + POLE_POSITION;
        let ended = self.run_on_marketplaces(Action::Boost, &format!("Pole position until {until}")).await?;
        self.change.pole_position_until = match ended {
            ActionEnd::Done(_) => Some(Some(until)),
            ActionEnd::Failed(..) => Some(None),
            ActionEnd::Waits(_) => None,
        };
        Ok(ended)
    }

    /// Unpublishes the ad and then marks it as deleted; the `unpublish` in it has its own log entries (decision 21).
    pub(super) async fn delete(&mut self) -> Result<ActionEnd, StoreError> {
        Ok(match self.run_on_marketplaces(Action::Unpublish, "Ad unpublished").await? {
            ActionEnd::Done(message) => {
                self.log(Action::Unpublish, ActionState::Done, message);
                self.change.state = Some(AdState::Deleted);
                if self.is_retry() {
                    // A retry of a failed deletion, whose failure reset the intent.
                    self.change.intent = Some(AdState::Deleted);
                }
                ActionEnd::Done("Ad deleted".into())
            }
            ActionEnd::Failed(code, message) => {
                self.log_failure(Action::Unpublish, code, message);
                self.change.intent = Some(AdState::Created);
                ActionEnd::Failed(code, "Not deleted: the ad could not be unpublished everywhere".into())
            }
            waits @ ActionEnd::Waits(_) => waits,
        })
    }

    /// Performs an action concurrently on all marketplaces of the plan that it has not reached yet.
    pub(super) async fn run_on_marketplaces(&mut self, action: Action, done: &str) -> Result<ActionEnd, StoreError> {
        self.checkpoint().await?;
        let failures = self.call_marketplaces(action).await?;
        if failures.is_empty() {
            let matches = std::mem::take(&mut self.progress.plate_matches);
            return Ok(ActionEnd::Done(PlateMatch::message(done, &matches)));
        }
        let attempts = self.progress.attempts() + 1;
        let failure = |(market, error): &(Market, MarketplaceError)| {
            let paused = matches!(error, MarketplaceError::NotAsked { .. });
            let attempts = if paused { attempts - 1 } else { attempts };
            let reason = short_text(&error.to_string(), REASON);
            (*market, ChannelFailure { code: error.code(), reason, attempts, paused })
        };
        self.progress.failures = failures.iter().map(failure).collect();
        let passing = failures.iter().filter_map(|(market, error)| {
            let (pause, asked) = match error {
                MarketplaceError::Transient { retry_after, .. } => (*retry_after, true),
                MarketplaceError::NotAsked { retry_after, .. } => (Some(*retry_after), false),
                MarketplaceError::Refused { .. } | MarketplaceError::Gone { .. } | MarketplaceError::NotListed => {
                    return None;
                }
            };
            let reason = format!("{market}: {error}");
            let code = error.code();
            let paused = code == Code::MarketplacePaused;
            Some(TransientFailure { pause, asked, of: (*market).into(), code, reason, paused })
        });
        let tries = match self.wait_for_retry(self.pipeline.settings.marketplaces, passing) {
            Ok(waits) => return Ok(waits),
            Err(made) => made,
        };
        let code = failures.first().map_or(Code::MarketplaceUnreachable, |(_, error)| error.code());
        Ok(ActionEnd::Failed(code, self.failure_message(action, &failures, tries)))
    }

    /// Calls concurrently all marketplaces of the plan that were not reached yet, and returns those that failed.
    async fn call_marketplaces(&mut self, action: Action) -> Result<Vec<(Market, MarketplaceError)>, StoreError> {
        loop {
            let mut markets = self.markets(action);
            markets.retain(|market| !self.progress.reached.contains(market));
            // What cannot be written as JSON is refused by the call.
            let sent = if action == Action::Publish { self.listing().json().ok() } else { None };
            let content = sent.map(|json| Checksum::of(&json));
            let mut calls = Vec::new();
            for market in &markets {
                calls.push(self.call_marketplace(action, *market, content.as_ref()));
            }
            let results = join_all(calls).await;
            let (mut failures, mut matches) = (Vec::new(), Vec::new());
            for (market, result) in markets.into_iter().zip(results) {
                match result {
                    Ok(MarketResult { listing, plate_match }) => {
                        self.progress.reached.push(market);
                        self.change.listings.extend(listing.map(|id| (market, id)));
                        self.progress.plate_matches.extend(plate_match);
                    }
                    Err(MarketFailure::Found(plate_match)) => matches.push(plate_match),
                    Err(MarketFailure::Market(error)) => failures.push((market, error)),
                    Err(MarketFailure::Store(error)) => return Err(error),
                }
            }
            if matches.is_empty() {
                return Ok(failures);
            }
            self.progress.plate_matches.extend(matches);
            self.keep_progress().await?;
        }
    }

    /// The message of a failed action, which names all marketplaces with their results (decision 24).
    fn failure_message(&self, action: Action, failures: &[(Market, MarketplaceError)], tries: u32) -> Value {
        let mut told: Vec<Value> =
            self.progress.reached.iter().map(|market| json!({"marketplace": market, "state": "done"})).collect();
        let mut reasons = Vec::new();
        for (market, error) in failures {
            let reason = match error {
                MarketplaceError::Transient { reason, .. } | MarketplaceError::NotAsked { reason, .. } => {
                    after_tries(reason, tries)
                }
                other => other.to_string(),
            };
            reasons.push(format!("{market}: {reason}"));
            told.push(json!({"marketplace": market, "state": "error", "error": reason, "code": error.code()}));
        }
        json!({"message": format!("{action} failed on {}", reasons.join("; ")), "marketplaces": told})
    }

    /// Performs the action on one marketplace. `content` is the checksum of what publishing sends.
    async fn call_marketplace(
        &self,
        action: Action,
        market: Market,
        content: Option<&Checksum>,
    ) -> Result<MarketResult, MarketFailure> {
        let key = IdempotencyKey { request: self.claimed.request.id, action, market };
        let marketplace = self.pipeline.market(market);
        let listing = self.claimed.stored.ad.listing(market);
        let calling = |action| Calling { market, action, listing, content: None };
        match (action, listing) {
            (Action::Publish, _) => return self.publish_on(key, content).await,
            (Action::Unpublish, None) => {}
            (Action::Unpublish, Some(id)) => {
                match self.call(calling(CallAction::Unpublish), marketplace.unpublish(key, id)).await {
                    Ok(()) | Err(MarketplaceError::Gone { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            (_, None) => return Err(MarketplaceError::NotListed.into()),
            (Action::Boost, Some(id)) => {
                let until = self.pipeline.ports.clock.now() + POLE_POSITION;
                self.call(calling(CallAction::Boost), marketplace.boost(key, id, until)).await?;
            }
            (_, Some(id)) => self.call(calling(CallAction::Bump), marketplace.bump(key, id)).await?,
        }
        Ok(MarketResult::default())
    }

    /// Updates the ad's listing. Without one, links the ad to a listing with the same plate; without that, publishes a new
    /// listing (decision 25).
    async fn publish_on(&self, key: IdempotencyKey, content: Option<&Checksum>) -> Result<MarketResult, MarketFailure> {
        let ad = &self.claimed.stored.ad;
        if let Some(id) = ad.listing(key.market) {
            match self.update_listing(key, id, content).await {
                Err(MarketplaceError::Gone { .. }) => {}
                result => return Ok(result.map(|()| MarketResult::default())?),
            }
        }
        let (market, marketplace) = (key.market, self.pipeline.market(key.market));
        let calling = Calling { market, action: CallAction::Publish, listing: None, content };
        if let Some(plate) = ad.content.registration_number() {
            let published = self.call(calling, marketplace.publish_by_plate(key, self.listing(), &plate)).await?;
            let found = match published {
                Some(PublishedByPlate::Shown { id, linked }) => {
                    let plate_match = linked.then(|| plate_match(market, &id, &plate, true));
                    return Ok(MarketResult { listing: Some(id), plate_match });
                }
                Some(PublishedByPlate::Taken(found)) => Some(found),
                None => {
                    let calling = Calling { action: CallAction::FindByPlate, content: None, ..calling };
                    self.call(calling, marketplace.find_by_plate(&ad.dealer_code, &plate)).await?
                }
            };
            if let Some(found) = found
                && let Some(id) = self.link(market, found, &plate).await?
            {
                match self.update_listing(key, &id, content).await {
                    Err(MarketplaceError::Gone { .. }) => {}
                    result => return Ok(result.map(|()| MarketResult::listing(id))?),
                }
            }
        }
        Ok(MarketResult::listing(self.call(calling, marketplace.publish(key, self.listing())).await?))
    }

    async fn update_listing(
        &self,
        key: IdempotencyKey,
        id: &str,
        content: Option<&Checksum>,
    ) -> Result<(), MarketplaceError> {
        let calling = Calling { market: key.market, action: CallAction::Update, listing: Some(id), content };
        self.call(calling, self.pipeline.market(key.market).update(key, id, self.listing())).await
    }

    /// The ad as marketplaces get it.
    fn listing(&self) -> Listing<'_> {
        let ad = &self.claimed.stored.ad;
        Listing { ad, images: &ad.image_refs }
    }

    /// The id of a listing with the ad's plate if it is linked to this ad now.
    async fn link(
        &self,
        market: Market,
        PlateListing { id, reference }: PlateListing,
        plate: &str,
    ) -> Result<Option<String>, MarketFailure> {
        if reference == Some(self.claimed.stored.ad.id) {
            return Ok(Some(id));
        }
        let free = self.may_link(market, reference, &id).await?;
        let plate_match = plate_match(market, &id, plate, free);
        if !self.progress.plate_matches.contains(&plate_match) {
            return Err(MarketFailure::Found(plate_match));
        }
        Ok(free.then_some(id))
    }

    /// Makes a call, and notes it for the commit that records the outcome, unless it was not sent or the marketplace has no such call.
    async fn call<T: CallAnswer>(
        &self,
        Calling { market, action, listing, content }: Calling<'_>,
        call: impl Future<Output = Result<Answered<T>, MarketplaceError>> + Send,
    ) -> Result<T, MarketplaceError> {
        let (clock, request_id) = (&self.pipeline.ports.clock, self.claimed.request.id);
        let at = clock.now();
        let result = call.await;
        let error = result.as_ref().err();
        let is_made = match &result {
            Ok(answered) => answered.value.is_offered(),
            Err(error) => !matches!(error, MarketplaceError::NotAsked { .. }),
        };
        if is_made {
            let answered = result.as_ref().ok();
            let named = answered.and_then(|answered| answered.value.listing());
            locked(&self.calls).push(MarketplaceCall {
                at,
                marketplace: market,
                action,
                request_id,
                idempotency_key: IdempotencyKey::of(request_id, action, market).map(|key| key.to_string()),
                status: error.map_or(answered.map(|answered| answered.status), MarketplaceError::status),
                code: error.map(MarketplaceError::code),
                latency_ms: u64::try_from((clock.now() - at).as_millis()).unwrap_or(u64::MAX),
                // Not every store can keep one with a NUL.
                listing_id: named.or(listing).filter(|id| !id.contains('\0')).map(str::to_owned),
                content_sha256: content.map(Checksum::to_string),
                revision: self.claimed.stored.tag.revision,
            });
        }
        result.map(|answered| answered.value)
    }

    /// Whether a listing may be linked to this ad: no other ad that is not deleted has it.
    async fn may_link(&self, market: Market, reference: Option<uuid::Uuid>, id: &str) -> Result<bool, StoreError> {
        let ad = self.claimed.stored.ad.id;
        match reference {
            Some(owner) if self.pipeline.ports.store.is_live(owner).await? => Ok(false),
            _ => self.pipeline.ports.store.link_listing(ad, market, id).await,
        }
    }
}

fn plate_match(marketplace: Market, listing: &str, plate: &str, linked: bool) -> PlateMatch {
    let (listing, registration_number) = (listing.to_owned(), plate.to_owned());
    PlateMatch { marketplace, listing, registration_number, linked }
}

/// What a marketplace answers to a call.
trait CallAnswer {
    /// The marketplace's id of the listing; `None` if the answer names none.
    fn listing(&self) -> Option<&str>;

    /// Whether the marketplace has such a call.
    fn is_offered(&self) -> bool {
        true
    }
}

impl CallAnswer for () {
    fn listing(&self) -> Option<&str> {
        None
    }
}

impl CallAnswer for String {
    fn listing(&self) -> Option<&str> {
        Some(self)
    }
}

impl CallAnswer for Option<PlateListing> {
    fn listing(&self) -> Option<&str> {
        self.as_ref().map(|found| found.id.as_str())
    }
}

impl CallAnswer for Option<PublishedByPlate> {
    fn listing(&self) -> Option<&str> {
        self.as_ref().map(|published| match published {
            PublishedByPlate::Shown { id, .. } | PublishedByPlate::Taken(PlateListing { id, .. }) => id.as_str(),
        })
    }

    fn is_offered(&self) -> bool {
        self.is_some()
    }
}
