//! Which column of a file becomes which field of an ad, how, and what is constant: a TOML file, checked against the field tables
//! before any row is read.

use ad_core::{catalogue::Catalogue, categories::Category};
use serde_json::{Map, Value};

use crate::{
    finding::Finding,
    readers::{Columns, Row, Settings},
};

/// A mapping that holds: every target is a field of the tables, and every value that it maps to is an allowed one.
#[derive(Debug)]
pub struct Mapping {
    // helper M
}

/// Why a text is no mapping: all that is wrong with it, each with its line.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct MappingError(
    /// Each a sentence, with the place in the file and the nearest right one.
    pub Vec<String>,
);

impl Mapping {
    /// Names of the mappings that come with the program.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        std::iter::empty()
    }

    /// The text of a mapping that comes with the program.
    pub fn builtin(_name: &str) -> Option<&'static str> {
        None
    }

    /// Reads a mapping.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(_text: &str, _catalogue: &Catalogue) -> Result<Self, MappingError> {
        todo!()
    }

    /// How the file is to be read.
    pub fn reading(&self) -> &Settings {
        todo!()
    }

    /// The mapping on the columns of a file. Cheap enough for every batch whose columns are others than those of the last one.
    pub fn bind(&self, _columns: &Columns) -> Bound<'_> {
        todo!()
    }
}

/// A mapping that knows which of its columns are where.
#[derive(Debug)]
pub struct Bound<'a> {
    mapping: &'a Mapping,
}

/// What a row came to.
#[derive(Debug, Default)]
pub struct Mapped {
    /// The category, where it could be told.
    pub category: Option<&'static Category>,
    /// The payload of a create (`POST /v4/{vehicle_type}`), `category_id` included, as far as values could be made.
    pub payload: Map<String, Value>,
    /// What could not, and what was odd.
    pub findings: Vec<Finding>,
}

impl Bound<'_> {
    /// Columns that the mapping names and the file does not have, with the nearest that it has; of an XML or JSON file only those that
    /// no record so far had, which may be no mistake.
    pub fn missing(&self) -> Vec<String> {
        todo!()
    }

    /// Columns of the file that nothing uses.
    pub fn unused(&self) -> Vec<String> {
        todo!()
    }

    /// Makes the payload of a row.
    pub fn apply(&self, _row: Row<'_>) -> Mapped {
        todo!()
    }

    /// The columns from which a field is made, for telling where an error of the rules comes from: of the field itself (`price.0.amount` too),
    /// or of the nearest one around it.
    pub fn columns_of(&self, _field: &str) -> Vec<&str> {
        todo!()
    }
}
