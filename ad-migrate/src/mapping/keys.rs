//! The keys of a mapping: what they are, and what they may hold. The parser checks names against these tables, and the published schema is made
//! of them.

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) holds: ValueKind,
    pub(crate) about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Text,
    OneOf(&'static [&'static str]),
    /// A text of one character.
    Mark,
    /// The same, or an empty one.
    MarkOrNone,
    Count,
    PositiveNumber,
    Bool,
    /// A column: a name or path, or a position from 1.
    Column,
    Columns,
    /// A text, a number, true or false, or several.
    Texts,
    /// The same, or a table of these by vehicle type.
    ByType,
    Conditions,
    /// A unit or a currency, or a column of them.
    Beside,
    /// Value maps: names or tables.
    Maps,
    /// Pairs of a regular expression and a replacement.
    Replacements,
    /// A vehicle type, or a column of them.
    VehicleType,
    /// A vehicle type, or `error`.
    OneVehicleType,
    TableOfTexts,
    Joins,
    Same,
    /// A table that another list of keys describes, or that holds fields.
    Table,
}

const fn key(name: &'static str, holds: ValueKind, about: &'static str) -> Key {
    Key { name, holds, about }
}

/// The tables of a mapping.
pub(crate) const MAPPING: &[Key] = &[
    key("file", ValueKind::Table, "How to read the file, where detection is not sufficient"),
    key("rows", ValueKind::Table, "Which rows become ads"),
    key("decimal", ValueKind::OneOf(&[".", ","]), "The decimal separator of numbers that have two readings"),
    key("language", ValueKind::Text, "The language of values, such as sv; detected if absent"),
    key("placeholders", ValueKind::Texts, "Texts that stand for no value, besides the usual ones such as N/A"),
    key("values", ValueKind::Table, "Your own value maps, by name"),
    key("vehicle", ValueKind::Table, "The vehicle type"),
    key("fields", ValueKind::Table, "Columns of the file by field of the ad"),
];

/// Keys of the table `[file]`.
pub(crate) const FILE: &[Key] = &[
    key(
        "form",
        ValueKind::OneOf(&["csv", "json", "ndjson", "xml", "xlsx", "ods", "xls", "dbf", "xml2003", "html", "fixed"]),
        "The format",
    ),
    key(
        "encoding",
        ValueKind::Text,
        "The encoding: utf-8, utf-16, windows-1252, iso-8859-1, iso-8859-15, windows-1250, windows-1251, koi8-r, cp850, cp858, cp865, macintosh, mac-cyrillic or utf-8-twice",
    ),
    key("separator", ValueKind::Mark, "The separator of CSV"),
    key("quote", ValueKind::MarkOrNone, "The quote of CSV; empty if it has none"),
    key("header", ValueKind::Bool, "Whether the first row has the names of the columns"),
    key("rows", ValueKind::Text, "Path of the records: lager/fordon in XML, vehicles or dealers.*.vehicles in JSON"),
    key("member", ValueKind::Text, "The file of an archive"),
    key("sheet", ValueKind::Text, "The sheet of a spreadsheet"),
    key("skip_first", ValueKind::Count, "Lines, or rows of a sheet, before the header"),
    key("skip_last", ValueKind::Count, "Lines, or rows of a sheet, at the end that are no data"),
    key("ragged", ValueKind::Bool, "Whether rows may have any number of columns"),
    key("columns", ValueKind::TableOfTexts, "Fixed-width files: the characters of each column, such as \"8-13\""),
    key("join", ValueKind::Joins, "Files whose columns are added to the rows, as NAME:column"),
];

/// Keys of a table `[file.join.NAME]`.
pub(crate) const JOIN: &[Key] = &[
    key("by", ValueKind::Text, "The column of the first file"),
    key("file", ValueKind::Text, "The second file, relative to the first"),
    key("key", ValueKind::Text, "The column of the second file with the same values"),
    key("names", ValueKind::Text, "Instead: a folder of images, or a text file with a name on each line"),
];

/// Keys of the table `[rows]`.
pub(crate) const ROWS: &[Key] = &[
    key("keep", ValueKind::Conditions, "Skip rows for which one of these does not hold"),
    key("skip", ValueKind::Conditions, "Skip rows for which one of these holds"),
    key("same", ValueKind::Same, "Rows that are about the same vehicle, and which of them count"),
];

