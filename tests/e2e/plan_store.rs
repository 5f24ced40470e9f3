//! What every store has to do with stock plans (`ad_core::ports::PlanStore`), in memory, in SQLite, and in PostgreSQL.

use std::time::Duration;

use ad_core::{
    model::{
        Action, ActionState, AdState, ChangeCounts, ChangeDetails, ChangeError, ChangeKind, ChangeOutcome, ChangeQuery,
        EventQuery, Guard, LogEntry, MissingAds, OpenChange, OutcomeCounts, Page, PlanError, PlanOptions, PlanState,
        PlannedChange, PlannedDealer, Progress, Request, RequestOrigin, ScoreChange, StatusWords, StockPlan, Timestamp,
        ValueChange, Via,
    },
    ports::{
        AdOfStock, ApplyStart, ChangeRequest, NewChange, Outcome, PAGE_BYTES, PlanLease, PlanResult, PlanScope,
        PlanStore, Record, RecordedOutcome, Revision, Scope, Store, StoreError, StoredAd,
    },
    violation::{Code, Warning},
};
use ad_tests::eventually;
use futures_util::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::store_contract::{ad, at, claim, create, find, id, on_every_store, record};

/// A store of both kinds.
trait BothStores: Store + PlanStore {}
impl<T: Store + PlanStore> BothStores for T {}

on_every_store!(
    a_plan_is_computed_and_read_as_it_was_written,
    a_dealer_has_at_most_three_unfinished_plans,
    of_many_plans_at_once_three_are_begun,
    dealers_of_a_group_are_added_as_they_occur,
    plans_are_seen_by_those_who_see_all_their_dealers,
    changes_are_filtered_and_paged,
    a_page_of_changes_ends_at_its_most_bytes,
    any_text_of_a_change_comes_back,
    who_lost_the_lease_writes_nothing,
    one_plan_of_a_dealer_is_applied_at_a_time,
    of_many_who_apply_one_starts,
    changes_are_open_by_phase_and_outcomes_are_counted,
    a_cancelled_plan_keeps_what_was_made,
    plans_are_claimed_by_the_time_at_which_they_are_due,
    the_requests_of_changes_are_followed,
    an_ended_plan_is_removed_in_parts,
    the_stock_is_read_for_comparison,
);

const LEASE: Duration = Duration::from_secs(30);
const KEPT: Duration = Duration::from_hours(24);
const NORTH: PlanScope<'_> = PlanScope { holder: "dealer_code north", dealers: Scope::Dealer("north") };

fn options(dealer_code: Option<&str>) -> PlanOptions {
    PlanOptions {
        missing: MissingAds::Delete,
        vehicle_types: Some(vec!["car".to_owned()]),
        most_removals: Some(7),
        dealer_code: dealer_code.map(str::to_owned),
    }
}

fn plan(number: u128, dealer_code: &str) -> StockPlan {
    StockPlan::new(id(number), format!("dealer_code {dealer_code}"), options(Some(dealer_code)), at(0))
}

/// Begins a plan of a dealer.
async fn begin(store: &dyn BothStores, number: u128, dealer_code: &str) -> PlanLease {
    assert!(store.begin_plan(&plan(number, dealer_code), at(0) + LEASE).await.unwrap());
    PlanLease::of_new(id(number))
}

fn change(n: u32, kind: ChangeKind) -> NewChange {
    let body = (kind != ChangeKind::Delete).then(|| json!({"body": n}).as_object().unwrap().clone());
    NewChange {
        change: PlannedChange {
            n,
            line: Some(u64::from(n) + 1),
            dealer_code: Some("north".to_owned()),
            source_id: Some(format!("car-{n}")),
            kind,
            revision: (kind != ChangeKind::Create).then_some(1 << 60),
            details: ChangeDetails::default(),
            outcome: None,
            code: None,
            request_id: None,
        },
        body,
    }
}

fn result(state: PlanState) -> PlanResult {
    PlanResult {
        state,
        dealers: Vec::new(),
        guard: Guard { most_removals: 3, removals: 1, exceeded: false },
        errors: Vec::new(),
        expires: at(0) + KEPT,
    }
}

/// A plan of a dealer that is ready, with these changes.
async fn ready(store: &dyn BothStores, number: u128, dealer_code: &str, changes: &[NewChange]) -> Uuid {
    let lease = begin(store, number, dealer_code).await;
    store.append_changes(lease, changes, at(5) + LEASE).await.unwrap();
    store.finish_plan(lease, &result(PlanState::Ready)).await.unwrap();
    lease.plan
}

