//! The categories: one file each, with its table of fields row for row as in the category fields document and the named
//! rules that concern several fields. A category added to [`all`] brings its endpoints, schema and lookups along.

mod agriculture_thresher;
mod agriculture_tools;
mod agriculture_tractor;
mod atv;
mod boat;
mod bus;
mod camper;
mod car;
mod caravan;
mod common;
mod construction;
mod example;
mod moped;
mod motorcycle;
pub mod rules;
mod snowmobile;
mod trailer;
mod transport;
mod truck;
mod v3_only;

use std::{fmt, sync::LazyLock};

use crate::{
    ad::ApiVersion,
    catalogue::{Catalogue, Entry},
    fields::{self, Field, Kind, Node, Tree},
};
pub use common::REGISTERED as COMMON_FIELDS;
pub use rules::{AdFacts, Facts, Rule};

/// The one category whose ads cannot be created ('Endpoints' rule 6).
pub const TRAILER: u16 = 1045;

/// One category ('Category identifiers').
#[derive(Debug)]
pub struct Category {
    /// `category_id`.
    pub id: u16,
    /// Name in the category table.
    pub name: &'static str,
    /// `{vehicle_type}` of its V4 paths; `None` when V3 alone has the category.
    pub vehicle_type: Option<&'static str>,
    /// How ads of V3 become ads of this category.
    pub from_v3: FromV3,
    /// Whether it is a registered vehicle category: its ads go to the secondary marketplace too.
    pub registered: bool,
    /// Whether `title` and `contact` are sent.
    pub heading: Heading,
    /// Its rows, in the order of the document; common ones first.
    tables: &'static [Rows],
    /// Its rules over several fields.
    pub rules: &'static [&'static [Rule]],
    compiled: LazyLock<Compiled>,
}

/// How ads of V3 become ads of a V4 category ('Endpoints' rules 7 and 8, decision 28).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromV3 {
    /// PUT and PATCH convert a V3 ad of the same category.
    Converts,
    /// V3 ads of these categories migrate; its own may be among them.
    Migrates(&'static [u16]),
}

/// Whether a client sends `title` and `contact` ('Ad').
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// They must be sent.
    Required,
    /// They must not: the title is generated, the contact is the dealer's own.
    Forbidden,
    /// They may be; a missing title is generated (decision 20).
    Optional,
}

/// Rows of a table, without some where a category is the same as another except for them.
#[derive(Debug, Clone, Copy)]
struct Rows {
    rows: &'static [Field],
    except: &'static [&'static str],
}

const fn all_of(rows: &'static [Field]) -> Rows {
    Rows { rows, except: &[] }
}

/// The rows but for these paths and what is below them.
const fn except(rows: &'static [Field], except: &'static [&'static str]) -> Rows {
    Rows { rows, except }
}

fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl Rows {
    fn fields(self) -> impl Iterator<Item = &'static Field> {
        self.rows.iter().filter(move |field| !self.except.iter().any(|place| is_at_or_below(field.path, place)))
    }
}

/// What the tables of a category come to.
#[derive(Debug)]
struct Compiled {
    rows: Vec<&'static Field>,
    tree: Tree,
}

/// Compiles the tables of a category, for its static.
const fn compiled(compile: fn() -> Compiled) -> LazyLock<Compiled> {
    LazyLock::new(compile)
}

/// The categories of V4, in the order of the documents.
static TYPED: [&Category; 16] = [
    &car::CAR,
    &transport::TRANSPORT,
    &motorcycle::MOTORCYCLE,
    &moped::MOPED,
    &snowmobile::SNOWMOBILE,
    &atv::ATV,
    &camper::CAMPER,
    &caravan::CARAVAN,
    &trailer::TRAILER,
    &boat::BOAT,
    &agriculture_thresher::AGRICULTURE_THRESHER,
    &agriculture_tractor::AGRICULTURE_TRACTOR,
    &agriculture_tools::AGRICULTURE_TOOLS,
    &bus::BUS,
    &truck::TRUCK,
    &construction::CONSTRUCTION,
];

/// Every category: those of V4 in the order of the documents, then those that V3 alone has.
pub fn all() -> impl Iterator<Item = &'static Category> + Clone {
    TYPED.iter().copied().chain(&v3_only::ALL)
}

/// The categories of V4 with their vehicle types.
pub fn typed() -> impl Iterator<Item = (&'static str, &'static Category)> + Clone {
    TYPED.iter().filter_map(|category| Some((category.vehicle_type?, *category)))
}

/// The category of an id.
pub fn by_id(id: u16) -> Option<&'static Category> {
    all().find(|category| category.id == id)
}

/// The category of a vehicle type.
pub fn by_vehicle_type(vehicle_type: &str) -> Option<&'static Category> {
    typed().find(|(known, _)| *known == vehicle_type).map(|(_, category)| category)
}

