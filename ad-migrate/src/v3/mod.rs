//! Migration of V3 ads: which of their data V4 can take, and what people must add.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`fill`] | fills a V4 payload from a V3 ad and from answers |
//! | [`sheet`] | the file that people complete, with a row for everything that is missing |
//!
//! [`ad_bulk::conversion`] and [`ad_core`] decide whether an ad can be migrated, and to which category.

pub(crate) mod fill;
pub(crate) mod sheet;
