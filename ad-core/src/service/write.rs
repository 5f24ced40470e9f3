//! Update and delete, and the transaction of all writes on existing ads.

use serde_json::{Map, Value};

use super::{
    ATTEMPTS, Acceptance, Accepted, Access, Denial, Incoming, Service, ServiceError, TaggedAd, Target, Validated,
    accounts::budget_exceeded, ad_ref, category_of,
};
use crate::{
    categories::Category,
    model::{Action, Ad, AdState, ApiVersion, Content, ContentChange, Plan, Replaced, Timestamp},
    ports::{LogEntries, Revision, StoreError, StoredAd, Usage},
    prices, quality,
    revisions::difference,
    rulebook::{
        CheckedPayload, WriteContext,
        versions::{Conversion, VersionError, conversion},
    },
    status,
    violation::{Code, Warning},
};

impl Service {
    /// Updates an ad by a deep merge ('Endpoints' rule 2); PUT and PATCH are the same. Through V4 it converts an ad of V3
    /// in a compatible category.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors of the merged ad; [`ServiceError::Refused`] when it is deleted and
    /// cannot be revived, or when V3 would change an ad of V4; [`ServiceError::Version`] when an ad of V3 must migrate
    /// first; [`ServiceError::PreconditionFailed`]; [`ServiceError::NotFound`]; [`ServiceError::KeyUsed`].
    pub async fn update(
        &self,
        access: &Access,
        incoming: impl Into<Incoming<'_>> + Send,
        version: ApiVersion,
        target: Target<'_>,
        patch: &Map<String, Value>,
    ) -> Result<Accepted, ServiceError> {
        self.revise(access, incoming.into(), target, |stored| {
            Ok(Some(self.check_update(version, stored, patch)?.decision(version, stored, patch)))
        })
        .await
    }

