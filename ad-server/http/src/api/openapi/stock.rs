//! Bodies and examples of stock plans.

use ad_core::{
    model::{
        ApiVersion, ChangeCounts, ChangeDetails, ChangeKind, ChangeOutcome, Guard, OutcomeCounts, PlanError,
        PlanOptions, PlanState, PlannedChange, PlannedDealer, ScoreChange, StockPlan, ValueChange,
    },
    rulebook::Rulebook,
    service::StockPlanError,
    violation::Code,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{bodies::BodyKind, examples, first, reference, referring};
use crate::api::ApiError;

pub(super) const PLAN: Uuid = Uuid::from_u128(0x0190_5b1c_6a52_7000_8000_0000_0000_0006);

/// The body of a new plan.
pub(super) fn body() -> Value {
    let lines =
        json!({"type": "string", "description": "A payload on each line, as `POST /v4/{vehicle_type}` takes it"});
    json!({"required": true, "content": {
        "application/x-ndjson": {"schema": lines},
        "application/json": {"schema": reference("Stock"), "examples": {
            "Stock": referring("examples", "Stock"), "StockSelection": referring("examples", "StockSelection"),
        }},
    }})
}

/// The schemas of that body in JSON.
pub(super) fn schemas() -> [(String, Value); 3] {
    let payload = json!({"type": "object", "description": "A payload, as `POST /v4/{vehicle_type}` takes it", "required": ["source_id", "category_id"], "additionalProperties": true,
        "properties": {"source_id": reference("NewSourceId"), "category_id": {"type": "integer"}}});
    let selection = json!({"type": "object", "description": "Instead of a stock: ads, and what is changed of them", "required": ["select", "change"],
    "properties": {
        "select": {"type": "object", "additionalProperties": true, "description": "Filters by the names of the parameters of `GET /v4/ad`; without any, all ads"},
        "change": {"type": "object", "description": "`price_percent`, `price_amount` or `set`", "properties": {
            "price_percent": {"type": "number", "example": -5, "description": "By how much prices of type `list` and `reduced` are raised, in percent"},
            "price_amount": {"type": "number", "example": -5000, "description": "By how much they are raised, in the currency of each"},
            "round": {"type": "number", "example": 100, "description": "New prices are rounded to multiples of this"},
            "set": {"type": "object", "additionalProperties": true, "description": "Fields, as PATCH takes them", "example": {"visible": false}},
        }},
    }});
    let items = json!({"type": "array", "items": reference("StockPayload")});
    let stock = json!({"oneOf": [items, reference("StockSelection")]});
    [("StockPayload", payload), ("StockSelection", selection), ("Stock", stock)].map(|(name, it)| (name.to_owned(), it))
}

/// Examples by name, with what they are of.
pub(super) fn examples(rulebook: &Rulebook) -> Vec<(&'static str, &'static str, Value)> {
    let payload = examples::brief(rulebook, ApiVersion::V4, first(), BodyKind::Create);
    let error = |error: StockPlanError| json!({"detail": ApiError::from(error).detail()});
    vec![
        ("Stock", "A stock of one ad", json!([payload])),
        (
            "StockSelection",
            "Five percent off the cars that are live",
            json!({"select": {"status": "live", "category_id": 1020}, "change": {"price_percent": -5, "round": 100}}),
        ),
        ("StockPlan", "A plan that is ready", json!(plan())),
        ("RefusedPlan", "A body that was cut off", json!(refused())),
        ("StockPlanPage", "One plan", examples::page(&json!([plan()]))),
        ("PlannedChangePage", "An update that was made, and a new ad", examples::page(&json!([change(), create()]))),
        ("NoSuchPlan", "An unknown plan", error(StockPlanError::NotFound)),
        (
            "TooManyPlans",
            "Three unfinished plans",
            error(StockPlanError::TooMany { dealer_code: examples::DEALER.to_owned() }),
        ),
        (
            "TooManyRemovals",
            "More removals than allowed",
            error(StockPlanError::GuardExceeded { removals: 34, most_removals: 12 }),
        ),
    ]
}

fn plan() -> StockPlan {
    let counts = ChangeCounts { create: 2, update: 1, unchanged: 114, ..ChangeCounts::default() };
    let dealer = PlannedDealer {
        dealer_code: examples::DEALER.to_owned(),
        counts,
        outcomes: OutcomeCounts::default(),
        cost: None,
    };
    StockPlan {
        state: PlanState::Ready,
        expires: Some(examples::now() + std::time::Duration::from_hours(24)),
        dealers: vec![dealer],
        guard: Guard { most_removals: 11, removals: 0, exceeded: false },
        ..StockPlan::new(PLAN, String::new(), PlanOptions::default(), examples::now())
    }
}

fn refused() -> StockPlan {
    let errors = vec![PlanError::of_body(Code::IncompleteBody, Some(4711), "The body ends within this payload.")];
    StockPlan { state: PlanState::Refused, dealers: Vec::new(), guard: Guard::default(), errors, ..plan() }
}

fn create() -> PlannedChange {
    PlannedChange {
        n: 1,
        line: Some(18),
        source_id: Some("car-1002".to_owned()),
        kind: ChangeKind::Create,
        revision: None,
        details: ChangeDetails {
            links_to: Some("old-1002".to_owned()),
            quality: ScoreChange { from: None, to: Some(71) },
            ..ChangeDetails::default()
        },
        outcome: None,
        request_id: None,
        ..change()
    }
}

fn change() -> PlannedChange {
    let change =
        ValueChange { pointer: "/body".to_owned(), from: json!("Fine car."), to: json!("Fine car, two keys.") };
    PlannedChange {
        n: 0,
        line: Some(17),
        dealer_code: Some(examples::DEALER.to_owned()),
        source_id: Some("car-1001".to_owned()),
        kind: ChangeKind::Update,
        revision: Some(0),
        details: ChangeDetails {
            fields: vec![change],
            quality: ScoreChange { from: Some(62), to: Some(64) },
            ..ChangeDetails::default()
        },
        outcome: Some(ChangeOutcome::Done),
        code: None,
        request_id: Some(PlannedChange::request_of(PLAN, 0)),
    }
}
