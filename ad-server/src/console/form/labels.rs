//! Names of fields for people.

use super::super::{texts::Language, words::word};

/// The name of a field, by its path.
pub(in crate::console) fn label(language: Language, path: &str) -> &str {
    let name = path.rsplit('.').next().unwrap_or(path);
    word(language, "field", name).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use ad_core::{categories, reference};

    use super::{super::values::fields, *};

    #[test]
    fn every_field_has_a_name() {
        for (vehicle_type, category) in categories::typed() {
            for row in reference::rows(fields(category, true).map(|field| field.field)) {
                let name = row.field.path.rsplit('.').next().unwrap();
                assert!(word(Language::Swedish, "field", name).is_some(), "{vehicle_type} {}", row.place);
            }
        }
        let (_, fields) = include_str!("../words.toml").split_once("[field]\n").unwrap();
        assert!(fields.lines().is_sorted_by(|one, other| one.split(' ').next() < other.split(' ').next()));
        assert_eq!(label(Language::English, "category_fields.powertrain.drive_type"), "Drive");
        assert_eq!(label(Language::Swedish, "price.0.amount"), "Belopp");
        assert_eq!(label(Language::English, "unknown"), "unknown");
    }
}
