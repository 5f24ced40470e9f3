//! E8: stock plans.

use crate::conformance::rule::{Rule, extension};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E8", name, says);
    vec![
        rule("plan", "The whole stock as NDJSON or a JSON array, also in gzip, is compared while it comes; 202, or 200 with `Prefer: wait`; nothing changes.")
            .see("e2e::stock_plans::a_stock_becomes_what_is_sent_on_sqlite")
            .see("e2e::stock_plans::bodies::gzip_is_unpacked_and_one_that_ends_early_is_refused")
            .see("e2e::stock_plans::bodies::a_stock_beyond_the_settings_is_refused_and_a_hundred_thousand_errors_are_counted")
            .see("e2e::stock_plans::a_group_plans_for_one_dealer_or_for_those_that_occur"),
        rule("refused", "A body that is not whole changes nothing: 400 with the refused plan, with line, code and cure.")
            .see("e2e::stock_plans::bodies::a_body_that_is_no_stock_refuses_the_plan_and_says_where")
            .see("e2e::stock_plans::bodies::a_connection_that_ends_early_refuses_the_plan_at_once"),
        rule("scope", "Plans are those of the token's scope; three unfinished ones for each dealer; `DELETE` cancels.")
            .see("e2e::stock_plans::plans_are_those_of_the_scope_and_bounded"),
        rule("guard", "More removals than allowed: 409 with the number, until `allow_removals` equals it; hiding counts.")
            .see("e2e::stock_plans::more_removals_than_the_guard_allows_need_their_number"),
        rule("apply", "Updates, creates, removals, as ordinary requests with `plan_id`; an ad that has changed is a `conflict`; applying goes on after `kill -9`, and no change is made twice.")
            .see("e2e::stock_plans::a_stock_becomes_what_is_sent_on_postgresql")
            .see("e2e::stock_plans::faults::every_ad_is_as_the_last_applied_plan_says_on_sqlite")
            .see("e2e::stock_plans::faults::every_ad_is_as_the_last_applied_plan_says_on_postgresql"),
        rule("selection", "A list filter and a change make a plan as well.")
            .see("e2e::stock_plans::one_change_of_selected_ads_is_a_plan"),
    ]
}
