//! A standby from which lists are read.
//!
//! Before a list is read, the primary is asked for the end of its write-ahead log, which reads no table. The list is read on the standby
//! once that has replayed the log up to there. So it is never older than any commit before it, and clients need not know of the standby.
//! If the standby lags, does not answer, or belongs to another server, lists are read on the primary.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use sqlx::PgPool;
use tokio::{
    sync::OnceCell,
    time::{Instant, sleep, timeout},
};

use super::lease::{Lease, read_one};
use ad_server_base::breaker::{Breaker, BreakerOptions, Transition};

/// How long a list waits until the standby is ready for it.
const WAIT: Duration = Duration::from_millis(200);

/// Pause between two checks whether the standby has replayed the log.
const RECHECK: Duration = Duration::from_millis(2);

/// When the standby is skipped, and for how long.
const BREAKER: BreakerOptions = BreakerOptions { failures: 3, pause: Duration::from_secs(1) };

/// The end of the log that is on the primary's disk.
const COMMITTED: &str = "SELECT CAST(pg_current_wal_flush_lsn() AS TEXT)";

/// Whether the standby has replayed the log up to a position. A promoted standby no longer follows the primary.
const REPLAYED: &str = "SELECT pg_is_in_recovery() AND coalesce(pg_last_wal_replay_lsn() >= CAST($1 AS pg_lsn), false)";

/// An identifier that only a primary and its standbys share.
const SYSTEM: &str = "SELECT system_identifier FROM pg_control_system()";

/// Whether a server follows a primary, and how many bytes of its log, up to a position, it has not replayed yet.
const LAG: &str = "SELECT pg_is_in_recovery(), \
    CAST(greatest(pg_wal_lsn_diff(CAST($1 AS pg_lsn), pg_last_wal_replay_lsn()), 0) AS BIGINT)";

/// Time limit of a check by an operator.
const CHECK: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
struct ListsRead {
    standby: AtomicU64,
    primary: AtomicU64,
}

/// A standby and the state of its use. Clones share everything.
#[derive(Debug, Clone)]
pub(crate) struct Replica {
    standby: PgPool,
    /// For the position of the log.
    primary: PgPool,
    breaker: Breaker<String>,
    is_of_primary: Arc<OnceCell<()>>,
    read: Arc<ListsRead>,
}

impl Replica {
    pub(super) fn new(standby: PgPool, primary: PgPool) -> Self {
        let breaker = Breaker::new(BREAKER, BREAKER.pause);
        Self { standby, primary, breaker, is_of_primary: Arc::default(), read: Arc::default() }
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.standby
    }

    /// A connection to the standby, which has replayed all commits of the primary; `None`: read on the primary.
    pub(super) async fn lease(&self) -> Option<Lease> {
        let permit = self.breaker.enter(Instant::now()).ok()?;
        let reason = match timeout(WAIT, self.ready()).await {
            Ok(Ok(lease)) => {
                if permit.answered() == Some(Transition::Closed) {
                    tracing::info!("lists are read on the standby again");
                }
                return Some(lease);
            }
            Ok(Err(error)) => reason_of(error),
            Err(_) => format!("it does not show within {} ms what the primary has committed", WAIT.as_millis()),
        };
        if permit.failed(Instant::now(), reason.clone(), None) == Some(Transition::Opened) {
            tracing::warn!(reason, "cannot use the standby of read_database_url; lists are read on the primary");
        }
        None
    }

    /// A list was read on the standby.
    pub(super) fn has_read(&self) {
        self.read.standby.fetch_add(1, Ordering::Relaxed);
    }

    /// A list is read on the primary, because the standby cannot be used.
    pub(super) fn has_not_read(&self) {
        self.read.primary.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of lists that were read on the standby, and on the primary because the standby could not be used.
    pub(crate) fn lists_read(&self) -> (u64, u64) {
        (self.read.standby.load(Ordering::Relaxed), self.read.primary.load(Ordering::Relaxed))
    }

    /// Bytes of the primary's log that the standby has not replayed yet.
    ///
    /// # Errors
    /// When it cannot be used as a standby of the primary.
    pub(crate) async fn lag(&self) -> Result<u64, String> {
        let check = async {
            self.check_system().await?;
            let (committed,): (String,) = read_one(&self.primary, sqlx::query_as(COMMITTED)).await?;
            let (follows, behind): (bool, Option<i64>) =
                read_one(&self.standby, sqlx::query_as(LAG).bind(committed)).await?;
            match behind.map(u64::try_from) {
                Some(Ok(bytes)) if follows => Ok(bytes),
                _ => Err(sqlx::Error::Configuration(
                    "it does not follow a primary (pg_is_in_recovery() is false)".into(),
                )),
            }
        };
        let late = || format!("no answer within {} s", CHECK.as_secs());
        timeout(CHECK, check).await.map_err(|_| late())?.map_err(reason_of)
    }

    async fn ready(&self) -> sqlx::Result<Lease> {
        let (committed,): (String,) = read_one(&self.primary, sqlx::query_as(COMMITTED)).await?;
        self.is_of_primary.get_or_try_init(|| self.check_system()).await?;
        let mut lease = Lease::of(&self.standby).await?;
        while !sqlx::query_scalar(REPLAYED).bind(&committed).fetch_one(&mut **lease).await? {
            sleep(RECHECK).await;
        }
        Ok(lease)
    }

    async fn check_system(&self) -> sqlx::Result<()> {
        let ours: (i64,) = read_one(&self.primary, sqlx::query_as(SYSTEM)).await?;
        let its: (i64,) = read_one(&self.standby, sqlx::query_as(SYSTEM)).await?;
        if ours == its {
            return Ok(());
        }
        Err(sqlx::Error::Configuration("it is not a standby of the server of database_url".into()))
    }
}

/// Why a standby cannot be used.
fn reason_of(error: sqlx::Error) -> String {
    match error {
        sqlx::Error::Configuration(reason) => reason.to_string(),
        error => error.to_string(),
    }
}
