//! Conditions on the values of columns.

use regex::Regex;
use rustc_hash::FxHashSet;
use serde::Deserialize;

use super::{Column, MappingColumns, SourceId, Texts};
use crate::{
    mapping::fold::{exact, exact_into},
    readers::{SameRows, Take},
};

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

/// Where something applies: where a column has one of some texts, or none of some texts, or matches an expression, or is (or is not) empty.
#[derive(Debug, Deserialize)]
#[serde(from = "WhenForms")]
pub(in crate::mapping) struct When {
    pub(in crate::mapping) columns: MappingColumns,
    /// The texts, in lower case and without outer space, as they are compared.
    is: Option<FxHashSet<String>>,
    not: Option<FxHashSet<String>>,
    matches: Option<Pattern>,
    empty: bool,
    /// Which of several values must meet it.
    several: Option<Quantifier>,
}

/// Which of several values of a column must meet a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Quantifier {
    Any,
    All,
}

/// How a condition may be written.
#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a column, or { column = \"…\", is = \"…\" } with is, not, matches or empty, and several = \"any\" or \"all\""
)]
enum WhenForms {
    Table {
        column: MappingColumns,
        is: Option<Texts>,
        not: Option<Texts>,
        matches: Option<Pattern>,
        #[serde(default)]
        empty: bool,
        several: Option<Quantifier>,
    },
    Filled(Column),
}

impl From<WhenForms> for When {
    fn from(form: WhenForms) -> Self {
        let all = |texts: Option<Texts>| texts.map(|texts| texts.0.iter().map(|text| exact(text)).collect());
        match form {
            WhenForms::Table { column: columns, is, not, matches, empty, several } => {
                Self { columns, is: all(is), not: all(not), matches, empty, several }
            }
            WhenForms::Filled(column) => {
                let columns = MappingColumns(vec![column]);
                Self { columns, is: None, not: None, matches: None, empty: false, several: None }
            }
        }
    }
}

impl When {
    /// Whether it holds for a text.
    pub(in crate::mapping) fn holds(&self, text: &str, scratch: &mut String) -> bool {
        exact_into(text, scratch);
        let is = self.is.as_ref().is_none_or(|is| is.contains(scratch));
        let is_other = self.not.as_ref().is_none_or(|not| !not.contains(scratch));
        let matches = self.matches.as_ref().is_none_or(|pattern| pattern.0.is_match(text));
        let asks_text = self.is.is_some() || self.not.is_some() || self.matches.is_some();
        is && is_other && matches && (asks_text || text.is_empty() == self.empty)
    }

    /// Whether it holds for the texts of a column that are not empty; nothing where they disagree and the mapping does not say which ones
    /// count.
    pub(in crate::mapping) fn holds_for<'t>(
        &self,
        mut texts: impl Iterator<Item = &'t str>,
        scratch: &mut String,
    ) -> Option<bool> {
        let first = self.holds(texts.next().unwrap_or_default(), scratch);
        let agree = texts.all(|text| self.holds(text, scratch) == first);
        match self.several {
            _ if agree => Some(first),
            None => None,
            Some(several) => Some(several == Quantifier::Any),
        }
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
    pub(in crate::mapping) same: Option<Same>,
}

/// Which rows are about the same vehicle, and which of them count.
#[derive(Debug, Deserialize)]
pub(in crate::mapping) struct Same {
    column: Column,
    take: Take,
}

impl Same {
    /// As the reader needs it.
    pub(in crate::mapping) fn rows(&self) -> SameRows {
        SameRows { column: self.column.text(), take: self.take }
    }
}

impl RowRules {
    /// The columns of all conditions.
    pub(in crate::mapping) fn columns(&self) -> impl Iterator<Item = SourceId> {
        self.keep.0.iter().chain(&self.skip.0).flat_map(|when| when.columns.ids())
    }
}
