//! The primary and the secondary marketplace, kept in the same database as the ads.
//!
//! They give ids, hold the listing order and pole positions, and know listings that did not come through this service,
//! so that everything that ends at a marketplace can be run and seen without one. Not a search engine: nobody reads the
//! listings but operators ([`list_listings`]).

mod local;
mod operators;
mod sql;
#[cfg(test)]
mod tests;

use ad_core::request::Market;

pub use local::Local;
pub use operators::{ListingFilter, ListingRow, ListingState, import_listings, list_listings};

/// Ids of the secondary marketplace begin so; those of the primary one are numbers of 8 digits.
const SECONDARY: &str = "VM";
/// Of this many more than the number in the table, so that ids have their length from the first one on.
const FIRST: i64 = 20_000_000;

/// The id of the listing with this number.
fn listing_id(market: Market, seq: i64) -> String {
    match market {
        Market::Primary => (FIRST + seq).to_string(),
        Market::Secondary => format!("{SECONDARY}{}", FIRST + seq),
    }
}

/// The number of the listing with this id, if it can be one.
fn listing_seq(market: Market, id: &str) -> Option<i64> {
    let digits = match market {
        Market::Primary => id,
        Market::Secondary => id.strip_prefix(SECONDARY)?,
    };
    digits.parse::<i64>().ok()?.checked_sub(FIRST)
}

/// A plate as it is compared: upper case without spaces.
fn normalised_plate(plate: &str) -> String {
    plate.split_whitespace().collect::<String>().to_uppercase()
}
