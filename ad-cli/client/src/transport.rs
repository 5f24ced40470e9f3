//! Sends requests: paths, rate, attempts and retries.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{
    Body, Method, RequestBuilder, Response,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::de::DeserializeOwned;
use url::Url;

use super::{Answer, Error, ErrorKind, answer, pace::Pace, stock_body::StockBody};

/// Maximum pause between two attempts, unless the service asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Longest pause that the service may ask for: beyond it, the caller decides.
const PATIENCE: Duration = Duration::from_mins(1);

/// Time for the whole of an answer that has no end. The HTTP client adds it to the present time, so it must not be the longest there is.
const ENDLESS: Duration = Duration::from_hours(24 * 365);

/// Further time for a stock: the network holds parts of it that have been sent, and the service compares them one by one.
const UNDER_WAY: Duration = Duration::from_mins(1);

/// Errors are wanted as problem details, which have codes, and texts without terms of the API.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/problem+json, application/json;q=0.9");

/// When requests are tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retries {
    pub(super) tries: u32,
    pub(super) first_pause: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { tries: 4, first_pause: Duration::from_millis(250) }
    }
}

/// One attempt of a request, with its result.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange<'a> {
    /// HTTP method, such as `POST`.
    pub method: &'a str,
    /// The path, with its query.
    pub path: &'a str,
    /// The status code, if there was an answer.
    pub status: Option<u16>,
    /// The id of the request.
    pub request_id: Option<&'a str>,
    /// The error, if it failed.
    pub error: Option<&'a Error>,
    /// Time from sending until the answer or the error.
    pub took: Duration,
    /// 1 for the first try.
    pub number: u32,
}

/// Called after each attempt of each request.
pub(super) type Observer = Arc<dyn Fn(&Exchange<'_>) + Send + Sync>;

#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    /// Path and query below the address of the service, encoded, without a slash before it.
    pub(super) path: String,
    /// The body, as JSON text.
    pub(super) body: Option<bytes::Bytes>,
    /// A stock instead of it, which is streamed. What refuses it is a value too: the refused plan.
    pub(super) stock: Option<StockBody>,
    pub(super) headers: HeaderMap,
    /// For how long the service may hold back its answer.
    pub(super) wait: Duration,
    /// Whether it is sent again when it may have been executed: it only reads, or a second execution changes nothing.
    pub(super) is_repeatable: bool,
}

impl Call {
    pub(super) fn new(method: Method, path: String, body: Option<bytes::Bytes>) -> Self {
        let (headers, wait) = (HeaderMap::new(), Duration::ZERO);
        Self { method, path, body, stock: None, headers, wait, is_repeatable: true }
    }
}

#[derive(derive_more::Debug)]
pub(super) struct Transport {
    #[debug(skip)]
    pub(super) http: reqwest::Client,
    pub(super) base: Url,
    /// Longest wait for the answer to one attempt.
    pub(super) timeout: Duration,
    #[debug(skip)]
    pub(super) pace: Pace,
    pub(super) retries: Retries,
    #[debug(skip)]
    pub(super) observer: Option<Observer>,
}

/// Characters of a path segment that are percent-encoded: all but the unreserved ones (RFC 3986).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as one segment of a path.
pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// Names and values as the query of an address, with its question mark; nothing without any.
pub(super) fn query_string(pairs: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    if query.is_empty() { query } else { format!("?{query}") }
}

impl Transport {
    pub(super) async fn get<T: DeserializeOwned>(&self, path: String) -> Result<Answer<T>, Error> {
        self.ask(Call::new(Method::GET, path, None)).await
    }