/// The id in a payload's `category_id`: a number, or a numeric text (decision 5).
pub fn sent_id(sent: &serde_json::Value) -> Option<u16> {
    fields::as_integer(sent).and_then(|id| u16::try_from(id).ok())
}

impl fmt::Display for Category {
    /// As messages speak of it: `vehicle type "car"`, or `category 1122 (A-tractors)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.vehicle_type {
            Some(vehicle_type) => write!(formatter, "vehicle type \"{vehicle_type}\""),
            None => write!(formatter, "category {} ({})", self.id, self.name),
        }
    }
}

impl Compiled {
    fn of(tables: &[Rows]) -> Self {
        let rows: Vec<_> = tables.iter().flat_map(|rows| rows.fields()).collect();
        Self { tree: Tree::new(rows.iter().copied()), rows }
    }
}

impl Category {
    /// Its rows, in the order of the document.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + Clone {
        self.compiled.rows.iter().copied()
    }

    /// The row of a path.
    pub fn field(&self, path: &str) -> Option<&'static Field> {
        self.tree().field(path)
    }

    /// Its rows compiled for checking.
    pub fn tree(&self) -> &Tree {
        &self.compiled.tree
    }

    /// Whether its `category_fields` have no published list and are kept as sent (decision 20).
    pub fn is_open(&self) -> bool {
        self.vehicle_type.is_none()
    }

    /// Whether the list parameter `registration_number` finds its ads: registered vehicles, and open category fields
    /// (decision 20).
    pub fn is_found_by_plate(&self) -> bool {
        self.registered || self.is_open()
    }

    /// Whether an API version creates and updates ads of it.
    pub fn is_in(&self, version: ApiVersion) -> bool {
        match (version, self.vehicle_type) {
            (ApiVersion::V3, None) => true,
            (ApiVersion::V3, Some(_)) => match self.from_v3 {
                FromV3::Converts => true,
                FromV3::Migrates(from) => from.contains(&self.id),
            },
            (ApiVersion::V4, vehicle_type) => vehicle_type.is_some(),
        }
    }

    /// The ids of the ads that are found under its vehicle type: its own, and those of V3 that may migrate to it
    /// (decision 12).
    pub fn found_under(&self) -> impl Iterator<Item = u16> + Clone {
        let from = match self.from_v3 {
            FromV3::Converts => &[],
            FromV3::Migrates(from) => from,
        };
        let id = self.id;
        std::iter::once(id).chain(from.iter().copied().filter(move |from| *from != id))
    }

    /// The categories of V4 that an ad of V3 in this category may migrate to ('Endpoints' rule 7).
    pub fn targets(&self) -> impl Iterator<Item = (&'static str, &'static Category)> {
        let id = self.id;
        typed().filter(move |(_, category)| matches!(category.from_v3, FromV3::Migrates(from) if from.contains(&id)))
    }

    /// Whether one of its rules has this name.
    pub(crate) fn has_rule(&self, name: &str) -> bool {
        self.rules.iter().copied().flatten().any(|rule| rule.name == name)
    }

    /// The fields that have allowed values, by dotted path; `model` is not among them (decision 31).
    pub fn attributes(&self) -> Vec<Entry> {
        let mut found = Vec::new();
        walk(self.tree(), "", &mut |path, kind| {
            if is_listed(kind) {
                found.push(Entry::new(path, self.attribute_name(path)));
            }
        });
        found
    }

    /// `powertrain.drive_type` as people read it: `Drive type`. A member of an array's objects has the array's name before
    /// it: `Wheels name`.
    fn attribute_name(&self, path: &str) -> String {
        let names = if self.field(path).is_some() { 1 } else { 2 };
        let mut words: Vec<_> = path.rsplitn(names + 1, '.').take(names).collect();
        words.reverse();
        humanised(&words.join(" "))
    }

    /// The allowed values of an attribute; `None` when there is no such attribute.
    pub fn values(&self, catalogue: &Catalogue, attribute: &str) -> Option<Vec<Entry>> {
        let mut found = None;
        walk(self.tree(), "", &mut |path, kind| {
            if path == attribute {
                found = kind.allowed(catalogue);
            }
        });
        if attribute == rules::RATING_VALUE {
            for entry in found.iter_mut().flatten() {
                entry.applies_to = rules::rated_by(&entry.id).map(str::to_owned).collect();
            }
        }
        found
    }
}

fn is_listed(kind: &Kind) -> bool {
    match kind {
        Kind::Choice { .. } | Kind::Slug { .. } => true,
        Kind::List { item, .. } => is_listed(item),
        _ => false,
    }
}

