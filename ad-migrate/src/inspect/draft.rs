//! Writes the draft of a mapping: what the file shows as entries, everything else as comments with a question, and what is missing at
//! the top. A wrong ad that looks right is worse than a missing field, so nothing is chosen without evidence.

mod measures;
mod missing;
mod money;
mod rows;
mod text;
mod words;

pub(super) use measures::units_of;

use ad_core::{
    categories::{self, Category},
    printable,
    synonyms::languages::Language,
};
use serde_json::Value;

use super::{
    Draft, Guess, Known, Languages, SeenFile,
    choices::{Question, SoldRows, UnknownValues},
    column::ColumnStatistics,
    guess::{GuessedColumns, Match, VEHICLE, field},
    look::ValueLook,
};
use crate::{
    mapping::target::is_target,
    readers::{Detected, Form},
};

/// Most unknown values of a column that are listed.
const MOST_UNKNOWN: usize = 30;

/// An entry of the table `[fields]`.
#[derive(Debug)]
struct DraftEntry {
    field: &'static str,
    from: String,
    /// Further keys, such as `unit = "mil"`.
    options: Vec<String>,
    is_sure: bool,
    /// What must be answered before it can be used.
    question: Option<String>,
    /// The same as values.
    questions: Vec<Question>,
    /// Comments that stand above the entry.
    notes: Vec<String>,
}

impl DraftEntry {
    /// Leaves the entry as a comment with a question.
    fn ask(&mut self, kind: Question, question: &str) {
        self.questions.push(kind);
        self.question = Some(match &self.question {
            Some(first) => format!("{first} {question}"),
            None => question.to_owned(),
        });
    }

    /// Uses the entry, as a person has decided.
    fn answer(&mut self) {
        self.questions.retain(Question::is_obstacle);
        if self.questions.is_empty() {
            (self.question, self.is_sure) = (None, true);
        }
    }

    /// The unit or currency that it sets, of all values or of those without one.
    fn unit(&self) -> Option<String> {
        let of = |option: &String| {
            let text = option.strip_prefix("unit = ").or_else(|| option.strip_prefix("currency = "))?;
            let default = text.strip_prefix("{ default = ").and_then(|text| text.strip_suffix(" }"));
            serde_json::from_str(default.unwrap_or(text)).ok()
        };
        self.options.iter().find_map(of)
    }

    /// Whether it is an entry, and not a comment.
    fn is_used(&self) -> bool {
        self.is_sure && self.question.is_none()
    }
}

/// A value map of the mapping's own, to complete.
#[derive(Debug)]
struct DraftMap {
    name: String,
    field: &'static str,
    about: String,
    /// Each a value, what it could mean as TOML, and in how many rows it is.
    entries: Vec<(String, String, u32)>,
}

/// The answer that removes a value.
const NO_VALUE: &str = "\"\"";

/// A value of the column of vehicle types, its vehicle type, and in how many rows it is.
type TypeValue = (String, Option<String>, u32);

/// The draft while it is written.
#[derive(Debug)]
struct Writer<'a> {
    seen: SeenFile,
    guessed: GuessedColumns,
    category: &'static Category,
    detected: &'a Detected,
    languages: Languages,
    /// The language in which the mapping understands values.
    language: Language,
    lines: Vec<DraftEntry>,
    maps: Vec<DraftMap>,
    /// What is missing or must be checked.
    missing: Vec<String>,
    /// What is known besides the file.
    known: Known<'a>,
}

