//! Schemas of responses about ads, from the tables of fields. Those that depend on no table are types: `api::answers`.

use ad_core::{
    categories::{
        self, Category, TRAILER,
        ad_fields::{ADDED, IDENTITY, WRITTEN},
    },
    fields::{Direction, Field},
    model::{AdState, AdStatus, ApiVersion, VIEW_FIELDS},
};
use serde_json::{Map, Value, json};

use super::{
    any_of,
    bodies::name_of_written,
    fields::{self, Form, is_sent},
    name_of, nullable, pascal_case, reference, require,
};

/// Fields that have a value in every answer.
const NEVER_NULL: &[&str] = &["visible", "price", "dont_publish_on_failed_images"];

/// Those of them that are answered as they are sent, and share its schema.
const AS_SENT: &[&str] = &["visible", "dont_publish_on_failed_images"];

/// The kind of an answer about ads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Ad,
    Page,
    /// The result of a validation.
    Validated,
}

/// The name of an answer's schema; without a category, the one for all ads.
pub(super) fn name(category: Option<&Category>, answer: Answer) -> String {
    let suffix = match answer {
        Answer::Ad => "Ad",
        Answer::Page => "AdPage",
        Answer::Validated => "Validated",
    };
    category.map(name_of).unwrap_or_default() + suffix
}

pub(super) fn schemas() -> Map<String, Value> {
    let mut schemas = shared();
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
    let pages = [
        ("LogEntry", "LogPage", "A page of the log"),
        ("Revision", "RevisionPage", "Revisions, newest first"),
        ("MarketplaceCall", "CallPage", "Calls of marketplaces, newest first"),
        ("Webhook", "WebhookPage", "Webhooks, oldest first"),
        ("Delivery", "DeliveryPage", "Deliveries, newest first"),
        ("Charge", "ChargePage", "Charges, newest first"),
        ("Promotion", "PromotionPage", "Promotion schedules, newest first"),
        ("PromotionRun", "PromotionRunPage", "Runs, latest first"),
        ("StockPlan", "StockPlanPage", "Stock plans, newest first"),
        ("PlannedChange", "PlannedChangePage", "Changes, in the order of the stock"),
    ];
    schemas.extend(pages.map(|(row, name, description)| (name.to_owned(), page(row, description))));
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
        ("AdPage", page("AdRow", PAGE)),
        ("AdBase", ad_base()),
        ("AdContent", any_of(&of_v3, "Content")),
        ("AdContentBase", content_base()),
        (
            "AdStatusWord",
            json!({"type": "string", "enum": AdStatus::NAMES, "description": "Whether the ad is live; with `include=status`",
                "example": "live"}),
        ),
        (
            "AnyFields",
            json!({"type": "object", "nullable": true, "additionalProperties": true,
                "description": "The fields of a V3 ad in an open category (without a published field list), as they were sent"}),
        ),
        ("SignedRecord", signed_record()),
        ("AdRecord", ad_record()),
        ("RecordedAd", recorded_ad()),
        ("NextPage", link_to("next")),
        ("PreviousPage", link_to("previous")),
        (
            "Accounts",
            // Some generators import a schema twice that is named twice here.
            json!({"oneOf": [reference("Account"), {"type": "array", "description": "Of a group: an `Account` for each dealer",
                "items": {"type": "object", "additionalProperties": true}}]}),
        ),
        ("LookupEntries", json!({"type": "array", "items": reference("LookupEntry")})),
        (
            "Warnings",
            json!({"type": "array", "description": "Allowed, but probably a mistake", "items": reference("Warning")}),
        ),
        ("Validated", validated(&reference("AdContent"))),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema))
    .collect()
}

/// Ads of these categories, whole and in lists.
fn of_ads(of: &str, categories: &[u16], category_fields: &Value) -> Map<String, Value> {
    let ad = |quality: &str| {
        let mut own = of_categories(categories, category_fields);
        own["properties"]["quality"] = reference(quality);
        if quality == "Quality" {
            own["properties"]["warnings"] = reference("Warnings");
        }
        require(&mut own, ["category_id", "category_fields"]);
        json!({"allOf": [reference("AdBase"), own]})
    };
    [("AdRow", ad("QualitySummary")), ("Ad", ad("Quality")), ("AdPage", page(&format!("{of}AdRow"), PAGE))]
        .into_iter()
        .map(|(suffix, schema)| (format!("{of}{suffix}"), schema))
        .collect()
}

const PAGE: &str = "Rows are complete unless the parameter `fields` is used";

/// The members that depend on the category.
fn of_categories(categories: &[u16], category_fields: &Value) -> Value {
    json!({"type": "object", "properties": {
        "category_id": {"type": "integer", "enum": categories},
        "category_fields": category_fields,
    }})
}

/// The members of ads of every category.
fn ad_base() -> Value {
    let names = VIEW_FIELDS.iter().copied().filter(|name| !matches!(*name, "category_id" | "category_fields"));
    let mut ad = json!({"type": "object", "properties": {"status": reference("AdStatusWord")},
        "description": "An ad. With the parameter `fields` an answer has the named members only"});
    for name in names.clone() {
        ad["properties"][name] = reference(&name_of_answered(name));
    }
    require(&mut ad, names.filter(|name| *name != "log"));
    // Of an ad as it was.
    ad["properties"]["revision"] =
        json!({"type": "integer", "minimum": 0, "description": "The number of the revision; only of an ad as it was"});
    ad["properties"]["image_urls"] = reference(&name_of_answered("image_urls"));
    ad
}

