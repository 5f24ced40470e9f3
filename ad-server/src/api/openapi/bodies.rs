//! Schemas of request bodies per category and operation. Fields that all ads share are described once and referenced.

use ad_core::{
    categories::{
        self, Category, FromV3, Heading, TRAILER,
        ad_fields::{IDENTITY, WRITTEN},
        price,
    },
    fields::{Direction, Field, Kind},
    model::ApiVersion,
};
use serde_json::{Map, Value, json};

use super::{
    fields::{self, Form, is_sent},
    name_of, reference, require,
};

/// The payload of which operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// POST.
    Create,
    /// Validate: as POST, but `source_id` may be left out.
    Validate,
    /// PUT and PATCH.
    Update,
    /// Migrate on a typed path, which fixes the category.
    Migrate,
    /// Migrate on the generic path: the payload says the category.
    MigrateTo,
}

impl BodyKind {
    /// What the names of its schemas and examples end with.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Validate => "Validate",
            Self::Update => "Update",
            Self::Migrate => "Migrate",
            Self::MigrateTo => "MigrateTo",
        }
    }

    /// Whether the ad is a new one.
    fn is_new(self) -> bool {
        matches!(self, Self::Create | Self::Validate)
    }
}

/// Categories whose bodies through a version are the same: one with a table, or all that are open and have the same heading.
#[derive(Debug, Clone)]
pub(super) struct Group {
    name: String,
    pub(super) version: ApiVersion,
    pub(super) categories: Vec<&'static Category>,
}

impl Group {
    /// One category of V4.
    pub(super) fn typed(category: &'static Category) -> Self {
        Self { name: name_of(category), version: ApiVersion::V4, categories: vec![category] }
    }

    /// Those that a client of V3 may send.
    pub(super) fn of_v3() -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for category in categories::all().filter(|category| category.is_in(ApiVersion::V3)) {
            let name = match (category.is_open(), category.heading) {
                (false, _) => format!("V3{}", name_of(category)),
                (true, Heading::Required) => "V3Only".to_owned(),
                (true, _) => "V3OnlyUntitled".to_owned(),
            };
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.categories.push(category),
                None => groups.push(Self { name, version: ApiVersion::V3, categories: vec![category] }),
            }
        }
        groups
    }

    /// The name of one of its schemas.
    pub(super) fn name(&self, shape: BodyKind) -> String {
        format!("{}{}", self.name, shape.suffix())
    }

    /// The first category; what it has around `category_fields`, the others have.
    fn category(&self) -> &'static Category {
        self.categories[0]
    }

    /// Whether ads of V3 migrate to it.
    pub(super) fn is_target(&self) -> bool {
        self.version == ApiVersion::V4 && matches!(self.category().from_v3, FromV3::Migrates(_))
    }

    /// Whether its ads can be created.
    pub(super) fn is_created(&self) -> bool {
        self.category().id != TRAILER
    }

    /// All its schemas.
    pub(super) fn schemas(&self) -> Map<String, Value> {
        let mut schemas = Map::new();
        if !self.category().is_open() {
            schemas.insert(self.fields_name(), fields::object(self.rows(), Form::Sent));
        }
        let migrations = [BodyKind::Migrate, BodyKind::MigrateTo].into_iter().filter(|_| self.is_target());
        for shape in [BodyKind::Validate, BodyKind::Update].into_iter().chain(migrations) {
            schemas.insert(self.name(shape), self.body(shape));
        }
        let create = json!({"allOf": [reference(&self.name(BodyKind::Validate)), {"type": "object", "required": ["source_id"]}]});
        schemas.insert(self.name(BodyKind::Create), create);
        schemas
    }

    fn fields_name(&self) -> String {
        format!("{}Fields", self.name)
    }

    /// The category fields that a client of the version sends.
    fn rows(&self) -> impl Iterator<Item = &'static Field> {
        let version = self.version;
        self.category().fields().filter(move |row| row.since.allows(version) && is_sent(row))
    }

    fn category_fields(&self, shape: BodyKind) -> Value {
        if self.category().is_open() {
            return reference("OpenFields");
        }
        let fields = reference(&self.fields_name());
        let required: Vec<_> = self.rows().filter(|row| row.required).map(|row| row.path).collect();
        if required.is_empty() || shape == BodyKind::Update {
            return fields;
        }
        json!({"allOf": [fields, {"type": "object", "required": required}]})
    }

    fn body(&self, shape: BodyKind) -> Value {
        let category = self.category();
        let mut body = json!({"type": "object", "properties": {}, "additionalProperties": false});
        for field in IDENTITY {
            if let Some(schema) = self.identity(field, shape) {
                body["properties"][field.path] = schema;
            }
        }
        if matches!(shape, BodyKind::Create | BodyKind::Validate | BodyKind::MigrateTo) {
            require(&mut body, ["category_id"]);
        }
        for name in names(WRITTEN) {
            let headed = matches!(name, "title" | "contact");
            if headed && category.heading == Heading::Forbidden {
                continue;
            }
            body["properties"][name] = match name {
                "category_fields" => self.category_fields(shape),
                "contact" if shape == BodyKind::Update => reference("request.contact.merged"),
                "location" => reference(&location_name(category)),
                "price" => reference(&price_name(category.registered, shape.is_new())),
                _ => reference(&format!("request.{name}")),
            };
            let demanded = match name {
                "category_fields" => !category.is_open(),
                _ => headed && category.heading == Heading::Required,
            };
            if demanded && shape != BodyKind::Update {
                require(&mut body, [name]);
            }
        }
        body
    }

    /// What says which ad it is: sent with a new one, and otherwise only unchanged.
    fn identity(&self, field: &Field, shape: BodyKind) -> Option<Value> {
        let ids: Vec<_> = self.categories.iter().map(|category| category.id).collect();
        let mut schema = match (field.path, shape) {
            ("category_id", BodyKind::Migrate) => return None,
            ("category_id", _) => json!({"type": "integer", "enum": ids, "description": self.described()}),
            _ => fields::property(&Field { nullable: false, ..*field }, Form::Item),
        };
        let says_which = field.path == "category_id" && shape == BodyKind::MigrateTo;
        if !says_which && !shape.is_new() {
            schema["description"] = json!("May be sent, but only unchanged");
        }
        Some(schema)
    }

    fn described(&self) -> String {
        let names: Vec<_> = self.categories.iter().map(|it| format!("{} {}", it.id, it.name)).collect();
        format!("{}. A numeric text is accepted too", names.join(", "))
    }
}

