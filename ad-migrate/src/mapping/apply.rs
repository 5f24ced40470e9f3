//! Makes the payload of a row. A field that cannot be made becomes a finding, and the other fields are made all the same.

mod cells;
mod findings;
mod gather;
mod lists;

use std::{borrow::Cow, num::NonZeroUsize};

use ad_core::{fields::Kind, synonyms::placeholders::is_zeros};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

use super::{
    Bound, Mapped,
    convert::{BadValue, Cure, With, price, short, unknown_unit},
    html,
    plan::{Plan, PlannedEntry},
    rule::{Beside, Fallback, Rule, TemplatePart, extracted},
    target, units,
    vehicle::Vehicle,
};
use crate::{
    finding::{Finding, Severity},
    readers::{BesideValues, ColumnId, PlacedText, Row},
};
use lists::{Between, check_images, each_item, has_scheme, remove_repeated};

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

/// Two columns, and the values of the second one that belong to those of the first one.
type BesideColumn<'a> = ((ColumnId, ColumnId), BesideValues<'a>);

/// The state while a row is mapped.
#[derive(Debug)]
pub(super) struct RowMapper<'a> {
    bound: &'a Bound<'a>,
    row: Row<'a>,
    /// The texts of the current entry.
    cells: Vec<PlacedText<'a>>,
    /// The one of them that is converted; nothing where it is made of several.
    cell: Option<PlacedText<'a>>,
    /// The values of columns beside others, as far as they were needed.
    beside: Vec<BesideColumn<'a>>,
    /// The values of the current field.
    values: Vec<Value>,
    scratch: String,
    mapped: Mapped,
}

impl<'a> RowMapper<'a> {
    pub(super) fn new(bound: &'a Bound<'a>, row: Row<'a>) -> Self {
        let (cells, cell, beside, values, mapped) = (Vec::new(), None, Vec::new(), Vec::new(), Mapped::default());
        Self { bound, row, cells, cell, beside, values, scratch: String::with_capacity(32), mapped }
    }

    /// Makes the payload of the row, with its findings.
    pub(super) fn run(mut self) -> Mapped {
        let mapping = self.bound.mapping;
        if self.row.has_kinds() {
            self.report_conditions();
        }
        if let Some(when) = self.bound.unclear(self.row) {
            self.report_unclear(when);
        }
        if let Some(plan) = self.plan() {
            self.mapped.category = Some(plan.category);
            self.mapped.payload.insert("category_id".to_owned(), Value::from(plan.category.id));
            self.fields(plan.fields.iter());
        } else if let Some(plan) = mapping.plans.first() {
            // Without a vehicle type, the fields that identify the ad are made all the same.
            let around = |made: &&PlannedEntry| !mapping.rules[made.rule].target.starts_with("category_fields.");
            self.fields(plan.fields.iter().filter(around));
        }
        self.mapped
    }

