//! A line of `[fields]` as it is written: from where, and how. Whether that fits the field is found out in [`plan`](super::plan).

use rustc_hash::FxHashMap;
use toml::de::{DeTable, DeValue};

use super::{
    date::DateFormat,
    problems::{Problems, Spanned, shown},
    values::{self, Builtin},
};

/// A column as a mapping names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ColumnSource {
    /// By its name or path.
    Name(Box<str>),
    /// By its position, from 1, to another one.
    Positions(usize, usize),
}

/// Place of a [`ColumnSource`] among those of the mapping.
pub(super) type SourceId = usize;

/// What a rule does with a value that its map does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// Goes on with the value itself, which then has to be one that the field takes.
    Itself,
    /// Says so.
    Error,
    /// Leaves the field out.
    Skip,
    /// Takes these.
    Texts(Vec<Box<str>>),
}

/// A unit or a currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConstantOrColumn {
    /// Always this.
    Always(Box<str>),
    /// What a column says.
    Column(SourceId),
}

/// When a rule applies.
#[derive(Debug)]
pub(super) struct When {
    pub(super) column: SourceId,
    pub(super) test: Test,
}

/// What is asked of a column.
#[derive(Debug)]
pub(super) enum Test {
    /// Whether it has a value.
    Filled,
    /// Whether it has none.
    Empty,
    /// Whether it has one of these.
    Is(Vec<Box<str>>),
    /// Whether it has none of these.
    Not(Vec<Box<str>>),
}

/// A piece of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TemplatePart {
    /// As it stands.
    Text(Box<str>),
    /// The value of the rule: `{value}`.
    Value,
    /// The value of a column: `{Lagernr}`.
    Column(SourceId),
}

/// A map that a rule names.
#[derive(Debug, Clone, Copy)]
pub(super) enum MapName {
    /// The mapping's own, by its place.
    Own(usize),
    /// One that comes with the program.
    Builtin(&'static Builtin),
}

/// The entries of a mapping's own map.
#[derive(Debug)]
pub(super) struct OwnMap {
    /// Each with its line.
    pub(super) entries: Vec<(Box<str>, Vec<Box<str>>, usize)>,
}

/// A rule.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file")]
pub(super) struct Rule {
    /// The field, as it is written.
    pub(super) target: Box<str>,
    pub(super) line: usize,
    pub(super) from: Vec<SourceId>,
    pub(super) constant: Option<Vec<Box<str>>>,
    pub(super) default: Option<Vec<Box<str>>>,
    pub(super) template: Option<Vec<TemplatePart>>,
    pub(super) split: Option<Box<str>>,
    pub(super) join: Option<Box<str>>,
    pub(super) values: Vec<MapName>,
    pub(super) otherwise: Otherwise,
    pub(super) unit: Option<ConstantOrColumn>,
    pub(super) to: Option<Box<str>>,
    pub(super) currency: Option<ConstantOrColumn>,
    pub(super) decimal: Option<char>,
    pub(super) date: Option<DateFormat>,
    pub(super) html: bool,
    pub(super) year: bool,
    pub(super) when: Option<When>,
    /// Whether the file may lack its columns.
    pub(super) optional: bool,
    pub(super) first: bool,
    pub(super) max: Option<usize>,
}

const KEYS: &[&str] = &[
    "from",
    "constant",
    "default",
    "template",
    "split",
    "join",
    "values",
    "otherwise",
    "unit",
    "as",
    "currency",
    "decimal",
    "date",
    "html",
    "year",
    "when",
    "optional",
    "first",
    "max",
];

impl Rule {
    pub(super) fn new(target: &str, line: usize) -> Self {
        Self {
            target: target.into(),
            line,
            from: Vec::new(),
            constant: None,
            default: None,
            template: None,
            split: None,
            join: None,
            values: Vec::new(),
            otherwise: Otherwise::Itself,
            unit: None,
            to: None,
            currency: None,
            decimal: None,
            date: None,
            html: false,
            year: false,
            when: None,
            optional: false,
            first: false,
            max: None,
        }
    }

