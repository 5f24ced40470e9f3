//! Use cases of a new ad: create, and validate without storing.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Acceptance, Accepted, Access, Incoming, Service, ServiceError, UsedBy};
use crate::{
    categories::{Category, TRAILER},
    model::{Action, ActionState, Ad, AdState, AdTag, ApiVersion, Content, Dealer, LogEntry, Plan, plate},
    ports::{LogEntries, NewAd, Scope, StoreError, Usage},
    quality::{Measured, Quality},
    rulebook::{CheckedPayload, SourceId, WriteContext, payload, versions::VersionError},
    violation::{Code, Violation, Warning, nearest},
};

/// How many dealers of a group an error names.
const MOST_NAMED: usize = 10;

/// The path to which the payload of a new ad is sent.
#[derive(Debug, Clone, Copy, derive_more::From)]
pub enum CreatePath {
    /// `/v4/{vehicle_type}`: the path has the category.
    V4(&'static Category),
    /// `/v3/ad`: the payload has the category.
    V3,
}

/// The ad that a create would make (decision 7).
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// The client's reference, if one was sent.
    pub source_id: Option<String>,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// Number of the category ('Category identifiers').
    pub category_id: u16,
    /// The content as it would be stored.
    pub content: Content,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Warning>,
    /// How good the ad would be.
    pub quality: Quality,
}

/// A payload that passed all checks, ready to be stored.
struct CheckedCreate {
    version: ApiVersion,
    category: &'static Category,
    dealer: Arc<Dealer>,
    checked: CheckedPayload,
}

impl Service {
    /// Creates an ad: stores it with its request and the first entry of its log ('Endpoints' rule 1).
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors of the payload; [`ServiceError::Duplicate`];
    /// [`ServiceError::Version`] for a trailer; [`ServiceError::Refused`] when the dealer's quota of ads is used up, and
    /// [`ServiceError::TooManyRequests`] when that of requests or of kept answers is; [`ServiceError::KeyUsed`].
    pub async fn create(
        &self,
        access: &Access,
        incoming: impl Into<Incoming<'_>> + Send,
        through: impl Into<CreatePath> + Send,
        payload: Map<String, Value>,
    ) -> Result<Accepted, ServiceError> {
        let incoming = incoming.into();
        let creation = self.check_create(access, through.into(), payload, SourceId::Required)?;
        let CheckedCreate { version, category, dealer, checked } = creation;
        let now = self.clock.now();
        let ad = Ad {
            id: self.ids.next(),
            source_id: checked.source_id,
            dealer_code: dealer.code.clone(),
            category_id: category.id,
            state: AdState::Created,
            api_version: version,
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
        let mut request = self.accept(incoming, Some(Plan { actions, markets: category.markets() }));
        // Its first log entry is stored together with the ad.
        request.progress.begun = true;
        let entry = LogEntry::new(incoming.id, now, Action::Create, ActionState::Processing, "Processing".into());
        self.admit_one(&ad.dealer_code, Usage::Ads).await?;
        self.admit_request(&ad.dealer_code).await?;
        self.admit_answer(incoming).await?;
        // The first log entry moves the tag.
        let tag = AdTag::of_new_ad(self.store.epoch());
        let accepted =
            Accepted { ad, tag, failed_images: Vec::new(), warnings: checked.warnings, request: Acceptance::Queued };
        let kept = self.answer_to_keep(incoming, &accepted, now).await?;
        let ad = &accepted.ad;
        match self.store.create(NewAd { ad, request: &request, entry: &entry, answer: kept.as_ref() }).await {
            Ok(()) => {}
            Err(StoreError::Duplicate) => {
                return Err(self.duplicate(&ad.dealer_code, &ad.source_id, &ad.content).await);
            }
            Err(error) => return Err(error.into()),
        }
        self.added(&ad.dealer_code, Usage::Ads);
        self.added(&ad.dealer_code, Usage::Requests);
        self.answer_kept(incoming);
        Ok(accepted)
    }

    /// Checks a payload as a create does, except for the quota of requests, and stores nothing.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub async fn validate(
        &self,
        access: &Access,
        through: impl Into<CreatePath> + Send,
        payload: Map<String, Value>,
    ) -> Result<Validated, ServiceError> {
        let creation = self.check_create(access, through.into(), payload, SourceId::Optional)?;
        let CheckedCreate { category, dealer, checked, .. } = creation;
        let source_id = (!checked.source_id.is_empty()).then_some(checked.source_id);
        if let Some(source_id) = &source_id
            && self.store.is_used(&dealer.code, source_id).await?
        {
            return Err(self.duplicate(&dealer.code, source_id, &checked.content).await);
        }
        self.admit_one(&dealer.code, Usage::Ads).await?;
        let measured = Measured::new(category, checked.content.fields(), self.clock.now());
        let measured = measured.with_private_images(self.rulebook.settings.http_images);
        let same = self.same_vehicle(category, &dealer.code, &checked.content, source_id.as_deref()).await?;
        let registered = self.registered(category, &checked.content).await;
        let quality = measured.with_same_vehicle(&same).with_registered(registered.as_ref()).quality();
        Ok(Validated {
            source_id,
            dealer_code: dealer.code.clone(),
            category_id: category.id,
            content: checked.content,
            warnings: checked.warnings.into_iter().chain(quality.warnings()).collect(),
            quality,
        })
    }

