//! `GET /v4/events`: the events of a scope as pages, by long poll, and as a stream of server-sent events (extensions E4).

mod shared;
mod stream;
mod validity;

use std::{sync::Arc, time::Duration};

use ad_core::{
    fields::FieldErrors,
    model::{EventPage, EventPosition, EventQuery},
    ports::{EventWatch, Scope},
    service::Access,
    violation::{Code, Violation},
};
use ad_parameters::{EVENT_PARAMETERS, EventParameters, EventsAfter, FromParameters};
use poem::{
    Request, Response,
    http::{HeaderMap, StatusCode, header},
};
use serde_json::json;
use shared::SharedReads;
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    ApiError, Context,
    accept::weighted,
    body,
    call::{Call, suggest},
    compression::{CodedBytes, Coding},
    errors::json_bytes,
    handler::ApiResult,
    lists::{AnswerMemory, response_holding},
};
use ad_server_access::auth::Caller;
use ad_server_outside::events::{CursorScope, EventView};

pub(super) const PATH: &str = "/v4/events";

/// Header with the position from which a stream resumes; it takes precedence over the address.
const LAST_EVENT_ID: &str = "last-event-id";

/// Time between two reads of a reader that waits for events, at least.
const REST: Duration = Duration::from_millis(10);

/// After a read, a reader pauses for so many times as long as the read took.
const REST_FACTOR: u32 = 5;

/// Reads events for clients: as pages, and as streams that share their reads.
pub struct Events {
    context: Arc<Context>,
    reads: Arc<SharedReads>,
    rhythm: PollInterval,
}

ad_server_base::debug_by_name!(Events);

/// How long a reader rests after a read.
#[derive(Debug, Clone, Copy)]
pub enum PollInterval {
    /// Hardly, so that events arrive at once.
    AtOnce,
    /// Until the next tick of a clock that all readers share. They then share their reads, and each gets the events of a tick in one piece.
    Ticks { since: Instant, every: Duration },
}

impl PollInterval {
    /// The rest after a read that began then.
    fn pause_after(self, begun: Instant) -> Duration {
        let least = REST.max(begun.elapsed() * REST_FACTOR);
        match self {
            Self::AtOnce => least,
            Self::Ticks { since, every } => {
                let at = since.elapsed() + least;
                let into_tick = Duration::from_nanos((at.as_nanos() % every.as_nanos()).try_into().unwrap_or_default());
                least + every.saturating_sub(into_tick)
            }
        }
    }
}

impl Events {
    /// Streams that read the same events share the reads of one value.
    pub fn new(context: &Arc<Context>, rhythm: PollInterval) -> Self {
        Self { context: Arc::clone(context), reads: Arc::default(), rhythm }
    }

    /// A stream of the events of a caller who may read them, from where a query or the header `Last-Event-ID` says.
    pub async fn stream(
        &self,
        caller: Caller,
        query: &[(String, String)],
        headers: &HeaderMap,
    ) -> Result<Response, ApiError> {
        let parameters = EventParameters::parse(EVENT_PARAMETERS, query)
            .map_err(|errors| suggest(&self.context, EVENT_PARAMETERS, errors))?;
        self.streamed(caller, continued(parameters, headers)).await
    }

    async fn streamed(&self, caller: Caller, parameters: EventParameters) -> Result<Response, ApiError> {
        let jti = caller.jti.clone();
        let reader = EventReader::new(Arc::clone(&self.context), caller, parameters).await?;
        reader.check_position().await?;
        let open = self.context.limits.event_streams.open(&jti)?;
        Ok(stream::answer(reader, Arc::clone(&self.reads), self.rhythm, open))
    }

