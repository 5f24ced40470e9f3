//! One text as the value of a field, by the kind of the field. What a field may hold is in ad-core's tables; here is what people write
//! for it.

use std::{borrow::Cow, sync::Arc};

use ad_core::fields::{Kind, MOST_MEASURED};
use serde_json::{Map, Value};

use super::{
    date::{self, DateFormat, NoDate},
    lookup::{Lookup, Lookups, Models},
    number::{self, Decimal, NoNumber, NumberInText},
    units,
};

/// How texts become values of a kind.
#[derive(Debug, Clone)]
pub(super) enum Convert {
    /// As they are; without a character that the field does not take.
    Text { without: Option<char> },
    /// A whole number within bounds.
    Integer { min: i64, max: i64 },
    /// A number within bounds, with a number of decimals.
    Decimal { min: f64, max: f64, decimals: Option<u8> },
    /// Yes or no.
    Boolean,
    /// A day.
    Date,
    /// An address.
    Address,
    /// The address of an image.
    Image,
    /// A licence plate.
    Plate,
    /// Digits without what people put between them.
    Digits,
    /// A currency code.
    Currency,
    /// One of a list.
    OneOf(Arc<Lookup>),
    /// A model of the brand that the ad has.
    Model(Arc<Models>),
    /// A number with a unit.
    Measure { units: &'static [&'static str], min: f64 },
    /// Several.
    List { item: Box<Convert>, max: usize, unique: bool },
}

/// What a conversion needs to know beside the text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct With<'a> {
    /// What the field is called in sentences.
    pub(super) noun: &'a str,
    /// The decimal separator.
    pub(super) decimal: Option<char>,
    /// The form of dates.
    pub(super) form: Option<&'a DateFormat>,
    /// Whether the year of a date is meant.
    pub(super) year: bool,
    /// The unit that the mapping or a column tells.
    pub(super) unit: Option<&'static str>,
    /// The unit to convert to.
    pub(super) to: Option<&'static str>,
    /// The brand of the ad.
    pub(super) brand: Option<&'a str>,
}

/// Why a text is no value of a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bad {
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) advice: Option<String>,
    pub(super) cure: Cure,
}

/// Where a bad value is mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cure {
    /// In the file.
    File,
    /// In the mapping, which can say how values are written.
    Mapping,
    /// In the value map of the field, which can say what the value means.
    ValueMap,
}

impl Bad {
    /// A value for which the mapping has to say something.
    fn new(reason: String, message: String, advice: impl Into<Cow<'static, str>>) -> Self {
        Self { reason, message, advice: Some(advice.into().into_owned()), cure: Cure::Mapping }
    }

    /// A value that is wrong in the file.
    fn in_file(reason: String, message: String, advice: impl Into<Cow<'static, str>>) -> Self {
        Self { cure: Cure::File, ..Self::new(reason, message, advice) }
    }
}

/// Words for yes and no, as they are compared.
const YES: &[&str] = &["ja", "j", "yes", "y", "true", "1", "x", "sant", "wahr", "on", "si", "oui"];
const NO: &[&str] = &["nej", "nein", "n", "no", "false", "0", "falskt", "falsch", "off"];

impl Convert {
    /// How texts become values of a kind; nothing for those that are not made of one text.
    pub(super) fn of(
        kind: &Kind,
        catalogue: &ad_core::catalogue::Catalogue,
        brands: Option<&'static str>,
        lookups: &mut Lookups,
    ) -> Option<Self> {
        Some(match *kind {
            Kind::Text { without, .. } => Self::Text { without },
            Kind::Email { .. } => Self::Text { without: None },
            Kind::Integer { min, max, .. } => Self::Integer { min, max },
            Kind::Decimal { min, max, decimals, .. } => Self::Decimal { min, max, decimals },
            Kind::Boolean => Self::Boolean,
            Kind::Date => Self::Date,
            Kind::Url { .. } => Self::Address,
            Kind::ImageAddress => Self::Image,
            Kind::Plate { .. } => Self::Plate,
            Kind::Digits { .. } => Self::Digits,
            Kind::Currency => Self::Currency,
            Kind::Choice { values, .. } => Self::OneOf(lookups.choice(values)),
            Kind::Slug { list } => Self::OneOf(lookups.list(catalogue, list)),
            Kind::Model { list } => Self::Model(lookups.models(catalogue, list, brands?)),
            Kind::Measure { units, min } => Self::Measure { units, min },
            Kind::List { item, max, unique } => {
                Self::List { item: Box::new(Self::of(item, catalogue, brands, lookups)?), max, unique }
            }
            Kind::Objects { .. } | Kind::Object { .. } | Kind::CategoryFields => return None,
        })
    }

