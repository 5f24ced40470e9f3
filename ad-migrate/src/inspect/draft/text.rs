//! The draft as a TOML file.

use ad_core::printable;

use super::{DraftEntry, DraftMap, TypeValue, Writer, quoted, rows::SoldColumn};
use crate::{inspect::names, readers::Detected};

impl DraftEntry {
    /// The entry, in its short form if it has no options.
    fn text(&self) -> String {
        let Self { field, from, options, .. } = self;
        if options.is_empty() {
            return format!("{field} = {from}");
        }
        format!("{field} = {{ from = {from}, {} }}", options.join(", "))
    }
}

impl Writer<'_> {
    pub(super) fn text(&self, types: &[TypeValue]) -> String {
        let mut text = vec![
            "# Draft of a mapping, guessed from the file. Each line is: field of the ad = column of the file."
                .to_owned(),
            format!(
                "# Based on {} rows. What the file does not show is a comment with a question: answer it, then remove the #.",
                self.seen.rows
            ),
        ];
        let fields = |used: bool| {
            let of = self.lines.iter().filter(|line| line.is_used() == used).map(|line| line.field);
            of.map(|field| field.strip_prefix("category_fields.").unwrap_or(field)).collect::<Vec<_>>().join(", ")
        };
        for (what, fields) in [("Filled by evidence", fields(true)), ("To be decided by you", fields(false))] {
            if !fields.is_empty() {
                text.push(format!("# {what}: {fields}."));
            }
        }
        if !self.missing.is_empty() {
            text.push("#\n# Missing or to be checked:".to_owned());
            text.extend(self.missing.iter().map(|missing| format!("# - {}", printable::line(missing))));
        }
        match self.language.code() {
            Some(language) => text.push(format!(
                "\n# The language of the values, by names and values of the columns.\nlanguage = \"{language}\""
            )),
            None => text.push(
                "\n# The values do not show their language: what means several things in different languages is an error until it is\n\
                 # answered. Set a language such as \"sv\", or answer the questions about the values.\nlanguage = \"unknown\""
                    .to_owned(),
            ),
        }
        self.file_table(&mut text);
        self.rows_table(&mut text);
        self.vehicle_table(types, &mut text);
        for DraftMap { name, about, entries, .. } in &self.maps {
            let answers = self.known.choices.and_then(|choices| choices.values.get(name));
            let answer = |value: &str| answers?.get(value);
            let about = printable::line(about);
            text.push(format!(
                "\n# ? {about}. Check what each means and remove its #; \"\" means no value.\n[values.{name}]"
            ));
            text.extend(entries.iter().map(|(value, means, count)| match answer(value) {
                Some(means) => format!("{} = {}  # {}", quoted(value), answer_text(means), rows_of(*count)),
                None => format!("# {} = {means}  # {}", quoted(value), rows_of(*count)),
            }));
        }
        text.push("\n[fields]".to_owned());
        let mut lines: Vec<&DraftEntry> = self.lines.iter().collect();
        lines.sort_by_key(|line| (line.field.starts_with("category_fields."), !line.is_used()));
        for line in lines {
            let questions = line.question.iter().map(|question| format!("? {question}"));
            let notes = line.notes.iter().cloned().chain(questions);
            text.extend(notes.map(|note| format!("# {}", printable::line(&note))));
            text.push(format!("{}{}", if line.is_used() { "" } else { "# " }, line.text()));
        }
        self.unused(&mut text);
        text.join("\n") + "\n"
    }

    fn file_table(&self, text: &mut Vec<String>) {
        let Detected { form, encoding, separator, header, skip_first, rows, member, sheet, .. } = self.detected;
        text.push("\n[file]".to_owned());
        let settings = [
            ("form", Some(quoted(&form.name().to_lowercase()))),
            // A spreadsheet has no encoding that could be another one.
            ("encoding", sheet.is_none().then(|| quoted(encoding))),
            ("separator", separator.map(|separator| quoted(&separator.to_string()))),
            ("skip_first", (*skip_first > 0).then(|| skip_first.to_string())),
            ("header", header.map(|header| header.to_string())),
            ("rows", rows.as_deref().map(quoted)),
            ("sheet", sheet.as_deref().map(quoted)),
            ("member", member.as_deref().map(quoted)),
        ];
        text.extend(settings.into_iter().filter_map(|(key, value)| Some(format!("{key} = {}", value?))));
    }

    /// The rows of vehicles that are not for sale.
    fn rows_table(&self, text: &mut Vec<String>) {
        let sold = self.sold();
        if sold.is_empty() {
            return;
        }
        text.push(String::new());
        text.extend(sold.iter().map(|column| format!("# ? {}", printable::line(&column.question()))));
        let conditions: Vec<String> = sold.iter().map(SoldColumn::condition).collect();
        let mark = if self.known.choices.is_some_and(|choices| choices.skips_sold) { "" } else { "# " };
        text.push(format!("{mark}[rows]\n{mark}skip = [{}]", conditions.join(", ")));
    }

    fn vehicle_table(&self, types: &[TypeValue], text: &mut Vec<String>) {
        let default = self.category.vehicle_type.unwrap_or_default();
        let Some(index) = self.guessed.vehicle else {
            text.push("\n[vehicle]".to_owned());
            text.push("# No column has vehicle types; all rows are taken for this one.".to_owned());
            return text.push(format!("type = \"{default}\""));
        };
        let (known, unknown): (Vec<_>, Vec<_>) = types.iter().partition(|(_, means, _)| means.is_some());
        let known =
            known.iter().filter_map(|(value, means, _)| Some(format!("{} = \"{}\"", quoted(value), means.as_ref()?)));
        let known = known.collect::<Vec<_>>().join(", ");
        let own =
            if unknown.is_empty() { format!("{{ {known} }}") } else { format!("[{{ {known} }}, \"own_vehicle\"]") };
        text.push(format!("\n[vehicle]\nfrom = {}\nvalues = {own}", self.from(index)));
        if !unknown.is_empty() {
            text.push(format!(
                "\n# ? Unknown values of {}. Set the vehicle type of each and remove its #.\n[values.own_vehicle]",
                printable::line(&self.seen.names[index])
            ));
        }
        text.extend(
            unknown
                .iter()
                .map(|(value, _, count)| format!("# {} = \"{default}\"  # {}", quoted(value), rows_of(*count))),
        );
    }

    fn unused(&self, text: &mut Vec<String>) {
        let is_unused = |(index, name): &(usize, &String)| {
            let is_used = self.found(*index).is_some() || self.guessed.vehicle == Some(*index);
            !is_used && !names::is_unit(name) && !names::is_currency(name)
        };
        let unused: Vec<_> = self.seen.names.iter().enumerate().filter(is_unused).collect();
        if !unused.is_empty() {
            text.push("\n# Unused columns:".to_owned());
        }
        let line = |(index, name): &(usize, &String)| format!("# {}: {}", printable::line(name), self.samples(*index));
        text.extend(unused.iter().map(line));
    }
}

/// What a value means, as TOML.
fn answer_text(means: &[String]) -> String {
    match means {
        [one] => quoted(one),
        several => format!("[{}]", several.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ")),
    }
}

/// A number of rows in words: `1 row`, `3 rows`.
fn rows_of(count: u32) -> String {
    format!("{count} {}", if count == 1 { "row" } else { "rows" })
}
