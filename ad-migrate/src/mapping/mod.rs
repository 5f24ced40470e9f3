//! Which column of a file becomes which field of an ad, how, and what is constant: a TOML file, checked against the field tables
//! before any row is read. It knows no rule of an ad: what a payload must have is ad-core's affair.
#![doc = include_str!("../../mappings/README.md")]

mod apply;
pub(crate) mod convert;
pub(crate) mod date;
mod html;
pub(crate) mod lookup;
pub(crate) mod number;
mod plan;
mod problems;
mod rule;
pub(crate) mod target;
#[cfg(test)]
mod tests;
pub(crate) mod units;
mod vehicle;

pub(crate) use ad_core::synonyms::{fold, values};
use ad_core::{catalogue::Catalogue, categories::Category, violation::nearest};
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use crate::{
    finding::Finding,
    readers::{ColumnId, Columns, Row, Settings},
};
use apply::Work;
use plan::{Plan, Planner};
use rule::{ColumnSource, Rule, RuleReader};
use vehicle::Vehicle;

/// The mappings that come with the program.
const BUILTIN: &[(&str, &str)] = &[
    ("csv-semicolon-sv", include_str!("../../mappings/csv-semicolon-sv.toml")),
    ("json-nested", include_str!("../../mappings/json-nested.toml")),
    ("positional-pipe", include_str!("../../mappings/positional-pipe.toml")),
    ("xml-fordon", include_str!("../../mappings/xml-fordon.toml")),
];

const KEYS: &[&str] = &["file", "decimal", "values", "vehicle", "fields"];

/// A mapping that holds: every target is a field of the tables, and every value that it maps to is an allowed one.
#[derive(Debug)]
pub struct Mapping {
    settings: Settings,
    decimal: Option<char>,
    sources: Vec<ColumnSource>,
    rules: Vec<Rule>,
    vehicle: Vehicle,
    plans: Vec<Plan>,
}

/// Why a text is no mapping: all that is wrong with it, each with its line.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct MappingError(
    /// Each a sentence, with the place in the file and the nearest right one.
    pub Vec<String>,
);

/// The `[file]` table alone.
#[derive(Debug, Default, Deserialize)]
struct OnlyFile {
    #[serde(default)]
    file: Settings,
}

impl Mapping {
    /// Names of the mappings that come with the program.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// The text of a mapping that comes with the program.
    pub fn builtin(name: &str) -> Option<&'static str> {
        BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Reads a mapping.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(text: &str, catalogue: &Catalogue) -> Result<Self, MappingError> {
        let (document, errors) = DeTable::parse_recoverable(text);
        let mut reader = RuleReader::new(text);
        for error in &errors {
            let message = error.message();
            let hint = if message.contains("unquoted key") {
                "; names with other letters, spaces or signs stand in quotes"
            } else {
                ""
            };
            reader.problems.at(&error.span().unwrap_or_default(), format!("This is no TOML: {message}{hint}."));
        }
        if !errors.is_empty() {
            return Err(MappingError(reader.problems.into_sentences()));
        }
        let document = document.get_ref();
        reader.problems.unknown_keys(document, KEYS, "a mapping");
        let settings = toml::from_str::<OnlyFile>(text).unwrap_or_else(|error| {
            reader.problems.at(&error.span().unwrap_or_default(), format!("[file]: {}", error.message()));
            OnlyFile::default()
        });
        reader.decimal = document.get("decimal").and_then(|value| reader.decimal_mark(value));
        if let Some(maps) = document.get("values") {
            reader.own_maps(maps);
        }
        let vehicle = vehicle::read(&mut reader, document.get("vehicle"));
        let Some((vehicle, categories)) = vehicle else {
            return Err(MappingError(reader.problems.into_sentences()));
        };
        let rules = rules(&mut reader, document.get("fields"), &categories);
        let mapping = Self::planned(reader, rules, vehicle, &categories, catalogue)?;
        Ok(Self { settings: settings.file, ..mapping })
    }

