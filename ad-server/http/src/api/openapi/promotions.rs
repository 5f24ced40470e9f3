//! Examples of promotions by the clock.

use ad_core::{
    model::{Amount, PreviewedAd, PromotedAd, Promotion, PromotionPreview, PromotionRun, SkippedAd, Timestamp},
    service::PromotionError,
    violation::Code,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::examples;
use crate::api::ApiError;

pub(super) const PROMOTION: Uuid = Uuid::from_u128(0x0190_5b1c_6a52_7000_8000_0000_0000_0007);

/// Examples by name, with what they are of.
pub(super) fn examples() -> Vec<(&'static str, &'static str, Value)> {
    let error = |error: PromotionError| json!({"detail": ApiError::from(error).detail()});
    let input = json!({"kind": "bump", "select": {"status": "live", "category_id": 1020}, "order": "updated", "most_per_run": 5, "min_age_days": 14,
        "weekdays": ["mon", "thu"], "at": "08:00", "zone": "Europe/Stockholm", "budget": 1500});
    vec![
        ("PromotionInput", "The five cars that were left alone for longest, twice a week", input),
        ("PromotionPatch", "Another time of day", json!({"at": "09:30"})),
        ("Promotion", "Cars, twice a week", promotion()),
        ("PromotionPage", "One schedule", examples::page(&json!([promotion()]))),
        ("PromotionRunPage", "A run that skipped an ad", examples::page(&json!([run()]))),
        ("PromotionPreview", "Two ads, of which one is hidden", json!(preview())),
        ("NoSuchPromotion", "An unknown schedule", error(PromotionError::NotFound)),
        (
            "TooManyPromotions",
            "A hundred schedules",
            error(PromotionError::TooMany { dealer_code: examples::DEALER.to_owned() }),
        ),
    ]
}

fn due() -> Timestamp {
    Timestamp::from_millis(1_768_806_000_000)
}

fn promotion() -> Value {
    json!({"id": PROMOTION, "dealer_code": examples::DEALER, "kind": "bump", "select": {"status": "live", "category_id": 1020},
        "order": "updated", "most_per_run": 5, "min_age_days": 14, "weekdays": ["mon", "thu"], "at": "08:00", "zone": "Europe/Stockholm", "until": null,
        "budget": 1500, "exclude_primary": false, "exclude_secondary": false, "paused": false, "next_run": due(), "last_run": null,
        "created": examples::now(), "asked_by": {"token": "5f0c6b3e", "label": "Stock system"}})
}

const COST: Option<Amount> = Some(Amount::from_hundredths(2950));

fn skipped() -> SkippedAd {
    SkippedAd { source_id: "car-1002".to_owned(), code: Code::AdHidden }
}

fn run() -> PromotionRun {
    let source_id = "car-1001".to_owned();
    let request_id = Promotion::request_of(PROMOTION, due(), &source_id);
    PromotionRun {
        due: due(),
        started: due(),
        ended: Some(due()),
        promoted: vec![PromotedAd { source_id, request_id, cost: COST }],
        skipped: vec![skipped()],
        cost: COST,
        currency: "SEK".to_owned(),
    }
}

fn preview() -> PromotionPreview {
    PromotionPreview {
        due: Some(due()),
        promoted: vec![PreviewedAd { source_id: "car-1001".to_owned(), cost: COST }],
        skipped: vec![skipped()],
        cost: COST,
        currency: "SEK".to_owned(),
    }
}
