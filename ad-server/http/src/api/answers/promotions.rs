//! Promotions by the clock, and the bodies of requests about them, which `ad_core` checks.

use ad_core::{
    model::{self, AdsOrder, Amount, LastDay, PromotionKind, TimeOfDay, Timestamp, Weekday},
    violation::Code,
};
use poem_openapi::registry::MetaSchema;
use uuid::Uuid;

use super::{Of, ads::AskedBy, answers, member::described};

answers! {
    Promotion {
        id: Uuid,
        dealer_code: String,
        kind: Of<PromotionKind>,
        select: Of<Select>,
        order: Of<AdsOrder> => "The order in which a run takes the ads, as `ordering` of a list",
        #[oai(validator(minimum(value = "1"), maximum(value = "3000")))] most_per_run: u32 => "Maximum number of ads that a run promotes: 500, or 3000 if the console made it",
        #[oai(validator(minimum(value = "1"), maximum(value = "3650")))] min_age_days: Option<u32> => "Only ads that were created at least so many days before the run; `null`: ads of any age",
        weekdays: Option<Vec<Of<Weekday>>> => "The days on which it runs; `null`: every day",
        at: Of<TimeOfDay>,
        zone: String => "IANA time zone of `at`, `weekdays` and `until`",
        until: Option<Of<LastDay>> => "The last day on which it runs",
        budget: Option<Of<Amount>> => "Most that its runs may cost in a calendar month of the dealer's time zone",
        exclude_primary: bool,
        exclude_secondary: bool,
        paused: bool,
        next_run: Option<Of<Timestamp>> => "`null` while it is paused, and after its last day",
        last_run: Option<Of<Timestamp>> => "When the latest run was due",
        created: Of<Timestamp>,
        asked_by: AskedBy,
    }

    PromotionRun = model::PromotionRun {
        due: Of<Timestamp> => "When it was due. A run that was missed happens later, once",
        started: Of<Timestamp>,
        ended: Option<Of<Timestamp>> => "`null` while it is under way",
        promoted: Vec<PromotedAd> => "The ads whose promotion was accepted. What became of a promotion, its request says",
        skipped: Vec<SkippedAd>,
        cost: Option<Of<Amount>> => "What it costs by the dealer's tariff; `null`: nothing of it has a price",
        currency: String => "ISO 4217 code of the dealer's currency",
    }

    PromotionPreview = model::PromotionPreview {
        due: Option<Of<Timestamp>> => "When the next run is due; `null`: there is none",
        promoted: Vec<PreviewedAd> => "The ads that it would promote now, in this order",
        skipped: Vec<SkippedAd>,
        cost: Option<Of<Amount>> => "What it would cost; `null`: nothing of it has a price",
        currency: String => "ISO 4217 code of the dealer's currency",
    }

    PromotedAd = model::PromotedAd {
        source_id: String,
        request_id: Uuid,
        cost: Option<Of<Amount>>,
    }

    PreviewedAd = model::PreviewedAd {
        source_id: String,
        cost: Option<Of<Amount>>,
    }

    SkippedAd = model::SkippedAd {
        source_id: String,
        code: Of<Code> => "Why, one of the codes of `/docs/errors/`",
    }

    PromotionInput {
        kind: Of<PromotionKind>,
        select: Of<Select>,
        #[oai(nullable)] order: Option<Of<AdsOrder>> => "The order in which a run takes the ads, as `ordering` of a list; `updated` if absent",
        #[oai(nullable, validator(minimum(value = "1"), maximum(value = "500")))] most_per_run: Option<u32> => "Maximum number of ads that a run promotes; 100 if absent",
        #[oai(nullable, validator(minimum(value = "1"), maximum(value = "3650")))] min_age_days: Option<u32> => "Only ads that were created at least so many days before the run",
        #[oai(nullable, validator(min_items = 1, max_items = 7))] weekdays: Option<Vec<Of<Weekday>>> => "The days on which it runs; every day if absent",
        at: Of<TimeOfDay>,
        #[oai(nullable)] zone: Option<String> => "IANA time zone, such as `Europe/Stockholm`; that of the dealer if absent",
        #[oai(nullable)] until: Option<Of<LastDay>> => "The last day on which it runs",
        #[oai(nullable)] budget: Option<Of<Amount>> => "Most that its runs may cost in a calendar month of the dealer's time zone",
        #[oai(nullable)] exclude_primary: Option<bool>,
        #[oai(nullable)] exclude_secondary: Option<bool>,
        #[oai(nullable)] paused: Option<bool>,
        #[oai(nullable)] dealer_code: Option<String> => "Whose ads are promoted; required with a token of a group",
    }

    PromotionPatch {
        kind: Option<Of<PromotionKind>>,
        select: Option<Of<Select>>,
        #[oai(nullable)] order: Option<Of<AdsOrder>>,
        #[oai(nullable, validator(minimum(value = "1"), maximum(value = "500")))] most_per_run: Option<u32>,
        #[oai(nullable, validator(minimum(value = "1"), maximum(value = "3650")))] min_age_days: Option<u32> => "Only ads that were created at least so many days before the run",
        #[oai(nullable, validator(min_items = 1, max_items = 7))] weekdays: Option<Vec<Of<Weekday>>>,
        at: Option<Of<TimeOfDay>>,
        #[oai(nullable)] zone: Option<String>,
        #[oai(nullable)] until: Option<Of<LastDay>>,
        #[oai(nullable)] budget: Option<Of<Amount>>,
        #[oai(nullable)] exclude_primary: Option<bool>,
        #[oai(nullable)] exclude_secondary: Option<bool>,
        #[oai(nullable)] paused: Option<bool> => "`true` pauses the schedule, `false` resumes it",
    }
}

/// Filters of a list, as an object.
#[derive(serde::Serialize)]
pub(crate) struct Select;

described! {
    Select => MetaSchema {
        description: Some("`source_id`, or filters by the names of the parameters of `GET /v4/ad`"),
        min_properties: Some(1),
        ..MetaSchema::new("object")
    },
    AdsOrder => MetaSchema {
        enum_items: AdsOrder::NAMES.iter().map(|name| (*name).into()).collect(),
        ..MetaSchema::new("string")
    },
    TimeOfDay => MetaSchema {
        pattern: Some("^([01][0-9]|2[0-3]):[0-5][0-9]$".to_owned()),
        example: Some("08:00".into()),
        ..MetaSchema::new("string")
    },
    LastDay => MetaSchema { example: Some("2026-12-31".into()), ..MetaSchema::new_with_format("string", "date") },
}
