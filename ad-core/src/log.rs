//! The processing log of an ad ('Log entry'): the only progress record there is.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{request::Market, time::Timestamp};

/// Entries that come with an ad; older ones are read page by page ('Limits').
pub const LATEST: usize = 100;

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
    use super::*;

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
