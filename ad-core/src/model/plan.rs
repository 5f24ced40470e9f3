//! Stock plans: the desired stock of a dealer, compared with the stored ads before anything changes (extensions E8).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{names::names, query::Page, revision::ValueChange, time::Timestamp};
use crate::violation::{Code, Warning};

/// Maximum number of plans of a dealer that are computing, ready or applying.
pub const MOST_UNFINISHED_PLANS: u32 = 3;

names! {
    /// What has to be done with an ad.
    pub enum ChangeKind {
        /// A POST creates it.
        Create = "create",
        /// A PATCH makes it equal to its payload.
        Update = "update",
        /// It is deleted, and a PATCH revives it.
        Revive = "revive",
        /// It is equal to its payload.
        Unchanged = "unchanged",
        /// The stock does not name it: a PATCH hides it.
        Hide = "hide",
        /// The stock does not name it: a DELETE deletes it.
        Delete = "delete",
        /// No request makes it equal to its payload; it stays as it is.
        Invalid = "invalid",
    }

    /// What becomes of ads that the stock does not name.
    pub enum MissingAds {
        /// They stay as they are.
        Keep = "keep",
        /// They are hidden: `visible` becomes `false`.
        Hide = "hide",
        /// They are deleted.
        Delete = "delete",
    }

    /// How far a stock plan is.
    pub enum PlanState {
        /// Its body is being read and compared.
        Computing = "computing",
        /// It can be applied, until it expires.
        Ready = "ready",
        /// Its body is no stock; it cannot be applied.
        Refused = "refused",
        /// Its changes are being made.
        Applying = "applying",
        /// Every change has its outcome.
        Applied = "applied",
        /// A client has cancelled it; what was made before stays.
        Cancelled = "cancelled",
        /// It was not applied in time.
        Expired = "expired",
    }

    /// What has become of a planned change.
    pub enum ChangeOutcome {
        /// Its request is accepted and not finished.
        Accepted = "accepted",
        /// Its request is finished, or the ad was that way already.
        Done = "done",
        /// It was refused, or an action of its request has failed.
        Failed = "failed",
        /// The ad has changed since the plan was made, and stays as it is.
        Conflict = "conflict",
    }
}

impl ChangeKind {
    /// The kinds that need a request, in the order in which they are applied: updates, creates, removals.
    pub const PHASES: [&'static [Self]; 3] =
        [&[Self::Update, Self::Revive], &[Self::Create], &[Self::Hide, Self::Delete]];

    /// The index of its phase; `None` if it needs no request.
    pub fn phase(self) -> Option<usize> {
        Self::PHASES.iter().position(|phase| phase.contains(&self))
    }

    /// Whether it takes an ad off the marketplaces.
    pub const fn is_removal(self) -> bool {
        matches!(self, Self::Hide | Self::Delete)
    }
}

impl PlanState {
    /// Whether nothing more is computed or changed.
    pub const fn is_ended(self) -> bool {
        !matches!(self, Self::Computing | Self::Ready | Self::Applying)
    }
}

/// The score of an ad, 0 to 100, before and after a change; `None` where the ad does not exist or the change leaves it alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreChange {
    /// The score before an update; `None` for a new ad.
    pub from: Option<u8>,
    /// The score after a create or update.
    pub to: Option<u8>,
}

/// How many ads have a change of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the kind of its name")]
pub struct ChangeCounts {
    pub create: u64,
    pub update: u64,
    pub revive: u64,
    pub unchanged: u64,
    pub hide: u64,
    pub delete: u64,
    pub invalid: u64,
}

impl ChangeCounts {
    /// Adds 1 to the count of a kind.
    pub fn add(&mut self, kind: ChangeKind) {
        *self.of(kind) += 1;
    }

    /// Number of ads that are to be hidden or deleted.
    pub const fn removals(&self) -> u64 {
        self.hide + self.delete
    }

