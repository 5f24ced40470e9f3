//! JSON Schemas (in the dialect of OpenAPI 3.0) from the field tables: every bound, unit, enum and description in the
//! document is the one that validation uses.

use ad_core::{
    ad::{AdState, ApiVersion},
    ad_fields::{ADDED, IDENTITY, WRITTEN},
    catalogue::Catalogue,
    categories::Category,
    fields::{Direction, Field, Kind},
    log::{Action, ActionState},
    price,
};
use serde_json::{Map, Value, json};

/// Which body of an ad a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// POST.
    Create,
    /// Validate: as POST, but `source_id` may be left out.
    Validate,
    /// PUT and PATCH.
    Update,
    /// What comes back.
    Answer,
}

/// The name of a body's schema, such as `CarCreate`.
pub(super) fn name(category: &Category, shape: Shape) -> String {
    let words = category.vehicle_type.unwrap_or("v3").split('-').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    let suffix = match shape {
        Shape::Create => "Create",
        Shape::Validate => "Validate",
        Shape::Update => "Update",
        Shape::Answer => "Ad",
    };
    words.collect::<String>() + suffix
}

/// The body of an ad of a category.
pub(super) fn body(category: &Category, shape: Shape, catalogue: &Catalogue) -> Value {
    let sent = |field: &&Field| {
        let forbidden = category.registered && (field.path == "title" || field.path.starts_with("contact."));
        match shape {
            Shape::Answer => field.direction != Direction::Request,
            Shape::Create | Shape::Validate | Shape::Update => field.direction != Direction::Response && !forbidden,
        }
    };
    let rows = [IDENTITY, WRITTEN].into_iter().flatten().filter(sent);
    let mut schema = object(rows, shape, catalogue, Some(category));
    schema["properties"]["category_id"] =
        json!({"type": "integer", "enum": [category.id], "description": category.name});
    if shape == Shape::Answer {
        for field in ADDED {
            schema["properties"][field.path] = answer_only(field);
        }
        schema["required"] =
            json!(["id", "source_id", "dealer_code", "category_id", "state", "api_version", "created", "updated"]);
        return schema;
    }
    if matches!(shape, Shape::Create | Shape::Validate) && !category.registered {
        require(&mut schema, "title");
        require(&mut schema, "contact");
    }
    if shape == Shape::Validate
        && let Some(Value::Array(required)) = schema.get_mut("required")
    {
        required.retain(|name| name != "source_id");
    }
    schema
}

fn require(schema: &mut Value, name: &str) {
    match schema.get_mut("required") {
        Some(Value::Array(required)) => required.push(name.into()),
        _ => schema["required"] = json!([name]),
    }
}

/// An object of rows with dotted paths.
fn object<'a>(
    rows: impl Iterator<Item = &'a Field>,
    shape: Shape,
    catalogue: &Catalogue,
    category: Option<&Category>,
) -> Value {
    let mut schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    for row in rows {
        let mut place = &mut schema;
        let mut names = row.path.split('.').peekable();
        while let Some(name) = names.next() {
            if names.peek().is_some() {
                let branch = &mut place["properties"][name];
                if branch.is_null() {
                    *branch = json!({"type": "object", "properties": {}, "additionalProperties": false});
                    if shape != Shape::Create && shape != Shape::Validate {
                        branch["nullable"] = json!(true);
                    }
                }
                place = &mut place["properties"][name];
                continue;
            }
            // A merged update needs nothing; within an array or a replaced object everything required is.
            let top = category.is_some();
            if row.required && (!top || !matches!(shape, Shape::Update | Shape::Answer)) {
                require(place, name);
            }
            place["properties"][name] = property(row, shape, catalogue, category);
        }
    }
    schema
}

fn property(row: &Field, shape: Shape, catalogue: &Catalogue, category: Option<&Category>) -> Value {
    let mut schema = kind(&row.kind, shape, catalogue, category);
    let tag = row.since.tag().map_or_else(String::new, |tag| format!(" ({tag})"));
    schema["description"] = json!(format!("{}{tag}", row.doc));
    if row.nullable || shape == Shape::Answer {
        schema["nullable"] = json!(true);
        // In OpenAPI 3.0 an enum holds for null as well.
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.push(Value::Null);
        }
    }
    if let Some(default) = row.default {
        schema["default"] = json!(default);
    }
    schema
}