    /// All columns that it reads.
    pub(super) fn sources(&self) -> impl Iterator<Item = SourceId> {
        let told = [&self.unit, &self.currency].into_iter().flatten().filter_map(|told| match told {
            ConstantOrColumn::Column(source) => Some(*source),
            ConstantOrColumn::Always(_) => None,
        });
        let pieces = self.template.iter().flatten().filter_map(|piece| match piece {
            TemplatePart::Column(source) => Some(*source),
            _ => None,
        });
        let when = self.when.iter().map(|when| when.column);
        self.from.iter().copied().chain(pieces).chain(told).chain(when)
    }
}

/// Reads rules, and collects the columns and maps that they name.
#[derive(Debug)]
pub(super) struct RuleReader<'i> {
    pub(super) problems: Problems<'i>,
    pub(super) sources: Vec<ColumnSource>,
    known: FxHashMap<ColumnSource, SourceId>,
    pub(super) maps: Vec<OwnMap>,
    names: FxHashMap<&'i str, usize>,
    pub(super) decimal: Option<char>,
}

impl<'i> RuleReader<'i> {
    pub(super) fn new(text: &'i str) -> Self {
        Self {
            problems: Problems::new(text),
            sources: Vec::new(),
            known: FxHashMap::default(),
            maps: Vec::new(),
            names: FxHashMap::default(),
            decimal: None,
        }
    }

    /// Reads `[values]`: the mapping's own maps.
    pub(super) fn own_maps(&mut self, value: &'i Spanned<'i>) {
        let Some(table) = self.problems.table(value, "\"values\"") else { return };
        for (name, map) in table {
            if let Some(map) = self.problems.table(map, "A value map") {
                let map = self.own_map(map);
                self.maps.push(map);
                self.names.insert(name.get_ref(), self.maps.len() - 1);
            }
        }
    }

    fn own_map(&mut self, table: &DeTable<'i>) -> OwnMap {
        let mut entries = Vec::new();
        for (term, value) in table {
            if let Some(values) = self.problems.texts(value, "What a value means") {
                entries.push((Box::from(&**term.get_ref()), values, self.problems.line(&term.span())));
            }
        }
        OwnMap { entries }
    }

    /// The maps that `values` names, or has itself.
    pub(super) fn maps_of(&mut self, value: &Spanned<'i>) -> Vec<MapName> {
        match value.get_ref() {
            DeValue::Table(table) => {
                let map = self.own_map(table);
                self.maps.push(map);
                vec![MapName::Own(self.maps.len() - 1)]
            }
            DeValue::Array(maps) => maps.iter().flat_map(|map| self.maps_of(map)).collect(),
            DeValue::String(name) => self.map_named(name, value).into_iter().collect(),
            _ => {
                let message = format!("\"values\" must be the name of a value map or a table, not {}.", shown(value));
                self.problems.at(&value.span(), message);
                Vec::new()
            }
        }
    }

    fn map_named(&mut self, name: &str, value: &Spanned<'i>) -> Option<MapName> {
        if let Some(own) = self.names.get(name) {
            return Some(MapName::Own(*own));
        }
        if let Some(builtin) = values::named(name) {
            return Some(MapName::Builtin(builtin));
        }
        let own: Vec<&str> = self.names.keys().copied().collect();
        let all = values::builtin().iter().map(|map| map.name).chain(own);
        let hint = ad_core::violation::nearest::did_you_mean(name, all.clone())
            .unwrap_or_else(|| format!("There are {}.", ad_core::violation::nearest::quoted(all)));
        let message = format!("No value map \"{name}\", neither built in nor as [values.{name}]. {hint}");
        self.problems.at(&value.span(), message);
        None
    }

    pub(super) fn source(&mut self, source: ColumnSource) -> SourceId {
        let next = self.sources.len();
        let id = *self.known.entry(source.clone()).or_insert(next);
        if id == next {
            self.sources.push(source);
        }
        id
    }