pub(super) fn write(
    mut seen: SeenFile,
    guessed: GuessedColumns,
    detected: &Detected,
    languages: Languages,
    known: Known<'_>,
) -> Draft {
    let types = guessed.vehicle.map(|index| types(&mut seen, index)).unwrap_or_default();
    let most =
        types.iter().filter_map(|(_, name, count)| Some((name.as_ref()?, count))).max_by_key(|(_, count)| **count);
    let chosen = known.choices.and_then(|choices| categories::by_vehicle_type(choices.vehicle_type.as_deref()?));
    let category =
        chosen.filter(|_| most.is_none()).or_else(|| most.and_then(|(name, _)| categories::by_vehicle_type(name)));
    let category = category.or_else(|| categories::by_vehicle_type("car")).expect("cars are a category");
    let (lines, maps, missing) = (Vec::new(), Vec::new(), Vec::new());
    let language = languages.of_terms();
    let mut writer = Writer { seen, guessed, category, detected, languages, language, lines, maps, missing, known };
    writer.settle_language();
    writer.all_lines();
    writer.fallbacks();
    writer.requirements();
    let fields = |used: bool| {
        writer.lines.iter().filter(|line| line.is_used() == used).map(|line| line.field.to_owned()).collect()
    };
    Draft {
        language: writer.language.code(),
        filled: fields(true),
        asked: fields(false),
        detected: detected.clone(),
        rows: writer.seen.rows,
        vehicle_type: category.vehicle_type.unwrap_or_default().to_owned(),
        columns: writer.guesses(),
        mapping: writer.text(&types),
        unknown: writer.unknown(),
        sold: writer.sold().iter().map(rows::SoldColumn::rows).collect(),
        missing: writer.missing,
    }
}

/// The values of the column of vehicle types.
fn types(seen: &mut SeenFile, index: usize) -> Vec<TypeValue> {
    let SeenFile { columns, terms, .. } = seen;
    let all = columns[index].frequent().into_iter().take(MOST_UNKNOWN);
    let meant = all.map(|(text, count)| {
        let means =
            terms.means(ValueLook::VehicleType, text).and_then(|values| values.first().map(ToString::to_string));
        (text.to_owned(), means, count)
    });
    meant.collect()
}

/// A text as a TOML string.
fn quoted(text: &str) -> String {
    // JSON's escapes are valid in TOML, which also requires one for DEL.
    serde_json::to_string(text).unwrap_or_default().replace('\u{7f}', "\\u007f")
}

/// A unit or currency as an option sets it: where values say their own, it is that of the others.
fn set(unit: &str, says_own: bool) -> String {
    if says_own { format!("{{ default = {} }}", quoted(unit)) } else { quoted(unit) }
}