    /// How its items are made, where it is a list.
    pub(super) fn item(&self) -> &Self {
        if let Self::List { item, .. } = self { item } else { self }
    }

    /// The value, where the text is one that the field takes by its own name.
    pub(super) fn known(&self, text: &str, with: With<'_>, scratch: &mut String) -> Option<Value> {
        match self {
            Self::OneOf(lookup) => lookup.find(text, scratch).map(Value::from),
            Self::Model(models) => models.of(with.brand?)?.find(text, scratch).map(Value::from),
            _ => None,
        }
    }

    /// The value of a text.
    pub(super) fn value(&self, text: &str, with: With<'_>, scratch: &mut String) -> Result<Value, Bad> {
        let noun = with.noun;
        match self {
            Self::Text { without } => Ok(Value::String(plain(text, *without).into_owned())),
            Self::Address | Self::Image => Ok(Value::from(text)),
            Self::Integer { min, max } => integer(text, *min, *max, with),
            Self::Decimal { min, max, decimals } => {
                let number = in_words(counted(text, with)?, text, noun)?;
                within(number, *min, *max, text, noun)?;
                rounded(number, *decimals, text, noun)
            }
            Self::Boolean => boolean(text, noun, scratch),
            Self::Date => day(text, with),
            Self::Plate => Ok(Value::String(plate(text))),
            Self::Digits => Ok(Value::String(text.chars().filter(|it| !" -()/.\u{a0}".contains(*it)).collect())),
            Self::Currency => Ok(Value::from(currency(text).map_or_else(|| text.to_uppercase(), str::to_owned))),
            Self::OneOf(lookup) => {
                lookup.find(text, scratch).map(Value::from).ok_or_else(|| unknown(text, noun, lookup.hint(text)))
            }
            Self::Model(models) => match with.brand.and_then(|brand| models.of(brand)) {
                // Without a brand, the rules have something to say.
                None => Ok(Value::from(text)),
                Some(of) => of.find(text, scratch).map(Value::from).ok_or_else(|| unknown(text, noun, of.hint(text))),
            },
            Self::Measure { units, min } => measure(text, units, *min, with, scratch),
            Self::List { item, .. } => item.value(text, with, scratch),
        }
    }
}

