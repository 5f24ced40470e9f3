//! Issues a token and its record. The caller stores the record.

use std::time::Duration;

use ad_core::model::Timestamp;
use jsonwebtoken::{Header, encode};
use serde_json::json;
use uuid::Uuid;

use super::{KeySet, Permissions, keys::TokenKey};
use ad_core::service::Access;
use ad_server_store::TokenRecord;

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
    /// Issue time of the token.
    pub now: Timestamp,
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

/// A token, signed with the first key that can sign, and its record.
pub fn issue(keys: &KeySet, request: &IssueRequest) -> Result<(String, TokenRecord), IssueError> {
    let usable = |key: &&TokenKey| key.expires.is_none_or(|expires| request.now < expires);
    let signing = keys.keys().iter().filter(usable).find_map(|key| Some((key, key.encoding.as_ref()?)));
    let (key, encoding) = signing.ok_or(IssueError::NoSigningKey)?;
    let record = record(request, &key.kid);
    let mut claims = json!({"iss": ISSUER, "iat": seconds(request.now), "jti": record.jti});
    claims[request.scope.claim()] = match &request.scope {
        Access::Operator => true.into(),
        scope => scope.name().into(),
    };
    let optional = [
        ("exp", json!(record.expires.map(seconds))),
        ("permissions", json!(record.permissions)),
        ("label", json!(request.label)),
    ];
    for (name, value) in optional.into_iter().filter(|(_, value)| !value.is_null()) {
        claims[name] = value;
    }
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
