//! Names of fields, query parameters and units. An operator can add to them.

use std::{collections::BTreeMap, sync::LazyLock};

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::fold::{fold_into, folded};
use crate::violation::nearest;

static BUILTIN: LazyLock<Names> =
    LazyLock::new(|| Names::parse(include_str!("data/names.toml")).expect("the embedded names are read by a test"));

/// Names by what they stand for. The terms are compared as [`fold`](super::fold) does.
#[derive(Debug, Clone, Default)]
pub struct Names {
    columns: FxHashMap<String, String>,
    fields: FxHashMap<String, String>,
    parameters: FxHashMap<String, Vec<String>>,
    units: FxHashMap<String, String>,
}

/// A file of names: what they stand for, and the terms.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NamesFile {
    columns: BTreeMap<String, Vec<String>>,
    fields: BTreeMap<String, Vec<String>>,
    parameters: BTreeMap<String, Vec<String>>,
    units: BTreeMap<String, Vec<String>>,
}

/// The terms of a section. The first entry that has a term counts.
fn by_term(section: BTreeMap<String, Vec<String>>) -> FxHashMap<String, String> {
    let mut terms = FxHashMap::default();
    for (meaning, names) in section {
        for name in names {
            terms.entry(folded(&name)).or_insert_with(|| meaning.clone());
        }
    }
    terms
}

impl Names {
    /// The names that come with the library.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// The names of a file: TOML with the sections `columns`, `fields`, `parameters` and `units`, each of terms by what they stand
    /// for, such as `limit = ["page_size"]`.
    ///
    /// # Errors
    /// When it is not such a file.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let file: NamesFile = toml::from_str(text)?;
        let mut parameters: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for (parameter, names) in file.parameters {
            for name in names {
                parameters.entry(folded(&name)).or_default().push(parameter.clone());
            }
        }
        let (columns, fields, units) = (by_term(file.columns), by_term(file.fields), by_term(file.units));
        Ok(Self { columns, fields, parameters, units })
    }

    /// The field that a column of this name has: `category_fields.powertrain.fuels` for `Bränsle`, `price.list` for `Pris`.
    pub fn column(&self, name: &str) -> Option<&str> {
        self.columns.get(&folded(name)).map(String::as_str)
    }

    /// The field that a member of a payload with this name is: as [`column`](Self::column), and further ones.
    pub fn field(&self, name: &str) -> Option<&str> {
        let name = folded(name);
        self.fields.get(&name).or_else(|| self.columns.get(&name)).map(String::as_str)
    }

    /// `Did you mean "powertrain.fuels"?`, by the names and then by the spelling of these paths of fields, which may be relative
    /// to `category_fields`.
    pub fn did_you_mean<'a>(&self, name: &str, paths: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
        let called = self.field(name).and_then(|known| {
            let below = known.strip_prefix("category_fields.").unwrap_or(known);
            paths.clone().find(|path| *path == known || *path == below)
        });
        nearest::did_you_mean_one_of(called.into_iter()).or_else(|| nearest::did_you_mean_path(name, paths))
    }

    /// The query parameters that this name may stand for.
    pub fn parameters(&self, name: &str) -> &[String] {
        self.parameters.get(&folded(name)).map_or(&[], Vec::as_slice)
    }

    /// All query parameters that further names stand for.
    pub fn parameters_meant(&self) -> impl Iterator<Item = &str> {
        self.parameters.values().flatten().map(String::as_str)
    }

    /// The unit that a text stands for. `scratch` is where it is compared.
    pub fn unit(&self, text: &str, scratch: &mut String) -> Option<&str> {
        fold_into(text, scratch);
        self.units.get(scratch.as_str()).map(String::as_str)
    }

    /// All fields that columns have.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.values().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        categories::{ad_fields, typed},
        fields::{Kind, Node, Tree},
    };

    /// Whether a path is a field that can be sent. `price.list` is one of the prices.
    fn is_field(path: &str) -> bool {
        let ad = Tree::new(ad_fields::IDENTITY.iter().chain(ad_fields::WRITTEN));
        match path.split_once('.') {
            Some(("category_fields", below)) => typed().any(|(_, category)| category.field(below).is_some()),
            Some((name @ ("price" | "location"), below)) => match ad.get(name) {
                Some(Node::Leaf(field, Some(inside))) => {
                    let is_type =
                        matches!(field.kind, Kind::Objects { .. }) && ["list", "leasing", "monthly"].contains(&below);
                    is_type || inside.field(below).is_some()
                }
                _ => false,
            },
            _ => ad.field(path).is_some(),
        }
    }

    #[test]
    fn every_name_stands_for_one_field_or_unit_that_exists() {
        let file: NamesFile = toml::from_str(include_str!("data/names.toml")).unwrap();
        assert!(file.columns.keys().chain(file.fields.keys()).all(|path| is_field(path)), "{:?}", file.fields);
        let units = typed().flat_map(|(_, category)| category.fields()).filter_map(|field| match field.kind {
            Kind::Measure { units, .. } => Some(units),
            _ => None,
        });
        let units: Vec<_> = units.flatten().collect();
        assert!(file.units.keys().all(|unit| units.contains(&&unit.as_str())), "{:?}", file.units);
        for unit in units {
            assert_eq!(Names::builtin().unit(unit, &mut String::new()), Some(*unit));
        }
        for sections in [vec![&file.columns, &file.fields], vec![&file.units]] {
            let mut known: BTreeMap<String, &str> = BTreeMap::new();
            for (path, names) in sections.into_iter().flatten() {
                for name in names {
                    let before = known.insert(folded(name), path);
                    assert!(before.is_none_or(|it| it == path), "{path}: {name}: {before:?}");
                    assert!(!folded(name).is_empty(), "{path}: {name}");
                }
            }
        }
    }

    #[test]
    fn names_are_found_in_three_languages_and_any_spelling() {
        let names = Names::builtin();
        for (name, field) in [
            ("fuel_type", "category_fields.powertrain.fuels"),
            ("gearbox", "category_fields.powertrain.transmission"),
            ("växellåda", "category_fields.powertrain.transmission"),
            ("make", "category_fields.brand"),
            ("exteriorColor", "category_fields.color"),
            ("regnr", "category_fields.registration_number"),
            ("images", "image_urls"),
            ("hp", "category_fields.powertrain.power"),
            ("year", "category_fields.model_year"),
            ("Kilometerstand", "category_fields.condition.mileage"),
            ("city", "location.zipcode"),
        ] {
            assert_eq!(names.field(name), Some(field), "{name}");
        }
        assert_eq!(names.column("city"), None);
        let paths = ["powertrain.transmission", "condition.mileage"];
        for (name, path) in [("gearbox", "powertrain.transmission"), ("milage", "condition.mileage")] {
            let hint = format!("Did you mean \"{path}\"?");
            assert_eq!(names.did_you_mean(name, paths.into_iter()), Some(hint), "{name}");
        }
        assert_eq!(names.parameters("exclude_site"), ["exclude_primary", "exclude_secondary"]);
        assert_eq!(names.unit("PS", &mut String::new()), Some("hp"));
    }

    #[test]
    fn a_file_of_an_operator_has_any_of_the_sections() {
        let names = Names::parse("[parameters]\nlimit = [\"antal\"]").unwrap();
        assert_eq!((names.parameters("Antal"), names.field("make")), (&["limit".to_owned()][..], None));
        for wrong in ["[parameter]", "[parameters]\nlimit = \"antal\"", "x"] {
            assert!(Names::parse(wrong).is_err(), "{wrong}");
        }
    }
}
