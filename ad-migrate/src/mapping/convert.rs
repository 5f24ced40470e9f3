//! Converts one text to the value of a field, by the kind of the field. What a field may hold is in ad-core's tables; this module knows
//! how people write it.

mod amounts;

use std::{borrow::Cow, fmt::Display, sync::Arc};

use ad_core::{
    fields::Kind,
    synonyms::models::FoundModel,
    written::{
        self, currency,
        date::{self, DateFormat, NoDate},
        number::{self, Decimal, NoNumber, NumberInText},
    },
};
use amounts::measure;
pub(super) use amounts::{price, unknown_unit};
use serde_json::Value;

use super::{
    lookup::{Lookup, Lookups, Models},
    zone::Zone,
};

/// Converts texts to values of one field.
#[derive(Debug)]
pub(super) struct Convert {
    pub(super) kind: Kind,
    allowed: Allowed,
}

/// The allowed values of a field, or of the items of a list.
#[derive(Debug)]
enum Allowed {
    Any,
    OneOf(Arc<Lookup>),
    /// The models of the ad's brand.
    Models(Arc<Models>),
}

/// The settings of a conversion.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct With<'a> {
    /// The name of the field in sentences.
    pub(super) noun: &'a str,
    pub(super) decimal: Option<char>,
    pub(super) form: Option<&'a DateFormat>,
    /// Whether to take the year of a date.
    pub(super) year: bool,
    /// The time zone in which a time is a date.
    pub(super) zone: Option<&'a Zone>,
    /// What numbers are multiplied with.
    pub(super) scale: Option<Decimal>,
    /// The unit that the mapping or a column sets.
    pub(super) unit: Option<&'static str>,
    /// The unit of values that do not say it.
    pub(super) default_unit: Option<&'static str>,
    /// The currency of values that do not say it.
    pub(super) default_currency: Option<&'a str>,
    /// The unit to convert to.
    pub(super) to: Option<&'static str>,
    pub(super) brand: Option<&'a str>,
}

/// Why a text is not a value of a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadValue {
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) advice: Option<String>,
    pub(super) cure: Cure,
}

/// Where to correct a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cure {
    File,
    /// In the mapping, which can set how values are written.
    Mapping,
    /// In the value map of the field, which can set what the value means.
    ValueMap,
}

impl BadValue {
    /// A value for which the mapping needs a setting.
    pub(super) fn new(reason: impl Into<String>, message: String, advice: impl Into<String>) -> Self {
        Self { reason: reason.into(), message, advice: Some(advice.into()), cure: Cure::Mapping }
    }

    /// A value that is wrong in the file.
    fn in_file(reason: String, message: String) -> Self {
        Self { cure: Cure::File, ..Self::new(reason, message, "Correct the value in the file.") }
    }

    /// A value that is wrong in the mapping itself.
    pub(super) fn of_mapping(message: String) -> Self {
        Self { reason: String::new(), message, advice: None, cure: Cure::Mapping }
    }

    fn advise(self, advice: &str) -> Self {
        Self { advice: Some(advice.to_owned()), ..self }
    }
}

impl Convert {
    /// The conversion to a kind. `brands` is the list of brands of the category, on which models depend.
    pub(super) fn of(
        kind: Kind,
        catalogue: &ad_core::catalogue::Catalogue,
        brands: Option<&'static str>,
        lookups: &mut Lookups,
    ) -> Self {
        let allowed = match (*item(&kind), brands) {
            (Kind::Choice { values, .. }, _) => Allowed::OneOf(lookups.choice(values)),
            (Kind::Slug { list }, _) => Allowed::OneOf(lookups.list(catalogue, list)),
            (Kind::Model { list }, Some(brands)) => Allowed::Models(lookups.models(catalogue, list, brands)),
            _ => Allowed::Any,
        };
        Self { kind, allowed }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List { .. })
    }

    /// The kind of the field, or of the items of a list.
    pub(super) fn item(&self) -> &Kind {
        item(&self.kind)
    }

    pub(super) fn models(&self) -> Option<&Models> {
        if let Allowed::Models(models) = &self.allowed { Some(models) } else { None }
    }

    /// Whether only certain values are allowed.
    pub(super) fn is_choice(&self) -> bool {
        !matches!(self.allowed, Allowed::Any)
    }

    fn lookup(&self, with: With<'_>) -> Option<&Lookup> {
        match &self.allowed {
            Allowed::Any => None,
            Allowed::OneOf(lookup) => Some(lookup),
            Allowed::Models(models) => models.of(with.brand?),
        }
    }

    /// Whether the text is an allowed value or its name.
    pub(super) fn is_known(&self, text: &str, with: With<'_>, scratch: &mut String) -> bool {
        self.lookup(with).is_some_and(|lookup| lookup.find(text, scratch).is_some())
    }

    /// The model that a text is a designation of, if it is neither its id nor its name.
    pub(super) fn designated(&self, text: &str, with: With<'_>, scratch: &mut String) -> Option<FoundModel<'_>> {
        let Allowed::Models(models) = &self.allowed else { return None };
        let brand = with.brand?;
        if models.of(brand)?.find(text, scratch).is_some() {
            return None;
        }
        models.designated(brand, text)
    }

    /// The value of a text; for a list, the value of an item.
    pub(super) fn value(&self, text: &str, with: With<'_>, scratch: &mut String) -> Result<Value, BadValue> {
        if let Some(lookup) = self.lookup(with) {
            if let Some(found) = self.designated(text, with, scratch) {
                return Ok(Value::from(found.id));
            }
            if let Some(known) = lookup.find(text, scratch) {
                return Ok(Value::from(known));
            }
            let Some(models) = self.models() else { return Err(unknown(text, with.noun, lookup.hint(text))) };
            let (others, advice) = (models.brands_with(text, scratch), lookup.misspelled(text));
            return Err(match with.brand {
                Some(brand) if !others.is_empty() => of_other_brand(text, brand, &others, advice),
                _ => unknown(text, with.noun, advice),
            });
        }
        match *self.item() {
            Kind::Text { without, .. } => Ok(Value::String(plain(text, without).into_owned())),
            Kind::Email { .. } => Ok(Value::String(plain(text, None).into_owned())),
            Kind::Integer { min, max, .. } => integer(text, min, max, with),
            Kind::Decimal { min, max, decimals, .. } => {
                let number = with.only_number(text)?;
                with.within(number, min, max, text)?;
                with.rounded(number, decimals, text)
            }
            Kind::Boolean => boolean(text, with),
            Kind::Date => day(text, with),
            Kind::Plate { .. } => Ok(Value::String(plate(text))),
            Kind::Digits { .. } => Ok(Value::String(text.chars().filter(|it| !" -()/.\u{a0}".contains(*it)).collect())),
            Kind::Currency => Ok(Value::String(currency::code(text))),
            Kind::Measure { units, min } => measure(text, units, min, with, scratch),
            // Addresses, and a model without a brand, which the rules report.
            _ => Ok(Value::from(text)),
        }
    }
}

