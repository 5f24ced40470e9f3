//! Records of issued and revoked tokens, so that they can be listed and revoked.

use ad_core::{model::Timestamp, ports::StoreError};
use serde::{Deserialize, Serialize};

use super::{Columns, Database, from_columns, rows::json, sql::directory as sql};

/// What is kept about a token; never the token itself.
///
/// Of a token that another issuer made only `jti` and `revoked` are there: it is kept because it was revoked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its id, the `jti` claim.
    pub jti: String,
    /// Claim that gives the scope: `dealer_code` or `dealer_group`.
    pub scope_type: Option<String>,
    /// The dealer or the group.
    pub scope: Option<String>,
    /// `read`, `write`, `promote`, `webhooks`; `None` means all, if it was issued here.
    pub permissions: Option<Vec<String>>,
    /// When it was issued here, if it was.
    pub issued: Option<Timestamp>,
    pub expires: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
    /// What it is for, if that was said.
    pub label: Option<String>,
    /// The operator who has issued it here.
    pub issued_by: Option<String>,
    /// The key that signed it.
    pub kid: Option<String>,
    /// When it was last used, to the minute.
    pub last_used: Option<Timestamp>,
}

from_columns! {
    TokenRecord {
        jti, scope_type, scope, permissions: maybe_json, issued, expires, revoked, label, issued_by, kid, last_used
    }
}

impl TokenRecord {
    /// Whether it was issued here for a dealer.
    pub fn is_of(&self, dealer_code: &str) -> bool {
        self.scope_type.as_deref() == Some("dealer_code") && self.scope.as_deref() == Some(dealer_code)
    }
}

impl Database {
    /// Keeps a token that was issued.
    pub async fn record_token(&self, token: &TokenRecord) -> Result<(), StoreError> {
        let statement = sql::RecordToken {
            jti: &token.jti,
            scope_type: token.scope_type.as_deref(),
            scope: token.scope.as_deref(),
            permissions: token.permissions.as_ref().map(json).transpose()?,
            issued: token.issued,
            expires: token.expires,
            revoked: token.revoked,
            label: token.label.as_deref(),
            issued_by: token.issued_by.as_deref(),
            kid: token.kid.as_deref(),
        };
        self.run(statement).await.map(drop)
    }

    /// All tokens, in the order in which they were issued or, where others issued them, revoked.
    pub async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        Columns::all(&self.read(sql::AllTokens {}).await?)
    }

    /// A token that was issued here, or revoked.
    pub async fn token(&self, jti: &str) -> Result<Option<TokenRecord>, StoreError> {
        Columns::first(&self.read(sql::TokenOf { jti }).await?)
    }

    /// Revokes a token, whoever issued it; one that was revoked before stays as it was. Returns whether it was issued
    /// here.
    pub async fn revoke_token(&self, jti: &str, at: Timestamp) -> Result<bool, StoreError> {
        let ran = self.run(sql::RevokeToken { jti, now: at }).await?;
        let issued = Columns::first::<Option<Timestamp>>(&ran.rows)?;
        Ok(issued.flatten().is_some())
    }

    pub async fn revoked_tokens(&self) -> Result<Vec<String>, StoreError> {
        Columns::all(&self.read(sql::RevokedTokens {}).await?)
    }
}
