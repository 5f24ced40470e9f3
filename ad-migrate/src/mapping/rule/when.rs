//! Conditions on the value of a column.

use regex::Regex;
use serde::Deserialize;

use super::{Column, SourceId, Texts};
use crate::mapping::fold::{fold_into, folded};

#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(in crate::mapping) struct Pattern(pub(in crate::mapping) Regex);

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("\"{text}\" is not a regular expression: {reason}")
        })
    }
}

/// Where something applies: where the column has one of some texts, or none of some texts, or matches an expression, or is (or is not) empty.
#[derive(Debug, Deserialize)]
#[serde(from = "WhenForms")]
pub(in crate::mapping) struct When {
    pub(in crate::mapping) column: Column,
    /// Folded, as they are compared.
    is: Option<Vec<String>>,
    not: Option<Vec<String>>,
    matches: Option<Pattern>,
    empty: bool,
}

/// How a condition may be written.
#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a column, or { column = \"…\", is = \"…\" } with is, not, matches or empty"
)]
enum WhenForms {
    Table {
        column: Column,
        is: Option<Texts>,
        not: Option<Texts>,
        matches: Option<Pattern>,
        #[serde(default)]
        empty: bool,
    },
    Filled(Column),
}

impl From<WhenForms> for When {
    fn from(form: WhenForms) -> Self {
        let all = |texts: Option<Texts>| texts.map(|texts| texts.0.iter().map(|text| folded(text)).collect());
        match form {
            WhenForms::Table { column, is, not, matches, empty } => {
                Self { column, is: all(is), not: all(not), matches, empty }
            }
            WhenForms::Filled(column) => Self { column, is: None, not: None, matches: None, empty: false },
        }
    }
}

impl When {
    /// Whether it holds for a text of the column.
    pub(in crate::mapping) fn holds(&self, text: &str, scratch: &mut String) -> bool {
        fold_into(text, scratch);
        let is = self.is.as_ref().is_none_or(|is| is.contains(scratch));
        let is_other = self.not.as_ref().is_none_or(|not| !not.contains(scratch));
        let matches = self.matches.as_ref().is_none_or(|pattern| pattern.0.is_match(text));
        let asks_text = self.is.is_some() || self.not.is_some() || self.matches.is_some();
        is && is_other && matches && (asks_text || text.is_empty() == self.empty)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(from = "ConditionsForms")]
pub(in crate::mapping) struct Conditions(pub(in crate::mapping) Vec<When>);

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected { column = \"…\", is = \"…\" } with is, not, matches or empty, or a list of these"
)]
enum ConditionsForms {
    Several(Vec<When>),
    One(When),
}

impl From<ConditionsForms> for Conditions {
    fn from(form: ConditionsForms) -> Self {
        match form {
            ConditionsForms::Several(all) => Self(all),
            ConditionsForms::One(when) => Self(vec![when]),
        }
    }
}

/// `[rows]`: which rows become ads.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::mapping) struct RowRules {
    /// Conditions all of which must hold.
    pub(in crate::mapping) keep: Conditions,
    /// Conditions none of which may hold.
    pub(in crate::mapping) skip: Conditions,
}

impl RowRules {
    /// The columns of all conditions.
    pub(in crate::mapping) fn columns(&self) -> impl Iterator<Item = SourceId> {
        self.keep.0.iter().chain(&self.skip.0).map(|when| when.column.id)
    }
}
