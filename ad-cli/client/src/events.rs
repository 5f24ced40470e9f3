//! Events: the log entries of all ads of the token's scope, as one sequence (extensions E4).

use std::{collections::VecDeque, time::Duration};

use ad_core::{
    model::{Action, ActionState, EventTypes, Timestamp},
    violation::Code,
};
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use reqwest::{
    Method, Response,
    header::{ACCEPT, HeaderName, HeaderValue},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    Answer, Client, Error, ErrorKind,
    sse::{Block, Parser},
    transport::{Call, half_by_chance, passing, query_string},
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const PATH: &str = "v4/events";

/// The longest time for which the service holds back a page without events.
const MOST_WAIT: Duration = Duration::from_secs(30);

/// A stream in which nothing has come for so long is dead: there is a comment every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);

/// The pause before the first new connection, unless the service names another.
const FIRST_PAUSE: Duration = Duration::from_secs(3);

/// The longest pause between two attempts to connect, unless the service asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// An event, as the service shows it. Serialises as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// Its id, the same at every reading.
    pub id: String,
    /// The position after it, for [`After::Cursor`].
    pub cursor: String,
    /// Its type, such as `ad.publish.done`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// When the log entry was written.
    pub timestamp: Timestamp,
    /// Code of the ad's dealer.
    pub dealer_code: String,
    /// The client's reference of the ad.
    pub source_id: String,
    /// Internal id of the ad.
    pub ad_id: Uuid,
    /// The category of the ad.
    pub category_id: u16,
    /// The request that the log entry belongs to.
    pub request_id: Uuid,
    /// Number of the entry in the log of its ad, from 1 without gaps.
    pub sequence: i64,
    /// The action that the log entry reports on.
    pub action: Action,
    /// How far the action is.
    pub state: ActionState,
    /// Why the action failed; `None` unless the state is `error`.
    pub code: Option<Code>,
    /// Status or error as a text.
    pub message: String,
    /// Id of the listing on the primary marketplace, at the time of reading.
    pub marketplace_ad_id: Option<String>,
    /// Id of the listing on the secondary marketplace, at the time of reading.
    pub offer_id: Option<String>,
    /// What a later version of the service has added.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Where a reading of events begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum After {
    /// At the oldest event that is stored.
    #[default]
    Oldest,
    /// At the events from now on.
    Now,
    /// After this position: the cursor of an event or of a page.
    Cursor(String),
}

/// Which events to read. The default is all of them, from the oldest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// The position after which the reading begins.
    pub after: After,
    /// Types of which an event must have one; empty: any.
    pub types: Vec<EventTypes>,
    /// Only events of ads with this source id.
    pub source_id: Option<String>,
    /// Only events of this dealer of a group.
    pub dealer_code: Option<String>,
    /// Maximum number of events of a page, 1 to 1,000; 100 if `None`. A stream has none.
    pub limit: Option<u32>,
    /// How long a page without events may be held back until there is one; at most 30 seconds.
    pub wait: Duration,
}

/// A page of events, with the cursor behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventPage {
    /// The events, in their order. There may be none though there are more: a page looks at a bounded number of events.
    pub events: Vec<Event>,
    /// The position after the page, for [`After::Cursor`].
    pub cursor: String,
    /// Whether there are events after the page now.
    pub has_more: bool,
}

/// What has become of the connection of a stream of events, which resumes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// The service cannot be reached; the stream tries again and again.
    Lost,
    /// It can be reached again; the stream goes on after the last event.
    Restored,
}

