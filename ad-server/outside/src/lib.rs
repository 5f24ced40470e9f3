//! What the service calls, and the form in which it sends events.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`outbound`] | what all HTTP clients share |
//! | [`media`] | images: fetched from public addresses, stored by checksum in a folder or a bucket |
//! | [`marketplace`] | marketplaces: local ones, and a client of remote ones |
//! | [`registry`] | the register of vehicles that `validate` compares ads with |
//! | [`events`] | events as clients get them: JSON and cursors |
//! | [`record_keys`] | the keys that sign the records of ads |
//! | [`webhooks`] | endpoints of integrators: their settings, signatures, attempts |

pub mod events;
pub mod marketplace;
pub mod media;
pub mod outbound;
pub mod record_keys;
pub mod registry;
pub mod webhooks;