    /// One page, as soon as there is an event or the wait is over. If there is no memory for a large answer, the page is dropped and
    /// read again when there is.
    async fn page(
        &self,
        mut reader: EventReader,
        wait: Duration,
        coding: Option<Coding>,
    ) -> Result<Response, ApiError> {
        let begin = reader.query.after;
        let newest = if reader.is_narrowed() { Some(reader.check_position().await?) } else { None };
        let mut memory = None;
        loop {
            reader.query.after = begin;
            let mut page = reader.wait(if memory.is_none() { wait } else { Duration::ZERO }).await?;
            if page.events.is_empty() && !page.has_more {
                match newest {
                    // Everything up to there has been looked at, and the filter has left nothing of it.
                    Some(newest) if page.position.transaction < newest.transaction => page.position = newest,
                    Some(_) => {}
                    None => drop(reader.check_position().await?),
                }
            }
            let events: Vec<_> = page.events.iter().map(|event| EventView::new(event, &reader.cursors)).collect();
            let cursor = reader.cursors.encode(page.position);
            let bytes = json_bytes(&json!({"events": events, "cursor": cursor, "has_more": page.has_more}))?;
            let (limits, holder) = (&self.context.limits, reader.caller.scope.name());
            let length = bytes.len();
            let granted = memory.take().map_or_else(|| limits.lists.memory_for(holder, length), AnswerMemory::Granted);
            match granted {
                AnswerMemory::NotNeeded => {
                    return Ok(Response::builder().content_type("application/json").body(bytes));
                }
                AnswerMemory::Granted(mut share) => {
                    let body = CodedBytes::of(bytes, coding, &limits.processor, holder).await?;
                    share.shrink(body.bytes.len());
                    return Ok(response_holding(StatusCode::OK, body, share));
                }
                AnswerMemory::Taken => {
                    drop((bytes, page));
                    memory = Some(limits.lists.wait_for(holder, length).await?);
                }
            }
        }
    }
}

/// The events after a cursor, as a page or as a stream.
pub(super) async fn answer(call: &Call<'_>, parameters: EventParameters, (): ()) -> ApiResult {
    let (events, limits) = (&call.path.state.events, &call.context().limits);
    let parameters = continued(parameters, call.request.headers());
    if prefers_stream(call.request) {
        return events.streamed(call.caller.clone(), parameters).await;
    }
    let wait = parameters.wait.min(limits.waits.longest());
    let reader = EventReader::new(Arc::clone(call.context()), call.caller.clone(), parameters).await?;
    let page = events.page(reader, wait, call.request.data::<Coding>().copied());
    if wait.is_zero() {
        return page.await;
    }
    let _open = limits.event_streams.open(&call.caller.jti)?;
    tokio::select! {
        biased;
        error = validity::ended(&*call.context().authenticator, &call.caller) => Err(ApiError::InvalidToken(error)),
        page = page => page,
    }
}

pub(super) fn waits(request: &Request) -> bool {
    let waits = |query: Vec<(String, String)>| {
        EventParameters::parse(EVENT_PARAMETERS, &query).is_ok_and(|parameters| !parameters.wait.is_zero())
    };
    prefers_stream(request) || body::query(request).is_ok_and(waits)
}

/// The same, from where the client has read a stream.
fn continued(mut parameters: EventParameters, headers: &HeaderMap) -> EventParameters {
    if let Some(id) = headers.get(LAST_EVENT_ID).filter(|id| !id.is_empty()) {
        parameters.after = EventsAfter::Cursor(String::from_utf8_lossy(id.as_bytes()).into_owned());
    }
    parameters
}

/// Whether a client wants a stream rather than JSON.
fn prefers_stream(request: &Request) -> bool {
    let weight = |wanted: &str| {
        let weights = weighted(request.headers(), header::ACCEPT).filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        weights.map(|(_, weight)| weight).max()
    };
    weight("text/event-stream").is_some_and(|stream| stream > 0 && stream >= weight("application/json").unwrap_or(0))
}

struct EventReader {
    context: Arc<Context>,
    caller: Caller,
    dealer_code: Option<String>,
    dealers: Arc<[String]>,
    cursors: CursorScope,
    query: EventQuery,
}

impl EventReader {
    async fn new(context: Arc<Context>, caller: Caller, parameters: EventParameters) -> Result<Self, ApiError> {
        let EventParameters { after, types, source_id, dealer_code, limit, wait: _ } = parameters;
        let cursors = CursorScope::of(&caller.scope);
        let after = match after {
            EventsAfter::Nothing => EventPosition::default(),
            EventsAfter::Now => context.store.newest_event().await?,
            EventsAfter::Cursor(cursor) => {
                cursors.decode(&cursor).map_err(|_| wrong_after(Code::InvalidCursor, NOT_A_CURSOR))?
            }
        };
        check_epoch(&context, after)?;
        let dealers = context.service.dealers_of_events(&caller.scope, dealer_code.as_deref());
        let query = EventQuery { after, types, source_id, limit };
        Ok(Self { context, caller, dealer_code, dealers, cursors, query })
    }

