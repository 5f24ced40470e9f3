//! Common code of the HTTP clients: why a request failed, `Retry-After`, and reading a body up to a limit. Which addresses may be
//! called and what a response means is up to each client.

use std::{error::Error, io, time::Duration};

use ad_core::model::{self, Timestamp};
use reqwest::{
    Client, ClientBuilder, Response,
    header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};

use ad_server_base::{secret::Secret, system::use_ring};

/// The `User-Agent` of our clients.
pub const USER_AGENT: &str = concat!("vehicle-ad-import/", env!("CARGO_PKG_VERSION"));

pub fn client() -> ClientBuilder {
    use_ring();
    Client::builder()
}

/// A client of a service that the operator has configured, which answers with JSON and may want a bearer token.
pub fn json_client(token: Option<&Secret>) -> ClientBuilder {
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    let bearer = token.and_then(|token| HeaderValue::try_from(format!("Bearer {}", token.reveal())).ok());
    if let Some(mut bearer) = bearer {
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    // The token is for this address only.
    let client = client().user_agent(USER_AGENT).default_headers(headers).redirect(Policy::none());
    client.no_proxy().referer(false)
}

/// Why there is no answer, or only a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// No connection was made within the time limit.
    ConnectTimeout,
    /// Connected, and then nothing in time.
    Timeout,
    /// The name has no address.
    Name,
    /// No certificate that is trusted.
    Certificate,
    /// The connection was refused: nothing listens at the port, or a firewall rejects it.
    Refused,
    /// The connection failed for another reason.
    Connect,
    /// The redirect is not a valid address.
    Redirect,
    /// The connection ended before the answer did.
    Broken,
}

impl From<&reqwest::Error> for NoAnswer {
    fn from(error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            return if error.is_connect() { Self::ConnectTimeout } else { Self::Timeout };
        }
        if error.is_dns() {
            Self::Name
        } else if error.is_connect() {
            if is_tls(error) {
                Self::Certificate
            } else if is_refused(error) {
                Self::Refused
            } else {
                Self::Connect
            }
        } else if error.is_redirect() {
            Self::Redirect
        } else {
            Self::Broken
        }
    }
}

/// The causes of an error, outermost first.
pub fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause: &&(dyn Error + 'static)| (*cause).source())
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

fn is_refused(error: &reqwest::Error) -> bool {
    causes(error)
        .filter_map(|cause| cause.downcast_ref())
        .any(|error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// The pause that an answer asks for by `Retry-After`.
pub fn retry_after(response: &Response, now: Timestamp) -> Option<Duration> {
    model::retry_after(response.headers().get(RETRY_AFTER)?.to_str().ok()?, Some(now))
}

/// Why a body was not read.
#[derive(Debug)]
pub enum UnreadBody {
    TooLarge,
    /// The connection ended before the body did.
    Broken(reqwest::Error),
}

/// The body, as long as it stays within the limit; never more than that is in memory.
pub async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, UnreadBody> {
    let announced = response.content_length().map_or(Ok(0), usize::try_from).unwrap_or(usize::MAX);
    if announced > most {
        return Err(UnreadBody::TooLarge);
    }
    let mut body = Vec::with_capacity(announced);
    while let Some(chunk) = response.chunk().await.map_err(UnreadBody::Broken)? {
        if chunk.len() > most - body.len() {
            return Err(UnreadBody::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A time as people read it.
pub fn shown(time: Duration) -> String {
    if time.subsec_millis() == 0 { format!("{} s", time.as_secs()) } else { format!("{} ms", time.as_millis()) }
}
