//! Kinds in words, as the column 'Type' of the category fields document has them.

use std::fmt;

use super::field::{ChoiceValue, GREATEST_COUNT, Kind, MOST_CHARACTERS};

impl fmt::Display for Kind {
    /// In Markdown: ``measure: `km`, `mil` ``, `string, 17 to 19 characters`, `slug`. Bounds that the contract does not
    /// have are left out.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { min, max, without } => {
                to.write_str("string")?;
                characters(to, *min, *max)?;
                without.map_or(Ok(()), |mark| write!(to, ", without `{mark}`"))
            }
            Self::Integer { min, max, numeric_text } => {
                to.write_str("integer")?;
                if *max == GREATEST_COUNT {
                    write!(to, ", at least {min}")?;
                } else {
                    write!(to, ", {} to {}", grouped(min), grouped(max))?;
                }
                numeric(to, *numeric_text)
            }
            Self::Decimal { min, max, decimals, numeric_text } => {
                write!(to, "number, {} to {}", grouped(min), grouped(max))?;
                if let Some(most) = decimals {
                    write!(to, ", at most {most} decimals")?;
                }
                numeric(to, *numeric_text)
            }
            Self::Boolean => to.write_str("boolean"),
            Self::Date => to.write_str("string, `YYYY-MM-DD`"),
            Self::Url { schemes } => write!(to, "string (URL), {}", schemes.join(" or ")),
            Self::ImageAddress => to.write_str("string (URL), https"),
            Self::Plate { max } => {
                to.write_str("string")?;
                characters(to, 1, *max)?;
                to.write_str(", stored in upper case without spaces")
            }
            Self::Email { or_empty } => {
                write!(to, "string (e-mail{})", if *or_empty { " or empty" } else { "" })
            }
            Self::Digits { lengths, plus } => digits(to, lengths, *plus),
            Self::Currency => to.write_str("string (ISO 4217 code)"),
            Self::Choice { values, any_case } => {
                to.write_str("string: ")?;
                quoted(to, values.iter().map(|(id, _): &ChoiceValue| *id))?;
                to.write_str(if *any_case { "; in any case" } else { "" })
            }
            Self::Slug { .. } => to.write_str("slug"),
            Self::Model { .. } => to.write_str("slug, by brand"),
            Self::Measure { units, min } => {
                to.write_str("measure: ")?;
                quoted(to, units.iter().copied())?;
                if *min > 0.0 { write!(to, "; at least {min}") } else { Ok(()) }
            }
            Self::List { item, max, .. } => write!(to, "array, at most {} × {item}", grouped(max)),
            Self::Objects { max, .. } => write!(to, "array, at most {max} × object"),
            Self::Object { .. } | Self::CategoryFields => to.write_str("object"),
        }
    }
}

/// How long a text may be; nothing where only memory bounds it.
fn characters(to: &mut fmt::Formatter<'_>, min: usize, max: usize) -> fmt::Result {
    match (min, max) {
        (0, MOST_CHARACTERS) => Ok(()),
        (0, max) => write!(to, ", at most {} characters", grouped(&max)),
        (1, MOST_CHARACTERS) => to.write_str(", not empty"),
        (min, max) if min == max => write!(to, ", {min} characters"),
        (min, max) => write!(to, ", {min} to {max} characters"),
    }
}

fn digits(to: &mut fmt::Formatter<'_>, lengths: &[usize], plus: bool) -> fmt::Result {
    to.write_str("string of ")?;
    match lengths {
        [first, .., last] if last - first + 1 == lengths.len() => write!(to, "{first} to {last}")?,
        lengths => to.write_str(&lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or "))?,
    }
    to.write_str(if plus { " digits, a leading `+` counted" } else { " digits" })
}

fn numeric(to: &mut fmt::Formatter<'_>, also_as_text: bool) -> fmt::Result {
    to.write_str(if also_as_text { ", also as a numeric string" } else { "" })
}

/// A number as people read it: 200,000; years stay as they are.
pub(crate) fn grouped(number: &impl ToString) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let group = |(index, digit): (usize, char)| {
        let comma = (index > 0 && (digits.len() - index).is_multiple_of(3)).then_some(',');
        comma.into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(group).collect()
}

fn quoted<'a>(to: &mut fmt::Formatter<'_>, values: impl Iterator<Item = &'a str>) -> fmt::Result {
    for (index, value) in values.enumerate() {
        write!(to, "{}`{value}`", if index == 0 { "" } else { ", " })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{
        categories::{ad_fields, by_vehicle_type},
        fields::{Kind, Node, Tree},
    };

    fn words(vehicle_type: &str, path: &str) -> String {
        by_vehicle_type(vehicle_type).unwrap().field(path).unwrap().kind.to_string()
    }

    #[test]
    fn kinds_read_as_in_the_documents() {
        for (vehicle_type, path, says) in [
            ("car", "condition.mileage", "measure: `km`, `mil`"),
            ("agriculture-thresher", "condition.engine_runtime", "measure: `hour`; at least 1"),
            ("car", "brand", "slug"),
            ("car", "vin", "string, 17 to 19 characters"),
            ("car", "color", "string"),
            ("car", "warranty", "string, at most 500 characters"),
            ("car", "model_year", "integer, 1900 to 2100"),
            ("boat", "physics.number_of_beds", "integer, at least 0"),
            ("car", "in_traffic_date", "string, `YYYY-MM-DD`"),
            ("car", "salesperson", "string (e-mail or empty)"),
            ("car", "registration_number", "string, 1 to 6 characters, stored in upper case without spaces"),
            ("car", "powertrain.drive_type", "string: `fwd`, `rwd`, `awd`; in any case"),
            ("car", "equipments", "array, at most 1000 × string, 1 to 500 characters, without `,`"),
            ("car", "condition.wheels", "array, at most 2 × object"),
        ] {
            assert_eq!(words(vehicle_type, path), says, "{path}");
        }
    }

    #[test]
    fn so_do_those_around_the_category_fields() {
        let tree = Tree::new(ad_fields::WRITTEN.iter().chain(ad_fields::IDENTITY));
        for (path, says) in [
            ("title", "string, not empty"),
            ("category_id", "integer, 1 to 9999, also as a numeric string"),
            ("contact.phone", "string of 8 to 16 digits, a leading `+` counted"),
            ("image_urls", "array, at most 20 × string (URL), https"),
            ("category_fields", "object"),
        ] {
            assert_eq!(tree.field(path).unwrap().kind.to_string(), says, "{path}");
        }
        let Some(Node::Leaf(_, Some(location))) = tree.get("location") else { panic!("a location has members") };
        assert_eq!(location.field("lkf").unwrap().kind.to_string(), "string of 4 or 6 digits");
        assert_eq!(location.field("latitude").unwrap().kind.to_string(), "number, -90 to 90, also as a numeric string");
        assert_eq!(Kind::Currency.to_string(), "string (ISO 4217 code)");
    }
}
