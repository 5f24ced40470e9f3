//! Events: the log entries of all ads of a scope, as one sequence (extensions E4).

use std::{fmt, str::FromStr};

use serde::Serialize;
use uuid::Uuid;

use super::{
    account::Amount,
    epoch::EPOCH_SHIFT,
    log::{Action, ActionState, LogEntry},
};

/// The position of a log entry in the sequence of all entries of a store. A reader that follows the sequence never finds a new
/// entry before a position that it has passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPosition {
    /// The transaction that wrote the entry: a number of the store that grows. It begins with the number of its epoch.
    pub transaction: i64,
    /// The ad, by its number in the store.
    pub ad: i64,
    /// Number of the entry in the log of its ad, from 1 without gaps.
    pub sequence: i64,
}

impl EventPosition {
    /// The position after all entries of a transaction.
    pub fn end_of(transaction: i64) -> Self {
        Self { transaction, ad: i64::MAX, sequence: i64::MAX }
    }

    /// The [epoch](crate::ports::Store::epoch) of the transaction.
    pub fn epoch(&self) -> i64 {
        self.transaction >> EPOCH_SHIFT
    }
}

/// The id of an event, the same at every reading: the ad, the number of the entry in its log and, after the first one, the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventId {
    /// Internal id of the ad.
    pub ad_id: Uuid,
    /// Number of the entry in the log of its ad.
    pub sequence: i64,
    /// The epoch in which the entry was written.
    pub epoch: i64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ad_id, sequence, epoch } = self;
        write!(f, "evt_{}_{sequence}", ad_id.simple())?;
        if *epoch == 0 { Ok(()) } else { write!(f, "_{epoch}") }
    }
}

/// Not the id of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an event")]
pub struct NotAnEventId;

impl FromStr for EventId {
    type Err = NotAnEventId;

    fn from_str(text: &str) -> Result<Self, NotAnEventId> {
        let (ad_id, rest) = text.strip_prefix("evt_").and_then(|rest| rest.split_once('_')).ok_or(NotAnEventId)?;
        let (sequence, epoch) = rest.split_once('_').unwrap_or((rest, "0"));
        let id = Self {
            ad_id: ad_id.parse().map_err(|_| NotAnEventId)?,
            sequence: sequence.parse().map_err(|_| NotAnEventId)?,
            epoch: epoch.parse().map_err(|_| NotAnEventId)?,
        };
        // One text per id.
        if id.to_string() == text { Ok(id) } else { Err(NotAnEventId) }
    }
}

/// What a promotion cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromotionCost {
    /// The amount.
    pub amount: Amount,
    /// ISO 4217 code of the amount.
    pub currency: String,
}

/// A log entry with the ad that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its position in the sequence.
    pub position: EventPosition,
    /// Internal id of the ad.
    pub ad_id: Uuid,
    /// The client's reference of the ad.
    pub source_id: String,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// The ad's category at the time of reading.
    pub category_id: u16,
    /// Id of the ad's listing on the primary marketplace at the time of reading.
    pub marketplace_ad_id: Option<String>,
    /// Id of the ad's listing on the secondary marketplace at the time of reading.
    pub offer_id: Option<String>,
    /// The stock plan that the request is of.
    pub plan_id: Option<Uuid>,
    /// What a confirmed promotion cost, on all marketplaces; in a box, because few events have it.
    pub cost: Option<Box<PromotionCost>>,
    /// The log entry that the event reports.
    pub entry: LogEntry,
}

impl Event {
    /// The id that clients see, derived from ad and position.
    pub fn id(&self) -> EventId {
        EventId { ad_id: self.ad_id, sequence: self.position.sequence, epoch: self.position.epoch() }
    }

    /// Its type, such as `ad.publish.done`.
    pub fn event_type(&self) -> String {
        format!("ad.{}.{}", self.entry.action.name(), self.entry.state.name())
    }
}

/// The event types of a filter: one, or with `*` those of every action or state, such as `ad.publish.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventTypes {
    /// The action; `None`: every action.
    pub action: Option<Action>,
    /// The state; `None`: every state.
    pub state: Option<ActionState>,
}

impl EventTypes {
    /// Whether an entry of this action and state is one of them.
    pub fn contain(self, action: Action, state: ActionState) -> bool {
        self.action.is_none_or(|own| own == action) && self.state.is_none_or(|own| own == state)
    }
}

