//! A marketplace over HTTP, by the contract in `docs/marketplace-adapter.md`.
//!
//! One call is one try. `answers` interprets the result, the pipeline decides about retries, and the
//! [circuit breaker](ad_server_base::breaker) stops calls to a marketplace that keeps failing.

mod answers;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::{
    lock::locked,
    model::{Market, Timestamp},
    ports::{Answered, Clock, IdempotencyKey, Listing, Marketplace, MarketplaceError, PlateListing, PublishedByPlate},
    violation::Code,
};
use async_trait::async_trait;
use reqwest::{Client, Method, RequestBuilder, StatusCode, header::CONTENT_TYPE};
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use url::Url;

use self::answers::{CallFailure, MarketplaceAnswer, unreadable};
use super::wire::{Boost, FoundListings, IDEMPOTENCY_KEY, Listed, ListedByPlate};
use crate::outbound::{self, NoAnswer, UnreadBody, shown};
use ad_server_base::{
    breaker::{Breaker, BreakerOptions, Open, Transition},
    secret::Secret,
};

/// Largest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;
/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a marketplace is believed not to have the call that publishes by plate.
const NOT_OFFERED: Duration = Duration::from_mins(10);
/// Longest id of a listing.
const MAX_ID: usize = 255;

/// How a marketplace is called.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Its address: the paths of the contract are below it.
    pub base: Url,
    /// The bearer token of the calls.
    pub token: Secret,
    /// For one call, from name resolution to the end of the answer.
    pub timeout: Duration,
    /// When its circuit breaker opens.
    pub breaker: BreakerOptions,
}

pub struct HttpMarketplace {
    market: Market,
    base: Url,
    timeout: Duration,
    client: Client,
    /// Its reason is the kind and the text of the last failure.
    breaker: Breaker<(Code, String)>,
    clock: Arc<dyn Clock>,
    /// When it last said that it cannot publish by plate.
    not_offered: Mutex<Option<Instant>>,
}

ad_server_base::debug_by_name!(HttpMarketplace);

impl HttpMarketplace {
    /// A marketplace with connections of its own. The clock is for answers that name a point in time to come back at.
    ///
    /// # Errors
    /// When there can be no HTTP client, for instance because the machine has no certificates to trust.
    pub fn new(market: Market, options: HttpOptions, clock: Arc<dyn Clock>) -> Result<Self, reqwest::Error> {
        let HttpOptions { base, token, timeout, breaker } = options;
        let client =
            outbound::json_client(Some(&token)).connect_timeout(CONNECT.min(timeout)).timeout(timeout).build()?;
        let breaker = Breaker::new(breaker, breaker.pause / 4);
        Ok(Self { market, base, timeout, client, breaker, clock, not_offered: Mutex::default() })
    }

    pub(super) fn breaker(&self) -> &Breaker<(Code, String)> {
        &self.breaker
    }

    /// A path below the base.
    fn url<'p>(&self, path: impl IntoIterator<Item = &'p str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    fn write<'p>(
        &self,
        method: Method,
        path: impl IntoIterator<Item = &'p str>,
        key: IdempotencyKey,
    ) -> RequestBuilder {
        self.client.request(method, self.url(path)).header(IDEMPOTENCY_KEY, key.to_string())
    }

    /// Makes a call unless the circuit is open, and returns the body of the answer.
    async fn call(&self, request: RequestBuilder) -> Result<Answered<Vec<u8>>, MarketplaceError> {
        self.call_and(request, MarketplaceAnswer::done).await
    }

    /// The same, with a result of the answer.
    async fn call_and<T>(
        &self,
        request: RequestBuilder,
        result_of: impl FnOnce(MarketplaceAnswer) -> Result<T, CallFailure>,
    ) -> Result<T, MarketplaceError> {
        let permit = self.breaker.enter(Instant::now()).map_err(|Open { reason: (code, reason), retry_after }| {
            let reason = format!("circuit breaker open after failed calls: {reason}");
            MarketplaceError::NotAsked { code, reason, retry_after }
        })?;
        let result = match self.answer(request).await {
            Ok(answer) => result_of(answer),
            Err(failed) => Err(failed),
        };
        let transition = match &result {
            Err(CallFailure { error: MarketplaceError::Transient { code, reason, retry_after, .. }, .. }) => {
                permit.failed(Instant::now(), (*code, reason.clone()), *retry_after)
            }
            _ => permit.answered(),
        };
        self.log(transition, result.as_ref().err());
        result.map_err(|failed| failed.error)
    }

    async fn answer(&self, request: RequestBuilder) -> Result<MarketplaceAnswer, CallFailure> {
        let response = request.send().await.map_err(|error| self.no_answer(error))?;
        let (status, retry_after) = (response.status(), outbound::retry_after(&response, self.clock.now()));
        let body = match outbound::body(response, MAX_ANSWER).await {
            Ok(body) => body,
            // The status says that the call failed; the reason fits in less.
            Err(UnreadBody::TooLarge) if !status.is_success() => Vec::new(),
            Err(UnreadBody::TooLarge) => return Err(unreadable(status.as_u16())),
            Err(UnreadBody::Broken(error)) => return Err(self.no_answer(error)),
        };
        Ok(MarketplaceAnswer { status, retry_after, body })
    }

    /// The reason is for the dealer, who need not know where the marketplace is.
    fn no_answer(&self, error: reqwest::Error) -> CallFailure {
        let reason = match NoAnswer::from(&error) {
            NoAnswer::ConnectTimeout | NoAnswer::Timeout => {
                format!("the marketplace did not answer within {}", shown(self.timeout))
            }
            NoAnswer::Name | NoAnswer::Refused | NoAnswer::Connect => "the marketplace cannot be reached".to_owned(),
            NoAnswer::Certificate => "no secure connection to the marketplace".to_owned(),
            NoAnswer::Redirect | NoAnswer::Broken => "the connection to the marketplace broke off".to_owned(),
        };
        let error = error.without_url();
        tracing::debug!(market = %self.market, ?error, "marketplace did not answer");
        CallFailure::unanswered(reason)
    }

    /// Logs what an operator has to know.
    fn log(&self, transition: Option<Transition>, failed: Option<&CallFailure>) {
        let market = self.market;
        if let Some(CallFailure { error, advice: Some(advice) }) = failed {
            tracing::error!(%market, %error, advice, "marketplace call failed; check the configuration");
        }
        match (transition, failed) {
            (Some(Transition::Opened), Some(CallFailure { error, .. })) => {
                tracing::warn!(%market, %error, "circuit breaker opened; marketplace is not called");
            }
            (Some(Transition::Closed), _) => tracing::info!(%market, "circuit breaker closed"),
            _ => {}
        }
    }

    /// The content of an answer. If it cannot be read, the result of the call is unknown, and the call is repeated.
    fn read<T: DeserializeOwned>(&self, answer: &Answered<Vec<u8>>) -> Result<T, MarketplaceError> {
        serde_json::from_slice(&answer.value).map_err(|error| {
            tracing::debug!(market = %self.market, %error, "invalid answer from marketplace");
            self.unreadable(answer.status)
        })
    }

    fn unreadable(&self, status: u16) -> MarketplaceError {
        let failed = unreadable(status);
        self.log(None, Some(&failed));
        failed.error
    }

    /// An id from an answer, if it is valid.
    fn id(&self, status: u16, id: String) -> Result<String, MarketplaceError> {
        // In a path, the last two are relative segments.
        let usable = !id.is_empty() && id.chars().count() <= MAX_ID && !matches!(id.as_str(), "." | "..");
        if usable { Ok(id) } else { Err(self.unreadable(status)) }
    }
}

