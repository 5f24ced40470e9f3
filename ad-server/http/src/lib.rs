//! The HTTP interfaces.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`api`] | the endpoints, generated from the category tables, and their OpenAPI document |
//! | [`console`] | pages at `/console/` for dealers, support and operators |
//! | [`sandbox`] | the failures that a sandbox provokes, and its sample images |

pub mod api;
pub mod console;
pub mod sandbox;
