//! One ad compared to a payload: which fields differ, and the update that makes the ad equal.

mod compare;
mod contents;
mod difference;
mod images;

use ad_client::Ad;
use ad_core::{categories::Category, rulebook::Rulebook};
use serde_json::{Map, Value};

pub use compare::{AdDifference, Comparison, compare, quoted};
pub use contents::{Change, IMAGES, differences, put, same, shorten_value, shown, stored, take};
pub use difference::difference;
pub use images::{Missing, missing, why_missing};

/// Maximum number of removals of a dealer's ads without permission: a number or a part of the stock, whichever is less.
const MOST_REMOVALS: u64 = 20;
const REMOVED_PART: u64 = 10;

/// What makes an ad equal to a payload.
#[derive(Debug, Clone, PartialEq)]
pub enum RequiredUpdate {
    /// The ad is equal to the payload.
    Unchanged,
    /// A PATCH makes it equal.
    Update {
        /// The body of the PATCH.
        patch: Map<String, Value>,
        /// The fields that the PATCH changes.
        changes: Vec<Change>,
        /// Whether it revives a deleted ad.
        revives: bool,
    },
    /// No update can; why, as a sentence.
    Impossible(String),
}

/// Compares an ad at the service to a payload. Images that the service could not fetch are not sent again.
pub fn compare_ad(
    rulebook: &Rulebook,
    ad: &Ad,
    payload: &Map<String, Value>,
    category: &'static Category,
) -> RequiredUpdate {
    let images: Vec<_> = ad.image_refs.iter().map(|image| image.url.clone()).collect();
    let mut comparison = compare(rulebook, ad, &images, payload, category);
    if let Some(missing) = missing(&comparison, ad, &images) {
        comparison = compare(rulebook, ad, &missing.wanted, payload, category);
    }
    let Comparison { difference, .. } = comparison;
    match difference {
        AdDifference::Unchanged => RequiredUpdate::Unchanged,
        AdDifference::Update { patch, changes, revives } => RequiredUpdate::Update { patch, changes, revives },
        AdDifference::Blocked { reason, .. } => RequiredUpdate::Impossible(reason),
        AdDifference::Rejected(errors) => {
            let errors = errors.violations().into_iter().map(|(path, violation)| {
                let texts: Vec<_> = violation.texts().into_iter().collect();
                format!("{path}: {}", texts.join(" "))
            });
            RequiredUpdate::Impossible(errors.collect::<Vec<_>>().join("; "))
        }
    }
}

/// Whether so many removals of a dealer's ads need confirmation: more than 10 % of them, or more than 20.
pub const fn exceeds_removal_limit(ads: u64, removals: u64) -> bool {
    removals > MOST_REMOVALS || removals * REMOVED_PART > ads
}