fn allowed(kind: &Kind, catalogue: &Catalogue) -> Vec<Entry> {
    match kind {
        Kind::Choice { values, .. } => values.iter().map(|(id, name)| Entry::new(*id, *name)).collect(),
        Kind::Slug { list } => catalogue.list(list).entries().to_vec(),
        Kind::List { item, .. } => allowed(item, catalogue),
        _ => Vec::new(),
    }
}

impl Kind {
    /// The allowed values of a field of this kind; `None` when it has no list of them.
    pub fn allowed(&self, catalogue: &Catalogue) -> Option<Vec<Entry>> {
        is_listed(self).then(|| allowed(self, catalogue))
    }
}

fn walk(tree: &Tree, below: &str, visit: &mut impl FnMut(&str, &Kind)) {
    for (name, node) in tree.iter() {
        let path = if below.is_empty() { name.to_owned() } else { format!("{below}.{name}") };
        match node {
            Node::Branch(branch) => walk(branch, &path, visit),
            Node::Leaf(field, inside) => {
                visit(&path, &field.kind);
                if let Some(inside) = inside {
                    walk(inside, &path, visit);
                }
            }
        }
    }
}

/// A name as people read it: `drive_type` as `Drive type`.
pub(crate) fn humanised(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_types_are_unique_and_no_path_stands_in_a_table_twice() {
        for category in all() {
            assert_eq!(all().filter(|other| other.id == category.id).count(), 1);
            for field in category.fields() {
                let rows = category.fields().filter(|other| other.path == field.path).count();
                assert_eq!(rows, 1, "{category} {}", field.path);
                assert!(!field.doc.is_empty(), "{category} {} has no description", field.path);
            }
        }
        for (vehicle_type, _) in typed() {
            assert_eq!(typed().filter(|(other, _)| *other == vehicle_type).count(), 1);
        }
    }

    #[test]
    fn every_exception_leaves_something_out() {
        for rows in TYPED.iter().flat_map(|category| category.tables) {
            for place in rows.except {
                assert!(rows.rows.iter().any(|field| is_at_or_below(field.path, place)), "{place}");
            }
        }
    }

    #[test]
    fn v3_has_the_categories_of_the_table_and_they_become_what_it_says() {
        let of = |version| all().filter(|it| it.is_in(version)).map(|it| it.id).collect::<Vec<_>>();
        assert_eq!(
            of(ApiVersion::V4),
            [1020, 1021, 1140, 1121, 1180, 1143, 1102, 1101, 1045, 1060, 1227, 1228, 1229, 1321, 1322, 1323]
        );
        assert_eq!(
            of(ApiVersion::V3),
            [
                1020, 1021, 1140, 1121, 1180, 1143, 1102, 1101, 1045, 1061, 1062, 1063, 1064, 1065, 1066, 1067, 1122,
                1221, 1222, 1223, 1224, 1225, 1226
            ]
        );
        let targets = |id| by_id(id).unwrap().targets().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(targets(1222), ["agriculture-thresher", "agriculture-tractor"]);
        assert_eq!(targets(1221), ["bus", "truck"]);
        assert_eq!(targets(1121), ["moped"]);
        for without in [1020, 1060, 1122, 1224] {
            assert!(targets(without).is_empty(), "{without}");
        }
        assert_eq!(by_id(1060).unwrap().found_under().count(), 8);
        assert_eq!(by_id(1101).unwrap().found_under().collect::<Vec<_>>(), [1101]);
    }

    #[test]
    fn an_id_is_sent_as_every_other_integer_or_as_a_numeric_text() {
        use serde_json::json;
        for sent in [json!(1020), json!(1020.0), json!("1020"), json!("1020.0")] {
            assert_eq!(sent_id(&sent), Some(1020), "{sent}");
        }
        for sent in [json!(1020.5), json!("car"), json!(" 1020"), json!(1e300), json!(-1), json!(null), json!([1020])] {
            assert_eq!(sent_id(&sent), None, "{sent}");
        }
    }

    #[test]
    fn attributes_are_the_fields_with_allowed_values_dotted_ones_too() {
        let catalogue = Catalogue::embedded();
        let car = by_vehicle_type("car").unwrap();
        let ids: Vec<_> = car.attributes().into_iter().map(|entry| entry.id).collect();
        for id in ["brand", "body_type", "color_group", "powertrain.fuels", "condition.wheels.name"] {
            assert!(ids.iter().any(|known| known == id), "{id}");
            assert!(!car.values(&catalogue, id).unwrap().is_empty(), "{id}");
        }
        assert!(!ids.iter().any(|id| id == "model"));
        let name = |id: &str| car.attributes().into_iter().find(|entry| entry.id == id).unwrap().name;
        assert_eq!(
            (name("powertrain.drive_type"), name("condition.wheels.name")),
            ("Drive type".into(), "Wheels name".into())
        );
        assert_eq!(car.values(&catalogue, "model_year"), None);
    }
}
