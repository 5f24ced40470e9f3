//! Allowed values with their display names. They are data files, which an operator can replace.
//!
//! A catalogue is a set of named lists. A file `car.json` of `{"brand": {"volvo": "Volvo"}}` makes the list `car.brand`;
//! a file whose values are objects one level deeper (`car-models.json`: `{"volvo": {"v60": "V60"}}`) makes one list per
//! brand, `car-models.volvo`. The embedded files are the default; a file given at start replaces the one of its name.

use std::{collections::BTreeMap, sync::LazyLock};

use rustc_hash::FxHashMap;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use crate::model::split_path;

/// The embedded files by name; a replacement has the same name.
const EMBEDDED: &[(&str, &str)] = &[
    ("car.json", include_str!("data/car.json")),
    ("car-models.json", include_str!("data/car-models.json")),
    ("transport.json", include_str!("data/transport.json")),
    ("motorcycle.json", include_str!("data/motorcycle.json")),
    ("moped.json", include_str!("data/moped.json")),
    ("snowmobile.json", include_str!("data/snowmobile.json")),
    ("atv.json", include_str!("data/atv.json")),
    ("camper.json", include_str!("data/camper.json")),
    ("caravan.json", include_str!("data/caravan.json")),
    ("trailer.json", include_str!("data/trailer.json")),
    ("boat.json", include_str!("data/boat.json")),
    ("agriculture-thresher.json", include_str!("data/agriculture-thresher.json")),
    ("agriculture-tractor.json", include_str!("data/agriculture-tractor.json")),
    ("agriculture-tools.json", include_str!("data/agriculture-tools.json")),
    ("bus.json", include_str!("data/bus.json")),
    ("truck.json", include_str!("data/truck.json")),
    ("construction.json", include_str!("data/construction.json")),
];

static EMPTY: LazyLock<List> = LazyLock::new(List::default);

/// All lists of allowed values.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// By file, without `.json`, and then by name.
    files: FxHashMap<String, FxHashMap<String, List>>,
}

/// The values of one list, in the order of their file.
#[derive(Debug, Clone, Default)]
pub struct List {
    values: Vec<Entry>,
    index: FxHashMap<String, usize>,
}

/// One allowed value ('Attribute lookup entries').
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// The value on the wire.
    pub id: String,
    /// Display name of the value.
    pub name: String,
    /// The names to which it applies, if not to all: for the value of a rating, the ratings that may have it (decision 19).
    #[serde(rename = "for", default, skip_serializing_if = "Vec::is_empty")]
    pub applies_to: Vec<String>,
}

impl Entry {
    /// A value that applies to all names.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), applies_to: Vec::new() }
    }
}

/// Why a catalogue file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The file does not replace any of the embedded ones.
    #[error("{file}: not a catalogue file; the catalogue has {known}")]
    UnknownFile {
        /// Name of the file, as it was given.
        file: String,
        /// Names of the embedded files, one of which it must have.
        known: String,
    },
    /// It is not an object of lists.
    #[error("{file}: {source}; expected an object of lists such as {{\"brand\": {{\"volvo\": \"Volvo\"}}}}")]
    Malformed {
        /// Name of the file with its extension, such as `car-models.json`.
        file: String,
        /// The error of the parser, with its position.
        source: serde_json::Error,
    },
    /// A list has no values, or a value has no id or name.
    #[error("{file}: list \"{list}\" {problem}")]
    BadList {
        /// Name of the file with its extension, such as `car-models.json`.
        file: String,
        /// Name of the list in it.
        list: String,
        /// What is wrong with the list.
        problem: String,
    },
    /// A list that a field table uses would be missing.
    #[error("{file}: list \"{list}\" is missing, and {used_by} needs it")]
    MissingList {
        /// The file that should hold it.
        file: String,
        /// Name of the list, such as `car.brand`.
        list: String,
        /// The field that names it.
        used_by: String,
    },
}

impl Catalogue {
    /// The embedded files, some of them replaced. It does not check that all lists exist that the tables name.
    pub(crate) fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, CatalogueError> {
        let mut sources: BTreeMap<&str, &str> = EMBEDDED.iter().copied().collect();
        for (file, content) in files {
            if let Some(source) = sources.get_mut(file) {
                *source = content;
            } else {
                let known = EMBEDDED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                return Err(CatalogueError::UnknownFile { file: file.to_owned(), known });
            }
        }
        let mut files = FxHashMap::default();
        for (file, content) in sources {
            let stem = file.trim_end_matches(".json");
            let read: Pairs<Pairs<String>> = serde_json::from_str(content)
                .map_err(|source| CatalogueError::Malformed { file: file.to_owned(), source })?;
            let mut lists = FxHashMap::default();
            for (name, values) in read.0 {
                let list = List::new(values.0).map_err(|problem| CatalogueError::BadList {
                    file: file.to_owned(),
                    list: name.clone(),
                    problem,
                })?;
                lists.insert(name, list);
            }
            files.insert(stem.to_owned(), lists);
        }
        Ok(Self { files })
    }