    /// The next page, which moves the position.
    async fn next(&mut self) -> Result<EventPage, ApiError> {
        let page = read(&self.context, &self.caller.scope, &self.dealers, &self.query).await?;
        self.query.after = page.position;
        Ok(page)
    }

    /// The next page with an event, or the last one within this time.
    async fn wait(&mut self, time: Duration) -> Result<EventPage, ApiError> {
        let until = Instant::now() + time;
        let mut watch = (!time.is_zero()).then(|| self.watch());
        loop {
            let begun = Instant::now();
            let page = self.next().await?;
            let Some(watch) = watch.as_mut().filter(|_| page.events.is_empty() && Instant::now() < until) else {
                return Ok(page);
            };
            if page.has_more {
                continue;
            }
            let changed = async {
                sleep(PollInterval::AtOnce.pause_after(begun)).await;
                watch.changed().await;
            };
            tokio::select! {
                () = changed => {}
                () = sleep_until(until) => return Ok(page),
                () = self.context.limits.event_streams.stopped() => return Ok(page),
            }
        }
    }

    /// Whether it reads the events of some ads alone, by whose logs its position does not move past those of others.
    fn is_narrowed(&self) -> bool {
        self.query.source_id.is_some() || self.dealer_code.is_some()
    }

    /// Waits for new events of the dealers.
    fn watch(&self) -> EventWatch {
        self.context.store.watch_events(Scope::Dealers(&self.dealers))
    }

    /// The position of the newest event. Refuses one beyond it.
    async fn check_position(&self) -> Result<EventPosition, ApiError> {
        let newest = self.context.store.newest_event().await?;
        if self.query.after > newest { Err(wrong_after(Code::CursorBeyondEnd, BEYOND)) } else { Ok(newest) }
    }
}

/// Refuses a position of a history that was lost.
fn check_epoch(context: &Context, after: EventPosition) -> Result<(), ApiError> {
    if context.store.has_lost(after) { Err(wrong_after(Code::CursorBeyondEnd, BEYOND)) } else { Ok(()) }
}

/// A page of events of these dealers, in a turn of this scope.
async fn read(
    context: &Context,
    scope: &Access,
    dealers: &[String],
    query: &EventQuery,
) -> Result<EventPage, ApiError> {
    let _turn = context.limits.turns.take(scope).await?;
    let page = context.store.events(Scope::Dealers(dealers), query).await?;
    // The database may be another one than before.
    check_epoch(context, query.after)?;
    Ok(page)
}

const NOT_A_CURSOR: &str = "Not a cursor of this token's events. Send a cursor from an answer to a token of the same dealer or \
    group, \"now\" for events from now on, or nothing for all events.";

const BEYOND: &str = "The cursor lies beyond the newest event: the service was restored from a backup, or a standby has taken over, and \
    events were lost. Send \"now\" for events from now on, or nothing for all events; compare your data with the ads.";

fn wrong_after(code: Code, text: &'static str) -> ApiError {
    let mut errors = FieldErrors::default();
    errors.push("after", Violation::stated(code, text));
    errors.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn readers_of_one_clock_rest_until_the_same_tick() {
        let (since, every) = (Instant::now(), Duration::from_millis(500));
        let ticks = PollInterval::Ticks { since, every };
        for read_at in [0, 3, 250, 489, 498] {
            sleep_until(since + Duration::from_millis(2000 + read_at)).await;
            let rest = ticks.pause_after(Instant::now());
            let next = since.elapsed() + rest;
            assert_eq!(next.as_millis() % every.as_millis(), 0, "{read_at}");
            assert!(rest >= REST && rest < every + REST, "{read_at}: {rest:?}");
        }
        assert_eq!(PollInterval::AtOnce.pause_after(Instant::now()), REST);
    }
}
