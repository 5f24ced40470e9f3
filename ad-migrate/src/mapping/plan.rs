//! Rules held against the tables of a category: what is made of which texts, and all that is wrong with that before any row is read.

use ad_core::{catalogue::Catalogue, categories::Category, fields::Kind};
use serde_json::Value;

use super::{
    convert::{Bad, Convert, Cure, With, price},
    lookup::Lookups,
    problems::Problems,
    rule::{ConstantOrColumn, MapName, Otherwise, OwnMap, Rule, RuleReader},
    target::{self, NoTarget, Target},
    units,
    values::ValueMap,
};

/// What the ads of one category are made of.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) category: &'static Category,
    pub(super) fields: Vec<Made>,
}

/// A rule for the field of one category.
#[derive(Debug)]
pub(super) struct Made {
    /// The place of the rule.
    pub(super) rule: usize,
    pub(super) target: Target,
    pub(super) convert: Convert,
    pub(super) values: Vec<ValueMap>,
    pub(super) constant: Option<Value>,
    pub(super) default: Option<Value>,
    pub(super) noun: Box<str>,
    pub(super) unit: Option<&'static str>,
    pub(super) to: Option<&'static str>,
}

/// What a field is called in sentences: `model year`, `fuel`, `list price`.
pub(super) fn noun(path: &str, kind: &Kind) -> Box<str> {
    if let Some(of) = path.strip_prefix("price.") {
        return format!("{of} price").into();
    }
    let name = path.rsplit('.').next().unwrap_or(path).replace('_', " ");
    match kind {
        Kind::List { .. } => name.strip_suffix('s').unwrap_or(&name).into(),
        _ => name.into(),
    }
}

impl Made {
    /// What its conversions need to know.
    pub(super) fn with<'a>(&'a self, rule: &'a Rule, decimal: Option<char>) -> With<'a> {
        With {
            noun: &self.noun,
            decimal: rule.decimal.or(decimal),
            form: rule.date.as_ref(),
            year: rule.year,
            unit: self.unit,
            to: self.to,
            brand: None,
        }
    }

    /// The value that texts of the mapping itself stand for.
    fn told(&self, texts: &[Box<str>], rule: &Rule, scratch: &mut String) -> Result<Option<Value>, Bad> {
        let with = self.with(rule, Some('.'));
        let mut one = |text: &str| match (&self.convert, self.target.price) {
            (Convert::Model(models), _) if !models.has(text, scratch) => Err(Bad {
                reason: String::new(),
                message: format!("No brand has the model \"{text}\"."),
                advice: None,
                cure: Cure::Mapping,
            }),
            (amount, Some(of)) => {
                let currency = rule.currency.as_ref().and_then(|told| match told {
                    ConstantOrColumn::Always(currency) => Some(&**currency),
                    ConstantOrColumn::Column(_) => None,
                });
                price(text, of, amount, currency, with)
            }
            (convert, None) => convert.value(text, with, scratch),
        };
        if let Convert::List { .. } = self.convert {
            let values: Vec<Value> = texts.iter().map(|text| one(text)).collect::<Result<_, _>>()?;
            return Ok((!values.is_empty()).then_some(Value::Array(values)));
        }
        match texts {
            [] => Ok(None),
            [text] => one(text).map(Some),
            _ => Err(Bad {
                reason: String::new(),
                message: format!("{} values for {}, which takes one.", texts.len(), rule.target),
                advice: None,
                cure: Cure::Mapping,
            }),
        }
    }
}

/// Holds rules against tables.
#[derive(Debug)]
pub(super) struct Planner<'a, 'i> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) problems: &'a mut Problems<'i>,
    pub(super) maps: &'a [OwnMap],
    lookups: Lookups,
    scratch: String,
}

impl<'a, 'i> Planner<'a, 'i> {
    pub(super) fn new(catalogue: &'a Catalogue, reader: &'a mut RuleReader<'i>) -> Self {
        let RuleReader { problems, maps, .. } = reader;
        Self { catalogue, problems, maps, lookups: Lookups::default(), scratch: String::new() }
    }

