//! What is kept about issued tokens, so that they can be listed and revoked.

use ad_core::{ports::StoreError, time::Timestamp};
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::{Columns, Database, Statement, rows::json, sql};

/// What is kept about an issued token; never the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its id, the `jti` claim.
    pub jti: Uuid,
    /// `dealer_code` or `dealer_group`.
    pub scope_type: String,
    /// The dealer or the group.
    pub scope: String,
    /// `read`, `write`, `promote`; `None` means all.
    pub permissions: Option<Vec<String>>,
    /// When it was issued.
    pub issued: Timestamp,
    /// When it ends, if it does.
    pub expires: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked: Option<Timestamp>,
}

impl Database {
    /// Keeps a token that was issued.
    pub async fn record_token(&self, token: &TokenRecord) -> Result<(), StoreError> {
        let statement = Statement::new(sql::RECORD_TOKEN)
            .bind(token.jti.to_string())
            .bind(token.scope_type.as_str())
            .bind(token.scope.as_str())
            .bind(token.permissions.as_ref().map(json).transpose()?)
            .bind(token.issued.as_millis())
            .bind(token.expires.map(Timestamp::as_millis))
            .bind(token.revoked.map(Timestamp::as_millis));
        self.write(statement).await.map(drop)
    }

    /// All tokens, in the order in which they were issued.
    pub async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.read(Statement::new(sql::TOKENS)).await?.iter().map(token).collect()
    }

    /// Revokes a token. Returns whether there is such a token; one that was revoked before stays as it was.
    pub async fn revoke_token(&self, jti: Uuid, at: Timestamp) -> Result<bool, StoreError> {
        let statement = Statement::new(sql::REVOKE_TOKEN).bind(jti.to_string()).bind(at.as_millis());
        Ok(self.write(statement).await?.changed > 0)
    }

    /// The tokens that were revoked.
    pub async fn revoked_tokens(&self) -> Result<Vec<Uuid>, StoreError> {
        self.read(Statement::new(sql::REVOKED_TOKENS)).await?.iter().map(|row| Columns::of(row).parsed()).collect()
    }
}

fn token(row: &SqliteRow) -> Result<TokenRecord, StoreError> {
    let mut columns = Columns::of(row);
    Ok(TokenRecord {
        jti: columns.parsed()?,
        scope_type: columns.value()?,
        scope: columns.value()?,
        permissions: columns.maybe_json()?,
        issued: columns.time()?,
        expires: columns.maybe_time()?,
        revoked: columns.maybe_time()?,
    })
}
