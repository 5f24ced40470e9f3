//! Create, validate, update and delete.

use std::sync::Arc;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{ATTEMPTS, Access, Service, ServiceError, Target, category_of, markets};
use crate::{
    ad::{Ad, AdState, ApiVersion, Content},
    categories::Category,
    fields::FieldErrors,
    log::{Action, ActionState, LogEntry},
    ports::{Dealer, NewAd, Revision, StoreError, StoredAd},
    request::{Plan, Progress},
    rulebook::{Checked, Warning, Write},
};

/// What a payload would become (decision 7).
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// The client's reference, if one was sent.
    pub source_id: Option<String>,
    /// The dealer.
    pub dealer_code: String,
    /// The category.
    pub category_id: u16,
    /// The content as it would be stored.
    pub content: Content,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Warning>,
}

impl Service {
    /// Creates an ad: stores it with its request and the first entry of its log ('Endpoints' rule 1).
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors of the payload; [`ServiceError::Duplicate`].
    pub async fn create(
        &self,
        access: &Access,
        request_id: Uuid,
        category: &'static Category,
        payload: Map<String, Value>,
    ) -> Result<Ad, ServiceError> {
        let (dealer, checked) = self.check_create(access, category, payload, false)?;
        let now = self.clock.now();
        let ad = Ad {
            id: self.ids.next(),
            source_id: checked.source_id,
            dealer_code: dealer.code.clone(),
            category_id: category.id,
            state: AdState::Created,
            api_version: ApiVersion::V4,
            content: checked.content,
            image_refs: Vec::new(),
            marketplace_ad_id: None,
            offer_id: None,
            created: now,
            updated: now,
        };
        let mut actions = vec![Action::Create];
        if ad.content.image_urls().next().is_some() {
            actions.push(Action::HandleMedia);
        }
        if ad.content.visible() {
            actions.push(Action::Publish);
        }
        let mut request = self.accept(request_id, Some(Plan { actions, markets: markets(category) }));
        // Its first entry is written along with the ad.
        request.progress = Progress { begun: true, ..Progress::default() };
        let entry = LogEntry {
            request_id,
            created: now,
            action: Action::Create,
            state: ActionState::Processing,
            external_message: "Processing".into(),
        };
        match self.store.create(NewAd { ad: &ad, request: &request, entry: &entry }).await {
            Ok(()) => Ok(ad),
            Err(StoreError::Duplicate) => Err(ServiceError::Duplicate),
            Err(error) => Err(error.into()),
        }
    }

