//! The status of an ad: whether it is live, and if not, why and who can change that (extensions E6).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    ad::{AdState, AdStatus},
    log::Action,
    market::Market,
    names::names,
    request::{ChannelFailure, FailedImage, ImageFlaw},
    request_status::RequestStatus,
    time::Timestamp,
};
use crate::violation::Code;

names! {
    /// The status of an ad on one marketplace.
    pub enum ChannelStatus {
        /// The marketplace lists the ad as it is.
        Live = "live",
        /// The marketplace lists the ad, but the latest update of the listing failed.
        Outdated = "outdated",
        /// The marketplace does not list the ad, and nothing has failed.
        NotListed = "not_listed",
        /// A request of the ad is being executed or is in the queue.
        Processing = "processing",
        /// An attempt has failed, and the next one is due or under way.
        Waiting = "waiting",
        /// The marketplace does not list the ad, because publishing it failed.
        Failed = "failed",
        /// As `waiting`, and the latest attempt sent no call, because the circuit breaker of the marketplace was open.
        Paused = "paused",
    }

    /// The status of an image of an ad.
    pub enum ImageStatus {
        /// It is stored, and shown with the ad.
        Stored = "stored",
        /// It has not been fetched yet.
        Waiting = "waiting",
        /// It could not be stored, and only a retry or an update fetches it again.
        Failed = "failed",
    }

    /// Who can change the status of a channel.
    pub enum WhoActs {
        /// Nobody has to do anything.
        Nobody = "nobody",
        /// The dealer, or the dealer's integrator.
        Dealer = "dealer",
        /// Whoever runs the host of the images.
        ImageHost = "image_host",
        /// The operator of the marketplace.
        Marketplace = "marketplace",
        /// The operator of this service.
        Operator = "operator",
    }
}

/// The status of an ad, with its reasons. It serialises as the API shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatusReport {
    /// The client's reference of the ad.
    pub source_id: String,
    /// The state of the ad.
    pub state: AdState,
    /// The status in one word.
    pub status: AdStatus,
    /// Since when it has been this.
    pub since: Timestamp,
    /// The status in a sentence.
    pub text: String,
    /// The marketplaces of the ad's category.
    pub channels: Vec<ChannelReport>,
    /// The images of the ad, in their order.
    pub images: Vec<ImageReport>,
    /// The ad's unfinished requests, in the order in which they are executed.
    pub unfinished: Vec<RequestStatus>,
    /// End of the pole position that is active or requested.
    pub pole_position_until: Option<Timestamp>,
    /// When its promotions ended, and when schedules promote it next. Earlier versions of the service do not say it.
    #[serde(default)]
    pub promotions: AdPromotions,
}

/// The promotions of an ad, by kind. It serialises as the API shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdPromotions {
    /// Bumps.
    pub bump: PromotionTimes,
    /// Pole positions.
    pub pole_position: PromotionTimes,
}

/// When promotions of a kind ended and are due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromotionTimes {
    /// When the latest one ended: a bump when it was done, a pole position after its days. `None` if none has ended.
    pub ended: Option<Timestamp>,
    /// When a schedule that selects the ad runs next; `None` if none does.
    pub next: Option<Timestamp>,
    /// How many ads that run takes at most, so that it may leave out this one; `None` if it is for this ad alone.
    #[serde(skip)]
    pub most: Option<u32>,
}

/// The status of an ad on one marketplace, with its reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChannelReport {
    /// The marketplace of the channel.
    pub marketplace: Market,
    /// The status in one word.
    pub status: ChannelStatus,
    /// The id of the ad's listing. It is kept while the ad is not listed, for when the ad is published again.
    pub listing_id: Option<String>,
    /// Since when it has been this.
    pub since: Timestamp,
    /// Why the latest attempt failed.
    pub code: Option<Code>,
    /// The status in a sentence, with the reason of a failure.
    pub text: String,
    /// The reason of a failure alone.
    #[serde(skip)]
    pub reason: Option<String>,
    /// Who can change the status.
    pub who_acts: WhoActs,
    /// What they can do; `None` if nobody has to do anything.
    pub what_to_do: Option<String>,
    /// Number of failed attempts at the action under way.
    pub attempts: u32,
    /// When the next attempt is due, while the ad waits for it.
    pub next_attempt: Option<Timestamp>,
}

/// The status of an image, with its reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageReport {
    /// Address as the client sent it.
    pub url: String,
    /// The status in one word.
    pub status: ImageStatus,
    /// Why the latest attempt to fetch or store it failed.
    pub code: Option<Code>,
    /// What is wrong with it, where the reason is one of its host or its file.
    #[serde(skip)]
    pub flaw: Option<ImageFlaw>,
    /// The status in a sentence, with the reason of a failure.
    pub text: String,
    /// Number of failed attempts to fetch or store it.
    pub attempts: u32,
}

/// The status of an ad and of its channels in words, as stores keep it for lists and counts. The default is that of an ad with a
/// request under way and without channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatusWords {
    /// The status of the ad.
    pub status: AdStatus,
    /// The status on the primary marketplace; `None` if it is not one of the ad's category.
    pub primary: Option<ChannelStatus>,
    /// The status on the secondary marketplace; `None` if it is not one of the ad's category.
    pub secondary: Option<ChannelStatus>,
    /// The code of the first channel that has one, or else of a missing image.
    pub failure: Option<Code>,
}

impl Default for StatusWords {
    fn default() -> Self {
        Self { status: AdStatus::Processing, primary: None, secondary: None, failure: None }
    }
}

/// Stands for a missing word.
const NONE: &str = "-";

impl StatusWords {
    /// The words for an ad of these marketplaces whose request is under way without a failed attempt.
    pub fn processing(markets: &[Market]) -> Self {
        let of = |market| markets.contains(&market).then_some(ChannelStatus::Processing);
        Self { primary: of(Market::Primary), secondary: of(Market::Secondary), ..Self::default() }
    }

