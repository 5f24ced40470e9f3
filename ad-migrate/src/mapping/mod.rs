//! Maps columns of a file to fields of an ad by a TOML file, which is validated against the field tables before any row is read. Rules
//! about ads are part of ad-core.
#![doc = include_str!("../../mappings/README.md")]

mod apply;
mod bound;
pub(crate) mod convert;
mod html;
pub(crate) mod keys;
pub(crate) mod lookup;
mod name;
mod plan;
mod problems;
mod rule;
pub(crate) mod target;
#[cfg(test)]
mod tests;
pub(crate) mod units;
mod vehicle;
mod zone;

use ad_core::synonyms::languages::{self, Language};
use ad_core::synonyms::placeholders::Placeholders;
pub(crate) use ad_core::synonyms::{fold, values};
use ad_core::{
    catalogue::Catalogue,
    categories::{self, Category},
    violation::nearest,
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use toml::de::{DeTable, DeValue};

use crate::{
    finding::Finding,
    readers::{Columns, Settings},
};
pub use bound::Bound;
use keys::Key;
use plan::{Plan, Planner};
use problems::{FilePosition, Problems, Spanned};
use rule::{Column, ColumnName, DecimalMark, OwnMaps, RowRules, Rule, Same, Sources};
use serde::de::DeserializeOwned;
use vehicle::Vehicle;

/// Name and text of the built-in mappings.
const BUILTIN: &[(&str, &str)] = &[
    ("autoscout24", include_str!("../../mappings/autoscout24.toml")),
    ("csv-semicolon-sv", include_str!("../../mappings/csv-semicolon-sv.toml")),
    ("google-vehicles", include_str!("../../mappings/google-vehicles.toml")),
    ("json-nested", include_str!("../../mappings/json-nested.toml")),
    ("meta-listings", include_str!("../../mappings/meta-listings.toml")),
    ("meta-vehicles", include_str!("../../mappings/meta-vehicles.toml")),
    ("mobile-de", include_str!("../../mappings/mobile-de.toml")),
    ("positional-pipe", include_str!("../../mappings/positional-pipe.toml")),
    ("woocommerce", include_str!("../../mappings/woocommerce.toml")),
    ("xml-fordon", include_str!("../../mappings/xml-fordon.toml")),
];

/// A valid mapping: every target is a field of the tables, and every value that it maps to is allowed.
#[derive(Debug, Default)]
pub struct Mapping {
    settings: Settings,
    decimal: Option<DecimalMark>,
    placeholders: Placeholders,
    http_images: bool,
    row_rules: RowRules,
    sources: Sources,
    rules: Vec<Rule>,
    vehicle: Vehicle,
    plans: Vec<Plan>,
}

/// Why a text is not a valid mapping: all errors, each with its place.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct MappingError(
    /// Each a sentence, with its place and the nearest valid name.
    pub Vec<String>,
);

impl Mapping {
    /// Names of the built-in mappings.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// The text of a built-in mapping.
    pub fn builtin(name: &str) -> Option<&'static str> {
        BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// The JSON Schema of mappings, with which editors complete and check them.
    pub fn schema() -> Value {
        let places: BTreeSet<String> = categories::typed().flat_map(|(_, category)| target::places(category)).collect();
        let types: Vec<&str> = categories::typed().map(|(name, _)| name).collect();
        keys::schema(places.iter().map(String::as_str), &types)
    }

    /// The vehicle types that rows can have.
    #[cfg(feature = "cli")]
    pub(crate) fn vehicle_types(&self) -> impl Iterator<Item = &'static str> {
        self.plans.iter().filter_map(|plan| plan.category.vehicle_type)
    }

    /// Reads a mapping.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, catalogue: &Catalogue) -> Result<Self, MappingError> {
        let mut problems = Problems::new(text);
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            problems.syntax(error);
        }
        problems.check()?;
        let document = document.get_ref();
        problems.unknown_keys(document, keys::MAPPING, "a mapping");
        let mut settings: Settings = part(&mut problems, document, "file", keys::FILE);
        let mut row_rules: RowRules = part(&mut problems, document, "rows", keys::ROWS);
        settings.same = row_rules.same.as_ref().map(Same::rows);
        let decimal = document.get("decimal").and_then(|value| problems.read(value, "\"decimal\""));
        let maps = document.get("values").map(|value| OwnMaps::read(&mut problems, value)).unwrap_or_default();
        let mut sources = Sources::default();
        let Some((vehicle, categories)) = vehicle::read(&mut problems, &maps, &mut sources, document.get("vehicle"))
        else {
            return Err(problems.error());
        };
        let mut rules = rules(&mut problems, document.get("fields"), &categories);
        for rule in &mut rules {
            rule.collect(&mut sources);
        }
        for when in row_rules.keep.0.iter_mut().chain(&mut row_rules.skip.0) {
            when.columns.0.iter_mut().for_each(|column| sources.add(column));
        }
        let language = language(&mut problems, document.get("language"), &sources);
        let own: Option<Vec<String>> =
            document.get("placeholders").and_then(|value| problems.read(value, "\"placeholders\""));
        let placeholders = Placeholders::with(own.unwrap_or_default().iter());
        let plans = Planner::new(catalogue, &mut problems, &maps, language).plans(&rules, &categories);
        problems.check()?;
        Ok(Self { settings, decimal, placeholders, http_images: false, row_rules, sources, rules, vehicle, plans })
    }

    /// The mapping of columns whose names are the fields of one category.
    ///
    /// # Errors
    /// Names that are no fields.
    pub fn of_fields<'f>(
        category: &'static Category,
        fields: impl Iterator<Item = &'f str>,
        catalogue: &Catalogue,
    ) -> Result<Self, MappingError> {
        let (mut problems, mut sources) = (Problems::new(""), Sources::default());
        let rule = |field: &str| {
            let mut rule = Rule { target: field.into(), at: FilePosition::START, ..Rule::default() };
            rule.from.0.push(Column::named(field));
            rule.collect(&mut sources);
            rule
        };
        let rules: Vec<Rule> = fields.map(rule).collect();
        let plans =
            Planner::new(catalogue, &mut problems, &OwnMaps::default(), Language::Any).plans(&rules, &[category]);
        problems.check()?;
        Ok(Self { sources, rules, vehicle: Vehicle::always(), plans, ..Self::default() })
    }

    /// The same mapping that accepts images over http, for tests.
    #[must_use]
    pub fn with_http_images(self) -> Self {
        Self { http_images: true, ..self }
    }

    /// How to read the file.
    pub fn reading(&self) -> &Settings {
        &self.settings
    }

    /// The mapping on the columns of a file. Cheap enough for every batch whose columns differ from the last one's.
    pub fn bind(&self, columns: &Columns) -> Bound<'_> {
        Bound::new(self, columns)
    }
}

