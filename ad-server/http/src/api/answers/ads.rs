//! What answers about ads contain: log entries, images, the quality, warnings, prices over time; and allowed values.

use std::collections::BTreeMap;

use ad_core::{
    catalogue,
    model::{self, Action, ActionState, CallAction, Level, Market, Severity, Timestamp, Via},
    violation::{self, Code},
};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{Any, Type},
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{
    Of, answers,
    member::{Address, complete, described, in_place},
    requests::AdPromotions,
};

answers! {
    LogEntry = model::LogEntry {
        request_id: Uuid => "Groups all actions of one API request; the `X-Request-Id` of its answer",
        created: Of<Timestamp>,
        action: Of<Action>,
        state: Of<ActionState>,
        external_message: Of<LogMessage> => "Status or error details: a text, or an object with `message` and details",
        code: Option<Of<Code>> => "Why the action failed, one of the codes of `/docs/errors/`; `null` unless the state is `error`",
    }

    Quality = model::Quality {
        #[oai(validator(maximum(value = "100")))] score: u8 => "The weight of the goals met, as a percentage of that of all goals of the ad",
        level: Of<Level> => "`good` from 50, `excellent` from 80",
        goals: Vec<QualityGoal>,
        findings: Vec<QualityFinding> => "What is probably wrong. It does not prevent the ad from being published",
        promotions: Option<AdPromotions> => "As in the ad's status; only there where one ad is read",
    }

    QualityGoal = model::GoalStatus {
        code: Of<Code>,
        field: String => "The field by which the goal is met",
        met: bool,
        #[oai(validator(minimum(value = "1")))] weight: u8 => "Its share of the score",
        text: String => "The goal",
        how: String => "How to meet it",
    }

    QualityFinding = model::Finding [swedish] {
        code: Of<Code>,
        severity: Of<Severity> => "`warning`: a value is probably wrong; `info`: the ad could be better",
        field: String,
        text: String => "What was found, with the value",
        suggestion: Option<String> => "What to send instead, if that is known",
    }

    QualitySummary = model::QualitySummary {
        #[oai(validator(maximum(value = "100")))] score: u8 => "As in `Quality`",
        level: Of<Level> => "`good` from 50, `excellent` from 80",
        findings: u64 => "Number of findings about the ad itself",
    }

    Warning = violation::Warning {
        field: String,
        code: Of<Code>,
        message: String,
    }

    LookupEntry = catalogue::Entry {
        id: String,
        name: String,
        #[oai(rename = "for", validator(min_items = 1))] applies_to: Option<Vec<String>> => "Only for values of `condition.vehicle_ratings.value`: the ratings that can have this value",
    }

    PriceHistory = model::PriceHistory {
        source_id: String,
        dealer_code: String,
        recorded_since: Of<Timestamp> => "Since when the history has no gaps",
        lowest_30_days: Option<Of<AppliedPrice>> => "The lowest price of the last 30 days, the present one included",
        reduction: Option<Of<Reduction>> => "The present price of type `reduced`; `null` without one",
        #[oai(validator(min_items = 1))] history: Vec<PricePeriod> => "All recorded prices, oldest first; the last ones are the present ones",
    }

    PricePeriod = model::PricePeriod {
        since: Of<Timestamp>,
        until: Option<Of<Timestamp>> => "`null` for the present price",
        price: Vec<RecordedPrice>,
    }

    RecordedPrice = model::Price {
        #[oai(rename = "type")] kind: String => "`list`, `reduced`, `leasing`, `monthly` or `call`",
        #[oai(validator(minimum(value = "0")))] amount: f64 => "In whole units of the currency",
        currency: String => "ISO 4217 code",
    }

    Revision = model::RevisionEntry {
        #[oai(validator(minimum(value = "0")))] revision: i64 => "Its number: the first part of the `ETag` that the ad had then",
        created: Option<Of<Timestamp>> => "When the write that made it was accepted; `null` if it is from before the record",
        request_id: Option<Uuid> => "The request that made it; `null` if that is not recorded",
        action: Option<Of<Action>> => "`create` or `update`; `null` if that is not recorded",
        asked_by: AskedBy,
        plan_id: Option<Uuid> => "The stock plan that it is of; `null` if it is of none",
        via: Option<Of<Via>> => "Through what it was sent; `null` if that is not recorded",
        changes: Option<Vec<ValueChange>> => "What it changed; `null` if the revision before is not recorded",
    }

    MarketplaceCall = model::MarketplaceCall {
        at: Of<Timestamp> => "When it began",
        marketplace: Of<Market>,
        action: Of<CallAction> => "What it asked for",
        request_id: Uuid => "The request that it was made for",
        idempotency_key: Option<String> => "Its `Idempotency-Key`; `null` for `find_by_plate`, which changes nothing",
        #[oai(validator(minimum(value = "100"), maximum(value = "599")))] status: Option<u16> => "HTTP status of the answer; `null` if none came. Marketplaces in the service itself answer as those over HTTP should",
        code: Option<Of<Code>> => "Why it failed, one of the codes of `/docs/errors/`; `null` if it was done",
        latency_ms: u64 => "Milliseconds until the answer was read, or it was clear that none comes",
        listing_id: Option<String> => "The listing that it was about, made or found; `null` if there was none",
        #[oai(validator(pattern = "^[0-9a-f]{64}$"))] content_sha256: Option<String> => "SHA-256 of the body that was sent; `null` unless it was a listing",
        #[oai(validator(minimum(value = "0")))] revision: i64 => "The revision that the ad had then: the first part of its `ETag`",
    }

    AskedBy = model::AskedBy {
        token: Option<String> => "Id of the token (`jti`) with which the request was sent; `null` if that is not recorded",
        label: Option<String> => "Label of the token, if it was issued by this service with one",
    }

    ValueChange = model::ValueChange {
        pointer: String => "JSON Pointer of the field, from the ad",
        from: Any<Value> => "The value before; `null` if there was none",
        to: Any<Value> => "The value after; `null` if there is none",
    }

    #[derive(Serialize)]
    AppliedPrice = model::AppliedPrice {
        #[oai(validator(minimum(value = "0")))] amount: f64 => "In whole units of the currency",
        currency: String => "ISO 4217 code",
        since: Of<Timestamp>,
        until: Option<Of<Timestamp>> => "`null` for the present price",
    }

    #[derive(Serialize)]
    Reduction = model::Reduction {
        #[oai(validator(minimum(value = "0")))] amount: f64 => "In whole units of the currency",
        currency: String => "ISO 4217 code",
        since: Of<Timestamp> => "When the series of reductions began",
        reference: Option<Of<AppliedPrice>> => "The lowest price of the 30 days before that, or of the recorded part of them; `null` if no earlier price is recorded",
        below_reference: Option<bool> => "Whether the reduced price is less than the reference price",
    }

    LogDetails {
        message: String,
        #[oai(flatten)] others: BTreeMap<String, Any<Value>>,
    }

    // An image of an ad, as ad-core writes it into an ad.
    ImageRef {
        url: String => "Source address",
        cdn_url: Of<Address> => "Address of the stored image",
        id: Uuid,
        #[oai(validator(pattern = "^[0-9a-f]{64}$"))] checksum: String => "SHA-256 of the image",
        width: Option<u32> => "Width in pixels, turned as EXIF says; `null` until the image was examined, and if it cannot be decoded",
        height: Option<u32> => "Height in pixels, likewise",
        renditions: Option<Vec<Rendition>> => "The image in other sizes, the smallest first; `null` until they are made, empty if it cannot be decoded",
    }

    Rendition {
        width: u32 => "Width in pixels: 320, 800 or 1600, and never more than that of the image",
        height: u32 => "Height in pixels",
        url: Of<Address> => "Address of the JPEG: upright, without metadata, unchanging",
    }
}

described! {
    AppliedPrice => complete(in_place::<AppliedPrice>()),
    Reduction => complete(in_place::<Reduction>()),
    LogMessage => MetaSchema {
        one_of: vec![String::schema_ref(), MetaSchemaRef::Reference(LogDetails::name().into_owned())],
        ..MetaSchema::ANY
    },
}

const _: () = assert!(Level::GOOD == 50 && Level::EXCELLENT == 80, "as the comments say");

/// A text, or an object with details.
#[derive(Serialize)]
pub(super) struct LogMessage;
