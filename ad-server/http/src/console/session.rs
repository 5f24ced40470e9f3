//! Sessions: a visitor signs in once, with a token of the API or with a link, and the browser then sends a cookie.
//!
//! The cookie holds a random secret, whose hash is the key of the session in the database ([`ConsoleAccess`]). So sessions are listed and
//! ended, and every process knows them. The cookie of one that began with a token also holds the token, encrypted with the key of webhook
//! secrets, and each page verifies the token as the API does: revoking the token, its expiry, and removing its key end the session. There
//! is no session before sign-in, and so nothing to fixate.

use std::time::Duration;

use ad_core::{model::Timestamp, service::Access};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use poem::{Response, Result, http::HeaderValue};
use sha2::{Digest, Sha256};
use url::form_urlencoded;
use uuid::Uuid;

use super::{
    Console, route,
    visitor::{Visitor, value},
};
use crate::api::ApiError;
use ad_server_access::auth::{Caller, Permissions};
use ad_server_base::{
    limits::table::{CONSOLE_SESSION, CONSOLE_SESSIONS, TRUSTED_SESSION},
    secret::Secret,
};
use ad_server_store::{ConsoleAccess, NewConsoleSession, TokenRecord};

pub(super) const COOKIE: &str = "console_session";

/// The purpose of encrypted tokens, which separates them from other data encrypted with the same key.
const PURPOSE: &[u8] = b"console session ";

/// Longest cookie that every browser keeps (RFC 6265, 6.1), with its attributes.
const MOST_COOKIE_BYTES: usize = 4096;

pub(super) const MOST_FORM_BYTES: usize = 8 * 1024;

/// How often it is noted that a session is in use.
const TOUCH_EVERY: Duration = Duration::from_mins(5);

/// Bytes of a random secret.
const SECRET_BYTES: usize = 32;

/// The random secret of a link or a session, as text. The database has its hash.
#[derive(Debug, Clone)]
pub(super) struct SessionSecret(Secret);

impl SessionSecret {
    fn random() -> std::io::Result<Self> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(Secret::from(BASE64.encode(bytes))))
    }

    pub(super) fn new() -> Result<Self, ApiError> {
        Self::random().map_err(|error| {
            tracing::error!(%error, "no random numbers");
            ApiError::Internal
        })
    }

    /// The secret in a link or cookie; `None` for what cannot be one.
    pub(super) fn of(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text).ok()?;
        (bytes.len() == SECRET_BYTES).then(|| Self(Secret::from(text.to_owned())))
    }

    pub(super) fn reveal(&self) -> &str {
        self.0.reveal()
    }

    pub(super) fn hash(&self) -> String {
        BASE64.encode(Sha256::digest(self.reveal()))
    }
}

/// A new link that signs in, which the database is to know by its hash.
#[derive(Debug)]
pub struct NewLink {
    /// Path and query at the service.
    pub path: String,
    /// Hash of the secret in it.
    pub hash: String,
}

/// Makes the secret of a link that signs in.
///
/// # Errors
/// When there are no random numbers.
pub fn new_sign_in_link() -> std::io::Result<NewLink> {
    let secret = SessionSecret::random()?;
    Ok(NewLink { path: format!("/console/link?code={}", secret.reveal()), hash: secret.hash() })
}

/// A session that has not ended.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// The visitor, as the API would see the holder of the token. It expires with the session.
    pub(super) caller: Caller,
    pub(super) id: Uuid,
    /// The token whose revocation ends what the visitor gives to others: the one that signed in or from which the link came, or else
    /// the record of the link.
    pub(super) root: String,
}

/// The session of a cookie.
pub(super) async fn of(visitor: &Visitor, cookie: Option<&str>) -> Result<Session, ApiError> {
    const NONE: ApiError = ApiError::NoToken { in_authorization: false };
    let console = &visitor.console;
    let (secret, token) = cookie.and_then(|value| opened(console, value)).ok_or(NONE)?;
    let now = console.clock.now();
    let access = console.database.console_session(&secret.hash(), now).await?.ok_or(NONE)?;
    let authenticator = &visitor.context.authenticator;
    let mut caller = match (&access.token, token) {
        (Some(jti), Some(token)) => {
            let caller = authenticator.authenticate(token.reveal()).map_err(ApiError::InvalidToken)?;
            if caller.jti == *jti { caller } else { return Err(NONE) }
        }
        (None, None) => of_link(visitor, &access)?,
        _ => return Err(NONE),
    };
    // So event streams end with the session.
    caller.expires = Some(caller.expires.map_or(access.expires, |expires| expires.min(access.expires)));
    if access.last_used.is_some_and(|last| now - last >= TOUCH_EVERY)
        && let Err(error) = console.database.touch_console_session(access.id, now).await
    {
        tracing::debug!(%error, "the use of a session was not recorded");
    }
    let root = access.token.or(access.root).unwrap_or_else(|| access.id.to_string());
    Ok(Session { caller, id: access.id, root })
}

