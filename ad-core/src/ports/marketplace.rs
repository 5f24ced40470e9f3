use std::{fmt, str::FromStr, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    model::{Action, Ad, ImageRef, Market, Timestamp},
    violation::Code,
};

/// What a marketplace is told to show.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The ad: its id is the reference by which the marketplace knows it again.
    pub ad: &'a Ad,
    /// Its images, in display order.
    pub images: &'a [ImageRef],
}

/// Idempotency key of one call: request, action, marketplace (decision 27).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The API request.
    pub request: Uuid,
    /// The action.
    pub action: Action,
    /// The marketplace.
    pub market: Market,
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.request, self.action, self.market)
    }
}

/// Not the text of a [`Key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected request:action:marketplace, such as 01a1fa93-5971-7147-bce3-60bca733d9f8:publish:primary")]
pub struct InvalidKey;

impl FromStr for Key {
    type Err = InvalidKey;

    /// The key that is written so.
    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let mut parts = text.split(':');
        let mut next = || parts.next().ok_or(InvalidKey);
        let request = next()?.parse().map_err(|_| InvalidKey)?;
        let action = Action::from_name(next()?).ok_or(InvalidKey)?;
        let market = Market::from_name(next()?).ok_or(InvalidKey)?;
        if parts.next().is_some() { Err(InvalidKey) } else { Ok(Self { request, action, market }) }
    }
}

/// A listing that was found by its plate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its id on the marketplace.
    pub id: String,
    /// The ad that it shows; `None` for one that did not come through this service.
    pub reference: Option<Uuid>,
}

/// Why a marketplace did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarketplaceError {
    /// A passing fault: try again, not before the given pause.
    #[error("{reason}")]
    Transient {
        /// Its kind.
        code: Code,
        /// What happened.
        reason: String,
        /// The pause that the marketplace asked for.
        retry_after: Option<Duration>,
    },
    /// It was not asked at all, since it is known to fail just now. No try was spent; one is worth it after the pause.
    #[error("{reason}")]
    NotAsked {
        /// The kind of what it failed for before.
        code: Code,
        /// What it failed for before.
        reason: String,
        /// When it can be asked again.
        retry_after: Duration,
    },
    /// The marketplace will not take it as it is.
    #[error("{0}")]
    Refused(String),
    /// It does not have the listing (any more).
    #[error("the listing does not exist")]
    Gone,
    /// The ad has no listing there.
    #[error("the ad is not published there")]
    NotListed,
}

impl MarketplaceError {
    /// A transient fault of a marketplace that does not answer as it should.
    pub fn unreachable(reason: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self::Transient { code: Code::MarketplaceUnreachable, reason: reason.into(), retry_after }
    }

    /// The code of the log entry when the action fails by it (extensions E1.4).
    pub fn code(&self) -> Code {
        match self {
            Self::Transient { code, .. } | Self::NotAsked { code, .. } => *code,
            Self::Refused(_) => Code::MarketplaceRefused,
            Self::Gone | Self::NotListed => Code::NotListed,
        }
    }
}

/// A marketplace. Every write carries a key: called again with the same key, it answers as it did the first time and
/// changes nothing.
#[async_trait]
pub trait Marketplace: Send + Sync {
    /// Shows a listing for an ad and returns its id. An ad has at most one: publishing it again updates that.
    async fn publish(&self, key: Key, listing: Listing<'_>) -> Result<String, MarketplaceError>;

    /// Shows a listing again with this content, tied to this ad.
    ///
    /// # Errors
    /// [`MarketplaceError::Gone`] when there is no such listing.
    async fn update(&self, key: Key, id: &str, listing: Listing<'_>) -> Result<(), MarketplaceError>;

    /// Takes a listing off. Success also when it is gone already.
    async fn unpublish(&self, key: Key, id: &str) -> Result<(), MarketplaceError>;

    /// Moves a listing to the first place.
    async fn bump(&self, key: Key, id: &str) -> Result<(), MarketplaceError>;

    /// Gives a listing pole position until then.
    async fn boost(&self, key: Key, id: &str, until: Timestamp) -> Result<(), MarketplaceError>;

    /// The listing that is shown for a dealer's plate (upper case without spaces).
    async fn find_by_plate(&self, dealer_code: &str, plate: &str) -> Result<Option<Found>, MarketplaceError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let key = Key { request: Uuid::from_u128(7), action: Action::Bump, market: Market::Secondary };
        assert_eq!(key.to_string().parse(), Ok(key));
        for text in ["", "x", "7:bump:secondary", &format!("{key}:1"), &key.to_string().replace("bump", "jump")] {
            assert_eq!(text.parse::<Key>(), Err(InvalidKey), "{text}");
        }
    }
}
