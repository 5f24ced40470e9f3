//! A marketplace over HTTP, by the contract in `docs/marketplace-adapter.md`.
//!
//! One call is one try. What it means is told in `answers`, when it is tried again in the pipeline, and whether it is worth
//! trying at all in `breaker`.

mod answers;
mod breaker;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use ad_core::{
    ports::{Clock, Found, Key, Listing, Marketplace, MarketplaceError},
    request::Market,
    time::Timestamp,
    violation::Code,
};
use async_trait::async_trait;
use reqwest::{
    Client, Method, RequestBuilder,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect::Policy,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;
use url::Url;

use self::answers::{Answer, Failed, unreadable};
pub use self::breaker::BreakerOptions;
use self::breaker::{Breaker, Open, Turn};
use super::wire::{Boost, FoundListings, IDEMPOTENCY_KEY, Listed, Sent};
use crate::{
    config::Secret,
    outbound::{self, NoAnswer, Unread, shown},
};

/// Largest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;
/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Longest id of a listing.
const MAX_ID: usize = 255;

/// How a marketplace is called.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Its address: the paths of the contract are below it.
    pub base: Url,
    /// What it lets this service in with.
    pub token: Secret,
    /// For one call, from name resolution to the end of the answer.
    pub timeout: Duration,
    /// When it is left alone.
    pub breaker: BreakerOptions,
}

/// One of the marketplaces, over HTTP.
pub struct HttpMarketplace {
    market: Market,
    base: Url,
    timeout: Duration,
    client: Client,
    /// Its reason is the kind and the text of the last failure.
    breaker: Breaker<(Code, String)>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for HttpMarketplace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpMarketplace").field("market", &self.market).finish_non_exhaustive()
    }
}

impl HttpMarketplace {
    /// A marketplace with connections of its own. The clock is for answers that name a point in time to come back at.
    ///
    /// # Errors
    /// When there can be no HTTP client, for instance because the machine has no certificates to trust.
    pub fn new(market: Market, options: HttpOptions, clock: Arc<dyn Clock>) -> Result<Self, reqwest::Error> {
        let HttpOptions { base, token, timeout, breaker } = options;
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        if let Ok(mut bearer) = HeaderValue::try_from(format!("Bearer {}", token.reveal())) {
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        let client = Client::builder()
            .user_agent(outbound::USER_AGENT)
            .default_headers(headers)
            // The credential is for this address only.
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT.min(timeout))
            .timeout(timeout)
            .build()?;
        Ok(Self { market, base, timeout, client, breaker: Breaker::new(breaker), clock })
    }

