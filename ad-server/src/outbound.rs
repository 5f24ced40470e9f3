//! What the HTTP clients of this process share: how a call that got no answer is told, the pause that an answer asks for,
//! and reading an answer without more of it in memory than is wanted. Which address may be called, and what an answer
//! means, is the business of each client.

use std::{error::Error, io, time::Duration};

use ad_core::time::Timestamp;
use reqwest::{Response, header::RETRY_AFTER};

/// How our clients introduce themselves.
pub(crate) const USER_AGENT: &str = concat!("vehicle-ad-import/", env!("CARGO_PKG_VERSION"));

/// Why there is no answer, or only a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// No connection in time.
    ConnectTimeout,
    /// Connected, and then nothing in time.
    Timeout,
    /// The name has no address.
    Name,
    /// No certificate that is trusted.
    Certificate,
    /// No connection.
    Connect,
    /// It leads somewhere that is no address.
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
            if is_tls(error) { Self::Certificate } else { Self::Connect }
        } else if error.is_redirect() {
            Self::Redirect
        } else {
            Self::Broken
        }
    }
}

/// The causes of an error, outermost first.
pub(crate) fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
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

/// The pause that an answer asks for by `Retry-After`.
pub(crate) fn retry_after(response: &Response, now: Timestamp) -> Option<Duration> {
    pause(response.headers().get(RETRY_AFTER)?.to_str().ok()?, now)
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

/// Why a body was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is larger than was wanted.
    TooLarge,
    /// It breaks off.
    Broken(reqwest::Error),
}

/// The body, as long as it stays within the limit; never more than that is in memory.
pub(crate) async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Unread> {
    let announced = response.content_length().map_or(Ok(0), usize::try_from).unwrap_or(usize::MAX);
    if announced > most {
        return Err(Unread::TooLarge);
    }
    let mut body = Vec::with_capacity(announced);
    while let Some(chunk) = response.chunk().await.map_err(Unread::Broken)? {
        if chunk.len() > most - body.len() {
            return Err(Unread::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A time as people read it.
pub(crate) fn shown(time: Duration) -> String {
    if time.subsec_millis() == 0 { format!("{} s", time.as_secs()) } else { format!("{} ms", time.as_millis()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-15T10:00:00Z, a Thursday.
    const NOW: Timestamp = Timestamp::from_millis(1_768_471_200_000);

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_date() {
        let seconds = |value| pause(value, NOW).map(|pause| pause.as_secs());
        assert_eq!(seconds("120"), Some(120));
        assert_eq!(seconds(" Thu, 15 Jan 2026 10:02:00 GMT"), Some(120));
        assert_eq!(seconds("Thu, 15 Jan 2026 09:00:00 GMT"), Some(0));
        assert_eq!(seconds("soon"), None);
        assert_eq!(seconds("-1"), None);
    }
}
