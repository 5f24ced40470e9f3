//! What is wrong with a field, as a value: a [`Code`] and the parameters of its text (extensions E1). The text is made where it is
//! shown; programs ask for the code.

use std::borrow::Cow;

mod code;
pub mod nearest;

pub use code::{About, Code, reference};
use nearest::quoted;

/// What a value has to be instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// A JSON object.
    Object,
    /// An object `{unit, value}`, with one of the units.
    Measure(&'static str),
    /// A JSON array.
    List,
    /// A JSON string.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A number without decimals.
    Integer,
    /// A number.
    Number,
}

/// How a text has to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `YYYY-MM-DD`.
    Date,
    /// An absolute address.
    Address,
    /// An address with one of these schemes.
    Scheme(&'static [&'static str]),
    /// An e-mail address.
    Email,
    /// Digits in a number of characters.
    Digits {
        /// Allowed lengths.
        lengths: &'static [usize],
        /// Whether a leading `+` is allowed.
        plus: bool,
    },
    /// Without this character.
    Without(char),
    /// A number with at most so many decimals.
    Decimals(u8),
    /// A UUID.
    Uuid,
}

/// Which values would have been valid, as far as it helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choices {
    /// Those that were probably meant, the likeliest first.
    Meant(Vec<String>),
    /// All of them.
    All(Vec<String>),
    /// The nearest of many.
    Nearest(Vec<String>),
    /// None are told.
    Untold,
}

/// One thing that is wrong with a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Violation {
    /// It is missing.
    Required,
    /// It is missing while another field, which needs it, is there.
    RequiredWith {
        /// The other field.
        other: &'static str,
        /// The rule that binds them.
        rule: &'static str,
    },
    /// It is `null`.
    Null,
    /// It is empty.
    Blank,
    /// There is no such field.
    UnknownField {
        /// Paths of the fields that were probably meant.
        meant: Vec<&'static str>,
    },
    /// So many fields beside this one are unknown.
    MoreUnknownFields(usize),
    /// There is no such query parameter.
    UnknownParameter {
        /// Those that were probably meant.
        meant: Vec<&'static str>,
    },
    /// So many parameters are unknown and not named.
    MoreUnknownParameters(usize),
    /// V3 does not have the field.
    NotSupportedByV3,
    /// Ads of the category do not have it.
    Forbidden {
        /// The category, as messages show it.
        category: String,
        /// What there is instead.
        instead: &'static str,
    },
    /// It is something else.
    WrongType(Expected),
    /// It is none of the allowed values.
    NotAChoice {
        /// What was sent, in quotes.
        sent: String,
        /// What is allowed.
        choices: Choices,
        /// What else there is to know: a sentence.
        note: Option<String>,
    },
    /// It is written in another way.
    WrongFormat(Format),
    /// The number is less than this.
    TooSmall(f64),
    /// The number is more than this.
    TooLarge(f64),
    /// It has more characters.
    TooLong(usize),
    /// It has fewer characters.
    TooShort(usize),
    /// It has more items.
    TooMany(usize),
    /// It occurs before in the same list.
    Duplicate {
        /// The item, in quotes.
        sent: String,
    },
    /// What one rule alone can say.
    Stated {
        /// What kind of error it is.
        code: Code,
        /// The name of the rule, if it is one over several fields.
        rule: Option<&'static str>,
        /// The text.
        text: Cow<'static, str>,
        /// What else there is to know: a sentence.
        note: Option<String>,
    },
    /// What the service answered in a body without codes.
    Answered(String),
}

impl Violation {
    /// What one check alone can say.
    pub fn stated(code: Code, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Stated { code, rule: None, text: text.into(), note: None }
    }

    /// What a rule over several fields says.
    pub fn of_rule(rule: &'static str, code: Code, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Stated { code, rule: Some(rule), text: text.into(), note: None }
    }