fn unknown(text: &str, noun: &str, hint: Option<String>) -> Bad {
    Bad {
        reason: format!("unknown {noun}"),
        message: format!("\"{}\" is not a known {noun}.", short(text)),
        advice: hint,
        cure: Cure::ValueMap,
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

/// Reads the number of a text.
fn counted<'t>(text: &'t str, with: With<'_>) -> Result<NumberInText<'t>, Bad> {
    let noun = with.noun;
    number::read(text, with.decimal).map_err(|why| match why {
        NoNumber::None => no_number(text, noun),
        NoNumber::Ambiguous => Bad::new(
            format!("{noun} is ambiguous"),
            format!("The separator in \"{}\" may be of thousands or decimals.", short(text)),
            "Set decimal = \",\" or decimal = \".\" in the mapping: at its top for all numbers, or at this field.",
        ),
    })
}

fn no_number(text: &str, noun: &str) -> Bad {
    Bad::in_file(
        format!("{noun} is not a number"),
        format!("\"{}\" is not a number.", short(text)),
        "Correct the value in the file, or map it: values = { \"…\" = \"\" } removes it.",
    )
}

/// The number, where nothing but a word for what is counted stands around it.
fn in_words(found: NumberInText<'_>, text: &str, noun: &str) -> Result<Decimal, Bad> {
    let is_word = found.after.is_empty()
        || (found.after.starts_with(char::is_whitespace) && found.after.trim().chars().all(char::is_alphabetic));
    if found.before.is_empty() && is_word { Ok(found.number) } else { Err(no_number(text, noun)) }
}

fn integer(text: &str, min: i64, max: i64, with: With<'_>) -> Result<Value, Bad> {
    let noun = with.noun;
    let text = if with.year { year(text).ok_or_else(|| no_year(text, noun))? } else { text };
    let number = in_words(counted(text, with)?, text, noun)?;
    let Some(whole) = number.whole() else {
        return Err(Bad::in_file(
            format!("{noun} is not a whole number"),
            format!("\"{}\" is not a whole number.", short(text)),
            "Correct the value in the file.",
        ));
    };
    if whole < min || whole > max {
        return Err(out_of_range(text, noun, &min, &max));
    }
    Ok(Value::from(whole))
}

/// The one year in a date: `2019-05-04`, `20190504`, `05/2019`.
fn year(text: &str) -> Option<&str> {
    let mut runs = text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|run| match run.len() {
        4 => Some(run),
        8 => run.get(..4),
        _ => None,
    });
    let first = runs.next()?;
    runs.next().is_none().then_some(first)
}

fn no_year(text: &str, noun: &str) -> Bad {
    Bad::in_file(
        format!("{noun} is not the year of a date"),
        format!("Expected one year of four digits in \"{}\".", short(text)),
        "Correct the value in the file.",
    )
}

fn out_of_range(text: &str, noun: &str, min: &impl ToString, max: &impl ToString) -> Bad {
    Bad::in_file(
        format!("{noun} out of range"),
        format!("\"{}\" is not within {} to {}.", short(text), min.to_string(), max.to_string()),
        "Correct the value in the file.",
    )
}

fn within(number: Decimal, min: f64, max: f64, text: &str, noun: &str) -> Result<(), Bad> {
    let float = number.float();
    if float < min || float > max { Err(out_of_range(text, noun, &min, &max)) } else { Ok(()) }
}

fn rounded(number: Decimal, most: Option<u8>, text: &str, noun: &str) -> Result<Value, Bad> {
    match most {
        Some(most) if number.decimals() > u32::from(most) => Err(Bad::in_file(
            format!("{noun} has too many decimals"),
            format!("\"{}\" has more than {most} decimals.", short(text)),
            "Correct the value in the file.",
        )),
        _ => Ok(number.value()),
    }
}

fn boolean(text: &str, noun: &str, scratch: &mut String) -> Result<Value, Bad> {
    super::fold::fold_into(text, scratch);
    if YES.contains(&scratch.as_str()) {
        return Ok(Value::Bool(true));
    }
    if NO.contains(&scratch.as_str()) {
        return Ok(Value::Bool(false));
    }
    Err(Bad::in_file(
        format!("{noun} is neither yes nor no"),
        format!("\"{}\" is neither yes nor no.", short(text)),
        "Map it: values = { \"…\" = true }.",
    ))
}

fn day(text: &str, with: With<'_>) -> Result<Value, Bad> {
    let noun = with.noun;
    let shown = short(text);
    date::read(text, with.form).map(|day| Value::String(day.to_string())).map_err(|why| match why {
        NoDate::None => Bad::new(
            format!("{noun} is not a date"),
            format!("\"{shown}\" is not a date."),
            "Set its format in the mapping: date = \"DD/MM/YYYY\".",
        ),
        NoDate::NotFull => Bad::in_file(
            format!("{noun} is not a full date"),
            format!("\"{shown}\" has no day, or no month."),
            "Correct the value in the file, or omit the field.",
        ),
        NoDate::Impossible => Bad::in_file(
            format!("{noun} is an impossible date"),
            format!("The date \"{shown}\" does not exist."),
            "Correct the value in the file.",
        ),
        NoDate::Ambiguous => Bad::new(
            format!("{noun} is ambiguous"),
            format!("Day and month of \"{shown}\" are ambiguous."),
            "Set its format in the mapping: date = \"DD/MM/YYYY\" or date = \"MM/DD/YYYY\".",
        ),
    })
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

fn measure(
    text: &str,
    units: &'static [&'static str],
    min: f64,
    with: With<'_>,
    scratch: &mut String,
) -> Result<Value, Bad> {
    let noun = with.noun;
    let found = counted(text, with)?;
    if !found.before.is_empty() {
        return Err(no_number(text, noun));
    }
    let written = found.after.trim();
    let own = units::find(written, units, scratch);
    if !written.is_empty() && own.is_none() {
        return Err(unknown_unit(text, written, noun, units));
    }
    let unit = match (with.unit, own) {
        (Some(told), Some(own)) if told != own => {
            return Err(Bad::new(
                format!("{noun} has another unit than the mapping"),
                format!("\"{}\" is in {own}, but the mapping sets {told}.", short(text)),
                "Omit \"unit\" from the mapping if the values contain it.",
            ));
        }
        (Some(unit), _) | (None, Some(unit)) => unit,
        (None, None) if units.len() == 1 => units[0],
        (None, None) => {
            return Err(Bad::new(
                format!("{noun} has no unit"),
                format!("\"{}\" has no unit.", short(text)),
                format!("Set it in the mapping: unit = \"{}\".", units[0]),
            ));
        }
    };
    let to = with.to.unwrap_or(unit);
    let number = units::factor(unit, to).and_then(|factor| factor.apply(found.number));
    let Some(number) = number else {
        return Err(Bad::new(
            format!("{noun} cannot be converted"),
            format!("\"{}\" cannot be converted exactly from {unit} to {to}.", short(text)),
            format!("Omit \"as\": the service accepts {unit} too."),
        ));
    };
    within(number, min, MOST_MEASURED, text, noun)?;
    let mut members = Map::new();
    members.insert("unit".to_owned(), Value::from(to));
    members.insert("value".to_owned(), number.value());
    Ok(Value::Object(members))
}

/// What is said of a unit that the field does not take.
pub(super) fn unknown_unit(text: &str, unit: &str, noun: &str, units: &[&str]) -> Bad {
    let allowed = ad_core::violation::nearest::quoted(units.iter().copied());
    Bad::new(
        format!("unknown unit of {noun}"),
        format!("\"{}\" of \"{}\" is not a unit of {noun}.", short(unit), short(text)),
        format!("Units: {allowed}."),
    )
}

/// What stands for a currency, as it is compared: code, or nothing where several use the sign.
const CURRENCIES: &[(&str, &str)] = &[
    ("sek", "SEK"),
    ("nok", "NOK"),
    ("dkk", "DKK"),
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("€", "EUR"),
    ("usd", "USD"),
    ("gbp", "GBP"),
    ("£", "GBP"),
    ("chf", "CHF"),
    ("pln", "PLN"),
    ("czk", "CZK"),
    ("kr", ""),
    ("kr.", ""),
    ("kronor", ""),
    (":-", ""),
    (",-", ""),
    (".-", ""),
    ("-", ""),
    (":", ""),
    ("$", ""),
];

/// The code of a currency's sign or name.
fn currency(text: &str) -> Option<&'static str> {
    let known = CURRENCIES.iter().find(|(sign, _)| sign.eq_ignore_ascii_case(text));
    known.map(|(_, code)| *code).filter(|code| !code.is_empty())
}

