//! Requests of scripts from other origins (CORS, Fetch standard; extensions E3.8). Without `cors_origins` there is none of it, and
//! browsers refuse such requests.

use poem::{
    Request, Response,
    http::{HeaderValue, Method, header},
};

use ad_server_base::values::Origin;

/// Headers that a script may send.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "X-Auth-Token, Accept, Content-Type, Content-Encoding, If-Match, If-None-Match, Idempotency-Key, Prefer",
);

/// Headers that a script may read, beside those that every script may.
const RESPONSE_HEADERS: HeaderValue = HeaderValue::from_static(
    "X-Request-Id, ETag, Link, Location, Allow, Retry-After, RateLimit, RateLimit-Policy, Preference-Applied, \
     Idempotency-Replayed, Request-Coalesced-With, WWW-Authenticate",
);

/// Seconds for which a browser need not ask again; more is cut by browsers.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// A request from an origin that the operator permits.
pub(super) struct CrossOrigin {
    origin: HeaderValue,
    is_preflight: bool,
}

impl CrossOrigin {
    /// The origin of a request, if it is one of these. Any other request gets an answer without CORS headers.
    pub(super) fn of(origins: &[Origin], request: &Request) -> Option<Self> {
        if origins.is_empty() {
            return None;
        }
        let origin = request.headers().get(header::ORIGIN)?;
        let is_preflight = *request.method() == Method::OPTIONS
            && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        let is_permitted = origins.iter().any(|permitted| origin == permitted.as_str());
        is_permitted.then(|| Self { origin: origin.clone(), is_preflight })
    }

    /// Adds the headers that let a script read the answer.
    pub(super) fn permit(self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
        if let Some(methods) = headers.get(header::ALLOW).cloned().filter(|_| self.is_preflight) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        }
    }
}
