//! Suggestions for misspelled values: the most similar valid values.
//!
//! Every search of the kind is here, and bounded here: by the length of what was sent, and by the number and length of the valid values.
//! Who tells many errors at once searches for the first ones only.
//!
//! At most a third of the letters may differ. In names of several words, such as `registration_number`, that applies to each
//! word, so that `engine_power` does not suggest `engine_type`.

use std::iter::{Filter, Take};

/// Most values that an error suggests.
pub const MOST: usize = 3;

/// Maximum length of a value that is compared, in bytes. Valid values are shorter, and comparing long ones is slow.
pub const LONGEST: usize = 100;

/// Most valid values that are compared with one that was sent, and the maximum length of each, in bytes. Names of columns are as long and as
/// many as a file has them.
const MOST_COMPARED: usize = 20_000;
const LONGEST_VALID: usize = 1000;

/// `Did you mean "volvo"?`, if a valid value is similar.
pub fn did_you_mean<'a>(sent: &str, valid: impl Iterator<Item = &'a str>) -> Option<String> {
    did_you_mean_one_of(similar(sent, valid).into_iter())
}

/// The valid values that are similar, the most similar first.
pub fn similar<'a>(sent: &str, valid: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let Some(sent) = comparable(sent) else { return Vec::new() };
    near(compared(valid).filter_map(|value| Some((distance(&sent, &value.to_lowercase())?, value))))
}

/// The most similar valid values, however different they are.
pub fn nearest<'a>(sent: &str, valid: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let Some(sent) = comparable(sent) else { return Vec::new() };
    let mut rated: Vec<_> = compared(valid).map(|value| (strsim::jaro_winkler(&sent, value), value)).collect();
    rated.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    rated.into_iter().map(|(_, value)| value).take(MOST).collect()
}

/// As [`did_you_mean`], for the name of a field, which is compared with whole paths and with their last names: `mileage` suggests
/// `condition.mileage`. If none is similar, names that contain it as a word are suggested: `year` suggests `model_year`.
pub fn did_you_mean_path<'a>(sent: &str, valid: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    did_you_mean_one_of(similar_paths(sent, valid).into_iter())
}

/// The paths of fields that are similar to a name, the most similar first.
pub fn similar_paths<'a>(sent: &str, valid: impl Iterator<Item = &'a str> + Clone) -> Vec<&'a str> {
    let Some(sent) = comparable(sent) else { return Vec::new() };
    let valid = compared(valid);
    let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
    let rated = valid.clone().filter_map(|path| {
        let distances = name_distance(&sent, path).into_iter().chain(name_distance(&sent, last(path)));
        Some((distances.min()?, path))
    });
    let found = near(rated);
    if !found.is_empty() {
        return found;
    }
    valid.filter(|path| last(path).split('_').any(|word| word == sent)).take(MOST).collect()
}

/// A value as it is compared, unless it is too long.
fn comparable(sent: &str) -> Option<String> {
    (sent.len() <= LONGEST).then(|| sent.to_lowercase())
}

/// The valid values that a search compares.
fn compared<'a, V: Iterator<Item = &'a str>>(valid: V) -> Filter<Take<V>, fn(&&'a str) -> bool> {
    valid.take(MOST_COMPARED).filter(|value| value.len() <= LONGEST_VALID)
}

/// Values in quotes, separated by commas.
pub fn quoted<'a>(values: impl Iterator<Item = &'a str>) -> String {
    values.map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(", ")
}

/// How many letters differ; `None` if too many.
fn distance(sent: &str, valid: &str) -> Option<usize> {
    let (letters, others) = (sent.chars().count(), valid.chars().count());
    // Of two letters none may differ: otherwise nearly all values would be similar.
    let most = if letters < 3 { 0 } else { letters / 3 };
    // Lengths that differ by more need no comparison.
    (letters.abs_diff(others) <= most).then(|| strsim::osa_distance(sent, valid)).filter(|distance| *distance <= most)
}

/// The same for names, word by word if both have the same number of words.
fn name_distance(sent: &str, valid: &str) -> Option<usize> {
    if !sent.contains('_') || sent.split('_').count() != valid.split('_').count() {
        return distance(sent, valid);
    }
    sent.split('_').zip(valid.split('_')).map(|(sent, valid)| distance(sent, valid)).sum()
}

/// The values with the smallest distance.
fn near<'a>(rated: impl Iterator<Item = (usize, &'a str)>) -> Vec<&'a str> {
    let mut rated: Vec<_> = rated.collect();
    rated.sort_by_key(|(distance, _)| *distance);
    let best = rated.first().map_or(0, |(distance, _)| *distance);
    rated.into_iter().filter(|(distance, _)| *distance == best).map(|(_, value)| value).take(MOST).collect()
}

