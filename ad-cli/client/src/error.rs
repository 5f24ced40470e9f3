//! Errors of requests: those of the contract ('Errors'), and those of the network.

use std::time::{Duration, Instant};

use ad_core::{fields::FieldErrors, rulebook::versions::Refusal, violation::Code};
use reqwest::Method;

/// Why a request did not succeed.
///
/// Its text says what happened in one line, without the fields and the token; [`kind`](Self::kind) has the rest.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Details>);

#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
struct Details {
    kind: ErrorKind,
    method: Method,
    path: String,
    status: Option<u16>,
    code: Option<Code>,
    suggestion: Option<String>,
    request_id: Option<String>,
    tries: u32,
    /// Whether an earlier try may have been accepted.
    was_unclear: bool,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What kind of trouble it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The payload or a parameter is wrong: 400 with messages by field. Also what the client itself finds wrong with the parameters of
    /// a list.
    #[error("{} wrong", fields(.0))]
    Invalid(FieldErrors),
    /// A business rule refuses the request: 400 with messages.
    #[error("{}", .0.join("; "))]
    Rules(Vec<String>),
    /// Refused for a reason with an identifier: 400 with `error`.
    #[error("{}", identified(.0))]
    Identified(Refusal),
    /// The request as such cannot be understood: 400 with `detail`.
    #[error("{0}")]
    Malformed(String),
    /// There is no token, or it is wrong or expired: 401.
    #[error("{0}")]
    Unauthorised(String),
    /// The token may not do this: 403.
    #[error("{0}")]
    Forbidden(String),
    /// There is no such ad for this token, or no such path: 404.
    #[error("{0}")]
    NotFound(String),
    /// The source id has been used: 409.
    #[error("{}", .0.flatten().into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" "))]
    Conflict(FieldErrors),
    /// The ad has changed since the revision that the request was bound to: 412. Nothing was done.
    #[error("{0}")]
    PreconditionFailed(String),
    /// The body is too large: 413.
    #[error("{0}")]
    TooLarge(String),
    /// A limit of requests is exceeded: 429.
    #[error("{detail}")]
    TooMany {
        /// The explanation of the service.
        detail: String,
        /// When it may be asked again.
        retry_after: Option<Duration>,
    },
    /// Another refusal in the contract's shape, 4xx with `detail`.
    #[error("{0}")]
    Other(String),
    /// The service failed to execute the request: 5xx.
    #[error("{detail}")]
    Service {
        /// The explanation of the service.
        detail: String,
        /// When it may be asked again.
        retry_after: Option<Duration>,
    },
    /// The answer is not from the service: an HTML page, a redirect, or JSON of another shape.
    #[error("{0}")]
    Unexpected(String),
    /// No connection: it was not sent.
    #[error("cannot reach the service: {0}")]
    Unreachable(String),
    /// No complete answer within this time.
    #[error("no answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The connection broke before the answer was whole.
    #[error("the connection was lost before the answer: {0}")]
    Lost(String),
    /// The body that was to be sent could not be read; the request was broken off.
    #[error("cannot read the body of the request: {0}")]
    Body(String),
}

fn fields(errors: &FieldErrors) -> String {
    match errors.flatten().len() {
        1 => "1 field is".to_owned(),
        count => format!("{count} fields are"),
    }
}

fn identified(refusal: &Refusal) -> String {
    let name = refusal.error.name();
    refusal.message.as_ref().map_or_else(|| name.to_owned(), |message| format!("{name}: {message}"))
}

impl ErrorKind {
    /// The reason for a missing answer: the innermost error, because the outer ones repeat the address.
    fn of_unanswered(error: &reqwest::Error, began: Instant) -> Self {
        let first: &(dyn std::error::Error + 'static) = error;
        let errors = || std::iter::successors(Some(first), |error| error.source());
        let reason = errors().last().map(ToString::to_string).unwrap_or_default();
        if error.is_connect() {
            let address = error.url().map(|url| url.origin().ascii_serialization()).unwrap_or_default();
            let reason = if error.is_timeout() {
                "no connection in time".to_owned()
            } else if errors().any(speaks_no_tls) {
                "the port does not use TLS; the address probably begins with http://".to_owned()
            } else {
                // Without the number that the operating system adds.
                reason.split(" (os error ").next().unwrap_or_default().to_owned()
            };
            return Self::Unreachable(format!("{address}: {reason}"));
        }
        if error.is_timeout() {
            let tenths = began.elapsed().as_millis() / 100;
            return Self::TimedOut(Duration::from_millis(
                u64::try_from(tenths).unwrap_or(u64::MAX).saturating_mul(100),
            ));
        }
        Self::Lost(reason)
    }
}

/// Whether an error is that of a TLS client to which something else than TLS was sent.
fn speaks_no_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return matches!(error, rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType));
    }
    // What an I/O error wraps is not its source.
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    inner.is_some_and(|inner| speaks_no_tls(inner))
}

