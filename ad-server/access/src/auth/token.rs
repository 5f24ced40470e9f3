//! Verifies a token: its signature, its times, and the caller. This runs on every request, so everything that depends on the
//! keys alone is prepared in advance, and the result is kept for the next request with the same token.
//!
//! Access to ads and revocation are not checked here: the API asks the directory about [`Caller::jti`] and answers
//! [`TokenError::Revoked`].

mod verified;

use std::{sync::Arc, time::Duration};

use ad_core::{model::Timestamp, ports::Clock, service::Access};
use arc_swap::ArcSwap;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header, errors::ErrorKind};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use self::verified::{VerifiedToken, VerifiedTokens};
use super::{
    KeySet, Permission, Permissions,
    keys::{TokenKey, time},
};

/// Leeway for the clocks of two hosts.
const LEEWAY: Duration = Duration::from_mins(1);

/// Characters of a `jti` at most.
const MAX_JTI: usize = 255;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The dealers whose ads it may access.
    pub scope: Access,
    pub permissions: Permissions,
    /// Id of its token, by which it can be revoked: see [`is_jti`].
    pub jti: String,
    pub label: Option<String>,
    pub issued: Option<Timestamp>,
    pub expires: Option<Timestamp>,
}

impl Caller {
    /// A caller with a token without further claims.
    pub fn new(scope: Access, permissions: Permissions, jti: impl Into<String>) -> Self {
        Self { scope, permissions, jti: jti.into(), label: None, issued: None, expires: None }
    }
}

/// Whether a text can be the `jti` of a token: 1 to 255 characters of any kind. Tokens that are made here carry a UUID;
/// another issuer has ids of its own.
pub fn is_jti(text: &str) -> bool {
    !text.is_empty() && text.chars().nth(MAX_JTI).is_none()
}

/// Why a token is invalid. Clients see the texts after `Invalid token: `; no text repeats what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not a JSON Web Token, or claims of the wrong type or length.
    #[error("Malformed token; send the complete token as it was issued, three parts separated by points.")]
    Malformed,
    #[error("Send the token alone, without \"Bearer\" before it.")]
    WithScheme,
    #[error("Algorithm not allowed.")]
    Algorithm,
    /// No such key; or it names none, and there are several.
    #[error("Unknown key id.")]
    UnknownKey,
    #[error("Its key has expired; ask the operator of the service for a new token.")]
    ExpiredKey,
    #[error("Signature verification failed.")]
    Signature,
    #[error("Signature has expired; ask the operator of the service for a new token.")]
    Expired,
    #[error("Not yet valid.")]
    NotYetValid,
    /// It was issued for another audience (`aud`).
    #[error("Audience not allowed.")]
    Audience,
    #[error("Claim \"{0}\" is required.")]
    MissingClaim(&'static str),
    /// It has no scope, or two.
    #[error("Exactly one of dealer_code and dealer_group is required.")]
    Scope,
    /// An operator's, signed with the key of another issuer.
    #[error("Tokens of operators are issued by the service itself.")]
    Operator,
    #[error("Unknown permission.")]
    UnknownPermission,
    #[error("Token has been revoked.")]
    Revoked,
    /// It is valid, but revocations cannot be read, and the last known ones are too old: 503 instead of 401.
    #[error("The service cannot check right now whether this token has been revoked. Try again.")]
    RevocationUnknown,
}

/// Verifies tokens: signature, times, scope and revocation.
pub struct Verifier {
    checking: ArcSwap<VerifierState>,
    clock: Arc<dyn Clock>,
}

ad_server_base::debug_by_name!(Verifier);

/// Keys, and the tokens that they have verified.
struct VerifierState {
    keys: Vec<CheckingKey>,
    verified: VerifiedTokens,
}

struct CheckingKey {
    kid: String,
    algorithm: Algorithm,
    /// Whether it signs the tokens that are issued here.
    signs: bool,
    decoding: DecodingKey,
    validation: Validation,
    expires: Option<Timestamp>,
}

impl Verifier {
    pub fn new(keys: &KeySet, clock: Arc<dyn Clock>) -> Self {
        Self { checking: ArcSwap::from_pointee(VerifierState::new(keys)), clock }
    }

    /// Verifies with these keys from now on.
    pub fn replace_keys(&self, keys: &KeySet) {
        self.checking.store(Arc::new(VerifierState::new(keys)));
    }

    /// The keys that expire, by id.
    pub fn key_expiries(&self) -> Vec<(String, Timestamp)> {
        self.checking.load().keys.iter().filter_map(|key| Some((key.kid.clone(), key.expires?))).collect()
    }

    /// Whether the token of a caller has expired since it was verified.
    pub fn has_expired(&self, caller: &Caller) -> bool {
        caller.expires.is_some_and(|expires| self.clock.now() >= expires + LEEWAY)
    }

    /// Who calls with this token.
    ///
    /// # Errors
    /// Why the token is invalid. Revocation is not checked.
    pub fn verify(&self, token: &str) -> Result<Caller, TokenError> {
        let (checking, now) = (self.checking.load(), self.clock.now());
        if let Some(caller) = checking.verified.caller(token, now) {
            return caller;
        }
        let verified = checking.verify(token, now)?;
        let caller = verified.caller.clone();
        checking.verified.add(token, verified);
        Ok(caller)
    }
}

