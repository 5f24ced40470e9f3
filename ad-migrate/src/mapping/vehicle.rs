//! Which type of vehicle a row is: `[vehicle]` of a mapping.

use ad_core::{
    categories::{self, Category},
    violation::nearest,
};

use super::{
    problems::Spanned,
    rule::{MapName, OwnMap, RuleReader, SourceId},
    values::{MapEntry, ValueMap},
};

/// How the type of a row is told. Plans are meant by their places.
#[derive(Debug)]
pub(super) enum Vehicle {
    /// All are of one type.
    Always(usize),
    /// By what columns say.
    By {
        /// The columns; the first that has a value tells.
        from: Vec<SourceId>,
        /// What its values mean.
        map: ValueMap,
        /// The type of rows of which nothing tells.
        otherwise: Option<usize>,
    },
}

const KEYS: &[&str] = &["type", "from", "values", "otherwise"];

/// Reads `[vehicle]`: the rule, and the categories that ads may be of.
pub(super) fn read<'i>(
    reader: &mut RuleReader<'i>,
    value: Option<&'i Spanned<'i>>,
) -> Option<(Vehicle, Vec<&'static Category>)> {
    let Some(value) = value else {
        reader.problems.on(1, "[vehicle] is missing: set the vehicle type, such as type = \"car\".");
        return None;
    };
    let table = reader.problems.table(value, "\"vehicle\"")?;
    reader.problems.unknown_keys(table, KEYS, "[vehicle]");
    let Some(by) = table.get("type") else { return by_columns(reader, value) };
    if by.get_ref().as_table().is_some() {
        // type = { from = …, values = … }
        return by_columns(reader, by);
    }
    let name = reader.problems.text(by, "\"type\"")?;
    let category = category(reader, name, by)?;
    Some((Vehicle::Always(0), vec![category]))
}

fn by_columns<'i>(reader: &mut RuleReader<'i>, value: &'i Spanned<'i>) -> Option<(Vehicle, Vec<&'static Category>)> {
    let table = reader.problems.table(value, "\"type\"")?;
    reader.problems.unknown_keys(table, KEYS, "[vehicle]");
    let Some(from) = table.get("from") else {
        reader.problems.at(&value.span(), "[vehicle] has neither \"type\" nor \"from\".");
        return None;
    };
    let line = reader.problems.line(&from.span());
    let from = reader.rule("vehicle", line, from).from;
    let names = table.get("values").map(|values| reader.maps_of(values)).unwrap_or_default();
    let mut found: Vec<&'static Category> = Vec::new();
    let mut entries: Vec<MapEntry> = Vec::new();
    let mut builtin = None;
    for name in names {
        match name {
            MapName::Own(index) => {
                let OwnMap { entries: own } =
                    std::mem::replace(&mut reader.maps[index], OwnMap { entries: Vec::new() });
                for (term, values, line) in &own {
                    let [name] = values.as_slice() else {
                        reader.problems.on(*line, format!("\"{term}\" must map to one vehicle type."));
                        continue;
                    };
                    if let Some(category) = known(name) {
                        add(&mut found, category);
                        entries.push((term.clone(), [name.clone()].into()));
                    } else {
                        reader.problems.on(*line, unknown(name));
                    }
                }
                reader.maps[index] = OwnMap { entries: own };
            }
            MapName::Builtin(map) => builtin = Some(map),
        }
    }
    let mut map = ValueMap::own(entries.into_iter());
    if let Some(builtin) = builtin {
        let all = builtin.map("all", |name| known(name).is_some());
        all.values().filter_map(known).for_each(|category| add(&mut found, category));
        map = map.over(all);
    }
    let otherwise = table.get("otherwise").and_then(|value| {
        let name = reader.problems.text(value, "\"otherwise\"")?;
        if name == "error" {
            return None;
        }
        let category = category(reader, name, value)?;
        add(&mut found, category);
        found.iter().position(|known| known.id == category.id)
    });
    if found.is_empty() {
        reader
            .problems
            .at(&value.span(), "[vehicle] names no vehicle type, neither in \"values\" nor as \"otherwise\".");
        return None;
    }
    Some((Vehicle::By { from, map, otherwise }, found))
}

fn add(found: &mut Vec<&'static Category>, category: &'static Category) {
    if !found.iter().any(|known| known.id == category.id) {
        found.push(category);
    }
}

/// The category of a vehicle type of which ads can be created.
fn known(name: &str) -> Option<&'static Category> {
    categories::by_vehicle_type(name)
}

fn category(reader: &mut RuleReader<'_>, name: &str, value: &Spanned<'_>) -> Option<&'static Category> {
    let category = known(name);
    if category.is_none() {
        reader.problems.at(&value.span(), unknown(name));
    }
    category
}

fn unknown(name: &str) -> String {
    let types = || categories::typed().map(|(name, _)| name);
    let hint =
        nearest::did_you_mean(name, types()).unwrap_or_else(|| format!("There are {}.", nearest::quoted(types())));
    format!("\"{name}\" is not a vehicle type. {hint}")
}
