//! What stands beside a number: a unit or a currency.

use serde::Deserialize;
use toml::Value;

use super::Column;
use crate::mapping::fold::{exact, exact_into};

/// A unit or a currency: the same in every row, of a column, or what values have that do not say it themselves.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Value")]
pub(in crate::mapping) struct Beside {
    /// The same in every row.
    pub(in crate::mapping) always: Option<Box<str>>,
    pub(in crate::mapping) column: Option<Column>,
    /// What the values of the column mean, as they are compared.
    pub(in crate::mapping) codes: Vec<(String, Box<str>)>,
    /// Where neither the value nor the column says it.
    pub(in crate::mapping) default: Option<Box<str>>,
}

impl Beside {
    /// What a value of the column means.
    pub(in crate::mapping) fn resolve<'a>(&'a self, text: &'a str, scratch: &mut String) -> &'a str {
        exact_into(text, scratch);
        self.codes.iter().find(|(code, _)| code == scratch).map_or(text, |(_, meant)| meant)
    }
}

impl TryFrom<Value> for Beside {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        const EXPECTED: &str =
            "expected a text, or { column = \"…\", values = { CODE = \"…\" }, default = \"…\" } with column or default";
        let table = match value {
            Value::String(text) => return Ok(Self { always: Some(text.into()), ..Self::default() }),
            Value::Table(table) => table,
            _ => return Err(EXPECTED),
        };
        let mut beside = Self::default();
        for (key, value) in table {
            match (key.as_str(), value) {
                ("column", value) => beside.column = Some(Column::try_from(value)?),
                ("default", Value::String(text)) => beside.default = Some(text.into()),
                ("values", Value::Table(codes)) => {
                    for (code, meant) in codes {
                        let Value::String(meant) = meant else { return Err(EXPECTED) };
                        beside.codes.push((exact(&code), meant.into()));
                    }
                }
                _ => return Err(EXPECTED),
            }
        }
        let is_whole = beside.column.is_some() || (beside.default.is_some() && beside.codes.is_empty());
        if is_whole { Ok(beside) } else { Err(EXPECTED) }
    }
}
