//! The value maps that a mapping contains or names.

use std::collections::BTreeMap;

use ad_core::violation::nearest;
use serde::Deserialize;
use toml::Value;

use super::{Texts, several};
use crate::mapping::{
    problems::{FilePosition, Problems, Spanned},
    values::{self, Builtin},
};

/// A term of a mapping's own value map.
#[derive(Debug)]
pub(in crate::mapping) struct OwnTerm {
    pub(in crate::mapping) term: Box<str>,
    pub(in crate::mapping) texts: Texts,
    /// Its place; unknown in a map within an entry.
    pub(in crate::mapping) at: Option<FilePosition>,
}

/// The value maps that an entry names or contains.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Value")]
pub(in crate::mapping) struct MapSources(pub(in crate::mapping) Vec<MapSource>);

#[derive(Debug)]
pub(in crate::mapping) enum MapSource {
    Named(Box<str>),
    Inline(Vec<OwnTerm>),
}

impl TryFrom<Value> for MapSources {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let term = |(term, value): (String, Value)| {
            Ok(OwnTerm { term: term.into(), texts: Texts::try_from(value)?, at: None })
        };
        let source = |value| match value {
            Value::String(name) => Ok(MapSource::Named(name.into())),
            Value::Table(map) => map.into_iter().map(term).collect::<Result<_, _>>().map(MapSource::Inline),
            _ => Err("expected the name of a value map, or a table"),
        };
        several(value).into_iter().map(source).collect::<Result<_, _>>().map(Self)
    }
}

/// `[values]`: the mapping's own value maps.
#[derive(Debug, Default)]
pub(in crate::mapping) struct OwnMaps(BTreeMap<String, Vec<OwnTerm>>);

#[derive(Debug, Clone, Copy)]
pub(in crate::mapping) enum FoundMap<'a> {
    Own(&'a [OwnTerm]),
    Builtin(&'static Builtin),
}

impl OwnMaps {
    pub(in crate::mapping) fn read<'i>(problems: &mut Problems<'i>, value: &Spanned<'i>) -> Self {
        let mut maps = BTreeMap::new();
        for (name, map) in problems.table(value, "\"values\"").into_iter().flatten() {
            let terms: Option<BTreeMap<toml::Spanned<Box<str>>, Texts>> =
                problems.read(map, &format!("[values.{}]", name.get_ref()));
            let terms = terms.unwrap_or_default().into_iter().map(|(term, texts)| {
                let at = Some(problems.at(&term.span()));
                OwnTerm { term: term.into_inner(), texts, at }
            });
            maps.insert(name.get_ref().to_string(), terms.collect());
        }
        Self(maps)
    }

    /// The map of a source: the mapping's own, or a built-in one.
    ///
    /// # Errors
    /// That there is none, as a sentence.
    pub(in crate::mapping) fn find<'a>(&'a self, source: &'a MapSource) -> Result<FoundMap<'a>, String> {
        let name: &str = match source {
            MapSource::Inline(terms) => return Ok(FoundMap::Own(terms)),
            MapSource::Named(name) => name,
        };
        if let Some(terms) = self.0.get(name) {
            return Ok(FoundMap::Own(terms));
        }
        values::named(name).map(FoundMap::Builtin).ok_or_else(|| {
            let all = values::builtin().iter().map(|map| map.name).chain(self.0.keys().map(String::as_str));
            let hint = nearest::did_you_mean(name, all.clone())
                .unwrap_or_else(|| format!("There are {}.", nearest::quoted(all)));
            format!("No value map \"{name}\", neither built in nor as [values.{name}]. {hint}")
        })
    }
}
