//! What to send instead of an invalid value.

use serde_json::{Map, Value};

use super::Hints;
use crate::{
    categories::{self, price},
    fields::{CategoryTable, Check, Field, Kind, Node, Tree},
    model::get,
    rulebook::meant::{self, Meaning, Meant},
    synonyms::{
        languages::Language,
        models,
        names::Names,
        values::{self, Reading},
    },
    violation::{Choices, Cure, Expected, Slip, Violation, nearest},
};

/// Maximum length of an example in a message, in bytes.
const LONGEST_EXAMPLE: usize = 200;

/// A field at a path, and how much of it stands there.
struct SentField {
    kind: Option<Kind>,
    inside: Option<&'static Tree>,
    required: bool,
    is_item: bool,
    is_of_measure: bool,
}

impl SentField {
    fn object(required: bool) -> Self {
        Self { kind: None, inside: None, required, is_item: false, is_of_measure: false }
    }
}

impl Hints<'_> {
    /// Adds what to send to an error of a value.
    pub(super) fn value_error(&self, path: &[String], violation: &mut Violation) {
        let Some(sent) = self.value(path) else { return };
        let mut is_known = false;
        if let Violation::NotAChoice { choices, note, .. } = violation
            && let Value::String(text) = sent
            && text.len() <= nearest::LONGEST
        {
            let had_note = note.is_some();
            self.choice(path, text, choices, note);
            is_known = matches!(choices, Choices::Meant(_)) || (note.is_some() && !had_note);
        }
        let cure =
            self.cure(path, sent).filter(|cure| !is_known || !matches!(cure, Cure::Send { slip: Slip::Spelling, .. }));
        if let Some(cure) = cure {
            let error = std::mem::replace(violation, Violation::Required);
            *violation = error.cured(cure);
        }
    }

    fn cure(&self, path: &[String], sent: &Value) -> Option<Cure> {
        let place = self.place(path)?;
        let json = || sent.to_string();
        if path == ["category_id"] {
            return category_meant(sent);
        }
        if let (Some(Kind::ImageAddress), Value::String(text)) = (place.kind, sent)
            && is_local_file(text)
        {
            return Some(Cure::NotOnTheWeb);
        }
        if let (Some(Kind::Boolean), Value::String(text)) = (place.kind, sent)
            && meant::trimmed(text).is_empty()
        {
            return Some(Cure::FalseOrNothing);
        }
        let meaning = match place.kind {
            Some(kind) => meant::meaning(&kind, sent),
            None => meant::object_meaning(sent),
        };
        let expected = place.kind.as_ref().map_or(Expected::Object, meant::type_of);
        match meaning {
            Meaning::Values(values) => {
                let sure = values.into_iter().find(|Meant { value, slip }| match slip {
                    Slip::Twice => value.is_object() == (expected == Expected::Object),
                    _ => value != sent && self.is_valid(&place, value),
                });
                match sure {
                    Some(Meant { value, slip }) => Some(Cure::Send { value: value.to_string(), sent: json(), slip }),
                    None if matches!(place.kind, Some(Kind::Measure { .. })) => None,
                    None => self.example(path, expected),
                }
            }
            Meaning::OneOf(values) => {
                let valid = values.into_iter().filter(|value| self.is_valid(&place, value));
                let mut values: Vec<String> = valid.map(|value| value.to_string()).collect();
                values.dedup();
                match values.len() {
                    0 => None,
                    1 => Some(Cure::Send { value: values.remove(0), sent: json(), slip: Slip::Number }),
                    _ => Some(Cure::OneOf { values, sent: json() }),
                }
            }
            Meaning::WithUnit(value, others) => Some(Cure::WithUnit { value: value.to_string(), others }),
            Meaning::Nothing if place.is_of_measure => Some(Cure::NoMeasure { sent: json() }),
            Meaning::Nothing if place.is_item => Some(Cure::NoItem { sent: json() }),
            Meaning::Nothing => Some(Cure::NoValue { sent: json(), required: place.required }),
            Meaning::Empty if place.required => self.example(path, expected),
            Meaning::Empty => Some(Cure::Empty { expected }),
            Meaning::Day => Some(Cure::Day),
        }
    }

    fn is_valid(&self, place: &SentField, value: &Value) -> bool {
        let Some(kind) = place.kind else { return value.is_object() };
        let category = self.category.map_or(CategoryTable::Unknown, |category| CategoryTable::Known(category.tree()));
        let mut check = Check::new(&self.rulebook.catalogue, self.version, self.mode, category);
        check.accepts(&kind, place.inside, value.clone())
    }

    /// The field of a path; `None` where it is unknown.
    fn place(&self, path: &[String]) -> Option<SentField> {
        let mut tree = self.ad_table();
        let mut names = path.iter();
        loop {
            match tree.get(names.next()?)? {
                Node::Branch(branch) if names.len() == 0 => {
                    let required = branch.expected().any(|(_, field)| field.required);
                    return Some(SentField::object(required));
                }
                Node::Branch(branch) => tree = branch,
                Node::Leaf(field, inside) => {
                    let next = names.next();
                    match (field.kind, next) {
                        (Kind::CategoryFields, None) => return Some(SentField::object(field.required)),
                        (Kind::CategoryFields, Some(_)) => {
                            tree = self.category?.tree();
                            names = path[1..].iter();
                        }
                        (Kind::Object { .. }, Some(_)) => {
                            tree = inside.as_ref()?;
                            names = path[path.len() - names.len() - 1..].iter();
                        }
                        (Kind::Objects { .. }, Some(_)) if names.len() > 0 => tree = inside.as_ref()?,
                        (Kind::Objects { .. }, Some(_)) => return Some(SentField::object(false)),
                        _ => return of_field(field, inside.as_ref(), next.map(String::as_str)),
                    }
                }
            }
        }
    }

    /// Improves the choices for a value that is none of the allowed ones.
    fn choice(&self, path: &[String], sent: &str, choices: &mut Choices, note: &mut Option<String>) {
        let Some(category) = self.category else { return };
        if meant::trimmed(sent).is_empty() {
            return *choices = Choices::Omitted;
        }
        let names: Vec<_> = path.iter().map(String::as_str).filter(|name| name.parse::<usize>().is_err()).collect();
        if names == ["price", "type"] {
            *choices = Choices::of(Some(sent), price::allowed_types(category, self.mode));
            return;
        }
        let ["category_fields", below @ ..] = names.as_slice() else { return };
        if let [measure @ .., "unit"] = below
            && let Some(Kind::Measure { units, .. }) = category.field(&measure.join(".")).map(|field| field.kind)
        {
            let unit = Names::builtin().unit(sent, &mut String::new()).filter(|unit| units.contains(unit));
            if let Some(unit) = unit {
                *choices = Choices::Meant(vec![unit.to_owned()]);
            }
            return;
        }
        let attribute = below.join(".");
        let Some(field) = category.field(&attribute) else { return };
        let kind = if let Kind::List { item, .. } = field.kind { *item } else { field.kind };
        if let Kind::Model { list } = kind {
            return self.model(list, sent, choices, note);
        }
        let is_allowed = |value: &str| match kind {
            Kind::Choice { values, .. } => values.iter().any(|(id, _)| *id == value),
            Kind::Slug { list } => self.rulebook.catalogue.list(list).contains(value),
            _ => false,
        };
        let vehicle_type = category.vehicle_type.unwrap_or_default();
        let map = values::of_field(&attribute);
        if let Some(readings) = map.map(|map| map.readings(vehicle_type, sent, is_allowed))
            && readings.len() > 1
        {
            return several_readings(sent, &readings, choices, note);
        }
        let meant = map.and_then(|map| map.map(vehicle_type, Language::Any, is_allowed).resolve(sent));
        match meant.as_deref() {
            Some([value]) => *choices = Choices::Meant(vec![value.to_string()]),
            Some(several @ [_, ..]) if kind != field.kind => {
                let several = nearest::quoted(several.iter().map(|value| &**value));
                (*choices, *note) = (Choices::Omitted, Some(format!("Send several items: {several}.")));
            }
            _ if !matches!(choices, Choices::Meant(_)) && !field.required && is_allowed("other") => {
                *note = Some("If none of the values applies, send \"other\" or leave the field out.".to_owned());
            }
            _ => {}
        }
    }

    fn model(&self, list: &str, sent: &str, choices: &mut Choices, note: &mut Option<String>) {
        let brand = self.ad.get("category_fields").and_then(|fields| get(fields.as_object()?, "brand"));
        let brand = brand.and_then(Value::as_str).unwrap_or_default();
        let list = self.rulebook.catalogue.models(list, brand);
        let Some(found) =
            models::find(brand, sent, list.entries().iter().map(|entry| (entry.id.as_str(), entry.name.as_str())))
        else {
            let meant = models::misspelled(sent, list.ids()).into_iter().map(str::to_owned).collect::<Vec<_>>();
            *choices = if meant.is_empty() { Choices::Omitted } else { Choices::Meant(meant) };
            return;
        };
        *choices = Choices::Meant(vec![found.id.to_owned()]);
        if let Some(rest) = found.model_type {
            let rest = format!("Send \"{rest}\" as model_type.");
            *note = Some([rest].into_iter().chain(note.take()).collect::<Vec<_>>().join(" "));
        }
    }

    /// A value of the right type, where an object or a list is expected.
    fn example(&self, path: &[String], expected: Expected) -> Option<Cure> {
        if !matches!(expected, Expected::Object | Expected::List) {
            return None;
        }
        let category = self.category?;
        let example = self.example.get_or_init(|| Value::Object(category.example(self.version, self.rulebook)));
        let value = path.iter().try_fold(example, |value, name| match value {
            Value::Array(items) => items.first(),
            value => value.get(name),
        })?;
        Some(Cure::Example { expected, value: short(value)? })
    }
}