async fn start(store: &dyn BothStores, plan: Uuid) -> ApplyStart {
    store.start_applying(plan, &RequestOrigin::default(), at(10)).await.unwrap()
}

/// Starts to apply a plan, and claims it.
async fn applying(store: &dyn BothStores, plan: Uuid) -> PlanLease {
    assert_eq!(start(store, plan).await, ApplyStart::Started);
    let claimed = store.claim_plan(at(10), at(10) + LEASE).await.unwrap().unwrap();
    assert_eq!(claimed.plan.id, plan);
    claimed.lease
}

async fn read(store: &dyn BothStores, plan: Uuid) -> StockPlan {
    store.plan(NORTH, plan).await.unwrap().unwrap()
}

async fn changes(store: &dyn BothStores, plan: Uuid, query: ChangeQuery) -> (u64, Vec<u32>) {
    let page = store.plan_changes(plan, &query).await.unwrap();
    (page.count, page.rows.into_iter().map(|change| change.n).collect())
}

fn outcome(n: u32, outcome: ChangeOutcome) -> RecordedOutcome {
    RecordedOutcome { n, outcome, code: None, has_request: outcome == ChangeOutcome::Accepted }
}

async fn record_outcomes(store: &dyn BothStores, lease: PlanLease, outcomes: &[RecordedOutcome]) -> PlanState {
    store.record_outcomes(lease, outcomes, at(20) + KEPT).await.unwrap()
}

async fn a_plan_is_computed_and_read_as_it_was_written(store: &dyn BothStores) {
    let lease = begin(store, 1, "north").await;
    assert_eq!(read(store, id(1)).await, plan(1, "north"));
    let mut update = change(0, ChangeKind::Update);
    update.change.details = ChangeDetails {
        fields: vec![ValueChange { pointer: "/price/0/amount".to_owned(), from: json!(1.5), to: Value::Null }],
        links_to: Some("car-9".to_owned()),
        errors: vec![ChangeError {
            pointer: "/body".to_owned(),
            code: Code::TooLong,
            detail: "Too long.".to_owned(),
            suggestion: Some("Shorter".to_owned()),
            rule: None,
        }],
        warnings: vec![Warning { field: "body".to_owned(), code: Code::Conflict, message: "Not meant?".to_owned() }],
        quality: ScoreChange { from: Some(40), to: Some(60) },
    };
    let mut invalid = change(1, ChangeKind::Invalid);
    (invalid.change.source_id, invalid.change.dealer_code, invalid.change.line) = (None, None, None);
    store.append_changes(lease, &[update.clone()], at(5) + LEASE).await.unwrap();
    store.append_changes(lease, &[invalid.clone()], at(6) + LEASE).await.unwrap();
    let counts = ChangeCounts { update: 1, invalid: 1, unchanged: 500, ..ChangeCounts::default() };
    let errors = vec![PlanError {
        code: Code::Required,
        pointer: Some("/source_id".to_owned()),
        line: Some(2),
        detail: "This field is required.".to_owned(),
        count: 1,
    }];
    let north = PlannedDealer { dealer_code: "north".to_owned(), counts, ..PlannedDealer::default() };
    let result = PlanResult { dealers: vec![north.clone()], errors: errors.clone(), ..result(PlanState::Ready) };
    store.finish_plan(lease, &result).await.unwrap();
    let expected = StockPlan {
        state: PlanState::Ready,
        expires: Some(at(0) + KEPT),
        dealers: vec![north],
        guard: result.guard,
        errors,
        ..plan(1, "north")
    };
    assert_eq!(read(store, id(1)).await, expected);
    let page = store.plan_changes(id(1), &ChangeQuery::default()).await.unwrap();
    assert_eq!((page.count, page.rows), (2, vec![update.change, invalid.change]));
    assert_eq!(store.plan(NORTH, id(2)).await.unwrap(), None);
    assert_eq!(changes(store, id(2), ChangeQuery::default()).await, (0, Vec::new()));
}

