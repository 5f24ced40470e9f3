//! Errors as the client sees them: the only place that maps errors to HTTP ('Errors', decisions 2, 4, 9, 29).
//!
//! What only the operator needs to know is logged here.

use std::{sync::Arc, time::Duration};

use ad_core::{
    fields::FieldErrors,
    ports::StoreError,
    rulebook::versions::{MigrationOption, Refusal},
    service::{
        NotRecorded as WhyNotRecorded, PromotionError, ServiceError, StockPlanError,
        TooManyRequests as UnfinishedLimit, UsedBy,
    },
    violation::Code,
};
use poem::{
    Response,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{conditional, problem::Detail, versions};
use ad_server_access::auth::TokenError;
use ad_server_base::{http_server::ConnectionLimit, telemetry::FaultLog, values::Rate};

/// `Retry-After` in seconds when the store failed.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("2");

/// `Retry-After` in seconds when too many requests are unfinished: workers finish some all the time.
const QUEUE_RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// `Retry-After` in seconds when there are too many connections.
const CONNECTION_RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// How a token is sent.
const SCHEME: HeaderValue = HeaderValue::from_static("X-Auth-Token");

const CLOSE: HeaderValue = HeaderValue::from_static("close");

static UNAVAILABLE_STORE: FaultLog = FaultLog::new("the database is not available; requests are answered with 503");

/// The message when the store does not answer.
pub(super) const UNAVAILABLE: &str = "The service cannot store or read ads right now. Try again.";

/// Anything that is not a success.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// A use case refused the request.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A use case of stock plans refused the request.
    #[error(transparent)]
    Plan(StockPlanError),
    /// A use case of promotions by the clock refused the request.
    #[error(transparent)]
    Promotion(PromotionError),
    /// The body is not a JSON object.
    #[error("{0}")]
    BadBody(String),
    #[error("The tag of a revision is malformed: send *, or tags in double quotes, such as \"5.12\".")]
    BadTags(HeaderName),
    #[error("Content-Encoding \"{0}\" is not supported; send the body in gzip, or without a coding.")]
    UnsupportedCoding(String),
    #[error("Request body is too large: at most {0} bytes.")]
    TooLarge(usize),
    #[error("The body of the request did not come within {} s.", .0.as_secs_f64())]
    Slow(Duration),
    #[error(
        "The body of the request came too slowly: {bytes} bytes, where at least {rate} a second are expected after the \
         first {} s. Send it again over a faster connection.",
        .grace.as_secs()
    )]
    Trickle { bytes: usize, rate: usize, grace: Duration },
    #[error(
        "Large request bodies, yours or those of other clients, take up all of body_memory ({} KiB). Nothing was done. \
         Try again, with fewer requests at the same time.",
        .0 / 1024
    )]
    NoMemory(usize),
    #[error(
        "The server is processing as many requests as it can ({0} at the same time), and yours waited too long. Nothing was \
         done. Try again, with fewer requests at the same time."
    )]
    Crowded(usize),
    #[error("Authentication credentials were not provided.")]
    NoToken { in_authorization: bool },
    #[error("Invalid token: {0}")]
    InvalidToken(TokenError),
    #[error("This token does not have the permission \"{0}\".")]
    Forbidden(ad_server_access::auth::Permission),
    #[error(
        "At most {0} lists and logs of one dealer or group can be read at the same time. Wait for the answers of the others, \
         and read them to their end."
    )]
    TooManyLists(usize),
    #[error(
        "The service is sending as many large answers as it can; this one waited {} s for its turn. Ask for fewer at once, \
         narrow lists by filters, fewer fields or a smaller limit, or try again.",
        .0.as_secs_f64()
    )]
    Busy(std::time::Duration),
    #[error("{}", .0.detail())]
    TooManyConnections(ConnectionLimit),
    #[error(
        "Too many requests: rate_limit allows {rate} with all tokens of a dealer together. Try again in {seconds} s."
    )]
    TooMany { rate: Rate, seconds: u64 },
    #[error(
        "Idempotency-Key must be sent once, with 1 to 255 visible ASCII characters, quoted or not, such as \
         \"8e03978e-40d5-43dd-bc93-6894a57f9324\"."
    )]
    BadIdempotencyKey,
    #[error(
        "{0} requests at most can wait until they are finished, and dealers share them. Nothing was done. Send this one again later."
    )]
    TooManyWaiting(usize),
    #[error(
        "At most {most} event streams and long polls {} can be open at the same time. Close others, or read events without \
         wait.",
        if *of_token { "of one token" } else { "of all clients" }
    )]
    TooManyStreams { most: usize, of_token: bool },
    #[error(
        "This token is an operator's: it opens the pages for operators in the console, and gives no access to ads. Send a token of \
         a dealer or group."
    )]
    OperatorToken,
    /// A form of the console was probably sent by another site.
    #[error("The request does not come from a page of this service. Open the console and try again.")]
    ForeignOrigin,
    /// The path, or what it names, does not exist.
    #[error("{0}")]
    NotFound(Advised),
    #[error("{detail}")]
    MethodNotAllowed { allow: String, detail: String },
    /// poem refused the request before it was routed.
    #[error("{text}")]
    Malformed { status: StatusCode, text: String },
    /// Something cannot be read now.
    #[error("{0}")]
    Unavailable(String),
    #[error("Internal error.")]
    Internal,
}