/// A table of the mapping, if it has it.
fn part<'i, T: DeserializeOwned + Default>(
    problems: &mut Problems<'i>,
    document: &DeTable<'i>,
    name: &str,
    keys: &[Key],
) -> T {
    let Some(value) = document.get(name) else { return T::default() };
    let what = format!("[{name}]");
    let is_known = problems.table(value, &what).is_some_and(|table| !problems.unknown_keys(table, keys, &what));
    is_known.then(|| problems.read(value, &what)).flatten().unwrap_or_default()
}

/// Most entries of `[fields]`: more than all fields of all vehicle types, each by several conditions.
const MOST_ENTRIES: usize = 5_000;

/// The entries of `[fields]`. A dotted path may be one key in quotes, or several.
fn rules<'i>(problems: &mut Problems<'i>, value: Option<&Spanned<'i>>, categories: &[&'static Category]) -> Vec<Rule> {
    let Some(value) = value else {
        problems.on(FilePosition::START, "[fields] is missing: it assigns columns to fields.");
        return Vec::new();
    };
    let Some(table) = problems.table(value, "\"fields\"") else { return Vec::new() };
    let places: Vec<String> = categories.iter().flat_map(|category| target::places(category)).collect();
    let mut rules: Vec<Rule> = Vec::new();
    let mut levels = vec![(String::new(), table)];
    while let Some((above, table)) = levels.pop() {
        for (key, value) in table {
            let path = format!("{above}{}", key.get_ref());
            let below = format!("{path}.");
            match value.get_ref() {
                DeValue::Table(inner) if places.iter().any(|place| place.starts_with(&below)) => {
                    levels.push((below, inner));
                }
                _ if rules.len() >= MOST_ENTRIES => {
                    problems.on(FilePosition::START, format!("[fields] has more than {MOST_ENTRIES} entries."));
                    return rules;
                }
                _ => {
                    let at = problems.at(&key.span());
                    if rules.iter().any(|known| *known.target == *path) {
                        problems.on(at, format!("\"{path}\" is mapped twice."));
                    }
                    rules.extend(Rule::read_all(problems, &path, at, value));
                }
            }
        }
    }
    rules.sort_by_key(|rule| rule.at);
    rules
}

/// The language of a mapping in which terms on which languages disagree have no meaning.
const UNKNOWN: &str = "unknown";

/// The language of the values: the one that the mapping declares, or that the names of its columns show.
fn language<'i>(problems: &mut Problems<'i>, value: Option<&Spanned<'i>>, sources: &Sources) -> Language {
    let Some(value) = value else {
        let names = sources.0.iter().filter_map(|source| match source {
            ColumnName::Name(name) => Some(&**name),
            ColumnName::Positions(..) => None,
        });
        return languages::detect(names);
    };
    let code: Option<String> = problems.read(value, "\"language\"");
    code.filter(|code| code != UNKNOWN).map_or(Language::Unknown, |code| {
        Language::of_code(&code).unwrap_or_else(|| {
            let known = nearest::quoted(languages::codes());
            let at = problems.at(&value.span());
            problems.on(at, format!("\"{code}\" is not a known language. There are {known}."));
            Language::Unknown
        })
    })
}

/// What was made of a row.
#[derive(Debug, Default)]
pub struct Mapped {
    /// The category, if it is known.
    pub category: Option<&'static Category>,
    /// The payload of a create (`POST /v4/{vehicle_type}`), with `category_id`, as far as values could be made. A field with an error
    /// is not in it.
    pub payload: Map<String, Value>,
    /// Errors and warnings about the row.
    pub findings: Vec<Finding>,
}