    /// The plans of all categories that ads may be of.
    pub(super) fn plans(&mut self, rules: &[Rule], categories: &[&'static Category]) -> Vec<Plan> {
        let mut plans: Vec<Plan> = categories.iter().map(|category| Plan { category, fields: Vec::new() }).collect();
        for (index, rule) in rules.iter().enumerate() {
            let found: Vec<_> = categories.iter().map(|category| target::find(category, &rule.target)).collect();
            if found.iter().all(Result::is_err) {
                self.no_target(rule, &found, categories);
                continue;
            }
            let mut wrong = Wrong::default();
            for (plan, target) in plans.iter_mut().zip(found) {
                if let Ok(target) = target
                    && let Some(made) = self.made(index, rule, target, plan.category, &mut wrong)
                {
                    plan.fields.push(made);
                }
            }
            wrong.tell(self.problems);
        }
        for plan in &mut plans {
            // A model is one of its brand, so the brand comes first.
            plan.fields.sort_by_key(|made| matches!(made.convert, Convert::Model(_)));
        }
        plans
    }

    fn no_target(&mut self, rule: &Rule, found: &[Result<Target, NoTarget>], categories: &[&'static Category]) {
        let reason = found.iter().find_map(|found| match found {
            Err(NoTarget::NotSet(why)) => Some(why.clone()),
            _ => None,
        });
        let of = match categories {
            [category] => category.to_string(),
            _ => "the vehicle types of this mapping".to_owned(),
        };
        let message = if let Some(why) = reason {
            format!("\"{}\" cannot be mapped. {why}", rule.target)
        } else {
            let hint = target::hint(categories, &rule.target).unwrap_or_default();
            format!("\"{}\" is not a field of {of}. {hint}", rule.target)
        };
        self.problems.on(rule.line, message.trim_end());
    }

    fn made(
        &mut self,
        index: usize,
        rule: &Rule,
        target: Target,
        category: &'static Category,
        wrong: &mut Wrong,
    ) -> Option<Made> {
        let brands = category.field("brand").and_then(|field| match field.kind {
            Kind::Slug { list } => Some(list),
            _ => None,
        });
        let convert = Convert::of(&target.kind, self.catalogue, brands, &mut self.lookups)?;
        let noun = noun(&rule.target, &target.kind);
        let mut made = Made {
            rule: index,
            target,
            convert,
            values: Vec::new(),
            constant: None,
            default: None,
            noun,
            unit: None,
            to: None,
        };
        self.fits(rule, &made);
        self.units(rule, &mut made);
        for texts in [&rule.constant, &rule.default].into_iter().flatten() {
            self.check_told(rule, &made, texts);
        }
        if let Otherwise::Texts(texts) = &rule.otherwise {
            self.check_told(rule, &made, texts);
        }
        let mut told = |texts: &Option<Vec<Box<str>>>| {
            texts.as_ref().and_then(|texts| made.told(texts, rule, &mut self.scratch).ok().flatten())
        };
        let (constant, default) = (told(&rule.constant), told(&rule.default));
        let values = rule.values.iter().map(|name| self.map(*name, rule, &made, category, wrong)).collect();
        Some(Made { values, constant, default, ..made })
    }

    fn check_told(&mut self, rule: &Rule, made: &Made, texts: &[Box<str>]) {
        if let Err(bad) = made.told(texts, rule, &mut self.scratch) {
            self.problems.on(rule.line, format!("\"{}\": {}", rule.target, sentence(&bad)));
        }
    }

    /// Whether the options of a rule are for fields of this kind.
    fn fits(&mut self, rule: &Rule, made: &Made) {
        let item = made.convert.item();
        let is_list = matches!(made.convert, Convert::List { .. });
        let is_number = matches!(item, Convert::Integer { .. } | Convert::Decimal { .. } | Convert::Measure { .. });
        let is_measure = matches!(item, Convert::Measure { .. });
        let options: [(&str, bool, bool, &str); 10] = [
            ("unit", rule.unit.is_some(), is_measure, "measures"),
            ("as", rule.to.is_some(), is_measure, "measures"),
            ("currency", rule.currency.is_some(), made.target.price.is_some(), "prices"),
            ("decimal", rule.decimal.is_some(), is_number, "numbers"),
            ("date", rule.date.is_some(), matches!(item, Convert::Date), "dates"),
            ("year", rule.year, matches!(item, Convert::Integer { .. }), "whole numbers"),
            ("html", rule.html, matches!(item, Convert::Text { .. }), "texts"),
            ("max", rule.max.is_some(), is_list, "lists"),
            ("join", rule.join.is_some(), !is_list, "fields that are not lists"),
            ("split", rule.split.is_some(), is_list || rule.first, "lists; with first = true, the first part is taken"),
        ];
        for (name, is_said, fits, of) in options {
            if is_said && !fits {
                self.problems
                    .on(rule.line, format!("\"{name}\" is for {of}, but \"{}\" is not one of them.", rule.target));
            }
        }
    }

    fn units(&mut self, rule: &Rule, made: &mut Made) {
        let Convert::Measure { units, .. } = made.convert else { return };
        let mut unit = |text: &str| {
            let found = units::find(text, units, &mut self.scratch);
            if found.is_none() {
                let allowed = ad_core::violation::nearest::quoted(units.iter().copied());
                let message = format!("\"{text}\" is not a unit of \"{}\". Units: {allowed}.", rule.target);
                self.problems.on(rule.line, message);
            }
            found
        };
        if let Some(ConstantOrColumn::Always(text)) = &rule.unit {
            made.unit = unit(text);
        }
        made.to = rule.to.as_ref().and_then(|to| unit(to));
        if let (Some(from), Some(to)) = (made.unit, made.to)
            && units::factor(from, to).is_none()
        {
            let message = format!("\"{}\" cannot be converted exactly from {from} to {to}; omit \"as\".", rule.target);
            self.problems.on(rule.line, message);
        }
    }

    /// A map as it is asked for the field of a category.
    fn map(
        &mut self,
        name: MapName,
        rule: &Rule,
        made: &Made,
        category: &'static Category,
        wrong: &mut Wrong,
    ) -> ValueMap {
        let scratch = &mut self.scratch;
        match name {
            MapName::Builtin(map) => {
                let is_list = matches!(made.convert, Convert::List { .. });
                let vehicle_type = category.vehicle_type.unwrap_or_default();
                let mut is_allowed = |value: &str| made.told(&[value.into()], rule, scratch).is_ok();
                let map = map.map(vehicle_type, &mut is_allowed);
                // Several values are for lists.
                if is_list { map } else { map.of_one() }
            }
            MapName::Own(index) => {
                let map = &self.maps[index];
                let mut check = |entry: &&(Box<str>, Vec<Box<str>>, usize)| {
                    let (term, values, line) = *entry;
                    let result = made.told(values, rule, scratch);
                    wrong.note(*line, term, &rule.target, result.as_ref().err());
                    result.is_ok()
                };
                let entries = map.entries.iter().filter(&mut check);
                ValueMap::own(entries.map(|(term, values, _)| (term.clone(), values.clone().into())))
            }
        }
    }
}

/// A bad value of the mapping itself, as a sentence.
fn sentence(bad: &Bad) -> String {
    match &bad.advice {
        Some(advice) if bad.cure != Cure::File => format!("{} {advice}", bad.message),
        _ => bad.message.clone(),
    }
}

/// Entries of own maps that no category takes: line, whether one did, and what is wrong.
#[derive(Debug, Default)]
struct Wrong(Vec<(usize, bool, String)>);

impl Wrong {
    fn note(&mut self, line: usize, term: &str, target: &str, bad: Option<&Bad>) {
        let message = bad.map(|bad| format!("Value of \"{term}\" for \"{target}\": {}", sentence(bad)));
        match self.0.iter_mut().find(|(known, _, said)| *known == line && said.contains(&format!("\"{term}\""))) {
            Some((_, is_right, _)) => *is_right |= bad.is_none(),
            None => self.0.push((line, bad.is_none(), message.unwrap_or_else(|| format!("\"{term}\"")))),
        }
    }

    fn tell(self, problems: &mut Problems<'_>) {
        for (line, is_right, message) in self.0 {
            if !is_right {
                problems.on(line, message);
            }
        }
    }
}
