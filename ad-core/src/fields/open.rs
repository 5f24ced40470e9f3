//! Objects without a table: any strings, numbers, booleans, arrays and objects within limits, kept as sent except for the licence
//! plate (decision 20).

use serde_json::Value;

use super::{errors::FieldErrors, field::MOST_CHARACTERS};
use crate::{
    model::plate,
    violation::{Code, Violation},
};

/// Maximum number of members of an object, and of items of an array.
pub const MOST_MEMBERS: usize = 64;
/// The licence plate, the only member that the service reads.
const PLATE: &str = "registration_number";
/// Maximum number of levels, including the outermost object.
pub const MOST_LEVELS: usize = 4;

/// Maximum length of a `registration_number` in characters, as in all categories of unregistered vehicles.
const MOST_OF_A_PLATE: usize = 255;

/// Checks an object and removes its `null` members. Its `registration_number` is normalised if it is a text.
pub(super) fn check(value: &mut Value, errors: &mut FieldErrors) {
    level(value, MOST_LEVELS, errors);
    if let Some(Value::String(text)) = value.get_mut(PLATE) {
        *text = plate(text);
        if text.chars().nth(MOST_OF_A_PLATE).is_some() {
            errors.replace(PLATE, Violation::TooLong(MOST_OF_A_PLATE));
        }
    }
}

fn level(value: &mut Value, levels: usize, errors: &mut FieldErrors) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => {
            let text = format!("Nested too deeply: at most {MOST_LEVELS} levels.");
            errors.here(Violation::stated(Code::TooDeep, text));
        }
        Value::Array(items) => {
            check_count(items.len(), errors);
            for (index, item) in items.iter_mut().take(MOST_MEMBERS).enumerate() {
                let mut wrong = FieldErrors::default();
                match item {
                    Value::Null => wrong.here(Violation::Null),
                    item => level(item, levels - 1, &mut wrong),
                }
                errors.put(&index.to_string(), wrong);
            }
        }
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            check_count(members.len(), errors);
            for (name, member) in members.iter_mut().take(MOST_MEMBERS) {
                let mut wrong = FieldErrors::default();
                level(member, levels - 1, &mut wrong);
                if is_too_long(name) {
                    let text = format!("Ensure that names have no more than {MOST_CHARACTERS} characters.");
                    errors.here(Violation::stated(Code::TooLong, text));
                }
                errors.put(name, wrong);
            }
        }
        Value::String(text) if is_too_long(text) => {
            errors.here(Violation::TooLong(MOST_CHARACTERS));
        }
        _ => {}
    }
}

fn check_count(members: usize, errors: &mut FieldErrors) {
    if members > MOST_MEMBERS {
        errors.here(Violation::TooMany(MOST_MEMBERS));
    }
}

fn is_too_long(text: &str) -> bool {
    text.len() > MOST_CHARACTERS && text.chars().nth(MOST_CHARACTERS).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(mut value: Value) -> Value {
        let mut errors = FieldErrors::default();
        check(&mut value, &mut errors);
        json!(errors)
    }

    #[test]
    fn what_is_within_the_bounds_is_kept_and_null_clears() {
        let mut value = json!({"a": [1, 2.5, "x", true, {"b": {}}], "gone": null, "c": {"gone": null, "d": "e"}});
        let mut errors = FieldErrors::default();
        check(&mut value, &mut errors);
        assert!(errors.is_empty());
        assert_eq!(value, json!({"a": [1, 2.5, "x", true, {"b": {}}], "c": {"d": "e"}}));
    }

    #[test]
    fn a_plate_is_a_plate_without_a_table_too() {
        let mut value = json!({"registration_number": " abc 12d", "trailer": {"registration_number": "def 345"}});
        let mut errors = FieldErrors::default();
        check(&mut value, &mut errors);
        assert!(errors.is_empty());
        let stored = json!({"registration_number": "ABC12D", "trailer": {"registration_number": "def 345"}});
        assert_eq!(value, stored);
        let mut number = json!({"registration_number": 12});
        check(&mut number, &mut errors);
        assert_eq!((number, errors.is_empty()), (json!({"registration_number": 12}), true), "only a text is a plate");
        let long = json!({"registration_number": ["Ensure this field has no more than 255 characters."]});
        for text in ["å".repeat(256), "a".repeat(10_001)] {
            assert_eq!(wrong(json!({"registration_number": text})), long);
        }
    }

    #[test]
    fn levels_members_texts_and_nulls_in_arrays_have_bounds() {
        assert_eq!(wrong(json!({"a": {"b": {"c": 1}}})), json!({}));
        let deep = json!({"a": {"b": {"c": {"d": ["Nested too deeply: at most 4 levels."]}}}});
        assert_eq!(wrong(json!({"a": {"b": {"c": {"d": []}}}})), deep);
        assert_eq!(wrong(json!({"a": vec![1; 64]})), json!({}));
        let many = json!({"a": ["Ensure this field has no more than 64 elements."]});
        assert_eq!(wrong(json!({"a": vec![1; 65]})), many);
        assert_eq!(wrong(json!({"a": [null]})), json!({"a": {"0": ["This field may not be null."]}}));
        let long = json!({"a": ["Ensure this field has no more than 10000 characters."]});
        assert_eq!(wrong(json!({"a": "å".repeat(10_001)})), long);
    }
}
