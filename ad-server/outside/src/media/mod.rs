//! Images: fetched from public addresses ([`HttpFetcher`]), stored under their checksums in a folder or a bucket ([`Media`]), and
//! served from there ([`ServeMedia`]), with their [`Renditions`].
//!
//! [`ad_core::ports::Image`] decides what is an image, and the pipeline when a fetch is retried. Images are never changed.

#[cfg(feature = "s3")]
mod bucket;
mod fetch;
mod folder;
mod guard;
mod hosts;
mod location;
mod memory;
mod name;
mod own;
mod photo;
mod renditions;
mod serve;
mod store;

pub use fetch::{ClientError, FetchOptions, HttpFetcher};
pub use guard::{Guard, Refused, refusal};
pub use location::{InvalidMediaLocation, MediaLocation};
pub use own::OwnImages;
pub use renditions::Renditions;
pub use serve::ServeMedia;
pub use store::{Media, MediaBase, MediaError};
