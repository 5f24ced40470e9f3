//! Makes the payload of a row. A field that cannot be made becomes a finding, and the other fields are made all the same.

mod cells;
mod findings;
mod lists;

use std::{borrow::Cow, num::NonZeroUsize};

use ad_core::{fields::Kind, synonyms::placeholders::is_zeros, written::number};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

use super::{
    Bound, Mapped,
    convert::{BadValue, With, price, short, unknown_unit},
    html,
    plan::{Plan, PlannedEntry},
    rule::{Fallback, Rule, SourceId, TemplatePart, When, extracted},
    target, units,
    vehicle::Vehicle,
};
use crate::{
    finding::{Finding, Severity},
    readers::{ColumnId, Row},
};
use lists::{check_images, has_scheme, remove_repeated};

/// What must be encoded when a file name becomes part of an address.
const IN_ADDRESSES: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'#')
    .add(b'?')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|');

/// The state while a row is mapped.
#[derive(Debug)]
pub(super) struct RowMapper<'a> {
    bound: &'a Bound<'a>,
    row: Row<'a>,
    /// The texts of the current entry.
    cells: Vec<(ColumnId, &'a str)>,
    /// The values of the current field.
    values: Vec<Value>,
    scratch: String,
    mapped: Mapped,
}

impl<'a> RowMapper<'a> {
    pub(super) fn new(bound: &'a Bound<'a>, row: Row<'a>) -> Self {
        let (cells, values, mapped) = (Vec::new(), Vec::new(), Mapped::default());
        Self { bound, row, cells, values, scratch: String::with_capacity(32), mapped }
    }

    /// Makes the payload of the row, with its findings.
    pub(super) fn run(mut self) -> Mapped {
        let mapping = self.bound.mapping;
        if self.row.has_kinds() {
            self.report_conditions();
        }
        if let Some(plan) = self.plan() {
            self.mapped.category = Some(plan.category);
            self.mapped.payload.insert("category_id".to_owned(), Value::from(plan.category.id));
            plan.fields.iter().for_each(|made| self.field(made));
        } else if let Some(plan) = mapping.plans.first() {
            // Without a vehicle type, the fields that identify the ad are made all the same.
            let around = |made: &&PlannedEntry| !mapping.rules[made.rule].target.starts_with("category_fields.");
            plan.fields.iter().filter(around).for_each(|made| self.field(made));
        }
        self.mapped
    }

