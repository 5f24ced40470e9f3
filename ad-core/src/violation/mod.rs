//! An error of a field as a value: a [`Code`] and the parameters of its text (extensions E1). Programs read the code; the text is
//! rendered where it is shown.

use std::borrow::Cow;

mod code;
mod cure;
pub mod nearest;

pub use code::{About, Code, reference};
pub use cure::{Cure, Slip};
use nearest::quoted;

/// A warning about something that is allowed but probably a mistake (decision 7).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    /// Dotted path of the field, from the ad.
    pub field: String,
    /// Identifier for programs, listed in `docs/errors.md`.
    pub code: Code,
    /// The probable mistake, in a sentence.
    pub message: String,
}

/// The expected type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// A JSON object, `{…}`.
    Object,
    /// An object `{unit, value}`, with one of the units.
    Measure(&'static str),
    /// A JSON array, `[…]`.
    List,
    /// A JSON string, in quotes.
    Text,
    /// JSON `true` or `false`.
    Boolean,
    /// A JSON number without decimals.
    Integer,
    /// A JSON number, with or without decimals.
    Number,
}

/// The expected format of a text or number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// A text of the form `YYYY-MM-DD`.
    Date,
    /// `YYYY-MM-DD`, and a day that the calendar has.
    Day,
    /// An absolute address, such as `https://ads.example/1`.
    Address,
    /// An address with one of these schemes.
    Scheme(&'static [&'static str]),
    /// An e-mail address, such as `anna@example.se`.
    Email,
    /// Digits in a number of characters.
    Digits {
        /// Allowed numbers of characters, the `+` counted.
        lengths: &'static [usize],
        /// Whether a leading `+` is allowed.
        plus: bool,
    },
    /// A text that does not contain this character.
    Without(char),
    /// A number with at most so many decimals.
    Decimals(u8),
    /// A UUID, such as that of a request.
    Uuid,
}

/// The valid values, as far as they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choices {
    /// Those that are similar to what was sent, the most similar first.
    Meant(Vec<String>),
    /// All valid values, in the order of the documents.
    All(Vec<String>),
    /// The nearest valid values; there are more.
    Nearest(Vec<String>),
    /// No value is shown: there are too many for a list, and none is near to what was sent.
    Omitted,
}

/// An error of a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Violation {
    /// The field is missing, and must have a value.
    Required,
    /// It is missing, and another field that is present needs it.
    RequiredWith {
        /// Path of the field that is present.
        other: &'static str,
        /// The rule that connects them.
        rule: &'static str,
    },
    /// The field is `null` and must have a value.
    Null,
    /// The text is empty, where at least one character is required.
    Blank,
    /// There is no such field.
    UnknownField {
        /// Paths of the fields that were probably meant.
        meant: Vec<String>,
        /// Whether it was sent in `category_fields`, and these are fields of the ad itself.
        of_ad: bool,
    },
    /// The field belongs to another level of the ad.
    MisplacedField {
        /// The paths at which it may stand.
        paths: Vec<String>,
        /// Whether it was sent in `category_fields` and belongs to the ad itself.
        of_ad: bool,
    },
    /// Number of further unknown fields, which are not listed.
    MoreUnknownFields(usize),
    /// There is no such query parameter.
    UnknownParameter {
        /// The parameters that were probably meant.
        meant: Vec<String>,
    },
    /// Number of further unknown parameters, which are not listed.
    MoreUnknownParameters(usize),
    /// V3 does not have the field.
    NotSupportedByV3,
    /// It must not be sent for ads of the category.
    Forbidden {
        /// The category, as messages show it.
        category: String,
        /// What to send instead, in a phrase.
        instead: &'static str,
    },
    /// It has the wrong type.
    WrongType(Expected),
    /// An error with what to send instead.
    Cured {
        /// The error, without what to send.
        error: Box<Self>,
        /// What to send instead; its sentence follows that of the error.
        cure: Cure,
    },
    /// The whole payload stands in a member of another name.
    Wrapped {
        /// The name of that member.
        name: String,
    },
    /// Objects within objects, written as one name with dots.
    Flattened {
        /// The path that is meant, from the object in which the name stands.
        path: String,
        /// Whether it was sent in `category_fields` and belongs to the ad itself.
        of_ad: bool,
    },
    /// It is none of the allowed values.
    NotAChoice {
        /// What was sent, in quotes.
        sent: String,
        /// The values that are allowed.
        choices: Choices,
        /// A sentence with more information.
        note: Option<String>,
        /// A sentence for those who send requests themselves: which one helps.
        request: Option<String>,
    },
    /// It has the wrong format.
    WrongFormat(TextFormat),
    /// The number is less than this minimum.
    TooSmall(f64),
    /// The number is greater than this maximum.
    TooLarge(f64),
    /// It has more characters than this maximum.
    TooLong(usize),
    /// It has fewer characters than this minimum.
    TooShort(usize),
    /// It has more items than this maximum.
    TooMany(usize),
    /// It occurs earlier in the same list.
    Duplicate {
        /// The repeated item, in quotes.
        sent: String,
    },
    /// An error with a text of its own.
    Stated {
        /// What kind of error it is.
        code: Code,
        /// The name of the rule, if it is one over several fields.
        rule: Option<&'static str>,
        /// The error in a sentence.
        text: Cow<'static, str>,
        /// A sentence with more information.
        note: Option<String>,
        /// A sentence for those who send requests themselves: which one helps.
        request: Option<String>,
    },
    /// An error from an answer without codes.
    Answered(String),
}

