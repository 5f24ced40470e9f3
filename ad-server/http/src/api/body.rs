//! Request bodies and query strings (decision 9).
//!
//! Memory for a body is reserved before the body is read, and again before it is parsed.

use std::{
    io::Read as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ad_core::{
    fields::FieldErrors,
    not_json,
    rulebook::{
        repeated,
        size::{MOST_LEVELS, deeper_than},
    },
    service::Access,
    violation::{Code, Violation, Warning},
};
use ad_parameters::MAX_QUERY;
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use poem::{Body, FromRequest as _, Request, RequestBody, http::header, web::Multipart};
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::{Instant, timeout_at},
};

use super::{ApiError, Limits, MAX_BODY, errors::json_bytes};
use ad_server_base::limits::{
    FairPermit, MinimumRate,
    table::{BODY_BEHIND, BODY_RATE},
};

/// Bytes that gzip may add to a body that does not compress.
const GZIP_OVERHEAD: usize = 1024;

/// The byte order mark of UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether the body of a request has been read.
#[derive(Debug, Clone)]
pub(super) struct Read(Arc<AtomicBool>);

impl Read {
    /// Of a new request. One without a body counts as read.
    pub(super) fn of(request: &Request) -> Self {
        let has_none = request.header("transfer-encoding").is_none()
            && request.header("content-length").is_none_or(|length| length == "0");
        Self(Arc::new(AtomicBool::new(has_none)))
    }

    /// Of a request that could not be read.
    pub(super) fn unknown() -> Self {
        Self(Arc::default())
    }

