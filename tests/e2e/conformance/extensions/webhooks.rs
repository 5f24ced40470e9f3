//! E5: webhooks. Each rule has a test with a receiver of its own.

use crate::conformance::rule::{Rule, extension};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |number: &str, name: &str, says: &str, see: &'static str| extension(number, name, says).see(see);
    vec![
        rule(
            "E5.1",
            "endpoints",
            "POST, GET (list, one), PATCH and DELETE; the secret is shown once.",
            "tests/e2e/webhooks/endpoints.rs::endpoints_are_created_changed_and_deleted",
        ),
        rule(
            "E5.1",
            "at most 10",
            "At most 10 endpoints per scope (setting).",
            "tests/e2e/webhooks/endpoints.rs::a_scope_has_as_many_webhooks_as_the_setting_says",
        ),
        rule(
            "E5.1",
            "deliveries, resend, test",
            "Deliveries with each attempt; resend; test.",
            "tests/e2e/webhooks/delivery.rs::deliveries_are_listed_and_sent_again_and_a_test_event_is_sent",
        ),
        rule(
            "E5.1",
            "replay",
            "`replay` from a cursor or time.",
            "tests/e2e/webhooks/delivery.rs::events_are_replayed_from_a_cursor_or_time",
        ),
        rule(
            "E5.2",
            "signature",
            "Headers, signature and body of Standard Webhooks; two secrets sign after a rotation.",
            "tests/e2e/webhooks/signatures.rs::python_verifies_signatures",
        ),
        rule(
            "E5.3",
            "retries",
            "Success is 2xx within 15 s; redirects are not followed; 410 disables; `Retry-After` honoured.",
            "tests/e2e/webhooks/failures.rs::every_failure_is_retried_and_nobody_else_is_late",
        ),
        rule(
            "E5.3",
            "disabled",
            "A disabled endpoint keeps its position, or resumes from now.",
            "tests/e2e/webhooks/delivery.rs::a_disabled_endpoint_goes_on_where_it_stopped_or_from_now",
        ),
        rule(
            "E5.3",
            "kill -9",
            "Delivery goes on after `kill -9`; no event is left out, and a repeated one has the same id.",
            "tests/e2e/webhooks/delivery.rs::no_event_is_left_out_when_the_server_is_killed",
        ),
        rule(
            "E5.3",
            "any process",
            "Delivery goes on from any process.",
            "tests/e2e/webhooks/delivery.rs::another_process_sends_when_the_first_is_killed",
        ),
        rule(
            "E5.4",
            "public addresses",
            "Only public https addresses, guarded after resolution.",
            "tests/e2e/webhooks/failures.rs::a_name_that_turns_private_is_not_connected_to",
        ),
    ]
}
