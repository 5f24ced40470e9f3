//! An entry of `[fields]` as it is written: from which columns, and how. [`plan`](super::plan) checks whether it fits the field.

mod beside;
mod columns;
mod maps;
mod texts;
mod when;

use std::num::NonZeroUsize;

use ad_core::written::date::DateFormat;
use serde::Deserialize;
use toml::Value;

use super::{
    keys,
    problems::{FilePosition, Problems, Spanned},
    zone::Zone,
};
pub(super) use beside::Beside;
pub(super) use columns::{Column, ColumnName, MappingColumns, SourceId, Sources};
pub(super) use maps::{FoundMap, MapSource, MapSources, OwnMaps};
pub(super) use texts::{ByType, Replacements, Scale, extracted};
pub(super) use when::{Conditions, Pattern, RowRules, Same, When};

/// The values of a constant or a value map: a text, a number, `true` or `false`, or a list of these. An empty text is no value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Texts(pub(super) Vec<Box<str>>);

impl TryFrom<Value> for Texts {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let text = |value| match value {
            Value::String(text) => Ok(text.into()),
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
                Ok(value.to_string().into())
            }
            Value::Array(_) | Value::Table(_) => Err("expected a text, a number, true, false, or a list of these"),
        };
        let texts: Vec<Box<str>> = several(value).into_iter().map(text).collect::<Result<_, _>>()?;
        Ok(Self(texts.into_iter().filter(|text| !text.is_empty()).collect()))
    }
}

/// The items of a list, or the one value.
fn several(value: Value) -> Vec<Value> {
    if let Value::Array(values) = value { values } else { vec![value] }
}

/// What to do with a value that no map contains.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Texts")]
pub(super) enum Fallback {
    /// Take the value itself, which the field must accept.
    #[default]
    Itself,
    /// Report an error for the row.
    Error,
    /// Leave the field out of the payload.
    Skip,
    /// Take these values of the field instead.
    Texts(Texts),
}

impl Fallback {
    /// Whether it says what unknown values are, or that they are none.
    pub(super) fn is_value(&self) -> bool {
        matches!(self, Self::Skip | Self::Texts(_))
    }
}

impl From<Texts> for Fallback {
    fn from(texts: Texts) -> Self {
        match texts.0.as_slice() {
            [text] if **text == *"skip" => Self::Skip,
            [text] if **text == *"error" => Self::Error,
            [text] if **text == *"keep" => Self::Itself,
            _ => Self::Texts(texts),
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) enum DecimalMark {
    #[serde(rename = ".")]
    Point,
    #[serde(rename = ",")]
    Comma,
}

impl From<DecimalMark> for char {
    fn from(mark: DecimalMark) -> Self {
        match mark {
            DecimalMark::Point => '.',
            DecimalMark::Comma => ',',
        }
    }
}

/// `{Lagernr}-{value}`; a literal brace is written twice.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Template(pub(super) Vec<TemplatePart>);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TemplatePart {
    Text(Box<str>),
    /// The value of the entry: `{value}`.
    Value,
    /// The value of a column: `{Lagernr}`.
    Column(Column),
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let name = rest.find('}').filter(|_| brace == "{").map(|end| &rest[..end]);
            let Some(name) = name.filter(|name| !name.trim().is_empty()) else {
                return Err(format!(
                    "the template \"{text}\" has a brace without a column name; write {brace}{brace} for a literal brace"
                ));
            };
            rest = &rest[name.len() + 1..];
            if !plain.is_empty() {
                parts.push(TemplatePart::Text(std::mem::take(&mut plain).into()));
            }
            parts.push(match name.trim() {
                "value" => TemplatePart::Value,
                name => TemplatePart::Column(Column::named(name)),
            });
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(TemplatePart::Text(plain.into()));
        }
        Ok(Self(parts))
    }
}

