//! Secrets of endpoints: how they sign (Standard Webhooks 1.0.0), and how they are stored, encrypted with a key that is not in the
//! database. Neither messages nor `Debug` output show them.

use std::{io, path::PathBuf, sync::Arc};

use ad_core::model::Timestamp;
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hmac,
};
use uuid::Uuid;

use crate::record_keys::RecordKeys;
use ad_server_base::secret::{KeyFileError, Secret, read_or_create};
use ad_server_store::webhooks::StoredSecret;

/// Prefix of secrets, before the base64.
const PREFIX: &str = "whsec_";

/// Length of a secret, in bytes (Standard Webhooks: 24 to 64).
const SECRET_BYTES: usize = 32;

const KEY_BYTES: usize = 32;

/// Where the keys that encrypt secrets come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookKeySource {
    /// A file, made on first start.
    File(PathBuf),
    /// The keys themselves, from the environment.
    Text(Secret),
}

#[derive(Debug, thiserror::Error)]
pub enum WebhookKeyError {
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    #[error(
        "the webhook key in {place} is unusable: line {line} is not base64 of {KEY_BYTES} bytes; restore the file, or make a key with `openssl rand -base64 32`"
    )]
    Malformed { place: String, line: usize },
    #[error(
        "the webhook key in {place} is unusable: it is empty; restore the file, or remove it if no webhook was ever created"
    )]
    Empty { place: String },
}

/// Encrypts and decrypts secrets, of webhooks and of sessions of the console. The first key encrypts; all of them decrypt.
pub struct Vault {
    keys: Vec<LessSafeKey>,
    record_keys: Arc<RecordKeys>,
}

ad_server_base::debug_by_name!(Vault);

/// A secret could not be decrypted: it was encrypted with another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the secret was encrypted with another webhook_key; give all processes the same file")]
pub struct WrongVaultKey;

impl WebhookKeySource {
    /// Name of the environment variable that holds keys.
    pub const VARIABLE: &str = "AD_SERVER_WEBHOOK_KEYS";

    /// The name of the file or variable.
    pub fn name(&self) -> String {
        match self {
            Self::Text(_) => Self::VARIABLE.to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// The keys.
    ///
    /// # Errors
    /// When they cannot be read, or a new one cannot be written.
    pub fn load(&self) -> Result<Vault, WebhookKeyError> {
        match self {
            Self::Text(text) => Vault::parse(text.reveal(), &self.name()),
            Self::File(path) => {
                let (text, is_new) = read_or_create("webhook key", path, random_key)?;
                if is_new {
                    tracing::info!(path = %path.display(), "created webhook key");
                }
                Vault::parse(&text, &self.name())
            }
        }
    }
}

fn random_key() -> io::Result<String> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key)?;
    Ok(format!("{}\n", BASE64.encode(key)))
}

impl Vault {
    /// The keys of a text, one a line.
    fn parse(text: &str, place: &str) -> Result<Self, WebhookKeyError> {
        let (mut keys, mut secrets) = (Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let secret = BASE64.decode(line.trim()).ok().filter(|secret| secret.len() == KEY_BYTES);
            let key = secret.as_ref().and_then(|secret| UnboundKey::new(&AES_256_GCM, secret).ok());
            let (Some(secret), Some(key)) = (secret, key) else {
                return Err(WebhookKeyError::Malformed { place: place.to_owned(), line: index + 1 });
            };
            keys.push(LessSafeKey::new(key));
            secrets.push(secret);
        }
        if keys.is_empty() {
            return Err(WebhookKeyError::Empty { place: place.to_owned() });
        }
        let record_keys = Arc::new(RecordKeys::derived_from(secrets.iter().map(Vec::as_slice)));
        Ok(Self { keys, record_keys })
    }

    /// The keys that sign records of ads, one for each key.
    pub fn record_keys(&self) -> &Arc<RecordKeys> {
        &self.record_keys
    }

    /// Encrypts the secret of an endpoint, for that endpoint alone.
    ///
    /// # Errors
    /// When there are no random numbers.
    pub fn seal(&self, webhook: Uuid, secret: &SigningSecret) -> io::Result<String> {
        Ok(BASE64.encode(self.encrypt(webhook.as_bytes(), &secret.0)?))
    }

    /// Decrypts a secret of an endpoint.
    ///
    /// # Errors
    /// When no key is the one that encrypted it.
    pub fn open(&self, webhook: Uuid, sealed: &str) -> Result<SigningSecret, WrongVaultKey> {
        let sealed = BASE64.decode(sealed).map_err(|_| WrongVaultKey)?;
        self.decrypt(webhook.as_bytes(), &sealed).map(SigningSecret).ok_or(WrongVaultKey)
    }