    /// The columns that a text or a number names.
    fn column(&mut self, value: &Spanned<'i>, what: &str) -> Option<SourceId> {
        match value.get_ref() {
            DeValue::String(name) => Some(self.source(named(name))),
            DeValue::Integer(_) => {
                let position = self.problems.count(value, what)?;
                Some(self.source(ColumnSource::Positions(position, position)))
            }
            _ => {
                let message = format!("{what} must be a column's name, path or position, not {}.", shown(value));
                self.problems.at(&value.span(), message);
                None
            }
        }
    }

    fn columns(&mut self, value: &Spanned<'i>) -> Vec<SourceId> {
        match value.get_ref() {
            DeValue::Array(columns) => {
                columns.iter().filter_map(|column| self.column(column, "Each of \"from\"")).collect()
            }
            _ => self.column(value, "\"from\"").into_iter().collect(),
        }
    }

    /// Reads a rule.
    pub(super) fn rule(&mut self, target: &str, line: usize, value: &Spanned<'i>) -> Rule {
        let mut rule = Rule::new(target, line);
        let Some(table) = value.get_ref().as_table() else {
            // The short form: the column.
            rule.from = self.columns(value);
            return rule;
        };
        self.problems.unknown_keys(table, KEYS, "a field");
        for (key, value) in table {
            self.key(&mut rule, key.get_ref(), value);
        }
        if rule.constant.is_some() && (!rule.from.is_empty() || rule.template.is_some()) {
            self.problems.on(line, format!("\"{target}\" has both a \"constant\" and columns; use one of them."));
        }
        if rule.constant.is_none() && rule.template.is_none() && rule.from.is_empty() {
            let message = format!("\"{target}\" has no \"from\", \"constant\" or \"template\"; add one of them.");
            self.problems.on(line, message);
        }
        let asks_value = rule.template.iter().flatten().any(|piece| *piece == TemplatePart::Value);
        if asks_value && rule.from.is_empty() {
            self.problems.on(line, format!("The template of \"{target}\" contains {{value}}; add \"from\"."));
        }
        rule
    }

    fn key(&mut self, rule: &mut Rule, key: &str, value: &Spanned<'i>) {
        match key {
            "from" => rule.from = self.columns(value),
            "constant" => rule.constant = self.problems.texts(value, "A constant"),
            "default" => rule.default = self.problems.texts(value, "A default"),
            "template" => {
                rule.template = self.problems.text(value, "A template").map(|text| self.template(text, value));
            }
            "split" => rule.split = self.mark(value, "\"split\""),
            "join" => rule.join = self.problems.text(value, "\"join\"").map(Box::from),
            "values" => rule.values = self.maps_of(value),
            "otherwise" => rule.otherwise = self.otherwise(value),
            "unit" => rule.unit = self.told(value, "\"unit\""),
            "as" => rule.to = self.problems.text(value, "\"as\"").map(Box::from),
            "currency" => rule.currency = self.told(value, "\"currency\""),
            "decimal" => rule.decimal = self.decimal_mark(value),
            "date" => rule.date = self.form(value),
            "html" => rule.html = self.problems.boolean(value, "\"html\"").unwrap_or_default(),
            "year" => rule.year = self.problems.boolean(value, "\"year\"").unwrap_or_default(),
            "when" => rule.when = self.when(value),
            "optional" => rule.optional = self.problems.boolean(value, "\"optional\"").unwrap_or_default(),
            "first" => rule.first = self.problems.boolean(value, "\"first\"").unwrap_or_default(),
            "max" => rule.max = self.problems.count(value, "\"max\""),
            _ => {}
        }
    }

    fn mark(&mut self, value: &Spanned<'i>, what: &str) -> Option<Box<str>> {
        let text = self.problems.text(value, what)?;
        if text.is_empty() {
            self.problems.at(&value.span(), format!("{what} must be the separator between values, not an empty text."));
            return None;
        }
        Some(text.into())
    }

