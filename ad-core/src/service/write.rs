//! Update and delete, and the transaction of all writes on existing ads.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{ATTEMPTS, Access, Denial, Service, ServiceError, TaggedAd, Target, ad_ref, category_of};
use crate::{
    model::{Action, AdState, ApiVersion, Content, Plan},
    ports::{LogEntries, Revision, StoreError, StoredAd, Usage},
    rulebook::{
        WriteContext,
        versions::{Conversion, VersionError, conversion},
    },
    violation::Code,
};

impl Service {
    /// Updates an ad by a deep merge ('Endpoints' rule 2); PUT and PATCH are the same. Through V4 it converts an ad of V3
    /// in a compatible category.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors of the merged ad; [`ServiceError::Refused`] when it is deleted and
    /// cannot be revived, or when V3 would change an ad of V4; [`ServiceError::Version`] when an ad of V3 must migrate
    /// first; [`ServiceError::PreconditionFailed`]; [`ServiceError::NotFound`].
    pub async fn update(
        &self,
        access: &Access,
        request_id: Uuid,
        version: ApiVersion,
        target: Target<'_>,
        patch: &Map<String, Value>,
    ) -> Result<TaggedAd, ServiceError> {
        self.revise(access, target, |stored| {
            let ad = &stored.ad;
            let category = category_of(ad)?;
            let deleted = stored.intent == AdState::Deleted;
            if deleted && category.registered {
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
            let actions = update_actions(stored, &checked.content, patch.contains_key("image_urls"));
            Ok(Some(Decision {
                content: Some(checked.content),
                version: converts.then_some((version, category.id)),
                intent: deleted.then_some(AdState::Created),
                ..Decision::of(request_id, Some(Plan { actions, markets: category.markets() }))
            }))
        })
        .await
    }

    /// Deletes an ad softly ('Endpoints' rule 3): its state changes when a worker has unpublished it.
    ///
    /// # Errors
    /// [`ServiceError::PreconditionFailed`]; [`ServiceError::NotFound`].
    pub async fn delete(
        &self,
        access: &Access,
        request_id: Uuid,
        target: Target<'_>,
    ) -> Result<TaggedAd, ServiceError> {
        self.revise(access, target, |stored| {
            if stored.intent == AdState::Deleted {
                return Ok(None);
            }
            let plan = Plan { actions: vec![Action::Delete], markets: category_of(&stored.ad)?.markets() };
            Ok(Some(Decision { intent: Some(AdState::Deleted), ..Decision::of(request_id, Some(plan)) }))
        })
        .await
    }

    /// Reads an ad, decides, and stores the decision with its request; repeats this when the ad has changed in between.
    ///
    /// # Errors
    /// Those of the decision; [`ServiceError::PreconditionFailed`]; [`ServiceError::TooManyRequests`] when too many of the ad or of its dealer are unfinished.
    pub(super) async fn revise(
        &self,
        access: &Access,
        target: Target<'_>,
        decide: impl Fn(&StoredAd) -> Result<Option<Decision>, ServiceError> + Send + Sync,
    ) -> Result<TaggedAd, ServiceError> {
        for _ in 0..ATTEMPTS {
            let (mut stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
            // If the content changes before the commit, the commit is a conflict and the ad is read again.
            if target.revisions.is_some_and(|revisions| !revisions.contains(&stored.tag.revision)) {
                return Err(ServiceError::PreconditionFailed(stored.tag));
            }
            let (dealer_code, bytes) = (&stored.ad.dealer_code, stored.ad.content.bytes());
            let decided = self.computed(dealer_code, bytes, || decide(&stored));
            let Some(decision) = decided? else { return Ok(stored.into()) };
            if decision.intent == Some(AdState::Created) {
                self.admit_ad(&stored.ad.dealer_code).await?;
            }
            // A quota never prevents a deletion.
            if decision.intent != Some(AdState::Deleted) {
                self.admit_request(&stored.ad.dealer_code).await?;
            }
            let request = self.accept(decision.request_id, decision.plan);
            let revised = self
                .store
                .revise(Revision {
                    ad: stored.ad.id,
                    dealer_code: &stored.ad.dealer_code,
                    revision: stored.revision,
                    content: decision.content.as_ref(),
                    version: decision.version,
                    intent: decision.intent,
                    pole_position_until: decision.pole_position_until,
                    updated: request.accepted,
                    request: &request,
                })
                .await;
            match revised {
                Ok(()) => {
                    self.added(&stored.ad.dealer_code, Usage::Requests);
                    stored.ad.updated = request.accepted;
                    if let Some((version, category_id)) = decision.version {
                        (stored.ad.api_version, stored.ad.category_id) = (version, category_id);
                    }
                    if let Some(content) = decision.content {
                        stored.ad.content = content;
                        stored.tag.revision += 1;
                    } else {
                        stored.tag.n += 1;
                    }
                    return Ok(stored.into());
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Unavailable("the ad is being changed by many at once".into()).into())
    }
}

/// The decision about a write on an existing ad.
pub(super) struct Decision {
    pub(super) request_id: Uuid,
    pub(super) plan: Option<Plan>,
    pub(super) content: Option<Content>,
    /// New API version and category.
    pub(super) version: Option<(ApiVersion, u16)>,
    pub(super) intent: Option<AdState>,
    pub(super) pole_position_until: Option<crate::model::Timestamp>,
}

impl Decision {
    pub(super) fn of(request_id: Uuid, plan: Option<Plan>) -> Self {
        Self { request_id, plan, content: None, version: None, intent: None, pole_position_until: None }
    }
}

/// The actions of an update (decision 21): media when images are added or removed, then publish, or unpublish when the ad was
/// hidden.
pub(super) fn update_actions(stored: &StoredAd, content: &Content, sends_images: bool) -> Vec<Action> {
    let before = &stored.ad.content;
    let has_images = content.image_urls().next().is_some()
        || before.image_urls().next().is_some()
        || !stored.ad.image_refs.is_empty();
    let mut actions = vec![Action::Update];
    if sends_images && has_images {
        actions.push(Action::HandleMedia);
    }
    if content.visible() {
        actions.push(Action::Publish);
    } else if before.visible() && stored.intent == AdState::Created {
        actions.push(Action::Unpublish);
    }
    actions
}