impl EventQuery {
    /// The parameters without those of a page.
    fn filters(&self) -> Vec<(&'static str, String)> {
        let types = self.types.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let parameters = [
            ("types", Some(types).filter(|types| !types.is_empty())),
            ("source_id", self.source_id.clone()),
            ("dealer_code", self.dealer_code.clone()),
        ];
        parameters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl Client {
    /// A page of events.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) naming the parameters that are wrong, such as `after` for the cursor of another token's scope.
    pub async fn events(&self, query: &EventQuery) -> Result<Answer<EventPage>, Error> {
        let wait = query.wait.min(MOST_WAIT);
        let after = match &query.after {
            After::Oldest => None,
            After::Now => Some("now"),
            After::Cursor(cursor) => Some(cursor.as_str()),
        };
        let mut parameters = query.filters();
        parameters.extend(after.map(|after| ("after", after.to_owned())));
        parameters.extend(query.limit.map(|limit| ("limit", limit.to_string())));
        parameters.extend((!wait.is_zero()).then(|| ("wait", wait.as_secs().max(1).to_string())));
        let mut call = Call::new(Method::GET, format!("{PATH}{}", query_string(parameters)), None);
        call.wait = wait;
        self.transport.ask(call).await
    }

    /// The events as they happen, without an end; `limit` and `wait` of the query are ignored.
    ///
    /// The stream resumes by itself where it was when the connection breaks, the service restarts or has too many streams: no event is
    /// left out, and none comes twice. To resume in another process, begin after the [`cursor`](Event::cursor) of the last event.
    ///
    /// # Errors
    /// The stream ends with the first error that will not pass, such as those of [`events`](Self::events) or a revoked token. The first
    /// connection is attempted as often as any request is.
    pub fn event_stream(&self, query: &EventQuery) -> BoxStream<'static, Result<Event, Error>> {
        self.watched_event_stream(query, |_| ())
    }

    /// [`event_stream`](Self::event_stream) that tells what becomes of its connection. It tells nothing of the first connection, or of one
    /// that is back at the first attempt.
    ///
    /// # Errors
    /// As [`event_stream`](Self::event_stream).
    pub fn watched_event_stream(
        &self,
        query: &EventQuery,
        tell: impl FnMut(Connection) + Send + 'static,
    ) -> BoxStream<'static, Result<Event, Error>> {
        let start = Reading {
            client: self.clone(),
            query: query.clone(),
            connection: None,
            events: VecDeque::new(),
            has_connected: false,
            failures: 0,
            retry: FIRST_PAUSE,
            tell: Box::new(tell),
        };
        stream::try_unfold(start, |mut reading| async move {
            let event = reading.next().await?;
            Ok(Some((event, reading)))
        })
        .boxed()
    }
}

/// An open stream of events.
struct Reading {
    client: Client,
    /// Its `after` moves with the events.
    query: EventQuery,
    connection: Option<(Response, Parser)>,
    /// Events that have arrived and were not asked for yet.
    events: VecDeque<Event>,
    has_connected: bool,
    /// Failed attempts to connect in a row.
    failures: u32,
    /// The pause before a new connection, as the service has named it.
    retry: Duration,
    tell: Box<dyn FnMut(Connection) + Send>,
}

