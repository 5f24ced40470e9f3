//! The commands, one file each.

pub(super) mod bump;
pub(super) mod completions;
pub(super) mod create;
pub(super) mod delete;
pub(super) mod events;
pub(super) mod export;
pub(super) mod fields;
pub(super) mod get;
pub(super) mod import;
pub(super) mod list;
pub(super) mod log;
pub(super) mod login;
pub(super) mod man;
pub(super) mod migrate_v4;
pub(super) mod new;
pub(super) mod open;
pub(super) mod pole_position;
pub(super) mod request;
pub(super) mod retry;
pub(super) mod sync;
pub(super) mod update;
pub(super) mod validate;
pub(super) mod values;
pub(super) mod wait;
pub(super) mod webhooks;
pub(super) mod whoami;
