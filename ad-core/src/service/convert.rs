//! Migrate: an ad of V3 becomes one of V4 in place ('Endpoints' rule 7, decision 28).

use serde_json::{Map, Value};

use super::{
    Accepted, Access, Denial, Incoming, Service, ServiceError, Target, ad_ref, category_of,
    write::{Decision, update_actions},
};
use crate::{
    categories::{self, Category},
    fields::not_a_choice,
    model::{Ad, AdState, ApiVersion, Plan},
    ports::StoredAd,
    rulebook::{
        WriteContext,
        versions::{Conversion, VersionError, conversion},
    },
    violation::{Code, Violation},
};

impl Service {
    /// Replaces the content of a V3 ad by a complete V4 payload. Id, source id and log stay, and so do the images if the payload
    /// has no `image_urls`. The category is that of a typed path, or the payload's `category_id` on the generic path.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with all errors of the payload; [`ServiceError::Version`] when the ad is V4 already;
    /// [`ServiceError::Refused`] when it is deleted, needs no migration, or has no category to migrate to;
    /// [`ServiceError::PreconditionFailed`]; [`ServiceError::NotFound`]; [`ServiceError::KeyUsed`].
    pub async fn migrate(
        &self,
        access: &Access,
        incoming: impl Into<Incoming<'_>> + Send,
        target: Target<'_>,
        payload: &Map<String, Value>,
    ) -> Result<Accepted, ServiceError> {
        self.revise(access, incoming.into(), target, |stored| {
            may_migrate(stored)?;
            let ad = &stored.ad;
            let mut payload = payload.clone();
            let sent = payload.remove("category_id");
            let category = match target.category {
                Some(category) if sent.is_none() => Ok(category),
                Some(category) => Err((Some(category), fixed_by_the_path(category))),
                None => category_sent(ad, sent.as_ref()).map_err(|wrong| (None, wrong)),
            };
            let dealer = self.dealer(&ad.dealer_code);
            let check = |category, payload| {
                let write = WriteContext { category, version: ApiVersion::V4, dealer: Some(&dealer) };
                self.rulebook.migrate(write, ad, payload)
            };
            let (category, sends_images) = match category {
                Ok(category) => (category, payload.get("image_urls").is_some_and(|images| !images.is_null())),
                Err((category, wrong)) => {
                    let mut errors = category.and_then(|it| check(it, payload).err()).unwrap_or_default();
                    errors.push("category_id", wrong);
                    return Err(errors.into());
                }
            };
            let checked = check(category, payload)?;
            let actions = update_actions(stored, &checked.content, sends_images);
            Ok(Some(Decision {
                content: Some(checked.content),
                version: Some((ApiVersion::V4, category.id)),
                ..Decision::of(Some(Plan { actions, markets: category.markets() }))
            }))
        })
        .await
    }
}

/// Checks that an ad can migrate.
fn may_migrate(stored: &StoredAd) -> Result<(), ServiceError> {
    let ad = &stored.ad;
    let category = category_of(ad)?;
    let error = match conversion(ad) {
        Conversion::None => VersionError::AlreadyV4(ad_ref(ad)?),
        _ if stored.intent == AdState::Deleted => {
            return Err(Denial::new(Code::AdDeleted, "Ad has been deleted, cannot migrate").into());
        }
        Conversion::Automatic => VersionError::ConvertsByUpdate(ad_ref(ad)?),
        Conversion::Migration if category.targets().next().is_none() => VersionError::NoTarget(ad_ref(ad)?),
        Conversion::Migration => return Ok(()),
    };
    Err(error.into())
}

fn fixed_by_the_path(category: &Category) -> Violation {
    Violation::stated(Code::NotAllowed, format!("Must not be sent: the path fixes it ({}).", category.id))
}

/// The category in a payload on the generic path, to which the ad must be able to migrate.
fn category_sent(ad: &Ad, sent: Option<&Value>) -> Result<&'static Category, Violation> {
    let targets: Vec<_> = ad.category().into_iter().flat_map(Category::targets).map(|(_, target)| target).collect();
    let sent = sent.filter(|sent| !sent.is_null()).ok_or(Violation::Required)?;
    let id = categories::sent_id(sent);
    if let Some(target) = targets.iter().find(|target| Some(target.id) == id) {
        return Ok(target);
    }
    let ids: Vec<_> = targets.iter().map(|target| target.id.to_string()).collect();
    Err(not_a_choice(sent, ids.iter().map(String::as_str)))
}
