//! Which tokens are in use, noted in the database for operators.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use ad_core::{lock::locked, ports::Clock};

use ad_server_store::Database;

/// How often the last use of tokens is written to the database.
const EVERY: Duration = Duration::from_secs(10);

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

    /// Writes them to the database, for ever.
    pub async fn write_forever(self: Arc<Self>, database: Database, clock: Arc<dyn Clock>) {
        loop {
            tokio::time::sleep(EVERY).await;
            let used = std::mem::take(&mut *locked(&self.0));
            if used.is_empty() {
                continue;
            }
            if let Err(error) = database.touch_tokens(used.into_iter().collect(), clock.now()).await {
                tracing::debug!(%error, "cannot note the use of tokens");
            }
        }
    }
}
