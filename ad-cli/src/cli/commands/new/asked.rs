//! `ad-cli new --ask`: a payload from answers. The rules check each answer at once, and it is understood as people write it.

use std::{io, path::Path};

use ad_core::{
    categories::{Category, TRAILER},
    fields::Kind,
    model::{ApiVersion, plate},
    reference::ReferenceRow,
    rulebook::{Rulebook, payload::PayloadError},
    stock::put,
    violation::Violation,
};
use ad_files::json::at;
use serde_json::{Map, Value, json};

use super::written;
use crate::{
    bulk::Invocation,
    cli::setting::is_text_kind,
    terminal::{Context, Failure, FileKind, Force, OutFile, can_ask, output::answered},
};

/// What is asked for, though the short payload does not have it: buyers look for it.
const ALSO: &[&str] = &[
    "image_urls",
    "category_fields.condition.mileage",
    "category_fields.powertrain.fuels",
    "category_fields.powertrain.transmission",
];

/// How often an answer is replaced by what was meant with it: a number with a unit, for example, is first taken apart.
const READINGS: usize = 3;

/// The questions for a payload of a vehicle type.
pub(super) struct Questions<'a> {
    pub(super) context: &'a Context,
    pub(super) category: &'static Category,
    pub(super) version: ApiVersion,
    pub(super) rulebook: &'a Rulebook,
    pub(super) rows: &'a [ReferenceRow],
    /// A payload whose fields are asked for, with the values that the questions show.
    pub(super) example: &'a Map<String, Value>,
    /// The source id, if it is given.
    pub(super) source_id: Option<&'a str>,
}

