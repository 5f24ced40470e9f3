//! Which tokens are in use, noted in the database for operators.

use std::{collections::HashSet, sync::Mutex};

use ad_core::{lock::locked, model::Timestamp, ports::StoreError};

use ad_server_store::Database;

/// The tokens that were used since the last write.
#[derive(Debug, Default)]
pub struct UsedTokens(Mutex<HashSet<String>>);

impl UsedTokens {
    /// Records that a token was used.
    pub fn add(&self, jti: &str) {
        let mut used = locked(&self.0);
        if !used.contains(jti) {
            used.insert(jti.to_owned());
        }
    }

    pub async fn record(&self, database: &Database, now: Timestamp) -> Result<(), StoreError> {
        let used = std::mem::take(&mut *locked(&self.0));
        if used.is_empty() { Ok(()) } else { database.touch_tokens(used.into_iter().collect(), now).await }
    }
}
