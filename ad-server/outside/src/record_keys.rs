//! Keys that sign the records of ads (extensions E10): Ed25519, derived from the keys that encrypt the secrets of webhooks. So all processes
//! have the same ones, and operators keep and replace one file.

use std::io;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::{
    hkdf::{HKDF_SHA256, Salt},
    signature::{Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const SEED_BYTES: usize = 32;

/// What the keys are derived for.
const PURPOSE: &[u8] = b"signature of records of ads";

/// The keys of a service. The first one signs; the public ones of all are published.
pub struct RecordKeys(Vec<SigningKey>);

ad_server_base::debug_by_name!(RecordKeys);

struct SigningKey {
    pair: Ed25519KeyPair,
    /// Its JWK thumbprint (RFC 7638).
    kid: String,
}

impl RecordKeys {
    /// Keys that are derived from secret ones.
    pub(crate) fn derived_from<'k>(secrets: impl IntoIterator<Item = &'k [u8]>) -> Self {
        Self(secrets.into_iter().map(SigningKey::derived_from).collect())
    }

    /// A new key, which nobody else has, for a service without others.
    ///
    /// # Errors
    /// When there are no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut secret = [0; SEED_BYTES];
        getrandom::fill(&mut secret)?;
        Ok(Self::derived_from([&secret[..]]))
    }

    /// The detached signature of a document: a JWS in compact form without the payload, which is not encoded (RFC 7515, RFC 7797).
    pub fn sign(&self, payload: &[u8]) -> String {
        let SigningKey { pair, kid } = &self.0[0];
        let header = json!({"alg": "EdDSA", "b64": false, "crit": ["b64"], "kid": kid}).to_string();
        let header = BASE64.encode(header);
        let signature = pair.sign(&[header.as_bytes(), b".", payload].concat());
        format!("{header}..{}", BASE64.encode(signature))
    }

    /// The public keys as a JWK set (RFC 7517, RFC 8037).
    pub fn public(&self) -> Value {
        let keys: Vec<_> = self.0.iter().map(SigningKey::public).collect();
        json!({"keys": keys})
    }
}

impl SigningKey {
    fn derived_from(secret: &[u8]) -> Self {
        let mut seed = [0; SEED_BYTES];
        let derived = Salt::new(HKDF_SHA256, &[]).extract(secret);
        derived
            .expand(&[PURPOSE], HKDF_SHA256)
            .and_then(|key| key.fill(&mut seed))
            .expect("the length is that of HKDF");
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("the length is that of a seed");
        let x = BASE64.encode(pair.public_key());
        Self { pair, kid: thumbprint(&x) }
    }

    fn public(&self) -> Value {
        let x = BASE64.encode(self.pair.public_key());
        json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid, "alg": "EdDSA", "use": "sig"})
    }
}

/// The JWK thumbprint of a public key.
fn thumbprint(x: &str) -> String {
    BASE64.encode(Sha256::digest(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#)))
}

#[cfg(test)]
mod tests {
    use ring::signature::{ED25519, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_signature_is_verified_with_the_published_key_alone() {
        let keys = RecordKeys::derived_from([&[1; 32][..], &[2; 32][..]]);
        let payload = br#"{"ad":1}"#;
        let signed = keys.sign(payload);
        let (header, signature) = signed.split_once("..").unwrap();
        let public = keys.public();
        let key = &public["keys"][0];
        let x = BASE64.decode(key["x"].as_str().unwrap()).unwrap();
        let verify = |payload: &[u8]| {
            let signature = BASE64.decode(signature).unwrap();
            UnparsedPublicKey::new(&ED25519, &x).verify(&[header.as_bytes(), b".", payload].concat(), &signature)
        };
        assert!(verify(payload).is_ok() && verify(br#"{"ad":2}"#).is_err());
        let header: Value = serde_json::from_slice(&BASE64.decode(header).unwrap()).unwrap();
        assert_eq!(header, json!({"alg": "EdDSA", "b64": false, "crit": ["b64"], "kid": key["kid"]}));
        assert_eq!(public["keys"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn keys_stay_the_same_and_each_service_has_its_own() {
        let public = |secret: u8| RecordKeys::derived_from([&[secret; 32][..]]).public().to_string();
        assert_eq!(public(1), public(1));
        assert_ne!(public(1), public(2));
        assert_ne!(RecordKeys::random().unwrap().public(), RecordKeys::random().unwrap().public());
    }

    /// The thumbprint in the example of RFC 8037, appendix A.3.
    #[test]
    fn a_key_is_named_by_its_thumbprint() {
        let seed = BASE64.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
        let x = BASE64.encode(pair.public_key());
        assert_eq!(x, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        assert_eq!(thumbprint(&x), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }
}
