//! Finds the position at which a replay begins.

use std::time::Duration;

use ad_core::{
    model::{EventPosition, EventQuery, Timestamp},
    ports::{Scope, Store, StoreError},
};

/// A replay from a time begins so much earlier, because the clocks of processes differ and events are in the order of their commits.
const EARLIER: Duration = Duration::from_mins(1);

/// A position before all events of a scope from a time on, and behind nearly all before it. Halves the sequence again and again,
/// which takes a few dozen reads of one event.
pub async fn position_before(
    store: &dyn Store,
    scope: Scope<'_>,
    time: Timestamp,
) -> Result<EventPosition, StoreError> {
    let time = time - EARLIER;
    // The first event after transaction `low` may be too early, the first after `high` is not.
    let (mut low, mut high) = (-1, store.newest_event().await?.transaction);
    while low < high {
        let middle = low + (high - low) / 2;
        let query = EventQuery { after: EventPosition::end_of(middle), limit: 1, ..EventQuery::default() };
        match store.events(scope, &query).await?.events.first() {
            Some(event) if event.entry.created < time => low = event.position.transaction,
            _ => high = middle,
        }
    }
    Ok(EventPosition::end_of(high))
}
