//! The store: ads, logs, the queue, dealers and tokens in one database, SQLite or PostgreSQL.
//!
//! | Module | Purpose |
//! |---|---|
//! | `access` | links that sign in to the console, and its sessions |
//! | `accounts` | `ad_core::ports::AccountStore`: what promotions cost |
//! | `ads` | `ad_core::ports::Store`, over `queue` and `lists` |
//! | `answer` | kept answers, as a text and as columns |
//! | `dealers`, `tokens`, `import` | what operators manage and import |
//! | `erase`, `retention` | erasure of the data of deleted ads, and of what is older than its retention time |
//! | `operators` | paused marketplaces and suspended dealers, the audit log |
//! | `photos` | `ad_core::ports::PhotoStore`: what is known of images |
//! | `plans` | `ad_core::ports::PlanStore`: stock plans |
//! | `quality` | the quality scores of ads that an earlier version has stored |
//! | `slots` | `ad_core::ports::SlotStore`: how many ads of a dealer are live at once |
//! | `webhooks` | webhook endpoints, and deliveries to them |
//! | `words` | the index of the words by which ads are found |
//! | `sql`, `lists`, `search`, `contents` | the statements; those whose conditions vary are put together; conditions that read the content of ads |
//! | `database` | a database of either kind: runs statements and returns rows |
//! | `sqlite`, `postgres` | the engines: connections, transactions, what only one of them has |
//! | `sales` | ads that were marked as sold in the console |
//! | `stock_files` | stock files that somebody has sent to the console, and what was said about their columns |
//! | `uploads` | photos that somebody has sent to the console |
//! | `work`, `statement`, `rows` | transactions; statements with their values; columns |
//! | `batch` | statements of concurrent callers as one statement of many inputs |
//! | `events`, `newest` | log entries as one sequence; the newest ones, for people |
//! | `epochs` | histories of the database without a loss |
//! | `finished`, `event_poller` | those who wait for requests to be finished, and for events |
//! | `schema` | which migrations a database has, and whether this program can use it |
//! | `options`, `failure`, `nul` | how a database is opened; its errors; the character that PostgreSQL cannot store |
//! | `holdups` | what holds a PostgreSQL database up, for operators |
//! | `exchange` | time limits of all exchanges with a database |
//!
//! It depends neither on HTTP nor on what the requests in its queue do, and is given the time. The local marketplaces have their
//! tables in the same database and their statements here, but are part of `ad_server_outside::marketplace`.

mod access;
mod accounts;
mod ads;
pub mod answer;
mod batch;
mod by_status;
mod contents;
mod database;
mod dealers;
mod epochs;
mod erase;
mod event_poller;
mod events;
mod exchange;
mod export;
mod failure;
mod finished;
mod holders;
mod holdups;
mod import;
mod lists;
mod newest;
mod nul;
mod operators;
mod options;
mod photos;
mod plans;
mod postgres;
mod promotions;
mod quality;
mod queue;
mod retention;
mod rows;
mod sales;
mod schema;
mod search;
mod slots;
pub mod sql;
mod sqlite;
pub mod statement;
mod stock_files;
#[cfg(test)]
mod tests;
mod tokens;
mod uploads;
pub mod webhooks;
mod words;
mod work;

pub use access::{AccessScope, ConsoleAccess, NewConsoleSession, NewSignInLink};
pub use accounts::{ChargesOfQuarter, NewestCharges};
pub use ads::DatabaseStore;
pub use by_status::{AdByStatus, StatusFilter};
pub use database::Database;
pub use dealers::DirectoryVersion;
pub use erase::{Erased, ErasedImage, ErasureCounts, REMOVAL};
pub use holdups::{OpenTransaction, UnreadEvents};
pub use import::{ImportAdsError, Importer};
pub use newest::PublishedByHour;
pub use operators::{AuditEntry, DealerQueue, Hold, HoldTarget, Promotion};
pub use options::{OpenError, Options, SchemaPolicy};
pub use queue::{Failing, QueueFilter, QueueSummary, TakeError, Unfinished};
pub use retention::PhotosOfDeleted;
pub(crate) use rows::from_columns;
pub use schema::SchemaState;
pub use stock_files::StockFile;
pub use tokens::TokenRecord;
pub use uploads::{MostUploads, Upload};
pub use {
    rows::{Columns, Row},
    statement::{Sql, Statement},
    work::{Link, Work},
};
