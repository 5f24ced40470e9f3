//! What a value looks like, regardless of the name of its column.

use ad_core::{
    catalogue::Catalogue,
    synonyms::{
        languages::Language,
        models,
        placeholders::{Placeholders, is_zeros},
    },
    written::{currency, date, number},
};
use rustc_hash::FxHashMap;

use crate::mapping::{
    convert::is_swedish_plate,
    lookup::{Lookup, Models},
    values::{self, ValueMap, builtin_map},
};

/// What a value can look like; several at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum ValueLook {
    Vin,
    SwedishPlate,
    Plate,
    Year,
    /// One or several addresses of images.
    Pictures,
    /// One or several file names of images.
    PictureNames,
    /// The same, of small versions of images.
    SmallPictures,
    Address,
    Email,
    /// A date with its day.
    Date,
    /// A date without a day.
    Month,
    Html,
    Prose,
    Number,
    Boolean,
    Brand,
    Fuel,
    Gearbox,
    Body,
    Color,
    Drive,
    VehicleType,
}

pub(super) const LOOKS: usize = ValueLook::VehicleType as usize + 1;

/// Separators of lists of images.
const SEPARATORS: [&str; 5] = ["|", ";", ",", "\n", " "];
/// Extensions of the names of image files.
const ENDINGS: [&str; 4] = [".jpg", ".jpeg", ".png", ".webp"];
/// Words of addresses of small versions of images.
const SMALL: [&str; 11] =
    ["thumb", "thumbs", "thumbnail", "thumbnails", "tn", "small", "preview", "miniature", "miniatyr", "icon", "mini"];
/// Most pixels of a side of a small version.
const MOST_PIXELS: u32 = 400;

/// Longest name of a brand or a model, in bytes.
pub(super) const LONGEST_NAME: usize = 40;
/// Most pairs of a brand and a text that are kept.
const MOST_MODELS: usize = 20_000;

/// The terms that are recognised in values.
#[derive(Debug)]
pub(super) struct Terms {
    brands: Lookup,
    models: Models,
    /// Whether a text is a model of a brand, of those that were asked for.
    known_models: FxHashMap<(Box<str>, Box<str>), bool>,
    maps: [(ValueLook, ValueMap); 6],
    /// Short and former names of brands.
    short_names: ValueMap,
    placeholders: Placeholders,
    scratch: String,
}

/// The built-in maps in a language.
fn maps(language: Language) -> [(ValueLook, ValueMap); 6] {
    [
        (ValueLook::Fuel, "fuel"),
        (ValueLook::Gearbox, "gearbox"),
        (ValueLook::Body, "body"),
        (ValueLook::Color, "color"),
        (ValueLook::Drive, "drive"),
        (ValueLook::VehicleType, "vehicle"),
    ]
    .map(|(look, name)| (look, builtin_map(name, "car", language)))
}

impl Terms {
    pub(super) fn new(catalogue: &Catalogue) -> Self {
        let brands = catalogue.list("car.brand");
        Self {
            brands: Lookup::of_list(brands),
            models: Models::new(catalogue, "car-models", brands),
            known_models: FxHashMap::default(),
            maps: maps(Language::Any),
            short_names: builtin_map("brand", "car", Language::Any),
            placeholders: Placeholders::default(),
            scratch: String::new(),
        }
    }

    /// From here on, the terms mean what they mean in this language.
    pub(super) fn set_language(&mut self, language: Language) {
        self.maps = maps(language);
    }

    /// Whether a text stands for no value.
    pub(super) fn is_placeholder(&mut self, text: &str) -> bool {
        self.placeholders.contain(text, &mut self.scratch) || is_zeros(text)
    }

    /// What a value means in the map of a look.
    pub(super) fn means(&mut self, look: ValueLook, text: &str) -> Option<Vec<Box<str>>> {
        if look == ValueLook::Brand {
            return self.brands.find(text, &mut self.scratch).map(|id| vec![id.into()]);
        }
        self.maps.iter().find(|(of, _)| *of == look)?.1.resolve(text)
    }

