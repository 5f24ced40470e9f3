//! Errors as the client sees them: the one place where they become HTTP ('Errors', decisions 2, 4, 9, 29).
//!
//! What the operator needs to know beyond that is logged here too, and only here.

use ad_core::{fields::FieldErrors, ports::StoreError, service::ServiceError};
use poem::{
    Response,
    http::{HeaderValue, StatusCode, header},
};
use serde::Serialize;
use serde_json::{Value, json};

/// Seconds after which a client may try again what the store could not do.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("2");

/// What is said when the store does not answer.
pub(super) const UNAVAILABLE: &str = "The service cannot store or read ads right now. Try again.";

/// Anything that is not a success.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// A use case did not do it.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The body is not what it should be at all.
    #[error("{0}")]
    BadBody(String),
    /// The body is too large.
    #[error("Request body is too large: at most {0} bytes.")]
    TooLarge(usize),
    /// The body did not come in time.
    #[error("The body of the request did not come within {} s.", .0.as_secs_f64())]
    Slow(std::time::Duration),
    /// There is no token.
    #[error("Authentication credentials were not provided.")]
    NoToken,
    /// The token is wrong; the text says how.
    #[error("Invalid token: {0}")]
    InvalidToken(crate::auth::TokenError),
    /// The token lacks a permission.
    #[error("This token does not have the permission \"{0}\".")]
    Forbidden(crate::auth::Permission),
    /// The token has made too many requests; it may go on after so many seconds.
    #[error("Too many requests with this token. Try again in {0} s.")]
    TooMany(u64),
    /// There is no such path, or nothing of that name.
    #[error("{0}")]
    NotFound(String),
    /// The path has other methods.
    #[error("{detail}")]
    MethodNotAllowed {
        /// The methods that it has.
        allow: String,
        /// What to do instead.
        detail: String,
    },
    /// Something of our own went wrong.
    #[error("Internal error.")]
    Internal,
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::Service(error.into())
    }
}

impl From<FieldErrors> for ApiError {
    fn from(errors: FieldErrors) -> Self {
        Self::Service(errors.into())
    }
}

impl ApiError {
    /// No such path.
    pub(crate) fn unknown_path() -> Self {
        Self::NotFound("Not found.".to_owned())
    }

    /// The answer.
    pub(crate) fn response(self) -> Response {
        match self {
            Self::Service(error) => service(error),
            Self::BadBody(_) => detail(StatusCode::BAD_REQUEST, &self),
            Self::TooLarge(_) => detail(StatusCode::PAYLOAD_TOO_LARGE, &self),
            Self::Slow(_) => detail(StatusCode::REQUEST_TIMEOUT, &self),
            Self::NoToken | Self::InvalidToken(_) => detail(StatusCode::UNAUTHORIZED, &self),
            Self::Forbidden(_) => detail(StatusCode::FORBIDDEN, &self),
            Self::TooMany(seconds) => {
                let mut response = detail(StatusCode::TOO_MANY_REQUESTS, &self);
                response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
                response
            }
            Self::NotFound(_) => detail(StatusCode::NOT_FOUND, &self),
            Self::MethodNotAllowed { ref allow, .. } => {
                let mut response = detail(StatusCode::METHOD_NOT_ALLOWED, &self);
                if let Ok(allow) = HeaderValue::from_str(allow) {
                    response.headers_mut().insert(header::ALLOW, allow);
                }
                response
            }
            Self::Internal => detail(StatusCode::INTERNAL_SERVER_ERROR, &self),
        }
    }
}

fn service(error: ServiceError) -> Response {
    match error {
        ServiceError::Invalid(errors) => json_response(StatusCode::BAD_REQUEST, &errors),
        ServiceError::Refused(messages) => json_response(StatusCode::BAD_REQUEST, &messages),
        ServiceError::Identified(refusal) => json_response(StatusCode::BAD_REQUEST, &refusal),
        ServiceError::NotFound | ServiceError::Elsewhere(_) => detail(StatusCode::NOT_FOUND, &error),
        ServiceError::Duplicate => json_response(StatusCode::CONFLICT, &duplicate()),
        ServiceError::Store(StoreError::Unavailable(reason)) => {
            tracing::warn!(reason, "the store is not available");
            let mut response = detail(StatusCode::SERVICE_UNAVAILABLE, &UNAVAILABLE);
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
            response
        }
        ServiceError::Store(error) => {
            tracing::error!(%error, "the store failed");
            ApiError::Internal.response()
        }
    }
}

/// What is said about a source id that has been used.
pub(super) fn duplicate() -> Value {
    json!({"source_id": [
        "This source_id has been used for this dealer and cannot be used again, even after deletion.",
        "Update the ad with PUT or PATCH, or choose another source_id.",
    ]})
}

fn detail(status: StatusCode, text: &dyn std::fmt::Display) -> Response {
    json_response(status, &json!({"detail": text.to_string()}))
}

/// A JSON answer.
pub(crate) fn json_response(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => Response::builder().status(status).content_type("application/json").body(bytes),
        Err(error) => {
            tracing::error!(%error, "an answer could not be written as JSON");
            Response::builder()
                .status(StatusCode::INTERNAL_SERVER_ERROR)
                .content_type("application/json")
                .body(r#"{"detail":"Internal error."}"#)
        }
    }
}

/// What poem itself refuses, in the contract's shape.
pub(crate) fn from_poem(error: &poem::Error) -> Response {
    let status = error.status();
    match status {
        StatusCode::NOT_FOUND => ApiError::unknown_path().response(),
        // Every path with writes answers for itself; what is left to poem is read only.
        StatusCode::METHOD_NOT_ALLOWED => {
            let detail = "Method is not allowed. This path has GET.".to_owned();
            ApiError::MethodNotAllowed { allow: "GET".to_owned(), detail }.response()
        }
        _ if status.is_client_error() => detail(status, error),
        _ => {
            tracing::error!(%error, "a request failed");
            ApiError::Internal.response()
        }
    }
}
