//! JSON Schemas (OpenAPI 3.0 dialect) of the rows of the field tables: every bound, unit, enum and description is the one that
//! validation uses.
//!
//! Descriptions mention what the service accepts beyond a schema: a unit in any case, a numeric text, spaces in a plate. Responses
//! always match their schema.

use ad_core::{
    catalogue::Catalogue,
    categories,
    fields::{Direction, Field, Kind, MOST_MEASURED, MOST_MEMBERS},
};
use serde_json::{Map, Value, json};

use super::{nullable, pascal_case, reference, require};

/// The pattern of a date: a day that some month has.
pub(super) const DATE: &str = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";

/// The kind of body that contains a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A new ad, and items of arrays and objects that an update replaces: complete, without `null`.
    New,
    /// An update: nothing is required, and `null` clears.
    Update,
    /// A response: normalised. Its values may come from an earlier catalogue, so they are not bound to the present lists.
    Answer,
}

impl Form {
    pub(super) const ALL: [Self; 3] = [Self::New, Self::Update, Self::Answer];

    /// The suffix of the names of its schemas.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::New => "",
            Self::Update => "Update",
            Self::Answer => "Answer",
        }
    }

    /// The kind for members of an array or a replaced object.
    fn inside(self) -> Self {
        if self == Self::Update { Self::New } else { self }
    }
}

/// An object of rows with dotted paths.
pub(super) fn object<'a>(rows: impl IntoIterator<Item = &'a Field>, form: Form) -> Value {
    let mut schema = empty_object(form);
    for row in rows {
        let mut place = &mut schema;
        let mut names = row.path.split('.').peekable();
        while let Some(name) = names.next() {
            if names.peek().is_some() {
                place = &mut place["properties"][name];
                if place.is_null() {
                    *place = empty_object(form);
                    if form == Form::Update {
                        place["nullable"] = json!(true);
                    }
                }
            } else {
                if row.required && form != Form::Update {
                    require(place, [name]);
                }
                place["properties"][name] = property(row, form);
            }
        }
    }
    schema
}