    /// A list by its name, such as `car.brand`; an unknown one has no values.
    pub fn list(&self, name: &str) -> &List {
        let (file, name) = split_path(name);
        self.models(file, name.unwrap_or_default())
    }

    /// The models of a brand in a file of models, such as `car-models`.
    pub fn models(&self, file: &str, brand: &str) -> &List {
        self.files.get(file).and_then(|lists| lists.get(brand)).unwrap_or(&EMPTY)
    }
}

impl List {
    fn new(values: Vec<(String, String)>) -> Result<Self, String> {
        if values.is_empty() {
            return Err("has no values".to_owned());
        }
        let mut list = Self::default();
        for (id, name) in values {
            if id.is_empty() || name.is_empty() {
                return Err(format!("has an empty id or name (\"{id}\": \"{name}\")"));
            }
            if list.index.insert(id.clone(), list.values.len()).is_some() {
                return Err(format!("has \"{id}\" twice"));
            }
            list.values.push(Entry::new(id, name));
        }
        Ok(list)
    }

    /// Whether the list has a value of this id.
    pub fn contains(&self, id: &str) -> bool {
        self.index.contains_key(id)
    }

    /// The display name of a value.
    pub fn name(&self, id: &str) -> Option<&str> {
        self.index.get(id).map(|index| self.values[*index].name.as_str())
    }

    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All values in the order of their file.
    pub fn entries(&self) -> &[Entry] {
        &self.values
    }

    /// All ids in the order of their file.
    pub fn ids(&self) -> impl Iterator<Item = &str> + Clone {
        self.values.iter().map(|entry| entry.id.as_str())
    }
}

/// The members of a JSON object in order, including duplicates.
struct Pairs<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
            type Value = Pairs<T>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Kind;

    #[test]
    fn the_embedded_catalogue_is_complete_and_large_enough() {
        let catalogue = Catalogue::embedded();
        assert!(catalogue.list("car.brand").entries().len() >= 60);
        for brand in catalogue.list("car.brand").ids() {
            assert!(!catalogue.models("car-models", brand).is_empty(), "{brand} has no models");
        }
        for big in ["volvo", "volkswagen", "bmw", "audi", "mercedes-benz", "kia", "toyota", "ford"] {
            assert!(catalogue.models("car-models", big).entries().len() >= 10, "{big}");
        }
    }

    #[test]
    fn every_registered_type_has_the_brand_other() {
        let catalogue = Catalogue::embedded();
        for (vehicle_type, category) in crate::categories::typed().filter(|(_, category)| category.registered) {
            let Some(Kind::Slug { list }) = category.field("brand").map(|brand| brand.kind) else {
                panic!("{vehicle_type} has no brand")
            };
            assert_eq!(catalogue.list(list).ids().last(), Some("other"), "{vehicle_type}");
        }
        assert_eq!(catalogue.models("car-models", "other").ids().collect::<Vec<_>>(), ["other"]);
    }

    #[test]
    fn a_replaced_file_is_used_and_a_broken_one_is_named() {
        let tiny = r#"{"brand": {"x": "X"}, "body_type": {"suv": "SUV"}, "motor_type": {"jet": "Jet"},
                       "fuel": {"diesel": "Diesel"}, "material": {"wood": "Wood"}}"#;
        let catalogue = Catalogue::with_files([("boat.json", tiny)]).unwrap();
        assert_eq!(catalogue.list("boat.brand").name("x"), Some("X"));

        for (content, says) in [
            ("{", "boat.json: EOF"),
            (r#"{"brand": {"x": "X", "x": "Y"}}"#, "\"brand\" has \"x\" twice"),
            (r#"{"brand": {}}"#, "\"brand\" has no values"),
            (r#"{"brand": {"x": "X"}}"#, "list \"body_type\" is missing"),
        ] {
            let error = Catalogue::with_files([("boat.json", content)]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let no_default = r#"{"brand": {"x": "X"}, "body_type": {"x": "X"}}"#;
        let error = Catalogue::with_files([("moped.json", no_default)]).unwrap_err().to_string();
        assert!(error.contains("\"body_type\" has no \"moped\", the default of moped body_type"), "{error}");
        let no_models = Catalogue::with_files([("car-models.json", r#"{"volvo": {"v60": "V60"}}"#)]);
        let error = no_models.unwrap_err().to_string();
        assert!(error.starts_with("car-models.json: list \"") && error.contains("car model needs it"), "{error}");
        let error = Catalogue::with_files([("bot.json", "{}")]).unwrap_err().to_string();
        assert!(error.contains("boat.json"), "{error}");
    }
}
