//! Images: fetched from public addresses ([`HttpFetcher`]), kept once under their checksums ([`Folder`]) and served from
//! there ([`ServeMedia`]).
//!
//! What counts as an image is decided in [`ad_core::ports::Image`], and when a fetch is tried again in the pipeline;
//! neither is done here. Nothing here changes a picture: what a dealer publishes is what is shown.

mod address;
mod fetch;
mod folder;
mod guard;
mod serve;

pub use address::{Reach, reach};
pub use fetch::{ClientError, FetchOptions, HttpFetcher};
pub use folder::{Folder, FolderError};
pub use serve::ServeMedia;
