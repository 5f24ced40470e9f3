//! Bump, pole position and retry.

use std::sync::Mutex;

use super::{Accepted, Access, Denial, Incoming, Service, ServiceError, Target, category_of, write::Decision};
use crate::{
    lock::locked,
    model::{Action, Ad, AdState, Amount, Exclusions, Market, POLE_POSITION, Plan, PromotionKind},
    ports::{LogEntries, StoredAd},
    violation::Code,
};

impl Service {
    /// Renews an ad ('Endpoints' rule 4).
    ///
    /// # Errors
    /// [`ServiceError::Refused`] with every rule that forbids it; [`ServiceError::PreconditionFailed`];
    /// [`ServiceError::NotFound`]; [`ServiceError::KeyUsed`].
    pub async fn bump(
        &self,
        access: &Access,
        incoming: impl Into<Incoming<'_>> + Send,
        target: Target<'_>,
        exclude: Exclusions,
    ) -> Result<Accepted, ServiceError> {
        self.promote(access, incoming.into(), target, "bump", |stored| self.bump_of(stored, exclude)).await
    }

    /// Gives an ad pole position for three days ('Endpoints' rule 5).
    ///
    /// # Errors
    /// [`ServiceError::Refused`] with every rule that forbids it; [`ServiceError::PreconditionFailed`];
    /// [`ServiceError::NotFound`]; [`ServiceError::KeyUsed`].
    pub async fn pole_position(
        &self,
        access: &Access,
        incoming: impl Into<Incoming<'_>> + Send,
        target: Target<'_>,
    ) -> Result<Accepted, ServiceError> {
        self.promote(access, incoming.into(), target, "give pole position", |stored| self.pole_position_of(stored))
            .await
    }

    /// Checks a promotion as [`bump`](Self::bump) and [`pole_position`](Self::pole_position) do, except for quotas, and stores nothing.
    ///
    /// # Errors
    /// Those of the promotion.
    pub async fn check_promotion(
        &self,
        access: &Access,
        target: Target<'_>,
        kind: PromotionKind,
        exclude: Exclusions,
    ) -> Result<Ad, ServiceError> {
        let (stored, _) = self.locate(access, target, LogEntries::Omitted).await?;
        let decision = match kind {
            PromotionKind::Bump => self.bump_of(&stored, exclude)?,
            PromotionKind::PolePosition => self.pole_position_of(&stored)?,
        };
        if let Some(refusal) = decision.refusal {
            return Err(refusal);
        }
        let markets = decision.plan.map_or_else(Vec::new, |plan| plan.markets);
        let is_listed = markets.iter().any(|market| stored.ad.listing(*market).is_some());
        if !is_listed && !self.store.has_unfinished(stored.ad.id).await? {
            return Err(Denial::new(Code::AdNotPublished, "Ad is not published").into());
        }
        if self.directory.suspended(&stored.ad.dealer_code).is_some() {
            return Err(
                Denial::new(Code::DealerSuspended, "The operator of the service has suspended the dealer").into()
            );
        }
        Ok(stored.ad)
    }

    /// What a promotion of an ad costs by its dealer's tariff: its price on each marketplace; `None`: it has no price.
    pub fn cost_of(&self, ad: &Ad, kind: PromotionKind, exclude: Exclusions) -> Option<Amount> {
        let dealer = self.dealer(&ad.dealer_code);
        let price = dealer.tariff.as_ref()?.price(kind)?;
        let count = match kind {
            PromotionKind::PolePosition => 1,
            PromotionKind::Bump => {
                let permitted = |market: &Market| dealer.bump.contains(market) && !exclude.has(*market);
                ad.category()?.markets().into_iter().filter(permitted).count()
            }
        };
        Some(price.times(u32::try_from(count).unwrap_or(u32::MAX)))
    }

    fn bump_of(&self, stored: &StoredAd, exclude: Exclusions) -> Result<Decision, ServiceError> {
        let category = category_of(&stored.ad)?;
        let mut refusals = showing(stored, "bump");
        if exclude.primary && exclude.secondary {
            refusals.push(Denial::new(Code::NotAllowed, "At most one marketplace can be excluded"));
        }
        if !category.registered && (exclude.primary || exclude.secondary) {
            let text = "Marketplaces can be excluded for registered vehicles only";
            refusals.push(Denial::new(Code::NotAllowed, text));
        }
        let permitted = &self.dealer(&stored.ad.dealer_code).bump;
        let mut markets = category.markets();
        markets.retain(|market| permitted.contains(market));
        if markets.is_empty() {
            let text = "Dealer has no permission to bump ads on any marketplace of this ad";
            refusals.push(Denial::new(Code::PromotionNotPermitted, text));
        }
        markets.retain(|market| !exclude.has(*market));
        if markets.is_empty() && refusals.is_empty() {
            let text = "Dealer has no permission to bump ads on the marketplace that is left";
            refusals.push(Denial::new(Code::PromotionNotPermitted, text));
        }
        allowed(refusals)?;
        Ok(Decision::of(Some(Plan { actions: vec![Action::Bump], markets })).coalescing())
    }

