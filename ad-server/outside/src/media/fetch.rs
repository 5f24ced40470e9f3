//! Fetches images over HTTP, with limits on addresses, size, time, concurrency and memory, and one connection pool.
//!
//! One call is one attempt; the error says whether a retry may succeed. Messages are for dealers, who see them in the log of the
//! ad; the causes are logged for the operator.

use std::{sync::Arc, time::Duration};

use ad_core::{
    model::{ImageFlaw, Validators},
    ports::{Clock, Fetched, Image, ImageError, ImageFetcher, ImageRequest},
};
use async_trait::async_trait;
use bytes::Bytes;
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED},
};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::{
    guard::{Guard, refusal},
    hosts::ImageHosts,
    memory::{Full, ImageBuffer, ImageMemory},
};
use crate::outbound::{self, NoAnswer, shown};
use ad_server_base::breaker::Open;
use ad_server_base::limits::{MinimumRate, table};

/// Most idle connections that are kept per host.
const IDLE_CONNECTIONS: usize = 4;

/// Limits of a fetch, and of all fetches together.
#[derive(Debug, Clone, Copy)]
pub struct FetchOptions {
    /// Permits http, and addresses of this machine and the private networks behind it: for development and tests only.
    /// Link-local addresses stay refused.
    pub allow_private: bool,
    /// Largest file that is received, in bytes.
    pub max_bytes: usize,
    /// Timeout of connecting, including name resolution and TLS.
    pub connect: Duration,
    /// Longest silence of the host.
    pub idle: Duration,
    /// Timeout of the whole fetch, including redirects; waiting for a slot or for memory does not count.
    pub total: Duration,
    /// Minimum rate in bytes per second. Without it, a slow host could hold a slot and memory for long.
    pub least_rate: usize,
    /// The time that a host may fall behind this rate.
    pub behind: Duration,
    pub redirects: usize,
    /// Concurrent fetches. Dealers share them.
    pub at_once: usize,
    /// Concurrent fetches from one host, which is a registrable domain or an address. Dealers share them.
    pub per_host: usize,
    /// Bytes of images in memory while they are received, checked and stored. Dealers share them.
    pub memory: usize,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            allow_private: false,
            max_bytes: table::IMAGE_BYTES,
            connect: table::IMAGE_CONNECT,
            idle: table::IMAGE_IDLE,
            total: table::IMAGE_TOTAL,
            least_rate: table::IMAGE_RATE,
            behind: table::IMAGE_BEHIND,
            redirects: table::IMAGE_REDIRECTS,
            at_once: table::FETCHES,
            per_host: table::FETCHES_OF_HOST,
            memory: table::IMAGE_MEMORY,
        }
    }
}