    fn of(&mut self, kind: ChangeKind) -> &mut u64 {
        match kind {
            ChangeKind::Create => &mut self.create,
            ChangeKind::Update => &mut self.update,
            ChangeKind::Revive => &mut self.revive,
            ChangeKind::Unchanged => &mut self.unchanged,
            ChangeKind::Hide => &mut self.hide,
            ChangeKind::Delete => &mut self.delete,
            ChangeKind::Invalid => &mut self.invalid,
        }
    }
}

/// How many changes have each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the outcome of its name")]
pub struct OutcomeCounts {
    pub accepted: u64,
    pub done: u64,
    pub failed: u64,
    pub conflict: u64,
}

impl OutcomeCounts {
    /// The number of changes with an outcome.
    pub const fn of(&mut self, outcome: ChangeOutcome) -> &mut u64 {
        match outcome {
            ChangeOutcome::Accepted => &mut self.accepted,
            ChangeOutcome::Done => &mut self.done,
            ChangeOutcome::Failed => &mut self.failed,
            ChangeOutcome::Conflict => &mut self.conflict,
        }
    }
}

/// Whether a stock removes more ads than is allowed (extensions E8.5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// Maximum number of removals: the one that was set, or else the sum of the dealers' defaults.
    pub most_removals: u64,
    /// Number of ads that are to be hidden or deleted.
    pub removals: u64,
    /// Whether there are more than the maximum.
    pub exceeded: bool,
}

/// What a client asks of a plan, besides the stock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanOptions {
    /// What becomes of ads that the stock does not name.
    pub missing: MissingAds,
    /// The vehicle types whose ads count as missing; `None`: all.
    pub vehicle_types: Option<Vec<String>>,
    /// Maximum number of removals; `None`: the [default](crate::stock::most_removals) of each dealer.
    pub most_removals: Option<u64>,
    /// The dealer of all payloads; `None`: each payload says whose ad it is.
    pub dealer_code: Option<String>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { missing: MissingAds::Keep, vehicle_types: None, most_removals: None, dealer_code: None }
    }
}

/// The part of a plan that is about one dealer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDealer {
    /// Code of the dealer.
    pub dealer_code: String,
    /// How many ads have a change of each kind; all are 0 while the plan is computed.
    pub counts: ChangeCounts,
    /// How many changes have each outcome.
    pub outcomes: OutcomeCounts,
    /// What applying the plan costs, in the dealer's currency; `None`: nothing that it does has a price.
    pub cost: Option<Number>,
}

/// Why a plan was refused, or why ads of it are invalid: errors of the same kind together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanError {
    /// The kind of the error.
    pub code: Code,
    /// The field that it is about, as a JSON Pointer (RFC 6901) into the payload; `None`: it is about the whole body.
    pub pointer: Option<String>,
    /// The first line that has it.
    pub line: Option<u64>,
    /// The error there, and what to do.
    pub detail: String,
    /// How many ads have it.
    pub count: u64,
}

impl PlanError {
    /// The error of a body that is no stock: what is wrong with it, and what its code says to do.
    pub fn of_body(code: Code, line: Option<u64>, wrong: &str) -> Self {
        Self::cured(code, line, wrong, code.about().cure)
    }

    /// The same with what else to do.
    pub fn cured(code: Code, line: Option<u64>, wrong: &str, cure: &str) -> Self {
        let detail = format!("{}. {cure}", wrong.trim_end_matches('.'));
        Self { code, pointer: None, line, detail, count: 1 }
    }
}

/// A stock plan. It serialises as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockPlan {
    /// Its id.
    pub id: Uuid,
    /// How far it is.
    pub state: PlanState,
    /// When its body began to be read.
    pub created: Timestamp,
    /// When a ready plan expires, and one that has ended is removed; `None` before.
    pub expires: Option<Timestamp>,
    /// Its dealers, by their codes.
    pub dealers: Vec<PlannedDealer>,
    /// Whether it removes more ads than is allowed.
    pub guard: Guard,
    /// Why it was refused, or the reasons for which ads are invalid.
    pub errors: Vec<PlanError>,
    /// Who made it: the dealer or group of the token ([`Access::key`](crate::service::Access::key)).
    #[serde(skip)]
    pub holder: String,
    /// What was asked of it.
    #[serde(skip)]
    pub options: PlanOptions,
}

