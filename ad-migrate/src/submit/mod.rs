//! Creates one ad per valid row at the service, exactly once, through `ad-cli`'s import.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`folder`] | the migration's folder, with payloads and journal |
//! | [`prepare`] | the check's [sink](crate::check::Sink) that writes the payloads, and collects the identifiers of the rows |
//! | [`rehearse`] | validates every payload at the service, which stores nothing |
//! | [`revise`] | updates or removes ads that were created before |
//! | [`sync`] | makes the ads of the service equal to the file |
//! | [`revised`] | what became of ads that were changed |
//! | [`outcome`] | the outcome of each row: linked to an existing listing, newly listed, rejected, … |
//! | [`missing`] | ads and listings of the dealer without a row, which are reported and not changed |
//!
//! [`ad_bulk::import`] sends the payloads and keeps the journal.

pub(crate) mod folder;
pub(crate) mod missing;
pub(crate) mod outcome;
pub(crate) mod prepare;
pub(crate) mod rehearse;
pub(crate) mod revise;
pub(crate) mod revised;
pub(crate) mod sync;
