//! The store: ads, logs, the queue, dealers and tokens in one database, SQLite or PostgreSQL.
//!
//! | Module | What it is for |
//! |---|---|
//! | `database` | either kind behind one face: statements in, rows out |
//! | `sqlite`, `postgres` | the engines: connections, transactions, what one of them has and the other has not |
//! | `sql` | every statement of the store, in one place, for both |
//! | `statement`, `rows` | values in, columns out |
//! | `ads`, `queue`, `lists` | `ad_core::ports::Store` over them |
//! | `dealers`, `tokens`, `import` | what operators keep and bring in here |
//!
//! It knows nothing of HTTP, of what the requests in its queue do, or of the time: that is handed to it. The local
//! marketplaces keep their tables in the same database and write to it in the same way, but live in
//! [`marketplace`](crate::marketplace).

mod ads;
mod database;
mod dealers;
mod import;
mod lists;
mod postgres;
mod queue;
mod rows;
pub(crate) mod sql;
mod sqlite;
mod statement;
#[cfg(test)]
pub(crate) mod tests;
mod tokens;

pub use ads::DatabaseStore;
pub use database::{Database, OpenError, Options};
pub use dealers::DirectoryVersion;
pub use import::{ImportAdsError, Importer};
pub use queue::{Failing, QueueFilter, QueueState, TakeError, Unfinished};
pub use tokens::TokenRecord;
pub(crate) use {
    database::{Link, Work, Wrap},
    rows::{Columns, Row},
    statement::{Ran, Sql, Statement},
};
