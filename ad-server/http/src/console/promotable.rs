//! What a promotion of ads would cost, before it is ordered: each ad with its price, what is left of the budget, ads that were promoted a
//! moment ago, and those that cannot be promoted.

use std::{collections::BTreeMap, time::Duration};

use ad_core::{
    model::{Ad, Amount, Exclusions, PromotionKind, Timestamp},
    service::ServiceError,
    violation::Code,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use maud::{Markup, html};

use super::{
    act::AdKey,
    named::{self, AT_ONCE, cost, found, money, not_promoted},
    show,
    visitor::Visit,
};
use crate::api::ApiError;

/// How long after a bump the page says when that was.
const RECENT: Duration = Duration::from_hours(24);

/// An ad that is to be promoted.
struct Candidate {
    key: AdKey,
    ad: Option<Ad>,
    cost: Option<Amount>,
    /// Why it cannot be promoted.
    refused: Option<Code>,
    /// When its latest bump was done, if that was a short time ago.
    bumped: Option<Timestamp>,
}

/// What is left of the budget of a dealer.
struct OfDealer {
    name: String,
    currency: String,
    left: Option<Amount>,
    /// What the promotion costs; `None`: it is free.
    sum: Option<Amount>,
    markets: Vec<ad_core::model::Market>,
}

/// Ads that are to be promoted, and the accounts of their dealers by code.
pub(super) struct Promotable {
    kind: PromotionKind,
    ads: Vec<Candidate>,
    dealers: BTreeMap<String, OfDealer>,
}

impl Promotable {
    /// Checks each ad as the promotion does. Nothing is ordered.
    pub(super) async fn read(visit: &Visit, kind: PromotionKind, keys: &[AdKey]) -> Result<Self, ApiError> {
        // Reserves a place among the reads of its dealers.
        let mut turn = visit.visitor.context.limits.lists.turn(visit.caller.scope.name()).await?;
        let candidates = stream::iter(keys.to_vec()).map(|key| candidate(visit, kind, key));
        let ads: Vec<_> = candidates.buffered(AT_ONCE).try_collect().await?;
        let service = &visit.visitor.context.service;
        let mut dealers = BTreeMap::new();
        for dealer in service.dealers_in(&visit.caller.scope) {
            let of_dealer = |it: &&Candidate| it.ad.as_ref().is_some_and(|ad| ad.dealer_code == dealer.code);
            if !ads.iter().any(|it| of_dealer(&it)) {
                continue;
            }
            let costs = ads.iter().filter(of_dealer).filter(|it| it.refused.is_none()).filter_map(|it| it.cost);
            let sum = costs.reduce(|one, other| one + other);
            // A dealer may have a limit of its own, also where promotions are free.
            let left = service.account(&dealer.code).await?.budget.left;
            let facts = OfDealer {
                name: dealer.name.clone(),
                currency: dealer.currency.clone(),
                left,
                sum,
                markets: dealer.bump.clone(),
            };
            dealers.insert(dealer.code.clone(), facts);
        }
        turn.has_read();
        Ok(Self { kind, ads, dealers })
    }

    /// The ads that can be promoted, as forms name them.
    pub(super) fn sent(&self) -> Vec<String> {
        let can = self.ads.iter().filter(|it| it.refused.is_none()).filter_map(|it| it.ad.as_ref());
        can.map(|ad| AdKey::query(&ad.source_id, &ad.dealer_code)).collect()
    }

    /// What it costs, for each ad and together, and what is left.
    pub(super) fn shown(&self, visit: &Visit) -> Markup {
        let texts = visit.visitor.texts;
        let (sent, refused): (Vec<_>, Vec<_>) = self.ads.iter().partition(|it| it.refused.is_none());
        html! {
            @for dealer in self.dealers.values() { (self.of_dealer(visit, dealer)) }
            @if sent.is_empty() { p { strong { (texts.nothing_to_promote) } } }
            ul.plain.selection { @for candidate in sent { li { (self.line(visit, candidate)) } } }
            @if !refused.is_empty() {
                h2 { (texts.not_sent) " (" (refused.len()) ")" }
                ul.plain.selection.left-out { @for candidate in refused { li { (self.line(visit, candidate)) } } }
            }
        }
    }

    fn of_dealer(&self, visit: &Visit, dealer: &OfDealer) -> Markup {
        let texts = visit.visitor.texts;
        let markets: Vec<_> = dealer.markets.iter().map(|market| texts.market(*market)).collect();
        html! {
            @if self.kind == PromotionKind::Bump {
                p { strong { (dealer.name) } ": " (texts.may_bump_on) " " (if markets.is_empty() { texts.nowhere.to_owned() } else { markets.join(", ") }) }
            }
            @if dealer.sum.is_some() || dealer.left.is_some() {
                p {
                    strong { (dealer.name) } ": " (texts.sum) " " strong.count { (cost(visit, dealer.sum, &dealer.currency)) }
                    @if let Some(left) = dealer.left { ". " (money(visit.visitor.language, left, &dealer.currency)) " " (texts.left_this_month) "." }
                }
                @if dealer.sum.zip(dealer.left).is_some_and(|(sum, left)| sum > left) { p.field-error { (texts.more_than_left) } }
            }
        }
    }

    fn line(&self, visit: &Visit, candidate: &Candidate) -> Markup {
        let texts = visit.visitor.texts;
        let now = visit.visitor.console.clock.now();
        let currency =
            candidate.ad.as_ref().and_then(|ad| self.dealers.get(&ad.dealer_code)).map(|it| it.currency.as_str());
        html! {
            @match &candidate.ad {
                Some(ad) => (named::link(&visit.visitor, ad)),
                None => code { (candidate.key.source_id) },
            }
            @match candidate.refused {
                Some(code) => { ": " (not_promoted(texts, code)) }
                None => { ": " strong { (cost(visit, candidate.cost, currency.unwrap_or_default())) } }
            }
            @if let (Some(bumped), None) = (candidate.bumped, candidate.refused) {
                " · " span.badge.attention.wraps {
                    (texts.bumped_recently) " " (show::age(texts, bumped, now)) " " (texts.ago)
                    @if candidate.cost.is_some() { "; " (texts.charged_again) }
                }
            }
        }
    }
}

async fn candidate(visit: &Visit, kind: PromotionKind, key: AdKey) -> Result<Candidate, ApiError> {
    let (service, scope) = (&visit.visitor.context.service, &visit.caller.scope);
    let nothing = |refused| Candidate { key: key.clone(), ad: None, cost: None, refused, bumped: None };
    let Some(tagged) = found(service.read_without_log(scope, key.target()).await)? else {
        return Ok(nothing(Some(Code::NotFound)));
    };
    let ad = tagged.ad;
    let target = key.target().of_dealer(Some(&ad.dealer_code));
    let none = Exclusions::default();
    let refused = match service.check_promotion(scope, target, kind, none).await {
        Ok(_) => None,
        Err(error @ ServiceError::Store(_)) => return Err(error.into()),
        Err(ServiceError::Refused(denials)) => Some(denials.first().map_or(Code::NotAllowed, |it| it.code)),
        Err(_) => Some(Code::NotFound),
    };
    let bumped = match (kind, refused) {
        (PromotionKind::Bump, None) => {
            let report = found(service.status(scope, target).await)?;
            let now = visit.visitor.console.clock.now();
            report.and_then(|it| it.promotions.bump.ended).filter(|ended| now - *ended < RECENT)
        }
        _ => None,
    };
    let cost = service.cost_of(&ad, kind, none);
    Ok(Candidate { ad: Some(ad), cost, refused, bumped, ..nothing(None) })
}
