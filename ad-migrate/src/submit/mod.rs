//! From rows that can go to ads at the service: through [`ad_cli`]'s client, each created once, whatever happens on the way.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`folder`] | where a migration keeps what it has to remember: payloads and journal |
//! | [`prepare`] | the check's [sink](crate::check::Sink) that writes down what will be sent, and remembers what the file holds |
//! | [`rehearse`] | every payload past the service's own rules, with nothing stored |
//! | [`outcome`] | what became of each row: linked to a listing that was there, newly listed, refused, … |
//! | [`missing`] | what is listed for the dealer and not in the file, which is told and never deleted |
//!
//! Sending itself, with the journal behind it, is [`ad_cli::bulk::import`]'s.

pub mod folder;
pub mod missing;
pub mod outcome;
pub mod prepare;
pub mod rehearse;
