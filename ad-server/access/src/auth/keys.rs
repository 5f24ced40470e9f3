//! The keys that sign and verify tokens: a JWK Set (RFC 7517) with HS256 (`oct`) and `EdDSA` (`OKP`, Ed25519) keys.
//!
//! On first start a file with one random HS256 key is created, readable by its owner only. Several hosts share keys by the file or
//! by the environment. To rotate a key, add the new one first, issue new tokens, and remove the old one later; running servers
//! reload a changed file. Neither messages nor `Debug` output show key material.

use std::{
    io,
    path::{Path, PathBuf},
};

use ad_core::model::Timestamp;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use ring::signature::Ed25519KeyPair;
use serde::Deserialize;
use serde_json::json;

use super::signatures;
use ad_server_base::secret::{KeyFileError, Secret, read_or_create};

/// The content of the file, for errors.
pub(super) const TOKEN_KEYS: &str = "token keys";

/// Shortest HS256 key (RFC 7518, 3.2), and length of the keys that are made here.
const HS256_BYTES: usize = 32;
/// Length of both halves of an Ed25519 key.
const ED25519_BYTES: usize = 32;
/// What PKCS#8 puts before the seed of an Ed25519 key (RFC 8410).
const ED25519_PKCS8: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// Keys, each with its own id. The first one that can sign signs new tokens.
#[derive(Debug, Clone)]
pub struct KeySet {
    keys: Vec<TokenKey>,
}

#[derive(Debug, Clone)]
pub(super) struct TokenKey {
    pub(super) kid: String,
    pub(super) algorithm: Algorithm,
    pub(super) decoding: DecodingKey,
    /// `None` for a public key.
    pub(super) encoding: Option<EncodingKey>,
    /// When it expires (`exp`, in seconds since 1970).
    pub(super) expires: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A file, made on first start.
    File(PathBuf),
    /// The JWK Set itself, from the environment.
    Text(Secret),
}

impl KeySource {
    /// Name of the environment variable that holds a JWK Set.
    pub const VARIABLE: &str = "AD_SERVER_TOKEN_KEYS";

    /// The keys, for a command: a file is not created, because no server would accept what its keys sign.
    pub fn existing(&self) -> Result<KeySet, KeysError> {
        match self {
            Self::File(path) if !path.exists() => Err(KeysError::Missing { path: absolute(path) }),
            source => source.load(),
        }
    }

    pub fn name(&self) -> String {
        match self {
            Self::File(path) => absolute(path).display().to_string(),
            Self::Text(_) => Self::VARIABLE.to_owned(),
        }
    }

    /// The keys. A missing file is created.
    pub fn load(&self) -> Result<KeySet, KeysError> {
        match self {
            Self::File(path) => KeySet::load_or_create(path),
            Self::Text(keys) => KeySet::from_json(keys.reveal())
                .map_err(|problem| KeysError::Variable { name: Self::VARIABLE, problem }),
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    #[error(
        "there are no token keys at {path}, so no server would accept the token; run the command in the folder of the server and with its \
         --config, or pass --token-key (the server creates the keys at its first start)", path = .path.display()
    )]
    Missing { path: PathBuf },
    #[error("the token keys {path} are unusable: {problem}")]
    File { path: PathBuf, problem: MalformedKeys },
    #[error("the token keys in {name} are unusable: {problem}")]
    Variable { name: &'static str, problem: MalformedKeys },
}

/// What is wrong with a key set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MalformedKeys {
    /// Not the JSON of a key set. Lines and columns count from 1. The parser's own words could quote a key.
    #[error("expected a JWK Set, {{\"keys\": [{{\"kty\": …}}]}}; line {line}, column {column} does not match")]
    NotAKeySet { line: usize, column: usize },
    #[error("the set contains no key")]
    Empty,
    #[error("key {number} {problem}")]
    TokenKey { number: usize, problem: &'static str },
}

impl KeySet {
    /// Reads a key set.
    ///
    /// # Errors
    /// When it is not a JWK Set, or holds a key of another kind, a weak one, or two of the same id.
    pub fn from_json(text: &str) -> Result<Self, MalformedKeys> {
        signatures::install();
        let set: JwkSet = serde_json::from_str(text)
            .map_err(|error| MalformedKeys::NotAKeySet { line: error.line(), column: error.column() })?;
        let mut keys: Vec<TokenKey> = Vec::with_capacity(set.keys.len());
        for (index, jwk) in set.keys.into_iter().enumerate() {
            let key = jwk.read().and_then(|key| {
                if keys.iter().any(|other| other.kid == key.kid) {
                    Err("has the same `kid` as an earlier key")
                } else {
                    Ok(key)
                }
            });
            keys.push(key.map_err(|problem| MalformedKeys::TokenKey { number: index + 1, problem })?);
        }
        if keys.is_empty() { Err(MalformedKeys::Empty) } else { Ok(Self { keys }) }
    }

