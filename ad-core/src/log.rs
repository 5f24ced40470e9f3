//! The processing log of an ad ('Log entry'): the only progress record there is.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    content::{json_bytes, json_bytes_at_most},
    request::Market,
    time::Timestamp,
};

/// Entries that come with an ad; older ones are read page by page ('Limits').
pub const LATEST: usize = 100;

/// Most bytes of an entry's message as JSON: every entry is kept for ever, and 100 of them come with every read of the ad.
pub const MOST_MESSAGE_BYTES: usize = 16 * 1024;

/// What ends a text that was cut.
const CUT: &str = "… (truncated)";

/// What is done to an ad, step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The ad was created.
    Create,
    /// Its data was updated.
    Update,
    /// It was renewed: it appears as new.
    Bump,
    /// It was given pole position.
    Boost,
    /// Images were fetched or removed.
    HandleMedia,
    /// It was sent to the marketplaces.
    Publish,
    /// It was deleted.
    Delete,
    /// It was taken off the marketplaces.
    Unpublish,
}

/// How far an action has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionState {
    /// Begun.
    Processing,
    /// Completed.
    Done,
    /// Failed; the message tells why.
    Error,
}

/// The names of a closed list of the contract, for parsing and for messages.
macro_rules! names {
    ($type:ident { $($name:literal => $variant:ident),+ $(,)? }) => {
        impl $type {
            /// Every name on the wire.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// By its name on the wire.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.name())
            }
        }
    };
}
pub(crate) use names;

names!(Action {
    "create" => Create, "update" => Update, "bump" => Bump, "boost" => Boost, "handle_media" => HandleMedia,
    "publish" => Publish, "delete" => Delete, "unpublish" => Unpublish,
});
names!(ActionState { "processing" => Processing, "done" => Done, "error" => Error });

/// Longest address that an entry names, in bytes.
const ADDRESS: usize = 200;

/// A text from outside as an entry shows it: at most this many bytes, without control characters.
pub(crate) fn short_text(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if clean.len() <= most {
        return clean;
    }
    format!("{}…", &clean[..clean.floor_char_boundary(most.saturating_sub('…'.len_utf8()))])
}

/// An address as an entry shows it. The middle of a long one is left out, since addresses of one host begin alike.
pub fn short_address(url: &str) -> Cow<'_, str> {
    if url.len() <= ADDRESS {
        return url.into();
    }
    let most = ADDRESS - '…'.len_utf8();
    let head = url.floor_char_boundary(most / 2);
    let tail = url.ceil_char_boundary(url.len() - most / 2);
    format!("{}…{}", &url[..head], &url[tail..]).into()
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// The API request that it belongs to.
    pub request_id: Uuid,
    /// When it was written.
    pub created: Timestamp,
    /// What is done.
    pub action: Action,
    /// How far it has come.
    pub state: ActionState,
    /// Human-readable status or error details: a text, or an object with a `message` and details.
    pub external_message: Value,
}

impl LogEntry {
    /// An entry, its message cut to [`MOST_MESSAGE_BYTES`]. What was cut says so: a text by its end, an object by the member
    /// `truncated`.
    pub fn new(
        request_id: Uuid,
        created: Timestamp,
        action: Action,
        state: ActionState,
        external_message: Value,
    ) -> Self {
        Self { request_id, created, action, state, external_message: bounded(external_message) }
    }
}

/// A message that is not too long. The texts in it are cut, the longest first, so that its shape stays.
fn bounded(message: Value) -> Value {
    let fits = |message: &Value| {
        json_bytes_at_most(message) <= MOST_MESSAGE_BYTES || json_bytes(message) <= MOST_MESSAGE_BYTES
    };
    if fits(&message) {
        return message;
    }
    // Each byte of a text is six in JSON at worst.
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
    // It is long by its number of members.
    let mut text = Value::from(message.to_string());
    cut_texts(&mut text, MOST_MESSAGE_BYTES / 8);
    text
}

/// Cuts every text in a value to so many bytes.
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

/// What the `publish` entry of an ad says of a listing that a marketplace had with the same plate (decision 25). It is part of the entry's
/// message, and [read](Self::of) back from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamePlate<'a> {
    /// The marketplace.
    pub market: Market,
    /// The listing's id there.
    pub listing: &'a str,
    /// The plate.
    pub plate: &'a str,
    /// Whether the ad was linked to it; if not, it belongs to another ad, and this one got its own.
    pub linked: bool,
}

/// What stands between the parts of a message.
pub(crate) const PARTS: &str = "; ";

const LINKED: [&str; 3] = ["linked to listing ", " on the ", " marketplace by its plate "];
const TAKEN: [&str; 3] = ["warning: listing ", " on the ", " marketplace has the same plate "];
const BY_WHOM: &str = " and belongs to another ad";

impl<'a> SamePlate<'a> {
    /// All that the message of an entry says.
    ///
    /// ```
    /// use ad_core::{log::SamePlate, request::Market};
    ///
    /// let said = SamePlate { market: Market::Primary, listing: "4711", plate: "ABC123", linked: true };
    /// let message = format!("Ad published; {said}");
    /// assert_eq!(message, "Ad published; linked to listing 4711 on the primary marketplace by its plate ABC123");
    /// assert_eq!(SamePlate::of(&message).collect::<Vec<_>>(), [said]);
    /// ```
    pub fn of(message: &'a str) -> impl Iterator<Item = Self> {
        message.split(PARTS).filter_map(Self::read)
    }

    fn read(part: &'a str) -> Option<Self> {
        let read = |[before, between, behind]: [&str; 3], end: &str| {
            let (listing, rest) = part.strip_prefix(before)?.split_once(between)?;
            let (market, plate) = rest.strip_suffix(end)?.split_once(behind)?;
            Some((Market::from_name(market)?, listing, plate))
        };
        let ((market, listing, plate), linked) = match (read(LINKED, ""), read(TAKEN, BY_WHOM)) {
            (Some(read), _) => (read, true),
            (None, Some(read)) => (read, false),
            (None, None) => return None,
        };
        Some(Self { market, listing, plate, linked })
    }
}

impl std::fmt::Display for SamePlate<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { market, listing, plate, linked } = self;
        let ([before, between, behind], end) = if *linked { (LINKED, "") } else { (TAKEN, BY_WHOM) };
        write!(formatter, "{before}{listing}{between}{market}{behind}{plate}{end}")
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

    #[test]
    fn what_is_said_of_a_listing_of_the_same_plate_is_read_back() {
        let linked = SamePlate { market: Market::Primary, listing: "a on the b", plate: "QAB12C", linked: true };
        // An id with the words of the message in it is read wrongly at worst, never as another marketplace's.
        assert_eq!(SamePlate::of(&linked.to_string()).next(), None);
        let linked = SamePlate { listing: "a-1", ..linked };
        let taken = SamePlate { market: Market::Secondary, linked: false, ..linked };
        let message = format!("Ad published; {linked}; {taken}; warning: something else");
        assert_eq!(SamePlate::of(&message).collect::<Vec<_>>(), [linked, taken]);
        assert_eq!(SamePlate::of("Ad published").count(), 0);
    }
}