impl Violation {
    /// An error with a text of its own.
    pub fn stated(code: Code, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Stated { code, rule: None, text: text.into(), note: None, request: None }
    }

    /// An error of a rule over several fields.
    pub fn of_rule(rule: &'static str, code: Code, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Stated { code, rule: Some(rule), text: text.into(), note: None, request: None }
    }

    /// The same, with what to send instead.
    #[must_use]
    pub fn cured(self, cure: Cure) -> Self {
        Self::Cured { error: Box::new(self), cure }
    }

    /// The same, with a sentence of more information if there is one.
    #[must_use]
    pub fn with_note(mut self, sentence: Option<String>) -> Self {
        if let Self::Stated { note, .. } | Self::NotAChoice { note, .. } = &mut self {
            *note = sentence;
        }
        self
    }

    /// The same, with a sentence about the request that helps: only [`texts`](Self::texts) have it.
    #[must_use]
    pub fn with_request(mut self, sentence: impl Into<String>) -> Self {
        if let Self::Stated { request, .. } | Self::NotAChoice { request, .. } = &mut self {
            *request = Some(sentence.into());
        }
        self
    }

    /// The sentence about the request that helps, if there is one.
    pub fn request(&self) -> Option<&str> {
        match self.uncured() {
            Self::Stated { request, .. } | Self::NotAChoice { request, .. } => request.as_deref(),
            _ => None,
        }
    }

    /// The error without what to send instead.
    pub fn uncured(&self) -> &Self {
        match self {
            Self::Cured { error, .. } => error.uncured(),
            error => error,
        }
    }

