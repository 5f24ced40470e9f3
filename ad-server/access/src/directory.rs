//! Dealers, revoked tokens, paused marketplaces and suspended dealers, cached in memory.
//!
//! The database is authoritative. Every request looks up its dealer and its token, every call its marketplace, so the answers come from a
//! copy in memory that [`Directory::refresh`] reloads when the database has a new version. While the database cannot be read, the
//! copy stays in use; [`Directory::age`] is the time since it was last compared with the database.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use ad_core::{
    model::{Dealer, Market},
    ports::{Clock, DealerDirectory, StoreError},
    violation::Code,
};
use arc_swap::ArcSwap;
use tokio::sync::watch;

use ad_server_base::system::SystemClock;
use ad_server_store::{Database, DirectoryVersion, Hold, HoldTarget, QueueFilter};

/// Longest wait for the database.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Dealers, revoked tokens, paused marketplaces and suspended dealers.
pub struct Directory {
    database: Database,
    snapshot: ArcSwap<Snapshot>,
    /// When the last comparison with the database that succeeded began.
    confirmed: ArcSwap<Instant>,
    changes: watch::Sender<()>,
}

struct Snapshot {
    version: DirectoryVersion,
    dealers: HashMap<String, Arc<Dealer>>,
    groups: HashMap<String, Arc<[String]>>,
    revoked: HashSet<String>,
    holds: HashMap<HoldTarget, Hold>,
}

impl Snapshot {
    /// The version is read first: if anything changes in between, the next comparison finds another version.
    async fn load(database: &Database) -> Result<Self, StoreError> {
        let version = database.directory_version().await?;
        let dealers = database.dealers().await?;
        let revoked = database.revoked_tokens().await?.into_iter().collect();
        let holds = database.holds().await?.into_iter().collect();
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
            holds,
        })
    }

    fn paused(&self) -> impl Iterator<Item = &HoldTarget> {
        self.holds.keys().filter(|held| matches!(held, HoldTarget::Marketplace(_)))
    }
}

ad_server_base::debug_by_name!(Directory);

impl Directory {
    /// Reads it for the first time.
    pub async fn load(database: Database) -> Result<Self, StoreError> {
        let confirmed = ArcSwap::from_pointee(Instant::now());
        let snapshot = ArcSwap::from_pointee(Snapshot::load(&database).await?);
        Ok(Self { database, snapshot, confirmed, changes: watch::Sender::default() })
    }

    /// Reads it again if it has changed, and returns whether it had.
    ///
    /// # Errors
    /// When the database does not answer. The last known state stays in use.
    pub async fn refresh(&self) -> Result<bool, StoreError> {
        let late = |_| StoreError::Unavailable(format!("no answer within {} s", ANSWER_WITHIN.as_secs()).into());
        tokio::time::timeout(ANSWER_WITHIN, self.compare()).await.map_err(late)?
    }

    async fn compare(&self) -> Result<bool, StoreError> {
        let begun = Instant::now();
        let changed = self.database.directory_version().await? != self.snapshot.load().version;
        if changed {
            let (before, now) = (self.snapshot.load_full(), Arc::new(Snapshot::load(&self.database).await?));
            self.snapshot.store(Arc::clone(&now));
            self.changes.send_replace(());
            if before.paused().any(|held| !now.holds.contains_key(held)) {
                // Each process does so: one that has not seen the end of the pause yet may have sent requests back to wait.
                let paused = QueueFilter { code: Some(Code::MarketplacePaused), ..QueueFilter::default() };
                self.database.try_now(&paused, SystemClock.now()).await?;
            }
        }
        self.confirmed.store(Arc::new(begun));
        Ok(changed)
    }

    /// How long ago the copy was last known to agree with the database.
    pub fn age(&self) -> Duration {
        self.confirmed.load().elapsed()
    }

    /// Notifies of each change of the copy.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Why an operator has paused a marketplace, if one has.
    pub fn paused(&self, market: Market) -> Option<String> {
        self.snapshot.load().holds.get(&HoldTarget::Marketplace(market)).map(|hold| hold.reason.clone())
    }

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

    fn suspended(&self, code: &str) -> Option<String> {
        let snapshot = self.snapshot.load();
        if snapshot.holds.is_empty() {
            return None;
        }
        snapshot.holds.get(&HoldTarget::Dealer(code.to_owned())).map(|hold| hold.reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use ad_core::model::Timestamp;

    use super::*;
    use ad_server_store::TokenRecord;
    use ad_tests::TemporaryStore;

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
            ..TokenRecord::default()
        }
    }

    #[tokio::test]
    async fn follows_the_database() {
        let temporary = TemporaryStore::open().await;
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

        let changes = directory.changes();
        assert!(!directory.refresh().await.unwrap());
        assert!(!changes.has_changed().unwrap());
        assert!(database.revoke_token("t1", Timestamp::from_millis(2)).await.unwrap());
        assert!(directory.refresh().await.unwrap());
        assert!(changes.has_changed().unwrap() && directory.is_revoked("t1"));
        let revoked = TokenRecord { revoked: Some(Timestamp::from_millis(2)), ..token("t1") };
        assert_eq!(database.tokens().await.unwrap(), [revoked]);
    }

    #[tokio::test]
    async fn a_token_of_another_issuer_can_be_revoked() {
        let temporary = TemporaryStore::open().await;
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
            revoked: Some(Timestamp::from_millis(2)),
            ..TokenRecord::default()
        };
        assert_eq!(database.tokens().await.unwrap(), [own, foreign]);
    }

    #[tokio::test]
    async fn its_age_grows_while_the_database_cannot_be_read() {
        let temporary = TemporaryStore::open().await;
        let directory = Directory::load(temporary.database.clone()).await.unwrap();
        let loaded = Instant::now();
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(directory.age() >= loaded.elapsed());
        assert!(!directory.refresh().await.unwrap());
        assert!(directory.age() < loaded.elapsed(), "it was compared since");
        temporary.database.close().await;
        let closed = Instant::now();
        directory.refresh().await.unwrap_err();
        assert!(directory.age() >= closed.elapsed(), "a failed look confirms nothing");
        assert!(!directory.is_revoked("t1"), "the last known state is still there");
    }
}
