//! Sign-in with a token or a link, sign-out, and the choice of a language: what needs no session.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::{lock::locked, model::Timestamp, ports::Clock, service::Access};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use maud::{Markup, html};
use poem::{
    Response,
    http::{HeaderValue, StatusCode, header},
};

use super::{
    named, page,
    session::{self, COOKIE, SessionSecret, next, set_cookie},
    texts::{Language, Texts},
    visitor::{PageResult, Visitor, value},
};
use crate::api::ApiError;
use ad_server_access::auth::TokenError;
use ad_server_base::secret::Secret;
use ad_server_store::{AccessScope, ConsoleAccess};

/// Length of the random part of a link of the demo.
const LINK_BYTES: usize = 24;

/// How long a link of the demo can be used.
const LINK_LIFETIME: Duration = Duration::from_mins(30);

/// A visitor who has not signed in, or need not have.
pub(super) struct Guest {
    pub(super) visitor: Arc<Visitor>,
    /// The cookie of a session.
    pub(super) cookie: Option<String>,
    /// Whether the visitor is on this machine.
    pub(super) is_local: bool,
    /// The query of a page, or the fields of a form.
    pub(super) sent: Vec<(String, String)>,
}

impl Guest {
    fn value(&self, name: &str) -> &str {
        value(&self.sent, name).unwrap_or_default()
    }

    /// Whether the device is one that others do not use.
    fn is_trusted(&self) -> bool {
        value(&self.sent, "trusted").is_some()
    }
}

/// Links of the demo that sign in once with a token. Clones share them.
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
pub(super) async fn ask_for_token(guest: Guest) -> PageResult {
    let visitor = &guest.visitor;
    Ok(match session::of(visitor, guest.cookie.as_deref()).await {
        Ok(_) => visitor.redirect(&next(&guest.sent)),
        Err(_) => sign_in_page(&guest, StatusCode::OK, None),
    })
}

pub(super) async fn sign_in(guest: Guest) -> PageResult {
    let visitor = &guest.visitor;
    let token = guest.value("token").trim();
    let refused = |status, text: &str| Ok(sign_in_page(&guest, status, Some(text)));
    if token.is_empty() {
        return refused(StatusCode::BAD_REQUEST, visitor.texts.token_missing);
    }
    let caller = match visitor.context.authenticator.authenticate(token) {
        Ok(caller) => caller,
        Err(error) => return refused(StatusCode::UNAUTHORIZED, why_not(visitor.texts, error)),
    };
    match session::began_with_token(visitor, token, &caller, guest.is_trusted()).await {
        Ok(cookie) => Ok(redirect_with(visitor, &next(&guest.sent), cookie)),
        Err(ApiError::TooLarge(_)) => refused(StatusCode::BAD_REQUEST, visitor.texts.token_too_long),
        Err(error) => Err(error),
    }
}

fn redirect_with(visitor: &Visitor, path: &str, cookie: HeaderValue) -> Response {
    let mut response = visitor.redirect(path);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

pub(super) async fn sign_out(guest: Guest) -> PageResult {
    let (visitor, console) = (&guest.visitor, &guest.visitor.console);
    if let Ok(session) = session::of(visitor, guest.cookie.as_deref()).await {
        let scope = [session.caller.scope.key()];
        console.database.end_console_access(AccessScope::Of(&scope), session.id, console.clock.now()).await?;
    }
    Ok(redirect_with(visitor, "/sign-in?signed_out=1", set_cookie(visitor, COOKIE, "", Duration::ZERO)?))
}

/// `GET /console/link?code=…`: asks whether to sign in. Programs that only look at a link, such as those of mail servers, do not use it up.
pub(super) async fn link(guest: Guest) -> PageResult {
    let (visitor, code) = (&guest.visitor, guest.value("code"));
    let now = visitor.console.clock.now();
    if let Some(token) = visitor.console.links.take(code, now).filter(|_| guest.is_local) {
        let caller = visitor.context.authenticator.authenticate(token.reveal()).map_err(ApiError::InvalidToken)?;
        let cookie = session::began_with_token(visitor, token.reveal(), &caller, false).await?;
        return Ok(redirect_with(visitor, "/", cookie));
    }
    let link = match SessionSecret::of(code) {
        Some(secret) => visitor.console.database.sign_in_link(&secret.hash(), now).await?,
        None => None,
    };
    match link.filter(|link| session::check_root(visitor, link).is_ok()) {
        Some(link) => Ok(link_page(&guest, code, &link)),
        None => Ok(used_up(&guest)),
    }
}

/// `POST /console/link`: signs in with a link, which cannot be used again.
pub(super) async fn use_link(guest: Guest) -> PageResult {
    let visitor = &guest.visitor;
    let Some(link) = SessionSecret::of(guest.value("code")) else { return Ok(used_up(&guest)) };
    match session::began_with_link(visitor, &link, guest.is_trusted()).await {
        Ok(Some(cookie)) => Ok(redirect_with(visitor, "/", cookie)),
        Ok(None) | Err(ApiError::InvalidToken(TokenError::Revoked)) => Ok(used_up(&guest)),
        Err(error) => Err(error),
    }
}

pub(super) async fn choose_language(guest: Guest) -> PageResult {
    let visitor = &guest.visitor;
    let chosen = Language::from_code(guest.value(page::LANGUAGE)).unwrap_or(visitor.language);
    // The page of a link is no page that others lead to.
    let link = guest.value("next").strip_prefix("/link?code=").and_then(SessionSecret::of);
    let back = link.map_or_else(|| next(&guest.sent), |link| format!("/link?code={}", link.reveal()));
    Ok(redirect_with(visitor, &back, language_cookie(&visitor.speaking(chosen))?))
}

/// The header by which the browser keeps the language.
pub(super) fn language_cookie(visitor: &Visitor) -> Result<HeaderValue, ApiError> {
    set_cookie(visitor, Language::COOKIE, visitor.language.code(), Duration::from_hours(365 * 24))
}

/// Why a token does not sign in, and what helps.
const fn why_not(texts: &Texts, error: TokenError) -> &'static str {
    match error {
        TokenError::Expired | TokenError::ExpiredKey | TokenError::Revoked => texts.token_over,
        TokenError::RevocationUnknown => texts.try_sign_in_later,
        _ => texts.token_wrong,
    }
}

