//! Dealers and revoked tokens, fresh in memory.
//!
//! The database is the truth. Every request asks for its dealer and its token, so the answers come from a copy in memory
//! that is read again whenever the database has another version: [`Directory::keep_fresh`] looks.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use ad_core::ports::{Dealer, DealerDirectory, StoreError};
use arc_swap::ArcSwap;

use crate::store::{Database, DirectoryVersion};

/// Who the dealers are and which tokens count no more.
pub struct Directory {
    database: Database,
    snapshot: ArcSwap<Snapshot>,
}

struct Snapshot {
    version: DirectoryVersion,
    dealers: HashMap<String, Arc<Dealer>>,
    groups: HashMap<String, Arc<[String]>>,
    revoked: HashSet<String>,
}

impl Snapshot {
    /// The version is read first: if anything changes in between, the next look finds another one.
    async fn load(database: &Database) -> Result<Self, StoreError> {
        let version = database.directory_version().await?;
        let dealers = database.dealers().await?;
        let revoked = database.revoked_tokens().await?.into_iter().collect();
        let mut groups = HashMap::<String, Vec<String>>::new();
        for dealer in &dealers {
            if let Some(group) = &dealer.group {
                groups.entry(group.clone()).or_default().push(dealer.code.clone());
            }
        }
        Ok(Self {
            version,
            groups: groups.into_iter().map(|(group, codes)| (group, codes.into())).collect(),
            dealers: dealers.into_iter().map(|dealer| (dealer.code.clone(), Arc::new(dealer))).collect(),
            revoked,
        })
    }
}

impl fmt::Debug for Directory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = self.snapshot.load();
        formatter
            .debug_struct("Directory")
            .field("version", &snapshot.version)
            .field("dealers", &snapshot.dealers.len())
            .finish_non_exhaustive()
    }
}

impl Directory {
    /// Reads it for the first time.
    pub async fn load(database: Database) -> Result<Self, StoreError> {
        let snapshot = ArcSwap::from_pointee(Snapshot::load(&database).await?);
        Ok(Self { database, snapshot })
    }

    /// Reads it again if it has changed, and returns whether it had.
    pub async fn refresh(&self) -> Result<bool, StoreError> {
        let changed = self.database.directory_version().await? != self.snapshot.load().version;
        if changed {
            self.snapshot.store(Arc::new(Snapshot::load(&self.database).await?));
        }
        Ok(changed)
    }

    /// Looks for changes for ever, with this pause in between. While the database cannot be read, what was known last
    /// goes on to count.
    pub async fn keep_fresh(self: Arc<Self>, every: Duration) {
        let mut stale = false;
        loop {
            tokio::time::sleep(every).await;
            match self.refresh().await {
                Ok(_) => stale = false,
                // Once is enough: the next look is soon.
                Err(error) if !stale => {
                    tracing::error!(%error, "dealers and revoked tokens cannot be read again");
                    stale = true;
                }
                Err(_) => {}
            }
        }
    }

    /// Whether a token was revoked.
    pub fn is_revoked(&self, jti: &str) -> bool {
        self.snapshot.load().revoked.contains(jti)
    }
}

impl DealerDirectory for Directory {
    fn dealer(&self, code: &str) -> Option<Arc<Dealer>> {
        self.snapshot.load().dealers.get(code).cloned()
    }

    fn group(&self, group: &str) -> Arc<[String]> {
        self.snapshot.load().groups.get(group).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use ad_core::time::Timestamp;

    use super::*;
    use crate::store::{TokenRecord, tests::Temporary};

    fn dealer(code: &str, group: &str) -> Dealer {
        Dealer { group: Some(group.to_owned()), ..Dealer::named(code) }
    }

    fn token(jti: &str) -> TokenRecord {
        TokenRecord {
            jti: jti.to_owned(),
            scope_type: Some("dealer_code".to_owned()),
            scope: Some("d1".to_owned()),
            permissions: Some(vec!["read".to_owned()]),
            issued: Some(Timestamp::from_millis(1)),
            expires: None,
            revoked: None,
        }
    }

    #[tokio::test]
    async fn follows_the_database() {
        let temporary = Temporary::open().await;
        let database = &temporary.database;
        database.import_dealers(&[dealer("d1", "north"), dealer("d2", "north")]).await.unwrap();
        let directory = Directory::load(database.clone()).await.unwrap();
        assert_eq!(directory.dealer("d1").as_deref(), Some(&dealer("d1", "north")));
        assert_eq!(directory.dealer("d3"), None);
        assert_eq!(*directory.group("north"), ["d1".to_owned(), "d2".to_owned()]);
        assert!(directory.group("south").is_empty());
        assert!(!directory.refresh().await.unwrap());

        database.import_dealers(&[dealer("d2", "south")]).await.unwrap();
        database.record_token(&token("t1")).await.unwrap();
        assert!(directory.refresh().await.unwrap());
        assert_eq!(*directory.group("south"), ["d2".to_owned()]);
        assert!(!directory.is_revoked("t1"));

        assert!(database.revoke_token("t1", Timestamp::from_millis(2)).await.unwrap());
        assert!(directory.refresh().await.unwrap());
        assert!(directory.is_revoked("t1"));
        let revoked = TokenRecord { revoked: Some(Timestamp::from_millis(2)), ..token("t1") };
        assert_eq!(database.tokens().await.unwrap(), [revoked]);
    }

    #[tokio::test]
    async fn a_token_of_another_issuer_can_be_revoked() {
        let temporary = Temporary::open().await;
        let database = &temporary.database;
        let directory = Directory::load(database.clone()).await.unwrap();
        let own = token("own");
        database.record_token(&own).await.unwrap();
        for at in [2, 3] {
            assert!(!database.revoke_token("vendor #1", Timestamp::from_millis(at)).await.unwrap(), "not issued here");
        }
        assert!(directory.refresh().await.unwrap());
        assert!(directory.is_revoked("vendor #1") && !directory.is_revoked("vendor #2"));
        let foreign = TokenRecord {
            jti: "vendor #1".to_owned(),
            scope_type: None,
            scope: None,
            permissions: None,
            issued: None,
            expires: None,
            revoked: Some(Timestamp::from_millis(2)),
        };
        assert_eq!(database.tokens().await.unwrap(), [own, foreign]);
    }

    #[tokio::test]
    async fn keeps_itself_fresh() {
        let temporary = Temporary::open().await;
        let directory = Arc::new(Directory::load(temporary.database.clone()).await.unwrap());
        let fresh = tokio::spawn(Arc::clone(&directory).keep_fresh(Duration::from_millis(1)));
        temporary.database.import_dealers(&[Dealer::named("d1")]).await.unwrap();
        while directory.dealer("d1").is_none() {
            tokio::task::yield_now().await;
        }
        fresh.abort();
    }
}