async fn a_dealer_has_at_most_three_unfinished_plans(store: &dyn BothStores) {
    ready(store, 1, "north", &[]).await;
    ready(store, 2, "north", &[]).await;
    begin(store, 3, "north").await;
    begin(store, 4, "south").await;
    let begins = async |number| store.begin_plan(&plan(number, "north"), at(30)).await.unwrap();
    assert!(!begins(5).await);
    assert_eq!(store.plan(NORTH, id(5)).await.unwrap(), None);
    assert!(store.cancel_plan(id(1), at(0) + KEPT).await.unwrap());
    assert!(!store.cancel_plan(id(1), at(9) + KEPT).await.unwrap(), "it has ended");
    assert!(begins(5).await);
    assert!(!begins(6).await);
    assert_eq!(start(store, id(2)).await, ApplyStart::Started);
    assert!(!begins(6).await, "it is not ended");
}

async fn of_many_plans_at_once_three_are_begun(store: &dyn BothStores) {
    let plans: Vec<_> = (1..=8).map(|number| plan(number, "north")).collect();
    let begun = join_all(plans.iter().map(|plan| store.begin_plan(plan, at(30)))).await;
    assert_eq!(begun.into_iter().filter(|begun| *begun.as_ref().unwrap()).count(), 3);
    assert_eq!(store.plans(NORTH, Page::default()).await.unwrap().count, 3);
}

async fn dealers_of_a_group_are_added_as_they_occur(store: &dyn BothStores) {
    let of_group = |number| StockPlan::new(id(number), "dealer_group nord".to_owned(), options(None), at(0));
    for number in 1..=3 {
        assert!(store.begin_plan(&of_group(number), at(30)).await.unwrap());
    }
    assert!(!store.begin_plan(&of_group(4), at(30)).await.unwrap());
    begin(store, 5, "north").await;
    begin(store, 6, "north").await;
    let added = async |number, dealer| store.add_plan_dealer(PlanLease::of_new(id(number)), dealer).await.unwrap();
    assert!(added(1, "south").await);
    assert!(added(1, "north").await);
    assert!(!added(2, "north").await, "it has three by now");
    let codes = [String::from("north"), String::from("south")];
    let scope = PlanScope { holder: "dealer_group nord", dealers: Scope::Dealers(&codes) };
    let read = store.plan(scope, id(1)).await.unwrap().unwrap();
    let dealers: Vec<_> = read.dealers.into_iter().map(|dealer| dealer.dealer_code).collect();
    assert_eq!(dealers, codes);
    let lost = store.add_plan_dealer(PlanLease { plan: id(3), lease: 7 }, "south").await;
    assert!(matches!(lost, Err(StoreError::LeaseLost)), "{lost:?}");
}

async fn plans_are_seen_by_those_who_see_all_their_dealers(store: &dyn BothStores) {
    begin(store, 1, "north").await;
    begin(store, 2, "south").await;
    let of_group = StockPlan::new(id(3), "dealer_group nord".to_owned(), options(None), at(0));
    assert!(store.begin_plan(&of_group, at(30)).await.unwrap());
    let codes = [String::from("north"), String::from("south")];
    let group = PlanScope { holder: "dealer_group nord", dealers: Scope::Dealers(&codes) };
    let south = PlanScope { holder: "dealer_code south", dealers: Scope::Dealer("south") };
    let seen = async |scope, limit, offset| {
        let page = store.plans(scope, Page { limit, offset }).await.unwrap();
        (page.count, page.rows.into_iter().map(|plan| plan.id).collect::<Vec<_>>())
    };
    assert_eq!(seen(NORTH, 50, 0).await, (1, vec![id(1)]));
    assert_eq!(seen(group, 50, 0).await, (3, vec![id(3), id(2), id(1)]), "newest first");
    assert_eq!(seen(group, 1, 1).await, (3, vec![id(2)]));
    assert_eq!(seen(group, 5, 9).await, (3, Vec::new()));
    for dealer in ["north", "south"] {
        assert!(store.add_plan_dealer(PlanLease::of_new(id(3)), dealer).await.unwrap());
    }
    assert_eq!(seen(NORTH, 50, 0).await, (1, vec![id(1)]), "the other is about another dealer too");
    assert_eq!(seen(south, 50, 0).await, (1, vec![id(2)]));
    assert_eq!(seen(group, 50, 0).await.0, 3);
    assert_eq!(store.plan(NORTH, id(3)).await.unwrap(), None);
    assert!(store.plan(group, id(3)).await.unwrap().is_some());
}

