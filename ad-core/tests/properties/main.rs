//! What holds for every payload, however odd: nothing panics, and nothing is stored that the service would refuse to take
//! back.
//!
//! | Module | What it has |
//! |---|---|
//! | [`bodies`] | bodies that are not JSON |
//! | [`differences`] | earlier contents of ads |
//! | [`full`] | payloads with every field, made from the tables |
//! | [`kinds`] | checking payloads of every kind |
//! | [`odd`] | odd values, and payloads that are odd in a few places |
//! | [`quality`] | the quality of anything |
//! | [`stored`] | properties of creates, updates and migrations |
//! | [`stock`] | a desired stock leads to itself |
//! | [`merging`] | the laws of merging |
//! | [`shortcuts`] | what is quick agrees with what is thorough |
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod bodies;
mod differences;
mod full;
mod kinds;
mod merging;
mod odd;
mod quality;
mod shortcuts;
mod stock;
mod stored;
