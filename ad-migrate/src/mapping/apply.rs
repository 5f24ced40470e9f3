//! A row as a payload. What cannot be made becomes a finding, and the rest is made all the same.

use std::borrow::Cow;

use ad_core::categories::ad_fields::MOST_IMAGES;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value;

use super::{
    Bound, Mapped,
    convert::{Bad, Convert, Cure, price, short, unknown_unit},
    html,
    plan::{Made, Plan},
    rule::{ConstantOrColumn, Otherwise, Rule, SourceId, TemplatePart, Test},
    target, units,
    vehicle::Vehicle,
};
use crate::{
    finding::{Finding, Severity},
    readers::{ColumnId, Row},
};

/// What a file name may not have in an address.
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

/// A row under way.
#[derive(Debug)]
pub(super) struct Work<'a> {
    bound: &'a Bound<'a>,
    row: Row<'a>,
    /// The values that the rule under way is about.
    cells: Vec<(ColumnId, &'a str)>,
    values: Vec<Value>,
    scratch: String,
    mapped: Mapped,
}

impl<'a> Work<'a> {
    pub(super) fn new(bound: &'a Bound<'a>, row: Row<'a>) -> Self {
        Self {
            bound,
            row,
            cells: Vec::new(),
            values: Vec::new(),
            scratch: String::with_capacity(32),
            mapped: Mapped::default(),
        }
    }

    /// Makes the payload.
    pub(super) fn run(mut self) -> Mapped {
        let mapping = self.bound.mapping;
        let Some(plan) = self.plan() else {
            // Without a vehicle type, what identifies the ad is told all the same.
            if let Some(plan) = mapping.plans.first() {
                let around = |made: &&Made| !mapping.rules[made.rule].target.starts_with("category_fields.");
                plan.fields.iter().filter(around).for_each(|made| self.field(made));
            }
            return self.mapped;
        };
        self.mapped.category = Some(plan.category);
        self.mapped.payload.insert("category_id".to_owned(), Value::from(plan.category.id));
        for made in &plan.fields {
            self.field(made);
        }
        self.mapped
    }