    fn pole_position_of(&self, stored: &StoredAd) -> Result<Decision, ServiceError> {
        let now = self.clock.now();
        let mut refusals = showing(stored, "give pole position");
        if !category_of(&stored.ad)?.registered {
            refusals.push(Denial::new(Code::NotAllowed, "Pole position is for registered vehicles only"));
        }
        let active = stored
            .pole_position_until
            .filter(|until| *until > now)
            .map(|until| Denial::new(Code::PolePositionActive, format!("Ad already has pole position until {until}")));
        if !refusals.is_empty() {
            refusals.extend(active);
            return Err(ServiceError::Refused(refusals));
        }
        let plan = Plan { actions: vec![Action::Boost], markets: vec![Market::Primary] };
        Ok(Decision {
            // Recorded as requested now, so that a repeated request is not charged twice.
            pole_position_until: Some(now + POLE_POSITION),
            refusal: active.map(ServiceError::from),
            ..Decision::of(Some(plan)).coalescing()
        })
    }

    /// Accepts a promotion, unless no marketplace of it lists the ad (decision 24): the ad has no listing there, and no
    /// unfinished request that could publish one. While one of the same plan is unfinished, it serves for this one too.
    async fn promote(
        &self,
        access: &Access,
        incoming: Incoming<'_>,
        target: Target<'_>,
        what: &str,
        decide: impl Fn(&StoredAd) -> Result<Decision, ServiceError> + Send + Sync,
    ) -> Result<Accepted, ServiceError> {
        let unlisted = Mutex::new(None);
        let (decide, found_unlisted) = (&decide, &unlisted);
        let accept = |may_be_listed: bool| {
            self.revise(access, incoming, target, move |stored| {
                let decision = decide(stored)?;
                let markets = decision.plan.as_ref().map_or(&[][..], |plan| &plan.markets);
                let is_listed = markets.iter().any(|market| stored.ad.listing(*market).is_some());
                if is_listed || may_be_listed || decision.refusal.is_some() {
                    return Ok(Some(decision));
                }
                let markets = markets.iter().map(|market| market.name()).collect::<Vec<_>>().join(" or ");
                let text = format!(
                    "Ad is not published on the {markets} marketplace, cannot {what}; its log says why, and retry publishes it"
                );
                *locked(found_unlisted) = Some(stored.ad.id);
                Err(Denial::new(Code::AdNotPublished, text).into())
            })
        };
        let refused = accept(false).await;
        let Some(ad) = locked(&unlisted).take() else { return refused };
        let may_be_listed = self.store.has_unfinished(ad).await?;
        // Read again: a request that was unfinished a moment ago may have published a listing.
        accept(may_be_listed).await
    }

    /// Does what the ad's failed requests left undone, or else publishes again (decision 24).
    ///
    /// # Errors
    /// [`ServiceError::Refused`] when the ad is deleted; [`ServiceError::PreconditionFailed`];
    /// [`ServiceError::NotFound`]; [`ServiceError::KeyUsed`].
    pub async fn retry(
        &self,
        access: &Access,
        incoming: impl Into<Incoming<'_>> + Send,
        target: Target<'_>,
    ) -> Result<Accepted, ServiceError> {
        self.revise(access, incoming.into(), target, |stored| {
            allowed(deleted(stored, "retry").into_iter().collect())?;
            let paid = self.paid_by_retry(&stored.ad.dealer_code, stored.leftover.promotion.as_ref());
            Ok(Some(Decision { paid, ..Decision::of(None).coalescing() }))
        })
        .await
    }
}

fn allowed(refusals: Vec<Denial>) -> Result<(), ServiceError> {
    if refusals.is_empty() { Ok(()) } else { Err(ServiceError::Refused(refusals)) }
}

pub(super) fn deleted(stored: &StoredAd, what: &str) -> Option<Denial> {
    let denial = || Denial::new(Code::AdDeleted, format!("Ad has been deleted, cannot {what}"));
    (stored.intent == AdState::Deleted).then(denial)
}

/// The rules that forbid promoting a deleted or hidden ad.
fn showing(stored: &StoredAd, what: &str) -> Vec<Denial> {
    let hidden = || Denial::new(Code::AdHidden, format!("Ad is not visible, cannot {what}"));
    let hidden = (!stored.ad.content.visible()).then(hidden);
    deleted(stored, what).into_iter().chain(hidden).collect()
}