/// The scope that a link or session has in the database.
pub(super) fn scope_of(access: &ConsoleAccess) -> Option<Access> {
    let (claim, name) = access.scope.split_once(' ')?;
    let scopes = [Access::Dealer(name.to_owned()), Access::Group(name.to_owned()), Access::Operator];
    scopes.into_iter().find(|scope| scope.claim() == claim)
}

/// The visitor that a link has signed in.
fn of_link(visitor: &Visitor, access: &ConsoleAccess) -> Result<Caller, ApiError> {
    let scope = scope_of(access).ok_or(ApiError::Internal)?;
    let permissions = match scope {
        Access::Operator => Permissions::OPERATOR,
        Access::Dealer(_) | Access::Group(_) => {
            access.permissions.iter().filter_map(|name| name.parse().ok()).collect()
        }
    };
    let caller = Caller {
        label: access.label.clone(),
        issued: access.signed_in,
        expires: Some(access.expires),
        ..Caller::new(scope, permissions, access.id.to_string())
    };
    visitor.context.authenticator.check(&caller).map_err(ApiError::InvalidToken)?;
    check_root(visitor, access)?;
    Ok(caller)
}

/// Checks that the token from which a link comes has not been revoked.
pub(super) fn check_root(visitor: &Visitor, access: &ConsoleAccess) -> Result<(), ApiError> {
    let Some(root) = &access.root else { return Ok(()) };
    let holder = Caller::new(Access::Operator, Permissions::default(), root);
    visitor.context.authenticator.check(&holder).map_err(ApiError::InvalidToken)
}

/// The secret of a cookie, and the token beside it.
fn opened(console: &Console, value: &str) -> Option<(SessionSecret, Option<Secret>)> {
    let (secret, sealed) = value.split_once('.').map_or((value, None), |(secret, sealed)| (secret, Some(sealed)));
    let secret = SessionSecret::of(secret)?;
    let Some(sealed) = sealed else { return Some((secret, None)) };
    let token = console.vault.decrypt(&purpose(&secret), &BASE64.decode(sealed).ok()?)?;
    Some((secret, Some(Secret::from(String::from_utf8(token).ok()?))))
}

/// The token of one session is of no use in another.
fn purpose(secret: &SessionSecret) -> Vec<u8> {
    [PURPOSE, secret.reveal().as_bytes()].concat()
}

/// How long a session lasts.
const fn lifetime(trusted: bool) -> Duration {
    if trusted { TRUSTED_SESSION } else { CONSOLE_SESSION }
}

/// The cookie of a new session with a valid token.
pub(super) async fn began_with_token(
    visitor: &Visitor,
    token: &str,
    caller: &Caller,
    trusted: bool,
) -> Result<HeaderValue, ApiError> {
    let Console { vault, clock, database, .. } = &visitor.console;
    let (secret, now) = (SessionSecret::new()?, clock.now());
    let sealed = vault.encrypt(&purpose(&secret), token.as_bytes()).map_err(|error| {
        tracing::error!(%error, "cannot encrypt a session");
        ApiError::Internal
    })?;
    let value = format!("{}.{}", secret.reveal(), BASE64.encode(sealed));
    let cookie = set_cookie(visitor, COOKIE, &value, lifetime(trusted))?;
    let until = now + lifetime(trusted);
    let (scope, permissions) = (caller.scope.key(), names(caller.permissions));
    let session = NewConsoleSession {
        id: visitor.context.ids.next(),
        scope: &scope,
        permissions: &permissions,
        label: caller.label.as_deref(),
        token: &caller.jti,
        hash: &secret.hash(),
        trusted,
        now,
        until: caller.expires.map_or(until, |expires| expires.min(until)).max(now + Duration::from_millis(1)),
    };
    database.add_console_session(&session).await?;
    database.end_surplus_sessions(&scope, now, CONSOLE_SESSIONS).await?;
    Ok(cookie)
}