/// Keys of `same` in the table `[rows]`.
pub(crate) const SAME: &[Key] = &[
    key("column", ValueKind::Column, "The column whose value they share"),
    key("take", ValueKind::OneOf(&["last", "first", "all"]), "Which rows count; all: one row has the values of all"),
];

/// Keys of the table `[vehicle]`.
pub(crate) const VEHICLE: &[Key] = &[
    key("type", ValueKind::VehicleType, "The vehicle type of all rows"),
    key("from", ValueKind::Columns, "The column of the vehicle type"),
    key("values", ValueKind::Maps, "What its values mean"),
    key("otherwise", ValueKind::OneVehicleType, "The vehicle type of rows without a known value"),
];

pub(crate) const CONDITION: &[Key] = &[
    key("column", ValueKind::Columns, "The column, or several"),
    key("is", ValueKind::Texts, "One of these texts, ignoring case"),
    key("not", ValueKind::Texts, "None of these texts"),
    key("matches", ValueKind::Text, "A regular expression"),
    key("empty", ValueKind::Bool, "Whether the column is empty"),
    key("several", ValueKind::OneOf(&["any", "all"]), "Which of several values must meet the condition"),
];

/// A unit or currency as a table.
pub(crate) const BESIDE: &[Key] = &[
    key("column", ValueKind::Column, "The column of the unit or currency"),
    key("values", ValueKind::TableOfTexts, "What the codes of that column mean"),
    key("default", ValueKind::Text, "The unit or currency of values that do not say it"),
];

pub(crate) const FIELD: &[Key] = &[
    key("from", ValueKind::Columns, "The columns"),
    key("constant", ValueKind::ByType, "The value of every row, also by vehicle type"),
    key("default", ValueKind::ByType, "The value if the columns have none, also by vehicle type"),
    key("where", ValueKind::Conditions, "Take only values beside which another column of the record has such a value"),
    key("sort", ValueKind::Columns, "Order the values by those of this column"),
    key("extract", ValueKind::Text, "A regular expression: take its first group, or all that matches"),
    key("replace", ValueKind::Replacements, "Regular expressions and their replacements, in order"),
    key(
        "vehicle_name",
        ValueKind::Bool,
        "Take the part of a name such as \"Volvo V70 2.4D\": brand, model, or the rest",
    ),
    key("template", ValueKind::Text, "A text with {Column} and {value}"),
    key("split", ValueKind::Text, "The separator between the values of a list"),
    key("join", ValueKind::Text, "The separator to insert between several texts"),
    key("values", ValueKind::Maps, "What the values mean"),
    key("otherwise", ValueKind::Texts, "For unknown values: error, skip, keep, or a value"),
    key("scale", ValueKind::PositiveNumber, "Multiply numbers: 0.01 for öre, 1000 for thousands"),
    key("unit", ValueKind::Beside, "The unit of a measure"),
    key("as", ValueKind::Text, "The unit to convert to"),
    key("currency", ValueKind::Beside, "The currency of a price"),
    key("decimal", ValueKind::OneOf(&[".", ","]), "The decimal separator"),
    key("date", ValueKind::Text, "The format of dates: YYYY, YY, MM, MMM and DD with separators, or unix or unix_ms"),
    key("zone", ValueKind::Text, "The time zone in which a time is a date, such as Europe/Stockholm"),
    key("html", ValueKind::Bool, "Remove tags and decode entities"),
    key("year", ValueKind::Bool, "Take the year of a date"),
    key("when", ValueKind::Conditions, "Use the entry only where this holds"),
    key("optional", ValueKind::Bool, "Whether the file may lack the column"),
    key("first", ValueKind::Bool, "Take the first value"),
    key("max", ValueKind::Count, "Take at most this many values"),
];

