//! The parameters of each operation.

use ad_core::model::{
    Action, ActionState, AdState, AdStatus, ChangeKind, ChangeOutcome, ChargeState, DeliveryState, MAX_LIMIT,
    MissingAds, PromotionKind, VIEW_FIELDS,
};

use super::{MAX_EVENTS, MAX_TERM, MAX_TEXT, MAX_WAIT};

/// A query parameter, for parsing and for documentation.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Name in the query string, such as `source_id__in`.
    pub name: &'static str,
    /// The values that it takes.
    pub takes: Takes,
    /// Text for the OpenAPI document and errors.
    pub doc: &'static str,
}

/// The values that a query parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Text of at most this many characters.
    Text(usize),
    /// Texts separated by commas, at most [`MAX_ITEMS`](super::MAX_ITEMS) of at most [`MAX_TEXT`] characters.
    Texts,
    /// A UUID, such as the id of an ad.
    Uuid,
    /// A whole number within inclusive bounds.
    Number(u64, u64),
    /// Whole numbers within inclusive bounds, separated by commas, at most [`MAX_ITEMS`](super::MAX_ITEMS).
    Numbers(u64, u64),
    /// A time in UTC (decision 8).
    Time,
    /// Exactly one of these values.
    OneOf(&'static [&'static str]),
    /// Some of these, separated by commas.
    SomeOf(&'static [&'static str]),
    /// `true` or `false`, or 1 or 0.
    Boolean,
}

impl Takes {
    /// Whether the parameter may be repeated, which adds items.
    pub(super) const fn is_list(self) -> bool {
        matches!(self, Self::Texts | Self::Numbers(..) | Self::SomeOf(_))
    }
}

const fn takes(name: &'static str, takes: Takes, doc: &'static str) -> Parameter {
    Parameter { name, takes, doc }
}

const LIMIT: Parameter = takes("limit", Takes::Number(1, MAX_LIMIT as u64), "Page size, 1 to 500; 50 if absent");
const OFFSET: Parameter = takes("offset", Takes::Number(0, i64::MAX as u64), "Rows to skip; 0 if absent");

/// Largest number in a bound on the price.
pub(super) const MOST_PRICE: u32 = 1_000_000_000;
/// Largest number in a bound on the number of images.
pub(super) const MOST_IMAGES: u32 = 1000;

const FIELDS: Parameter = takes("fields", Takes::SomeOf(VIEW_FIELDS), "Only these fields, separated by commas");
/// Orders of ads: by the name of an [`AdOrder`], descending with a hyphen before it.
pub(super) const ORDERINGS: &[&str] = &[
    "-created",
    "created",
    "-updated",
    "updated",
    "-source_id",
    "source_id",
    "-quality_score",
    "quality_score",
    "-amount",
    "amount",
];
pub(super) const LOG_ORDERINGS: &[&str] = &["-created", "created"];
/// What `include` adds to an ad that is read.
const INCLUDED: &[&str] = &["log", "status", "quality"];
/// What it adds to the answer of a write.
const INCLUDE: Parameter = takes(
    "include",
    Takes::SomeOf(&["log", "quality", "warnings"]),
    "Extra fields of the ad in the answer, separated by commas: `log`, the 100 latest entries; `quality`, how good it is; `warnings`, \
     what is allowed but probably a mistake",
);