async fn changes_are_filtered_and_paged(store: &dyn BothStores) {
    let kinds = [ChangeKind::Update, ChangeKind::Create, ChangeKind::Invalid, ChangeKind::Update, ChangeKind::Delete];
    let all: Vec<_> = (0..).zip(kinds).map(|(n, kind)| change(n, kind)).collect();
    let plan = ready(store, 1, "north", &all).await;
    ready(store, 2, "north", &all[..1]).await;
    let lease = applying(store, plan).await;
    record_outcomes(store, lease, &[outcome(3, ChangeOutcome::Conflict), outcome(1, ChangeOutcome::Conflict)]).await;
    let all = ChangeQuery::default();
    assert_eq!(changes(store, plan, all.clone()).await, (5, vec![0, 1, 2, 3, 4]));
    let updates = ChangeQuery { kind: Some(ChangeKind::Update), ..all.clone() };
    assert_eq!(changes(store, plan, updates.clone()).await, (2, vec![0, 3]));
    let conflicts = ChangeQuery { outcome: Some(ChangeOutcome::Conflict), ..all.clone() };
    assert_eq!(changes(store, plan, conflicts.clone()).await, (2, vec![1, 3]));
    assert_eq!(changes(store, plan, ChangeQuery { kind: updates.kind, ..conflicts }).await, (1, vec![3]));
    let of_ad = ChangeQuery { source_id: Some("car-4".to_owned()), ..all.clone() };
    assert_eq!(changes(store, plan, of_ad).await, (1, vec![4]));
    let page = Page { limit: 2, offset: 3 };
    assert_eq!(changes(store, plan, ChangeQuery { page, ..all.clone() }).await, (5, vec![3, 4]));
    let page = Page { limit: 2, offset: 9 };
    assert_eq!(changes(store, plan, ChangeQuery { page, ..all }).await, (5, Vec::new()));
}

async fn a_page_of_changes_ends_at_its_most_bytes(store: &dyn BothStores) {
    let long = "x".repeat(usize::try_from(PAGE_BYTES).unwrap() / 2);
    let changes_with_details = (0..3).map(|n| {
        let mut change = change(n, ChangeKind::Create);
        change.change.details.links_to = Some(long.clone());
        change
    });
    let plan = ready(store, 1, "north", &changes_with_details.collect::<Vec<_>>()).await;
    assert_eq!(changes(store, plan, ChangeQuery::default()).await, (3, vec![0]));
    let page = Page { limit: 5, offset: 1 };
    assert_eq!(changes(store, plan, ChangeQuery { page, ..ChangeQuery::default() }).await, (3, vec![1]));
}

async fn any_text_of_a_change_comes_back(store: &dyn BothStores) {
    for (number, text) in (1..).zip(["å\"\\/ä\n", "\0", "\u{10fffe}\0", "null", "\u{1f600}"]) {
        let mut change = change(0, ChangeKind::Create);
        change.change.source_id = Some(text.to_owned());
        change.change.details.links_to = Some(text.to_owned());
        change.body = json!({"body": text, "a": [null, 1.5]}).as_object().cloned();
        let plan = ready(store, number, &format!("north-{number}"), &[change.clone()]).await;
        let page = store.plan_changes(plan, &ChangeQuery::default()).await.unwrap();
        assert_eq!(page.rows, [change.change.clone()], "{text:?}");
        let open = store.open_changes(plan, 10).await.unwrap();
        assert_eq!((&open[0].source_id, &open[0].body), (&text.to_owned(), &change.body));
    }
}

fn is_lost<T: std::fmt::Debug>(result: &Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::LeaseLost)), "{result:?}");
}

