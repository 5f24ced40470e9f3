//! Writes the draft of a mapping: sure guesses as entries, others as comments, and what is missing at the top.

mod text;

use ad_core::{
    categories::{self, Category, Heading},
    printable,
};

use super::{
    Draft, Guess, SeenFile,
    column::Column,
    guess::{Guessed, Match, SURE, field},
    look::ValueLook,
    names,
};
use crate::{
    mapping::{target::is_target, units},
    readers::{Detected, Form},
};

/// Most unknown values of a column that are listed.
const MOST_UNKNOWN: usize = 30;

/// Largest mileage that is more likely in mil than in km.
const LARGEST_IN_MIL: f64 = 60_000.0;

/// The units of a field, each with words of column names that mean it.
type Units = [(&'static str, &'static [&'static str]); 2];

const MILEAGE_UNITS: Units = [
    ("mil", &["mil", "miltal"]),
    ("km", &["km", "kms", "kilometer", "kilometers", "kilometerstand", "kilometre", "laufleistung", "tachostand"]),
];

const POWER_UNITS: Units = [("kw", &["kw"]), ("hp", &["hk", "hp", "ps", "bhp", "hastkrafter", "horsepower", "horses"])];

/// Currencies that identify a column without a name.
const CURRENCIES: [&str; 6] = ["SEK", "EUR", "NOK", "DKK", "USD", "GBP"];

/// An entry of `[fields]`.
#[derive(Debug)]
struct Line {
    field: &'static str,
    from: String,
    /// Further keys, such as `unit = "mil"`.
    options: Vec<String>,
    confidence: u8,
    /// Comments above it.
    notes: Vec<String>,
}

/// A value map of the mapping's own, to complete.
#[derive(Debug)]
struct DraftMap {
    name: String,
    about: String,
    /// Each a value, what it could mean, and in how many rows it is.
    entries: Vec<(String, String, u32)>,
}

/// A value of the column of vehicle types, its vehicle type, and in how many rows it is.
type TypeValue = (String, Option<String>, u32);

/// The draft while it is written.
#[derive(Debug)]
struct Writer<'a> {
    seen: SeenFile,
    guessed: Guessed,
    category: &'static Category,
    detected: &'a Detected,
    lines: Vec<Line>,
    maps: Vec<DraftMap>,
    /// What is missing or must be checked.
    missing: Vec<String>,
}

/// Writes the draft.
pub(super) fn write(mut seen: SeenFile, guessed: Guessed, detected: &Detected) -> Draft {
    let types = guessed.vehicle.map(|index| types(&mut seen, index)).unwrap_or_default();
    let most =
        types.iter().filter_map(|(_, name, count)| Some((name.as_ref()?, count))).max_by_key(|(_, count)| **count);
    let category = most.and_then(|(name, _)| categories::by_vehicle_type(name));
    let category = category.or_else(|| categories::by_vehicle_type("car")).expect("cars are a category");
    let (lines, maps, missing) = (Vec::new(), Vec::new(), Vec::new());
    let mut writer = Writer { seen, guessed, category, detected, lines, maps, missing };
    writer.all_lines();
    writer.fallbacks();
    writer.requirements();
    Draft {
        detected: detected.clone(),
        rows: writer.seen.rows,
        vehicle_type: category.vehicle_type.unwrap_or_default().to_owned(),
        columns: writer.guesses(),
        mapping: writer.text(&types),
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

impl Writer<'_> {
    fn column(&self, index: usize) -> &Column {
        &self.seen.columns[index]
    }

    /// How a mapping names a column.
    fn from(&self, index: usize) -> String {
        if self.detected.form == Form::Csv && self.detected.header == Some(false) {
            (index + 1).to_string()
        } else {
            quoted(&self.seen.names[index])
        }
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
        let mut line = Line {
            field: found.field,
            from: self.from(index),
            options: Vec::new(),
            confidence: found.confidence,
            notes: vec![about],
        };
        let column = self.column(index);
        match found.field {
            field::IMAGES => self.images(index, &mut line),
            field::MILEAGE => self.mileage(index, &mut line),
            field::POWER => self.power(index, &mut line),
            field::DISPLACEMENT => {
                let unit = if column.numbers.greatest < 30.0 { "l" } else { "cc" };
                line.options.push(format!("unit = \"{unit}\""));
            }
            "category_fields.physics.max_trailer_weight"
            | "category_fields.physics.gross_weight"
            | "category_fields.physics.curb_weight" => line.options.push("unit = \"kg\"".to_owned()),
            of if of.starts_with("price.") => self.price(index, &mut line),
            field::FUELS => self.values(index, ValueLook::Fuel, "fuel", &mut line),
            field::GEARBOX => self.values(index, ValueLook::Gearbox, "gearbox", &mut line),
            field::BODY_TYPE => self.values(index, ValueLook::Body, "body", &mut line),
            field::DRIVE => self.values(index, ValueLook::Drive, "drive", &mut line),
            field::BRAND => self.values(index, ValueLook::Brand, "", &mut line),
            field::BODY if column.share(ValueLook::Html) > 0 => line.options.push("html = true".to_owned()),
            field::EQUIPMENT => {
                let mark = column.mark().filter(|_| column.repeated == 0);
                line.options.extend(mark.map(|mark| format!("split = {}", quoted(mark))));
            }
            field::YEAR if column.share(ValueLook::Year) < 50 => line.options.push("year = true".to_owned()),
            field::VAT | field::NEW if column.share(ValueLook::Boolean) < 50 => {
                line.confidence = line.confidence.min(SURE - 1);
                line.notes.push("Map its values: values = { \"…\" = true }.".to_owned());
            }
            field::TRAFFIC | "category_fields.eu_check_last" | "category_fields.eu_check_next" => {
                self.date(index, &mut line);
            }
            _ => {}
        }
        self.decimal(index, &mut line);
        let confidence = line.confidence;
        self.lines.push(line);
        if found.field == field::COLOR {
            let options = vec!["values = \"color\"".to_owned(), "otherwise = \"skip\"".to_owned()];
            let note = "The group of the same colour, if the built-in map contains it.";
            self.add(field::COLOR_GROUP, index, options, confidence, note);
        }
    }

    /// Adds an entry that is derived from a column, if the category has the field.
    fn add(&mut self, field: &'static str, index: usize, options: Vec<String>, confidence: u8, note: &str) {
        if is_target(self.category, field) {
            self.lines.push(Line { field, from: self.from(index), options, confidence, notes: vec![note.to_owned()] });
        }
    }

    /// All columns of images, as positions if they are adjacent.
    fn images(&mut self, index: usize, line: &mut Line) {
        let column = self.column(index);
        line.options.extend(column.picture_mark().map(|mark| format!("split = {}", quoted(mark))));
        if column.share(ValueLook::PictureNames) > column.share(ValueLook::Pictures) {
            line.options.push("template = \"https://CHANGE.example/{value}\"".to_owned());
            let note = "The images are file names. Put them on a web server and set their address in the template.";
            line.notes.push(note.to_owned());
            self.missing
                .push("Address of the images: image_urls contains file names; correct its template.".to_owned());
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

    /// The column with the unit or currency of a column.
    fn beside(&self, index: usize, is_it: fn(&str) -> bool) -> Option<usize> {
        let name = &self.seen.names[index];
        let around = names::around(name);
        let is_beside = |other: &str| {
            let of = names::around(other);
            // `pris/@valuta` of `pris`, `odometer.unit` of `odometer.value`, and any column of a flat file.
            of == name || of == around
        };
        self.seen.names.iter().position(|other| is_it(other) && is_beside(other))
    }

    /// Sets the unit from a column beside it or from its name. Returns whether the unit is unknown.
    fn needs_unit(&self, index: usize, units: &Units, line: &mut Line) -> bool {
        let known = units.map(|(unit, _)| unit);
        let is_unit = |text: &str| units::find(text, &known, &mut String::new()).is_some();
        let has_units = |beside: &usize| {
            let values = &self.column(*beside).distinct;
            !values.is_empty() && values.keys().all(|text| is_unit(text))
        };
        if let Some(beside) = self.beside(index, names::is_unit).filter(has_units) {
            line.options.push(format!("unit = {{ column = {} }}", self.from(beside)));
            return false;
        }
        // The values contain it.
        if self.column(index).numbers.suffix().is_some_and(is_unit) {
            return false;
        }
        let named = units.iter().find(|(_, words)| names::has_word(&self.seen.names[index], words));
        line.options.extend(named.map(|(unit, _)| format!("unit = \"{unit}\"")));
        named.is_none()
    }

    fn mileage(&mut self, index: usize, line: &mut Line) {
        if !self.needs_unit(index, &MILEAGE_UNITS, line) {
            return;
        }
        let (unit, why) = if self.column(index).numbers.greatest > LARGEST_IN_MIL {
            ("km", "The largest value is too large for mil; check that it is km.")
        } else {
            ("mil", "The largest value is small for km; check that it is mil.")
        };
        line.options.push(format!("unit = \"{unit}\""));
        line.notes.push(why.to_owned());
        self.missing.push(format!("The unit of the mileage: assumed to be {unit} from its size."));
    }

    fn power(&self, index: usize, line: &mut Line) {
        if self.needs_unit(index, &POWER_UNITS, line) {
            line.options.push("unit = \"hp\"".to_owned());
            line.notes.push("The unit is unknown; check that it is hp.".to_owned());
        }
    }

    fn price(&self, index: usize, line: &mut Line) {
        let name = &self.seen.names[index];
        let currency =
            if let Some(beside) = self.beside(index, names::is_currency).or_else(|| self.currencies_beside(index)) {
                format!("{{ column = {} }}", self.from(beside))
            } else if names::has_word(name, &["eur", "euro"]) || name.contains('€') {
                "\"EUR\"".to_owned()
            } else if names::has_word(name, &["sek", "kr"]) || self.column(index).numbers.suffix() == Some("kr") {
                "\"SEK\"".to_owned()
            } else {
                return;
            };
        line.options.push(format!("currency = {currency}"));
    }

    /// An adjacent column that contains only currencies.
    fn currencies_beside(&self, index: usize) -> Option<usize> {
        [index + 1, index.wrapping_sub(1)].into_iter().find(|near| {
            let column = self.seen.columns.get(*near).filter(|column| column.values > 0);
            column.is_some_and(|column| column.distinct.keys().all(|text| CURRENCIES.contains(&&**text)))
        })
    }

    /// The decimal separator, if values are ambiguous.
    fn decimal(&self, index: usize, line: &mut Line) {
        let numbers = &self.column(index).numbers;
        let is_number = line.field.starts_with("price.")
            || [field::MILEAGE, field::POWER, field::DISPLACEMENT].contains(&line.field);
        let [points, commas] = numbers.ambiguous;
        if !is_number || points + commas == 0 {
            return;
        }
        let [with_point, with_comma] = numbers.decimal.map(|count| count > 0);
        // Values with decimals decide; otherwise the mark before three digits is assumed to separate thousands.
        let is_comma = if with_point == with_comma { points >= commas } else { with_comma };
        line.options.push(format!("decimal = \"{}\"", if is_comma { ',' } else { '.' }));
        line.notes.push("Values such as \"1.234\" are assumed to be thousands; check this.".to_owned());
    }

    fn date(&mut self, index: usize, line: &mut Line) {
        let column = self.column(index);
        if column.share(ValueLook::Month) > column.share(ValueLook::Date) {
            line.confidence = line.confidence.min(30);
            line.notes.push("Its dates have no day, but the field needs full dates.".to_owned());
            return;
        }
        let Some((form, is_certain)) = column.dates.form() else { return };
        line.options.push(format!("date = \"{form}\""));
        if !is_certain {
            line.notes.push("Day and month are ambiguous; check the format.".to_owned());
            self.missing.push(format!("The date format of {}: assumed to be {form}.", self.seen.names[index]));
        }
    }

    /// The value maps of a column, including an own one for values that the built-in one does not contain.
    fn values(&mut self, index: usize, look: ValueLook, builtin: &str, line: &mut Line) {
        let SeenFile { columns, terms, names, .. } = &mut self.seen;
        let mut entries = Vec::new();
        for (text, count) in columns[index].frequent() {
            if entries.len() < MOST_UNKNOWN && terms.means(look, text).is_none() {
                let near = terms.nearest_brand(text).filter(|_| look == ValueLook::Brand).unwrap_or("…");
                entries.push((text.to_owned(), near.to_owned(), count));
            }
        }
        let name = format!("own_{}", if builtin.is_empty() { "brand" } else { builtin });
        let own = (!entries.is_empty()).then_some(name.as_str());
        let maps = own.into_iter().chain(Some(builtin).filter(|builtin| !builtin.is_empty()));
        match maps.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().as_slice() {
            [] => {}
            [map] => line.options.push(format!("values = {map}")),
            maps => line.options.push(format!("values = [{}]", maps.join(", "))),
        }
        if !entries.is_empty() {
            let about = format!("Unknown values of {}", names[index]);
            self.maps.push(DraftMap { name, about, entries });
        }
    }

    fn has(&self, field: &str) -> bool {
        self.lines.iter().any(|line| line.field == field && line.confidence >= SURE)
    }

    /// Adds fields that other columns can supply.
    fn fallbacks(&mut self) {
        if !self.has(field::SOURCE_ID) {
            let by = [field::PLATE, field::VIN].into_iter().filter_map(|of| self.guessed.column_of(of));
            let full =
                by.filter(|index| self.column(*index).is_unique()).max_by_key(|index| self.column(*index).filled);
            if let Some(index) = full.filter(|index| self.column(*index).filled == self.seen.rows) {
                let note = "No column looks like a stock number; this one is unique in every row.";
                self.lines.retain(|line| line.field != field::SOURCE_ID);
                self.add(field::SOURCE_ID, index, Vec::new(), 70, note);
                self.missing.push(format!("The source id: {} is used instead.", self.from(index)));
            }
        }
        if !self.has(field::YEAR)
            && let Some(index) = self.guessed.column_of(field::TRAFFIC)
        {
            let note = "No column contains the model year; the year of the first registration is an approximation.";
            self.add(field::YEAR, index, vec!["year = true".to_owned()], 65, note);
            self.missing.push(format!("The model year: the year of {} is used instead.", self.from(index)));
        }
        if self.has(field::OWNERS)
            && !self.has(field::NEW)
            && let Some(index) = self.guessed.column_of(field::OWNERS)
        {
            let options = vec!["values = { \"0\" = \"\" }".to_owned(), "otherwise = false".to_owned()];
            let note = "A vehicle with previous owners is used, even with a mileage of 0.";
            self.add(field::NEW, index, options, 80, note);
        }
    }

    /// Lists what an ad of the category needs and the draft does not supply.
    fn requirements(&mut self) {
        let mut missing: Vec<String> = Vec::new();
        let mut need = |field: &str, what: &str| {
            if !self.has(field) {
                missing.push(format!("{what}: {field} is required, but no column is certain."));
            }
        };
        need(field::SOURCE_ID, "Your own identifier");
        for required in self.category.fields().filter(|row| row.required && !row.path.contains("wheels")) {
            need(&format!("category_fields.{}", required.path), required.doc);
        }
        if self.category.heading == Heading::Required {
            need("title", "A title");
            need("contact.email", "A contact");
        }
        let lacks_plate = self.category.registered && !self.has(field::PLATE);
        let advised = [
            (
                lacks_plate && !self.has(field::VIN),
                "A registration number or a VIN: an ad needs one of them, and the registration number links it to its listing.",
            ),
            (
                lacks_plate && self.has(field::VIN),
                "The registration number: without it, an ad cannot be linked to its existing listing.",
            ),
            (!self.has(field::IMAGES), "Images: without image_urls, the ads will have no images."),
            (!self.has(field::PRICE), "A price: price.list is optional, but usually expected."),
        ];
        missing.extend(advised.iter().filter(|(is_missing, _)| *is_missing).map(|(_, what)| (*what).to_owned()));
        missing.extend(self.maps.iter().map(|map| format!("{}: fill in [values.{}].", map.about, map.name)));
        missing.append(&mut self.missing);
        self.missing = missing;
    }

    fn guesses(&self) -> Vec<Guess> {
        let guess = |(index, name): (usize, &String)| {
            let column = self.column(index);
            let (field, confidence, why) = match self.found(index) {
                _ if self.guessed.vehicle == Some(index) => (Some("[vehicle]"), 85, "its values are vehicle types"),
                Some(found) => (Some(found.field), found.confidence, found.why.as_str()),
                None => (None, 0, ""),
            };
            Guess {
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
