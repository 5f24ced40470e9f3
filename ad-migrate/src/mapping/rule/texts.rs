//! The texts of a mapping, and what is done to the texts of a file before they are converted.

use std::borrow::Cow;

use regex::Regex;
use serde::Deserialize;
use toml::Value;

use super::{Pattern, Texts};
use ad_core::written::number::{self, Decimal};

/// A constant or default: for all vehicle types, or by vehicle type (`{ car = "…", all = "…" }`).
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(in crate::mapping) struct ByType {
    all: Option<Texts>,
    types: Vec<(Box<str>, Texts)>,
}

impl TryFrom<Value> for ByType {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let Value::Table(table) = value else {
            return Ok(Self { all: Some(Texts::try_from(value)?), types: Vec::new() });
        };
        let (mut all, mut types) = (None, Vec::new());
        for (name, value) in table {
            let texts = Texts::try_from(value)?;
            if name == "all" { all = Some(texts) } else { types.push((name.into(), texts)) }
        }
        Ok(Self { all, types })
    }
}

impl ByType {
    pub(in crate::mapping) fn of(&self, vehicle_type: Option<&str>) -> Option<&Texts> {
        let own = self.types.iter().find(|(name, _)| Some(&**name) == vehicle_type);
        own.map(|(_, texts)| texts).or(self.all.as_ref())
    }

    pub(in crate::mapping) fn types(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|(name, _)| &**name)
    }
}

/// Replacements: `[["^SE-", ""], ["\\s+", " "]]`, in order.
#[derive(Debug, Default, Deserialize)]
pub(in crate::mapping) struct Replacements(Vec<(Pattern, String)>);

impl Replacements {
    pub(in crate::mapping) fn apply<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        self.0.iter().fold(text, |text, (pattern, with)| match pattern.0.replace_all(&text, with.as_str()) {
            Cow::Borrowed(_) => text,
            Cow::Owned(replaced) => Cow::Owned(replaced),
        })
    }
}

/// The part of a text that an expression matches: its first group, or all of it; nothing where it does not match.
pub(in crate::mapping) fn extracted<'t>(pattern: &Regex, text: &'t str) -> &'t str {
    let found = pattern.captures(text);
    let part = found.as_ref().and_then(|found| found.iter().skip(1).flatten().next().or(found.get(0)));
    part.map_or("", |part| part.as_str())
}

/// What numbers are multiplied with, exactly: 0.01 for öre, 1000 for thousands.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "Value")]
pub(in crate::mapping) struct Scale(pub(in crate::mapping) Decimal);

impl TryFrom<Value> for Scale {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let text = match value {
            Value::Integer(number) if number > 0 => number.to_string(),
            Value::Float(number) if number > 0.0 => number.to_string(),
            _ => return Err("expected a positive number, such as 0.01 or 1000"),
        };
        let found = number::read(&text, Some('.')).map_err(|_| "expected a number of at most 18 digits")?;
        Ok(Self(found.number))
    }
}
