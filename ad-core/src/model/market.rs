//! The marketplaces.

use serde::{Deserialize, Serialize};

use super::names::names;

/// One of the two marketplaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Market {
    /// General classifieds; its listing id is the ad's `marketplace_ad_id`.
    Primary,
    /// Vehicle-focused, registered vehicles only; its listing id is the ad's `offer_id`.
    Secondary,
}
names!(Market { "primary" => Primary, "secondary" => Secondary });
