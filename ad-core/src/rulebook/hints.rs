//! Suggestions for the errors of a refused payload (decision 4). The tables and the rules only say what is wrong; this module
//! then adds what was probably meant, so that a valid payload does not pay for it.

use std::cell::OnceCell;

use serde_json::{Map, Value};

use super::Rulebook;
use crate::{
    catalogue::List,
    categories::{Category, Heading, ad_fields, price},
    fields::{Direction, Field, FieldErrors, Kind, Mode, Node, Tree},
    model::{ApiVersion, get},
    synonyms::{fold::folded, languages::Language, names::Names, values},
    violation::{Choices, Expected, Violation, nearest},
};

/// Number of unknown fields of a payload that get suggestions. Finding them is slow, and a payload with more unknown fields is
/// not a typing error.
const MOST_NAMES: usize = 20;

/// Maximum length of an example in a message, in bytes.
const LONGEST_EXAMPLE: usize = 200;

const CATEGORY_FIELDS: &str = "category_fields.";

/// Suggestions for the errors of a refused payload.
pub(super) struct Hints<'a> {
    rulebook: &'a Rulebook,
    version: ApiVersion,
    mode: Mode,
    category: Option<&'static Category>,
    /// The payload. Invalid values are in it as they were sent.
    ad: &'a Map<String, Value>,
    example: OnceCell<Value>,
}

/// The object in which a field stands: a table, and the path of its object, which ends in a dot if it is not empty.
struct EnclosingTable {
    root: &'static Tree,
    prefix: String,
}

impl<'a> Hints<'a> {
    /// Of a payload of this category; `None` if the category is an error itself.
    pub(super) fn new(
        rulebook: &'a Rulebook,
        version: ApiVersion,
        mode: Mode,
        category: Option<&'static Category>,
        ad: &'a Map<String, Value>,
    ) -> Self {
        Self { rulebook, version, mode, category, ad, example: OnceCell::new() }
    }

    /// Adds suggestions to the errors of the payload.
    pub(super) fn add(&self, errors: &mut FieldErrors) {
        let mut names = 0;
        errors.each_mut(&mut |path, violation| match violation {
            Violation::UnknownField { .. } if names < MOST_NAMES => {
                names += 1;
                if let Some(better) = self.field(path) {
                    *violation = better;
                }
            }
            Violation::WrongType(expected) => {
                if let Some(example) = self.value(path).and_then(|sent| self.example(path, *expected, sent)) {
                    *violation = Violation::WrongShape { expected: *expected, example };
                }
            }
            Violation::NotAChoice { choices, note, .. } => {
                if let Some(Value::String(sent)) = self.value(path)
                    && sent.len() <= nearest::LONGEST
                {
                    self.choice(path, sent, choices, note);
                }
            }
            _ => {}
        });
    }

    fn value(&self, path: &[String]) -> Option<&Value> {
        let (first, below) = path.split_first()?;
        below.iter().try_fold(self.ad.get(first)?, |value, name| match value {
            Value::Object(members) => members.get(name),
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            _ => None,
        })
    }

    // Names of fields.

