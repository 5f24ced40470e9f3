//! The types of categories and of rules over several fields.

use std::{fmt, sync::OnceLock};

use serde_json::{Map, Value};

use crate::{
    catalogue::Catalogue,
    fields::{Check, Field, FieldErrors, Mode, Tree},
    model::{ApiVersion, Content, Dealer, Market, get},
    synonyms::names::Names,
};

/// The one category whose ads cannot be created ('Endpoints' rule 6).
pub const TRAILER: u16 = 1045;

/// A category of ads, with its tables and rules ('Category identifiers').
#[derive(Debug)]
pub struct Category {
    /// `category_id` of its ads, such as 1020.
    pub id: u16,
    /// Name in the category table.
    pub name: &'static str,
    /// `{vehicle_type}` of its V4 paths; `None` if only V3 has the category.
    pub vehicle_type: Option<&'static str>,
    /// How ads of V3 become ads of this category.
    pub from_v3: FromV3,
    /// Whether it is a category of registered vehicles, whose ads are published on the secondary marketplace too.
    pub registered: bool,
    /// Whether `title` and `contact` are sent.
    pub heading: Heading,
    /// Its rows, in the order of the document; common ones first.
    pub(super) tables: &'static [Rows],
    /// Its rules over several fields.
    pub rules: &'static [&'static [Rule]],
    compiled: OnceLock<Compiled>,
}

/// How ads of V3 become ads of a V4 category ('Endpoints' rules 7 and 8, decision 28).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromV3 {
    /// PUT and PATCH convert a V3 ad of the same category.
    Converts,
    /// V3 ads of these categories migrate to it; the category itself may be one of them.
    Migrates(&'static [u16]),
}

/// Whether a client sends `title` and `contact` ('Ad').
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// They must be sent, as for most unregistered vehicles.
    Required,
    /// They must not be sent: the title is generated, and the dealer's contact is shown.
    Forbidden,
    /// They may be sent; a missing title is generated (decision 20).
    Optional,
}

/// Rows of a table, some of which may be excluded, for a category that differs from another by them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    pub(super) rows: &'static [Field],
    pub(super) except: &'static [&'static str],
}

pub(super) const fn all_of(rows: &'static [Field]) -> Rows {
    Rows { rows, except: &[] }
}

/// The rows without those at and below these paths.
pub(super) const fn except(rows: &'static [Field], except: &'static [&'static str]) -> Rows {
    Rows { rows, except }
}

pub(super) fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl Rows {
    pub(super) fn fields(self) -> impl Iterator<Item = &'static Field> {
        self.rows.iter().filter(move |field| !self.except.iter().any(|place| is_at_or_below(field.path, place)))
    }
}

/// The compiled tables of a category.
#[derive(Debug)]
struct Compiled {
    rows: Vec<&'static Field>,
    tree: Tree,
}

/// A category without tables that V3 alone has.
pub(super) const fn v3_only(id: u16, name: &'static str, heading: Heading) -> Category {
    Category {
        id,
        name,
        vehicle_type: None,
        from_v3: FromV3::Migrates(&[]),
        registered: false,
        heading,
        tables: &[],
        rules: &[],
        compiled: OnceLock::new(),
    }
}

/// A category of V4 without tables.
pub(super) const fn unregistered(id: u16, vehicle_type: &'static str, name: &'static str, from_v3: FromV3) -> Category {
    let mut category = v3_only(id, name, Heading::Required);
    (category.vehicle_type, category.from_v3) = (Some(vehicle_type), from_v3);
    category
}

/// A category of registered vehicles without tables.
pub(super) const fn registered(id: u16, vehicle_type: &'static str, name: &'static str, from_v3: FromV3) -> Category {
    let mut category = unregistered(id, vehicle_type, name, from_v3);
    (category.registered, category.heading) = (true, Heading::Forbidden);
    category
}

impl fmt::Display for Category {
    /// As messages name it: `vehicle type "car"` or `category 1122 (A-tractors)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.vehicle_type {
            Some(vehicle_type) => write!(formatter, "vehicle type \"{vehicle_type}\""),
            None => write!(formatter, "category {} ({})", self.id, self.name),
        }
    }
}

impl Category {
    /// The same with these tables.
    pub(super) const fn with_tables(mut self, tables: &'static [Rows]) -> Self {
        self.tables = tables;
        self
    }