    /// The refusal of an ad whose source id is used.
    async fn duplicate(&self, dealer_code: &str, source_id: &str, sent: &Content) -> ServiceError {
        let found = self.store.find(Scope::Dealer(dealer_code), source_id, LogEntries::Omitted).await;
        let used_by = match found.unwrap_or_default().pop() {
            Some((stored, _)) if stored.intent == AdState::Deleted => {
                UsedBy::Deleted { registered: stored.ad.category().is_some_and(|category| category.registered) }
            }
            Some((stored, _)) => match stored.ad.content.registration_number().zip(sent.registration_number()) {
                Some((own, other)) if plate(&own) != plate(&other) => UsedBy::OtherVehicle(plate(&own)),
                _ => UsedBy::Ad,
            },
            None => UsedBy::Ad,
        };
        ServiceError::Duplicate { source_id: source_id.to_owned(), dealer_code: dealer_code.to_owned(), used_by }
    }

    fn check_create(
        &self,
        access: &Access,
        through: CreatePath,
        payload: Map<String, Value>,
        source_id: SourceId,
    ) -> Result<CheckedCreate, ServiceError> {
        let (version, category) = match through {
            CreatePath::V4(category) => (ApiVersion::V4, Ok(category)),
            CreatePath::V3 => (ApiVersion::V3, payload::category(ApiVersion::V3, payload.get("category_id"))),
        };
        if category.as_ref().is_ok_and(|category| category.id == TRAILER) {
            return Err(VersionError::TrailerCreateDisabled.into());
        }
        let dealer = self.dealer_of(access, payload.get("dealer_code"));
        let checked = match &category {
            Ok(category) => {
                let write = WriteContext { category, version, dealer: dealer.as_deref().ok() };
                self.rulebook.create(write, payload, source_id)
            }
            Err(_) => Err(self.rulebook.without_category(version, payload, source_id)),
        };
        match (category, dealer, checked) {
            (Ok(category), Ok(dealer), Ok(checked)) => Ok(CheckedCreate { version, category, dealer, checked }),
            (category, dealer, checked) => {
                let mut errors = checked.err().unwrap_or_default();
                if let Err(wrong) = category {
                    errors.put("category_id", wrong);
                }
                if let Err(Some(wrong)) = dealer {
                    errors.push("dealer_code", wrong);
                }
                Err(errors.into())
            }
        }
    }

    /// The dealer of a create, or the error of its `dealer_code`; `Err(None)` if the check of the table reports it.
    pub(super) fn dealer_of(&self, access: &Access, sent: Option<&Value>) -> Result<Arc<Dealer>, Option<Violation>> {
        let sent = match sent {
            None | Some(Value::Null) => None,
            Some(Value::String(code)) => Some(code.as_str()),
            Some(_) => return Err(None),
        };
        match (access, sent) {
            (Access::Dealer(code), None) => Ok(self.dealer(code)),
            (Access::Dealer(code), Some(sent)) if sent == code => Ok(self.dealer(code)),
            (Access::Dealer(code), Some(sent)) => {
                let text =
                    format!("\"{sent}\" is outside the token's scope; leave dealer_code out, or send \"{code}\".");
                Err(Some(Violation::stated(Code::NotAllowed, text)))
            }
            (Access::Operator, _) => {
                let text = "The token's scope has no dealer.";
                Err(Some(Violation::stated(Code::NotAllowed, text)))
            }
            (Access::Group(group), None) => {
                let note = match &*self.directory.group(group) {
                    [] => "The token's scope is a dealer group, which has no dealers yet.".to_owned(),
                    codes => {
                        let shown = nearest::quoted(codes.iter().take(MOST_NAMED).map(String::as_str));
                        let more = if codes.len() > MOST_NAMED { " and others" } else { "" };
                        format!("The token's scope is a dealer group; say which dealer's ad it is: {shown}{more}.")
                    }
                };
                Err(Some(Violation::stated(Code::Required, "This field is required.").with_note(Some(note))))
            }
            (Access::Group(group), Some(sent)) => {
                let codes = self.directory.group(group);
                if codes.iter().any(|code| code == sent) {
                    return Ok(self.dealer(sent));
                }
                let hint = nearest::did_you_mean(sent, codes.iter().map(String::as_str));
                let text = format!("\"{sent}\" is not a dealer of the token's group.");
                Err(Some(Violation::stated(Code::InvalidChoice, text).with_note(hint)))
            }
        }
    }
}
