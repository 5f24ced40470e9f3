use std::{fmt, str::FromStr, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    model::{Action, Ad, ApiVersion, CallAction, Content, ImageRef, Market, Timestamp},
    violation::Code,
};

/// The content of a listing.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The ad. The marketplace stores its id as the reference of the listing.
    pub ad: &'a Ad,
    /// Its images, in display order.
    pub images: &'a [ImageRef],
}

/// A listing as it is sent (`docs/marketplace-adapter.md`).
#[derive(Serialize)]
struct SentListing<'a> {
    reference: Uuid,
    source_id: &'a str,
    dealer_code: &'a str,
    category_id: u16,
    api_version: ApiVersion,
    content: &'a Content,
    images: Vec<SentImage<'a>>,
}

#[derive(Serialize)]
struct SentImage<'a> {
    id: Uuid,
    url: &'a str,
    checksum: &'a str,
}

impl<'a> Listing<'a> {
    /// The listing as JSON, as it is sent.
    ///
    /// # Errors
    /// When the content cannot be written as JSON.
    pub fn json(&self) -> serde_json::Result<Vec<u8>> {
        let Self { ad, images } = self;
        let image = |image: &'a ImageRef| SentImage { id: image.id, url: &image.cdn_url, checksum: &image.checksum };
        serde_json::to_vec(&SentListing {
            reference: ad.id,
            source_id: &ad.source_id,
            dealer_code: &ad.dealer_code,
            category_id: ad.category_id,
            api_version: ad.api_version,
            content: &ad.content,
            images: images.iter().map(image).collect(),
        })
    }
}

/// Idempotency key of one call: request, action, marketplace (decision 27).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Id of the API request.
    pub request: Uuid,
    /// The action of its plan.
    pub action: Action,
    /// The marketplace that is called.
    pub market: Market,
}

impl IdempotencyKey {
    /// The key of a call for a request; `None` for calls that change nothing.
    pub fn of(request: Uuid, call: CallAction, market: Market) -> Option<Self> {
        call.keyed_by().map(|action| Self { request, action, market })
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.request, self.action, self.market)
    }
}

/// A text that is no [`IdempotencyKey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected request:action:marketplace, such as 01a1fa93-5971-7147-bce3-60bca733d9f8:publish:primary")]
pub struct InvalidIdempotencyKey;

impl FromStr for IdempotencyKey {
    type Err = InvalidIdempotencyKey;

    /// Parses a key from its text.
    fn from_str(text: &str) -> Result<Self, InvalidIdempotencyKey> {
        let mut parts = text.split(':');
        let mut next = || parts.next().ok_or(InvalidIdempotencyKey);
        let request = next()?.parse().map_err(|_| InvalidIdempotencyKey)?;
        let action = Action::from_name(next()?).ok_or(InvalidIdempotencyKey)?;
        let market = Market::from_name(next()?).ok_or(InvalidIdempotencyKey)?;
        if parts.next().is_some() { Err(InvalidIdempotencyKey) } else { Ok(Self { request, action, market }) }
    }
}

/// A listing with a given plate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlateListing {
    /// Its id on the marketplace.
    pub id: String,
    /// The ad that it shows; `None` for a listing that this service did not publish.
    pub reference: Option<Uuid>,
}

/// What a marketplace did with an ad that it may list already, by its plate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishedByPlate {
    /// It shows the ad in this listing.
    Shown {
        /// Id of the listing.
        id: String,
        /// Whether the listing had shown no ad, and is linked to this one now.
        linked: bool,
    },
    /// A listing with the plate shows another ad. Nothing was changed.
    Taken(PlateListing),
}

/// What a marketplace answered to a call that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered<T> {
    /// The HTTP status of the answer. Marketplaces in the service itself answer as those over HTTP should.
    pub status: u16,
    /// What the call returns, such as the id of a listing; `()` if that is nothing.
    pub value: T,
}

impl Answered<()> {
    /// Done, with nothing to say: status 204.
    pub const DONE: Self = Self { status: 204, value: () };
}

impl<T> Answered<T> {
    /// Done, with status 200.
    pub const fn ok(value: T) -> Self {
        Self { status: 200, value }
    }

    /// The same with another value.
    pub fn map<U>(self, value: impl FnOnce(T) -> U) -> Answered<U> {
        Answered { status: self.status, value: value(self.value) }
    }
}

