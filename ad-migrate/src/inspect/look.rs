//! What a value looks like, regardless of the name of its column.

use ad_core::{
    catalogue::Catalogue,
    synonyms::{
        languages::Language,
        placeholders::{Placeholders, is_zeros},
    },
    written::{currency, date, number},
};

use crate::mapping::{
    convert::is_swedish_plate,
    lookup::Lookup,
    values::{ValueMap, builtin_map},
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

/// The terms that are recognised in values.
#[derive(Debug)]
pub(super) struct Terms {
    brands: Lookup,
    maps: [(ValueLook, ValueMap); 6],
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
        Self {
            brands: Lookup::of_list(catalogue.list("car.brand")),
            maps: maps(Language::Any),
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

    /// The brand that is nearest to a text that is none.
    pub(super) fn nearest_brand(&self, text: &str) -> Option<&str> {
        ad_core::violation::nearest::similar(text, self.brands.ids()).into_iter().next()
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
        let marks = separator(text).unwrap_or("\n");
        text.split(marks).map(str::trim).filter(|part| !part.is_empty())
    };
    let is_picture = |part: &str| {
        let path = part.split(['?', '#']).next().unwrap_or(part).to_ascii_lowercase();
        ENDINGS.iter().any(|ending| path.ends_with(ending))
    };
    if parts().all(|part| part.starts_with("http")) && parts().any(is_picture) {
        is(ValueLook::Pictures);
    } else if parts().all(is_picture) {
        is(ValueLook::PictureNames);
    }
}

/// The separator of the addresses or names of images in a text.
pub(super) fn separator(text: &str) -> Option<&'static str> {
    SEPARATORS.into_iter().find(|mark| {
        let parts = || text.split(mark).map(str::trim).filter(|part| !part.is_empty());
        let is_part = |part: &str| {
            part.starts_with("http") || ENDINGS.iter().any(|ending| part.to_ascii_lowercase().ends_with(ending))
        };
        text.contains(mark) && parts().all(is_part)
    })
}