impl StockPlan {
    /// A plan whose body is about to be read.
    pub fn new(id: Uuid, holder: String, options: PlanOptions, created: Timestamp) -> Self {
        let of_dealer = |dealer_code| PlannedDealer { dealer_code, ..PlannedDealer::default() };
        Self {
            id,
            state: PlanState::Computing,
            created,
            expires: None,
            dealers: options.dealer_code.clone().map(of_dealer).into_iter().collect(),
            guard: Guard::default(),
            errors: Vec::new(),
            holder,
            options,
        }
    }

    /// Whether it is computed or applied, or requests of its changes are not finished.
    pub fn is_under_way(&self) -> bool {
        matches!(self.state, PlanState::Computing | PlanState::Applying) || self.unfinished() > 0
    }

    /// Number of changes that have an outcome.
    pub fn made(&self) -> u64 {
        let made =
            |OutcomeCounts { accepted, done, failed, conflict }: OutcomeCounts| accepted + done + failed + conflict;
        self.dealers.iter().map(|dealer| made(dealer.outcomes)).sum()
    }

    /// Number of changes whose requests are not finished.
    pub fn unfinished(&self) -> u64 {
        self.dealers.iter().map(|dealer| dealer.outcomes.accepted).sum()
    }
}

/// What a plan says about a change, besides its columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeDetails {
    /// The fields of an existing ad that change. In a plan of a file of people, also those of a new ad, and the values of an invalid
    /// one that could not be read.
    pub fields: Vec<ValueChange>,
    /// The source id of another ad of the dealer that has the registration number of a new one.
    pub links_to: Option<String>,
    /// Why the ad is invalid: [some](ChangeError::MOST) of its errors.
    pub errors: Vec<ChangeError>,
    /// What is probably a mistake in a create or update.
    pub warnings: Vec<Warning>,
    /// The score of the ad before and after a create or update.
    pub quality: ScoreChange,
}

/// An error of an ad that is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeError {
    /// The field: a JSON Pointer (RFC 6901) into the payload.
    pub pointer: String,
    /// The kind of the error.
    pub code: Code,
    /// What is wrong, and what to do.
    pub detail: String,
    /// The nearest valid value or name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The rule over several fields that it breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl ChangeError {
    /// Maximum number of errors of a change. A payload of a few bytes for each error would otherwise become many times as large.
    pub const MOST: usize = 20;
}

/// A change of a plan. It serialises as the API shows it. Ads that are unchanged are counted, and are no changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedChange {
    /// Its number in the plan, from 0.
    #[serde(skip)]
    pub n: u32,
    /// The line of its payload; `None` for an ad that the stock does not name.
    pub line: Option<u64>,
    /// Code of the ad's dealer; `None` if an invalid payload does not say whose ad it is.
    pub dealer_code: Option<String>,
    /// The client's reference of the ad; `None` if an invalid payload has none.
    pub source_id: Option<String>,
    /// What has to be done.
    pub kind: ChangeKind,
    /// The revision of the ad that the plan is made for: the first part of its `ETag`. `None` for a new ad.
    pub revision: Option<i64>,
    /// Everything else about it.
    #[serde(flatten)]
    pub details: ChangeDetails,
    /// What has become of it; `None` while nothing was done.
    pub outcome: Option<ChangeOutcome>,
    /// Why it failed or was a conflict.
    pub code: Option<Code>,
    /// Its request, if one was accepted.
    pub request_id: Option<Uuid>,
}

impl PlannedChange {
    /// The id of the request that makes a change, always the same: the id of its plan and its number, hashed as RFC 9562 (B.2) shows.
    /// So a request that was accepted before a crash is recognised.
    pub fn request_of(plan: Uuid, n: u32) -> Uuid {
        let digest = Sha256::new().chain_update(plan.as_bytes()).chain_update(n.to_be_bytes()).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }
}

/// A change of a plan that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenChange {
    /// Its number in the plan.
    pub n: u32,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// The client's reference of the ad.
    pub source_id: String,
    /// What has to be done.
    pub kind: ChangeKind,
    /// The revision of the ad that it is for; `None` for a new ad.
    pub revision: Option<i64>,
    /// The body of its request; a DELETE has none, and neither has an ad that was erased meanwhile.
    pub body: Option<Map<String, Value>>,
}