    /// The words for the same ad once a request is under way without a failed attempt.
    #[must_use]
    pub fn under_way(&self) -> Self {
        let processing = |channel: Option<ChannelStatus>| channel.map(|_| ChannelStatus::Processing);
        Self { primary: processing(self.primary), secondary: processing(self.secondary), ..Self::default() }
    }

    /// Whether the ad waits for a free slot, and has no unfinished request.
    pub fn waits_for_slot(&self) -> bool {
        self.status == AdStatus::Waiting && self.failure == Some(Code::SlotsExceeded)
    }

    /// Whether a request of the ad is unfinished.
    pub fn is_under_way(&self) -> bool {
        self.status.is_under_way() && !self.waits_for_slot()
    }

    /// The status on a marketplace.
    pub fn channel(&self, market: Market) -> Option<ChannelStatus> {
        match market {
            Market::Primary => self.primary,
            Market::Secondary => self.secondary,
        }
    }

    /// The words of the channels and the code, as one text for a store: `live failed marketplace_refused`.
    pub fn channels(&self) -> String {
        let word = |word: Option<ChannelStatus>| word.map_or(NONE, ChannelStatus::name);
        format!("{} {} {}", word(self.primary), word(self.secondary), self.failure.map_or(NONE, Code::name))
    }

    /// Reads what [`channels`](Self::channels) writes; `None` for any other text.
    pub fn from_store(status: AdStatus, channels: &str) -> Option<Self> {
        let word = |word: &str| match word {
            NONE => Some(None),
            word => ChannelStatus::from_name(word).map(Some),
        };
        let mut words = channels.split(' ');
        let (primary, secondary, failure) = (words.next()?, words.next()?, words.next()?);
        let failure = (failure != NONE).then(|| Code::from_name(failure));
        Some(Self { status, primary: word(primary)?, secondary: word(secondary)?, failure })
    }
}

/// What the actions that ended have left on the marketplaces and of the images: the facts behind the status of an ad that has no
/// request under way. Each action changes it when it ends, in the same commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Publication {
    /// The marketplaces on which an action has ended.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<Market, PublishedChannel>,
    /// The images that the latest `handle_media` could not fetch or store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_images: Vec<FailedImage>,
    /// When a marketplace has confirmed the latest bump; `None` if none has, or only one before the service kept it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bumped: Option<Timestamp>,
}

/// What the actions that ended have left on one marketplace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedChannel {
    /// Whether the marketplace lists the ad.
    pub listed: bool,
    /// Since when that has been so, or since when the latest action failed.
    pub since: Timestamp,
    /// Why the latest action failed; `None` if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ChannelFailure>,
}

impl Publication {
    /// Whether a marketplace lists the ad.
    pub fn is_listed(&self) -> bool {
        self.channels.values().any(|channel| channel.listed)
    }

    /// Whether the ad was not published because no slot was free.
    pub fn waits_for_slot(&self) -> bool {
        let mut failures = self.channels.values().filter_map(|channel| channel.failure.as_ref());
        !self.is_listed() && failures.any(|failure| failure.code == Code::SlotsExceeded)
    }

    /// Records the end of an action on marketplaces: on those that it reached, and on the others why it did not.
    pub(crate) fn end(
        &mut self,
        action: Action,
        markets: &[Market],
        reached: &[Market],
        mut failure: impl FnMut(Market) -> ChannelFailure,
        at: Timestamp,
    ) {
        if !action.changes_listings() {
            return;
        }
        for market in markets {
            let before = self.channels.get(market);
            let was_listed = before.is_some_and(|channel| channel.listed);
            let (listed, failure) = if reached.contains(market) {
                (action == Action::Publish, None)
            } else {
                (was_listed, Some(failure(*market)))
            };
            let is_same =
                before.filter(|before| before.listed == listed && before.failure.is_some() == failure.is_some());
            let since = is_same.map_or(at, |before| before.since);
            self.channels.insert(*market, PublishedChannel { listed, since, failure });
        }
    }
}

/// The number of ads by status (`GET /v4/summary`). It serialises as the API shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// All ads, deleted ones included.
    pub ads: u64,
    /// Ads by status; statuses without ads are absent.
    pub by_status: BTreeMap<AdStatus, u64>,
    /// By vehicle type, or by the number of a category that has none, and status.
    pub by_vehicle_type: BTreeMap<String, BTreeMap<AdStatus, u64>>,
    /// By marketplace and the status there.
    pub by_channel: BTreeMap<Market, BTreeMap<ChannelStatus, u64>>,
    /// Ads with a failure, by its code: of each ad that of its first channel with one, or else of a missing image.
    pub failures: BTreeMap<Code, u64>,
}

/// Ads of a scope with the same words and category, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatusCount {
    /// Status of the ad and of its channels.
    pub words: StatusWords,
    /// Number of the category ('Category identifiers').
    pub category_id: u16,
    /// Number of ads with these words and this category.
    pub ads: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_a_store() {
        let words = StatusWords {
            status: AdStatus::PartlyLive,
            primary: Some(ChannelStatus::Live),
            secondary: Some(ChannelStatus::Failed),
            failure: Some(Code::MarketplaceRefused),
        };
        assert_eq!(words.channels(), "live failed marketplace_refused");
        for words in [words, StatusWords::default(), StatusWords::processing(&[Market::Primary])] {
            assert_eq!(StatusWords::from_store(words.status, &words.channels()), Some(words));
        }
        for wrong in ["", "live", "live -", "sold - -"] {
            assert_eq!(StatusWords::from_store(AdStatus::Live, wrong), None, "{wrong}");
        }
    }
}