/// The JSON Schema of mappings. `fields` are the paths of all fields.
pub(crate) fn schema<'a>(fields: impl Iterator<Item = &'a str>, vehicle_types: &[&str]) -> Value {
    let entry = json!({"anyOf": [{"$ref": "#/$defs/column"}, table(FIELD)]});
    let field = json!({"anyOf": [{"$ref": "#/$defs/columns"}, table(FIELD), {"type": "array", "items": entry}]});
    let mut tree = group();
    for path in fields {
        let field = json!({"$ref": "#/$defs/field"});
        // A dotted path may be tables within tables, or one key in quotes.
        tree["properties"][path] = field.clone();
        let mut at = &mut tree;
        for name in path.split('.') {
            let is_item = name.bytes().all(|byte| byte.is_ascii_digit());
            let (kind, name) = if is_item { ("patternProperties", "^[0-9]+$") } else { ("properties", name) };
            if at.get("properties").is_none() {
                *at = group();
            }
            at = &mut at[kind][name];
        }
        *at = field;
    }
    let mut properties = of_keys(MAPPING);
    properties["file"] = table(FILE);
    properties["rows"] = table(ROWS);
    properties["vehicle"] = table(VEHICLE);
    properties["values"] = json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/map"}});
    properties["fields"] = tree;
    for key in MAPPING {
        properties[key.name]["description"] = Value::from(key.about);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Mapping of ad-migrate",
        "type": "object",
        "required": ["vehicle", "fields"],
        "additionalProperties": false,
        "properties": properties,
        "$defs": {
            "column": {"type": ["string", "integer"], "minimum": 1},
            "columns": several(&json!({"$ref": "#/$defs/column"})),
            "texts": several(&json!({"type": ["string", "number", "boolean"]})),
            "map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/texts"}},
            "condition": {"anyOf": [{"$ref": "#/$defs/column"}, required(table(CONDITION), "column")]},
            "beside": {"anyOf": [{"type": "string"}, table(BESIDE)]},
            "vehicleType": {"enum": vehicle_types},
            "join": required(table(JOIN), "by"),
            "field": field,
        },
    })
}

/// Schema of a table of fields.
fn group() -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": {}})
}

fn several(one: &Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "items": one}]})
}

fn required(mut table: Value, key: &str) -> Value {
    table["required"] = json!([key]);
    table
}

fn table(keys: &[Key]) -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": of_keys(keys)})
}

fn of_keys(keys: &[Key]) -> Value {
    let property = |key: &Key| {
        let mut schema = key.holds.schema();
        schema["description"] = Value::from(key.about);
        (key.name.to_owned(), schema)
    };
    Value::Object(keys.iter().map(property).collect())
}

impl ValueKind {
    /// The keys of the tables that it may be.
    pub(crate) fn keys(self) -> Option<&'static [Key]> {
        match self {
            Self::Conditions => Some(CONDITION),
            Self::Beside => Some(BESIDE),
            Self::VehicleType => Some(&VEHICLE[1..]),
            Self::Joins => Some(JOIN),
            Self::Same => Some(SAME),
            _ => None,
        }
    }

    fn schema(self) -> Value {
        let texts = || json!({"$ref": "#/$defs/texts"});
        match self {
            Self::Text => json!({"type": "string"}),
            Self::OneOf(texts) => json!({"enum": texts}),
            Self::Mark => json!({"type": "string", "minLength": 1, "maxLength": 1}),
            Self::MarkOrNone => json!({"type": "string", "maxLength": 1}),
            Self::Count => json!({"type": "integer", "minimum": 0}),
            Self::PositiveNumber => json!({"type": "number", "exclusiveMinimum": 0}),
            Self::Bool => json!({"type": "boolean"}),
            Self::Column => json!({"$ref": "#/$defs/column"}),
            Self::Columns => json!({"$ref": "#/$defs/columns"}),
            Self::Texts => texts(),
            Self::ByType => json!({"anyOf": [texts(), {"type": "object", "additionalProperties": texts()}]}),
            Self::Conditions => several(&json!({"$ref": "#/$defs/condition"})),
            Self::Beside => json!({"$ref": "#/$defs/beside"}),
            Self::Maps => several(&json!({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/map"}]})),
            Self::Replacements => json!({
                "type": "array",
                "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            }),
            Self::VehicleType => json!({"anyOf": [{"$ref": "#/$defs/vehicleType"}, table(&VEHICLE[1..])]}),
            Self::OneVehicleType => json!({"anyOf": [{"$ref": "#/$defs/vehicleType"}, {"const": "error"}]}),
            Self::TableOfTexts => json!({"type": "object", "additionalProperties": {"type": "string"}}),
            Self::Joins => json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/join"}}),
            Self::Same => {
                let mut same = table(SAME);
                same["required"] = json!(["column", "take"]);
                same
            }
            Self::Table => json!({}),
        }
    }
}