    fn otherwise(&mut self, value: &Spanned<'i>) -> Otherwise {
        match value.get_ref().as_str() {
            Some("skip") => Otherwise::Skip,
            Some("error") => Otherwise::Error,
            Some("keep") => Otherwise::Itself,
            _ => self.problems.texts(value, "\"otherwise\"").map_or(Otherwise::Itself, Otherwise::Texts),
        }
    }

    fn told(&mut self, value: &Spanned<'i>, what: &str) -> Option<ConstantOrColumn> {
        let Some(table) = value.get_ref().as_table() else {
            return self.problems.text(value, what).map(|text| ConstantOrColumn::Always(text.into()));
        };
        self.problems.unknown_keys(table, &["column"], what);
        let Some(column) = table.get("column") else {
            self.problems.at(&value.span(), format!("{what} as a table must name a column: {{ column = \"…\" }}."));
            return None;
        };
        self.column(column, "A column").map(ConstantOrColumn::Column)
    }

    /// The decimal separator.
    pub(super) fn decimal_mark(&mut self, value: &Spanned<'i>) -> Option<char> {
        match value.get_ref().as_str() {
            Some(".") => Some('.'),
            Some(",") => Some(','),
            _ => {
                let message = format!("\"decimal\" must be \",\" or \".\", not {}.", shown(value));
                self.problems.at(&value.span(), message);
                None
            }
        }
    }

    fn form(&mut self, value: &Spanned<'i>) -> Option<DateFormat> {
        let text = self.problems.text(value, "\"date\"")?;
        let form = DateFormat::parse(text);
        if form.is_none() {
            let message = format!(
                "\"{text}\" is not a date format; use YYYY, MM and DD with their separators, such as \"DD.MM.YYYY\"."
            );
            self.problems.at(&value.span(), message);
        }
        form
    }

    fn when(&mut self, value: &Spanned<'i>) -> Option<When> {
        let Some(table) = value.get_ref().as_table() else {
            let column = self.column(value, "\"when\"")?;
            return Some(When { column, test: Test::Filled });
        };
        self.problems.unknown_keys(table, &["column", "is", "not", "empty"], "\"when\"");
        let Some(column) = table.get("column") else {
            self.problems.at(&value.span(), "\"when\" as a table must name a column: { column = \"…\", is = \"…\" }.");
            return None;
        };
        let column = self.column(column, "A column")?;
        let mut texts = |name: &str| {
            let texts = self.problems.texts(table.get(name)?, "What a column is compared with")?;
            Some(texts.iter().map(|text| super::fold::folded(text).into()).collect())
        };
        let test = if let Some(is) = texts("is") {
            Test::Is(is)
        } else if let Some(not) = texts("not") {
            Test::Not(not)
        } else {
            let empty = table.get("empty").and_then(|value| self.problems.boolean(value, "\"empty\""));
            if empty == Some(true) { Test::Empty } else { Test::Filled }
        };
        Some(When { column, test })
    }

    /// `{Lagernr}-{value}`; a brace that opens nothing is written twice.
    fn template(&mut self, text: &str, value: &Spanned<'i>) -> Vec<TemplatePart> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
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
                let message = format!(
                    "The template \"{text}\" has a brace without a column name; write {brace}{brace} for a literal brace."
                );
                self.problems.at(&value.span(), message);
                return pieces;
            };
            rest = &rest[name.len() + 1..];
            if !plain.is_empty() {
                pieces.push(TemplatePart::Text(std::mem::take(&mut plain).into()));
            }
            let name = name.trim();
            pieces.push(if name == "value" {
                TemplatePart::Value
            } else {
                TemplatePart::Column(self.source(named(name)))
            });
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(TemplatePart::Text(plain.into()));
        }
        pieces
    }
}

/// A column by what names it: `20-46` are positions.
fn named(name: &str) -> ColumnSource {
    let range = name.split_once('-').and_then(|(from, to)| {
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
        Some((number(from)?, number(to)?))
    });
    match range {
        Some((from, to)) if 0 < from && from <= to => ColumnSource::Positions(from, to),
        _ => ColumnSource::Name(name.trim().into()),
    }
}
