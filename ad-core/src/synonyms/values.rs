//! Value maps: the terms that other systems use, and the allowed values that they stand for. The built-in maps are data files. Which
//! values a field allows is decided by the tables and the catalogue; a test compares them.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::{
    fold::{exact, exact_into, fold_into, folded, words},
    languages::Language,
};

/// The built-in maps, by name.
const EMBEDDED: &[(&str, &str)] = &[
    ("body", include_str!("data/body.toml")),
    ("brand", include_str!("data/brand.toml")),
    ("color", include_str!("data/color.toml")),
    ("drive", include_str!("data/drive.toml")),
    ("equipment", include_str!("data/equipment.toml")),
    ("fuel", include_str!("data/fuel.toml")),
    ("gearbox", include_str!("data/gearbox.toml")),
    ("vehicle", include_str!("data/vehicle.toml")),
];

static BUILTIN: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    let read = |(name, text): &(&'static str, &'static str)| {
        let file = toml::from_str(text).expect("the embedded maps are read by a test");
        Builtin { name, text, file }
    };
    EMBEDDED.iter().map(read).collect()
});

/// A map that comes with the program.
#[derive(Debug)]
pub struct Builtin {
    /// Name by which a mapping refers to it: that of its file, without extension.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
    file: ValueMapFile,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueMapFile {
    /// Paths of the category fields that take its values. Equipment is free text, and vehicle types are no field.
    #[serde(default)]
    fields: Vec<String>,
    #[serde(default)]
    matching: TermMatching,
    /// By vehicle type, or `all` of them: the terms of a value. A value may be several, joined by ` + `.
    terms: Sections,
    /// Terms that may mean one of several things in every language.
    #[serde(default)]
    several: Vec<SeveralMeanings>,
    /// By language: terms that mean something else there.
    #[serde(default)]
    languages: FxHashMap<String, Sections>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeveralMeanings {
    terms: Vec<String>,
    /// The meanings; each may be several values, joined by ` + `.
    values: Vec<String>,
}

/// One meaning of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Allowed values; more than one if the term stands for all of them together.
    pub values: Box<[Box<str>]>,
    /// The names of the languages that have this meaning; none for all others.
    pub languages: Vec<&'static str>,
}

/// The English name of a language.
fn name_of(code: &str) -> &'static str {
    const NAMES: [(&str, &str); 8] = [
        ("da", "Danish"),
        ("de", "German"),
        ("en", "English"),
        ("fi", "Finnish"),
        ("fr", "French"),
        ("nb", "Norwegian"),
        ("nl", "Dutch"),
        ("sv", "Swedish"),
    ];
    NAMES.iter().find(|(known, _)| *known == code).map_or("another language", |(_, name)| name)
}

/// By vehicle type, or `all`: the terms of a value.
type Sections = FxHashMap<String, FxHashMap<String, Vec<String>>>;

/// How a map finds a term in a text that is none of its terms.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TermMatching {
    /// Words that say nothing about the value: `metallic`.
    ignore: Vec<String>,
    /// Beginnings of words that say nothing about it: `mörk`.
    beginnings: Vec<String>,
    /// Words without which a text means something else, so that it is not cut: `hybrid`.
    keep: Vec<String>,
    /// Whether a term may stand anywhere in the text; otherwise at its beginning, with details behind it.
    anywhere: bool,
    /// Whether a text may name several values: `Bensin/El`.
    several: bool,
}

/// Stands for no value, but for terms that mean several things in a language: a person must say which.
const UNCLEAR: &str = "?";

/// The maps that come with the program.
pub fn builtin() -> &'static [Builtin] {
    &BUILTIN
}

/// The built-in map of a name.
pub fn named(name: &str) -> Option<&'static Builtin> {
    BUILTIN.iter().find(|map| map.name == name)
}

/// The built-in map for the values of a category field.
pub fn of_field(path: &str) -> Option<&'static Builtin> {
    BUILTIN.iter().find(|map| map.file.fields.iter().any(|field| field == path))
}

/// A built-in map with all its entries for a vehicle type; nothing in it where there is no such map.
pub fn builtin_map(name: &str, vehicle_type: &str, language: Language) -> ValueMap {
    named(name).map(|map| map.map(vehicle_type, language, |_| true)).unwrap_or_default()
}

