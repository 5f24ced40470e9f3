//! The statements of the store but those of lists, whose conditions vary (`lists`).
//!
//! The databases differ in how the steps of a write depend on each other. SQLite runs one after the other, each of which asks by
//! `changes()` or by the lease whether to go on. PostgreSQL runs one statement whose steps read the rows of the first one.

pub(super) mod access;
pub(super) mod accounts;
pub(super) mod ads;
pub(super) mod answers;
pub(super) mod directory;
pub(super) mod erase;
pub(super) mod events;
pub(super) mod export;
pub(super) mod holdups;
pub(super) mod import;
pub mod listings;
pub(super) mod operators;
pub(super) mod photos;
pub(super) mod plans;
pub(super) mod promotions;
pub(super) mod queue;
pub(super) mod retention;
pub(super) mod sales;
pub(super) mod slots;
pub(super) mod stock_files;
pub(super) mod uploads;
pub(super) mod webhooks;
pub(super) mod words;