async fn who_lost_the_lease_writes_nothing(store: &dyn BothStores) {
    let lease = begin(store, 1, "north").await;
    let claimed = store.claim_plan(at(30), at(60)).await.unwrap().unwrap();
    assert_eq!((claimed.plan.state, claimed.lease.plan), (PlanState::Computing, id(1)));
    is_lost(&store.append_changes(lease, &[change(0, ChangeKind::Create)], at(90)).await);
    is_lost(&store.finish_plan(lease, &result(PlanState::Ready)).await);
    is_lost(&store.release_plan(lease, at(90)).await);
    is_lost(&store.remove_plan(lease, 10).await);
    store.finish_plan(claimed.lease, &result(PlanState::Refused)).await.unwrap();
    is_lost(&store.finish_plan(claimed.lease, &result(PlanState::Ready)).await);
    assert_eq!(read(store, id(1)).await.state, PlanState::Refused);
    assert_eq!(changes(store, id(1), ChangeQuery::default()).await, (0, Vec::new()));
    // A cancelled plan is computed no further.
    let lease = begin(store, 2, "north").await;
    assert!(store.cancel_plan(id(2), at(1) + KEPT).await.unwrap());
    is_lost(&store.append_changes(lease, &[change(0, ChangeKind::Create)], at(90)).await);
    is_lost(&store.finish_plan(lease, &result(PlanState::Ready)).await);
    let plan = ready(store, 3, "north", &[change(0, ChangeKind::Create)]).await;
    let lease = applying(store, plan).await;
    let next = store.claim_plan(at(10) + LEASE, at(100)).await.unwrap().unwrap();
    is_lost(&store.record_outcomes(lease, &[outcome(0, ChangeOutcome::Conflict)], at(0) + KEPT).await);
    assert_eq!(record_outcomes(store, next.lease, &[]).await, PlanState::Applying);
    assert_eq!(read(store, plan).await.dealers[0].outcomes, OutcomeCounts::default());
}

async fn one_plan_of_a_dealer_is_applied_at_a_time(store: &dyn BothStores) {
    let (one, two) = (ready(store, 1, "north", &[]).await, ready(store, 2, "north", &[]).await);
    let south = ready(store, 3, "south", &[]).await;
    assert_eq!(start(store, one).await, ApplyStart::Started);
    assert_eq!(read(store, one).await.expires, None);
    assert_eq!(start(store, one).await, ApplyStart::InState(PlanState::Applying));
    assert_eq!(start(store, two).await, ApplyStart::Behind(one));
    assert_eq!(start(store, south).await, ApplyStart::Started);
    let claimed = store.claim_plan(at(10), at(10) + LEASE).await.unwrap().unwrap();
    assert_eq!(record_outcomes(store, claimed.lease, &[]).await, PlanState::Applied);
    let other = if claimed.plan.id == one { two } else { one };
    assert_eq!(start(store, claimed.plan.id).await, ApplyStart::InState(PlanState::Applied));
    if other == two {
        assert_eq!(start(store, two).await, ApplyStart::Started);
    }
    let late = ready(store, 5, "east", &[]).await;
    let too_late = store.start_applying(late, &RequestOrigin::default(), at(0) + KEPT).await.unwrap();
    assert_eq!(too_late, ApplyStart::InState(PlanState::Expired));
}

async fn of_many_who_apply_one_starts(store: &dyn BothStores) {
    let plans = [ready(store, 1, "north", &[]).await, ready(store, 2, "north", &[]).await];
    let starts = join_all((0..8).map(|n| start(store, plans[n % 2]))).await;
    assert_eq!(starts.iter().filter(|start| **start == ApplyStart::Started).count(), 1, "{starts:?}");
}

