//! Schemas of answers that do not depend on a category.

use ad_core::{
    model::{
        Action, ActionState, AdState, AdStatus, ApiVersion, ChannelStatus, ImageStatus, Level, MOST_EARLIER_PRICES,
        Market, RequestState, Severity, WaitingFor, WhoActs,
    },
    parameters::MAX_EVENTS,
};
use serde_json::{Map, Value, json};

use super::{answers::page, nullable, reference};
use crate::auth::Permissions;

/// All of them, by name.
pub(super) fn schemas() -> Map<String, Value> {
    let groups = [of_logs(), of_events(), of_tokens(), of_quality(), of_values(), of_status(), of_prices()];
    let members =
        groups.into_iter().filter_map(|group| if let Value::Object(group) = group { Some(group) } else { None });
    members.flatten().collect()
}

fn object(required: &[&str], properties: Value) -> Value {
    let mut schema = json!({"type": "object", "required": required});
    schema["properties"] = properties;
    schema
}

/// Logs and accepted requests.
fn of_logs() -> Value {
    let text = json!({"type": "string"});
    let time = json!({"type": "string", "format": "date-time"});
    let maybe_time = json!({"type": "string", "format": "date-time", "nullable": true});
    let waiting_for: Vec<_> = WaitingFor::NAMES.iter().copied().map(Some).chain([None]).collect();
    json!({
        "LogEntry": object(&["request_id", "created", "action", "state", "external_message", "code"], json!({
            "request_id": {"type": "string", "format": "uuid",
                "description": "Groups all actions of one API request; the `X-Request-Id` of its answer"},
            "created": {"type": "string", "format": "date-time"},
            "action": {"type": "string", "enum": Action::NAMES},
            "state": {"type": "string", "enum": ActionState::NAMES},
            "external_message": {"description": "Status or error details: a text, or an object with `message` and details",
                "oneOf": [text, reference("LogDetails")]},
            "code": {"type": "string", "nullable": true, "pattern": "^[a-z][a-z0-9_]*$",
                "description": "Why the action failed, one of the codes of `/docs/errors/`; `null` unless the state is `error`"},
        })),
        "LogDetails": {"type": "object", "required": ["message"], "properties": {"message": text}, "additionalProperties": true},
        "LogPage": page("LogEntry", "A page of the log"),
        "RequestStatus": object(
            &["request_id", "source_id", "dealer_code", "accepted", "finished", "state", "attempts", "next_attempt", "waiting_for", "actions"],
            json!({
                "request_id": {"type": "string", "format": "uuid", "description": "The `X-Request-Id` of its answer"},
                "source_id": {"type": "string", "description": "Its ad"},
                "dealer_code": {"type": "string", "description": "Its ad's dealer"},
                "accepted": time,
                "finished": maybe_time,
                "state": {"type": "string", "enum": RequestState::NAMES,
                    "description": "`error` if the request is finished and one of its actions has failed"},
                "attempts": {"type": "integer", "minimum": 0, "description": "Failed attempts at the action under way"},
                "next_attempt": maybe_time,
                "waiting_for": {"type": "string", "nullable": true, "enum": waiting_for,
                    "description": "What a waiting request waits for: an earlier request of the ad, an image host, the service's image store, or a marketplace"},
                "actions": {"type": "array", "items": reference("ActionStatus"), "description": "The actions that have begun, in this order, each with its latest log entry"},
            }),
        ),
        "ActionStatus": object(&["action", "state", "created", "code", "external_message"], json!({
            "action": {"type": "string", "enum": Action::NAMES},
            "state": {"type": "string", "enum": ActionState::NAMES},
            "created": time,
            "code": {"type": "string", "nullable": true, "pattern": "^[a-z][a-z0-9_]*$",
                "description": "Why the action failed, or why its latest attempt did while the next one is due: one of the codes of `/docs/errors/`"},
            "external_message": {"description": "Status or error details: a text, or an object with `message` and details",
                "oneOf": [text, reference("LogDetails")]},
        })),
    })
}