/// A query for changes of a plan, which come in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChangeQuery {
    /// Only changes of this kind.
    pub kind: Option<ChangeKind>,
    /// Only changes with this outcome.
    pub outcome: Option<ChangeOutcome>,
    /// Only changes of the ads with this source id.
    pub source_id: Option<String>,
    /// Limit and offset.
    pub page: Page,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_of_a_change_is_always_the_same() {
        let plan = Uuid::from_u128(7);
        let ids = [(plan, 0), (plan, 1), (Uuid::from_u128(8), 0)].map(|(plan, n)| PlannedChange::request_of(plan, n));
        assert_eq!(ids[0].to_string(), "47b113ed-fb0f-827c-ab21-6194bb052a55");
        assert_eq!(ids[0], PlannedChange::request_of(plan, 0));
        assert!(ids[0] != ids[1] && ids[0] != ids[2]);
        assert_eq!(ids.map(|id| id.get_version_num()), [8; 3]);
    }

    #[test]
    fn changes_are_counted_by_kind_and_applied_by_phase() {
        let kinds = ChangeKind::NAMES.iter().filter_map(|name| ChangeKind::from_name(name));
        let mut counts = ChangeCounts::default();
        kinds.clone().for_each(|kind| counts.add(kind));
        counts.add(ChangeKind::Hide);
        let expected = r#"{"create":1,"update":1,"revive":1,"unchanged":1,"hide":2,"delete":1,"invalid":1}"#;
        assert_eq!((serde_json::to_string(&counts).unwrap().as_str(), counts.removals()), (expected, 3));
        let removals: Vec<_> = kinds.filter(|kind| kind.is_removal()).map(ChangeKind::phase).collect();
        assert_eq!(removals, [Some(2), Some(2)]);
        assert_eq!((ChangeKind::Revive.phase(), ChangeKind::Unchanged.phase()), (Some(0), None));
    }

    #[test]
    fn plans_and_changes_serialise_as_the_api_shows_them() {
        let options = PlanOptions { dealer_code: Some("north-cars".to_owned()), ..PlanOptions::default() };
        let plan =
            StockPlan::new(Uuid::from_u128(7), "dealer_code north-cars".to_owned(), options, Timestamp::default());
        assert_eq!(
            serde_json::to_value(&plan).unwrap(),
            serde_json::json!({
                "id": "00000000-0000-0000-0000-000000000007", "state": "computing", "created": Timestamp::default(), "expires": null,
                "dealers": [{"dealer_code": "north-cars",
                    "counts": {"create": 0, "update": 0, "revive": 0, "unchanged": 0, "hide": 0, "delete": 0, "invalid": 0},
                    "outcomes": {"accepted": 0, "done": 0, "failed": 0, "conflict": 0}, "cost": null}],
                "guard": {"most_removals": 0, "removals": 0, "exceeded": false}, "errors": [],
            })
        );
        let change = PlannedChange {
            n: 3,
            line: Some(4),
            dealer_code: Some("north-cars".to_owned()),
            source_id: Some("car-1".to_owned()),
            kind: ChangeKind::Update,
            revision: Some(2),
            details: ChangeDetails {
                fields: vec![ValueChange { pointer: "/body".to_owned(), from: "a".into(), to: Value::Null }],
                ..ChangeDetails::default()
            },
            outcome: Some(ChangeOutcome::Conflict),
            code: Some(Code::PreconditionFailed),
            request_id: None,
        };
        assert_eq!(
            serde_json::to_value(&change).unwrap(),
            serde_json::json!({
                "line": 4, "dealer_code": "north-cars", "source_id": "car-1", "kind": "update", "revision": 2,
                "fields": [{"pointer": "/body", "from": "a", "to": null}], "links_to": null, "errors": [], "warnings": [],
                "quality": {"from": null, "to": null}, "outcome": "conflict", "code": "precondition_failed", "request_id": null,
            })
        );
    }
}