    /// The plan of the row's vehicle type.
    fn plan(&mut self) -> Option<&'a Plan> {
        let mapping = self.bound.mapping;
        let (from, map, otherwise) = match &mapping.vehicle {
            Vehicle::Always(index) => return mapping.plans.get(*index),
            Vehicle::By { from, map, otherwise } => (from, map, otherwise),
        };
        self.gather(from);
        let text = self.cells.first().map_or("", |(_, text)| text);
        let named = |name: &str| mapping.plans.iter().find(|plan| plan.category.vehicle_type == Some(name));
        let found = map.find(text, &mut self.scratch).and_then(|texts| named(texts.first()?)).or_else(|| named(text));
        let found = found.or_else(|| named(map.find_within(text)?.first()?));
        let found = found.or_else(|| mapping.plans.get((*otherwise)?));
        if found.is_none() {
            let types = mapping.plans.iter().filter_map(|plan| plan.category.vehicle_type);
            let allowed = ad_core::violation::nearest::quoted(types);
            let finding = Finding {
                severity: Severity::Error,
                reason: "unknown vehicle type".to_owned(),
                columns: self.columns(from),
                value: (!text.is_empty()).then(|| short(text).into_owned()),
                field: Some("category_id".to_owned()),
                message: if text.is_empty() {
                    "Nothing says what type of vehicle it is.".to_owned()
                } else {
                    format!("\"{}\" is not a vehicle type of this mapping.", short(text))
                },
                advice: Some(format!("Add it to the values of [vehicle] (now {allowed}), or set otherwise = \"…\".")),
            };
            self.mapped.findings.push(finding);
        }
        found
    }

    /// Collects the values of columns that are not empty.
    fn gather(&mut self, from: &[SourceId]) {
        self.cells.clear();
        for source in from {
            for column in &self.bound.resolved[*source] {
                for text in self.row.values(*column) {
                    let text = text.trim();
                    if !text.is_empty() {
                        self.cells.push((*column, text));
                    }
                }
            }
        }
    }

    /// The first value of a column.
    fn value_of(&self, source: SourceId) -> &'a str {
        let row = self.row;
        let all = self.bound.resolved[source].iter().flat_map(|column| row.values(*column));
        all.map(str::trim).find(|text| !text.is_empty()).unwrap_or_default()
    }

    fn field(&mut self, made: &Made) {
        let rule = &self.bound.mapping.rules[made.rule];
        if rule.when.as_ref().is_some_and(|when| !self.holds(when.column, &when.test)) {
            return;
        }
        if let Some(constant) = &made.constant {
            return self.put(made, constant.clone());
        }
        self.gather(&rule.from);
        self.values.clear();
        let result =
            if let Convert::List { .. } = made.convert { self.list(made, rule) } else { self.single(made, rule) };
        match result {
            Err((bad, text)) => self.bad(made, bad, &text),
            Ok(Some(value)) => self.put(made, value),
            Ok(None) => {
                if let Some(default) = &made.default {
                    self.put(made, default.clone());
                }
            }
        }
    }

    fn holds(&mut self, column: SourceId, test: &Test) -> bool {
        let said = self.value_of(column);
        super::fold::fold_into(said, &mut self.scratch);
        let is_one = |of: &[Box<str>]| of.iter().any(|it| **it == *self.scratch);
        match test {
            Test::Filled => !said.is_empty(),
            Test::Empty => said.is_empty(),
            Test::Is(of) => is_one(of),
            Test::Not(of) => !is_one(of),
        }
    }

    fn put(&mut self, made: &Made, value: Value) {
        if made.target.price.is_some() {
            match self.mapped.payload.get_mut("price") {
                Some(Value::Array(prices)) => prices.push(value),
                _ => {
                    self.mapped.payload.insert("price".to_owned(), Value::Array(vec![value]));
                }
            }
        } else {
            target::put(&mut self.mapped.payload, &made.target.steps, value);
        }
    }

    /// The value of a field that takes one.
    fn single(&mut self, made: &Made, rule: &Rule) -> Result<Option<Value>, (Bad, String)> {
        let Some(text) = self.text(made, rule) else { return Ok(None) };
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        self.resolve(made, rule, text).map_err(|bad| (bad, text.to_owned()))?;
        Ok(self.values.pop())
    }

    /// The text that a field is made of.
    fn text(&mut self, made: &Made, rule: &Rule) -> Option<Cow<'a, str>> {
        let text = match (&rule.join, self.cells.first()) {
            (Some(join), Some(_)) => {
                let texts: Vec<&str> = self.cells.iter().map(|(_, text)| *text).collect();
                Cow::Owned(texts.join(join))
            }
            (_, Some((column, first))) => {
                let mut first = *first;
                if let Some(mark) = &rule.split {
                    first = first.split(&**mark).map(str::trim).find(|part| !part.is_empty())?;
                } else if !rule.first {
                    self.warn_of_others(made, *column, first);
                }
                Cow::Borrowed(first)
            }
            // A template may be made of other columns alone.
            (_, None) if rule.template.is_some() && rule.from.is_empty() => Cow::Borrowed(""),
            _ => return None,
        };
        let text = if rule.html { html_of(text) } else { text };
        match &rule.template {
            Some(pieces) if !(is_address(&made.convert) && has_scheme(&text)) => {
                self.filled(pieces, &text, is_address(&made.convert)).map(Cow::Owned)
            }
            _ => Some(text),
        }
    }

    /// A template with its gaps filled; nothing where all of them stay empty.
    fn filled(&self, pieces: &[TemplatePart], value: &str, in_address: bool) -> Option<String> {
        let mut text = String::new();
        let (mut gaps, mut filled) = (0, 0);
        for piece in pieces {
            let part = match piece {
                TemplatePart::Text(part) => {
                    text.push_str(part);
                    continue;
                }
                TemplatePart::Value => value,
                TemplatePart::Column(source) => self.value_of(*source),
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

    /// Several different values for a field that takes one.
    fn warn_of_others(&mut self, made: &Made, column: ColumnId, first: &str) {
        let others = self.cells.iter().filter(|(of, text)| *of == column && *text != first).count();
        if others > 0 {
            let finding = Finding {
                severity: Severity::Warning,
                reason: format!("several values for {}", made.noun),
                columns: vec![self.row.columns().name(column).to_owned()],
                value: Some(short(first).into_owned()),
                field: Some(self.bound.mapping.rules[made.rule].target.to_string()),
                message: format!("The column has {} values; the first is used.", others + 1),
                advice: Some("If this is intended, set first = true in the mapping, or join = \", \".".to_owned()),
            };
            self.mapped.findings.push(finding);
        }
    }

    /// The values of a field that takes several.
    fn list(&mut self, made: &Made, rule: &Rule) -> Result<Option<Value>, (Bad, String)> {
        let is_image = matches!(made.convert.item(), Convert::Image);
        let cells = std::mem::take(&mut self.cells);
        let mut result = Ok(());
        'cells: for (_, text) in &cells {
            let mut parts = rule.split.as_ref().map(|mark| text.split(&**mark));
            let mut whole = Some(*text).filter(|_| parts.is_none());
            while let Some(part) = whole.take().or_else(|| parts.as_mut().and_then(Iterator::next)) {
                let part = part.trim();
                if part.is_empty() {
                    continue;
                }
                if let Err(bad) = self.item(made, rule, part) {
                    result = Err((bad, part.to_owned()));
                    break 'cells;
                }
            }
        }
        self.cells = cells;
        result?;
        let Convert::List { max, unique, .. } = made.convert else { return Ok(None) };
        let mut values = std::mem::take(&mut self.values);
        if unique {
            self.without_repeated(made, &mut values);
        }
        if let Some(most) = rule.max {
            self.cut(made, &mut values, most);
        }
        if is_image {
            images(&values, max).map_err(|bad| {
                let first = values.first().and_then(Value::as_str).unwrap_or_default();
                (bad, first.to_owned())
            })?;
        }
        Ok((!values.is_empty()).then_some(Value::Array(values)))
    }

    /// One value of a list.
    fn item(&mut self, made: &Made, rule: &Rule, part: &str) -> Result<(), Bad> {
        let text = if rule.html { html_of(Cow::Borrowed(part)) } else { Cow::Borrowed(part) };
        match &rule.template {
            Some(pieces) if !(is_address(&made.convert) && has_scheme(&text)) => {
                match self.filled(pieces, &text, is_address(&made.convert)) {
                    Some(text) => self.resolve(made, rule, &text),
                    None => Ok(()),
                }
            }
            _ => self.resolve(made, rule, &text),
        }
    }

    /// Drops equal values of a list that takes each once.
    fn without_repeated(&mut self, made: &Made, values: &mut Vec<Value>) {
        let before = values.len();
        let mut index = 0;
        while index < values.len() {
            let is_repeated = values[..index].contains(&values[index]);
            // A hostile row is not compared without end; the rules have the rest.
            if is_repeated && before <= 1000 {
                values.remove(index);
            } else {
                index += 1;
            }
            if index > 1000 {
                break;
            }
        }
        let dropped = before - values.len();
        if dropped > 0 {
            self.warn(
                made,
                format!("{} occurs twice", made.noun),
                format!("{dropped} equal values are skipped."),
                None,
            );
        }
    }

    /// Cuts a list to the length that the mapping says.
    fn cut(&mut self, made: &Made, values: &mut Vec<Value>, most: usize) {
        let before = values.len();
        if before > most {
            values.truncate(most);
            let message =
                format!("The row has {before} values; the first {most} are used, because the mapping sets max.");
            self.warn(made, format!("{} list is cut", made.noun), message, None);
        }
    }

    fn warn(&mut self, made: &Made, reason: String, message: String, advice: Option<String>) {
        let rule = &self.bound.mapping.rules[made.rule];
        let columns = self.columns_with_values(rule);
        self.mapped.findings.push(Finding {
            severity: Severity::Warning,
            reason,
            columns,
            value: None,
            field: Some(rule.target.to_string()),
            message,
            advice,
        });
    }

    /// Puts what a text stands for among the values.
    fn resolve(&mut self, made: &Made, rule: &Rule, text: &str) -> Result<(), Bad> {
        let mapping = self.bound.mapping;
        let mut with = made.with(rule, mapping.decimal);
        if let Some(ConstantOrColumn::Column(source)) = &rule.unit
            && let Convert::Measure { units, .. } = made.convert
        {
            let unit = self.value_of(*source);
            with.unit = units::find(unit, units, &mut self.scratch);
            if with.unit.is_none() && !unit.is_empty() {
                return Err(unknown_unit(text, unit, with.noun, units));
            }
        }
        let payload = std::mem::take(&mut self.mapped.payload);
        if matches!(made.convert, Convert::Model(_)) {
            with.brand = target::text_at(&payload, ["category_fields", "brand"]);
        }
        let told = match (&rule.currency, made.target.price) {
            (Some(ConstantOrColumn::Always(currency)), Some(_)) => Some(&**currency),
            (Some(ConstantOrColumn::Column(source)), Some(_)) => {
                Some(self.value_of(*source)).filter(|text| !text.is_empty())
            }
            _ => None,
        };
        let scratch = &mut self.scratch;
        let values = &mut self.values;
        let mut take = |text: &str, scratch: &mut String| {
            let value = match made.target.price {
                Some(of) => price(text, of, &made.convert, told, with)?,
                None => made.convert.item().value(text, with, scratch)?,
            };
            if !matches!(&value, Value::String(text) if text.is_empty()) {
                values.push(value);
            }
            Ok(())
        };
        let result = (|| {
            for map in &made.values {
                if let Some(texts) = map.find(text, scratch) {
                    return texts.iter().try_for_each(|text| take(text, scratch));
                }
            }
            if !made.values.is_empty() {
                if made.convert.item().known(text, with, scratch).is_some() {
                    return take(text, scratch);
                }
                if let Some(texts) = made.values.iter().find_map(|map| map.find_within(text)) {
                    return texts.iter().try_for_each(|text| take(text, scratch));
                }
            }
            match &rule.otherwise {
                Otherwise::Itself => take(text, scratch),
                Otherwise::Skip => match made.convert.item().known(text, with, scratch) {
                    Some(_) => take(text, scratch),
                    None => Ok(()),
                },
                Otherwise::Texts(texts) => match made.convert.item().known(text, with, scratch) {
                    Some(_) => take(text, scratch),
                    None => texts.iter().try_for_each(|text| take(text, scratch)),
                },
                Otherwise::Error => match made.convert.item() {
                    Convert::OneOf(_) | Convert::Model(_) => take(text, scratch),
                    _ => Err(Bad {
                        reason: format!("unknown {}", made.noun),
                        message: format!("No value map contains \"{}\".", short(text)),
                        advice: None,
                        cure: Cure::Mapping,
                    }),
                },
            }
        })();
        self.mapped.payload = payload;
        result
    }

    /// Says why a field could not be made.
    fn bad(&mut self, made: &Made, bad: Bad, text: &str) {
        let rule = &self.bound.mapping.rules[made.rule];
        let is_of_map = bad.cure == Cure::ValueMap;
        let line = format!("To map it, add the line \"{}\" = \"…\" to the values of \"{}\".", short(text), rule.target);
        let advice = match bad.advice {
            Some(hint) if is_of_map => Some(format!("{hint} {line}")),
            None if is_of_map => Some(line),
            advice => advice,
        };
        let finding = Finding {
            severity: Severity::Error,
            reason: bad.reason,
            columns: self.columns_of_text(rule, text),
            value: Some(short(text).into_owned()),
            field: Some(rule.target.to_string()),
            message: bad.message,
            advice,
        };
        self.mapped.findings.push(finding);
    }

    /// The columns in which a text stands; all that have a value, where it was made of several.
    fn columns_of_text(&self, rule: &Rule, text: &str) -> Vec<String> {
        let holds = |(_, cell): &&(ColumnId, &str)| cell.contains(text);
        match self.cells.iter().find(holds) {
            Some((column, _)) => vec![self.row.columns().name(*column).to_owned()],
            None => self.columns_with_values(rule),
        }
    }

    fn columns_with_values(&self, rule: &Rule) -> Vec<String> {
        let mut columns: Vec<String> = Vec::new();
        let filled = |column: &ColumnId| self.row.values(*column).any(|text| !text.trim().is_empty());
        for column in rule.sources().flat_map(|source| &self.bound.resolved[source]).filter(|column| filled(column)) {
            let name = self.row.columns().name(*column);
            if !columns.iter().any(|known| known == name) {
                columns.push(name.to_owned());
            }
        }
        columns
    }

    fn columns(&self, from: &[SourceId]) -> Vec<String> {
        let all = from.iter().flat_map(|source| &self.bound.resolved[*source]);
        all.map(|column| self.row.columns().name(*column).to_owned()).collect()
    }
}

/// HTML as text, where it is any.
fn html_of(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => html::to_text(text),
        Cow::Owned(text) => Cow::Owned(html::to_text(&text).into_owned()),
    }
}

