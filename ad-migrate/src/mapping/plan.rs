//! Checks the entries of a mapping against the tables of each category, and prepares their conversions, before any row is read.

use ad_core::{
    catalogue::Catalogue, categories::Category, fields::Kind, synonyms::languages::Language, violation::nearest,
};
use serde_json::Value;

use super::{
    convert::{BadValue, Convert, Cure, With, price},
    lookup::Lookups,
    name::{NamePart, NameParts},
    problems::Problems,
    rule::{ByType, DecimalMark, Fallback, FoundMap, MapSource, OwnMaps, Rule, Texts},
    target::{self, NoTarget, Target},
    units,
    values::ValueMap,
};

/// The fields of the ads of one category.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) category: &'static Category,
    pub(super) fields: Vec<PlannedEntry>,
}

/// An entry of the mapping for one category.
#[derive(Debug)]
pub(super) struct PlannedEntry {
    /// The index of the entry.
    pub(super) rule: usize,
    pub(super) target: Target,
    pub(super) convert: Convert,
    pub(super) values: Vec<ValueMap>,
    pub(super) constant: Option<Value>,
    pub(super) default: Option<Value>,
    pub(super) noun: Box<str>,
    pub(super) unit: Option<&'static str>,
    pub(super) default_unit: Option<&'static str>,
    /// The part of a vehicle's name that the field takes.
    pub(super) name: Option<NameParts>,
    pub(super) to: Option<&'static str>,
}

/// The name of a field in sentences: `model year`, `fuel`, `list price`.
fn noun(path: &str, kind: &Kind) -> Box<str> {
    if let Some(of) = path.strip_prefix("price.") {
        return format!("{of} price").into();
    }
    let name = path.rsplit('.').next().unwrap_or(path).replace('_', " ");
    match kind {
        Kind::List { .. } => name.strip_suffix('s').unwrap_or(&name).into(),
        _ => name.into(),
    }
}

impl PlannedEntry {
    /// The settings of its conversions.
    pub(super) fn with<'a>(&'a self, rule: &'a Rule, decimal: Option<DecimalMark>) -> With<'a> {
        With {
            noun: &self.noun,
            decimal: rule.decimal.or(decimal).map(char::from),
            form: rule.date.as_ref(),
            year: rule.year,
            zone: rule.zone.as_ref(),
            scale: rule.scale.map(|scale| scale.0),
            unit: self.unit,
            default_unit: self.default_unit,
            default_currency: rule.currency.as_ref().and_then(|currency| currency.default.as_deref()),
            to: self.to,
            brand: None,
        }
    }

    /// The value of texts of the mapping itself.
    fn value(&self, texts: &Texts, rule: &Rule, scratch: &mut String) -> Result<Option<Value>, BadValue> {
        // The mapping writes amounts as they are sent.
        let with = With { scale: None, ..self.with(rule, Some(DecimalMark::Point)) };
        let mut one = |text: &str| match (self.convert.models(), self.target.price) {
            (Some(models), _) if !models.has(text, scratch) => {
                Err(BadValue::of_mapping(format!("No brand has the model \"{text}\".")))
            }
            (_, Some(of)) => {
                let currency = rule.currency.as_ref().and_then(|currency| currency.always.as_deref());
                price(text, of, &self.convert, currency, with)
            }
            _ => self.convert.value(text, with, scratch),
        };
        match texts.0.as_slice() {
            [] => Ok(None),
            texts if self.convert.is_list() => {
                texts.iter().map(|text| one(text)).collect::<Result<_, _>>().map(Value::Array).map(Some)
            }
            [text] => one(text).map(Some),
            texts => Err(BadValue::of_mapping(format!("{} values for {}, which takes one.", texts.len(), rule.target))),
        }
    }
}

/// Checks the entries of a mapping against the tables of the categories.
#[derive(Debug)]
pub(super) struct Planner<'a, 'i> {
    catalogue: &'a Catalogue,
    problems: &'a mut Problems<'i>,
    maps: &'a OwnMaps,
    language: Language,
    lookups: Lookups,
    scratch: String,
}

impl<'a, 'i> Planner<'a, 'i> {
    pub(super) fn new(
        catalogue: &'a Catalogue,
        problems: &'a mut Problems<'i>,
        maps: &'a OwnMaps,
        language: Language,
    ) -> Self {
        Self { catalogue, problems, maps, language, lookups: Lookups::default(), scratch: String::new() }
    }

