//! Location ('Location object', decision 14): exactly one of three alternatives. An update replaces it as a whole.

use super::category::{Facts, Rule};
use crate::{
    fields::{Field, FieldErrors, Kind},
    violation::{Code, Violation},
};

/// Rows of `location` ('Location object').
#[rustfmt::skip]
pub const FIELDS: &[Field] = &[
    Field::new("latitude", degrees(90.0), "Latitude in decimal degrees; together with `longitude`"),
    Field::new("longitude", degrees(180.0), "Longitude in decimal degrees; together with `latitude`"),
    Field::new("zipcode", Kind::Digits { lengths: &[5], plus: false }, "Postal code, 5 digits without spaces"),
    Field::new("lkf", Kind::Digits { lengths: &[4, 6], plus: false }, "Swedish area code, 4 digits (LK) or 6 digits (LKF); not for registered vehicles"),
];

/// Name of the rule over a location.
/// Name of the rule.
pub const RULE: &str = "location";

/// The rule over the members of a `location`.
pub const RULES: &[Rule] = &[Rule {
    name: RULE,
    doc: "Exactly one of: latitude and longitude, `zipcode`, or `lkf`; `lkf` is not allowed for registered vehicles and names a known county.",
    check,
}];

const fn degrees(most: f64) -> Kind {
    Kind::Decimal { min: -most, max: most, decimals: None, numeric_text: true }
}

/// Swedish county codes (län) in use.
pub const COUNTIES: &[&str] = &[
    "01", "03", "04", "05", "06", "07", "08", "09", "10", "12", "13", "14", "17", "18", "19", "20", "21", "22", "23",
    "24", "25",
];

fn check(facts: &Facts<'_>, errors: &mut FieldErrors) {
    let Some(location) = facts.ad.location else { return };
    let has = |name: &str| location.contains_key(name);
    let alternatives = [has("latitude") || has("longitude"), has("zipcode"), has("lkf")];
    if alternatives.iter().filter(|given| **given).count() != 1 {
        let text = if facts.category.registered {
            "Send exactly one of: latitude and longitude; zipcode."
        } else {
            "Send exactly one of: latitude and longitude; zipcode; lkf."
        };
        return errors.push("location", Violation::of_rule(RULE, Code::Conflict, text));
    }
    for (one, other) in [("latitude", "longitude"), ("longitude", "latitude")] {
        if has(one) && !has(other) {
            errors.at("location").push(other, Violation::Required);
        }
    }
    if let Some(lkf) = location.get("lkf") {
        if facts.category.registered {
            let text = "Not allowed for registered vehicles; send zipcode, or latitude and longitude.";
            errors.at("location").push("lkf", Violation::stated(Code::NotAllowed, text));
        } else if let Some(code) = lkf.as_str()
            && !errors.contains("location.lkf")
            && !COUNTIES.contains(&&code[..2])
        {
            let text = format!("\"{}\" is not the code of a Swedish county.", &code[..2]);
            errors.at("location").push("lkf", Violation::stated(Code::InvalidChoice, text));
        }
    }
}