async fn changes_are_open_by_phase_and_outcomes_are_counted(store: &dyn BothStores) {
    let kinds = [
        ChangeKind::Delete,
        ChangeKind::Create,
        ChangeKind::Invalid,
        ChangeKind::Update,
        ChangeKind::Revive,
        ChangeKind::Update,
    ];
    let all: Vec<_> = (0..).zip(kinds).map(|(n, kind)| change(n, kind)).collect();
    let plan = ready(store, 1, "north", &all).await;
    let origin = RequestOrigin { asked_by: Some("jti".to_owned()), via: Some(Via::Api), ..RequestOrigin::default() };
    assert_eq!(store.start_applying(plan, &origin, at(10)).await.unwrap(), ApplyStart::Started);
    let claimed = store.claim_plan(at(10), at(10) + LEASE).await.unwrap().unwrap();
    assert_eq!((&claimed.origin, claimed.plan.state), (&origin, PlanState::Applying));
    let lease = claimed.lease;
    let open = async |limit| store.open_changes(plan, limit).await.unwrap();
    let expected = |n: u32| OpenChange {
        n,
        dealer_code: "north".to_owned(),
        source_id: format!("car-{n}"),
        kind: all[n as usize].change.kind,
        revision: all[n as usize].change.revision,
        body: all[n as usize].body.clone(),
    };
    assert_eq!(open(2).await, [expected(3), expected(4)]);
    assert_eq!(open(9).await, [expected(3), expected(4), expected(5)]);
    let failed = RecordedOutcome { code: Some(Code::QuotaExceeded), ..outcome(4, ChangeOutcome::Failed) };
    let some = [outcome(3, ChangeOutcome::Accepted), failed, outcome(5, ChangeOutcome::Done)];
    assert_eq!(record_outcomes(store, lease, &some).await, PlanState::Applying);
    assert_eq!(open(9).await, [expected(1)]);
    // Final outcomes stay, and only what has one is counted.
    let again = [outcome(4, ChangeOutcome::Done), outcome(5, ChangeOutcome::Failed), outcome(2, ChangeOutcome::Done)];
    record_outcomes(store, lease, &again).await;
    let counts = async || read(store, plan).await.dealers[0].outcomes;
    assert_eq!(counts().await, OutcomeCounts { accepted: 1, done: 1, failed: 1, conflict: 0 });
    record_outcomes(store, lease, &[RecordedOutcome { has_request: true, ..outcome(3, ChangeOutcome::Done) }]).await;
    assert_eq!(counts().await, OutcomeCounts { accepted: 0, done: 2, failed: 1, conflict: 0 });
    assert_eq!(record_outcomes(store, lease, &[outcome(1, ChangeOutcome::Conflict)]).await, PlanState::Applying);
    assert_eq!(open(9).await, [expected(0)]);
    assert_eq!(record_outcomes(store, lease, &[outcome(0, ChangeOutcome::Accepted)]).await, PlanState::Applied);
    assert_eq!(open(9).await, []);
    let applied = read(store, plan).await;
    assert_eq!((applied.state, applied.expires), (PlanState::Applied, Some(at(20) + KEPT)));
    assert_eq!(applied.unfinished(), 1);
    let page = store.plan_changes(plan, &ChangeQuery::default()).await.unwrap();
    let shown: Vec<_> = page.rows.into_iter().map(|change| (change.outcome, change.code, change.request_id)).collect();
    let request = |n| Some(PlannedChange::request_of(plan, n));
    assert_eq!(
        shown,
        [
            (Some(ChangeOutcome::Accepted), None, request(0)),
            (Some(ChangeOutcome::Conflict), None, None),
            (None, None, None),
            (Some(ChangeOutcome::Done), None, request(3)),
            (Some(ChangeOutcome::Failed), Some(Code::QuotaExceeded), None),
            (Some(ChangeOutcome::Done), None, None),
        ]
    );
}

async fn a_cancelled_plan_keeps_what_was_made(store: &dyn BothStores) {
    let all: Vec<_> = (0..3).map(|n| change(n, ChangeKind::Create)).collect();
    let plan = ready(store, 1, "north", &all).await;
    let lease = applying(store, plan).await;
    record_outcomes(store, lease, &[outcome(0, ChangeOutcome::Accepted)]).await;
    assert!(store.cancel_plan(plan, at(15) + KEPT).await.unwrap());
    // Who makes changes at this moment still records them.
    assert_eq!(record_outcomes(store, lease, &[outcome(1, ChangeOutcome::Accepted)]).await, PlanState::Cancelled);
    let cancelled = read(store, plan).await;
    assert_eq!((cancelled.state, cancelled.expires), (PlanState::Cancelled, Some(at(15) + KEPT)));
    assert_eq!(cancelled.dealers[0].outcomes.accepted, 2);
    let claimed = store.claim_plan(at(10) + LEASE, at(100)).await.unwrap().unwrap();
    assert_eq!(
        (claimed.plan.id, claimed.plan.state),
        (plan, PlanState::Cancelled),
        "what was not recorded is looked for"
    );
    assert_eq!(start(store, ready(store, 2, "north", &[]).await).await, ApplyStart::Started);
}

