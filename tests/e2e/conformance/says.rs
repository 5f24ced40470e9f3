//! The messages that more than one table expects (decision 4 and the service's own wording).

pub(super) const REQUIRED: &str = "This field is required.";
pub(super) const NULL: &str = "This field may not be null.";
pub(super) const BLANK: &str = "This field may not be blank.";
pub(super) const UNKNOWN: &str = "Unknown field.";
pub(super) const NOT_IN_V3: &str = "This field is not supported by V3.";
pub(super) const NO_TEXT: &str = "Not a valid string.";
pub(super) const NO_BOOLEAN: &str = "Must be a valid boolean.";
pub(super) const NO_INTEGER: &str = "A valid integer is required.";
pub(super) const NO_NUMBER: &str = "A valid number is required.";
pub(super) const NO_LIST: &str = "Expected a list of items.";
pub(super) const NO_OBJECT: &str = "Expected an object.";
pub(super) const A_LIST: &str = "Send a list…";
pub(super) const AN_OBJECT: &str = "Send an object such as …";
pub(super) const NO_DAY: &str = "There is no such day in the calendar.";
pub(super) const NO_DATE: &str = "Date has wrong format. Use one of these formats instead: YYYY-MM-DD.";
pub(super) const NO_URL: &str = "Enter a valid URL.";
pub(super) const NO_EMAIL: &str = "Enter a valid email address.";

/// `"<value>" is not a valid choice.`
pub(super) fn no_choice(value: &str) -> String {
    format!("\"{value}\" is not a valid choice.")
}

/// What follows for a text that holds a number or a boolean.
pub(super) fn unquoted(value: &str) -> String {
    format!("Send {value}, without quotes.")
}

/// What follows for a number where a text is expected.
pub(super) fn in_quotes(value: &str) -> String {
    format!("Send \"{value}\", in quotes.")
}

/// What follows when nothing near is known and the list is short.
pub(super) fn choices(values: &[&str]) -> String {
    let quoted: Vec<_> = values.iter().map(|value| format!("\"{value}\"")).collect();
    format!("Valid choices: {}.", quoted.join(", "))
}

pub(super) fn did_you_mean(value: &str) -> String {
    format!("Did you mean \"{value}\"?")
}

pub(super) fn at_least(least: i64) -> String {
    format!("Ensure this value is greater than or equal to {least}.")
}

pub(super) fn at_most(most: i64) -> String {
    format!("Ensure this value is less than or equal to {most}.")
}

pub(super) fn no_more_characters(most: usize) -> String {
    format!("Ensure this field has no more than {most} characters.")
}

pub(super) fn at_least_characters(fewest: usize) -> String {
    format!("Ensure this field has at least {fewest} characters.")
}

pub(super) fn no_more_elements(most: usize) -> String {
    format!("Ensure this field has no more than {most} elements.")
}

pub(super) fn twice(value: &str) -> String {
    format!("\"{value}\" occurs twice in this list.")
}
