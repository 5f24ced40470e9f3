//! Stock plans and their changes.

use ad_core::{
    model::{self, ChangeKind, ChangeOutcome, PlanState, Timestamp},
    violation::Code,
};
use uuid::Uuid;

use super::{
    Of,
    ads::{ValueChange, Warning},
    answers,
};

answers! {
    StockPlan = model::StockPlan [holder options] {
        id: Uuid,
        state: Of<PlanState> => "`applied`: every change has its outcome",
        created: Of<Timestamp> => "When its body began to come",
        expires: Option<Of<Timestamp>> => "When a ready plan expires, and when one that has ended is removed; `null` before",
        dealers: Vec<PlannedDealer> => "Its dealers, by their codes",
        guard: RemovalGuard,
        errors: Vec<PlanError> => "Why it was refused, or why ads are invalid, the most frequent first: at most 50 kinds",
    }

    PlannedDealer = model::PlannedDealer {
        dealer_code: String,
        counts: ChangeCounts => "Number of ads by the kind of their changes; all are 0 while the plan is computed",
        outcomes: OutcomeCounts => "Number of changes by their outcomes",
        cost: Option<f64> => "What applying the plan costs, in the dealer's currency; `null`: nothing that it does has a price",
    }

    ChangeCounts = model::ChangeCounts {
        create: u64,
        update: u64,
        revive: u64 => "Updates of deleted ads",
        unchanged: u64,
        hide: u64,
        delete: u64,
        invalid: u64 => "Ads that stay as they are, because no request makes them equal to their payloads",
    }

    OutcomeCounts = model::OutcomeCounts {
        accepted: u64 => "Requests that are not finished",
        done: u64,
        failed: u64,
        conflict: u64 => "Ads that have changed since the plan was made, and stay as they are",
    }

    RemovalGuard = model::Guard {
        most_removals: u64 => "Maximum number of removals without `allow_removals`",
        removals: u64 => "Number of ads that are hidden or deleted",
        exceeded: bool => "Whether that is more than the maximum",
    }

    PlanError = model::PlanError {
        code: Of<Code> => "One of the codes of `/docs/errors/`",
        pointer: Option<String> => "The field, as a JSON pointer into the payload; `null`: the whole body",
        #[oai(validator(minimum(value = "1")))] line: Option<u64> => "The first line that has it; of a JSON array, the place of the item",
        detail: String => "The error there, and what to do",
        count: u64 => "Number of ads that have it",
    }

    PlannedChange {
        #[oai(validator(minimum(value = "1")))] line: Option<u64> => "The line of its payload, or the place in the JSON array; `null` for an ad that the stock does not name",
        dealer_code: Option<String> => "`null` if an invalid payload does not say whose ad it is",
        source_id: Option<String> => "`null` if an invalid payload has none",
        kind: Of<ChangeKind>,
        #[oai(validator(minimum(value = "0")))] revision: Option<i64> => "The revision of the ad that the plan was made for: the first part of its `ETag`; `null` for a new ad",
        fields: Vec<ValueChange> => "The fields of an existing ad that change",
        links_to: Option<String> => "`source_id` of another ad of the dealer that has the registration number of a new one",
        errors: Vec<ChangeError> => "Why the ad is invalid: at most 20 errors",
        warnings: Vec<Warning> => "What is probably a mistake in a create or update",
        quality: ScoreChange => "The score of the ad before and after a create or update",
        outcome: Option<Of<ChangeOutcome>> => "What has become of it; `null` while nothing was done",
        code: Option<Of<Code>> => "Why it failed or was a conflict, one of the codes of `/docs/errors/`",
        request_id: Option<Uuid> => "Its request, if one was accepted",
    }

    ChangeError = model::ChangeError {
        pointer: String => "The field, as a JSON pointer into the payload",
        code: Of<Code> => "One of the codes of `/docs/errors/`",
        detail: String => "What is wrong, and what to do",
        suggestion: Option<String> => "The nearest valid value or name",
        rule: Option<String> => "The violated rule over several fields",
    }

    ScoreChange = model::ScoreChange {
        #[oai(validator(minimum(value = "0"), maximum(value = "100")))] from: Option<u8> => "`null` for a new ad",
        #[oai(validator(minimum(value = "0"), maximum(value = "100")))] to: Option<u8> => "`null` if the change leaves it alone",
    }
}
