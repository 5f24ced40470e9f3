//! Schemas of responses: ads, lists, logs, validations, lookups. Errors are in [`responses`](super::responses).

use ad_core::{
    categories::{
        self, Category, TRAILER,
        ad_fields::{ADDED, IDENTITY, WRITTEN},
    },
    fields::{Direction, Field},
    model::{
        Action, ActionState, AdState, AdStatus, ApiVersion, ChannelStatus, ImageStatus, Market, RequestState,
        VIEW_FIELDS, WaitingFor, WhoActs,
    },
    parameters::MAX_EVENTS,
};
use serde_json::{Map, Value, json};

use crate::auth::Permissions;

use super::{
    any_of,
    bodies::name_of_written,
    fields::{self, Form, is_sent},
    name_of, nullable, pascal_case, reference, require,
};

/// Fields that have a value in every answer.
const NEVER_NULL: &[&str] = &["visible", "price", "dont_publish_on_failed_images"];

/// An answer about ads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// A whole ad.
    Ad,
    /// An ad, or those of its fields that were asked for.
    Row,
    /// A page of a list.
    Page,
    /// What a payload would become.
    Validated,
}

/// The name of an answer's schema; of the ads of every category without one.
pub(super) fn name(category: Option<&Category>, answer: Answer) -> String {
    let suffix = match answer {
        Answer::Ad => "Ad",
        Answer::Row => "AdRow",
        Answer::Page => "AdPage",
        Answer::Validated => "Validated",
    };
    category.map(name_of).unwrap_or_default() + suffix
}

/// Every schema of an answer.
pub(super) fn schemas() -> Map<String, Value> {
    let mut schemas = common();
    schemas.extend(of_status());
    schemas.extend(shared());
    for (_, category) in categories::typed() {
        let of = name_of(category);
        let rows = category.fields().filter(|row| row.direction != Direction::Request);
        schemas.insert(format!("{of}FieldsAnswer"), fields::object(rows, Form::Answer));
        let own = reference(&format!("{of}FieldsAnswer"));
        let found: Vec<_> = category.found_under().collect();
        let has_open = found.iter().filter_map(|id| categories::by_id(*id)).any(Category::is_open);
        let mut fields = own.clone();
        if has_open {
            let either = format!("{of}FieldsOrOpen");
            schemas.insert(either.clone(), any_of(&[format!("{of}FieldsAnswer"), "AnyFields".to_owned()]));
            fields = reference(&either);
        }
        schemas.extend(of_ads(&of, &found, &fields));
        schemas.insert(format!("{of}Content"), content(&[category.id], &own));
        schemas.insert(name(Some(category), Answer::Validated), validated(&reference(&format!("{of}Content"))));
    }
    let open = || categories::all().filter(|category| category.is_open());
    let ids: Vec<_> = open().map(|category| category.id).collect();
    schemas.extend(of_ads("V3Only", &ids, &reference("AnyFields")));
    schemas.insert("V3OnlyContent".to_owned(), content(&ids, &reference("AnyFields")));
    schemas.extend(of_every_category());
    schemas
}