/// The HTTP client cannot be set up, for instance because the machine has no certificates to trust.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the client that fetches images: {0}")]
pub struct ClientError(#[from] reqwest::Error);

/// Fetches images from public https addresses.
pub struct HttpFetcher {
    client: Client,
    guard: Guard,
    hosts: ImageHosts,
    memory: ImageMemory,
    options: FetchOptions,
    clock: Arc<dyn Clock>,
}

ad_server_base::debug_by_name!(HttpFetcher);

impl HttpFetcher {
    /// A fetcher with its own connections. The clock is for hosts that name a point in time to come back at.
    pub fn new(options: FetchOptions, clock: Arc<dyn Clock>) -> Result<Self, ClientError> {
        let guard = Guard { allow_private: options.allow_private, redirects: options.redirects };
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("image/jpeg, image/png"))]);
        let client = outbound::client()
            .user_agent(outbound::USER_AGENT)
            .default_headers(headers)
            .dns_resolver(Arc::new(guard))
            .redirect(guard.redirects())
            // A proxy would resolve names itself, unguarded.
            .no_proxy()
            .referer(false)
            .connect_timeout(options.connect)
            // HTTP/2 would buffer megabytes before they are read.
            .http1_only()
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build()?;
        let hosts = ImageHosts::new(options.at_once, options.per_host);
        Ok(Self { client, guard, hosts, memory: ImageMemory::new(options.memory), options, clock })
    }

    /// Fetches an address; the caller holds a slot of its host.
    async fn download(&self, url: &Url, request: &ImageRequest<'_>) -> Result<Download, FetchFailure> {
        let mut deadline = Instant::now() + self.options.total;
        let mut response = self.ask(deadline, url, request.known).await?;
        if response.status() == StatusCode::NOT_MODIFIED && request.known.is_some() {
            if response.url() == url {
                return Ok(Download::Unchanged);
            }
            // After a redirect, the validators belong to another address.
            response = self.ask(deadline, url, None).await?;
        }
        if response.status() != StatusCode::OK {
            return Err(self.refused(&response).into());
        }
        let most = self.options.max_bytes;
        let length = response.content_length().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        if length.is_some_and(|length| length > most) {
            return Err(too_large(most).into());
        }
        let validators = if response.url() == url { validators(response.headers()) } else { Validators::default() };
        let since = Instant::now();
        let mut room = self.memory.reserve(request.dealer_code, length, most).await;
        deadline += since.elapsed();
        self.read(&mut response, &mut room, deadline).await?;
        Ok(Download::File(room.into_bytes(), validators))
    }

    /// The host's answer, without its body.
    async fn ask(&self, deadline: Instant, url: &Url, known: Option<&Validators>) -> Result<Response, FetchFailure> {
        let mut get = self.client.get(url.clone());
        if let Some(Validators { etag, last_modified }) = known {
            let conditions = [(IF_NONE_MATCH, etag), (IF_MODIFIED_SINCE, last_modified)];
            for (name, value) in conditions.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
                get = get.header(name, value);
            }
        }
        self.within_idle(deadline, get.send()).await
    }

    /// Reads a body, as long as the host sends at no less than the least rate.
    async fn read(
        &self,
        response: &mut Response,
        room: &mut ImageBuffer,
        deadline: Instant,
    ) -> Result<(), FetchFailure> {
        let FetchOptions { behind, least_rate, max_bytes, .. } = self.options;
        let mut rate = MinimumRate::new(least_rate, behind, behind);
        let slow = || FetchFailure::Silent(format!("the host sent less than {} KiB/s", least_rate / 1024));
        while let Some(chunk) =
            timeout_at(rate.wait(), self.within_idle(deadline, response.chunk())).await.map_err(|_| slow())??
        {
            rate.passed(chunk.len());
            room.add(&chunk).map_err(|Full| too_large(max_bytes))?;
            // Otherwise several large images at once would delay requests.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// The next chunk from the host, within the timeout. The read timeout of the HTTP client would continue while an image waits
    /// for memory.
    async fn within_idle<T>(
        &self,
        deadline: Instant,
        next: impl Future<Output = reqwest::Result<T>>,
    ) -> Result<T, FetchFailure> {
        let FetchOptions { idle, total, .. } = self.options;
        let silent = Instant::now() + idle;
        let late = |_| {
            FetchFailure::Silent(if silent < deadline {
                format!("the host sent nothing for {}", shown(idle))
            } else {
                format!("timed out after {}", shown(total))
            })
        };
        let heard = timeout_at(silent.min(deadline), next).await.map_err(late)?;
        heard.map_err(|error| self.failed(&error))
    }

    /// An answer other than 200.
    fn refused(&self, response: &Response) -> ImageError {
        let status = response.status();
        let reason = format!("the host answered {status}");
        let passing =
            status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        if passing {
            ImageError::Transient { reason, retry_after: outbound::retry_after(response, self.clock.now()) }
        } else {
            let is_missing = matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE);
            ImageError::Unusable(if is_missing { ImageFlaw::Missing } else { ImageFlaw::Refused }, reason)
        }
    }

    /// No answer, or an incomplete one.
    fn failed(&self, error: &reqwest::Error) -> FetchFailure {
        tracing::debug!(?error, "image request failed");
        if let Some(refused) = refusal(error) {
            return FetchFailure::Answered(refused.into());
        }
        let FetchOptions { connect, idle, .. } = self.options;
        let passing = |reason: &str| transient(reason.to_owned()).into();
        let unusable = |flaw, reason: &str| ImageError::Unusable(flaw, reason.to_owned()).into();
        match NoAnswer::from(error) {
            NoAnswer::ConnectTimeout => FetchFailure::Silent(format!("no connection within {}", shown(connect))),
            NoAnswer::Timeout => FetchFailure::Silent(format!("the host sent nothing for {}", shown(idle))),
            NoAnswer::Name => passing("the name of the host cannot be resolved"),
            NoAnswer::Certificate => {
                unusable(ImageFlaw::Certificate, "no secure connection: the host has no valid certificate")
            }
            NoAnswer::Refused => passing("the host refuses connections"),
            NoAnswer::Connect => passing("no connection to the host"),
            NoAnswer::Redirect => unusable(ImageFlaw::Redirect, "the host redirects to an address that is not valid"),
            NoAnswer::Broken => passing("the connection broke off before the end of the file"),
        }
    }
}

/// The answer of the host.
enum Download {
    File(Bytes, Validators),
    /// The known version is unchanged.
    Unchanged,
}

/// Longest validator that is stored, in bytes.
const VALIDATOR: usize = 200;

fn validators(headers: &HeaderMap) -> Validators {
    let text = |name: HeaderName| {
        let value = headers.get(name)?.to_str().ok()?;
        (value.len() <= VALIDATOR).then(|| value.to_owned())
    };
    Validators { etag: text(ETAG), last_modified: text(LAST_MODIFIED) }
}

/// Why there is no file.
#[derive(derive_more::From)]
enum FetchFailure {
    /// The host was silent, or too slow. Other fetches should not wait for it.
    #[from(ignore)]
    Silent(String),
    /// Any other failure of the fetch.
    Answered(ImageError),
}

#[async_trait]
impl ImageFetcher for HttpFetcher {
    async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError> {
        let url = self.guard.parse(request.url)?;
        let visit = self
            .hosts
            .visit(&url, request.dealer_code)
            .await
            .map_err(|Open { reason, retry_after }| ImageError::NotAsked { reason, retry_after })?;
        let downloaded = match self.download(&url, &request).await {
            Err(FetchFailure::Silent(reason)) => {
                visit.record_silence(&reason);
                return Err(transient(reason));
            }
            Err(FetchFailure::Answered(error)) => {
                visit.answered();
                return Err(error);
            }
            Ok(downloaded) => downloaded,
        };
        visit.answered();
        let (bytes, validators) = match downloaded {
            Download::File(bytes, validators) => (bytes, validators),
            Download::Unchanged => return Ok(Fetched::Unchanged),
        };
        // Hashing megabytes would block other tasks of this thread.
        let image = tokio::task::spawn_blocking(move || Image::new(bytes)).await;
        let image = image.unwrap_or_else(|_| Err(transient("the service is stopping".to_owned())))?;
        Ok(Fetched::Image(image, validators))
    }
}

fn transient(reason: String) -> ImageError {
    ImageError::Transient { reason, retry_after: None }
}

fn too_large(most: usize) -> ImageError {
    let reason = match (most / 1_000_000, most % 1_000_000) {
        (megabytes, 0) => format!("larger than {megabytes} MB"),
        _ => format!("larger than {most} bytes"),
    };
    ImageError::Unusable(ImageFlaw::TooLarge, reason)
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;