    /// The plans of all categories that ads may be of.
    pub(super) fn plans(&mut self, rules: &[Rule], categories: &[&'static Category]) -> Vec<Plan> {
        let mut plans: Vec<Plan> = categories.iter().map(|category| Plan { category, fields: Vec::new() }).collect();
        for (index, rule) in rules.iter().enumerate() {
            self.types(rule, categories);
            let found: Vec<_> = categories.iter().map(|category| target::find(category, &rule.target)).collect();
            if found.iter().all(Result::is_err) {
                self.no_target(rule, &found, categories);
                continue;
            }
            let made = found.into_iter().zip(categories).map(|(target, category)| {
                let made = self.made(index, rule, target.ok()?, category);
                Some((*category, made))
            });
            let mut made: Vec<Option<(&Category, PlannedEntry)>> = made.collect();
            for source in &rule.values.0 {
                self.add_map(source, rule, &mut made);
            }
            for (plan, made) in plans.iter_mut().zip(made) {
                plan.fields.extend(made.map(|(_, made)| made));
            }
        }
        for plan in &mut plans {
            // A model depends on the brand, so the brand comes first.
            plan.fields.sort_by_key(|made| made.convert.models().is_some());
        }
        plans
    }

    fn no_target(&mut self, rule: &Rule, found: &[Result<Target, NoTarget>], categories: &[&'static Category]) {
        let reason = found.iter().find_map(|found| match found {
            Err(NoTarget::NotSet(why)) => Some(why),
            _ => None,
        });
        let of = match categories {
            [category] => category.to_string(),
            _ => "the vehicle types of this mapping".to_owned(),
        };
        let message = if let Some(why) = reason {
            format!("\"{}\" cannot be mapped. {why}", rule.target)
        } else {
            let hint = (!self.problems.is_full()).then(|| target::hint(categories, &rule.target)).flatten();
            let hint = hint.unwrap_or_default();
            format!("\"{}\" is not a field of {of}. {hint}", rule.target)
        };
        self.problems.on(rule.at, message.trim_end());
    }

    fn made(&mut self, index: usize, rule: &Rule, target: Target, category: &'static Category) -> PlannedEntry {
        let brands = category.field("brand").and_then(|field| match field.kind {
            Kind::Slug { list } => Some(list),
            _ => None,
        });
        let convert = Convert::of(target.kind, self.catalogue, brands, &mut self.lookups);
        let noun = noun(&rule.target, &target.kind);
        let (values, constant, default) = (Vec::new(), None, None);
        let name = self.name_part(rule, category, brands);
        self.fits(rule, &target, &convert);
        let [unit, default_unit, to] = self.units(rule, &convert);
        let made = PlannedEntry {
            rule: index,
            target,
            convert,
            values,
            constant,
            default,
            noun,
            unit,
            default_unit,
            name,
            to,
        };
        let of_type =
            |texts: &'_ Option<ByType>| texts.as_ref().and_then(|texts| texts.of(category.vehicle_type)).cloned();
        let constant = self.constant(rule, &made, of_type(&rule.constant).as_ref());
        let default = self.constant(rule, &made, of_type(&rule.default).as_ref());
        if let Fallback::Texts(texts) = &rule.otherwise {
            self.constant(rule, &made, Some(texts));
        }
        PlannedEntry { constant, default, ..made }
    }

    fn name_part(
        &mut self,
        rule: &Rule,
        category: &'static Category,
        brands: Option<&'static str>,
    ) -> Option<NameParts> {
        if !rule.vehicle_name {
            return None;
        }
        let part = match &*rule.target {
            "category_fields.brand" => NamePart::Brand,
            "category_fields.model" => NamePart::Model,
            "category_fields.model_type" => NamePart::Rest,
            target => {
                let message = format!("\"vehicle_name\" is for brand, model and model_type, but not for \"{target}\".");
                self.problems.on(rule.at, message);
                return None;
            }
        };
        let brands = brands?;
        let models = category.field("model").and_then(|field| match field.kind {
            Kind::Model { list } => Some(self.lookups.models(self.catalogue, list, brands)),
            _ => None,
        });
        Some(NameParts { part, brands: self.lookups.list(self.catalogue, brands), models })
    }

    /// Checks the vehicle types by which an entry has constants.
    fn types(&mut self, rule: &Rule, categories: &[&'static Category]) {
        let known = || categories.iter().filter_map(|category| category.vehicle_type);
        for name in [&rule.constant, &rule.default].into_iter().flatten().flat_map(ByType::types) {
            if !known().any(|known| known == name) {
                let hint = nearest::did_you_mean(name, known())
                    .unwrap_or_else(|| format!("There are {} and \"all\".", nearest::quoted(known())));
                let message = format!("\"{}\": \"{name}\" is not a vehicle type of this mapping. {hint}", rule.target);
                self.problems.on(rule.at, message);
            }
        }
    }

    /// The value of texts of the mapping itself; an error is added to the problems.
    fn constant(&mut self, rule: &Rule, made: &PlannedEntry, texts: Option<&Texts>) -> Option<Value> {
        made.value(texts?, rule, &mut self.scratch).unwrap_or_else(|bad| {
            self.problems.on(rule.at, format!("\"{}\": {}", rule.target, sentence(&bad)));
            None
        })
    }

    /// Checks that the options of an entry are for fields of this kind.
    fn fits(&mut self, rule: &Rule, target: &Target, convert: &Convert) {
        let (item, is_list) = (convert.item(), convert.is_list());
        let is_number = matches!(item, Kind::Integer { .. } | Kind::Decimal { .. } | Kind::Measure { .. });
        let is_text = matches!(item, Kind::Text { .. } | Kind::Email { .. });
        let is_measure = matches!(item, Kind::Measure { .. });
        let options: [(&str, bool, bool, &str); 13] = [
            ("unit", rule.unit.is_some(), is_measure, "measures"),
            ("as", rule.to.is_some(), is_measure, "measures"),
            ("currency", rule.currency.is_some(), target.price.is_some(), "prices"),
            ("decimal", rule.decimal.is_some(), is_number, "numbers"),
            ("scale", rule.scale.is_some(), is_number, "numbers"),
            ("date", rule.date.is_some(), matches!(item, Kind::Date), "dates"),
            ("zone", rule.zone.is_some(), matches!(item, Kind::Date), "dates"),
            ("where", !rule.filter.0.is_empty(), is_list || !rule.first, "all values, not the first"),
            ("sort", rule.sort.is_some(), is_list || rule.first, "lists; with first = true, the first value is taken"),
            ("year", rule.year, matches!(item, Kind::Integer { .. }), "whole numbers"),
            ("html", rule.html, is_text, "texts"),
            ("max", rule.max.is_some(), is_list, "lists"),
            ("split", rule.split.is_some(), is_list || rule.first, "lists; with first = true, the first part is taken"),
        ];
        for (name, is_set, fits, of) in options {
            if is_set && !fits {
                self.problems
                    .on(rule.at, format!("\"{name}\" is for {of}, but \"{}\" is not one of them.", rule.target));
            }
        }
    }

    /// The unit that an entry sets, the one of values without a unit, and the one to convert to.
    fn units(&mut self, rule: &Rule, convert: &Convert) -> [Option<&'static str>; 3] {
        let Kind::Measure { units, .. } = convert.kind else { return [None; 3] };
        let mut find = |text: &str| {
            let found = units::resolve(text, units, &mut self.scratch);
            if found.is_none() {
                let allowed = ad_core::violation::nearest::quoted(units.iter().copied());
                let message = format!("\"{text}\" is not a unit of \"{}\". Units: {allowed}.", rule.target);
                self.problems.on(rule.at, message);
            }
            found
        };
        let mut unit_of = |text: Option<&str>| text.and_then(&mut find);
        let unit = unit_of(rule.unit.as_ref().and_then(|unit| unit.always.as_deref()));
        let default_unit = unit_of(rule.unit.as_ref().and_then(|unit| unit.default.as_deref()));
        for (_, code) in rule.unit.iter().flat_map(|unit| &unit.codes) {
            unit_of(Some(code));
        }
        let to = rule.to.as_ref().and_then(|to| find(to));
        if let (Some(from), Some(to)) = (unit, to)
            && units::factor(from, to).is_none()
        {
            let message = format!("\"{}\" cannot be converted exactly from {from} to {to}; omit \"as\".", rule.target);
            self.problems.on(rule.at, message);
        }
        [unit, default_unit, to]
    }

    /// Adds the terms of a value map that the field allows, for each category.
    fn add_map(&mut self, source: &MapSource, rule: &Rule, made: &mut [Option<(&'static Category, PlannedEntry)>]) {
        let scratch = &mut self.scratch;
        match self.maps.find(source) {
            Err(message) => self.problems.on(rule.at, message),
            Ok(FoundMap::Builtin(builtin)) => {
                for (category, made) in made.iter_mut().flatten() {
                    let is_allowed = |text: &str| made.value(&Texts(vec![text.into()]), rule, scratch).is_ok();
                    let map = builtin.map(category.vehicle_type.unwrap_or_default(), self.language, is_allowed);
                    // Terms for several values are for lists.
                    made.values.push(if made.convert.is_list() { map } else { map.single_valued() });
                }
            }
            Ok(FoundMap::Own(terms)) => {
                for own in terms {
                    let mut values = made.iter().flatten().map(|(_, made)| made.value(&own.texts, rule, scratch));
                    // A term that no category allows is an error.
                    let Some(Err(bad)) = values.next() else { continue };
                    if values.all(|value| value.is_err()) {
                        let message = format!("Value of \"{}\" for \"{}\": {}", own.term, rule.target, sentence(&bad));
                        self.problems.on(own.at.unwrap_or(rule.at), message);
                    }
                }
                for (_, made) in made.iter_mut().flatten() {
                    let allowed = terms.iter().filter(|own| made.value(&own.texts, rule, scratch).is_ok());
                    let map = ValueMap::from_entries(allowed.map(|own| (own.term.clone(), own.texts.0.clone().into())));
                    made.values.push(map);
                }
            }
        }
    }
}

/// What is wrong with a value of the mapping itself, as a sentence.
fn sentence(bad: &BadValue) -> String {
    match &bad.advice {
        Some(advice) if bad.cure != Cure::File => format!("{} {advice}", bad.message),
        _ => bad.message.clone(),
    }
}
