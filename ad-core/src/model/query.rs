//! Queries for ads and log entries.

use uuid::Uuid;

use super::{
    ad::{self, AdState, AdStatus},
    log::{Action, ActionState},
    market::Market,
    names::names,
    time::Timestamp,
};

/// Number of rows of a page if the client sends no `limit`.
pub const DEFAULT_LIMIT: u32 = 50;
/// Maximum number of rows of a page.
pub const MAX_LIMIT: u32 = 500;

names! {
    /// The order of ads; equal ones are in the order of creation.
    pub enum AdOrder {
        /// By the time when the ad was created.
        Created = "created",
        /// By the time of the last change.
        Updated = "updated",
        /// By the client's reference, as text.
        SourceId = "source_id",
        /// By the quality score. Ads that have none yet come first.
        QualityScore = "quality_score",
        /// By the price that [`AdFilter::Price`] compares. Ads without one come first.
        Price = "amount",
    }
}

/// One condition on ads ('List parameters').
#[derive(Debug, Clone, PartialEq)]
pub enum AdFilter {
    /// The internal id is this.
    Id(Uuid),
    /// The state is this; that of hidden ads is `created`.
    State(AdState),
    /// The client's reference is one of these.
    SourceId(Vec<String>),
    /// The client's reference contains this, in any case.
    SourceIdContains(String),
    /// The dealer has this code.
    DealerCode(String),
    /// The status is one of these.
    Status(Vec<AdStatus>),
    /// The category is one of these.
    CategoryId(Vec<u16>),
    /// Title, a line feed and body, as one text, contain this, in any case.
    Search(String),
    /// All words of this text occur in title, plate, VIN or ids, as the module `words` compares them. A store may be a second behind.
    Words(String),
    /// The listing id on the primary marketplace is one of these.
    MarketplaceAdId(Vec<String>),
    /// The plate, in upper case without spaces, of a registered vehicle.
    RegistrationNumber(String),
    /// A bound on the quality score. An ad stored before there was a score passes none until the score is computed.
    QualityScore(Bound, u8),
    /// The content has this value as `category_fields.brand`.
    Brand(String),
    /// A bound on the price that buyers pay, in whole currency units, whatever the currency is: that of type `reduced` or, without one,
    /// that of type `list`. An ad without such a price passes none.
    Price(Bound, u32),
    /// A bound on the number of `image_urls`.
    ImageCount(Bound, u32),
    /// Whether the latest attempt to store the images has left some out.
    FailedImages(bool),
    /// A bound on creation time or last change.
    Time(AdOrder, Bound, Timestamp),
}

/// A side of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `__gt`: greater than the value.
    Gt,
    /// `__gte`: the value or greater.
    Gte,
    /// `__lt`: less than the value.
    Lt,
    /// `__lte`: the value or less.
    Lte,
}

/// A query for ads. The default is the first page of all ads, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct AdQuery {
    /// Conditions, all of which must be true.
    pub filters: Vec<AdFilter>,
    /// The property that the ads are sorted by.
    pub order: AdOrder,
    /// Whether the order is descending.
    pub descending: bool,
    /// Limit and offset.
    pub page: Page,
    /// Only these fields of each ad.
    pub fields: Option<Vec<&'static str>>,
    /// What to return of each ad besides its fields.
    pub included: Included,
}

/// What an answer shows of an ad besides its fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the parameter")]
pub struct Included {
    /// `log`: the 100 latest log entries.
    pub log: bool,
    /// `status`: whether the ad is live.
    pub status: bool,
    /// `quality`: score and number of findings.
    pub quality: bool,
    /// `warnings`: what is allowed but probably a mistake in a write.
    pub warnings: bool,
}

/// A query for log entries. The default is all of them, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogQuery {
    /// The dealer, where a group's token must say which of several.
    pub dealer_code: Option<String>,
    /// Only entries of this action.
    pub action: Option<Action>,
    /// Only entries in this state.
    pub state: Option<ActionState>,
    /// Only entries of this API request.
    pub request_id: Option<Uuid>,
    /// Whether the newest come first.
    pub descending: bool,
    /// Limit and offset.
    pub page: Page,
}

/// A page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Maximum number of rows, 1 to [`MAX_LIMIT`].
    pub limit: u32,
    /// Number of rows to skip.
    pub offset: u64,
}

impl Default for Page {
    fn default() -> Self {
        Self { limit: DEFAULT_LIMIT, offset: 0 }
    }
}

/// Marketplaces that a bump excludes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exclusions {
    /// `exclude_primary`: the primary marketplace.
    pub primary: bool,
    /// `exclude_secondary`: the secondary marketplace.
    pub secondary: bool,
}

impl Exclusions {
    /// Whether a marketplace is left out.
    pub fn has(self, market: Market) -> bool {
        match market {
            Market::Primary => self.primary,
            Market::Secondary => self.secondary,
        }
    }
}

impl Default for AdQuery {
    fn default() -> Self {
        let filters = Vec::new();
        Self {
            filters,
            order: AdOrder::Created,
            descending: true,
            page: Page::default(),
            fields: None,
            included: Included::default(),
        }
    }
}

impl AdQuery {
    /// All ads that meet these conditions, in the largest pages and oldest first: an ad that is created while the pages are read
    /// moves none to another page.
    pub fn oldest_first(filters: impl Into<Vec<AdFilter>>) -> Self {
        let page = Page { limit: MAX_LIMIT, offset: 0 };
        Self { filters: filters.into(), descending: false, page, ..Self::default() }
    }

    /// Whether it asks for any field of the content, or for what follows from it.
    pub fn asks_for_content(&self) -> bool {
        self.included.quality || self.asks_for(ad::is_content)
    }

    /// Whether it asks for the stored images, or for what follows from them.
    pub fn asks_for_images(&self) -> bool {
        self.included.quality || self.asks_for(|field| field == "image_refs")
    }

    fn asks_for(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.fields.as_ref().is_none_or(|fields| fields.iter().any(|field| wanted(field)))
    }
}