fn item(kind: &Kind) -> &Kind {
    if let Kind::List { item, .. } = kind { item } else { kind }
}

fn unknown(text: &str, noun: &str, advice: Option<String>) -> BadValue {
    BadValue {
        reason: format!("unknown {noun}"),
        message: format!("\"{}\" is not a known {noun}.", short(text)),
        advice,
        cure: Cure::ValueMap,
    }
}

/// Brands that a message names; the others are counted.
const MOST_BRANDS: usize = 3;

/// A model that only other brands have. What it would be mapped to is a model of the wrong brand in other rows.
fn of_other_brand(text: &str, brand: &str, others: &[&str], meant: Option<String>) -> BadValue {
    let (named, more) = others.split_at(others.len().min(MOST_BRANDS));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let advice = "Correct the brand or the model of this row in the file.";
    BadValue {
        reason: "model of another brand".to_owned(),
        message: format!("\"{}\" is a model of {}{more}, not of {brand}.", short(text), named.join(", ")),
        advice: Some(meant.map_or_else(|| advice.to_owned(), |meant| format!("{meant} {advice}"))),
        cure: Cure::File,
    }
}

/// A text as an ad has it: line breaks of one kind, and without a character that is not allowed.
fn plain(text: &str, without: Option<char>) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(text);
    if text.contains('\r') {
        plain = Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    match without {
        Some(mark) if plain.contains(mark) => Cow::Owned(without_mark(&plain, mark)),
        _ => plain,
    }
}

/// `Vinterhjul, dubbade` as `Vinterhjul dubbade`, and `19,5 tum` as `19.5 tum`.
fn without_mark(text: &str, mark: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != mark {
            out.push(letter);
            continue;
        }
        let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
        let next = letters.peek().copied();
        if is_digit(out.chars().next_back()) && is_digit(next) {
            out.push('.');
        } else if !out.ends_with(' ') && next.is_some_and(|next| next != ' ') {
            out.push(' ');
        }
    }
    out.trim().to_owned()
}