/// Answers about the ads of all categories.
fn of_every_category() -> Map<String, Value> {
    let any_of =
        |names: &[String], suffix: &str| any_of(&names.iter().map(|of| format!("{of}{suffix}")).collect::<Vec<_>>());
    let tabled = categories::all().filter(|category| !category.is_open());
    let with_open = |mut names: Vec<String>| {
        names.push("V3Only".to_owned());
        names
    };
    let all = with_open(tabled.clone().map(name_of).collect());
    let sent_to_v3 = tabled.filter(|category| category.is_in(ApiVersion::V3) && category.id != TRAILER);
    let of_v3 = with_open(sent_to_v3.map(name_of).collect());
    [
        ("Ad", any_of(&all, "Ad")),
        ("AdRow", any_of(&all, "AdRow")),
        ("AdPage", page("AdRow", "Rows are complete unless the parameter `fields` is used")),
        ("Content", any_of(&of_v3, "Content")),
        ("Validated", validated(&reference("Content"))),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
    .collect()
}

/// Ads of these categories, whole and in lists.
fn of_ads(of: &str, categories: &[u16], category_fields: &Value) -> Map<String, Value> {
    let mut row = json!({"type": "object", "properties": {}});
    for name in VIEW_FIELDS {
        row["properties"][name] = reference(&name_of_answered(name));
    }
    row["properties"]["category_id"] = json!({"type": "integer", "enum": categories});
    row["properties"]["category_fields"] = category_fields.clone();
    let mut whole = row.clone();
    row["properties"]["status"] = reference("AdStatusWord");
    require(&mut whole, VIEW_FIELDS.iter().copied().filter(|name| *name != "log"));
    let page = page(&format!("{of}AdRow"), "Rows are complete unless the parameter `fields` is used");
    [("AdRow", row), ("Ad", whole), ("AdPage", page)]
        .into_iter()
        .map(|(suffix, schema)| (format!("{of}{suffix}"), schema))
        .collect()
}

/// What would be stored.
fn content(categories: &[u16], category_fields: &Value) -> Value {
    let mut content = json!({"type": "object", "properties": {
        "source_id": {"type": "string", "nullable": true, "description": "`null` if none was sent"},
        "dealer_code": reference(&name_of_answered("dealer_code")),
        "category_id": {"type": "integer", "enum": categories},
        "image_urls": reference(&name_of_answered("image_urls")),
    }});
    require(&mut content, ["source_id", "dealer_code", "category_id"]);
    let named = WRITTEN.iter().filter(|row| row.direction == Direction::Both);
    for name in named.map(|row| row.path.split('.').next().unwrap_or(row.path)) {
        content["properties"][name] = reference(&name_of_answered(name));
    }
    content["properties"]["category_fields"] = category_fields.clone();
    content
}

fn validated(ad: &Value) -> Value {
    json!({"type": "object", "required": ["valid", "ad", "warnings", "quality"], "properties": {
        "valid": {"type": "boolean", "enum": [true]},
        "ad": ad,
        "warnings": {"type": "array", "description": "Allowed, but probably unintended", "items": reference("Warning")},
        "quality": reference("Quality"),
    }})
}

/// One page of these rows.
pub(super) fn page(row: &str, description: &str) -> Value {
    let link = |which: &str| {
        json!({"type": "string", "format": "uri", "nullable": true, "description": format!("Address of the {which} page"),
            "example": "https://ads.example/v4/car?limit=50&offset=50"})
    };
    json!({"type": "object", "required": ["count", "next", "previous", "results"],
    "description": description,
    "properties": {
        "count": {"type": "integer", "minimum": 0, "description": "Number of rows in the list"},
        "next": link("next"),
        "previous": link("previous"),
        "results": {"type": "array", "items": reference(row)},
    }})
}

/// The name of what an ad has in an answer: a client may send it in another form, or not at all.
fn name_of_answered(name: &str) -> String {
    let is_written = WRITTEN.iter().any(|row| row.path.split('.').next() == Some(name));
    if is_written { name_of_written(name, Form::Answer) } else { format!("Ad{}", pascal_case(name)) }
}

/// The fields of an ad that do not depend on its category.
fn shared() -> Map<String, Value> {
    let mut schemas = Map::new();
    let rows = [IDENTITY, WRITTEN].into_iter().flatten().filter(|row| !row.path.contains('.'));
    for row in rows.filter(|row| is_sent(row) && !matches!(row.path, "category_id" | "category_fields")) {
        let mut schema = match row.path {
            "price" => {
                let mut prices = fields::property(row, Form::Answer);
                // The dealer's where none was sent.
                require(&mut prices["items"], ["currency"]);
                prices
            }
            // A generated one is as long as what it is made of.
            "title" => json!({"type": "string", "description": "Title, sent or generated"}),
            _ => fields::property(row, Form::Answer),
        };
        if row.nullable && !NEVER_NULL.contains(&row.path) && row.direction == Direction::Both {
            nullable(&mut schema);
        }
        schemas.insert(name_of_answered(row.path), schema);
    }
    for row in ADDED {
        schemas.insert(name_of_answered(row.path), added(row));
    }
    schemas
}

/// What the service adds to an ad.
fn added(field: &Field) -> Value {
    let mut schema = match field.path {
        "id" => json!({"type": "string", "format": "uuid"}),
        "state" => json!({"type": "string", "enum": AdState::NAMES}),
        "api_version" => json!({"type": "string", "enum": ApiVersion::NAMES}),
        "created" | "updated" => json!({"type": "string", "format": "date-time"}),
        "log" => json!({"type": "array", "maxItems": ad_core::model::LATEST_ENTRIES, "items": reference("LogEntry")}),
        "image_refs" => json!({"type": "array", "items": reference("ImageRef")}),
        _ => json!({"type": "string", "nullable": true}),
    };
    schema["description"] = json!(field.doc);
    schema
}

/// The schemas of statuses.
fn of_status() -> Map<String, Value> {
    let text = json!({"type": "string"});
    let time = json!({"type": "string", "format": "date-time"});
    let maybe_time = json!({"type": "string", "format": "date-time", "nullable": true});
    let counts = json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}});
    let object = |required: &[&str], properties: Value| json!({"type": "object", "required": required, "properties": properties});
    let schemas = json!({
        "AdStatusWord": {"type": "string", "enum": AdStatus::NAMES, "description": "Whether the ad is live; with `include=status`"},
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
    });
    match schemas {
        Value::Object(schemas) => schemas,
        _ => Map::new(),
    }
}

