//! What rows with the same trouble have in common, in a few words: made of the field and of what the rules say about it, with nothing
//! of the row. The rules' messages are fixed (decision 4), and one that is not known here is still told: only its reason is vaguer.

/// The one reason that is about two fields.
pub(super) const NO_PLATE_AND_NO_VIN: &str = "no registration number and no VIN";

/// The reason for an error of the rules at a field, given without places in arrays. `value` is what was sent.
pub(super) fn reason(attribute: &str, message: &str, value: Option<&str>) -> String {
    let begins = |start: &str| message.starts_with(start);
    if begins("At least one of registration_number and vin") {
        return NO_PLATE_AND_NO_VIN.to_owned();
    }
    if attribute == "image_urls" {
        return of_images(message, value).to_owned();
    }
    let what = words(attribute);
    if begins("This field is required") || begins("This field may not be null") {
        format!("{what} is missing")
    } else if message.ends_with("is not a valid choice.") {
        format!("unknown {what}")
    } else if begins("Ensure this value") || begins("Must be more than 0") || begins("Must be 0 ") {
        format!("{what} out of range")
    } else if begins("Ensure this field has no more than") {
        if message.ends_with("elements.") { format!("too many {what}") } else { format!("{what} is too long") }
    } else if begins("Ensure this field has at least") {
        format!("{what} is too short")
    } else if begins("This field may not be blank") {
        format!("{what} is empty")
    } else if begins("Unknown field") || begins("Must not be sent") {
        format!("{what} must not be sent")
    } else if begins("A used vehicle has at least 1 owner") {
        "a used vehicle without owners".to_owned()
    } else if message.ends_with("occurs twice in this list.") {
        format!("{what} occurs twice in a row")
    } else {
        format!("{what} is not valid")
    }
}

fn of_images(message: &str, value: Option<&str>) -> &'static str {
    if message.starts_with("Ensure this field has no more than 20 ") {
        "more than 20 images"
    } else if message.ends_with("occurs twice in this list.") {
        "an image occurs twice in a row"
    } else if message.starts_with("This field is required") {
        "images are missing"
    } else if value.is_some_and(|value| !value.contains("://")) {
        "images are file names, not addresses"
    } else if message.starts_with("Enter a URL that starts with https") {
        "image address is not https"
    } else {
        "image address is not valid"
    }
}

/// The reason for a warning of the rules.
pub(super) fn odd(attribute: &str, message: &str) -> String {
    match attribute {
        "image_urls" => "no images".to_owned(),
        "price" => "no price".to_owned(),
        "category_fields.leasing_details" => "leasing details without a leasing price".to_owned(),
        _ if message.starts_with("Ignored:") => format!("{} is ignored", words(attribute)),
        _ => format!("{} is odd", words(attribute)),
    }
}

/// A field as people call it: `category_fields.model_year` is the model year.
pub(super) fn words(attribute: &str) -> String {
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

/// A path without the places in arrays: `price.0.type` as `price.type`.
pub(super) fn attribute(path: &str) -> String {
    let is_name = |name: &&str| !name.bytes().all(|byte| byte.is_ascii_digit());
    path.split('.').filter(is_name).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_the_same_trouble_share_a_reason() {
        for (path, message, value, says) in [
            (
                "category_fields.vin",
                "At least one of registration_number and vin is required.",
                None,
                "no registration number and no VIN",
            ),
            (
                "category_fields.model_year",
                "Ensure this value is less than or equal to 2100.",
                Some("20211"),
                "model year out of range",
            ),
            ("category_fields.brand", "\"wolvo\" is not a valid choice.", Some("wolvo"), "unknown brand"),
            (
                "category_fields.condition.mileage.value",
                "A valid number is required.",
                Some("x"),
                "mileage is not valid",
            ),
            ("price.0.amount", "Must be more than 0.", Some("0"), "price out of range"),
            ("image_urls", "Ensure this field has no more than 20 elements.", None, "more than 20 images"),
            ("image_urls.3", "Enter a valid URL.", Some("ABC123_1.JPG"), "images are file names, not addresses"),
            (
                "image_urls.3",
                "Enter a URL that starts with https://.",
                Some("http://a.example/1.jpg"),
                "image address is not https",
            ),
            ("image_urls.3", "Enter a valid URL.", Some("https://"), "image address is not valid"),
        ] {
            assert_eq!(reason(&attribute(path), message, value), says, "{path}: {message}");
        }
    }
}