/// A term, and the values that it stands for.
pub type MapEntry = (Box<str>, Box<[Box<str>]>);

/// By term: the texts that it stands for.
type Terms = FxHashMap<Box<str>, Box<[Box<str>]>>;

/// A map as it is asked: terms as they are compared, each with the texts that it stands for.
#[derive(Debug, Default)]
pub struct ValueMap {
    /// Terms that a mapping defines itself: `-1` is not `1`.
    exact: Terms,
    /// Terms of the built-in maps, in any spelling.
    terms: Terms,
    /// Terms that mean several things, of which the language does not say one.
    unclear: FxHashSet<Box<str>>,
    matching: Option<TermMatching>,
}

impl Builtin {
    /// Its entries for a vehicle type, and those for all: the term and the value.
    pub fn entries<'a>(&'a self, vehicle_type: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        entries(&self.file.terms, vehicle_type)
    }

    /// Its sections: vehicle types, and `all`.
    #[cfg(test)]
    fn sections(&self) -> impl Iterator<Item = &str> {
        self.file.terms.keys().map(String::as_str)
    }

    /// The map for a vehicle type in a language, with the entries whose value is allowed there.
    pub fn map(&self, vehicle_type: &str, language: Language, mut is_allowed: impl FnMut(&str) -> bool) -> ValueMap {
        let mut map = ValueMap { matching: Some(self.matching()), ..ValueMap::default() };
        let of_language = self.file.languages.get(language.code().unwrap_or_default());
        // The terms of the language come first, then those of the vehicle type.
        let terms = of_language.into_iter().flat_map(|sections| entries(sections, vehicle_type));
        let is_unclear = |(_, value): &(&str, &str)| *value == UNCLEAR;
        let unclear: Vec<&str> = terms.clone().filter(is_unclear).map(|(term, _)| term).collect();
        for (term, value) in terms.filter(|entry| !is_unclear(entry)).chain(self.entries(vehicle_type)) {
            let values: Box<[Box<str>]> = value.split(" + ").map(Box::from).collect();
            if values.iter().all(|value| is_allowed(value)) {
                map.terms.entry(folded(term).into()).or_insert(values);
            }
        }
        let of_all = self.file.languages.values().flat_map(|sections| entries(sections, vehicle_type));
        let contested = of_all.filter(|_| language == Language::Unknown).map(|(term, _)| term);
        for term in unclear.into_iter().chain(contested) {
            let term = folded(term);
            map.terms.remove(term.as_str());
            map.unclear.insert(term.into());
        }
        map
    }

    /// What a term means, where languages disagree or it has several meanings: the meaning of most languages first.
    pub fn readings(&self, vehicle_type: &str, term: &str, mut is_allowed: impl FnMut(&str) -> bool) -> Vec<Reading> {
        let mut scratch = String::new();
        let folded_term = folded(term);
        if let Some(several) = self.file.several.iter().find(|it| it.terms.iter().any(|it| folded(it) == folded_term)) {
            let values =
                several.values.iter().map(|values| values.split(" + ").map(Box::from).collect::<Vec<Box<str>>>());
            let allowed = values.filter(|values| values.iter().all(|value| is_allowed(value)));
            return allowed.map(|values| Reading { values: values.into(), languages: Vec::new() }).collect();
        }
        let mut codes: Vec<&'static str> =
            self.languages_of(term).filter_map(|code| Language::of_code(code)?.code()).collect();
        if codes.is_empty() {
            return Vec::new();
        }
        codes.sort_unstable();
        let mut find =
            |language| self.map(vehicle_type, language, &mut is_allowed).find(term, &mut scratch).map(Box::from);
        let mut readings: Vec<Reading> = Vec::new();
        let most: Option<Box<[Box<str>]>> = find(Language::Any);
        readings.extend(most.map(|values| Reading { values, languages: Vec::new() }));
        for code in codes {
            let Some(values) = find(Language::Known(code)) else { continue };
            match readings.iter_mut().find(|reading| reading.values == values) {
                Some(known) if known.languages.is_empty() => {}
                Some(known) => known.languages.push(name_of(code)),
                None => readings.push(Reading { values, languages: vec![name_of(code)] }),
            }
        }
        readings
    }

    /// The languages in which a term means something else than in others.
    pub fn languages_of<'a>(&'a self, term: &str) -> impl Iterator<Item = &'a str> {
        let term = folded(term);
        let has = move |sections: &Sections| {
            let clear = sections.values().flatten().filter(|(value, _)| *value != UNCLEAR);
            clear.flat_map(|(_, terms)| terms).any(|known| folded(known) == term)
        };
        self.file.languages.iter().filter(move |(_, sections)| has(sections)).map(|(code, _)| code.as_str())
    }

    fn matching(&self) -> TermMatching {
        let all = |words: &[String]| words.iter().map(|word| folded(word)).collect();
        let matching = &self.file.matching;
        TermMatching {
            ignore: all(&matching.ignore),
            beginnings: all(&matching.beginnings),
            keep: all(&matching.keep),
            ..*matching
        }
    }
}

