//! Bodies and query strings of requests (decision 9).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ad_core::payload::{MOST_LEVELS, deeper_than};
use poem::Request;
use serde_json::{Map, Value};
use tokio::io::AsyncReadExt;

use super::{ApiError, MAX_BODY};

/// How much of a body that is too large is still read, so that its sender gets to read the answer.
const DRAINED: u64 = 16 * 1024 * 1024;

/// Whether the body of a request has been read, and the time that it has for coming.
#[derive(Debug, Clone)]
pub(super) struct Read {
    done: Arc<AtomicBool>,
    within: Duration,
}

impl Read {
    /// Of a request that has just come in: where there is no body, none is left.
    pub(super) fn of(request: &Request, within: Duration) -> Self {
        let has_none = request.header("transfer-encoding").is_none()
            && request.header("content-length").is_none_or(|length| length == "0");
        Self { done: Arc::new(AtomicBool::new(has_none)), within }
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Relaxed)
    }
}

/// The JSON object that a request carries.
pub(super) async fn object(request: &mut Request) -> Result<Map<String, Value>, ApiError> {
    parsed(&bytes(request).await?)
}

/// The JSON object that these bytes are.
pub(super) fn parsed(bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        ApiError::BadBody(if bytes.is_empty() {
            "JSON parse error: the body is empty; send a JSON object.".to_owned()
        } else {
            format!("JSON parse error: {error}")
        })
    })?;
    if deeper_than(&value, MOST_LEVELS) {
        return Err(ApiError::BadBody(format!("The body is nested too deeply: at most {MOST_LEVELS} levels.")));
    }
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(ApiError::BadBody("The body must be a JSON object.".to_owned())),
    }
}

async fn bytes(request: &mut Request) -> Result<Vec<u8>, ApiError> {
    let Some(Read { done, within }) = request.data::<Read>().cloned() else { return Err(ApiError::Internal) };
    let bytes = tokio::time::timeout(within, all(request)).await.map_err(|_| ApiError::Slow(within))??;
    done.store(true, Ordering::Relaxed);
    Ok(bytes)
}

async fn all(request: &mut Request) -> Result<Vec<u8>, ApiError> {
    let stated = request.header("content-length").and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
    let mut bytes = Vec::with_capacity(stated.min(MAX_BODY));
    let mut body = request.take_body().into_async_read();
    let broken = |_| ApiError::BadBody("The body could not be read whole.".to_owned());
    let limit = u64::try_from(MAX_BODY).unwrap_or(u64::MAX) + 1;
    (&mut body).take(limit).read_to_end(&mut bytes).await.map_err(broken)?;
    if bytes.len() > MAX_BODY {
        tokio::io::copy(&mut body.take(DRAINED), &mut tokio::io::sink()).await.map_err(broken)?;
        return Err(ApiError::TooLarge(MAX_BODY));
    }
    Ok(bytes)
}

/// The pairs of a request's query string.
pub(super) fn query(request: &Request) -> Vec<(String, String)> {
    let query = request.uri().query().unwrap_or_default();
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}
