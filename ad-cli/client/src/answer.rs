//! Answers of the service, as values or errors of the contract.

use std::time::{Duration, Instant};

use ad_core::{
    fields::FieldErrors,
    model::{self, Timestamp},
    rulebook::versions::Refusal,
};
use reqwest::{
    Method, Response, StatusCode,
    header::{CONTENT_TYPE, DATE, ETAG, HeaderMap, LOCATION, RETRY_AFTER},
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use uuid::Uuid;

use super::{Error, ErrorKind, problem::Problem};

/// An answer with the id of its request.
#[derive(Debug, Clone, derive_more::Deref)]
#[non_exhaustive]
pub struct Answer<T> {
    /// The body, parsed from JSON.
    #[deref]
    pub body: T,
    /// Value of `X-Request-Id`, for support.
    pub request_id: Option<String>,
    /// HTTP status code, 200 to 299; 400, 408 or 413 of a refused [stock plan](super::StockPlans::plan).
    pub status: u16,
    /// The `ETag` of what is shown, for [`Ads::if_match`](super::Ads::if_match).
    pub etag: Option<String>,
    /// The time of the answer by the clock of the service.
    pub time: Option<Timestamp>,
}

impl<T> Answer<T> {
    /// The id by which the log entries of an accepted write are found.
    pub fn request_uuid(&self) -> Option<Uuid> {
        self.request_id.as_deref().and_then(|id| id.parse().ok())
    }

    pub(super) fn map<U>(self, body: impl FnOnce(T) -> U) -> Answer<U> {
        let Self { body: of, request_id, status, etag, time } = self;
        Answer { body: body(of), request_id, status, etag, time }
    }
}

/// Number of characters that are shown of an answer that is not from the service.
const EXCERPT: usize = 80;

pub(super) async fn read<T: DeserializeOwned>(
    response: Response,
    method: &Method,
    path: &str,
) -> Result<Answer<T>, Error> {
    read_as(response, method, path, false).await
}

/// The same of an operation whose refusals may have a value as body.
pub(super) async fn read_with_refusal<T: DeserializeOwned>(
    response: Response,
    method: &Method,
    path: &str,
) -> Result<Answer<T>, Error> {
    read_as(response, method, path, true).await
}

async fn read_as<T: DeserializeOwned>(
    response: Response,
    method: &Method,
    path: &str,
    has_refusal: bool,
) -> Result<Answer<T>, Error> {
    let (status, headers) = (response.status(), response.headers().clone());
    let request_id = request_id(&headers).map(str::to_owned);
    let answered = |error: Error| error.answered(status.as_u16(), request_id.clone());
    let failed = |kind| answered(Error::new(kind, method, path));
    let began = Instant::now();
    let bytes = response.bytes().await.map_err(|error| answered(Error::unanswered(error, began, method, path)))?;
    let json = if status == StatusCode::NO_CONTENT { b"null" } else { bytes.as_ref() };
    let is_value = status.is_success() || (has_refusal && status.is_client_error());
    let body = match is_value.then(|| serde_json::from_slice(json)) {
        Some(Ok(body)) => body,
        Some(Err(error)) if status.is_success() => {
            return Err(failed(unexpected(status.as_u16(), &headers, &bytes, Some(&error))).caused_by(error));
        }
        _ => {
            let (kind, problem) = refusal(status.as_u16(), &headers, &bytes);
            let (code, suggestion) = problem.map(|problem| (problem.code, problem.suggestion)).unzip();
            return Err(failed(kind).of_problem(code, suggestion.flatten()));
        }
    };
    let etag = text(&headers, ETAG.as_str()).map(str::to_owned);
    Ok(Answer { body, request_id, status: status.as_u16(), etag, time: date(&headers) })
}

/// An answer that is a stream of server-sent events, with its body unread.
pub(super) async fn stream(response: Response, method: &Method, path: &str) -> Result<Response, Error> {
    let kind = text(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
    if response.status().is_success() && kind.starts_with("text/event-stream") {
        return Ok(response);
    }
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let answer = read::<IgnoredAny>(response, method, path).await?;
    let kind = unexpected(status, &headers, b"JSON instead of a stream of events", None);
    Err(Error::new(kind, method, path).answered(status, answer.request_id))
}

/// What the service calls the request.
pub(super) fn request_id(headers: &HeaderMap) -> Option<&str> {
    text(headers, "x-request-id")
}

/// What a refusal says, with its problem details.
fn refusal(status: u16, headers: &HeaderMap, bytes: &[u8]) -> (ErrorKind, Option<Problem>) {
    let Some(problem) = Problem::of(headers, bytes) else { return (in_contract(status, headers, bytes), None) };
    // What has a detail in both shapes is read alike.
    let kind = problem.kind(status).unwrap_or_else(|| in_contract(status, headers, bytes));
    (kind, Some(problem))
}

/// What a refusal in the shape of the contract says ('Errors').
fn in_contract(status: u16, headers: &HeaderMap, bytes: &[u8]) -> ErrorKind {
    let Ok(body) = serde_json::from_slice::<Value>(bytes) else { return unexpected(status, headers, bytes, None) };
    let detail = body.get("detail").and_then(Value::as_str).map(str::to_owned);
    let retry_after = retry_after(headers);
    let kind = match (status, detail) {
        (400, Some(detail)) => Some(ErrorKind::Malformed(detail)),
        (401, Some(detail)) => Some(ErrorKind::Unauthorised(detail)),
        (403, Some(detail)) => Some(ErrorKind::Forbidden(detail)),
        (404, Some(detail)) => Some(ErrorKind::NotFound(detail)),
        (412, Some(detail)) => Some(ErrorKind::PreconditionFailed(detail)),
        (413, Some(detail)) => Some(ErrorKind::TooLarge(detail)),
        (429, detail) => {
            Some(ErrorKind::TooMany { detail: detail.unwrap_or_else(|| "too many requests".to_owned()), retry_after })
        }
        (400..500, Some(detail)) => Some(ErrorKind::Other(detail)),
        (500.., Some(detail)) => Some(ErrorKind::Service { detail, retry_after }),
        (400, None) if body.is_array() => serde_json::from_value(body).ok().map(ErrorKind::Rules),
        (400, None) if body.get("error").is_some_and(Value::is_string) => {
            serde_json::from_value::<Refusal>(body).ok().map(ErrorKind::Identified)
        }
        (400, None) => serde_json::from_value::<FieldErrors>(body).ok().map(ErrorKind::Invalid),
        (409, None) => serde_json::from_value::<FieldErrors>(body).ok().map(ErrorKind::Conflict),
        _ => None,
    };
    kind.unwrap_or_else(|| unexpected(status, headers, bytes, None))
}

/// The message about an answer that is not from the service.
fn unexpected(status: u16, headers: &HeaderMap, bytes: &[u8], error: Option<&serde_json::Error>) -> ErrorKind {
    if let (300..400, Some(location)) = (status, text(headers, LOCATION.as_str())) {
        let path = location.split_once("://").map_or(location, |(_, rest)| rest);
        let path = path.split(['?', '#']).next().unwrap_or(path);
        let what = if path.split('/').any(|name| name == "console") {
            "the address is that of the console; leave out /console".to_owned()
        } else {
            format!("the address redirects to {location} (status {status}); use that address if it is the service")
        };
        return ErrorKind::Unexpected(what);
    }
    if status == 429 {
        let retry_after = retry_after(headers);
        return ErrorKind::TooMany { detail: "too many requests".to_owned(), retry_after };
    }
    let kind = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default().to_ascii_lowercase();
    let start: String = String::from_utf8_lossy(bytes)
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(EXCERPT)
        .collect();
    let start = start.trim();
    let what = if kind.starts_with("text/html") || start.to_ascii_lowercase().starts_with("<!doctype html") {
        "with a web page".to_owned()
    } else if start.is_empty() {
        "with an empty body".to_owned()
    } else if let Some(error) = error.filter(|_| kind.starts_with("application/json")) {
        format!("with unexpected JSON ({error})")
    } else {
        format!("with unexpected content: {start}")
    };
    ErrorKind::Unexpected(format!(
        "unexpected answer {what} (status {status}); check that the address is that of the service and its version is supported"
    ))
}

/// The pause that the service asks for. A date counts from the `Date` of the answer, since clocks differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    model::retry_after(text(headers, RETRY_AFTER.as_str())?, date(headers))
}

fn date(headers: &HeaderMap) -> Option<Timestamp> {
    text(headers, DATE.as_str()).and_then(Timestamp::from_http_date)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn kind(status: u16, body: &str) -> String {
        format!("{:?}", refusal(status, &HeaderMap::new(), body.as_bytes()).0)
    }

    #[test]
    fn every_shape_of_the_contract_is_known() {
        for (status, body, name) in [
            (400, r#"{"price": {"0": {"type": ["Wrong."]}}}"#, "Invalid"),
            (400, r#"["Ad has been deleted, cannot update"]"#, "Rules"),
            (400, r#"{"error": "trailer_create_disabled"}"#, "Identified"),
            (400, r#"{"detail": "JSON parse error"}"#, "Malformed"),
            (400, r#"{"detail": ["This is a field."]}"#, "Invalid"),
            (401, r#"{"detail": "Invalid token: …"}"#, "Unauthorised"),
            (403, r#"{"detail": "…"}"#, "Forbidden"),
            (404, r#"{"detail": "Not found."}"#, "NotFound"),
            (405, r#"{"detail": "Method …"}"#, "Other"),
            (409, r#"{"source_id": ["Used."]}"#, "Conflict"),
            (412, r#"{"detail": "…"}"#, "PreconditionFailed"),
            (413, r#"{"detail": "…"}"#, "TooLarge"),
            (429, r#"{"detail": "…"}"#, "TooMany"),
            (503, r#"{"detail": "…"}"#, "Service"),
            (502, "<html>", "Unexpected"),
            (400, "7", "Unexpected"),
            (401, "<html>", "Unexpected"),
        ] {
            assert!(kind(status, body).starts_with(name), "{status} {body}: {}", kind(status, body));
        }
    }

    #[test]
    fn what_is_not_the_service_is_told_in_one_line() {
        let page = "<!DOCTYPE html>\n<html><title>Welcome to nginx!</title>";
        let ErrorKind::Unexpected(told) =
            unexpected(200, &headers(&[("content-type", "text/html")]), page.as_bytes(), None)
        else {
            panic!()
        };
        assert_eq!(
            told,
            "unexpected answer with a web page (status 200); check that the address is that of the service and its version is supported"
        );
        let moved = headers(&[("location", "https://ads.example/")]);
        let ErrorKind::Unexpected(told) = unexpected(301, &moved, b"", None) else { panic!() };
        assert!(told.starts_with("the address redirects to https://ads.example/"), "{told}");
    }

    #[test]
    fn a_pause_is_seconds_or_a_time_by_the_clock_of_the_service() {
        let of = |pairs: &[(&'static str, &str)]| retry_after(&headers(pairs)).map(|pause| pause.as_secs());
        assert_eq!(of(&[("retry-after", "7")]), Some(7));
        let date = ("date", "Thu, 15 Jan 2026 10:00:00 GMT");
        assert_eq!(of(&[("retry-after", "Thu, 15 Jan 2026 10:01:00 GMT"), date]), Some(60));
        assert_eq!(of(&[("retry-after", "Thu, 15 Jan 2026 09:00:00 GMT"), date]), Some(0));
        assert_eq!(of(&[("retry-after", "soon"), date]), None);
        assert_eq!(of(&[]), None);
    }
}