impl Reading {
    async fn next(&mut self) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.events.pop_front() {
                self.query.after = After::Cursor(event.cursor.clone());
                return Ok(event);
            }
            let Some((response, parser)) = &mut self.connection else {
                self.connect().await?;
                continue;
            };
            if let Ok(Ok(Some(chunk))) = tokio::time::timeout(SILENCE, response.chunk()).await {
                let mut blocks = Vec::new();
                parser.read(&chunk, |block| blocks.push(block)).map_err(|error| unexpected(&error))?;
                blocks.into_iter().try_for_each(|block| self.take(block))?;
            } else {
                // The end, a broken connection, or silence: the service is asked to go on from the last event.
                self.connection = None;
                tokio::time::sleep(half_by_chance(self.retry)).await;
            }
        }
    }

    fn take(&mut self, block: Block) -> Result<(), Error> {
        self.retry = block.retry.unwrap_or(self.retry);
        match (block.data, block.id) {
            (Some(data), _) => self.events.push_back(serde_json::from_str(&data).map_err(|error| unexpected(&error))?),
            // The position moves on without an event where a filter leaves nothing.
            (None, Some(id)) if self.events.is_empty() => self.query.after = After::Cursor(id),
            (None, _) => {}
        }
        Ok(())
    }

    /// Connects, or waits before the next attempt.
    async fn connect(&mut self) -> Result<(), Error> {
        if self.query.after == After::Now {
            // From here on "now" is a position: a connection that breaks before the first event leaves nothing out.
            let now = EventQuery { limit: Some(1), ..self.query.clone() };
            self.query.after = After::Cursor(self.client.events(&now).await?.body.cursor);
        }
        let mut call = Call::new(Method::GET, format!("{PATH}{}", query_string(self.query.filters())), None);
        call.headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/problem+json;q=0.9"));
        if let After::Cursor(cursor) = &self.query.after {
            let value = HeaderValue::from_str(cursor).map_err(|error| unexpected(&error))?;
            call.headers.insert(LAST_EVENT_ID, value);
        }
        let transport = &self.client.transport;
        match transport.open(&call, self.failures + 1).await {
            Ok(response) => {
                self.connection = Some((response, Parser::default()));
                if self.has_connected && self.failures > 0 {
                    (self.tell)(Connection::Restored);
                }
                (self.has_connected, self.failures) = (true, 0);
                Ok(())
            }
            Err(error) => {
                self.failures += 1;
                let pause = if self.has_connected {
                    let grown = self.retry.saturating_mul(1 << (self.failures - 1).min(16)).min(LONGEST_PAUSE);
                    passing(&error).map(|asked| asked.max(half_by_chance(grown)))
                } else {
                    transport.pause(&error, self.failures)
                };
                let Some(pause) = pause else { return Err(error) };
                if self.has_connected && self.failures == 1 {
                    (self.tell)(Connection::Lost);
                }
                tokio::time::sleep(pause).await;
                Ok(())
            }
        }
    }
}

fn unexpected(error: &dyn std::error::Error) -> Error {
    let kind = ErrorKind::Unexpected(format!("unexpected content in the stream of events: {error}"));
    Error::new(kind, &Method::GET, &format!("/{PATH}"))
}

#[cfg(test)]
mod tests {
    use std::{
        fmt::Write as _,
        sync::{Arc, Mutex},
    };