impl From<StockPlanError> for ApiError {
    fn from(error: StockPlanError) -> Self {
        match error {
            StockPlanError::Service(error) => Self::Service(error),
            StockPlanError::NotFound => Self::not_found(
                "No stock plan in the token's scope has this id. Plans are kept for some time after their end.",
            ),
            error => Self::Plan(error),
        }
    }
}

impl From<PromotionError> for ApiError {
    fn from(error: PromotionError) -> Self {
        match error {
            PromotionError::Service(error) => Self::Service(error),
            PromotionError::NotFound => {
                let text = "No promotion schedule in the token's scope has this id.";
                Self::not_found_but(text, "GET /v4/promotions lists them.")
            }
            error @ PromotionError::TooMany { .. } => Self::Promotion(error),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}

impl From<FieldErrors> for ApiError {
    /// Of the query; a payload is checked by the use cases.
    fn from(errors: FieldErrors) -> Self {
        Self::Service(ServiceError::InvalidQuery(errors))
    }
}

impl ApiError {
    /// The path, or what it names, does not exist.
    pub fn not_found(text: impl Into<String>) -> Self {
        Self::NotFound(Advised::new(text))
    }

    /// The same, with the request that helps.
    pub fn not_found_but(text: impl Into<String>, request: impl Into<String>) -> Self {
        Self::NotFound(Advised::new(text).but(request))
    }

    pub fn unknown_path() -> Self {
        Self::not_found("Not found.")
    }

    /// Another method of a path that can only be read; `None` if it is not known here.
    pub(super) fn read_only(method: Option<&Method>) -> Self {
        Self::only(&["GET"], method)
    }

    /// Another method of a path that has these; `None` if it is not known here.
    pub fn only(methods: &[&str], method: Option<&Method>) -> Self {
        let method = method.map(|method| format!(" {method}")).unwrap_or_default();
        let detail = format!("Method{method} is not allowed. This path has {}.", methods.join(", "));
        let head = methods.contains(&"GET").then_some("HEAD");
        let (first, others) = methods.split_at(usize::from(head.is_some()));
        let allow: Vec<&str> =
            first.iter().copied().chain(head).chain(others.iter().copied()).chain(["OPTIONS"]).collect();
        Self::MethodNotAllowed { allow: allow.join(", "), detail }
    }

    /// The answer in the contract's shape. The error is in its data, so that it can be turned into problem details.
    pub fn response(self) -> Response {
        let mut response = self.default_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }

    pub fn default_response(&self) -> Response {
        self.log();
        let ErrorRow { status, headers, .. } = self.row();
        let mut response = match self {
            Self::Service(ServiceError::Invalid(errors) | ServiceError::InvalidQuery(errors)) => {
                json_response(status, errors)
            }
            Self::Service(ServiceError::Refused(denials)) => json_response(status, denials),
            Self::Service(ServiceError::Version(error)) => match versions::refusal(error) {
                Ok(refusal) => json_response(status, &refusal),
                Err(advised) => json_response(status, &[advised.to_string()]),
            },
            Self::Service(ServiceError::Duplicate { used_by, .. }) => json_response(status, &duplicate(used_by)),
            Self::InvalidToken(error @ TokenError::RevocationUnknown) => detail(status, error),
            _ => detail(status, &self.whole()),
        };
        response.headers_mut().extend(headers);
        response
    }

    /// The table of all errors: code (extensions E1.3), status, headers.
    #[rustfmt::skip]
    fn row(&self) -> ErrorRow {
        use ServiceError::{
            Duplicate, Elsewhere, Invalid, InvalidQuery, KeyUsed, NoRevisionNamed, NotRecorded, PreconditionFailed, Refused, Store, TooManyRequests, Version,
        };
        match self {
            Self::Service(Invalid(_) | InvalidQuery(_)) => row(Code::ValidationFailed, StatusCode::BAD_REQUEST),
            Self::Service(Refused(denials)) => row(denials.first().map_or(Code::NotAllowed, |it| it.code), StatusCode::BAD_REQUEST),
            Self::Service(Version(error)) => row(error.code(), StatusCode::BAD_REQUEST),
            Self::Service(ServiceError::NotFound | Elsewhere { .. } | NotRecorded(WhyNotRecorded::NoSuchRevision { .. })) | Self::NotFound(_) => row(Code::NotFound, StatusCode::NOT_FOUND),
            Self::Service(PreconditionFailed(tag) | NoRevisionNamed(tag)) => row(Code::PreconditionFailed, StatusCode::PRECONDITION_FAILED).with(header::ETAG, conditional::etag(*tag)),
            Self::Service(NotRecorded(WhyNotRecorded::Revision(_))) => row(Code::NotRecorded, StatusCode::NOT_FOUND),
            Self::Service(NotRecorded(WhyNotRecorded::NotCreated { .. } | WhyNotRecorded::Time { .. })) => row(Code::NotRecorded, StatusCode::BAD_REQUEST),
            Self::Service(Duplicate { .. }) => row(Code::DuplicateSourceId, StatusCode::CONFLICT),
            Self::Service(KeyUsed(_)) => row(Code::IdempotencyKeyReused, StatusCode::UNPROCESSABLE_ENTITY),
            Self::Service(TooManyRequests(UnfinishedLimit::OfAd { .. })) => row(Code::TooManyRequestsOfAd, StatusCode::TOO_MANY_REQUESTS).after(QUEUE_RETRY_AFTER),
            Self::Service(TooManyRequests(UnfinishedLimit::OfDealer(_))) => row(Code::QuotaExceeded, StatusCode::TOO_MANY_REQUESTS).after(QUEUE_RETRY_AFTER),
            Self::Plan(error) => row(error.code().unwrap_or(Code::InternalError), StatusCode::CONFLICT),
            Self::Promotion(error) => row(error.code().unwrap_or(Code::InternalError), StatusCode::CONFLICT),
            Self::Service(Store(StoreError::TimedOut(_) | StoreError::Unavailable(_)))
            | Self::InvalidToken(TokenError::RevocationUnknown)
            | Self::NoMemory(_)
            | Self::Crowded(_)
            | Self::Busy(_)
            | Self::Unavailable(_) => row(Code::Unavailable, StatusCode::SERVICE_UNAVAILABLE).after(RETRY_AFTER),
            Self::Service(Store(_)) | Self::Internal => row(Code::InternalError, StatusCode::INTERNAL_SERVER_ERROR),
            Self::BadBody(_) => row(Code::NotJson, StatusCode::BAD_REQUEST),
            Self::BadTags(_) | Self::BadIdempotencyKey => row(Code::BadRequest, StatusCode::BAD_REQUEST),
            // RFC 7694, 3.
            Self::UnsupportedCoding(_) => row(Code::UnsupportedContentEncoding, StatusCode::UNSUPPORTED_MEDIA_TYPE).with(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
            Self::TooLarge(_) => row(Code::TooLarge, StatusCode::PAYLOAD_TOO_LARGE),
            Self::Slow(_) | Self::Trickle { .. } => row(Code::RequestTimeout, StatusCode::REQUEST_TIMEOUT),
            Self::InvalidToken(_) => row(Code::TokenInvalid, StatusCode::UNAUTHORIZED).with(header::WWW_AUTHENTICATE, SCHEME),
            Self::NoToken { .. } => row(Code::TokenMissing, StatusCode::UNAUTHORIZED).with(header::WWW_AUTHENTICATE, SCHEME),
            Self::Forbidden(_) | Self::OperatorToken => row(Code::PermissionMissing, StatusCode::FORBIDDEN),
            Self::ForeignOrigin => row(Code::BadRequest, StatusCode::FORBIDDEN),
            Self::TooManyConnections(ConnectionLimit::Total(_)) => row(Code::Unavailable, StatusCode::SERVICE_UNAVAILABLE).after(CONNECTION_RETRY_AFTER).with(header::CONNECTION, CLOSE),
            Self::TooManyConnections(ConnectionLimit::Address(_)) => row(Code::RateLimited, StatusCode::TOO_MANY_REQUESTS).after(CONNECTION_RETRY_AFTER).with(header::CONNECTION, CLOSE),
            Self::TooManyLists(_) | Self::TooManyWaiting(_) | Self::TooManyStreams { .. } => row(Code::RateLimited, StatusCode::TOO_MANY_REQUESTS).after(RETRY_AFTER),
            Self::TooMany { seconds, .. } => row(Code::RateLimited, StatusCode::TOO_MANY_REQUESTS).after((*seconds).into()),
            Self::MethodNotAllowed { allow, .. } => {
                let row = row(Code::MethodNotAllowed, StatusCode::METHOD_NOT_ALLOWED);
                match HeaderValue::from_str(allow) { Ok(allow) => row.with(header::ALLOW, allow), Err(_) => row }
            }
            Self::Malformed { status, .. } => row(Code::BadRequest, *status),
        }
    }

    pub fn code(&self) -> Code {
        self.row().code
    }

    /// What only the operator needs to know.
    fn log(&self) {
        match self {
            Self::Service(ServiceError::Store(StoreError::TimedOut(limit))) => {
                tracing::info!(seconds = limit.as_secs_f64(), "read timed out");
            }
            Self::Service(ServiceError::Store(StoreError::Unavailable(reason))) => {
                UNAVAILABLE_STORE.report(reason);
            }
            Self::Service(ServiceError::Store(error)) => tracing::error!(%error, "the store failed"),
            _ => {}
        }
    }

    /// Its text in the contract's shape: what happened, and the request that helps.
    fn whole(&self) -> String {
        Advised { request: self.request(), ..Advised::new(self.detail()) }.to_string()
    }

    /// The request that helps, in a sentence for those who send requests themselves. Problem details have it beside the detail.
    pub fn request(&self) -> Option<String> {
        match self {
            Self::NotFound(advised) => advised.request.clone(),
            Self::Service(ServiceError::Version(error)) => match versions::refusal(error) {
                Ok(refusal) => refusal.suggestion,
                Err(advised) => advised.request,
            },
            Self::Service(ServiceError::Duplicate { .. }) => Some(UPDATES.to_owned()),
            Self::Service(ServiceError::Elsewhere { found, .. }) => Some(versions::own_paths(found)),
            Self::Service(ServiceError::NoRevisionNamed(_)) => {
                Some("In If-Match, a weak tag never does, so send it without W/, as the header ETag has it.".to_owned())
            }
            Self::Service(ServiceError::NotRecorded(
                WhyNotRecorded::NoSuchRevision { .. } | WhyNotRecorded::Revision(_),
            )) => Some("List those that are with GET …/revisions.".to_owned()),
            Self::NoToken { in_authorization } => Some(format!(
                "Send the token in the header X-Auth-Token{}.",
                if *in_authorization { ", alone; the header Authorization is not read" } else { "" }
            )),
            Self::BadTags(name) => Some(format!("The header {name} has what the header ETag of an answer had.")),
            Self::TooManyWaiting(_) => Some("Or send it without the preference (Prefer: wait).".to_owned()),
            _ => None,
        }
    }

    /// What was probably meant in the place of what was not found.
    pub fn suggestion(&self) -> Option<String> {
        let Self::NotFound(advised) = self else { return None };
        advised.suggestion.clone()
    }

    /// The ways from V3 to V4, if the ad has to take one first.
    pub fn migration_options(&self) -> Option<Vec<MigrationOption>> {
        let Self::Service(ServiceError::Version(error)) = self else { return None };
        versions::refusal(error).ok().map(|refusal| refusal.migration_options).filter(|ways| !ways.is_empty())
    }

    /// Its text for problem details, which also has what the contract's shape has no place for.
    pub fn detail(&self) -> String {
        match self {
            Self::NotFound(advised) => advised.text.clone(),
            Self::Service(ServiceError::Version(error)) => match versions::refusal(error) {
                Ok(Refusal { message: Some(message), .. }) => message,
                Ok(_) => self.code().about().explanation.to_owned(),
                Err(advised) => advised.text,
            },
            Self::Service(ServiceError::Elsewhere { found, asked }) => versions::found_elsewhere(found, asked),
            Self::Service(ServiceError::Duplicate { used_by, .. }) => duplicate_texts(used_by).join(" "),
            Self::Service(ServiceError::NoRevisionNamed(tag)) => format!(
                "The tag of a revision can match none of this ad; the present one is \"{tag}\". Nothing was done."
            ),
            Self::Service(ServiceError::Store(StoreError::TimedOut(limit))) => timed_out(*limit),
            Self::Service(ServiceError::Store(StoreError::Unavailable(_))) => UNAVAILABLE.to_owned(),
            Self::Service(ServiceError::Store(_)) => Self::Internal.to_string(),
            error => match error.fields().map(|(errors, _)| errors.located().len()) {
                Some(1) => "The request has 1 error; see `errors`.".to_owned(),
                Some(errors) => format!("The request has {errors} errors; see `errors`."),
                None => error.to_string(),
            },
        }
    }

    /// Errors by field, and the part of the request that they are about.
    pub fn fields(&self) -> Option<(&FieldErrors, RequestPart)> {
        match self {
            Self::Service(ServiceError::Invalid(errors)) => Some((errors, RequestPart::Payload)),
            Self::Service(ServiceError::InvalidQuery(errors)) => Some((errors, RequestPart::Query)),
            _ => None,
        }
    }
}

/// What happened, for everybody, and the request that helps, for those who send requests themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advised {
    pub text: String,
    pub request: Option<String>,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl Advised {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), request: None, suggestion: None }
    }

