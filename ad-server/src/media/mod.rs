//! Images: fetched from public addresses ([`HttpFetcher`]), kept once under their checksums in a folder or a bucket
//! ([`Media`]) and served from there ([`ServeMedia`]).
//!
//! What counts as an image is decided in [`ad_core::ports::Image`], and when a fetch is tried again in the pipeline;
//! neither is done here. Nothing here changes a picture: what a dealer publishes is what is shown.

mod address;
mod bucket;
mod fetch;
mod folder;
mod guard;
mod hosts;
mod kept;
mod memory;
mod name;
mod place;
mod serve;

pub use address::{Reach, reach};
pub use fetch::{ClientError, FetchOptions, HttpFetcher};
pub use kept::{Base, Media, MediaError};
pub use place::{InvalidPlace, Place};
pub use serve::ServeMedia;
