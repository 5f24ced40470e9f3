//! E10: the record.

use crate::conformance::rule::{Rule, extension};

pub(super) fn rules() -> Vec<Rule> {
    let rule = |name: &str, says: &str| extension("E10", name, says);
    vec![
        rule("revisions", "Listed newest first with who made them and what they changed; the whole ad of one, and as it was at a time; also of deleted ads.")
            .see("e2e::revisions::every_accepted_change_is_recorded")
            .see("rules::revisions::a_deleted_ad_has_its_revisions_and_is_deleted_from_then_on"),
        rule("restore", "An update by today's rules, bound by `If-Match`; fields that cannot change stay and are named in `warnings`.")
            .see("e2e::revisions::every_accepted_change_is_recorded")
            .see("rules::revisions::fields_that_cannot_change_stay_and_others_are_refused_by_name"),
        rule("differences", "Backwards from the present content, in the commit of the change; retention and erasure take them along.")
            .see("rules::revisions::after_300_random_changes_every_moment_of_ads_of_all_types_is_as_it_was")
            .see("e2e::revisions::a_killed_server_has_recorded_every_accepted_change")
            .see("e2e::retention::earlier_contents_are_forgotten_by_age"),
        rule("not recorded", "A time before the ad or the record: 400 `not_recorded` with the earliest time.")
            .see("rules::revisions::what_was_changed_without_a_record_ends_it"),
        rule("calls", "Every call of a marketplace with status, code, latency, key and checksum, in the commit of its outcome, alike of local marketplaces and those over HTTP.")
            .see("e2e::record::every_call_is_recorded_alike_of_local_marketplaces_and_those_over_http")
            .see("rules::record::calls_are_recorded_with_what_was_answered")
            .see("e2e::retention::calls_are_removed_by_age"),
        rule("signed record", "One document of the ad, its revisions, log, calls, charges and checksums of photos, with a detached signature; `ad-cli record verify` needs no service.")
            .see("e2e::record::a_record_has_everything_of_the_ad")
            .see("e2e::record::a_saved_record_is_verified_without_the_service")
            .see("e2e::record::another_library_verifies_a_record")
            .see("e2e::record::a_record_of_another_service_is_told_apart_and_old_keys_stay_published"),
        rule("command line", "`ad-cli history`, `get --at` and `restore`.")
            .see("e2e::revisions::the_command_line_shows_and_restores_what_an_ad_said"),
    ]
}