impl Questions<'_> {
    /// Asks, and saves the payload or writes it to stdout.
    pub(super) fn ask(&self, is_visible: bool) -> Result<(), Failure> {
        if !can_ask() {
            return Err(Failure::usage("cannot ask without a terminal").hint("omit --ask"));
        }
        if self.category.id == TRAILER {
            return Err(Failure::usage("trailers cannot be created"));
        }
        let mut payload = self.payload()?;
        if !is_visible {
            payload.insert("visible".to_owned(), Value::Bool(false));
        }
        let text = written(&payload, self.category);
        if !self.context.out.is_at_terminal() {
            return Ok(self.context.out.text(&text)?);
        }
        let source_id = payload.get(SOURCE_ID).and_then(Value::as_str).unwrap_or_default();
        save(self.context, &text, source_id, is_visible)
    }

    /// Asks until the payload is valid.
    fn payload(&self) -> Result<Map<String, Value>, Failure> {
        self.context.out.note("Required fields have a *. Press Enter to leave a field out, or type ? for its meaning.");
        let mut ad = Map::from_iter([("category_id".to_owned(), self.category.id.into())]);
        // What the vehicle is comes first.
        let (vehicle, about): (Vec<_>, Vec<_>) = self
            .rows
            .iter()
            .filter(|row| self.is_asked(row))
            .partition(|row| row.place.starts_with("category_fields."));
        for row in vehicle.into_iter().chain(about) {
            self.answer(row, row.field.required, &mut ad)?;
        }
        // Rules over several fields, such as that of a VIN where there is no plate.
        while let Some((row, why)) = self.wrong_elsewhere(&ad) {
            self.context.out.note(&format!("{}: {why}", name(row)));
            self.answer(row, true, &mut ad)?;
        }
        if let Some(source_id) = self.source_id {
            ad.insert(SOURCE_ID.to_owned(), source_id.into());
        } else if let Some(row) = self.rows.iter().find(|row| row.place == SOURCE_ID) {
            self.answer(row, true, &mut ad)?;
        }
        Ok(ad)
    }

    fn is_asked(&self, row: &ReferenceRow) -> bool {
        let has_one_value = !row.place.contains("[]")
            && !matches!(&*row.place, "category_id" | "category_fields" | "visible" | SOURCE_ID);
        has_one_value
            && (ALSO.contains(&&*row.place) || at(self.example, &row.place).is_some_and(|value| !value.is_object()))
    }

    /// Asks for a field until the answer is valid.
    fn answer(&self, row: &ReferenceRow, required: bool, ad: &mut Map<String, Value>) -> Result<(), Failure> {
        let out = self.context.out;
        let mut proposed = if row.place == SOURCE_ID { proposed_source_id(ad) } else { None };
        loop {
            let hint = match (&proposed, self.example_of(row, ad)) {
                (Some(proposed), _) => format!(" [{proposed}]"),
                (None, Some(example)) => format!(" (such as {})", shown(example)),
                (None, None) => String::new(),
            };
            let question = format!("{}{}{hint}: ", if required { "* " } else { "  " }, name(row));
            let typed = answered(&question).map_err(|error| unreadable(&error))?;
            let typed = typed.ok_or_else(|| Failure::usage("the answers ended before the last question"))?;
            let typed = match (&*typed, &proposed) {
                ("?", _) => {
                    // Of a price, the amount is asked for.
                    let meant = self.rows.iter().find(|inner| row.place == PRICE && inner.place == "price[].amount");
                    let field = meant.unwrap_or(row).field;
                    out.note(&format!("  {}: {}", field.doc.replace('`', ""), field.kind));
                    continue;
                }
                ("", Some(proposed)) => proposed.clone(),
                ("", None) if required => {
                    out.note("  This field is required.");
                    continue;
                }
                ("", None) => return Ok(()),
                _ => typed,
            };
            match self.understood(row, &typed, ad) {
                Ok((more, value)) => {
                    let understood = shown(&value);
                    if understood != typed {
                        out.note(&format!("  understood as {understood}"));
                    }
                    *ad = more;
                    return Ok(());
                }
                Err(_) if is_bare_measure(row, &typed) => {
                    let Kind::Measure { units, .. } = row.field.kind else { continue };
                    let ways: Vec<_> = units.iter().map(|unit| format!("{typed} {unit}")).collect();
                    out.note(&format!("  Write it with its unit: {}.", ways.join(" or ")));
                }
                Err(error) => {
                    error.texts_for_people().iter().for_each(|text| out.note(&format!("  {text}")));
                    proposed = error.suggestions().first().map(|&near| near.to_owned());
                }
            }
        }
    }

    /// The ad with an answer, and the value that was understood, or why it is wrong.
    fn understood(
        &self,
        row: &ReferenceRow,
        typed: &str,
        ad: &Map<String, Value>,
    ) -> Result<(Map<String, Value>, Value), Violation> {
        let number = serde_json::from_str(typed).ok().filter(|value: &Value| value.is_number());
        let mut value = match row.field.kind {
            Kind::List { .. } => typed.split(',').map(str::trim).collect(),
            kind => number.filter(|_| !is_text_kind(&kind)).unwrap_or_else(|| typed.into()),
        };
        let mut readings = 0;
        loop {
            let mut more = ad.clone();
            put(&mut more, &row.place, self.placed(row, value.clone()));
            let wrong = self.errors(&more).into_iter().find(|(path, _)| is_within(path, &row.place));
            let Some((path, error)) = wrong else { return Ok((more, value)) };
            let item = path.strip_prefix(&*row.place).and_then(|rest| rest.strip_prefix('.')?.parse::<usize>().ok());
            let place = match item {
                Some(item) => value.get_mut(item),
                None => Some(&mut value),
            };
            let (Some(place), true) = (place, readings < READINGS) else { return Err(error) };
            let written = place.as_str().unwrap_or(typed).to_owned();
            *place = meant(&error, &written).ok_or(error)?;
            readings += 1;
        }
    }

    /// A value as the payload has it: an amount is that of the list price.
    fn placed(&self, row: &ReferenceRow, value: Value) -> Value {
        if row.place != PRICE {
            return value;
        }
        let mut price = json!({"type": "list", "amount": value});
        if let Some(currency) = at(self.example, "price.0.currency") {
            price["currency"] = currency.clone();
        }
        json!([price])
    }

    fn example_of(&self, row: &ReferenceRow, ad: &Map<String, Value>) -> Option<&Value> {
        match &*row.place {
            PRICE => at(self.example, "price.0.amount"),
            // A model is one of its brand.
            MODEL if at(ad, BRAND) != at(self.example, BRAND) => None,
            place => at(self.example, place),
        }
    }

    fn errors(&self, ad: &Map<String, Value>) -> Vec<(String, Violation)> {
        match self.rulebook.create_unsent(self.version, Some(self.category), ad.clone()) {
            Err(PayloadError::Fields(errors)) => {
                errors.violations().into_iter().map(|(path, violation)| (path, violation.clone())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A field that is wrong or missing in an ad whose source id is still to come.
    fn wrong_elsewhere(&self, ad: &Map<String, Value>) -> Option<(&ReferenceRow, String)> {
        self.errors(ad).iter().find_map(|(path, error)| {
            let row = self.rows.iter().find(|row| row.place == *path && row.place != SOURCE_ID)?;
            Some((row, error.texts_for_people().join(" ")))
        })
    }
}

const SOURCE_ID: &str = "source_id";
const PRICE: &str = "price";
const BRAND: &str = "category_fields.brand";
const MODEL: &str = "category_fields.model";

fn name(row: &ReferenceRow) -> &str {
    row.place.rsplit('.').next().unwrap_or(&row.place)
}

/// Whether a number was typed for what has a unit.
fn is_bare_measure(row: &ReferenceRow, typed: &str) -> bool {
    matches!(row.field.kind, Kind::Measure { .. }) && typed.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// What was certainly meant with a wrong value.
fn meant(error: &Violation, typed: &str) -> Option<Value> {
    if let Violation::Cured { cure, .. } = error
        && let Some(value) = cure.value()
    {
        return serde_json::from_str(value).ok();
    }
    let letters = |text: &str| text.to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "");
    let near = *error.suggestions().first()?;
    (letters(near) == letters(typed)).then(|| near.into())
}

/// The plate or the VIN, which a source id may well be.
fn proposed_source_id(ad: &Map<String, Value>) -> Option<String> {
    let vehicle = ["category_fields.registration_number", "category_fields.vin"];
    vehicle.iter().find_map(|path| at(ad, path)?.as_str()).map(plate)
}

/// A value as somebody would type it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(" "),
        Value::Object(measure) if measure.contains_key("unit") => {
            ["value", "unit"].iter().filter_map(|name| measure.get(*name)).map(shown).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// Saves the payload in a file that somebody names, and says what comes next.
fn save(context: &Context, payload: &str, source_id: &str, is_visible: bool) -> Result<(), Failure> {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    let proposed = format!("{}.json", source_id.replace(|letter| !is_plain(letter), "-"));
    let (file, path) = loop {
        let typed = answered(&format!("Save as [{proposed}]: ")).map_err(|error| unreadable(&error))?;
        let path = typed.filter(|typed| !typed.is_empty()).unwrap_or_else(|| proposed.clone());
        match OutFile::new(Path::new(&path), FileKind::Draft, Force::default()) {
            Ok(file) => break (file, path),
            Err(failure) => context.out.note(&format!("  {failure}")),
        }
    };
    file.write(payload.as_bytes())?;
    let out = context.out;
    let create = out.command(&Invocation::new("create").with("file", &*path));
    out.note(&format!("Saved. To create the ad: {create}"));
    if !is_visible {
        let show = out.command(&Invocation::new("show").with("source_ids", vec![source_id.to_owned()]));
        out.note(&format!("It is hidden at first; to publish it: {show}"));
    }
    Ok(())
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::usage(format!("cannot read stdin: {error}"))
}