    /// The same with these rules.
    pub(super) const fn with_rules(mut self, rules: &'static [&'static [Rule]]) -> Self {
        self.rules = rules;
        self
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let rows: Vec<_> = self.tables.iter().flat_map(|rows| rows.fields()).collect();
            Compiled { tree: Tree::new(rows.iter().copied()), rows }
        })
    }

    /// Its rows, in the order of the document.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + Clone {
        self.compiled().rows.iter().copied()
    }

    /// The row of a path.
    pub fn field(&self, path: &str) -> Option<&'static Field> {
        self.tree().field(path)
    }

    /// Its rows compiled for checking.
    pub fn tree(&self) -> &Tree {
        &self.compiled().tree
    }

    /// Whether its `category_fields` have no published list and are stored as sent (decision 20).
    pub fn is_open(&self) -> bool {
        self.vehicle_type.is_none()
    }

    /// Whether the list parameter `registration_number` finds its ads: registered vehicles, and open category fields
    /// (decision 20).
    pub fn is_found_by_plate(&self) -> bool {
        self.registered || self.is_open()
    }

    /// Whether an API version can create and update its ads.
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

    /// The ids of the categories whose ads are found under its vehicle type: its own, and those of V3 ads that can migrate to it
    /// (decision 12).
    pub fn found_under(&self) -> impl Iterator<Item = u16> + Clone {
        let from = match self.from_v3 {
            FromV3::Converts => &[],
            FromV3::Migrates(from) => from,
        };
        let id = self.id;
        std::iter::once(id).chain(from.iter().copied().filter(move |from| *from != id))
    }

    /// The marketplaces on which its ads are shown.
    pub fn markets(&self) -> Vec<Market> {
        if self.registered { vec![Market::Primary, Market::Secondary] } else { vec![Market::Primary] }
    }

    pub(crate) fn has_rule(&self, name: &str) -> bool {
        self.rules.iter().copied().flatten().any(|rule| rule.name == name)
    }
}

/// A named rule over several fields.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Name in `docs/categories.md`, and in errors.
    pub name: &'static str,
    /// What it requires, in a sentence.
    pub doc: &'static str,
    /// Adds an error for each field that breaks it.
    pub check: fn(&Facts<'_>, &mut FieldErrors),
}

/// The members of an ad that rules and the quality read, found in one pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct AdFacts<'a> {
    /// Whether there is a title.
    pub has_title: bool,
    /// Whether there is a contact.
    pub has_contact: bool,
    /// The description; empty if there is none.
    pub body: &'a str,
    /// The addresses of the images.
    pub images: &'a [Value],
    /// The items of `price`; empty if there are none.
    pub price: &'a [Value],
    /// The address of the video.
    pub video_url: Option<&'a str>,
    /// The location, if it is an object.
    pub location: Option<&'a Map<String, Value>>,
    /// The category fields, if they are an object.
    pub category_fields: Option<&'a Map<String, Value>>,
    /// Members of the category fields.
    pub fields: FieldFacts<'a>,
}

/// The category fields that are read most, found in one pass: each lookup takes as long as a tenth of the pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct FieldFacts<'a> {
    /// The value of `registration_number`; `None` if absent.
    pub registration_number: Option<&'a Value>,
    /// The value of `vin`; `None` if absent.
    pub vin: Option<&'a Value>,
    /// The value of `brand`; `None` if absent.
    pub brand: Option<&'a Value>,
    /// The value of `model`; `None` if absent.
    pub model: Option<&'a Value>,
    /// The value of `model_type`; `None` if absent.
    pub model_type: Option<&'a Value>,
    /// The value of `model_year`; `None` if absent.
    pub model_year: Option<&'a Value>,
    /// The value of `salesperson`; `None` if absent.
    pub salesperson: Option<&'a Value>,
    /// The value of `online_purchasable`; `None` if absent.
    pub online_purchasable: Option<&'a Value>,
    /// `condition`, if it is an object.
    pub condition: Option<&'a Map<String, Value>>,
    /// `powertrain`, if it is an object.
    pub powertrain: Option<&'a Map<String, Value>>,
    /// The value of `leasing_details`; `None` if absent.
    pub leasing_details: Option<&'a Value>,
}