fn with_body(request: RequestBuilder, body: serde_json::Result<Vec<u8>>) -> Result<RequestBuilder, MarketplaceError> {
    let body = body.map_err(|error| MarketplaceError::refused(error.to_string()))?;
    Ok(request.header(CONTENT_TYPE, "application/json").body(body))
}

#[async_trait]
impl Marketplace for HttpMarketplace {
    async fn publish(&self, key: IdempotencyKey, listing: Listing<'_>) -> Result<Answered<String>, MarketplaceError> {
        let request = self.write(Method::POST, ["listings"], key);
        let answer = self.call(with_body(request, listing.json())?).await?;
        let Listed { id } = self.read(&answer)?;
        Ok(Answered { status: answer.status, value: self.id(answer.status, id)? })
    }

    async fn publish_by_plate(
        &self,
        key: IdempotencyKey,
        listing: Listing<'_>,
        _plate: &str,
    ) -> Result<Answered<Option<PublishedByPlate>>, MarketplaceError> {
        let not_offered = Answered { status: StatusCode::METHOD_NOT_ALLOWED.as_u16(), value: None };
        if locked(&self.not_offered).is_some_and(|at| at.elapsed() < NOT_OFFERED) {
            return Ok(not_offered);
        }
        let request = self.write(Method::POST, ["listings", "by-plate"], key);
        let answer = self.call_and(with_body(request, listing.json())?, MarketplaceAnswer::if_offered).await?;
        let Some(answer) = answer else {
            *locked(&self.not_offered) = Some(Instant::now());
            return Ok(not_offered);
        };
        let listed: ListedByPlate = self.read(&answer)?;
        let listed = ListedByPlate { id: self.id(answer.status, listed.id)?, ..listed };
        Ok(Answered { status: answer.status, value: Some(listed.into()) })
    }

    async fn update(
        &self,
        key: IdempotencyKey,
        id: &str,
        listing: Listing<'_>,
    ) -> Result<Answered<()>, MarketplaceError> {
        let request = self.write(Method::PUT, ["listings", id], key);
        self.call(with_body(request, listing.json())?).await.map(|answer| answer.map(drop))
    }

    async fn unpublish(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError> {
        match self.call(self.write(Method::DELETE, ["listings", id], key)).await {
            Ok(Answered { status, .. }) | Err(MarketplaceError::Gone { status }) => Ok(Answered { status, value: () }),
            Err(error) => Err(error),
        }
    }

    async fn bump(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError> {
        self.call(self.write(Method::POST, ["listings", id, "bump"], key)).await.map(|answer| answer.map(drop))
    }

    async fn boost(&self, key: IdempotencyKey, id: &str, until: Timestamp) -> Result<Answered<()>, MarketplaceError> {
        let request = self.write(Method::POST, ["listings", id, "boost"], key);
        self.call(with_body(request, serde_json::to_vec(&Boost { until: until.to_string() }))?)
            .await
            .map(|answer| answer.map(drop))
    }

    async fn find_by_plate(
        &self,
        dealer_code: &str,
        plate: &str,
    ) -> Result<Answered<Option<PlateListing>>, MarketplaceError> {
        let mut url = self.url(["listings"]);
        url.query_pairs_mut().append_pair("dealer_code", dealer_code).append_pair("registration_number", plate);
        let answer = self.call(self.client.get(url)).await?;
        let FoundListings { results } = self.read(&answer)?;
        let found = results.into_iter().next().map(PlateListing::from);
        let found =
            found.map(|found| Ok(PlateListing { id: self.id(answer.status, found.id)?, ..found })).transpose()?;
        Ok(Answered { status: answer.status, value: found })
    }
}
