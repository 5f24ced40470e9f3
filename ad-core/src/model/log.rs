//! The processing log of an ad ('Log entry'), the only record of its progress.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{
    content::{json_bytes, json_bytes_at_most},
    market::Market,
    names::names,
    time::Timestamp,
};
use crate::violation::Code;

/// Number of latest entries that an answer with an ad has; older ones are read page by page ('Limits').
pub const LATEST_ENTRIES: usize = 100;

/// Maximum size of an entry's message as JSON, in bytes. Entries are never deleted, and each read of an ad returns up to 100.
pub const MOST_MESSAGE_BYTES: usize = 16 * 1024;

/// End of a truncated text.
const CUT: &str = "… (truncated)";

names! {
    /// What is done to an ad, step by step.
    pub enum Action {
        /// `POST` created the ad.
        Create = "create",
        /// `PUT`, `PATCH` or a migration changed the ad's data.
        Update = "update",
        /// It was renewed: it appears as new.
        Bump = "bump",
        /// It was given pole position.
        Boost = "boost",
        /// Images were fetched or removed.
        HandleMedia = "handle_media",
        /// It was sent to the marketplaces.
        Publish = "publish",
        /// `DELETE` deleted the ad.
        Delete = "delete",
        /// It was taken off the marketplaces.
        Unpublish = "unpublish",
    }

    /// The state of an action.
    pub enum ActionState {
        /// A worker has begun the action.
        Processing = "processing",
        /// The action has succeeded.
        Done = "done",
        /// Failed; the message says why.
        Error = "error",
    }
}

impl Action {
    /// Whether it changes what marketplaces list.
    pub(crate) const fn changes_listings(self) -> bool {
        matches!(self, Self::Publish | Self::Unpublish | Self::Delete)
    }
}

/// Maximum length of an address in an entry, in bytes.
const ADDRESS: usize = 200;

/// A text from outside for an entry: at most `most` bytes, with control characters replaced by spaces.
pub(crate) fn short_text(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if clean.len() <= most {
        return clean;
    }
    format!("{}…", &clean[..clean.floor_char_boundary(most.saturating_sub('…'.len_utf8()))])
}

/// An address for an entry. A long one loses its middle, because addresses of one host differ at the end.
pub fn short_address(url: &str) -> Cow<'_, str> {
    if url.len() <= ADDRESS {
        return url.into();
    }
    let most = ADDRESS - '…'.len_utf8();
    let head = url.floor_char_boundary(most / 2);
    let tail = url.ceil_char_boundary(url.len() - most / 2);
    format!("{}…{}", &url[..head], &url[tail..]).into()
}

/// One entry of an ad's log ('Log entry').
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// The API request that it belongs to.
    pub request_id: Uuid,
    /// When the entry was written.
    pub created: Timestamp,
    /// The action that the entry reports on.
    pub action: Action,
    /// How far the action is.
    pub state: ActionState,
    /// Human-readable status or error details: a text, or an object with a `message` and details.
    pub external_message: Value,
    /// Why the action failed; `None` unless the state is `error` (extensions E1.4).
    #[serde(default)]
    pub code: Option<Code>,
}

impl LogEntry {
    /// An entry of an action that has not failed. A message that exceeds [`MOST_MESSAGE_BYTES`] is truncated: a text then ends in
    /// "… (truncated)", and an object has the member `truncated`.
    pub fn new(
        request_id: Uuid,
        created: Timestamp,
        action: Action,
        state: ActionState,
        external_message: Value,
    ) -> Self {
        Self { request_id, created, action, state, external_message: bounded(external_message), code: None }
    }

    /// An entry of an action that has failed, its message cut as by [`new`](Self::new).
    pub fn failed(request_id: Uuid, created: Timestamp, action: Action, code: Code, external_message: Value) -> Self {
        Self { code: Some(code), ..Self::new(request_id, created, action, ActionState::Error, external_message) }
    }
}

/// A message within the limit. Its longest texts are truncated first, so that its structure stays.
fn bounded(message: Value) -> Value {
    let fits = |message: &Value| {
        json_bytes_at_most(message) <= MOST_MESSAGE_BYTES || json_bytes(message) <= MOST_MESSAGE_BYTES
    };
    if fits(&message) {
        return message;
    }
    // In JSON, a byte of a text takes at most six bytes.
    for most in [MOST_MESSAGE_BYTES * 3 / 4, 1024, 512, 256, 128, 64] {
        let mut shorter = message.clone();
        cut_texts(&mut shorter, most);
        if let Value::Object(members) = &mut shorter {
            members.insert("truncated".to_owned(), Value::Bool(true));
        }
        if fits(&shorter) {
            return shorter;
        }
    }
    // It has too many members.
    let mut text = Value::from(message.to_string());
    cut_texts(&mut text, MOST_MESSAGE_BYTES / 8);
    text
}