    /// The same, with the request that helps.
    #[must_use]
    pub fn but(self, request: impl Into<String>) -> Self {
        Self { request: Some(request.into()), ..self }
    }
}

impl std::fmt::Display for Advised {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.request {
            Some(request) => write!(formatter, "{} {request}", self.text),
            None => formatter.write_str(&self.text),
        }
    }
}

/// The part of a request that field errors are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    Query,
    Payload,
}

struct ErrorRow {
    code: Code,
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
}

fn row(code: Code, status: StatusCode) -> ErrorRow {
    ErrorRow { code, status, headers: Vec::new() }
}

impl ErrorRow {
    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// With the seconds after which to try again.
    fn after(self, seconds: HeaderValue) -> Self {
        self.with(header::RETRY_AFTER, seconds)
    }
}

/// The message about a read that took too long.
fn timed_out(limit: Duration) -> String {
    format!(
        "The read was stopped after {} s, the limit of read_timeout. Narrow a list by filters (a search too: by category_id, status \
         or updated__gte), fewer fields or a smaller limit, or try again.",
        limit.as_secs_f64()
    )
}

/// The message about a source id that is in use.
const DUPLICATE: [&str; 2] = [
    "This source_id has been used for this dealer and cannot be used again, even after deletion.",
    "Update the ad, or choose another source_id.",
];