/// Parameters of a list of ads.
#[rustfmt::skip]
pub const AD_PARAMETERS: &[Parameter] = &[
    takes("id", Takes::Uuid, "Internal ad id"),
    takes("state", Takes::OneOf(AdState::NAMES), "State of the ad"),
    takes("status", Takes::SomeOf(AdStatus::NAMES), "One of these statuses, separated by commas: whether the ad is live"),
    takes("source_id", Takes::Text(MAX_TEXT), "Exactly this source id"),
    takes("source_id__in", Takes::Texts, "One of these source ids"),
    takes("source_id__icontains", Takes::Text(MAX_TERM), "Part of the source id, in any case"),
    takes("dealer_code", Takes::Text(MAX_TEXT), "Ads of this dealer"),
    takes("category_id", Takes::Number(0, u16::MAX as u64), "Exactly this category"),
    takes("category_id__in", Takes::Numbers(0, u16::MAX as u64), "One of these categories"),
    takes("search", Takes::Text(MAX_TERM), "Text in title or body, in any case"),
    takes("q", Takes::Text(MAX_TERM), "Words in any order, at most 10, that title, plate, VIN, `source_id`, `marketplace_ad_id` or `offer_id` have or begin with; ignores case and accents"),
    takes("marketplace_ad_id", Takes::Text(MAX_TEXT), "Primary marketplace ad id"),
    takes("marketplace_ad_id__in", Takes::Texts, "One of these primary marketplace ad ids"),
    takes("registration_number", Takes::Text(MAX_TEXT), "Licence plate, in any case; registered vehicles only"),
    takes("quality_score__lt", Takes::Number(0, 100), "Quality score below this"),
    takes("quality_score__gte", Takes::Number(0, 100), "Quality score at or above this"),
    takes("brand", Takes::Text(MAX_TEXT), "Exactly this `category_fields.brand`"),
    takes("price__lt", Takes::Number(0, MOST_PRICE as u64), "Price below this: the `reduced` one, or else the `list` one"),
    takes("price__gte", Takes::Number(0, MOST_PRICE as u64), "Price at or above this"),
    takes("image_count__lt", Takes::Number(0, MOST_IMAGES as u64), "Fewer `image_urls` than this"),
    takes("image_count__gte", Takes::Number(0, MOST_IMAGES as u64), "At least so many `image_urls`"),
    takes("failed_images", Takes::Boolean, "Whether some images failed"),
    takes("created__gt", Takes::Time, "Created after this time"),
    takes("created__gte", Takes::Time, "Created at or after this time"),
    takes("created__lt", Takes::Time, "Created before this time"),
    takes("created__lte", Takes::Time, "Created at or before this time"),
    takes("updated__gt", Takes::Time, "Updated after this time"),
    takes("updated__gte", Takes::Time, "Updated at or after this time"),
    takes("updated__lt", Takes::Time, "Updated before this time"),
    takes("updated__lte", Takes::Time, "Updated at or before this time"),
    LIMIT,
    OFFSET,
    takes("ordering", Takes::OneOf(ORDERINGS), "Order; `-created` if absent"),
    FIELDS,
    takes("include", Takes::SomeOf(INCLUDED), "Extra fields, separated by commas: `log`, the 100 latest entries; `status`, whether the ad is live; `quality`, its score and number of findings"),
];

/// Parameters of a selection of ads: those of a list that say which ads it has.
pub const SELECT_PARAMETERS: &[Parameter] = AD_PARAMETERS.split_at(AD_PARAMETERS.len() - 5).0;

const DEALER_CODE: Parameter = takes(
    "dealer_code",
    Takes::Text(MAX_TEXT),
    "The dealer, if several dealers of a token's group have this source id",
);

/// Parameters of the counts of ads by status.
pub const SUMMARY_PARAMETERS: &[Parameter] = &[takes("dealer_code", Takes::Text(MAX_TEXT), "Only ads of this dealer")];

/// Parameters of a request about one ad.
pub const TARGET_PARAMETERS: &[Parameter] = &[DEALER_CODE];

/// Parameters of a read of one ad.
#[rustfmt::skip]
pub const READ_PARAMETERS: &[Parameter] = &[
    DEALER_CODE,
    FIELDS,
    takes("include", Takes::SomeOf(INCLUDED), "Extra fields beside `fields`, separated by commas: `log`, the 100 latest entries; `status`, whether the ad is live; `quality`, how good it is. Without `fields`, an ad comes with its log anyway"),
    takes("at", Takes::Time, "The ad as it was at this time, from the record; without log, and not with `include`"),
];

/// Parameters of a read of an ad as it was.
pub const REVISION_PARAMETERS: &[Parameter] = &[DEALER_CODE, FIELDS];

/// Parameters of a list of the revisions of an ad, or of the calls of marketplaces about it.
pub const RECORD_PARAMETERS: &[Parameter] = &[DEALER_CODE, LIMIT, OFFSET];

/// Parameters of a new ad.
pub const CREATE_PARAMETERS: &[Parameter] = &[INCLUDE];

/// Parameters of a write on one ad.
pub const WRITE_PARAMETERS: &[Parameter] = &[DEALER_CODE, INCLUDE];

/// Parameters of `POST …/bump` ('Endpoints').
#[rustfmt::skip]
pub const BUMP_PARAMETERS: &[Parameter] = &[
    takes("exclude_primary", Takes::Boolean, "Leave out the primary marketplace; registered vehicles only"),
    takes("exclude_secondary", Takes::Boolean, "Leave out the secondary marketplace; registered vehicles only"),
    DEALER_CODE,
    INCLUDE,
];