    /// The body has been read to its end.
    pub(super) fn is_whole(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the body has been read to its end.
    pub(super) fn is_done(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Size in memory from which checking a payload takes milliseconds.
const LARGE: usize = 512 * 1024;

/// The JSON object that a request carries, and the share of the memory for bodies that it takes.
#[derive(Default)]
pub(crate) struct Payload {
    pub(crate) object: Map<String, Value>,
    /// Warnings about keys that its text has more than once, where they are asked for.
    pub(crate) repeated: Vec<Warning>,
    /// Held for as long as the object exists.
    pub(super) memory: Option<FairPermit>,
}

impl Payload {
    /// Parses JSON when there is memory for the object; where long computations run, if it is large.
    async fn parsed(
        bytes: &[u8],
        limits: &Limits,
        access: &Access,
        until: Instant,
        warns_of_repeated: bool,
    ) -> Result<Self, ApiError> {
        let memory = limits.body_memory.parse(access, bytes, until).await?;
        let payload = Self { memory: Some(memory), ..Self::default() };
        let read = || {
            let object = parsed(bytes)?;
            let repeated = if warns_of_repeated { repeated::warnings(bytes) } else { Vec::new() };
            Ok::<_, ApiError>((object, repeated))
        };
        let (object, repeated) =
            if payload.is_large() { limits.processor.run(access.name(), async { read() }).await? } else { read()? };
        Ok(Self { object, repeated, ..payload })
    }

    /// The same for JSON in a form, which may be as large as a body.
    pub(crate) async fn of_json(json: &str, limits: &Limits, access: &Access, warns: bool) -> Result<Self, ApiError> {
        if json.len() > MAX_BODY {
            return Err(ApiError::TooLarge(MAX_BODY));
        }
        Self::parsed(json.as_bytes(), limits, access, Instant::now() + limits.body_within, warns).await
    }

    pub(crate) async fn of_form(
        object: Map<String, Value>,
        limits: &Limits,
        access: &Access,
    ) -> Result<Self, ApiError> {
        let (json, until) = (json_bytes(&object)?, Instant::now() + limits.body_within);
        let memory = limits.body_memory.parse(access, &json, until).await?;
        Ok(Self { object, memory: Some(memory), ..Self::default() })
    }

    /// The source id of the ad that it is about, if it names one.
    pub(crate) fn source_id(&self) -> Option<&str> {
        self.object.get("source_id").and_then(Value::as_str)
    }

    /// Whether it takes long to check.
    pub(crate) fn is_large(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.units() >= LARGE)
    }
}

/// The JSON object that a request carries in this body. Its text is shown to `seen`.
pub(super) async fn object(
    request: &Request,
    body: Body,
    limits: &Limits,
    access: &Access,
    warns_of_repeated: bool,
    seen: impl FnOnce(&[u8]),
) -> Result<Payload, ApiError> {
    let Some(read) = request.data::<Read>().cloned() else { return Err(ApiError::Internal) };
    let now = Instant::now();
    let until = now + limits.body_within;
    let is_gzip = is_gzip(request)?;
    let most = if is_gzip { MAX_BODY + GZIP_OVERHEAD } else { MAX_BODY };
    let stated = stated_length(request).filter(|stated| *stated <= most);
    // One that is too large is not kept, and one of unknown length may be as large as any.
    let expected = stated.unwrap_or(most) + if is_gzip { MAX_BODY } else { 0 };
    // What is left of the time is for the body.
    let _received = limits.body_memory.receive(access, expected, now + limits.body_within / 2).await?;
    let received = timeout_at(until, all(body, stated, most)).await.map_err(|_| ApiError::Slow(limits.body_within))?;
    let bytes = received.map_err(|error| match error {
        ApiError::TooLarge(_) => ApiError::TooLarge(MAX_BODY),
        error => error,
    })?;
    read.is_whole();
    let bytes = if is_gzip { limits.processor.run(access.name(), async { decoded(&bytes) }).await? } else { bytes };
    seen(&bytes);
    Payload::parsed(&bytes, limits, access, until, warns_of_repeated).await
}

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// The names and values of a form of at most so many bytes. Its memory is reserved while it comes, in the share of a scope that is
/// known.
pub async fn form(
    request: &mut Request,
    limits: &Limits,
    access: Option<&Access>,
    most: usize,
) -> Result<Vec<(String, String)>, ApiError> {
    let Some(read) = request.data::<Read>().cloned() else { return Err(ApiError::Internal) };
    let content_type = request.header("content-type").unwrap_or_default();
    if !content_type.split(';').next().is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(FORM)) {
        return Err(ApiError::BadBody(format!("The body must be a form: {FORM}.")));
    }
    let until = Instant::now() + limits.body_within;
    let stated = stated_length(request).filter(|stated| *stated <= most);
    let _received = match access {
        Some(access) => Some(limits.body_memory.receive(access, stated.unwrap_or(most), until).await?),
        None => None,
    };
    let bytes = timeout_at(until, all(request.take_body(), stated, most))
        .await
        .map_err(|_| ApiError::Slow(limits.body_within))??;
    read.is_whole();
    Ok(url::form_urlencoded::parse(&bytes).into_owned().collect())
}

/// A file that was sent, and the share of the memory for bodies that it takes.
#[derive(Debug)]
pub struct ReceivedFile {
    pub bytes: Bytes,
    /// Its name in a form; otherwise empty.
    pub name: String,
    /// Held for as long as the bytes exist.
    _memory: Arc<FairPermit>,
}

/// The body as a file of at most so many bytes.
pub async fn file(
    request: &mut Request,
    limits: &Limits,
    access: &Access,
    most: usize,
) -> Result<ReceivedFile, ApiError> {
    received(request, limits, access, most, 1).await
}

/// The same, with memory for so many copies of it.
async fn received(
    request: &mut Request,
    limits: &Limits,
    access: &Access,
    most: usize,
    copies: usize,
) -> Result<ReceivedFile, ApiError> {
    let Some(read) = request.data::<Read>().cloned() else { return Err(ApiError::Internal) };
    let until = Instant::now() + limits.file_within;
    let stated = stated_length(request).filter(|stated| *stated <= most);
    let memory = limits.body_memory.receive(access, stated.unwrap_or(most) * copies, until).await?;
    let bytes = timeout_at(until, all(request.take_body(), stated, most))
        .await
        .map_err(|_| ApiError::Slow(limits.file_within))??;
    read.is_whole();
    Ok(ReceivedFile { bytes: bytes.into(), name: String::new(), _memory: Arc::new(memory) })
}

/// The files of a form of at most so many bytes all in all. Inputs that are no file, or in which none was chosen, are left out.
pub async fn files(
    request: &mut Request,
    limits: &Limits,
    access: &Access,
    most: usize,
) -> Result<Vec<ReceivedFile>, ApiError> {
    let ReceivedFile { bytes, _memory: memory, .. } = received(request, limits, access, most, 2).await?;
    let broken = |error| ApiError::BadBody(format!("The form could not be read: {error}."));
    let mut parts = Multipart::from_request(request, &mut RequestBody::new(bytes.into())).await.map_err(broken)?;
    let mut files = Vec::new();
    while let Some(part) = parts.next_field().await.map_err(|error| broken(error.into()))? {
        let Some(name) = part.file_name().filter(|name| !name.is_empty()).map(str::to_owned) else { continue };
        let bytes = part.bytes().await.map_err(|error| broken(error.into()))?;
        files.push(ReceivedFile { bytes: bytes.into(), name, _memory: Arc::clone(&memory) });
    }
    Ok(files)
}

/// Whether a body is in gzip (extensions E3.7).
pub(super) fn is_gzip(request: &Request) -> Result<bool, ApiError> {
    let values = request.headers().get_all(header::CONTENT_ENCODING).iter();
    let sent = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect::<Vec<_>>().join(", ");
    match sent.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(false),
        "gzip" | "x-gzip" => Ok(true),
        _ => Err(ApiError::UnsupportedCoding(sent)),
    }
}