    fn plan(&mut self) -> Option<&'a Plan> {
        let plans = &self.bound.mapping.plans;
        let Vehicle { from, map, otherwise } = &self.bound.mapping.vehicle;
        self.gather(from.iter().copied());
        let text = self.cells.first().map_or("", |(_, text)| text);
        let named = |name: &str| plans.iter().find(|plan| plan.category.vehicle_type == Some(name));
        let found = map.find(text, &mut self.scratch).and_then(|texts| named(texts.first()?)).or_else(|| named(text));
        let found = found.or_else(|| named(map.find_within(text)?.first()?));
        let found = found.or_else(|| plans.get((*otherwise)?));
        if found.is_none() {
            let allowed =
                ad_core::violation::nearest::quoted(plans.iter().filter_map(|plan| plan.category.vehicle_type));
            let value = (!text.is_empty()).then(|| short(text).into_owned());
            let message = match &value {
                None => "The row has no vehicle type.".to_owned(),
                Some(value) => format!("\"{value}\" is not a vehicle type of this mapping."),
            };
            let columns = from.iter().flat_map(|source| &self.bound.resolved[*source]);
            self.mapped.findings.push(Finding {
                columns: columns.map(|column| self.row.columns().name(*column).to_owned()).collect(),
                value,
                field: Some("category_id".to_owned()),
                advice: Some(format!("Add it to the values of [vehicle] (now {allowed}), or set otherwise = \"…\".")),
                ..Finding::new(Severity::Error, "unknown vehicle type", message)
            });
        }
        found
    }

    /// Collects the texts of columns that are not empty.
    fn gather(&mut self, from: impl Iterator<Item = SourceId>) {
        self.cells.clear();
        for source in from {
            for column in &self.bound.resolved[source] {
                let texts = self.row.values(*column).map(str::trim).filter(|text| !text.is_empty());
                self.cells.extend(texts.map(|text| (*column, text)));
            }
        }
    }

    /// The first text of a column.
    fn value_of(&self, source: SourceId) -> &'a str {
        self.bound.value_of(self.row, source)
    }

    /// Collects the values of the one column of an entry by those of other columns of the record: chosen, and in order.
    fn gather_paired(&mut self, rule: &Rule) -> Result<(), (BadValue, String)> {
        self.cells.clear();
        let (bound, row) = (self.bound, self.row);
        let Some(column) = rule.from.0.first().and_then(|from| bound.resolved[from.id].first()) else { return Ok(()) };
        let values: Vec<&str> = row.values(*column).collect();
        let beside = |source: SourceId| {
            let column = bound.resolved[source].first();
            let beside: Vec<&str> = column.into_iter().flat_map(|column| row.values(*column)).map(str::trim).collect();
            if beside.len() == values.len() {
                return Ok(beside);
            }
            let name = column.map_or("?", |column| row.columns().name(*column));
            let message = format!(
                "There are {} values and {} of \"{name}\", so they cannot be paired.",
                values.len(),
                beside.len()
            );
            let bad = BadValue::new(
                "values that cannot be paired",
                message,
                "Have every item of the list written with both, or omit \"where\" and \"sort\".",
            );
            Err((bad, values.first().copied().unwrap_or_default().to_owned()))
        };
        let mut order: Vec<usize> = (0..values.len()).collect();
        if let Some(filter) = &rule.filter {
            let beside = beside(filter.column.id)?;
            order.retain(|index| filter.holds(beside[*index], &mut self.scratch));
        }
        if let Some(sort) = &rule.sort {
            let beside = beside(sort.id)?;
            let number =
                |index: usize| number::read(beside[index], Some('.')).map_or(f64::INFINITY, |it| it.number.float());
            order.sort_by(|one, other| {
                number(*one).total_cmp(&number(*other)).then_with(|| beside[*one].cmp(beside[*other]))
            });
        }
        let texts = order.into_iter().map(|index| values[index].trim()).filter(|text| !text.is_empty());
        self.cells.extend(texts.map(|text| (*column, text)));
        Ok(())
    }

    fn field(&mut self, made: &PlannedEntry) {
        let rule = &self.bound.mapping.rules[made.rule];
        if rule.when.as_ref().is_some_and(|when| !self.holds(when) && !self.is_unknown(when.column.id)) {
            return;
        }
        if self.reports_cell(made, rule) {
            return;
        }
        if let Some(constant) = &made.constant {
            return self.put(made, constant.clone());
        }
        self.values.clear();
        if rule.filter.is_some() || rule.sort.is_some() {
            if let Err((bad, text)) = self.gather_paired(rule) {
                return self.report_bad(rule, bad, &text);
            }
        } else {
            self.gather(rule.from.0.iter().map(|column| column.id));
        }
        self.drop_placeholders(made);
        let cells = std::mem::take(&mut self.cells);
        let result = self.convert(made, rule, &cells);
        self.cells = cells;
        let result =
            result.and_then(|()| if made.convert.is_list() { self.list(made, rule) } else { Ok(self.values.pop()) });
        match result {
            Err((bad, text)) => self.report_bad(rule, bad, &text),
            Ok(Some(value)) => self.put(made, value),
            Ok(None) => {
                if let Some(default) = &made.default {
                    self.put(made, default.clone());
                }
            }
        }
    }

    /// Removes texts that stand for no value, unless a value map of the mapping says what they mean.
    fn drop_placeholders(&mut self, made: &PlannedEntry) {
        let item = made.convert.item();
        let is_text = !matches!(item, Kind::Integer { .. } | Kind::Decimal { .. } | Kind::Measure { .. });
        let (placeholders, scratch) = (&self.bound.mapping.placeholders, &mut self.scratch);
        self.cells.retain(|(_, text)| {
            let is_one = placeholders.contain(text, scratch) || (is_text && is_zeros(text));
            !is_one || made.values.iter().any(|map| map.find(text, scratch).is_some())
        });
    }

    fn holds(&mut self, when: &When) -> bool {
        let text = self.value_of(when.column.id);
        when.holds(text, &mut self.scratch)
    }

    fn put(&mut self, made: &PlannedEntry, value: Value) {
        if made.target.price.is_none() {
            return target::put(&mut self.mapped.payload, &made.target.steps, value);
        }
        match self.mapped.payload.get_mut("price") {
            Some(Value::Array(prices)) => prices.push(value),
            _ => {
                self.mapped.payload.insert("price".to_owned(), Value::Array(vec![value]));
            }
        }
    }

    /// Converts the texts of an entry to values. An error comes with the text that it is about.
    fn convert(
        &mut self,
        made: &PlannedEntry,
        rule: &Rule,
        cells: &[(ColumnId, &'a str)],
    ) -> Result<(), (BadValue, String)> {
        let split = |text: &'a str| rule.split.as_ref().map(|mark| text.split(&**mark).map(str::trim));
        if made.convert.is_list() {
            for (_, text) in cells {
                match split(text) {
                    None => self.text(made, rule, Cow::Borrowed(text))?,
                    Some(mut parts) => parts.try_for_each(|part| self.text(made, rule, Cow::Borrowed(part)))?,
                }
            }
            return Ok(());
        }
        let text = match (&rule.join, cells) {
            (Some(join), [_, ..]) => {
                let texts: Vec<&str> = cells.iter().map(|(_, text)| *text).collect();
                Cow::Owned(texts.join(join))
            }
            (None, [(column, first), ..]) => {
                if let Some(mut parts) = split(first) {
                    Cow::Borrowed(parts.find(|part| !part.is_empty()).unwrap_or_default())
                } else {
                    if !rule.first {
                        self.warn_of_others(made, *column, first, cells);
                    }
                    Cow::Borrowed(*first)
                }
            }
            // A template may consist of other columns alone.
            (_, []) if rule.from.0.is_empty() => return self.text(made, rule, Cow::Borrowed("")),
            (_, []) => return Ok(()),
        };
        self.text(made, rule, text)
    }

    fn text(&mut self, made: &PlannedEntry, rule: &Rule, text: Cow<'_, str>) -> Result<(), (BadValue, String)> {
        if text.is_empty() && !rule.from.0.is_empty() {
            return Ok(());
        }
        let text = if rule.html { html_of(text) } else { text };
        let text = match &rule.extract {
            Some(pattern) => Cow::Owned(extracted(&pattern.0, &text).to_owned()),
            None => text,
        };
        let text = rule.replace.apply(text);
        let text = match &made.name {
            Some(name) => Cow::Owned(name.of(&text, &mut self.scratch).to_owned()),
            None => text,
        };
        if text.is_empty() && !rule.from.0.is_empty() {
            return Ok(());
        }
        let is_address = matches!(made.convert.item(), Kind::Url { .. } | Kind::ImageAddress);
        let text = match &rule.template {
            Some(template) if !(is_address && has_scheme(&text)) => {
                Cow::Owned(self.filled(&template.0, &text, is_address).unwrap_or_default())
            }
            _ => text,
        };
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        self.resolve(made, rule, text).map_err(|bad| (bad, text.to_owned()))
    }

    /// A template with its gaps filled; nothing if all of them stay empty.
    fn filled(&self, parts: &[TemplatePart], value: &str, in_address: bool) -> Option<String> {
        let mut text = String::new();
        let (mut gaps, mut filled) = (0, 0);
        for part in parts {
            let part = match part {
                TemplatePart::Text(part) => {
                    text.push_str(part);
                    continue;
                }
                TemplatePart::Value => value,
                TemplatePart::Column(column) => self.value_of(column.id),
            };
            gaps += 1;
            filled += usize::from(!part.is_empty());
            if in_address {
                text.extend(utf8_percent_encode(part, IN_ADDRESSES));
            } else {
                text.push_str(part);
            }
        }
        (gaps == 0 || filled > 0).then_some(text)
    }

    /// Checks the values of a list as a whole.
    fn list(&mut self, made: &PlannedEntry, rule: &Rule) -> Result<Option<Value>, (BadValue, String)> {
        let Kind::List { max, unique, .. } = made.convert.kind else { return Ok(None) };
        let mut values = std::mem::take(&mut self.values);
        let count = values.len();
        if unique {
            remove_repeated(&mut values);
        }
        if values.len() < count {
            let message = format!("{} equal values are skipped.", count - values.len());
            self.warn(rule, format!("{} occurs twice", made.noun), message);
        }
        if let Some(most) = rule.max.map(NonZeroUsize::get).filter(|most| values.len() > *most) {
            let count = values.len();
            let message =
                format!("The row has {count} values; the first {most} are used, because the mapping sets max.");
            self.warn(rule, format!("{} list is cut", made.noun), message);
            values.truncate(most);
        }
        if matches!(made.convert.item(), Kind::ImageAddress) {
            let first = || values.first().and_then(Value::as_str).unwrap_or_default().to_owned();
            check_images(&values, max, self.bound.mapping.http_images).map_err(|bad| (bad, first()))?;
        }
        Ok((!values.is_empty()).then_some(Value::Array(values)))
    }

    /// Adds the values that a text means.
    fn resolve(&mut self, made: &PlannedEntry, rule: &Rule, text: &str) -> Result<(), BadValue> {
        let mut with = made.with(rule, self.bound.mapping.decimal);
        if let Some(beside) = &rule.unit
            && let Some(column) = &beside.column
            && let Kind::Measure { units, .. } = made.convert.kind
        {
            let code = self.value_of(column.id);
            let unit = beside.resolve(code, &mut self.scratch);
            with.unit = units::resolve(unit, units, &mut self.scratch);
            if with.unit.is_none() && !unit.is_empty() {
                return Err(unknown_unit(text, unit, with.noun, units));
            }
        }
        let currency = rule.currency.as_ref().and_then(|beside| match &beside.column {
            None => beside.always.as_deref(),
            Some(column) => {
                let code = self.value_of(column.id);
                Some(beside.resolve(code, &mut self.scratch)).filter(|currency| !currency.is_empty())
            }
        });
        self.keep_model_type(made, text);
        let Self { values, scratch, mapped, .. } = self;
        if made.convert.models().is_some() {
            with.brand = target::text_at(&mapped.payload, ["category_fields", "brand"]);
        }
        let mut take = |text: &str, scratch: &mut String| {
            let value = match made.target.price {
                Some(of) => price(text, of, &made.convert, currency, with)?,
                None => made.convert.value(text, with, scratch)?,
            };
            if !matches!(&value, Value::String(text) if text.is_empty()) {
                values.push(value);
            }
            Ok(())
        };
        let is_plain = made.values.is_empty() && rule.otherwise == Fallback::Itself;
        let within;
        let texts: &[Box<str>] = if let Some(texts) = made.values.iter().find_map(|map| map.find(text, scratch)) {
            texts
        } else if is_plain || made.convert.is_known(text, with, scratch) {
            return take(text, scratch);
        } else if let Some(texts) = made.values.iter().find_map(|map| map.find_within(text)) {
            within = texts;
            &within
        } else {
            match &rule.otherwise {
                Fallback::Skip => &[],
                Fallback::Texts(texts) => &texts.0,
                Fallback::Error if !made.convert.is_choice() => {
                    let message = format!("No value map contains \"{}\".", short(text));
                    return Err(BadValue { reason: format!("unknown {}", made.noun), ..BadValue::of_mapping(message) });
                }
                Fallback::Error | Fallback::Itself => return take(text, scratch),
            }
        };
        texts.iter().try_for_each(|text| take(text, scratch))
    }
}

impl RowMapper<'_> {
    /// Keeps what a text says beside its model, where no column has the model type.
    fn keep_model_type(&mut self, made: &PlannedEntry, text: &str) {
        let scratch = &mut self.scratch;
        if made.convert.models().is_none() || made.values.iter().any(|map| map.find(text, scratch).is_some()) {
            return;
        }
        let brand = target::text_at(&self.mapped.payload, ["category_fields", "brand"]);
        let found = made.convert.designated(text, With { brand, ..With::default() }, &mut self.scratch);
        let Some(model_type) = found.and_then(|found| found.model_type) else { return };
        if let Some(Value::Object(fields)) = self.mapped.payload.get_mut("category_fields") {
            fields.entry("model_type").or_insert_with(|| Value::from(model_type));
        }
    }
}

fn html_of(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => html::to_text(text),
        Cow::Owned(text) => Cow::Owned(html::to_text(&text).into_owned()),
    }
}