fn is_address(convert: &Convert) -> bool {
    matches!(convert.item(), Convert::Address | Convert::Image)
}

/// Whether a text begins as an address does.
fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// What is wrong with the images of an ad.
fn images(values: &[Value], most: usize) -> Result<(), Bad> {
    let texts = || values.iter().filter_map(Value::as_str);
    let names = texts().filter(|text| !has_scheme(text)).count();
    let bad = |reason: &str, message: String, advice: &str| {
        Err(Bad { reason: reason.to_owned(), message, advice: Some(advice.to_owned()), cure: Cure::Mapping })
    };
    if names > 0 {
        return bad(
            "images are file names, not addresses",
            format!("{names} of {} images are file names.", values.len()),
            "Put the images on a web server, and set in the mapping: template = \"https://…/{value}\".",
        );
    }
    let is_plain = |text: &str| text.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let plain = texts().filter(|text| is_plain(text)).count();
    if plain > 0 {
        return bad(
            "image address is not https",
            format!("{plain} of {} images have an address that begins with http://.", values.len()),
            "Use addresses that begin with https://.",
        );
    }
    if values.len() > most {
        return bad(
            "too many images",
            format!("{} images, at most {most} are allowed.", values.len()),
            if most == MOST_IMAGES {
                "Choose 20, or set max = 20 in the mapping to use the first ones."
            } else {
                "Choose fewer, or set \"max\" in the mapping to use the first ones."
            },
        );
    }
    Ok(())
}