impl With<'_> {
    /// A value that is wrong in the file: `model year is not a number`.
    fn wrong(self, what: &str, message: String) -> BadValue {
        BadValue::in_file(format!("{} {what}", self.noun), message)
    }

    /// A value for which the mapping needs a setting.
    fn unclear(self, what: &str, message: String, advice: impl Into<String>) -> BadValue {
        BadValue::new(format!("{} {what}", self.noun), message, advice)
    }

    fn number(self, text: &str) -> Result<NumberInText<'_>, BadValue> {
        let found = number::read(text, self.decimal).map_err(|why| match why {
            NoNumber::None => self.no_number(text),
            NoNumber::Ambiguous => self.unclear(
                "is ambiguous",
                format!("The separator in \"{}\" may be of thousands or decimals.", short(text)),
                "Set decimal = \",\" or decimal = \".\" in the mapping: at its top for all numbers, or at this field.",
            ),
        })?;
        let Some(scale) = self.scale else { return Ok(found) };
        let number = found.number.multiplied(scale).ok_or_else(|| self.no_number(text))?;
        Ok(NumberInText { number, ..found })
    }

    fn no_number(self, text: &str) -> BadValue {
        self.wrong("is not a number", format!("\"{}\" is not a number.", short(text)))
            .advise("Correct the value in the file, or map it: values = { \"…\" = \"\" } removes it.")
    }

    /// The number of a text that contains nothing else but a word for what is counted.
    fn only_number(self, text: &str) -> Result<Decimal, BadValue> {
        let NumberInText { number, before, after } = self.number(text)?;
        let is_word = after.is_empty()
            || (after.starts_with(char::is_whitespace) && after.trim().chars().all(char::is_alphabetic));
        if before.is_empty() && is_word { Ok(number) } else { Err(self.no_number(text)) }
    }

    fn out_of_range<T: Display>(self, text: &str, min: T, max: T) -> BadValue {
        self.wrong("out of range", format!("\"{}\" is not within {min} to {max}.", short(text)))
    }

    fn within(self, number: Decimal, min: f64, max: f64, text: &str) -> Result<(), BadValue> {
        let float = number.float();
        if float < min || float > max { Err(self.out_of_range(text, min, max)) } else { Ok(()) }
    }

    fn rounded(self, number: Decimal, most: Option<u8>, text: &str) -> Result<Value, BadValue> {
        match most {
            Some(most) if number.decimals() > u32::from(most) => {
                Err(self.wrong("has too many decimals", format!("\"{}\" has more than {most} decimals.", short(text))))
            }
            _ => Ok(number.value()),
        }
    }
}

fn integer(text: &str, min: i64, max: i64, with: With<'_>) -> Result<Value, BadValue> {
    let no_year = || {
        let message = format!("Expected one year of four digits in \"{}\".", short(text));
        with.wrong("is not the year of a date", message)
    };
    let year = if with.year { Some(year(text).ok_or_else(no_year)?) } else { None };
    let text = year.as_deref().unwrap_or(text);
    match with.only_number(text)?.whole() {
        None => Err(with.wrong("is not a whole number", format!("\"{}\" is not a whole number.", short(text)))),
        Some(whole) if whole < min || whole > max => Err(with.out_of_range(text, min, max)),
        Some(whole) => Ok(Value::from(whole)),
    }
}

/// The one year in a date: `2019-05-04`, `20190504`, `05/2019`; or two digits, `'19`.
fn year(text: &str) -> Option<Cow<'_, str>> {
    let short = text.strip_prefix(['\'', '’']).unwrap_or(text);
    if short.len() == 2 && short.bytes().all(|byte| byte.is_ascii_digit()) {
        // As dates with two digits are read.
        return Some(format!("{}{short}", if short < "69" { 20 } else { 19 }).into());
    }
    let mut runs = text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|run| match run.len() {
        4 => Some(run),
        8 => run.get(..4),
        _ => None,
    });
    let first = runs.next()?;
    runs.next().is_none().then_some(first.into())
}

fn boolean(text: &str, with: With<'_>) -> Result<Value, BadValue> {
    // -1 is yes in some programs and a third value in others.
    let truth = if text.starts_with('-') { None } else { written::truth(text) };
    truth.map(Value::Bool).ok_or_else(|| {
        with.wrong("is neither yes nor no", format!("\"{}\" is neither yes nor no.", short(text)))
            .advise("Map it: values = { \"…\" = true }.")
    })
}

fn day(text: &str, with: With<'_>) -> Result<Value, BadValue> {
    let shown = short(text);
    date::read(text, with.form, with.zone.map(|zone| &zone.0)).map(|day| Value::String(day.to_string())).map_err(
        |why| match why {
            NoDate::None => with.unclear(
                "is not a date",
                format!("\"{shown}\" is not a date."),
                "Set its format in the mapping: date = \"DD/MM/YYYY\".",
            ),
            NoDate::NotFull => with
                .wrong("is not a full date", format!("\"{shown}\" has no day, or no month."))
                .advise("Correct the value in the file, or omit the field."),
            NoDate::Impossible => with.wrong("is an impossible date", format!("The date \"{shown}\" does not exist.")),
            NoDate::Ambiguous => with.unclear(
                "is ambiguous",
                format!("Day and month of \"{shown}\" are ambiguous."),
                "Set its format in the mapping: date = \"DD/MM/YYYY\" or date = \"MM/DD/YYYY\".",
            ),
        },
    )
}

/// A plate in upper case without spaces; without a hyphen where it is a Swedish one.
fn plate(text: &str) -> String {
    let mut plate: String =
        text.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_uppercase).collect();
    if plate.contains('-') {
        let bare = plate.replace('-', "");
        if is_swedish_plate(&bare) {
            plate = bare;
        }
    }
    plate
}

/// Whether a text is a plate such as `ABC123` or `ABC12D`.
pub(crate) fn is_swedish_plate(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 6
        && bytes[..3].iter().all(u8::is_ascii_uppercase)
        && bytes[3..5].iter().all(u8::is_ascii_digit)
        && (bytes[5].is_ascii_digit() || bytes[5].is_ascii_uppercase())
}

/// A value as a sentence shows it.
pub(super) fn short(text: &str) -> Cow<'_, str> {
    const MOST: usize = 80;
    ad_files::text::shortened(text, MOST)
}
