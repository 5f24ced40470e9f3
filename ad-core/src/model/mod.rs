//! What the other modules pass to each other: ads and what is stored of them. Nothing here validates or acts.
//!
//! | Types | What they are |
//! |---|---|
//! | [`Ad`], [`Content`], [`ImageRef`] | an ad as its dealer wrote it and as the API shows it |
//! | [`LogEntry`], [`Action`], [`ActionState`] | the processing log of an ad |
//! | [`Request`], [`Plan`], [`Progress`], [`Leftover`] | an accepted request, and what requests left undone |
//! | [`RequestStatus`], [`StoredRequest`] | what has become of an accepted request |
//! | [`Event`], [`EventPosition`], [`EventQuery`] | log entries of many ads as one sequence |
//! | [`DeliveryState`], [`DisabledReason`], [`WebhookProblem`] | the words of webhooks |
//! | [`AdStatus`], [`StatusReport`], [`StatusWords`], [`Publication`], [`Summary`] | whether an ad is live, and why not |
//! | [`Quality`], [`QualitySummary`] | how good an ad is |
//! | [`PriceHistory`], [`EarlierPrices`] | the prices of an ad over time |
//! | [`RecordedChange`], [`RevisionEntry`], [`PastAd`] | earlier contents of an ad |
//! | [`StockPlan`], [`PlannedChange`], [`ChangeKind`] | the desired stock of a dealer, compared with its ads |
//! | [`ContentChange`], [`FieldChange`] | what a request has changed about an ad |
//! | [`Photo`], [`PhotoFacts`] | what the pixels of a stored image say |
//! | [`AdTag`] | the state of an ad that an answer shows |
//! | [`AdQuery`], [`Included`], [`LogQuery`], [`Page`] | queries for ads and log entries |
//! | [`Amount`], [`Tariff`], [`Charge`] | what promotions cost, and what a dealer may spend |
//! | [`Promotion`], [`PromotionRules`], [`PromotionRun`] | promotions by the clock |
//! | [`Dealer`], [`Market`], [`Timestamp`] | dealers, marketplaces, points in time |

mod account;
mod ad;
mod call;
mod change;
mod content;
mod dealer;
mod epoch;
mod event;
mod log;
mod market;
pub(crate) mod names;
mod photo;
mod plan;
mod price;
mod promotion;
mod quality;
mod query;
mod request;
mod request_status;
mod revision;
mod status;
mod tag;
mod time;
mod webhook;
mod written;

pub use account::{
    Account, Amount, Budget, Charge, ChargeCounts, ChargeQuery, ChargeState, MOST_AMOUNT, Month, MonthlyCharges,
    NotAMonth, NotAnAmount, PromotionKind, PromotionPrices, Slots, Tariff,
};
pub(crate) use ad::absent;
pub use ad::{Ad, AdState, AdStatus, AdView, ApiVersion, ImageRef, ImageSource, ImageSources, VIEW_FIELDS, Validators};
pub use call::{CallAction, MarketplaceCall};
pub use change::{ContentChange, FieldChange};
pub use content::{ClearedMileage, Content, plate};
pub(crate) use content::{get, json_bytes, object_bytes_at_most, split_path};
pub use dealer::{Address, DEFAULT_CURRENCY, DEFAULT_ZONE, Dealer};
pub(crate) use epoch::EPOCH_SHIFT;
pub use event::{
    Event, EventId, EventPage, EventPosition, EventQuery, EventTypes, NotAnEventId, PromotionCost, UnknownEventType,
};
pub(crate) use log::short_text;
pub use log::{Action, ActionState, LATEST_ENTRIES, LogEntry, MOST_MESSAGE_BYTES, PlateMatch, short_address};
pub use market::Market;
pub use photo::{NEAR_COLOR, Photo, PhotoFacts, RENDITION_WIDTHS, Undecodable};
pub use plan::{
    ChangeCounts, ChangeDetails, ChangeError, ChangeKind, ChangeOutcome, ChangeQuery, Guard, MOST_UNFINISHED_PLANS,
    MissingAds, OpenChange, OutcomeCounts, PlanError, PlanOptions, PlanState, PlannedChange, PlannedDealer,
    ScoreChange, StockPlan,
};
pub use price::{AppliedPrice, EarlierPrices, MOST_EARLIER_PRICES, Price, PriceHistory, PricePeriod, Reduction};
pub(crate) use promotion::sum;
pub use promotion::{
    AdsOrder, DEFAULT_PER_RUN, LastDay, MOST_AGE_DAYS, MOST_AT_ONCE, MOST_CANDIDATES, MOST_PER_RUN, MOST_PROMOTIONS,
    MOST_RUNS, NotADay, NotATimeOfDay, NotAnOrder, PreviewedAd, PromotedAd, Promotion, PromotionPreview,
    PromotionRules, PromotionRun, RunAd, RunOutcome, SkippedAd, TimeOfDay, Weekday,
};
pub use quality::{
    ContentScore, Finding, GoalStatus, Level, Quality, QualitySummary, RegisteredVehicle, SameVehicle, Severity,
};
pub use query::{AdFilter, AdOrder, AdQuery, Bound, DEFAULT_LIMIT, Exclusions, Included, LogQuery, MAX_LIMIT, Page};
pub use request::{
    ChannelFailure, FailedImage, ImageFlaw, Leftover, MOST_UNFINISHED, POLE_POSITION, Plan, Progress, Request,
    RequestOrigin, StoredImage, WaitingFor,
};
pub use request_status::{ActionStatus, QueuedRequest, REQUEST_ENTRIES, RequestState, RequestStatus, StoredRequest};
pub use revision::{
    AskedBy, Creation, MOST_REVISIONS, PastAd, RecordedChange, Replaced, RevisionEntry, RevisionOrigin, ValueChange,
    Via,
};
pub use status::{
    AdPromotions, ChannelReport, ChannelStatus, ImageReport, ImageStatus, PromotionTimes, Publication,
    PublishedChannel, StatusCount, StatusReport, StatusWords, Summary, WhoActs,
};
pub use tag::AdTag;
pub use time::{NotATime, Timestamp, retry_after};
pub use webhook::{DeliveryState, DisabledReason, WebhookProblem};