    /// A path below the base.
    fn url<'p>(&self, path: impl IntoIterator<Item = &'p str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    fn write<'p>(&self, method: Method, path: impl IntoIterator<Item = &'p str>, key: Key) -> RequestBuilder {
        self.client.request(method, self.url(path)).header(IDEMPOTENCY_KEY, key.to_string())
    }

    /// Makes a call, unless the marketplace is left alone just now, and returns the body of its answer.
    async fn call(&self, request: RequestBuilder) -> Result<Vec<u8>, MarketplaceError> {
        let pass = self.breaker.enter(Instant::now()).map_err(|Open { reason: (code, reason), rest }| {
            let reason = format!("the marketplace is left alone for a while, since its calls failed: {reason}");
            MarketplaceError::NotAsked { code, reason, retry_after: rest }
        })?;
        let result = match self.answer(request).await {
            Ok(answer) => answer.done(),
            Err(failed) => Err(failed),
        };
        let turn = match &result {
            Err(Failed { error: MarketplaceError::Transient { code, reason, retry_after }, .. }) => {
                pass.failed(Instant::now(), (*code, reason.clone()), *retry_after)
            }
            _ => pass.answered(),
        };
        self.tell(turn, result.as_ref().err());
        result.map_err(|failed| failed.error)
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Answer, Failed> {
        let response = request.send().await.map_err(|error| self.no_answer(error))?;
        let (status, retry_after) = (response.status(), outbound::retry_after(&response, self.clock.now()));
        let body = match outbound::body(response, MAX_ANSWER).await {
            Ok(body) => body,
            // Why it was not done fits in less; that it was not done is told by the status.
            Err(Unread::TooLarge) if !status.is_success() => Vec::new(),
            Err(Unread::TooLarge) => return Err(unreadable()),
            Err(Unread::Broken(error)) => return Err(self.no_answer(error)),
        };
        Ok(Answer { status, retry_after, body })
    }

    /// The reason is for the dealer, who need not know where the marketplace is.
    fn no_answer(&self, error: reqwest::Error) -> Failed {
        let reason = match NoAnswer::from(&error) {
            NoAnswer::ConnectTimeout | NoAnswer::Timeout => {
                format!("the marketplace did not answer within {}", shown(self.timeout))
            }
            NoAnswer::Name | NoAnswer::Connect => "the marketplace cannot be reached".to_owned(),
            NoAnswer::Certificate => "no secure connection to the marketplace".to_owned(),
            NoAnswer::Redirect | NoAnswer::Broken => "the connection to the marketplace broke off".to_owned(),
        };
        let error = error.without_url();
        tracing::debug!(market = %self.market, ?error, "a call got no answer");
        Failed::passing(reason, None)
    }

    /// Tells an operator what is theirs to know.
    fn tell(&self, turn: Option<Turn>, failed: Option<&Failed>) {
        let market = self.market;
        if let Some(Failed { error, advice: Some(advice) }) = failed {
            tracing::error!(%market, %error, "a call was not taken; {advice}");
        }
        match (turn, failed) {
            (Some(Turn::Opened), Some(Failed { error, .. })) => {
                tracing::warn!(%market, %error, "the marketplace keeps failing and is left alone for a while");
            }
            (Some(Turn::Closed), _) => tracing::info!(%market, "the marketplace answers again"),
            _ => {}
        }
    }

    /// What an answer holds. When it cannot be read it is not known what was done, so the call will be made again.
    fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, MarketplaceError> {
        serde_json::from_slice(body).map_err(|error| {
            tracing::debug!(market = %self.market, %error, "an answer is not what it should be");
            self.unreadable()
        })
    }

    fn unreadable(&self) -> MarketplaceError {
        let failed = unreadable();
        self.tell(None, Some(&failed));
        failed.error
    }

    /// An id that was given, if it can be one.
    fn id(&self, id: String) -> Result<String, MarketplaceError> {
        // The last two would be taken for directions within the path.
        let usable = !id.is_empty() && id.chars().count() <= MAX_ID && !matches!(id.as_str(), "." | "..");
        if usable { Ok(id) } else { Err(self.unreadable()) }
    }
}

/// A request with a body.
fn with_body(request: RequestBuilder, body: &impl Serialize) -> Result<RequestBuilder, MarketplaceError> {
    let body = serde_json::to_vec(body).map_err(|error| MarketplaceError::Refused(error.to_string()))?;
    Ok(request.header(CONTENT_TYPE, "application/json").body(body))
}

#[async_trait]
impl Marketplace for HttpMarketplace {
    async fn publish(&self, key: Key, listing: Listing<'_>) -> Result<String, MarketplaceError> {
        let request = self.write(Method::POST, ["listings"], key);
        let body = self.call(with_body(request, &Sent::from(listing))?).await?;
        let Listed { id } = self.read(&body)?;
        self.id(id)
    }

    async fn update(&self, key: Key, id: &str, listing: Listing<'_>) -> Result<(), MarketplaceError> {
        let request = self.write(Method::PUT, ["listings", id], key);
        self.call(with_body(request, &Sent::from(listing))?).await.map(drop)
    }

    async fn unpublish(&self, key: Key, id: &str) -> Result<(), MarketplaceError> {
        match self.call(self.write(Method::DELETE, ["listings", id], key)).await {
            Ok(_) | Err(MarketplaceError::Gone) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn bump(&self, key: Key, id: &str) -> Result<(), MarketplaceError> {
        self.call(self.write(Method::POST, ["listings", id, "bump"], key)).await.map(drop)
    }

    async fn boost(&self, key: Key, id: &str, until: Timestamp) -> Result<(), MarketplaceError> {
        let request = self.write(Method::POST, ["listings", id, "boost"], key);
        self.call(with_body(request, &Boost { until: until.to_string() })?).await.map(drop)
    }

    async fn find_by_plate(&self, dealer_code: &str, plate: &str) -> Result<Option<Found>, MarketplaceError> {
        let mut url = self.url(["listings"]);
        url.query_pairs_mut().append_pair("dealer_code", dealer_code).append_pair("registration_number", plate);
        let body = self.call(self.client.get(url)).await?;
        let FoundListings { results } = self.read(&body)?;
        let found = results.into_iter().next().map(Found::from);
        found.map(|found| Ok(Found { id: self.id(found.id)?, ..found })).transpose()
    }
}