    /// Reads the key file; if there is none, makes one with a random HS256 key. Of two processes that start at once,
    /// both end up with the same key.
    pub fn load_or_create(path: &Path) -> Result<Self, KeysError> {
        let (text, is_new) = read_or_create(TOKEN_KEYS, path, random_set)?;
        if is_new {
            tracing::info!(path = %path.display(), "created token key");
        } else {
            warn_if_others_may_read(path);
        }
        Self::in_file(&text, path)
    }

    pub(super) fn in_file(text: &str, path: &Path) -> Result<Self, KeysError> {
        Self::from_json(text).map_err(|problem| KeysError::File { path: path.to_owned(), problem })
    }

    /// The ids of the keys (`kid`).
    pub fn ids(&self) -> Vec<&str> {
        self.keys.iter().map(|key| key.kid.as_str()).collect()
    }

    pub(super) fn keys(&self) -> &[TokenKey] {
        &self.keys
    }
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<RawJwk>,
}

/// A key as it is written; members that are not needed are ignored, as the RFC demands.
#[derive(Deserialize)]
struct RawJwk {
    kty: Option<String>,
    kid: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    k: Option<String>,
    x: Option<String>,
    d: Option<String>,
    exp: Option<f64>,
}

impl RawJwk {
    fn read(self) -> Result<TokenKey, &'static str> {
        let (algorithm, decoding, encoding) = match (self.kty.as_deref(), self.alg.as_deref()) {
            (Some("oct"), Some("HS256")) => {
                let secret = decode(self.k.as_deref(), "has no `k` in base64url without padding")?;
                if secret.len() < HS256_BYTES {
                    return Err("is too short: HS256 needs a `k` of 32 bytes or more");
                }
                (Algorithm::HS256, DecodingKey::from_secret(&secret), Some(EncodingKey::from_secret(&secret)))
            }
            (Some("OKP"), Some("EdDSA")) if self.crv.as_deref() == Some("Ed25519") => {
                let public = decode(self.x.as_deref(), "has no `x` in base64url without padding")?;
                if public.len() != ED25519_BYTES {
                    return Err("has an `x` that is not 32 bytes long");
                }
                let private = self.d.as_deref().map(|seed| ed25519_private(seed, &public)).transpose()?;
                (Algorithm::EdDSA, DecodingKey::from_ed_der(&public), private)
            }
            (Some("OKP"), Some("EdDSA")) => return Err("has a `crv` other than Ed25519"),
            _ => return Err("is neither `kty` oct with `alg` HS256 nor `kty` OKP with `alg` EdDSA"),
        };
        let kid = self.kid.filter(|kid| !kid.is_empty()).ok_or("has no `kid`")?;
        let expires =
            self.exp.map(|exp| time(exp).ok_or("has an `exp` that is no time in seconds since 1970")).transpose()?;
        Ok(TokenKey { kid, algorithm, decoding, encoding, expires })
    }
}

fn decode(text: Option<&str>, problem: &'static str) -> Result<Vec<u8>, &'static str> {
    text.and_then(|text| BASE64.decode(text).ok()).ok_or(problem)
}

fn ed25519_private(seed: &str, public: &[u8]) -> Result<EncodingKey, &'static str> {
    let seed = decode(Some(seed), "has a `d` that is not base64url without padding")?;
    if seed.len() != ED25519_BYTES {
        return Err("has a `d` that is not 32 bytes long");
    }
    Ed25519KeyPair::from_seed_and_public_key(&seed, public).map_err(|_| "has a `d` that does not belong to its `x`")?;
    Ok(EncodingKey::from_ed_der(&[&ED25519_PKCS8[..], &seed].concat()))
}

/// A time as tokens and keys have it, in seconds, unless no calendar has it.
pub(super) fn time(seconds: f64) -> Option<Timestamp> {
    const YEAR_9999: f64 = 253_402_214_400.0;
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^53 milliseconds")]
    (0.0..YEAR_9999).contains(&seconds).then(|| Timestamp::from_millis((seconds * 1000.0) as i64))
}

/// A key set of one random key.
fn random_set() -> io::Result<String> {
    let mut secret = [0; HS256_BYTES];
    let mut kid = [0; 6];
    getrandom::fill(&mut secret)?;
    getrandom::fill(&mut kid)?;
    let key = json!({"kty": "oct", "kid": BASE64.encode(kid), "alg": "HS256", "k": BASE64.encode(secret)});
    Ok(format!("{:#}\n", json!({"keys": [key]})))
}

#[cfg(unix)]
fn warn_if_others_may_read(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    if let Ok(file) = std::fs::metadata(path)
        && file.permissions().mode() & 0o077 != 0
    {
        tracing::warn!(path = %path.display(), "token keys are readable by others; run chmod 600 on the file");
    }
}

#[cfg(not(unix))]
fn warn_if_others_may_read(_path: &Path) {}

#[cfg(test)]
mod tests;