impl fmt::Display for EventTypes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (action, state) = (self.action.map_or("*", Action::name), self.state.map_or("*", ActionState::name));
        write!(formatter, "ad.{action}.{state}")
    }
}

/// Neither an event type nor a pattern of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown event type; send types such as \"ad.publish.done\" or \"ad.publish.*\"")]
pub struct UnknownEventType;

impl FromStr for EventTypes {
    type Err = UnknownEventType;

    fn from_str(text: &str) -> Result<Self, UnknownEventType> {
        let (action, state) = text.strip_prefix("ad.").and_then(|rest| rest.split_once('.')).ok_or(UnknownEventType)?;
        let action = if action == "*" { None } else { Some(Action::from_name(action).ok_or(UnknownEventType)?) };
        let state = if state == "*" { None } else { Some(ActionState::from_name(state).ok_or(UnknownEventType)?) };
        Ok(Self { action, state })
    }
}

/// A query for a page of events, in the order of their positions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct EventQuery {
    /// Only events after this position.
    pub after: EventPosition,
    /// Types of which the event must have one; empty: any.
    pub types: Vec<EventTypes>,
    /// Only events of the ads with this source id.
    pub source_id: Option<String>,
    /// Maximum number of events, 1 to `ad_parameters::MAX_EVENTS`.
    pub limit: u32,
}

/// Events that are looked at for one page, if types are filtered.
const LOOKED_AT: u32 = 1000;

impl EventQuery {
    /// Maximum number of events that a store looks at for one page, matching or not: one more than the page can have, so that it is
    /// known whether there are more.
    pub fn scan_limit(&self) -> u32 {
        let most = if self.types.is_empty() { self.limit } else { self.limit.max(LOOKED_AT) };
        most.saturating_add(1)
    }

    /// Whether an event has one of the types.
    pub fn has_type(&self, entry: &LogEntry) -> bool {
        self.types.is_empty() || self.types.iter().any(|types| types.contain(entry.action, entry.state))
    }
}

/// A page of events. It can be empty and still have more after it: reading a page has a bounded cost, whatever the filter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventPage {
    /// The events, in their order.
    pub events: Vec<Event>,
    /// The position up to which all events of the query have been read.
    pub position: EventPosition,
    /// Whether there may be events after that position now.
    pub has_more: bool,
}

impl EventPage {
    /// A page of those matching events that fit on it, of the events that were looked at: so many, up to the last position.
    pub fn new(query: &EventQuery, events: Vec<Event>, is_full: bool, looked_at: u32, last: EventPosition) -> Self {
        match events.last().map(|event| event.position) {
            Some(position) if is_full => Self { events, position, has_more: position != last },
            _ => Self { events, position: last, has_more: looked_at >= query.scan_limit() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_event_has_one_text() {
        let id = EventId { ad_id: Uuid::from_u128(7), sequence: 12, epoch: 0 };
        assert_eq!(id.to_string(), "evt_00000000000000000000000000000007_12");
        assert_eq!(id.to_string().parse(), Ok(id));
        let later = EventId { epoch: 475_000, ..id };
        assert_eq!(later.to_string(), "evt_00000000000000000000000000000007_12_475000");
        assert_eq!(later.to_string().parse(), Ok(later));
        let ad = "evt_00000000000000000000000000000007";
        for wrong in ["", "evt_7_1", &format!("{ad}_012"), ad, &format!("{ad}_12_0"), &format!("{ad}_12_5_5")] {
            assert_eq!(wrong.parse::<EventId>(), Err(NotAnEventId), "{wrong}");
        }
    }

    #[test]
    fn types_may_leave_action_or_state_open() {
        for text in ["ad.publish.done", "ad.publish.*", "ad.*.error", "ad.*.*"] {
            assert_eq!(text.parse::<EventTypes>().unwrap().to_string(), text);
        }
        for wrong in ["", "publish.done", "ad.publish", "ad.publish.finished", "ad.sell.done", "ad.*"] {
            assert_eq!(wrong.parse::<EventTypes>(), Err(UnknownEventType), "{wrong}");
        }
        let types: EventTypes = "ad.publish.*".parse().unwrap();
        assert!(types.contain(Action::Publish, ActionState::Error));
        assert!(!types.contain(Action::Unpublish, ActionState::Error));
    }
}