impl ValueMap {
    /// The map that a mapping file defines itself, whose terms are compared exactly.
    pub fn from_entries(entries: impl Iterator<Item = MapEntry>) -> Self {
        Self { exact: entries.map(|(term, values)| (exact(&term).into(), values)).collect(), ..Self::default() }
    }

    /// What a text stands for, where it is one of the terms.
    pub fn find(&self, text: &str, scratch: &mut String) -> Option<&[Box<str>]> {
        if !self.exact.is_empty() {
            exact_into(text, scratch);
            if let Some(values) = self.exact.get(scratch.as_str()) {
                return Some(values);
            }
        }
        if self.terms.is_empty() {
            return None;
        }
        fold_into(text, scratch);
        self.terms.get(scratch.as_str()).map(|values| &**values)
    }

    /// Whether a text is a term that means several things, of which the language does not say one.
    pub fn is_unclear(&self, text: &str, scratch: &mut String) -> bool {
        if self.unclear.is_empty() {
            return false;
        }
        fold_into(text, scratch);
        self.unclear.contains(scratch.as_str())
    }

    /// What a text stands for, whether it is a term or has one in it.
    pub fn resolve(&self, text: &str) -> Option<Vec<Box<str>>> {
        let exact = self.find(text, &mut String::new()).map(<[_]>::to_vec);
        exact.or_else(|| self.find_within(text))
    }

    /// What a text stands for that has a term in it, or several.
    pub fn find_within(&self, text: &str) -> Option<Vec<Box<str>>> {
        let matching = self.matching.as_ref().filter(|_| !is_address(text))?;
        let parts: Vec<&str> = parts(text).collect();
        if parts.len() == 1 {
            return self.part(text, matching);
        }
        let mut found: Vec<Box<str>> = Vec::new();
        for part in parts {
            for value in self.part(part, matching)? {
                if !found.contains(&value) {
                    found.push(value);
                }
            }
        }
        (found.len() == 1 || matching.several).then_some(found)
    }

    /// Only the entries that stand for one value.
    #[must_use]
    pub fn single_valued(mut self) -> Self {
        for terms in [&mut self.exact, &mut self.terms] {
            terms.retain(|_, values| values.len() == 1);
        }
        if let Some(matching) = &mut self.matching {
            matching.several = false;
        }
        self
    }

    /// These entries, and those of another map for what they do not have.
    #[must_use]
    pub fn with_fallback(mut self, other: Self) -> Self {
        for (term, values) in other.terms {
            self.terms.entry(term).or_insert(values);
        }
        Self { matching: other.matching, unclear: other.unclear, ..self }
    }

    fn part(&self, text: &str, matching: &TermMatching) -> Option<Vec<Box<str>>> {
        let words: Vec<String> = words(text).into_iter().filter(|word| !matching.ignore.contains(word)).collect();
        let is_kept = |words: &[String]| words.iter().any(|word| matching.keep.iter().any(|kept| word.contains(kept)));
        for length in (1..=words.len()).rev() {
            if is_kept(&words[length..]) {
                return None;
            }
            if let Some(values) = self.term(&words[..length].concat(), matching) {
                let mut others = self.terms_in(&words[length..], matching);
                let is_alone = !matching.anywhere || others.all(|other| other == values);
                return is_alone.then(|| values.to_vec());
            }
        }
        if !matching.anywhere {
            return None;
        }
        // One of its words, unless others say otherwise.
        let mut found = self.terms_in(&words, matching);
        let first = found.next()?;
        found.all(|other| other == first).then(|| first.to_vec())
    }