/// The cookie of the session that a link begins; `None` if it cannot be used, or not any more.
pub(super) async fn began_with_link(
    visitor: &Visitor,
    link: &SessionSecret,
    trusted: bool,
) -> Result<Option<HeaderValue>, ApiError> {
    let Console { clock, database, .. } = &visitor.console;
    let (secret, now) = (SessionSecret::new()?, clock.now());
    let hash = link.hash();
    let Some(access) = database.sign_in_link(&hash, now).await? else { return Ok(None) };
    check_root(visitor, &access)?;
    let until = now + lifetime(trusted);
    let Some(access) = database.use_sign_in_link(&hash, &secret.hash(), trusted, now, until).await? else {
        return Ok(None);
    };
    database.end_surplus_sessions(&access.scope, now, CONSOLE_SESSIONS).await?;
    database.record_token(&record(access)).await?;
    set_cookie(visitor, COOKIE, secret.reveal(), lifetime(trusted)).map(Some)
}

/// The record by which what a session does has its label, and by which operators can revoke it as a token.
fn record(access: ConsoleAccess) -> TokenRecord {
    let (claim, name) = access.scope.split_once(' ').unwrap_or_default();
    TokenRecord {
        jti: access.id.to_string(),
        scope_type: Some(claim.to_owned()),
        scope: Some(name.to_owned()),
        permissions: Some(access.permissions),
        issued: access.signed_in,
        expires: Some(access.expires),
        label: access.label,
        issued_by: access.made_by.map(|by| format!("sign-in link of {by}")),
        ..TokenRecord::default()
    }
}

/// Permissions by their names.
pub(super) fn names(permissions: Permissions) -> Vec<String> {
    permissions.iter().map(|permission| permission.to_string()).collect()
}

/// The header that sets a cookie of the console. Scripts cannot read it, and no other site has the browser send it.
pub(super) fn set_cookie(visitor: &Visitor, name: &str, value: &str, lasts: Duration) -> Result<HeaderValue, ApiError> {
    let secure = if visitor.is_secure() { "; Secure" } else { "" };
    let seconds = lasts.as_secs();
    let path = &visitor.root;
    let cookie = format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    if cookie.len() > MOST_COOKIE_BYTES {
        return Err(ApiError::TooLarge(MOST_COOKIE_BYTES));
    }
    HeaderValue::try_from(cookie).map_err(|_| ApiError::Internal)
}

/// Redirects to the sign-in page, and from there back to the requested page. Who was signed in is told that it is over.
pub(super) fn redirect_to_sign_in(visitor: &Visitor, was_signed_in: bool) -> Response {
    let mut query = form_urlencoded::Serializer::new(String::new());
    if visitor.here != "/" {
        query.append_pair("next", &visitor.here);
    }
    if was_signed_in {
        query.append_pair("over", "1");
    }
    let query = query.finish();
    visitor.redirect(&if query.is_empty() { "/sign-in".to_owned() } else { format!("/sign-in?{query}") })
}

/// The page of the console to which a form leads back; the first one if it names none.
pub(super) fn next(pairs: &[(String, String)]) -> String {
    value(pairs, "next").and_then(route::target).unwrap_or_else(|| "/".to_owned())
}

/// The end of a session for what is open for long, such as streams of events: not long after it was last looked up, so that one that is
/// ended by others ends there too. The script opens such streams again.
pub(super) fn soon(caller: &mut Caller, now: Timestamp) {
    let soon = now + Duration::from_mins(1);
    caller.expires = Some(caller.expires.map_or(soon, |expires| expires.min(soon)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_random_and_of_its_length() {
        let [one, other] = [SessionSecret::new().unwrap(), SessionSecret::new().unwrap()];
        assert_ne!(one.hash(), other.hash());
        assert_eq!(SessionSecret::of(one.reveal()).unwrap().hash(), one.hash());
        assert!(!one.hash().contains(one.reveal()));
        for other in ["", "x", &one.reveal()[1..], &format!("{}A", one.reveal()), "öööö"] {
            assert!(SessionSecret::of(other).is_none(), "{other}");
        }
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
