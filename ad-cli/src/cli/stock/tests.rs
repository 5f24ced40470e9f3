use serde_json::{Value, json};

use super::*;
use crate::{
    PlannedChange,
    bulk::Surface,
    terminal::{Capture, ColorWhen, Format},
};

fn counts(update: u64, hide: u64, invalid: u64) -> Value {
    json!({"create": 1, "update": update, "revive": 0, "unchanged": 996, "hide": hide, "delete": 0, "invalid": invalid})
}

fn plan_of(state: &str, change: impl FnOnce(&mut Value)) -> StockPlan {
    let mut plan = json!({
        "id": Uuid::from_u128(7), "state": state, "created": "2026-11-29T21:20:00.000Z", "expires": "2026-11-30T21:20:00.000Z",
        "dealers": [{"dealer_code": "north-cars", "counts": counts(12, 0, 0),
            "outcomes": {"accepted": 0, "done": 0, "failed": 0, "conflict": 0}, "cost": null}],
        "guard": {"most_removals": 20, "removals": 0, "exceeded": false}, "errors": [],
    });
    change(&mut plan);
    serde_json::from_value(plan).unwrap()
}

fn change_of(change: &Value) -> PlannedChange {
    let mut all = json!({"line": 4, "dealer_code": "north-cars", "source_id": "car-1", "kind": "update", "revision": 2, "outcome": null, "code": null,
        "request_id": null, "quality": {"from": null, "to": null}});
    all.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

/// What stdout and stderr get.
fn shown(format: Format, show: impl FnOnce(Output)) -> (String, String) {
    let capture = Capture::new(1024 * 1024);
    let out = Output::new(format, ColorWhen::Never, crate::terminal::output::Verbosity::Usual, capture.streams());
    show(out);
    let (stdout, stderr) = capture.end();
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn shown_to_people(plan: &StockPlan, changes: Vec<PlannedChange>, count: u64) -> String {
    shown(Format::Table, |out| show::plan(out, plan, &Excerpt { changes, count }).unwrap()).0
}

#[test]
fn people_see_first_changes_errors_and_counts() {
    let plan = plan_of("ready", |plan| {
        plan["dealers"][0]["counts"] = counts(12, 1, 2);
        plan["dealers"][0]["cost"] = json!(120.5);
        plan["errors"] = json!([{"code": "required", "pointer": "/category_fields/brand", "line": 7, "detail": "This field is required.", "count": 2}]);
    });
    let changes = vec![
        change_of(&json!({
            "fields": [
                {"pointer": "/price", "from": [{"type": "list", "amount": 199_000, "currency": "SEK"}],
                    "to": [{"type": "list", "amount": 189_000, "currency": "SEK"}]},
                {"pointer": "/category_fields/color", "from": "red", "to": null},
            ],
            "quality": {"from": 80, "to": 70},
        })),
        change_of(&json!({"line": 9, "source_id": "car-2", "kind": "create", "links_to": "car-9", "revision": null})),
        change_of(&json!({"line": null, "source_id": "car-3", "kind": "hide"})),
        change_of(&json!({"line": 7, "source_id": null, "kind": "invalid", "revision": null,
            "errors": [{"pointer": "/category_fields/brand", "code": "required", "detail": "This field is required."}]})),
    ];
    assert_eq!(
        shown_to_people(&plan, changes, 16),
        "\
Changes (the first 4 of 16)
  ~ car-1 (update, line 4)
      price: list 199,000 → 189,000 SEK
      category_fields.color: red → (none)
      quality: 80 → 70
  + car-2 (create, line 9)
      has the registration number of car-9
  - car-3 (hide)
  ! without source_id (invalid, line 7)
      category_fields.brand: This field is required.
Errors
  line 7: category_fields.brand: This field is required. (2 ads)
Plan 00000000-0000-0000-0000-000000000007: ready
  it can be applied until 2026-11-30 21:20Z
  12 to update, 1 to create, 1 to hide, 996 unchanged, 2 invalid
  cost: 120.5
"
    );
}

#[test]
fn of_an_applied_plan_people_see_what_was_not_made() {
    let plan = plan_of("applied", |plan| {
        plan["dealers"][0]["outcomes"] = json!({"accepted": 0, "done": 11, "failed": 1, "conflict": 1});
    });
    let changes = vec![
        change_of(&json!({"outcome": "failed", "code": "publish_failed"})),
        change_of(&json!({"line": 5, "source_id": "car-2", "outcome": "conflict", "code": "precondition_failed"})),
    ];
    let text = shown_to_people(&plan, changes, 2);
    let (first, rest) = text.split_once("  ~ car-2").unwrap();
    assert!(first.starts_with("Changes\n  ~ car-1 (update, line 4): failed\n      "), "{first}");
    assert_eq!(
        rest,
        " (update, line 5): conflict
      the ad has changed since the plan was made, and stays as it is (precondition_failed)
Plan 00000000-0000-0000-0000-000000000007: applied
  12 to update, 1 to create, 996 unchanged
  11 done, 1 failed, 1 in conflict
"
    );
}

#[test]
fn dealers_are_a_table_if_there_are_several() {
    let plan = plan_of("ready", |plan| {
        let mut other = plan["dealers"][0].clone();
        other["dealer_code"] = json!("south-cars");
        other["counts"] = counts(3, 0, 0);
        plan["dealers"].as_array_mut().unwrap().push(other);
    });
    assert_eq!(
        shown_to_people(&plan, Vec::new(), 0),
        "\
DEALER      CREATE  UPDATE  REVIVE  HIDE  DELETE  UNCHANGED  INVALID  DONE  FAILED  CONFLICT  COST
north-cars  1       12      0       0     0       996        0        0     0       0
south-cars  1       3       0       0     0       996        0        0     0       0
Plan 00000000-0000-0000-0000-000000000007: ready
  it can be applied until 2026-11-30 21:20Z
  15 to update, 2 to create, 1,992 unchanged
"
    );
}

#[test]
fn programs_get_plans_and_changes_as_the_service_shows_them() {
    let plan = plan_of("ready", |_| ());
    let (record, _) = shown(Format::Json, |out| show::plan(out, &plan, &Excerpt::default()).unwrap());
    assert_eq!(serde_json::from_str::<Value>(&record).unwrap(), serde_json::to_value(&plan).unwrap());
    let change = change_of(&json!({"outcome": "done"}));
    let (row, _) = shown(Format::Ndjson, |out| out.table(show::change_columns(out), [&change]).unwrap());
    assert_eq!(serde_json::from_str::<Value>(&row).unwrap(), serde_json::to_value(&change).unwrap());
    let (csv, _) = shown(Format::Csv, |out| out.table(show::change_columns(out), [&change]).unwrap());
    assert!(csv.starts_with("line,dealer_code,source_id,kind,revision,fields,"), "{csv}");
    let (list, _) = shown(Format::Table, |out| out.table(show::PLANS, [&plan]).unwrap());
    assert_eq!(
        list,
        "\
ID                                    STATE  CREATED            CHANGES
00000000-0000-0000-0000-000000000007  ready  2026-11-29 21:20Z  13
"
    );
}

#[test]
fn a_plan_says_its_exit_code_and_what_to_do() {
    let outcomes = |failed: u64, conflict: u64, accepted: u64| {
        move |plan: &mut Value| {
            plan["dealers"][0]["outcomes"] =
                json!({"accepted": accepted, "done": 1, "failed": failed, "conflict": conflict});
        }
    };
    let invalid = |plan: &mut Value| plan["dealers"][0]["counts"]["invalid"] = json!(1);
    let exceeded = |plan: &mut Value| plan["guard"] = json!({"most_removals": 20, "removals": 25, "exceeded": true});
    let empty = |plan: &mut Value| plan["dealers"] = json!([]);
    for (plan, exit, told) in [
        (plan_of("computing", |_| ()), None, "tool `stock_plan` with id"),
        (plan_of("ready", |_| ()), None, "tool `apply_stock_plan` with id"),
        (plan_of("ready", invalid), Some(Exit::Rejected), "tool `apply_stock_plan` with id"),
        (plan_of("ready", empty), None, "nothing to do"),
        (plan_of("ready", exceeded), Some(Exit::Rejected), "and allow_removals 25"),
        (plan_of("refused", |_| ()), Some(Exit::Rejected), "nothing was changed"),
        (plan_of("applying", |_| ()), Some(Exit::Failed), "tool `stock_plan` with id"),
        (plan_of("applied", outcomes(0, 0, 0)), None, ""),
        (plan_of("applied", outcomes(1, 0, 0)), Some(Exit::Failed), "plan the stock again"),
        (plan_of("applied", outcomes(0, 1, 0)), Some(Exit::Failed), "plan the stock again"),
        (plan_of("applied", outcomes(0, 0, 1)), Some(Exit::Failed), ""),
        (plan_of("applied", invalid), Some(Exit::Rejected), ""),
        (plan_of("cancelled", |_| ()), Some(Exit::Failed), ""),
        (plan_of("expired", |_| ()), Some(Exit::Failed), ""),
    ] {
        assert_eq!(judged(&plan), exit, "{plan:?}");
        let (_, notes) = shown(Format::Table, |out| next_step(out, &plan));
        assert!(notes.contains(told) && notes.is_empty() == told.is_empty(), "{}: {notes}", plan.state);
    }
}

#[test]
fn more_removals_than_allowed_need_a_higher_limit() {
    let plan = plan_of("ready", |plan| {
        plan["guard"] = json!({"most_removals": 20, "removals": 25, "exceeded": true});
        plan["dealers"][0]["counts"]["delete"] = json!(25);
    });
    assert!(check_guard(&plan, Some(25)).is_ok() && check_guard(&plan, Some(26)).is_ok());
    for (allowed, most) in [(None, 20), (Some(24), 24), (Some(0), 0)] {
        let Failure::Explained { exit, message, hints } = check_guard(&plan, allowed).unwrap_err() else { panic!() };
        assert_eq!(exit, Exit::Rejected);
        assert_eq!(
            message,
            format!("25 ads would be hidden or deleted, and at most {most} may be; nothing was changed")
        );
        let command =
            "to allow the removals: ad-cli stock apply 00000000-0000-0000-0000-000000000007 --allow-removals 25";
        assert_eq!(hints[1].on(Surface::CommandLine), command);
    }
    assert_eq!(question(&plan), "Make these changes (38 ads; 25 deletions, permanent)?");
    assert_eq!(question(&plan_of("ready", |_| ())), "Make these changes (13 ads)?");
}
