//! Files of payloads: one JSON object, a JSON array of objects, or one object after the other (NDJSON, mostly). Which of them a
//! file is, is detected from its content. Files are streamed, so memory does not depend on their size.
//!
//! | Part | What it is for |
//! |---|---|
//! | [`Source`] | a file or stdin as UTF-8; detects what else a file is |
//! | [`Chunks`] | the stream cut between payloads, in parts that threads can work on side by side |
//! | [`parse()`] | one payload as an object, or its syntax error |
//! | [`locate()`] | where in its text a field is |
//!
//! What a payload must hold is not known here; see [`check`](super::check).

mod chunks;
mod locate;
mod parse;
mod source;

pub use ad_files::Place;
pub use chunks::{Chunk, Chunks, Piece};
pub use locate::{FieldPlace, locate};
pub use parse::{Broken, parse};
pub use source::{NotPayloads, Source};

/// Whether JSON ignores the byte between two values.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
