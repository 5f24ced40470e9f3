//! Ads of V3 that have to migrate: what V4 can take over of them, and what somebody has to add.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`fill`] | a payload of V4 from what the ad of V3 has, and from what people have added |
//! | [`sheet`] | the file that people complete: a row for everything that is missing |
//!
//! Whether an ad can go, and which category becomes which, is said by [`ad_cli::bulk::conversion`] and [`ad_core`].

pub mod fill;
pub mod sheet;
