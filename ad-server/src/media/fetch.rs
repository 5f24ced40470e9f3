//! Fetches images over HTTP: guarded, limited in size and time, with one pool of connections.
//!
//! One call is one attempt; the error says whether another may succeed. The messages are for integrators, who see them
//! in the log of their ad; the causes behind them are traced for the operator.

use std::{fmt, io, sync::Arc, time::Duration};

use ad_core::{
    ports::{Clock, Image, ImageError, ImageFetcher},
    time::Timestamp,
};
use async_trait::async_trait;
use bytes::Bytes;
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, HeaderMap, HeaderValue, RETRY_AFTER},
};
use url::Url;

use super::guard::{Guard, causes, refusal};

/// Limits of a fetch.
#[derive(Debug, Clone, Copy)]
pub struct FetchOptions {
    /// Permits http, and addresses of this machine and the private networks behind it: for development and tests only.
    /// Link-local addresses stay refused.
    pub allow_private: bool,
    /// Largest file in bytes.
    pub max_bytes: usize,
    /// Until a connection stands, name resolution and TLS included.
    pub connect: Duration,
    /// Longest silence of the host.
    pub idle: Duration,
    /// For everything, redirects included.
    pub total: Duration,
    /// Most redirects.
    pub redirects: usize,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            allow_private: false,
            max_bytes: 15_000_000,
            connect: Duration::from_secs(5),
            idle: Duration::from_secs(10),
            total: Duration::from_secs(20),
            redirects: 5,
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
    options: FetchOptions,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for HttpFetcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpFetcher").field("options", &self.options).finish_non_exhaustive()
    }
}

impl HttpFetcher {
    /// A fetcher with its own connections. The clock is for hosts that name a point in time to come back at.
    pub fn new(options: FetchOptions, clock: Arc<dyn Clock>) -> Result<Self, ClientError> {
        let guard = Guard { allow_private: options.allow_private, redirects: options.redirects };
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("image/jpeg, image/png"))]);
        let client = Client::builder()
            .user_agent(concat!("vehicle-ad-import/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .dns_resolver(Arc::new(guard))
            .redirect(guard.redirects())
            // A proxy would resolve names in the guard's place.
            .no_proxy()
            .referer(false)
            .connect_timeout(options.connect)
            .read_timeout(options.idle)
            .build()?;
        Ok(Self { client, guard, options, clock })
    }

    async fn download(&self, url: Url) -> Result<Bytes, ImageError> {
        let response = self.client.get(url).send().await.map_err(|error| self.failed(&error))?;
        if response.status() != StatusCode::OK {
            return Err(self.refused(&response));
        }
        self.body(response).await
    }

    /// The body, as long as it stays within the limit; never more than that is in memory.
    async fn body(&self, mut response: Response) -> Result<Bytes, ImageError> {
        let most = self.options.max_bytes;
        let announced = response.content_length().map_or(Ok(0), usize::try_from).unwrap_or(usize::MAX);
        if announced > most {
            return Err(too_large(most));
        }
        let mut body = Vec::with_capacity(announced);
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if chunk.len() > most - body.len() {
                return Err(too_large(most));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.into())
    }

    /// An answer other than 200.
    fn refused(&self, response: &Response) -> ImageError {
        let status = response.status();
        let reason = format!("the host answered {status}");
        let passing =
            status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        if passing {
            let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            ImageError::Transient { reason, retry_after: retry_after.and_then(|value| pause(value, self.clock.now())) }
        } else {
            ImageError::Unusable(reason)
        }
    }

    /// No answer, or one that breaks off.
    fn failed(&self, error: &reqwest::Error) -> ImageError {
        tracing::debug!(?error, "an image could not be fetched");
        if let Some(refused) = refusal(error) {
            return refused.into();
        }
        let FetchOptions { connect, idle, .. } = self.options;
        transient(if error.is_timeout() && error.is_connect() {
            format!("no connection within {}", shown(connect))
        } else if error.is_timeout() {
            format!("the host sent nothing for {}", shown(idle))
        } else if error.is_dns() {
            "the name of the host cannot be resolved".to_owned()
        } else if error.is_connect() && is_tls(error) {
            return ImageError::Unusable("no secure connection: the host has no valid certificate".to_owned());
        } else if error.is_connect() {
            "no connection to the host".to_owned()
        } else if error.is_redirect() {
            return ImageError::Unusable("the host redirects to an address that is not valid".to_owned());
        } else {
            "the connection broke off before the end of the file".to_owned()
        })
    }
}

#[async_trait]
impl ImageFetcher for HttpFetcher {
    async fn fetch(&self, url: &str) -> Result<Image, ImageError> {
        let url = self.guard.parse(url)?;
        let total = self.options.total;
        let bytes = tokio::time::timeout(total, self.download(url))
            .await
            .unwrap_or_else(|_| Err(transient(format!("timed out after {}", shown(total)))))?;
        // Hashing megabytes would hold up whatever else runs on this thread.
        tokio::task::spawn_blocking(move || Image::new(bytes))
            .await
            .unwrap_or_else(|_| Err(transient("the service is stopping".to_owned())))
    }
}

fn transient(reason: String) -> ImageError {
    ImageError::Transient { reason, retry_after: None }
}

fn too_large(most: usize) -> ImageError {
    ImageError::Unusable(match (most / 1_000_000, most % 1_000_000) {
        (megabytes, 0) => format!("larger than {megabytes} MB"),
        _ => format!("larger than {most} bytes"),
    })
}

fn shown(time: Duration) -> String {
    if time.subsec_millis() == 0 { format!("{} s", time.as_secs()) } else { format!("{} ms", time.as_millis()) }
}

/// The TLS layer reports its own errors as invalid data, wrapped once or twice; errors of the connection below it have
/// other kinds.
fn is_tls(error: &reqwest::Error) -> bool {
    fn invalid(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::InvalidData
            || error.get_ref().and_then(|inner| inner.downcast_ref()).is_some_and(invalid)
    }
    causes(error).filter_map(|cause| cause.downcast_ref()).any(invalid)
}

/// The pause that `Retry-After` asks for, in seconds or until a date (RFC 9110, 10.2.3).
fn pause(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(date.as_millis()).ok()?) - now)
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;
