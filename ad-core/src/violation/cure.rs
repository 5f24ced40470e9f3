//! What to send instead of an invalid value, behind the text of its error: a value with a typed reason, rendered where it is shown.

use std::borrow::Cow;

use super::{Expected, nearest::quoted};

/// Longest value that a cure shows whole, in characters.
const MOST_SHOWN: usize = 200;

/// What to send instead of what was sent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Cure {
    /// The value that was certainly meant.
    Send {
        /// The value, as JSON text.
        value: String,
        /// What was sent, as JSON text.
        sent: String,
        /// How the two differ, which selects the sentence.
        slip: Slip,
    },
    /// One of several values: what was sent has more than one reading.
    OneOf {
        /// The values, as JSON texts.
        values: Vec<String>,
        /// What was sent, as JSON text.
        sent: String,
    },
    /// A number without its unit.
    WithUnit {
        /// The measure with the first unit, as JSON text.
        value: String,
        /// Further units that it may have.
        others: Vec<String>,
    },
    /// A value of the right type, where the one that was meant is not known.
    Example {
        /// The type that the field must have.
        expected: Expected,
        /// A valid value, as JSON text.
        value: String,
    },
    /// No value: what was sent stands for none.
    NoValue {
        /// What was sent, as JSON text.
        sent: String,
        /// Whether the field must have a value.
        required: bool,
    },
    /// An empty list in the place of an object, or the reverse.
    Empty {
        /// The type that the field must have.
        expected: Expected,
    },
    /// No measure: its value stands for none.
    NoMeasure {
        /// What was sent, as JSON text.
        sent: String,
    },
    /// No item: what was sent stands for none.
    NoItem {
        /// What was sent, as JSON text.
        sent: String,
    },
    /// A truth value or none: an empty text in the place of a boolean.
    FalseOrNothing,
    /// A date that is not certain.
    Day,
    /// The address of a file that the service cannot reach.
    NotOnTheWeb,
}

/// How a sent value differs from the one that was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slip {
    /// A number or truth value in quotes.
    Quoted,
    /// A number or truth value in the place of a text.
    Unquoted,
    /// Another spelling of the value, or another word for it.
    Spelling,
    /// A list of one item in the place of the item.
    Boxed,
    /// An item in the place of a list.
    Bare,
    /// Several items in one text.
    Joined,
    /// An object with numbers as names in the place of a list.
    Numbered,
    /// JSON within a text: the value was encoded twice.
    Twice,
    /// Spaces, or characters that are not visible, at the beginning or end.
    Spaces,
    /// A number as people write it.
    Number,
    /// A number with a unit in one text.
    Measure,
    /// A date in another form.
    Date,
    /// A Unix time in the place of a date.
    UnixTime,
    /// The number of a day in a spreadsheet.
    SerialDay,
    /// An object around the value.
    Object,
    /// Digits with separators, where only digits are valid.
    Separators,
    /// A number that was computed.
    Rounding,
}

impl Slip {
    /// The sentence, with `{value}` and `{sent}` for what is to be sent and what was sent.
    const fn sentence(self) -> &'static str {
        match self {
            Self::Quoted => "Send {value}, without quotes.",
            Self::Unquoted => "Send {value}, in quotes.",
            Self::Spelling => "Send {value}, not {sent}.",
            Self::Boxed => "A list of one item came: send {value}, not {sent}.",
            Self::Bare => "Send a list, also for one item: {value}.",
            Self::Joined => "Send one item per element: {value}.",
            Self::Numbered => "An object with numbered names came: send a list, {value}.",
            Self::Twice => {
                "It came as a text that contains JSON, so it was encoded twice: send {value} itself, without the quotes around it."
            }
            Self::Spaces => "It begins or ends with a space or a character that is not visible: send {value}.",
            Self::Number => "Send {value}, not {sent}: a number of JSON has a decimal point, no spaces and no unit.",
            Self::Measure => "Send {value}, not {sent}: number and unit are two members.",
            Self::Date => "Send {value}: a date is a text of the form YYYY-MM-DD.",
            Self::UnixTime => "Send {value}, a text of the form YYYY-MM-DD: {sent} is the time of that day since 1970.",
            Self::SerialDay => {
                "Send {value}, a text of the form YYYY-MM-DD, if {sent} is the number of that day in a spreadsheet."
            }
            Self::Object => "Send {value} alone, without the object around it.",
            Self::Separators => "Send {value}, not {sent}: digits only.",
            Self::Rounding => "Send {value}: {sent} came, which is a rounding error of floating-point numbers.",
        }
    }
}

impl Cure {
    /// The value to send, as JSON text, if it is certain.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::Send { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The sentence that follows the error.
    pub fn text(&self) -> Cow<'static, str> {
        match self {
            Self::Send { value, sent, slip } => {
                slip.sentence().replace("{value}", &shortened(value)).replace("{sent}", &shortened(sent)).into()
            }
            Self::OneOf { values, sent } => {
                format!("{} can be read as {}: send the one that is meant.", shortened(sent), values.join(" or "))
                    .into()
            }
            Self::WithUnit { value, others } if others.is_empty() => format!("Send {value}.").into(),
            Self::WithUnit { value, others } => {
                format!("Send {value}, or with another unit: {}.", quoted(others.iter().map(String::as_str))).into()
            }
            Self::Example { expected, value } => expected.such_as(value).into(),
            Self::NoValue { sent, required: false } => {
                format!("{} stands for no value: send null, or leave the field out.", shortened(sent)).into()
            }
            Self::NoValue { sent, required: true } => {
                format!("{} stands for no value, and this field must have one.", shortened(sent)).into()
            }
            Self::Empty { expected } => match expected {
                Expected::Object | Expected::Measure(_) => {
                    "An empty list came: send {} or null, not [], or leave the field out."
                }
                Expected::List => "An empty object came: send [] or null, not {}, or leave the field out.",
                _ => "An empty list or object came: send null, or leave the field out.",
            }
            .into(),
            Self::NoMeasure { sent } => format!(
                "{} stands for no value: leave out unit and value, or send null in the place of both.",
                shortened(sent)
            )
            .into(),
            Self::NoItem { sent } => format!("{} stands for no value: leave the item out.", shortened(sent)).into(),
            Self::FalseOrNothing => "Send false, not \"\", or leave the field out if it is not known.".into(),
            Self::Day => "Send the day as YYYY-MM-DD, such as \"2019-05-03\".".into(),
            Self::NotOnTheWeb => {
                "The service fetches it from the web: put the file on a web server, and send its https address.".into()
            }
        }
    }
}

fn shortened(json: &str) -> Cow<'_, str> {
    match json.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &json[..end]).into(),
        None => json.into(),
    }
}
