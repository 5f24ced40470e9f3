//! Batches of statements on connections of PostgreSQL.

use std::time::Duration;

use ad_core::ports::StoreError;
use sqlx::PgPool;

use super::{
    TRIES, is_conflict,
    lease::{Lease, has_timed_out, is_lost},
    retry_serialization,
};
use crate::{
    batch::{BatchRunner, MOST_READS, MOST_WRITES},
    exchange::EXCHANGE,
    failure::{DatabaseFailure, store_error},
    statement::Statement,
    work::{Isolation, Link, StatementResult, Work, run_batch},
};

/// Attempts of a batch with conflicts, before each input is run by itself.
const BATCH_TRIES: u32 = 3;

#[derive(Debug, Clone, Copy)]
pub(super) enum BatchKind {
    Writes,
    /// Read for clients, with this time limit.
    Reads(Duration),
}

/// Runs batches on a connection of a pool.
pub(super) struct PostgresBatches {
    pool: PgPool,
    /// Open while there is something to run. Otherwise it is in the pool, which checks that it is still open.
    lease: Option<Lease>,
    kind: BatchKind,
}

impl PostgresBatches {
    pub(super) fn new(pool: &PgPool, kind: BatchKind) -> Self {
        Self { pool: pool.clone(), lease: None, kind }
    }

    async fn outcomes(&mut self, batch: Batch) -> Vec<Result<StatementResult, StoreError>> {
        let all_failed = |error| {
            let failure = DatabaseFailure::from(&error);
            batch.0.iter().map(|_| Err(failure.clone().into())).collect()
        };
        let open = match &mut self.lease {
            Some(open) => open,
            None => match Lease::of(&self.pool).await {
                Ok(open) => self.lease.insert(open),
                Err(error) => return all_failed(error),
            },
        };
        match retry_serialization(open, &batch, EXCHANGE, BATCH_TRIES).await {
            Ok(rans) => rans.into_iter().map(Ok).collect(),
            // Nothing was done; one of them may be the cause.
            Err(error) if is_conflict(&error) || !DatabaseFailure::from(&error).is_temporary => {
                let mut outcomes = Vec::with_capacity(batch.0.len());
                for statement in &batch.0 {
                    let outcome = retry_serialization(open, statement, EXCHANGE, TRIES).await;
                    let failure = outcome.as_ref().err().filter(|it| is_lost(it)).map(DatabaseFailure::from);
                    outcomes.push(outcome.map_err(store_error));
                    if let Some(failure) = failure {
                        self.lease = None;
                        outcomes.resize_with(batch.0.len(), || Err(failure.clone().into()));
                        break;
                    }
                }
                outcomes
            }
            Err(error) => {
                self.lease = None;
                match self.kind {
                    BatchKind::Reads(limit) if has_timed_out(&error) => {
                        batch.0.iter().map(|_| Err(StoreError::TimedOut(limit))).collect()
                    }
                    _ => all_failed(error),
                }
            }
        }
    }
}

impl BatchRunner for PostgresBatches {
    fn most(&self) -> usize {
        match self.kind {
            BatchKind::Writes => MOST_WRITES,
            BatchKind::Reads(_) => MOST_READS,
        }
    }

    async fn run(&mut self, statements: Vec<Statement>) -> Vec<Result<StatementResult, StoreError>> {
        let outcomes = self.outcomes(Batch(statements)).await;
        if matches!(self.kind, BatchKind::Reads(_)) {
            // The pool is also for reads outside batches: it serves waiting callers in order.
            self.rest();
        }
        outcomes
    }

    fn rest(&mut self) {
        if let Some(lease) = self.lease.take() {
            lease.release();
        }
    }
}

/// The inputs of a statement that runs once for all of them.
struct Batch(Vec<Statement>);

impl Work for Batch {
    type Answer = Vec<StatementResult>;

    const ISOLATION: Isolation = Isolation::SingleStatement;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Vec<StatementResult>> {
        match link {
            Link::Postgres(connection) => run_batch(connection, &self.0).await,
            Link::Sqlite(_) => unreachable!("batches of writes are for PostgreSQL"),
        }
    }
}
