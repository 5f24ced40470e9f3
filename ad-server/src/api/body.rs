//! Request bodies and query strings (decision 9).
//!
//! Memory for a body is reserved before the body is read, and again before it is parsed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ad_core::{
    fields::FieldErrors,
    parameters::MAX_QUERY,
    rulebook::size::{MOST_LEVELS, deeper_than},
    service::Access,
    violation::{Code, Violation},
};
use poem::Request;
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::{Instant, timeout_at},
};

use super::{ApiError, Limits, MAX_BODY};
use crate::shares::Share;

/// How much of a body that is too large is still read, so that its sender gets to read the answer.
const DRAINED: u64 = 16 * 1024 * 1024;

/// Bytes a second in which a body has to come, and the time for which it may be slower.
pub(super) const MIN_RATE: usize = 16 * 1024;
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// Whether the body of a request has been read.
#[derive(Debug, Clone)]
pub(super) struct Read(Arc<AtomicBool>);

impl Read {
    /// Of a request that has just come in: where there is no body, none is left.
    pub(super) fn of(request: &Request) -> Self {
        let has_none = request.header("transfer-encoding").is_none()
            && request.header("content-length").is_none_or(|length| length == "0");
        Self(Arc::new(AtomicBool::new(has_none)))
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A payload of so many bytes in memory takes milliseconds to check.
const LARGE: usize = 512 * 1024;

/// The JSON object that a request carries, and the share of the memory for bodies that it takes.
#[derive(Default)]
pub(super) struct Payload {
    pub(super) object: Map<String, Value>,
    /// To be held for as long as the object is there.
    pub(super) memory: Option<Share>,
}

impl Payload {
    /// Whether it takes long to check.
    pub(super) fn is_large(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.units() >= LARGE)
    }
}

/// The JSON object that a request carries. Its text is shown to `seen`.
pub(super) async fn object(
    request: &mut Request,
    limits: &Limits,
    access: &Access,
    seen: impl FnOnce(&[u8]),
) -> Result<Payload, ApiError> {
    let Some(Read(done)) = request.data::<Read>().cloned() else { return Err(ApiError::Internal) };
    let now = Instant::now();
    let until = now + limits.body_within;
    let stated = stated_length(request);
    // One that is too large is not kept, and one of unknown length may be as large as any.
    let expected = stated.filter(|stated| *stated <= MAX_BODY).unwrap_or(MAX_BODY);
    // What is left of the time is for the body.
    let _received = limits.body_memory.receive(access, expected, now + limits.body_within / 2).await?;
    let bytes = timeout_at(until, all(request, stated)).await.map_err(|_| ApiError::Slow(limits.body_within))??;
    done.store(true, Ordering::Relaxed);
    seen(&bytes);
    let memory = limits.body_memory.parse(access, &bytes, until).await?;
    let payload = Payload { object: Map::new(), memory: Some(memory) };
    let object = if payload.is_large() {
        limits.processor.run(access.name(), async { parsed(&bytes) }).await?
    } else {
        parsed(&bytes)?
    };
    Ok(Payload { object, ..payload })
}

fn stated_length(request: &Request) -> Option<usize> {
    request.header("content-length")?.parse().ok()
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

async fn all(request: &mut Request, stated: Option<usize>) -> Result<Vec<u8>, ApiError> {
    // One more than are expected, so that there is room in which to see the end.
    let mut bytes = Vec::with_capacity(stated.filter(|stated| *stated <= MAX_BODY).unwrap_or_default() + 1);
    let mut body = request.take_body().into_async_read();
    let limit = u64::try_from(MAX_BODY).unwrap_or(u64::MAX) + 1;
    at_min_rate((&mut body).take(limit), &mut bytes).await?;
    if bytes.len() > MAX_BODY {
        tokio::io::copy(&mut body.take(DRAINED), &mut tokio::io::sink()).await.map_err(|_| broken())?;
        return Err(ApiError::TooLarge(MAX_BODY));
    }
    Ok(bytes)
}

/// Reads to the end what has to come at [`MIN_RATE`], after [`GRACE`].
async fn at_min_rate(mut body: impl AsyncRead + Unpin, bytes: &mut Vec<u8>) -> Result<(), ApiError> {
    let begun = Instant::now();
    loop {
        let due = Duration::from_secs(1) * u32::try_from(bytes.len() / MIN_RATE).unwrap_or(u32::MAX);
        let read = timeout_at(begun + GRACE + due, body.read_buf(bytes)).await;
        match read.map_err(|_| ApiError::Trickle { bytes: bytes.len(), rate: MIN_RATE, grace: GRACE })? {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(_) => return Err(broken()),
        }
    }
}

fn broken() -> ApiError {
    ApiError::BadBody("The body could not be read whole.".to_owned())
}

/// The pairs of a request's query string.
pub(super) fn query(request: &Request) -> Result<Vec<(String, String)>, ApiError> {
    let query = request.uri().query().unwrap_or_default();
    if query.len() > MAX_QUERY {
        let mut errors = FieldErrors::default();
        let length = query.len();
        let message = format!(
            "The query string has {length} bytes, at most {MAX_QUERY} are allowed; split long lists over several requests."
        );
        errors.push("query", Violation::stated(Code::TooLong, message));
        return Err(errors.into());
    }
    Ok(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect())
}

#[cfg(test)]
mod tests {
    use tokio::{io::AsyncWriteExt, time::sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_is_refused_before_its_time_is_over() {
        for (piece, pause, whole) in [(32 * 1024, 1, true), (16 * 1024, 2, false), (1, 1, false)] {
            let (mut client, body) = tokio::io::duplex(64 * 1024);
            let sends = tokio::spawn(async move {
                for _ in 0..30 {
                    drop(client.write_all(&vec![b' '; piece]).await);
                    sleep(Duration::from_secs(pause)).await;
                }
            });
            let (begun, mut bytes) = (Instant::now(), Vec::new());
            let read = at_min_rate(body, &mut bytes).await;
            assert_eq!(read.is_ok(), whole, "{piece} bytes every {pause} s");
            if !whole {
                assert!(matches!(read, Err(ApiError::Trickle { .. })) && begun.elapsed() < Duration::from_secs(15));
            }
            sends.await.unwrap();
        }
    }
}