    /// What single words stand for; a letter or two is no word.
    fn terms_in<'a>(&'a self, words: &'a [String], matching: &'a TermMatching) -> impl Iterator<Item = &'a [Box<str>]> {
        words.iter().filter(|word| word.len() > 2).filter_map(|word| self.term(word, matching))
    }

    fn term(&self, word: &str, matching: &TermMatching) -> Option<&[Box<str>]> {
        let bare = || {
            let beginning = matching.beginnings.iter().find_map(|beginning| word.strip_prefix(beginning.as_str()))?;
            self.terms.get(beginning)
        };
        self.terms.get(word).or_else(bare).map(|values| &**values)
    }

    /// All values that it has.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.exact.values().chain(self.terms.values()).flatten().map(|value| &**value)
    }
}

/// The terms of a vehicle type, with their values.
fn entries<'a>(sections: &'a Sections, vehicle_type: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
    let sections = [vehicle_type, "all"].into_iter().filter_map(|name| sections.get(name));
    let terms =
        |(value, terms): (&'a String, &'a Vec<String>)| terms.iter().map(move |term| (term.as_str(), value.as_str()));
    sections.flat_map(|section| section.iter()).flat_map(terms)
}

/// Whether a text has an e-mail or web address in it, whose words are parts of a name: `camille@auto.example` is no gearbox.
fn is_address(text: &str) -> bool {
    text.contains('@') || text.contains("://") || text.contains("www.")
}

