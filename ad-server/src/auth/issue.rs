//! Issues a token and its record. The caller stores the record.

use std::time::Duration;

use ad_core::model::Timestamp;
use jsonwebtoken::{Header, encode};
use serde::Serialize;
use uuid::Uuid;

use super::{KeySet, Permissions, keys::Key};
use crate::store::TokenRecord;
use ad_core::service::Access;

/// The `iss` claim of tokens that are made here.
const ISSUER: &str = "vehicle-ad-import";

/// What a token is to say.
#[derive(Debug, Clone)]
pub struct IssueRequest {
    /// Whose ads it gives access to.
    pub scope: Access,
    /// What it permits; `None` means everything.
    pub permissions: Option<Permissions>,
    /// How long it lasts; `None` means until it is revoked.
    pub expires_in: Option<Duration>,
    /// What it is for, in words.
    pub label: Option<String>,
    /// When it is made.
    pub now: Timestamp,
    /// Its id.
    pub jti: Uuid,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// All keys are public ones.
    #[error("no token key can sign: add an HS256 key, or the `d` of an EdDSA key, that has not expired")]
    NoSigningKey,
    #[error("signing failed: {0}")]
    Signing(#[from] jsonwebtoken::errors::Error),
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dealer_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dealer_group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<bool>,
    iat: i64,
    jti: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permissions: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

/// A token, signed with the first key that can sign, and its record.
pub fn issue(keys: &KeySet, request: &IssueRequest) -> Result<(String, TokenRecord), IssueError> {
    let usable = |key: &&Key| key.expires.is_none_or(|expires| request.now < expires);
    let signing = keys.keys().iter().filter(usable).find_map(|key| Some((key, key.encoding.as_ref()?)));
    let (key, encoding) = signing.ok_or(IssueError::NoSigningKey)?;
    let record = record(request, &key.kid);
    let name = Some(request.scope.name());
    let claims = Claims {
        iss: ISSUER,
        dealer_code: name.filter(|_| matches!(request.scope, Access::Dealer(_))),
        dealer_group: name.filter(|_| matches!(request.scope, Access::Group(_))),
        operator: (request.scope == Access::Operator).then_some(true),
        iat: seconds(request.now),
        jti: &record.jti,
        exp: record.expires.map(seconds),
        permissions: record.permissions.as_deref(),
        label: request.label.as_deref(),
    };
    let header = Header { kid: Some(key.kid.clone()), ..Header::new(key.algorithm) };
    Ok((encode(&header, &claims, encoding)?, record))
}

fn record(request: &IssueRequest, kid: &str) -> TokenRecord {
    // Tokens count in seconds; so does the record, that both say the same.
    let now = Timestamp::from_millis(seconds(request.now) * 1000);
    TokenRecord {
        jti: request.jti.to_string(),
        scope_type: Some(request.scope.claim().to_owned()),
        scope: Some(request.scope.name().to_owned()),
        permissions: request.permissions.map(|set| set.iter().map(|permission| permission.to_string()).collect()),
        issued: Some(now),
        expires: request.expires_in.map(|lasts| now + Duration::from_secs(lasts.as_secs())),
        label: request.label.clone(),
        kid: Some(kid.to_owned()),
        ..TokenRecord::default()
    }
}

fn seconds(time: Timestamp) -> i64 {
    time.as_millis().div_euclid(1000)
}