/// `Did you mean "volvo" or "volga"?`, if there are values.
pub fn did_you_mean_one_of<'a>(values: impl Iterator<Item = &'a str>) -> Option<String> {
    alternatives(values).map(|values| format!("Did you mean {values}?"))
}

/// `"volvo" or "volga"`, if there are values.
pub(super) fn alternatives<'a>(values: impl Iterator<Item = &'a str>) -> Option<String> {
    let values: Vec<_> = values.map(|value| format!("\"{value}\"")).collect();
    (!values.is_empty()).then(|| values.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_value_is_suggested_and_a_far_one_is_not() {
        assert_eq!(did_you_mean("wolvo", ["volvo", "bmw"].into_iter()).as_deref(), Some("Did you mean \"volvo\"?"));
        assert_eq!(did_you_mean("VOLVO", ["volvo", "bmw"].into_iter()).as_deref(), Some("Did you mean \"volvo\"?"));
        assert_eq!(did_you_mean("spaceship", ["volvo", "bmw"].into_iter()), None);
    }

    #[test]
    fn a_third_of_the_letters_may_differ() {
        let values = ["volvo", "bmw", "mercedes-benz", "kw", "station_wagon"];
        for (sent, meant_one) in [
            ("merzedes-bens", Some("mercedes-benz")),
            ("mercedes", None),
            ("merdeces-bnez", Some("mercedes-benz")),
            ("bmv", Some("bmw")),
            ("bnv", None),
            ("wv", None),
            ("k", None),
            ("hk", None),
            ("KW", Some("kw")),
            ("vlvo", Some("volvo")),
            ("stationwagon", Some("station_wagon")),
            ("", None),
        ] {
            assert_eq!(similar(sent, values.into_iter()).first().copied(), meant_one, "{sent}");
        }
    }

    #[test]
    fn each_word_of_a_name_is_near() {
        let names = [
            "registration_number",
            "model_year",
            "model_type",
            "engine_type",
            "number_of_doors",
            "image_urls",
            "physics.curb_weight",
            "equipments",
            "condition.mileage",
        ];
        for (sent, path) in [
            ("registraton_numbr", Some("registration_number")),
            ("registrationnumber", Some("registration_number")),
            ("Regsitration_Number", Some("registration_number")),
            ("regnr", None),
            ("model_yaer", Some("model_year")),
            ("modelyear", Some("model_year")),
            ("model_name", None),
            ("fuel_type", None),
            ("engine_power", None),
            ("number_of_seats", None),
            ("images", None),
            ("curb_wieght", Some("physics.curb_weight")),
            ("physics.curb_wieght", Some("physics.curb_weight")),
            ("eqiupment", Some("equipments")),
            ("milage", Some("condition.mileage")),
            ("v", None),
        ] {
            assert_eq!(similar_paths(sent, names.into_iter()).first().copied(), path, "{sent}");
        }
    }

    #[test]
    fn hostile_input_is_not_compared() {
        let valid: Vec<String> = (0..1000).map(|number| "a".repeat(number % 200)).collect();
        let endless = || {
            let mut values = 0;
            std::iter::from_fn(move || {
                values += 1;
                assert!(values <= MOST_COMPARED, "a search has an end");
                Some("volvo")
            })
        };
        assert_eq!(similar("wolvo", endless()), ["volvo"; MOST]);
        assert_eq!(nearest("wolvo", endless()), ["volvo"; MOST]);
        let sent = "b".repeat(10_000_000);
        assert!(similar_paths(&sent, valid.iter().map(String::as_str)).is_empty());
        assert!(similar(&sent, valid.iter().map(String::as_str)).is_empty());
    }

    #[test]
    fn of_a_long_list_the_nearest_are_told_even_if_they_are_far() {
        let valid = ["single", "flat-twin", "v-twin", "v-4", "inline-6"];
        assert_eq!(nearest("v2", valid.into_iter()), ["v-4", "v-twin", "single"]);
        assert!(nearest(&"x".repeat(101), valid.into_iter()).is_empty());
    }

    #[test]
    fn a_flat_field_name_finds_its_path() {
        let paths =
            ["condition.mileage", "model_year", "powertrain.fuels", "powertrain.environmental.fuel_consumption"];
        for (sent, path) in [("mileage", "condition.mileage"), ("year", "model_year"), ("fuel", "powertrain.fuels")] {
            assert_eq!(did_you_mean_path(sent, paths.into_iter()), Some(format!("Did you mean \"{path}\"?")));
        }
        assert_eq!(did_you_mean_path("gearbox", paths.into_iter()), None);
    }
}