/// The request for that.
const UPDATES: &str = "Updates are PUT and PATCH.";

/// The same, with what helps about the ad that has it.
fn duplicate_texts(used_by: &UsedBy) -> Vec<String> {
    let about = match used_by {
        UsedBy::Deleted { registered: true } => "That ad is deleted, so choose another source_id.".to_owned(),
        UsedBy::Deleted { registered: false } => {
            "That ad is deleted: an update publishes it again, or choose another source_id.".to_owned()
        }
        UsedBy::OtherVehicle(plate) => {
            format!(
                "That ad is of another vehicle, with registration_number \"{plate}\": two vehicles need two source_ids."
            )
        }
        UsedBy::Ad => String::new(),
    };
    let about = Some(about).filter(|about| !about.is_empty());
    DUPLICATE.into_iter().map(str::to_owned).chain(about).collect()
}

/// The same in the contract's shape.
pub(super) fn duplicate(used_by: &UsedBy) -> Value {
    let texts: Vec<_> = duplicate_texts(used_by).into_iter().chain([UPDATES.to_owned()]).collect();
    json!({"source_id": texts})
}

fn detail(status: StatusCode, text: &dyn std::fmt::Display) -> Response {
    json_response(status, &Detail::new(text))
}

pub fn json_response(status: StatusCode, body: &impl Serialize) -> Response {
    match json_bytes(body) {
        Ok(bytes) => Response::builder().status(status).content_type("application/json").body(bytes),
        Err(_) => Response::builder()
            .status(StatusCode::INTERNAL_SERVER_ERROR)
            .content_type("application/json")
            .body(r#"{"detail":"Internal error."}"#),
    }
}

pub(super) fn json_bytes(body: &impl Serialize) -> Result<Vec<u8>, ApiError> {
    serde_json::to_vec(body).map_err(|error| unserializable(&error))
}

pub(super) fn json_text(body: &impl Serialize) -> Result<String, ApiError> {
    serde_json::to_string(body).map_err(|error| unserializable(&error))
}

fn unserializable(error: &serde_json::Error) -> ApiError {
    tracing::error!(%error, "cannot serialize response");
    ApiError::Internal
}

/// What poem itself refuses, in the contract's shape.
pub fn from_poem(error: &poem::Error) -> Response {
    let status = error.status();
    match status {
        StatusCode::NOT_FOUND => ApiError::unknown_path().response(),
        // Paths with writes answer wrong methods themselves, so poem only answers for paths that are read.
        StatusCode::METHOD_NOT_ALLOWED => ApiError::read_only(None).response(),
        StatusCode::SERVICE_UNAVAILABLE => ApiError::Unavailable(error.to_string()).response(),
        _ if status.is_client_error() => ApiError::Malformed { status, text: error.to_string() }.response(),
        _ => {
            tracing::error!(%error, "a request failed");
            ApiError::Internal.response()
        }
    }
}

#[cfg(test)]
mod tests {
    use ad_core::{
        categories,
        model::AdTag,
        rulebook::versions::{AdRef, VersionError},
        service::Denial,
    };

    use super::*;

    /// Words of those who send requests themselves; the others get the rest of the text.
    const OF_THE_API: &[&str] = &[
        "/v4/",
        "/v3/",
        "GET",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "header",
        "X-Auth-Token",
        "If-Match",
        "W/",
        "Prefer:",
    ];

    /// An error of each kind whose text says which request helps.
    fn advised() -> Vec<ApiError> {
        let ad = |id| {
            let category = categories::by_id(id).expect("it is a category");
            AdRef { source_id: "car-1".to_owned(), category }
        };
        let tag = AdTag::default();
        let version = |error: VersionError| ApiError::Service(error.into());
        let boat = categories::by_id(1060).expect("it is a category");
        vec![
            PromotionError::NotFound.into(),
            StockPlanError::NotFound.into(),
            ApiError::NoToken { in_authorization: true },
            ApiError::BadTags(header::IF_MATCH),
            ApiError::TooManyWaiting(1),
            ApiError::Service(ServiceError::NoRevisionNamed(tag)),
            ApiError::Service(ServiceError::PreconditionFailed(tag)),
            ApiError::Service(ServiceError::Elsewhere { found: ad(1020), asked: boat }),
            ApiError::Service(WhyNotRecorded::NoSuchRevision { revision: 9, present: 1 }.into()),
            ApiError::Service(WhyNotRecorded::Revision(1).into()),
            ApiError::Service(UnfinishedLimit::OfAd { unfinished: 9 }.into()),
            ApiError::Service(ServiceError::Duplicate {
                source_id: "car-1".to_owned(),
                dealer_code: "north".to_owned(),
                used_by: UsedBy::Deleted { registered: false },
            }),
            ApiError::Service(
                Denial { code: Code::AdHidden, text: "Ad is not visible, cannot bump".to_owned() }.into(),
            ),
            version(VersionError::TrailerCreateDisabled),
            version(VersionError::IncompatibleApiVersion(ad(1060))),
            version(VersionError::AlreadyV4(ad(1020))),
            version(VersionError::NotThroughV3(ad(1020))),
            version(VersionError::ConvertsByUpdate(ad(1020))),
            version(VersionError::NoTarget(ad(1224))),
        ]
    }

    #[test]
    fn a_detail_says_what_happened_and_the_request_beside_it_what_to_send() {
        for error in advised() {
            let detail = error.detail();
            let found: Vec<_> = OF_THE_API.iter().filter(|word| detail.contains(**word)).collect();
            assert!(found.is_empty(), "{detail}: {found:?}");
            let whole = error.whole();
            assert!(error.request().is_none_or(|request| whole == format!("{detail} {request}")), "{whole}");
        }
        assert_eq!(
            ApiError::from(PromotionError::NotFound).whole(),
            "No promotion schedule in the token's scope has this id. GET /v4/promotions lists them."
        );
    }
}
