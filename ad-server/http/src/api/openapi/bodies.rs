//! Schemas of request bodies per category and operation. Fields that all ads share are described once and referenced.

use ad_core::{
    categories::{
        self, Category, FromV3, Heading, RuleSettings, TRAILER,
        ad_fields::{IDENTITY, WRITTEN},
        location, price,
    },
    fields::{Direction, Field, Kind},
    model::ApiVersion,
};
use serde_json::{Map, Value, json};

use super::{
    any_of,
    fields::{self, Form, is_sent},
    name_of, nullable, pascal_case, reference, require,
};
use crate::api::operations::BasePath;

/// The kind of a payload. The names of its schemas and examples end with that of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// Payload of POST, which creates an ad.
    Create,
    /// Validate: as POST, but `source_id` may be left out.
    Validate,
    /// Payload of PUT and PATCH.
    Update,
    /// Migrate on a typed path, which determines the category.
    Migrate,
    /// Migrate on the generic path, where the payload has the category.
    MigrateTo,
}

impl BodyKind {
    fn is_new(self) -> bool {
        matches!(self, Self::Create | Self::Validate)
    }

    fn form(self) -> Form {
        if self == Self::Update { Form::Update } else { Form::New }
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

    /// Those whose ads a payload on these paths may be of.
    pub(super) fn of(base: BasePath, shape: BodyKind) -> Vec<Self> {
        match base {
            BasePath::Typed(_, category) => vec![Self::typed(category)],
            BasePath::Generic | BasePath::Service => {
                categories::typed().map(|(_, it)| Self::typed(it)).filter(Self::is_target).collect()
            }
            BasePath::V3 if shape == BodyKind::Update => Self::of_v3(),
            BasePath::V3 => Self::of_v3().into_iter().filter(Self::is_created).collect(),
        }
    }

    pub(super) fn name(&self, shape: BodyKind) -> String {
        format!("{}{shape:?}", self.name)
    }

    /// The first category. All of them have the same fields around `category_fields`.
    fn category(&self) -> &'static Category {
        self.categories[0]
    }

    /// Whether ads of V3 migrate to it.
    pub(super) fn is_target(&self) -> bool {
        self.version == ApiVersion::V4 && matches!(self.category().from_v3, FromV3::Migrates(_))
    }

    fn is_created(&self) -> bool {
        self.category().id != TRAILER
    }

    pub(super) fn schemas(&self) -> Map<String, Value> {
        let mut schemas = Map::new();
        if !self.category().is_open() {
            for form in [Form::New, Form::Update] {
                schemas.insert(self.fields_name(form), fields::object(self.rows(), form));
            }
        }
        let migrations = [BodyKind::Migrate, BodyKind::MigrateTo].into_iter().filter(|_| self.is_target());
        for shape in [BodyKind::Create, BodyKind::Validate, BodyKind::Update].into_iter().chain(migrations) {
            schemas.insert(self.name(shape), self.body(shape));
        }
        schemas
    }

    fn fields_name(&self, form: Form) -> String {
        format!("{}Fields{}", self.name, form.suffix())
    }

