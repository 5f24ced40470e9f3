//! A sandbox: its table of failures, and its sample images.

mod counts;
pub mod failures;
pub mod images;

pub use self::{
    counts::{FaultCounts, PREFIX, times},
    failures::page,
    images::{PATH as IMAGES, SampleFetcher, serve as serve_images},
};

/// Where integrators find the guide.
pub const GUIDE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/sandbox.md");