    /// Checks what a create would check, and stores nothing.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn validate(
        &self,
        access: &Access,
        category: &'static Category,
        payload: Map<String, Value>,
    ) -> Result<Validated, ServiceError> {
        let (dealer, checked) = self.check_create(access, category, payload, true)?;
        let source_id = (!checked.source_id.is_empty()).then_some(checked.source_id);
        if let Some(source_id) = &source_id
            && self.store.is_used(&dealer.code, source_id).await?
        {
            return Err(ServiceError::Duplicate);
        }
        Ok(Validated {
            source_id,
            dealer_code: dealer.code.clone(),
            category_id: category.id,
            content: checked.content,
            warnings: checked.warnings,
        })
    }

    fn check_create(
        &self,
        access: &Access,
        category: &'static Category,
        payload: Map<String, Value>,
        source_id_optional: bool,
    ) -> Result<(Arc<Dealer>, Checked), FieldErrors> {
        let dealer = self.dealer_of(access, payload.get("dealer_code"));
        let write = Write { category, version: ApiVersion::V4, dealer: dealer.as_deref().ok() };
        let checked = self.rulebook.create(write, payload, source_id_optional);
        match (dealer, checked) {
            (Ok(dealer), Ok(checked)) => Ok((dealer, checked)),
            (Err(messages), checked) => {
                let mut errors = checked.err().unwrap_or_default();
                for message in messages {
                    errors.push("dealer_code", message);
                }
                Err(errors)
            }
            (Ok(_), Err(errors)) => Err(errors),
        }
    }

    /// The dealer of a create, or what is wrong with its `dealer_code`.
    fn dealer_of(&self, access: &Access, sent: Option<&Value>) -> Result<Arc<Dealer>, Vec<String>> {
        let sent = match sent {
            None | Some(Value::Null) => None,
            Some(Value::String(code)) => Some(code.as_str()),
            // The table says what is wrong with it.
            Some(_) => return Err(Vec::new()),
        };
        match (access, sent) {
            (Access::Dealer(code), None) => Ok(self.dealer(code)),
            (Access::Dealer(code), Some(sent)) if sent == code => Ok(self.dealer(code)),
            (Access::Dealer(code), Some(sent)) => Err(vec![format!(
                "\"{sent}\" is outside the token's scope; leave dealer_code out, or send \"{code}\"."
            )]),
            (Access::Group(_), None) => Err(vec![
                "This field is required.".to_owned(),
                "The token's scope is a dealer group; say which dealer's ad it is.".to_owned(),
            ]),
            (Access::Group(group), Some(sent)) => {
                let codes = self.directory.group(group);
                if codes.iter().any(|code| code == sent) {
                    return Ok(self.dealer(sent));
                }
                let mut messages = vec![format!("\"{sent}\" is not a dealer of the token's group.")];
                messages.extend(crate::nearest::did_you_mean(sent, codes.iter().map(String::as_str)));
                Err(messages)
            }
        }
    }

    /// Updates an ad by a deep merge ('Endpoints' rule 2); PUT and PATCH are the same.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors of the merged ad, [`ServiceError::Refused`] when it is deleted and
    /// cannot be revived, [`ServiceError::NotFound`].
    pub async fn update(
        &self,
        access: &Access,
        request_id: Uuid,
        target: Target<'_>,
        patch: &Map<String, Value>,
    ) -> Result<Ad, ServiceError> {
        self.revise(access, target, |stored| {
            let category = category_of(&stored.ad)?;
            let deleted = stored.intent == AdState::Deleted;
            if deleted && category.registered {
                return Err(ServiceError::Refused(vec!["Ad has been deleted, cannot update".to_owned()]));
            }
            let dealer = self.dealer(&stored.ad.dealer_code);
            let write = Write { category, version: ApiVersion::V4, dealer: Some(&dealer) };
            let checked = self.rulebook.update(write, &stored.ad, patch.clone())?;
            let actions = update_actions(stored, &checked.content, patch.contains_key("image_urls"));
            Ok(Some(Decision {
                content: Some(checked.content),
                intent: deleted.then_some(AdState::Created),
                ..Decision::of(request_id, Some(Plan { actions, markets: markets(category) }))
            }))
        })
        .await
    }

    /// Deletes an ad softly ('Endpoints' rule 3): its state changes when a worker has taken it off the marketplaces.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub async fn delete(&self, access: &Access, request_id: Uuid, target: Target<'_>) -> Result<Ad, ServiceError> {
        self.revise(access, target, |stored| {
            if stored.intent == AdState::Deleted {
                return Ok(None);
            }
            let plan = Plan { actions: vec![Action::Delete], markets: markets(category_of(&stored.ad)?) };
            Ok(Some(Decision { intent: Some(AdState::Deleted), ..Decision::of(request_id, Some(plan)) }))
        })
        .await
    }

    /// Reads an ad, decides, and stores the decision with its request; decides anew when the ad has changed in between.
    pub(super) async fn revise(
        &self,
        access: &Access,
        target: Target<'_>,
        decide: impl Fn(&StoredAd) -> Result<Option<Decision>, ServiceError> + Send,
    ) -> Result<Ad, ServiceError> {
        for _ in 0..ATTEMPTS {
            let (mut stored, _) = self.locate(access, target, false).await?;
            let Some(decision) = decide(&stored)? else { return Ok(stored.ad) };
            let request = self.accept(decision.request_id, decision.plan);
            let revised = self
                .store
                .revise(Revision {
                    ad: stored.ad.id,
                    revision: stored.revision,
                    content: decision.content.as_ref(),
                    version: None,
                    intent: decision.intent,
                    pole_position_until: decision.pole_position_until,
                    updated: request.accepted,
                    request: &request,
                })
                .await;
            match revised {
                Ok(()) => {
                    stored.ad.updated = request.accepted;
                    if let Some(content) = decision.content {
                        stored.ad.content = content;
                    }
                    return Ok(stored.ad);
                }
                Err(StoreError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Unavailable("the ad is being changed by many at once".to_owned()).into())
    }
}

/// What a write on an existing ad comes to.
pub(super) struct Decision {
    pub(super) request_id: Uuid,
    pub(super) plan: Option<Plan>,
    pub(super) content: Option<Content>,
    pub(super) intent: Option<AdState>,
    pub(super) pole_position_until: Option<crate::time::Timestamp>,
}

impl Decision {
    pub(super) fn of(request_id: Uuid, plan: Option<Plan>) -> Self {
        Self { request_id, plan, content: None, intent: None, pole_position_until: None }
    }
}

/// What there is to do for an update (decision 21): media when images come or go, then publish, or unpublish when the ad
/// was hidden.
fn update_actions(stored: &StoredAd, content: &Content, sends_images: bool) -> Vec<Action> {
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