/// Decompresses a body in gzip, up to the limit of a body.
fn decoded(bytes: &[u8]) -> Result<Vec<u8>, ApiError> {
    let mut decoded = Vec::with_capacity(MAX_BODY + 1);
    let read = MultiGzDecoder::new(bytes).take(one_more_than(MAX_BODY)).read_to_end(&mut decoded);
    if let Err(error) = read {
        let text = format!("The body is not valid gzip, which Content-Encoding says that it is: {error}.");
        return Err(ApiError::BadBody(text));
    }
    if decoded.len() > MAX_BODY { Err(ApiError::TooLarge(MAX_BODY)) } else { Ok(decoded) }
}

fn one_more_than(most: usize) -> u64 {
    u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1)
}

fn stated_length(request: &Request) -> Option<usize> {
    request.header("content-length")?.parse().ok()
}

/// The JSON object that these bytes are.
pub(super) fn parsed(bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| ApiError::BadBody(format!("JSON parse error: {}", not_json::explanation(bytes, &error))))?;
    if deeper_than(&value, MOST_LEVELS) {
        return Err(ApiError::BadBody(format!("The body is nested too deeply: at most {MOST_LEVELS} levels.")));
    }
    match value {
        Value::Object(object) => Ok(object),
        value => Err(ApiError::BadBody(not_json::not_an_object(&value))),
    }
}

async fn all(body: Body, stated: Option<usize>, most: usize) -> Result<Vec<u8>, ApiError> {
    // One byte more than expected, so that the end of the stream is seen.
    let mut bytes = Vec::with_capacity(stated.unwrap_or_default() + 1);
    let mut body = body.into_async_read();
    at_min_rate((&mut body).take(one_more_than(most)), &mut bytes).await?;
    if bytes.len() > most {
        return Err(ApiError::TooLarge(most));
    }
    Ok(bytes)
}

/// Reads to the end. After [`BODY_BEHIND`], the body must arrive at [`BODY_RATE`] on average.
async fn at_min_rate(mut body: impl AsyncRead + Unpin, bytes: &mut Vec<u8>) -> Result<(), ApiError> {
    let mut rate = MinimumRate::new(BODY_RATE, BODY_BEHIND, Duration::MAX);
    loop {
        let read = timeout_at(rate.wait(), body.read_buf(bytes)).await;
        match read.map_err(|_| ApiError::Trickle { bytes: bytes.len(), rate: BODY_RATE, grace: BODY_BEHIND })? {
            Ok(0) => return Ok(()),
            Ok(read) => rate.passed(read),
            Err(_) => return Err(broken()),
        }
    }
}

fn broken() -> ApiError {
    ApiError::BadBody("The body could not be read whole.".to_owned())
}

/// The pairs of a request's query string.
pub fn query(request: &Request) -> Result<Vec<(String, String)>, ApiError> {
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
    use std::io::Write as _;

    use tokio::{io::AsyncWriteExt, time::sleep};

    use super::*;

    #[test]
    fn a_body_in_gzip_is_decoded_as_far_as_a_body_may_go() {
        let gzip = |bytes: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let most = vec![b' '; MAX_BODY];
        assert_eq!(decoded(&gzip(&most)).unwrap(), most);
        assert_eq!(decoded(&[gzip(b"{"), gzip(b"}")].concat()).unwrap(), b"{}");
        for bomb in [vec![b' '; MAX_BODY + 1], vec![0; 8 * MAX_BODY]] {
            assert!(matches!(decoded(&gzip(&bomb)), Err(ApiError::TooLarge(MAX_BODY))));
        }
        let whole = gzip(b"{\"source_id\": \"1\"}");
        for broken in [&b""[..], b"{}", &whole[..whole.len() - 1], &[&whole[..], b"{}"].concat()] {
            assert!(matches!(decoded(broken), Err(ApiError::BadBody(_))), "{broken:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped_and_other_encodings_are_told_apart() {
        assert_eq!(parsed(b"\xEF\xBB\xBF{}").unwrap(), Map::new());
        let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        for body in [b"{\"body\": \"\xE5\"}".to_vec(), utf_16("{}"), utf_16("\u{feff}{}")] {
            let refused = parsed(&body).unwrap_err().to_string();
            assert!(refused.contains("UTF-8"), "{body:?}: {refused}");
        }
        assert!(!parsed(b"{\"a\": \0}").unwrap_err().to_string().contains("UTF-8"));
    }

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