    /// The brand that a text is, or is a short name of.
    pub(super) fn brand(&mut self, text: &str) -> Option<String> {
        if text.len() > LONGEST_NAME {
            return None;
        }
        if let Some(id) = self.brands.find(text, &mut self.scratch) {
            return Some(id.to_owned());
        }
        let short = self.short_names.find(text, &mut self.scratch)?.first()?.to_string();
        Some(short).filter(|id| id != "other")
    }

    /// Whether a text is a model of a brand, or a designation of one.
    pub(super) fn is_model(&mut self, brand: &str, text: &str) -> bool {
        let key = (Box::from(brand), Box::from(text));
        if let Some(known) = self.known_models.get(&key) {
            return *known;
        }
        let is_name = self.models.of(brand).is_some_and(|models| models.find(text, &mut self.scratch).is_some());
        let is_one = is_name || self.models.designated(brand, text).is_some();
        if self.known_models.len() < MOST_MODELS {
            self.known_models.insert(key, is_one);
        }
        is_one
    }

    /// What a text that is no model of its brand may be: the model whose name it misspells, or another one.
    pub(super) fn likely_model(&self, brand: &str, text: &str) -> String {
        let ids = || self.models.of(brand).into_iter().flat_map(Lookup::ids);
        let misspelled = models::misspelled(text, ids()).first().map(ToString::to_string);
        misspelled.or_else(|| ids().find(|id| *id == "other").map(str::to_owned)).unwrap_or_default()
    }

    /// What an unknown value of a look may mean: the brand of a short or similar name, or the reading of a term that has several, in the
    /// language of the values or of most.
    pub(super) fn likely(&mut self, look: ValueLook, map: &str, text: &str, language: Language) -> Vec<Box<str>> {
        if look == ValueLook::Brand {
            let similar =
                || ad_core::violation::nearest::similar(text, self.brands.ids()).first().map(ToString::to_string);
            let near = similar();
            return self.brand(text).or(near).map(|id| vec![id.into()]).unwrap_or_default();
        }
        let Some(map) = values::named(map) else { return Vec::new() };
        if language.code().is_some()
            && let Some(values) = map.map("car", language, |_| true).find(text, &mut self.scratch)
        {
            return values.to_vec();
        }
        let readings = map.readings("car", text, |_| true);
        readings.into_iter().next().map(|reading| reading.values.into_vec()).unwrap_or_default()
    }

    /// Whether languages disagree about what a value means.
    pub(super) fn is_contested(map: &str, text: &str) -> bool {
        values::named(map).is_some_and(|map| map.languages_of(text).next().is_some())
    }

    /// Adds what a value looks like to the counts.
    pub(super) fn count(&mut self, text: &str, counts: &mut [u32; LOOKS]) {
        let mut is = |look: ValueLook| counts[look as usize] += 1;
        let letters = text.chars().count();
        if text.contains("://") || text.contains('.') {
            pictures(text, &mut is);
        }
        let found = [
            (ValueLook::Vin, is_vin(text)),
            (ValueLook::Address, ["http://", "https://", "www."].iter().any(|start| text.starts_with(start))),
            (ValueLook::Email, text.contains('@') && text.contains('.') && !text.contains([' ', '/'])),
            (ValueLook::Html, ["</", "<br", "<p>", "&nbsp;"].iter().any(|mark| text.contains(mark))),
            (ValueLook::Prose, letters > 40 && text.split_whitespace().nth(4).is_some()),
        ];
        found.into_iter().filter(|(_, has)| *has).for_each(|(look, _)| is(look));
        if letters > 40 {
            return;
        }
        plates(text, &mut is);
        match date::read(text, None, None) {
            Ok(_) | Err(date::NoDate::Ambiguous) => is(ValueLook::Date),
            Err(date::NoDate::NotFull) if text.len() != 4 => is(ValueLook::Month),
            _ => {}
        }
        if text.len() == 4 && text.parse().is_ok_and(|year: u16| (1920..=2035).contains(&year)) {
            is(ValueLook::Year);
        }
        let is_amount =
            |found: &number::NumberInText<'_>| found.before.is_empty() || currency::of_sign(found.before).is_some();
        if number::read(text, Some('.')).is_ok_and(|found| is_amount(&found)) {
            is(ValueLook::Number);
        }
        if ["ja", "nej", "yes", "no", "nein", "true", "false"].contains(&text.to_lowercase().as_str()) {
            is(ValueLook::Boolean);
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            let looks = self.maps.each_ref().map(|(look, _)| *look);
            for look in [ValueLook::Brand].into_iter().chain(looks) {
                if self.means(look, text).is_some() {
                    counts[look as usize] += 1;
                }
            }
        }
    }
}

