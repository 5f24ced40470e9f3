//! Does what many ask for at the same time in one statement.
//!
//! What a statement costs the database is mostly not its rows: it is the way there and back, setting the statement up,
//! and the commit. So what comes in while others are under way goes into the next statement together. Nobody waits for
//! others to come; where little is to be done, each does its own.

use std::sync::Arc;

use ad_core::ports::StoreError;
use sqlx::{PgPool, Postgres, pool::PoolConnection};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{TRIES, insist, is_conflict, run_together};
use crate::store::{
    database::{Link, Work, Wrap},
    statement::{Failure, Ran, Statement, store_error},
};

/// Most inputs of one statement.
const MOST: usize = 64;

/// How often a statement of several inputs is tried that others get in the way of, before each is done by itself.
const TRIES_TOGETHER: u32 = 3;

/// Takes statements that can be done together with others like them. Clones share everything.
#[derive(Debug, Clone)]
pub(super) struct Gather {
    queue: mpsc::Sender<Asked>,
}

/// A statement, and the caller who waits for it.
struct Asked {
    statement: Statement,
    answer: oneshot::Sender<Result<Ran, StoreError>>,
}

type Queue = Arc<Mutex<mpsc::Receiver<Asked>>>;
/// A connection while there is something to do.
type Kept = Option<PoolConnection<Postgres>>;

impl Gather {
    /// With this many connections of a pool that nobody else uses.
    pub(super) fn start(pool: &PgPool, connections: u32) -> Self {
        let (queue, asked) = mpsc::channel(4 * MOST);
        let asked = Arc::new(Mutex::new(asked));
        for _ in 0..connections {
            tokio::spawn(serve(pool.clone(), Arc::clone(&asked)));
        }
        Self { queue }
    }

    pub(super) async fn run(&self, statement: Statement) -> Result<Ran, StoreError> {
        let ended = || StoreError::Unavailable("the database is closed".into());
        let (answer, answered) = oneshot::channel();
        self.queue.send(Asked { statement, answer }).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

/// Does what is asked for over one connection, until nobody is left who could ask.
async fn serve(pool: PgPool, queue: Queue) {
    let mut kept = None;
    while let Some(taken) = next(&queue, &mut kept).await {
        for alike in sorted(taken) {
            run(&pool, &mut kept, alike).await;
        }
    }
}

/// All that waits, once there is something. Meanwhile no connection is kept: the pool sees to it that it still is one.
async fn next(queue: &Queue, kept: &mut Kept) -> Option<Vec<Asked>> {
    let mut taken = Vec::with_capacity(MOST);
    let is_waiting = queue.try_lock().is_ok_and(|mut queue| {
        while taken.len() < MOST
            && let Ok(asked) = queue.try_recv()
        {
            taken.push(asked);
        }
        !taken.is_empty()
    });
    if is_waiting {
        return Some(taken);
    }
    *kept = None;
    (queue.lock().await.recv_many(&mut taken, MOST).await > 0).then_some(taken)
}

/// What can be done together, for those who still want to know.
fn sorted(taken: Vec<Asked>) -> Vec<Vec<Asked>> {
    let mut sorted: Vec<Vec<Asked>> = Vec::new();
    for asked in taken.into_iter().filter(|asked| !asked.answer.is_closed()) {
        match sorted.iter_mut().find(|alike| alike[0].statement.is_like(&asked.statement)) {
            Some(alike) => alike.push(asked),
            None => sorted.push(vec![asked]),
        }
    }
    sorted
}

/// Several inputs of one statement.
struct Together(Vec<Statement>);

impl Work for Together {
    type Answer = Vec<Ran>;

    const WRAP: Wrap = Wrap::Nothing;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Vec<Ran>> {
        match link {
            Link::Postgres(connection) => run_together(connection, &self.0).await,
            Link::Sqlite(_) => unreachable!("what is gathered here is for PostgreSQL"),
        }
    }
}

async fn run(pool: &PgPool, kept: &mut Kept, alike: Vec<Asked>) {
    let (statements, answers): (Vec<_>, Vec<_>) =
        alike.into_iter().map(|Asked { statement, answer }| (statement, answer)).unzip();
    let tell = |outcomes: Vec<Result<Ran, StoreError>>| {
        for (answer, outcome) in answers.into_iter().zip(outcomes) {
            // A caller who has gone away does not want to know.
            drop(answer.send(outcome));
        }
    };
    let connection = match kept {
        Some(connection) => connection,
        None => match pool.acquire().await {
            Ok(connection) => kept.insert(connection),
            Err(error) => {
                let failure = Failure::from(&error);
                return tell(statements.iter().map(|_| Err(failure.clone().into())).collect());
            }
        },
    };
    let together = Together(statements);
    match insist(connection, &together, TRIES_TOGETHER).await {
        Ok(ran) => tell(ran.into_iter().map(Ok).collect()),
        // Nothing was done, perhaps because of one of them.
        Err(error) if is_conflict(&error) || !Failure::from(&error).passing => {
            let mut outcomes = Vec::with_capacity(together.0.len());
            for statement in &together.0 {
                outcomes.push(insist(connection, statement, TRIES).await.map_err(|error| store_error(&error)));
            }
            tell(outcomes);
        }
        Err(error) => {
            *kept = None;
            let failure = Failure::from(&error);
            tell(together.0.iter().map(|_| Err(failure.clone().into())).collect());
        }
    }
}