    /// The category fields that a client of the version sends.
    fn rows(&self) -> impl Iterator<Item = &'static Field> {
        let version = self.version;
        self.category().fields().filter(move |row| row.since.allows(version) && is_sent(row))
    }

    fn body(&self, shape: BodyKind) -> Value {
        let (category, form) = (self.category(), shape.form());
        let mut body = json!({"type": "object", "properties": {}, "additionalProperties": false});
        for field in IDENTITY {
            if let Some(schema) = self.identity(field, shape) {
                body["properties"][field.path] = schema;
            }
        }
        if matches!(shape, BodyKind::Create | BodyKind::Validate | BodyKind::MigrateTo) {
            require(&mut body, ["category_id"]);
        }
        if shape == BodyKind::Create {
            require(&mut body, ["source_id"]);
        }
        for name in names(WRITTEN) {
            let headed = matches!(name, "title" | "contact");
            if headed && category.heading == Heading::Forbidden {
                continue;
            }
            let of = match name {
                "category_fields" if category.is_open() => "OpenFields".to_owned(),
                "category_fields" => self.fields_name(form),
                "location" => location_name(category.registered, form),
                "price" => price_name(category.registered, shape.is_new(), form),
                // It is never null.
                "title" => name_of_written(name, Form::New),
                _ => name_of_written(name, form),
            };
            body["properties"][name] = reference(&of);
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

    /// The fields that identify the ad: sent for a new one, and unchanged in updates.
    fn identity(&self, field: &Field, shape: BodyKind) -> Option<Value> {
        let ids: Vec<_> = self.categories.iter().map(|category| category.id).collect();
        match (field.path, shape) {
            ("category_id", BodyKind::Migrate) => None,
            ("category_id", _) => {
                let says_which = shape.is_new() || shape == BodyKind::MigrateTo;
                let description = if says_which { self.described() } else { UNCHANGED.to_owned() };
                Some(json!({"type": "integer", "enum": ids, "description": description}))
            }
            _ => Some(reference(&name_of_identity(field.path, shape.is_new()))),
        }
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

/// The description of a field that identifies an existing ad.
const UNCHANGED: &str = "May be sent, but only unchanged";

/// The name of the schema of a field that identifies a new ad, or an existing one.
pub(super) fn name_of_identity(name: &str, new: bool) -> String {
    format!("{}{}", if new { "New" } else { "Unchanged" }, pascal_case(name))
}

/// The name of the schema of common fields, such as `AdBody`.
pub(super) fn name_of_written(name: &str, form: Form) -> String {
    format!("Ad{}{}", pascal_case(name), form.suffix())
}

fn location_name(registered: bool, form: Form) -> String {
    let of = if registered { "Registered" } else { "" };
    format!("{of}Location{}", form.suffix())
}

fn price_name(registered: bool, new: bool, form: Form) -> String {
    let (of, new) = (if registered { "Registered" } else { "" }, if new { "New" } else { "" });
    format!("{new}{of}Prices{}", form.suffix())
}

/// The name of payloads of several categories.
pub(super) fn name_of_several(base: BasePath, shape: BodyKind) -> String {
    let of = if base.version() == ApiVersion::V3 { "V3" } else { "" };
    format!("{of}{shape:?}")
}

/// The schemas of payloads that may be of several categories.
pub(super) fn of_several_categories() -> Map<String, Value> {
    let of_v3 = [BodyKind::Create, BodyKind::Validate, BodyKind::Update].map(|shape| (BasePath::V3, shape));
    let schema = |(base, shape)| {
        let names: Vec<_> = Group::of(base, shape).iter().map(|group| group.name(shape)).collect();
        (name_of_several(base, shape), any_of(&names))
    };
    of_v3.into_iter().chain([(BasePath::Generic, BodyKind::MigrateTo)]).map(schema).collect()
}

/// The schemas of common fields, for requests.
pub(super) fn shared(settings: &RuleSettings) -> Map<String, Value> {
    let has_http_samples = settings.sample_images.as_ref().is_some_and(|images| images.starts_with("http:"));
    let mut schemas = Map::new();
    let rows = WRITTEN.iter().filter(|row| row.direction != Direction::Response && !row.path.contains('.'));
    for (row, form) in rows.flat_map(|row| [(row, Form::New), (row, Form::Update)]) {
        match row.kind {
            Kind::CategoryFields => {}
            Kind::Object { .. } => {
                for registered in [true, false] {
                    schemas.insert(location_name(registered, form), location(row, registered, form));
                }
            }
            Kind::Objects { .. } => {
                for (registered, new) in [(true, true), (true, false), (false, true), (false, false)] {
                    schemas.insert(price_name(registered, new, form), prices(row, registered, new, form));
                }
            }
            _ => {
                let mut schema = fields::property(row, form);
                match row.path {
                    "video_url" => schema["pattern"] = json!(at_one_of(&settings.video_hosts)),
                    "image_urls" if has_http_samples => schema["items"]["pattern"] = json!("^https?://"),
                    _ => {}
                }
                schemas.insert(name_of_written(row.path, form), schema);
            }
        }
    }
    for field in IDENTITY.iter().filter(|field| field.path != "category_id") {
        let mut schema = fields::property(&Field { nullable: false, ..*field }, Form::New);
        schemas.insert(name_of_identity(field.path, true), schema.clone());
        schema["description"] = json!(UNCHANGED);
        schemas.insert(name_of_identity(field.path, false), schema);
    }
    let rows = WRITTEN.iter().filter(|row| row.path.starts_with("contact."));
    for form in Form::ALL {
        let mut contact = fields::object(rows.clone(), form)["properties"]["contact"].take();
        contact["description"] = json!("Instead of the dealer's own contact");
        // A required field cannot be cleared.
        contact.as_object_mut().map(|contact| contact.remove("nullable"));
        if form == Form::Answer {
            nullable(&mut contact);
        }
        schemas.insert(name_of_written("contact", form), contact);
    }
    schemas.insert("OpenFields".to_owned(), fields::open_object());
    schemas
}

/// An https address at one of these hosts or below.
fn at_one_of(hosts: &[String]) -> String {
    let hosts: Vec<_> = hosts.iter().map(|host| host.replace('.', r"\.")).collect();
    format!(r"^https://([a-z0-9-]+\.)*({})(:[0-9]+)?([/?#]|$)", hosts.join("|"))
}

/// One of the alternatives; registered vehicles have no area code.
fn location(row: &Field, registered: bool, form: Form) -> Value {
    let mut schema = fields::property(row, form);
    if registered {
        schema["properties"].as_object_mut().map(|members| members.remove("lkf"));
    } else {
        let counties = location::COUNTIES.join("|");
        schema["properties"]["lkf"]["pattern"] = json!(format!("^({counties})[0-9]{{2}}([0-9]{{2}})?$"));
    }
    schema["minProperties"] = json!(1);
    schema["maxProperties"] = json!(2);
    let alternatives = if registered {
        "`latitude` and `longitude`, or `zipcode`"
    } else {
        "`latitude` and `longitude`, `zipcode`, or `lkf`"
    };
    schema["description"] = json!(format!("{}. Send {alternatives}; numeric texts are accepted too", row.doc));
    schema
}

fn prices(row: &Field, registered: bool, new: bool, form: Form) -> Value {
    let mut schema = fields::property(row, form);
    if let Some(Value::Array(types)) = schema.pointer_mut("/items/properties/type/enum") {
        types.retain(|kind| !(kind == price::REDUCED && new || kind == price::LEASING && !registered));
    }
    schema
}