/// What stands in a field, or at a name or index below it.
fn of_field(field: &'static Field, inside: Option<&'static Tree>, below: Option<&str>) -> Option<SentField> {
    let place =
        |kind, is_item| SentField { kind: Some(kind), inside, required: field.required, is_item, is_of_measure: false };
    match (field.kind, below) {
        (kind, None) => Some(place(kind, false)),
        (Kind::List { item, .. }, Some(_)) => Some(place(*item, true)),
        (Kind::Measure { min, .. }, Some("value")) => {
            let kind = Kind::Decimal { min, max: crate::fields::MOST_MEASURED, decimals: None, numeric_text: true };
            Some(SentField { is_of_measure: true, ..place(kind, false) })
        }
        _ => None,
    }
}

/// The number of the category that a vehicle type stands for.
fn category_meant(sent: &Value) -> Option<Cure> {
    let text = sent.as_str()?;
    let (number, slip) = match categories::category_id(text) {
        Some(id) => (id, Slip::Spelling),
        None => (categories::sent_id(&Value::from(meant::trimmed(text)))?, Slip::Spaces),
    };
    Some(Cure::Send { value: number.to_string(), sent: sent.to_string(), slip })
}

/// Whether a text is the path of a file, or the file itself.
fn is_local_file(text: &str) -> bool {
    let text = text.trim_start();
    let has = |beginning: &str| text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning));
    let is_drive = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && text[1..].starts_with(":\\");
    is_drive
        || text.starts_with("\\\\")
        || (text.starts_with('/') && !text.starts_with("//"))
        || ["data:", "file:", "blob:", "cid:", "ftp:"].iter().any(|scheme| has(scheme))
}