/// Truncates every text in a value to `most` bytes.
fn cut_texts(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => {
            text.truncate(text.floor_char_boundary(most.saturating_sub(CUT.len())));
            text.push_str(CUT);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut_texts(item, most)),
        Value::Object(members) => members.values_mut().for_each(|member| cut_texts(member, most)),
        _ => {}
    }
}

/// A listing that a marketplace had with the plate of an ad when the ad was published (decision 25). The `publish` entry names it in its
/// text and, for programs, in the member `listings` of its message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlateMatch {
    /// The marketplace with the listing.
    pub marketplace: Market,
    /// Id of the listing on that marketplace.
    pub listing: String,
    /// Licence plate, in upper case without spaces.
    pub registration_number: String,
    /// Whether the ad was linked to it; if not, it belongs to another ad, and this one got its own.
    pub linked: bool,
}

impl PlateMatch {
    /// The message of a `publish` entry: a text, or with matches an object of the text and the matches.
    ///
    /// ```
    /// use ad_core::model::{Market, PlateMatch};
    ///
    /// let linked = PlateMatch {
    ///     marketplace: Market::Primary,
    ///     listing: "4711".to_owned(),
    ///     registration_number: "ABC123".to_owned(),
    ///     linked: true,
    /// };
    /// let message = PlateMatch::message("Ad published", std::slice::from_ref(&linked));
    /// assert_eq!(message["message"], "Ad published; linked to listing 4711 on the primary marketplace by its plate ABC123");
    /// assert_eq!(PlateMatch::in_message(&message), [linked]);
    /// ```
    pub fn message(text: &str, matches: &[Self]) -> Value {
        if matches.is_empty() {
            return text.into();
        }
        let text = matches.iter().fold(text.to_owned(), |text, one| format!("{text}; {one}"));
        serde_json::json!({"message": text, "listings": matches})
    }

    /// The matches that the message of an entry names.
    pub fn in_message(message: &Value) -> Vec<Self> {
        message.get("listings").and_then(|listings| Vec::deserialize(listings).ok()).unwrap_or_default()
    }
}

impl std::fmt::Display for PlateMatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { marketplace, listing, registration_number, linked } = self;
        if *linked {
            write!(
                formatter,
                "linked to listing {listing} on the {marketplace} marketplace by its plate {registration_number}"
            )
        } else {
            write!(
                formatter,
                "warning: listing {listing} on the {marketplace} marketplace has the same plate {registration_number} \
                 and belongs to another ad"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_address_is_shown_by_its_beginning_and_its_end() {
        let url = format!("https://images.example/{}/1.jpg?signature={}", "å".repeat(300), "b".repeat(80));
        let shown = short_address(&url);
        assert!(shown.len() <= ADDRESS && shown.starts_with("https://images.example/å"), "{shown}");
        assert!(shown.ends_with(&"b".repeat(80)), "{shown}");
        assert_eq!(short_address("https://images.example/1.jpg"), "https://images.example/1.jpg");
    }

    #[test]
    fn a_text_from_outside_is_bounded_and_has_no_control_characters() {
        assert_eq!(short_text("a\u{1b}[31m\nb", 20), "a [31m b");
        assert_eq!(short_text("ååååå", 8), "åå…");
    }

    #[test]
    fn a_message_that_is_too_long_is_cut_and_says_so() {
        let short = json!({"message": "1 image failed", "images": [{"url": "https://a", "error": "404"}]});
        assert_eq!(bounded(short.clone()), short);
        for text in ["x".repeat(100_000), "\u{1}".repeat(100_000), "å".repeat(100_000)] {
            let cut = bounded(json!(text));
            assert!(cut.as_str().unwrap().ends_with(CUT) && json_bytes(&cut) <= MOST_MESSAGE_BYTES);
        }
        let image = json!({"url": format!("https://a/{}", "x".repeat(2000)), "error": "y".repeat(2000)});
        let cut = bounded(json!({"message": "20 images failed", "images": vec![image; 20]}));
        assert!(json_bytes(&cut) <= MOST_MESSAGE_BYTES);
        assert_eq!((&cut["truncated"], &cut["message"]), (&json!(true), &json!("20 images failed")));
        assert!(cut["images"][19]["url"].as_str().unwrap().starts_with("https://a/xxx"));
        assert!(json_bytes(&bounded(json!(vec!["x"; 100_000]))) <= MOST_MESSAGE_BYTES, "many members");
    }
}