/// An entry of `[fields]`. mappings/README.md documents the keys.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file")]
pub(super) struct Rule {
    /// The field, as it is written.
    #[serde(skip)]
    pub(super) target: Box<str>,
    #[serde(skip)]
    pub(super) at: FilePosition,
    /// Whether it is used only if the entry before it, of the same field, gives no value.
    #[serde(skip)]
    pub(super) is_alternative: bool,
    /// All columns that it reads.
    #[serde(skip)]
    pub(super) sources: Vec<SourceId>,
    pub(super) from: MappingColumns,
    pub(super) constant: Option<ByType>,
    pub(super) default: Option<ByType>,
    /// Takes only values beside which the same record has such a value in another column.
    #[serde(rename = "where")]
    pub(super) filter: Conditions,
    /// Orders the values by those of another column.
    pub(super) sort: Option<MappingColumns>,
    pub(super) extract: Option<Pattern>,
    pub(super) replace: Replacements,
    /// Whether the text is the name of a vehicle, of which the field takes its part.
    pub(super) vehicle_name: bool,
    pub(super) template: Option<Template>,
    pub(super) split: Option<Box<str>>,
    pub(super) join: Option<Box<str>>,
    pub(super) values: MapSources,
    pub(super) otherwise: Fallback,
    pub(super) scale: Option<Scale>,
    pub(super) unit: Option<Beside>,
    #[serde(rename = "as")]
    pub(super) to: Option<Box<str>>,
    pub(super) currency: Option<Beside>,
    pub(super) decimal: Option<DecimalMark>,
    pub(super) date: Option<DateFormat>,
    pub(super) zone: Option<Zone>,
    pub(super) html: bool,
    pub(super) year: bool,
    pub(super) when: Conditions,
    /// Whether the file may lack its columns.
    pub(super) optional: bool,
    pub(super) first: bool,
    pub(super) max: Option<NonZeroUsize>,
}

impl Rule {
    /// Reads the entries of a field: one, or a list of which the first that gives a value counts.
    pub(super) fn read_all<'i>(
        problems: &mut Problems<'i>,
        target: &str,
        at: FilePosition,
        value: &Spanned<'i>,
    ) -> Vec<Self> {
        let entries = value.get_ref().as_array().filter(|items| items.iter().any(|item| item.get_ref().is_table()));
        let Some(entries) = entries else { return vec![Self::read(problems, target, at, value)] };
        let entry = |(index, value): (usize, &Spanned<'i>)| {
            let at = problems.at(&value.span());
            Self { is_alternative: index > 0, ..Self::read(problems, target, at, value) }
        };
        entries.iter().enumerate().map(entry).collect()
    }

    /// Reads an entry; what is wrong with it is added to the problems.
    fn read<'i>(problems: &mut Problems<'i>, target: &str, at: FilePosition, value: &Spanned<'i>) -> Self {
        let what = format!("\"{target}\"");
        let read: Option<Self> = match value.get_ref().as_table() {
            // The short form: the column.
            None => problems.read(value, &what).map(|from| Self { from, ..Self::default() }),
            Some(table) if problems.unknown_keys(table, keys::FIELD, "a field") => None,
            Some(_) => problems.read(value, &what),
        };
        if let Some(wrong) = read.as_ref().and_then(Self::contradiction) {
            problems.on(at, format!("{what} {wrong}."));
        }
        Self { target: target.into(), at, ..read.unwrap_or_default() }
    }

    /// Keys that do not go together.
    fn contradiction(&self) -> Option<&'static str> {
        let has_columns = !self.from.0.is_empty();
        if self.constant.is_some() && (has_columns || self.template.is_some()) {
            return Some("has both a \"constant\" and columns; use one of them");
        }
        if self.constant.is_none() && self.template.is_none() && !has_columns {
            return Some("has no \"from\", \"constant\" or \"template\"; add one of them");
        }
        let asks_value = self.template.iter().flat_map(|template| &template.0).any(|part| *part == TemplatePart::Value);
        if asks_value && !has_columns {
            return Some("has a template with {value}; add \"from\"");
        }
        if !has_columns && self.beside().next().is_some() {
            return Some("has \"where\" or \"sort\"; add \"from\"");
        }
        if self.beside().any(|columns| columns.0.len() != 1 && columns.0.len() != self.from.0.len()) {
            return Some("has another number of columns in \"where\" or \"sort\" than in \"from\"");
        }
        (self.split.as_deref() == Some("")).then_some("needs a separator for \"split\", not an empty text")
    }

    /// The columns by which its values are chosen and ordered.
    pub(super) fn beside(&self) -> impl Iterator<Item = &MappingColumns> {
        self.filter.0.iter().map(|when| &when.columns).chain(&self.sort)
    }

    /// Collects the columns that it reads.
    pub(super) fn collect(&mut self, sources: &mut Sources) {
        let parts = self.template.iter_mut().flat_map(|template| &mut template.0);
        let parts = parts.filter_map(|part| if let TemplatePart::Column(column) = part { Some(column) } else { None });
        let beside = [&mut self.unit, &mut self.currency].into_iter().flatten().filter_map(|it| it.column.as_mut());
        let when = self.when.0.iter_mut().chain(&mut self.filter.0).map(|when| &mut when.columns);
        let when = when.chain(&mut self.sort).flat_map(|columns| &mut columns.0);
        for column in self.from.0.iter_mut().chain(parts).chain(beside).chain(when) {
            sources.add(column);
            self.sources.push(column.id);
        }
    }
}