impl Writer<'_> {
    fn column(&self, index: usize) -> &ColumnStatistics {
        &self.seen.columns[index]
    }

    /// How a mapping names a column.
    fn from(&self, index: usize) -> String {
        if self.detected.form == Form::Csv && self.detected.header == Some(false) {
            (index + 1).to_string()
        } else if let Some((values, ..)) = self.seen.pairs.of(index) {
            quoted(values)
        } else {
            quoted(&self.seen.names[index])
        }
    }

    /// The condition that selects the values of a column, if an attribute names them.
    fn condition(&self, index: usize) -> Option<String> {
        let (_, names, name) = self.seen.pairs.of(index)?;
        Some(format!("where = {{ column = {}, is = {} }}", quoted(names), quoted(name)))
    }

    fn samples(&self, index: usize) -> String {
        self.column(index).samples.iter().map(|sample| printable::line(sample)).collect::<Vec<_>>().join(" · ")
    }

    /// The field of a column, if the category has it.
    fn found(&self, index: usize) -> Option<&Match> {
        self.guessed.columns[index].as_ref().filter(|found| is_target(self.category, found.field))
    }

    fn all_lines(&mut self) {
        for index in 0..self.seen.columns.len() {
            let Some(found) = self.found(index).cloned() else { continue };
            if found.field != field::IMAGES || self.guessed.images.first() == Some(&index) {
                self.line(index, &found);
            }
        }
    }

    /// Adds the entry of a column.
    fn line(&mut self, index: usize, found: &Match) {
        let about = format!("{} – {} %: {}", self.samples(index), found.confidence, found.why);
        let mut line = DraftEntry {
            field: found.field,
            from: self.from(index),
            options: self.condition(index).into_iter().collect(),
            is_sure: found.is_sure(),
            question: None,
            questions: Vec::new(),
            notes: vec![about],
        };
        if !line.is_sure {
            let text = if found.by_name {
                "Is this the field? The name of the column says something else, too, or its values do not fit."
            } else {
                "Is this the field? Only the values of the column look like it."
            };
            line.ask(Question::Field, text);
        }
        if let Some((kind, doubt)) = &found.doubt {
            line.ask(kind.clone(), doubt);
        }
        if let Some(rival) = found.rival {
            let question = format!("Another column may be the same: {}. Which one is it?", self.from(rival));
            line.ask(Question::Rival(self.seen.names[rival].clone()), &question);
        }
        let column = self.column(index);
        match found.field {
            field::IMAGES => self.images(index, &mut line),
            of if of.starts_with("price.") => self.price(index, &mut line),
            field::FUELS => self.values(index, ValueLook::Fuel, "fuel", &mut line),
            field::GEARBOX => self.values(index, ValueLook::Gearbox, "gearbox", &mut line),
            field::BODY_TYPE => self.values(index, ValueLook::Body, "body", &mut line),
            field::DRIVE => self.values(index, ValueLook::Drive, "drive", &mut line),
            field::BRAND => self.values(index, ValueLook::Brand, "", &mut line),
            field::MODEL => self.models(index, &mut line),
            field::BODY if column.share(ValueLook::Html) > 0 => line.options.push("html = true".to_owned()),
            field::EQUIPMENT => self.equipment(index, &mut line),
            field::YEAR if column.share(ValueLook::Year) < 50 => {
                line.options.push("year = true".to_owned());
                line.ask(Question::YearOfDate, "Its values are dates. Is their year the model year?");
            }
            field::VAT | field::NEW if column.share(ValueLook::Boolean) < 50 => self.yes_or_no(index, &mut line),
            field::TRAFFIC | "category_fields.eu_check_last" | "category_fields.eu_check_next" => {
                self.date(index, &mut line);
            }
            _ => self.measure(index, &mut line),
        }
        self.decimal(index, &mut line);
        self.decide(index, &mut line);
        let is_used = line.is_used();
        if let Some(question) = &line.question {
            self.missing.push(format!("{} ({}): {question}", line.field, line.from));
        }
        self.lines.push(line);
        if found.field == field::COLOR && is_used {
            let options = vec!["values = \"color\"".to_owned(), "otherwise = \"skip\"".to_owned()];
            let note = "The group of the same colour, if the built-in map contains it.";
            self.add(field::COLOR_GROUP, index, options, note);
        }
    }

    /// Adds an entry that is derived from a column, if the category has the field.
    fn add(&mut self, field: &'static str, index: usize, options: Vec<String>, note: &str) {
        if is_target(self.category, field) {
            let (from, notes) = (self.from(index), vec![note.to_owned()]);
            let options = self.condition(index).into_iter().chain(options).collect();
            let questions = Vec::new();
            self.lines.push(DraftEntry { field, from, options, is_sure: true, question: None, questions, notes });
        }
    }

    /// Adds such an entry as a comment with a question.
    fn propose(&mut self, field: &'static str, index: usize, options: Vec<String>, question: &str) {
        let before = self.lines.len();
        self.add(field, index, options, question);
        for line in &mut self.lines[before..] {
            line.notes.clear();
            if self.known.choices.is_none() {
                line.ask(Question::Permanent, question);
            }
        }
        if self.known.choices.is_some() {
            return;
        }
        self.missing.push(format!("{field} ({}): {question}", self.from(index)));
    }

    /// All columns of images, as positions if they are adjacent.
    fn images(&mut self, index: usize, line: &mut DraftEntry) {
        let column = self.column(index);
        line.options.extend(column.picture_mark().map(|mark| format!("split = {}", quoted(mark))));
        if column.share(ValueLook::PictureNames) > column.share(ValueLook::Pictures) {
            line.options.push("template = \"https://CHANGE.example/{value}\"".to_owned());
            line.ask(
                Question::PictureNames,
                "The images are file names. Put them on a web server: what is its address, for the template?",
            );
        }
        let all = &self.guessed.images;
        let is_adjacent = all.windows(2).all(|pair| pair[1] - pair[0] == 1);
        match all.last() {
            Some(last) if all.len() > 1 && is_adjacent && self.detected.header == Some(false) => {
                // Columns behind them that are empty in these rows are image columns, too.
                let empty = self.seen.columns[last + 1..].iter().take_while(|column| column.values == 0).count();
                line.from = format!("\"{}-{}\"", index + 1, last + 1 + empty);
            }
            Some(_) if all.len() > 1 => {
                let names: Vec<_> = all.iter().map(|index| self.from(*index)).collect();
                line.from = format!("[{}]", names.join(", "));
            }
            _ => {}
        }
    }

    /// Has an entry be as a person has decided.
    fn decide(&self, index: usize, line: &mut DraftEntry) {
        let Some(choices) = self.known.choices else { return };
        let name = &self.seen.names[index];
        if let Some(unit) = choices.unit(name) {
            let numbers = &self.column(index).numbers;
            let (key, says_own) = if line.field.starts_with("price.") {
                ("currency = ", !numbers.signs.is_empty())
            } else {
                ("unit = ", !numbers.after.is_empty())
            };
            line.options.retain(|option| !option.starts_with(key));
            line.options.push(format!("{key}{}", set(unit, says_own)));
        }
        if choices.columns.contains_key(name) {
            line.answer();
        }
    }

    /// The values that are not known.
    fn unknown(&self) -> Vec<UnknownValues> {
        let values = |map: &DraftMap| {
            let likely = |text: &str| match serde_json::from_str(text) {
                Ok(Value::String(text)) if !text.is_empty() => vec![text],
                Ok(Value::Array(texts)) => texts.into_iter().filter_map(|it| it.as_str().map(str::to_owned)).collect(),
                _ => Vec::new(),
            };
            map.entries.iter().map(|(value, means, count)| (value.clone(), likely(means), *count)).collect()
        };
        let of =
            |map: &DraftMap| UnknownValues { map: map.name.clone(), field: map.field.to_owned(), values: values(map) };
        self.maps.iter().map(of).collect()
    }

    fn has(&self, field: &str) -> bool {
        self.lines.iter().any(|line| line.field == field && line.is_used())
    }

    /// Whether the draft supplies the field, or asks about it.
    fn mentions(&self, field: &str) -> bool {
        self.lines.iter().any(|line| line.field == field)
    }

    /// Adds fields that other columns can supply.
    fn fallbacks(&mut self) {
        let (has_id, has_year) = (self.mentions(field::SOURCE_ID), self.mentions(field::YEAR));
        if !has_id {
            let by = [field::PLATE, field::VIN].into_iter().filter_map(|of| self.guessed.column_of(of));
            let full =
                by.filter(|index| self.column(*index).is_unique()).max_by_key(|index| self.column(*index).filled);
            if let Some(index) = full.filter(|index| self.column(*index).filled == self.seen.rows) {
                let question = "No column is certain to be a stock number; this one is unique in every row. Is it the permanent reference of your system?";
                self.propose(field::SOURCE_ID, index, Vec::new(), question);
            }
        }
        if !has_year && let Some(index) = self.guessed.column_of(field::TRAFFIC) {
            let question = "No column is certain to be the model year; the year of the first registration is an approximation. Is it good enough?";
            self.propose(field::YEAR, index, vec!["year = true".to_owned()], question);
        }
        if self.has(field::OWNERS)
            && !self.has(field::NEW)
            && let Some(index) = self.guessed.column_of(field::OWNERS)
        {
            let options = vec!["values = { \"0\" = \"\" }".to_owned(), "otherwise = false".to_owned()];
            let note = "A vehicle with previous owners is used, even with a mileage of 0.";
            self.add(field::NEW, index, options, note);
        }
    }

    fn guesses(&self) -> Vec<Guess> {
        let guess = |(index, name): (usize, &String)| {
            let column = self.column(index);
            let (field, confidence, why) = match self.found(index) {
                _ if self.guessed.vehicle == Some(index) => (Some(VEHICLE), 85, "its values are vehicle types"),
                Some(found) => (Some(found.field), found.confidence, found.why.as_str()),
                None => (None, 0, ""),
            };
            let from = self.from(index);
            let line = self.lines.iter().find(|line| line.from == from && field == Some(line.field));
            Guess {
                unit: line.and_then(DraftEntry::unit),
                questions: line.map(|line| line.questions.clone()).unwrap_or_default(),
                column: name.clone(),
                filled: column.filled,
                distinct: column.distinct.len(),
                samples: column.samples.clone(),
                field: field.map(str::to_owned),
                confidence,
                why: why.to_owned(),
            }
        };
        self.seen.names.iter().enumerate().map(guess).collect()
    }
}
