//! What a dealer has, and what it uses of its limits.

use std::collections::BTreeMap;

use ad_core::{
    model::{AdStatus, Dealer, Timestamp},
    ports::{Scope, Store, StoreError, Usage},
    quotas::DealerQuotas,
    service::Access,
};
use serde::Serialize;

use ad_server_store::{Database, Hold, HoldTarget, TokenRecord};

/// A dealer, imported or not.
#[derive(Debug)]
pub struct DealerFacts {
    /// `None` if it was not imported.
    pub dealer: Option<Dealer>,
    pub suspended: Option<Hold>,
    pub ads: BTreeMap<AdStatus, u64>,
    /// Number of its valid tokens.
    pub tokens: usize,
    pub limits: [DealerUsage; 5],
}

/// What a dealer uses, and the limit of the settings.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DealerUsage {
    pub what: &'static str,
    pub number: u64,
    pub limit: Option<u64>,
    pub setting: &'static str,
}

impl DealerFacts {
    /// Whether there is such a dealer: it was imported, is suspended, or has ads or valid tokens.
    pub fn is_known(&self) -> bool {
        let Self { dealer, suspended, ads, tokens, limits: _ } = self;
        dealer.is_some() || suspended.is_some() || !ads.is_empty() || *tokens > 0
    }

    pub async fn read(
        database: &Database,
        store: &dyn Store,
        quotas: DealerQuotas,
        code: &str,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let dealer = database.dealers().await?.into_iter().find(|dealer| dealer.code == code);
        let holds = database.holds().await?;
        let suspended =
            holds.into_iter().find(|(held, _)| *held == HoldTarget::Dealer(code.to_owned())).map(|(_, hold)| hold);
        let mut ads = BTreeMap::<AdStatus, u64>::new();
        for count in store.count_by_status(Scope::Dealer(code)).await? {
            *ads.entry(count.words.status).or_default() += count.ads;
        }
        let is_valid = |token: &TokenRecord| token.revoked.is_none() && token.expires.is_none_or(|end| end > now);
        let tokens = database.tokens().await?;
        let tokens = tokens.iter().filter(|token| token.is_of(code) && is_valid(token)).count();
        let used = async |of, what, limit, setting, whose: &str| -> Result<DealerUsage, StoreError> {
            let number = store.usage(whose, of, u64::from(u32::MAX)).await?;
            Ok(DealerUsage { what, number, limit, setting })
        };
        let holder = Access::Dealer(code.to_owned()).key();
        let answer_bytes = DealerUsage {
            what: "idempotency bytes",
            number: database.answer_bytes(&holder).await?,
            limit: quotas.answer_bytes,
            setting: "dealer_idempotency_bytes",
        };
        let limits = [
            used(Usage::Requests, "unfinished requests", quotas.requests, "dealer_requests", code).await?,
            used(Usage::Ads, "ads", quotas.ads, "dealer_ads", code).await?,
            used(Usage::ImageBytes, "image bytes", quotas.image_bytes, "dealer_image_bytes", code).await?,
            used(Usage::Answers, "idempotency keys", quotas.answers, "dealer_idempotency_keys", &holder).await?,
            answer_bytes,
        ];
        Ok(Self { dealer, suspended, ads, tokens, limits })
    }
}
