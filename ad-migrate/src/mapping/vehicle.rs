//! `[vehicle]` of a mapping: the vehicle type of each row.

use ad_core::{
    categories::{self, Category},
    synonyms::languages::Language,
    violation::nearest,
};
use serde::Deserialize;

use super::{
    keys,
    problems::{FilePosition, Problems, Spanned},
    rule::{FoundMap, MapSources, MappingColumns, OwnMaps, SourceId, Sources},
    values::ValueMap,
};

/// How the type of a row is determined. Types are indices of plans.
#[derive(Debug, Default)]
pub(super) struct Vehicle {
    /// The columns; the first one with a value decides.
    pub(super) from: Vec<SourceId>,
    /// The vehicle type that each value stands for.
    pub(super) map: ValueMap,
    /// The type of rows without a known value.
    pub(super) otherwise: Option<usize>,
}

impl Vehicle {
    /// All rows have the first type.
    pub(super) fn always() -> Self {
        Self { otherwise: Some(0), ..Self::default() }
    }
}

/// How `[vehicle]` may be written.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected type = \"car\", or { from = \"…\", values = \"vehicle\" }")]
enum Forms {
    Always { r#type: String },
    By(ByColumns),
    Type { r#type: ByColumns },
}

#[derive(Deserialize)]
struct ByColumns {
    from: MappingColumns,
    #[serde(default)]
    values: MapSources,
    otherwise: Option<String>,
}

/// Reads `[vehicle]`: the rule, and the categories that ads may be of.
pub(super) fn read<'i>(
    problems: &mut Problems<'i>,
    maps: &OwnMaps,
    sources: &mut Sources,
    value: Option<&Spanned<'i>>,
) -> Option<(Vehicle, Vec<&'static Category>)> {
    let Some(value) = value else {
        problems.on(FilePosition::START, "[vehicle] is missing: set the vehicle type, such as type = \"car\".");
        return None;
    };
    let table = problems.table(value, "\"vehicle\"")?;
    problems.unknown_keys(table, keys::VEHICLE, "[vehicle]");
    let at = |name: &str| problems.at(&table.get(name).map_or(value.span(), toml::Spanned::span));
    let (type_at, otherwise_at) = (at("type"), at("otherwise"));
    let by = match problems.read(value, "[vehicle]")? {
        Forms::Always { r#type: name } => {
            return Some((Vehicle::always(), vec![category(problems, &name, type_at)?]));
        }
        Forms::By(by) | Forms::Type { r#type: by } => by,
    };
    let mut found: Vec<&'static Category> = Vec::new();
    let mut entries = Vec::new();
    let mut builtin = None;
    for source in &by.values.0 {
        match maps.find(source) {
            Err(message) => problems.on(type_at, message),
            Ok(FoundMap::Builtin(map)) => builtin = Some(map),
            Ok(FoundMap::Own(terms)) => {
                for own in terms {
                    let at = own.at.unwrap_or(type_at);
                    let [name] = own.texts.0.as_slice() else {
                        problems.on(at, format!("\"{}\" must map to one vehicle type.", own.term));
                        continue;
                    };
                    if let Some(category) = category(problems, name, at) {
                        add(&mut found, category);
                        entries.push((own.term.clone(), Box::from([name.clone()])));
                    }
                }
            }
        }
    }
    let mut map = ValueMap::from_entries(entries.into_iter());
    if let Some(builtin) = builtin {
        let all = builtin.map("all", Language::Any, |name| categories::by_vehicle_type(name).is_some());
        all.values().filter_map(categories::by_vehicle_type).for_each(|category| {
            add(&mut found, category);
        });
        map = map.with_fallback(all);
    }
    let otherwise = by.otherwise.filter(|name| name != "error");
    let otherwise = otherwise.and_then(|name| Some(add(&mut found, category(problems, &name, otherwise_at)?)));
    if found.is_empty() {
        problems.on(type_at, "[vehicle] names no vehicle type, neither in \"values\" nor as \"otherwise\".");
        return None;
    }
    let mut from = by.from.0;
    for column in &mut from {
        sources.add(column);
    }
    Some((Vehicle { from: from.iter().map(|column| column.id).collect(), map, otherwise }, found))
}

/// Adds a category unless it is there; its index.
fn add(found: &mut Vec<&'static Category>, category: &'static Category) -> usize {
    found.iter().position(|known| known.id == category.id).unwrap_or_else(|| {
        found.push(category);
        found.len() - 1
    })
}

/// The category of a vehicle type of which ads can be created.
fn category(problems: &mut Problems<'_>, name: &str, at: FilePosition) -> Option<&'static Category> {
    let category = categories::by_vehicle_type(name);
    if category.is_none() {
        let types = || categories::typed().map(|(name, _)| name);
        let hint =
            nearest::did_you_mean(name, types()).unwrap_or_else(|| format!("There are {}.", nearest::quoted(types())));
        problems.on(at, format!("\"{name}\" is not a vehicle type. {hint}"));
    }
    category
}
