//! Events as JSON, for the API and webhooks.

use ad_core::{
    model::{Event, PromotionCost, Timestamp},
    violation::Code,
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::CursorScope;

/// An event as clients get it (extensions E4.2).
#[derive(Debug, Serialize)]
pub struct EventView<'e> {
    id: String,
    /// The position after it, to go on from.
    pub cursor: String,
    /// Its type, such as `ad.publish.done`.
    #[serde(rename = "type")]
    pub event_type: String,
    timestamp: Timestamp,
    dealer_code: &'e str,
    source_id: &'e str,
    ad_id: Uuid,
    category_id: u16,
    request_id: Uuid,
    sequence: i64,
    action: &'static str,
    state: &'static str,
    code: Option<Code>,
    message: String,
    marketplace_ad_id: Option<&'e str>,
    offer_id: Option<&'e str>,
    plan_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<&'e PromotionCost>,
}

impl<'e> EventView<'e> {
    pub fn new(event: &'e Event, scope: &CursorScope) -> Self {
        let entry = &event.entry;
        Self {
            id: event.id().to_string(),
            cursor: scope.encode(event.position),
            event_type: event.event_type(),
            timestamp: entry.created,
            dealer_code: &event.dealer_code,
            source_id: &event.source_id,
            ad_id: event.ad_id,
            category_id: event.category_id,
            request_id: entry.request_id,
            sequence: event.position.sequence,
            action: entry.action.name(),
            state: entry.state.name(),
            code: entry.code,
            message: message(&entry.external_message),
            marketplace_ad_id: event.marketplace_ad_id.as_deref(),
            offer_id: event.offer_id.as_deref(),
            plan_id: event.plan_id,
            cost: event.cost.as_deref(),
        }
    }
}

/// The message of an entry as text: of an object, its `message`.
fn message(external_message: &Value) -> String {
    match external_message.get("message").unwrap_or(external_message) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use ad_core::{
        model::{Action, ActionState, Amount, EventPosition, LogEntry},
        service::Access,
    };
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_has_all_members_and_its_message_is_text() {
        let scope = CursorScope::of(&Access::Dealer("north".to_owned()));
        let created: Timestamp = "2026-01-15T10:00:00.123Z".parse().unwrap();
        let message = json!({"message": "1 of 2 images failed", "images": []});
        let entry = LogEntry::new(Uuid::from_u128(2), created, Action::HandleMedia, ActionState::Error, message);
        let mut event = Event {
            position: EventPosition { transaction: 9, ad: 4, sequence: 6 },
            ad_id: Uuid::from_u128(1),
            source_id: "a/ö".to_owned(),
            dealer_code: "north".to_owned(),
            category_id: 1020,
            marketplace_ad_id: Some("p-1".to_owned()),
            offer_id: None,
            plan_id: Some(Uuid::from_u128(3)),
            cost: None,
            entry: LogEntry { code: Some(Code::ImageFailed), ..entry },
        };
        assert_eq!(
            json!(EventView::new(&event, &scope)),
            json!({
                "id": "evt_00000000000000000000000000000001_6",
                "cursor": scope.encode(event.position),
                "type": "ad.handle_media.error",
                "timestamp": "2026-01-15T10:00:00.123Z",
                "dealer_code": "north",
                "source_id": "a/ö",
                "ad_id": "00000000-0000-0000-0000-000000000001",
                "category_id": 1020,
                "request_id": "00000000-0000-0000-0000-000000000002",
                "sequence": 6,
                "action": "handle_media",
                "state": "error",
                "code": "image_failed",
                "message": "1 of 2 images failed",
                "marketplace_ad_id": "p-1",
                "offer_id": null,
                "plan_id": "00000000-0000-0000-0000-000000000003",
            })
        );
        let cost = PromotionCost { amount: Amount::from_hundredths(5950), currency: "SEK".to_owned() };
        event.cost = Some(Box::new(cost));
        assert_eq!(json!(EventView::new(&event, &scope))["cost"], json!({"amount": 59.5, "currency": "SEK"}));
        for (external_message, text) in [(json!("Ad created"), "Ad created"), (json!(["a", 1]), "[\"a\",1]")] {
            event.entry.external_message = external_message;
            assert_eq!(EventView::new(&event, &scope).message, text);
        }
    }
}
