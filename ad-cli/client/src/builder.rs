//! Address, token, timeouts and request rate of a client.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::crypto::{CryptoProvider, ring};
use url::Url;

use super::{
    Client,
    pace::Pace,
    transport::{Exchange, Observer, Retries, Transport},
};

/// Default of requests per second ('Limits').
pub const DEFAULT_RATE: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");

/// Default time limit for an answer.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Time for a connection at most.
const CONNECT: Duration = Duration::from_secs(10);

/// The header that carries the token ('Authentication').
const TOKEN: HeaderName = HeaderName::from_static("x-auth-token");

/// Why there is no client. None of the texts repeats a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The address cannot be one.
    #[error("invalid server URL {url:?}: {problem}")]
    Url {
        /// What was given, without a password.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The token has characters that no header may have, or none at all.
    #[error("invalid token: {0}")]
    Token(&'static str),
    /// The system has no usable TLS configuration.
    #[error("cannot create the HTTP client: {0}")]
    Http(#[source] reqwest::Error),
}

/// Builder of a [`Client`]. By default, it has no token, [`DEFAULT_RATE`] and [`DEFAULT_TIMEOUT`].
#[derive(Clone, derive_more::Debug)]
#[must_use]
pub struct ClientBuilder {
    #[debug(skip)]
    url: String,
    #[debug(skip)]
    token: Option<String>,
    rate: Option<NonZeroU32>,
    timeout: Duration,
    retries: Retries,
    #[debug(skip)]
    observer: Option<Observer>,
}

/// Lets ring do the TLS of this program, unless it has installed another provider of rustls before. Without one, no HTTP client can be built.
pub fn provide_tls() {
    if CryptoProvider::get_default().is_none() {
        let _other_thread_was_faster = ring::default_provider().install_default();
    }
}

impl ClientBuilder {
    pub(super) fn new(url: &str) -> Self {
        Self {
            url: url.trim().to_owned(),
            token: None,
            rate: Some(DEFAULT_RATE),
            timeout: DEFAULT_TIMEOUT,
            retries: Retries::default(),
            observer: None,
        }
    }

    /// The token. Without one every operation is answered with 401.
    pub fn token(self, token: &str) -> Self {
        Self { token: Some(token.trim().to_owned()), ..self }
    }

    /// At most so many requests a second, evenly spread, over all clones of the client; `None` lifts the limit.
    pub fn rate(self, requests_a_second: Option<NonZeroU32>) -> Self {
        Self { rate: requests_a_second, ..self }
    }

    /// Time for one answer, from the connection to its last byte.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// So many tries of what can be tried again (4 if not said, 1 means never again), with growing pauses that begin at
    /// `first_pause`. A request that timed out is retried once at most.
    pub fn tries(self, tries: NonZeroU32, first_pause: Duration) -> Self {
        Self { retries: Retries { tries: tries.get(), first_pause }, ..self }
    }

    /// Sets an observer, which is called after each attempt of each request.
    pub fn observe(self, observer: impl Fn(&Exchange<'_>) + Send + Sync + 'static) -> Self {
        Self { observer: Some(Arc::new(observer)), ..self }
    }

    /// The client. TLS is done by ring, unless the program has installed another provider of rustls before.
    ///
    /// # Errors
    /// When the URL or the token is invalid.
    pub fn build(self) -> Result<Client, BuildError> {
        let base = base(&self.url)?;
        let mut headers = HeaderMap::new();
        if let Some(token) = &self.token {
            headers.insert(TOKEN, token_header(token)?);
        }
        provide_tls();
        let http = reqwest::Client::builder()
            .user_agent(concat!("ad-cli/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(CONNECT.min(self.timeout))
            .timeout(self.timeout)
            // A redirect could send the token to another host.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(BuildError::Http)?;
        let transport = Transport {
            http,
            base,
            timeout: self.timeout,
            pace: Pace::new(self.rate),
            retries: self.retries,
            observer: self.observer,
        };
        Ok(Client { transport: Arc::new(transport) })
    }
}

fn token_header(token: &str) -> Result<HeaderValue, BuildError> {
    if token.is_empty() {
        return Err(BuildError::Token("it is empty"));
    }
    if token.contains(|character: char| character.is_whitespace() || character.is_control() || !character.is_ascii()) {
        return Err(BuildError::Token("expected one line of letters, digits, dots, - and _"));
    }
    let mut value =
        HeaderValue::from_str(token).map_err(|_| BuildError::Token("it contains characters that cannot be sent"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The address, ending with a slash, below which all paths are.
fn base(text: &str) -> Result<Url, BuildError> {
    let wrong = |problem: &str| BuildError::Url { url: shown(text), problem: problem.to_owned() };
    let mut url = Url::parse(text).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => wrong("it must start with https:// or http://"),
        error => wrong(&error.to_string()),
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("it must start with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it must not contain a user name or password; use a token"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it must not contain ? or #"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    if let Some(segment @ ("v3" | "v4" | "ad")) = path.rsplit('/').next() {
        return Err(wrong(&format!("omit the path of the API (/{segment})")));
    }
    url.set_path(&format!("{path}/"));
    Ok(url)
}

/// What was given, without what may be a password.
fn shown(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => format!("{}…{}", &text[..scheme + 3], &text[at..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_have_a_path_and_end_with_a_slash_or_not() {
        for (given, used) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("https://ads.example/", "https://ads.example/"),
            ("https://dealers.example/ads", "https://dealers.example/ads/"),
            ("https://dealers.example/ads//", "https://dealers.example/ads/"),
        ] {
            assert_eq!(base(given).unwrap().as_str(), used);
        }
    }

    #[test]
    fn wrong_addresses_are_told_without_passwords() {
        for (given, problem) in [
            ("ads.example", "start with https://"),
            ("localhost:8080", "start with https://"),
            ("ftp://ads.example", "start with https://"),
            ("https://", "empty host"),
            ("https://ads.example/v4", "(/v4)"),
            ("https://ads.example/v3/ad/", "(/ad)"),
            ("https://ads.example?x=1", "?"),
            ("https://me:s3cret@ads.example", "user name"),
        ] {
            let told = Client::new(given, "t").unwrap_err().to_string();
            assert!(told.contains(problem) && !told.contains("s3cret"), "{told}");
        }
    }

    #[test]
    fn tokens_are_never_shown() {
        let client = Client::builder("https://ads.example").token("s3cret");
        assert!(!format!("{client:?} {:?}", client.clone().build().unwrap()).contains("s3cret"));
        for token in ["", " ", "s3cret s3cret", "s3cret\u{7}", "s3crét"] {
            let told = Client::new("https://ads.example", token).unwrap_err().to_string();
            assert!(!told.contains("s3cr"), "{told}");
        }
    }
}