    /// Makes fields. Of several entries of a field, the first that gives a value or an error counts.
    fn fields<'p>(&mut self, entries: impl Iterator<Item = &'p PlannedEntry>) {
        let mut is_made = false;
        for made in entries {
            if !(is_made && self.bound.mapping.rules[made.rule].is_alternative) {
                is_made = self.field(made);
            }
        }
    }

    fn plan(&mut self) -> Option<&'a Plan> {
        let plans = &self.bound.mapping.plans;
        let Vehicle { from, map, otherwise } = &self.bound.mapping.vehicle;
        self.gather(from.iter().copied());
        let text = self.cells.first().map_or("", |cell| cell.text);
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

    /// Makes a field; whether the entry gives a value, or an error.
    fn field(&mut self, made: &PlannedEntry) -> bool {
        let rule = &self.bound.mapping.rules[made.rule];
        for when in &rule.when.0 {
            match self.bound.holds(self.row, when, &mut self.scratch) {
                Some(true) => {}
                // What the file does not say is reported with the field.
                Some(false) if when.columns.ids().any(|source| self.is_unknown(source)) => {}
                Some(false) => return false,
                None => {
                    self.cells.clear();
                    self.report_bad(rule, unclear(), "");
                    return true;
                }
            }
        }
        if self.reports_cell(made, rule) {
            return true;
        }
        if let Some(constant) = &made.constant {
            self.put(made, constant.clone());
            return true;
        }
        self.values.clear();
        if rule.beside().next().is_some() {
            if let Err((bad, text)) = self.gather_paired(made.rule, rule) {
                self.report_bad(rule, bad, &text);
                return true;
            }
        } else {
            self.gather(rule.from.ids());
        }
        self.drop_placeholders(made);
        let cells = std::mem::take(&mut self.cells);
        let result = self.convert(made, rule, &cells);
        self.cells = cells;
        let result =
            result.and_then(|()| if made.convert.is_list() { self.list(made, rule) } else { Ok(self.values.pop()) });
        let value = match result {
            Err((bad, text)) => {
                self.report_bad(rule, bad, &text);
                return true;
            }
            Ok(value) => value.or_else(|| made.default.clone()),
        };
        let Some(value) = value else { return false };
        self.put(made, value);
        true
    }

    /// Removes texts that stand for no value, unless a value map of the mapping says what they mean.
    fn drop_placeholders(&mut self, made: &PlannedEntry) {
        let item = made.convert.item();
        let is_text = !matches!(item, Kind::Integer { .. } | Kind::Decimal { .. } | Kind::Measure { .. });
        let (placeholders, scratch) = (&self.bound.mapping.placeholders, &mut self.scratch);
        self.cells.retain(|PlacedText { text, .. }| {
            let is_one = placeholders.contain(text, scratch) || (is_text && is_zeros(text));
            !is_one || made.values.iter().any(|map| map.find(text, scratch).is_some())
        });
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
        cells: &[PlacedText<'a>],
    ) -> Result<(), (BadValue, String)> {
        self.cell = None;
        let joined = match (&rule.join, cells) {
            // A template may consist of other columns alone.
            (_, []) if rule.from.0.is_empty() => return self.text(made, rule, Cow::Borrowed("")),
            (_, []) => return Ok(()),
            (Some(join), _) => Some(cells.iter().map(|cell| cell.text).collect::<Vec<_>>().join(join)),
            (None, _) => None,
        };
        if made.convert.is_list() {
            if let Some(joined) = joined {
                let between = self.between(made, rule, &joined, || true);
                return each_item(&joined, between, |item| self.text(made, rule, Cow::Owned(item.to_owned())));
            }
            return cells.iter().try_for_each(|cell| {
                self.cell = Some(*cell);
                let is_only = || cells.iter().filter(|other| other.column == cell.column).nth(1).is_none();
                let between = self.between(made, rule, cell.text, is_only);
                each_item(cell.text, between, |item| self.text(made, rule, Cow::Borrowed(item)))
            });
        }
        if let Some(joined) = joined {
            return self.text(made, rule, Cow::Owned(joined));
        }
        let first = cells[0];
        self.cell = Some(first);
        if let Some(mark) = &rule.split {
            let part = first.text.split(&**mark).map(str::trim).find(|part| !part.is_empty());
            return self.text(made, rule, Cow::Borrowed(part.unwrap_or_default()));
        }
        if !rule.first {
            self.warn_of_others(made, first, cells);
        }
        self.text(made, rule, Cow::Borrowed(first.text))
    }

    /// What separates the items in a text of a list field.
    fn between<'r>(
        &mut self,
        made: &PlannedEntry,
        rule: &'r Rule,
        text: &str,
        is_only: impl Fn() -> bool,
    ) -> Between<'r> {
        match (&rule.split, *made.convert.item()) {
            (Some(mark), _) => Between::Mark(mark),
            (None, Kind::ImageAddress | Kind::Url { .. }) => Between::Addresses,
            (None, Kind::Text { without: Some(mark), .. })
                if is_only() && !made.values.iter().any(|map| map.find(text, &mut self.scratch).is_some()) =>
            {
                Between::Lines(mark)
            }
            _ => Between::Nothing,
        }
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
    fn filled(&mut self, parts: &[TemplatePart], value: &str, in_address: bool) -> Option<String> {
        let mut text = String::new();
        let (mut gaps, mut filled) = (0, 0);
        for part in parts {
            let part = match part {
                TemplatePart::Text(part) => {
                    text.push_str(part);
                    continue;
                }
                TemplatePart::Value => value,
                TemplatePart::Column(column) => self.value_beside(column).unwrap_or_else(|_| self.value_of(column.id)),
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
        let is_merged = self.row.is_merged();
        if unique || is_merged {
            remove_repeated(&mut values);
        }
        if values.len() < count && !is_merged {
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
        if let Some(beside @ Beside { column: Some(column), .. }) = &rule.unit
            && let Kind::Measure { units, .. } = made.convert.kind
        {
            let code = self.value_beside(column)?;
            let unit = beside.resolve(code, &mut self.scratch);
            with.unit = units::resolve(unit, units, &mut self.scratch);
            if with.unit.is_none() && !unit.is_empty() {
                return Err(unknown_unit(text, unit, with.noun, units));
            }
        }
        let currency = match &rule.currency {
            None => None,
            Some(Beside { column: None, always, .. }) => always.as_deref(),
            Some(beside @ Beside { column: Some(column), .. }) => {
                let code = self.value_beside(column)?;
                Some(beside.resolve(code, &mut self.scratch)).filter(|currency| !currency.is_empty())
            }
        };
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
        } else if made.values.iter().any(|map| map.is_unclear(text, scratch)) && !rule.otherwise.is_value() {
            let message = format!("\"{}\" means one thing in one language and another in others.", short(text));
            return Err(BadValue {
                reason: format!("unknown {}", made.noun),
                cure: Cure::ValueMap,
                ..BadValue::of_mapping(message)
            });
        } else if is_plain
            || made.convert.is_known(text, with, scratch)
            || made.convert.designated(text, with, scratch).is_some()
        {
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

/// A condition on values that disagree.
fn unclear() -> BadValue {
    BadValue::new(
        "a condition on several values",
        "Some values meet a condition of the mapping, and others do not.".to_owned(),
        "Say in the condition which ones count: several = \"any\" or several = \"all\".",
    )
}

fn html_of(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => html::to_text(text),
        Cow::Owned(text) => Cow::Owned(html::to_text(&text).into_owned()),
    }
}