/// Where the session lasts for long.
fn trusted(visitor: &Visitor) -> Markup {
    html! {
        label.choice { input type="checkbox" name="trusted" value="yes" aria-describedby="trusted-help"; (visitor.texts.trusted_device) }
        p.help #trusted-help { (visitor.texts.trusted_device_help) }
    }
}

/// The sign-in page, with the error of the last attempt.
fn sign_in_page(guest: &Guest, status: StatusCode, problem: Option<&str>) -> Response {
    let (visitor, texts) = (&guest.visitor, guest.visitor.texts);
    let content = html! {
        div.sign-in {
            h1 { (texts.sign_in_title) }
            p.lead #sign-in-lead { (texts.sign_in_lead) }
            @if let Some(problem) = problem {
                p.notice.error #problem role="alert" { (problem) }
            } @else if !guest.value("signed_out").is_empty() {
                p.notice.success role="status" { (texts.you_signed_out) }
            } @else if !guest.value("over").is_empty() {
                p.notice role="status" { (texts.access_is_over) }
            }
            h2 { (texts.sign_in_with_token) }
            form method="post" action=(visitor.address("/sign-in")) {
                input type="hidden" name="next" value=(next(&guest.sent));
                label for="token" { (texts.token) }
                input #token type="password" name="token" required autocomplete="off" autofocus
                    aria-describedby=(if problem.is_some() { "problem token-help" } else { "sign-in-lead token-help" })
                    aria-invalid=[problem.map(|_| "true")];
                p.help #token-help { (texts.token_help) }
                (trusted(visitor))
                button.primary { (texts.sign_in) }
            }
        }
    };
    page::without_session(visitor, status, texts.sign_in_title, &content)
}

/// The page of a link that cannot be used.
fn used_up(guest: &Guest) -> Response {
    sign_in_page(guest, StatusCode::GONE, Some(guest.visitor.texts.link_used))
}

/// The page of a link that can be used.
fn link_page(guest: &Guest, code: &str, link: &ConsoleAccess) -> Response {
    let (visitor, texts) = (&guest.visitor, guest.visitor.texts);
    let scope = match session::scope_of(link) {
        Some(scope @ (Access::Dealer(_) | Access::Group(_))) => named::scope_name(visitor, &scope),
        Some(Access::Operator) | None => texts.operators.to_owned(),
    };
    let content = html! {
        div.sign-in {
            h1 { (texts.sign_in_title) }
            p.lead { (texts.link_for) " " strong { (scope) } @if let Some(label) = &link.label { ": " strong { (label) } } }
            form method="post" action=(visitor.address("/link")) {
                input type="hidden" name="code" value=(code);
                (trusted(visitor))
                button.primary autofocus { (texts.sign_in) }
            }
            p.help { (texts.link_once) }
        }
    };
    page::without_session(visitor, StatusCode::OK, texts.sign_in_title, &content)
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
}
