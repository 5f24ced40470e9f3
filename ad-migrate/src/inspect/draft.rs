//! The draft as the text of a mapping: what is sure as it is, what is not as comments, and what is missing at the top.

use std::fmt::Write;

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

/// Most values that no map knows that are listed.
const MOST_UNKNOWN: usize = 30;

/// A line of `[fields]`.
#[derive(Debug)]
struct Line {
    field: &'static str,
    rule: String,
    confidence: u8,
    /// What is to be said of it.
    notes: Vec<String>,
}

/// An own value map to fill in.
#[derive(Debug)]
struct DraftMap {
    name: String,
    about: String,
    /// Each a value, what it could mean, and how many rows have it.
    entries: Vec<(String, String, u32)>,
}

/// What is being written.
#[derive(Debug)]
struct Writer<'a> {
    seen: SeenFile,
    guessed: Guessed,
    category: &'static Category,
    detected: &'a Detected,
    lines: Vec<Line>,
    maps: Vec<DraftMap>,
    missing: Vec<String>,
}

/// Writes the draft.
pub(super) fn write(mut seen: SeenFile, guessed: Guessed, detected: &Detected) -> Draft {
    let types = guessed.vehicle.map(|index| types(&mut seen, index)).unwrap_or_default();
    let most =
        types.iter().filter_map(|(_, name, count)| Some((name.as_ref()?, count))).max_by_key(|(_, count)| **count);
    let category = most.and_then(|(name, _)| categories::by_vehicle_type(name));
    let category = category.or_else(|| categories::by_vehicle_type("car")).expect("cars are a category");
    let mut writer =
        Writer { seen, guessed, category, detected, lines: Vec::new(), maps: Vec::new(), missing: Vec::new() };
    writer.all_lines();
    writer.fallbacks();
    writer.what_is_missing();
    let mapping = writer.text(&types);
    let columns = writer.guesses();
    Draft {
        detected: detected.clone(),
        rows: writer.seen.rows,
        vehicle_type: category.vehicle_type.unwrap_or_default().to_owned(),
        columns,
        missing: writer.missing,
        mapping,
    }
}

