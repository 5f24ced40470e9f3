//! Sessions: a visitor signs in with a token of the API once, and the browser then sends a cookie.
//!
//! The cookie holds the token, encrypted with the key of webhook secrets, and the time at which the session ends. So the server keeps
//! nothing, every process knows every session, and each page verifies the token as the API does: revoking the token, its expiry, and
//! removing its key end the session. There is no session before sign-in, and so nothing to fixate.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::{lock::locked, model::Timestamp, ports::Clock};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use maud::html;
use poem::{
    Request, Response, Result,
    http::{HeaderValue, StatusCode, header},
};
use url::form_urlencoded;

use super::{
    Console, page, route,
    texts::{Language, cookie},
    visitor::{PageResult, Visitor, value},
};
use crate::api::ApiError;
use ad_server_access::auth::Caller;
use ad_server_base::secret::Secret;

/// How long a session lasts.
const LIFETIME: Duration = Duration::from_hours(8);

const COOKIE: &str = "console_session";

/// The purpose of encrypted sessions, which separates them from other data encrypted with the same key.
const PURPOSE: &[u8] = b"console session";

/// Longest cookie that every browser keeps (RFC 6265, 6.1), with its attributes.
const MOST_COOKIE_BYTES: usize = 4096;

pub(super) const MOST_FORM_BYTES: usize = 8 * 1024;

/// Length of the random part of a link that signs in.
const LINK_BYTES: usize = 24;

/// How long a link that signs in can be used.
const LINK_LIFETIME: Duration = Duration::from_mins(30);

/// The signed-in caller of a request, as the API would see it. It expires with the session.
pub(super) fn of(visitor: &Visitor, request: &Request) -> Result<Caller, ApiError> {
    let session = cookie(request, COOKIE).and_then(|value| opened(&visitor.console, value));
    let session = session.filter(|(until, _)| *until > visitor.console.clock.now());
    let (until, token) = session.ok_or(ApiError::NoToken { in_authorization: false })?;
    let mut caller = visitor.context.authenticator.authenticate(token.reveal()).map_err(ApiError::InvalidToken)?;
    // So event streams end with the session.
    caller.expires = Some(caller.expires.map_or(until, |expires| expires.min(until)));
    Ok(caller)
}

fn opened(console: &Console, value: &str) -> Option<(Timestamp, Secret)> {
    let plain = console.vault.decrypt(PURPOSE, &BASE64.decode(value).ok()?)?;
    let (until, token) = plain.split_first_chunk()?;
    let token = String::from_utf8(token.to_vec()).ok()?;
    Some((Timestamp::from_millis(i64::from_be_bytes(*until)), Secret::from(token)))
}

/// The cookie of a new session with a valid token.
fn started(visitor: &Visitor, token: &str) -> Result<HeaderValue, ApiError> {
    let Console { vault, clock, .. } = &visitor.console;
    let until = (clock.now() + LIFETIME).as_millis().to_be_bytes();
    let sealed = vault.encrypt(PURPOSE, &[&until, token.as_bytes()].concat()).map_err(|error| {
        tracing::error!(%error, "cannot encrypt a session");
        ApiError::Internal
    })?;
    set_cookie(visitor, COOKIE, &BASE64.encode(sealed), LIFETIME)
}

/// The header that sets a cookie of the console. Scripts cannot read it, and no other site has the browser send it.
fn set_cookie(visitor: &Visitor, name: &str, value: &str, lasts: Duration) -> Result<HeaderValue, ApiError> {
    let secure = if visitor.is_secure() { "; Secure" } else { "" };
    let seconds = lasts.as_secs();
    let path = &visitor.root;
    let cookie = format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    if cookie.len() > MOST_COOKIE_BYTES {
        return Err(ApiError::TooLarge(MOST_COOKIE_BYTES));
    }
    HeaderValue::try_from(cookie).map_err(|_| ApiError::Internal)
}

/// Redirects to the sign-in page, and from there back to the requested page.
pub(super) fn redirect_to_sign_in(visitor: &Visitor) -> Response {
    let next = form_urlencoded::Serializer::new(String::new()).append_pair("next", &visitor.here).finish();
    visitor.redirect(&if visitor.here == "/" { "/sign-in".to_owned() } else { format!("/sign-in?{next}") })
}

/// The page of the console to which a form leads back; the first one if it names none.
pub(super) fn next(pairs: &[(String, String)]) -> String {
    value(pairs, "next").and_then(route::target).unwrap_or_else(|| "/".to_owned())
}

/// Links that sign in once: `ad-server demo` prints one. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct SignInLinks(Arc<Mutex<HashMap<String, (Timestamp, Secret)>>>);

impl SignInLinks {
    /// The path of a new link that signs in with a token, once and for half an hour, from this machine only.
    ///
    /// # Errors
    /// When there are no random numbers.
    pub fn create(&self, token: &str, clock: &dyn Clock) -> std::io::Result<String> {
        let mut code = [0; LINK_BYTES];
        getrandom::fill(&mut code)?;
        let code = BASE64.encode(code);
        let link = (clock.now() + LINK_LIFETIME, Secret::from(token.to_owned()));
        locked(&self.0).insert(code.clone(), link);
        Ok(format!("/console/link?code={code}"))
    }

    /// The token of a link, which cannot be used again.
    fn take(&self, code: &str, now: Timestamp) -> Option<Secret> {
        let link = locked(&self.0).remove(code);
        link.filter(|(until, _)| *until > now).map(|(_, token)| token)
    }
}