async fn plans_are_claimed_by_the_time_at_which_they_are_due(store: &dyn BothStores) {
    let computing = begin(store, 1, "north").await;
    let ready = ready(store, 2, "north", &[]).await;
    let applying = {
        let plan = self::ready(store, 3, "south", &[change(0, ChangeKind::Create)]).await;
        assert_eq!(start(store, plan).await, ApplyStart::Started);
        plan
    };
    let next = async |now: Timestamp| {
        let claimed = store.claim_plan(now, now + LEASE).await.unwrap()?;
        Some((claimed.plan.id, claimed.plan.state, claimed.lease))
    };
    assert_eq!(next(at(9)).await, None);
    let (plan, state, lease) = next(at(10)).await.unwrap();
    assert_eq!((plan, state), (applying, PlanState::Applying));
    assert_eq!(next(at(10)).await, None, "somebody has it");
    store.release_plan(lease, at(12)).await.unwrap();
    is_lost(&store.release_plan(lease, at(13)).await);
    assert_eq!(next(at(11)).await, None);
    let (plan, _, lease) = next(at(12)).await.unwrap();
    assert_eq!(plan, applying);
    store.release_plan(lease, at(500)).await.unwrap();
    store.append_changes(computing, &[change(0, ChangeKind::Create)], at(60)).await.unwrap();
    assert_eq!(next(at(59)).await, None, "its body is being read");
    let (plan, state, _) = next(at(60)).await.unwrap();
    assert_eq!((plan, state), (id(1), PlanState::Computing));
    assert_eq!(next(at(500)).await.map(|(plan, ..)| plan), Some(id(1)), "it has been due for longer");
    assert_eq!(next(at(500)).await.map(|(plan, ..)| plan), Some(applying));
    assert_eq!(next(at(500)).await, None);
    let (plan, state, lease) = next(at(0) + KEPT).await.unwrap();
    assert!([id(1), applying].contains(&plan) && state != PlanState::Ready);
    store.release_plan(lease, at(1) + KEPT).await.unwrap();
    let mut others = Vec::new();
    while let Some((plan, state, _)) = next(at(0) + KEPT).await {
        others.push((plan, state));
    }
    assert!(others.contains(&(ready, PlanState::Ready)), "{others:?}");
}

/// Revises an ad by a request of this id.
async fn revise_by(store: &dyn BothStores, stored: &StoredAd, request: Uuid, intent: Option<AdState>) {
    let origin = RequestOrigin { plan_id: Some(id(1)), ..RequestOrigin::default() };
    let progress = Progress { origin, ..Progress::default() };
    let request = Request { progress, ..Request::new(request, None, at(500)) };
    let revision = Revision {
        ad: stored.ad.id,
        dealer_code: &stored.ad.dealer_code,
        revision: stored.revision,
        content: None,
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: at(500),
        request: &request,
        coalesces: false,
        reservation: None,
        answer: None,
    };
    store.revise(revision).await.unwrap();
}

async fn the_requests_of_changes_are_followed(store: &dyn BothStores) {
    let changes: Vec<_> = (0..5).map(|n| change(n, ChangeKind::Update)).collect();
    let plan = ready(store, 1, "north", &changes).await;
    let lease = applying(store, plan).await;
    // Requests of these changes: one that is queued, one that is done, one that has failed.
    for number in 0..3 {
        let ad = ad(u128::from(number) + 1, "north", &format!("car-{number}"));
        create(store, &ad).await.unwrap();
        let created = claim(store, at(590)).await.pop().unwrap();
        store.record(record(&created, Outcome::Finished)).await.unwrap();
        let (stored, _) = find(store, &ad).await;
        let request = PlannedChange::request_of(plan, number);
        revise_by(store, &stored, request, None).await;
        if number > 0 {
            let claimed = claim(store, at(600)).await.into_iter().find(|it| it.request.id == request).unwrap();
            let done = LogEntry::new(request, at(600), Action::Update, ActionState::Done, json!("Done"));
            let failed = LogEntry::failed(request, at(600), Action::Publish, Code::GivenUp, json!("Failed"));
            let entries = if number == 1 { vec![done] } else { vec![failed, done] };
            let ended = Record { entries, ..record(&claimed, Outcome::Finished) };
            store.record(ended).await.unwrap();
        }
    }
    // Queued and finished ones know their plan, and so do the events.
    for number in 0..3 {
        let request = PlannedChange::request_of(plan, number);
        let stored = store.request(Scope::Dealer("north"), request).await.unwrap().unwrap();
        assert_eq!((stored.queued.is_some(), stored.plan_id), (number == 0, Some(plan)));
    }
    let query = EventQuery { source_id: Some("car-1".to_owned()), limit: 9, ..EventQuery::default() };
    let events = async || {
        let events = store.events(Scope::Dealer("north"), &query).await.unwrap().events;
        (events.len() == 2).then(|| events.into_iter().map(|event| event.plan_id).collect::<Vec<_>>())
    };
    assert_eq!(eventually("all events can be read", events).await, [None, Some(plan)]);
    let of = |n, outcome, code| ChangeRequest { n, outcome, code };
    let requests = async |open, after, limit| store.requests_of_changes(plan, open, after, limit).await.unwrap();
    assert_eq!(requests(false, None, 9).await, []);
    let expected = [
        of(0, Some(ChangeOutcome::Accepted), None),
        of(1, Some(ChangeOutcome::Done), None),
        of(2, Some(ChangeOutcome::Failed), Some(Code::GivenUp)),
        of(3, None, None),
        of(4, None, None),
    ];
    assert_eq!(requests(true, None, 9).await, expected);
    assert_eq!(requests(true, Some(0), 2).await, expected[1..3]);
    let some =
        [outcome(1, ChangeOutcome::Accepted), outcome(2, ChangeOutcome::Accepted), outcome(3, ChangeOutcome::Done)];
    record_outcomes(store, lease, &some).await;
    assert_eq!(requests(false, None, 9).await, expected[1..3]);
    assert_eq!(requests(false, Some(1), 9).await, expected[2..3]);
    assert_eq!(requests(true, Some(2), 9).await, expected[4..], "what has a final outcome is not looked at");
    assert_eq!(store.due_requests("north", at(600), 9).await.unwrap(), 0, "the one that is left was claimed");
    assert_eq!(store.due_requests("north", at(9000), 9).await.unwrap(), 1);
    assert_eq!(store.due_requests("north", at(9000), 0).await.unwrap(), 0);
    assert_eq!(store.due_requests("south", at(9000), 9).await.unwrap(), 0);
}