    fn ad_table(&self) -> &'static Tree {
        if self.mode == Mode::Create { &ad_fields::CREATE } else { &ad_fields::UPDATE }
    }

    fn level(&self, path: &[String]) -> Option<EnclosingTable> {
        let mut level = EnclosingTable { root: self.ad_table(), prefix: String::new() };
        let (mut tree, mut below) = (level.root, String::new());
        for name in path.iter().filter(|name| name.parse::<usize>().is_err()) {
            below = format!("{below}{name}.");
            match tree.get(name)? {
                Node::Branch(branch) => tree = branch,
                Node::Leaf(field, inside) => {
                    tree = if field.kind == Kind::CategoryFields { self.category?.tree() } else { inside.as_ref()? };
                    level = EnclosingTable { root: tree, prefix: below.clone() };
                }
            }
        }
        Some(level)
    }

    /// What an unknown field was probably meant to be.
    fn field(&self, path: &[String]) -> Option<Violation> {
        let (name, parents) = path.split_last()?;
        let level = self.level(parents)?;
        let other = match level.prefix.as_str() {
            "" => self
                .category
                .map(|category| EnclosingTable { root: category.tree(), prefix: CATEGORY_FIELDS.to_owned() }),
            CATEGORY_FIELDS => Some(EnclosingTable { root: self.ad_table(), prefix: String::new() }),
            _ => None,
        };
        // In the object itself, and in the other one of ad and category fields.
        let here = |inner| (self.paths(&level, inner), false);
        let there = |inner| {
            let other = other.as_ref();
            let paths = other.map_or_else(Vec::new, |other| {
                let paths = self.paths(other, inner).into_iter();
                paths.map(|path| format!("{}{path}", other.prefix)).collect()
            });
            (paths, !level.prefix.is_empty())
        };
        let misplaced = |(mut paths, of_ad): (Vec<String>, bool)| {
            paths.retain(|path| path.rsplit('.').next() == Some(name));
            paths.truncate(nearest::MOST);
            (!paths.is_empty()).then_some(Violation::MisplacedField { paths, of_ad })
        };
        let similar = |(paths, of_ad): (Vec<String>, bool)| {
            let meant = similar(name, &paths);
            (!meant.is_empty()).then_some(Violation::UnknownField { meant, of_ad })
        };
        misplaced(here(true))
            .or_else(|| misplaced(there(true)))
            .or_else(|| self.called(name, &level, other.is_some()))
            .or_else(|| similar(here(false)))
            .or_else(|| similar(there(false)))
    }

    /// The field that the tables of synonyms have for a name.
    fn called(&self, name: &str, level: &EnclosingTable, has_other: bool) -> Option<Violation> {
        if name.len() > nearest::LONGEST {
            return None;
        }
        let known = self.rulebook.settings.names.field(name).or_else(|| Names::builtin().field(name))?;
        let path = self.existing(known)?;
        let is_outside = !path.starts_with(&level.prefix);
        if is_outside && !has_other {
            return None;
        }
        let meant = path.strip_prefix(&level.prefix).unwrap_or(&path).to_owned();
        Some(Violation::UnknownField { meant: vec![meant], of_ad: is_outside })
    }

    /// The path of a field of the synonyms in this category, where the field may have another one: boats have
    /// `powertrain.fuel`, not `powertrain.fuels`.
    fn existing(&self, known: &str) -> Option<String> {
        let Some(below) = known.strip_prefix(CATEGORY_FIELDS) else {
            let ad = EnclosingTable { root: self.ad_table(), prefix: String::new() };
            let all = self.paths(&ad, true);
            // The prices are one field.
            let outer = known.split('.').next().unwrap_or(known);
            return [known, outer].into_iter().find(|path| all.iter().any(|one| one == path)).map(str::to_owned);
        };
        let fields = EnclosingTable { root: self.category?.tree(), prefix: CATEGORY_FIELDS.to_owned() };
        let all = self.paths(&fields, true);
        let name = below.rsplit('.').next().unwrap_or(below);
        let exact = all.iter().find(|path| *path == below).cloned();
        let found = exact.or_else(|| similar(name, &all).into_iter().next())?;
        Some(format!("{CATEGORY_FIELDS}{found}"))
    }

    /// The paths of the fields that may be sent, with those inside of arrays and locations if `inner`.
    fn paths(&self, level: &EnclosingTable, inner: bool) -> Vec<String> {
        let mut found = Vec::new();
        self.walk(level.root, &level.prefix, "", inner, &mut found);
        found
    }

    fn walk(&self, tree: &'static Tree, prefix: &str, below: &str, inner: bool, found: &mut Vec<String>) {
        for (name, node) in tree.iter() {
            let path = format!("{below}{name}");
            match node {
                Node::Branch(branch) => self.walk(branch, prefix, &format!("{path}."), inner, found),
                Node::Leaf(field, _) if self.is_refused(&format!("{prefix}{path}"), field) => {}
                Node::Leaf(_, inside) => {
                    found.push(path.clone());
                    if let Some(inside) = inside.as_ref().filter(|_| inner) {
                        self.walk(inside, prefix, &format!("{path}."), inner, found);
                    }
                }
            }
        }
    }

    /// Whether a field must not be sent for this category and version, and so is not suggested.
    fn is_refused(&self, path: &str, field: &Field) -> bool {
        let of_category = self.category.is_some_and(|category| match path.split('.').next() {
            Some("title" | "contact") => category.heading == Heading::Forbidden,
            Some("location") => category.registered && path == "location.lkf",
            _ => false,
        });
        of_category || field.direction == Direction::Response || !field.since.allows(self.version)
    }

    // Values.

    /// Improves the choices for a value that is none of the allowed ones.
    fn choice(&self, path: &[String], sent: &str, choices: &mut Choices, note: &mut Option<String>) {
        let Some(category) = self.category else { return };
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
        let meant =
            values::of_field(&attribute).and_then(|map| map.map(vehicle_type, Language::Any, is_allowed).resolve(sent));
        match meant.as_deref() {
            Some([value]) => *choices = Choices::Meant(vec![value.to_string()]),
            Some(several) if kind != field.kind => {
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
        let models = self.rulebook.catalogue.models(list, brand.and_then(Value::as_str).unwrap_or_default());
        let Some((id, rest)) = model_of(models, sent) else { return };
        *choices = Choices::Meant(vec![id.to_owned()]);
        if !rest.is_empty() {
            let rest = format!("Send \"{rest}\" as model_type.");
            *note = Some([rest].into_iter().chain(note.take()).collect::<Vec<_>>().join(" "));
        }
    }

    // Types.

    /// A value of the right type, in JSON.
    fn example(&self, path: &[String], expected: Expected, sent: &Value) -> Option<String> {
        match (expected, sent) {
            (Expected::Text, Value::Number(_) | Value::Bool(_)) => Some(format!("\"{sent}\"")),
            (Expected::Integer | Expected::Number | Expected::Boolean, Value::String(text))
                if text.len() <= nearest::LONGEST =>
            {
                let value: Value = serde_json::from_str(text.trim()).ok()?;
                let is_one = match expected {
                    Expected::Integer => value.is_i64() || value.is_u64(),
                    Expected::Number => value.is_number(),
                    _ => value.is_boolean(),
                };
                is_one.then(|| value.to_string())
            }
            (Expected::Object | Expected::List, _) => {
                let category = self.category?;
                let example = self.example.get_or_init(|| Value::Object(category.example(self.version, self.rulebook)));
                let value = path.iter().try_fold(example, |value, name| match value {
                    Value::Array(items) => items.first(),
                    value => value.get(name),
                })?;
                short(value)
            }
            _ => None,
        }
    }
}

fn similar(name: &str, paths: &[String]) -> Vec<String> {
    nearest::similar_paths(name, paths.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
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

/// The model that a text begins with or is a variant of, and the rest of the text: `Golf GTI` is a `golf`, `320d` a `3-series`,
/// `C 220` a `c-class`.
fn model_of<'m>(models: &'m List, text: &str) -> Option<(&'m str, String)> {
    let known: Vec<_> =
        models.entries().iter().map(|entry| (folded(&entry.id), folded(&entry.name), entry.id.as_str())).collect();
    let find = |wanted: &str| known.iter().find(|(id, name, _)| id == wanted || name == wanted).map(|(_, _, id)| *id);
    let ends = text.char_indices().filter(|(_, letter)| letter.is_whitespace()).map(|(end, _)| end);
    let mut ends: Vec<_> = ends.chain([text.len()]).collect();
    ends.reverse();
    let by_words = ends.into_iter().find_map(|end| Some((find(&folded(&text[..end]))?, text[end..].trim().to_owned())));
    by_words.or_else(|| {
        let text_folded = folded(text);
        let digits = text_folded.find(|letter: char| letter.is_ascii_digit())?;
        let wanted = match digits {
            0 => vec![format!("{}series", &text_folded[..1])],
            end => vec![text_folded[..end].to_owned(), format!("{}class", &text_folded[..end])],
        };
        let id = wanted.iter().find_map(|wanted| find(wanted))?;
        Some((id, text.trim().to_owned()))
    })
}
