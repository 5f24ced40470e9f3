//! Who may do what: tokens and dealers.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`auth`] | tokens: keys, issue, verification |
//! | [`directory`] | dealers and revoked tokens, cached in memory |
//! | [`dealers_file`] | the file of dealers that operators write |

pub mod auth;
pub mod dealers_file;
pub mod directory;
