//! Reasons: what rows with the same error have in common, made from field and error code, without any data of the row.

use ad_core::{
    categories::rules::{OWNERS_OF_USED, PLATE_OR_VIN},
    rulebook::Warning,
    violation::{Code, TextFormat, Violation},
};

/// The only reason about two fields.
pub(super) const NO_PLATE_AND_NO_VIN: &str = "no registration number and no VIN";

/// The reason for an error of a field, given without array indices. `value` is the invalid value.
pub(super) fn reason(attribute: &str, violation: &Violation, value: Option<&str>) -> String {
    match violation.rule() {
        Some(PLATE_OR_VIN) => return NO_PLATE_AND_NO_VIN.to_owned(),
        Some(OWNERS_OF_USED) => return "a used vehicle without owners".to_owned(),
        _ => {}
    }
    if attribute == "image_urls" {
        return of_images(violation, value).0.to_owned();
    }
    let what = words(attribute);
    match violation.uncured() {
        Violation::Required | Violation::RequiredWith { .. } | Violation::Null => format!("{what} is missing"),
        Violation::NotAChoice { .. } => format!("unknown {what}"),
        Violation::TooMany(_) => format!("too many {what}"),
        other if other.code() == Some(Code::TooLong) => format!("{what} is too long"),
        Violation::TooShort(_) => format!("{what} is too short"),
        Violation::Blank => format!("{what} is empty"),
        Violation::MisplacedField { .. } | Violation::Forbidden { .. } => format!("{what} must not be sent"),
        other if other.code() == Some(Code::UnknownField) => format!("{what} must not be sent"),
        Violation::Duplicate { .. } => format!("duplicate {what} in a row"),
        other if other.code() == Some(Code::OutOfRange) => format!("{what} out of range"),
        _ => format!("{what} is not valid"),
    }
}

/// Reason and advice for an error of the images. `value` is the address.
pub(super) fn of_images(violation: &Violation, value: Option<&str>) -> (&'static str, &'static str) {
    const PUBLIC: &str = "Use a public address that begins with https://.";
    match violation.uncured() {
        Violation::TooMany(_) => (
            "more than 20 images",
            "Keep at most 20: set max = 20 in the mapping to take the first ones, or remove the others.",
        ),
        Violation::Duplicate { .. } => ("duplicate image in a row", "Remove the duplicate."),
        Violation::Required => ("images are missing", PUBLIC),
        _ if value.is_some_and(|value| !value.contains("://")) => (
            "images are file names, not addresses",
            "Put the images on a web server, and set a template in the mapping that makes URLs from their names.",
        ),
        Violation::WrongFormat(TextFormat::Scheme(_)) => (
            "image address is not https",
            "Serve the images over https, and replace http:// with https:// in the file or by a template in the mapping.",
        ),
        _ => ("image address is not valid", PUBLIC),
    }
}

/// The reason for a warning of the rules.
pub(super) fn of_warning(attribute: &str, warning: &Warning) -> String {
    match warning.code {
        Code::NoImages => "no images".to_owned(),
        Code::NoPrice => "no price".to_owned(),
        Code::LeasingDetailsWithoutPrice => "leasing details without a leasing price".to_owned(),
        Code::IgnoredField => format!("{} is ignored", words(attribute)),
        _ => format!("{} needs attention", words(attribute)),
    }
}

/// A field in words: `category_fields.model_year` is the model year.
pub(crate) fn words(attribute: &str) -> String {
    let mut names = attribute.rsplit('.');
    let (last, above) = (names.next().unwrap_or_default(), names.next());
    match (last, above) {
        ("", _) => "row".to_owned(),
        ("value", Some(measure)) => measure.replace('_', " "),
        ("unit", Some(measure)) => format!("unit of {}", measure.replace('_', " ")),
        ("amount", Some("price")) => "price".to_owned(),
        ("type", Some("price")) => "price type".to_owned(),
        ("category_id", _) => "vehicle type".to_owned(),
        ("vin", _) => "VIN".to_owned(),
        (last, _) => last.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use ad_core::violation::{Choices, Expected};
    use ad_files::json::attribute;

    use super::*;

    #[test]
    fn rows_with_the_same_error_share_a_reason() {
        let choice = Violation::NotAChoice {
            sent: "\"wolvo\"".to_owned(),
            choices: Choices::Omitted,
            note: None,
            request: None,
        };
        for (path, violation, value, says) in [
            (
                "category_fields.vin",
                Violation::of_rule(PLATE_OR_VIN, Code::Conflict, "…"),
                None,
                "no registration number and no VIN",
            ),
            ("category_fields.model_year", Violation::TooLarge(2100.0), Some("20211"), "model year out of range"),
            ("category_fields.brand", choice, Some("wolvo"), "unknown brand"),
            (
                "category_fields.condition.mileage.value",
                Violation::WrongType(Expected::Number),
                Some("x"),
                "mileage is not valid",
            ),
            ("price.0.amount", Violation::stated(Code::OutOfRange, "…"), Some("0"), "price out of range"),
            ("image_urls", Violation::TooMany(20), None, "more than 20 images"),
            (
                "image_urls.3",
                Violation::WrongFormat(TextFormat::Address),
                Some("ABC123_1.JPG"),
                "images are file names, not addresses",
            ),
            (
                "image_urls.3",
                Violation::WrongFormat(TextFormat::Scheme(&["https"])),
                Some("http://a.example/1.jpg"),
                "image address is not https",
            ),
            (
                "image_urls.3",
                Violation::WrongFormat(TextFormat::Address),
                Some("https://"),
                "image address is not valid",
            ),
        ] {
            assert_eq!(reason(&attribute(path), &violation, value), says, "{path}: {violation:?}");
        }
    }
}