/// Parameters of `GET …/log` ('Log parameters').
#[rustfmt::skip]
pub const LOG_PARAMETERS: &[Parameter] = &[
    DEALER_CODE,
    takes("action", Takes::OneOf(Action::NAMES), "Only this action"),
    takes("state", Takes::OneOf(ActionState::NAMES), "Only this state"),
    takes("request_id", Takes::Uuid, "Only entries of one API call"),
    LIMIT,
    OFFSET,
    takes("ordering", Takes::OneOf(LOG_ORDERINGS), "Order; `created` if absent: oldest first"),
];

/// Parameters of a list without filters.
pub const PAGE_PARAMETERS: &[Parameter] = &[LIMIT, OFFSET];

/// Parameters of a list of deliveries to a webhook.
pub const DELIVERY_PARAMETERS: &[Parameter] =
    &[takes("state", Takes::OneOf(DeliveryState::NAMES), "State of the delivery"), LIMIT, OFFSET];

/// Parameters of a new stock plan (extensions E8).
#[rustfmt::skip]
pub const PLAN_PARAMETERS: &[Parameter] = &[
    takes("missing", Takes::OneOf(MissingAds::NAMES), "What becomes of ads that the stock does not name; `keep` if absent"),
    takes("vehicle_types", Takes::Texts, "Only ads of these vehicle types count as missing, separated by commas; all if absent"),
    takes("dealer_code", Takes::Text(MAX_TEXT), "The dealer whose stock it is, for a token of a group. Without it, each payload has a `dealer_code`"),
    takes("most_removals", Takes::Number(0, u32::MAX as u64), "Maximum number of ads that are hidden or deleted without `allow_removals`; 10 % of the dealer's ads or 20, whichever is less, if absent"),
];

/// Parameters of a request to apply a stock plan.
#[rustfmt::skip]
pub const APPLY_PARAMETERS: &[Parameter] = &[
    takes("allow_removals", Takes::Number(0, u32::MAX as u64), "Number of removals, exactly as in `guard`, if it exceeds the maximum"),
];

/// Parameters of a list of the changes of a stock plan.
#[rustfmt::skip]
pub const CHANGE_PARAMETERS: &[Parameter] = &[
    takes("kind", Takes::OneOf(ChangeKind::NAMES), "Only changes of this kind. Ads that are `unchanged` are counted and not listed"),
    takes("outcome", Takes::OneOf(ChangeOutcome::NAMES), "Only changes with this outcome"),
    takes("source_id", Takes::Text(MAX_TEXT), "Only changes of ads with this source id"),
    LIMIT,
    OFFSET,
];

/// Parameters of a list of charges (extensions E9).
#[rustfmt::skip]
pub const CHARGE_PARAMETERS: &[Parameter] = &[
    takes("at__gte", Takes::Time, "Ordered at or after this time"),
    takes("at__lt", Takes::Time, "Ordered before this time"),
    takes("kind", Takes::OneOf(PromotionKind::NAMES), "Only this promotion"),
    takes("source_id", Takes::Text(MAX_TEXT), "Only promotions of ads with this source id"),
    takes("state", Takes::OneOf(ChargeState::NAMES), "Only charges in this state"),
    takes("dealer_code", Takes::Text(MAX_TEXT), "Only charges of this dealer"),
    LIMIT,
    OFFSET,
];

/// Parameters of a new limit of a dealer.
pub const BUDGET_PARAMETERS: &[Parameter] =
    &[takes("dealer_code", Takes::Text(MAX_TEXT), "The dealer, for a token of a group with several")];

/// Parameters of `GET /v4/events` (extensions E4).
#[rustfmt::skip]
pub const EVENT_PARAMETERS: &[Parameter] = &[
    takes("after", Takes::Text(MAX_TEXT), "A cursor: events after it; `now`: from now on. From the oldest if absent"),
    takes("types", Takes::Texts, "Only these types, such as `ad.publish.done`, `ad.publish.*` or `ad.*.error`"),
    takes("source_id", Takes::Text(MAX_TEXT), "Only events of the ads with this source id"),
    takes("dealer_code", Takes::Text(MAX_TEXT), "Only events of this dealer"),
    takes("limit", Takes::Number(1, MAX_EVENTS as u64), "Page size, 1 to 1,000; 100 if absent"),
    takes("wait", Takes::Number(0, MAX_WAIT as u64), "Seconds to wait for an event if there is none (long poll), 0 to 30; 0 if absent"),
];