/// The members of the content that would be stored, for every category.
fn content_base() -> Value {
    let mut content = json!({"type": "object", "properties": {
        "source_id": {"type": "string", "nullable": true, "description": "`null` if none was sent"},
        "dealer_code": reference(&name_of_answered("dealer_code")),
        "image_urls": reference(&name_of_answered("image_urls")),
    }});
    require(&mut content, ["source_id", "dealer_code"]);
    let rows = WRITTEN.iter().filter(|row| row.direction == Direction::Both);
    let names = rows.map(|row| row.path.split('.').next().unwrap_or(row.path));
    for name in names.filter(|name| *name != "category_fields") {
        content["properties"][name] = reference(&name_of_answered(name));
    }
    content
}

/// Schema of the content that would be stored.
fn content(categories: &[u16], category_fields: &Value) -> Value {
    let mut own = of_categories(categories, category_fields);
    require(&mut own, ["category_id"]);
    json!({"allOf": [reference("AdContentBase"), own]})
}

fn validated(ad: &Value) -> Value {
    json!({"type": "object", "required": ["valid", "ad", "warnings", "quality"], "properties": {
        "valid": {"type": "boolean", "enum": [true]},
        "ad": ad,
        "warnings": reference("Warnings"),
        "quality": reference("Quality"),
    }})
}

fn page(row: &str, description: &str) -> Value {
    json!({"type": "object", "required": ["count", "next", "previous", "results"],
    "description": description,
    "properties": {
        "count": {"type": "integer", "minimum": 0, "description": "Number of rows in the list"},
        "next": reference("NextPage"),
        "previous": reference("PreviousPage"),
        "results": {"type": "array", "items": reference(row)},
    }})
}

fn link_to(which: &str) -> Value {
    json!({"type": "string", "format": "uri", "nullable": true, "description": format!("Address of the {which} page"),
        "example": "https://ads.example/v4/car?limit=50&offset=50"})
}

/// The name of the schema of a field in answers, which may differ from the one in requests.
fn name_of_answered(name: &str) -> String {
    let is_written = WRITTEN.iter().any(|row| row.path.split('.').next() == Some(name));
    match is_written {
        true if AS_SENT.contains(&name) => name_of_written(name, Form::New),
        true => name_of_written(name, Form::Answer),
        false => format!("Ad{}", pascal_case(name)),
    }
}

/// The fields of an ad that do not depend on its category.
fn shared() -> Map<String, Value> {
    let mut schemas = Map::new();
    let rows = [IDENTITY, WRITTEN].into_iter().flatten().filter(|row| !row.path.contains('.'));
    for row in rows.filter(|row| is_sent(row) && !matches!(row.path, "category_id" | "category_fields")) {
        let mut schema = match row.path {
            "price" => {
                let mut prices = fields::property(row, Form::Answer);
                // The location of the dealer if none was sent.
                require(&mut prices["items"], ["currency"]);
                prices
            }
            // The length of a generated title depends on its parts.
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

/// The record of an ad with its signature.
fn signed_record() -> Value {
    let signature = json!({"type": "string", "pattern": r"^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+$",
        "description": "Detached JWS (RFC 7515) of the bytes of `record` as they stand in the answer, not encoded (RFC 7797: `b64` is false), by a \
        key of `/.well-known/jwks.json`"});
    json!({"type": "object", "required": ["signature", "record"], "properties": {"signature": signature, "record": reference("AdRecord")}})
}

/// What is recorded of an ad. Each list is with its count.
fn ad_record() -> Value {
    let list = |row: &str, description: &str| {
        json!({"type": "object", "required": ["count", "results"], "description": description,
            "properties": {"count": {"type": "integer", "minimum": 0}, "results": {"type": "array", "items": reference(row)}}})
    };
    let photo = json!({"type": "object", "required": ["url", "checksum"], "properties": {
        "url": {"type": "string", "description": "The dealer's address"},
        "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of the photo"}}});
    let properties = json!({
        "service": {"type": "string", "format": "uri", "nullable": true, "description": "Address of the service; `null` if its operator has not set one"},
        "made": {"type": "string", "format": "date-time", "description": "When the record was made"},
        "ad": reference("RecordedAd"),
        "revisions": list("Revision", "What the ad said before, newest first"),
        "log": list("LogEntry", "The log, newest first"),
        "calls": list("MarketplaceCall", "Calls of marketplaces, newest first"),
        "charges": list("Charge", "What its promotions cost, newest first"),
        "photos": {"type": "array", "items": photo},
    });
    let required: Vec<_> = properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    json!({"type": "object", "required": required, "properties": properties,
        "description": "A list has fewer results than its count if the oldest ones are left out, because all would have more than 8 MiB"})
}

/// An ad of any category. The fields of all categories would make the document of each type larger by a fifth.
fn recorded_ad() -> Value {
    let mut own = json!({"type": "object", "properties": {
        "category_id": {"type": "integer", "example": 1020},
        "category_fields": {"type": "object", "nullable": true, "additionalProperties": true, "description": "The fields of its category"}}});
    require(&mut own, ["category_id", "category_fields"]);
    json!({"allOf": [reference("AdBase"), own]})
}