/// An amount as a price of a type. `told` is the currency that the mapping or a column tells.
pub(super) fn price(text: &str, of: &str, amount: &Convert, told: Option<&str>, with: With<'_>) -> Result<Value, Bad> {
    let Convert::Decimal { min, max, decimals } = *amount else { return Err(no_number(text, with.noun)) };
    let noun = with.noun;
    let found = counted(text, with)?;
    let mut written = None;
    for sign in [found.before.trim(), found.after.trim()].into_iter().filter(|sign| !sign.is_empty()) {
        if !CURRENCIES.iter().any(|(known, _)| known.eq_ignore_ascii_case(sign)) {
            return Err(no_number(text, noun));
        }
        written = written.or_else(|| currency(sign));
    }
    within(found.number, min, max, text, noun)?;
    let told = told.map(|told| currency(told).map_or_else(|| told.to_uppercase(), str::to_owned));
    let currency = match (told, written) {
        (Some(told), Some(written)) if told != written => {
            return Err(Bad::new(
                format!("{noun} has another currency than the mapping"),
                format!("\"{}\" is in {written}, but the mapping sets {told}.", short(text)),
                "Omit \"currency\" from the mapping if the values contain it.",
            ));
        }
        (Some(told), _) => Some(told),
        (None, written) => written.map(str::to_owned),
    };
    let mut members = Map::new();
    members.insert("amount".to_owned(), rounded(found.number, decimals, text, noun)?);
    if let Some(currency) = currency {
        members.insert("currency".to_owned(), Value::String(currency));
    }
    members.insert("type".to_owned(), Value::from(of));
    Ok(Value::Object(members))
}

/// A value as a sentence shows it.
pub(super) fn short(text: &str) -> Cow<'_, str> {
    const MOST: usize = 80;
    ad_cli::bulk::shortened(text, MOST)
}