impl VerifierState {
    fn new(keys: &KeySet) -> Self {
        let prepare = |key: &TokenKey| CheckingKey {
            kid: key.kid.clone(),
            algorithm: key.algorithm,
            signs: key.encoding.is_some(),
            decoding: key.decoding.clone(),
            validation: signature_and_audience(key.algorithm),
            expires: key.expires,
        };
        Self { keys: keys.keys().iter().map(prepare).collect(), verified: VerifiedTokens::default() }
    }

    fn verify(&self, token: &str, now: Timestamp) -> Result<VerifiedToken, TokenError> {
        let header = decode_header(token).map_err(|_| TokenError::Malformed)?;
        if header.crit.is_some() {
            // RFC 7515, 4.1.11: extensions that a verifier must support. None is supported.
            return Err(TokenError::Malformed);
        }
        let key = key(&self.keys, header.kid.as_deref())?;
        check_key(key.expires, now)?;
        if key.algorithm != header.alg {
            return Err(TokenError::Algorithm);
        }
        let claims = decode::<Claims>(token, &key.decoding, &key.validation)
            .map_err(|error| match error.kind() {
                ErrorKind::InvalidSignature => TokenError::Signature,
                ErrorKind::InvalidAudience => TokenError::Audience,
                _ => TokenError::Malformed,
            })?
            .claims;
        let times = ValidTimes { exp: claims.exp, nbf: claims.nbf };
        times.check(now)?;
        Ok(VerifiedToken { caller: claims.caller(key.signs)?, times, key_expires: key.expires })
    }
}

fn check_key(expires: Option<Timestamp>, now: Timestamp) -> Result<(), TokenError> {
    if expires.is_some_and(|expires| now >= expires) { Err(TokenError::ExpiredKey) } else { Ok(()) }
}

fn key<'a>(keys: &'a [CheckingKey], kid: Option<&str>) -> Result<&'a CheckingKey, TokenError> {
    match (kid, keys) {
        (Some(kid), keys) => keys.iter().find(|key| key.kid == kid),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
    .ok_or(TokenError::UnknownKey)
}

/// The library checks what it can without looking at its own clock.
fn signature_and_audience(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation
}

/// A claim is present or absent: `null`, which some libraries write for an absent one, must not mean "for ever" or
/// "everything".
#[derive(Deserialize)]
struct Claims {
    #[serde(default, deserialize_with = "present")]
    dealer_code: Option<String>,
    #[serde(default, deserialize_with = "present")]
    dealer_group: Option<String>,
    #[serde(default, deserialize_with = "present")]
    operator: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    iss: Option<String>,
    #[serde(default, deserialize_with = "present")]
    iat: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    jti: Option<String>,
    #[serde(default, deserialize_with = "present")]
    exp: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    nbf: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    permissions: Option<Vec<String>>,
    /// Another issuer may use this claim for something else.
    #[serde(default)]
    label: Value,
}

fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// When a token is valid, in seconds as its claims have it.
struct ValidTimes {
    exp: Option<f64>,
    nbf: Option<f64>,
}

impl ValidTimes {
    fn check(&self, now: Timestamp) -> Result<(), TokenError> {
        #[expect(clippy::cast_precision_loss, reason = "exact to the millisecond for 285,000 years")]
        let now = now.as_millis() as f64 / 1000.0;
        let leeway = LEEWAY.as_secs_f64();
        if self.exp.is_some_and(|exp| now >= exp + leeway) {
            return Err(TokenError::Expired);
        }
        if self.nbf.is_some_and(|nbf| now + leeway < nbf) {
            return Err(TokenError::NotYetValid);
        }
        Ok(())
    }
}

impl Claims {
    /// `is_own`: whether a key that signs tokens here has signed this one.
    fn caller(self, is_own: bool) -> Result<Caller, TokenError> {
        self.iss.ok_or(TokenError::MissingClaim("iss"))?;
        let issued = self.iat.ok_or(TokenError::MissingClaim("iat"))?;
        let jti = self.jti.ok_or(TokenError::MissingClaim("jti"))?;
        if !is_jti(&jti) {
            return Err(TokenError::Malformed);
        }
        let scope = match (self.dealer_code, self.dealer_group, self.operator) {
            (Some(code), None, None) if !code.is_empty() => Access::Dealer(code),
            (None, Some(group), None) if !group.is_empty() => Access::Group(group),
            (None, None, Some(true)) if is_own => Access::Operator,
            (None, None, Some(true)) => return Err(TokenError::Operator),
            _ => return Err(TokenError::Scope),
        };
        let permissions = match self.permissions {
            _ if scope == Access::Operator => Permissions::OPERATOR,
            None => Permissions::ALL,
            Some(names) => names
                .iter()
                .map(|name| name.parse::<Permission>())
                .collect::<Result<_, _>>()
                .map_err(|_| TokenError::UnknownPermission)?,
        };
        let label = self.label.as_str().map(str::to_owned);
        Ok(Caller { scope, permissions, jti, label, issued: time(issued), expires: self.exp.and_then(time) })
    }
}

#[cfg(test)]
mod tests;