    use futures_util::TryStreamExt;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// A service that answers each request with the next of these texts and closes the connection; returns the requests too.
    async fn service(answers: Vec<String>) -> (Client, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            for answer in answers {
                let (mut connection, _) = listener.accept().await.unwrap();
                let mut request = vec![0; 4096];
                let length = connection.read(&mut request).await.unwrap();
                request.truncate(length);
                seen.lock().unwrap().push(String::from_utf8(request).unwrap().to_lowercase());
                connection.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        (Client::builder(&url).token("t").rate(None).build().unwrap(), requests)
    }

    fn answer(status: &str, kind: &str, body: &str) -> String {
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nretry-after: 0\r\nconnection: close\r\n\r\n{body}")
    }

    fn event(number: u32) -> Value {
        serde_json::json!({
            "id": format!("evt_{number}"), "cursor": format!("c{number}"), "type": "ad.publish.done",
            "timestamp": "2026-01-15T10:00:00.000Z", "dealer_code": "north-cars", "source_id": "car-1", "ad_id": Uuid::nil(),
            "category_id": 1020, "request_id": Uuid::nil(), "sequence": number, "action": "publish", "state": "done",
            "code": null, "message": "Published", "marketplace_ad_id": "1", "offer_id": null,
        })
    }

    /// A stream of these events that breaks in the middle of the next block.
    fn broken_stream(numbers: &[u32]) -> String {
        let mut body = "retry: 1\n\n: comment\n\n".to_owned();
        for number in numbers {
            write!(body, "id: c{number}\nevent: ad.publish.done\ndata: {}\n\n", event(*number)).unwrap();
        }
        answer("200 OK", "text/event-stream", &format!("{body}id: c9\ndata: {{"))
    }

    fn last_event_ids(requests: &[String]) -> Vec<Option<&str>> {
        let of = |request: &'_ String| -> Option<usize> { request.find("last-event-id: ") };
        let id = |request| of(request).map(|at| request[at + 15..].lines().next().unwrap_or_default());
        requests.iter().map(id).collect()
    }

    #[tokio::test]
    async fn a_stream_resumes_after_the_last_whole_event_until_an_error_that_stays() {
        let page = serde_json::json!({"events": [], "cursor": "c0", "has_more": false}).to_string();
        let (client, requests) = service(vec![
            answer("200 OK", "application/json", &page),
            answer("503 Service Unavailable", "application/json", r#"{"detail": "Starting."}"#),
            broken_stream(&[1, 2]),
            answer("429 Too Many Requests", "application/json", r#"{"detail": "Too many streams."}"#),
            answer("502 Bad Gateway", "text/html", "<html>"),
            broken_stream(&[]),
            broken_stream(&[3]),
            answer("401 Unauthorized", "application/json", r#"{"detail": "Invalid token: revoked."}"#),
        ])
        .await;
        let types = vec!["ad.publish.*".parse().unwrap()];
        let (told, heard) = std::sync::mpsc::channel();
        let query = EventQuery { after: After::Now, types, ..EventQuery::default() };
        let mut events = client.watched_event_stream(&query, move |connection| told.send(connection).unwrap());
        for number in 1..=3 {
            let got = events.try_next().await.unwrap().unwrap();
            assert_eq!((got.id.as_str(), got.sequence), (format!("evt_{number}").as_str(), i64::from(number)));
        }
        let error = events.try_next().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unauthorised(_)), "{error:?}");
        assert!(events.try_next().await.unwrap().is_none(), "the stream has ended");
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), [Connection::Lost, Connection::Restored]);
        let requests = requests.lock().unwrap();
        assert!(requests[0].starts_with("get /v4/events?types=ad.publish.*&after=now&limit=1 "), "{}", requests[0]);
        assert!(
            requests[1].starts_with("get /v4/events?types=ad.publish.* ") && requests[1].contains("text/event-stream")
        );
        let resumed = [None, Some("c0"), Some("c0"), Some("c2"), Some("c2"), Some("c2"), Some("c2"), Some("c3")];
        assert_eq!(last_event_ids(&requests), resumed);
    }

    #[tokio::test]
    async fn a_position_without_an_event_is_resumed_from() {
        let moved = answer("200 OK", "text/event-stream", "retry: 1\n\nid: c7\n\n");
        let refused = answer("400 Bad Request", "application/json", r#"{"after": ["Unknown cursor."]}"#);
        let (client, requests) = service(vec![moved, refused]).await;
        let error = client.event_stream(&EventQuery::default()).try_next().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Invalid(_)), "{error:?}");
        assert_eq!(last_event_ids(&requests.lock().unwrap()), [None, Some("c7")]);
    }

    #[tokio::test]
    async fn what_is_no_stream_ends_it_and_so_does_a_service_that_never_was_there() {
        let (client, _) = service(vec![answer("200 OK", "application/json", "{}")]).await;
        let error = client.event_stream(&EventQuery::default()).try_next().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unexpected(_)), "{error:?}");
        let (client, _) = service(vec![answer("200 OK", "text/event-stream", "data: {}\n\n")]).await;
        let error = client.event_stream(&EventQuery::default()).try_next().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unexpected(_)), "{error:?}");
        let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let tries = std::num::NonZeroU32::new(2).unwrap();
        let client =
            Client::builder(&format!("http://{nobody}")).tries(tries, Duration::from_millis(1)).build().unwrap();
        let error = client.event_stream(&EventQuery::default()).try_next().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unreachable(_)), "{error:?}");
    }
}