    /// Encrypts bytes for one purpose: nothing else decrypts them.
    ///
    /// # Errors
    /// When there are no random numbers.
    pub fn encrypt(&self, purpose: &[u8], bytes: &[u8]) -> io::Result<Vec<u8>> {
        // Random, which is unique enough for 2^32 secrets of one key.
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce)?;
        let mut sealed = bytes.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        let done = self.keys[0].seal_in_place_append_tag(unique, Aad::from(purpose), &mut sealed);
        done.map_err(|_| io::Error::other("encryption failed"))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// What was [encrypted](Self::encrypt) for a purpose; `None` if that was for another one or with another key, or if it was changed
    /// since.
    pub fn decrypt(&self, purpose: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
        self.keys.iter().find_map(|key| {
            let mut bytes = sealed.to_vec();
            let length =
                key.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(purpose), &mut bytes).ok()?.len();
            bytes.truncate(length);
            Some(bytes)
        })
    }

    /// The secrets of an endpoint that sign now.
    ///
    /// # Errors
    /// When one was encrypted with another key.
    pub fn open_all(
        &self,
        webhook: Uuid,
        secrets: &[StoredSecret],
        now: Timestamp,
    ) -> Result<Vec<SigningSecret>, WrongVaultKey> {
        let valid = secrets.iter().filter(|secret| secret.until.is_none_or(|until| until > now));
        valid.map(|secret| self.open(webhook, &secret.sealed)).collect()
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Vec<u8>);

ad_server_base::debug_by_name!(SigningSecret);

impl SigningSecret {
    /// A new one.
    ///
    /// # Errors
    /// When there are no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = vec![0; SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// As the client is given it.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", BASE64.encode(&self.0))
    }

    /// The signature of a message, in the notation of the header.
    fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", BASE64.encode(tag))
    }
}

/// The value of `webhook-signature`: the signatures of all secrets.
pub fn signatures(secrets: &[SigningSecret], id: &str, at: Timestamp, body: &str) -> String {
    let timestamp = seconds(at);
    secrets.iter().map(|secret| secret.sign(id, timestamp, body)).collect::<Vec<_>>().join(" ")
}

/// A time in whole seconds, as in `webhook-timestamp`.
pub fn seconds(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1000)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn vault(byte: u8) -> String {
        BASE64.encode([byte; KEY_BYTES])
    }

    /// The example of the specification of Standard Webhooks and of its libraries.
    #[test]
    fn a_message_is_signed_as_the_specification_says() {
        let secret = SigningSecret(BASE64.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap());
        let at = Timestamp::from_millis(1_614_265_330_999);
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", r#"{"test": 2432232314}"#);
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(signatures(std::slice::from_ref(&secret), id, at, body), expected);
        assert_eq!(signatures(&[secret.clone(), secret], id, at, body), format!("{expected} {expected}"));
    }

    #[test]
    fn secrets_are_random_and_decrypted_by_the_key_and_endpoint_that_encrypted_them() {
        let (one, other) = (SigningSecret::random().unwrap(), SigningSecret::random().unwrap());
        assert_ne!(one, other);
        let shown = one.reveal();
        assert_eq!(BASE64.decode(shown.strip_prefix("whsec_").unwrap()).unwrap().len(), 32);
        assert_eq!(format!("{one:?}"), "SigningSecret");

        let id = Uuid::from_u128(7);
        let old = Vault::parse(&vault(1), "").unwrap();
        let sealed = old.seal(id, &one).unwrap();
        assert_ne!(sealed, old.seal(id, &one).unwrap(), "each with a nonce of its own");
        assert_eq!(old.open(id, &sealed), Ok(one.clone()));
        assert_eq!(old.open(Uuid::from_u128(8), &sealed), Err(WrongVaultKey));
        let new = Vault::parse(&vault(2), "").unwrap();
        assert_eq!(new.open(id, &sealed), Err(WrongVaultKey));
        let both = Vault::parse(&format!("{}\n\n{}\n", vault(2), vault(1)), "").unwrap();
        assert_eq!(both.open(id, &sealed), Ok(one.clone()));
        assert_eq!(new.open(id, &both.seal(id, &one).unwrap()), Ok(one), "the first key encrypts");
        for wrong in ["", "AAAA", "%"] {
            assert_eq!(old.open(id, wrong), Err(WrongVaultKey));
        }
    }

    #[test]
    fn the_key_file_is_made_once_and_wrong_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/webhook-key");
        let source = WebhookKeySource::File(path.clone());
        let (id, secret) = (Uuid::nil(), SigningSecret::random().unwrap());
        let sealed = source.load().unwrap().seal(id, &secret).unwrap();
        assert_eq!(source.load().unwrap().open(id, &sealed), Ok(secret));
        for (text, expected) in [("", "empty"), ("abc", "line 1"), (&format!("{}\nabc", vault(1)), "line 2")] {
            fs::write(&path, text).unwrap();
            let error = source.load().unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("webhook-key"), "{error}");
        }
    }
}