fn kind(kind: &Kind, shape: Shape, catalogue: &Catalogue, category: Option<&Category>) -> Value {
    match kind {
        Kind::Text { min, max, without } => {
            let mut schema = json!({"type": "string", "maxLength": max});
            if *min > 0 {
                schema["minLength"] = json!(min);
            }
            if let Some(mark) = without {
                schema["pattern"] = json!(format!("^[^{mark}]*$"));
            }
            schema
        }
        Kind::Integer { min, max, .. } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::Decimal { min, max, decimals, .. } => {
            let mut schema = json!({"type": "number", "minimum": min, "maximum": max});
            if let Some(decimals) = decimals {
                schema["multipleOf"] = json!(10_f64.powi(-i32::from(*decimals)));
            }
            schema
        }
        Kind::Boolean => json!({"type": "boolean"}),
        Kind::Date => json!({"type": "string", "format": "date"}),
        Kind::Url { .. } | Kind::ImageAddress => json!({"type": "string", "format": "uri", "maxLength": 2000}),
        Kind::Plate { max } => json!({"type": "string", "minLength": 1, "maxLength": max}),
        Kind::Email { or_empty: false } => json!({"type": "string", "format": "email"}),
        Kind::Email { or_empty: true } | Kind::Model { .. } => json!({"type": "string"}),
        Kind::Digits { lengths, plus } => {
            let sign = if *plus { r"\+?" } else { "" };
            json!({"type": "string", "pattern": format!("^{sign}[0-9]+$"),
                "minLength": lengths.first(), "maxLength": lengths.last()})
        }
        Kind::Currency => json!({"type": "string", "pattern": "^[A-Z]{3}$", "example": "SEK"}),
        Kind::Choice { values, .. } => {
            json!({"type": "string", "enum": values.iter().map(|(id, _)| id).collect::<Vec<_>>()})
        }
        Kind::Slug { list } => json!({"type": "string", "enum": catalogue.list(list).ids().collect::<Vec<_>>()}),
        Kind::Measure { units, min } => json!({
            "type": "object",
            "properties": {
                "unit": {"type": "string", "enum": units},
                "value": {"type": "number", "minimum": min},
            },
            "required": if shape == Shape::Update && category.is_some() { vec![] } else { vec!["unit", "value"] },
            "additionalProperties": false,
        }),
        Kind::List { item, max, unique } => {
            let mut schema =
                json!({"type": "array", "items": self::kind(item, shape, catalogue, None), "maxItems": max});
            if *unique {
                schema["uniqueItems"] = json!(true);
            }
            schema
        }
        Kind::Objects { fields, max, .. } => {
            let mut item = object(fields.iter(), shape, catalogue, None);
            if shape == Shape::Create && std::ptr::eq(*fields, price::FIELDS) {
                item["example"] = json!({"type": "list", "amount": 349_900, "currency": "SEK"});
            }
            json!({"type": "array", "items": item, "maxItems": max})
        }
        Kind::Object { fields } => object(fields.iter(), shape, catalogue, None),
        Kind::CategoryFields => category.map_or_else(
            || json!({"type": "object"}),
            |category| object(category.fields(), shape, catalogue, Some(category)),
        ),
    }
}

/// What the service adds to an ad.
fn answer_only(field: &Field) -> Value {
    let mut schema = match field.path {
        "id" => json!({"type": "string", "format": "uuid"}),
        "state" => json!({"type": "string", "enum": AdState::NAMES}),
        "api_version" => json!({"type": "string", "enum": ApiVersion::NAMES}),
        "created" | "updated" => json!({"type": "string", "format": "date-time"}),
        "log" => json!({"type": "array", "items": reference("LogEntry")}),
        "image_refs" => json!({"type": "array", "items": reference("ImageRef")}),
        _ => json!({"type": "string", "nullable": true}),
    };
    schema["description"] = json!(field.doc);
    schema
}

/// A reference to a schema of the document.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The schemas that do not depend on a category.
pub(super) fn common() -> Map<String, Value> {
    let text = json!({"type": "string"});
    let uuid = json!({"type": "string", "format": "uuid"});
    let schemas = json!({
        "LogEntry": {"type": "object", "required": ["request_id", "created", "action", "state", "external_message"], "properties": {
            "request_id": {"type": "string", "format": "uuid", "description": "Groups all actions of one API request; the X-Request-Id of its answer"},
            "created": {"type": "string", "format": "date-time"},
            "action": {"type": "string", "enum": Action::NAMES},
            "state": {"type": "string", "enum": ActionState::NAMES},
            "external_message": {"description": "Status or error details: a text, or an object with `message` and details",
                "oneOf": [{"type": "string"}, {"type": "object", "properties": {"message": text}}]},
        }},
        "ImageRef": {"type": "object", "required": ["url", "cdn_url", "id", "checksum"], "properties": {
            "url": {"type": "string", "format": "uri", "description": "Where it was fetched"},
            "cdn_url": {"type": "string", "format": "uri", "description": "Where it is served"},
            "id": uuid,
            "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of its bytes"},
        }},
        "LookupEntry": {"type": "object", "required": ["id", "name"], "properties": {"id": text, "name": text}},
        "Warning": {"type": "object", "required": ["field", "message"], "properties": {"field": text, "message": text}},
        "Detail": {"type": "object", "required": ["detail"], "properties": {"detail": text}},
        "FieldErrors": {"type": "object", "description": "Each key a field, or an index of an array; each leaf a list of messages",
            "additionalProperties": {"oneOf": [{"type": "array", "items": text}, reference("FieldErrors")]}},
        "BusinessErrors": {"type": "array", "description": "Business rules that forbid the request", "items": text},
        "BadRequest": {"oneOf": [reference("FieldErrors"), reference("BusinessErrors"), reference("Detail")]},
    });
    match schemas {
        Value::Object(schemas) => schemas,
        _ => Map::new(),
    }
}

/// One page of these rows.
pub(super) fn page(row: &str) -> Value {
    let link = json!({"type": "string", "format": "uri", "nullable": true});
    json!({"type": "object", "required": ["count", "next", "previous", "results"], "properties": {
        "count": {"type": "integer", "description": "Rows in the whole list"},
        "next": link, "previous": link,
        "results": {"type": "array", "items": reference(row)},
    }})
}

/// The answer of a validation.
pub(super) fn validated() -> Value {
    json!({"type": "object", "required": ["valid", "ad", "warnings"], "properties": {
        "valid": {"type": "boolean", "enum": [true]},
        "ad": {"type": "object", "description": "The ad as it would be stored"},
        "warnings": {"type": "array", "items": reference("Warning")},
    }})
}
