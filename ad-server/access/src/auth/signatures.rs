//! Signatures of tokens by ring, for `jsonwebtoken`, which comes with other cryptographic libraries only: HS256 and `EdDSA`.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{ErrorKind, Result},
    signature::{Error, Signer, Verifier},
};
use ring::{
    hmac,
    signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey},
};

static RING: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| Ok(Box::new(TokenSigner::new(*algorithm, key)?)),
    verifier_factory: |algorithm, key| Ok(Box::new(TokenVerifier::new(*algorithm, key)?)),
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes `jsonwebtoken` sign and verify with ring, unless this process has given it something else before.
pub(super) fn install() {
    let _earlier = RING.install_default();
}

enum TokenSigner {
    Hs256(hmac::Key),
    EdDsa(Ed25519KeyPair),
}

impl TokenSigner {
    fn new(algorithm: Algorithm, key: &EncodingKey) -> Result<Self> {
        match (algorithm, key.family()) {
            (Algorithm::HS256, AlgorithmFamily::Hmac) => {
                Ok(Self::Hs256(hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes())))
            }
            (Algorithm::EdDSA, AlgorithmFamily::Ed) => {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key.as_bytes());
                Ok(Self::EdDsa(pair.map_err(|_| ErrorKind::InvalidEddsaKey)?))
            }
            _ => Err(ErrorKind::InvalidAlgorithm.into()),
        }
    }
}

impl Signer<Vec<u8>> for TokenSigner {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(match self {
            Self::Hs256(key) => hmac::sign(key, message).as_ref().to_vec(),
            Self::EdDsa(pair) => pair.sign(message).as_ref().to_vec(),
        })
    }
}

impl JwtSigner for TokenSigner {
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Hs256(_) => Algorithm::HS256,
            Self::EdDsa(_) => Algorithm::EdDSA,
        }
    }
}

enum TokenVerifier {
    Hs256(hmac::Key),
    EdDsa(UnparsedPublicKey<Vec<u8>>),
}

impl TokenVerifier {
    fn new(algorithm: Algorithm, key: &DecodingKey) -> Result<Self> {
        let bytes = key.try_get_as_bytes()?;
        match (algorithm, key.family()) {
            (Algorithm::HS256, AlgorithmFamily::Hmac) => Ok(Self::Hs256(hmac::Key::new(hmac::HMAC_SHA256, bytes))),
            (Algorithm::EdDSA, AlgorithmFamily::Ed) => {
                Ok(Self::EdDsa(UnparsedPublicKey::new(&ED25519, bytes.to_vec())))
            }
            _ => Err(ErrorKind::InvalidAlgorithm.into()),
        }
    }
}

impl Verifier<Vec<u8>> for TokenVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        match self {
            Self::Hs256(key) => hmac::verify(key, message, signature),
            Self::EdDsa(key) => key.verify(message, signature),
        }
        .map_err(|_| Error::new())
    }
}

impl JwtVerifier for TokenVerifier {
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Hs256(_) => Algorithm::HS256,
            Self::EdDsa(_) => Algorithm::EdDSA,
        }
    }
}