    /// Its code; `None` if the answer had none.
    pub fn code(&self) -> Option<Code> {
        Some(match self {
            Self::Required => Code::Required,
            Self::RequiredWith { .. } => Code::Conflict,
            Self::Null => Code::Null,
            Self::Blank => Code::Blank,
            Self::UnknownField { .. }
            | Self::Wrapped { .. }
            | Self::Flattened { .. }
            | Self::MoreUnknownFields(_)
            | Self::UnknownParameter { .. }
            | Self::MoreUnknownParameters(_) => Code::UnknownField,
            Self::MisplacedField { .. } => Code::MisplacedField,
            Self::NotSupportedByV3 => Code::NotSupportedByV3,
            Self::Forbidden { .. } => Code::NotAllowed,
            Self::WrongType(_) => Code::InvalidType,
            Self::Cured { error, .. } => return error.code(),
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

    /// The name of the rule over several fields that it violates.
    pub fn rule(&self) -> Option<&'static str> {
        match self {
            Self::RequiredWith { rule, .. } => Some(rule),
            Self::Stated { rule, .. } => *rule,
            Self::Cured { error, .. } => error.rule(),
            _ => None,
        }
    }

    /// Similar fields or values, the most similar first.
    pub fn suggestions(&self) -> Vec<&str> {
        match self {
            Self::UnknownField { meant, .. }
            | Self::MisplacedField { paths: meant, .. }
            | Self::UnknownParameter { meant }
            | Self::NotAChoice { choices: Choices::Meant(meant), .. } => meant.iter().map(String::as_str).collect(),
            Self::Flattened { path, .. } => vec![path],
            Self::Cured { error, cure } => {
                let text = cure.value().and_then(|value| value.strip_prefix('"')?.strip_suffix('"'));
                error.suggestions().into_iter().chain(text.filter(|text| !text.contains('\\'))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All allowed values, if they are few.
    pub fn allowed(&self) -> Option<&[String]> {
        match self {
            Self::NotAChoice { choices: Choices::All(all), .. } => Some(all),
            Self::Cured { error, .. } => error.allowed(),
            _ => None,
        }
    }

    /// Its text: the error, followed by help, at the end of which is the [request](Self::with_request) that helps.
    pub fn texts(&self) -> Vec<Cow<'_, str>> {
        let request = self.request().map(Cow::Borrowed);
        self.texts_for_people().into_iter().chain(request).collect()
    }

    /// The same for those who send no requests themselves.
    pub fn texts_for_people(&self) -> Vec<Cow<'_, str>> {
        let one = |text: &'static str| vec![Cow::Borrowed(text)];
        match self {
            Self::Required => one("This field is required."),
            Self::RequiredWith { other, .. } => vec![format!("This field is required when {other} is given.").into()],
            Self::Null => one("This field may not be null."),
            Self::Blank => one("This field may not be blank."),
            Self::UnknownField { meant: paths, of_ad } | Self::MisplacedField { paths, of_ad } => {
                let level = if *of_ad { " at the level of the ad, outside category_fields" } else { "" };
                with_meant("Unknown field.", paths, level)
            }
            Self::MoreUnknownFields(more) => {
                vec![format!("{more} more fields beside this one are unknown and not listed.").into()]
            }
            Self::UnknownParameter { meant } => with_meant("Unknown parameter.", meant, ""),
            Self::MoreUnknownParameters(more) => vec![format!("{more} more parameters are unknown.").into()],
            Self::NotSupportedByV3 => one("This field is not supported by V3."),
            Self::Forbidden { category, instead } => {
                vec![format!("Must not be sent for {category}: {instead}.").into()]
            }
            Self::WrongType(expected) => vec![expected.text()],
            Self::Cured { error, cure } => {
                let mut texts = error.texts_for_people();
                texts.push(cure.text());
                texts
            }
            Self::Wrapped { name } => vec![
                Cow::Borrowed("Unknown field."),
                format!("The ad stands inside of \"{name}\": send its members at the top of the body, without \"{name}\" around them.").into(),
            ],
            Self::Flattened { path, of_ad } => {
                let level = if *of_ad { " at the level of the ad, outside category_fields" } else { "" };
                let (open, close): (Vec<_>, Vec<_>) = path.split('.').map(|name| (format!("{{\"{name}\": "), "}")).unzip();
                let nested = format!("{}…{}", open.concat(), close.concat());
                vec![
                    Cow::Borrowed("Unknown field."),
                    format!("Objects are nested, not joined by dots: send {nested}{level}.").into(),
                ]
            }
            Self::NotAChoice { sent, choices, note, .. } => {
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

fn with_meant(text: &'static str, meant: &[String], level: &str) -> Vec<Cow<'static, str>> {
    let meant = nearest::alternatives(meant.iter().map(String::as_str));
    let hint = meant.map(|meant| format!("Did you mean {meant}{level}?").into());
    [Some(Cow::Borrowed(text)), hint].into_iter().flatten().collect()
}

/// Maximum number of choices that are all listed.
const MOST_NAMED: usize = 12;

impl Choices {
    /// The choices to show for a value that is none of the valid ones (decision 4); `sent` is `None` if it is not a text.
    pub fn of<'a>(sent: Option<&str>, valid: impl Iterator<Item = &'a str> + Clone) -> Self {
        let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect();
        let meant = sent.map(|sent| nearest::similar(sent, valid.clone())).unwrap_or_default();
        if !meant.is_empty() {
            return Self::Meant(owned(meant));
        }
        if valid.clone().nth(MOST_NAMED).is_none() {
            return Self::All(valid.map(str::to_owned).collect());
        }
        match sent.map(|sent| nearest::nearest(sent, valid)).unwrap_or_default() {
            nearest if nearest.is_empty() => Self::Omitted,
            nearest => Self::Nearest(owned(nearest)),
        }
    }

    /// The same in a sentence.
    pub fn text(&self) -> Option<String> {
        let in_quotes = |values: &[String]| quoted(values.iter().map(String::as_str));
        match self {
            Self::Meant(meant) => nearest::did_you_mean_one_of(meant.iter().map(String::as_str)),
            Self::All(all) => Some(format!("Valid choices: {}.", in_quotes(all))),
            Self::Nearest(nearest) => Some(format!("Nearest valid choices: {}.", in_quotes(nearest))),
            Self::Omitted => None,
        }
    }
}

impl Expected {
    /// The text for a value of another type.
    pub fn text(self) -> Cow<'static, str> {
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

    /// The sentence that shows a value of the type.
    fn such_as(self, example: &str) -> String {
        match self {
            Self::Object | Self::Measure(_) => format!("Send an object such as {example}."),
            Self::List => format!("Send a list such as {example}."),
            Self::Text => format!("Send {example}, in quotes."),
            Self::Boolean | Self::Integer | Self::Number => format!("Send {example}, without quotes."),
        }
    }
}

impl TextFormat {
    fn text(self) -> Cow<'static, str> {
        match self {
            Self::Date => "Date has wrong format. Use one of these formats instead: YYYY-MM-DD.".into(),
            Self::Day => "There is no such day in the calendar.".into(),
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