/// Requests have no other members; answers may get some.
fn empty_object(form: Form) -> Value {
    let mut schema = json!({"type": "object", "properties": {}});
    if form != Form::Answer {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

pub(super) fn property(row: &Field, form: Form) -> Value {
    let schema = kind(&row.kind, if row.nullable { form } else { form.inside() });
    if let Kind::Slug { list } = row.kind
        && schema.get("$ref").is_some()
        && only_description(list).is_some()
    {
        return schema;
    }
    // Members beside a reference are ignored.
    let mut schema = if schema.get("$ref").is_some() { json!({"allOf": [schema]}) } else { schema };
    if row.nullable && form == Form::Update && schema.get("allOf").is_none() {
        nullable(&mut schema);
    }
    let beyond = if form == Form::Answer { "" } else { beyond(&row.kind) };
    schema["description"] = json!(described(row) + beyond);
    schema
}

fn described(row: &Field) -> String {
    row.doc.to_owned() + &row.since.tag().map_or_else(String::new, |tag| format!(" ({tag})"))
}

/// The description of the fields that have the values of a list, if it is the same for all.
fn only_description(list: &str) -> Option<String> {
    let fields = categories::typed().flat_map(|(_, category)| category.fields());
    let of_list = fields.filter(|field| matches!(field.kind, Kind::Slug { list: of } if of == list));
    let mut descriptions: Vec<_> = of_list.map(described).collect();
    descriptions.dedup();
    descriptions.pop().filter(|_| descriptions.is_empty())
}

/// A note on what is accepted beyond the schema.
fn beyond(kind: &Kind) -> &'static str {
    match kind {
        Kind::Plate { .. } => ". Case and spaces are ignored",
        _ => "",
    }
}

fn kind(kind: &Kind, form: Form) -> Value {
    match kind {
        Kind::Text { min, max, without } => text(*min, *max, *without),
        Kind::Integer { min, max, .. } => json!({"type": "integer", "minimum": min, "maximum": max}),
        Kind::Decimal { min, max, decimals, .. } => {
            let mut schema = json!({"type": "number", "minimum": min, "maximum": max});
            if let Some(decimals) = decimals {
                schema["multipleOf"] = json!(10_f64.powi(-i32::from(*decimals)));
            }
            schema
        }
        Kind::Boolean => json!({"type": "boolean"}),
        Kind::Date => json!({"type": "string", "format": "date", "pattern": format!("^{DATE}$")}),
        Kind::Url { .. } | Kind::ImageAddress if form == Form::Answer => json!({"type": "string", "maxLength": 2000}),
        Kind::Url { schemes } => address(schemes),
        Kind::ImageAddress => address(&["https"]),
        Kind::Plate { max } => json!({"type": "string", "minLength": 1, "maxLength": max}),
        Kind::Email { or_empty: false } => json!({"type": "string", "format": "email"}),
        Kind::Email { or_empty: true } | Kind::Model { .. } => json!({"type": "string"}),
        Kind::Digits { lengths, plus } => digits(lengths, *plus),
        Kind::Currency => json!({"type": "string", "pattern": "^[A-Z]{3}$"}),
        Kind::Choice { values, .. } => {
            json!({"type": "string", "enum": values.iter().map(|(id, _)| id).collect::<Vec<_>>()})
        }
        Kind::Slug { .. } if form == Form::Answer => json!({"type": "string"}),
        Kind::Slug { list } => reference(&(pascal_case(list) + form.suffix())),
        Kind::Measure { units, min } => reference(&(measure_name(units, *min) + form.suffix())),
        Kind::List { item, max, unique } => {
            let mut schema = json!({"type": "array", "items": self::kind(item, form.inside()), "maxItems": max});
            if *unique {
                schema["uniqueItems"] = json!(true);
            }
            schema
        }
        Kind::Objects { fields, max, .. } => {
            json!({"type": "array", "items": object(*fields, form.inside()), "maxItems": max})
        }
        Kind::Object { fields } => object(*fields, form.inside()),
        Kind::CategoryFields => json!({"type": "object"}),
    }
}

fn text(min: usize, max: usize, without: Option<char>) -> Value {
    let mut schema = json!({"type": "string", "maxLength": max});
    if min > 0 {
        schema["minLength"] = json!(min);
    }
    if let Some(mark) = without {
        schema["pattern"] = json!(format!("^[^{mark}]*$"));
    }
    schema
}

fn address(schemes: &[&str]) -> Value {
    json!({"type": "string", "format": "uri", "pattern": format!("^({})://", schemes.join("|")), "maxLength": 2000})
}

fn digits(lengths: &[usize], plus: bool) -> Value {
    if plus {
        return json!({"type": "string", "pattern": r"^\+?[0-9]+$", "minLength": lengths.first(), "maxLength": lengths.last()});
    }
    let lengths: Vec<_> = lengths.iter().map(|length| format!("[0-9]{{{length}}}")).collect();
    json!({"type": "string", "pattern": format!("^({})$", lengths.join("|"))})
}

/// An object that has no table: bounds, and no names.
pub(super) fn open_object() -> Value {
    json!({
        "type": "object",
        "description": format!(
            "Fields of an open category (without a published field list): texts, numbers, booleans, arrays and objects, stored as sent; at \
             most {MOST_MEMBERS} members a level and {} levels", ad_core::fields::MOST_LEVELS),
        "maxProperties": MOST_MEMBERS,
        "additionalProperties": true,
    })
}

/// The schemas that rows refer to: the lists of the catalogue, and the measures by their units.
pub(super) fn shared(catalogue: &Catalogue) -> Map<String, Value> {
    let mut schemas = Map::new();
    for (vehicle_type, category) in categories::typed() {
        for field in category.fields() {
            match field.kind {
                Kind::Slug { list } => {
                    let of_fields = only_description(list).map_or_else(String::new, |fields| fields + ". ");
                    let schema = json!({"type": "string", "enum": catalogue.list(list).ids().collect::<Vec<_>>(),
                        "description": format!("{of_fields}With their names: `GET /v4/vehicles/{vehicle_type}/{}`", field.path)});
                    let name = pascal_case(list);
                    let cleared = json!({"type": "string", "nullable": true, "enum": [null]});
                    schemas
                        .entry(name.clone() + Form::Update.suffix())
                        .or_insert(json!({"anyOf": [reference(&name), cleared]}));
                    schemas.entry(name).or_insert(schema);
                }
                Kind::Measure { units, min } => {
                    for form in Form::ALL {
                        schemas.insert(measure_name(units, min) + form.suffix(), measure(units, min, form));
                    }
                }
                _ => {}
            }
        }
    }
    schemas
}

fn measure_name(units: &[&str], min: f64) -> String {
    let units: Vec<_> = units.iter().map(|unit| unit.replace('/', "-per-")).collect();
    let least = if min > 0.0 { format!("-from-{min}") } else { String::new() };
    pascal_case(&format!("measure-{}{least}", units.join("-or-")))
}

fn measure(units: &[&str], min: f64, form: Form) -> Value {
    let mut schema = empty_object(form);
    schema["properties"] = json!({
        "unit": {"type": "string", "enum": units},
        "value": {"type": "number", "minimum": min, "maximum": MOST_MEASURED},
    });
    if form != Form::Answer {
        schema["description"] = json!("The unit ignores case, and the value may be a numeric text");
    }
    // An update keeps absent fields.
    if form == Form::Update {
        nullable(&mut schema);
    } else {
        require(&mut schema, ["unit", "value"]);
    }
    schema
}

/// Whether a client sends this field.
pub(super) fn is_sent(field: &Field) -> bool {
    field.direction != Direction::Response
}
