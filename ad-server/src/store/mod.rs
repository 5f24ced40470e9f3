//! The store: ads, logs, the queue, dealers and tokens in one SQLite database.
//!
//! | Module | What it is for |
//! |---|---|
//! | `open` | opens or makes the database file |
//! | `writer` | one connection that writes, many operations to a commit |
//! | `sql` | every statement of the store, in one place |
//! | `ads`, `queue`, `lists` | `ad_core::ports::Store` over them |
//! | `text` | searching in texts, and the index for it |
//! | `dealers`, `tokens`, `import` | what operators keep and bring in here |
//!
//! It knows nothing of HTTP, of what the requests in its queue do, or of the time: that is handed to it. The local
//! marketplaces keep their tables in the same database and write through the same writer, but live in
//! [`marketplace`](crate::marketplace).

mod ads;
mod dealers;
mod import;
mod lists;
mod open;
mod queue;
mod rows;
mod sql;
mod statement;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod tokens;
mod writer;

pub use ads::SqliteStore;
pub use dealers::DirectoryVersion;
pub use import::{ImportAdsError, Importer};
pub use open::{Database, OpenError, Options};
pub use tokens::TokenRecord;
pub(crate) use {
    rows::Columns,
    statement::{Ran, Statement},
    writer::Work,
};