/// A term that means one thing in a language, and another thing in others.
fn several_readings(sent: &str, readings: &[Reading], choices: &mut Choices, note: &mut Option<String>) {
    let quoted = |values: &[Box<str>]| match values {
        [one] => format!("\"{one}\""),
        several => format!("[{}]", nearest::quoted(several.iter().map(|value| &**value))),
    };
    let each: Vec<String> = readings
        .iter()
        .map(|reading| match reading.languages.as_slice() {
            [] => quoted(&reading.values),
            languages => format!("{} in {}", quoted(&reading.values), languages.join(", ")),
        })
        .collect();
    *note = Some(format!("\"{sent}\" means {}: send the one that is meant.", each.join(", or ")));
    let single = readings.iter().filter_map(|reading| match &*reading.values {
        [one] => Some(one.to_string()),
        _ => None,
    });
    let single: Vec<String> = single.collect();
    *choices = if single.is_empty() { Choices::Omitted } else { Choices::Meant(single) };
}

/// A value as JSON: the first item of an array, and as many members of an object as an example may have.
fn short(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => Some(format!("[{}]", short(items.first()?)?)),
        Value::Object(members) => {
            let mut length = 0;
            let few = members.iter().take_while(|(name, value)| {
                length += name.len() + value.to_string().len() + 6;
                length <= LONGEST_EXAMPLE
            });
            let few: Map<String, Value> = few.map(|(name, value)| (name.clone(), value.clone())).collect();
            (!few.is_empty()).then(|| Value::Object(few).to_string())
        }
        value => Some(value.to_string()),
    }
}