/// Events.
fn of_events() -> Value {
    let text = json!({"type": "string"});
    let uuid = json!({"type": "string", "format": "uuid"});
    let time = json!({"type": "string", "format": "date-time"});
    json!({
        "EventPage": object(&["events", "cursor", "has_more"], json!({
            "events": {"type": "array", "items": reference("Event"), "maxItems": MAX_EVENTS},
            "cursor": {"type": "string", "description": "Position after this page, for `after`"},
            "has_more": {"type": "boolean", "description": "Whether there may be more events now"},
        })),
        "Event": object(
            &["id", "cursor", "type", "timestamp", "dealer_code", "source_id", "ad_id", "category_id", "request_id", "sequence", "action", "state", "code",
                "message", "marketplace_ad_id", "offer_id"],
            json!({
                "id": {"type": "string", "description": "Unique, and the same at every reading"},
                "cursor": {"type": "string", "description": "Position after this event, for `after`"},
                "type": {"type": "string", "description": "`ad.{action}.{state}`"},
                "timestamp": time,
                "dealer_code": text,
                "source_id": text,
                "ad_id": uuid,
                "category_id": {"type": "integer"},
                "request_id": {"type": "string", "format": "uuid", "description": "The `X-Request-Id` of the request that caused it"},
                "sequence": {"type": "integer", "minimum": 1, "description": "Number of the entry in the log of its ad, from 1 without gaps"},
                "action": {"type": "string", "enum": Action::NAMES},
                "state": {"type": "string", "enum": ActionState::NAMES},
                "code": {"type": "string", "nullable": true, "pattern": "^[a-z][a-z0-9_]*$",
                    "description": "Why the action failed, one of the codes of `/docs/errors/`; `null` unless the state is `error`"},
                "message": text,
                "marketplace_ad_id": {"type": "string", "nullable": true, "description": "Id on the primary marketplace at the time of reading"},
                "offer_id": {"type": "string", "nullable": true, "description": "Id on the secondary marketplace at the time of reading"},
            }),
        ),
    })
}

/// A token and its dealers.
fn of_tokens() -> Value {
    let text = json!({"type": "string"});
    let permissions: Vec<_> = Permissions::ALL.iter().map(|permission| permission.to_string()).collect();
    let mut rate_limit = object(
        &["requests", "seconds", "burst"],
        json!({
            "requests": {"type": "integer", "minimum": 1}, "seconds": {"type": "integer", "minimum": 1},
            "burst": {"type": "integer", "minimum": 1, "description": "Requests at once, after a pause"},
        }),
    );
    rate_limit["description"] =
        json!("So many requests in so many seconds, of all tokens of the dealer together; `null` if there is no limit");
    nullable(&mut rate_limit);
    json!({
        "Me": object(&["scope", "dealers", "permissions", "token", "rate_limit", "versions", "documentation"], json!({
            "scope": {"type": "object", "minProperties": 1, "maxProperties": 1, "description": "The dealer or the dealer group of the token",
                "properties": {"dealer_code": text, "dealer_group": text}},
            "dealers": {"type": "array", "items": reference("MyDealer")},
            "permissions": {"type": "array", "items": {"type": "string", "enum": permissions}},
            "token": reference("MyToken"),
            "rate_limit": rate_limit,
            "versions": {"type": "array", "items": {"type": "string", "enum": ApiVersion::NAMES}, "description": "Versions of the API"},
            "documentation": {"type": "string", "format": "uri"},
        })),
        "MyDealer": object(&["code", "name", "currency", "products", "bump", "salespersons", "ads"], json!({
            "code": text, "name": text, "currency": {"type": "string", "description": "Of prices without one (ISO 4217)"},
            "products": {"type": "array", "items": text, "description": "Activated products"},
            "bump": {"type": "array", "items": {"type": "string", "enum": ["primary", "secondary"]},
                "description": "Marketplaces on which the dealer may bump ads"},
            "salespersons": {"type": "integer", "minimum": 0, "description": "Number of salespersons"},
            "ads": {"type": "integer", "minimum": 0, "description": "Number of ads that are not deleted"},
        })),
        "MyToken": object(&["jti", "label", "issued", "expires"], json!({
            "jti": {"type": "string", "description": "Id of the token, by which it can be revoked"},
            "label": {"type": "string", "nullable": true, "description": "Name of the client, if the token has one"},
            "issued": {"type": "string", "format": "date-time", "nullable": true},
            "expires": {"type": "string", "format": "date-time", "nullable": true, "description": "`null` if it does not expire"},
        })),
    })
}