impl Error {
    pub(super) fn new(kind: ErrorKind, method: &Method, path: &str) -> Self {
        let (method, path) = (method.clone(), path.to_owned());
        Self(Box::new(Details {
            kind,
            method,
            path,
            status: None,
            code: None,
            suggestion: None,
            request_id: None,
            tries: 0,
            was_unclear: false,
            source: None,
        }))
    }

    /// That there is no answer.
    pub(super) fn unanswered(error: reqwest::Error, began: Instant, method: &Method, path: &str) -> Self {
        Self::new(ErrorKind::of_unanswered(&error, began), method, path).caused_by(error)
    }

    /// The same, with the error below it.
    pub(super) fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(super) fn answered(mut self, status: u16, request_id: Option<String>) -> Self {
        self.0.status = Some(status);
        self.0.request_id = request_id;
        self
    }

    pub(super) fn of_problem(mut self, code: Option<Code>, suggestion: Option<String>) -> Self {
        (self.0.code, self.0.suggestion) = (code, suggestion);
        self
    }

    pub(super) fn after(mut self, tries: u32, was_unclear: bool) -> Self {
        (self.0.tries, self.0.was_unclear) = (tries, was_unclear);
        self
    }

    /// What kind of trouble it is.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The error as an owned value.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// What was asked, such as `POST /v4/car`.
    pub fn request(&self) -> String {
        format!("{} {}", self.0.method, self.0.path)
    }

    /// The status code of the answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The code of the answer, if it has one: answers of proxies have none.
    pub fn code(&self) -> Option<Code> {
        self.0.code
    }

    /// The source id that was probably meant, of an ad that was not found.
    pub fn suggestion(&self) -> Option<&str> {
        self.0.suggestion.as_deref()
    }

    /// What the service calls this request (`X-Request-Id`): its support finds it by that.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// How often it was tried.
    pub fn tries(&self) -> u32 {
        self.0.tries
    }

    /// Whether the request may have been accepted all the same: the answer was lost or says nothing about it. Never true of what only
    /// reads.
    ///
    /// Every try has carried the same `Idempotency-Key`: another one with [that key](super::Ads::key) executes nothing twice.
    pub fn is_unclear(&self) -> bool {
        let is_unclear = match &self.0.kind {
            ErrorKind::Lost(_) | ErrorKind::TimedOut(_) | ErrorKind::Service { .. } => true,
            // A page of a proxy says nothing about what stands behind it, unless it refuses.
            ErrorKind::Unexpected(_) => self.0.status.is_none_or(|status| !(300..500).contains(&status)),
            // The last try was not accepted, which says nothing about those before it.
            _ => self.0.was_unclear && !self.is_refusal(),
        };
        is_unclear && !self.is_reading()
    }

    /// Whether the service refused this request and may take others. Otherwise it refuses the token, cannot be reached, or is not the
    /// service.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Invalid(_)
                | ErrorKind::Rules(_)
                | ErrorKind::Identified(_)
                | ErrorKind::Malformed(_)
                | ErrorKind::NotFound(_)
                | ErrorKind::Conflict(_)
                | ErrorKind::PreconditionFailed(_)
                | ErrorKind::TooLarge(_)
                | ErrorKind::Other(_)
        )
    }

    /// All that is wrong in one text: of fields each with its path, otherwise the text of the error.
    pub fn details(&self) -> String {
        match self.kind() {
            ErrorKind::Invalid(errors) => {
                let fields = errors.flatten().into_iter().map(|(path, message)| format!("{path}: {message}"));
                fields.collect::<Vec<_>>().join(" ")
            }
            _ => self.to_string(),
        }
    }

    /// Whether it only reads: then nothing can have happened.
    fn is_reading(&self) -> bool {
        self.0.method == Method::GET || self.0.path.split('?').next().is_some_and(|path| path.ends_with("/validate"))
    }
}