    /// The same with a sentence of what else there is to know, if there is any.
    #[must_use]
    pub fn with_note(mut self, sentence: Option<String>) -> Self {
        if let Self::Stated { note, .. } | Self::NotAChoice { note, .. } = &mut self {
            *note = sentence;
        }
        self
    }

    /// Its code; `None` where the service has not told it.
    pub fn code(&self) -> Option<Code> {
        Some(match self {
            Self::Required => Code::Required,
            Self::RequiredWith { .. } => Code::Conflict,
            Self::Null => Code::Null,
            Self::Blank => Code::Blank,
            Self::UnknownField { .. }
            | Self::MoreUnknownFields(_)
            | Self::UnknownParameter { .. }
            | Self::MoreUnknownParameters(_) => Code::UnknownField,
            Self::NotSupportedByV3 => Code::NotSupportedByV3,
            Self::Forbidden { .. } => Code::NotAllowed,
            Self::WrongType(_) => Code::InvalidType,
            Self::NotAChoice { .. } => Code::InvalidChoice,
            Self::WrongFormat(_) => Code::InvalidFormat,
            Self::TooSmall(_) | Self::TooLarge(_) => Code::OutOfRange,
            Self::TooLong(_) => Code::TooLong,
            Self::TooShort(_) => Code::TooShort,
            Self::TooMany(_) => Code::TooMany,
            Self::Duplicate { .. } => Code::DuplicateItem,
            Self::Stated { code, .. } => *code,
            Self::Answered(_) => return None,
        })
    }

    /// The name of the rule over several fields that it is of.
    pub fn rule(&self) -> Option<&'static str> {
        match self {
            Self::RequiredWith { rule, .. } => Some(rule),
            Self::Stated { rule, .. } => *rule,
            _ => None,
        }
    }

    /// What was probably meant, the likeliest first.
    pub fn suggestions(&self) -> Vec<&str> {
        match self {
            Self::UnknownField { meant } | Self::UnknownParameter { meant } => meant.clone(),
            Self::NotAChoice { choices: Choices::Meant(meant), .. } => meant.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// All values that are allowed, where they are few.
    pub fn allowed(&self) -> Option<&[String]> {
        match self {
            Self::NotAChoice { choices: Choices::All(all), .. } => Some(all),
            _ => None,
        }
    }

    /// Its text: what is wrong, and then what helps.
    pub fn texts(&self) -> Vec<Cow<'_, str>> {
        let one = |text: &'static str| vec![Cow::Borrowed(text)];
        match self {
            Self::Required => one("This field is required."),
            Self::RequiredWith { other, .. } => vec![format!("This field is required when {other} is given.").into()],
            Self::Null => one("This field may not be null."),
            Self::Blank => one("This field may not be blank."),
            Self::UnknownField { meant } => with_meant("Unknown field.", meant),
            Self::MoreUnknownFields(more) => {
                vec![format!("{more} more fields beside this one are unknown and not listed.").into()]
            }
            Self::UnknownParameter { meant } => with_meant("Unknown parameter.", meant),
            Self::MoreUnknownParameters(more) => vec![format!("{more} more parameters are unknown.").into()],
            Self::NotSupportedByV3 => one("This field is not supported by V3."),
            Self::Forbidden { category, instead } => {
                vec![format!("Must not be sent for {category}: {instead}.").into()]
            }
            Self::WrongType(expected) => vec![expected.text()],
            Self::NotAChoice { sent, choices, note } => {
                let first = format!("{sent} is not a valid choice.");
                let all = [Some(first), choices.text(), note.clone()];
                all.into_iter().flatten().map(Cow::Owned).collect()
            }
            Self::WrongFormat(format) => vec![format.text()],
            Self::TooSmall(min) => vec![format!("Ensure this value is greater than or equal to {min}.").into()],
            Self::TooLarge(max) => vec![format!("Ensure this value is less than or equal to {max}.").into()],
            Self::TooLong(max) => vec![format!("Ensure this field has no more than {max} characters.").into()],
            Self::TooShort(min) => vec![format!("Ensure this field has at least {min} characters.").into()],
            Self::TooMany(max) => vec![format!("Ensure this field has no more than {max} elements.").into()],
            Self::Duplicate { sent } => vec![format!("{sent} occurs twice in this list.").into()],
            Self::Stated { text, note, .. } => {
                let note = note.as_deref().map(Cow::Borrowed);
                [Some(Cow::Borrowed(text.as_ref())), note].into_iter().flatten().collect()
            }
            Self::Answered(text) => vec![Cow::Borrowed(text)],
        }
    }
}