/// The schemas that are about no category.
fn common() -> Map<String, Value> {
    let text = json!({"type": "string"});
    let code = json!({"type": "string", "pattern": "^[a-z][a-z0-9_]*$"});
    let uuid = json!({"type": "string", "format": "uuid"});
    let time = json!({"type": "string", "format": "date-time"});
    let maybe_time = json!({"type": "string", "format": "date-time", "nullable": true});
    let waiting_for: Vec<_> = WaitingFor::NAMES.iter().copied().map(Some).chain([None]).collect();
    let permissions: Vec<_> = Permissions::ALL.iter().map(|permission| permission.to_string()).collect();
    let object = |required: &[&str], properties: Value| json!({"type": "object", "required": required, "properties": properties});
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
    let schemas = json!({
        "AnyFields": {"type": "object", "nullable": true, "additionalProperties": true,
            "description": "The fields of a V3 ad in an open category (without a published field list), as they were sent"},
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
        "LogDetails": {"type": "object", "required": ["message"], "properties": {"message": text}, "additionalProperties": true},
        "LogPage": page("LogEntry", "A page of the log"),
        "ImageRef": object(&["url", "cdn_url", "id", "checksum"], json!({
            "url": {"type": "string", "description": "Source address"},
            "cdn_url": {"type": "string", "format": "uri", "description": "Address of the stored image"},
            "id": uuid,
            "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of the image"},
        })),
        "LookupEntry": object(&["id", "name"], json!({"id": text, "name": text, "for": {
            "type": "array", "items": text, "minItems": 1,
            "description": "Only for values of `condition.vehicle_ratings.value`: the ratings that can have this value"}})),
        "LookupEntries": {"type": "array", "items": reference("LookupEntry")},
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
        "Quality": object(&["score", "level", "goals", "findings"], json!({
            "score": {"type": "integer", "minimum": 0, "maximum": 100, "description": "The weight of the goals met, as a percentage of that of all goals of the ad"},
            "level": {"type": "string", "enum": ["basic", "good", "excellent"], "description": "`good` from 50, `excellent` from 80"},
            "goals": {"type": "array", "items": reference("QualityGoal")},
            "findings": {"type": "array", "items": reference("QualityFinding"), "description": "What is probably wrong. It does not prevent the ad from being published"},
        })),
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
            "severity": {"type": "string", "enum": ["info", "warning"], "description": "`warning`: a value is probably wrong; `info`: the ad could be better"},
            "field": text,
            "text": {"type": "string", "description": "What was found, with the value"},
            "suggestion": {"type": "string", "description": "What to send instead, if that is known"},
        })),
        "Warning": object(&["field", "code", "message"], json!({"field": text, "code": code, "message": text})),
    });
    match schemas {
        Value::Object(schemas) => schemas,
        _ => Map::new(),
    }
}
