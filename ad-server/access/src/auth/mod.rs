//! Access (decision 29): JSON Web Tokens, the keys that sign them, and what they permit.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`keys`] | the key set: a JWK Set in a file or in the environment |
//! | `key_file` | the key file, read again when it changes |
//! | [`permissions`] | what a caller may do |
//! | `signatures` | HS256 and `EdDSA` by ring |
//! | [`token`] | verifying a token: who calls |
//! | [`mod@issue`] | making one |
//! | `used` | which tokens are in use |
//!
//! The store records issued and revoked tokens, cached in memory by the
//! [`directory`](crate::directory); which endpoint needs which permission is decided by the API.

pub mod issue;
mod key_file;
pub mod keys;
pub mod permissions;
mod signatures;
pub mod token;
mod used;

pub use issue::{IssueError, IssueRequest, issue};
pub use key_file::KeyFile;
pub use keys::{KeySet, KeySource, KeysError};
pub use permissions::{Permission, Permissions, UnknownPermission};
pub use token::{Caller, TokenError, Verifier, is_jti};
pub use used::UsedTokens;
