//! The body of a request to an endpoint.

use ad_core::{
    model::{Event, Timestamp},
    service::Access,
};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::events::{CursorScope, EventView};

pub const TEST_TYPE: &str = "webhook.test";

/// Bodies are smaller than this, in bytes.
const BELOW: usize = 20_000;

const CUT: &str = "… (cut; GET /v4/ad/{source_id}/log has the whole message)";

pub fn of_event(access: &Access, event: &Event) -> String {
    let view = EventView::new(event, &CursorScope::of(access));
    shortened(&view.event_type, event.entry.created, &view)
}

/// The body with an event. A message that is too long is cut, and says so.
fn shortened(event_type: &str, at: Timestamp, event: &impl Serialize) -> String {
    let whole = body(event_type, at, event);
    if whole.len() < BELOW {
        return whole;
    }
    let mut event = json!(event);
    let Some(Value::String(message)) = event.get_mut("message").map(|message| std::mem::replace(message, CUT.into()))
    else {
        return whole;
    };
    let mut left = BELOW.saturating_sub(body(event_type, at, &event).len() + 1);
    let fits = |character: &char| {
        let rest = left.checked_sub(encoded_length(*character));
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    let kept: String = message.chars().take_while(fits).collect();
    event["message"] = format!("{kept}{CUT}").into();
    body(event_type, at, &event)
}

/// How many bytes a character takes in JSON.
fn encoded_length(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..' ' => 6,
        character => character.len_utf8(),
    }
}

/// The body of a test event.
pub fn of_test(webhook: Uuid, at: Timestamp) -> String {
    body(TEST_TYPE, at, &json!({"webhook_id": webhook}))
}

fn body(event_type: &str, at: Timestamp, data: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Body<'a, D> {
        #[serde(rename = "type")]
        event_type: &'a str,
        timestamp: Timestamp,
        data: &'a D,
    }
    serde_json::to_string(&Body { event_type, timestamp: at, data }).expect("texts and numbers are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_type_time_and_event() {
        let at = "2026-01-15T10:00:00.000Z".parse().unwrap();
        let body = shortened("ad.publish.done", at, &json!({"id": "evt_1", "message": "ok"}));
        assert!(body.starts_with(r#"{"type":"ad.publish.done","timestamp":"#), "{body}");
        let expected = json!({"type": "ad.publish.done", "timestamp": "2026-01-15T10:00:00.000Z",
            "data": {"id": "evt_1", "message": "ok"}});
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
        let test: Value = serde_json::from_str(&of_test(Uuid::nil(), at)).unwrap();
        assert_eq!(test["data"], json!({"webhook_id": Uuid::nil()}));
    }

    #[test]
    fn a_long_message_is_cut_and_says_so() {
        let at = Timestamp::default();
        for message in ["a".repeat(30_000), "\"".repeat(30_000), "å".repeat(30_000), "\u{1}".repeat(15_000)] {
            let body = shortened("ad.publish.error", at, &json!({"id": "evt_1", "message": message}));
            assert!(body.len() < BELOW, "{}", body.len());
            let sent: Value = serde_json::from_str(&body).unwrap();
            let sent = sent["data"]["message"].as_str().unwrap();
            let kept = sent.strip_suffix(CUT).unwrap();
            assert!(message.starts_with(kept) && !kept.is_empty(), "{sent}");
        }
        let of = |message: Value| json!({"id": "evt_1", "message": message, "other": "a".repeat(19_800)});
        let body = shortened("ad.publish.error", at, &of(json!("b".repeat(300))));
        assert_eq!(body.len(), BELOW - 1, "as much as fits is sent");
    }
}
