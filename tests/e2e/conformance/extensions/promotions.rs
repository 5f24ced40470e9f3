//! E9.4: promotions by the clock.

use crate::conformance::rule::{Rule, extension};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E9", name, says);
    vec![
        rule("schedules", "A schedule promotes selected ads on some weekdays at a local time; preview and runs say which, why not, and what it costs; its budget is that of a month.")
            .see("e2e::promotions::a_schedule_promotes_by_the_clock_on_sqlite")
            .see("e2e::promotions::a_schedule_promotes_by_the_clock_on_postgresql"),
        rule("schedules of the scope", "What is wrong is refused with all errors; schedules are those of the token's scope; `promote` changes them, `read` reads them.")
            .see("e2e::promotions::what_is_wrong_is_refused_and_schedules_are_those_of_the_scope"),
        rule("runs happen once", "A run that was missed happens once; a run survives `kill -9` and happens once with any number of processes.")
            .see("e2e::promotions::each_run_happens_once_however_often_the_process_is_killed_on_sqlite")
            .see("e2e::promotions::each_run_happens_once_however_often_two_processes_are_killed_on_postgresql"),
    ]
}