    /// Checks an update as [`Self::update`] does, except for quotas, and stores nothing.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub async fn validate_update(
        &self,
        access: &Access,
        version: ApiVersion,
        target: Target<'_>,
        patch: &Map<String, Value>,
    ) -> Result<Validated, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        target.check_revision(stored.tag)?;
        let bytes = stored.ad.content.bytes();
        let updated = self.computed(&stored.ad.dealer_code, bytes, || self.check_update(version, &stored, patch))?;
        let CheckedUpdate { category, checked, .. } = updated;
        let TaggedAd { ad, failed_images, .. } = stored.into();
        let ad = Ad { category_id: category.id, content: checked.content, ..ad };
        let quality = self.quality_among_ads(&ad, &failed_images).await?;
        Ok(Validated {
            source_id: Some(ad.source_id),
            dealer_code: ad.dealer_code,
            category_id: ad.category_id,
            content: ad.content,
            warnings: checked.warnings.into_iter().chain(quality.warnings()).collect(),
            quality,
        })
    }

    /// Checks an update of a stored ad.
    pub(super) fn check_update(
        &self,
        version: ApiVersion,
        stored: &StoredAd,
        patch: &Map<String, Value>,
    ) -> Result<CheckedUpdate, ServiceError> {
        let ad = &stored.ad;
        let category = category_of(ad)?;
        if stored.intent == AdState::Deleted && category.registered {
            return Err(Denial::new(Code::AdDeleted, "Ad has been deleted, cannot update").into());
        }
        let converts = match (version, conversion(ad)) {
            (ApiVersion::V3, Conversion::None) => {
                return Err(VersionError::NotThroughV3(ad_ref(ad)?).into());
            }
            (ApiVersion::V4, Conversion::Migration) => {
                return Err(VersionError::IncompatibleApiVersion(ad_ref(ad)?).into());
            }
            (ApiVersion::V4, Conversion::Automatic) => true,
            (ApiVersion::V3, _) | (ApiVersion::V4, Conversion::None) => false,
        };
        let dealer = self.dealer(&ad.dealer_code);
        let write = WriteContext { category, version, dealer: Some(&dealer) };
        let checked = self.rulebook.update(write, ad, patch.clone())?;
        Ok(CheckedUpdate { category, converts, checked })
    }

    /// Deletes an ad softly ('Endpoints' rule 3): its state changes when a worker has unpublished it.
    ///
    /// # Errors
    /// [`ServiceError::PreconditionFailed`]; [`ServiceError::NotFound`]; [`ServiceError::KeyUsed`].
    pub async fn delete(
        &self,
        access: &Access,
        incoming: impl Into<Incoming<'_>> + Send,
        target: Target<'_>,
    ) -> Result<Accepted, ServiceError> {
        self.revise(access, incoming.into(), target, |stored| {
            if stored.intent == AdState::Deleted {
                return Ok(None);
            }
            let plan = Plan { actions: vec![Action::Delete], markets: category_of(&stored.ad)?.markets() };
            Ok(Some(Decision { intent: Some(AdState::Deleted), ..Decision::of(Some(plan)) }))
        })
        .await
    }

    /// Reads an ad, decides, and stores the decision with its request; repeats this when the ad has changed in between.
    ///
    /// # Errors
    /// Those of the decision; [`ServiceError::PreconditionFailed`]; [`ServiceError::TooManyRequests`] when too many of the ad or of
    /// its dealer are unfinished; [`ServiceError::KeyUsed`].
    pub(super) async fn revise(
        &self,
        access: &Access,
        incoming: Incoming<'_>,
        target: Target<'_>,
        decide: impl Fn(&StoredAd) -> Result<Option<Decision>, ServiceError> + Send + Sync,
    ) -> Result<Accepted, ServiceError> {
        for _ in 0..ATTEMPTS {
            let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
            // If the content changes before the commit, the commit is a conflict and the ad is read again.
            target.check_revision(stored.tag)?;
            let (dealer_code, bytes) = (&stored.ad.dealer_code, stored.ad.content.bytes());
            let decided = self.computed(dealer_code, bytes, || decide(&stored));
            let Some(mut decision) = decided? else {
                return self.accept_without_request(incoming, stored.into(), Acceptance::Unchanged).await;
            };
            if let Err(refusal) = self.admit(&stored.ad, &mut decision, incoming).await {
                let underway = if decision.coalesces {
                    self.store.find_unfinished(stored.ad.id, decision.plan.as_ref()).await?
                } else {
                    None
                };
                let Some(request) = underway else { return Err(refusal) };
                let request = Acceptance::CoalescedWith(request);
                return self.accept_without_request(incoming, stored.into(), request).await;
            }
            let mut request = self.accept(incoming, decision.plan.take());
            let (revision, updated, tag, status) =
                (stored.revision, stored.ad.updated, stored.tag, stored.words.status);
            let changes_content = decision.content.is_some();
            let price_before =
                decision.content.as_ref().and_then(|content| prices::replaced_prices(&stored.ad.content, content));
            let replaced = replaced(&stored, &decision);
            let changes = |content| ContentChange::between(&stored.ad.content, content);
            request.progress.paid = decision.paid.take();
            let reservation = self.reservation(&stored.ad.dealer_code, &request);
            request.progress.changes = decision.content.as_ref().filter(|_| replaced.is_some()).and_then(changes);
            let accepted = changed(stored, &mut decision, request.accepted, self.store.epoch());
            let kept = self.answer_to_keep(incoming, &accepted, request.accepted).await?;
            let ad = &accepted.ad;
            let revised = self
                .store
                .revise(Revision {
                    ad: ad.id,
                    dealer_code: &ad.dealer_code,
                    revision,
                    content: changes_content.then_some(&ad.content),
                    quality_score: changes_content.then(|| quality::score(ad, &accepted.failed_images)),
                    price_before,
                    replaced,
                    version: decision.version,
                    intent: decision.intent,
                    pole_position_until: decision.pole_position_until,
                    words: status::accepted(ad),
                    updated: request.accepted,
                    request: &request,
                    coalesces: decision.coalesces,
                    reservation: reservation.as_ref(),
                    answer: kept.as_ref(),
                })
                .await;
            match revised {
                Ok(()) => {
                    self.added(&ad.dealer_code, Usage::Requests);
                    self.answer_kept(incoming);
                    return Ok(accepted);
                }
                Err(StoreError::Conflict) => {}
                Err(StoreError::BudgetExceeded(left)) => return Err(budget_exceeded(reservation.as_ref(), left)),
                Err(StoreError::Underway(request)) => {
                    let Accepted { ad, failed_images, .. } = accepted;
                    let unchanged = TaggedAd { ad: Ad { updated, ..ad }, tag, status, failed_images };
                    let request = Acceptance::CoalescedWith(request);
                    return self.accept_without_request(incoming, unchanged, request).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Unavailable("the ad is being changed by many at once".into()).into())
    }

    /// Checks the refusal of a decision and the quotas.
    async fn admit(&self, ad: &Ad, decision: &mut Decision, incoming: Incoming<'_>) -> Result<(), ServiceError> {
        if let Some(refusal) = decision.refusal.take() {
            return Err(refusal);
        }
        if decision.intent == Some(AdState::Created) {
            self.admit_one(&ad.dealer_code, Usage::Ads).await?;
        }
        // A quota never prevents a deletion.
        if decision.intent != Some(AdState::Deleted) {
            self.admit_request(&ad.dealer_code).await?;
        }
        self.admit_answer(incoming).await
    }
}

/// An update that passed all checks.
pub(super) struct CheckedUpdate {
    pub(super) category: &'static Category,
    /// Whether it converts an ad of V3.
    converts: bool,
    pub(super) checked: CheckedPayload,
}

impl CheckedUpdate {
    /// The decision to update the ad.
    pub(super) fn decision(self, version: ApiVersion, stored: &StoredAd, patch: &Map<String, Value>) -> Decision {
        let Self { category, converts, checked } = self;
        let actions = update_actions(stored, &checked.content, patch.contains_key("image_urls"));
        let deleted = stored.intent == AdState::Deleted;
        Decision {
            content: Some(checked.content),
            warnings: checked.warnings,
            version: converts.then_some((version, category.id)),
            intent: deleted.then_some(AdState::Created),
            ..Decision::of(Some(Plan { actions, markets: category.markets() }))
        }
    }
}

/// What a decision replaces for the record, if it changes the content or makes a deleted ad exist again.
fn replaced(stored: &StoredAd, decision: &Decision) -> Option<Replaced> {
    let (before, after) = (&stored.ad.content, decision.content.as_ref()?);
    let version = decision.version.map(|_| (stored.ad.api_version, stored.ad.category_id));
    let is_other = version.is_some() || decision.intent.is_some();
    let difference = difference(after, before).or_else(|| is_other.then(|| "{}".to_owned()))?;
    Some(Replaced { revision: stored.tag.revision, version, difference })
}

/// The ad as a decision changes it, in an epoch of the store.
fn changed(stored: StoredAd, decision: &mut Decision, updated: Timestamp, epoch: i64) -> Accepted {
    let mut accepted = TaggedAd::from(stored).accepted(Acceptance::Queued);
    accepted.warnings = std::mem::take(&mut decision.warnings);
    let Accepted { ad, tag, .. } = &mut accepted;
    ad.updated = updated;
    if let Some((version, category_id)) = decision.version {
        (ad.api_version, ad.category_id) = (version, category_id);
    }
    *tag = tag.after_change(epoch, decision.content.is_some());
    if let Some(content) = decision.content.take() {
        ad.content = content;
    }
    accepted
}

/// The decision about a write on an existing ad.
#[derive(Default)]
pub(super) struct Decision {
    pub(super) plan: Option<Plan>,
    pub(super) content: Option<Content>,
    pub(super) warnings: Vec<Warning>,
    /// New API version and category.
    pub(super) version: Option<(ApiVersion, u16)>,
    pub(super) intent: Option<AdState>,
    pub(super) pole_position_until: Option<Timestamp>,
    /// Whether an unfinished request of the same plan serves for it.
    pub(super) coalesces: bool,
    /// The promotion that a retry may repeat, if promotions cost the dealer something.
    pub(super) paid: Option<Plan>,
    /// Why it is refused, unless it coalesces with another.
    pub(super) refusal: Option<ServiceError>,
}

impl Decision {
    pub(super) fn of(plan: Option<Plan>) -> Self {
        Self { plan, ..Self::default() }
    }

    /// The same, unless an unfinished request of the same plan serves for it.
    pub(super) fn coalescing(self) -> Self {
        Self { coalesces: true, ..self }
    }
}

/// The actions of an update (decision 21): media when images are added or removed, or when a deleted ad has lost them all, then publish,
/// or unpublish when the ad was hidden.
pub(super) fn update_actions(stored: &StoredAd, content: &Content, sends_images: bool) -> Vec<Action> {
    let before = &stored.ad.content;
    let has_images = content.image_urls().next().is_some()
        || before.image_urls().next().is_some()
        || !stored.ad.image_refs.is_empty();
    let has_lost_images = stored.intent == AdState::Deleted && stored.ad.image_refs.is_empty();
    let mut actions = vec![Action::Update];
    if (sends_images || has_lost_images) && has_images {
        actions.push(Action::HandleMedia);
    }
    if content.visible() {
        actions.push(Action::Publish);
    } else if before.visible() && stored.intent == AdState::Created {
        actions.push(Action::Unpublish);
    }
    actions
}
