//! Accepted requests, events, and whether ads are live.

use std::{collections::BTreeMap, num::NonZeroU64};

use ad_core::{
    model::{self, Action, ActionState, AdState, Amount, Market, RequestState, Timestamp, WaitingFor, WhoActs},
    violation::Code,
};
use uuid::Uuid;

use super::{Of, ads::LogMessage, answers};

/// Numbers of ads by something.
type AdCounts = BTreeMap<String, Of<NonZeroU64>>;

answers! {
    RequestStatus = model::RequestStatus {
        request_id: Uuid => "The `X-Request-Id` of its answer",
        source_id: String => "Its ad",
        dealer_code: String => "Its ad's dealer",
        plan_id: Option<Uuid> => "The stock plan that it is of; `null` if it is of none",
        accepted: Of<Timestamp>,
        finished: Option<Of<Timestamp>>,
        state: Of<RequestState> => "`error` if the request is finished and one of its actions has failed",
        attempts: u32 => "Failed attempts at the action under way",
        next_attempt: Option<Of<Timestamp>>,
        waiting_for: Option<Of<WaitingFor>> => "What a waiting request waits for: an earlier request of the ad, an image host, the service's image store, or a marketplace",
        actions: Vec<ActionStatus> => "The actions that have begun, in this order, each with its latest log entry",
    }

    ActionStatus = model::ActionStatus {
        action: Of<Action>,
        state: Of<ActionState>,
        created: Of<Timestamp>,
        code: Option<Of<Code>> => "Why the action failed, or why its latest attempt did while the next one is due: one of the codes of `/docs/errors/`",
        external_message: Of<LogMessage> => "Status or error details: a text, or an object with `message` and details",
    }

    AdStatus = model::StatusReport {
        source_id: String,
        state: Of<AdState>,
        status: Of<model::AdStatus>,
        since: Of<Timestamp>,
        text: String => "The status in a sentence",
        channels: Vec<ChannelStatus> => "The marketplaces of the ad's category",
        images: Vec<ImageStatus> => "The ad's images, in their order",
        unfinished: Vec<RequestStatus> => "The ad's unfinished requests, in their order",
        pole_position_until: Option<Of<Timestamp>>,
        promotions: AdPromotions => "The ad's promotions by kind",
    }

    AdPromotions = model::AdPromotions {
        bump: PromotionTimes,
        pole_position: PromotionTimes,
    }

    PromotionTimes = model::PromotionTimes [most] {
        ended: Option<Of<Timestamp>> => "When the latest one ended: a bump when it was done, a pole position after its days; `null` if none has ended",
        next: Option<Of<Timestamp>> => "When a schedule that selects the ad runs next; `null` if none does",
    }

    ChannelStatus = model::ChannelReport [reason] {
        marketplace: Of<Market>,
        status: Of<model::ChannelStatus>,
        listing_id: Option<String> => "Id of the listing; kept while the ad is not listed",
        since: Of<Timestamp>,
        code: Option<Of<Code>> => "Why the latest attempt failed, one of the codes of `/docs/errors/`",
        text: String => "The status in a sentence, with the reason of a failure",
        who_acts: Of<WhoActs> => "Who can change the status",
        what_to_do: Option<String> => "What they can do; `null` if nobody has to do anything",
        attempts: u32 => "Attempts that failed",
        next_attempt: Option<Of<Timestamp>>,
    }

    ImageStatus = model::ImageReport [flaw] {
        url: String,
        status: Of<model::ImageStatus>,
        code: Option<Of<Code>>,
        text: String,
        attempts: u32 => "Attempts that failed",
    }

    Summary = model::Summary {
        ads: u64 => "All ads, deleted ones included",
        by_status: AdCounts,
        by_vehicle_type: BTreeMap<String, AdCounts> => "By vehicle type, or by the number of a category that has none",
        by_channel: BTreeMap<String, AdCounts> => "By marketplace",
        failures: AdCounts => "By code: of each ad that of its first channel with one, or else of a missing image",
    }

    EventPage {
        events: Vec<Event>,
        cursor: String => "Position after this page, for `after`",
        has_more: bool => "Whether there may be more events now",
    }

    // As `EventView` writes it.
    Event {
        id: String => "Unique, and the same at every reading",
        cursor: String => "Position after this event, for `after`",
        #[oai(rename = "type")] event_type: String => "`ad.{action}.{state}`",
        timestamp: Of<Timestamp>,
        dealer_code: String,
        source_id: String,
        ad_id: Uuid,
        category_id: u16,
        request_id: Uuid => "The `X-Request-Id` of the request that caused it",
        #[oai(validator(minimum(value = "1")))] sequence: i64 => "Number of the entry in the log of its ad, from 1 without gaps",
        action: Of<Action>,
        state: Of<ActionState>,
        code: Option<Of<Code>> => "Why the action failed, one of the codes of `/docs/errors/`; `null` unless the state is `error`",
        message: String,
        marketplace_ad_id: Option<String> => "Id on the primary marketplace at the time of reading",
        offer_id: Option<String> => "Id on the secondary marketplace at the time of reading",
        plan_id: Option<Uuid> => "The stock plan that the request is of; `null` if it is of none",
        cost: Option<PromotionCost> => "What a confirmed promotion cost on all marketplaces; only there for one that was charged",
    }

    PromotionCost = model::PromotionCost {
        amount: Of<Amount>,
        currency: String => "ISO 4217 code of the amount",
    }
}