impl<'a> From<&'a Map<String, Value>> for FieldFacts<'a> {
    fn from(category_fields: &'a Map<String, Value>) -> Self {
        let mut facts = Self::default();
        for (name, value) in category_fields {
            match name.as_str() {
                "registration_number" => facts.registration_number = Some(value),
                "vin" => facts.vin = Some(value),
                "brand" => facts.brand = Some(value),
                "model" => facts.model = Some(value),
                "model_type" => facts.model_type = Some(value),
                "model_year" => facts.model_year = Some(value),
                "salesperson" => facts.salesperson = Some(value),
                "online_purchasable" => facts.online_purchasable = Some(value),
                "condition" => facts.condition = value.as_object(),
                "powertrain" => facts.powertrain = value.as_object(),
                "leasing_details" => facts.leasing_details = Some(value),
                _ => {}
            }
        }
        facts
    }
}

impl<'a> From<&'a Map<String, Value>> for AdFacts<'a> {
    fn from(ad: &'a Map<String, Value>) -> Self {
        let mut facts = Self::default();
        for (name, value) in ad {
            match (name.as_str(), value) {
                ("title", _) => facts.has_title = true,
                ("contact", _) => facts.has_contact = true,
                ("body", Value::String(body)) => facts.body = body,
                ("image_urls", Value::Array(images)) => facts.images = images,
                ("price", Value::Array(prices)) => facts.price = prices,
                ("video_url", Value::String(address)) => facts.video_url = Some(address),
                ("location", Value::Object(location)) => facts.location = Some(location),
                ("category_fields", Value::Object(fields)) => {
                    (facts.category_fields, facts.fields) = (Some(fields), fields.into());
                }
                _ => {}
            }
        }
        facts
    }
}

/// What a rule reads: the normalised ad as it would be stored, and its context.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The members of the ad.
    pub ad: AdFacts<'a>,
    /// The stored content before an update.
    pub before: Option<&'a Content>,
    /// The fields of `OF_THE_DIRECTORY` that the patch of an update has.
    pub patched: &'a [&'static str],
    /// Whether a client creates or updates the ad.
    pub mode: Mode,
    /// Its category, which decides which rules apply.
    pub category: &'static Category,
    /// The dealer; `None` if the dealer is an error itself.
    pub dealer: Option<&'a Dealer>,
    /// The lists of allowed values.
    pub catalogue: &'a Catalogue,
    /// What the operator has set for rules.
    pub settings: &'a RuleSettings,
    pub(crate) check: &'a Check<'a>,
}

impl Facts<'_> {
    pub(super) fn condition(&self, path: &str) -> Option<&Value> {
        get(self.ad.fields.condition?, path)
    }

    /// The stored value of the same field.
    pub fn field_before(&self, path: &str) -> Option<&Value> {
        get(self.before?.get("category_fields")?.as_object()?, path)
    }

    /// Whether the ad has a price of this type.
    pub fn has_price(&self, kind: &str) -> bool {
        self.ad.price.iter().any(|price| price.get("type").and_then(Value::as_str) == Some(kind))
    }

    /// The amount of the price of this type.
    pub(crate) fn price(&self, kind: &str) -> Option<f64> {
        let price = self.ad.price.iter().find(|price| price.get("type").and_then(Value::as_str) == Some(kind))?;
        price.get("amount")?.as_f64()
    }

    /// Whether the write sends a field of `OF_THE_DIRECTORY`. A create and a migration send all their fields.
    pub(super) fn sends(&self, path: &str) -> bool {
        self.mode != Mode::Update || self.patched.contains(&path)
    }

    pub(super) fn sent_null(&self, path: &str) -> bool {
        self.check.nulls().contains(&path)
    }
}

/// The operator's settings of rules.
#[derive(Debug, Clone)]
pub struct RuleSettings {
    /// Allowed hosts of `video_url`, including their subdomains.
    pub video_hosts: Vec<String>,
    /// Whether images may have http addresses too; for development and tests only.
    pub http_images: bool,
    /// What integrators call fields and parameters, besides [`Names::builtin`].
    pub names: Names,
    /// What the addresses of images in examples begin with, if there are some that exist: `<this>/1.jpg`.
    pub sample_images: Option<String>,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self {
            video_hosts: ["youtube.com", "youtu.be", "vimeo.com"].map(str::to_owned).to_vec(),
            http_images: false,
            names: Names::default(),
            sample_images: None,
        }
    }
}