fn with_meant(text: &'static str, meant: &[&str]) -> Vec<Cow<'static, str>> {
    let hint = nearest::ask(meant.iter().copied()).map(Cow::Owned);
    [Some(Cow::Borrowed(text)), hint].into_iter().flatten().collect()
}

/// Most choices that a text names all of.
const MOST_NAMED: usize = 12;

impl Choices {
    /// What helps whoever sent this text, or no text at all, instead of one of these values (decision 4).
    pub fn of<'a>(sent: Option<&str>, valid: impl Iterator<Item = &'a str> + Clone) -> Self {
        let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect();
        let meant = sent.map(|sent| nearest::meant(sent, valid.clone())).unwrap_or_default();
        if !meant.is_empty() {
            return Self::Meant(owned(meant));
        }
        if valid.clone().nth(MOST_NAMED).is_none() {
            return Self::All(valid.map(str::to_owned).collect());
        }
        match sent.map(|sent| nearest::nearest(sent, valid)).unwrap_or_default() {
            nearest if nearest.is_empty() => Self::Untold,
            nearest => Self::Nearest(owned(nearest)),
        }
    }

    /// The same in a sentence.
    pub fn text(&self) -> Option<String> {
        let in_quotes = |values: &[String]| quoted(values.iter().map(String::as_str));
        match self {
            Self::Meant(meant) => nearest::ask(meant.iter().map(String::as_str)),
            Self::All(all) => Some(format!("Valid choices: {}.", in_quotes(all))),
            Self::Nearest(nearest) => Some(format!("Nearest valid choices: {}.", in_quotes(nearest))),
            Self::Untold => None,
        }
    }
}

impl Expected {
    /// What is said of a value that is something else.
    pub(crate) fn text(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Object => "Expected an object.",
            Self::Measure(unit) => {
                return format!("Expected an object such as {{\"unit\": \"{unit}\", \"value\": 1}}.").into();
            }
            Self::List => "Expected a list of items.",
            Self::Text => "Not a valid string.",
            Self::Boolean => "Must be a valid boolean.",
            Self::Integer => "A valid integer is required.",
            Self::Number => "A valid number is required.",
        })
    }
}

impl Format {
    fn text(self) -> Cow<'static, str> {
        match self {
            Self::Date => "Date has wrong format. Use one of these formats instead: YYYY-MM-DD.".into(),
            Self::Address => "Enter a valid URL.".into(),
            Self::Scheme(schemes) => format!("Enter a URL that starts with {}://.", schemes.join(":// or ")).into(),
            Self::Email => "Enter a valid email address.".into(),
            Self::Digits { lengths, plus } => {
                let sign = if plus { ", with an optional leading +" } else { "" };
                match lengths {
                    [] => "Digits only.".into(),
                    [only] => format!("Must be {only} digits{sign}.").into(),
                    [first, second] => format!("Must be {first} or {second} digits{sign}.").into(),
                    [first, .., last] => format!("Digits only{sign}, {first} to {last} characters.").into(),
                }
            }
            Self::Without(mark) => format!("May not contain \"{mark}\"; send one item per element.").into(),
            Self::Decimals(most) => format!("Ensure that there are no more than {most} decimal places.").into(),
            Self::Uuid => "Must be a valid UUID.".into(),
        }
    }
}
