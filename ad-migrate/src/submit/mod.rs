//! Creates one ad per valid row at the service, exactly once, through `ad-cli`'s import.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`folder`] | the migration's folder, with payloads and journal |
//! | [`prepare`] | the check's [sink](crate::check::Sink) that writes the payloads, and collects the identifiers of the rows |
//! | [`rehearse`] | validates every payload at the service, which stores nothing |
//! | [`revise`] | updates or removes ads that were created before |
//! | [`sync`] | makes the ads of the service equal to the file |
//! | [`changing`] | changes many ads, with progress and until Ctrl-C |
//! | [`far_prices`] | refuses prices that are far from those of now |
//! | [`revised`] | what became of ads that were changed |
//! | [`photos`] | failed photos, by host |
//! | [`report`] | the outcomes in a file, with the invalid rows |
//! | [`outcome`] | the outcome of each row: linked to an existing listing, newly listed, rejected, … |
//! | [`missing`] | ads and listings of the dealer without a row, which are reported and not changed |
//!
//! [`ad_bulk::import`] sends the payloads and keeps the journal.

pub(crate) mod changing;
mod far_prices;
pub(crate) mod folder;
pub(crate) mod missing;
pub(crate) mod outcome;
mod photos;
pub(crate) mod prepare;
pub(crate) mod rehearse;
pub(crate) mod report;
pub(crate) mod revise;
pub(crate) mod revised;
pub(crate) mod sync;

use ad_terminal::Failure;

/// What limits changes of many ads: what an option allows, or the default.
fn guard_limit(option: &str, allowed: Option<u64>) -> String {
    match allowed {
        Some(most) => format!("{option} {most}"),
        None => ad_terminal::removals_limit(None),
    }
}

/// Two reasons why nothing is changed, as one.
pub(crate) fn both(one: Option<Failure>, other: Option<Failure>) -> Option<Failure> {
    match (one, other) {
        (Some(one), Some(Failure::Explained { message, hints, .. })) => {
            let text = format!("{one}\nalso: {message}");
            Some(hints.into_iter().fold(one.with_message(text), Failure::hint))
        }
        (one, other) => one.or(other),
    }
}
