//! Events as clients get them (extensions E4): their JSON and their cursors. The API and webhooks share it.

mod cursor;
mod json;

pub use cursor::{CursorScope, NotACursor};
pub use json::EventView;