/// The parts of a text that names several things.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    const WORDS: [&str; 6] = [" och ", " and ", " und ", " & ", " + ", " samt "];
    let marks = text.split(['/', '+', '&', ',', ';', '|']);
    let words = marks.flat_map(|part| {
        let at = WORDS.iter().find_map(|word| part.find(word).map(|at| (at, word.len())));
        let (one, other) = at.map_or((part, ""), |(at, length)| (&part[..at], &part[at + length..]));
        [one, other]
    });
    words.map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::Catalogue,
        categories::{by_vehicle_type, typed},
        fields::Kind,
    };

    fn is_allowed(vehicle_type: &str, field: &str, value: &str) -> bool {
        let catalogue = Catalogue::embedded();
        let Some(kind) = by_vehicle_type(vehicle_type).unwrap().field(field).map(|field| field.kind) else {
            return false;
        };
        let kind = if let Kind::List { item, .. } = kind { *item } else { kind };
        kind.allowed(&catalogue).is_some_and(|allowed| allowed.iter().any(|entry| entry.id == value))
    }

    #[test]
    fn every_entry_of_every_map_is_an_allowed_value() {
        for map in builtin().iter().filter(|map| !map.file.fields.is_empty()) {
            let (name, fields) = (map.name, &map.file.fields);
            for section in map.sections() {
                for value in map.file.terms[section].keys().flat_map(|value| value.split(" + ")) {
                    let holds = |vehicle_type: &str| fields.iter().any(|field| is_allowed(vehicle_type, field, value));
                    let is_right = if section == "all" { typed().any(|(name, _)| holds(name)) } else { holds(section) };
                    assert!(is_right, "{name}: {section}: {value}");
                }
            }
        }
        for value in named("vehicle").unwrap().file.terms["all"].keys() {
            assert!(by_vehicle_type(value).is_some(), "{value}");
        }
        for (item, terms) in &named("equipment").unwrap().file.terms["all"] {
            assert!(!item.contains(','), "{item}");
            assert!(!terms.is_empty(), "{item}");
        }
    }

    #[test]
    fn no_term_stands_for_two_values() {
        for map in builtin() {
            for section in map.sections() {
                let mut known: FxHashMap<String, &str> = FxHashMap::default();
                for (value, terms) in &map.file.terms[section] {
                    for term in terms {
                        let before = known.insert(folded(term), value);
                        assert!(before.is_none_or(|it| it == value), "{}: {section}: {term}", map.name);
                        assert!(!folded(term).is_empty(), "{}: {section}: {term}", map.name);
                    }
                }
            }
        }
    }

    fn says(name: &str, vehicle_type: &str, text: &str) -> Option<String> {
        says_in(Language::Any, name, vehicle_type, text)
    }

    fn says_in(language: Language, name: &str, vehicle_type: &str, text: &str) -> Option<String> {
        let map = named(name).unwrap().map(vehicle_type, language, |_| true);
        map.resolve(text).map(|values| values.join(" + "))
    }

    #[test]
    fn a_term_means_what_it_means_in_its_language() {
        for (language, name, text, value) in [
            (Language::Known("de"), "body", "Limousine", Some("sedan")),
            (Language::Known("sv"), "body", "Limousine", Some("limousine")),
            (Language::Unknown, "body", "Limousine", None),
            (Language::Known("nb"), "body", "Kombi 5-dørs", Some("hatchback")),
            (Language::Known("nb"), "body", "Kombi", Some("hatchback")),
            (Language::Known("sv"), "body", "Kombi", Some("estate")),
            (Language::Known("fr"), "fuel", "E", Some("gasoline")),
            (Language::Known("fr"), "drive", "Traction", Some("fwd")),
            (Language::Unknown, "fuel", "Essence", Some("gasoline")),
            (Language::Known("sv"), "fuel", "Gas", Some("natural_gas")),
            (Language::Known("en"), "fuel", "Gas", None),
        ] {
            assert_eq!(says_in(language, name, "car", text).as_deref(), value, "{language:?} {name} {text}");
        }
        assert_eq!(named("body").unwrap().languages_of("limousine").collect::<Vec<_>>(), ["de"]);
    }

    #[test]
    fn languages_of_the_maps_are_known_and_their_values_allowed() {
        for map in builtin() {
            for (code, sections) in &map.file.languages {
                assert!(Language::of_code(code).is_some(), "{}: {code}", map.name);
                let all = sections.keys().flat_map(|section| entries(sections, section));
                for (_, value) in all.filter(|(_, value)| *value != UNCLEAR) {
                    let known = || map.file.terms.values().any(|section| section.contains_key(value));
                    assert!(known(), "{}: {code}: {value}", map.name);
                }
            }
        }
    }

    #[test]
    fn terms_are_found_in_any_spelling_and_with_details() {
        for (name, text, value) in [
            ("fuel", "Bensin", "gasoline"),
            ("fuel", "BENZIN", "gasoline"),
            ("fuel", "Super E10", "gasoline"),
            ("fuel", "Bensin/El", "gasoline + electric"),
            ("fuel", "Hybrid (Benzin/Elektro)", "gasoline + electric"),
            ("fuel", "Laddhybrid bensin", "gasoline + electric"),
            ("fuel", "diesel och el", "diesel + electric"),
            ("gearbox", "Aut", "automatic"),
            ("gearbox", "Automat 8-växlad", "automatic"),
            ("gearbox", "8-speed auto", "automatic"),
            ("gearbox", "Schaltgetriebe", "manual"),
            ("body", "Kombi", "estate"),
            ("body", "Cab", "convertible"),
            ("body", "Halvkombi 5-dörrars", "hatchback"),
            ("color", "Mörkgrå metallic", "grey"),
            ("color", "Pearl White", "white"),
            ("color", "Brilliantschwarz", "black"),
            ("color", "ljusblå", "blue"),
            ("drive", "Fyrhjulsdrift", "awd"),
        ] {
            assert_eq!(says(name, "car", text).as_deref(), Some(value), "{name}: {text}");
        }
        assert_eq!(says("body", "transport", "Skåpbil").as_deref(), Some("panel_van"));
    }

    #[test]
    fn what_could_mean_several_things_is_not_found() {
        for (name, text) in [
            ("fuel", "Hybrid"),
            ("fuel", "Gas hybrid"),
            ("color", "Svart/Vit"),
            ("gearbox", "Hydramatic?"),
            ("gearbox", "Manuell eller automat"),
            ("gearbox", "Typ A"),
            ("gearbox", "camille@auto.example"),
            ("gearbox", "www.automat.example"),
            ("fuel", "https://diesel.example"),
        ] {
            assert_eq!(says(name, "car", text), None, "{name}: {text}");
        }
    }
}