/// Warnings and quality.
fn of_quality() -> Value {
    let text = json!({"type": "string"});
    let code = json!({"type": "string", "pattern": "^[a-z][a-z0-9_]*$"});
    let thresholds = format!("`good` from {}, `excellent` from {}", Level::GOOD, Level::EXCELLENT);
    let level = json!({"type": "string", "enum": Level::NAMES, "description": thresholds});
    json!({
        "Quality": object(&["score", "level", "goals", "findings"], json!({
            "score": {"type": "integer", "minimum": 0, "maximum": 100, "description": "The weight of the goals met, as a percentage of that of all goals of the ad"},
            "level": level,
            "goals": {"type": "array", "items": reference("QualityGoal")},
            "findings": {"type": "array", "items": reference("QualityFinding"), "description": "What is probably wrong. It does not prevent the ad from being published"},
        })),
        "QualitySummary": object(&["score", "level", "findings"], json!({
            "score": {"type": "integer", "minimum": 0, "maximum": 100, "description": "As in `Quality`"},
            "level": level,
            "findings": {"type": "integer", "minimum": 0, "example": 2, "description": "Number of findings about the ad itself"},
        })),
        "AdQuality": super::any_of(&["Quality".to_owned(), "QualitySummary".to_owned()]),
        "QualityGoal": object(&["code", "field", "met", "weight", "text", "how"], json!({
            "code": code,
            "field": {"type": "string", "description": "The field by which the goal is met"},
            "met": {"type": "boolean"},
            "weight": {"type": "integer", "minimum": 1, "description": "Its share of the score"},
            "text": {"type": "string", "description": "The goal"},
            "how": {"type": "string", "description": "How to meet it"},
        })),
        "QualityFinding": object(&["code", "severity", "field", "text"], json!({
            "code": code,
            "severity": {"type": "string", "enum": Severity::NAMES, "description": "`warning`: a value is probably wrong; `info`: the ad could be better"},
            "field": text,
            "text": {"type": "string", "description": "What was found, with the value"},
            "suggestion": {"type": "string", "description": "What to send instead, if that is known"},
        })),
        "Warning": object(&["field", "code", "message"], json!({"field": text, "code": code, "message": text})),
    })
}

/// Images, lookups, and open fields.
fn of_values() -> Value {
    let text = json!({"type": "string"});
    let uuid = json!({"type": "string", "format": "uuid"});
    json!({
        "AnyFields": {"type": "object", "nullable": true, "additionalProperties": true,
            "description": "The fields of a V3 ad in an open category (without a published field list), as they were sent"},
        "ImageRef": object(&["url", "cdn_url", "id", "checksum", "width", "height", "renditions"], json!({
            "url": {"type": "string", "description": "Source address"},
            "cdn_url": {"type": "string", "format": "uri", "description": "Address of the stored image"},
            "id": uuid,
            "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of the image"},
            "width": {"type": "integer", "nullable": true,
                "description": "Width in pixels, turned as EXIF says; `null` until the image was examined, and if it cannot be decoded"},
            "height": {"type": "integer", "nullable": true, "description": "Height in pixels, likewise"},
            "renditions": {"type": "array", "nullable": true, "items": reference("Rendition"),
                "description": "The image in other sizes, the smallest first; `null` until they are made, empty if it cannot be decoded"},
        })),
        "Rendition": object(&["width", "height", "url"], json!({
            "width": {"type": "integer", "description": "Width in pixels: 320, 800 or 1600, and never more than that of the image"},
            "height": {"type": "integer", "description": "Height in pixels"},
            "url": {"type": "string", "format": "uri", "description": "Address of the JPEG: upright, without metadata, unchanging"},
        })),
        "LookupEntry": object(&["id", "name"], json!({"id": text, "name": text, "for": {
            "type": "array", "items": text, "minItems": 1,
            "description": "Only for values of `condition.vehicle_ratings.value`: the ratings that can have this value"}})),
        "LookupEntries": {"type": "array", "items": reference("LookupEntry")},
    })
}

