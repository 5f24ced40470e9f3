//! One ad compared to a payload, as the service shows it: which fields differ, and the update that makes the ad equal. The comparison itself
//! is [`ad_core::stock`]; here are images that could not be fetched, and texts.

mod blocked;
mod contents;
mod difference;
mod images;

use ad_client::Ad;
use ad_core::{
    model::AdState,
    rulebook::Rulebook,
    stock::{ExistingAd, StockChange, StockComparison},
};
use serde_json::{Map, Value};

use crate::conversion;

pub use blocked::{blocked, quoted, reason};
pub use contents::{Change, IMAGES, changes, differences, shorten_value, stored};
pub use difference::difference;
pub use images::{Missing, missing, why_missing};

/// Compares an ad at the service to a payload. `images` are the images that the ad is assumed to have.
pub fn compare(rulebook: &Rulebook, ad: &Ad, images: &[String], payload: Map<String, Value>) -> StockChange {
    let stored = contents::with_images(conversion::stored(ad), images);
    let existing = ExistingAd { ad: &stored, is_deleted: ad.state == AdState::Deleted, failed_images: &[] };
    StockComparison { rulebook, dealer: None }.change(payload, Some(existing))
}

/// The same, where images that the service could not fetch are not sent again.
pub fn compare_ad(rulebook: &Rulebook, ad: &Ad, payload: &Map<String, Value>) -> StockChange {
    let images: Vec<_> = ad.image_refs.iter().map(|image| image.url.clone()).collect();
    let change = compare(rulebook, ad, &images, payload.clone());
    match missing(&change, ad, &images) {
        Some(missing) => compare(rulebook, ad, &missing.wanted, payload.clone()),
        None => change,
    }
}