    /// The mapping for columns that are called as the fields of one category.
    ///
    /// # Errors
    /// Names that are no fields.
    pub fn of_fields<'f>(
        category: &'static Category,
        fields: impl Iterator<Item = &'f str>,
        catalogue: &Catalogue,
    ) -> Result<Self, MappingError> {
        let mut reader = RuleReader::new("");
        let rule =
            |field: &str| Rule { from: vec![reader.source(ColumnSource::Name(field.into()))], ..Rule::new(field, 1) };
        let rules = fields.map(rule).collect();
        Self::planned(reader, rules, Vehicle::Always(0), &[category], catalogue)
    }

    /// Holds rules against the tables.
    fn planned(
        mut reader: RuleReader<'_>,
        rules: Vec<Rule>,
        vehicle: Vehicle,
        categories: &[&'static Category],
        catalogue: &Catalogue,
    ) -> Result<Self, MappingError> {
        let plans = Planner::new(catalogue, &mut reader).plans(&rules, categories);
        if !reader.problems.is_empty() {
            return Err(MappingError(reader.problems.into_sentences()));
        }
        let RuleReader { sources, decimal, .. } = reader;
        Ok(Self { settings: Settings::default(), decimal, sources, rules, vehicle, plans })
    }

    /// How the file is to be read.
    pub fn reading(&self) -> &Settings {
        &self.settings
    }

    /// The mapping on the columns of a file. Cheap enough for every batch whose columns are others than those of the last one.
    pub fn bind(&self, columns: &Columns) -> Bound<'_> {
        let resolved = self.sources.iter().map(|source| resolve(source, columns)).collect();
        Bound { mapping: self, names: columns.names().map(str::to_owned).collect(), resolved }
    }
}

/// The rules of `[fields]`. A dotted path may be one key in quotes, or several.
fn rules<'i>(
    reader: &mut RuleReader<'i>,
    value: Option<&'i problems::Spanned<'i>>,
    categories: &[&'static Category],
) -> Vec<Rule> {
    let Some(value) = value else {
        reader.problems.on(1, "There is no [fields]: nothing says which column becomes which field.");
        return Vec::new();
    };
    let Some(table) = reader.problems.table(value, "\"fields\"") else { return Vec::new() };
    let places: Vec<String> = categories.iter().flat_map(|category| target::places(category)).collect();
    let mut rules = Vec::new();
    let mut levels = vec![(String::new(), table)];
    while let Some((above, table)) = levels.pop() {
        for (key, value) in table {
            let path = format!("{above}{}", key.get_ref());
            let below = format!("{path}.");
            match value.get_ref() {
                DeValue::Table(inner) if places.iter().any(|place| place.starts_with(&below)) => {
                    levels.push((below, inner));
                }
                _ => {
                    let line = reader.problems.line(&key.span());
                    if rules.iter().any(|known: &Rule| *known.target == *path) {
                        reader.problems.on(line, format!("\"{path}\" is mapped twice."));
                    }
                    rules.push(reader.rule(&path, line, value));
                }
            }
        }
    }
    rules.sort_by_key(|rule| rule.line);
    rules
}

/// The columns of a file that a source names.
fn resolve(source: &ColumnSource, columns: &Columns) -> Vec<ColumnId> {
    match source {
        ColumnSource::Name(name) => {
            let in_any_case = || {
                let name = name.to_lowercase();
                let index = columns.names().position(|known| known.trim().to_lowercase() == name)?;
                columns.at(index)
            };
            columns.id(name).or_else(in_any_case).into_iter().collect()
        }
        ColumnSource::Positions(from, to) => (*from..=*to).map_while(|position| columns.at(position - 1)).collect(),
    }
}

/// A mapping that knows which of its columns are where.
#[derive(Debug)]
pub struct Bound<'a> {
    mapping: &'a Mapping,
    names: Vec<String>,
    /// The columns of each source.
    resolved: Vec<Vec<ColumnId>>,
}

/// What a row came to.
#[derive(Debug, Default)]
pub struct Mapped {
    /// The category, where it could be told.
    pub category: Option<&'static Category>,
    /// The payload of a create (`POST /v4/{vehicle_type}`), `category_id` included, as far as values could be made. A field about which
    /// there is an error is not in it.
    pub payload: Map<String, Value>,
    /// What could not, and what was odd.
    pub findings: Vec<Finding>,
}

