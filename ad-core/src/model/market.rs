//! The marketplaces on which ads are published.

use super::names::names;

names! {
    /// One of the two marketplaces.
    pub enum Market {
        /// General classifieds; its listing id is the ad's `marketplace_ad_id`.
        Primary = "primary",
        /// Vehicle-focused, registered vehicles only; its listing id is the ad's `offer_id`.
        Secondary = "secondary",
    }
}