    /// Sends a request, with retries, and reads the answer.
    pub(super) async fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<Answer<T>, Error> {
        let path = format!("/{}", call.path);
        let names = call.path.split('?').next().unwrap_or_default();
        if names.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
            let told = "an empty name, \".\" and \"..\" are not allowed in a path".to_owned();
            return Err(Error::new(ErrorKind::Malformed(told), &call.method, &path));
        }
        let (mut number, mut was_unclear) = (0, false);
        loop {
            number += 1;
            self.pace.turn().await;
            let error = match self.once(&call, &path, number).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error.after(number, was_unclear),
            };
            was_unclear = error.is_unclear();
            let stock = call.stock.as_ref();
            let is_spent = stock.is_some_and(StockBody::is_spent);
            // There may be a plan, and another one would count as one more.
            let may_be_there = stock.is_some_and(|stock| stock.was_sent() && error.status().is_none());
            if is_spent || (was_unclear && (!call.is_repeatable || may_be_there)) {
                return Err(error);
            }
            let Some(pause) = self.pause(&error, number) else { return Err(error) };
            tokio::time::sleep(pause).await;
        }
    }

    /// Opens a stream of server-sent events, in one try: the answer, of which no more than the head has been read.
    pub(super) async fn open(&self, call: &Call, number: u32) -> Result<Response, Error> {
        let path = format!("/{}", call.path);
        self.pace.turn().await;
        let began = Instant::now();
        let result = match tokio::time::timeout(self.timeout, self.send(call, ENDLESS)).await {
            Ok(Ok(response)) => answer::stream(response, &call.method, &path).await,
            Ok(Err(error)) => Err(Error::unanswered(error, began, &call.method, &path)),
            Err(_) => Err(Error::new(ErrorKind::TimedOut(self.timeout), &call.method, &path)),
        };
        let seen = result.as_ref().map(|response| (response.status().as_u16(), answer::request_id(response.headers())));
        self.observe(call, &path, seen, began, number);
        result
    }

    async fn once<T: DeserializeOwned>(&self, call: &Call, path: &str, number: u32) -> Result<Answer<T>, Error> {
        let began = Instant::now();
        let limit = self.timeout + call.wait;
        let result = match &call.stock {
            None => match self.send(call, limit).await {
                Ok(response) => answer::read(response, &call.method, path).await,
                Err(error) => Err(Error::unanswered(error, began, &call.method, path)),
            },
            Some(stock) => self.send_stock(call, stock, limit, path).await,
        };
        let seen = result.as_ref().map(|answer| (answer.status, answer.request_id.as_deref()));
        self.observe(call, path, seen, began, number);
        result
    }

    /// Tells the observer of a try: its status and request id, or how it failed.
    fn observe(&self, call: &Call, path: &str, seen: Result<(u16, Option<&str>), &Error>, began: Instant, number: u32) {
        let Some(observer) = &self.observer else { return };
        let (status, request_id, error) = match seen {
            Ok((status, request_id)) => (Some(status), request_id, None),
            Err(error) => (error.status(), error.request_id(), Some(error)),
        };
        let method = call.method.as_str();
        observer(&Exchange { method, path, status, request_id, error, took: began.elapsed(), number });
    }

    async fn send(&self, call: &Call, timeout: Duration) -> reqwest::Result<Response> {
        let mut request = self.request(call, timeout);
        if let Some(body) = &call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        request.send().await
    }

    fn request(&self, call: &Call, timeout: Duration) -> RequestBuilder {
        let address = format!("{}{}", self.base, call.path);
        let mut headers = call.headers.clone();
        headers.entry(ACCEPT).or_insert(ACCEPTED);
        self.http.request(call.method.clone(), address).headers(headers).timeout(timeout)
    }

    /// Streams a stock, and reads the answer. The time limit is for each part of the stock and for the answer, because a stock of any length
    /// may be sent over any line.
    async fn send_stock<T: DeserializeOwned>(
        &self,
        call: &Call,
        stock: &StockBody,
        limit: Duration,
        path: &str,
    ) -> Result<Answer<T>, Error> {
        let limit = limit + UNDER_WAY;
        let request = self.request(call, ENDLESS).header(CONTENT_TYPE, stock.content_type());
        let began = Instant::now();
        let answer = async {
            match request.body(Body::wrap_stream(stock.stream())).send().await {
                Ok(response) => answer::read_with_refusal(response, &call.method, path).await,
                Err(error) => Err(Error::unanswered(error, began, &call.method, path)),
            }
        };
        let failed = |kind| Error::new(kind, &call.method, path);
        let answer = tokio::select! {
            answer = answer => answer,
            () = stock.stalled_for(limit) => Err(failed(ErrorKind::TimedOut(limit))),
        };
        match stock.take_error() {
            Some(error) if answer.is_err() => Err(failed(ErrorKind::Body(error.to_string())).caused_by(error)),
            _ => answer,
        }
    }

    /// The pause before the next attempt; `None` if there is none.
    pub(super) fn pause(&self, error: &Error, tries: u32) -> Option<Duration> {
        // Beyond the maximum, the caller decides.
        if matches!(error.kind(), ErrorKind::TimedOut(_)) && tries > 1 {
            return None;
        }
        let asked = passing(error)?;
        if asked > PATIENCE {
            return None;
        }
        self.pace.hold(asked);
        let grown = self.retries.first_pause.saturating_mul(1 << (tries - 1).min(16)).min(LONGEST_PAUSE);
        (tries < self.retries.tries).then(|| asked.max(half_by_chance(grown)))
    }
}

/// A pause of which half is random: clients that were refused together do not come back together.
pub(super) fn half_by_chance(pause: Duration) -> Duration {
    pause.mul_f64(0.5 + 0.5 * fastrand::f64())
}

/// The pause that the service asks for after a transient failure, zero if it names none; `None` for a failure that is not transient.
pub(super) fn passing(error: &Error) -> Option<Duration> {
    match error.kind() {
        ErrorKind::Unreachable(_) | ErrorKind::Lost(_) | ErrorKind::TimedOut(_) => Some(Duration::ZERO),
        ErrorKind::TooMany { retry_after, .. } | ErrorKind::Service { retry_after, .. } => {
            Some(retry_after.unwrap_or_default())
        }
        // A proxy answers with its own page while the service is down: bad gateway, unavailable, gateway timeout.
        ErrorKind::Unexpected(_) if matches!(error.status(), Some(502..=504)) => Some(Duration::ZERO),
        _ => None,
    }
}
