//! Signed records of ads (extensions E10): whether a saved one is whole and unchanged. It needs the public keys of the service, and no
//! connection.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::{
    digest::{SHA256, digest},
    signature::{ED25519, UnparsedPublicKey},
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};

/// The public keys of a service, as it serves them at `/.well-known/jwks.json` (RFC 7517). Keys of other kinds are passed over.
#[derive(Debug, Clone)]
pub struct RecordKeys {
    /// Each with its thumbprint (RFC 7638), by which signatures name it.
    keys: Vec<(String, Vec<u8>)>,
}

/// What a record says, when its signature was verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedRecord {
    /// Address of the service, if its operator has set one.
    pub service: Option<String>,
    /// When the service made it: UTC, RFC 3339.
    pub made: String,
    /// Which ad it is of.
    pub ad: RecordedAd,
    /// How many revisions it has, of how many.
    pub revisions: RecordedRows,
    /// How many entries of the log it has.
    pub log: RecordedRows,
    /// How many calls of marketplaces it has.
    pub calls: RecordedRows,
    /// Id of the key that signed it.
    #[serde(skip_deserializing)]
    pub key: String,
}

/// The ad of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedAd {
    /// The dealer's id of it.
    pub source_id: String,
    /// The code of its dealer.
    pub dealer_code: String,
    /// The revision of its content when the record was made: the first part of its `ETag` then.
    pub revision: i64,
}

impl VerifiedRecord {
    /// Whether it has all that was recorded, and not only the newest of it.
    pub fn is_whole(&self) -> bool {
        [self.revisions, self.log, self.calls].iter().all(|rows| rows.present as u64 == rows.all)
    }
}

/// The number of rows of a list in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RecordedRows {
    /// Number of rows that the record has.
    pub present: usize,
    /// Rows that there were; if there are more, the record has only the newest.
    pub all: u64,
}

impl<'de> Deserialize<'de> for RecordedRows {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct List {
            count: u64,
            results: Vec<IgnoredAny>,
        }
        let List { count, results } = List::deserialize(deserializer)?;
        Ok(Self { present: results.len(), all: count })
    }
}

/// Why a record is not shown to be genuine.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The keys are no JWK set.
    #[error("no JWK set, as /.well-known/jwks.json is one: {0}")]
    Keys(serde_json::Error),
    /// It is no signed record.
    #[error("no signed record: {0}")]
    NotARecord(serde_json::Error),
    /// Its signature is of another kind.
    #[error("its signature is no detached Ed25519 signature (JWS with \"alg\": \"EdDSA\" and \"b64\": false)")]
    NotASignature,
    /// It was signed with a key that is not among these.
    #[error("it was signed with another key than these: by another service, or before or after the time of these keys")]
    UnknownKey,
    /// It is not what the service signed.
    #[error("it was changed after the service signed it")]
    Changed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedRecord<'a> {
    signature: String,
    #[serde(borrow)]
    record: &'a RawValue,
}

#[derive(Deserialize)]
struct SignatureHeader {
    alg: String,
    b64: bool,
    crit: Vec<String>,
    kid: String,
}

impl RecordKeys {
    /// Reads a JWK set.
    ///
    /// # Errors
    /// [`RecordError::Keys`].
    pub fn parse(text: &[u8]) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Jwks {
            keys: Vec<Value>,
        }
        let Jwks { keys } = serde_json::from_slice(text).map_err(RecordError::Keys)?;
        let public = |key: Value| {
            let x = key["x"].as_str().filter(|_| key["crv"] == "Ed25519")?;
            let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
            let thumbprint = digest(&SHA256, members.as_bytes());
            Some((BASE64.encode(thumbprint), BASE64.decode(x).ok()?))
        };
        Ok(Self { keys: keys.into_iter().filter_map(public).collect() })
    }

    /// Verifies a record as the service sent it, byte for byte. White space around it does not matter.
    ///
    /// # Errors
    /// Why it is not shown to be genuine.
    pub fn verify(&self, record: &[u8]) -> Result<VerifiedRecord, RecordError> {
        let SignedRecord { signature, record } = serde_json::from_slice(record).map_err(RecordError::NotARecord)?;
        let (header, signature) = signature.split_once("..").ok_or(RecordError::NotASignature)?;
        let decoded = |text: &str| BASE64.decode(text).map_err(|_| RecordError::NotASignature);
        let SignatureHeader { alg, b64, crit, kid } =
            serde_json::from_slice(&decoded(header)?).map_err(|_| RecordError::NotASignature)?;
        if alg != "EdDSA" || b64 || crit != ["b64"] {
            return Err(RecordError::NotASignature);
        }
        let (_, x) = self.keys.iter().find(|(thumbprint, _)| *thumbprint == kid).ok_or(RecordError::UnknownKey)?;
        let signed = [header, ".", record.get()].concat();
        let verified = UnparsedPublicKey::new(&ED25519, x).verify(signed.as_bytes(), &decoded(signature)?);
        verified.map_err(|_| RecordError::Changed)?;
        let verified = serde_json::from_str(record.get()).map_err(RecordError::NotARecord)?;
        Ok(VerifiedRecord { key: kid, ..verified })
    }
}