/// The schemas of prices over time.
fn of_prices() -> Value {
    let text = json!({"type": "string"});
    let time = json!({"type": "string", "format": "date-time"});
    let maybe_time = json!({"type": "string", "format": "date-time", "nullable": true, "description": "`null` for the present price"});
    let amount = json!({"type": "number", "minimum": 0, "description": "In whole units of the currency"});
    let currency = json!({"type": "string", "description": "ISO 4217 code"});
    let applied = |description: &str| {
        let mut applied = object(
            &["amount", "currency", "since", "until"],
            json!({
                "amount": amount, "currency": currency, "since": time, "until": maybe_time,
            }),
        );
        applied["description"] = json!(description);
        nullable(&mut applied);
        applied
    };
    let mut reduction = object(
        &["amount", "currency", "since", "reference", "below_reference"],
        json!({
            "amount": amount,
            "currency": currency,
            "since": {"type": "string", "format": "date-time", "description": "When the series of reductions began"},
            "reference": applied("The lowest price of the 30 days before that, or of the recorded part of them; `null` if no earlier price is recorded"),
            "below_reference": {"type": "boolean", "nullable": true, "description": "Whether the reduced price is less than the reference price"},
        }),
    );
    reduction["description"] = json!("The present price of type `reduced`; `null` without one");
    nullable(&mut reduction);
    json!({
        "PriceHistory": object(&["source_id", "dealer_code", "recorded_since", "lowest_30_days", "reduction", "history"], json!({
            "source_id": text,
            "dealer_code": text,
            "recorded_since": {"type": "string", "format": "date-time", "description": "Since when the history has no gaps"},
            "lowest_30_days": applied("The lowest price of the last 30 days, the present one included"),
            "reduction": reduction,
            "history": {"type": "array", "items": reference("PricePeriod"), "minItems": 1, "maxItems": MOST_EARLIER_PRICES,
                "description": "All recorded prices, oldest first; the last ones are the present ones"},
        })),
        "PricePeriod": object(&["since", "until", "price"], json!({
            "since": time,
            "until": maybe_time,
            "price": {"type": "array", "items": reference("RecordedPrice")},
        })),
        "RecordedPrice": object(&["type", "amount", "currency"], json!({
            "type": {"type": "string", "description": "`list`, `reduced`, `leasing`, `monthly` or `call`"},
            "amount": amount,
            "currency": currency,
        })),
    })
}

/// The schemas of statuses.
fn of_status() -> Value {
    let text = json!({"type": "string"});
    let time = json!({"type": "string", "format": "date-time"});
    let maybe_time = json!({"type": "string", "format": "date-time", "nullable": true});
    let counts = json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}});
    json!({
        "AdStatusWord": {"type": "string", "enum": AdStatus::NAMES, "example": AdStatus::Live, "description": "Whether the ad is live; with `include=status`"},
        "AdStatus": object(
            &["source_id", "state", "status", "since", "text", "channels", "images", "unfinished", "pole_position_until"],
            json!({
                "source_id": text,
                "state": {"type": "string", "enum": AdState::NAMES},
                "status": {"type": "string", "enum": AdStatus::NAMES},
                "since": time,
                "text": {"type": "string", "description": "The status in a sentence"},
                "channels": {"type": "array", "items": reference("ChannelStatus"), "description": "The marketplaces of the ad's category"},
                "images": {"type": "array", "items": reference("ImageStatus"), "description": "The ad's images, in their order"},
                "unfinished": {"type": "array", "items": reference("RequestStatus"), "description": "The ad's unfinished requests, in their order"},
                "pole_position_until": maybe_time,
            }),
        ),
        "ChannelStatus": object(
            &["marketplace", "status", "listing_id", "since", "code", "text", "who_acts", "what_to_do", "attempts", "next_attempt"],
            json!({
                "marketplace": {"type": "string", "enum": Market::NAMES},
                "status": {"type": "string", "enum": ChannelStatus::NAMES},
                "listing_id": {"type": "string", "nullable": true, "description": "Id of the listing; kept while the ad is not listed"},
                "since": time,
                "code": {"type": "string", "nullable": true, "pattern": "^[a-z][a-z0-9_]*$",
                    "description": "Why the latest attempt failed, one of the codes of `/docs/errors/`"},
                "text": {"type": "string", "description": "The status in a sentence, with the reason of a failure"},
                "who_acts": {"type": "string", "enum": WhoActs::NAMES, "description": "Who can change the status"},
                "what_to_do": {"type": "string", "nullable": true, "description": "What they can do; `null` if nobody has to do anything"},
                "attempts": {"type": "integer", "minimum": 0, "description": "Attempts that failed"},
                "next_attempt": maybe_time,
            }),
        ),
        "ImageStatus": object(&["url", "status", "code", "text", "attempts"], json!({
            "url": text,
            "status": {"type": "string", "enum": ImageStatus::NAMES},
            "code": {"type": "string", "nullable": true, "pattern": "^[a-z][a-z0-9_]*$"},
            "text": text,
            "attempts": {"type": "integer", "minimum": 0, "description": "Attempts that failed"},
        })),
        "Summary": object(&["ads", "by_status", "by_vehicle_type", "by_channel", "failures"], json!({
            "ads": {"type": "integer", "minimum": 0, "description": "All ads, deleted ones included"},
            "by_status": counts,
            "by_vehicle_type": {"type": "object", "additionalProperties": counts,
                "description": "By vehicle type, or by the number of a category that has none"},
            "by_channel": {"type": "object", "additionalProperties": counts, "description": "By marketplace"},
            "failures": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1},
                "description": "By code: of each ad that of its first channel with one, or else of a missing image"},
        })),
    })
}