/// The sign-in page. A signed-in visitor need not sign in again.
#[expect(clippy::unnecessary_wraps, reason = "handlers of the table have one type")]
pub(super) fn ask_for_token(visitor: &Visitor, request: &Request, query: &[(String, String)]) -> PageResult {
    Ok(match of(visitor, request) {
        Ok(_) => visitor.redirect(&next(query)),
        Err(_) => sign_in_page(visitor, StatusCode::OK, &next(query), None),
    })
}

pub(super) fn sign_in(visitor: &Visitor, _: &Request, form: &[(String, String)]) -> PageResult {
    let token = value(form, "token").unwrap_or_default().trim();
    let refused = |status, text: &str| Ok(sign_in_page(visitor, status, &next(form), Some(text)));
    if token.is_empty() {
        return refused(StatusCode::BAD_REQUEST, visitor.texts.token_missing);
    }
    if let Err(error) = visitor.context.authenticator.authenticate(token) {
        return refused(StatusCode::UNAUTHORIZED, &error.to_string());
    }
    let Ok(cookie) = started(visitor, token) else {
        return refused(StatusCode::BAD_REQUEST, visitor.texts.token_too_long);
    };
    Ok(redirect_with(visitor, &next(form), cookie))
}

fn redirect_with(visitor: &Visitor, path: &str, cookie: HeaderValue) -> Response {
    let mut response = visitor.redirect(path);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

pub(super) fn sign_out(visitor: &Visitor, _: &Request, _: &[(String, String)]) -> PageResult {
    Ok(redirect_with(visitor, "/sign-in", set_cookie(visitor, COOKIE, "", Duration::ZERO)?))
}

pub(super) fn link(visitor: &Visitor, request: &Request, query: &[(String, String)]) -> PageResult {
    let code = value(query, "code").unwrap_or_default();
    let is_local = request.remote_addr().as_socket_addr().is_some_and(|address| address.ip().is_loopback());
    let token = visitor.console.links.take(code, visitor.console.clock.now()).filter(|_| is_local);
    let Some(token) = token else {
        return Ok(sign_in_page(visitor, StatusCode::GONE, "/", Some(visitor.texts.link_used)));
    };
    Ok(redirect_with(visitor, "/", started(visitor, token.reveal())?))
}

pub(super) fn choose_language(visitor: &Visitor, _: &Request, form: &[(String, String)]) -> PageResult {
    let chosen = value(form, "language").and_then(Language::from_code);
    let chosen = chosen.unwrap_or(visitor.language);
    let year = Duration::from_hours(365 * 24);
    let cookie = set_cookie(visitor, Language::COOKIE, chosen.code(), year)?;
    Ok(redirect_with(visitor, &next(form), cookie))
}

/// The sign-in page, with the error of the last attempt.
fn sign_in_page(visitor: &Visitor, status: StatusCode, next: &str, problem: Option<&str>) -> Response {
    let texts = visitor.texts;
    let content = html! {
        div.sign-in {
            h1 { (texts.sign_in_title) }
            p.lead { (texts.sign_in_lead) }
            @if let Some(problem) = problem {
                p.notice.error #problem role="alert" { (problem) }
            }
            form method="post" action=(visitor.address("/sign-in")) {
                input type="hidden" name="next" value=(next);
                label for="token" { (texts.token) }
                input #token type="password" name="token" required autocomplete="off" autofocus
                    aria-describedby=(if problem.is_some() { "problem token-help" } else { "token-help" })
                    aria-invalid=[problem.map(|_| "true")];
                p.help #token-help { (texts.token_help) }
                button.primary { (texts.sign_in) }
            }
        }
    };
    page::without_session(visitor, status, texts.sign_in_title, &content)
}

#[cfg(test)]
mod tests {
    use ad_core::memory::ManualClock;

    use super::*;

    #[test]
    fn a_link_signs_in_once_and_not_for_long() {
        let (links, clock) = (SignInLinks::default(), ManualClock::default());
        let code = |link: String| link.split_once("code=").unwrap().1.to_owned();
        let (one, other) = (links.create("t1", &clock).unwrap(), links.create("t2", &clock).unwrap());
        assert_ne!(one, other);
        let (one, other) = (code(one), code(other));
        assert_eq!(links.take(&one, clock.now()).map(|token| token.reveal().to_owned()), Some("t1".to_owned()));
        assert_eq!((links.take(&one, clock.now()), links.take("", clock.now())), (None, None));
        assert_eq!(links.take(&other, clock.now() + LINK_LIFETIME), None, "it is too old");
    }

    #[test]
    fn forms_lead_back_to_pages_of_the_console_alone() {
        let to = |text: &str| next(&[("next".to_owned(), text.to_owned())]);
        for page in ["/", "/stock?status=failed", "/ad?source_id=..&dealer_code=b", "/sign-in?next=%2Fstock%3Fq%3Da"] {
            assert_eq!(to(page), page);
        }
        assert_eq!(to("/stock?q=a b\r\nc\\d#e"), "/stock?q=a+b%0D%0Ac%5Cd%23e");
        assert_eq!(to("/stock?"), "/stock");
        for elsewhere in [
            "",
            "stock",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/../x",
            "/a\r\nb: c",
            "/%2e%2e/v4",
            "/%252e%252e/",
            "/stock/%25252e%25252e/%25252e%25252e/",
            "/stock;/../..",
            "/%2fevil.example",
            "/stock#/../..",
            "/STOCK",
            "/no-page",
            "/*path",
            "/link?code=abc",
            "/events",
            "/act",
        ] {
            assert_eq!(to(elsewhere), "/", "{elsewhere:?}");
        }
        assert_eq!(next(&[]), "/");
    }
}
