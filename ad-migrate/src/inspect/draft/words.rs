//! Values of a draft that are words: value maps, models, lists and yes or no. What a word probably means is the answer to its question.

use ad_core::written;

use super::{DraftEntry, DraftMap, Language, MOST_UNKNOWN, NO_VALUE, Question, SeenFile, Writer, quoted};
use crate::{
    inspect::{
        column::ListMark,
        guess::field,
        look::{Terms, ValueLook},
    },
    mapping::values,
};

/// Fields with words on which languages may disagree, and their value maps.
const CONTESTED: [(&str, &str); 4] =
    [(field::FUELS, "fuel"), (field::GEARBOX, "gearbox"), (field::BODY_TYPE, "body"), (field::DRIVE, "drive")];

/// Codes of fuels that mean different things in different systems: electric or ethanol, gas or gasoline.
const CODES: [&str; 2] = ["E", "G"];

/// Words that say that a vehicle is new, as they are compared.
const NEW: [&str; 9] = ["ny", "nybil", "new", "neu", "neuwagen", "neufahrzeug", "uusi", "nieuw", "neuf"];

/// Words of a value from which it may be a list of words without a mark between them.
const MANY_WORDS: f64 = 2.5;

/// Values as TOML: a text, or several.
fn toml(values: &[Box<str>]) -> String {
    match values {
        [] => NO_VALUE.to_owned(),
        [one] => quoted(one),
        several => format!("[{}]", several.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", ")),
    }
}

impl Writer<'_> {
    /// Whether a value has a meaning that depends on the language.
    fn is_contested(&self, index: usize, map: &str) -> bool {
        self.column(index).distinct.keys().any(|text| Terms::is_contested(map, text))
    }

    /// Where the values do not show their language, terms on which languages disagree have no meaning.
    pub(super) fn settle_language(&mut self) {
        let of = |(field, map): &(&str, &'static str)| Some((self.guessed.column_of(field)?, *map));
        let is_contested = CONTESTED.iter().filter_map(of).any(|(index, map)| self.is_contested(index, map));
        if is_contested && !self.languages.is_certain() {
            self.language = Language::Unknown;
            self.seen.terms.set_language(Language::Unknown);
        }
    }

    /// The value maps of a column, including an own one for values that the built-in one does not contain.
    pub(super) fn values(&mut self, index: usize, look: ValueLook, builtin: &str, line: &mut DraftEntry) {
        let language = self.languages.values;
        let SeenFile { columns, terms, names, .. } = &mut self.seen;
        let (mut entries, mut codes) = (Vec::new(), Vec::new());
        for (text, count) in columns[index].frequent() {
            match terms.means(look, text) {
                _ if entries.len() == MOST_UNKNOWN => break,
                None => entries.push((text.to_owned(), toml(&terms.likely(look, builtin, text, language)), count)),
                Some(means) if look == ValueLook::Fuel && CODES.iter().any(|code| code.eq_ignore_ascii_case(text)) => {
                    codes.push(text.to_owned());
                    entries.push((text.to_owned(), toml(&means), count));
                }
                Some(_) => {}
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
        if !codes.is_empty() {
            let text = format!("What do the codes {} mean? Systems differ.", codes.join(", "));
            line.ask(Question::Values, &text);
        }
        if !entries.is_empty() {
            let about = format!("Unknown values of {}", names[index]);
            self.maps.push(DraftMap { name, field: line.field, about, entries });
        }
    }

    /// Models that the catalogue does not have, of the brands beside them.
    pub(super) fn models(&mut self, index: usize, line: &mut DraftEntry) {
        let SeenFile { columns, terms, names, .. } = &mut self.seen;
        let mut unknown: Vec<_> = columns[index].models.unknown.iter().collect();
        unknown.sort_by(|(one, count), (other, other_count)| other_count.cmp(count).then(one.cmp(other)));
        let mut entries: Vec<(String, String, u32)> = Vec::new();
        for ((brand, text), count) in unknown.into_iter().take(MOST_UNKNOWN) {
            match entries.iter_mut().find(|(known, ..)| **known == **text) {
                Some((.., rows)) => *rows += count,
                None => entries.push((text.to_string(), quoted(&terms.likely_model(brand, text)), *count)),
            }
        }
        if !entries.is_empty() {
            let (name, about) = ("own_model".to_owned(), format!("Unknown models of {}", names[index]));
            line.options.push(format!("values = \"{name}\""));
            self.maps.push(DraftMap { name, field: line.field, about, entries });
        }
    }

    /// How the items of a list are separated.
    pub(super) fn equipment(&self, index: usize, line: &mut DraftEntry) {
        let column = self.column(index);
        if column.repeated > 0 {
            return;
        }
        match column.list_mark() {
            ListMark::Mark(mark) => line.options.push(format!("split = {}", quoted(mark))),
            ListMark::Unsure(mark) => {
                line.options.push(format!("split = {}", quoted(mark)));
                line.ask(Question::List, &format!("Does {} separate items, or is it part of them?", quoted(mark)));
            }
            ListMark::Usual if !column.has_lists() => {
                let equipment = values::builtin_map("equipment", "car", Language::Any);
                let mut scratch = String::new();
                let mut known = |text: &str| {
                    text.split_whitespace().filter(|word| equipment.find(word, &mut scratch).is_some()).count()
                };
                if column.words() >= MANY_WORDS || column.distinct.keys().any(|text| known(text) > 1) {
                    line.options.push("split = \" \"".to_owned());
                    line.ask(Question::List, "Is each value one item, or is it a list with spaces between its items?");
                }
            }
            ListMark::Usual => {}
        }
    }

    /// What values mean that are neither yes nor no.
    pub(super) fn yes_or_no(&self, index: usize, line: &mut DraftEntry) {
        let folded = |text: &str| crate::mapping::fold::folded(text);
        let is_new = |text: &str| line.field == field::NEW && NEW.contains(&folded(text).as_str());
        let is_more = |text: &str| text.parse::<f64>().is_ok_and(|number| number > 0.0);
        let values = self.column(index).frequent().into_iter().take(MOST_UNKNOWN).map(|(text, _)| {
            let means = written::truth(text).unwrap_or_else(|| is_new(text) || is_more(text));
            format!("{} = {means}", quoted(text))
        });
        line.options.push(format!("values = {{ {} }}", values.collect::<Vec<_>>().join(", ")));
        line.ask(Question::Values, "What do its values mean? Set true or false for each.");
    }
}