impl Bound<'_> {
    /// Columns that the mapping names and the file does not have, with the nearest that it has; of an XML or JSON file only those that
    /// no record so far had, which may be no mistake.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (index, source) in self.mapping.sources.iter().enumerate() {
            let is_needed = |rule: &&Rule| !rule.optional && rule.sources().any(|used| used == index);
            if !self.resolved[index].is_empty() {
                continue;
            }
            let Some(rule) = self.mapping.rules.iter().find(is_needed) else {
                let is_vehicle = matches!(&self.mapping.vehicle, Vehicle::By { from, .. } if from.contains(&index));
                if is_vehicle {
                    missing.push(self.says(source, "the vehicle type"));
                }
                continue;
            };
            missing.push(self.says(source, &format!("\"{}\"", rule.target)));
        }
        missing
    }

    fn says(&self, source: &ColumnSource, of: &str) -> String {
        match source {
            ColumnSource::Name(name) => {
                let hint = nearest::did_you_mean(name, self.names.iter().map(String::as_str));
                let hint = hint.map_or_else(String::new, |hint| format!(" {hint}"));
                format!("There is no column \"{name}\", from which {of} is made.{hint}")
            }
            ColumnSource::Positions(from, to) => {
                let place = if from == to { format!("column {from}") } else { format!("columns {from} to {to}") };
                format!("The file has no {place}, from which {of} is made; there are {}.", self.names.len())
            }
        }
    }

    /// Columns of the file that nothing uses.
    pub fn unused(&self) -> Vec<String> {
        let mut is_used = vec![false; self.names.len()];
        for column in self.resolved.iter().flatten() {
            if let Some(used) = is_used.get_mut(column.index()) {
                *used = true;
            }
        }
        // An element around others that are used is used with them.
        let is_around = |name: &str| {
            let used = self.names.iter().zip(&is_used).filter(|(_, is_used)| **is_used).map(|(name, _)| name);
            used.filter_map(|used| used.strip_prefix(name)).any(|below| below.starts_with(['/', '.']))
        };
        let unused = self.names.iter().zip(&is_used).filter(|(name, is_used)| !**is_used && !is_around(name));
        unused.map(|(name, _)| name.clone()).collect()
    }

    /// Makes the payload of a row.
    pub fn apply(&self, row: Row<'_>) -> Mapped {
        Work::new(self, row).run()
    }

    /// The columns from which a field is made, for telling where an error of the rules comes from: of the field itself (`price.0.amount` too),
    /// or of the nearest one around it; where there is none, of those within it.
    pub fn columns_of(&self, field: &str) -> Vec<&str> {
        let rules = &self.mapping.rules;
        let mut path = field;
        loop {
            let exact: Vec<&Rule> = rules.iter().filter(|rule| *rule.target == *path).collect();
            if !exact.is_empty() {
                return self.columns_of_rules(&exact);
            }
            // Which price is which is not known here.
            if path == "price" {
                let prices: Vec<&Rule> = rules.iter().filter(|rule| rule.target.starts_with("price.")).collect();
                return self.columns_of_rules(&prices);
            }
            match path.rsplit_once('.') {
                Some((around, _)) => path = around,
                None => break,
            }
        }
        let below = format!("{field}.");
        let within: Vec<&Rule> = rules.iter().filter(|rule| rule.target.starts_with(&below)).collect();
        self.columns_of_rules(&within)
    }

    fn columns_of_rules(&self, rules: &[&Rule]) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for column in rules.iter().flat_map(|rule| rule.sources()).flat_map(|source| &self.resolved[source]) {
            if let Some(name) = self.names.get(column.index())
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }
}

/// The value at a dotted path of a payload, for tests.
#[cfg(test)]
pub(crate) fn at<'a>(payload: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let (name, below) = path.split_once('.').map_or((path, None), |(name, below)| (name, Some(below)));
    let value = payload.get(name)?;
    below.map_or(Some(value), |below| value.pointer(&format!("/{}", below.replace('.', "/"))))
}