/// The values of the column of vehicle types, and what each means.
fn types(seen: &mut SeenFile, index: usize) -> Vec<(String, Option<String>, u32)> {
    let SeenFile { columns, terms, .. } = seen;
    let all = columns[index].frequent().into_iter().take(MOST_UNKNOWN);
    let meant = all.map(|(text, count)| {
        let means =
            terms.means(ValueLook::VehicleType, text).and_then(|values| values.first().map(ToString::to_string));
        (text.to_owned(), means, count)
    });
    meant.collect()
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    // What JSON escapes, TOML reads; it wants one sign more escaped.
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

    fn all_lines(&mut self) {
        for index in 0..self.seen.columns.len() {
            let Some(found) = self.guessed.columns[index].clone() else { continue };
            let is_other_image = found.field == field::IMAGES && self.guessed.images.first() != Some(&index);
            if is_other_image || !is_target(self.category, found.field) {
                continue;
            }
            self.line(index, &found);
        }
    }

    /// The line of a field and its column.
    fn line(&mut self, index: usize, found: &Match) {
        let mut options: Vec<String> = Vec::new();
        let mut notes = vec![self.about(index, found)];
        let mut confidence = found.confidence;
        let mut from = self.from(index);
        match found.field {
            field::IMAGES => from = self.images(index, &mut options, &mut notes),
            field::MILEAGE => self.mileage(index, &mut options, &mut notes),
            field::POWER => self.power(index, &mut options, &mut notes),
            field::DISPLACEMENT => {
                let is_small = self.column(index).numbers.greatest < 30.0;
                options.push(format!("unit = \"{}\"", if is_small { "l" } else { "cc" }));
            }
            "category_fields.physics.max_trailer_weight"
            | "category_fields.physics.gross_weight"
            | "category_fields.physics.curb_weight" => options.push("unit = \"kg\"".to_owned()),
            of if of.starts_with("price.") => self.price(index, &mut options),
            field::FUELS => self.values(index, ValueLook::Fuel, "fuel", &mut options),
            field::GEARBOX => self.values(index, ValueLook::Gearbox, "gearbox", &mut options),
            field::BODY_TYPE => self.values(index, ValueLook::Body, "body", &mut options),
            field::DRIVE => self.values(index, ValueLook::Drive, "drive", &mut options),
            field::BRAND => self.values(index, ValueLook::Brand, "", &mut options),
            field::BODY if self.column(index).share(ValueLook::Html) > 0 => options.push("html = true".to_owned()),
            field::EQUIPMENT => {
                if let Some(mark) = self.column(index).mark().filter(|_| self.column(index).repeated == 0) {
                    options.push(format!("split = {}", quoted(mark)));
                }
            }
            field::YEAR if self.column(index).share(ValueLook::Year) < 50 => options.push("year = true".to_owned()),
            field::VAT | field::NEW if self.column(index).share(ValueLook::Boolean) < 50 => {
                confidence = confidence.min(SURE - 1);
                notes.push("Map its values: values = { \"…\" = true }.".to_owned());
            }
            field::TRAFFIC | "category_fields.eu_check_last" | "category_fields.eu_check_next" => {
                self.date(index, &mut options, &mut notes, &mut confidence);
            }
            _ => {}
        }
        self.decimal(index, found.field, &mut options, &mut notes);
        let rule = if options.is_empty() { from } else { format!("{{ from = {from}, {} }}", options.join(", ")) };
        self.lines.push(Line { field: found.field, rule, confidence, notes });
        if found.field == field::COLOR {
            self.color_group(index, confidence);
        }
    }

    /// Samples, confidence and reason, on a line.
    fn about(&self, index: usize, found: &Match) -> String {
        let samples =
            self.column(index).samples.iter().map(|sample| printable::line(sample)).collect::<Vec<_>>().join(" · ");
        format!("{samples} – {} %: {}", found.confidence, found.why)
    }

    /// All columns of pictures, as positions where they stand side by side.
    fn images(&mut self, index: usize, options: &mut Vec<String>, notes: &mut Vec<String>) -> String {
        let all = self.guessed.images.clone();
        if let Some(mark) = self.column(index).picture_mark() {
            options.push(format!("split = {}", quoted(mark)));
        }
        if self.column(index).share(ValueLook::PictureNames) > self.column(index).share(ValueLook::Pictures) {
            options.push("template = \"https://CHANGE.example/{value}\"".to_owned());
            notes.push(
                "The images are file names. Put them on a web server and set their address in the template.".to_owned(),
            );
            self.missing
                .push("Address of the images: image_urls contains file names; correct its template.".to_owned());
        }
        let mut last = *all.last().unwrap_or(&index);
        let is_row = all.windows(2).all(|pair| pair[1] - pair[0] == 1);
        let has_no_header = self.detected.header == Some(false);
        if all.len() > 1 && is_row && has_no_header {
            // Columns behind that are empty in the rows seen belong to them as well.
            while self.seen.columns.get(last + 1).is_some_and(|next| next.values == 0) {
                last += 1;
            }
            return format!("\"{}-{}\"", index + 1, last + 1);
        }
        if all.len() > 1 {
            return format!("[{}]", all.iter().map(|index| self.from(*index)).collect::<Vec<_>>().join(", "));
        }
        self.from(index)
    }

    /// The column beside one that has its unit or currency.
    fn beside(&self, index: usize, is_it: fn(&str) -> bool) -> Option<usize> {
        let name = &self.seen.names[index];
        let around = names::around(name);
        let is_near = |other: &str| {
            let of = names::around(other);
            // `pris/@valuta` of `pris`, and `odometer.unit` of `odometer.value`.
            of == name || (!around.is_empty() && of == around)
        };
        let is_flat = around.is_empty() && !names::around(name).contains('/');
        let all = self.seen.names.iter().enumerate();
        let mut found =
            all.filter(|(_, other)| is_it(other) && (is_near(other) || (is_flat && names::around(other).is_empty())));
        found.next().map(|(index, _)| index)
    }

    fn mileage(&mut self, index: usize, options: &mut Vec<String>, notes: &mut Vec<String>) {
        if let Some(beside) =
            self.beside(index, names::is_unit).filter(|beside| self.has_units(*beside, &["km", "mil"]))
        {
            options.push(format!("unit = {{ column = {} }}", self.from(beside)));
            return;
        }
        let name = &self.seen.names[index];
        let numbers = &self.column(index).numbers;
        if numbers.suffix().is_some_and(|suffix| units::find(suffix, &["km", "mil"], &mut String::new()).is_some()) {
            return;
        }
        let (unit, why) = if names::has_word(name, &["mil", "miltal"]) {
            ("mil", None)
        } else if names::has_word(
            name,
            &["km", "kms", "kilometer", "kilometers", "kilometerstand", "kilometre", "laufleistung", "tachostand"],
        ) {
            ("km", None)
        } else if numbers.greatest > 60_000.0 {
            ("km", Some("The largest value is too large for mil; check that it is km."))
        } else {
            ("mil", Some("The largest value is small for km; check that it is mil."))
        };
        options.push(format!("unit = \"{unit}\""));
        if let Some(why) = why {
            notes.push(why.to_owned());
            self.missing.push(format!("The unit of the mileage: assumed to be {unit} from its size."));
        }
    }

    /// Whether the values of a column are units among these.
    fn has_units(&self, index: usize, known: &[&'static str]) -> bool {
        let column = self.column(index);
        !column.distinct.is_empty()
            && column.distinct.keys().all(|text| units::find(text, known, &mut String::new()).is_some())
    }

    fn power(&mut self, index: usize, options: &mut Vec<String>, notes: &mut Vec<String>) {
        if let Some(beside) = self.beside(index, names::is_unit).filter(|beside| self.has_units(*beside, &["hp", "kw"]))
        {
            options.push(format!("unit = {{ column = {} }}", self.from(beside)));
            return;
        }
        let suffix = self.column(index).numbers.suffix();
        if suffix.is_some_and(|suffix| units::find(suffix, &["hp", "kw"], &mut String::new()).is_some()) {
            return;
        }
        let name = &self.seen.names[index];
        if names::has_word(name, &["kw"]) {
            options.push("unit = \"kw\"".to_owned());
        } else {
            options.push("unit = \"hp\"".to_owned());
            if !names::has_word(name, &["hk", "hp", "ps", "bhp", "hastkrafter", "horsepower", "horses"]) {
                notes.push("The unit is unknown; check that it is hp.".to_owned());
            }
        }
    }

    fn price(&mut self, index: usize, options: &mut Vec<String>) {
        let name = &self.seen.names[index];
        if let Some(beside) = self.beside(index, names::is_currency).or_else(|| self.currencies_beside(index)) {
            options.push(format!("currency = {{ column = {} }}", self.from(beside)));
        } else if names::has_word(name, &["eur", "euro"]) || name.contains('€') {
            options.push("currency = \"EUR\"".to_owned());
        } else if names::has_word(name, &["sek", "kr"]) || self.column(index).numbers.suffix() == Some("kr") {
            options.push("currency = \"SEK\"".to_owned());
        }
    }

    /// The next column, where all its values are currencies.
    fn currencies_beside(&self, index: usize) -> Option<usize> {
        const KNOWN: [&str; 6] = ["SEK", "EUR", "NOK", "DKK", "USD", "GBP"];
        let near = [index + 1, index.wrapping_sub(1)];
        let mut near =
            near.into_iter().filter(|near| self.seen.columns.get(*near).is_some_and(|column| column.values > 0));
        near.find(|near| self.column(*near).distinct.keys().all(|text| KNOWN.contains(&&**text)))
    }

    /// The decimal separator, where values can be read in two ways.
    fn decimal(&mut self, index: usize, of: &str, options: &mut Vec<String>, notes: &mut Vec<String>) {
        let numbers = &self.column(index).numbers;
        let is_number =
            of.starts_with("price.") || of == field::MILEAGE || of == field::POWER || of == field::DISPLACEMENT;
        let [points, commas] = numbers.ambiguous;
        if !is_number || points + commas == 0 {
            return;
        }
        let [with_point, with_comma] = numbers.decimal.map(|count| count > 0);
        // What shows decimals decides; else what stands before three digits is taken for the mark of thousands.
        let is_comma = if with_point == with_comma { points >= commas } else { with_comma };
        let decimal = if is_comma { ',' } else { '.' };
        options.push(format!("decimal = \"{decimal}\""));
        notes.push("Values such as \"1.234\" are assumed to be thousands; check this.".to_owned());
    }

    fn date(&mut self, index: usize, options: &mut Vec<String>, notes: &mut Vec<String>, confidence: &mut u8) {
        let column = self.column(index);
        if column.share(ValueLook::Month) > column.share(ValueLook::Date) {
            *confidence = (*confidence).min(30);
            notes.push("Its dates have no day, but the field needs full dates.".to_owned());
            return;
        }
        if let Some((form, is_shown)) = column.dates.form() {
            options.push(format!("date = \"{form}\""));
            if !is_shown {
                notes.push("Day and month are ambiguous; check the format.".to_owned());
                self.missing.push(format!("The date format of {}: assumed to be {form}.", self.seen.names[index]));
            }
        }
    }

    /// The value maps of a column, with an own one for what the built-in one does not know.
    fn values(&mut self, index: usize, look: ValueLook, builtin: &str, options: &mut Vec<String>) {
        let SeenFile { columns, terms, names, .. } = &mut self.seen;
        let mut entries = Vec::new();
        for (text, count) in columns[index].frequent() {
            if entries.len() == MOST_UNKNOWN {
                break;
            }
            if terms.means(look, text).is_none() {
                let near = if look == ValueLook::Brand { terms.nearest_brand(text).unwrap_or("…") } else { "…" };
                entries.push((text.to_owned(), near.to_owned(), count));
            }
        }
        let name = if builtin.is_empty() { "own_brand".to_owned() } else { format!("own_{builtin}") };
        match (entries.is_empty(), builtin.is_empty()) {
            (true, true) => {}
            (true, false) => options.push(format!("values = \"{builtin}\"")),
            (false, true) => options.push(format!("values = \"{name}\"")),
            (false, false) => options.push(format!("values = [\"{name}\", \"{builtin}\"]")),
        }
        if !entries.is_empty() {
            let about = format!("Unknown values of {}", names[index]);
            self.maps.push(DraftMap { name, about, entries });
        }
    }

    fn color_group(&mut self, index: usize, confidence: u8) {
        if is_target(self.category, field::COLOR_GROUP) {
            let rule = format!("{{ from = {}, values = \"color\", otherwise = \"skip\" }}", self.from(index));
            let notes = vec!["The group of the same colour, if the built-in map contains it.".to_owned()];
            self.lines.push(Line { field: field::COLOR_GROUP, rule, confidence, notes });
        }
    }

    fn has(&self, field: &str) -> bool {
        self.lines.iter().any(|line| line.field == field && line.confidence >= SURE)
    }

    /// Fields that other columns can stand in for.
    fn fallbacks(&mut self) {
        if !self.has(field::SOURCE_ID) {
            let by = [field::PLATE, field::VIN].into_iter().filter_map(|of| self.guessed.column_of(of));
            let full =
                by.filter(|index| self.column(*index).is_unique()).max_by_key(|index| self.column(*index).filled);
            if let Some(index) = full.filter(|index| self.column(*index).filled == self.seen.rows) {
                let note = "No column looks like a stock number; this one is unique in every row.";
                self.lines.retain(|line| line.field != field::SOURCE_ID);
                let (rule, notes) = (self.from(index), vec![note.to_owned()]);
                self.missing.push(format!("The source id: {rule} is used instead."));
                self.lines.push(Line { field: field::SOURCE_ID, rule, confidence: 70, notes });
            }
        }
        if !self.has(field::YEAR)
            && let Some(index) = self.guessed.column_of(field::TRAFFIC)
        {
            let note = "No column contains the model year; the year of the first registration is an approximation.";
            let (rule, notes) = (format!("{{ from = {}, year = true }}", self.from(index)), vec![note.to_owned()]);
            self.missing.push(format!("The model year: the year of {} is used instead.", self.from(index)));
            self.lines.push(Line { field: field::YEAR, rule, confidence: 65, notes });
        }
        let owners = self.guessed.column_of(field::OWNERS).filter(|_| self.has(field::OWNERS));
        if let Some(index) = owners
            && !self.has(field::NEW)
            && is_target(self.category, field::NEW)
        {
            let rule = format!("{{ from = {}, values = {{ \"0\" = \"\" }}, otherwise = false }}", self.from(index));
            let notes = vec!["A vehicle with previous owners is used, even with a mileage of 0.".to_owned()];
            self.lines.push(Line { field: field::NEW, rule, confidence: 80, notes });
        }
    }

    /// What an ad of the category needs and the draft does not make.
    fn what_is_missing(&mut self) {
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
        if self.category.registered && !self.has(field::PLATE) && !self.has(field::VIN) {
            missing.push(
                "A registration number or a VIN: an ad needs one of them, and the registration number links it to its listing.".to_owned(),
            );
        } else if self.category.registered && !self.has(field::PLATE) {
            missing.push(
                "The registration number: without it, an ad cannot be linked to its existing listing.".to_owned(),
            );
        }
        if !self.has(field::IMAGES) {
            missing.push("Images: without image_urls, the ads will have no images.".to_owned());
        }
        if !self.has(field::PRICE) {
            missing.push("A price: price.list is optional, but usually expected.".to_owned());
        }
        for map in &self.maps {
            missing.push(format!("{}: fill in [values.{}].", map.about, map.name));
        }
        missing.append(&mut self.missing);
        self.missing = missing;
    }

    fn text(&self, types: &[(String, Option<String>, u32)]) -> String {
        let mut text = String::from(
            "# Draft of a mapping, guessed from the file. Each line is: field of the ad = column of the file.\n",
        );
        let _ = writeln!(
            text,
            "# Based on {} rows. Guesses with less than {SURE} % confidence are comments: remove the # to use them.",
            self.seen.rows
        );
        if !self.missing.is_empty() {
            text.push_str("#\n# Missing or to be checked:\n");
            for missing in &self.missing {
                let _ = writeln!(text, "# - {}", printable::line(missing));
            }
        }
        self.file_table(&mut text);
        self.vehicle_table(types, &mut text);
        for map in &self.maps {
            let _ = writeln!(
                text,
                "\n# {}. Set the value of each and remove its #; \"\" means no value.",
                printable::line(&map.about)
            );
            let _ = writeln!(text, "[values.{}]", map.name);
            for (value, means, count) in &map.entries {
                let rows = if *count == 1 { "1 row" } else { &format!("{count} rows") };
                let _ = writeln!(text, "# {} = {}  # {rows}", quoted(value), quoted(means));
            }
        }
        text.push_str("\n[fields]\n");
        let mut lines: Vec<&Line> = self.lines.iter().collect();
        lines.sort_by_key(|line| (line.field.starts_with("category_fields."), line.confidence < SURE));
        for line in lines {
            for note in &line.notes {
                let _ = writeln!(text, "# {}", printable::line(note));
            }
            let is_sure = line.confidence >= SURE;
            let _ = writeln!(text, "{}{} = {}", if is_sure { "" } else { "# " }, line.field, line.rule);
        }
        self.left_over(&mut text);
        text
    }

    fn file_table(&self, text: &mut String) {
        let detected = self.detected;
        let form = match detected.form {
            Form::Csv => "csv",
            Form::Json => "json",
            Form::Ndjson => "ndjson",
            Form::Xml => "xml",
        };
        let _ = writeln!(text, "\n[file]\nform = \"{form}\"\nencoding = {}", quoted(&detected.encoding));
        if let Some(separator) = detected.separator {
            let _ = writeln!(text, "separator = {}", quoted(&separator.to_string()));
        }
        if let Some(header) = detected.header {
            let _ = writeln!(text, "header = {header}");
        }
        if let Some(rows) = &detected.rows {
            let _ = writeln!(text, "rows = {}", quoted(rows));
        }
    }

    fn vehicle_table(&self, types: &[(String, Option<String>, u32)], text: &mut String) {
        text.push_str("\n[vehicle]\n");
        let Some(index) = self.guessed.vehicle else {
            let _ = writeln!(text, "type = \"{}\"", self.category.vehicle_type.unwrap_or_default());
            return;
        };
        let known =
            types.iter().filter_map(|(value, means, _)| Some(format!("{} = \"{}\"", quoted(value), means.as_ref()?)));
        let _ = writeln!(text, "from = {}", self.from(index));
        let _ = writeln!(text, "values = {{ {} }}", known.collect::<Vec<_>>().join(", "));
        for (value, _, count) in types.iter().filter(|(_, means, _)| means.is_none()) {
            let _ = writeln!(text, "# {} is unknown, in {count} rows: add it to the values.", quoted(value));
        }
    }

    /// Columns that are taken for nothing.
    fn left_over(&self, text: &mut String) {
        let mut is_first = true;
        for (index, column) in self.seen.columns.iter().enumerate() {
            let is_used =
                self.guessed.columns[index].as_ref().is_some_and(|found| is_target(self.category, found.field));
            let name = &self.seen.names[index];
            if is_used || self.guessed.vehicle == Some(index) || names::is_unit(name) || names::is_currency(name) {
                continue;
            }
            if is_first {
                text.push_str("\n# Unused columns:\n");
                is_first = false;
            }
            let samples = column.samples.iter().map(|sample| printable::line(sample)).collect::<Vec<_>>().join(" · ");
            let _ = writeln!(text, "# {}: {samples}", printable::line(name));
        }
    }

    fn guesses(&self) -> Vec<Guess> {
        let all = self.seen.names.iter().zip(&self.seen.columns).enumerate();
        let guess = |(index, (name, column)): (usize, (&String, &Column))| {
            let found = self.guessed.columns[index].as_ref().filter(|found| is_target(self.category, found.field));
            let is_vehicle = self.guessed.vehicle == Some(index);
            let field = if is_vehicle { Some("[vehicle]") } else { found.map(|found| found.field) };
            Guess {
                column: name.clone(),
                filled: column.filled,
                distinct: column.distinct.len(),
                samples: column.samples.clone(),
                field: field.map(str::to_owned),
                confidence: if is_vehicle { 85 } else { found.map_or(0, |found| found.confidence) },
                why: match found {
                    _ if is_vehicle => "its values are vehicle types".to_owned(),
                    Some(found) => found.why.clone(),
                    None => String::new(),
                },
            }
        };
        all.map(guess).collect()
    }
}