async fn an_ended_plan_is_removed_in_parts(store: &dyn BothStores) {
    let changes: Vec<_> = (0..5).map(|n| change(n, ChangeKind::Create)).collect();
    let plan = ready(store, 1, "north", &changes).await;
    let other = ready(store, 2, "north", &changes).await;
    assert!(store.cancel_plan(plan, at(10)).await.unwrap());
    let lease = store.claim_plan(at(10), at(40)).await.unwrap().unwrap().lease;
    assert!(!store.remove_plan(lease, 2).await.unwrap());
    assert!(!store.remove_plan(lease, 2).await.unwrap());
    assert!(store.remove_plan(lease, 2).await.unwrap());
    assert_eq!(store.plan(NORTH, plan).await.unwrap(), None);
    is_lost(&store.remove_plan(lease, 2).await);
    let left = store.plans(NORTH, Page::default()).await.unwrap();
    assert_eq!((left.count, left.rows[0].id), (1, other));
    assert_eq!(self::changes(store, other, ChangeQuery::default()).await.0, 5);
}

async fn the_stock_is_read_for_comparison(store: &dyn BothStores) {
    for (number, dealer, source_id) in [(1, "north", "b"), (2, "north", "a"), (3, "south", "a"), (4, "north", "c")] {
        create(store, &ad(number, dealer, source_id)).await.unwrap();
    }
    let ids = ["c", "a", "x"].map(str::to_owned);
    let mut found = store.ads_of_stock("north", &ids).await.unwrap();
    found.sort_by_key(|stored| stored.ad.id);
    let expected = [find(store, &ad(2, "north", "a")).await.0, find(store, &ad(4, "north", "c")).await.0];
    assert_eq!(found, expected);
    assert_eq!(store.ads_of_stock("north", &[]).await.unwrap(), []);
    // One is to be deleted.
    let (stored, _) = find(store, &ad(4, "north", "c")).await;
    revise_by(store, &stored, id(2001), Some(AdState::Deleted)).await;
    let of = |source_id: &str, is_deleted| AdOfStock { source_id: source_id.to_owned(), category_id: 1020, is_deleted };
    let behind = async |source_id, limit| store.stock_behind("north", source_id, limit).await.unwrap();
    assert_eq!(behind("", 2).await, [of("a", false), of("b", false)]);
    assert_eq!(behind("b", 2).await, [of("c", true)]);
    assert_eq!(behind("c", 2).await, []);
    let plates = ["PLT001", "PLT003", "PLT999"].map(str::to_owned);
    let found = store.ads_with_plates("north", &plates).await.unwrap();
    assert_eq!(found, [("PLT001".to_owned(), "b".to_owned())]);
}