/// The first names of the paths of rows, each once, that a client sends.
fn names(rows: &'static [Field]) -> Vec<&'static str> {
    let mut names: Vec<_> =
        rows.iter().filter(|row| is_sent(row)).map(|row| row.path.split('.').next().unwrap_or(row.path)).collect();
    names.dedup();
    names
}

fn location_name(category: &Category) -> String {
    format!("request.location{}", if category.registered { ".registered" } else { "" })
}

/// The name of the prices that categories have.
fn price_name(registered: bool, new: bool) -> String {
    let of = if registered { ".registered" } else { "" };
    format!("price{of}{}", if new { ".new" } else { "" })
}

/// The schemas of what every ad has, for requests.
pub(super) fn shared() -> Map<String, Value> {
    let mut schemas = Map::new();
    for row in WRITTEN.iter().filter(|row| row.direction != Direction::Response && !row.path.contains('.')) {
        match row.kind {
            Kind::CategoryFields => {}
            Kind::Object { .. } => {
                for registered in [true, false] {
                    let name = if registered { "request.location.registered" } else { "request.location" };
                    schemas.insert(name.to_owned(), location(row, registered));
                }
            }
            Kind::Objects { .. } => {
                for (registered, new) in [(true, true), (true, false), (false, true), (false, false)] {
                    schemas.insert(price_name(registered, new), prices(row, registered, new));
                }
            }
            // Where it may be sent at all, it is not null.
            _ if row.path == "title" => {
                schemas.insert("request.title".to_owned(), fields::property(row, Form::Item));
            }
            _ => {
                schemas.insert(format!("request.{}", row.path), fields::property(row, Form::Sent));
            }
        }
    }
    let rows = WRITTEN.iter().filter(|row| row.path.starts_with("contact."));
    for (name, form) in [("request.contact", Form::Item), ("request.contact.merged", Form::Sent)] {
        let mut contact = fields::object(rows.clone(), form)["properties"]["contact"].take();
        contact["description"] = json!("Shown instead of the dealer's own contact");
        // Whoever must send it cannot clear it.
        contact.as_object_mut().map(|contact| contact.remove("nullable"));
        schemas.insert(name.to_owned(), contact);
    }
    schemas.insert("OpenFields".to_owned(), fields::open_object());
    schemas.insert("AnyObject".to_owned(), json!({"type": "object"}));
    schemas
}

/// One of three alternatives; the area code is not for registered vehicles.
fn location(row: &Field, registered: bool) -> Value {
    let mut schema = fields::property(row, Form::Sent);
    let mut alternatives = vec![json!({"required": ["latitude", "longitude"]}), json!({"required": ["zipcode"]})];
    if registered {
        schema["properties"].as_object_mut().map(|members| members.remove("lkf"));
    } else {
        alternatives.push(json!({"required": ["lkf"]}));
    }
    schema["anyOf"] = json!(alternatives);
    schema["maxProperties"] = json!(2);
    schema["description"] =
        json!(format!("{}. Exactly one of the alternatives; numeric texts are accepted too", row.doc));
    schema
}

fn prices(row: &Field, registered: bool, new: bool) -> Value {
    let mut schema = fields::property(row, Form::Sent);
    if let Some(Value::Array(types)) = schema.pointer_mut("/items/properties/type/enum") {
        types.retain(|kind| !(kind == price::REDUCED && new || kind == price::LEASING && !registered));
    }
    schema
}