/// Why a call of a marketplace failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarketplaceError {
    /// A transient error: retry, after the pause if there is one.
    #[error("{reason}")]
    Transient {
        /// The kind of the error.
        code: Code,
        /// What happened, in a sentence for the client.
        reason: String,
        /// The pause that the marketplace asked for.
        retry_after: Option<Duration>,
        /// The HTTP status of the answer; `None` if there was none.
        status: Option<u16>,
    },
    /// The call was not sent, because the circuit breaker is open. It does not count as an attempt. Retry after the pause.
    #[error("{reason}")]
    NotAsked {
        /// The code of the earlier error.
        code: Code,
        /// Why earlier calls failed, in a sentence.
        reason: String,
        /// Time until calls are sent again.
        retry_after: Duration,
    },
    /// The marketplace refuses the ad as it is.
    #[error("{reason}")]
    Refused {
        /// Why, in a sentence for the client.
        reason: String,
        /// The HTTP status of the answer.
        status: u16,
    },
    /// The marketplace does not have the listing, or no longer.
    #[error("the listing does not exist")]
    Gone {
        /// The HTTP status of the answer.
        status: u16,
    },
    /// The ad has no listing there.
    #[error("the ad is not published there")]
    NotListed,
}

impl MarketplaceError {
    /// A transient fault of a marketplace that does not answer.
    pub fn unreachable(reason: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self::Transient { code: Code::MarketplaceUnreachable, reason: reason.into(), retry_after, status: None }
    }

    /// A listing that does not exist, with the status that the adapter contract has for it.
    pub const GONE: Self = Self::Gone { status: 404 };

    /// A refusal with the status that the adapter contract has for it.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into(), status: 422 }
    }

    /// The HTTP status of the answer; `None` if there was none.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Transient { status, .. } => *status,
            Self::Refused { status, .. } | Self::Gone { status } => Some(*status),
            Self::NotAsked { .. } | Self::NotListed => None,
        }
    }

    /// The code of the log entry when the action fails by it (extensions E1.4).
    pub fn code(&self) -> Code {
        match self {
            Self::Transient { code, .. } | Self::NotAsked { code, .. } => *code,
            Self::Refused { .. } => Code::MarketplaceRefused,
            Self::Gone { .. } | Self::NotListed => Code::NotListed,
        }
    }
}

/// A marketplace. Every write has an idempotency key: a repeated call with the same key returns the first answer and changes
/// nothing.
#[async_trait]
pub trait Marketplace: Send + Sync {
    /// Publishes a listing of an ad and returns its id. An ad has at most one listing: publishing again updates it.
    async fn publish(&self, key: IdempotencyKey, listing: Listing<'_>) -> Result<Answered<String>, MarketplaceError>;

    /// Publishes a listing of an ad with a plate (upper case without spaces). If a visible listing of the dealer has the plate and shows no
    /// ad, it is linked to this ad instead; if it shows another ad, nothing is changed. `None` if the marketplace has no such call; it is
    /// asked by [`find_by_plate`](Self::find_by_plate) then.
    async fn publish_by_plate(
        &self,
        _key: IdempotencyKey,
        _listing: Listing<'_>,
        _plate: &str,
    ) -> Result<Answered<Option<PublishedByPlate>>, MarketplaceError> {
        Ok(Answered { status: 405, value: None })
    }

    /// Updates and shows a listing, and links it to this ad.
    ///
    /// # Errors
    /// [`MarketplaceError::Gone`] when there is no such listing.
    async fn update(
        &self,
        key: IdempotencyKey,
        id: &str,
        listing: Listing<'_>,
    ) -> Result<Answered<()>, MarketplaceError>;

    /// Removes a listing. Succeeds also if it does not exist.
    async fn unpublish(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError>;

    /// Moves a listing to the first place.
    async fn bump(&self, key: IdempotencyKey, id: &str) -> Result<Answered<()>, MarketplaceError>;

    /// Gives a listing pole position until the given time.
    async fn boost(&self, key: IdempotencyKey, id: &str, until: Timestamp) -> Result<Answered<()>, MarketplaceError>;

    /// The visible listing of a dealer with this plate (upper case without spaces).
    async fn find_by_plate(
        &self,
        dealer_code: &str,
        plate: &str,
    ) -> Result<Answered<Option<PlateListing>>, MarketplaceError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let key = IdempotencyKey { request: Uuid::from_u128(7), action: Action::Bump, market: Market::Secondary };
        assert_eq!(key.to_string().parse(), Ok(key));
        for text in ["", "x", "7:bump:secondary", &format!("{key}:1"), &key.to_string().replace("bump", "jump")] {
            assert_eq!(text.parse::<IdempotencyKey>(), Err(InvalidIdempotencyKey), "{text}");
        }
    }
}