fn is_vin(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() && !b"IOQioq".contains(&byte);
    text.len() == 17
        && text.bytes().all(is_letter)
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

fn plates(text: &str, is: &mut impl FnMut(ValueLook)) {
    let bare: String = text.chars().filter(|letter| !matches!(letter, ' ' | '-')).collect::<String>().to_uppercase();
    if is_swedish_plate(&bare) {
        is(ValueLook::SwedishPlate);
        return;
    }
    // German plates: letters of the town, letters, digits.
    let town = text.chars().take_while(|letter| letter.is_alphabetic()).count();
    let rest: String = text.chars().skip(town).collect();
    let digits = rest.chars().rev().take_while(char::is_ascii_digit).count();
    let middle = rest.chars().filter(|letter| letter.is_alphabetic()).count();
    let is_plate = (1..=3).contains(&town) && rest.starts_with(['-', ' ']) && (1..=2).contains(&middle);
    if is_plate && (1..=4).contains(&digits) && bare.chars().count() <= 8 {
        is(ValueLook::Plate);
    }
}

fn pictures(text: &str, is: &mut impl FnMut(ValueLook)) {
    let parts = || {
        let parts = match separator(text) {
            Some(mark) => text.split(mark).collect::<Vec<_>>(),
            None => text.lines().collect(),
        };
        parts.into_iter().map(str::trim).filter(|part| !part.is_empty())
    };
    if parts().all(is_address) && parts().any(is_picture) {
        is(ValueLook::Pictures);
    } else if parts().all(is_picture) {
        is(ValueLook::PictureNames);
    } else {
        return;
    }
    if parts().any(is_small) {
        is(ValueLook::SmallPictures);
    }
}

fn is_address(part: &str) -> bool {
    part.starts_with("http://") || part.starts_with("https://")
}

/// Whether an address or a name is that of an image.
fn is_picture(part: &str) -> bool {
    let path = part.split(['?', '#']).next().unwrap_or(part).to_ascii_lowercase();
    ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// Whether an address is that of a small version of an image: `/thumbs/1.jpg`, `1-150x100.jpg`.
fn is_small(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    let is_size = |word: &str| {
        let pixels = word.split_once('x').and_then(|(one, other)| Some((one.parse().ok()?, other.parse().ok()?)));
        pixels.is_some_and(|(one, other): (u32, u32)| one.max(other) <= MOST_PIXELS && one.min(other) >= 16)
    };
    address.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| SMALL.contains(&word) || is_size(word))
}

/// The separator of the addresses or names of images in a text.
pub(super) fn separator(text: &str) -> Option<&'static str> {
    SEPARATORS.into_iter().find(|mark| {
        let parts = || text.split(mark).map(str::trim).filter(|part| !part.is_empty());
        text.contains(mark)
            && (parts().all(is_address) || parts().all(|part| !part.contains("://") && is_picture(part)))
    })
}
